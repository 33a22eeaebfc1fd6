/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training-private.h"

#include <math.h>

static QmLlmMemoryRange
memory_range (const QmLlmJob *job)
{
  if (job->plan->training.method == QM_METHOD_LORA && job->devices == 1)
    return QM_LLM_MEMORY_RANGE_LORA;

  if (job->plan->training.method == QM_METHOD_QLORA)
    return QM_LLM_MEMORY_RANGE_QLORA;

  return job->devices == 1 ? QM_LLM_MEMORY_RANGE_ONE : QM_LLM_MEMORY_RANGE_SHARDED;
}

static QmLlmRateRange
rate_range (const QmLlmJob *job)
{
  switch (job->stack)
    {
    case QM_LLM_STACK_EAGER:
      return QM_LLM_RATE_RANGE_EAGER;
    case QM_LLM_STACK_XLA:
      return QM_LLM_RATE_RANGE_XLA;
    case QM_LLM_STACK_FSDP:
    case QM_LLM_STACK_NATIVE:
      return QM_LLM_RATE_RANGE_FSDP_OTHER;
    default:
      return job->layout_known && job->batch_known ? QM_LLM_RATE_RANGE_MEGATRON : QM_LLM_RATE_RANGE_MEGATRON_UNSTATED;
    }
}

static double
shape_factor (const QmLlmJob *job)
{
  const QmLlmShape *shape = &job->plan->shape;

  return shape->known && !shape->approximate ? 1 : job->plan->constants->unknown_shape;
}

/**
 * qm_llm_memory_width:
 * @job: a job
 *
 * Returns: ln (p90 / p50) of its memory: what four of five measured cases of its
 *   class kept within when they were left out of the fit; wider where the shape
 *   was guessed
 */
double
qm_llm_memory_width (const QmLlmJob *job)
{
  return job->plan->constants->memory_ranges[memory_range (job)] * shape_factor (job);
}

/**
 * qm_llm_rate_width:
 * @job: a job
 *
 * Returns: ln (p90 / p50) of its rate, likewise; wider for a framework that no
 *   measured case used
 */
double
qm_llm_rate_width (const QmLlmJob *job)
{
  const QmLlmTrainingConstants *constants = job->plan->constants;
  QmLlmRateRange range = rate_range (job);
  double unseen = job->framework->rate_measured ? 1 : constants->unseen_framework;

  /* the framework that the others are measured against has a range of its own */
  if (range == QM_LLM_RATE_RANGE_FSDP_OTHER && job->framework->is_reference && !job->plan->shape.moe)
    range = QM_LLM_RATE_RANGE_FSDP;

  return constants->rate_ranges[range] * shape_factor (job) * unseen;
}

static QmState
state_from_sources (const QmLlmJob *job,
                    const guint8   *sources,
                    gboolean        measured)
{
  int here = sources[job->family - job->plan->constants->families];

  if (!measured)
    return QM_STATE_NEW;

  if (here == 0)
    return QM_STATE_ENGINE;

  /* a framework that was not stated is a guess, however well it is known */
  return here > 1 && job->plan->framework >= 0 ? QM_STATE_CELL : QM_STATE_THIN;
}

/**
 * qm_llm_memory_state:
 * @job: a job
 *
 * Returns: how much measurement stands behind its memory
 */
QmState
qm_llm_memory_state (const QmLlmJob *job)
{
  return state_from_sources (job, job->framework->memory_sources, job->framework->memory_measured);
}

/**
 * qm_llm_rate_state:
 * @job: a job
 *
 * Returns: how much measurement stands behind its rate
 */
QmState
qm_llm_rate_state (const QmLlmJob *job)
{
  return state_from_sources (job, job->framework->rate_sources, job->framework->rate_measured);
}
