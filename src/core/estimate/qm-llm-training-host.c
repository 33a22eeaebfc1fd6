/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training-private.h"

#include <math.h>

/* What a job keeps outside its devices. */

/* A process is given its buffers whatever the size of its share; groups are no
 * larger than that. */
static double
nvme_host_bytes (const QmLlmJob *job,
                 double          trained)
{
  const QmLlmHostConstants *k = &job->plan->constants->host;
  double nodes = fmax (1, job->nodes);
  double processes = ceil (job->devices / nodes);
  double group = fmin (k->nvme_group, trained / job->devices);
  double kept = fmin (k->nvme_weights_kept, job->plan->shape.parameters / job->devices);
  double optimizer = 4 * k->nvme_optimizer_buffers * group;
  double weights = 2 * (k->nvme_weight_buffers * k->nvme_weight_buffer + kept);

  return k->nvme_gradients * trained / nodes + (optimizer + weights) * processes;
}

static double
trained_parameters (const QmLlmJob *job)
{
  return job->plan->frozen ? job->plan->trainable : job->plan->shape.parameters;
}

/* Frozen weights come on top of what is trained. */
static double
frozen_bytes (const QmLlmJob *job)
{
  return job->plan->frozen ? qm_llm_frozen_bytes (job, &job->plan->constants->memory) : 0;
}

/**
 * qm_llm_host_bytes:
 * @job: a job
 *
 * Returns: system memory that offloaded states take on one machine, as
 *   DeepSpeed estimates it (estimate_zero2_model_states_mem_needs and
 *   estimate_zero3_model_states_mem_needs); where they go to drives, the
 *   gradients and the buffers that the rest passes through, by its defaults; 0
 *   where nothing is offloaded
 */
double
qm_llm_host_bytes (const QmLlmJob *job)
{
  const QmLlmHostConstants *k = &job->plan->constants->host;
  double nodes = fmax (1, job->nodes);
  double trained = trained_parameters (job);
  gboolean splits = job->sharding == QM_SHARDING_ZERO3 || job->sharding == QM_SHARDING_HYBRID;

  switch (job->offload)
    {
    case QM_OFFLOAD_NVME:
      return nvme_host_bytes (job, trained);
    case QM_OFFLOAD_CPU:
      if (splits || job->plan->frozen)
        return (k->all_zero3 * trained + frozen_bytes (job)) / nodes * k->buffer;
      return fmax (4 * job->devices, k->adam_zero2) * trained * k->buffer;
    case QM_OFFLOAD_OPTIMIZER_CPU:
      if (splits)
        return k->adam_zero3 * trained / nodes * k->buffer;
      return fmax (4 * job->devices, k->adam_zero2) * trained * k->buffer;
    default:
      return 0;
    }
}

/**
 * qm_llm_storage_bytes:
 * @job: a job
 *
 * Returns: what the job keeps on the drives of one machine instead of in
 *   memory (ZeRO-Infinity, 2104.07857), checkpoints aside; 0 where nothing is
 */
double
qm_llm_storage_bytes (const QmLlmJob *job)
{
  const QmLlmHostConstants *k = &job->plan->constants->host;

  if (job->offload != QM_OFFLOAD_NVME)
    return 0;

  return (k->nvme_states * trained_parameters (job) + frozen_bytes (job)) / fmax (1, job->nodes);
}
