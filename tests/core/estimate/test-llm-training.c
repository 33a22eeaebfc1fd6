/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gio/gio.h>
#include <math.h>

#include "estimate/qm-llm-training-private.h"
#include "estimate/qm-rules.h"
#include "hardware/qm-catalog.h"
#include "model/qm-model-resolve.h"

/* For figures that are printed with nine digits. */
#define TOLERANCE 1e-6

/* The reference rounds the 90 % quantile to 1.2816. */
#define QUANTILE_TOLERANCE 5e-5

typedef struct {
  QmCatalog *catalog;
  QmLlmTrainingConstants *constants;
} Fixture;

static void
set_up (Fixture       *fixture,
        gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);

  fixture->catalog = qm_catalog_load (directory, NULL, &error);
  g_assert_no_error (error);
  fixture->constants = qm_llm_training_constants_new (qm_catalog_table (fixture->catalog, "constants-llm-training"), &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture       *fixture,
           gconstpointer  data)
{
  qm_llm_training_constants_free (fixture->constants);
  g_object_unref (fixture->catalog);
}

static JsonNode *
load_json (const char *data,
           gssize      length)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;

  json_parser_load_from_data (parser, data, length, &error);
  g_assert_no_error (error);
  return json_parser_steal_root (parser);
}

static JsonNode *
load_json_file (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *data = NULL;
  gsize length;

  g_file_get_contents (path, &data, &length, &error);
  g_assert_no_error (error);
  return load_json (data, (gssize) length);
}

/* Own plans, with figures by the reference predictor beside them. */
static JsonNode *
load_vectors (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "llm-training.json", NULL);

  return load_json_file (path);
}

static JsonObject *
find_case (JsonNode   *vectors,
           const char *id)
{
  JsonArray *cases = json_object_get_array_member (json_node_get_object (vectors), "cases");

  for (guint i = 0; i < json_array_get_length (cases); i++)
    {
      JsonObject *object = json_array_get_object_element (cases, i);

      if (g_str_equal (json_object_get_string_member (object, "id"), id))
        return object;
    }

  g_assert_not_reached ();
}

/* Two defaults that the model reader takes from the model's own code and the
 * reference does not: said in the file, both read the same. */
static void
say_defaults (JsonObject *architecture)
{
  const char *type = json_object_get_string_member_with_default (architecture, "model_type", "");

  if (!json_object_has_member (architecture, "vocab_size"))
    json_object_set_int_member (architecture, "vocab_size", 51200);
  if (g_str_equal (type, "falcon") && !json_object_has_member (architecture, "tie_word_embeddings"))
    json_object_set_boolean_member (architecture, "tie_word_embeddings", FALSE);
}

/* As a plan that embeds an architecture or gives the parameters alone. */
static QmModel *
read_model (const QmPlan *plan)
{
  g_autoptr (QmModel) model = qm_model_new ();
  g_autoptr (GError) error = NULL;

  if (plan->model.architecture != NULL)
    {
      say_defaults (plan->model.architecture);
      qm_architecture_from_config (plan->model.architecture, &model->architecture, &error);
    }
  else
    qm_architecture_guess (plan->model.parameters, &model->architecture);
  g_assert_no_error (error);

  model->parameters = plan->model.parameters;
  model->active_parameters = plan->model.active_parameters;
  return g_steal_pointer (&model);
}

static void
read_case (Fixture     *fixture,
           JsonObject  *object,
           QmPlan     **plan,
           QmModel    **model)
{
  g_autoptr (GError) error = NULL;

  *plan = qm_plan_from_object (json_object_get_object_member (object, "plan"), NULL, &error);
  g_assert_no_error (error);
  *model = read_model (*plan);
}

static void
predict (Fixture       *fixture,
         const QmPlan  *plan,
         const QmModel *model,
         QmEstimate    *estimate)
{
  g_autoptr (QmLlmTraining) training = qm_llm_training_new (fixture->constants, plan, model);
  const QmDevice *device = qm_catalog_find_device (fixture->catalog, plan->configuration.device);

  g_assert_nonnull (device);
  qm_estimate_clear (estimate);
  qm_llm_training_predict (training, device, &plan->configuration, estimate);
}

