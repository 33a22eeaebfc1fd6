/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "decide/qm-choices.h"
#include "shipped.h"
#include "varied-plans.h"

#define PLANS 60
#define FIRST_SEED 5000

/* What is chosen for services and for weights that fit nowhere whole, asked of the
 * real catalog. */

/* What an offloaded choice says of system memory. */
static gboolean
tells_system_memory (const QmChoice *choice)
{
  for (guint i = 0; i < choice->reasons->len; i++)
    if (g_str_equal (qm_message_get_code (g_ptr_array_index (choice->reasons, i)), "needs-system-memory"))
      return TRUE;

  return FALSE;
}

/* All weights of 8 thousand million parameters on a card of 24 GB: only with states
 * in system memory, 16 bytes each and more, as DeepSpeed reckons. Its third stage
 * alone takes the weights off the card (its documentation of offload_param). */
static void
test_offload_is_real (void)
{
  g_autoptr (QmRecommendation) recommendation = recommend (
    PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"},"
          "\"training\":{\"method\":\"full\"},\"configuration\":{\"device\":\"rtx-4090\",\"devices\":1}"));

  g_assert_cmpuint (qm_recommendation_n_choices (recommendation), >, 0);
  for (guint i = 0; i < qm_recommendation_n_choices (recommendation); i++)
    {
      const QmChoice *choice = qm_recommendation_choice (recommendation, i);

      g_assert_cmpint (choice->estimate.configuration.offload, >, QM_OFFLOAD_NONE);
      if (choice->estimate.configuration.offload > QM_OFFLOAD_OPTIMIZER_CPU)
        g_assert_cmpint (choice->estimate.configuration.sharding, ==, QM_SHARDING_ZERO3);
      g_assert_cmpfloat (choice->estimate.memory.host_bytes, >, 100e9);
      g_assert_true (tells_system_memory (choice));
    }
}

/* Amazon's g6f machines hold an eighth to a half of an L4 (its page of G6 instances)
 * and cost as much less: none is the price of a whole one. */
static void
test_price_of_a_whole (void)
{
  const char *places[] = { "null", "[\"aws\"]", "[\"gcp\"]", "[]" };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *json = g_strdup_printf (PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"},"
                                                     "\"places\":{\"cloud\":%s},\"configuration\":{\"device\":\"l4\",\"devices\":1}"), places[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmPlan) plan = qm_plan_from_data (json, -1, NULL, &error);
      g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
      QmChoice choice;

      g_assert_no_error (error);
      g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, &error));
      g_assert_cmpint (choice.offer != NULL, ==, i < 3);
      if (choice.offer != NULL)
        {
          g_assert_false (g_str_has_prefix (choice.offer->instance, "g6f"));
          g_assert_true (i == 0 || strstr (places[i], choice.offer->provider) != NULL);
        }
      qm_choice_clear (&choice);
    }
}

/* Nobody answers 7,500 words with 500 on 70 thousand million parameters within the
 * usual half minute at the 99th percentile: 141 GB of weights cross the fastest
 * memory of the catalog (8 TB/s) in 18 ms for each of up to 1,400 words. Copies for
 * each of the 20 people would not mend it. */
static void
test_late_anyway (void)
{
  g_autoptr (QmRecommendation) recommendation = recommend (
    PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.3-70b\"},"
          "\"serving\":{\"weights\":\"bf16\",\"input_tokens\":7500,\"output_tokens\":500,\"concurrency\":20}"));
  GPtrArray *warnings = qm_recommendation_get_warnings (recommendation);
  gboolean told = FALSE;

  g_assert_cmpuint (qm_recommendation_n_choices (recommendation), >, 0);
  for (guint i = 0; i < qm_recommendation_n_choices (recommendation); i++)
    g_assert_cmpint (qm_recommendation_choice (recommendation, i)->estimate.serving.replicas, <=, 10);
  for (guint i = 0; i < warnings->len; i++)
    told |= g_str_equal (qm_message_get_code (g_ptr_array_index (warnings, i)), "slow-answers");
  g_assert_true (told);
}

/* 16 GB of weights cross the 864 GB/s of an L40S in 19 ms at best: the longest of a
 * hundred answers, 2.83 times 250 words, takes 13 s. What is told beside a limit is
 * what one answer alone takes: it shrinks in proportion as the limit grows, up to 1
 * where the limit is kept, without a jump. */
