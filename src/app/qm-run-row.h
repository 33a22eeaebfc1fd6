/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "history/qm-run.h"

G_BEGIN_DECLS

GtkWidget *qm_run_row_new (const QmRun *run,
                           const char  *key);

G_END_DECLS
