/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-ladder.h"

G_BEGIN_DECLS

#define QM_MAX_RUNGS 16

/**
 * QmDescent:
 * @plan: as it is now
 * @now: its last estimate
 * @micro_batch: what fewer examples at a time means; 0 the most that fit
 *
 * A plan on its way down.
 */
typedef struct {
  QmEstimator *estimator;
  const QmModel *model;
  const QmDevice *device;
  QmPlan *plan;
  QmEstimate now;
  double micro_batch;
} QmDescent;

/**
 * QmRungKind:
 * @turn: changes the plan; says what becomes of the rung, %QM_RUNG_TAKEN where
 *   the plan was changed
 * @lossy: whether the result may be worse for it
 * @tasks: bits 1 << QmTask of the models that there is such a thing for; 0 for all
 * @counted_title: (nullable): the title where it changes the micro-batch, or moves
 *   layers
 * @norm_detail: (nullable): the detail where the model may have batch normalisation
 */
typedef struct {
  int tier;
  const char *code;
  const char *title;
  const char *detail;
  QmRungState (*turn) (QmDescent *descent);
  gboolean lossy;
  guint tasks;
  const char *counted_title;
  const char *norm_detail;
} QmRungKind;

guint             qm_rung_kinds        (const QmPlan    *plan,
                                        const QmRungKind **kinds);
void              qm_descent_evaluate  (QmDescent       *self,
                                        QmEstimate      *estimate);
gboolean          qm_descent_fits      (const QmDescent *self,
                                        const QmMemory  *memory);
void              qm_descent_set_micro_batch (QmDescent *self,
                                        double           micro_batch);
double            qm_descent_fit_micro_batch (QmDescent *self,
                                        double           above);

G_END_DECLS
