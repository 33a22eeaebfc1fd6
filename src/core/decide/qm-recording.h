/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-diagnosis.h"

G_BEGIN_DECLS

/* What a recorded run is of: its plan with what was predicted, what it ran on. */
gboolean     qm_run_set_plan    (QmRun          *run,
                                 QmEstimator    *estimator,
                                 QmResolved     *resolved,
                                 const QmHere   *here,
                                 GError        **error);
void         qm_run_set_machine (QmRun          *run,
                                 const QmHere   *here,
                                 const char     *processor,
                                 const char     *gpu,
                                 int             threads);
void         qm_run_match_unit  (QmRun          *run);
QmDiagnosis *qm_run_diagnose    (QmRun          *run,
                                 const QmSeries *series,
                                 QmEstimator    *estimator);

G_END_DECLS
