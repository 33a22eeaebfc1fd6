/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "decide/qm-choices.h"

/* What follows from the shapes alone, worked out by hand, and what was published
 * or measured. Rules of thumb are in test-rules. */

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

/* ------------------------------------------------------------------- training */

static QmEstimate
train (const char *model,
       const char *framework,
       const char *checkpointing)
{
  g_autofree char *text = g_strdup_printf (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'train', 'model': {'id': '%s'},"
    " 'training': {'framework': '%s', 'precision': 'bf16', 'optimizer': 'adamw', 'sequence_length': 4096,"
    " 'activation_checkpointing': '%s'}, 'configuration': {'device': 'h200-sxm-141gb', 'devices': 8, 'data_parallel': 8,"
    " 'micro_batch': 1, 'sharding': 'zero3'}}", model, framework, checkpointing);

  return estimate_of (text);
}

/* What layers keep of 4,096 tokens: 22.750 and 24.50 GiB where every operation
 * keeps what it reads, 16.0625 and 17.00 where they are fused. With full
 * checkpointing the inputs of 32 layers, 1 GiB, and at most one layer beside
 * them, which makes 1.711. */
static void
test_activations (void)
{
  double kept;

  assert_near (train ("llama-2-7b", "transformers", "none").memory.parts[QM_MEMORY_ACTIVATIONS] / GIB, 22.750, 0.005);
  assert_near (train ("llama-3.1-8b", "transformers", "none").memory.parts[QM_MEMORY_ACTIVATIONS] / GIB, 24.50, 0.005);
  assert_near (train ("llama-2-7b", "megatron", "none").memory.parts[QM_MEMORY_ACTIVATIONS] / GIB, 16.0625, 0.005);
  assert_near (train ("llama-3.1-8b", "megatron", "none").memory.parts[QM_MEMORY_ACTIVATIONS] / GIB, 17.00, 0.005);
  kept = train ("llama-2-7b", "transformers", "full").memory.parts[QM_MEMORY_ACTIVATIONS] / GIB;
  g_assert_cmpfloat (kept, >=, 1);
  g_assert_cmpfloat (kept, <=, 1.711);
}

