/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "estimate/qm-estimator.h"
#include "plan/qm-defaults.h"
#include "plan/qm-flow.h"

/* Where physics is monotone, so is the need for memory: over many plans drawn at
 * random, with a fixed seed. */

#define PLANS 30

/* Less than allocators round. */
#define ROUNDING 1e-3

static QmCatalog *catalog;
static QmEstimator *estimator;

typedef struct {
  const char *section;
  const char *field;
  const char *values[6];            /* JSON, each needs no less than the one before */
} Ladder;

static JsonObject *
section_of (JsonObject *plan,
            const char *name)
{
  if (!json_object_has_member (plan, name))
    json_object_set_object_member (plan, name, json_object_new ());

  return json_object_get_object_member (plan, name);
}

static void
set (JsonObject *plan,
     const char *section,
     const char *field,
     const char *value)
{
  json_object_set_member (section_of (plan, section), field, json_from_string (value, NULL));
}

static QmResolved *
resolve (JsonObject *object)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_object (object, NULL, &error);
  QmResolved *resolved;

  g_assert_no_error (error);
  resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);

  return resolved;
}

/* A ladder's steps change the answers, not the model. */
static void
answer (QmResolved *resolved,
        const char *section,
        const char *field,
        const char *value)
{
  g_autofree char *path = g_strdup_printf ("%s.%s", section, field);
  g_autofree char *word = g_strdup (value);

  g_strdelimit (word, "\"", ' ');
  g_assert_true (qm_plan_set_field (resolved->plan, path, g_strstrip (word), NULL));
}

/* NaN where nothing can be said. */
static double
need_with (QmResolved      *resolved,
           QmCheckpointing *checkpointing)
{
  g_autoptr (QmEvaluator) evaluator = qm_evaluator_new (estimator, resolved->plan, resolved->model);
  const QmConfiguration *configuration = &resolved->plan->configuration;
  QmEstimate estimate;

  qm_estimate_clear (&estimate);
  qm_evaluator_evaluate (evaluator, qm_catalog_find_device (catalog, configuration->device), configuration, &estimate);
  *checkpointing = estimate.training.activation_checkpointing;

  return estimate.memory.need.p50;
}

static double
need (JsonObject *object)
{
  g_autoptr (QmResolved) resolved = resolve (object);
  QmCheckpointing checkpointing;

  return need_with (resolved, &checkpointing);
}

/* The operations of a network follow from the size of its images. */
static void
step (QmResolved   *resolved,
      const Ladder *ladder,
      guint         i)
{
  g_autoptr (GError) error = NULL;

  answer (resolved, ladder->section, ladder->field, ladder->values[i]);
  if (!g_str_equal (ladder->field, "image_size"))
    return;

  g_clear_pointer (&resolved->model, qm_model_free);
  resolved->model = qm_model_resolve (resolved->plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
assert_grows (JsonObject       *plan,
              const QmResolved *drawn,
              const Ladder     *ladder)
{
  g_autoptr (QmResolved) resolved = qm_resolved_copy (drawn);
  double before = 0;

  for (guint i = 0; i < G_N_ELEMENTS (ladder->values) && ladder->values[i] != NULL; i++)
    {
      QmCheckpointing checkpointing;
      double now;

      step (resolved, ladder, i);
      now = need_with (resolved, &checkpointing);
      if (isnan (now))
        continue;
      if (now < before * (1 - ROUNDING))
        {
          g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), plan);
          g_autofree char *text = json_to_string (node, FALSE);

          g_test_message ("%s.%s: %s needs %.3f GB, less than %.3f GB before: %s", ladder->section, ladder->field,
                          ladder->values[i], now / 1e9, before / 1e9, text);
          g_test_fail ();
        }
      before = now;
    }
}

static const char *
pick (GRand              *random,
      const char * const *words,
      guint               n)
{
  return words[g_rand_int_range (random, 0, n)];
}

#define PICK(random, words) pick (random, words, G_N_ELEMENTS (words))

static JsonObject *
plan_new (const char *task,
          const char *activity,
          const char *model,
          const char *device)
{
  JsonObject *plan = json_object_new ();

  json_object_set_string_member (plan, "format", "quartermaster-plan");
  json_object_set_int_member (plan, "version", 1);
  json_object_set_string_member (plan, "task", task);
  json_object_set_string_member (plan, "activity", activity);
  json_object_set_string_member (section_of (plan, "model"), "id", model);
  json_object_set_string_member (section_of (plan, "configuration"), "device", device);

  return plan;
}

