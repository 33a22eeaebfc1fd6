/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-tuner-model.h"

G_BEGIN_DECLS

/* Ten quantities, and the products of two of them. */
#define QM_TUNER_N_STATE    10
#define QM_TUNER_N_FEATURES (QM_TUNER_N_STATE + QM_TUNER_N_STATE * (QM_TUNER_N_STATE - 1) / 2)

/* Every knob one value up or down. */
#define QM_TUNER_N_ACTIONS  (2 * QM_N_KNOBS)

/**
 * QmTunerPolicy:
 * @weights: of each feature, for what an action gains
 *
 * A linear contextual bandit.
 */
typedef struct {
  double weights[QM_TUNER_N_ACTIONS][QM_TUNER_N_FEATURES];
} QmTunerPolicy;

gboolean qm_tuner_act           (const QmTunerSpace    *space,
                                 const QmTunerSettings *from,
                                 int                    action,
                                 QmTunerSettings       *to);
void     qm_tuner_policy_train  (QmTunerPolicy         *self,
                                 const QmTunerSpace    *space,
                                 const QmTunerTheory   *theory);
double   qm_tuner_policy_gain   (const QmTunerPolicy   *self,
                                 const QmTunerSpace    *space,
                                 const QmTunerSettings *settings,
                                 const QmTrialMetrics  *metrics,
                                 int                    action);

G_END_DECLS
