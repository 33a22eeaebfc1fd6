/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "decide/qm-diagnosis.h"

G_BEGIN_DECLS

/* what a recorded run says */
GtkWidget *qm_record_result_new (const QmRun       *run,
                                 const QmDiagnosis *diagnosis);

G_END_DECLS
