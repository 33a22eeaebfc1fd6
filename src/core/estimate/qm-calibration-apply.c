/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-calibration.h"

#include <glib/gi18n.h>
#include <math.h>

static QmCorrection
correct (const QmCalibration *self,
         const QmPlan        *plan,
         const QmEstimate    *estimate,
         QmMeasuredQuantity           quantity)
{
  QmCalibrationPoint point;

  qm_calibration_point_init (&point, plan, estimate, quantity);
  return qm_calibration_correct (self, &point);
}

static void
move (QmRange            *range,
      const QmCorrection *correction,
      gboolean            inverse)
{
  double factor = inverse ? 1 / correction->factor : correction->factor;

  if (qm_range_is_known (*range) && correction->n > 0)
    *range = qm_range_log_normal (range->p50 * factor, QM_NORMAL_P90 * correction->deviation);
}

static void
correct_rate (const QmCorrection *correction,
              QmEstimate         *estimate)
{
  QmThroughput *throughput = &estimate->throughput;
  double factor = correction->factor;

  move (&throughput->per_second, correction, FALSE);
  move (&throughput->per_device_per_second, correction, FALSE);
  move (&throughput->step_seconds, correction, TRUE);
  throughput->samples_per_second *= factor;
  throughput->tflops_per_device *= factor;
  throughput->mfu *= factor;
  throughput->compute_seconds /= factor;
  throughput->memory_seconds /= factor;
  throughput->communication_seconds /= factor;
  throughput->input_seconds /= factor;
  throughput->overhead_seconds /= factor;

  estimate->serving.requests_per_second *= factor;
  move (&estimate->serving.latency_p50_seconds, correction, TRUE);
  move (&estimate->time.seconds, correction, TRUE);
}

static QmVerdict
judge (const QmMemory *memory,
       double          headroom)
{
  double need = memory->need.p50;

  if (memory->verdict == QM_VERDICT_UNKNOWN || memory->verdict == QM_VERDICT_PARTLY_IN_SYSTEM_MEMORY)
    return memory->verdict;
  if (need > memory->usable_bytes)
    return QM_VERDICT_DOES_NOT_FIT;
  if (need <= (1 - headroom) * memory->usable_bytes)
    return QM_VERDICT_FITS;

  return need <= QM_TIGHT_SHARE * memory->usable_bytes ? QM_VERDICT_TIGHT : QM_VERDICT_MAY_FIT;
}

static void
correct_memory (const QmCorrection *correction,
                double              headroom,
                QmEstimate         *estimate)
{
  QmMemory *memory = &estimate->memory;

  move (&memory->device, correction, FALSE);
  move (&memory->need, correction, FALSE);
  move (&memory->allocated, correction, FALSE);
  move (&memory->reserved, correction, FALSE);
  for (int i = 0; i < QM_MEMORY_N_PARTS; i++)
    memory->parts[i] *= correction->factor;
  memory->largest_micro_batch = floor (memory->largest_micro_batch / correction->factor);

  if (!(memory->usable_bytes > 0) || !qm_range_is_known (memory->need))
    return;
  memory->fits = memory->need.p50 <= memory->usable_bytes;
  memory->fit_probability = qm_range_share_below (memory->need, memory->usable_bytes);
  memory->verdict = judge (memory, headroom);
}

/**
 * qm_calibration_apply:
 * @self: a calibration
 * @plan: a plan
 * @estimate: (inout): of it on a configuration, without calibration
 *
 * Corrects memory, rates and what follows from them, and narrows their ranges as
 * far as near runs were measured. Allocates nothing.
 */
void
qm_calibration_apply (const QmCalibration *self,
                      const QmPlan        *plan,
                      QmEstimate          *estimate)
{
  QmCorrection rate = correct (self, plan, estimate, QM_MEASURED_RATE);
  QmCorrection decode = correct (self, plan, estimate, QM_MEASURED_DECODE);
  QmCorrection prefill = correct (self, plan, estimate, QM_MEASURED_PREFILL);
  QmCorrection memory = correct (self, plan, estimate, QM_MEASURED_MEMORY);

  if (estimate->throughput.known && rate.n > 0)
    correct_rate (&rate, estimate);
  move (&estimate->serving.decode_tokens_per_second, &decode, FALSE);
  move (&estimate->serving.token_seconds, &decode, TRUE);
  move (&estimate->serving.prefill_tokens_per_second, &prefill, FALSE);
  move (&estimate->serving.first_token_seconds, &prefill, TRUE);
  if (memory.n > 0)
    correct_memory (&memory, qm_plan_get_headroom (plan), estimate);
}

/**
 * qm_calibration_explain:
 * @self: a calibration
 * @plan: a plan
 * @estimate: of it on a configuration, without calibration
 *
 * Returns: (transfer full) (nullable): how far the person's own runs move the
 *   rate, and how near they are; %NULL where they say nothing
 */
QmMessage *
qm_calibration_explain (const QmCalibration *self,
                        const QmPlan        *plan,
                        const QmEstimate    *estimate)
{
  QmCorrection rate = correct (self, plan, estimate, QM_MEASURED_RATE);
  QmMessage *message;

  if (rate.n == 0)
    return NULL;

  if (rate.n_alike > 0)
    message = qm_message_new ("calibrated", N_("Corrected by your own runs on this device and software: {factor} the general estimate"));
  else
    message = qm_message_new ("calibrated-from-afar", N_("Corrected by your own runs on other devices, software or work: {factor} the general estimate"));
  qm_message_set_detail (message, rate.n_alike > 0 ? N_("{alike} of {runs} measured figures are of just this kind.")
                                                   : N_("None of {runs} measured figures is of just this kind, so the range stays wide."));
  qm_message_add (message, "factor", QM_ARGUMENT_FACTOR, rate.factor);
  qm_message_add (message, "alike", QM_ARGUMENT_COUNT, rate.n_alike);
  qm_message_add (message, "runs", QM_ARGUMENT_COUNT, rate.n);

  return message;
}
