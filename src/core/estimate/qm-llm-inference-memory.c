/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-inference-private.h"

#include <math.h>

#define GIB (1024.0 * 1024.0 * 1024.0)

/* How often a cache is kept by the devices that share each layer: heads of keys
 * and values that are fewer than those are repeated, and a latent has no heads. */
static double
cache_copies (const QmInferenceJob *job)
{
  const QmInferenceShape *shape = &job->plan->shape;
  double parts = shape->latent > 0 ? 1 : shape->kv_heads;

  return parts > 0 ? 1 + job->plan->constants->limits.repeated_cache * fmax (0, job->tensor / parts - 1) : 1;
}

/**
 * qm_inference_cached_bytes:
 * @job: a plan on a configuration
 * @tokens: of one sequence, kept
 *
 * Returns: bytes that its cache takes on all devices of a replica together
 */
double
qm_inference_cached_bytes (const QmInferenceJob *job,
                           double                tokens)
{
  const QmLlmInference *plan = job->plan;

  return cache_copies (job) * qm_inference_kv_bytes (&plan->shape, tokens, plan->kv_bytes) + plan->shape.state_bytes;
}

/* What one pass over @chunk prompt tokens holds. Where the prompt is a single
 * pass, the cache of the answer is not there yet. */
static double
activation_bytes (const QmInferenceJob *job,
                  double                chunk,
                  double                sequences)
{
  const QmLlmInference *plan = job->plan;
  const QmInferenceShape *shape = &plan->shape;
  double bytes = chunk * (2 * shape->hidden + shape->heads * shape->head_size) * 2 / job->tensor;
  double later;

  if (chunk < plan->prompt * sequences)
    return bytes;

  later = sequences * (qm_inference_cached_bytes (job, plan->prompt + plan->answer) - qm_inference_cached_bytes (job, plan->prompt));
  return fmax (0, bytes - later / (job->tensor * job->pipeline));
}

/* What an engine that tries a full step at its start finds for it: on each
 * rank its share of the feed-forward layer and of attention, the residual whole,
 * of routed tokens a copy for each expert; and the logits of all sequences with
 * what sampling makes of them. */
static double
profile_bytes (const QmInferenceJob *job)
{
  const QmInferenceShape *shape = &job->plan->shape;
  const QmInferenceLimits *limits = &job->plan->constants->limits;
  double sampler = job->plan->max_sequences * shape->vocabulary * limits->sampler_bytes;
  double tokens = job->memory >= limits->profile_above ? limits->profile_chunk : limits->prompt_chunk;
  double shared = 3 * shape->ffn_used + (shape->heads + 2 * shape->kv_heads) * shape->head_size;
  double copies = shape->experts > 1 ? shape->experts_per_token * shape->hidden : 0;

  return tokens * 2 * (2 * shape->hidden + shared / job->tensor + copies) + sampler;
}

/* Experts that are kept in system memory. */
static double
expert_bytes_outside (const QmInferenceJob *job)
{
  return (1 - job->expert_share) * qm_inference_expert_bytes (&job->plan->shape, &job->plan->format, INFINITY);
}

static void
add_parts (const QmInferenceJob   *job,
           QmInferenceMemoryParts *memory)
{
  const QmLlmInference *plan = job->plan;
  const QmInferenceShape *shape = &plan->shape;
  const QmInferenceLimits *limits = &plan->constants->limits;
  double sequences = job->batch > 0 ? job->batch : 1;
  double shares = job->tensor * job->pipeline / job->device_share;
  double tokens = plan->prompt * sequences;
  double chunk = plan->engine->whole_prompts ? tokens : fmin (tokens, limits->prompt_chunk);
  double cache = qm_inference_cached_bytes (job, plan->prompt + plan->answer);
  double logits = plan->engine->micro_batches ? fmin (tokens, limits->micro_batch) : sequences;
  double *parts = memory->parts;

  parts[QM_MEMORY_WEIGHTS] = (plan->weight_bytes - expert_bytes_outside (job)) / shares;
  if (job->on_cpu && plan->format.kernel == QM_INFERENCE_KERNEL_W4)
    parts[QM_MEMORY_WEIGHTS] *= job->values[QM_INFERENCE_CPU_COPY];
  parts[QM_MEMORY_KV_CACHE] = sequences * cache / shares;
  parts[QM_MEMORY_ACTIVATIONS] = activation_bytes (job, chunk, sequences);
  parts[QM_MEMORY_LOGITS] = logits * shape->vocabulary * 4;
  if (plan->engine->profiled && !job->on_cpu)
    {
      parts[QM_MEMORY_ACTIVATIONS] = profile_bytes (job);
      parts[QM_MEMORY_LOGITS] = 0;
    }
  parts[QM_MEMORY_COMMUNICATION] = job->tensor > 1 ? limits->collective : 0;
  if (job->on_cpu)
    {
      parts[QM_MEMORY_CONTEXT] = job->values[QM_INFERENCE_PROCESS] * GIB;
      return;
    }

  parts[QM_MEMORY_WORKSPACE] = job->values[QM_INFERENCE_WORKSPACE] * parts[QM_MEMORY_WEIGHTS];
  if (plan->speculation != NULL)
    parts[QM_MEMORY_WORKSPACE] += plan->speculation->weights * parts[QM_MEMORY_WEIGHTS];
  parts[QM_MEMORY_CONTEXT] = job->values[QM_INFERENCE_CONTEXT] * GIB;
  parts[QM_MEMORY_FRAGMENTATION] = limits->fragmentation * (parts[QM_MEMORY_ACTIVATIONS] + parts[QM_MEMORY_LOGITS]);
}

