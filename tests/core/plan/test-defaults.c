/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-defaults.h"
#include "plan/qm-flow.h"
#include "plan/qm-plan-fields.h"
#include "qm-enum.h"

static QmCatalog *
load_catalog (void)
{
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (GError) error = NULL;
  QmCatalog *self = qm_catalog_load (directory, NULL, &error);

  g_assert_no_error (error);
  return self;
}

static QmResolved *
resolve (QmCatalog   *catalog,
         const char  *task,
         const char  *activity,
         const char  *more,
         GError     **error)
{
  g_autofree char *text = g_strdup_printf ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"%s\",\"activity\":\"%s\"%s}", task,
                                           activity, more);
  g_autoptr (GError) local_error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (text, -1, NULL, &local_error);

  g_assert_no_error (local_error);
  return qm_resolve (plan, catalog, NULL, NULL, error);
}

static QmResolved *
resolve_well (QmCatalog  *catalog,
              const char *task,
              const char *activity,
              const char *more)
{
  g_autoptr (GError) error = NULL;
  QmResolved *resolved = resolve (catalog, task, activity, more, &error);

  g_assert_no_error (error);
  return resolved;
}

/* What a person who has only said task and activity must get: a job of a known
 * size on a known model. */
static void
assert_useful (const QmResolved *resolved)
{
  const QmPlan *plan = resolved->plan;

  g_assert_true (resolved->model->parameters > 0 || plan->task == QM_TASK_TABULAR);
  g_assert_cmpint (plan->stage, !=, QM_STAGE_UNSET);
  g_assert_cmpfloat (plan->limits.headroom, ==, 0.2);
  g_assert_cmpstr (plan->limits.currency, ==, "USD");
  if (plan->activity == QM_ACTIVITY_SERVE)
    {
      g_assert_cmpfloat (plan->serving.requests_per_second, >, 0);
      g_assert_cmpfloat (plan->serving.peak_factor, ==, 3);
      g_assert_cmpfloat (plan->serving.latency_p99_seconds, >, 0);
    }
  else
    {
      g_assert_cmpfloat (qm_plan_total_samples (plan), >, 0);
    }
  if (plan->task == QM_TASK_LANGUAGE_MODEL && qm_plan_is_training (plan))
    g_assert_cmpfloat (qm_plan_total_tokens (plan), >, 0);
}

/* Absence of these tells the predictors something. */
static void
assert_left_open (const QmPlan *plan)
{
  static const char * const fields[] = {
    "training.framework", "training.precision", "training.activation_checkpointing", "training.memory_format", "training.base_weights",
    "training.compiled", "serving.engine", "serving.weights", "serving.kv_cache", "configuration.micro_batch",
    "configuration.gradient_accumulation", "configuration.data_parallel", "configuration.tensor_parallel", "configuration.sharding",
  };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      g_autofree char *value = qm_plan_get_field (plan, fields[i]);

      g_assert_null (value);
    }
}

/* Each default is listed once, is in the plan, was not given, and has a reason. */
static void
assert_listed (const QmResolved *resolved)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint n, differ = 0;
  const QmField *fields = qm_plan_fields (&n);

  for (guint i = 0; i < resolved->assumed->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (resolved->assumed, i);
      g_autofree char *given = qm_plan_get_field (resolved->given, assumption->field);
      g_autofree char *value = qm_plan_get_field (resolved->plan, assumption->field);
      g_autofree char *why = qm_message_get_text (assumption->why, qm_words_english ());

      g_assert_true (g_hash_table_add (seen, assumption->field));
      g_assert_null (given);
      g_assert_cmpstr (value, ==, assumption->value);
      g_assert_cmpuint (strlen (why), >, 10);
    }
  for (guint i = 0; i < n; i++)
    differ += !qm_plan_field_equal (&fields[i], resolved->given, resolved->plan);
  g_assert_cmpuint (differ, ==, resolved->assumed->len);
}

