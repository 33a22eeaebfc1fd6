/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench-search.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "decide/qm-recommendation.h"
#include "varied-plans.h"

/* How long the search takes over many plans. Times are of the processor, not of
 * the clock on the wall: other programs on the machine count as little as can
 * be. */

#define PLANS 200
#define FIRST_SEED 1
#define RUNS 3

typedef struct {
  double seconds;                   /* least of the runs */
  guint64 configurations;
  int kind;
} Measured;

static const char *const KINDS[] = { "language-model training", "language-model inference", "other domains" };

static double
processor_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static int
compare (gconstpointer a,
         gconstpointer b)
{
  double difference = *(const double *) a - *(const double *) b;

  return difference < 0 ? -1 : difference > 0;
}

static int
kind_of (const QmPlan *plan)
{
  if (plan->task != QM_TASK_LANGUAGE_MODEL)
    return 2;

  return qm_plan_is_training (plan) ? 0 : 1;
}

/* The fastest of the runs is the one that was disturbed least. */
static Measured
measure_plan (QmCatalog   *catalog,
              QmEstimator *estimator,
              guint32      seed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = varied_plan_new (catalog, seed);
  g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  Measured measured = { .seconds = G_MAXDOUBLE };

  if (resolved == NULL)
    g_error ("plan %u: %s", seed, error->message);

  measured.kind = kind_of (plan);
  for (int i = 0; i < RUNS; i++)
    {
      double start = processor_seconds ();
      g_autoptr (QmRecommendation) recommendation = qm_recommend (estimator, resolved, NULL, NULL);

      measured.seconds = MIN (measured.seconds, processor_seconds () - start);
      measured.configurations = qm_recommendation_get_considered (recommendation);
    }

  return measured;
}

static void
print_spread (const char *name,
              double     *values,
              guint       n,
              double      unit,
              const char *unit_name)
{
  qsort (values, n, sizeof *values, compare);
  g_print ("  %-40s %9.2f %s   (10 %% %.2f, 90 %% %.2f, 99 %% %.2f, most %.2f)\n", name, values[n / 2] / unit, unit_name,
           values[n / 10] / unit, values[n * 9 / 10] / unit, values[MIN (n - 1, n * 99 / 100)] / unit, values[n - 1] / unit);
}

static void
print_kind (const Measured *measured,
            int             kind)
{
  double each[PLANS], seconds = 0, configurations = 0;
  guint n = 0;

  for (int i = 0; i < PLANS; i++)
    {
      if (measured[i].kind != kind || measured[i].configurations == 0)
        continue;
      each[n++] = measured[i].seconds / measured[i].configurations;
      seconds += measured[i].seconds;
      configurations += measured[i].configurations;
    }
  print_spread (KINDS[kind], each, n, 1e-9, "ns per configuration");
  g_print ("  %-40s %9.2f million per second and core, %u plans\n", "", configurations / seconds / 1e6, n);
}

/**
 * bench_search:
 * @catalog: the catalog
 * @estimator: its estimator
 *
 * Prints how long `recommend` takes over varied plans, all of it counted.
 */
void
bench_search (QmCatalog   *catalog,
              QmEstimator *estimator)
{
  Measured measured[PLANS];
  double seconds[PLANS], configurations[PLANS];

  for (int i = 0; i < PLANS; i++)
    {
      measured[i] = measure_plan (catalog, estimator, FIRST_SEED + i);
      seconds[i] = measured[i].seconds;
      configurations[i] = measured[i].configurations;
    }

  g_print ("recommend over %d varied plans, seconds of the processor\n", PLANS);
  print_spread ("recommend", seconds, PLANS, 1e-3, "ms");
  print_spread ("configurations", configurations, PLANS, 1, "  ");
  for (guint i = 0; i < G_N_ELEMENTS (KINDS); i++)
    print_kind (measured, i);
}

/**
 * bench_write_answers:
 * @catalog: the catalog
 * @estimator: its estimator
 * @folder: an existing folder
 *
 * Writes varied plans and what is recommended for them, so that the answers of
 * two builds can be compared.
 */
void
bench_write_answers (QmCatalog   *catalog,
                     QmEstimator *estimator,
                     const char  *folder)
{
  for (int i = 0; i < 2 * PLANS; i++)
    {
      g_autofree char *plan_json = varied_plan_json (catalog, FIRST_SEED + i);
      g_autofree char *plan_path = g_strdup_printf ("%s/%03d.qmplan", folder, i);
      g_autofree char *path = g_strdup_printf ("%s/%03d.json", folder, i);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmPlan) plan = varied_plan_new (catalog, FIRST_SEED + i);
      g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
      g_autoptr (QmRecommendation) recommendation = NULL;
      g_autoptr (JsonNode) node = NULL;
      g_autofree char *json = NULL;

      if (resolved == NULL)
        g_error ("plan %d: %s", FIRST_SEED + i, error->message);
      recommendation = qm_recommend (estimator, resolved, NULL, NULL);
      node = qm_recommendation_to_json (recommendation, estimator);
      json = json_to_string (node, TRUE);
      if (!g_file_set_contents (plan_path, plan_json, -1, &error) || !g_file_set_contents (path, json, -1, &error))
        g_error ("%s", error->message);
    }
}
