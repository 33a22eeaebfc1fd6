/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "decide/qm-ladder.h"
#include "decide/qm-methods.h"
#include "decide/qm-recommendation.h"

static QmCatalog *catalog;
static QmEstimator *estimator;

#define PLAN(rest) "{\"format\":\"quartermaster-plan\",\"version\":1," rest "}"
#define TUNE "\"task\":\"language-model\",\"activity\":\"fine-tune\","

static QmLadder *
ladder_for (const char *json)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (json, -1, NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;
  const QmDevice *device;

  g_assert_no_error (error);
  device = qm_catalog_find_device (catalog, plan->configuration.device);
  g_assert_nonnull (device);
  resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);

  return qm_ladder_new (estimator, resolved, device);
}

static const QmRung *
find_rung (const QmLadder *ladder,
           const char     *code)
{
  for (guint i = 0; i < ladder->rungs->len; i++)
    if (strcmp (g_array_index (ladder->rungs, QmRung, i).code, code) == 0)
      return &g_array_index (ladder->rungs, QmRung, i);

  return NULL;
}

/* What holds for every ladder: rungs come cheapest first, each that is taken
 * frees memory, and together they free what lies between plan and end. */
static void
assert_sound (const QmLadder *ladder)
{
  double freed = 0;
  int tier = 1;

  for (guint i = 0; i < ladder->rungs->len; i++)
    {
      const QmRung *rung = &g_array_index (ladder->rungs, QmRung, i);

      g_assert_cmpint (rung->tier, >=, tier);
      tier = rung->tier;
      if (rung->state == QM_RUNG_TAKEN)
        {
          g_assert_cmpfloat (rung->frees_bytes, >, 0);
          freed += rung->frees_bytes;
        }
    }
  g_assert_cmpfloat_with_epsilon (ladder->planned.memory.need.p50 - freed, ladder->reached.memory.need.p50, 1);
  g_assert_true (ladder->fits == (ladder->reached.memory.need.p50 <= 0.8 * ladder->reached.memory.usable_bytes));
}

/* An 8 B model with LoRA does not go into 16 GB; with 4-bit weights and one
 * example at a time it does, as people do it. */
static void
test_small_card (void)
{
  g_autoptr (QmLadder) ladder = ladder_for (PLAN (TUNE "\"model\":{\"id\":\"llama-3.1-8b\"},"
    "\"training\":{\"method\":\"lora\",\"global_batch\":64,\"sequence_length\":2048},"
    "\"configuration\":{\"device\":\"rtx-4060-ti-16gb\",\"micro_batch\":4}"));

  assert_sound (ladder);
  g_assert_true (ladder->fits);
  g_assert_cmpint (find_rung (ladder, "smaller-batch")->state, ==, QM_RUNG_TAKEN);
  g_assert_cmpint (find_rung (ladder, "4-bit-weights")->state, ==, QM_RUNG_TAKEN);
  g_assert_cmpint (find_rung (ladder, "adapters")->state, ==, QM_RUNG_ALREADY);
  g_assert_cmpint (ladder->plan->training.method, ==, QM_METHOD_QLORA);
  /* The batch of an optimizer step stays what it was. */
  g_assert_cmpfloat (ladder->reached.configuration.micro_batch * ladder->reached.configuration.gradient_accumulation *
                     ladder->reached.configuration.data_parallel, ==, 64);
  /* 8.03 B weights at 16 bits, without embedding and head (1.05 B), against 4.5 bits with their scales. */
  g_assert_cmpfloat (find_rung (ladder, "4-bit-weights")->frees_bytes, >, 6.98e9 * (2 - 0.75) * 0.8);
  g_assert_cmpfloat (find_rung (ladder, "4-bit-weights")->frees_bytes, <, 6.98e9 * (2 - 0.5));
}

/* The peak is not in what the framework keeps for later (estimation, table 0). */
static void
test_empty_cache (void)
{
  g_autoptr (QmLadder) ladder = ladder_for (PLAN (TUNE "\"model\":{\"id\":\"llama-2-7b\"},"
    "\"training\":{\"method\":\"full\"},\"configuration\":{\"device\":\"rtx-3090\"}"));

  assert_sound (ladder);
  g_assert_cmpint (find_rung (ladder, "empty-cache")->state, ==, QM_RUNG_NO_USE);
  g_assert_cmpfloat (find_rung (ladder, "empty-cache")->frees_bytes, ==, 0);
}