static void
predict_case (Fixture    *fixture,
              JsonObject *object,
              QmEstimate *estimate)
{
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmModel) model = NULL;

  read_case (fixture, object, &plan, &model);
  predict (fixture, plan, model, estimate);
}

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

static void
test_missing_constant (Fixture       *fixture,
                       gconstpointer  data)
{
  g_autoptr (JsonNode) node = json_node_copy (qm_catalog_table (fixture->catalog, "constants-llm-training"));
  g_autoptr (GError) error = NULL;
  g_autofree char *text = json_to_string (node, FALSE);
  g_autoptr (JsonNode) changed = load_json (text, -1);
  JsonObject *constants = json_object_get_object_member (json_node_get_object (changed), "constants");

  json_object_remove_member (constants, "rate.overlap.eager");
  g_assert_null (qm_llm_training_constants_new (changed, &error));
  g_assert_error (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING);
  g_assert_nonnull (strstr (error->message, "rate.overlap.eager"));

  g_clear_error (&error);
  g_assert_null (qm_llm_training_constants_new (NULL, &error));
  g_assert_error (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING);
}

static void
test_unknown_reference (Fixture       *fixture,
                        gconstpointer  data)
{
  g_autofree char *text = json_to_string (qm_catalog_table (fixture->catalog, "constants-llm-training"), FALSE);
  g_autoptr (JsonNode) changed = load_json (text, -1);
  g_autoptr (GError) error = NULL;
  JsonArray *devices = json_object_get_array_member (json_node_get_object (changed), "devices");

  json_object_set_string_member (json_array_get_object_element (devices, 0), "family", "warp-core");
  g_assert_null (qm_llm_training_constants_new (changed, &error));
  g_assert_error (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_REFERENCE);
  g_assert_nonnull (strstr (error->message, "warp-core"));
}

static void
test_parts_sum (Fixture       *fixture,
                gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  JsonArray *cases = json_object_get_array_member (json_node_get_object (vectors), "cases");

  for (guint i = 0; i < json_array_get_length (cases); i++)
    {
      QmEstimate estimate;
      const QmThroughput *t = &estimate.throughput;
      double sum = 0, seconds;

      predict_case (fixture, json_array_get_object_element (cases, i), &estimate);
      for (int part = 0; part < QM_MEMORY_N_PARTS; part++)
        sum += estimate.memory.parts[part];
      seconds = t->compute_seconds + t->memory_seconds + t->communication_seconds + t->input_seconds + t->overhead_seconds;

      g_assert_cmpfloat_with_epsilon (sum / estimate.memory.need.p50, 1, 1e-9);
      g_assert_cmpfloat (seconds / t->step_seconds.p50, >, 1 - 1e-9);
    }
}

static void
test_largest_micro_batch (Fixture       *fixture,
                          gconstpointer  data)
{
  static const char *const ids[] = { "lora-one-4090", "fsdp-8b-eight-a100", "moe-fsdp-ampere", "guessed-shape-unstated" };
  g_autoptr (JsonNode) vectors = load_vectors ();

  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_autoptr (QmPlan) plan = NULL;
      g_autoptr (QmModel) model = NULL;
      QmEstimate estimate, at, above;

      read_case (fixture, find_case (vectors, ids[i]), &plan, &model);
      predict (fixture, plan, model, &estimate);

      /* the rest of the recipe is held as it was resolved */
      plan->training.global_batch = 0;
      plan->training.activation_checkpointing = estimate.training.activation_checkpointing;
      plan->configuration = estimate.configuration;
      g_assert_cmpfloat (estimate.memory.largest_micro_batch, >=, 1);

      plan->configuration.micro_batch = estimate.memory.largest_micro_batch;
      predict (fixture, plan, model, &at);
      plan->configuration.micro_batch += i == 3 ? 2 : 1;
      predict (fixture, plan, model, &above);

      g_assert_cmpint (at.memory.verdict, ==, QM_VERDICT_FITS);
      g_assert_cmpint (above.memory.verdict, !=, QM_VERDICT_FITS);
    }
}

