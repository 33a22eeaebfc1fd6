/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-tuner.h"

#include <math.h>

#include "decide/qm-tuner-policy.h"
#include "estimate/qm-rules.h"

/* A gain below this is not worth a trial. */
#define LEAST_GAIN 0.02

/* Trials without a better one after which nothing better is looked for, where
 * neither theory nor policy expects it. */
#define PATIENCE 6

/* Theory may be off: what it expects to come this near to the best is tried before
 * the policy is asked. */
#define NEARLY 0.9

/* How far the predicted memory may be off, in logarithms: before and after the
 * first measurement of it. */
#define MEMORY_UNKNOWN 0.3
#define MEMORY_KNOWN   0.06

struct _QmTuner {
  QmTunerSpace space;
  QmTunerTheory theory;
  QmTunerPolicy policy;
  GArray *trials;                   /* of QmTunerTrial */
  guint8 *closed;                   /* by number: tried, or known to run out of memory */
  double coefficients[QM_TUNER_N_COEFFICIENTS];
  double reference;                 /* the best rate that is predicted */
  guint most_trials;
  gboolean memory_known;
};

/**
 * qm_tuner_reward_of:
 * @space: what can be set
 * @settings: some of it
 * @per_second: the rate they reach
 * @reference: the best rate
 *
 * Returns: the article's reward of a rate, its cost being that of the devices in
 *   use over that of all
 */
double
qm_tuner_reward_of (const QmTunerSpace    *space,
                    const QmTunerSettings *settings,
                    double                 per_second,
                    double                 reference)
{
  const double *replicas = space->values[QM_KNOB_REPLICAS];

  return qm_rule_reward (per_second / reference, replicas[settings->at[QM_KNOB_REPLICAS]] / replicas[space->n[QM_KNOB_REPLICAS] - 1]);
}

static double
chance_to_fit (const QmTuner *self,
               double         memory)
{
  double deviation = self->memory_known ? MEMORY_KNOWN : MEMORY_UNKNOWN;

  return 0.5 * erfc (log (memory) / deviation / G_SQRT2);
}

/* The rate that all that is tried and predicted falls short of. */
static void
find_reference (QmTuner *self)
{
  guint n = qm_tuner_space_size (&self->space);

  self->reference = 0;
  for (guint i = 0; i < n; i++)
    {
      QmTunerSettings settings = qm_tuner_space_settings (&self->space, i);
      QmTrialMetrics metrics;

      qm_tuner_predict (&self->space, self->coefficients, &settings, &metrics);
      if (metrics.memory <= 1)
        self->reference = MAX (self->reference, metrics.per_second);
    }
  for (guint i = 0; i < self->trials->len; i++)
    {
      const QmTunerTrial *trial = &g_array_index (self->trials, QmTunerTrial, i);

      if (!trial->failed)
        self->reference = MAX (self->reference, trial->metrics.per_second);
    }
}

/* Predicted reward times the chance that it fits. */
static double
worth (const QmTuner         *self,
       const QmTunerSettings *settings)
{
  QmTrialMetrics metrics;

  qm_tuner_predict (&self->space, self->coefficients, settings, &metrics);

  return qm_tuner_reward_of (&self->space, settings, metrics.per_second, self->reference) * chance_to_fit (self, metrics.memory);
}

/**
 * qm_tuner_new:
 * @space: what can be set
 * @theory: what is expected of the job
 * @most_trials: when to stop at the latest
 *
 * Returns: (transfer full): a tuner without trials
 */
QmTuner *
qm_tuner_new (const QmTunerSpace  *space,
              const QmTunerTheory *theory,
              guint                most_trials)
{
  QmTuner *self = g_new0 (QmTuner, 1);

  self->space = *space;
  self->theory = *theory;
  self->most_trials = most_trials;
  self->trials = g_array_new (FALSE, FALSE, sizeof (QmTunerTrial));
  self->closed = g_new0 (guint8, qm_tuner_space_size (space));
  qm_tuner_policy_train (&self->policy, space, theory);
  qm_tuner_fit (space, theory, self->trials, self->coefficients);
  find_reference (self);

  return self;
}

/**
 * qm_tuner_free:
 * @self: (transfer full) (nullable): a tuner
 */
void
qm_tuner_free (QmTuner *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->trials);
  g_free (self->closed);
  g_free (self);
}

/**
 * qm_tuner_get_trials:
 * @self: a tuner
 *
 * Returns: (element-type QmTunerTrial): what was tried, in order
 */
const GArray *
qm_tuner_get_trials (const QmTuner *self)
{
  return self->trials;
}

/**
 * qm_tuner_reward:
 * @self: a tuner
 * @trial: what was tried
 *
 * Returns: its reward, 0 where it failed
 */
double
qm_tuner_reward (const QmTuner      *self,
                 const QmTunerTrial *trial)
{
  if (trial->failed)
    return 0;

  return qm_tuner_reward_of (&self->space, &trial->settings, trial->metrics.per_second, self->reference);
}

