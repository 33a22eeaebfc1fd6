/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/**
 * QmCapacity:
 * @micro_batch: samples at once on each device, in training
 * @context_tokens: length of a training example, or of prompt and answer together
 * @concurrency: sequences or samples at once, in inference
 * @devices: of this kind that the job needs at least, as usually split
 * @parameters: of a dense language model for the same job
 *
 * The most of each that fits with headroom, everything else as it is; of
 * @devices the fewest. NaN where the plan has no such thing, 0 where not even the
 * least fits, infinite where there was no end to it.
 */
struct _QmCapacity {
  double micro_batch;
  double context_tokens;
  double concurrency;
  double devices;
  double parameters;
};

void        qm_capacity_solve   (QmEstimator      *estimator,
                                 const QmResolved *resolved,
                                 const QmEstimate *estimate,
                                 QmCapacity       *capacity);
QmMessage  *qm_capacity_explain (const QmCapacity *self);
JsonObject *qm_capacity_to_json (const QmCapacity *self);

G_END_DECLS
