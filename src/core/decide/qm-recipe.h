/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-figures.h"
#include "decide/qm-stacks.h"

G_BEGIN_DECLS

/* Sequences at once that serving is tried with, powers of two. */
#define QM_N_BATCHES 10

/**
 * QmRecipe:
 * @plan: the plan with everything but the hardware decided
 * @evaluators: for training and batch work only the first; for serving one for
 *   each number of sequences at once, 1 << index
 * @half_precision_only: for devices that have no bfloat16
 *
 * One way to do the job: precision, checkpointing, engine, weight format.
 */
typedef struct {
  QmPlan *plan;
  QmStack stack;
  QmAccuracy accuracy;
  QmEvaluator *evaluators[QM_N_BATCHES];
  gboolean half_precision_only;
  gboolean bfloat16_only;
  gboolean other_method;            /* not the method that was asked for */
} QmRecipe;

GPtrArray *qm_recipes_for_job   (const QmJob    *job);
gboolean   qm_recipe_runs_on    (const QmRecipe *self,
                                 const QmDevice *device);
const QmEvaluator *qm_recipe_evaluator (QmRecipe    *self,
                                        const QmJob *job,
                                        int          batch_index);

G_END_DECLS
