/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "plan/qm-plan-fields.h"
#include "qm-error.h"

/* How many replicas work on one batch; 0 where the plan leaves it open. */
static double
stated_replicas (const QmConfiguration *configuration)
{
  double split = MAX (1, configuration->tensor_parallel) * (double) MAX (1, configuration->pipeline_parallel) *
                 MAX (1, configuration->context_parallel);

  if (configuration->data_parallel > 0)
    return configuration->data_parallel;
  if (configuration->devices > 0 && configuration->tensor_parallel > 0 && configuration->pipeline_parallel > 0)
    return configuration->devices / split;

  return 0;
}

static gboolean
check_batch (const QmPlan  *plan,
             GError       **error)
{
  const QmConfiguration *configuration = &plan->configuration;
  double replicas = stated_replicas (configuration);
  double product = replicas * configuration->micro_batch * configuration->gradient_accumulation;

  if (!(product > 0) || !(plan->training.global_batch > 0) || !qm_plan_is_training (plan))
    return TRUE;
  /* An unequal last micro-batch is no contradiction. */
  if (fabs (product - plan->training.global_batch) <= 0.5 * replicas * configuration->micro_batch)
    return TRUE;

  qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_CONFLICT, "training.global_batch",
                N_("{batch} is not micro_batch {micro} × gradient_accumulation {steps} × {replicas} replicas = {product}; leave one of them out"),
                "#batch", plan->training.global_batch, "#micro", configuration->micro_batch,
                "#steps", configuration->gradient_accumulation, "#replicas", replicas, "#product", product, NULL);
  return FALSE;
}

static gboolean
check_layout (const QmPlan  *plan,
              GError       **error)
{
  const QmConfiguration *configuration = &plan->configuration;
  double product = (double) MAX (1, configuration->data_parallel) * MAX (1, configuration->tensor_parallel) *
                   MAX (1, configuration->pipeline_parallel) * MAX (1, configuration->context_parallel);

  if (configuration->devices > 0 && configuration->nodes > configuration->devices)
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_CONFLICT, "configuration.nodes",
                    N_("more nodes than devices; a node holds at least one device"), NULL);
      return FALSE;
    }
  if (configuration->devices > 0 && product > configuration->devices)
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_CONFLICT,
                    configuration->data_parallel > 0 ? "configuration.data_parallel" : "configuration.devices",
                    N_("data × tensor × pipeline × context parallel = {product}, but there are {devices} devices"),
                    "#product", product, "#devices", (double) configuration->devices, NULL);
      return FALSE;
    }

  return TRUE;
}

/**
 * qm_plan_check:
 * @plan: a plan whose fields are each in order
 * @error: return location for a #QmPlanError
 *
 * Returns: whether the answers agree with each other
 */
gboolean
qm_plan_check (const QmPlan  *plan,
               GError       **error)
{
  if (plan->task == QM_TASK_UNSET || plan->activity == QM_ACTIVITY_UNSET)
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_MISSING, plan->task == QM_TASK_UNSET ? "task" : "activity",
                    N_("is missing; every plan says its task and activity"), NULL);
      return FALSE;
    }

  return check_layout (plan, error) && check_batch (plan, error);
}
