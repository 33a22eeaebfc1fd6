/* SPDX-License-Identifier: GPL-3.0-or-later */

/* People whose hardware is off from theory by known factors, and what two of
 * their runs teach. */

#include "decide/qm-experience.h"
#include "decide/qm-past-runs.h"

#include <math.h>
#include <stdlib.h>

#include "../history/ledger-fixture.h"

static QmEstimator *estimator;

#define PLAN "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"train\",\"model\":{\"architecture\":" \
             "{\"model_type\":\"llama\",\"num_hidden_layers\":%d,\"hidden_size\":2048,\"num_attention_heads\":16,\"intermediate_size\":5632,\"vocab_size\":32000}}," \
             "\"training\":{\"method\":\"full\",\"framework\":\"torchtitan\",\"precision\":\"amp-bf16\",\"sequence_length\":%d}," \
             "\"configuration\":{\"device\":\"%s\",\"micro_batch\":%d}}"

static QmResolved *
resolve (const char *text)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (text, -1, warnings, &error);
  QmResolved *resolved;

  g_assert_no_error (error);
  resolved = qm_resolve (plan, qm_estimator_get_catalog (estimator), ".", warnings, &error);
  g_assert_no_error (error);

  return resolved;
}

static QmEstimate
estimate_with (QmEstimator *with,
               const char  *text)
{
  g_autoptr (QmResolved) resolved = resolve (text);
  g_autoptr (GError) error = NULL;
  QmChoice choice;
  QmEstimate estimate;

  qm_estimate_pinned (with, resolved, NULL, &choice, &error);
  g_assert_no_error (error);
  estimate = choice.estimate;
  g_assert_true (estimate.throughput.known);
  qm_choice_clear (&choice);

  return estimate;
}

/* A person's hardware: each part of a step takes so many times what theory says. */
typedef struct {
  double compute, memory, overhead;
} Person;

static double
true_rate (const Person *person,
           const char   *text)
{
  const QmEstimate e = estimate_with (estimator, text);
  const QmThroughput *t = &e.throughput;
  double parts = t->compute_seconds + t->memory_seconds + t->communication_seconds + t->input_seconds + t->overhead_seconds;
  double real = person->compute * t->compute_seconds + person->memory * t->memory_seconds + t->communication_seconds + t->input_seconds +
                person->overhead * t->overhead_seconds;

  return t->per_second.p50 * parts / real;
}

static void
add_run (Fixture      *self,
         const char   *uid,
         const Person *person,
         const char   *plan)
{
  g_autoptr (QmRun) run = qm_run_new (uid);

  run->status = QM_RUN_STATUS_FINISHED;
  run->source = QM_RUN_SOURCE_RECORDED;
  run->unit = g_strdup ("tokens");
  run->plan = g_strdup (plan);
  qm_run_set_measured (run, "throughput.per_second", true_rate (person, plan));
  g_assert_true (qm_ledger_add (self->ledger, run, NULL, NULL));
}

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Jobs of a person: depth, length and batch vary. */
static const int jobs[][3] = { { 8, 512, 1 }, { 8, 2048, 4 }, { 16, 1024, 2 }, { 16, 4096, 1 }, { 12, 8192, 1 }, { 12, 1024, 8 } };

#define N_JOBS G_N_ELEMENTS (jobs)

static void
collect_errors (QmEstimator  *with,
                const Person *person,
                double       *errors)
{
  for (guint i = 0; i < N_JOBS; i++)
    {
      g_autofree char *plan = g_strdup_printf (PLAN, jobs[i][0], jobs[i][1], "a100-sxm4-80gb", jobs[i][2]);
      const QmEstimate estimate = estimate_with (with, plan);

      errors[i] = fabs (log (estimate.throughput.per_second.p50 / true_rate (person, plan)));
    }
}