/* A loss that is worked out in pieces never needs more, whatever it makes room for. */
static void
test_recomputation_stays (void)
{
  g_autoptr (QmLadder) ladder = ladder_for (PLAN (TUNE "\"model\":{\"id\":\"llama-3.1-70b\"},"
    "\"training\":{\"sequence_length\":2048,\"framework\":\"deepspeed\"},"
    "\"configuration\":{\"device\":\"h100-sxm5-80gb\",\"devices\":8,\"data_parallel\":8,\"sharding\":\"zero3\",\"offload\":\"nvme\",\"micro_batch\":1}"));

  assert_sound (ladder);
  g_assert_cmpint (find_rung (ladder, "checkpointing")->state, ==, QM_RUNG_ALREADY);
  g_assert_cmpfloat (find_rung (ladder, "chunked-loss")->frees_bytes, >=, 0);
}

/* ZeRO-3 on four devices leaves each a quarter of the states: 16 bytes for each
 * of 6.74 billion parameters under mixed precision with Adam. */
static void
test_sharding (void)
{
  g_autoptr (QmLadder) alone = ladder_for (PLAN (TUNE "\"model\":{\"id\":\"llama-2-7b\"},"
    "\"training\":{\"method\":\"full\"},\"configuration\":{\"device\":\"a100-sxm4-80gb\",\"devices\":1}"));
  g_autoptr (QmLadder) ladder = ladder_for (PLAN (TUNE "\"model\":{\"id\":\"llama-2-7b\"},"
    "\"training\":{\"method\":\"full\",\"precision\":\"amp-bf16\",\"optimizer\":\"paged-adamw-8bit\"},"
    "\"configuration\":{\"device\":\"a100-sxm4-40gb\",\"devices\":4,\"sharding\":\"none\",\"tensor_parallel\":1,\"data_parallel\":4}"));
  const QmRung *rung = find_rung (ladder, "sharding");

  g_assert_cmpint (find_rung (alone, "sharding")->state, ==, QM_RUNG_IMPOSSIBLE);
  assert_sound (ladder);
  g_assert_cmpint (rung->state, ==, QM_RUNG_TAKEN);
  /* at least weights, gradients and 8-bit averages, 8 bytes; at most 16 */
  g_assert_cmpfloat (rung->frees_bytes, >, 0.75 * 8 * 6.74e9);
  g_assert_cmpfloat (rung->frees_bytes, <, 0.75 * 18 * 6.74e9);
}

/* Nothing is changed where there is room. */
static void
test_room (void)
{
  g_autoptr (QmLadder) ladder = ladder_for (PLAN (TUNE "\"model\":{\"id\":\"llama-3.1-8b\"},"
    "\"training\":{\"method\":\"qlora\"},\"configuration\":{\"device\":\"h100-sxm5-80gb\"}"));

  assert_sound (ladder);
  g_assert_true (ladder->fits);
  for (guint i = 0; i < ladder->rungs->len; i++)
    g_assert_cmpint (g_array_index (ladder->rungs, QmRung, i).state, !=, QM_RUNG_TAKEN);
}

static void
test_hopeless (void)
{
  g_autoptr (QmLadder) ladder = ladder_for (PLAN (TUNE "\"model\":{\"id\":\"llama-3.1-405b\"},"
    "\"training\":{\"method\":\"full\"},\"configuration\":{\"device\":\"rtx-3060-12gb\"}"));

  assert_sound (ladder);
  g_assert_false (ladder->fits);
}

/* llama.cpp runs what does not fit, with some layers in system memory. */
static void
test_layers (void)
{
  g_autoptr (QmLadder) ladder = ladder_for (PLAN ("\"task\":\"language-model\",\"activity\":\"serve\","
    "\"model\":{\"id\":\"llama-3.1-70b\"},\"serving\":{\"engine\":\"vllm\",\"concurrency\":1},"
    "\"configuration\":{\"device\":\"rtx-4090\"}"));
  const QmRung *rung = find_rung (ladder, "offload");

  assert_sound (ladder);
  g_assert_true (ladder->fits);
  g_assert_cmpint (rung->state, ==, QM_RUNG_TAKEN);
  g_assert_cmpint (ladder->plan->configuration.gpu_layers, >, 0);
  g_assert_cmpint (ladder->plan->configuration.gpu_layers, <, 80);
  /* 0.8 of 24 GB hold about half of 40 GB of 4-bit weights; the rest comes at a
   * twentieth of the bandwidth */
  g_assert_cmpfloat (rung->time_factor, >, 3);
}

