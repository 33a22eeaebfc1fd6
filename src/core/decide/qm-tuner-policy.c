/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-tuner-policy.h"

#include <math.h>
#include <string.h>

#include "decide/qm-tuner.h"

/* Made-up jobs to learn from, and settings of each; always the same ones. */
#define JOBS          150
#define STATES        8
#define SEED          20261130
#define RIDGE         1.0
#define MEMORY_OF_OOM 1.0

#define F QM_TUNER_N_FEATURES

/**
 * qm_tuner_act:
 * @space: what can be set
 * @from: some of it
 * @action: twice the knob, and one more to go up
 * @to: (out): the neighbour
 *
 * Returns: whether there is one
 */
gboolean
qm_tuner_act (const QmTunerSpace    *space,
              const QmTunerSettings *from,
              int                    action,
              QmTunerSettings       *to)
{
  int knob = action / 2, at = from->at[knob] + (action % 2 == 1 ? 1 : -1);

  if (at < 0 || at >= space->n[knob])
    return FALSE;

  *to = *from;
  to->at[knob] = at;
  return TRUE;
}

static double
known (double value)
{
  return isfinite (value) ? value : 0;
}

/* What a device shows, and what is set, each about from 0 to 1; last a constant. */
static void
fill_features (const QmTunerSpace    *space,
               const QmTunerSettings *settings,
               const QmTrialMetrics  *metrics,
               double                *features)
{
  double place[QM_N_KNOBS], *x = features;
  int k = QM_TUNER_N_STATE;

  for (int i = 0; i < QM_N_KNOBS; i++)
    place[i] = space->n[i] > 1 ? settings->at[i] / (space->n[i] - 1.0) : 0;
  x[0] = known (metrics->utilisation);
  x[1] = known (metrics->memory);
  x[2] = known (metrics->stall);
  x[3] = known (metrics->communication);
  x[4] = place[QM_KNOB_BATCH];
  x[5] = place[QM_KNOB_WORKERS];
  x[6] = place[QM_KNOB_PRECISION];
  x[7] = place[QM_KNOB_RECOMPUTE];
  x[8] = (place[QM_KNOB_REPLICAS] + place[QM_KNOB_ACCUMULATION]) / 2;
  x[9] = 1;
  for (int i = 0; i < QM_TUNER_N_STATE; i++)
    for (int j = i + 1; j < QM_TUNER_N_STATE; j++)
      features[k++] = x[i] * x[j];
}

typedef struct {
  double matrix[F][F];
  double right[F];
} Ridge;

static void
ridge_add (Ridge        *self,
           const double *features,
           double        gain)
{
  for (int i = 0; i < F; i++)
    {
      self->right[i] += features[i] * gain;
      for (int j = 0; j <= i; j++)
        self->matrix[i][j] += features[i] * features[j];
    }
}

/* By Cholesky's decomposition of the lower half. */
static void
ridge_solve (Ridge  *self,
             double *weights)
{
  for (int i = 0; i < F; i++)
    for (int j = 0; j <= i; j++)
      {
        double sum = self->matrix[i][j] + (i == j ? RIDGE : 0);

        for (int k = 0; k < j; k++)
          sum -= self->matrix[i][k] * self->matrix[j][k];
        self->matrix[i][j] = i == j ? sqrt (sum) : sum / self->matrix[j][j];
      }
  for (int i = 0; i < F; i++)
    {
      double sum = self->right[i];

      for (int k = 0; k < i; k++)
        sum -= self->matrix[i][k] * weights[k];
      weights[i] = sum / self->matrix[i][i];
    }
  for (int i = F - 1; i >= 0; i--)
    {
      for (int k = i + 1; k < F; k++)
        weights[i] -= self->matrix[k][i] * weights[k];
      weights[i] /= self->matrix[i][i];
    }
}

static double
normal (GRand *rand)
{
  double a = 1 - g_rand_double (rand), b = g_rand_double (rand);

  return sqrt (-2 * log (a)) * cos (2 * G_PI * b);
}

static double
reward_in (const QmTunerSpace    *space,
           const double          *job,
           const QmTunerSettings *settings,
           double                 reference,
           QmTrialMetrics        *metrics)
{
  qm_tuner_predict (space, job, settings, metrics);

  return metrics->memory > MEMORY_OF_OOM ? 0 : qm_tuner_reward_of (space, settings, metrics->per_second, reference);
}

static double
best_rate (const QmTunerSpace *space,
           const double       *job)
{
  guint n = qm_tuner_space_size (space), stride = MAX (1, n / 256);
  double best = 0;

  for (guint i = 0; i < n; i += stride)
    {
      QmTunerSettings settings = qm_tuner_space_settings (space, i);
      QmTrialMetrics metrics;

      qm_tuner_predict (space, job, &settings, &metrics);
      if (metrics.memory <= MEMORY_OF_OOM)
        best = MAX (best, metrics.per_second);
    }

  return best;
}

static void
learn_from (Ridge              *ridges,
            const QmTunerSpace *space,
            const double       *job,
            GRand              *rand)
{
  double reference = best_rate (space, job), features[F];
  int n = (int) qm_tuner_space_size (space);

  if (reference <= 0)
    return;

  for (int i = 0; i < STATES; i++)
    {
      QmTunerSettings settings = qm_tuner_space_settings (space, g_rand_int_range (rand, 0, n)), next;
      QmTrialMetrics metrics, after;
      double reward = reward_in (space, job, &settings, reference, &metrics);

      if (metrics.memory > MEMORY_OF_OOM)
        continue;
      fill_features (space, &settings, &metrics, features);
      for (int action = 0; action < QM_TUNER_N_ACTIONS; action++)
        if (qm_tuner_act (space, &settings, action, &next))
          ridge_add (&ridges[action], features, reward_in (space, job, &next, reference, &after) - reward);
    }
}

/**
 * qm_tuner_policy_train:
 * @self: (out caller-allocates): the policy
 * @space: what can be set
 * @theory: how jobs usually are, and how far that may be off
 *
 * Tries every action on made-up jobs, and fits what it gains by ridge regression
 * on what is seen before. The jobs are always the same.
 */
void
qm_tuner_policy_train (QmTunerPolicy       *self,
                       const QmTunerSpace  *space,
                       const QmTunerTheory *theory)
{
  g_autofree Ridge *ridges = g_new0 (Ridge, QM_TUNER_N_ACTIONS);
  GRand *rand = g_rand_new_with_seed (SEED);

  for (int i = 0; i < JOBS; i++)
    {
      double job[QM_TUNER_N_COEFFICIENTS];

      for (int k = 0; k < QM_TUNER_N_COEFFICIENTS; k++)
        job[k] = theory->mean[k] + MIN (theory->deviation[k], 1) * normal (rand);
      learn_from (ridges, space, job, rand);
    }
  g_rand_free (rand);
  for (int action = 0; action < QM_TUNER_N_ACTIONS; action++)
    ridge_solve (&ridges[action], self->weights[action]);
}

/**
 * qm_tuner_policy_gain:
 * @self: a policy
 * @space: what can be set
 * @settings: that were tried
 * @metrics: what was seen
 * @action: what to change
 *
 * Returns: the gain in reward that the policy expects
 */
double
qm_tuner_policy_gain (const QmTunerPolicy   *self,
                      const QmTunerSpace    *space,
                      const QmTunerSettings *settings,
                      const QmTrialMetrics  *metrics,
                      int                    action)
{
  double features[F], sum = 0;

  fill_features (space, settings, metrics, features);
  for (int i = 0; i < F; i++)
    sum += self->weights[action][i] * features[i];

  return sum;
}
