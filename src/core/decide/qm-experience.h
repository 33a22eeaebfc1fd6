/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"
#include "history/qm-ledger.h"

G_BEGIN_DECLS

/* A figure of a run that estimates are not corrected by, and why. */
typedef struct {
  gint64 id;
  char *key;
  QmMessage *reason;
} QmRefusedFigure;

/**
 * QmExperience:
 * @calibration: what the runs say about how far estimates are off
 * @runs: how many runs it is made of
 * @refused: (element-type QmRefusedFigure): what cannot be true
 * @past_runs: what they took in memory, see qm-past-runs.h
 *
 * What a person's own runs teach.
 */
typedef struct {
  QmCalibration *calibration;
  guint runs;
  GPtrArray *refused;
  GPtrArray *past_runs;
} QmExperience;

QmExperience *qm_experience_new         (QmLedger         *ledger,
                                         QmEstimator      *estimator,
                                         gint64            now,
                                         GError          **error);
void          qm_experience_free        (QmExperience     *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmExperience, qm_experience_free)

QmMessage    *qm_experience_explain     (QmEstimator      *estimator,
                                         const QmResolved *resolved,
                                         const QmEstimate *estimate);

/**
 * QmTeachingRun:
 * @sequence_length: tokens; 0 where the plan has none
 * @micro_batch: samples
 * @deviation: of the estimate that would be left with it and those before
 *
 * A run that would teach much about a plan.
 */
typedef struct {
  double sequence_length;
  double micro_batch;
  double deviation;
} QmTeachingRun;

GArray       *qm_experience_suggest     (QmEstimator      *estimator,
                                         const QmResolved *resolved);

G_END_DECLS
