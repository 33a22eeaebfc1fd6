/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-calibration.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>

/* ln (real / estimated) is a Gaussian process: a part that all of a step shares,
 * one coefficient for each part of it in proportion to its share, and a rest of
 * its own. Coefficients are the more alike, the more alike device, stack and work
 * are. Its posterior mean is the MAP estimate of the coefficients, and its
 * variance grows back to that of the estimate with the distance to what was
 * measured.
 *
 * The variance before is that of the cases that the constants were fitted to. A
 * device or software that is like none of them is off by more than that says:
 * where the runs of one device and software lie farther out than they should, it
 * is widened until they do not (a conflict of prior and data). Else a first run
 * that is right would be taken for a bad one. */

/* Re-weighting of bad rows converges in a few rounds. */
#define ROUNDS 4

#define MOST QM_CALIBRATION_MOST_SAMPLES

/* Who has less of the processor does not get on. */
#define MOST_CONTENTION 0.95

/* Figures that differ by less come of the same plan. */
#define SAME 1e-9

struct _QmCalibration {
  QmCalibrationConstants constants;
  QmCalibrationSample samples[MOST];
  int n;
  double wider[MOST];               /* by so much the deviation of the sample's kind is */
  double factor[MOST][MOST];        /* Cholesky, lower */
  double weights[MOST];             /* (K + N)^-1 residuals */
};

static double
step_share (const QmThroughput *throughput,
            double             *shares)
{
  const double parts[QM_STEP_N_PARTS] = { throughput->compute_seconds, throughput->memory_seconds,
                                          throughput->communication_seconds, throughput->input_seconds,
                                          throughput->overhead_seconds };
  double sum = 0;

  for (int i = 0; i < QM_STEP_N_PARTS; i++)
    sum += parts[i] > 0 ? parts[i] : 0;
  for (int i = 0; i < QM_STEP_N_PARTS; i++)
    shares[i] = sum > 0 && parts[i] > 0 ? parts[i] / sum : 0;

  return sum;
}

static QmRange
quantity_of (const QmEstimate *estimate,
             QmMeasuredQuantity        quantity)
{
  switch (quantity)
    {
    case QM_MEASURED_RATE:
      return estimate->throughput.per_second;
    case QM_MEASURED_DECODE:
      return estimate->serving.decode_tokens_per_second;
    case QM_MEASURED_PREFILL:
      return estimate->serving.prefill_tokens_per_second;
    case QM_MEASURED_MEMORY:
      return estimate->memory.device;
    case QM_MEASURED_UNSET:
    default:
      return QM_RANGE_UNKNOWN;
    }
}

/**
 * qm_calibration_point_init:
 * @self: (out caller-allocates): where @estimate lies
 * @plan: a plan
 * @estimate: of it on a configuration, without calibration
 * @quantity: which of its figures
 */
void
qm_calibration_point_init (QmCalibrationPoint *self,
                           const QmPlan       *plan,
                           const QmEstimate   *estimate,
                           QmMeasuredQuantity          quantity)
{
  gboolean training = qm_plan_is_training (plan);
  QmRange range = quantity_of (estimate, quantity);

  *self = (QmCalibrationPoint) { .task = plan->task, .activity = plan->activity, .quantity = quantity };
  if (estimate->device != NULL)
    {
      qm_word_set (self->device, estimate->device->id);
      qm_word_set (self->arch, estimate->device->arch != NULL ? estimate->device->arch : "");
    }
  qm_word_set (self->stack, training ? estimate->training.framework : estimate->serving_plan.engine);
  self->method = training ? estimate->training.method : QM_METHOD_UNSET;
  if (quantity != QM_MEASURED_MEMORY)
    step_share (&estimate->throughput, self->shares);
  self->estimate = qm_range_is_known (range) ? range.p50 : 0;
  self->deviation = qm_range_is_known (range) ? qm_range_half_width (range) / QM_NORMAL_P90 : NAN;
}

/* Decoding reads every active weight once a token, one stage after the other. */
static double
decode_ceiling (const QmModel    *model,
                const QmEstimate *estimate)
{
  double active = model->active_parameters > 0 && model->parameters > 0 ? model->active_parameters / model->parameters : 1;
  double bytes = estimate->memory.parts[QM_MEMORY_WEIGHTS] * active * MAX (1, estimate->configuration.pipeline_parallel);
  double bandwidth = estimate->device->bandwidth_bytes_per_second;

  return bytes > 0 && bandwidth > 0 ? bandwidth / bytes : NAN;
}

