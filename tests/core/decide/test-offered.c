/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "decide/qm-choices.h"
#include "shipped.h"

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

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/offered/offload-is-real", test_offload_is_real);
  g_test_add_func ("/offered/price-of-a-whole", test_price_of_a_whole);
  g_test_add_func ("/offered/late-anyway", test_late_anyway);
  g_test_add_func ("/offered/shared-for-speed", test_shared_for_speed);

  return shipped_run ();
}