/* Of a mixture only experts go, and so few of them that it fits: that is faster than whole layers. */
static void
test_experts (void)
{
#define MIXTURE(engine, weights) PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"qwen3-30b-a3b\"}," \
    "\"serving\":{\"engine\":\"" engine "\",\"weights\":\"" weights "\",\"concurrency\":1},\"configuration\":{\"device\":\"rtx-3060-12gb\"}")
  g_autoptr (QmLadder) ladder = ladder_for (MIXTURE ("llama.cpp", "gguf-q4_k_m"));
  const QmRung *experts = find_rung (ladder, "experts-offload"), *layers = find_rung (ladder, "offload");

  assert_sound (ladder);
  g_assert_true (ladder->fits);
  g_assert_cmpint (experts->state, ==, QM_RUNG_TAKEN);
  g_assert_cmpint (layers->state, !=, QM_RUNG_TAKEN);
  g_assert_cmpint (ladder->plan->configuration.cpu_expert_layers, >, 0);
  g_assert_cmpint (ladder->plan->configuration.cpu_expert_layers, <=, 48);
#undef MIXTURE
}

/* The switches of the window: what is wanted is taken, fit or not. */
/* 42.5 GB of weights on two cards are 21 GB on each however they are split: no
 * rung invents further devices. */
static void
test_split (void)
{
  const char *plans[] = {
    PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-70b\"},"
          "\"serving\":{\"engine\":\"llama.cpp\",\"weights\":\"gguf-q4_k_m\",\"concurrency\":1},"
          "\"configuration\":{\"device\":\"rtx-3090\",\"devices\":2}"),
    PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-70b\"},"
          "\"serving\":{\"engine\":\"llama.cpp\",\"weights\":\"gguf-q4_k_m\",\"concurrency\":1},"
          "\"configuration\":{\"device\":\"rtx-3090\",\"devices\":2,\"pipeline_parallel\":2}"),
  };

  for (gsize i = 0; i < G_N_ELEMENTS (plans); i++)
    {
      g_autoptr (QmLadder) ladder = ladder_for (plans[i]);

      g_assert_cmpfloat (find_rung (ladder, "split")->memory.need.p50, >, 21e9);
    }
}

static void
test_wanted (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (PLAN (TUNE "\"model\":{\"id\":\"llama-2-7b\"},"
    "\"training\":{\"method\":\"full\",\"activation_checkpointing\":\"none\",\"sequence_length\":4096},"
    "\"configuration\":{\"device\":\"h100-sxm5-80gb\",\"micro_batch\":8}"), -1, NULL, &error);
  g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  const QmDevice *device = qm_catalog_find_device (catalog, "h100-sxm5-80gb");
  g_autoptr (QmLadder) none = qm_ladder_with (estimator, resolved, device, 0);

  g_assert_no_error (error);
  g_assert_cmpfloat (none->planned.memory.need.p50, ==, none->reached.memory.need.p50);
  for (guint i = 0; i < none->rungs->len; i++)
    {
      g_autoptr (QmLadder) one = qm_ladder_with (estimator, resolved, device, 1u << i);
      const QmRung *offered = &g_array_index (none->rungs, QmRung, i);

      g_assert_cmpint (offered->state, !=, QM_RUNG_TAKEN);
      if (offered->state == QM_RUNG_SPARE)
        {
          g_assert_cmpint (g_array_index (one->rungs, QmRung, i).state, ==, QM_RUNG_TAKEN);
          g_assert_cmpfloat_with_epsilon (one->reached.memory.need.p50, none->planned.memory.need.p50 - offered->frees_bytes, 1);
        }
      else
        g_assert_cmpfloat (one->reached.memory.need.p50, ==, none->planned.memory.need.p50);
    }
}