static double
median (double *values,
        guint   n)
{
  qsort (values, n, sizeof *values, compare_doubles);
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* One short and one long run, as the design of the calibration asks for: half the error at the most. */
static void
test_two_runs (Fixture       *self,
               gconstpointer  data)
{
  static const Person people[] = {
    { 1.3, 1.3, 1.3 }, { 1.5, 1, 1 }, { 0.85, 0.85, 1.2 }, { 1.2, 1.6, 1 }, { 1.25, 1.25, 2 }, { 1.4, 1.2, 1.5 }, { 1.15, 1.3, 0.9 },
  };
  double before[G_N_ELEMENTS (people) * N_JOBS], after[G_N_ELEMENTS (people) * N_JOBS];
  double first, second;

  for (guint i = 0; i < G_N_ELEMENTS (people); i++)
    {
      g_autofree char *shorter = g_strdup_printf (PLAN, 10, 512, "a100-sxm4-80gb", 2);
      g_autofree char *longer = g_strdup_printf (PLAN, 10, 4096, "a100-sxm4-80gb", 2);
      g_autofree char *first_uid = g_strdup_printf ("%u-short", i);
      g_autofree char *second_uid = g_strdup_printf ("%u-long", i);
      g_autoptr (QmExperience) experience = NULL;
      g_autoptr (QmEstimator) calibrated = NULL;

      add_run (self, first_uid, &people[i], shorter);
      add_run (self, second_uid, &people[i], longer);
      experience = qm_experience_new (self->ledger, estimator, 0, NULL);
      g_assert_cmpuint (experience->runs, ==, 2);
      g_assert_cmpuint (experience->refused->len, ==, 0);
      calibrated = qm_estimator_calibrate (estimator, experience->calibration);
      collect_errors (estimator, &people[i], before + i * N_JOBS);
      collect_errors (calibrated, &people[i], after + i * N_JOBS);

      g_assert_true (qm_ledger_remove (self->ledger, 2 * i + 1, 1, NULL));
      g_assert_true (qm_ledger_remove (self->ledger, 2 * i + 2, 1, NULL));
    }
  first = median (before, G_N_ELEMENTS (before));
  second = median (after, G_N_ELEMENTS (after));
  g_test_message ("median error %.3f, with two runs %.3f", first, second);
  g_assert_cmpfloat (second, <=, first / 2);
}

/* The estimate of @plan after a run of seven tenths of it, during which others
 * kept @others of two cores busy and the run another. */
static QmRange
after_run (const char *plan,
           double      others)
{
  Fixture fixture = { 0 };
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmExperience) experience = NULL;
  g_autoptr (QmEstimator) calibrated = NULL;
  QmRange after;

  set_up (&fixture, NULL);
  run->status = QM_RUN_STATUS_FINISHED;
  run->source = QM_RUN_SOURCE_RECORDED;
  run->plan = g_strdup (plan);
  qm_run_set_measured (run, "throughput.per_second", 0.7 * estimate_with (estimator, plan).throughput.per_second.p50);
  qm_run_set_measured (run, "run.cores", 2);
  qm_run_set_measured (run, "run.cpu_cores", 1);
  qm_run_set_measured (run, "run.cpu_utilization", (1 + others) / 2);
  g_assert_true (qm_ledger_add (fixture.ledger, run, NULL, NULL));
  experience = qm_experience_new (fixture.ledger, estimator, 0, NULL);
  calibrated = qm_estimator_calibrate (estimator, experience->calibration);
  after = estimate_with (calibrated, plan).throughput.per_second;
  tear_down (&fixture, NULL);

  return after;
}

/* What was measured beside other programs says less of a processor, and the same
 * of a GPU. */
static void
test_contended (void)
{
  static const char * const devices[] = { "xeon-8480plus", "a100-sxm4-80gb" };

  for (guint i = 0; i < G_N_ELEMENTS (devices); i++)
    {
      g_autofree char *plan = g_strdup_printf (PLAN, 8, 1024, devices[i], 1);
      double before = estimate_with (estimator, plan).throughput.per_second.p50;
      QmRange quiet = after_run (plan, 0), crowded = after_run (plan, 1);

      g_assert_cmpfloat (quiet.p50, <, 0.8 * before);
      if (i == 0)
        {
          g_assert_cmpfloat (crowded.p50, >, quiet.p50 * 1.02);
          g_assert_cmpfloat (crowded.p50, <, before);
          g_assert_cmpfloat (crowded.p90 / crowded.p10, >, 1.2 * quiet.p90 / quiet.p10);
        }
      else
        g_assert_cmpfloat_with_epsilon (crowded.p50, quiet.p50, 1e-6 * quiet.p50);
    }
}

/* Found on a page: 85 tokens a second of Llama 2 70B in 16 bit on one H100 were
 * published. It does not fit, and would be more than the memory can be read. */
