/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench-search.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <glib/gstdio.h>

#include "decide/qm-recipe.h"
#include "varied-plans.h"

/* How long the search takes over many plans. Times are of the processor, not of
 * the clock on the wall: other programs on the machine count as little as can
 * be. */

#define PLANS 200
#define CONFIGURATIONS 500
#define FIRST_SEED 1
#define RUNS 3
#define GROWTH_PLANS 20

typedef struct {
  double seconds;                   /* least of the runs */
  guint64 configurations;
  double evaluation;                /* seconds of one, alone */
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

/* As the search would try them, on every device in turn. */
static void
prepare (const QmPlan    *plan,
         int              i,
         QmConfiguration *configuration)
{
  int devices = 1 << i % 7;

  *configuration = (QmConfiguration) { .gpu_layers = -1, .devices = devices, .nodes = MAX (1, devices / 8),
                                       .tensor_parallel = 1, .pipeline_parallel = 1, .data_parallel = devices };
  if (!qm_plan_is_training (plan))
    return;

  configuration->sharding = i % 3 == 0 ? QM_SHARDING_ZERO3 : QM_SHARDING_NONE;
  configuration->offload = QM_OFFLOAD_NONE;
  configuration->micro_batch = 1 << i % 5;
  configuration->gradient_accumulation = 1;
}

/* One configuration, without what the search does with it. Nothing is allocated
 * for it: the program says so and ends where that is not so. */
static double
measure_evaluation (QmCatalog        *catalog,
                    QmEstimator      *estimator,
                    const QmResolved *resolved)
{
  g_autoptr (GPtrArray) recipes = NULL;
  const QmEvaluator *evaluator;
  QmConfiguration configurations[CONFIGURATIONS];
  guint n = qm_catalog_n_devices (catalog);
  double least = G_MAXDOUBLE;
  gsize allocated;
  QmJob job;

  qm_job_init (&job, estimator, resolved);
  recipes = qm_recipes_for_job (&job);
  if (recipes->len == 0)
    return NAN;
  evaluator = qm_recipe_evaluator (g_ptr_array_index (recipes, 0), &job, job.serving ? 3 : 0);
  for (int i = 0; i < CONFIGURATIONS; i++)
    prepare (resolved->plan, i, &configurations[i]);

  allocated = mallinfo2 ().uordblks;
  for (int run = 0; run < RUNS; run++)
    {
      double start = processor_seconds ();

      for (int i = 0; i < CONFIGURATIONS; i++)
        {
          QmOutline outline;

          qm_evaluator_outline (evaluator, qm_catalog_device (catalog, i % n), &configurations[i], &outline);
        }
      least = MIN (least, processor_seconds () - start);
    }
  if (mallinfo2 ().uordblks != allocated)
    g_error ("the evaluation of a configuration allocates");

  return least / CONFIGURATIONS;
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
  measured.evaluation = measure_evaluation (catalog, estimator, resolved);
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
  double evaluation[PLANS], whole[PLANS], sum = 0;
  guint n = 0;

  for (int i = 0; i < PLANS; i++)
    {
      if (measured[i].kind != kind || isnan (measured[i].evaluation) || measured[i].configurations == 0)
        continue;
      evaluation[n] = measured[i].evaluation;
      whole[n++] = measured[i].seconds / measured[i].configurations;
      sum += measured[i].evaluation;
    }
  g_print ("%s, %u plans\n", KINDS[kind], n);
  print_spread ("one configuration", evaluation, n, 1e-9, "ns");
  print_spread ("the same, with all of recommend", whole, n, 1e-9, "ns");
  g_print ("  %-40s %9.2f million\n", "evaluations per second and core", n / sum / 1e6);
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

  g_print ("recommend over %d varied plans, by the time of one core\n", PLANS);
  print_spread ("recommend", seconds, PLANS, 1e-3, "ms");
  print_spread ("configurations considered", configurations, PLANS, 1, "  ");
  for (guint i = 0; i < G_N_ELEMENTS (KINDS); i++)
    print_kind (measured, i);
}

/* Copies of a record under other names, without the names that must be its own. */
static void
multiply (JsonArray  *records,
          int         factor,
          const char *reference)
{
  guint n = json_array_get_length (records);

  for (int copy = 1; copy < factor; copy++)
    for (guint i = 0; i < n; i++)
      {
        JsonObject *source = json_array_get_object_element (records, i);
        JsonObject *object = json_object_new ();
        g_autoptr (GList) names = json_object_get_members (source);

        for (GList *l = names; l != NULL; l = l->next)
          {
            const char *name = l->data;
            gboolean renamed = g_str_equal (name, "id") || g_strcmp0 (name, reference) == 0;

            if (renamed)
              {
                g_autofree char *other = g_strdup_printf ("%s-%d", json_object_get_string_member (source, name), copy);

                json_object_set_string_member (object, name, other);
              }
            else if (!g_str_equal (name, "aliases") && !g_str_equal (name, "pci_ids") && !g_str_equal (name, "catalog_names"))
              json_object_set_member (object, name, json_node_copy (json_object_get_member (source, name)));
          }
        json_array_add_object_element (records, object);
      }
}

/* The file @name of the catalog, @factor times as long, to @folder. */
static void
write_larger (const char *name,
              const char *list,
              const char *reference,
              int         factor,
              const char *folder)
{
  g_autofree char *from = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", name, NULL);
  g_autofree char *to = g_build_filename (folder, name, NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (GError) error = NULL;

  if (!json_parser_load_from_file (parser, from, &error))
    g_error ("%s", error->message);
  multiply (json_object_get_array_member (json_node_get_object (json_parser_get_root (parser)), list), factor, reference);
  json_generator_set_root (generator, json_parser_get_root (parser));
  if (!json_generator_to_file (generator, to, &error))
    g_error ("%s", error->message);
}

/**
 * bench_growth:
 * @factor: how many times as many devices and offers
 *
 * Prints how long `recommend` takes with a larger catalog.
 */
void
bench_growth (int factor)
{
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autofree char *folder = g_dir_make_tmp ("quartermaster-bench-XXXXXX", NULL);
  g_autofree char *devices = g_build_filename (folder, "devices.json", NULL);
  g_autofree char *offers = g_build_filename (folder, "offers.json", NULL);
  g_autofree char *name = g_strdup_printf ("recommend, catalog × %d", factor);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmEstimator) estimator = NULL;
  double seconds[GROWTH_PLANS];

  write_larger ("devices.json", "devices", NULL, factor, folder);
  write_larger ("offers.json", "offers", "device", factor, folder);
  catalog = qm_catalog_load (directory, folder, &error);
  estimator = catalog != NULL ? qm_estimator_new (catalog, &error) : NULL;
  if (estimator == NULL)
    g_error ("%s", error->message);

  for (int i = 0; i < GROWTH_PLANS; i++)
    seconds[i] = measure_plan (catalog, estimator, FIRST_SEED + i).seconds;
  print_spread (name, seconds, GROWTH_PLANS, 1e-3, "ms");
  g_remove (devices);
  g_remove (offers);
  g_rmdir (folder);
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
