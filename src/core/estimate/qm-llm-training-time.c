/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training-private.h"

#include <math.h>

/* Share of the memory bandwidth that unfused attention reaches, and how often
 * it passes over the score matrix. */
#define EAGER_ATTENTION_BANDWIDTH 0.85
#define EAGER_ATTENTION_PASSES 16

/* Bytes that an optimizer step moves per parameter: three 32-bit states read
 * and written, and the gradient read. */
#define OPTIMIZER_TRAFFIC 28

/* Seconds of one micro-batch on one device. */
typedef struct {
  double products;
  double attention;
  double elementwise;
  double logits;
  double dequantise;
  double gpu;                       /* with the floor of launches */
} MicroBatch;

/* Cost of the backward pass over the forward one, and the forward share that
 * is computed again. */
typedef struct {
  double again;
  double backward;
  double attention_backward;
  double passes;                    /* kernels launched, in forward passes */
} Passes;

static Passes
count_passes (const QmLlmJob *job)
{
  const QmLlmTraining *plan = job->plan;
  Passes passes = { 0, plan->frozen ? 1 : 2, 2.5, 3 };

  if (plan->probe)
    return (Passes) { 0, 0, 0, 1 };

  if (job->checkpointing == QM_CHECKPOINTING_FULL)
    passes.again = 1;
  else if (job->checkpointing == QM_CHECKPOINTING_SELECTIVE)
    passes.again = plan->constants->rate.selective;
  else
    passes.again = plan->constants->rate.recomputed * job->recomputed;

  passes.passes += passes.again;
  return passes;
}

static double
precision_factor (const QmLlmJob *job)
{
  const QmLlmRateConstants *k = &job->plan->constants->rate;

  switch (qm_llm_native_precision (job->device, job->plan->training.precision))
    {
    case QM_PRECISION_FP4:
      return k->fp4;
    case QM_PRECISION_FP8:
      if (job->family->fp8_other)
        return k->fp8_other;
      return job->stack == QM_LLM_STACK_MEGATRON ? k->fp8_megatron : k->fp8_fsdp;
    default:
      return 1;
    }
}

static double
attention_efficiency (const QmLlmJob *job)
{
  const QmLlmRateConstants *k = &job->plan->constants->rate;
  double efficiency = k->attention[job->family->attention];

  if (job->stack == QM_LLM_STACK_MEGATRON)
    efficiency *= k->attention_tuned;
  if (job->family->early_attention && job->framework->early_attention)
    efficiency *= k->attention_early;

  return efficiency;
}

static double
elementwise_passes (const QmLlmJob *job)
{
  const QmLlmRateConstants *k = &job->plan->constants->rate;
  const QmLlmShape *s = &job->plan->shape;
  QmLlmFusion fusion = QM_LLM_FUSION_EAGER;
  double routing = 1;

  if (job->fused)
    fusion = QM_LLM_FUSION_FUSED;
  else if (job->stack == QM_LLM_STACK_FSDP || job->stack == QM_LLM_STACK_MEGATRON_2022 || job->plan->chunked_loss)
    fusion = QM_LLM_FUSION_FSDP;

  if (s->moe)
    routing += k->moe_elementwise * s->experts_per_token * s->expert_ffn / s->hidden;

  return k->elementwise[fusion] * routing;
}

/* Time that launches and Python take, which no device is too slow for. */
static double
launch_floor (const QmLlmJob *job,
              double          passes)
{
  const QmLlmRateConstants *k = &job->plan->constants->rate;
  QmLlmFloor kind = QM_LLM_FLOOR_NATIVE;
  gboolean eager = job->stack == QM_LLM_STACK_EAGER;
  double floor_seconds;

  if (eager)
    kind = QM_LLM_FLOOR_EAGER;
  else if (job->stack == QM_LLM_STACK_FSDP || job->stack == QM_LLM_STACK_MEGATRON_2022)
    kind = QM_LLM_FLOOR_FSDP;

  floor_seconds = k->floor[kind];
  if ((job->framework->deepspeed && job->sharding == QM_SHARDING_ZERO3) || (eager && !job->plan->frozen))
    floor_seconds *= k->floor_zero3;
  if (job->plan->shape.moe)
    floor_seconds *= k->floor_moe;
  if (job->plan->decomposed)
    floor_seconds *= 1 + k->floor_decomposed * job->plan->adapted_modules;

  return floor_seconds * job->plan->shape.layers / job->pipeline * passes;
}

