/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "llm-inference-fixture.h"

#include "estimate/qm-llm-inference-private.h"

#define LLAMA_3_8B 8030261248.0
#define GIB (1024.0 * 1024.0 * 1024.0)

/* Printed with nine digits. */
#define PRINTED 1e-6

/* A case of the vectors, which tests then change. */
typedef struct {
  JsonNode *root;
  QmPlan *plan;
  QmModel *model;
} Example;

static void
example_clear (Example *self)
{
  json_node_unref (self->root);
  qm_plan_free (self->plan);
  qm_model_free (self->model);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Example, example_clear)

static void
example_init (Example    *self,
              const char *id)
{
  JsonObject *vectors = load_vectors (&self->root);

  read_plan (json_object_get_object_member (find_case (vectors, id), "plan"), &self->plan, &self->model);
}

static JsonNode *
copy_table (Fixture    *fixture,
            const char *name)
{
  g_autofree char *text = json_to_string (qm_catalog_table (fixture->catalog, name), FALSE);

  return load_json (text, -1);
}

static void
assert_refused (JsonNode   *constants,
                JsonNode   *formats,
                int         code,
                const char *word)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (qm_llm_inference_constants_new (constants, formats, &error));
  g_assert_error (error, QM_CATALOG_ERROR, code);
  g_assert_nonnull (strstr (error->message, word));
}

static void
test_missing_constants (Fixture       *fixture,
                        gconstpointer  data)
{
  static const char *const members[] = { "limits", "tables", "ranges", "evidence", "engines", "quantization", "default_engine" };
  JsonNode *constants = qm_catalog_table (fixture->catalog, "constants-llm-inference");
  JsonNode *formats = qm_catalog_table (fixture->catalog, "quantization");
  g_autoptr (JsonNode) without_kv = copy_table (fixture, "quantization");

  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    {
      g_autoptr (JsonNode) changed = copy_table (fixture, "constants-llm-inference");

      json_object_remove_member (json_node_get_object (changed), members[i]);
      assert_refused (changed, formats, QM_CATALOG_ERROR_MISSING, members[i]);
    }

  json_object_remove_member (json_node_get_object (without_kv), "kv_cache");
  assert_refused (constants, without_kv, QM_CATALOG_ERROR_MISSING, "kv_cache");
  assert_refused (NULL, formats, QM_CATALOG_ERROR_MISSING, "constants-llm-inference");
  assert_refused (constants, NULL, QM_CATALOG_ERROR_MISSING, "quantization");
}

static void
test_unknown_words (Fixture       *fixture,
                    gconstpointer  data)
{
  g_autoptr (JsonNode) constants = copy_table (fixture, "constants-llm-inference");
  g_autoptr (JsonNode) formats = copy_table (fixture, "quantization");
  JsonObject *tables = json_object_get_object_member (json_node_get_object (constants), "tables");
  JsonObject *factors = json_object_get_object_member (json_object_get_object_member (tables, "tau"), "factors");
  JsonArray *lines = json_object_get_array_member (json_node_get_object (formats), "formats");

  json_object_set_string_member (json_array_get_object_element (lines, 0), "kernel", "abacus");
  assert_refused (constants, formats, QM_CATALOG_ERROR_REFERENCE, "abacus");

  json_object_set_double_member (json_object_get_object_member (factors, "cls"), "steam-engine", 1);
  assert_refused (constants, formats, QM_CATALOG_ERROR_REFERENCE, "steam-engine");
}

static void
assert_range (QmRange     found,
              JsonObject *expected)
{
  g_assert_cmpfloat_with_epsilon (found.p10, json_object_get_double_member (expected, "p10"), PRINTED * 20);
  g_assert_cmpfloat_with_epsilon (found.p50, json_object_get_double_member (expected, "p50"), PRINTED * 20);
  g_assert_cmpfloat_with_epsilon (found.p90, json_object_get_double_member (expected, "p90"), PRINTED * 20);
}

