/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-choices.h"
#include "shipped.h"

/* What recorded runs do to estimates. */

#define LLAMA_70B \
  "{'model_type': 'llama', 'hidden_size': 8192, 'num_hidden_layers': 80, 'num_attention_heads': 64, 'num_key_value_heads': 8," \
  " 'intermediate_size': 28672, 'vocab_size': 32000}"

static void
evaluate (QmEstimator      *which,
          const QmResolved *resolved,
          QmEstimate       *estimate)
{
  g_autoptr (QmEvaluator) evaluator = qm_evaluator_new (which, resolved->plan, resolved->model);
  const QmDevice *device = qm_catalog_find_device (catalog, resolved->plan->configuration.device);

  g_assert_nonnull (device);
  qm_evaluator_evaluate (evaluator, device, &resolved->plan->configuration, estimate);
}

static QmCalibrationSample
plain_sample (double measured)
{
  return (QmCalibrationSample) { .point = { .device = "a", .stack = "s", .quantity = QM_MEASURED_RATE, .deviation = 0.25 },
                                 .predicted = 1, .measured = measured, .ceiling = NAN, .fits = TRUE, .origin = QM_ORIGIN_LEDGER };
}

/* One coefficient is shrunk as the textbook has it: sigma 0.25 before, noise
 * 0.08, all runs 1.15 times the estimate. */
static void
test_shrinkage (void)
{
  const struct { int n; double factor, deviation; } expected[] = { { 1, 1.1352, 0.0762 }, { 3, 1.1447, 0.0454 } };
  QmCalibrationConstants constants = *qm_estimator_get_calibration_constants (estimator);

  constants.own_share = 0;
  constants.freedom = 1e9;
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      QmCalibrationSample samples[3] = { plain_sample (1.15), plain_sample (1.15), plain_sample (1.15) };
      g_autoptr (QmCalibration) calibration = qm_calibration_new (&constants, samples, expected[i].n);
      QmCorrection correction = qm_calibration_correct (calibration, &samples[0].point);

      g_assert_cmpfloat_with_epsilon (correction.factor, expected[i].factor, 1e-4);
      g_assert_cmpfloat_with_epsilon (correction.deviation, expected[i].deviation, 1e-4);
      g_assert_cmpint (correction.n_alike, ==, expected[i].n);
    }
}

/* While others had half of the processor, a run may have been anything up to twice
 * as slow: noise of half of ln 2 beside its own 0.08. It shifts what a quiet run
 * says only a little, and alone leaves a wide range. By the precisions: 16 of the
 * estimate, 156.25 of the quiet run, 7.905 of the other. */
static void
test_contention (void)
{
  QmCalibrationConstants constants = *qm_estimator_get_calibration_constants (estimator);
  QmCalibrationSample samples[2] = { plain_sample (1.15), plain_sample (0.8) };
  QmCalibrationSample alone = plain_sample (1.15);
  g_autoptr (QmCalibration) calibration = NULL, single = NULL;
  QmCorrection correction;

  constants.own_share = 0;
  constants.freedom = 1e9;
  constants.contention = 0.5;
  samples[1].contention = alone.contention = 0.5;
  calibration = qm_calibration_new (&constants, samples, 2);
  g_assert_cmpfloat_with_epsilon (qm_calibration_correct (calibration, &samples[0].point).factor, 1.1179, 1e-3);
  single = qm_calibration_new (&constants, &alone, 1);
  correction = qm_calibration_correct (single, &alone.point);
  g_assert_cmpfloat_with_epsilon (correction.factor, 1.0473, 1e-3);
  g_assert_cmpfloat_with_epsilon (correction.deviation, 0.2045, 1e-3);
}

/* The farther from what was measured, the less is learnt and the wider the range
 * stays. */
