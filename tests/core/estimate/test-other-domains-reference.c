/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gio/gio.h>

#include "other-domains-fixture.h"

/* Figures are printed with nine digits; the reference rounds the 90 % quantile
 * to 1.2816. */
#define TOLERANCE 1e-6
#define QUANTILE_TOLERANCE 1e-4

static int
check (const char *id,
       const char *what,
       double      found,
       double      expected,
       double      tolerance)
{
  if (fabs (found - expected) <= tolerance * fabs (expected))
    return 0;

  g_test_message ("%s: %s is %.9g, expected %.9g", id, what, found, expected);
  return 1;
}

static int
check_number (const char *id,
              JsonObject *expected,
              const char *what,
              double      found)
{
  if (json_object_get_null_member (expected, what))
    return 0;

  return check (id, what, found, json_object_get_double_member (expected, what), TOLERANCE);
}

static int
check_range (const char *id,
             JsonObject *expected,
             const char *what,
             QmRange     found)
{
  JsonObject *range;

  if (json_object_get_null_member (expected, what))
    return 0;

  range = json_object_get_object_member (expected, what);
  return check (id, what, found.p10, json_object_get_double_member (range, "p10"), QUANTILE_TOLERANCE) +
         check (id, what, found.p50, json_object_get_double_member (range, "p50"), TOLERANCE) +
         check (id, what, found.p90, json_object_get_double_member (range, "p90"), QUANTILE_TOLERANCE);
}

static int
check_parts (const char   *id,
             JsonObject   *expected,
             const double *found)
{
  JsonArray *array;
  int wrong = 0;

  if (json_object_get_null_member (expected, "parts"))
    return 0;

  array = json_object_get_array_member (expected, "parts");
  g_assert_cmpuint (json_array_get_length (array), ==, QM_MEMORY_N_PARTS);
  for (guint i = 0; i < QM_MEMORY_N_PARTS; i++)
    wrong += check (id, "part", found[i], json_array_get_double_element (array, i), TOLERANCE);

  return wrong;
}

/* Embedding tables that do not fit whole are spread or moved, which the
 * reference does not do. */
static gboolean
is_relieved (const QmPlan     *plan,
             JsonObject       *expected,
             const QmEstimate *estimate)
{
  JsonObject *device;

  if (plan->task != QM_TASK_RECOMMENDER || json_object_get_null_member (expected, "device"))
    return FALSE;

  device = json_object_get_object_member (expected, "device");
  return json_object_get_double_member (device, "p50") > estimate->memory.usable_bytes;
}

/* The reference keeps frozen weights below adapters as wide as autocast's own, 32
 * bits, where diffusers and the estimates of language models keep them in 16; it
 * knows no 4-bit weights here. All else is the same, and what the whole is less
 * is what those weights are less. */
static gboolean
is_frozen_wide (const QmPlan *plan)
{
  const QmTraining *t = &plan->training;
  gboolean adapters = qm_plan_is_training (plan) && (t->method == QM_METHOD_LORA || t->method == QM_METHOD_QLORA);

  return adapters && t->precision != QM_PRECISION_BF16 && t->precision != QM_PRECISION_FP16;
}

static int
check_frozen (const char       *id,
              const QmPlan     *plan,
              JsonObject       *expected,
              const QmEstimate *estimate)
{
  const double *found = estimate->memory.parts;
  JsonArray *array = json_object_get_array_member (expected, "parts");
  double adapters = 4 * estimate->trainable_parameters;
  double wide = json_array_get_double_element (array, QM_MEMORY_WEIGHTS);
  double allocated = json_object_get_double_member (expected, "allocated");
  gboolean full = plan->training.precision == QM_PRECISION_FP32 || plan->training.precision == QM_PRECISION_TF32;
  int wrong = 0;

  for (guint i = 0; i < QM_MEMORY_N_PARTS; i++)
    if (i != QM_MEMORY_WEIGHTS)
      wrong += check (id, "part", found[i], json_array_get_double_element (array, i), TOLERANCE);
  if (plan->training.method == QM_METHOD_LORA && plan->training.base_weights[0] == '\0')
    wrong += check (id, "frozen weights", found[QM_MEMORY_WEIGHTS] - adapters, (wide - adapters) * (full ? 1 : 0.5), TOLERANCE);

  return wrong + check (id, "allocated", estimate->memory.allocated.p50, allocated - (wide - found[QM_MEMORY_WEIGHTS]), TOLERANCE);
}

static int
check_memory (const char       *id,
              const QmPlan     *plan,
              JsonObject       *expected,
              const QmEstimate *estimate)
{
  const QmMemory *memory = &estimate->memory;

  if (is_relieved (plan, expected, estimate))
    return 0;
  if (is_frozen_wide (plan))
    return check_frozen (id, plan, expected, estimate);

  if (json_object_get_null_member (expected, "device"))
    g_assert_true (isnan (memory->device.p50));
  else
    g_assert_cmpfloat (memory->need.p50, ==, memory->device.p50);

  return check_range (id, expected, "device", memory->device) +
         check_number (id, expected, "allocated", isnan (memory->allocated.p50) ? memory->host_bytes : memory->allocated.p50) +
         check_number (id, expected, "host_bytes", memory->host_bytes) + check_range (id, expected, "host", memory->host) +
         check_parts (id, expected, memory->parts);
}

/* A step is a batch where a model runs. The reference does not tell how many
 * texts a second an encoder reads. */