static void
test_losses (Fixture       *fixture,
             gconstpointer  data)
{
  g_autoptr (JsonNode) root = NULL;
  JsonArray *losses = json_object_get_array_member (load_vectors (&root), "losses");

  g_assert_cmpuint (json_array_get_length (losses), >=, 10);
  for (guint i = 0; i < json_array_get_length (losses); i++)
    {
      JsonObject *line = json_array_get_object_element (losses, i);
      QmQuantizationLoss loss;

      loss = qm_quantization_loss (fixture->constants, json_object_get_string_member (line, "weights"),
                                   json_object_get_double_member (line, "parameters"),
                                   json_object_get_double_member (line, "training_tokens"));
      g_assert_true (loss.known);
      assert_range (loss.perplexity_factor, json_object_get_object_member (line, "perplexity_factor"));
      assert_range (loss.points, json_object_get_object_member (line, "points"));
    }

  g_assert_false (qm_quantization_loss (fixture->constants, "gguf-tq9_z", LLAMA_3_8B, 0).known);
  g_assert_false (qm_quantization_loss (fixture->constants, "gguf-q4_k_m", 0, 0).known);
}

/* Several formats of a dense model and of two mixtures of experts, against the
 * reference predictor. */
static void
test_weight_bytes (Fixture       *fixture,
                   gconstpointer  data)
{
  g_autoptr (JsonNode) root = NULL;
  JsonArray *lines = json_object_get_array_member (load_vectors (&root), "weights");

  g_assert_cmpuint (json_array_get_length (lines), >=, 10);
  for (guint i = 0; i < json_array_get_length (lines); i++)
    {
      JsonObject *line = json_array_get_object_element (lines, i);
      JsonObject *given = json_object_get_object_member (line, "model");
      double expected = json_object_get_double_member (line, "bytes");
      g_autoptr (QmModel) model = NULL;
      double bytes;

      model = read_model (json_object_get_object_member (given, "architecture"),
                          json_object_get_double_member (given, "parameters"),
                          json_object_get_double_member_with_default (given, "active_parameters", 0));
      model->architecture.active_parameters = model->active_parameters;
      bytes = qm_llm_inference_weight_bytes (fixture->constants, &model->architecture, model->parameters,
                                             json_object_get_string_member (line, "weights"));
      g_assert_cmpfloat_with_epsilon (bytes / expected, 1, PRINTED);
    }
}

static guint
check_contexts (const char *directory,
                JsonObject *expected)
{
  g_autofree char *path = g_build_filename (directory, json_object_get_string_member (expected, "file"), NULL);
  g_autofree char *text = NULL;
  g_autoptr (JsonNode) config = NULL;
  g_autoptr (QmModel) model = NULL;
  g_autoptr (GList) contexts = NULL;
  JsonObject *bytes;
  QmInferenceShape shape;

  if (json_object_get_null_member (expected, "kv_cache"))
    return 0;

  bytes = json_object_get_object_member (expected, "kv_cache");
  if (!json_object_has_member (bytes, "bytes_at_context"))
    return 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  config = load_json (text, -1);
  model = read_model (json_node_get_object (config), 1e9, 0);
  qm_inference_shape_init (&shape, &model->architecture, 1e9, 0);

  bytes = json_object_get_object_member (bytes, "bytes_at_context");
  contexts = json_object_get_members (bytes);
  for (GList *l = contexts; l != NULL; l = l->next)
    g_assert_cmpfloat (qm_inference_kv_bytes (&shape, g_ascii_strtod (l->data, NULL), 2), ==,
                       json_object_get_double_member (bytes, l->data));

  return g_list_length (contexts);
}

/* Caches that were read off the models themselves, in 16 bits. */
static guint
check_directory (const char *directory)
{
  g_autofree char *path = g_build_filename (directory, "expected.json", NULL);
  g_autofree char *text = NULL;
  g_autoptr (JsonNode) root = NULL;
  JsonObject *models;
  g_autoptr (GList) names = NULL;
  guint n = 0;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;

  root = load_json (text, -1);
  models = json_object_get_object_member (json_node_get_object (root), "models");
  names = json_object_get_members (models);
  for (GList *l = names; l != NULL; l = l->next)
    n += check_contexts (directory, json_object_get_object_member (models, l->data));

  return n;
}

