/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/* What becomes of a rung of the ladder. */
typedef enum {
  QM_RUNG_TAKEN,                    /* turned on, on top of those before */
  QM_RUNG_ALREADY,                  /* the plan has it */
  QM_RUNG_NO_USE,                   /* it would free nothing here */
  QM_RUNG_IMPOSSIBLE,               /* the hardware or software lacks what it needs */
  QM_RUNG_SPARE,                    /* not needed any more, but would help */
} QmRungState;

/**
 * QmRung:
 * @tier: 1 changes a setting, 2 trades time for memory, 3 runs it differently
 * @code: stable, e.g. "smaller-batch"
 * @message: what it is, with what it costs as the detail
 * @frees_bytes: on the fullest device, on top of the rungs that were taken
 * @time_factor: how much longer the same work takes because of it; NaN unknown
 * @fits_after: with headroom, with it and all that were taken
 * @memory: with it and all that were taken before
 * @micro_batch: where it changes that: samples of a device and micro-step; else 0
 * @micro_steps: so many make up the batch; else 0
 * @host_bytes: where it takes more system memory than before: all that is needed
 *   then; else 0. Where the machine has less it is not possible
 * @layers: where it leaves layers to the processor: those on the device; experts of
 *   those in system memory; else -1
 * @all_layers: that the model has
 *
 * A way to need less memory, for one plan on one machine.
 */
typedef struct {
  int tier;
  const char *code;
  QmMessage *message;
  QmRungState state;
  double frees_bytes;
  double time_factor;
  gboolean fits_after;
  QmMemory memory;
  double micro_batch;
  double micro_steps;
  double host_bytes;
  int layers;
  int all_layers;
} QmRung;

/**
 * QmLadder:
 * @rungs: (element-type QmRung): in the order to try them
 * @planned: the estimate of the plan as it is
 * @plan: the plan with all rungs taken
 * @fits: whether it fits then
 *
 * How to make a plan fit.
 */
typedef struct {
  GArray *rungs;
  QmEstimate planned;
  QmPlan *plan;
  QmEstimate reached;
  gboolean fits;
} QmLadder;

QmLadder *qm_ladder_new     (QmEstimator      *estimator,
                             const QmResolved *resolved,
                             const QmDevice   *device);
QmLadder *qm_ladder_with    (QmEstimator      *estimator,
                             const QmResolved *resolved,
                             const QmDevice   *device,
                             guint             wanted);
QmLadder *qm_ladder_of_start (QmRecommendation *recommendation);
QmLadder *qm_ladder_of_nearest (QmRecommendation *recommendation);
void      qm_ladder_settle  (QmPlan           *plan,
                             const QmEstimate *estimate);
QmResolved *qm_ladder_resolve (const QmResolved *resolved,
                             const QmEstimate *estimate);
void      qm_ladder_free    (QmLadder         *self);
JsonNode *qm_ladder_to_json (const QmLadder   *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmLadder, qm_ladder_free)

G_END_DECLS
