/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gio/gio.h>

#include "llm-inference-fixture.h"

/* For figures that are printed with nine digits. */
#define TOLERANCE 1e-6

static const char *const states[] = {
  [QM_STATE_CELL] = "cell", [QM_STATE_THIN] = "thin", [QM_STATE_ENGINE] = "engine", [QM_STATE_NEW] = "new",
};
static const char *const bounds[] = {
  [QM_BOUND_COMPUTE] = "compute", [QM_BOUND_MEMORY] = "memory", [QM_BOUND_COMMUNICATION] = "communication",
  [QM_BOUND_OVERHEAD] = "overhead",
};

static int
check (const char *id,
       const char *what,
       double      found,
       double      expected,
       double      scale)
{
  if (fabs (found - expected) <= TOLERANCE * scale)
    return 0;

  g_test_message ("%s: %s is %.9g, expected %.9g", id, what, found, expected);
  return 1;
}

static int
check_range (const char *id,
             JsonObject *expected,
             const char *what,
             QmRange     found)
{
  JsonObject *range = json_object_get_object_member (expected, what);
  double p10 = json_object_get_double_member (range, "p10");
  double p50 = json_object_get_double_member (range, "p50");
  double p90 = json_object_get_double_member (range, "p90");

  return check (id, what, found.p10, p10, p10) + check (id, what, found.p50, p50, p50) + check (id, what, found.p90, p90, p90);
}

static int
check_word (const char *id,
            const char *what,
            const char *found,
            const char *expected)
{
  if (g_str_equal (found, expected))
    return 0;

  g_test_message ("%s: %s is %s, expected %s", id, what, found, expected);
  return 1;
}

static int
check_memory (const char     *id,
              JsonObject     *expected,
              const QmMemory *memory)
{
  JsonArray *parts = json_object_get_array_member (expected, "parts");
  JsonObject *state = json_object_get_object_member (expected, "state");
  int wrong = 0;

  g_assert_cmpuint (json_array_get_length (parts), ==, QM_MEMORY_N_PARTS);
  for (guint i = 0; i < QM_MEMORY_N_PARTS; i++)
    wrong += check (id, "part", memory->parts[i], json_array_get_double_element (parts, i), memory->need.p50);

  return wrong + check_range (id, expected, "device", memory->device) + check_range (id, expected, "need", memory->need) +
         check_range (id, expected, "allocated", memory->allocated) +
         check_range (id, expected, "reserved", memory->reserved) +
         check_word (id, "state", states[memory->state], json_object_get_string_member (state, "memory"));
}

static int
check_rates (const char       *id,
             JsonObject       *expected,
             const QmEstimate *estimate)
{
  const QmServingFigures *serving = &estimate->serving;
  JsonObject *state = json_object_get_object_member (expected, "state");
  double per_token = json_object_get_double_member (expected, "kv_cache_bytes_per_token");
  double at_once = json_object_get_double_member (expected, "max_concurrency") * estimate->configuration.data_parallel;

  return check_range (id, expected, "per_second", estimate->throughput.per_second) +
         check_range (id, expected, "decode", serving->decode_tokens_per_second) +
         check_range (id, expected, "token", serving->token_seconds) +
         check_range (id, expected, "prefill", serving->prefill_tokens_per_second) +
         check_range (id, expected, "first_token", serving->first_token_seconds) +
         check (id, "max_concurrency", serving->max_concurrency, at_once, at_once) +
         check (id, "kv_cache_bytes_per_token", estimate->kv_cache_bytes_per_token, per_token, per_token) +
         check_word (id, "bound_by", bounds[estimate->throughput.bound_by], json_object_get_string_member (expected, "bound_by")) +
         check_word (id, "state", states[estimate->throughput.state], json_object_get_string_member (state, "serving")) +
         check_word (id, "state", states[serving->state], json_object_get_string_member (state, "decode"));
}

