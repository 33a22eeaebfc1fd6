/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-inference-private.h"

#include <math.h>

#define MICRO 1e-6
#define MILLI 1e-3

/* (x⁴ + y⁴)^¼: the larger of two times that hide behind each other. */
static double
soft_max (double x,
          double y)
{
  double top = fmax (x, y);
  double ratio = top > 0 ? fmin (x, y) / top : 0;

  ratio *= ratio;
  return top * sqrt (sqrt (1 + ratio * ratio));
}

/* One all-reduce of @tokens hidden states in 16 bits: latency, then
 * 2(n − 1)/n of the bytes over the link. */
static double
hop_seconds (const QmInferenceJob *job,
             double                tokens)
{
  double n = job->tensor;
  double bytes = tokens * job->plan->shape.hidden * 2;

  if (n <= 1)
    return 0;

  return job->values[QM_INFERENCE_HOP] * MICRO +
         2 * (n - 1) / n * bytes / (job->plan->constants->limits.link_share * job->link_bandwidth);
}

static gboolean
is_unpacked (QmInferenceKernel kernel)
{
  return kernel == QM_INFERENCE_KERNEL_KQ || kernel == QM_INFERENCE_KERNEL_IQ || kernel == QM_INFERENCE_KERNEL_MX4 ||
         kernel == QM_INFERENCE_KERNEL_W4 || kernel == QM_INFERENCE_KERNEL_NF4;
}

/* Products of one step; one sequence alone waits for its bytes only. Weights
 * below a byte are unpacked once a step, whatever the batch. */
static double
compute_seconds (const QmInferenceJob *job,
                 double                sequences,
                 double                n)
{
  const QmInferenceShape *shape = &job->plan->shape;
  double active = shape->active_body + shape->embedding;
  double instructions = job->values[QM_INFERENCE_INSTRUCTIONS];
  double seconds = 0;

  if (job->on_cpu)
    return sequences * active * instructions / job->flops;

  if (sequences > 1)
    seconds = 2 * active * sequences / (job->values[QM_INFERENCE_MU] * n * job->flops);
  if (is_unpacked (job->plan->format.kernel))
    seconds = soft_max (seconds, shape->active_body * instructions / (n * job->integer_rate));

  return seconds;
}

/* Bytes beside the weights' own where they are unpacked into memory first. */
static double
copied_bytes (const QmInferenceJob *job,
              double                tokens)
{
  const QmLlmInference *plan = job->plan;
  double weights;

  if (tokens < job->copies_from)
    return 0;

  weights = qm_inference_read_bytes (&plan->shape, &plan->format, tokens) - plan->shape.embedding * plan->format.head / 8;
  return weights / plan->format.body * 8 * plan->constants->limits.copied_bytes;
}

/* Time that Python takes to issue the kernels of one pass. */
static double
host_seconds (const QmInferenceJob *job)
{
  const QmInferenceShape *shape = &job->plan->shape;

  return (shape->layers * job->values[QM_INFERENCE_HOST] +
          shape->moe_layers * shape->experts * job->values[QM_INFERENCE_EXPERT]) * MICRO;
}

/* Time to read what experts of some layers have to do, from system memory. */
static double
expert_seconds (const QmInferenceJob *job,
                double                bytes)
{
  return (1 - job->expert_share) * bytes / (job->host_bandwidth * job->plan->constants->limits.host_share);
}

/* A pass over the weights that computes @checked tokens of each sequence: bytes read at the bandwidth that is reached against FLOPs at
 * the rate that is reached, whichever takes longer, and the serial time of
 * launches, collectives and scheduling. In eager engines the host issues
 * kernels at the same time. Of layers left to the processor the bytes are read
 * from system memory, one after the other. */
static void
take_step (const QmInferenceJob *job,
           double                sequences,
           double                checked,
           double                context,
           QmInferenceStep      *step)
{
  const QmInferenceShape *shape = &job->plan->shape;
  const double *values = job->values;
  double bytes = qm_inference_read_bytes (shape, &job->plan->format, sequences * checked) + copied_bytes (job, sequences * checked) +
                 sequences * (qm_inference_kv_bytes (shape, context, job->plan->kv_bytes) +
                              values[QM_INFERENCE_KAPPA] * qm_inference_kv_expanded_bytes (shape, context));
  /* Stages work at the same time on different sequences. */
  double n = sequences > 1 ? job->tensor * job->pipeline : job->tensor;
  double experts = job->expert_share < 1 ? qm_inference_expert_bytes (shape, &job->plan->format, sequences) : 0;
  double busy;

  step->memory = (bytes - (1 - job->expert_share) * experts) / (values[QM_INFERENCE_EFFICIENCY] * n * job->bandwidth);
  step->compute = compute_seconds (job, sequences * checked, n);
  step->communication = 2 * shape->layers * hop_seconds (job, sequences * checked);
  step->overhead = (shape->layers * values[QM_INFERENCE_TAU] + sequences * values[QM_INFERENCE_SEQUENCE]) * MICRO;

  busy = soft_max (step->memory, step->compute);
  step->seconds = step->communication + step->overhead;
  if (job->plan->family == QM_INFERENCE_FAMILY_EAGER && !job->on_cpu)
    {
      busy = soft_max (busy + step->seconds, host_seconds (job));
      step->overhead = host_seconds (job);
      step->seconds = 0;
    }

  if (job->device_share < 1)
    {
      double rest = (1 - job->device_share) * bytes / (job->host_bandwidth * job->plan->constants->limits.host_share);

      busy = busy * job->device_share + rest;
      step->memory = step->memory * job->device_share + rest;
    }

  step->memory += expert_seconds (job, experts);
  step->seconds += busy + expert_seconds (job, experts);
}

