/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-capacity.h"
#include "shipped.h"

static void
estimate_of (const char  *json,
             QmEstimate  *estimate,
             QmCapacity  *capacity)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (json, -1, NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;
  QmChoice choice;

  g_assert_no_error (error);
  resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, &error));
  *estimate = choice.estimate;
  if (capacity != NULL)
    qm_capacity_solve (estimator, resolved, estimate, capacity);
  qm_choice_clear (&choice);
}

static gboolean
fits (const char *format,
      double      value)
{
  g_autofree char *number = g_strdup_printf ("%.0f", value);
  g_auto (GStrv) parts = g_strsplit (format, "%.0f", 2);
  g_autofree char *json = g_strjoinv (number, parts);
  QmEstimate estimate;

  estimate_of (json, &estimate, NULL);
  return estimate.memory.need.p50 <= 0.8 * estimate.memory.usable_bytes;
}

/* One more than the most does not fit, the most does: asked of a plan that has
 * the number in it. */
static void
assert_bound (const char *format,
              double      most)
{
  g_assert_cmpfloat (most, >=, 1);
  g_assert_true (fits (format, most));
  g_assert_false (fits (format, most + 1));
}

/* A LoRA job whose length and micro-batch are strings. */
#define LORA(length, batch) \
  PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.2-1b\"}," \
        "\"training\":{\"method\":\"lora\",\"activation_checkpointing\":\"full\",\"framework\":\"peft\"," \
        "\"sequence_length\":" length "},\"configuration\":{\"device\":\"rtx-4090\",\"micro_batch\":" batch "}")
#define CHAT(people) \
  PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"}," \
        "\"serving\":{\"engine\":\"vllm\",\"weights\":\"bf16\",\"kv_cache\":\"bf16\",\"input_tokens\":1000," \
        "\"output_tokens\":200,\"concurrency\":" people "},\"configuration\":{\"device\":\"a100-sxm4-80gb\"}")

static void
test_training (void)
{
  QmEstimate estimate;
  QmCapacity capacity;

  estimate_of (LORA ("512", "1"), &estimate, &capacity);
  assert_bound (LORA ("512", "%.0f"), capacity.micro_batch);
  assert_bound (LORA ("%.0f", "1"), capacity.context_tokens);
  g_assert_cmpfloat (capacity.devices, ==, 1);
  /* weights alone are two bytes each, and there must be room for the rest */
  g_assert_cmpfloat (capacity.parameters, <, 0.8 * 24 * 1.074e9 / 2);
  g_assert_cmpfloat (capacity.parameters, >, 4e9);
}

static void
test_serving (void)
{
  QmEstimate estimate;
  QmCapacity capacity;

  estimate_of (CHAT ("4"), &estimate, &capacity);
  assert_bound (CHAT ("%.0f"), capacity.concurrency);
  /* 131,072 bytes of cache a token (8 KV heads of 128, 32 layers, two of 16 bits),
   * in what 0.8 of 80 GiB leave beside 16 GB of weights */
  g_assert_cmpfloat (capacity.concurrency * 1200 * 131072, <, 0.8 * 80 * 1.074e9 - 16.06e9);
  g_assert_cmpfloat (capacity.concurrency * 1200 * 131072, >, 0.85 * (0.8 * 80 * 1.074e9 - 16.06e9));
}

/* 70 B weights at 16 bits are 141 GB: two cards of 80 GB are too few with a fifth
 * kept free, as many have found out. */
static void
test_fewest (void)
{
  QmEstimate estimate;
  QmCapacity capacity;

  estimate_of (PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-70b\"},"
                     "\"serving\":{\"engine\":\"vllm\",\"weights\":\"bf16\",\"concurrency\":8},"
                     "\"configuration\":{\"device\":\"a100-sxm4-80gb\"}"), &estimate, &capacity);
  g_assert_cmpfloat (capacity.devices, ==, 4);
  g_assert_cmpfloat (capacity.concurrency, ==, 0);
}

#define LLAMA_70B(devices) \
  PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-70b\"}," \
        "\"serving\":{\"engine\":\"llama.cpp\",\"weights\":\"gguf-q4_k_m\",\"concurrency\":1}," \
        "\"configuration\":{\"device\":\"rtx-3090\",\"devices\":" devices "}")

/* 42.5 GB of weights: two cards of 24 GB hold them and leave no fifth free, three
 * do. Asked on two, three or four, the answer is the same. */
