/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training-private.h"

#include <math.h>

static double
one_or (int value)
{
  return value > 0 ? value : 1;
}

static gboolean
is_low_precision (QmPrecision precision)
{
  return precision == QM_PRECISION_FP8 || precision == QM_PRECISION_FP4;
}

static gboolean
is_other_chip (const QmDevice *device)
{
  return device->device_class == QM_DEVICE_CLASS_TPU || device->device_class == QM_DEVICE_CLASS_NPU;
}

/**
 * qm_llm_native_precision:
 * @device: a device
 * @precision: that of a job
 *
 * Graphics devices without units of 8 bits train in 16; other chips compute in
 * integers of 8 bits.
 *
 * Returns: the number format that @device has units for
 */
QmPrecision
qm_llm_native_precision (const QmDevice *device,
                         QmPrecision     precision)
{
  if (precision == QM_PRECISION_FP4 && !(device->tflops_fp4 > 0))
    precision = QM_PRECISION_FP8;

  return precision == QM_PRECISION_FP8 && !is_other_chip (device) && !(device->tflops_fp8 > 0) ? QM_PRECISION_AMP_BF16 : precision;
}

static gboolean
is_offloaded (QmOffload offload)
{
  return offload != QM_OFFLOAD_UNSET && offload != QM_OFFLOAD_NONE;
}

/* Formats that the device has no units for are trained in 16 bits by autocast. */
static gboolean
is_autocast_on (const QmLlmTraining *plan,
                const QmDevice      *device)
{
  return plan->autocast || qm_llm_native_precision (device, plan->training.precision) == QM_PRECISION_AMP_BF16;
}

static QmLlmUsual
usual_adapter (const QmLlmTraining *plan,
               const QmDevice      *device,
               double               devices,
               gboolean             layout_stated,
               QmSharding           sharding)
{
  if (!layout_stated || plan->fp8_frozen)
    return QM_LLM_USUAL_ADAPTER_VENDOR;

  if (plan->training.compiled == QM_TERNARY_YES)
    return QM_LLM_USUAL_ADAPTER_COMPILED;

  if (devices == 1 && !is_autocast_on (plan, device))
    return QM_LLM_USUAL_ADAPTER_ONE_16_BIT;

  if (devices == 1 || sharding != QM_SHARDING_ZERO3)
    return QM_LLM_USUAL_ADAPTER_ONE;

  return is_autocast_on (plan, device) ? QM_LLM_USUAL_ADAPTER_SHARDED : QM_LLM_USUAL_ADAPTER_SHARDED_16_BIT;
}

static QmLlmUsual
usual_full (const QmLlmTraining   *plan,
            const QmDevice        *device,
            const QmConfiguration *given,
            double                 devices,
            gboolean               layout_stated)
{
  gboolean split = one_or (given->tensor_parallel) * one_or (given->pipeline_parallel) > 1;

  if (given->sharding == QM_SHARDING_ZERO3 || given->sharding == QM_SHARDING_HYBRID)
    {
      if (is_offloaded (given->offload) || devices < 8)
        return QM_LLM_USUAL_FULL_SHARDED_SMALL;

      return split || plan->training.compiled == QM_TERNARY_YES ? QM_LLM_USUAL_FULL_SHARDED_SPLIT
                                                                 : QM_LLM_USUAL_FULL_SHARDED;
    }

  if (is_low_precision (qm_llm_native_precision (device, plan->training.precision)))
    return QM_LLM_USUAL_FULL_LOW_PRECISION;

  if (split || !layout_stated)
    return QM_LLM_USUAL_FULL_SPLIT;

  if (devices > 1)
    return QM_LLM_USUAL_FULL_SEVERAL;

  return is_autocast_on (plan, device) ? QM_LLM_USUAL_FULL_ONE : QM_LLM_USUAL_FULL_ONE_16_BIT;
}

static gboolean
is_gaudi (const QmDevice *device)
{
  return device->vendor == QM_VENDOR_INTEL && g_str_has_prefix (device->id, "gaudi");
}

/**
 * qm_llm_job_candidates:
 * @plan: a plan that names no framework
 * @device: the device
 * @given: the configuration as far as it is given
 * @family: what @device behaves like
 *
 * Returns: (transfer none): the frameworks that such jobs usually run on, the
 *   likeliest first
 */
