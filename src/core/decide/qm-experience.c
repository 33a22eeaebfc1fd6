/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-experience.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "decide/qm-past-runs.h"
#include "history/qm-summary.h"

/* The latest runs; more say little more. */
#define MOST_RUNS 60

#define YEAR (365.25 * G_TIME_SPAN_DAY)

/* Which figure of a run is which quantity of an estimate. */
static const struct {
  const char *key;
  QmMeasuredQuantity quantity;
} figures[] = {
  { "throughput.per_second", QM_MEASURED_RATE },
  { "serving.decode_tokens_per_second", QM_MEASURED_DECODE },
  { "serving.prefill_tokens_per_second", QM_MEASURED_PREFILL },
  { "memory.per_device_bytes", QM_MEASURED_MEMORY },
};

static void
refused_free (QmRefusedFigure *self)
{
  g_free (self->key);
  qm_message_free (self->reason);
  g_free (self);
}

/**
 * qm_experience_free:
 * @self: (nullable): experience
 */
void
qm_experience_free (QmExperience *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->calibration, qm_calibration_free);
  g_ptr_array_unref (self->refused);
  g_ptr_array_unref (self->past_runs);
  g_free (self);
}

/* The same without what was learnt: shares everything else. */
static QmEstimator *
without_calibration (QmEstimator *estimator)
{
  g_autoptr (QmCalibration) empty = qm_calibration_new (qm_estimator_get_calibration_constants (estimator), NULL, 0);

  return qm_estimator_calibrate (estimator, empty);
}

/* Rates are compared only where they count the same. */
static gboolean
counts_the_same (const QmRun      *run,
                 const QmEstimate *estimate)
{
  static const char * const units[] = { "", "tokens", "images", "samples", "audio-seconds", "rows" };
  const char *unit = units[estimate->throughput.unit];

  if (run->unit == NULL || g_strcmp0 (run->unit, unit) == 0)
    return TRUE;

  return g_str_equal (run->unit, "samples") && estimate->throughput.unit == QM_UNIT_IMAGES;
}

static QmOrigin
origin_of (const QmRun *run)
{
  return run->source == QM_RUN_SOURCE_RECORDED ? QM_ORIGIN_STRESS_TEST : QM_ORIGIN_LEDGER;
}

static void
refuse (QmExperience *self,
        const QmRun  *run,
        const char   *key,
        QmMessage    *reason)
{
  QmRefusedFigure *refused = g_new0 (QmRefusedFigure, 1);

  refused->id = run->id;
  refused->key = g_strdup (key);
  refused->reason = reason;
  g_ptr_array_add (self->refused, refused);
}

typedef struct {
  QmExperience *experience;
  QmEstimator *estimator;           /* without calibration */
  gint64 now;
  GArray *samples;                  /* of QmCalibrationSample */
} Learning;

static gboolean
learn_figures (Learning         *self,
               const QmRun      *run,
               const QmResolved *resolved,
               const QmEstimate *estimate)
{
  guint before = self->samples->len;

  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      double measured = qm_run_measured (run, figures[i].key);
      QmCalibrationSample sample;
      QmMessage *reason = NULL;

      if (isnan (measured) || (figures[i].quantity == QM_MEASURED_RATE && !counts_the_same (run, estimate)))
        continue;
      qm_calibration_sample_init (&sample, resolved->plan, resolved->model, estimate, figures[i].quantity, measured, origin_of (run));
      sample.age_years = fmax (0, (self->now - run->started) / YEAR);
      if (figures[i].quantity != QM_MEASURED_MEMORY && estimate->device != NULL && estimate->device->device_class == QM_DEVICE_CLASS_CPU)
        sample.contention = qm_run_contention (run);
      if (qm_calibration_sample_is_possible (&sample, qm_estimator_get_calibration_constants (self->estimator), &reason))
        {
          g_array_append_val (self->samples, sample);
          if (figures[i].quantity == QM_MEASURED_MEMORY)
            qm_past_runs_add (self->experience->past_runs, qm_resolved_copy (resolved), estimate, measured);
        }
      else
        refuse (self->experience, run, figures[i].key, reason);
    }

  return self->samples->len > before;
}