static void
test_contexts (Fixture       *fixture,
               gconstpointer  data)
{
  const char *given = g_getenv ("QM_SHARED_DIR");
  g_autofree char *beside = g_build_filename (g_getenv ("G_TEST_SRCDIR"), "..", "..", "shared", NULL);
  g_autofree char *own = g_test_build_filename (G_TEST_DIST, "data", "configs", NULL);
  g_autofree char *theirs = g_build_filename (given != NULL ? given : beside, "data", "configs", NULL);

  g_assert_cmpuint (check_directory (own), >, 5);
  if (g_file_test (theirs, G_FILE_TEST_IS_DIR))
    g_assert_cmpuint (check_directory (theirs), >=, 132);
}

/* The limits of the contract: (1 − headroom), 0.9 and all of what the driver
 * reports. */
static void
test_verdicts (Fixture       *fixture,
               gconstpointer  data)
{
  static const struct {
    double share;
    QmVerdict verdict;
    gboolean fits;
  } steps[] = {
    { 0.69, QM_VERDICT_FITS, TRUE }, { 0.71, QM_VERDICT_TIGHT, TRUE }, { 0.89, QM_VERDICT_TIGHT, TRUE },
    { 0.91, QM_VERDICT_MAY_FIT, TRUE }, { 0.999, QM_VERDICT_MAY_FIT, TRUE }, { 1.001, QM_VERDICT_DOES_NOT_FIT, FALSE },
  };
  g_auto (Example) example = { 0 };
  QmDevice device;
  QmEstimate estimate;

  example_init (&example, "spec-1");
  example.plan->limits.headroom = 0.3;
  device = *find_device (fixture, example.plan);
  for (gsize i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autoptr (QmLlmInference) inference = qm_llm_inference_new (fixture->constants, example.plan, example.model);

      /* what the plan needs is printed in the check values of the model */
      device.usable_bytes = 6856378929 / steps[i].share;
      qm_estimate_clear (&estimate);
      qm_llm_inference_predict (inference, &device, &example.plan->configuration, &estimate);
      g_assert_cmpint (estimate.memory.verdict, ==, steps[i].verdict);
      g_assert_cmpint (estimate.memory.fits, ==, steps[i].fits);
      g_assert_true ((estimate.memory.fit_probability > 0.5) == steps[i].fits);
    }
}

/* Half of the layers: half of the weights and of the cache move to the
 * computer, and their bytes come at most at 60 % of its bandwidth. */