static double
ceiling_of (const QmModel    *model,
            const QmEstimate *estimate,
            QmMeasuredQuantity        quantity)
{
  double peak = estimate->throughput.mfu > 0 ? estimate->throughput.per_second.p50 / estimate->throughput.mfu : NAN;
  double reading;

  switch (quantity)
    {
    case QM_MEASURED_RATE:
      return peak;
    case QM_MEASURED_DECODE:
      return decode_ceiling (model, estimate);
    case QM_MEASURED_PREFILL:
      /* of prompts alone: a token that is read costs what one that is written does */
      reading = estimate->throughput.tflops_per_device > 0 ? estimate->throughput.tflops_per_device / estimate->throughput.mfu : NAN;
      return reading * 1e12 * MAX (1, estimate->configuration.devices) / (2 * model->active_parameters);
    case QM_MEASURED_MEMORY:
      return estimate->memory.capacity_bytes > 0 ? estimate->memory.capacity_bytes : NAN;
    case QM_MEASURED_UNSET:
    default:
      return NAN;
    }
}

/**
 * qm_calibration_sample_init:
 * @self: (out caller-allocates): a sample
 * @plan: the plan that was run
 * @model: its model
 * @estimate: of it on what it ran on, without calibration
 * @quantity: what was measured
 * @measured: the figure
 * @origin: who measured
 */
void
qm_calibration_sample_init (QmCalibrationSample *self,
                            const QmPlan        *plan,
                            const QmModel       *model,
                            const QmEstimate    *estimate,
                            QmMeasuredQuantity           quantity,
                            double               measured,
                            QmOrigin             origin)
{
  *self = (QmCalibrationSample) { .measured = measured, .origin = origin, .ceiling = NAN };
  qm_calibration_point_init (&self->point, plan, estimate, quantity);
  self->predicted = quantity_of (estimate, quantity).p50;
  self->fits = !(estimate->memory.usable_bytes > 0) || !qm_range_is_known (estimate->memory.need) ||
               estimate->memory.need.p10 <= estimate->memory.capacity_bytes;
  if (estimate->device != NULL)
    self->ceiling = ceiling_of (model, estimate, quantity);
}

static gboolean
refuse (QmMessage **reason,
        const char *code,
        const char *msgid,
        double      factor)
{
  if (reason != NULL)
    *reason = qm_message_add (qm_message_new (code, msgid), "factor", QM_ARGUMENT_FACTOR, factor);

  return FALSE;
}

/**
 * qm_calibration_sample_is_possible:
 * @self: a sample
 * @constants: how far a data sheet may be exceeded
 * @reason: (out) (optional): why it is not
 *
 * The gate that every figure from outside passes.
 *
 * Returns: whether the figure can be true
 */
gboolean
qm_calibration_sample_is_possible (const QmCalibrationSample    *self,
                                   const QmCalibrationConstants *constants,
                                   QmMessage                   **reason)
{
  double over = self->measured / self->ceiling;

  if (!(self->measured > 0) || !isfinite (self->measured))
    return refuse (reason, "not-a-measurement", N_("A measurement is a number above 0"), NAN);
  if (!(self->predicted > 0) || !(self->point.deviation >= 0))
    return refuse (reason, "no-estimate", N_("There is no estimate to compare the measurement with"), NAN);
  if (!self->fits)
    return refuse (reason, "did-not-fit", N_("The job does not fit into the memory of what it is said to have run on"), NAN);
  if (self->point.quantity == QM_MEASURED_MEMORY && over > 1)
    return refuse (reason, "above-capacity", N_("That is {factor} the memory of the device"), over);
  if (over > constants->over_ceiling)
    return refuse (reason, "above-roofline", N_("That is {factor} what the device can do at most"), over);

  return TRUE;
}

/* ----------------------------------------------------------------- likeness */

static double
alike (gboolean same,
       double   otherwise)
{
  return same ? 1 : otherwise;
}

static double
alike_devices (const QmCalibrationConstants *k,
               const QmCalibrationPoint     *a,
               const QmCalibrationPoint     *b)
{
  if (g_str_equal (a->device, b->device))
    return 1;

  return alike (a->arch[0] != '\0' && g_str_equal (a->arch, b->arch), k->other_device / k->same_arch) * k->same_arch;
}

static double
alike_quantities (const QmCalibrationConstants *k,
                  const QmCalibrationPoint     *a,
                  const QmCalibrationPoint     *b)
{
  if (a->quantity == b->quantity)
    return 1;

  return a->quantity == QM_MEASURED_MEMORY || b->quantity == QM_MEASURED_MEMORY ? 0 : k->other_quantity;
}