static void
test_every_task_and_activity (void)
{
  g_autoptr (QmCatalog) catalog = load_catalog ();

  for (int task = QM_TASK_LANGUAGE_MODEL; task <= QM_TASK_OTHER; task++)
    for (int activity = QM_ACTIVITY_TRAIN; activity <= QM_ACTIVITY_BATCH_INFERENCE; activity++)
      {
        g_autoptr (QmPlan) plan = qm_plan_new ();
        g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
        g_autoptr (GError) error = NULL;
        g_autoptr (QmResolved) resolved = NULL;

        plan->task = task;
        plan->activity = activity;
        resolved = qm_resolve (plan, catalog, NULL, warnings, &error);
        g_test_message ("task %d, activity %d", task, activity);
        g_assert_no_error (error);
        g_assert_cmpuint (warnings->len, ==, 0);
        assert_useful (resolved);
        assert_left_open (resolved->plan);
        assert_listed (resolved);
      }
}

static void
test_fine_tuning (void)
{
  g_autoptr (QmCatalog) catalog = load_catalog ();
  g_autoptr (QmResolved) resolved = resolve_well (catalog, "language-model", "fine-tune", "");

  g_assert_cmpstr (resolved->plan->model.id, ==, "llama-3.1-8b");
  g_assert_cmpint (resolved->plan->training.method, ==, QM_METHOD_LORA);
  g_assert_cmpfloat (qm_plan_total_tokens (resolved->plan), ==, 10000 * 512 * 3);
}

/* Hoffmann et al. 2022: twenty tokens a parameter. */
static void
test_pre_training (void)
{
  g_autoptr (QmCatalog) catalog = load_catalog ();
  g_autoptr (QmResolved) resolved = resolve_well (catalog, "language-model", "train", ",\"model\":{\"parameters\":1000000000}");
  g_autoptr (QmResolved) small = resolve_well (catalog, "language-model", "train", ",\"model\":{\"id\":\"gpt2\"}");

  g_assert_cmpfloat (qm_plan_total_tokens (resolved->plan), ==, 20e9);
  /* GPT-2 has 1024 positions. */
  g_assert_cmpfloat (small->plan->training.sequence_length, ==, 1024);
}

/* "A missing epochs is 1", where the data are given. */
static void
test_given_data (void)
{
  g_autoptr (QmCatalog) catalog = load_catalog ();
  g_autoptr (QmResolved) samples = resolve_well (catalog, "language-model", "fine-tune", ",\"training\":{\"samples\":500}");
  g_autoptr (QmResolved) tokens = resolve_well (catalog, "language-model", "fine-tune", ",\"training\":{\"tokens\":51200}");

  g_assert_cmpfloat (qm_plan_total_samples (samples->plan), ==, 500);
  g_assert_cmpfloat (tokens->plan->training.samples, ==, 0);
  g_assert_cmpfloat (qm_plan_total_tokens (tokens->plan), ==, 51200);
  g_assert_cmpfloat (qm_plan_total_samples (tokens->plan), ==, 100);
}

static void
test_sizes_of_the_model (void)
{
  g_autoptr (QmCatalog) catalog = load_catalog ();
  g_autoptr (QmResolved) large = resolve_well (catalog, "image-classification", "fine-tune", ",\"model\":{\"id\":\"vit-base-patch16-384\"}");
  g_autoptr (QmResolved) usual = resolve_well (catalog, "image-classification", "serve", "");
  g_autoptr (QmResolved) pictures = resolve_well (catalog, "image-generation", "serve", ",\"model\":{\"id\":\"sdxl\"}");

  g_assert_cmpfloat (large->plan->training.image_size, ==, 384);
  g_assert_cmpfloat (usual->plan->serving.image_size, ==, 224);
  g_assert_cmpfloat (pictures->plan->serving.image_size, ==, 1024);
}

static void
test_stage (void)
{
  g_autoptr (QmCatalog) catalog = load_catalog ();
  g_autoptr (QmResolved) prototype = resolve_well (catalog, "language-model", "serve", ",\"stage\":\"prototype\"");
  g_autoptr (QmResolved) production = resolve_well (catalog, "language-model", "serve", ",\"stage\":\"production\"");

  g_assert_cmpfloat (prototype->plan->serving.requests_per_second, <, production->plan->serving.requests_per_second);
  g_assert_cmpint (prototype->plan->places.spot, ==, QM_SPOT_ALLOWED);
  g_assert_cmpint (production->plan->places.spot, ==, QM_SPOT_NEVER);
}

