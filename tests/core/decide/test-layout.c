/* SPDX-License-Identifier: GPL-3.0-or-later */

/* How models are split over devices, and between device and system memory, by
 * counting what engines do with published configurations. */

#include "decide/qm-choices.h"
#include "shipped.h"

#include <math.h>

#define MODEL_PLAN(rest) PLAN ("\"task\":\"language-model\"," rest)

static QmEstimate
estimate_of (const char *text)
{
  g_autoptr (QmResolved) resolved = resolve (text);
  g_autoptr (GError) error = NULL;
  QmChoice choice;
  QmEstimate estimate;

  g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, &error));
  estimate = choice.estimate;
  qm_choice_clear (&choice);

  return estimate;
}

static gboolean
warns_of (const char *text,
          const char *code)
{
  g_autoptr (QmResolved) resolved = resolve (text);
  g_autoptr (GPtrArray) warnings = NULL;
  g_autoptr (GError) error = NULL;
  QmChoice choice;
  gboolean found = FALSE;

  g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, &error));
  warnings = qm_estimate_warnings (estimator, resolved, &choice);
  for (guint i = 0; i < warnings->len; i++)
    found = found || g_str_equal (qm_message_get_code (g_ptr_array_index (warnings, i)), code);
  qm_choice_clear (&choice);

  return found;
}

#define SERVE(model, ways) MODEL_PLAN ("\"activity\":\"serve\",\"model\":{\"id\":\"" model "\"},\"serving\":{\"engine\":\"vllm\",\"concurrency\":16," \
                                 "\"input_tokens\":3072,\"output_tokens\":1024},\"configuration\":{\"device\":\"h200-sxm-141gb\",\"devices\":" ways "," \
                                 "\"tensor_parallel\":" ways "}")
#define TRAIN(split) MODEL_PLAN ("\"activity\":\"train\",\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"full\",\"global_batch\":100}," \
                           "\"configuration\":{\"device\":\"h100-sxm5-80gb\",\"devices\":24," split "}")

/* 28 query heads and 4 of keys and values: engines start with 2 and 4 devices, and not with 8. */
static void
test_uneven (void)
{
  g_assert_true (warns_of (SERVE ("qwen2.5-7b", "8"), "heads-uneven"));
  g_assert_true (warns_of (SERVE ("qwen2.5-7b", "3"), "heads-uneven"));
  g_assert_false (warns_of (SERVE ("qwen2.5-7b", "4"), "heads-uneven"));
  g_assert_false (warns_of (SERVE ("qwen2.5-7b", "4"), "cache-repeated"));
  g_assert_true (warns_of (SERVE ("llama-3.1-70b", "16"), "cache-repeated"));
  g_assert_true (warns_of (SERVE ("deepseek-v3", "8"), "cache-repeated"));
  /* 32 layers, of a batch of 100 */
  g_assert_true (warns_of (TRAIN ("\"pipeline_parallel\":3,\"micro_batch\":1"), "layers-uneven"));
  g_assert_false (warns_of (TRAIN ("\"pipeline_parallel\":4,\"micro_batch\":1"), "layers-uneven"));
  g_assert_true (warns_of (TRAIN ("\"pipeline_parallel\":4,\"data_parallel\":6,\"micro_batch\":1"), "batch-uneven"));
  g_assert_false (warns_of (TRAIN ("\"pipeline_parallel\":6,\"data_parallel\":4,\"micro_batch\":5"), "batch-uneven"));
}

/* Keys and values of 8 heads over 16 devices are on each two: as much as over 8. A
 * latent (512 + 64 elements in 61 layers) is on each whole. */
static void
test_cache_copies (void)
{
  const QmEstimate eight = estimate_of (SERVE ("llama-3.1-70b", "8")), sixteen = estimate_of (SERVE ("llama-3.1-70b", "16"));
  const QmEstimate latent = estimate_of (SERVE ("deepseek-v3", "8"));
  double tokens = 16 * 4096.0;

  g_assert_cmpfloat_with_epsilon (eight.memory.parts[QM_MEMORY_KV_CACHE] / (tokens * 2 * 80 * 8 * 128 * 2 / 8), 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (sixteen.memory.parts[QM_MEMORY_KV_CACHE] / eight.memory.parts[QM_MEMORY_KV_CACHE], 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (latent.memory.parts[QM_MEMORY_KV_CACHE] / (tokens * 61 * 576 * 2), 1, 1e-9);
}

/* No choice of the search has a head on two devices. */
static void
test_search (void)
{
  static const char * const models[] = { "qwen2.5-7b", "starcoder2-7b", "falcon-7b", "smollm2-360m" };
  guint shared = 0;

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *text = g_strdup_printf (MODEL_PLAN ("\"activity\":\"serve\",\"model\":{\"id\":\"%s\"},\"serving\":{\"engine\":\"vllm\",\"weights\":\"fp32\","
        "\"concurrency\":2,\"input_tokens\":500},\"places\":{\"owned\":[{\"device\":\"t4\",\"devices\":8}],\"cloud\":[],\"buy\":false}"), models[i]);
      g_autoptr (QmResolved) resolved = resolve (text);
      g_autoptr (QmRecommendation) answer = qm_recommend (estimator, resolved, NULL, NULL);

      for (guint j = 0; j < qm_recommendation_n_rows (answer); j++)
        {
          const QmConfiguration *found = &qm_recommendation_row (answer, j)->estimate.configuration;

          g_assert_cmpfloat (fmod (resolved->model->architecture.heads, MAX (1, found->tensor_parallel)), ==, 0);
          shared += found->tensor_parallel * found->pipeline_parallel > 1;
        }
    }
  g_assert_cmpuint (shared, >, 0);
}

#define EXPERTS(model, layers) MODEL_PLAN ("\"activity\":\"serve\",\"model\":{\"id\":\"" model "\"},\"serving\":{\"engine\":\"llama.cpp\"," \
                                     "\"weights\":\"gguf-q8_0\",\"concurrency\":1},\"configuration\":{\"device\":\"rtx-4090\"," \
                                     "\"host_memory_bytes_per_second\":8e10,\"cpu_expert_layers\":" layers "}")