/* What the cube of a smaller share adds is lost in rounding. */
#define NOTHING_BESIDE 1e-6

/* The third power makes a smooth maximum of work and floor. */
static double
smooth_maximum (double a,
                double b)
{
  if (b < NOTHING_BESIDE * a)
    return a;

  return cbrt (a * a * a + b * b * b);
}

static MicroBatch
time_micro_batch (const QmLlmJob *job,
                  double          peak)
{
  const QmLlmTraining *plan = job->plan;
  const QmLlmRateConstants *k = &plan->constants->rate;
  const QmLlmShape *s = &plan->shape;
  const Passes p = count_passes (job);
  double tokens = job->tokens / (job->tensor * job->pipeline);
  double bandwidth = job->device->bandwidth_bytes_per_second;
  double rate = peak * job->mamf * job->family->rate * (s->moe ? k->moe : 1);
  double quantised_traffic = plan->integer_4_bit ? k->dequantise_int4 : k->dequantise_nf4;
  MicroBatch t = { 0 };

  t.products = plan->dense_flops / 3 * tokens * (1 + p.backward + p.again) / (rate * precision_factor (job));
  t.attention = plan->attention_flops / 3 * tokens * (1 + p.attention_backward + p.again) / (peak * attention_efficiency (job));
  if (!plan->flash)
    t.attention += EAGER_ATTENTION_PASSES * 2 * s->heads * plan->sequence * tokens * s->layers /
                   (EAGER_ATTENTION_BANDWIDTH * bandwidth);

  t.elementwise = elementwise_passes (job) * 2 * s->hidden * s->layers * tokens * (1 + p.backward + p.again) / 3 / bandwidth;
  if (plan->decomposed)
    t.elementwise += k->decomposed * (plan->autocast ? 4 : 2) * plan->adapted_weights * s->layers * (1 + p.again) /
                     (job->tensor * job->pipeline) / bandwidth;
  if (!plan->probe)
    t.logits = k->logits * 4 * s->vocabulary * tokens / bandwidth;
  if (plan->training.method == QM_METHOD_QLORA)
    t.dequantise = quantised_traffic * s->parameters * (2 + p.again) / (job->tensor * job->pipeline) / bandwidth;

  t.gpu = smooth_maximum (t.products + t.attention + t.elementwise + t.logits + t.dequantise,
                          launch_floor (job, p.passes));
  return t;
}

static double
exposed_seconds (const QmLlmJob *job,
                 double          traffic,
                 double          computation)
{
  const QmLlmRateConstants *k = &job->plan->constants->rate;
  QmVendor vendor = job->device->vendor;
  double overlap = k->overlap;

  if (job->stack == QM_LLM_STACK_EAGER)
    overlap = k->overlap_eager;
  else if (job->stack == QM_LLM_STACK_XLA && (vendor == QM_VENDOR_NVIDIA || vendor == QM_VENDOR_AMD))
    overlap = k->overlap_xla_gpu;

  return fmax (0, traffic - overlap * computation) + 0.5 * (1 - overlap) * fmin (traffic, computation);
}

static double
cpu_optimizer_seconds (const QmLlmJob *job,
                       double          trained)
{
  const QmLlmTrainingConstants *constants = job->plan->constants;
  double bytes = OPTIMIZER_TRAFFIC * trained / job->shards * fmin (job->devices, constants->link.domain);
  double seconds = constants->rate.cpu_adam * bytes / 1e9;

  /* NVMe: states are read and written once a step at 0.8 of the drives' rate */
  if (job->offload == QM_OFFLOAD_NVME)
    seconds += bytes / (0.8 * constants->host.nvme * 1e9);

  return seconds;
}