static void
test_partly_in_system_memory (Fixture       *fixture,
                              gconstpointer  data)
{
  g_auto (Example) example = { 0 };
  QmEstimate all, half, more;
  double moved;

  example_init (&example, "spec-1");
  predict (fixture, example.plan, example.model, &all);
  example.plan->configuration.gpu_layers = 16;
  example.plan->configuration.host_memory_bytes_per_second = 50e9;
  predict (fixture, example.plan, example.model, &half);
  example.plan->configuration.gpu_layers = 33;
  predict (fixture, example.plan, example.model, &more);

  moved = (all.memory.parts[QM_MEMORY_WEIGHTS] + all.memory.parts[QM_MEMORY_KV_CACHE]) / 2;
  g_assert_cmpint (half.memory.verdict, ==, QM_VERDICT_PARTLY_IN_SYSTEM_MEMORY);
  g_assert_cmpfloat_with_epsilon ((half.memory.host_bytes - all.memory.host_bytes) / moved, 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (half.memory.parts[QM_MEMORY_WEIGHTS] / all.memory.parts[QM_MEMORY_WEIGHTS], 0.5, 1e-9);
  g_assert_cmpfloat (half.serving.kv_cache_bytes, ==, all.serving.kv_cache_bytes);
  g_assert_cmpfloat (half.serving.token_seconds.p50, >, 0.9 * moved / (0.6 * 50e9));
  g_assert_cmpfloat (half.serving.token_seconds.p50, <, 1.1 * moved / (0.6 * 50e9) + all.serving.token_seconds.p50);
  g_assert_cmpfloat (more.serving.token_seconds.p50, ==, all.serving.token_seconds.p50);
  g_assert_cmpint (more.memory.verdict, ==, QM_VERDICT_FITS);
}

static void
test_processors (Fixture       *fixture,
                 gconstpointer  data)
{
  g_auto (Example) example = { 0 };
  g_auto (Example) processor = { 0 };
  QmEstimate estimate;

  example_init (&processor, "spec-5");
  predict (fixture, processor.plan, processor.model, &estimate);
  g_assert_cmpint (estimate.memory.verdict, ==, QM_VERDICT_UNKNOWN);
  g_assert_cmpfloat (estimate.memory.host_bytes, ==, estimate.memory.need.p50);
  g_assert_true (isnan (estimate.memory.fit_probability));

  /* a card that is left out leaves the speed of the memory to the computer */
  example_init (&example, "spec-1");
  example.plan->configuration.gpu_layers = 0;
  example.plan->configuration.host_memory_bytes_per_second = 40e9;
  predict (fixture, example.plan, example.model, &estimate);
  g_assert_cmpint (estimate.memory.verdict, ==, QM_VERDICT_UNKNOWN);
  g_assert_cmpfloat (estimate.serving.decode_tokens_per_second.p50, <, 40e9 / (4.5 / 8 * LLAMA_3_8B * 0.87));
}

/* vLLM's log of Llama-3-8B on one H100: 57.2 GB are set aside for caches. The
 * reserve is a round figure, so within 3 %. */
static void
test_pool (Fixture       *fixture,
           gconstpointer  data)
{
  g_auto (Example) example = { 0 };
  QmEstimate estimate;

  example_init (&example, "spec-2");
  predict (fixture, example.plan, example.model, &estimate);
  g_assert_cmpfloat_with_epsilon (estimate.serving.kv_pool_bytes / 57219701801.0, 1, 0.03);
  g_assert_cmpfloat (estimate.memory.device.p50, ==, 0.9 * 80 * GIB);
  g_assert_cmpfloat (estimate.serving.cold_start_factor_low, ==, 3);
  g_assert_cmpfloat (estimate.serving.cold_start_factor_high, ==, 5);
}

/* Twice the replicas for twice the sequences: twice the rate, the same wait. */
static void
test_replicas (Fixture       *fixture,
               gconstpointer  data)
{
  g_auto (Example) example = { 0 };
  QmEstimate one, two;

  example_init (&example, "spec-2");
  predict (fixture, example.plan, example.model, &one);
  example.plan->serving.concurrency *= 2;
  example.plan->configuration.devices = 2;
  example.plan->configuration.data_parallel = 2;
  predict (fixture, example.plan, example.model, &two);

  g_assert_cmpfloat_with_epsilon (two.throughput.per_second.p50 / one.throughput.per_second.p50, 2, 1e-12);
  g_assert_cmpfloat_with_epsilon (two.serving.kv_cache_bytes / one.serving.kv_cache_bytes, 2, 1e-12);
  g_assert_cmpfloat (two.serving.token_seconds.p50, ==, one.serving.token_seconds.p50);
  g_assert_cmpfloat (two.memory.need.p50, ==, one.memory.need.p50);
  g_assert_cmpfloat (two.throughput.per_device_per_second.p50, ==, one.throughput.per_device_per_second.p50);
  g_assert_cmpfloat (two.serving.requests_per_second, ==, one.serving.requests_per_second);
  g_assert_cmpfloat_with_epsilon (one.throughput.samples_per_second, one.throughput.per_second.p50 / 128, 1e-9);
}

static void
test_same_kernels (Fixture       *fixture,
                   gconstpointer  data)
{
  g_auto (Example) example = { 0 };
  QmEstimate one, other;

  example_init (&example, "spec-1");
  predict (fixture, example.plan, example.model, &one);
  qm_word_set (example.plan->serving.engine, "ollama");
  predict (fixture, example.plan, example.model, &other);

  g_assert_cmpfloat (one.serving.decode_tokens_per_second.p10, ==, other.serving.decode_tokens_per_second.p10);
  g_assert_cmpfloat (one.memory.device.p90, ==, other.memory.device.p90);
  g_assert_cmpstr (other.serving_plan.engine, ==, "ollama");
}

static void
assert_ordered (QmRange range)
{
  g_assert_true (isfinite (range.p90));
  g_assert_cmpfloat (range.p10, >, 0);
  g_assert_cmpfloat (range.p10, <=, range.p50);
  g_assert_cmpfloat (range.p50, <=, range.p90);
}

/* No device hands out bytes faster than its data sheet says: the matrices of a
 * model with 6.98·10⁹ parameters outside embedding and head. */
static void
check_roofline (Fixture        *fixture,
                const Example  *example,
                const QmDevice *device,
                double          bits)
{
  g_autoptr (QmLlmInference) inference = qm_llm_inference_new (fixture->constants, example->plan, example->model);
  double bandwidth = device->bandwidth_bytes_per_second;
  double sum = 0;
  QmEstimate estimate;

  qm_estimate_clear (&estimate);
  qm_llm_inference_predict (inference, device, &example->plan->configuration, &estimate);
  assert_ordered (estimate.memory.need);
  assert_ordered (estimate.throughput.per_second);
  assert_ordered (estimate.serving.decode_tokens_per_second);
  assert_ordered (estimate.serving.prefill_tokens_per_second);
  assert_ordered (estimate.serving.first_token_seconds);
  if (bandwidth > 0)
    g_assert_cmpfloat (estimate.serving.decode_tokens_per_second.p50, <, bandwidth / (6.97e9 * bits / 8));
  for (int i = 0; i < QM_MEMORY_N_PARTS; i++)
    sum += estimate.memory.parts[i];
  g_assert_cmpfloat_with_epsilon (sum / estimate.memory.need.p50, 1, 1e-12);
}

static void
test_roofline (Fixture       *fixture,
               gconstpointer  data)
{
  static const char *const engines[] = { "llama.cpp", "vllm", "transformers", "neuron", "lmdeploy", "never-heard-of" };
  static const struct {
    const char *word;
    double bits;
  } formats[] = { { "bf16", 16 }, { "fp8", 8 }, { "gguf-q4_k_m", 4.8 }, { "gptq-int4", 4.15 }, { "exl2-3.5", 3.5 } };
  g_auto (Example) example = { 0 };

  example_init (&example, "spec-1");
  for (guint d = 0; d < qm_catalog_n_devices (fixture->catalog); d++)
    {
      for (gsize e = 0; e < G_N_ELEMENTS (engines); e++)
        {
          for (gsize f = 0; f < G_N_ELEMENTS (formats); f++)
            {
              qm_word_set (example.plan->serving.engine, engines[e]);
              qm_word_set (example.plan->serving.weights, formats[f].word);
              check_roofline (fixture, &example, qm_catalog_device (fixture->catalog, d), formats[f].bits);
            }
        }
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("missing-constants", test_missing_constants);
  ADD ("unknown-words", test_unknown_words);
  ADD ("losses", test_losses);
  ADD ("weight-bytes", test_weight_bytes);
  ADD ("contexts", test_contexts);
  ADD ("verdicts", test_verdicts);
  ADD ("partly-in-system-memory", test_partly_in_system_memory);
  ADD ("processors", test_processors);
  ADD ("pool", test_pool);
  ADD ("replicas", test_replicas);
  ADD ("same-kernels", test_same_kernels);
  ADD ("roofline", test_roofline);

  return g_test_run ();
}
