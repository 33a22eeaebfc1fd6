/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-search.h"

G_BEGIN_DECLS

/* What searching the splits of training and of running has in common. */

void     qm_trials_evaluate            (QmTrials              *self,
                                        const QmEvaluator     *evaluator,
                                        const QmPlacement     *placement,
                                        const QmConfiguration *configuration,
                                        double                 input_rate,
                                        QmOutline             *outline);
gboolean qm_trials_fit_host            (const QmTrials        *self,
                                        double                 ram_bytes);
void     qm_configuration_start        (const QmPlacement     *placement,
                                        int                    machines,
                                        QmConfiguration       *configuration);
void     qm_configuration_keep_pinned  (const QmConfiguration *pinned,
                                        QmConfiguration       *configuration);
double   qm_configuration_copy_devices (const QmConfiguration *configuration);
void     qm_solution_take_layout       (const QmConfiguration *configuration,
                                        QmSolution            *solution);
gboolean qm_solution_fits              (const QmJob           *job,
                                        const QmPlacement     *placement,
                                        const QmOutline       *outline);

gboolean qm_solve_serving              (const QmJob           *job,
                                        QmRecipe              *recipe,
                                        const QmPlacement     *placement,
                                        QmSolution            *best,
                                        QmTrials              *trials);
gboolean qm_solve_batch_inference      (const QmJob           *job,
                                        QmRecipe              *recipe,
                                        const QmPlacement     *placement,
                                        QmSolution            *best,
                                        QmTrials              *trials);
void     qm_solution_fill_service      (const QmSolution      *solution,
                                        const QmJob           *job,
                                        const QmPlacement     *placement,
                                        QmEstimate            *estimate);

G_END_DECLS