/**
 * qm_inference_memory:
 * @job: a plan on a configuration
 * @memory: (out caller-allocates): bytes of one device, and of the host
 *
 * Weights, cache, one pass over a piece of prompts, logits, buffers of
 * collectives and the driver's context. Server engines take a fixed share of
 * the memory at the start, which the whole device then shows.
 */
void
qm_inference_memory (const QmInferenceJob   *job,
                     QmInferenceMemoryParts *memory)
{
  const QmInferenceLimits *limits = &job->plan->constants->limits;
  double per_machine = job->devices / MAX (1, job->given->nodes);
  double on_device;

  *memory = (QmInferenceMemoryParts) { 0 };
  add_parts (job, memory);

  for (int i = 0; i < QM_MEMORY_N_PARTS; i++)
    memory->need += memory->parts[i];

  memory->allocated = memory->need - memory->parts[QM_MEMORY_CONTEXT] - memory->parts[QM_MEMORY_FRAGMENTATION];
  memory->reserved = memory->allocated + memory->parts[QM_MEMORY_FRAGMENTATION];
  memory->device = memory->need;
  if (job->plan->family == QM_INFERENCE_FAMILY_SERVER)
    memory->device = fmax (memory->need, limits->memory_utilisation * job->memory);

  on_device = memory->parts[QM_MEMORY_WEIGHTS] + memory->parts[QM_MEMORY_KV_CACHE];
  memory->host = job->on_cpu ? memory->need
                             : job->values[QM_INFERENCE_PROCESS] * GIB +
                               on_device * (1 / job->device_share - 1) * fmax (1, per_machine) + expert_bytes_outside (job);
}

/**
 * qm_inference_pool_bytes:
 * @job: a plan on a configuration with known memory
 *
 * Returns: bytes that one replica has left for caches when weights and
 *   reserves are taken off the share of the memory that engines use; may be
 *   negative
 */
double
qm_inference_pool_bytes (const QmInferenceJob *job)
{
  const QmInferenceLimits *limits = &job->plan->constants->limits;
  double devices = job->tensor * job->pipeline;
  double collective = devices > 1 ? limits->collective : 0;
  double free = limits->memory_utilisation * job->memory - limits->engine_reserve - collective;

  if (job->plan->engine->profiled)
    free = limits->memory_utilisation * job->device->usable_bytes - limits->profile_outside - collective - profile_bytes (job);

  return free * devices - job->plan->weight_bytes * job->device_share;
}

/**
 * qm_inference_slots:
 * @job: a plan on a configuration
 *
 * The engine's own limit of sequences at once. Server engines spread experts
 * and repeat attention, so it counts per device there.
 *
 * Returns: a number of at least 1
 */
double
qm_inference_slots (const QmInferenceJob *job)
{
  const QmLlmInference *plan = job->plan;
  gboolean each_device = plan->shape.experts > 1 && plan->family == QM_INFERENCE_FAMILY_SERVER && job->memory > 0;

  return fmax (1, plan->max_sequences * (each_device ? job->tensor : 1));
}

/**
 * qm_inference_room:
 * @job: a plan on a configuration
 *
 * Sequences that one replica runs at once when the engine decides: its own
 * limit, or what the cache pool holds of half-grown answers.
 *
 * Returns: a number of at least 1
 */
double
qm_inference_room (const QmInferenceJob *job)
{
  const QmLlmInference *plan = job->plan;
  double limit = qm_inference_slots (job);
  double context = plan->prompt + plan->constants->limits.page_growth * plan->answer;
  double each;

  if (!(job->memory > 0))
    return limit;

  each = qm_inference_cached_bytes (job, context);
  return fmax (1, fmin (limit, qm_inference_pool_bytes (job) / fmax (1, each)));
}
