/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "decide/qm-figures.h"
#include "decide/qm-choices.h"
#include "shipped.h"

/* Requirements E1 to E3: the matrix of the founding articles, the marginal rule
 * and the Pareto front. */

static void
add_row (GArray *rows,
         int     devices,
         double  hours,
         double  money,
         double  accuracy)
{
  QmChoice row = { .dominated_by = -1, .ruled_out_against = -1 };

  qm_estimate_clear (&row.estimate);
  row.estimate.configuration.devices = devices;
  row.estimate.time.seconds = row.estimate.time.finish = qm_range_exact (hours * 3600);
  row.estimate.cost.money = qm_range_exact (money);
  row.estimate.accuracy = (QmAccuracy) { .metric = "top-1", .value = qm_range_exact (accuracy) };
  row.gpu_hours = devices * hours;
  g_array_append_val (rows, row);
}

static const QmLimits limits = { .marginal_points = NAN, .marginal_ratio = NAN };

/* Requirements E1 and E2: by count of GPUs the rule rules out 8 × V100 against
 * 4 × V100, by cost and by GPU hours (estimation test vector 8: ×1.448, ×1.167)
 * it does not; 4 × A100 have no more GPUs, and cost 1.59 times as much. */
static void
test_reference_matrix (void)
{
  g_autoptr (GArray) rows = qm_choices_new ();
  const QmChoice *row;

  add_row (rows, 4, 72, 580, 0.821);
  add_row (rows, 8, 42, 840, 0.823);
  add_row (rows, 4, 28, 920, 0.825);
  qm_matrix_compare (rows, &limits);

  row = &g_array_index (rows, QmChoice, 1);
  g_assert_true (row->ruled_out_by_count);
  g_assert_false (row->ruled_out_by_cost);
  g_assert_false (row->ruled_out_by_gpu_hours);
  row = &g_array_index (rows, QmChoice, 2);
  g_assert_false (row->ruled_out_by_count);
  g_assert_false (row->ruled_out_by_cost);
  for (guint i = 0; i < 3; i++)
    g_assert_true (g_array_index (rows, QmChoice, i).pareto);
}

/* The same as a plan that anybody can open: 4 x V100 is the cheapest, 8 x V100 is
 * not worth it by the number of devices, and by no other count. */
static void
test_reference_plan (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("QM_DATA_DIR"), "examples", "matrix.qmplan", NULL);
  g_autofree char *text = NULL;
  g_autoptr (QmRecommendation) answer = NULL;
  static const struct { int devices; double hours, money, accuracy; gboolean by_count; } expected[] = {
    { 4, 72, 580, 0.821, FALSE }, { 8, 42, 840, 0.823, TRUE }, { 4, 28, 920, 0.825, FALSE },
  };

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  answer = recommend (text);
  g_assert_cmpuint (qm_recommendation_n_rows (answer), ==, G_N_ELEMENTS (expected));
  g_assert_cmpuint (qm_recommendation_n_choices (answer), ==, G_N_ELEMENTS (expected));
  g_assert_cmpfloat_with_epsilon (expected[1].money / expected[0].money, 1.448, 5e-4);
  g_assert_cmpfloat_with_epsilon (expected[1].hours / expected[0].hours, 0.583, 5e-4);
  g_assert_cmpfloat_with_epsilon (qm_recommendation_row (answer, 1)->gpu_hours / qm_recommendation_row (answer, 0)->gpu_hours, 1.167, 5e-4);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      const QmChoice *row = qm_recommendation_row (answer, i);

      g_assert_cmpint (row->estimate.configuration.devices, ==, expected[i].devices);
      g_assert_cmpfloat (row->estimate.time.finish.p50, ==, expected[i].hours * 3600);
      g_assert_cmpfloat (row->estimate.cost.money.p50, ==, expected[i].money);
      g_assert_cmpfloat (row->estimate.accuracy.value.p50, ==, expected[i].accuracy);
      g_assert_cmpfloat (row->gpu_hours, ==, expected[i].devices * expected[i].hours);
      g_assert_cmpint (row->ruled_out_by_count, ==, expected[i].by_count);
      g_assert_false (row->ruled_out_by_gpu_hours);
      g_assert_false (row->ruled_out_by_cost);
      g_assert_true (row->pareto);
    }
}

/* With less than 72 hours it is 8 x V100, the cheapest of the sooner ones; with
 * less than 580 USD nothing. */
static void
test_reference_changes (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("QM_DATA_DIR"), "examples", "matrix.qmplan", NULL);
  g_autofree char *text = NULL;
  g_autoptr (QmRecommendation) answer = NULL;
  const QmSensitivity *hours, *money;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  answer = recommend (text);
  g_assert_cmpuint (qm_recommendation_get_sensitivities (answer)->len, ==, 2);
  hours = g_ptr_array_index (qm_recommendation_get_sensitivities (answer), 0);
  money = g_ptr_array_index (qm_recommendation_get_sensitivities (answer), 1);
  g_assert_cmpfloat (hours->threshold, ==, 72);
  g_assert_cmpstr (hours->choice, ==, "8 × NVIDIA Tesla V100 SXM2 16GB");
  g_assert_cmpfloat (money->threshold, ==, 580);
  g_assert_cmpstr (money->choice, ==, "");
}

