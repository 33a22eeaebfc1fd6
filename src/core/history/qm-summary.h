/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "history/qm-run.h"
#include "history/qm-series.h"

G_BEGIN_DECLS

void qm_run_summarise (QmRun          *run,
                       const QmSeries *series);

double qm_run_contention (const QmRun    *run);

G_END_DECLS