static int
check_case (Fixture    *fixture,
            JsonObject *object)
{
  const char *id = json_object_get_string_member (object, "id");
  JsonObject *expected = json_object_get_object_member (object, "expected");
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmModel) model = NULL;
  QmEstimate estimate;

  read_plan (json_object_get_object_member (object, "plan"), &plan, &model);
  predict (fixture, plan, model, &estimate);

  return check_memory (id, expected, &estimate.memory) + check_rates (id, expected, &estimate);
}

static void
check_cases (Fixture   *fixture,
             JsonArray *cases)
{
  int wrong = 0;

  for (guint i = 0; i < json_array_get_length (cases); i++)
    wrong += check_case (fixture, json_array_get_object_element (cases, i));

  g_assert_cmpint (wrong, ==, 0);
}

static void
test_vectors (Fixture       *fixture,
              gconstpointer  data)
{
  g_autoptr (JsonNode) root = NULL;
  JsonArray *cases = json_object_get_array_member (load_vectors (&root), "cases");

  g_assert_cmpuint (json_array_get_length (cases), >=, 20);
  check_cases (fixture, cases);
}

/* The measured cases and the reference predictor, where they lie beside the
 * source tree. */
static JsonNode *
run_reference (const char *const *left_out)
{
  const char *given = g_getenv ("QM_SHARED_DIR");
  g_autofree char *beside = g_build_filename (g_getenv ("G_TEST_SRCDIR"), "..", "..", "shared", NULL);
  const char *shared = given != NULL ? given : beside;
  g_autoptr (GStrvBuilder) arguments = g_strv_builder_new ();
  g_auto (GStrv) argv = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GBytes) output = NULL;
  g_autofree char *python = g_find_program_in_path ("python3");
  g_autofree char *script = g_test_build_filename (G_TEST_DIST, "accuracy", "reference.py", NULL);
  g_autofree char *folder = g_build_filename (shared, "tools", "reference", NULL);
  g_autofree char *devices = g_build_filename (shared, "data", "catalog", "devices.json", NULL);
  g_autofree char *cases = g_build_filename (shared, "data", "measured", "inference-llm.jsonl", NULL);

  if (python == NULL || !g_file_test (folder, G_FILE_TEST_IS_DIR) || !g_file_test (cases, G_FILE_TEST_EXISTS))
    return NULL;

  g_strv_builder_add_many (arguments, python, "-B", script, folder, "llm_inference", devices, cases, NULL);
  g_strv_builder_addv (arguments, (const char **) left_out);
  argv = g_strv_builder_end (arguments);
  process = g_subprocess_newv ((const char *const *) argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error);
  g_assert_no_error (error);
  g_subprocess_communicate (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_successful (process));

  return load_json (g_bytes_get_data (output, NULL), (gssize) g_bytes_get_size (output));
}

static void
check_measured_cases (Fixture           *fixture,
                      const char *const *left_out)
{
  g_autoptr (JsonNode) root = run_reference (left_out);

  if (root == NULL)
    {
      g_test_skip ("the reference predictor is not beside the source tree");
      return;
    }

  g_assert_cmpuint (json_array_get_length (json_node_get_array (root)), >, 500);
  check_cases (fixture, json_node_get_array (root));
}

static void
test_measured_cases (Fixture       *fixture,
                     gconstpointer  data)
{
  static const char *const left_out[] = { NULL };

  check_measured_cases (fixture, left_out);
}

static void
test_little_stated (Fixture       *fixture,
                    gconstpointer  data)
{
  static const char *const left_out[] = {
    "serving.concurrency", "serving.output_tokens", "serving.kv_cache", "model.architecture", "configuration.tensor_parallel",
    "configuration.pipeline_parallel", NULL,
  };

  check_measured_cases (fixture, left_out);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("vectors", test_vectors);
  ADD ("measured-cases", test_measured_cases);
  ADD ("little-stated", test_little_stated);

  return g_test_run ();
}
