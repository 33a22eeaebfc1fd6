/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "decide/qm-choices.h"

/* Memory that follows from the shapes alone, worked out by hand; no fitted
 * constant has a part in it. Rules of thumb are in test-rules. */

#define GIB (1024.0 * 1024 * 1024)

#define assert_near(found, expected, relative) g_assert_cmpfloat_with_epsilon ((found) / (expected), 1, relative)

static QmCatalog *catalog;
static QmEstimator *estimator;

static QmEstimate
estimate_of (const char *text)
{
  g_autofree char *json = g_strdelimit (g_strdup (text), "'", '"');
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (json, -1, NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;
  QmChoice choice;
  QmEstimate estimate;

  g_assert_no_error (error);
  resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, &error));
  estimate = choice.estimate;
  qm_choice_clear (&choice);

  return estimate;
}

static double
states_of (const char *model,
           int         devices,
           const char *sharding)
{
  g_autofree char *text = g_strdup_printf (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'train', 'model': {'id': '%s'},"
    " 'training': {'framework': 'pytorch', 'precision': 'amp-bf16', 'optimizer': 'adamw', 'sequence_length': 128,"
    " 'activation_checkpointing': 'full'}, 'configuration': {'device': 'h200-sxm-141gb', 'devices': %d, 'data_parallel': %d,"
    " 'tensor_parallel': 1, 'pipeline_parallel': 1, 'micro_batch': 1, 'sharding': '%s'}}", model, devices, devices, sharding);
  QmMemory memory = estimate_of (text).memory;

  return memory.parts[QM_MEMORY_WEIGHTS] + memory.parts[QM_MEMORY_GRADIENTS] + memory.parts[QM_MEMORY_OPTIMIZER];
}

/* 16 bytes a parameter: 119.660 GiB for 8,030,261,248, an eighth on each of
 * eight; 1,051.33 GiB for 70,553,706,496. */
static void
test_states (void)
{
  assert_near (states_of ("llama-3.1-8b", 1, "none") / GIB, 119.660, 1e-5);
  assert_near (states_of ("llama-3.1-8b", 8, "zero3") / GIB, 14.958, 5e-5);
  assert_near (states_of ("llama-3.1-70b", 1, "none") / GIB, 1051.33, 1e-5);
}

/* Rank 16 at all linear layers of Llama 3 8B: 41,943,040 parameters, 640 MiB of
 * states at 16 bytes. */
static void
test_adapter (void)
{
  QmEstimate estimate = estimate_of (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'fine-tune', 'model': {'id': 'llama-3.1-8b'},"
    " 'training': {'method': 'lora', 'lora_rank': 16, 'lora_targets': ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj',"
    " 'up_proj', 'down_proj'], 'framework': 'pytorch', 'precision': 'amp-bf16', 'base_weights': 'bf16', 'optimizer': 'adamw',"
    " 'sequence_length': 512}, 'configuration': {'device': 'h200-sxm-141gb', 'devices': 1, 'micro_batch': 1}}");
  const double *parts = estimate.memory.parts;

  g_assert_cmpfloat (estimate.trainable_parameters, ==, 41943040);
  assert_near (parts[QM_MEMORY_GRADIENTS] + parts[QM_MEMORY_OPTIMIZER], 640 * 1024 * 1024.0, 1e-9);
  assert_near (parts[QM_MEMORY_WEIGHTS], 2 * 8030261248.0, 1e-9);
}

static QmEstimate
serve (const char *model,
       int         tokens,
       const char *weights)
{
  g_autofree char *text = g_strdup_printf (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'serve', 'model': {'id': '%s'},"
    " 'serving': {'engine': 'llama.cpp', 'weights': '%s', 'kv_cache': 'bf16', 'input_tokens': %d, 'output_tokens': 1, 'concurrency': 1},"
    " 'configuration': {'device': 'h200-sxm-141gb', 'devices': 1}}", model, weights, tokens - 1);

  return estimate_of (text);
}

/* Two times layers, key-value heads and head size, in 16 bits; a latent of 576
 * in 61 layers; windows of 4,096 in 21 of 42 layers. */
static void
test_cache (void)
{
  g_assert_cmpfloat (serve ("llama-2-7b", 1024, "gguf-f16").kv_cache_bytes_per_token, ==, 524288);
  g_assert_cmpfloat (serve ("llama-3.1-8b", 1024, "gguf-f16").kv_cache_bytes_per_token, ==, 131072);
  g_assert_cmpfloat (serve ("llama-3.1-70b", 1024, "gguf-f16").kv_cache_bytes_per_token, ==, 327680);
  g_assert_cmpfloat (serve ("deepseek-v3", 1024, "gguf-f16").kv_cache_bytes_per_token, ==, 70272);
  assert_near (serve ("llama-3.1-8b", 131072, "gguf-f16").memory.parts[QM_MEMORY_KV_CACHE], 16 * GIB, 1e-9);
  assert_near (serve ("deepseek-v3", 131072, "gguf-f16").memory.parts[QM_MEMORY_KV_CACHE] / GIB, 8.578, 1e-4);
  assert_near (serve ("gemma-2-9b", 8192, "gguf-f16").memory.parts[QM_MEMORY_KV_CACHE] / GIB, 1.96875, 1e-9);
}

/* Files that llama.cpp publishes for Llama 3.1 8B: 4.58, 7.95 and 14.96 GiB. */
static void
test_files (void)
{
  assert_near (serve ("llama-3.1-8b", 512, "gguf-q4_k_m").memory.parts[QM_MEMORY_WEIGHTS] / GIB, 4.58, 0.01);
  assert_near (serve ("llama-3.1-8b", 512, "gguf-q8_0").memory.parts[QM_MEMORY_WEIGHTS] / GIB, 7.95, 0.002);
  assert_near (serve ("llama-3.1-8b", 512, "gguf-f16").memory.parts[QM_MEMORY_WEIGHTS] / GIB, 14.96, 0.001);
}

static double
activations_of (int images)
{
  g_autofree char *text = g_strdup_printf (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'image-classification', 'activity': 'train', 'model': {'id': 'resnet50'},"
    " 'training': {'precision': 'fp32', 'optimizer': 'sgd-momentum', 'image_size': 224, 'framework': 'pytorch'},"
    " 'configuration': {'device': 'h200-sxm-141gb', 'devices': 1, 'micro_batch': %d}}", images);

  return estimate_of (text).memory.parts[QM_MEMORY_ACTIVATIONS];
}

/* ResNet-50 in 32 bits: 86.0 MB an image were measured, 88.9 follow from 11.11
 * million activations, each once before and once after its norm. */
static void
test_images (void)
{
  assert_near ((activations_of (128) - activations_of (64)) / 64, 86.0e6, 0.06);
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

  g_test_add_func ("/vectors/states", test_states);
  g_test_add_func ("/vectors/adapter", test_adapter);
  g_test_add_func ("/vectors/cache", test_cache);
  g_test_add_func ("/vectors/files", test_files);
  g_test_add_func ("/vectors/images", test_images);
  status = g_test_run ();

  g_object_unref (estimator);
  g_object_unref (catalog);
  return status;
}