/**
 * qm_tuner_best:
 * @self: a tuner
 *
 * Returns: (nullable): the trial with the highest reward; %NULL where none worked
 */
const QmTunerTrial *
qm_tuner_best (const QmTuner *self)
{
  const QmTunerTrial *best = NULL;

  for (guint i = 0; i < self->trials->len; i++)
    {
      const QmTunerTrial *trial = &g_array_index (self->trials, QmTunerTrial, i);

      if (!trial->failed && (best == NULL || qm_tuner_reward (self, trial) > qm_tuner_reward (self, best)))
        best = trial;
    }

  return best;
}

/* What runs out of memory does so with larger batches too. */
static void
close_larger_batches (QmTuner         *self,
                      QmTunerSettings  settings)
{
  for (; settings.at[QM_KNOB_BATCH] < self->space.n[QM_KNOB_BATCH]; settings.at[QM_KNOB_BATCH]++)
    for (int workers = 0; workers < self->space.n[QM_KNOB_WORKERS]; workers++)
      for (int accumulation = 0; accumulation < self->space.n[QM_KNOB_ACCUMULATION]; accumulation++)
        {
          settings.at[QM_KNOB_WORKERS] = workers;
          settings.at[QM_KNOB_ACCUMULATION] = accumulation;
          self->closed[qm_tuner_space_index (&self->space, &settings)] = TRUE;
        }
}

/**
 * qm_tuner_observe:
 * @self: a tuner
 * @trial: what was tried, and what came of it
 *
 * Learns from a trial; one that failed is as good a lesson as any.
 */
void
qm_tuner_observe (QmTuner            *self,
                  const QmTunerTrial *trial)
{
  g_array_append_val (self->trials, *trial);
  self->closed[qm_tuner_space_index (&self->space, &trial->settings)] = TRUE;
  if (trial->out_of_memory)
    close_larger_batches (self, trial->settings);
  self->memory_known = self->memory_known || (!trial->failed && trial->metrics.memory > 0);

  qm_tuner_fit (&self->space, &self->theory, self->trials, self->coefficients);
  find_reference (self);
}

static gboolean
best_by_theory (const QmTuner   *self,
                QmTunerSettings *settings,
                double          *value)
{
  guint n = qm_tuner_space_size (&self->space);

  *value = -INFINITY;
  for (guint i = 0; i < n; i++)
    {
      QmTunerSettings candidate = qm_tuner_space_settings (&self->space, i);
      double expected = self->closed[i] ? -INFINITY : worth (self, &candidate);

      if (expected > *value)
        {
          *value = expected;
          *settings = candidate;
        }
    }

  return isfinite (*value);
}

/* The untried neighbour of a trial that the policy expects most of. */
static double
best_by_policy (const QmTuner      *self,
                const QmTunerTrial *trial,
                QmTunerSettings    *settings)
{
  QmTrialMetrics metrics = trial->metrics, predicted;
  double best = -INFINITY;

  qm_tuner_predict (&self->space, self->coefficients, &trial->settings, &predicted);
  metrics.utilisation = isnan (metrics.utilisation) ? predicted.utilisation : metrics.utilisation;
  metrics.memory = isnan (metrics.memory) ? predicted.memory : metrics.memory;
  metrics.stall = isnan (metrics.stall) ? predicted.stall : metrics.stall;
  metrics.communication = isnan (metrics.communication) ? predicted.communication : metrics.communication;
  for (int action = 0; action < QM_TUNER_N_ACTIONS; action++)
    {
      QmTunerSettings next;
      double gain;

      if (!qm_tuner_act (&self->space, &trial->settings, action, &next) || self->closed[qm_tuner_space_index (&self->space, &next)])
        continue;
      gain = qm_tuner_policy_gain (&self->policy, &self->space, &trial->settings, &metrics, action);
      if (gain > best)
        {
          best = gain;
          *settings = next;
        }
    }

  return best;
}

static guint
trials_since (const QmTuner      *self,
              const QmTunerTrial *best)
{
  return self->trials->len - 1 - (guint) (best - (const QmTunerTrial *) self->trials->data);
}

/**
 * qm_tuner_next:
 * @self: a tuner
 * @settings: (out): what to try next
 *
 * What theory, corrected by the trials, expects most of; where that falls short of
 * the best trial, the neighbour of the best trial that the policy expects most of.
 *
 * Returns: whether there is something worth a trial left; not where neither
 *   expects a gain and the last six trials brought none
 */
gboolean
qm_tuner_next (QmTuner         *self,
               QmTunerSettings *settings)
{
  const QmTunerTrial *best = qm_tuner_best (self);
  double value;

  if (self->trials->len >= self->most_trials || !best_by_theory (self, settings, &value))
    return FALSE;
  if (best == NULL || value > qm_tuner_reward (self, best) * (trials_since (self, best) < PATIENCE ? NEARLY : 1 + LEAST_GAIN))
    return TRUE;

  value = best_by_policy (self, best, settings);

  return value > LEAST_GAIN * qm_tuner_reward (self, best) || (isfinite (value) && trials_since (self, best) < PATIENCE);
}