static void
test_told_margin (void)
{
  const double limits[] = { 1, 5, 8, 10, 11, 12, 12.5, 13, 13.5, 14, 15, 16 };
  double alone = 0;

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      g_autofree char *json = g_strdup_printf (
        PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"},\"serving\":{\"weights\":\"bf16\","
              "\"input_tokens\":500,\"output_tokens\":250,\"concurrency\":64,\"latency_p99_seconds\":%g},"
              "\"configuration\":{\"device\":\"l40s\",\"devices\":1}"), limits[i]);
      g_autoptr (QmRecommendation) recommendation = recommend (json);
      GPtrArray *rejections = qm_recommendation_get_rejections (recommendation);

      for (guint j = 0; j < rejections->len; j++)
        {
          const QmRejection *rejection = g_ptr_array_index (rejections, j);

          if (rejection->limit != QM_LIMIT_LATENCY)
            continue;
          g_assert_cmpstr (rejection->device->id, ==, "l40s");
          g_assert_cmpfloat (rejection->margin, >, 1);
          g_assert_cmpfloat (rejection->margin * limits[i], >, 13);
          g_assert_cmpfloat (rejection->margin * limits[i], <, 26);
          if (alone > 0)
            g_assert_cmpfloat_with_epsilon (rejection->margin * limits[i], alone, 1e-6 * alone);
          alone = rejection->margin * limits[i];
        }
      g_assert_cmpint (qm_recommendation_n_choices (recommendation) > 0, ==, alone <= limits[i]);
    }
  g_assert_cmpfloat (alone, >, 0);
}

/* A code says one thing: what warns of the whole answer is not called what speaks
 * against one choice. */
static void
test_codes_differ (void)
{
  g_autoptr (GHashTable) warned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) held_against = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer code;

  for (guint32 seed = FIRST_SEED; seed < FIRST_SEED + PLANS; seed++)
    {
      g_autoptr (QmPlan) plan = varied_plan_new (catalog, seed);
      g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, NULL);
      g_autoptr (QmRecommendation) answer = qm_recommend (estimator, resolved, NULL, NULL);
      GPtrArray *warnings = qm_recommendation_get_warnings (answer);

      for (guint i = 0; i < warnings->len; i++)
        g_hash_table_add (warned, g_strdup (qm_message_get_code (g_ptr_array_index (warnings, i))));
      for (guint i = 0; i < qm_recommendation_n_choices (answer); i++)
        {
          GPtrArray *drawbacks = qm_recommendation_choice (answer, i)->drawbacks;

          for (guint j = 0; drawbacks != NULL && j < drawbacks->len; j++)
            g_hash_table_add (held_against, g_strdup (qm_message_get_code (g_ptr_array_index (drawbacks, j))));
        }
    }

  g_assert_true (g_hash_table_contains (warned, "slow-answers"));
  g_assert_true (g_hash_table_contains (held_against, "late-answers"));
  g_hash_table_iter_init (&iter, warned);
  while (g_hash_table_iter_next (&iter, &code, NULL))
    g_assert_false (g_hash_table_contains (held_against, code));
}

/* 16 GB of weights cross 864 GB/s in 19 ms: one L40S takes 5 s for a mean answer of
 * 250 words and 14 s for the longest of a hundred, four take a good quarter. */
static void
test_shared_for_speed (void)
{
  g_autoptr (QmRecommendation) recommendation = recommend (
    PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"},"
          "\"serving\":{\"weights\":\"bf16\",\"input_tokens\":500,\"output_tokens\":250,\"concurrency\":1,\"latency_p99_seconds\":8},"
          "\"configuration\":{\"device\":\"l40s\"}"));
  const QmChoice *choice;

  g_assert_cmpuint (qm_recommendation_n_choices (recommendation), >, 0);
  choice = qm_recommendation_choice (recommendation, 0);
  g_assert_cmpint (choice->estimate.configuration.tensor_parallel, >, 1);
  g_assert_cmpfloat (choice->estimate.serving.latency_p99_seconds.p50, <=, 8);
}

static double
money_of_stages (const char *json,
                 double     *answer)
{
  g_autoptr (QmRecommendation) recommendation = recommend (json);
  GPtrArray *stages = qm_recommendation_get_stages (recommendation);
  double sum = 0;

  g_assert_cmpuint (stages->len, ==, 3);
  for (guint i = 0; i < stages->len; i++)
    sum += ((QmStagePlan *) stages->pdata[i])->money;
  *answer = qm_recommendation_choice (recommendation, 0)->estimate.cost.money.p50;

  return sum;
}

/* A card is bought once and used for all runs: what the steps cost together is its
 * price and power. Power is paid for every run, on a machine that is there too: three
 * full runs and ten of a fiftieth are 3.2 times the last one. */