/**
 * qm_inference_step:
 * @job: a plan on a configuration
 * @sequences: that run at once on one replica
 * @context: their mean length, tokens
 * @step: (out caller-allocates): the time of one token and its parts
 *
 * One decode step; where tokens are guessed, the step that checks them and the
 * guessing, over the tokens that hold: Leviathan and others, arXiv:2211.17192.
 */
void
qm_inference_step (const QmInferenceJob *job,
                   double                sequences,
                   double                context,
                   QmInferenceStep      *step)
{
  const QmInferenceSpeculation *speculation = job->plan->speculation;
  QmInferenceStep plain;
  double drafts;

  if (speculation == NULL)
    {
      take_step (job, sequences, 1, context, step);
      return;
    }

  take_step (job, sequences, 1, context, &plain);
  take_step (job, sequences, speculation->drafted + 1, context, step);
  drafts = speculation->drafted * speculation->draft_cost * plain.seconds;
  step->memory /= job->plan->accepted;
  step->compute /= job->plan->accepted;
  step->communication /= job->plan->accepted;
  step->overhead = (step->overhead + drafts) / job->plan->accepted;
  step->seconds = (step->seconds + drafts) / job->plan->accepted;
}

/* Experts in system memory come over the bus for each piece of a prompt that is
 * read at once: llama.cpp computes on the device from 32 tokens on. */
static double
fetching_seconds (const QmInferenceJob *job,
                  double                tokens)
{
  double pieces = fmax (1, ceil (tokens / job->plan->constants->limits.micro_batch));

  if (!(job->expert_share < 1))
    return 0;

  return pieces * (1 - job->expert_share) * qm_inference_expert_bytes (&job->plan->shape, &job->plan->format, tokens) /
         job->link_bandwidth;
}

/* How much of the time of one stage is left when pieces of the prompts flow
 * through all of them: (c + p − 1)/(c·p) at best. */
static double
pipeline_factor (const QmInferenceJob *job,
                 double                tokens,
                 gboolean              whole)
{
  const QmInferenceLimits *limits = &job->plan->constants->limits;
  double pieces = 1;

  if (job->pipeline <= 1)
    return 1;

  if (job->plan->engine->pipelined_prompts || !whole)
    pieces = fmax (1, ceil (tokens / limits->micro_batch));

  return 1 - limits->pipeline_overlap + limits->pipeline_overlap * (pieces + job->pipeline - 1) / (pieces * job->pipeline);
}

/**
 * qm_inference_prompt_seconds:
 * @job: a plan on a configuration
 * @tokens: of one prompt
 * @sequences: prompts read together
 * @whole: with the fixed costs that a running batch already pays
 *
 * Reading prompts: linear and attention FLOPs at the rate that is reached, and
 * with @whole one pass over the weights, the launches and a fixed time.
 *
 * Returns: seconds
 */
double
qm_inference_prompt_seconds (const QmInferenceJob *job,
                             double                tokens,
                             double                sequences,
                             gboolean              whole)
{
  const QmInferenceShape *shape = &job->plan->shape;
  const double *values = job->values;
  double window = shape->window > 0 ? fmin (tokens, shape->window) : tokens;
  double linear = 2 * shape->active_body * tokens * sequences + 2 * shape->embedding * sequences;
  double attention = 2 * shape->heads * shape->head_size * sequences * tokens * (shape->full * tokens + shape->sliding * window);
  double rate = values[QM_INFERENCE_MU] * values[QM_INFERENCE_MU_PROMPT] * job->tensor * job->flops;
  double seconds = (linear + values[QM_INFERENCE_ALPHA] * attention) / rate;
  double hops = 2 * shape->layers * hop_seconds (job, tokens * sequences);

  seconds *= pipeline_factor (job, tokens * sequences, whole);
  seconds += fetching_seconds (job, tokens * sequences);
  if (!whole)
    return seconds + hops;

  seconds += (qm_inference_read_bytes (shape, &job->plan->format, tokens * sequences) + copied_bytes (job, tokens * sequences)) /
             (values[QM_INFERENCE_EFFICIENCY] * job->tensor * job->bandwidth);
  seconds += shape->layers * values[QM_INFERENCE_TAU] * MICRO + hops;
  if (job->plan->family == QM_INFERENCE_FAMILY_EAGER)
    seconds = soft_max (seconds, host_seconds (job));

  return seconds + values[QM_INFERENCE_T0] * MILLI;
}
