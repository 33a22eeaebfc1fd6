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

  if (!(plan->training.global_batch > 0) || !qm_plan_is_training (plan))
    return TRUE;
  if (configuration->micro_batch > plan->training.global_batch)
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_CONFLICT, "configuration.micro_batch",
                    N_("{micro} is more than the {batch} of the whole batch (training.global_batch)"),
                    "#micro", configuration->micro_batch, "#batch", plan->training.global_batch, NULL);
      return FALSE;
    }
  if (!(product > 0))
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
 * qm_plan_check_model:
 * @plan: a plan
 * @model: its model
 * @error: return location for a #QmPlanError
 *
 * Returns: whether @model can be split as @plan says: no attention head, layer or
 *   expert between two devices
 */
gboolean
qm_plan_check_model (const QmPlan   *plan,
                     const QmModel  *model,
                     GError        **error)
{
  const QmConfiguration *configuration = &plan->configuration;
  const QmArchitecture *architecture = &model->architecture;
  const struct { const char *path; const char *text; double ways, parts; } splits[] = {
    { "configuration.tensor_parallel", N_("{ways} devices cannot share the {parts} attention heads of the model"),
      configuration->tensor_parallel, architecture->heads },
    { "configuration.pipeline_parallel", N_("{ways} devices cannot share the {parts} layers of the model"),
      configuration->pipeline_parallel, architecture->layers },
    { "configuration.expert_parallel", N_("{ways} devices cannot share the {parts} experts of the model"),
      configuration->expert_parallel, architecture->experts > 1 ? architecture->experts : 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (splits); i++)
    if (architecture->known && splits[i].parts > 0 && splits[i].ways > splits[i].parts)
      {
        qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_CONFLICT, splits[i].path, splits[i].text,
                      "#ways", splits[i].ways, "#parts", splits[i].parts, NULL);
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