static void
test_nonsense (Fixture       *self,
               gconstpointer  data)
{
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmExperience) experience = NULL;
  const QmRefusedFigure *refused;

  run->status = QM_RUN_STATUS_FINISHED;
  run->source = QM_RUN_SOURCE_TABLE;
  run->plan = g_strdup ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-2-70b\"},"
                        "\"serving\":{\"engine\":\"vllm\",\"weights\":\"fp16\",\"concurrency\":1},\"configuration\":{\"device\":\"h100-sxm5-80gb\"}}");
  qm_run_set_measured (run, "serving.decode_tokens_per_second", 85);
  g_assert_true (qm_ledger_add (self->ledger, run, NULL, NULL));
  experience = qm_experience_new (self->ledger, estimator, 0, NULL);
  g_assert_cmpuint (experience->runs, ==, 0);
  g_assert_cmpuint (experience->refused->len, ==, 1);
  refused = g_ptr_array_index (experience->refused, 0);
  g_assert_cmpint (refused->id, ==, 1);
  g_assert_cmpstr (qm_message_get_code (refused->reason), ==, "did-not-fit");
}

/* Faster than the device computes at all. */
static void
test_above_roofline (Fixture       *self,
                     gconstpointer  data)
{
  g_autofree char *plan = g_strdup_printf (PLAN, 8, 1024, "a100-sxm4-80gb", 2);
  const Person wizard = { 0.01, 0.01, 0.01 };
  g_autoptr (QmExperience) experience = NULL;

  add_run (self, "a", &wizard, plan);
  experience = qm_experience_new (self->ledger, estimator, 0, NULL);
  g_assert_cmpuint (experience->refused->len, ==, 1);
  g_assert_cmpstr (qm_message_get_code (((QmRefusedFigure *) g_ptr_array_index (experience->refused, 0))->reason), ==, "above-roofline");
}

/* What went wrong, counts otherwise, or has no plan teaches nothing. */
static void
test_left_out (Fixture       *self,
               gconstpointer  data)
{
  g_autofree char *plan = g_strdup_printf (PLAN, 8, 1024, "a100-sxm4-80gb", 2);
  const Person person = { 1, 1, 1 };
  g_autoptr (QmExperience) experience = NULL;

  for (int i = 0; i < 3; i++)
    {
      g_autofree char *uid = g_strdup_printf ("%d", i);
      g_autoptr (QmRun) run = NULL;

      add_run (self, uid, &person, plan);
      run = qm_ledger_get (self->ledger, i + 1, NULL);
      if (i == 0)
        run->status = QM_RUN_STATUS_OUT_OF_MEMORY;
      else if (i == 1)
        g_set_str (&run->unit, "samples");
      else
        g_clear_pointer (&run->plan, g_free);
      g_assert_true (qm_ledger_update (self->ledger, run, NULL));
    }
  experience = qm_experience_new (self->ledger, estimator, 0, NULL);
  g_assert_cmpuint (experience->runs, ==, 0);
  g_assert_cmpint (qm_calibration_n_samples (experience->calibration), ==, 0);
}

static void
add_memory (Fixture    *self,
            int         i,
            const char *plan,
            double      bytes)
{
  g_autofree char *uid = g_strdup_printf ("%d", i);
  g_autoptr (QmRun) run = qm_run_new (uid);

  run->status = QM_RUN_STATUS_FINISHED;
  run->source = QM_RUN_SOURCE_RECORDED;
  run->plan = g_strdup (plan);
  qm_run_set_measured (run, "memory.per_device_bytes", bytes);
  g_assert_true (qm_ledger_add (self->ledger, run, NULL, NULL));
}

/* What the runs so far say of @plan: the size measured, and that of other depths. */
static void
size (Fixture    *self,
      const char *plan,
      double     *measured,
      QmGrowth   *growth)
{
  g_autoptr (QmResolved) resolved = resolve (plan);
  g_autoptr (QmExperience) experience = qm_experience_new (self->ledger, estimator, 0, NULL);
  const QmEstimate estimate = estimate_with (estimator, plan);

  *growth = (QmGrowth) { 0 };
  *measured = qm_past_runs_measured (experience->past_runs, resolved, &estimate);
  if (!qm_past_runs_growth (experience->past_runs, resolved, &estimate, growth))
    g_assert_cmpuint (growth->runs, ==, 0);
}

/* Requirement B5, in its own words: ten layers more need 2 GB more. */
static void
test_growth (Fixture       *self,
             gconstpointer  data)
{
  g_autofree char *wanted = g_strdup_printf (PLAN, 40, 1024, "a100-sxm4-80gb", 2);
  double measured;
  QmGrowth growth;

  for (int i = 0; i < 3; i++)
    {
      /* the third is of another length, and says nothing */
      g_autofree char *plan = g_strdup_printf (PLAN, 10 + 10 * i, i < 2 ? 1024 : 2048, "a100-sxm4-80gb", 2);

      add_memory (self, i, plan, 5e9 + 2e9 * i + (i == 2 ? 7e9 : 0));
      size (self, wanted, &measured, &growth);
      g_assert_cmpuint (growth.runs, ==, i > 0 ? 2 : 0);
    }
  g_assert_cmpfloat_with_epsilon (growth.per_ten_layers, 2e9, 1);
  g_assert_cmpfloat_with_epsilon (growth.bytes, 11e9, 1);
  g_assert_cmpfloat (measured, ==, 0);
}

