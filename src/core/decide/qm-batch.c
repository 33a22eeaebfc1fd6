/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-batch.h"

#include <glib/gi18n.h>
#include <math.h>

#include "estimate/qm-rules.h"

/* From so many times the samples on it is worth a sentence. */
#define WORTH_SAYING 1.25

/* Of a language model that is trained from the beginning: Kaplan's law in tokens,
 * of the loss that the training ends with (Besiroglu's fit). */
static double
critical_tokens (const QmResolved *resolved)
{
  double parameters = resolved->model->parameters;
  double tokens = qm_plan_total_tokens (resolved->plan);

  if (!(parameters > 0) || !(tokens > 0))
    return NAN;

  return qm_rule_critical_tokens (qm_rule_loss (QM_LOSS_LAW_BESIROGLU, parameters, tokens));
}

/* The first row that fits: those of certain models come before those of a task. */
static double
measured_batch (const QmCalibrationConstants *constants,
                const QmPlan                 *plan)
{
  for (guint i = 0; i < constants->n_critical_batches; i++)
    {
      const QmCriticalBatch *row = &constants->critical_batches[i];

      if (row->task == plan->task && g_str_has_prefix (plan->model.id, row->prefix))
        return row->samples;
    }

  return NAN;
}

/**
 * qm_batch_critical:
 * @estimator: an estimator
 * @resolved: a plan
 *
 * The batch at which a training needs twice the samples that small batches need,
 * and half of the steps: McCandlish and others, arXiv:1812.06162.
 *
 * Returns: samples of a step; NaN where the plan is no training from the
 *   beginning, or nothing is known
 */
double
qm_batch_critical (QmEstimator      *estimator,
                   const QmResolved *resolved)
{
  const QmPlan *plan = resolved->plan;

  if (plan->activity != QM_ACTIVITY_TRAIN)
    return NAN;
  if (plan->task == QM_TASK_LANGUAGE_MODEL)
    return critical_tokens (resolved) / MAX (1, plan->training.sequence_length);

  return measured_batch (qm_estimator_get_calibration_constants (estimator), plan);
}

/**
 * qm_batch_explain:
 * @estimator: an estimator
 * @resolved: a plan
 *
 * Returns: (transfer full) (nullable): that its batch needs more samples for the
 *   same result; %NULL where it does not
 */
QmMessage *
qm_batch_explain (QmEstimator      *estimator,
                  const QmResolved *resolved)
{
  double batch = resolved->plan->training.global_batch;
  double critical = qm_batch_critical (estimator, resolved);
  double factor = qm_rule_batch_samples (batch, critical);
  QmMessage *message;

  if (!(factor >= WORTH_SAYING))
    return NULL;

  message = qm_message_new ("large-batch", N_("With {batch} samples in a step, each teaches less"));
  qm_message_set_detail (message, N_("About {factor} times as many samples are needed for the same result as with small steps, "
                                     "and twice as many at {critical}. The time that is told is for the samples that you gave."));
  qm_message_set_source (message, "arXiv:1812.06162");
  qm_message_add (message, "batch", QM_ARGUMENT_COUNT, batch);
  qm_message_add (message, "factor", QM_ARGUMENT_NUMBER, factor);

  return qm_message_add (message, "critical", QM_ARGUMENT_COUNT_SHORT, critical);
}