const QmLlmCandidates *
qm_llm_job_candidates (const QmLlmTraining   *plan,
                       const QmDevice        *device,
                       const QmConfiguration *given,
                       const QmLlmFamily     *family)
{
  const QmLlmCandidates *usual = plan->constants->usual;
  double devices = one_or (given->devices);
  gboolean layout_stated = given->data_parallel > 0 || devices == 1;

  if (device->vendor == QM_VENDOR_GOOGLE)
    return &usual[QM_LLM_USUAL_TPU];

  if (device->vendor == QM_VENDOR_AWS)
    return &usual[QM_LLM_USUAL_TRAINIUM];

  if (is_gaudi (device))
    return &usual[QM_LLM_USUAL_GAUDI];

  if (plan->frozen)
    return &usual[usual_adapter (plan, device, devices, layout_stated, given->sharding)];

  return &usual[usual_full (plan, device, given, devices, layout_stated)];
}

/**
 * qm_llm_peak_flops:
 * @device: a device
 * @precision: that of a job
 *
 * Returns: the dense matrix peak in FLOP/s of the type that the 16-bit part of
 *   the job uses; 0 where the catalog has none. Where 16-bit units are slower than
 *   those of 32 bits (Pascal), libraries compute in the latter
 */
double
qm_llm_peak_flops (const QmDevice *device,
                   QmPrecision     precision)
{
  double tflops = device->tflops_bf16;

  if (precision == QM_PRECISION_FP32)
    tflops = device->tflops_fp32;
  else if (precision == QM_PRECISION_TF32)
    tflops = device->tflops_tf32 > 0 || is_other_chip (device) ? device->tflops_tf32 : device->tflops_fp32;
  else if (precision == QM_PRECISION_AMP_FP16 || precision == QM_PRECISION_FP16)
    tflops = device->tflops_fp16;

  if (!(tflops > 0))
    tflops = device->tflops_bf16 > 0 ? device->tflops_bf16 : device->tflops_fp16;

  return 1e12 * fmax (tflops, device->tflops_fp32);
}

static void
take_given (QmLlmJob              *self,
            const QmConfiguration *given)
{
  self->given = given;
  self->devices = one_or (given->devices);
  self->nodes = given->nodes;
  self->tensor = one_or (given->tensor_parallel);
  self->pipeline = one_or (given->pipeline_parallel);
  self->context = one_or (given->context_parallel);
  self->expert = one_or (given->expert_parallel);
  self->offload = given->offload != QM_OFFLOAD_UNSET ? given->offload : QM_OFFLOAD_NONE;
  self->layout_known = given->data_parallel > 0 || self->devices == 1;
}

/* Sequences of a micro-batch and micro-batches of a step. */
static void
resolve_batch (QmLlmJob *self,
               double    global_batch)
{
  const QmConfiguration *given = self->given;
  double tokens = self->plan->constants->layout.tokens;
  gboolean is_large = self->stack == QM_LLM_STACK_MEGATRON || self->stack == QM_LLM_STACK_XLA;

  self->batch_known = given->micro_batch > 0 || global_batch > 0;
  self->micro_batch = given->micro_batch;
  self->accumulation = given->gradient_accumulation;

  if (!(self->micro_batch > 0))
    {
      double at_most = is_large ? floor (tokens * self->context / self->plan->sequence) : 1;
      double rounds = self->plan->constants->layout.interleaved * self->pipeline;

      /* An interleaved schedule goes round in so many micro-batches. */
      if (self->virtual_pipeline > 1 && rounds > 0)
        at_most = fmin (at_most, fmax (1, floor (global_batch / (self->data * rounds))));

      if (self->accumulation > 0 && global_batch > 0)
        self->micro_batch = floor (global_batch / (self->data * self->accumulation));
      else if (global_batch > 0)
        self->micro_batch = floor (fmin (fmax (1, global_batch / self->data), at_most));
      else
        self->micro_batch = floor (tokens / self->plan->sequence);

      self->micro_batch = fmax (1, self->micro_batch);
    }

  if (!(self->accumulation > 0))
    self->accumulation = global_batch > 0 ? fmax (1, global_batch / (self->data * self->micro_batch)) : 1;

  self->global_batch = global_batch > 0 ? global_batch : self->micro_batch * self->accumulation * self->data;
  self->tokens = self->micro_batch * self->plan->sequence / self->context;
}

