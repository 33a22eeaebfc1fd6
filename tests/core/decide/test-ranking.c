/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-search.h"
#include "varied-plans.h"
#include "shipped.h"

/* Whatever the search leaves out, its answer is that of looking at everything. */

#define PLANS 60
#define FIRST_SEED 1000

typedef void (*CheckFunc) (QmSearch *search,
                           QmWish   *wish);

static void
for_each_plan (CheckFunc check)
{
  for (guint32 seed = FIRST_SEED; seed < FIRST_SEED + PLANS; seed++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmPlan) plan = varied_plan_new (catalog, seed);
      g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
      g_autoptr (QmSearch) search = NULL;
      QmWish wish;

      g_assert_no_error (error);
      search = qm_search_new (estimator, resolved, NULL, NULL);
      qm_search_wish (search, &wish);
      check (search, &wish);
    }
}

static gboolean
is_on_many (const QmSearch *search,
            const QmRow    *row,
            gconstpointer   data)
{
  return g_array_index (search->solutions, QmSolution, row->solution).machines > 1;
}

/* Every row, weighed in full. */
static int
exhaustive_best (const QmSearch *search,
                 const QmWish   *wish,
                 QmRowFilter     filter)
{
  double lowest = INFINITY;
  int best = -1;

  for (guint i = 0; i < search->rows->len; i++)
    {
      const QmRow *row = &g_array_index (search->rows, QmRow, i);
      QmLimit limit;
      double margin;
      double score = qm_search_score (search, row, wish, &limit, &margin);

      g_assert_cmpint (isinf (score), ==, limit != QM_LIMIT_NONE);
      if (score < lowest && (filter == NULL || filter (search, row, NULL)))
        {
          lowest = score;
          best = i;
        }
    }

  return best;
}

static void
check_best (QmSearch *search,
            QmWish   *wish)
{
  static const double factors[] = { 0.01, 0.3, 0.9, 1, 1.1, 4, 1000 };
  const QmWish given = *wish;

  for (QmObjective objective = QM_OBJECTIVE_BALANCED; objective <= QM_OBJECTIVE_MOST_ACCURATE; objective++)
    for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
      {
        *wish = given;
        wish->objective = objective;
        if (search->rows->len > 0)
          {
            const QmRow *middle = &g_array_index (search->rows, QmRow, search->rows->len / 2);

            wish->money = middle->money * factors[i];
            wish->seconds = i % 2 == 0 ? NAN : middle->seconds * factors[G_N_ELEMENTS (factors) - 1 - i];
          }
        g_assert_cmpint (qm_search_best (search, wish), ==, exhaustive_best (search, wish, NULL));
        g_assert_cmpint (qm_search_best_of (search, wish, is_on_many, NULL), ==, exhaustive_best (search, wish, is_on_many));
      }
}

static void
test_best (void)
{
  for_each_plan (check_best);
}

static void
assert_close (double a,
              double b)
{
  if (isnan (a) || isnan (b))
    g_assert_true (isnan (a) && isnan (b));
  else
    g_assert_cmpfloat_with_epsilon (a, b, 1e-9 * (1 + fabs (a)));
}

/* What is ranked is what is shown. */
static void
check_figures (QmSearch *search,
               QmWish   *wish)
{
  for (guint i = 0; i < search->rows->len; i += 1 + search->rows->len / 50)
    {
      const QmRow *row = &g_array_index (search->rows, QmRow, i);
      const QmPlacement *placement = &g_array_index (search->placements, QmPlacement, row->placement);
      const QmSolution *solution = &g_array_index (search->solutions, QmSolution, row->solution);
      QmEstimate estimate;

      qm_search_complete (search, row, &estimate);
      assert_close (row->money, estimate.cost.money.p50);
      assert_close (row->finish_seconds, estimate.time.finish.p50);
      assert_close (row->seconds, estimate.time.finish.p50 - estimate.time.start_up_seconds);
      assert_close (row->quality, estimate.accuracy.value.p50);
      assert_close (solution->outline.samples_per_second, estimate.throughput.samples_per_second);
      if (search->job.serving)
        assert_close (solution->latency_p99_seconds, estimate.serving.latency_p99_seconds.p50);
      g_assert_cmpint (estimate.configuration.devices, ==, qm_solution_devices (solution, placement));
      g_assert_cmpint (estimate.configuration.nodes, ==, solution->machines);
    }
}

static void
test_figures (void)
{
  for_each_plan (check_figures);
}

/* The same words for every time: what is later than a deadline never reads as it. */
static void
assert_reads_right (const QmEstimate *estimate,
                    double            deadline)
{
  g_autofree char *time = qm_format_seconds_against (qm_words_english (), estimate->time.finish.p50, deadline);
  g_autofree char *allowed = qm_format_seconds (qm_words_english (), deadline);

  g_assert_cmpstr (time, !=, allowed);
}

/* A deadline counts from the order, and a rented machine has to start: its cost
 * includes that as well, and so does the time that is shown. */
