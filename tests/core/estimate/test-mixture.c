/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-choices.h"

/* Mixtures of experts of which a plan tells the counts alone: what one token
 * meets makes the speed, all that there is makes the memory. */

static QmCatalog *catalog;
static QmEstimator *estimator;

/* Single quotes in @text are double ones. */
static QmEstimate
estimate_of (const char *model,
             const char *rest)
{
  g_autofree char *json = g_strdup_printf ("{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model',"
                                           " 'model': {%s}, %s}", model, rest);
  g_autoptr (JsonNode) node = json_from_string (g_strdelimit (json, "'", '"'), NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_object (json_node_get_object (node), NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;
  QmEstimate figures = { 0 };
  QmChoice choice;

  g_assert_no_error (error);
  resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, &error));
  figures.memory = choice.estimate.memory;
  figures.throughput = choice.estimate.throughput;
  figures.serving = choice.estimate.serving;
  qm_choice_clear (&choice);

  return figures;
}

static void
assert_within (QmRange range,
               double  measured)
{
  g_test_message ("%.1f to %.1f, measured %.1f", range.p10, range.p90, measured);
  g_assert_cmpfloat (range.p10, <=, measured);
  g_assert_cmpfloat (range.p90, >=, measured);
}

#define GPT_OSS_SERVED "'activity': 'serve', 'serving': {'engine': 'llama.cpp', 'weights': 'gguf-mxfp4', 'concurrency': 1}," \
                       " 'configuration': {'device': 'rtx-4090', 'devices': 1}"

/* gpt-oss-20b on an RTX 4090 in llama.cpp: 279.65 tokens a second (measured by
 * J. Geerling, geerlingguy/ai-benchmarks). */
static void
test_served (void)
{
  QmEstimate mixture = estimate_of ("'parameters': 20.9e9, 'active_parameters': 3.6e9", GPT_OSS_SERVED);
  QmEstimate dense = estimate_of ("'parameters': 20.9e9", GPT_OSS_SERVED);
  double speed = mixture.serving.decode_tokens_per_second.p50;

  assert_within (mixture.serving.decode_tokens_per_second, 279.65);
  g_assert_cmpfloat (dense.serving.decode_tokens_per_second.p50, <, 0.5 * speed);
  g_assert_cmpfloat_with_epsilon (mixture.memory.parts[QM_MEMORY_WEIGHTS] / dense.memory.parts[QM_MEMORY_WEIGHTS], 1, 0.05);
}

/* Qwen3-30B-A3B in FP8 on an H20 in SGLang: 155.55 tokens a second (Qwen's page on speed). */
static void
test_served_by_a_server (void)
{
  QmEstimate mixture = estimate_of ("'parameters': 30.5e9, 'active_parameters': 3.35e9",
                                    "'activity': 'serve', 'serving': {'engine': 'sglang', 'weights': 'fp8', 'concurrency': 1},"
                                    " 'configuration': {'device': 'h20-96gb', 'devices': 1}");

  assert_within (mixture.serving.decode_tokens_per_second, 155.55);
}

#define TRAINED "'activity': 'train', 'training': {'precision': 'bf16', 'method': 'full', 'optimizer': 'adamw'," \
                " 'sequence_length': 2048, 'tokens': 1e9}, 'configuration': {'device': 'h100-sxm5-80gb', 'devices': 64," \
                " 'nodes': 8, 'sharding': 'zero3', 'micro_batch': 1}"

/* A trained token costs 6 FLOPs for each parameter that it meets (Kaplan 2020),
 * attention on top; states are those of all parameters. */
static void
test_trained (void)
{
  QmEstimate mixture = estimate_of ("'parameters': 30e9, 'active_parameters': 3e9", TRAINED);
  QmEstimate dense = estimate_of ("'parameters': 30e9", TRAINED);
  double flops = mixture.throughput.tflops_per_device * 1e12 / mixture.throughput.per_device_per_second.p50;
  const QmMemoryPart states[] = { QM_MEMORY_WEIGHTS, QM_MEMORY_GRADIENTS, QM_MEMORY_OPTIMIZER };

  g_assert_cmpfloat (flops, >=, 6 * 3e9);
  g_assert_cmpfloat (flops, <, 1.15 * 6 * 3e9);
  g_assert_cmpfloat (mixture.throughput.per_second.p50, >, dense.throughput.per_second.p50);
  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    g_assert_cmpfloat_with_epsilon (mixture.memory.parts[states[i]], dense.memory.parts[states[i]], 1e6);
}

#define LLAMA "'architecture': {'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 32, 'num_attention_heads': 32," \
              " 'num_key_value_heads': 8, 'intermediate_size': 14336, 'vocab_size': 32000}, 'parameters': 46.7e9"

/* Sizes that tell no experts, and counts that do, as of Mixtral 8x7B: read as if
 * there were a part of the bytes. */
static void
test_sizes_without_experts (void)
{
  const char *const served = "'activity': 'serve', 'serving': {'engine': 'vllm', 'weights': 'bf16', 'concurrency': 1},"
                             " 'configuration': {'device': 'h200-sxm-141gb', 'devices': 1}";
  double all = estimate_of (LLAMA, served).serving.decode_tokens_per_second.p50;
  double part = estimate_of (LLAMA ", 'active_parameters': 12.9e9", served).serving.decode_tokens_per_second.p50;

  g_assert_cmpfloat (part, >, 2 * all);
  g_assert_cmpfloat (part, <, 46.7 / 12.9 * 1.1 * all);
}

int
main (int    argc,
      char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  catalog = qm_catalog_load (directory, NULL, &error);
  g_assert_no_error (error);
  estimator = qm_estimator_new (catalog, &error);
  g_assert_no_error (error);

  g_test_add_func ("/mixture/served", test_served);
  g_test_add_func ("/mixture/served-by-a-server", test_served_by_a_server);
  g_test_add_func ("/mixture/trained", test_trained);
  g_test_add_func ("/mixture/sizes-without-experts", test_sizes_without_experts);
  status = g_test_run ();

  g_object_unref (estimator);
  g_object_unref (catalog);
  return status;
}
