/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training-private.h"

#include <math.h>

static double
power_of_two_at_least (double x)
{
  return exp2 (ceil (log2 (fmax (1, x))));
}

/* The largest power of two that divides @n. */
static double
power_of_two_in (double n)
{
  double power = 1;

  while (fmod (n, 2 * power) == 0 && power < n)
    power *= 2;

  return power;
}

/* Stages of the longest pipeline that is looked for. */
#define MOST_STAGES 128

/* The least divisor of @n that is at least @least; where there is none, @least. */
static double
divisor_at_least (double n,
                  double least)
{
  for (double divisor = ceil (fmax (1, least)); divisor <= fmin (n, MOST_STAGES); divisor++)
    if (fmod (n, divisor) == 0)
      return divisor;

  return fmin (n, ceil (fmax (1, least)));
}

/**
 * qm_llm_box_gb:
 * @device: a device
 * @constants: constants
 *
 * Returns: the number on the box of its memory; a usual one where the catalog
 *   has none
 */
double
qm_llm_box_gb (const QmDevice               *device,
               const QmLlmTrainingConstants *constants)
{
  if (!(device->memory_bytes > 0))
    return constants->layout.memory_gb;

  return device->memory_bytes / QM_GIB;
}

/* TPU: tensor parallelism widens until the gathers of weights hide behind the
 * computation of half a step; then the sequence itself is split. */
static void
resolve_xla (QmLlmJob *self,
             double    global_batch)
{
  const QmLlmTrainingConstants *constants = self->plan->constants;
  const QmDevice *device = self->device;
  double fabric = device->link_bytes_per_second > 0 ? device->link_bytes_per_second
                                                    : constants->link.unknown_fabric * 1e9;
  double link = fabric / 2 * constants->link.fast;
  double tokens = global_batch * self->plan->sequence / self->devices;
  double rate = constants->layout.xla_rate * qm_llm_peak_flops (device, QM_PRECISION_AMP_BF16);

  self->context = 1;
  if (!(global_batch > 0) || !(device->tflops_bf16 > 0))
    return;

  self->tensor = fmin (16, power_of_two_at_least ((6 / link) / (0.5 * 8 * tokens / rate)));
  self->context = fmax (1, ceil (self->devices / self->tensor / global_batch));
}

/* Bytes of a weight that must be held whatever the sharding. */
static double
bytes_per_weight (const QmLlmTraining *plan)
{
  if (!plan->frozen)
    return 6;

  return plan->fp8_frozen || plan->training.method == QM_METHOD_QLORA ? 1 : 2;
}

/* Who says that weights are sharded over the replicas wants replicas. */
static gboolean
shards_weights (const QmConfiguration *given)
{
  return given->sharding == QM_SHARDING_ZERO3 || given->sharding == QM_SHARDING_HYBRID;
}

/**
 * qm_llm_job_resolve_layout:
 * @self: a job whose layout is not stated
 * @global_batch: samples of a step; 0 unknown
 *
 * Sets the least model parallelism that holds the weights and comes out even,
 * tensor parallelism up to a domain first; or more where there are fewer sequences than devices:
 * then the sequence is split, and tensor parallelism widened.
 */
void
qm_llm_job_resolve_layout (QmLlmJob *self,
                           double    global_batch)
{
  const QmLlmTrainingConstants *constants = self->plan->constants;
  double weights = bytes_per_weight (self->plan) * self->plan->shape.parameters;
  double share = constants->layout.weights_share * 1e9 * qm_llm_box_gb (self->device, constants);
  double need;

  if (self->stack == QM_LLM_STACK_XLA && self->device->vendor == QM_VENDOR_GOOGLE)
    {
      resolve_xla (self, global_batch);
      return;
    }

  need = shards_weights (self->given) ? 1 : fmin (self->devices, power_of_two_at_least (weights / share));
  /* What does not divide the devices would leave some of them idle. */
  self->tensor = fmin (fmin (8, need), power_of_two_in (self->devices));
  self->pipeline = divisor_at_least (self->devices / self->tensor, need / self->tensor);

  if (!(global_batch > 0))
    return;

  self->context = fmax (self->context, fmin (16, fmax (1, floor (self->devices / (self->tensor * self->pipeline * global_batch)))));
  if (self->tensor * self->pipeline * self->context * global_batch < self->devices)
    {
      double idle = self->devices / (self->tensor * self->pipeline * self->context * global_batch);

      self->tensor = fmin (fmin (8, self->tensor * power_of_two_at_least (idle)),
                           power_of_two_in (floor (self->devices / (self->pipeline * self->context))));
    }
}