static void
test_fewest_odd (void)
{
  const char *plans[] = { LLAMA_70B ("2"), LLAMA_70B ("3"), LLAMA_70B ("4") };

  g_assert_true (fits (LLAMA_70B ("%.0f"), 3));
  g_assert_false (fits (LLAMA_70B ("%.0f"), 2));
  for (gsize i = 0; i < G_N_ELEMENTS (plans); i++)
    {
      QmEstimate estimate;
      QmCapacity capacity;

      estimate_of (plans[i], &estimate, &capacity);
      g_assert_cmpfloat (capacity.devices, ==, 3);
    }
}

/* What fits as it stands is within every bound. */
static void
test_as_it_stands (void)
{
  QmEstimate estimate;
  QmCapacity capacity;

  estimate_of (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-2-7b\"},"
                     "\"training\":{\"sequence_length\":8192},"
                     "\"configuration\":{\"device\":\"l40s\",\"devices\":16,\"micro_batch\":2}"), &estimate, &capacity);
  g_assert_cmpint (estimate.memory.verdict, ==, QM_VERDICT_FITS);
  g_assert_cmpfloat (capacity.micro_batch, >=, 2);
}

/* Four pictures at once are too many for one card, and more cards do not take
 * fewer each: no count is named, and none is called unknown. */
static void
test_no_count (void)
{
  g_autoptr (QmMessage) message = NULL;
  const QmCapacity capacity = { NAN, NAN, 2, INFINITY, NAN };
  g_autofree char *detail = NULL;

  message = qm_capacity_explain (&capacity);
  detail = qm_message_get_detail (message, qm_words_english ());
  g_assert_nonnull (strstr (detail, "2 samples at once."));
  g_assert_null (strstr (detail, "unknown"));
}

#define PICTURES(serving) \
  PLAN ("\"task\":\"image-generation\",\"activity\":\"serve\",\"model\":{\"id\":\"sdxl\"},\"serving\":{" serving "}," \
        "\"configuration\":{\"device\":\"rtx-3060-12gb\"}")

/* SDXL runs on cards of 12 GB, one picture at a time: who names no batch is told
 * so, and who asks for four that they are too many. */
static void
test_served_batch (void)
{
  QmEstimate estimate;

  estimate_of (PICTURES ("\"requests_per_second\":0.001"), &estimate, NULL);
  g_assert_true (estimate.memory.fits);
  g_assert_cmpfloat (estimate.serving_plan.concurrency, ==, 1);
  estimate_of (PICTURES ("\"concurrency\":4"), &estimate, NULL);
  g_assert_false (estimate.memory.fits);
}

static void
test_tables (void)
{
  QmEstimate estimate;
  QmCapacity capacity;

  estimate_of (PLAN ("\"task\":\"tabular\",\"activity\":\"train\",\"model\":{\"id\":\"xgboost\"},"
                     "\"configuration\":{\"device\":\"rtx-4090\"}"), &estimate, &capacity);
  g_assert_true (isnan (capacity.micro_batch) && isnan (capacity.devices));
  g_assert_null (qm_capacity_explain (&capacity));
}

/* A processor has no memory of its own: what it holds is unknown, and not nothing. */
static void
test_unknown_memory (void)
{
  QmEstimate estimate;
  QmCapacity capacity;

  estimate_of (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.2-1b\"},"
                     "\"training\":{\"method\":\"lora\",\"framework\":\"peft\"},\"configuration\":{\"device\":\"xeon-8480plus\"}"),
               &estimate, &capacity);
  g_assert_cmpint (estimate.memory.verdict, ==, QM_VERDICT_UNKNOWN);
  g_assert_true (isnan (capacity.micro_batch));
  g_assert_null (qm_capacity_explain (&capacity));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/capacity/training", test_training);
  g_test_add_func ("/capacity/unknown-memory", test_unknown_memory);
  g_test_add_func ("/capacity/serving", test_serving);
  g_test_add_func ("/capacity/fewest", test_fewest);
  g_test_add_func ("/capacity/fewest-odd", test_fewest_odd);
  g_test_add_func ("/capacity/as-it-stands", test_as_it_stands);
  g_test_add_func ("/capacity/no-count", test_no_count);
  g_test_add_func ("/capacity/served-batch", test_served_batch);
  g_test_add_func ("/capacity/tables", test_tables);

  return shipped_run ();
}