/* Quotes beside limits: what breaks one comes last and is no choice. */
static void
test_quotes_and_limits (void)
{
  g_autoptr (QmRecommendation) answer = recommend (PLAN (
    "\"task\":\"image-classification\",\"activity\":\"train\",\"limits\":{\"objective\":\"cheapest\",\"hours\":50,\"money\":900},\"quotes\":["
    "{\"device\":\"v100-sxm2-16gb\",\"devices\":4,\"hours\":72,\"money\":580},{\"device\":\"v100-sxm2-16gb\",\"devices\":8,\"hours\":42,\"money\":840},"
    "{\"device\":\"a100-sxm4-40gb\",\"devices\":4,\"hours\":28,\"money\":920}]"));

  g_assert_cmpuint (qm_recommendation_n_choices (answer), ==, 1);
  g_assert_cmpint (qm_recommendation_choice (answer, 0)->estimate.configuration.devices, ==, 8);
  g_assert_cmpint (qm_recommendation_row (answer, 1)->broken_limit, ==, QM_LIMIT_DEADLINE);
  g_assert_cmpint (qm_recommendation_row (answer, 2)->broken_limit, ==, QM_LIMIT_MONEY);
}

/* Requirements E2: the thresholds can be changed. 8 x V100 cost 1.448 times as
 * much and gain 0.2 points: too much where 1.4 times is, not where a fifth of a
 * point is worth it. */
static void
test_thresholds (void)
{
  static const struct { QmLimits limits; gboolean by_count, by_cost; } cases[] = {
    { { .marginal_points = 0.5, .marginal_ratio = 1.4 }, TRUE, TRUE },
    { { .marginal_points = NAN, .marginal_ratio = 1.5 }, TRUE, FALSE },
    { { .marginal_points = 0.1, .marginal_ratio = 1.4 }, FALSE, FALSE },
    { { .marginal_points = NAN, .marginal_ratio = 3 }, FALSE, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GArray) rows = qm_choices_new ();

      add_row (rows, 4, 72, 580, 0.821);
      add_row (rows, 8, 42, 840, 0.823);
      qm_matrix_compare (rows, &cases[i].limits);
      g_assert_cmpint (g_array_index (rows, QmChoice, 1).ruled_out_by_count, ==, cases[i].by_count);
      g_assert_cmpint (g_array_index (rows, QmChoice, 1).ruled_out_by_cost, ==, cases[i].by_cost);
    }
}

static void
test_dominated (void)
{
  g_autoptr (GArray) rows = qm_choices_new ();

  add_row (rows, 1, 10, 100, 0.8);
  add_row (rows, 1, 12, 120, 0.8);
  qm_matrix_compare (rows, &limits);
  g_assert_cmpint (g_array_index (rows, QmChoice, 1).dominated_by, ==, 0);
  g_assert_false (g_array_index (rows, QmChoice, 1).pareto);
  g_assert_true (g_array_index (rows, QmChoice, 0).pareto);
}

/* Requirements E3: quality is a side of its own. What is dearer and slower stays
 * on the front where it is better, and leaves it where it is not. */
static void
test_quality_is_a_side (void)
{
  g_autoptr (GArray) rows = qm_choices_new ();

  add_row (rows, 1, 10, 100, 0.80);
  add_row (rows, 1, 12, 120, 0.82);
  add_row (rows, 1, 12, 120, 0.79);
  qm_matrix_compare (rows, &limits);
  g_assert_true (g_array_index (rows, QmChoice, 1).pareto);
  g_assert_false (g_array_index (rows, QmChoice, 2).pareto);
}

/* A service that costs less and answers later leaves a reason for the other. */
static void
test_later_is_not_better (void)
{
  g_autoptr (GArray) rows = qm_choices_new ();
  const double waits[] = { 10.0, 7.5, 9.5 };

  for (guint i = 0; i < G_N_ELEMENTS (waits); i++)
    {
      QmServingFigures *serving;

      add_row (rows, 1, NAN, i == 0 ? 56 : 60, 0.8);
      serving = &g_array_index (rows, QmChoice, i).estimate.serving;
      serving->known = TRUE;
      serving->latency_p50_seconds = qm_range_exact (waits[i]);
    }
  qm_matrix_compare (rows, &limits);

  g_assert_cmpint (g_array_index (rows, QmChoice, 1).dominated_by, <, 0);
  /* nobody takes notice of a tenth */
  g_assert_cmpint (g_array_index (rows, QmChoice, 2).dominated_by, ==, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/matrix/reference", test_reference_matrix);
  g_test_add_func ("/matrix/reference-plan", test_reference_plan);
  g_test_add_func ("/matrix/reference-changes", test_reference_changes);
  g_test_add_func ("/matrix/quotes-and-limits", test_quotes_and_limits);
  g_test_add_func ("/matrix/thresholds", test_thresholds);
  g_test_add_func ("/matrix/dominated", test_dominated);
  g_test_add_func ("/matrix/quality-is-a-side", test_quality_is_a_side);
  g_test_add_func ("/matrix/later-is-not-better", test_later_is_not_better);

  return shipped_run ();
}