#define ADAPTED "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"}," \
                "\"training\":{\"method\":\"lora\",\"attention\":\"%s\",\"lora_dropout\":%s}," \
                "\"configuration\":{\"device\":\"a100-sxm4-80gb\",\"micro_batch\":1}}"

/* What kept more, or less, was not this very plan. */
static void
test_another_recipe (Fixture       *self,
                     gconstpointer  data)
{
  static const char * const wanted[][2] = { { "flash", "0.05" }, { "eager", "0.05" }, { "flash", "0" } };
  g_autofree char *run = g_strdup_printf (ADAPTED, wanted[0][0], wanted[0][1]);

  add_memory (self, 0, run, 21e9);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      g_autofree char *plan = g_strdup_printf (ADAPTED, wanted[i][0], wanted[i][1]);
      double measured;
      QmGrowth growth;

      size (self, plan, &measured, &growth);
      g_assert_cmpfloat (measured, ==, i == 0 ? 21e9 : 0);
    }
}

#define PICTURES "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"image-classification\",\"activity\":\"train\",\"model\":{\"id\":\"%s\"}," \
                 "\"configuration\":{\"device\":\"a100-sxm4-80gb\",\"micro_batch\":32}}"

/* The networks that the requirement speaks of: the same blocks, another number of them. */
static void
test_growth_of_pictures (Fixture       *self,
                         gconstpointer  data)
{
  static const char * const ids[] = { "resnet-34", "resnet-50", "resnet-101", "resnet50d" };
  g_autofree char *wanted = g_strdup_printf (PICTURES, "resnet-152");
  double measured;
  QmGrowth growth;

  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_autofree char *plan = g_strdup_printf (PICTURES, ids[i]);

      add_memory (self, i, plan, i == 1 ? 6e9 : i == 2 ? 9e9 : 2e9);
    }
  size (self, wanted, &measured, &growth);
  /* the blocks of 34 layers are others, and so are those of "50d" */
  g_assert_cmpuint (growth.runs, ==, 2);
  g_assert_cmpfloat_with_epsilon (growth.bytes, 12e9, 1);
  g_assert_cmpfloat (measured, ==, 0);
}

/* Of a plan that was run the latest run counts; of one that was not, none. */
static void
test_size (Fixture       *self,
           gconstpointer  data)
{
  g_autofree char *plan = g_strdup_printf (PLAN, 20, 1024, "a100-sxm4-80gb", 2);
  g_autofree char *other = g_strdup_printf (PLAN, 20, 1024, "a100-sxm4-80gb", 4);
  double measured;
  QmGrowth growth;

  for (int i = 0; i < 2; i++)
    add_memory (self, i, plan, 5e9 + 1e9 * i);
  size (self, plan, &measured, &growth);
  g_assert_cmpfloat (measured, ==, 6e9);
  g_assert_cmpuint (growth.runs, ==, 0);
  size (self, other, &measured, &growth);
  g_assert_cmpfloat (measured, ==, 0);
}

/* Two runs of different kinds teach more than one of them. */
static void
test_suggest (void)
{
  g_autofree char *plan = g_strdup_printf (PLAN, 8, 2048, "a100-sxm4-80gb", 2);
  g_autoptr (QmResolved) resolved = resolve (plan);
  g_autoptr (GArray) runs = qm_experience_suggest (estimator, resolved);
  const QmTeachingRun *first = &g_array_index (runs, QmTeachingRun, 0), *second = &g_array_index (runs, QmTeachingRun, 1);

  g_assert_cmpuint (runs->len, ==, 2);
  g_assert_cmpfloat (second->deviation, <, first->deviation);
  g_assert_true (first->sequence_length != second->sequence_length || first->micro_batch != second->micro_batch);
}