static void
test_json (void)
{
  g_autoptr (QmLadder) ladder = ladder_for (PLAN (TUNE "\"model\":{\"id\":\"llama-2-7b\"},"
    "\"training\":{\"method\":\"full\"},\"configuration\":{\"device\":\"rtx-3090\"}"));
  g_autoptr (JsonNode) node = qm_ladder_to_json (ladder);
  JsonArray *rungs = json_object_get_array_member (json_node_get_object (node), "ladder");

  g_assert_cmpuint (json_array_get_length (rungs), ==, ladder->rungs->len);
  for (guint i = 0; i < json_array_get_length (rungs); i++)
    {
      JsonObject *rung = json_array_get_object_element (rungs, i);
      static const char * const names[] = { "tier", "code", "text", "frees_bytes", "time_factor", "fits_after" };

      for (guint j = 0; j < G_N_ELEMENTS (names); j++)
        g_assert_true (json_object_has_member (rung, names[j]));
    }
}

/* Beside each other, the way of the plan has the figure of its own estimate, and
 * what is trained less takes less: 16 bytes a parameter, 2, and half a byte. */
static void
test_methods (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (PLAN (TUNE "\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"lora\"},"
                                                     "\"configuration\":{\"device\":\"l40s\",\"devices\":1}"), -1, NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmRecommendation) recommendation = NULL;
  g_autoptr (GArray) methods = NULL;
  const QmEstimate *estimate;
  const QmMethodMemory *rows;

  g_assert_no_error (error);
  resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);
  recommendation = qm_recommend (estimator, resolved, NULL, NULL);
  estimate = &qm_recommendation_row (recommendation, 0)->estimate;
  methods = qm_methods_compare (estimator, resolved, estimate);
  rows = (const QmMethodMemory *) methods->data;
  g_assert_cmpuint (methods->len, ==, 3);
  g_assert_cmpfloat_with_epsilon (rows[1].bytes.p50, estimate->memory.need.p50, 1);
  g_assert_cmpfloat (rows[0].bytes.p50, >, 16 * 8.03e9);
  g_assert_cmpfloat (rows[1].bytes.p50, >, 2 * 8.03e9);
  g_assert_cmpfloat (rows[2].bytes.p50, >, 0.5 * 8.03e9);
  g_assert_cmpfloat (rows[0].bytes.p50, >, rows[1].bytes.p50);
  g_assert_cmpfloat (rows[1].bytes.p50, >, rows[2].bytes.p50);
}

/* All of SDXL does not go into 24 GB (16 bytes for each of 2.6 billion parameters);
 * with adapters it does, as the scripts of diffusers are run. */
static void
test_images (void)
{
  g_autoptr (QmLadder) ladder = ladder_for (PLAN ("\"task\":\"image-generation\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"sdxl\"},"
    "\"training\":{\"method\":\"full\",\"image_size\":1024},\"configuration\":{\"device\":\"rtx-4090\",\"micro_batch\":1}"));

  assert_sound (ladder);
  g_assert_cmpfloat (ladder->planned.memory.need.p50, >, 16 * 2.567e9);
  g_assert_true (ladder->fits);
  g_assert_cmpint (find_rung (ladder, "adapters")->state, ==, QM_RUNG_TAKEN);
  g_assert_null (find_rung (ladder, "chunked-loss"));
}

/* 27 pictures at a time fit beside the states of ViT-L on a T4: of 64, 16 four times.
 * The updates of the weights stay as many, and so does the time: that of an estimate
 * with the same micro-batch. */