/* What is moved: layers × experts × 3 matrices, at 34 bytes for each 32 weights. */
static void
assert_moved (const QmEstimate *before,
              const QmEstimate *after,
              double            weights)
{
  double bytes = weights * 34 / 32;

  g_assert_cmpfloat_with_epsilon ((before->memory.parts[QM_MEMORY_WEIGHTS] - after->memory.parts[QM_MEMORY_WEIGHTS]) / bytes, 1, 0.002);
  g_assert_cmpfloat_with_epsilon ((after->memory.host_bytes - before->memory.host_bytes) / bytes, 1, 0.002);
  g_assert_cmpfloat (after->memory.parts[QM_MEMORY_KV_CACHE], ==, before->memory.parts[QM_MEMORY_KV_CACHE]);
}

/* Experts alone in system memory: Mixtral-8x7B, and DeepSeek-V3, whose first three layers have none. */
static void
test_experts_outside (void)
{
  const QmEstimate all = estimate_of (EXPERTS ("mixtral-8x7b", "null")), half = estimate_of (EXPERTS ("mixtral-8x7b", "16"));
  const QmEstimate none = estimate_of (EXPERTS ("mixtral-8x7b", "99"));
  const QmEstimate large = estimate_of (EXPERTS ("deepseek-v3", "3")), gone = estimate_of (EXPERTS ("deepseek-v3", "61"));
  double used = 32 * 2 * 3 * 4096.0 * 14336 * 34 / 32;

  assert_moved (&all, &half, 16 * 8 * 3 * 4096.0 * 14336);
  assert_moved (&all, &none, 32 * 8 * 3 * 4096.0 * 14336);
  assert_moved (&large, &gone, 58 * 256 * 3 * 7168.0 * 2048);
  g_assert_cmpint (all.memory.verdict, ==, QM_VERDICT_DOES_NOT_FIT);
  g_assert_cmpint (none.memory.verdict, ==, QM_VERDICT_PARTLY_IN_SYSTEM_MEMORY);
  /* two experts of each layer are read for a token, at no more than the bandwidth */
  g_assert_cmpfloat (none.serving.token_seconds.p50, >, used / 8e10);
  g_assert_cmpfloat (none.serving.token_seconds.p50, <, 3 * used / 8e10);
}

/* Each format that a model may come in has an engine that reads it, without one being named. */
static void
test_formats (void)
{
  static const struct { const char *format, *engine; } rows[] = {
    { "nf4", "vllm" }, { "gguf-iq4_xs", "llama.cpp" }, { "gguf-iq2_xxs", "llama.cpp" }, { "gptq-int4", "vllm" }, { "fp16", "vllm" },
    { "int8", "vllm" }, { "mxfp4", "vllm" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = g_strdup_printf (MODEL_PLAN ("\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"},\"serving\":{\"weights\":\"%s\",\"requests_per_second\":0.1},"
        "\"places\":{\"owned\":[{\"device\":\"rtx-4090\",\"devices\":1}],\"cloud\":[],\"buy\":false}"), rows[i].format);
      g_autoptr (QmResolved) resolved = resolve (text);
      g_autoptr (QmRecommendation) answer = qm_recommend (estimator, resolved, NULL, NULL);

      g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
      g_assert_cmpstr (qm_recommendation_choice (answer, 0)->estimate.serving_plan.engine, ==, rows[i].engine);
      g_assert_cmpstr (qm_recommendation_choice (answer, 0)->estimate.serving_plan.weights, ==, rows[i].format);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/core/decide/layout/uneven", test_uneven);
  g_test_add_func ("/core/decide/layout/cache-copies", test_cache_copies);
  g_test_add_func ("/core/decide/layout/search", test_search);
  g_test_add_func ("/core/decide/layout/experts-outside", test_experts_outside);
  g_test_add_func ("/core/decide/layout/formats", test_formats);

  return shipped_run ();
}