/* Cosine of the shares: two steps bound by the same part err alike. */
static double
alike_steps (const QmCalibrationPoint *a,
             const QmCalibrationPoint *b)
{
  double product = 0, aa = 0, bb = 0;

  for (int i = 0; i < QM_STEP_N_PARTS; i++)
    {
      product += a->shares[i] * b->shares[i];
      aa += a->shares[i] * a->shares[i];
      bb += b->shares[i] * b->shares[i];
    }

  return aa > 0 && bb > 0 ? product / sqrt (aa * bb) : 1;
}

static gboolean
is_alike (const QmCalibrationPoint *a,
          const QmCalibrationPoint *b)
{
  return g_str_equal (a->device, b->device) && g_str_equal (a->stack, b->stack) && a->task == b->task &&
         a->activity == b->activity && a->method == b->method && a->quantity == b->quantity;
}

/* The very same job: the part of the error that is its own is the same, too. */
static gboolean
is_same (const QmCalibrationPoint *a,
         const QmCalibrationPoint *b)
{
  if (a == b)
    return TRUE;
  if (!is_alike (a, b) || !(a->estimate > 0) || !(fabs (a->estimate - b->estimate) <= SAME * a->estimate))
    return FALSE;
  for (int i = 0; i < QM_STEP_N_PARTS; i++)
    if (!(fabs (a->shares[i] - b->shares[i]) <= SAME))
      return FALSE;

  return TRUE;
}

static double
covariance (const QmCalibrationConstants *k,
            const QmCalibrationPoint     *a,
            const QmCalibrationPoint     *b)
{
  double likeness = alike_devices (k, a, b) * alike_quantities (k, a, b) *
                    alike (g_str_equal (a->stack, b->stack), k->other_stack) * alike (a->task == b->task, k->other_task) *
                    alike (a->activity == b->activity, k->other_activity) * alike (a->method == b->method, k->other_method);

  if (likeness == 0)
    return 0;

  return a->deviation * b->deviation *
         ((1 - k->own_share) * likeness * (k->common_share + (1 - k->common_share) * alike_steps (a, b)) + (is_same (a, b) ? k->own_share : 0));
}

/* ---------------------------------------------------------------- posterior */

static double
residual (const QmCalibrationSample *sample)
{
  return log (sample->measured / sample->predicted);
}

static void
solve_lower (const QmCalibration *self,
             const double        *right,
             double              *solution)
{
  for (int i = 0; i < self->n; i++)
    {
      double sum = right[i];

      for (int j = 0; j < i; j++)
        sum -= self->factor[i][j] * solution[j];
      solution[i] = sum / self->factor[i][i];
    }
}

static void
solve_upper (const QmCalibration *self,
             double              *solution)
{
  for (int i = self->n - 1; i >= 0; i--)
    {
      for (int j = i + 1; j < self->n; j++)
        solution[i] -= self->factor[j][i] * solution[j];
      solution[i] /= self->factor[i][i];
    }
}

static void
factorise (QmCalibration *self,
           const double  *noise)
{
  const QmCalibrationConstants *k = &self->constants;

  for (int i = 0; i < self->n; i++)
    for (int j = 0; j <= i; j++)
      {
        const QmCalibrationPoint *a = &self->samples[i].point, *b = &self->samples[j].point;
        double sum = covariance (k, a, b) * self->wider[i] * self->wider[j];

        if (i == j)
          sum += noise[i];
        for (int l = 0; l < j; l++)
          sum -= self->factor[i][l] * self->factor[j][l];
        self->factor[i][j] = i == j ? sqrt (fmax (sum, 1e-12)) : sum / self->factor[j][j];
      }
}

/* Of a run that had the machine to itself. */
static double
quiet_variance (const QmCalibration       *self,
                const QmCalibrationSample *sample)
{
  double noise = self->constants.noise[sample->origin];
  double aged = self->constants.noise_per_year * fmax (0, sample->age_years);

  return noise * noise + aged * aged;
}

/* Others slow a run by nothing at the least, by what they took at the most: where
 * it lies between is not known, so that such a run says less, not something else. */
static double
noise_variance (const QmCalibration       *self,
                const QmCalibrationSample *sample)
{
  double slowed = self->constants.contention * -log (1 - CLAMP (sample->contention, 0, MOST_CONTENTION));

  return quiet_variance (self, sample) + slowed * slowed;
}

/* Of one device and software, and both of memory or neither: what a deviation is
 * judged by. */
static gboolean
is_of_a_kind (const QmCalibrationPoint *a,
              const QmCalibrationPoint *b)
{
  return g_str_equal (a->device, b->device) && g_str_equal (a->stack, b->stack) &&
         (a->quantity == QM_MEASURED_MEMORY) == (b->quantity == QM_MEASURED_MEMORY);
}

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* By the run in the middle, the lower of two: a single bad one among others
 * widens nothing. */