static void
test_largest_micro_batch (void)
{
#define VIT(configuration) PLAN ("\"task\":\"image-classification\",\"activity\":\"train\",\"model\":{\"id\":\"vit-large-patch16-224\"}," \
    "\"training\":{\"global_batch\":64},\"configuration\":{\"device\":\"t4\"" configuration "}")
  g_autoptr (QmLadder) ladder = ladder_for (VIT (""));
  g_autoptr (QmLadder) same = ladder_for (VIT (",\"micro_batch\":16"));
  const QmRung *rung = find_rung (ladder, "smaller-batch");
  g_autofree char *text = NULL;

  assert_sound (ladder);
  g_assert_true (ladder->fits);
  g_assert_cmpint (rung->state, ==, QM_RUNG_TAKEN);
  g_assert_cmpfloat (ladder->reached.configuration.micro_batch, ==, 16);
  g_assert_cmpfloat (ladder->reached.configuration.gradient_accumulation, ==, 4);
  g_assert_cmpfloat (ladder->reached.throughput.per_second.p50, ==, same->planned.throughput.per_second.p50);
  g_assert_cmpfloat_with_epsilon (rung->time_factor, ladder->planned.throughput.per_second.p50 / same->planned.throughput.per_second.p50, 1e-9);
  text = qm_message_get_text (rung->message, qm_words_english ());
  g_assert_nonnull (strstr (text, "micro-batch 16, accumulation 4"));
  /* recomputed blocks of a transformer free memory as well */
  g_assert_cmpint (find_rung (ladder, "checkpointing")->state, ==, QM_RUNG_SPARE);
#undef VIT
}

static char *
detail_of (const char *model,
           const char *more)
{
  g_autofree char *text = g_strdup_printf (PLAN ("\"task\":\"image-classification\",\"activity\":\"train\",\"model\":{\"id\":\"%s\"},"
    "\"training\":{\"global_batch\":1024%s},\"configuration\":{\"device\":\"t4\"}"), model, more);
  g_autoptr (QmLadder) ladder = ladder_for (text);

  return qm_message_get_detail (find_rung (ladder, "smaller-batch")->message, qm_words_english ());
}

/* Its statistics are those of a micro-batch (arXiv:1502.03167): the result is the
 * same without it, or where they are frozen. */
static void
test_batch_normalisation (void)
{
  g_autofree char *normalised = detail_of ("resnet-50", "");
  g_autofree char *frozen = detail_of ("resnet-50", ",\"frozen_norm\":true");
  g_autofree char *transformer = detail_of ("vit-base-patch16-224", "");

  g_assert_null (strstr (normalised, "the result is the same"));
  g_assert_nonnull (strstr (normalised, "normalisation"));
  g_assert_nonnull (strstr (frozen, "the result is the same"));
  g_assert_nonnull (strstr (transformer, "the result is the same"));
}

/* SDXL beside 12 GB: the two text encoders and the image encoder, 901 million
 * parameters in 16 bits, need not be there while it is trained. */
static void
test_store_latents (void)
{
  g_autoptr (QmLadder) ladder = ladder_for (PLAN ("\"task\":\"image-generation\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"sdxl\"},"
    "\"training\":{\"method\":\"lora\",\"image_size\":1024},\"configuration\":{\"device\":\"rtx-3060-12gb\",\"micro_batch\":1}"));
  const QmRung *rung = find_rung (ladder, "store-latents");

  assert_sound (ladder);
  g_assert_true (ladder->fits);
  g_assert_cmpint (rung->state, ==, QM_RUNG_TAKEN);
  g_assert_cmpfloat_with_epsilon (rung->frees_bytes / (2 * 901377153.0), 1, 1e-3);
  g_assert_cmpfloat (rung->time_factor, <, 1);
}

/* Who gives no batch is told of one that fits. */
static void
test_assumed_batch (void)
{
#define SDXL(training) PLAN ("\"task\":\"image-generation\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"sdxl\"}," \
    "\"training\":{\"method\":\"lora\",\"image_size\":1024" training "},\"configuration\":{\"device\":\"rtx-3060-12gb\"}")
  static const struct { const char *plan; gboolean fits; } cases[] = {
    { SDXL (""), TRUE },
    { SDXL (",\"global_batch\":16"), FALSE },
    { SDXL (",\"activation_checkpointing\":\"none\""), FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmPlan) plan = qm_plan_from_data (cases[i].plan, -1, NULL, &error);
      g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
      QmChoice choice;

      g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, &error));
      g_assert_no_error (error);
      g_assert_true (choice.estimate.memory.fits == cases[i].fits);
      if (cases[i].fits)
        {
          g_assert_cmpfloat (choice.estimate.configuration.micro_batch, ==, 1);
          g_assert_cmpfloat (choice.estimate.configuration.gradient_accumulation, ==, 16);
        }
      qm_choice_clear (&choice);
    }
#undef SDXL
}

/* A plan that says how its own weights are kept and how many are trained says
 * nothing of the other ways. */
