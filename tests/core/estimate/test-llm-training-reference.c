/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gio/gio.h>

#include "llm-training-fixture.h"

/* For figures that are printed with nine digits. */
#define TOLERANCE 1e-6

/* The reference rounds the 90 % quantile to 1.2816. */
#define QUANTILE_TOLERANCE 5e-5

static int
check (const char *id,
       const char *what,
       double      found,
       double      expected,
       double      scale,
       double      tolerance)
{
  if (fabs (found - expected) <= tolerance * scale)
    return 0;

  g_test_message ("%s: %s is %.9g, expected %.9g", id, what, found, expected);
  return 1;
}

static int
check_range (const char *id,
             JsonObject *expected,
             const char *what,
             QmRange     found,
             double      tolerance)
{
  JsonObject *range = json_object_get_object_member (expected, what);
  double p10 = json_object_get_double_member (range, "p10");
  double p50 = json_object_get_double_member (range, "p50");
  double p90 = json_object_get_double_member (range, "p90");
  double ends = MAX (tolerance, QUANTILE_TOLERANCE);

  return check (id, what, found.p10, p10, p10, ends) + check (id, what, found.p50, p50, p50, tolerance) +
         check (id, what, found.p90, p90, p90, ends);
}

static int
check_numbers (const char   *id,
               JsonObject   *expected,
               const char   *what,
               const double *found,
               guint         n,
               double        scale,
               double        tolerance)
{
  JsonArray *array = json_object_get_array_member (expected, what);
  int wrong = 0;

  g_assert_cmpuint (json_array_get_length (array), ==, n);
  for (guint i = 0; i < n; i++)
    wrong += check (id, what, found[i], json_array_get_double_element (array, i), scale, tolerance);

  return wrong;
}

static int
check_configuration (const char       *id,
                     JsonObject       *expected,
                     const QmEstimate *estimate)
{
  const QmConfiguration *c = &estimate->configuration;
  const struct {
    const char *name;
    double found;
  } counts[] = {
    { "tp", c->tensor_parallel }, { "pp", c->pipeline_parallel }, { "cp", c->context_parallel },
    { "ep", c->expert_parallel }, { "dp", c->data_parallel }, { "b", c->micro_batch }, { "m", c->gradient_accumulation },
  };
  JsonObject *object = json_object_get_object_member (expected, "configuration");
  int wrong = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    wrong += check (id, counts[i].name, counts[i].found, json_object_get_double_member (object, counts[i].name), 1, 1e-6);

  g_assert_cmpstr (estimate->training.framework, ==, json_object_get_string_member (object, "framework"));
  return wrong;
}

static int
check_rate (const char       *id,
            JsonObject       *expected,
            const QmEstimate *estimate,
            double            tolerance)
{
  static const char *const bounds[] = { "", "compute", "memory", "communication", "input", "overhead" };
  const QmThroughput *t = &estimate->throughput;
  double seconds[] = { t->compute_seconds, t->memory_seconds, t->communication_seconds, t->input_seconds, t->overhead_seconds };
  double samples = json_object_get_double_member (expected, "samples_per_second");
  double tflops = json_object_get_double_member (expected, "tflops_per_device");
  double mfu = json_object_get_double_member (expected, "mfu");
  int wrong = 0;

  wrong += check_range (id, expected, "per_second", t->per_second, tolerance);
  wrong += check_range (id, expected, "per_device_per_second", t->per_device_per_second, tolerance);
  wrong += check_range (id, expected, "step", t->step_seconds, tolerance);
  wrong += check (id, "samples_per_second", t->samples_per_second, samples, samples, tolerance);
  wrong += check (id, "tflops_per_device", t->tflops_per_device, tflops, tflops, tolerance);
  wrong += check (id, "mfu", t->mfu, mfu, mfu, tolerance);
  wrong += check_numbers (id, expected, "seconds", seconds, 5, t->step_seconds.p50, tolerance);
  g_assert_cmpstr (bounds[t->bound_by], ==, json_object_get_string_member (expected, "bound_by"));

  return wrong;
}

static int
check_case (Fixture    *fixture,
            JsonObject *object,
            double      tolerance)
{
  const char *id = json_object_get_string_member (object, "id");
  JsonObject *expected = json_object_get_object_member (object, "expected");
  QmEstimate estimate;
  int wrong = 0;

  predict_case (fixture, object, &estimate);
  wrong += check_configuration (id, expected, &estimate);
  wrong += check_range (id, expected, "device", estimate.memory.device, tolerance);
  wrong += check_range (id, expected, "allocated", estimate.memory.allocated, tolerance);
  wrong += check_range (id, expected, "reserved", estimate.memory.reserved, tolerance);
  wrong += check_numbers (id, expected, "parts", estimate.memory.parts, QM_MEMORY_N_PARTS, estimate.memory.device.p50, tolerance);
  if (json_object_has_member (expected, "step"))
    wrong += check_rate (id, expected, &estimate, tolerance);
  else
    g_assert_false (estimate.throughput.known);

  return wrong;
}

