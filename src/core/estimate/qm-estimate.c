/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-estimate.h"

#include <math.h>

/**
 * qm_estimate_clear:
 * @self: an estimate
 *
 * Sets every figure to "unknown".
 */
void
qm_estimate_clear (QmEstimate *self)
{
  *self = (QmEstimate) { 0 };

  self->memory.device = QM_RANGE_UNKNOWN;
  self->memory.need = QM_RANGE_UNKNOWN;
  self->memory.allocated = QM_RANGE_UNKNOWN;
  self->memory.reserved = QM_RANGE_UNKNOWN;
  self->memory.host = QM_RANGE_UNKNOWN;

  self->throughput.per_second = QM_RANGE_UNKNOWN;
  self->throughput.per_device_per_second = QM_RANGE_UNKNOWN;
  self->throughput.step_seconds = QM_RANGE_UNKNOWN;
  self->throughput.samples_per_second = NAN;
  self->throughput.tflops_per_device = NAN;
  self->throughput.mfu = NAN;
  self->throughput.input_per_second = NAN;
  self->throughput.input_gain = 1;

  self->serving.first_token_seconds = QM_RANGE_UNKNOWN;
  self->serving.token_seconds = QM_RANGE_UNKNOWN;
  self->serving.decode_tokens_per_second = QM_RANGE_UNKNOWN;
  self->serving.prefill_tokens_per_second = QM_RANGE_UNKNOWN;
  self->serving.latency_p50_seconds = QM_RANGE_UNKNOWN;
  self->serving.latency_p99_seconds = QM_RANGE_UNKNOWN;
  self->serving.first_token_p99_seconds = QM_RANGE_UNKNOWN;
  self->serving.token_p99_seconds = QM_RANGE_UNKNOWN;
  self->serving.latency_error = NAN;
  self->serving.cold_start.seconds = QM_RANGE_UNKNOWN;

  self->time.seconds = QM_RANGE_UNKNOWN;
  self->time.finish = QM_RANGE_UNKNOWN;
  self->time.with_interruptions_seconds = NAN;

  self->cost.money = QM_RANGE_UNKNOWN;
  self->cost.per_hour = NAN;
  self->cost.per_million_units = QM_RANGE_UNKNOWN;
  self->cost.purchase_money = NAN;
  self->cost.break_even_hours = NAN;
  self->cost.kwh = QM_RANGE_UNKNOWN;
  self->cost.kg_co2e = QM_RANGE_UNKNOWN;

  self->accuracy.value = QM_RANGE_UNKNOWN;
}

/**
 * qm_outline_init:
 * @self: (out caller-allocates): an outline of which nothing is known
 */
void
qm_outline_init (QmOutline *self)
{
  *self = (QmOutline) { .need_bytes = NAN, .per_second = NAN, .samples_per_second = NAN, .seconds = NAN };
}

/**
 * qm_outline_from_estimate:
 * @self: (out caller-allocates): its outline
 * @estimate: an estimate, without time and cost
 */
void
qm_outline_from_estimate (QmOutline        *self,
                          const QmEstimate *estimate)
{
  const QmMemory *memory = &estimate->memory;
  const QmThroughput *throughput = &estimate->throughput;

  *self = (QmOutline) {
    .need_bytes = memory->need.p50,
    .need_width = qm_range_half_width (memory->need),
    .usable_bytes = memory->usable_bytes,
    .host_bytes = memory->host_bytes,
    .largest_micro_batch = memory->largest_micro_batch,
    .per_second = throughput->per_second.p50,
    .rate_width = qm_range_half_width (throughput->per_second),
    .samples_per_second = throughput->samples_per_second,
    .seconds = estimate->time.seconds.p50,
    .seconds_width = qm_range_half_width (estimate->time.seconds),
    .unit = throughput->unit,
    .known = throughput->known,
  };
}