static double
widen (const QmCalibration      *self,
       const QmCalibrationPoint *point)
{
  double distances[MOST];
  int n = 0;

  for (int i = 0; i < self->n; i++)
    {
      const QmCalibrationSample *sample = &self->samples[i];

      if (is_of_a_kind (&sample->point, point))
        distances[n++] = fabs (residual (sample)) / hypot (sample->point.deviation, sqrt (quiet_variance (self, sample)));
    }
  if (n == 0 || !(self->constants.surprise > 0))
    return 1;

  qsort (distances, n, sizeof distances[0], compare_doubles);
  return fmax (1, distances[(n - 1) / 2] / self->constants.surprise);
}

/* A run far from what all others say gets less weight: Student's distribution as
 * normals whose variance is a guess. */
static void
learn (QmCalibration *self)
{
  const QmCalibrationConstants *k = &self->constants;
  double noise[MOST], residuals[MOST], scale[MOST];

  for (int i = 0; i < self->n; i++)
    {
      residuals[i] = residual (&self->samples[i]);
      scale[i] = 1;
      self->wider[i] = widen (self, &self->samples[i].point);
    }

  for (int round = 0; round < ROUNDS; round++)
    {
      for (int i = 0; i < self->n; i++)
        noise[i] = noise_variance (self, &self->samples[i]) * scale[i];
      factorise (self, noise);
      solve_lower (self, residuals, self->weights);
      solve_upper (self, self->weights);

      for (int i = 0; i < self->n; i++)
        {
          /* what is left of the residual behind the posterior mean */
          double left = self->weights[i] * noise[i];

          scale[i] = (k->freedom + left * left / noise_variance (self, &self->samples[i])) / (k->freedom + 1);
          scale[i] = fmax (1, scale[i]);
        }
    }
}

/**
 * qm_calibration_new:
 * @constants: how measurements scatter
 * @samples: (array length=n): measured runs, the most trusted or newest last
 * @n: how many
 *
 * Learns from those samples that are physically possible, of which the last
 * %QM_CALIBRATION_MOST_SAMPLES are kept.
 *
 * Returns: (transfer full): what they say
 */
QmCalibration *
qm_calibration_new (const QmCalibrationConstants *constants,
                    const QmCalibrationSample    *samples,
                    gsize                         n)
{
  QmCalibration *self = g_new0 (QmCalibration, 1);
  gsize possible = 0;

  self->constants = *constants;
  for (gsize i = 0; i < n; i++)
    possible += qm_calibration_sample_is_possible (&samples[i], constants, NULL);
  for (gsize i = 0; i < n; i++)
    if (qm_calibration_sample_is_possible (&samples[i], constants, NULL) && possible-- <= MOST)
      self->samples[self->n++] = samples[i];

  learn (self);
  return self;
}

/**
 * qm_calibration_copy:
 * @self: a calibration
 *
 * Returns: (transfer full): the same
 */
QmCalibration *
qm_calibration_copy (const QmCalibration *self)
{
  return g_memdup2 (self, sizeof *self);
}

/**
 * qm_calibration_free:
 * @self: (transfer full) (nullable): a calibration
 */
void
qm_calibration_free (QmCalibration *self)
{
  g_free (self);
}

/**
 * qm_calibration_n_samples:
 * @self: a calibration
 *
 * Returns: how many runs it has learnt from
 */
int
qm_calibration_n_samples (const QmCalibration *self)
{
  return self->n;
}

/**
 * qm_calibration_correct:
 * @self: a calibration
 * @point: where an estimate lies
 *
 * Returns: what to multiply the estimate with, and how sure that is: the
 *   posterior median, and a deviation between that of the nearest measurements
 *   and that of the estimate itself where none is near
 */
QmCorrection
qm_calibration_correct (const QmCalibration      *self,
                        const QmCalibrationPoint *point)
{
  QmCorrection correction = { 1, point->deviation, 0, 0 };
  double towards[MOST], solved[MOST], mean = 0, explained = 0, wider, deviation;

  if (!(point->deviation > 0))
    return correction;

  wider = widen (self, point);
  deviation = wider * point->deviation;
  for (int i = 0; i < self->n; i++)
    {
      towards[i] = covariance (&self->constants, point, &self->samples[i].point) * wider * self->wider[i];
      mean += towards[i] * self->weights[i];
      correction.n += towards[i] > 0;
      correction.n_alike += is_alike (point, &self->samples[i].point);
    }
  solve_lower (self, towards, solved);
  for (int i = 0; i < self->n; i++)
    explained += solved[i] * solved[i];

  correction.factor = exp (mean);
  correction.deviation = sqrt (fmax (0, deviation * deviation - explained));
  return correction;
}
