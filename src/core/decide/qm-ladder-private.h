/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-ladder.h"

G_BEGIN_DECLS

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
 */
typedef struct {
  int tier;
  const char *code;
  const char *title;
  const char *detail;
  QmRungState (*turn) (QmDescent *descent);
  gboolean lossy;
} QmRungKind;

const QmRungKind *qm_rung_kinds        (const QmPlan    *plan,
                                        guint           *n);
void              qm_descent_evaluate  (QmDescent       *self,
                                        QmEstimate      *estimate);
gboolean          qm_descent_fits      (const QmDescent *self,
                                        const QmMemory  *memory);

G_END_DECLS
