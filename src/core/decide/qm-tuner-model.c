/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-tuner-model.h"

#include <math.h>

/* How much less time and memory a narrower format takes, and a second forward
 * pass in place of kept activations: assumptions, corrected by what is measured
 * only as far as the coefficients reach. */
static const double time_of_format[] = { 1, 0.55, 0.35 };
static const double memory_of_format[] = { 1, 0.6, 0.5 };
#define RECOMPUTE_TIME   (4.0 / 3)
#define RECOMPUTE_MEMORY 0.3

/* Of two overlapping parts the longer counts; near their tie both show. */
#define OVERLAP 6

#define NOISE        0.05
#define MEMORY_NOISE 0.05
#define ITERATIONS   12
#define STEP         1e-4

#define N QM_TUNER_N_COEFFICIENTS

/**
 * qm_tuner_space_size:
 * @self: a space
 *
 * Returns: how many settings it has
 */
guint
qm_tuner_space_size (const QmTunerSpace *self)
{
  guint size = 1;

  for (int i = 0; i < QM_N_KNOBS; i++)
    size *= self->n[i];

  return size;
}

/**
 * qm_tuner_space_index:
 * @self: a space
 * @settings: some of it
 *
 * Returns: their number, below its size
 */
guint
qm_tuner_space_index (const QmTunerSpace    *self,
                      const QmTunerSettings *settings)
{
  guint index = 0;

  for (int i = 0; i < QM_N_KNOBS; i++)
    index = index * self->n[i] + settings->at[i];

  return index;
}

/**
 * qm_tuner_space_settings:
 * @self: a space
 * @index: a number below its size
 *
 * Returns: the settings of that number
 */
QmTunerSettings
qm_tuner_space_settings (const QmTunerSpace *self,
                         guint               index)
{
  QmTunerSettings settings;

  for (int i = QM_N_KNOBS - 1; i >= 0; i--)
    {
      settings.at[i] = index % self->n[i];
      index /= self->n[i];
    }

  return settings;
}

static double
largest (const QmTunerSpace *space,
         QmKnob              knob)
{
  return space->values[knob][space->n[knob] - 1];
}

/**
 * qm_tuner_theory_usual:
 * @self: (out caller-allocates): what is expected of a job that nothing is known of
 * @space: what can be set
 *
 * A job whose device is busy from about a quarter of the largest batch on, which
 * some loaders feed, and whose memory is full near the largest batch. All of it
 * may be off by a factor of two.
 */
void
qm_tuner_theory_usual (QmTunerTheory      *self,
                       const QmTunerSpace *space)
{
  double batch = MAX (1, largest (space, QM_KNOB_BATCH));

  *self = (QmTunerTheory) { .mean = {
    [QM_TUNER_COMPUTE] = 0, [QM_TUNER_LAUNCH] = log (batch / 8), [QM_TUNER_LOAD] = log (2), [QM_TUNER_STEP] = log (batch / 16),
    [QM_TUNER_TRAFFIC] = log (batch / 16), [QM_TUNER_CROWDING] = log (0.15), [QM_TUNER_STATES] = log (0.3),
    [QM_TUNER_ACTIVATIONS] = log (0.5 / batch) } };
  for (int i = 0; i < N; i++)
    self->deviation[i] = 0.7;
  /* The unit of the rate is not known. */
  self->deviation[QM_TUNER_COMPUTE] = 8;
}

/**
 * qm_tuner_predict:
 * @space: what can be set
 * @coefficients: logarithms, one for each #QmTunerCoefficient
 * @settings: of @space
 * @metrics: (out caller-allocates): what would be measured
 *
 * A micro-batch takes its arithmetic and a constant, the loaders work beside it
 * (a program that loads its data itself does so before), and each optimizer step
 * exchanges gradients (a ring: 2 (n - 1) / n) and applies them. Loaders beyond
 * the cores slow all down.
 */