/* The plan of a run, as it was pinned; %NULL where it cannot be resolved any more. */
static QmResolved *
resolve (QmEstimator *estimator,
         const QmRun *run)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmPlan) plan = qm_plan_from_data (run->plan, -1, warnings, NULL);
  QmResolved *resolved = plan != NULL ? qm_resolve (plan, qm_estimator_get_catalog (estimator), ".", warnings, NULL) : NULL;

  /* a log names no configuration, but the device it was made on */
  if (resolved != NULL && resolved->plan->configuration.device[0] == '\0' && run->device != NULL)
    qm_word_set (resolved->plan->configuration.device, run->device);

  return resolved;
}

/* What the limit of then slowed is no error of the theory. */
static void
recall_devices (QmEstimator  *estimator,
                const QmRun  *run,
                const QmPlan *plan,
                QmHere       *then)
{
  const QmDevice *device = qm_catalog_find_device (qm_estimator_get_catalog (estimator), plan->configuration.device);
  double power = qm_run_measured (run, "run.power_limit_watts");
  int devices = CLAMP (plan->configuration.devices, 1, (int) G_N_ELEMENTS (then->devices));

  then->n_devices = device != NULL ? devices : 0;
  for (int i = 0; i < then->n_devices; i++)
    {
      then->devices[i] = device;
      then->power_watts[i] = isfinite (power) ? power : 0;
    }
}

static void
learn_run (Learning    *self,
           const QmRun *run)
{
  g_autoptr (QmResolved) resolved = resolve (self->estimator, run);
  QmHere then = { 0 };
  QmChoice choice;

  if (resolved == NULL)
    return;

  recall_devices (self->estimator, run, resolved->plan, &then);
  if (qm_estimate_pinned (self->estimator, resolved, &then, &choice, NULL))
    self->experience->runs += learn_figures (self, run, resolved, &choice.estimate);
  qm_choice_clear (&choice);
}

static gboolean
can_teach (const QmRun *run)
{
  return run->status != QM_RUN_STATUS_RUNNING && run->status != QM_RUN_STATUS_OUT_OF_MEMORY && run->status != QM_RUN_STATUS_FAILED;
}

/**
 * qm_experience_new:
 * @ledger: the runs of a person
 * @estimator: an estimator; a calibration it has does not count
 * @now: microseconds since 1970, UTC: older runs say less
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Compares the latest runs that have a plan with what would be estimated of
 * them. What is physically impossible is refused.
 *
 * Returns: (transfer full) (nullable): what they teach
 */
QmExperience *
qm_experience_new (QmLedger     *ledger,
                   QmEstimator  *estimator,
                   gint64        now,
                   GError      **error)
{
  g_autoptr (QmExperience) self = g_new0 (QmExperience, 1);
  g_autoptr (QmEstimator) plain = without_calibration (estimator);
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (QmCalibrationSample));
  Learning learning = { self, plain, now, samples };
  g_autoptr (GArray) ids = NULL;

  self->past_runs = qm_past_runs_new ();
  self->refused = g_ptr_array_new_with_free_func ((GDestroyNotify) refused_free);
  ids = qm_ledger_list_planned (ledger, MOST_RUNS, error);
  if (ids == NULL)
    return NULL;

  /* the latest last: of too many, those given last are kept */
  for (guint i = ids->len; i > 0; i--)
    {
      g_autoptr (QmRun) run = qm_ledger_get (ledger, g_array_index (ids, gint64, i - 1), error);

      if (run == NULL)
        return NULL;
      if (can_teach (run))
        learn_run (&learning, run);
    }
  self->calibration = qm_calibration_new (qm_estimator_get_calibration_constants (plain), (const QmCalibrationSample *) samples->data, samples->len);

  return g_steal_pointer (&self);
}

/**
 * qm_experience_explain:
 * @estimator: an estimator, calibrated or not
 * @resolved: a plan
 * @estimate: an estimate of it
 *
 * Returns: (transfer full) (nullable): how far the person's own runs moved it;
 *   %NULL where they did not
 */
QmMessage *
qm_experience_explain (QmEstimator      *estimator,
                       const QmResolved *resolved,
                       const QmEstimate *estimate)
{
  const QmCalibration *calibration = qm_estimator_get_calibration (estimator);
  g_autoptr (QmEstimator) plain = NULL;
  g_autoptr (QmEvaluator) evaluator = NULL;
  QmEstimate before = { 0 };
  QmMessage *message;

  if (calibration == NULL || qm_calibration_n_samples (calibration) == 0 || estimate->device == NULL)
    return NULL;

  plain = without_calibration (estimator);
  evaluator = qm_evaluator_new (plain, resolved->plan, resolved->model);
  qm_evaluator_evaluate (evaluator, estimate->device, &estimate->configuration, &before);
  message = qm_calibration_explain (calibration, resolved->plan, &before);
  qm_estimate_clear (&before);

  return message;
}