static void
test_vectors (Fixture       *fixture,
              gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  JsonArray *cases = json_object_get_array_member (json_node_get_object (vectors), "cases");
  int wrong = 0;

  g_assert_cmpuint (json_array_get_length (cases), >=, 12);
  for (guint i = 0; i < json_array_get_length (cases); i++)
    wrong += check_case (fixture, json_array_get_object_element (cases, i), TOLERANCE);

  g_assert_cmpint (wrong, ==, 0);
}

/* The measured cases and the reference predictor, where they lie beside the
 * source tree. */
static char *
find_shared (void)
{
  const char *given = g_getenv ("QM_SHARED_DIR");
  g_autofree char *beside = g_build_filename (g_getenv ("G_TEST_SRCDIR"), "..", "..", "shared", NULL);

  return g_strdup (given != NULL ? given : beside);
}

static JsonNode *
run_reference (const char        *shared,
               const char *const *left_out)
{
  g_autoptr (GStrvBuilder) arguments = g_strv_builder_new ();
  g_auto (GStrv) argv = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GBytes) output = NULL;
  g_autofree char *python = g_find_program_in_path ("python3");
  g_autofree char *script = g_test_build_filename (G_TEST_DIST, "accuracy", "reference.py", NULL);
  g_autofree char *folder = g_build_filename (shared, "tools", "reference", NULL);
  g_autofree char *devices = g_build_filename (shared, "data", "catalog", "devices.json", NULL);
  g_autofree char *cases = g_build_filename (shared, "data", "measured", "training-llm.jsonl", NULL);

  if (python == NULL || !g_file_test (folder, G_FILE_TEST_IS_DIR) || !g_file_test (cases, G_FILE_TEST_EXISTS))
    return NULL;

  g_strv_builder_add_many (arguments, python, "-B", script, folder, "llm_training", devices, cases, NULL);
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
  g_autofree char *shared = find_shared ();
  g_autoptr (JsonNode) root = run_reference (shared, left_out);
  JsonArray *cases = root != NULL ? json_node_get_array (root) : NULL;
  int wrong = 0;

  if (cases == NULL)
    {
      g_test_skip ("the reference predictor is not beside the source tree");
      return;
    }

  g_assert_cmpuint (json_array_get_length (cases), >, 300);
  for (guint i = 0; i < json_array_get_length (cases); i++)
    wrong += check_case (fixture, json_array_get_object_element (cases, i), TOLERANCE);

  g_assert_cmpint (wrong, ==, 0);
}

static void
test_measured_cases (Fixture       *fixture,
                     gconstpointer  data)
{
  static const char *const left_out[] = { NULL };

  check_measured_cases (fixture, left_out);
}

static void
test_without_framework (Fixture       *fixture,
                        gconstpointer  data)
{
  static const char *const left_out[] = { "training.framework", NULL };

  check_measured_cases (fixture, left_out);
}

static void
test_without_layout (Fixture       *fixture,
                     gconstpointer  data)
{
  static const char *const left_out[] = {
    "configuration.data_parallel", "configuration.tensor_parallel", "configuration.pipeline_parallel",
    "configuration.context_parallel", "configuration.sharding", "configuration.micro_batch",
    "configuration.gradient_accumulation", "training.activation_checkpointing", NULL,
  };

  check_measured_cases (fixture, left_out);
}

static void
test_task_and_size_alone (Fixture       *fixture,
                          gconstpointer  data)
{
  static const char *const left_out[] = {
    "model.architecture", "training.framework", "training.global_batch", "training.activation_checkpointing",
    "training.precision", "training.optimizer", "configuration.data_parallel", "configuration.tensor_parallel",
    "configuration.pipeline_parallel", "configuration.context_parallel", "configuration.expert_parallel",
    "configuration.sharding", "configuration.micro_batch", "configuration.gradient_accumulation",
    "configuration.interconnect", NULL,
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
  ADD ("measured-cases/without-framework", test_without_framework);
  ADD ("measured-cases/without-layout", test_without_layout);
  ADD ("measured-cases/task-and-size-alone", test_task_and_size_alone);

  return g_test_run ();
}