static void
check_deadline (QmSearch *search,
                QmWish   *wish)
{
  double start_up = search->job.economics->start_up_seconds;

  for (guint i = 0; i < search->rows->len; i += 1 + search->rows->len / 50)
    {
      const QmRow *row = &g_array_index (search->rows, QmRow, i);
      const QmPlacement *placement = &g_array_index (search->placements, QmPlacement, row->placement);
      QmWish in_time = { .objective = wish->objective, .money = NAN, .quality = NAN, .seconds = row->seconds + start_up / 2 };
      QmEstimate estimate;
      QmLimit limit;
      double margin;

      if (isnan (row->seconds))
        continue;
      g_assert_cmpint (qm_search_breaks (search, row, &in_time, &limit, &margin), ==, placement->place == QM_PLACE_CLOUD);
      qm_search_complete (search, row, &estimate);
      g_assert_cmpint (estimate.time.finish.p50 > in_time.seconds, ==, placement->place == QM_PLACE_CLOUD);
      if (row->seconds > start_up)
        assert_reads_right (&estimate, in_time.seconds);
      in_time.seconds = row->seconds + 1.01 * start_up;
      g_assert_false (qm_search_breaks (search, row, &in_time, &limit, &margin));
    }
}

static void
test_deadline (void)
{
  for_each_plan (check_deadline);
}

/* The rows of one offer, in their order. */
static GArray *
rows_of (const QmSearch *search,
         const QmOffer  *offer)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (QmRow));

  for (guint i = 0; i < search->rows->len; i++)
    {
      const QmRow *row = &g_array_index (search->rows, QmRow, i);

      if (g_array_index (search->placements, QmPlacement, row->placement).offer == offer)
        g_array_append_val (rows, *row);
    }

  return rows;
}

/* Whether the machine around the device held any of them up. */
static gboolean
check_alone (QmSearch         *search,
             const QmResolved *resolved,
             const QmOffer    *offer)
{
  g_autoptr (QmResolved) pinned = qm_resolved_copy (resolved);
  g_autoptr (QmSearch) alone = NULL;
  g_autoptr (GArray) shared_rows = rows_of (search, offer);
  g_autoptr (GArray) rows = NULL;
  gboolean held_up = FALSE;

  qm_word_set (pinned->given->configuration.offer, offer->id);
  alone = qm_search_new (estimator, pinned, NULL, NULL);
  rows = rows_of (alone, offer);
  /* where there is nothing else, less memory is kept free: those are other rows */
  if (alone->job.headroom < search->job.headroom)
    return FALSE;
  g_assert_cmpuint (rows->len, ==, shared_rows->len);
  for (guint i = 0; i < rows->len; i++)
    {
      const QmRow *row = &g_array_index (rows, QmRow, i), *shared = &g_array_index (shared_rows, QmRow, i);
      const QmSolution *a = &g_array_index (alone->solutions, QmSolution, row->solution);
      const QmSolution *b = &g_array_index (search->solutions, QmSolution, shared->solution);
      QmEstimate estimate;

      g_assert_cmpint (a->recipe, ==, b->recipe);
      g_assert_cmpint (a->machines, ==, b->machines);
      g_assert_cmpfloat (a->micro_batch, ==, b->micro_batch);
      assert_close (row->seconds, shared->seconds);
      assert_close (row->money, shared->money);
      qm_search_complete (alone, row, &estimate);
      held_up |= estimate.throughput.input_gain > 1;
    }

  return held_up;
}

/* Offers share what was worked out for others, where that makes no difference:
 * loading data from a bucket is what tells their machines apart. */
static void
test_shared (void)
{
  guint held_up = 0, free = 0;

  for (guint32 seed = FIRST_SEED; seed < FIRST_SEED + PLANS / 2; seed++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmPlan) plan = varied_plan_new (catalog, seed);
      g_autoptr (QmResolved) resolved = NULL;
      g_autoptr (QmSearch) search = NULL;

      plan->data.bytes_per_sample = seed % 3 == 0 ? 5e3 : 5e5;
      plan->data.storage = QM_STORAGE_OBJECT_STORE;
      plan->data.loader_workers = seed % 5 == 0 ? 0 : -1;
      resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
      g_assert_no_error (error);
      search = qm_search_new (estimator, resolved, NULL, NULL);
      for (guint i = seed % 7; i < qm_catalog_n_offers (catalog); i += 11)
        {
          if (check_alone (search, resolved, qm_catalog_offer (catalog, i)))
            held_up++;
          else
            free++;
        }
    }
  g_assert_cmpuint (held_up, >, 20);
  g_assert_cmpuint (free, >, 20);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/decide/ranking/best", test_best);
  g_test_add_func ("/decide/ranking/figures", test_figures);
  g_test_add_func ("/decide/ranking/deadline", test_deadline);
  g_test_add_func ("/decide/ranking/shared", test_shared);

  return shipped_run ();
}