static void
test_distance (void)
{
  const QmCalibrationConstants *constants = qm_estimator_get_calibration_constants (estimator);
  QmCalibrationSample sample = plain_sample (1.5);
  g_autoptr (QmCalibration) calibration = NULL;
  QmCalibrationPoint near = sample.point, stack = sample.point, far = sample.point;
  QmCorrection corrections[3];

  qm_word_set (sample.point.arch, "x");
  calibration = qm_calibration_new (constants, &sample, 1);
  qm_word_set (stack.stack, "other");
  qm_word_set (far.stack, "other");
  qm_word_set (far.device, "other");
  corrections[0] = qm_calibration_correct (calibration, &near);
  corrections[1] = qm_calibration_correct (calibration, &stack);
  corrections[2] = qm_calibration_correct (calibration, &far);

  g_assert_cmpfloat (corrections[0].factor, >, 1.3);
  for (int i = 1; i < 3; i++)
    {
      g_assert_cmpfloat (corrections[i].factor, <, corrections[i - 1].factor);
      g_assert_cmpfloat (corrections[i].factor, >, 1);
      g_assert_cmpfloat (corrections[i].deviation, >, corrections[i - 1].deviation);
      g_assert_cmpfloat (corrections[i].deviation, <, sample.point.deviation);
    }

  near.quantity = QM_MEASURED_MEMORY;
  g_assert_cmpfloat (qm_calibration_correct (calibration, &near).factor, ==, 1);
}

/* Four runs agree; one that was mistyped hardly counts. */
static void
test_bad_row (void)
{
  const QmCalibrationConstants *constants = qm_estimator_get_calibration_constants (estimator);
  QmCalibrationSample samples[5] = { plain_sample (1.2), plain_sample (1.2), plain_sample (6), plain_sample (1.2), plain_sample (1.2) };
  g_autoptr (QmCalibration) calibration = qm_calibration_new (constants, samples, 5);

  g_assert_cmpfloat_with_epsilon (qm_calibration_correct (calibration, &samples[0].point).factor, 1.2, 0.12);
}

/* A first run of a device that is like none before, ten times below the estimate
 * and far outside of its range: the same job again is told within 15 percent, and
 * a job that is only like it follows for the most part. */
static void
test_far_off (void)
{
  const QmCalibrationConstants *constants = qm_estimator_get_calibration_constants (estimator);
  QmCalibrationSample sample = plain_sample (0.1);
  g_autoptr (QmCalibration) calibration = NULL;
  QmCalibrationPoint like, other;
  QmCorrection correction;

  sample.point.estimate = sample.predicted;
  sample.point.shares[0] = 1;
  calibration = qm_calibration_new (constants, &sample, 1);
  correction = qm_calibration_correct (calibration, &sample.point);
  g_assert_cmpfloat_with_epsilon (correction.factor, 0.1, 0.015);
  g_assert_cmpfloat (correction.deviation, <, sample.point.deviation);

  like = sample.point;
  like.estimate = 2;
  correction = qm_calibration_correct (calibration, &like);
  g_assert_cmpfloat (correction.factor, <, 0.2);
  g_assert_cmpfloat (correction.factor, >, 0.1);

  /* another device learns no more of it than of a run that is just unusual */
  other = like;
  qm_word_set (other.device, "other");
  g_assert_cmpfloat (qm_calibration_correct (calibration, &other).factor, >, 0.7);
}

/* The very same job takes its own part of the error along; one like it does not. */
static void
test_same_job (void)
{
  const QmCalibrationConstants *constants = qm_estimator_get_calibration_constants (estimator);
  QmCalibrationSample sample = plain_sample (1.4);
  g_autoptr (QmCalibration) calibration = NULL;
  QmCalibrationPoint like;

  sample.point.estimate = sample.predicted;
  calibration = qm_calibration_new (constants, &sample, 1);
  like = sample.point;
  like.estimate = 3;
  g_assert_cmpfloat (qm_calibration_correct (calibration, &sample.point).factor, >, qm_calibration_correct (calibration, &like).factor);
  g_assert_cmpfloat (qm_calibration_correct (calibration, &sample.point).deviation, <, qm_calibration_correct (calibration, &like).deviation);
}