static void
test_verdicts (Fixture       *fixture,
               gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmModel) model = NULL;
  g_autoptr (QmLlmTraining) training = NULL;
  QmEstimate estimate;
  QmDevice device;
  double need;
  const struct {
    double share;                   /* of the usable memory that is needed */
    QmVerdict verdict;
    gboolean fits;
  } steps[] = {
    { 0.79, QM_VERDICT_FITS, TRUE }, { 0.81, QM_VERDICT_TIGHT, TRUE }, { 0.89, QM_VERDICT_TIGHT, TRUE },
    { 0.91, QM_VERDICT_MAY_FIT, TRUE }, { 0.99, QM_VERDICT_MAY_FIT, TRUE }, { 1.01, QM_VERDICT_DOES_NOT_FIT, FALSE },
  };

  read_case (fixture, find_case (vectors, "lora-one-4090"), &plan, &model);
  training = qm_llm_training_new (fixture->constants, plan, model);
  device = *qm_catalog_find_device (fixture->catalog, "rtx-4090");
  qm_estimate_clear (&estimate);
  qm_llm_training_predict (training, &device, &plan->configuration, &estimate);
  need = estimate.memory.need.p50;

  for (gsize i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      device.usable_bytes = need / steps[i].share;
      qm_llm_training_predict (training, &device, &plan->configuration, &estimate);
      g_assert_cmpint (estimate.memory.verdict, ==, steps[i].verdict);
      g_assert_cmpint (estimate.memory.fits, ==, steps[i].fits);
      g_assert_cmpint (estimate.memory.fit_probability > 0.5, ==, steps[i].fits);
    }
}

static void
test_methods (Fixture       *fixture,
              gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  QmEstimate estimate;

  predict_case (fixture, find_case (vectors, "lora-one-4090"), &estimate);
  g_assert_cmpfloat_with_epsilon (estimate.memory.quick_bytes, 8030261248 * 2 * 1.2, 1);
  g_assert_cmpfloat_with_epsilon (estimate.memory.basic_bytes, 8030261248 * 4 * 1.3, 1);

  /* rank 16 on all linear layers of Llama 3 8B: closed form, r (d_in + d_out) */
  g_assert_cmpfloat (estimate.trainable_parameters, ==, 41943040);
}

/* Llama 3 8B at 8,192 tokens: 6 (N - V h) and 6 L A s by hand. */
static void
test_flops (Fixture       *fixture,
            gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmModel) model = NULL;
  g_autoptr (QmLlmTraining) training = NULL;

  read_case (fixture, find_case (vectors, "fsdp-8b-eight-a100"), &plan, &model);
  plan->training.sequence_length = 8192;
  training = qm_llm_training_new (fixture->constants, plan, model);

  g_assert_cmpfloat_with_epsilon (training->dense_flops / 4.5030e10, 1, 1e-4);
  g_assert_cmpfloat_with_epsilon (training->attention_flops / 6.4425e9, 1, 1e-4);
}

static void
test_host_memory (Fixture       *fixture,
                  gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmModel) model = NULL;
  const double n = 8030261248;
  QmEstimate estimate;

  read_case (fixture, find_case (vectors, "deepspeed-cpu-adam"), &plan, &model);
  plan->configuration.nodes = 2;
  predict (fixture, plan, model, &estimate);
  g_assert_cmpfloat_with_epsilon (estimate.memory.host_bytes, 16 * n / 2 * 1.5, 1);

  plan->configuration.offload = QM_OFFLOAD_CPU;
  predict (fixture, plan, model, &estimate);
  g_assert_cmpfloat_with_epsilon (estimate.memory.host_bytes, 18 * n / 2 * 1.5, 1);

  plan->configuration.offload = QM_OFFLOAD_OPTIMIZER_CPU;
  plan->configuration.sharding = QM_SHARDING_ZERO2;
  predict (fixture, plan, model, &estimate);
  g_assert_cmpfloat_with_epsilon (estimate.memory.host_bytes, 16 * n * 1.5, 1);

  plan->configuration.offload = QM_OFFLOAD_NONE;
  predict (fixture, plan, model, &estimate);
  g_assert_cmpfloat (estimate.memory.host_bytes, ==, 0);
}