static int
check_rate (const char       *id,
            const QmPlan     *plan,
            JsonObject       *expected,
            const QmEstimate *estimate)
{
  static const char *const units[] = { "", "tokens", "images", "samples", "audio-seconds", "rows" };
  const QmThroughput *t = &estimate->throughput;
  gboolean trains = qm_plan_is_training (plan);
  JsonObject *samples = json_object_get_null_member (expected, "samples_per_second")
                          ? NULL : json_object_get_object_member (expected, "samples_per_second");
  int wrong = 0;

  g_assert_true (t->known);
  g_assert_cmpstr (units[t->unit], ==, json_object_get_string_member (expected, "unit"));
  wrong += check_range (id, expected, "per_second", t->per_second);
  wrong += check_range (id, expected, "step", t->step_seconds);
  wrong += check_range (id, expected, "time", estimate->time.seconds);
  if (samples != NULL && (trains || plan->task != QM_TASK_TEXT_ENCODER))
    wrong += check (id, "samples_per_second", t->samples_per_second, json_object_get_double_member (samples, "p50"), TOLERANCE);

  return wrong;
}

static int
check_case (Fixture    *fixture,
            JsonObject *object)
{
  const char *id = json_object_get_string_member (object, "id");
  JsonObject *expected = json_object_get_object_member (object, "expected");
  g_autoptr (QmPlan) plan = read_plan (object);
  QmEstimate estimate;

  predict (fixture, plan, &estimate);
  g_assert_null (estimate.failure);

  return check_memory (id, plan, expected, &estimate) + check_rate (id, plan, expected, &estimate);
}

static void
test_vectors (Fixture       *fixture,
              gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  JsonArray *cases = json_object_get_array_member (json_node_get_object (vectors), "cases");
  int wrong = 0;

  g_assert_cmpuint (json_array_get_length (cases), >=, 20);
  for (guint i = 0; i < json_array_get_length (cases); i++)
    wrong += check_case (fixture, json_array_get_object_element (cases, i));

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
run_reference (const char        *name,
               const char *const *left_out)
{
  g_autoptr (GStrvBuilder) arguments = g_strv_builder_new ();
  g_auto (GStrv) argv = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GBytes) output = NULL;
  g_autofree char *shared = find_shared ();
  g_autofree char *python = g_find_program_in_path ("python3");
  g_autofree char *script = g_test_build_filename (G_TEST_DIST, "accuracy", "reference.py", NULL);
  g_autofree char *folder = g_build_filename (shared, "tools", "reference", NULL);
  g_autofree char *devices = g_build_filename (shared, "data", "catalog", "devices.json", NULL);
  g_autofree char *file = g_strconcat (name, ".jsonl", NULL);
  g_autofree char *cases = g_build_filename (shared, "data", "measured", file, NULL);

  if (python == NULL || !g_file_test (folder, G_FILE_TEST_IS_DIR) || !g_file_test (cases, G_FILE_TEST_EXISTS))
    return NULL;

  g_strv_builder_add_many (arguments, python, "-B", script, folder, "other_domains", devices, cases, NULL);
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
                      const char        *name,
                      guint              at_least,
                      const char *const *left_out)
{
  g_autoptr (JsonNode) root = run_reference (name, left_out);
  JsonArray *cases = root != NULL ? json_node_get_array (root) : NULL;
  int wrong = 0;

  if (cases == NULL)
    {
      g_test_skip ("the reference predictor is not beside the source tree");
      return;
    }

  g_assert_cmpuint (json_array_get_length (cases), >=, at_least);
  for (guint i = 0; i < json_array_get_length (cases); i++)
    wrong += check_case (fixture, json_array_get_object_element (cases, i));

  g_assert_cmpint (wrong, ==, 0);
}

static void
test_training (Fixture       *fixture,
               gconstpointer  data)
{
  static const char *const left_out[] = { NULL };

  check_measured_cases (fixture, "training-encoder", 73, left_out);
  check_measured_cases (fixture, "training-vision", 127, left_out);
  check_measured_cases (fixture, "training-diffusion", 24, left_out);
  check_measured_cases (fixture, "training-recommender", 27, left_out);
  check_measured_cases (fixture, "training-tabular", 36, left_out);
}

static void
test_inference (Fixture       *fixture,
                gconstpointer  data)
{
  static const char *const left_out[] = { NULL };

  check_measured_cases (fixture, "inference-vision", 78, left_out);
  check_measured_cases (fixture, "inference-other", 101, left_out);
  check_measured_cases (fixture, "fits", 2, left_out);
}

/* A newcomer names neither framework, precision nor batch. */
static void
test_few_answers (Fixture       *fixture,
                  gconstpointer  data)
{
  static const char *const left_out[] = {
    "training.framework", "training.precision", "training.global_batch", "training.optimizer", "training.memory_format",
    "configuration.micro_batch", "configuration.gradient_accumulation", "configuration.interconnect",
    "configuration.data_parallel", NULL,
  };

  check_measured_cases (fixture, "training-encoder", 73, left_out);
  check_measured_cases (fixture, "training-vision", 127, left_out);
  check_measured_cases (fixture, "training-diffusion", 24, left_out);
  check_measured_cases (fixture, "training-recommender", 27, left_out);
}

static void
test_few_answers_running (Fixture       *fixture,
                          gconstpointer  data)
{
  static const char *const left_out[] = {
    "serving.engine", "serving.weights", "serving.input_tokens", "configuration.micro_batch", "configuration.cpu_cores", NULL,
  };

  check_measured_cases (fixture, "inference-vision", 78, left_out);
  check_measured_cases (fixture, "inference-other", 101, left_out);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("vectors", test_vectors);
  ADD ("training", test_training);
  ADD ("inference", test_inference);
  ADD ("few-answers", test_few_answers);
  ADD ("few-answers-running", test_few_answers_running);

  return g_test_run ();
}