static void
test_methods_of_their_own (void)
{
  static const char * const trainings[] = { "\"method\":\"lora\"", "\"method\":\"qlora\",\"base_weights\":\"nf4\",\"trainable_parameters\":40000000" };
  double full[2], lora[2];

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = g_strdup_printf (PLAN (TUNE "\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{%s},"
                                                     "\"configuration\":{\"device\":\"l40s\",\"devices\":1,\"micro_batch\":1}"), trainings[i]);
      g_autoptr (QmPlan) plan = qm_plan_from_data (text, -1, NULL, &error);
      g_autoptr (QmResolved) resolved = NULL;
      g_autoptr (GArray) methods = NULL;
      QmEstimate estimate = { 0 };

      g_assert_no_error (error);
      resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
      g_assert_no_error (error);
      estimate.device = qm_catalog_find_device (catalog, "l40s");
      estimate.configuration.micro_batch = 1;
      methods = qm_methods_compare (estimator, resolved, &estimate);
      g_assert_cmpuint (methods->len, ==, 3);
      full[i] = g_array_index (methods, QmMethodMemory, 0).bytes.p50;
      lora[i] = g_array_index (methods, QmMethodMemory, 1).bytes.p50;
    }
  g_assert_cmpfloat_with_epsilon (full[0], full[1], 1);
  g_assert_cmpfloat_with_epsilon (lora[0], lora[1], 1);
}

/* A full estimate says how many parameters it trains: that is of no other method.
 * What adapters free is the same, whether the plan was settled before or not. */
static void
test_settled (void)
{
  static const char * const rungs[] = { "adapters", "4-bit-weights" };
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (PLAN (TUNE "\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"full\"},"
                                                     "\"configuration\":{\"device\":\"rtx-3060-12gb\",\"devices\":1,\"micro_batch\":1}"),
                                               -1, NULL, &error);
  g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_autoptr (QmResolved) settled = NULL;
  const QmDevice *device = qm_catalog_find_device (catalog, "rtx-3060-12gb");
  g_autoptr (QmLadder) open = NULL;
  g_autoptr (QmLadder) bound = NULL;

  g_assert_no_error (error);
  open = qm_ladder_with (estimator, resolved, device, 0);
  settled = qm_ladder_resolve (resolved, &open->planned);
  bound = qm_ladder_with (estimator, settled, device, 0);
  for (guint i = 0; i < G_N_ELEMENTS (rungs); i++)
    {
      g_assert_cmpfloat_with_epsilon (find_rung (open, rungs[i])->frees_bytes, find_rung (bound, rungs[i])->frees_bytes, 1);
      /* 14 of the 16 bytes for each of 8.03 billion are gradients and averages */
      g_assert_cmpfloat (find_rung (bound, rungs[i])->frees_bytes, >, 14 * 8.03e9);
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

  g_test_add_func ("/ladder/small-card", test_small_card);
  g_test_add_func ("/ladder/methods", test_methods);
  g_test_add_func ("/ladder/settled", test_settled);
  g_test_add_func ("/ladder/images", test_images);
  g_test_add_func ("/ladder/methods-of-their-own", test_methods_of_their_own);
  g_test_add_func ("/ladder/largest-micro-batch", test_largest_micro_batch);
  g_test_add_func ("/ladder/batch-normalisation", test_batch_normalisation);
  g_test_add_func ("/ladder/store-latents", test_store_latents);
  g_test_add_func ("/ladder/assumed-batch", test_assumed_batch);
  g_test_add_func ("/ladder/empty-cache", test_empty_cache);
  g_test_add_func ("/ladder/recomputation-stays", test_recomputation_stays);
  g_test_add_func ("/ladder/sharding", test_sharding);
  g_test_add_func ("/ladder/room", test_room);
  g_test_add_func ("/ladder/hopeless", test_hopeless);
  g_test_add_func ("/ladder/layers", test_layers);
  g_test_add_func ("/ladder/experts", test_experts);
  g_test_add_func ("/ladder/split", test_split);
  g_test_add_func ("/ladder/wanted", test_wanted);
  g_test_add_func ("/ladder/json", test_json);
  status = g_test_run ();

  g_clear_object (&estimator);
  g_clear_object (&catalog);
  return status;
}
