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
 *
 * What a person's own runs teach.
 */
typedef struct {
  QmCalibration *calibration;
  guint runs;
  GPtrArray *refused;
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
 * QmGrowth:
 * @per_ten_layers: bytes of memory that ten layers more take
 * @bytes: what the plan would take by that
 * @runs: of how many runs it is known
 *
 * What runs of the same structure and another depth say of a plan.
 */
typedef struct {
  double per_ten_layers;
  double bytes;
  guint runs;
} QmGrowth;

gboolean      qm_experience_growth      (QmLedger         *ledger,
                                         QmEstimator      *estimator,
                                         const QmResolved *resolved,
                                         QmGrowth         *growth,
                                         GError          **error);

gboolean      qm_experience_size        (QmLedger         *ledger,
                                         QmEstimator      *estimator,
                                         QmResolved       *resolved,
                                         GError          **error);

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
