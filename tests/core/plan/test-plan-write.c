/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-flow.h"
#include "plan/qm-plan-fields.h"
#include "qm-enum.h"
#include "qm-json-writer.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static QmPlan *
empty (void)
{
  QmPlan *plan = qm_plan_new ();

  plan->task = QM_TASK_LANGUAGE_MODEL;
  plan->activity = QM_ACTIVITY_TRAIN;
  return plan;
}

/* Words of the open vocabularies. */
static const char *
known_word (const char *path)
{
  if (g_str_equal (path, "training.attention_kernel"))
    return "flash-3";
  if (g_str_equal (path, "training.techniques"))
    return "activation-offload";
  if (g_str_equal (path, "configuration.interconnect"))
    return "nvlink,infiniband-400";

  return "vllm";
}

/* An answer that the field can have, as text of the plan file. */
static char *
some_answer (const QmField *field)
{
  g_autofree char *words = NULL;
  g_auto (GStrv) parts = NULL;

  switch (field->kind)
    {
    case QM_FIELD_TEXT:
      return g_strdup (g_str_equal (field->path, "limits.currency") ? "EUR" : "Ein „Text“ mit \"Zeichen\"");
    case QM_FIELD_ENUM:
      words = qm_enum_words (field->enum_type ());
      parts = g_strsplit (words, ", ", -1);
      return g_strdup (parts[g_strv_length (parts) - 1]);
    case QM_FIELD_WORD:
    case QM_FIELD_WORDS:
      if (field->words == NULL)
        return g_strdup (known_word (field->path));
      if (g_str_has_suffix (field->path, "_as_of"))
        return g_strdup ("2026-11-01");
      parts = g_strsplit (field->words, ", ", -1);
      return g_strdup (parts[0]);
    case QM_FIELD_TERNARY:
      return g_strdup ("false");
    case QM_FIELD_OBJECT:
      return g_strdup ("{\"model_type\":\"llama\"}");
    case QM_FIELD_NUMBER:
      return g_strdup_printf ("%g", field->minimum + (field->maximum - field->minimum) / 7);
    case QM_FIELD_COUNT:
    case QM_FIELD_INTEGER:
    default:
      return g_strdup_printf ("%.0f", floor (field->minimum + (field->maximum - field->minimum) / 7));
    }
}

static void
assert_round_trip (const QmPlan *plan)
{
  g_autofree char *text = qm_plan_to_data (plan, NULL);
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) back = qm_plan_from_data (text, -1, warnings, &error);
  g_autofree char *again = NULL;

  g_assert_no_error (error);
  g_assert_true (qm_plan_equal (plan, back));
  g_assert_cmpuint (warnings->len, ==, 0);
  again = qm_plan_to_data (back, NULL);
  g_assert_cmpstr (text, ==, again);
}

/* A date without its rate, or a price without its device, is warned of. */
static void
add_what_it_is_of (QmPlan     *plan,
                   const char *path)
{
  static const struct { const char *path, *of, *value; } pairs[] = {
    { "costs.currency_as_of", "costs.currency_per_usd", "0.9" },
    { "costs.device_price", "configuration.device", "l40s" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (g_str_equal (path, pairs[i].path))
      g_assert_true (qm_plan_set_field (plan, pairs[i].of, pairs[i].value, NULL));
}

static void
test_every_field (void)
{
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmPlan) plan = empty ();
      g_autoptr (QmPlan) without = empty ();
      g_autoptr (QmPlan) copy = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *answer = some_answer (&fields[i]);
      g_autofree char *got = NULL;

      add_what_it_is_of (plan, fields[i].path);
      add_what_it_is_of (without, fields[i].path);
      qm_plan_field_unset (&fields[i], without);
      g_assert_true (qm_plan_set_field (plan, fields[i].path, answer, &error));
      g_assert_no_error (error);
      g_assert_true (qm_plan_field_is_set (&fields[i], plan));
      g_assert_false (qm_plan_equal (plan, without));

      got = qm_plan_get_field (plan, fields[i].path);
      g_assert_nonnull (got);
      copy = qm_plan_copy (plan);
      g_assert_true (qm_plan_equal (plan, copy));
      if (fields[i].kind != QM_FIELD_ENUM || strchr (fields[i].path, '.') != NULL)
        assert_round_trip (plan);

      g_assert_true (qm_plan_set_field (plan, fields[i].path, NULL, NULL));
      g_assert_true (qm_plan_equal (plan, without));
    }
}

static void
test_all_together (void)
{
  g_autoptr (QmPlan) plan = empty ();
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *answer = some_answer (&fields[i]);

      if (!g_str_has_prefix (fields[i].path, "configuration.") && !g_str_equal (fields[i].path, "costs.device_price"))
        g_assert_true (qm_plan_set_field (plan, fields[i].path, answer, NULL));
    }
  plan->places.n_owned = 2;
  plan->places.owned[0] = (QmOwned) { "rtx-3090", 2, 1 };
  plan->places.owned[1] = (QmOwned) { "l4", 8, 4 };
  plan->n_results = 2;
  plan->results[0] = (QmResult) { 1000, 0.8 };
  plan->results[1] = (QmResult) { 2500.5, 0.8125 };
  plan->n_quotes = 2;
  plan->quotes[0] = (QmQuote) { "l4", 8, 4, 72, 580, 0.821 };
  plan->quotes[1] = (QmQuote) { "rtx-3090", 1, 1, 0.5, 0.25, NAN };
  assert_round_trip (plan);
}