static double
optimizer_seconds (const QmLlmJob *job)
{
  const QmLlmRateConstants *k = &job->plan->constants->rate;
  double trained = job->plan->frozen ? job->plan->trainable : qm_llm_reduced_parameters (job);
  double shards = 1;
  double seconds;

  if (job->sharding == QM_SHARDING_ZERO3 || job->sharding == QM_SHARDING_HYBRID)
    shards = job->shards;
  else if (job->sharding != QM_SHARDING_NONE)
    shards = job->data * job->context;

  seconds = k->optimizer * OPTIMIZER_TRAFFIC * trained / shards / job->device->bandwidth_bytes_per_second;
  if (job->offload != QM_OFFLOAD_NONE)
    seconds = cpu_optimizer_seconds (job, trained);

  if (job->stack == QM_LLM_STACK_MEGATRON || job->stack == QM_LLM_STACK_XLA)
    seconds += k->step_overhead * log2 (fmax (2, job->devices));

  return seconds;
}

/* Stragglers, the stack against the reference one, and padding. */
static double
step_scale (const QmLlmJob *job)
{
  const QmLlmRateConstants *k = &job->plan->constants->rate;
  double slowness = job->framework->slowness;
  gboolean is_python = job->stack == QM_LLM_STACK_FSDP || job->stack == QM_LLM_STACK_EAGER;
  double padding = job->plan->unpacked && job->micro_batch > 1 ? k->padding : 1;

  if (job->plan->training.compiled == QM_TERNARY_YES && is_python)
    slowness *= exp (-k->compiled);

  return (1 + (job->devices > 8 ? k->straggle * log2 (job->devices / 8) : 0)) * slowness * padding;
}

static double
tokens_per_device (const QmLlmJob *job)
{
  if (job->plan->training.global_batch > 0)
    return job->global_batch * job->plan->sequence / job->devices;

  return job->micro_batch * job->accumulation * job->plan->sequence / (job->tensor * job->pipeline * job->context);
}

/**
 * qm_llm_time_predict:
 * @job: a job
 * @links: its links
 * @time: (out caller-allocates): what one optimizer step takes
 *
 * step = ((m + (p - 1) / v) (gpu + model-parallel) + exposed data-parallel
 * traffic + optimizer) x stragglers / stack x padding, for m micro-batches, p
 * stages and v chunks each. Nothing is known where the catalog lacks a matrix
 * peak or a bandwidth of the device.
 */
void
qm_llm_time_predict (const QmLlmJob   *job,
                     const QmLlmLinks *links,
                     QmLlmTime        *time)
{
  double peak = qm_llm_peak_flops (job->device, job->plan->training.precision);
  double rounds = job->accumulation + (job->pipeline - 1) / job->virtual_pipeline;
  double scale, split, exposed, optimizer;
  MicroBatch micro;

  *time = (QmLlmTime) { .peak = peak };
  if (!(peak > 0) || !(job->device->bandwidth_bytes_per_second > 0))
    return;

  micro = time_micro_batch (job, peak);
  split = qm_llm_model_parallel_seconds (job, links);
  exposed = exposed_seconds (job, qm_llm_data_parallel_seconds (job, links), job->accumulation * micro.gpu);
  optimizer = optimizer_seconds (job);
  scale = step_scale (job);

  time->known = TRUE;
  time->step = (rounds * (micro.gpu + split) + exposed + optimizer) * scale;
  time->compute = rounds * (micro.products + micro.attention) * scale;
  time->memory = (rounds * (micro.elementwise + micro.logits + micro.dequantise) + optimizer) * scale;
  time->communication = (rounds * split + exposed) * scale;
  time->overhead = fmax (0, time->step - time->compute - time->memory - time->communication);
  time->rate = tokens_per_device (job) / time->step;
}