static void
test_bought_once (void)
{
  double answer, sum = money_of_stages (
    PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"},"
          "\"places\":{\"cloud\":[],\"this_computer\":false}"), &answer);

  g_assert_cmpfloat (answer, >, 1000);
  g_assert_cmpfloat (sum, >=, answer);
  g_assert_cmpfloat (sum, <, 1.02 * answer);

  sum = money_of_stages (
    PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.2-3b\"},"
          "\"places\":{\"cloud\":[],\"this_computer\":false,\"buy\":false,\"owned\":[{\"device\":\"rtx-4090\",\"devices\":1,\"nodes\":1}]}"),
    &answer);
  g_assert_cmpfloat (answer, >, 0);
  g_assert_cmpfloat_with_epsilon (sum, 4.2 * answer, 0.01 * answer);
}

static const QmMessage *
warning (QmRecommendation *recommendation,
         const char       *code)
{
  GPtrArray *warnings = qm_recommendation_get_warnings (recommendation);

  for (guint i = 0; i < warnings->len; i++)
    if (g_str_equal (qm_message_get_code (warnings->pdata[i]), code))
      return warnings->pdata[i];

  return NULL;
}

#define LAPTOP(model, more) \
  PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"" model "\"}," \
        "\"places\":{" more "\"owned\":[{\"device\":\"rtx-4060-laptop\",\"devices\":1,\"nodes\":1}]}")

/* 16 GB of weights are twice what a laptop's card of 8 GB holds: who has one is told
 * so. Those of a thousand million parameters fit, and nothing is to be told. */
static void
test_yours (void)
{
  g_autoptr (QmRecommendation) large = recommend (LAPTOP ("llama-3.1-8b", ""));
  g_autoptr (QmRecommendation) small = recommend (LAPTOP ("llama-3.2-1b", ""));
  const QmMessage *told = warning (large, "yours-too-small");
  g_autofree char *text = NULL;

  g_assert_nonnull (told);
  text = qm_message_get_text (told, qm_words_english ());
  g_assert_nonnull (strstr (text, "RTX 4060 Laptop"));
  g_assert_null (warning (small, "yours-too-small"));
  g_assert_null (warning (small, "yours-not-chosen"));
}

/* Adapters are what is assumed where nobody says how much to change: it is they that
 * are given up where they do not fit, and not the training of all weights. */
static void
test_given_up (void)
{
  g_autoptr (QmRecommendation) recommendation = recommend (LAPTOP ("llama-3.2-3b", "\"cloud\":[],\"this_computer\":false,\"buy\":false,"));
  const QmMessage *told = warning (recommendation, "other-method");
  g_autofree char *text = NULL;

  g_assert_nonnull (told);
  text = qm_message_get_text (told, qm_words_english ());
  g_assert_null (strstr (text, "all weights"));
  g_assert_nonnull (strstr (text, "LoRA"));
}

/* What costs less and takes no longer was not passed over for money or time: the line
 * says what it was. */
static void
test_beaten_in_what (void)
{
  g_autoptr (QmRecommendation) recommendation = recommend (
    PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"},"
          "\"serving\":{\"requests_per_second\":0.012},\"places\":{\"on_premises\":true}"));
  GPtrArray *rejections = qm_recommendation_get_rejections (recommendation);
  guint cheaper = 0;

  for (guint i = 0; i < rejections->len; i++)
    {
      const QmRejection *rejection = rejections->pdata[i];
      g_autofree char *text = qm_message_get_text (rejection->message, qm_words_english ());
      gboolean other_reason = strstr (text, "quality") != NULL || strstr (text, "surer") != NULL;

      if (rejection->limit != QM_LIMIT_BEATEN || strstr (text, "costs 0.") == NULL)
        continue;
      cheaper++;
      g_assert_true (other_reason);
    }
  g_assert_cmpuint (cheaper, >, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/offered/offload-is-real", test_offload_is_real);
  g_test_add_func ("/offered/price-of-a-whole", test_price_of_a_whole);
  g_test_add_func ("/offered/late-anyway", test_late_anyway);
  g_test_add_func ("/offered/told-margin", test_told_margin);
  g_test_add_func ("/offered/codes-differ", test_codes_differ);
  g_test_add_func ("/offered/shared-for-speed", test_shared_for_speed);
  g_test_add_func ("/offered/bought-once", test_bought_once);
  g_test_add_func ("/offered/yours", test_yours);
  g_test_add_func ("/offered/given-up", test_given_up);
  g_test_add_func ("/offered/beaten-in-what", test_beaten_in_what);

  return shipped_run ();
}