/* A plan that tells how a run is made keeps what it says of how: only amounts
 * and terms are filled in. */
static void
test_described_run (void)
{
  static const char * const sections[] = { "model.", "training.", "serving.", "tabular.", "data.", "configuration." };
  static const char * const amounts[] = { "training.samples", "training.tokens", "training.epochs", "training.sequence_length",
                                         "serving.samples" };
  g_autoptr (QmCatalog) catalog = load_catalog ();
  g_autoptr (QmResolved) resolved = resolve_well (catalog, "language-model", "train",
                                                  ",\"model\":{\"parameters\":7000000000},\"training\":{\"precision\":\"bf16\"},"
                                                  "\"configuration\":{\"device\":\"a100-sxm4-80gb\",\"devices\":8}");
  g_autoptr (QmResolved) open = resolve_well (catalog, "language-model", "train", ",\"configuration\":{\"device\":\"a100-sxm4-80gb\"}");

  for (guint i = 0; i < resolved->assumed->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (resolved->assumed, i);
      gboolean amount = FALSE;

      for (guint j = 0; j < G_N_ELEMENTS (amounts); j++)
        amount |= g_str_equal (assumption->field, amounts[j]);
      for (guint j = 0; j < G_N_ELEMENTS (sections) && !amount; j++)
        g_assert_false (g_str_has_prefix (assumption->field, sections[j]));
    }
  assert_listed (resolved);
  g_assert_cmpfloat (resolved->plan->training.global_batch, ==, 0);
  g_assert_cmpfloat (open->plan->training.global_batch, >, 0);
}

/* The batch follows from the micro-batch where that is given. */
static void
test_given_batch (void)
{
  g_autoptr (QmCatalog) catalog = load_catalog ();
  g_autoptr (QmResolved) resolved = resolve_well (catalog, "language-model", "fine-tune", ",\"configuration\":{\"micro_batch\":2}");

  g_assert_cmpfloat (resolved->plan->training.global_batch, ==, 0);
  g_assert_cmpfloat (resolved->plan->training.sequence_length, ==, 512);
}

/* Who answers questions gets the usual passes over the data; who says how many keeps them. */
static void
test_answered_data (void)
{
  static const struct { const char *task, *activity; double epochs; } usual[] = {
    { "image-classification", "train", 90 }, { "image-classification", "fine-tune", 10 },
    { "language-model", "fine-tune", 3 }, { "recommender", "train", 1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (usual); i++)
    {
      g_autoptr (QmPlan) plan = qm_plan_new ();

      g_assert_true (qm_plan_set_field (plan, "task", usual[i].task, NULL));
      g_assert_true (qm_plan_set_field (plan, "activity", usual[i].activity, NULL));
      qm_answers_complete (plan, "training.samples");
      g_assert_false (plan->training.epochs > 0);
      g_assert_true (qm_plan_set_field (plan, "training.samples", "25000", NULL));
      qm_answers_complete (plan, "training.samples");
      g_assert_cmpfloat (plan->training.epochs, ==, usual[i].epochs);

      g_assert_true (qm_plan_set_field (plan, "training.epochs", "7", NULL));
      qm_answers_complete (plan, "training.samples");
      g_assert_cmpfloat (plan->training.epochs, ==, 7);
    }
}

static void
assert_refused (const char *more,
                const char *message)
{
  g_autoptr (QmCatalog) catalog = load_catalog ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmResolved) resolved = resolve (catalog, "language-model", "fine-tune", more, &error);

  g_assert_null (resolved);
  g_assert_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE);
  g_assert_true (g_str_has_prefix (error->message, message));
}

