/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "plan/qm-plan-fields.h"

static gboolean
conflict (const char **path,
          const char  *where,
          GError     **error,
          const char  *message)
{
  *path = where;
  g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_CONFLICT, "%s: %s", where, message);
  return FALSE;
}

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
             const char   **path,
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

  *path = "training.global_batch";
  g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_CONFLICT,
               "training.global_batch: %.0f is not micro_batch %.0f × gradient_accumulation %.0f × %.0f replicas = %.0f; leave one of them out",
               plan->training.global_batch, configuration->micro_batch, configuration->gradient_accumulation, replicas, product);
  return FALSE;
}

static gboolean
check_layout (const QmPlan  *plan,
              const char   **path,
              GError       **error)
{
  const QmConfiguration *configuration = &plan->configuration;
  double product = (double) configuration->data_parallel * MAX (1, configuration->tensor_parallel) *
                   MAX (1, configuration->pipeline_parallel) * MAX (1, configuration->context_parallel);

  if (configuration->devices > 0 && configuration->nodes > configuration->devices)
    return conflict (path, "configuration.nodes", error, "more nodes than devices; a node holds at least one device");
  if (configuration->devices > 0 && configuration->data_parallel > 0 && product > configuration->devices)
    {
      *path = "configuration.data_parallel";
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_CONFLICT,
                   "configuration.data_parallel: data × tensor × pipeline × context parallel = %.0f, but there are %d devices",
                   product, configuration->devices);
      return FALSE;
    }

  return TRUE;
}

/**
 * qm_plan_check:
 * @plan: a plan whose fields are each in order
 * @path: (out): the field that is wrong
 * @error: return location for a #QmPlanError
 *
 * Returns: whether the answers agree with each other
 */
gboolean
qm_plan_check (const QmPlan  *plan,
               const char   **path,
               GError       **error)
{
  if (plan->task == QM_TASK_UNSET || plan->activity == QM_ACTIVITY_UNSET)
    {
      *path = plan->task == QM_TASK_UNSET ? "task" : "activity";
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_MISSING, "%s: is missing; every plan says its task and activity", *path);
      return FALSE;
    }

  return check_layout (plan, path, error) && check_batch (plan, path, error);
}