static void
test_no_rate (Fixture       *fixture,
              gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmModel) model = NULL;
  g_autoptr (QmLlmTraining) training = NULL;
  QmEstimate estimate;
  QmDevice device;

  read_case (fixture, find_case (vectors, "lora-one-4090"), &plan, &model);
  training = qm_llm_training_new (fixture->constants, plan, model);
  device = *qm_catalog_find_device (fixture->catalog, "rtx-4090");
  device.bandwidth_bytes_per_second = 0;
  qm_estimate_clear (&estimate);
  qm_llm_training_predict (training, &device, &plan->configuration, &estimate);

  g_assert_false (estimate.throughput.known);
  g_assert_cmpstr (estimate.failure, ==, "no-rate");
  g_assert_true (qm_range_is_known (estimate.memory.device));
}

static void
test_no_parameters (Fixture       *fixture,
                    gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmModel) model = NULL;
  QmEstimate estimate;

  read_case (fixture, find_case (vectors, "lora-one-4090"), &plan, &model);
  model->parameters = 0;
  predict (fixture, plan, model, &estimate);

  g_assert_cmpstr (estimate.failure, ==, "no-parameters");
  g_assert_false (qm_range_is_known (estimate.memory.device));
  g_assert_false (estimate.throughput.known);
}

/* A newcomer names no framework: the range is wider, the middle is of the same kind. */
static void
test_framework_unstated (Fixture       *fixture,
                         gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmModel) model = NULL;
  QmEstimate stated, unstated;

  read_case (fixture, find_case (vectors, "fsdp-8b-eight-a100"), &plan, &model);
  predict (fixture, plan, model, &stated);
  qm_word_set (plan->training.framework, "");
  predict (fixture, plan, model, &unstated);

  g_assert_cmpfloat (qm_range_half_width (unstated.throughput.per_second), >, qm_range_half_width (stated.throughput.per_second));
  g_assert_cmpfloat (unstated.throughput.per_second.p50 / stated.throughput.per_second.p50, >, 0.7);
  g_assert_cmpfloat (unstated.throughput.per_second.p50 / stated.throughput.per_second.p50, <, 1.4);
  g_assert_cmpint (stated.throughput.state, ==, QM_STATE_CELL);
  g_assert_cmpint (unstated.throughput.state, ==, QM_STATE_THIN);
}

/* Training a new head alone needs no more than inference and that head. */
static void
test_linear_probe (Fixture       *fixture,
                   gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmModel) model = NULL;
  QmEstimate adapter, probe;

  read_case (fixture, find_case (vectors, "lora-one-4090"), &plan, &model);
  predict (fixture, plan, model, &adapter);
  plan->training.method = QM_METHOD_LINEAR_PROBE;
  predict (fixture, plan, model, &probe);

  g_assert_cmpfloat (probe.memory.device.p50, <, adapter.memory.device.p50);
  g_assert_cmpfloat (probe.memory.parts[QM_MEMORY_WEIGHTS], ==, adapter.memory.parts[QM_MEMORY_WEIGHTS]);
  g_assert_cmpfloat (probe.throughput.per_second.p50, >, 1.5 * adapter.throughput.per_second.p50);
}

#define ADD(path, function) g_test_add ("/llm-training/" path, Fixture, NULL, set_up, function, tear_down)

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
  ADD ("missing-constant", test_missing_constant);
  ADD ("unknown-reference", test_unknown_reference);
  ADD ("parts-sum", test_parts_sum);
  ADD ("largest-micro-batch", test_largest_micro_batch);
  ADD ("verdicts", test_verdicts);
  ADD ("methods", test_methods);
  ADD ("flops", test_flops);
  ADD ("host-memory", test_host_memory);
  ADD ("no-rate", test_no_rate);
  ADD ("no-parameters", test_no_parameters);
  ADD ("framework-unstated", test_framework_unstated);
  ADD ("linear-probe", test_linear_probe);

  return g_test_run ();
}