static void
test_unknown_places (void)
{
  assert_refused (",\"configuration\":{\"device\":\"a100-sxm-80gb\"}",
                  "configuration.device: no device \"a100-sxm-80gb\" is in the catalog; the nearest is \"a100-sxm4-80gb\"");
  assert_refused (",\"places\":{\"owned\":[{\"device\":\"l4\"},{\"device\":\"rtx-309\"}]}",
                  "places.owned[1].device: no device \"rtx-309\" is in the catalog; the nearest is \"rtx-3090\"");
  assert_refused (",\"configuration\":{\"device\":\"cpu\"}",
                  "configuration.device: no device \"cpu\" is in the catalog; name one of those that \"quartermaster-cli catalog list\" shows");
  assert_refused (",\"places\":{\"cloud\":[\"aws\",\"gpc\"]}", "places.cloud: \"gpc\" is not known; use any of ");
  assert_refused (",\"places\":{\"regions\":[\"mars\"]}", "places.regions: no offer in \"mars\" is in the catalog; ");
  assert_refused (",\"configuration\":{\"offer\":\"aws/nothing/nowhere\"}",
                  "configuration.offer: no offer \"aws/nothing/nowhere\" is in the catalog; the nearest is ");
}

static void
test_copy (void)
{
  g_autoptr (QmCatalog) catalog = load_catalog ();
  g_autoptr (QmResolved) resolved = resolve_well (catalog, "speech", "serve", "");
  g_autoptr (QmResolved) copy = qm_resolved_copy (resolved);

  g_assert_true (qm_plan_equal (resolved->plan, copy->plan));
  g_assert_true (qm_plan_equal (resolved->given, copy->given));
  g_assert_cmpuint (resolved->assumed->len, ==, copy->assumed->len);
  assert_listed (copy);
}

/* Heads, layers and experts go to one device each, and no sample is in two batches. */
static void
test_impossible_splits (void)
{
  static const struct { const char *more; const char *path; } plans[] = {
    { "\"configuration\":{\"device\":\"h100-sxm5-80gb\",\"devices\":64,\"tensor_parallel\":64}", "configuration.tensor_parallel" },
    { "\"configuration\":{\"device\":\"h100-sxm5-80gb\",\"devices\":40,\"pipeline_parallel\":40}", "configuration.pipeline_parallel" },
    { "\"configuration\":{\"device\":\"h100-sxm5-80gb\",\"micro_batch\":8},\"training\":{\"global_batch\":4}", "configuration.micro_batch" },
    { "\"configuration\":{\"device\":\"h100-sxm5-80gb\",\"devices\":32,\"tensor_parallel\":32}", NULL },
  };
  g_autoptr (QmCatalog) catalog = load_catalog ();

  for (gsize i = 0; i < G_N_ELEMENTS (plans); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\","
                                               "\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"},%s}", plans[i].more);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmPlan) plan = qm_plan_from_data (text, -1, NULL, &error);
      g_autoptr (QmResolved) resolved = plan != NULL ? qm_resolve (plan, catalog, NULL, NULL, &error) : NULL;

      if (plans[i].path == NULL)
        {
          g_assert_no_error (error);
          continue;
        }
      g_assert_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_CONFLICT);
      g_assert_nonnull (strstr (error->message, plans[i].path));
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/defaults/every-task-and-activity", test_every_task_and_activity);
  g_test_add_func ("/defaults/fine-tuning", test_fine_tuning);
  g_test_add_func ("/defaults/pre-training", test_pre_training);
  g_test_add_func ("/defaults/given-data", test_given_data);
  g_test_add_func ("/defaults/answered-data", test_answered_data);
  g_test_add_func ("/defaults/sizes-of-the-model", test_sizes_of_the_model);
  g_test_add_func ("/defaults/stage", test_stage);
  g_test_add_func ("/defaults/described-run", test_described_run);
  g_test_add_func ("/defaults/given-batch", test_given_batch);
  g_test_add_func ("/defaults/unknown-places", test_unknown_places);
  g_test_add_func ("/defaults/impossible-splits", test_impossible_splits);
  g_test_add_func ("/defaults/copy", test_copy);

  return g_test_run ();
}
