/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-methods.h"

/* The plan with another method. The format of its frozen weights and the count of
 * what is trained are those of its own. */
static QmResolved *
resolve_with (const QmResolved *resolved,
              QmMethod          method)
{
  QmResolved *copy = qm_resolved_copy (resolved);
  QmTraining *training = &copy->plan->training;

  if (training->method == method)
    return copy;

  training->method = method;
  training->trainable_parameters = 0;
  qm_word_set (training->base_weights, "");

  return copy;
}

/**
 * qm_methods_compare:
 * @estimator: an estimator
 * @resolved: a plan that tunes a model
 * @estimate: of it on some hardware
 *
 * How much memory each method of tuning takes, with nothing split and nothing
 * moved out: on one device such as that of @estimate, however much it holds, with
 * as many samples at a time.
 *
 * Returns: (transfer full) (element-type QmMethodMemory): those with a known
 *   figure, in bytes
 */
GArray *
qm_methods_compare (QmEstimator      *estimator,
                    const QmResolved *resolved,
                    const QmEstimate *estimate)
{
  static const QmMethod methods[] = { QM_METHOD_FULL, QM_METHOD_LORA, QM_METHOD_QLORA };
  GArray *compared = g_array_new (FALSE, FALSE, sizeof (QmMethodMemory));

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      g_autoptr (QmResolved) other = resolve_with (resolved, methods[i]);
      g_autoptr (QmEvaluator) evaluator = NULL;
      QmConfiguration configuration;
      QmEstimate alone = { 0 };

      configuration = other->plan->configuration;
      qm_word_set (configuration.device, estimate->device->id);
      configuration.devices = configuration.nodes = configuration.data_parallel = configuration.tensor_parallel = configuration.pipeline_parallel = 1;
      configuration.sharding = QM_SHARDING_NONE;
      configuration.offload = QM_OFFLOAD_NONE;
      configuration.micro_batch = estimate->configuration.micro_batch;
      evaluator = qm_evaluator_new (estimator, other->plan, other->model);
      qm_evaluator_evaluate (evaluator, estimate->device, &configuration, &alone);
      if (qm_range_is_known (alone.memory.need) && alone.memory.need.p50 > 0)
        g_array_append_val (compared, ((QmMethodMemory) { methods[i], alone.memory.need }));
    }

  return compared;
}
