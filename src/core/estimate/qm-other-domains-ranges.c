/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

/* Below, what a batch costs beside its samples differs from code to code. */
#define SMALL_TRAINING_BATCH 16
#define SMALL_RUNNING_BATCH 2

static QmDomainRange
range_of (const QmOtherDomains *self,
          const QmDomainSite   *site,
          double                batch)
{
  gboolean gpu = site->kind == QM_DOMAIN_KIND_GPU;
  gboolean classifies = self->task == QM_TASK_IMAGE_CLASSIFICATION;

  switch (self->job)
    {
    case QM_DOMAIN_JOB_TRAIN_ENCODER:
      return QM_DOMAIN_RANGE_TRAIN_ENCODER;
    case QM_DOMAIN_JOB_TRAIN_DIFFUSION:
      return QM_DOMAIN_RANGE_TRAIN_DIFFUSION;
    case QM_DOMAIN_JOB_TRAIN_RECOMMENDER:
      return QM_DOMAIN_RANGE_TRAIN_RECOMMENDER;
    case QM_DOMAIN_JOB_TRAIN_VISION:
      return classifies && batch >= SMALL_TRAINING_BATCH ? QM_DOMAIN_RANGE_TRAIN_VISION
                                                         : QM_DOMAIN_RANGE_TRAIN_VISION_HARD;
    case QM_DOMAIN_JOB_RUN_ENCODER:
      return QM_DOMAIN_RANGE_RUN_ENCODER;
    case QM_DOMAIN_JOB_RUN_GENERATION:
      return QM_DOMAIN_RANGE_RUN_GENERATION;
    case QM_DOMAIN_JOB_RUN_RECOMMENDER:
      return QM_DOMAIN_RANGE_RUN_RECOMMENDER;
    case QM_DOMAIN_JOB_RUN_WHISPER:
      return gpu ? QM_DOMAIN_RANGE_RUN_SPEECH : QM_DOMAIN_RANGE_RUN_SPEECH_HARD;
    case QM_DOMAIN_JOB_RUN_SPEECH:
      return QM_DOMAIN_RANGE_RUN_SPEECH_HARD;
    case QM_DOMAIN_JOB_TABULAR:
      return QM_DOMAIN_RANGE_TABULAR;
    default:
      return gpu && classifies && batch > SMALL_RUNNING_BATCH ? QM_DOMAIN_RANGE_RUN_VISION
                                                              : QM_DOMAIN_RANGE_RUN_VISION_HARD;
    }
}

static gboolean
is_new_device (const QmDomainSite *site)
{
  return site->device->is_unknown || !site->measured;
}

/**
 * qm_domain_rate_sigma:
 * @self: a job
 * @site: a site
 * @run: its rate
 *
 * The spread that left-out measured cases of the same kind had, wider for what
 * the plan leaves open, for devices no case used, and for guessed models.
 *
 * Returns: the standard deviation of ln (real / estimated)
 */
double
qm_domain_rate_sigma (const QmOtherDomains *self,
                      const QmDomainSite   *site,
                      const QmDomainRun    *run)
{
  const QmDomainSigmas *sigma = &self->constants->sigma;
  double base = sigma->cases[range_of (self, site, run->batch)];
  double open = run->sigma * sigma->extra;
  double extra = (is_new_device (site) ? sigma->new_device : 0) + (self->facts.guessed ? sigma->guessed : 0);

  return sqrt (base * base + open * open + extra * extra);
}

static gboolean
is_open (const QmOtherDomains *self,
         const QmDomainSite   *site)
{
  if (!self->trains)
    return !self->engine_stated;

  return self->stack == QM_DOMAIN_STACK_UNSTATED && qm_domain_stack (self, site) == QM_DOMAIN_STACK_UNSTATED;
}

/**
 * qm_domain_rate_state:
 * @self: a job
 * @site: a site
 *
 * Returns: how much measurement stands behind its rate
 */
QmState
qm_domain_rate_state (const QmOtherDomains *self,
                      const QmDomainSite   *site)
{
  if (self->facts.guessed || self->probe || (self->trains && self->stack == QM_DOMAIN_STACK_UNSEEN))
    return QM_STATE_NEW;

  if (is_new_device (site))
    return QM_STATE_ENGINE;

  return is_open (self, site) || site->kind != QM_DOMAIN_KIND_GPU ? QM_STATE_THIN : QM_STATE_CELL;
}

/**
 * qm_domain_memory_state:
 * @self: a job
 * @site: a site
 *
 * Few of the measured cases tell memory, none of them of text encoders or
 * recommenders.
 *
 * Returns: how much measurement stands behind its memory
 */
QmState
qm_domain_memory_state (const QmOtherDomains *self,
                        const QmDomainSite   *site)
{
  switch (self->job)
    {
    case QM_DOMAIN_JOB_TRAIN_VISION:
    case QM_DOMAIN_JOB_TRAIN_DIFFUSION:
    case QM_DOMAIN_JOB_RUN_GENERATION:
    case QM_DOMAIN_JOB_RUN_WHISPER:
      return self->facts.guessed ? QM_STATE_NEW : QM_STATE_THIN;
    default:
      return QM_STATE_NEW;
    }
}