/* What was learnt is told. */
static void
test_explain (Fixture       *self,
              gconstpointer  data)
{
  g_autofree char *plan = g_strdup_printf (PLAN, 8, 2048, "a100-sxm4-80gb", 2);
  const Person person = { 1.4, 1.4, 1.4 };
  g_autoptr (QmResolved) resolved = resolve (plan);
  g_autoptr (QmExperience) experience = NULL;
  g_autoptr (QmEstimator) calibrated = NULL;
  g_autoptr (QmMessage) message = NULL;
  QmEstimate estimate;

  add_run (self, "a", &person, plan);
  experience = qm_experience_new (self->ledger, estimator, 0, NULL);
  calibrated = qm_estimator_calibrate (estimator, experience->calibration);
  estimate = estimate_with (calibrated, plan);
  g_assert_cmpfloat (fabs (log (estimate.throughput.per_second.p50 / true_rate (&person, plan))), <, 0.1);
  message = qm_experience_explain (calibrated, resolved, &estimate);
  g_assert_cmpstr (qm_message_get_code (message), ==, "calibrated");
  g_assert_null (qm_experience_explain (estimator, resolved, &estimate));
}

#define ADD(name, function) g_test_add ("/core/decide/experience/" name, Fixture, NULL, set_up, function, tear_down)

#define LAPTOP "rtx-4060-laptop"

/* The rate of @plan after a run at 55 W, of which the record has the limit or not. */
static double
after_limited_run (const char *plan,
                   double      measured,
                   double      recorded_watts)
{
  Fixture fixture = { 0 };
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmExperience) experience = NULL;
  g_autoptr (QmEstimator) calibrated = NULL;
  double after;

  set_up (&fixture, NULL);
  run->status = QM_RUN_STATUS_FINISHED;
  run->source = QM_RUN_SOURCE_RECORDED;
  run->plan = g_strdup (plan);
  qm_run_set_measured (run, "throughput.per_second", measured);
  qm_run_set_measured (run, "run.power_limit_watts", recorded_watts);
  g_assert_true (qm_ledger_add (fixture.ledger, run, NULL, NULL));
  experience = qm_experience_new (fixture.ledger, estimator, 0, NULL);
  g_assert_cmpuint (experience->runs, ==, 1);
  calibrated = qm_estimator_calibrate (estimator, experience->calibration);
  after = estimate_with (calibrated, plan).throughput.per_second.p50;
  tear_down (&fixture, NULL);

  return after;
}

static char *
laptop_plan (int devices)
{
  g_autoptr (GString) plan = g_string_new (NULL);
  g_autofree char *configuration = g_strdup_printf ("\"configuration\":{\"devices\":%d,", devices);

  g_string_printf (plan, PLAN, 8, 1024, LAPTOP, 4);
  g_assert_cmpuint (g_string_replace (plan, "\"configuration\":{", configuration, 1), ==, 1);

  return g_string_free (g_steal_pointer (&plan), FALSE);
}

/* What a power limit took is not learnt a second time, as a fault of the theory. */
static void
test_power_limit (void)
{
  for (int devices = 1; devices <= 2; devices++)
    {
      g_autofree char *plan = laptop_plan (devices);
      g_autoptr (QmResolved) resolved = resolve (plan);
      const QmDevice *device = qm_catalog_find_device (qm_estimator_get_catalog (estimator), LAPTOP);
      QmHere here = { .devices = { device, device }, .power_watts = { 55, 55 }, .n_devices = devices };
      double before = estimate_with (estimator, plan).throughput.per_second.p50, limited;
      QmChoice choice;

      g_assert_true (qm_estimate_pinned (estimator, resolved, &here, &choice, NULL));
      limited = choice.estimate.throughput.per_second.p50;
      g_assert_cmpstr (choice.estimate.device->id, ==, LAPTOP);
      qm_choice_clear (&choice);
      g_assert_cmpfloat (limited, <, 0.9 * before);
      g_assert_cmpfloat_with_epsilon (after_limited_run (plan, limited, 55), before, 0.01 * before);
      g_assert_cmpfloat (after_limited_run (plan, limited, NAN), <, 0.95 * before);
    }
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *folder = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (QmCatalog) catalog = qm_catalog_load (folder, NULL, NULL);
  int result;

  g_test_init (&argc, &argv, NULL);
  estimator = qm_estimator_new (catalog, NULL);
  g_assert_nonnull (estimator);

  ADD ("two-runs", test_two_runs);
  ADD ("nonsense", test_nonsense);
  ADD ("above-roofline", test_above_roofline);
  ADD ("left-out", test_left_out);
  ADD ("growth", test_growth);
  ADD ("growth-of-pictures", test_growth_of_pictures);
  ADD ("another-recipe", test_another_recipe);
  ADD ("size", test_size);
  ADD ("explain", test_explain);
  g_test_add_func ("/core/decide/experience/contended", test_contended);
  g_test_add_func ("/core/decide/experience/suggest", test_suggest);
  g_test_add_func ("/core/decide/experience/power-limit", test_power_limit);

  result = g_test_run ();
  g_object_unref (estimator);

  return result;
}