static void
check (JsonObject   *plan,
       const Ladder *ladders,
       guint         n)
{
  g_autoptr (QmResolved) drawn = resolve (plan);

  for (guint i = 0; i < n; i++)
    assert_grows (plan, drawn, &ladders[i]);
}

static const char * const language_models[] = { "llama-2-7b", "llama-3.1-8b", "llama-3.1-70b", "mistral-7b-v0.3", "qwen3-0.6b", "gemma-2-9b" };
static const char * const devices[] = { "\"rtx-4090\"", "\"a100-sxm4-80gb\"", "\"h100-sxm5-80gb\"", "\"l4\"", "\"rtx-3060-12gb\"" };
static const char * const micro_batches[] = { "1", "2", "8" };
static const char * const lengths[] = { "512", "2048", "8192" };
static const char * const methods[] = { "\"full\"", "\"lora\"", "\"qlora\"" };
static const char * const checkpointings[] = { "\"none\"", "\"full\"" };
static const char * const counts[] = { "4", "8", "16" };

static void
test_training (void)
{
  static const Ladder ladders[] = {
    { "configuration", "micro_batch", { "1", "2", "4", "8", "16" } },
    { "training", "sequence_length", { "256", "1024", "2048", "4096", "16384" } },
    /* Autocast keeps the 32-bit weights: it may need more than 32 bits alone. */
    { "training", "precision", { "\"bf16\"", "\"fp32\"" } },
    { "training", "precision", { "\"bf16\"", "\"amp-bf16\"" } },
    { "training", "activation_checkpointing", { "\"full\"", "\"selective\"", "\"none\"" } },
    { "training", "optimizer", { "\"sgd\"", "\"adamw-8bit\"", "\"sgd-momentum\"", "\"adamw\"" } },
    { "training", "lora_rank", { "4", "16", "64", "256" } },
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (1);

  for (int i = 0; i < PLANS; i++)
    {
      g_autoptr (JsonObject) plan = plan_new ("language-model", "fine-tune", PICK (random, language_models), "l4");

      set (plan, "configuration", "device", PICK (random, devices));
      set (plan, "configuration", "micro_batch", PICK (random, micro_batches));
      set (plan, "training", "sequence_length", PICK (random, lengths));
      set (plan, "training", "method", PICK (random, methods));
      set (plan, "training", "activation_checkpointing", PICK (random, checkpointings));
      check (plan, ladders, G_N_ELEMENTS (ladders));
    }
}

static const char * const trainers[] = { "\"peft\"", "\"transformers\"", "\"trl\"", "\"axolotl\"", "\"llama-factory\"", "\"unsloth\"", "\"torchtune\"" };

/* Half of the plans name a trainer. */
static JsonObject *
adapter_plan_new (GRand *random)
{
  static const char * const precisions[] = { "\"bf16\"", "\"amp-bf16\"" };
  JsonObject *plan = plan_new ("language-model", "fine-tune", PICK (random, language_models), "l4");

  set (plan, "configuration", "device", PICK (random, devices));
  set (plan, "configuration", "micro_batch", PICK (random, micro_batches));
  set (plan, "training", "sequence_length", PICK (random, lengths));
  set (plan, "training", "precision", PICK (random, precisions));
  if (g_rand_boolean (random))
    set (plan, "training", "framework", PICK (random, trainers));

  return plan;
}

/* Adapters without dropout keep no input that training all weights does not. */
static void
test_methods (void)
{
  static const Ladder ladder = { "training", "method", { "\"qlora\"", "\"lora\"", "\"full\"" } };
  g_autoptr (GRand) random = g_rand_new_with_seed (5);

  for (int i = 0; i < 4 * PLANS; i++)
    {
      g_autoptr (JsonObject) plan = adapter_plan_new (random);

      set (plan, "training", "lora_dropout", "0");
      set (plan, "training", "activation_checkpointing", PICK (random, checkpointings));
      check (plan, &ladder, 1);
    }
}

/* With dropout they keep a copy of each input and its mask: without recomputation
 * that may weigh more than the states of a small model, but no base does. */
static void
test_methods_with_dropout (void)
{
  static const Ladder bases = { "training", "method", { "\"qlora\"", "\"lora\"" } };
  static const Ladder methods_again = { "training", "method", { "\"qlora\"", "\"lora\"", "\"full\"" } };
  g_autoptr (GRand) random = g_rand_new_with_seed (7);

  for (int i = 0; i < 4 * PLANS; i++)
    {
      g_autoptr (JsonObject) plan = adapter_plan_new (random);

      set (plan, "training", "activation_checkpointing", "\"none\"");
      check (plan, &bases, 1);
      set (plan, "training", "activation_checkpointing", "\"full\"");
      check (plan, &methods_again, 1);
    }
}

/* What an adapter keeps with dropout (PEFT's Linear: lora_A (dropout (x))): of each
 * input a mask of a byte and a 16-bit copy, q, k and v, gate and up their own; without
 * it, training all weights keeps one of each. Only where that is more than the
 * gradients and averages that adapters save may they need more than all weights do. */
static void
test_dropout_by_count (void)
{
  static const struct { const char *id; double layers, hidden, ffn, weights; } models[] = {
    { "llama-3.1-8b", 32, 4096, 14336, 8.03e9 }, { "qwen3-0.6b", 28, 1024, 3072, 0.6e9 }, { "llama-2-7b", 32, 4096, 11008, 6.74e9 },
  };
  static const int lengths_tried[] = { 512, 2048, 8192, 32768, 131072 };
  guint more = 0, less = 0;

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    for (guint j = 0; j < G_N_ELEMENTS (lengths_tried); j++)
      {
        g_autoptr (JsonObject) plan = plan_new ("language-model", "fine-tune", models[i].id, "h100-sxm5-80gb");
        g_autofree char *length = g_strdup_printf ("%d", lengths_tried[j]);
        double extra = lengths_tried[j] * models[i].layers * (12 * models[i].hidden + models[i].ffn);
        double lora, full;

        set (plan, "training", "sequence_length", length);
        set (plan, "training", "precision", "\"bf16\"");
        set (plan, "training", "activation_checkpointing", "\"none\"");
        set (plan, "training", "lora_dropout", "0.05");
        set (plan, "configuration", "micro_batch", "1");
        set (plan, "training", "method", "\"lora\"");
        lora = need (plan);
        set (plan, "training", "method", "\"full\"");
        full = need (plan);

        /* two bytes of gradient and four of averages a weight, at the least two */
        if (lora > full)
          g_assert_cmpfloat (1.2 * extra, >, 2 * models[i].weights);
        if (extra < 3 * models[i].weights)
          g_assert_cmpfloat (lora, <, full);
        more += lora > full;
        less += lora < full;
      }
  g_assert_cmpuint (more, >, 0);
  g_assert_cmpuint (less, >, 0);
}

/* Where the plan leaves recomputation open, as a newcomer's does, what does not fit
 * is computed again and may then need less than a smaller method that does fit: of
 * two that come out alike the smaller needs less. */
static void
test_methods_by_default (void)
{
  static const char * const ordered[] = { "\"qlora\"", "\"lora\"", "\"full\"" };
  g_autoptr (GRand) random = g_rand_new_with_seed (6);
  int compared = 0;

  for (int i = 0; i < 4 * PLANS; i++)
    {
      g_autoptr (JsonObject) plan = adapter_plan_new (random);
      QmCheckpointing was = QM_CHECKPOINTING_UNSET, now;
      g_autoptr (QmResolved) resolved = NULL;
      double before = 0;

      set (plan, "training", "lora_dropout", "0");
      resolved = resolve (plan);
      for (guint m = 0; m < G_N_ELEMENTS (ordered); m++)
        {
          double bytes;

          answer (resolved, "training", "method", ordered[m]);
          bytes = need_with (resolved, &now);
          if (now == was)
            g_assert_cmpfloat (bytes, >, before);
          compared += now == was;
          was = now;
          before = bytes;
        }
    }

  g_assert_cmpint (compared, >, PLANS);
}

static void
test_sharding (void)
{
  static const Ladder ladders[] = {
    { "configuration", "sharding", { "\"zero2\"", "\"zero1\"", "\"none\"" } },
    /* Gathered layers of a small model may weigh more than what ZeRO-1 keeps whole. */
    { "configuration", "sharding", { "\"zero3\"", "\"none\"" } },
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (2);

  for (int i = 0; i < PLANS; i++)
    {
      g_autoptr (JsonObject) plan = plan_new ("language-model", "train", PICK (random, language_models), "h100-sxm5-80gb");
      const char *count = PICK (random, counts);

      set (plan, "configuration", "micro_batch", PICK (random, micro_batches));
      set (plan, "configuration", "devices", count);
      set (plan, "configuration", "data_parallel", count);
      set (plan, "configuration", "tensor_parallel", "1");
      set (plan, "training", "sequence_length", PICK (random, lengths));
      set (plan, "training", "activation_checkpointing", PICK (random, checkpointings));
      check (plan, ladders, G_N_ELEMENTS (ladders));
    }
}

static void
test_serving (void)
{
  static const char * const engines[] = { "\"vllm\"", "\"llama.cpp\"", "\"transformers\"" };
  static const Ladder ladders[] = {
    { "serving", "concurrency", { "1", "2", "8", "32", "128" } },
    { "serving", "input_tokens", { "128", "1024", "4096", "16384" } },
    { "serving", "output_tokens", { "16", "256", "2048" } },
    { "serving", "weights", { "\"awq-int4\"", "\"fp8\"", "\"bf16\"", "\"fp32\"" } },
    { "serving", "kv_cache", { "\"fp8\"", "\"bf16\"", "\"fp32\"" } },
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (3);

  for (int i = 0; i < PLANS; i++)
    {
      g_autoptr (JsonObject) plan = plan_new ("language-model", "serve", PICK (random, language_models), "l4");

      set (plan, "configuration", "device", PICK (random, devices));
      set (plan, "serving", "engine", PICK (random, engines));
      set (plan, "serving", "concurrency", PICK (random, micro_batches));
      set (plan, "serving", "input_tokens", PICK (random, lengths));
      check (plan, ladders, G_N_ELEMENTS (ladders));
    }
}

static void
test_vision (void)
{
  static const char * const models[] = { "resnet-50", "vit-base-patch16-224", "efficientnet-b0", "convnext-tiny", "vit-huge-patch14-224" };
  static const char * const precisions[] = { "\"fp32\"", "\"amp-fp16\"" };
  static const Ladder training[] = {
    { "configuration", "micro_batch", { "1", "8", "32", "128", "512" } },
    { "training", "image_size", { "160", "224", "288", "384" } },
    { "training", "optimizer", { "\"sgd-momentum\"", "\"adamw\"" } },
  };
  static const Ladder serving[] = {
    { "serving", "concurrency", { "1", "8", "32", "128" } },
    { "serving", "weights", { "\"fp16\"", "\"fp32\"" } },
    { "serving", "image_size", { "160", "224", "288", "384" } },
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (4);

  for (int i = 0; i < PLANS; i++)
    {
      const char *model = PICK (random, models);
      g_autoptr (JsonObject) learn = plan_new ("image-classification", "train", model, "l4");
      g_autoptr (JsonObject) serve = plan_new ("image-classification", "serve", model, "l4");

      set (learn, "configuration", "device", PICK (random, devices));
      set (learn, "configuration", "micro_batch", PICK (random, micro_batches));
      set (learn, "training", "precision", PICK (random, precisions));
      check (learn, training, G_N_ELEMENTS (training));
      set (serve, "configuration", "device", PICK (random, devices));
      check (serve, serving, G_N_ELEMENTS (serving));
    }
}

/* A model of which the count alone is known, in every activity. */
static void
test_parameters (void)
{
  static const char * const sizes[] = { "1e8", "4e8", "1.5e9", "3e9", "7e9", "8e9", "1.4e10", "3.2e10", "7e10", "1.8e11", "4e11" };
  static const char * const activities[] = { "fine-tune", "train", "serve" };
  g_autoptr (GRand) random = g_rand_new_with_seed (8);

  for (int i = 0; i < PLANS; i++)
    {
      const char *activity = PICK (random, activities);
      g_autoptr (JsonObject) plan = plan_new ("language-model", activity, "", "l4");
      double before = 0;

      json_object_remove_member (section_of (plan, "model"), "id");
      set (plan, "configuration", "device", PICK (random, devices));
      if (g_str_equal (activity, "serve"))
        set (plan, "serving", "concurrency", PICK (random, micro_batches));
      else
        {
          set (plan, "configuration", "micro_batch", PICK (random, micro_batches));
          set (plan, "training", "sequence_length", PICK (random, lengths));
          set (plan, "training", "activation_checkpointing", PICK (random, checkpointings));
        }
      if (g_str_equal (activity, "fine-tune"))
        set (plan, "training", "method", PICK (random, methods));

      for (guint j = 0; j < G_N_ELEMENTS (sizes); j++)
        {
          double now;

          set (plan, "model", "parameters", sizes[j]);
          now = need (plan);
          if (!(now > before))
            g_test_message ("plan %d, %s: %s parameters need %.3f GB, %.3f GB before", i, activity, sizes[j], now / 1e9, before / 1e9);
          g_assert_cmpfloat (now, >, before);
          before = now;
        }
    }
}

/* Pictures that are made, text that is sorted, speech that is written down; and
 * what stays on the device beside a denoiser. */
static void
test_elsewhere (void)
{
  static const struct { const char *task; const char *model; } jobs[] = {
    { "image-generation", "sdxl" }, { "image-generation", "stable-diffusion-1.5" }, { "image-generation", "sd3-medium" },
    { "image-generation", "pixart-alpha-1024" }, { "image-generation", "flux.1-dev" }, { "text-encoder", "bert-large-uncased" },
    { "text-encoder", "xlm-roberta-large" }, { "speech", "whisper-small" }, { "speech", "whisper-large-v3" },
  };
  static const Ladder training[] = {
    { "configuration", "micro_batch", { "1", "2", "4", "16", "64" } },
    { "training", "method", { "\"qlora\"", "\"lora\"", "\"full\"" } },
    { "training", "precision", { "\"bf16\"", "\"fp32\"" } },
    { "training", "activation_checkpointing", { "\"full\"", "\"none\"" } },
    { "training", "latents_stored", { "true", "false" } },
  };
  static const Ladder serving[] = {
    { "serving", "concurrency", { "1", "2", "8", "32" } },
    { "serving", "weights", { "\"int8\"", "\"fp16\"", "\"fp32\"" } },
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (9);

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++)
    for (guint j = 0; j < 4; j++)
      {
        g_autoptr (JsonObject) learn = plan_new (jobs[i].task, "fine-tune", jobs[i].model, "l4");
        g_autoptr (JsonObject) serve = plan_new (jobs[i].task, "serve", jobs[i].model, "l4");

        set (learn, "configuration", "device", PICK (random, devices));
        set (learn, "configuration", "micro_batch", PICK (random, micro_batches));
        set (learn, "training", "activation_checkpointing", PICK (random, checkpointings));
        check (learn, training, G_N_ELEMENTS (training));
        set (serve, "configuration", "device", PICK (random, devices));
        check (serve, serving, G_N_ELEMENTS (serving));
      }
}

/* More layers, wider layers, more words. */
static void
test_size (void)
{
  static const char * const activities[] = { "train", "fine-tune", "serve" };
  static const char shape[] =
    "{\"model_type\":\"llama\",\"hidden_size\":%d,\"num_hidden_layers\":%d,\"num_attention_heads\":%d,\"num_key_value_heads\":8,"
    "\"intermediate_size\":%d,\"vocab_size\":%d}";
  static const int sizes[][3] = { { 1024, 8, 32000 }, { 1024, 16, 32000 }, { 2048, 16, 32000 }, { 2048, 16, 128000 }, { 4096, 32, 128000 } };

  for (guint a = 0; a < G_N_ELEMENTS (activities); a++)
    {
      double before = 0;

      for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
        {
          g_autoptr (JsonObject) plan = plan_new ("language-model", activities[a], "llama-2-7b", "h100-sxm5-80gb");
          g_autofree char *architecture = g_strdup_printf (shape, sizes[i][0], sizes[i][1], sizes[i][0] / 128, 3 * sizes[i][0], sizes[i][2]);
          double now;

          json_object_remove_member (section_of (plan, "model"), "id");
          set (plan, "model", "architecture", architecture);
          set (plan, "configuration", "micro_batch", "1");
          if (a == 1)
            set (plan, "training", "method", "\"lora\"");
          if (a < 2)
            set (plan, "training", "activation_checkpointing", "\"full\"");
          now = need (plan);
          g_assert_cmpfloat (now, >, before);
          before = now;
        }
    }
}

int
main (int   argc,
      char *argv[])
{
  g_autofree char *directory = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  catalog = qm_catalog_load (directory, NULL, &error);
  g_assert_no_error (error);
  estimator = qm_estimator_new (catalog, &error);
  g_assert_no_error (error);

  g_test_add_func ("/memory/training", test_training);
  g_test_add_func ("/memory/methods", test_methods);
  g_test_add_func ("/memory/methods-with-dropout", test_methods_with_dropout);
  g_test_add_func ("/memory/dropout-by-count", test_dropout_by_count);
  g_test_add_func ("/memory/methods-by-default", test_methods_by_default);
  g_test_add_func ("/memory/sharding", test_sharding);
  g_test_add_func ("/memory/serving", test_serving);
  g_test_add_func ("/memory/vision", test_vision);
  g_test_add_func ("/memory/parameters", test_parameters);
  g_test_add_func ("/memory/elsewhere", test_elsewhere);
  g_test_add_func ("/memory/size", test_size);
  status = g_test_run ();

  g_clear_object (&estimator);
  g_clear_object (&catalog);
  return status;
}