static char *
gate (const char *configuration,
      double      tokens_per_second)
{
  g_autofree char *text = g_strdup_printf (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'serve', 'model': {'architecture': "
    LLAMA_70B "}, 'serving': {'engine': 'vllm', 'weights': 'bf16', 'input_tokens': 128, 'output_tokens': 128, 'concurrency': 1},"
    " 'configuration': {%s}}", configuration);
  g_autoptr (QmResolved) resolved = resolve (text);
  g_autoptr (QmMessage) reason = NULL;
  QmCalibrationSample sample;
  QmEstimate estimate;

  evaluate (estimator, resolved, &estimate);
  qm_calibration_sample_init (&sample, resolved->plan, resolved->model, &estimate, QM_MEASURED_DECODE, tokens_per_second, QM_ORIGIN_COMMUNITY);
  if (qm_calibration_sample_is_possible (&sample, qm_estimator_get_calibration_constants (estimator), &reason))
    return NULL;

  return g_strdup (qm_message_get_code (reason));
}

/* A page gives 85 tokens a second of Llama-2-70B in 16 bits on one H100: 140 GB
 * are not in 80, and 3.35 TB/s carry them 24 times a second. */
static void
test_gate (void)
{
  g_autofree char *one = gate ("'device': 'h100-sxm5-80gb', 'devices': 1", 85);
  g_autofree char *two = gate ("'device': 'h100-sxm5-80gb', 'devices': 2, 'tensor_parallel': 2", 85);
  g_autofree char *slow = gate ("'device': 'h100-sxm5-80gb', 'devices': 2, 'tensor_parallel': 2", 35);
  g_autofree char *none = gate ("'device': 'h100-sxm5-80gb', 'devices': 2, 'tensor_parallel': 2", -1);

  g_assert_cmpstr (one, ==, "did-not-fit");
  g_assert_cmpstr (two, ==, "above-roofline");
  g_assert_cmpstr (slow, ==, NULL);
  g_assert_cmpstr (none, ==, "not-a-measurement");
}

/* ------------------------------------------------------------ synthetic users */

/* A person's machine: how much longer than usual each part of a step takes. */
typedef struct {
  const char *device;
  double parts[QM_STEP_N_PARTS];
} User;

static const User users[] = {
  { "rtx-4090", { 1.5, 1.1, 1, 1, 1.2 } },           /* power limit */
  { "rtx-4090", { 1.1, 1.1, 3, 1, 1.1 } },           /* x4 slots */
  { "rtx-3090", { 0.8, 0.85, 1, 1, 0.7 } },          /* better kernels */
  { "rtx-3090", { 1.7, 1.6, 1.4, 1, 2 } },           /* hot, old software */
  { "a100-sxm4-80gb", { 1.3, 1.3, 1.3, 1.3, 1.3 } },
  { "a100-sxm4-80gb", { 0.75, 1, 1, 1, 1 } },
  { "h100-sxm5-80gb", { 1, 1.8, 1, 1, 1.5 } },        /* unfused */
  { "h100-sxm5-80gb", { 0.7, 0.7, 0.9, 1, 0.7 } },
  { "mi300x", { 1.9, 1.5, 1.5, 1, 1.5 } },
  { "l40s", { 1.35, 1.2, 2, 1, 1 } },
};

static const char *models[] = {
  "'parameters': 1.1e9", "'parameters': 3e9", "'parameters': 8e9",
};

static QmResolved *
job_of (const User *user,
        int         model,
        int         sequence)
{
  g_autofree char *text = g_strdup_printf (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'fine-tune', 'model': {%s},"
    " 'training': {'method': 'lora', 'lora_rank': 16, 'precision': 'bf16', 'framework': 'pytorch', 'sequence_length': %d,"
    " 'activation_checkpointing': 'full', 'global_batch': 16},"
    " 'configuration': {'device': '%s', 'devices': %d, 'micro_batch': 1}}",
    models[model], sequence, user->device, model == 1 ? 4 : 1);

  return resolve (text);
}

static double
true_rate (const User       *user,
           const QmEstimate *estimate)
{
  QmCalibrationPoint point;
  g_autoptr (QmPlan) plan = qm_plan_new ();
  double longer = 0;

  qm_calibration_point_init (&point, plan, estimate, QM_MEASURED_RATE);
  for (int i = 0; i < QM_STEP_N_PARTS; i++)
    longer += point.shares[i] * user->parts[i];

  return estimate->throughput.per_second.p50 / longer;
}

static void
record (const User          *user,
        int                  sequence,
        QmCalibrationSample *sample)
{
  g_autoptr (QmResolved) resolved = job_of (user, 1, sequence);
  QmEstimate estimate;

  evaluate (estimator, resolved, &estimate);
  qm_calibration_sample_init (sample, resolved->plan, resolved->model, &estimate, QM_MEASURED_RATE,
                              true_rate (user, &estimate), QM_ORIGIN_LEDGER);
}

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median (GArray *values)
{
  g_array_sort (values, compare_doubles);
  return g_array_index (values, double, values->len / 2);
}

/* Whether both runs lie so far out that the estimate itself was too sure of
 * itself: then ranges grow instead. */
static gboolean
is_surprising (const QmCalibrationSample *samples)
{
  double surprise = qm_estimator_get_calibration_constants (estimator)->surprise;

  for (guint i = 0; i < 2; i++)
    if (fabs (log (samples[i].measured / samples[i].predicted)) <= surprise * samples[i].point.deviation)
      return FALSE;

  return TRUE;
}

/* Two recorded runs, one of short and one of long sequences, at least halve the
 * median error on all other jobs of the person, and leave narrower ranges. */
static void
test_users (void)
{
  g_autoptr (GArray) before = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) after = g_array_new (FALSE, FALSE, sizeof (double));
  const int sequences[] = { 512, 1024, 4096, 16384 };
  guint surprised = 0;

  for (guint i = 0; i < G_N_ELEMENTS (users); i++)
    {
      QmCalibrationSample samples[2];
      g_autoptr (QmCalibration) calibration = NULL;
      g_autoptr (QmEstimator) calibrated = NULL;

      record (&users[i], 1024, &samples[0]);
      record (&users[i], 8192, &samples[1]);
      calibration = qm_calibration_new (qm_estimator_get_calibration_constants (estimator), samples, 2);
      g_assert_cmpint (qm_calibration_n_samples (calibration), ==, 2);
      calibrated = qm_estimator_calibrate (estimator, calibration);

      for (guint model = 0; model < G_N_ELEMENTS (models); model++)
        for (guint j = 0; j < G_N_ELEMENTS (sequences); j++)
          {
            g_autoptr (QmResolved) resolved = job_of (&users[i], model, sequences[j]);
            QmEstimate plain, corrected;
            double truth, errors[2];

            evaluate (estimator, resolved, &plain);
            evaluate (calibrated, resolved, &corrected);
            truth = true_rate (&users[i], &plain);
            errors[0] = fabs (plain.throughput.per_second.p50 / truth - 1);
            errors[1] = fabs (corrected.throughput.per_second.p50 / truth - 1);
            g_array_append_val (before, errors[0]);
            g_array_append_val (after, errors[1]);
            if (!is_surprising (samples))
              g_assert_cmpfloat (qm_range_half_width (corrected.throughput.per_second), <,
                                 qm_range_half_width (plain.throughput.per_second));
          }
      surprised += is_surprising (samples);
    }
  g_assert_cmpuint (surprised, <=, G_N_ELEMENTS (users) / 3);

  g_test_message ("median error %.3f before, %.3f after two runs", median (before), median (after));
  g_assert_cmpfloat (median (before), >, 0.1);
  g_assert_cmpfloat (median (after), <=, median (before) / 2);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/calibration/shrinkage", test_shrinkage);
  g_test_add_func ("/calibration/contention", test_contention);
  g_test_add_func ("/calibration/distance", test_distance);
  g_test_add_func ("/calibration/bad-row", test_bad_row);
  g_test_add_func ("/calibration/far-off", test_far_off);
  g_test_add_func ("/calibration/same-job", test_same_job);
  g_test_add_func ("/calibration/gate", test_gate);
  g_test_add_func ("/calibration/users", test_users);

  return shipped_run ();
}
