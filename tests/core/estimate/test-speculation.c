/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-choices.h"

/* Guessed tokens against published gains: Llama-3.1-8B in 16 bits on one H100 under
 * SGLang writes 158.34 tokens/s without, 244.10 with EAGLE-2 and 373.25 with EAGLE-3
 * (SGLang documentation, speculative decoding). Small models that guess: 1.4 to 3.4
 * times (arXiv:2211.17192, table 2); Medusa: 2.2 to 3.6 times (arXiv:2401.10774). At 64
 * requests at once EAGLE-3 gains 1.38 times (arXiv:2503.01840), where more is said:
 * engines check chains there, not the trees that one stream checks. */

static QmCatalog *catalog;
static QmEstimator *estimator;

static QmEstimate
serve (const char *speculation,
       int         concurrency)
{
  g_autofree char *text = g_strdup_printf (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'serve', 'model': {'id': 'llama-3.1-8b'},"
    " 'serving': {'engine': 'sglang', 'weights': 'bf16', 'input_tokens': 128, 'output_tokens': 512, 'concurrency': %d, 'speculation': '%s'},"
    " 'configuration': {'device': 'h100-sxm5-80gb', 'devices': 1}}", concurrency, speculation);
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

static QmRange
gain (const char *speculation,
      int         concurrency)
{
  QmEstimate guessed = serve (speculation, concurrency), plain = serve ("none", concurrency);
  QmRange range = qm_range_scale (guessed.serving.decode_tokens_per_second, 1 / plain.serving.decode_tokens_per_second.p50);

  g_test_message ("%s, %d at once: %.2f (%.2f to %.2f)", speculation, concurrency, range.p50, range.p10, range.p90);
  return range;
}

static void
test_one_stream (void)
{
  g_assert_cmpfloat_with_epsilon (gain ("eagle", 1).p50 / (244.10 / 158.34), 1, 0.15);
  g_assert_cmpfloat_with_epsilon (gain ("eagle-3", 1).p50 / (373.25 / 158.34), 1, 0.15);
  g_assert_cmpfloat (gain ("draft-model", 1).p50, >, 1.4);
  g_assert_cmpfloat (gain ("draft-model", 1).p50, <, 3.4);
  g_assert_cmpfloat (gain ("medusa", 1).p50, >, 2.0);
  g_assert_cmpfloat (gain ("medusa", 1).p50, <, 3.6);
}

/* Checking costs products, which a full batch has none to spare of. */
static void
test_full_batch (void)
{
  g_assert_cmpfloat (gain ("eagle-3", 64).p50, >, 1.38);
  g_assert_cmpfloat (gain ("eagle-3", 64).p50, <, gain ("eagle-3", 1).p50);
  g_assert_cmpfloat (gain ("eagle-3", 256).p50, <, 0.9 * gain ("eagle-3", 1).p50);
  g_assert_cmpfloat (gain ("prompt-lookup", 256).p50, <, 0.6 * gain ("prompt-lookup", 1).p50);
}

/* How many guesses hold depends on the text: ranges are wider for it, and a draft
 * takes memory. */
static void
test_honest (void)
{
  QmEstimate plain = serve ("none", 1), guessed = serve ("draft-model", 1), looked_up = serve ("prompt-lookup", 1);

  g_assert_cmpfloat (guessed.serving.decode_tokens_per_second.p90 / guessed.serving.decode_tokens_per_second.p10, >,
                     1.1 * plain.serving.decode_tokens_per_second.p90 / plain.serving.decode_tokens_per_second.p10);
  g_assert_cmpfloat (looked_up.serving.decode_tokens_per_second.p90 / looked_up.serving.decode_tokens_per_second.p10, >, 3);
  g_assert_cmpfloat (guessed.memory.need.p50, >, plain.memory.need.p50 + 0.04 * 16e9);
  g_assert_cmpfloat (looked_up.memory.need.p50, ==, plain.memory.need.p50);
  g_assert_cmpfloat (guessed.serving.first_token_seconds.p50, ==, plain.serving.first_token_seconds.p50);
}

int
main (int   argc,
      char *argv[])
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

  g_test_add_func ("/speculation/one-stream", test_one_stream);
  g_test_add_func ("/speculation/full-batch", test_full_batch);
  g_test_add_func ("/speculation/honest", test_honest);
  status = g_test_run ();

  g_clear_object (&estimator);
  g_clear_object (&catalog);
  return status;
}
