/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-catalog.h"
#include "model/qm-model-resolve.h"
#include "plan/qm-plan.h"
#include "qm-message.h"

G_BEGIN_DECLS

/**
 * QmAssumption:
 * @field: e.g. `training.epochs`
 * @value: as the plan file would have it
 * @why: the reason
 *
 * A default that was taken for an answer that is missing.
 */
typedef struct {
  char *field;
  char *value;
  QmMessage *why;
} QmAssumption;

/**
 * QmResolved:
 * @given: the answers as they were given
 * @plan: the same with every default filled in
 * @model: what the model is
 * @assumed: (element-type QmAssumption): the defaults taken
 * @past_runs: (nullable): what runs of the person took, of qm_past_runs_new()
 *
 * A plan ready to be estimated.
 */
typedef struct {
  QmPlan *given;
  QmPlan *plan;
  QmModel *model;
  GPtrArray *assumed;
  GPtrArray *past_runs;
} QmResolved;

QmResolved *qm_resolve        (const QmPlan *plan,
                               QmCatalog    *catalog,
                               const char   *base_directory,
                               GPtrArray    *warnings,
                               GError      **error);
void        qm_answers_complete (QmPlan *plan,
                                 const char *field);
QmResolved *qm_resolved_copy  (const QmResolved *self);
void        qm_resolved_free  (QmResolved   *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmResolved, qm_resolved_free)

G_END_DECLS