void
qm_tuner_predict (const QmTunerSpace    *space,
                  const double          *coefficients,
                  const QmTunerSettings *settings,
                  QmTrialMetrics        *metrics)
{
  double value[QM_N_KNOBS], c[N];
  int format;
  double compute, load, micro, extra, step, loaders, crowding;
  gboolean recompute;

  for (int i = 0; i < QM_N_KNOBS; i++)
    value[i] = space->values[i][settings->at[i]];
  for (int i = 0; i < N; i++)
    c[i] = exp (coefficients[i] + (i >= QM_TUNER_LAUNCH && i <= QM_TUNER_TRAFFIC ? coefficients[QM_TUNER_COMPUTE] : 0));
  format = CLAMP ((int) value[QM_KNOB_PRECISION], 0, (int) G_N_ELEMENTS (time_of_format) - 1);
  recompute = value[QM_KNOB_RECOMPUTE] > 0;

  loaders = MAX (1, MIN (value[QM_KNOB_WORKERS], space->cores / value[QM_KNOB_REPLICAS]));
  crowding = MAX (0, value[QM_KNOB_WORKERS] * value[QM_KNOB_REPLICAS] / space->cores - 1);
  compute = c[QM_TUNER_LAUNCH] + value[QM_KNOB_BATCH] * c[QM_TUNER_COMPUTE] * time_of_format[format] * (recompute ? RECOMPUTE_TIME : 1);
  compute *= 1 + c[QM_TUNER_CROWDING] * crowding;
  load = value[QM_KNOB_BATCH] * c[QM_TUNER_LOAD] / loaders;
  micro = value[QM_KNOB_WORKERS] < 1 ? compute + load : pow (pow (compute, OVERLAP) + pow (load, OVERLAP), 1.0 / OVERLAP);
  extra = c[QM_TUNER_STEP] + c[QM_TUNER_TRAFFIC] * 2 * (value[QM_KNOB_REPLICAS] - 1) / value[QM_KNOB_REPLICAS];
  step = value[QM_KNOB_ACCUMULATION] * micro + extra;

  metrics->per_second = value[QM_KNOB_REPLICAS] * value[QM_KNOB_ACCUMULATION] * value[QM_KNOB_BATCH] / step;
  metrics->utilisation = value[QM_KNOB_ACCUMULATION] * compute / step;
  metrics->stall = value[QM_KNOB_ACCUMULATION] * (micro - compute) / step;
  metrics->communication = extra / step;
  metrics->memory = c[QM_TUNER_STATES] +
                    value[QM_KNOB_BATCH] * c[QM_TUNER_ACTIVATIONS] * memory_of_format[format] * (recompute ? RECOMPUTE_MEMORY : 1);
}

/* ---------------------------------------------------------------- maximum a posteriori */

/* Squared deviations over their variances: of rates, of memory, of a run out of
 * memory that was to fit, and of the coefficients from what theory says. */
static double
misfit (const QmTunerSpace  *space,
        const QmTunerTheory *theory,
        const GArray        *trials,
        const double        *c)
{
  double sum = 0;

  for (int i = 0; i < N; i++)
    sum += pow ((c[i] - theory->mean[i]) / theory->deviation[i], 2);
  for (guint i = 0; i < trials->len; i++)
    {
      const QmTunerTrial *trial = &g_array_index (trials, QmTunerTrial, i);
      QmTrialMetrics predicted;

      if (trial->failed && !trial->out_of_memory)
        continue;
      qm_tuner_predict (space, c, &trial->settings, &predicted);
      if (trial->out_of_memory)
        sum += predicted.memory < 1 ? pow (log (predicted.memory) / MEMORY_NOISE, 2) : 0;
      else
        {
          sum += pow (log (trial->metrics.per_second / predicted.per_second) / NOISE, 2);
          if (trial->metrics.memory > 0)
            sum += pow (log (trial->metrics.memory / predicted.memory) / MEMORY_NOISE, 2);
          else
            sum += predicted.memory > 1 ? pow (log (predicted.memory) / MEMORY_NOISE, 2) : 0;
        }
    }

  return sum;
}

/* Adds a residual and its slopes, by differences, to the normal equations. */
static void
add_residual (double        residual,
              const double *slope,
              double        matrix[N][N],
              double       *right)
{
  for (int i = 0; i < N; i++)
    {
      right[i] += slope[i] * residual;
      for (int j = 0; j < N; j++)
        matrix[i][j] += slope[i] * slope[j];
    }
}