static void
resolve_sharding (QmLlmJob *self)
{
  const QmConfiguration *given = self->given;
  double replicas = self->data * self->context;
  double group = replicas;
  gboolean is_split;

  self->sharding = given->sharding;
  if (self->sharding == QM_SHARDING_UNSET && self->devices == 1)
    self->sharding = QM_SHARDING_NONE;
  else if (self->sharding == QM_SHARDING_UNSET)
    self->sharding = self->stack == QM_LLM_STACK_MEGATRON ? QM_SHARDING_ZERO1 : QM_SHARDING_ZERO3;

  if (given->shard_group > 0)
    group = given->shard_group;
  else if (self->sharding == QM_SHARDING_HYBRID && self->device->vendor == QM_VENDOR_GOOGLE)
    group = floor (self->devices / one_or (given->slices));
  else if (self->sharding == QM_SHARDING_HYBRID)
    group = fmin (self->plan->constants->link.domain, self->data);

  is_split = self->sharding == QM_SHARDING_ZERO3 || self->sharding == QM_SHARDING_HYBRID;
  self->shards = fmax (1, is_split ? fmin (group, replicas) : replicas);
}

/* As many layers as it takes to fit: what Megatron's recompute_num_layers is
 * set to. */
static void
resolve_recomputed (QmLlmJob *self)
{
  const QmLlmTrainingConstants *constants = self->plan->constants;
  double target = constants->layout.recompute_above * self->device->usable_bytes;
  QmLlmMemory none, all;

  if (!(target > 0))
    return;

  qm_llm_memory_predict_peak (self, &constants->choice, &none);
  if (none.whole <= target)
    return;

  self->recomputed = 1;
  qm_llm_memory_predict_peak (self, &constants->choice, &all);
  if (all.whole < target)
    self->recomputed = (none.whole - target) / (none.whole - all.whole);
}

/* None where the job then fits, else full; Megatron recomputes layer by layer, and
 * PEFT's prepare_model_for_kbit_training and what builds on it turn it on. */
static void
resolve_checkpointing (QmLlmJob *self)
{
  const QmLlmTrainingConstants *constants = self->plan->constants;
  double capacity = qm_llm_box_gb (self->device, constants) * QM_GIB;
  QmLlmMemory memory;

  self->checkpointing = self->plan->training.activation_checkpointing;
  if (self->checkpointing != QM_CHECKPOINTING_UNSET)
    return;

  if (self->plan->training.method == QM_METHOD_QLORA && self->framework->recomputes_qlora)
    {
      self->checkpointing = QM_CHECKPOINTING_FULL;
      return;
    }

  self->checkpointing = QM_CHECKPOINTING_NONE;
  if (self->stack == QM_LLM_STACK_MEGATRON)
    {
      resolve_recomputed (self);
      return;
    }

  if (!self->batch_known)
    {
      if (self->stack == QM_LLM_STACK_XLA)
        self->checkpointing = QM_CHECKPOINTING_FULL;
      return;
    }

  qm_llm_memory_predict_peak (self, &constants->choice, &memory);
  if (memory.reserved >= capacity)
    self->checkpointing = QM_CHECKPOINTING_FULL;
}

/**
 * qm_llm_job_init:
 * @self: (out caller-allocates): a job
 * @plan: the plan
 * @device: what it runs on
 * @given: the configuration as far as it is given
 * @family: what @device behaves like
 * @mamf: best matrix rate on @device over its peak
 * @framework: index of the framework
 *
 * Resolves layout, batch, sharding and checkpointing: what the plan leaves open
 * is what that framework would usually do.
 */
void
qm_llm_job_init (QmLlmJob              *self,
                 const QmLlmTraining   *plan,
                 const QmDevice        *device,
                 const QmConfiguration *given,
                 const QmLlmFamily     *family,
                 double                 mamf,
                 int                    framework)
{
  double global_batch = plan->training.global_batch;

  self->plan = plan;
  self->recomputed = 0;
  self->device = device;
  self->family = family;
  self->framework = &plan->constants->frameworks[framework];
  self->mamf = mamf;
  self->stack = self->framework->stack;
  self->fused = plan->training.compiled == QM_TERNARY_YES || self->stack == QM_LLM_STACK_XLA ||
                self->stack == QM_LLM_STACK_NATIVE || self->stack == QM_LLM_STACK_MEGATRON;

  take_given (self, given);
  if (!self->layout_known && self->tensor * self->pipeline == 1)
    qm_llm_job_resolve_layout (self, global_batch);

  self->data = given->data_parallel > 0 ? given->data_parallel
                                        : fmax (1, floor (self->devices / (self->tensor * self->pipeline * self->context)));
  self->virtual_pipeline = one_or (given->virtual_pipeline);
  if (given->virtual_pipeline == 0 && self->pipeline > 1 && !self->layout_known && self->stack == QM_LLM_STACK_MEGATRON)
    self->virtual_pipeline = 4;

  resolve_batch (self, global_batch);
  resolve_sharding (self);
  resolve_checkpointing (self);
}