/* ------------------------------------------------------------- what would teach most */

#define MOST_CANDIDATES 16

typedef struct {
  QmTeachingRun run;
  QmCalibrationSample sample;
} Candidate;

static gboolean
make_candidate (QmEstimator      *estimator,
                const QmResolved *resolved,
                double            length,
                double            batch,
                Candidate        *candidate)
{
  g_autoptr (QmResolved) other = qm_resolved_copy (resolved);
  QmChoice choice;
  gboolean ok;

  if (length > 0)
    other->plan->training.sequence_length = length;
  other->plan->configuration.micro_batch = batch;
  other->plan->training.global_batch = 0;
  other->plan->configuration.gradient_accumulation = 1;
  ok = qm_estimate_pinned (estimator, other, NULL, &choice, NULL) && choice.estimate.throughput.known &&
       (choice.estimate.memory.fits || !(choice.estimate.memory.usable_bytes > 0));
  if (ok)
    {
      qm_calibration_sample_init (&candidate->sample, other->plan, other->model, &choice.estimate, QM_MEASURED_RATE,
                                  choice.estimate.throughput.per_second.p50, QM_ORIGIN_STRESS_TEST);
      candidate->run = (QmTeachingRun) { length, batch, NAN };
    }
  qm_choice_clear (&choice);

  return ok;
}

/* How unsure all the candidates are together after some were run. */
static double
left_unsure (QmEstimator               *estimator,
             const QmCalibrationSample *samples,
             gsize                      n,
             const Candidate           *candidates,
             guint                      n_candidates)
{
  g_autoptr (QmCalibration) calibration = qm_calibration_new (qm_estimator_get_calibration_constants (estimator), samples, n);
  double sum = 0;

  for (guint i = 0; i < n_candidates; i++)
    {
      double deviation = qm_calibration_correct (calibration, &candidates[i].sample.point).deviation;

      sum += deviation * deviation;
    }

  return sqrt (sum / n_candidates);
}

static guint
make_candidates (QmEstimator      *estimator,
                 const QmResolved *resolved,
                 Candidate        *candidates)
{
  static const double lengths[] = { 256, 1024, 4096, 8192 };
  static const double batches[] = { 1, 4, 16 };
  gboolean has_tokens = resolved->plan->training.sequence_length > 0;
  double most = resolved->model->architecture.max_positions;
  guint n = 0;

  for (guint l = 0; l < (has_tokens ? G_N_ELEMENTS (lengths) : 1); l++)
    for (guint b = 0; b < G_N_ELEMENTS (batches) && n < MOST_CANDIDATES; b++)
      if (!has_tokens || !(most > 0) || lengths[l] <= most)
        n += make_candidate (estimator, resolved, has_tokens ? lengths[l] : 0, batches[b], &candidates[n]);

  return n;
}

/**
 * qm_experience_suggest:
 * @estimator: an estimator
 * @resolved: a plan whose device is named
 *
 * Which two short runs of the same model on the same device would make the
 * estimates of it surest: one after another, the one that leaves least unsure.
 *
 * Returns: (transfer full) (element-type QmTeachingRun): at most two runs;
 *   empty where the plan trains nothing
 */
GArray *
qm_experience_suggest (QmEstimator      *estimator,
                       const QmResolved *resolved)
{
  GArray *runs = g_array_new (FALSE, FALSE, sizeof (QmTeachingRun));
  g_autoptr (QmEstimator) plain = without_calibration (estimator);
  Candidate candidates[MOST_CANDIDATES];
  QmCalibrationSample taken[2];
  guint n;

  if (!qm_plan_is_training (resolved->plan))
    return runs;

  n = make_candidates (plain, resolved, candidates);
  for (guint k = 0; k < G_N_ELEMENTS (taken) && k < n; k++)
    {
      double least = INFINITY;
      guint best = 0;

      for (guint i = 0; i < n; i++)
        {
          double left;

          /* the same again would tell of chance alone */
          if (isfinite (candidates[i].run.deviation))
            continue;
          taken[k] = candidates[i].sample;
          left = left_unsure (plain, taken, k + 1, candidates, n);
          if (left < least)
            {
              least = left;
              best = i;
            }
        }
      taken[k] = candidates[best].sample;
      candidates[best].run.deviation = least;
      g_array_append_val (runs, candidates[best].run);
    }

  return runs;
}