static void
add_trial (const QmTunerSpace *space,
           const QmTunerTrial *trial,
           const double       *c,
           double              matrix[N][N],
           double             *right)
{
  QmTrialMetrics at, moved;
  double rate[N], memory[N], shifted[N];
  gboolean counts;

  if (trial->failed && !trial->out_of_memory)
    return;

  qm_tuner_predict (space, c, &trial->settings, &at);
  for (int i = 0; i < N; i++)
    shifted[i] = c[i];
  for (int i = 0; i < N; i++)
    {
      shifted[i] = c[i] + STEP;
      qm_tuner_predict (space, shifted, &trial->settings, &moved);
      rate[i] = log (moved.per_second / at.per_second) / STEP / NOISE;
      memory[i] = log (moved.memory / at.memory) / STEP / MEMORY_NOISE;
      shifted[i] = c[i];
    }

  if (!trial->failed)
    add_residual (log (trial->metrics.per_second / at.per_second) / NOISE, rate, matrix, right);
  counts = trial->out_of_memory ? at.memory < 1 : !trial->failed && (trial->metrics.memory > 0 || at.memory > 1);
  if (counts)
    add_residual (log ((!trial->failed && trial->metrics.memory > 0 ? trial->metrics.memory : 1) / at.memory) / MEMORY_NOISE, memory,
                  matrix, right);
}

/* Gauss's elimination; the matrix is positive definite. */
static void
solve (double  matrix[N][N],
       double *right)
{
  for (int k = 0; k < N; k++)
    for (int i = k + 1; i < N; i++)
      {
        double factor = matrix[i][k] / matrix[k][k];

        for (int j = k; j < N; j++)
          matrix[i][j] -= factor * matrix[k][j];
        right[i] -= factor * right[k];
      }
  for (int i = N - 1; i >= 0; i--)
    {
      for (int j = i + 1; j < N; j++)
        right[i] -= matrix[i][j] * right[j];
      right[i] /= matrix[i][i];
    }
}

static gboolean
improve (const QmTunerSpace  *space,
         const QmTunerTheory *theory,
         const GArray        *trials,
         double              *c,
         double              *before,
         double              *damping)
{
  double matrix[N][N] = { { 0 } }, right[N] = { 0 }, next[N], after;

  for (int i = 0; i < N; i++)
    {
      double weight = 1 / (theory->deviation[i] * theory->deviation[i]);

      matrix[i][i] += weight * (1 + *damping);
      right[i] += weight * (theory->mean[i] - c[i]);
    }
  for (guint i = 0; i < trials->len; i++)
    add_trial (space, &g_array_index (trials, QmTunerTrial, i), c, matrix, right);
  solve (matrix, right);

  for (int i = 0; i < N; i++)
    next[i] = c[i] + CLAMP (right[i], -2, 2);
  after = misfit (space, theory, trials, next);
  if (!(after < *before))
    {
      *damping = MAX (1, *damping * 10);
      return TRUE;
    }
  for (int i = 0; i < N; i++)
    c[i] = next[i];
  *damping /= 10;
  if (*before - after < 1e-6 * *before)
    return FALSE;
  *before = after;

  return TRUE;
}

/**
 * qm_tuner_fit:
 * @space: what can be set
 * @theory: what was expected
 * @trials: (element-type QmTunerTrial): what was measured
 * @coefficients: (out): logarithms, one for each #QmTunerCoefficient
 *
 * Maximum a posteriori by Gauss and Newton: the coefficients that theory and
 * trials agree on best. A trial that ran out of memory says that its memory is
 * over 1, and nothing of its rate.
 */
void
qm_tuner_fit (const QmTunerSpace  *space,
              const QmTunerTheory *theory,
              const GArray        *trials,
              double              *coefficients)
{
  double before, damping = 0;

  for (int i = 0; i < N; i++)
    coefficients[i] = theory->mean[i];
  if (trials->len == 0)
    return;

  before = misfit (space, theory, trials, coefficients);
  for (int i = 0; i < ITERATIONS; i++)
    if (!improve (space, theory, trials, coefficients, &before, &damping))
      return;
}