static void
test_text (void)
{
  g_autoptr (QmPlan) plan = empty ();
  g_autofree char *text = NULL;

  g_set_str (&plan->title, "Chat");
  plan->limits.headroom = 0.2;
  plan->training.samples = 1e15;
  plan->places.cloud.n = 0;
  text = qm_plan_to_data (plan, NULL);
  g_assert_cmpstr (text, ==,
                   "{\n"
                   "  \"format\": \"quartermaster-plan\",\n"
                   "  \"version\": 1,\n"
                   "  \"title\": \"Chat\",\n"
                   "  \"task\": \"language-model\",\n"
                   "  \"activity\": \"train\",\n"
                   "  \"training\": {\n"
                   "    \"samples\": 1000000000000000\n"
                   "  },\n"
                   "  \"limits\": {\n"
                   "    \"headroom\": 0.2\n"
                   "  },\n"
                   "  \"places\": {\n"
                   "    \"cloud\": []\n"
                   "  }\n"
                   "}\n");
}

static void
test_numbers (void)
{
  static const double values[] = { 0.1, 1.0 / 3, 1e300, 5e-324, 123456.789, 2.5 };
  static const char * const texts[] = { "0.1", "0.3333333333333333", "1e+300", "4.94065645841247e-324", "123456.789", "2.5" };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autoptr (JsonNode) node = json_node_init_double (json_node_alloc (), values[i]);
      g_autofree char *text = qm_json_to_text (node, FALSE);

      g_assert_cmpstr (text, ==, texts[i]);
      g_assert_cmpfloat (g_ascii_strtod (text, NULL), ==, values[i]);
    }
}

static void
test_set_field_keeps_what_was (void)
{
  g_autoptr (QmPlan) plan = empty ();
  g_autoptr (GError) error = NULL;
  g_autofree char *kept = NULL;

  g_assert_true (qm_plan_set_field (plan, "training.epochs", "3", NULL));
  g_assert_false (qm_plan_set_field (plan, "training.epochs", "-1", &error));
  g_assert_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE);
  g_clear_error (&error);
  g_assert_false (qm_plan_set_field (plan, "training.epochs", "three", &error));
  g_assert_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE);
  g_clear_error (&error);
  g_assert_false (qm_plan_set_field (plan, "training.epoch", "3", &error));
  g_assert_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE);
  kept = qm_plan_get_field (plan, "training.epochs");
  g_assert_cmpstr (kept, ==, "3");
}

static void
test_save (void)
{
  g_autofree char *directory = g_dir_make_tmp (NULL, NULL);
  g_autofree char *path = g_build_filename (directory, "a.qmplan", NULL);
  g_autofree char *nowhere = g_build_filename (directory, "no", "b.qmplan", NULL);
  g_autoptr (QmPlan) plan = empty ();
  g_autoptr (QmPlan) back = NULL;
  g_autoptr (GError) error = NULL;

  plan->training.epochs = 2.5;
  g_assert_true (qm_plan_save (plan, path, &error));
  back = qm_plan_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (qm_plan_equal (plan, back));

  g_assert_false (qm_plan_save (plan, nowhere, &error));
  g_assert_nonnull (error);
  g_remove (path);
  g_assert_cmpint (g_rmdir (directory), ==, 0);
}

static void
test_configuration (void)
{
  g_autoptr (QmPlan) plan = empty ();
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object;

  plan->configuration.devices = 8;
  plan->configuration.sharding = QM_SHARDING_ZERO3;
  qm_word_set (plan->configuration.device, "l4");
  node = qm_configuration_to_json (&plan->configuration);
  object = json_node_get_object (node);
  g_assert_cmpint (json_object_get_int_member (object, "devices"), ==, 8);
  g_assert_cmpstr (json_object_get_string_member (object, "sharding"), ==, "zero3");
  g_assert_cmpstr (json_object_get_string_member (object, "device"), ==, "l4");
  g_assert_true (json_object_get_null_member (object, "gpu_layers"));
  g_assert_true (json_object_get_null_member (object, "offer"));
}

static void
test_totals (void)
{
  g_autoptr (QmPlan) plan = empty ();

  g_assert_cmpfloat (qm_plan_total_samples (plan), ==, 0);
  g_assert_cmpfloat (qm_plan_total_tokens (plan), ==, 0);
  plan->training.samples = 1000;
  plan->training.sequence_length = 512;
  g_assert_cmpfloat (qm_plan_total_samples (plan), ==, 1000);
  g_assert_cmpfloat (qm_plan_total_tokens (plan), ==, 512000);
  plan->training.epochs = 3;
  plan->training.tokens = 1e5;
  g_assert_cmpfloat (qm_plan_total_samples (plan), ==, 3000);
  g_assert_cmpfloat (qm_plan_total_tokens (plan), ==, 3e5);
  plan->training.samples = 0;
  g_assert_cmpfloat (qm_plan_total_samples (plan), ==, 3e5 / 512);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/plan/write/every-field", test_every_field);
  g_test_add_func ("/plan/write/all-together", test_all_together);
  g_test_add_func ("/plan/write/text", test_text);
  g_test_add_func ("/plan/write/numbers", test_numbers);
  g_test_add_func ("/plan/write/set-field", test_set_field_keeps_what_was);
  g_test_add_func ("/plan/write/save", test_save);
  g_test_add_func ("/plan/write/configuration", test_configuration);
  g_test_add_func ("/plan/write/totals", test_totals);

  return g_test_run ();
}
