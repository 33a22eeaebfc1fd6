/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-tuner-model.h"

G_BEGIN_DECLS

/**
 * QmTuner:
 *
 * Finds the settings with the highest reward in few trials. It starts where
 * theory says, corrects theory by each trial, and asks a policy that was trained
 * on made-up jobs where theory sees nothing more to gain.
 */
typedef struct _QmTuner QmTuner;

QmTuner            *qm_tuner_new            (const QmTunerSpace    *space,
                                             const QmTunerTheory   *theory,
                                             guint                  most_trials);
void                qm_tuner_free           (QmTuner               *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmTuner, qm_tuner_free)

gboolean            qm_tuner_next           (QmTuner               *self,
                                             QmTunerSettings       *settings);
void                qm_tuner_observe        (QmTuner               *self,
                                             const QmTunerTrial    *trial);
const QmTunerTrial *qm_tuner_best           (const QmTuner         *self);
const GArray       *qm_tuner_get_trials     (const QmTuner         *self);
double              qm_tuner_reward         (const QmTuner         *self,
                                             const QmTunerTrial    *trial);

/* for tests: the reward of a rate with a known best one */
double              qm_tuner_reward_of      (const QmTunerSpace    *space,
                                             const QmTunerSettings *settings,
                                             double                 per_second,
                                             double                 reference);

G_END_DECLS
