/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-ladder.h"

G_BEGIN_DECLS

#define QM_MAX_RUNGS 16

/* A plan on its way down, and its last estimate. */
typedef struct {
  QmEstimator *estimator;
  const QmModel *model;
  const QmDevice *device;
  QmPlan *plan;
  QmEstimate now;
} QmDescent;

/**
 * QmRungKind:
 * @turn: changes the plan; says what becomes of the rung, %QM_RUNG_TAKEN where
 *   the plan was changed
 * @lossy: whether the result may be worse for it
 * @tasks: bits 1 << QmTask of the models that there is such a thing for; 0 for all
 */
typedef struct {
  int tier;
  const char *code;
  const char *title;
  const char *detail;
  QmRungState (*turn) (QmDescent *descent);
  gboolean lossy;
  guint tasks;
} QmRungKind;

guint             qm_rung_kinds        (const QmPlan    *plan,
                                        const QmRungKind **kinds);
void              qm_descent_evaluate  (QmDescent       *self,
                                        QmEstimate      *estimate);
gboolean          qm_descent_fits      (const QmDescent *self,
                                        const QmMemory  *memory);

G_END_DECLS