/* 175 billion parameters on 64 devices, as Korthikanti et al. 2022 trained them. */
static QmEstimate
train_175b (const char *checkpointing,
            gboolean    sequence_parallel)
{
  g_autofree char *text = g_strdup_printf (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'train', 'model': {'architecture':"
    " {'model_type': 'gpt2', 'n_embd': 12288, 'n_layer': 96, 'n_head': 96, 'n_positions': 2048, 'vocab_size': 51200,"
    " 'activation_function': 'gelu_new', 'tie_word_embeddings': true}}, 'training': {'framework': 'megatron',"
    " 'precision': 'amp-fp16', 'optimizer': 'adamw', 'sequence_length': 2048, 'attention': 'eager', 'global_batch': 64,"
    " 'activation_checkpointing': '%s'}, 'configuration': {'device': 'a100-sxm4-80gb', 'devices': 64, 'nodes': 8,"
    " 'data_parallel': 1, 'tensor_parallel': 8, 'pipeline_parallel': 8, 'virtual_pipeline': 3, 'sequence_parallel': %s,"
    " 'micro_batch': 1, 'sharding': 'none'}}", checkpointing, sequence_parallel ? "true" : "false");

  return estimate_of (text);
}

/* Activations of the first stage, figure 1 there: 66.84 GiB, and 12.35 with
 * sequence parallelism where attention is computed again. Two of 34 bytes there
 * are masks of dropout behind attention and feed-forward, which later networks do
 * without and which are not counted here. */
static void
test_pipeline (void)
{
  assert_near (train_175b ("none", FALSE).memory.parts[QM_MEMORY_ACTIVATIONS] / GIB, 66.84, 0.02);
  assert_near (train_175b ("selective", TRUE).memory.parts[QM_MEMORY_ACTIVATIONS] / GIB, 12.35 * 32 / 34, 0.02);
}

/* A step took 18.13 s, and 13.75 s, table 5 there. */
static void
test_steps (void)
{
  QmRange full = train_175b ("full", FALSE).throughput.step_seconds, part = train_175b ("selective", TRUE).throughput.step_seconds;

  assert_near (full.p50, 18.13, 0.10);
  assert_near (part.p50, 13.75, 0.10);
  g_assert_cmpfloat (full.p10, <, 18.13);
  g_assert_cmpfloat (full.p90, >, 18.13);
  g_assert_cmpfloat (part.p10, <, 13.75);
  g_assert_cmpfloat (part.p90, >, 13.75);
}

/* Llama 3 8B, 8,192 tokens that see what is before them: six FLOP for each
 * parameter that multiplies, 4.5030e10, and 6.4425e9 of attention. */
static void
test_work (void)
{
  QmThroughput found = estimate_of (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'train', 'model': {'id': 'llama-3.1-8b'},"
    " 'training': {'framework': 'transformers', 'precision': 'bf16', 'optimizer': 'adamw', 'sequence_length': 8192,"
    " 'activation_checkpointing': 'none'}, 'configuration': {'device': 'h100-sxm5-80gb', 'devices': 8, 'data_parallel': 8,"
    " 'micro_batch': 1, 'sharding': 'zero3'}}").throughput;

  assert_near (found.tflops_per_device * 1e12 / found.per_device_per_second.p50, 4.5030e10 + 6.4425e9, 1e-4);
}

/* Four bits in blocks of 64: 5.311 GiB where the scales are packed as well, half
 * a bit more where they are not; adapters are at most 160 MiB. */
static void
test_quantised (void)
{
  double found = estimate_of (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'fine-tune', 'model': {'id': 'llama-3.1-8b'},"
    " 'training': {'method': 'qlora', 'lora_rank': 16, 'framework': 'transformers', 'base_weights': 'nf4', 'sequence_length': 512},"
    " 'configuration': {'device': 'h100-sxm5-80gb', 'devices': 1, 'micro_batch': 1}}").memory.parts[QM_MEMORY_WEIGHTS] / GIB;

  g_assert_cmpfloat (found, >=, 5.311);
  g_assert_cmpfloat (found, <=, 5.311 + 6.98e9 * (4.5 - 4.127) / 8 / GIB + 160 / 1024.0);
}

/* 104.9 tokens a second were measured of Llama 2 7B in 16 bits on an A100 with
 * compiled PyTorch; more than its memory gives, 2,039 GB/s, cannot be. */
static void
test_decode (void)
{
  QmRange found = estimate_of (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'serve', 'model': {'id': 'llama-2-7b'},"
    " 'serving': {'engine': 'pytorch', 'weights': 'bf16', 'input_tokens': 5, 'output_tokens': 200, 'concurrency': 1},"
    " 'configuration': {'device': 'a100-sxm4-80gb', 'devices': 1}}").serving.decode_tokens_per_second;

  g_assert_cmpfloat (found.p10, <, 104.9);
  g_assert_cmpfloat (found.p90, >, 104.9);
  g_assert_cmpfloat (found.p90, <, 2039e9 / (2 * 6738415616.0));
}

/* As published, to the last parameter; what the config.json says, too. */
static void
test_parameters (void)
{
  static const struct { const char *id; const char *task; double parameters; } models[] = {
    { "llama-3.1-8b", "language-model", 8030261248 }, { "llama-3.1-70b", "language-model", 70553706496 },
    { "llama-3.1-405b", "language-model", 405853388800 }, { "deepseek-v3", "language-model", 671026404352 },
    { "bert-base-uncased", "text-encoder", 109482240 }, { "t5-base", "language-model", 222903552 },
    { "gpt2", "language-model", 124439808 }, { "mamba-2.8b", "language-model", 2768345600 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"%s\",\"activity\":\"train\","
                                               "\"model\":{\"id\":\"%s\"}}", models[i].task, models[i].id);
      g_autoptr (QmPlan) plan = qm_plan_from_data (text, -1, NULL, NULL);
      g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, NULL);

      g_test_message ("%s", models[i].id);
      g_assert_nonnull (resolved);
      g_assert_cmpfloat (resolved->model->parameters, ==, models[i].parameters);
      g_assert_true (resolved->model->architecture.known);
      g_assert_cmpfloat (resolved->model->architecture.parameters, ==, models[i].parameters);
    }
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
  g_test_add_func ("/vectors/activations", test_activations);
  g_test_add_func ("/vectors/pipeline", test_pipeline);
  g_test_add_func ("/vectors/steps", test_steps);
  g_test_add_func ("/vectors/work", test_work);
  g_test_add_func ("/vectors/quantised", test_quantised);
  g_test_add_func ("/vectors/decode", test_decode);
  g_test_add_func ("/vectors/parameters", test_parameters);
  status = g_test_run ();

  g_object_unref (estimator);
  g_object_unref (catalog);
  return status;
}
