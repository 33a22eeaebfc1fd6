/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-resolve.h"
#include "qm-error.h"

#include <math.h>

QM_DEFINE_ERROR_DOMAIN ("qm-model-error-quark", qm_model_error_quark)

/**
 * qm_model_new:
 *
 * Returns: (transfer full): a model of which nothing is known
 */
QmModel *
qm_model_new (void)
{
  QmModel *self = g_new0 (QmModel, 1);

  self->top1 = self->top1_low = self->top1_high = NAN;
  return self;
}

/**
 * qm_model_copy:
 * @self: a model
 *
 * Returns: (transfer full): a copy
 */
QmModel *
qm_model_copy (const QmModel *self)
{
  QmModel *copy = g_memdup2 (self, sizeof *self);

  qm_json_box_ref (copy->config_tree);
  qm_json_box_ref (copy->facts_tree);
  if (copy->notes != NULL)
    g_ptr_array_ref (copy->notes);
  return copy;
}

/**
 * qm_model_free:
 * @self: (transfer full) (nullable): a model
 */
void
qm_model_free (QmModel *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->config_tree, qm_json_box_unref);
  g_clear_pointer (&self->facts_tree, qm_json_box_unref);
  g_clear_pointer (&self->notes, g_ptr_array_unref);
  g_free (self);
}
