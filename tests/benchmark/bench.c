/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "bench-detect.h"
#include "bench-search.h"
#include "decide/qm-figures.h"
#include "decide/qm-ladder.h"
#include "draw/qm-chart-private.h"
#include "draw/qm-language.h"
#include "draw/qm-report.h"
#include "model/qm-model-resolve.h"
#include "plan/qm-plan.h"

/* How long the program's steps take: the median and the slowest of some runs. */

#define RUNS 15

#define PLAN(rest) "{\"format\":\"quartermaster-plan\",\"version\":1," rest "}"

static const struct {
  const char *name;
  const char *json;
} PLANS[] = {
  { "fine-tune 8B with LoRA", PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"},"
    "\"training\":{\"method\":\"lora\",\"samples\":20000,\"sequence_length\":1024}") },
  { "serve 8B, 5 requests a second", PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"stage\":\"production\","
    "\"model\":{\"id\":\"llama-3.1-8b\"},\"serving\":{\"requests_per_second\":5}") },
  { "train ResNet-50", PLAN ("\"task\":\"image-classification\",\"activity\":\"train\",\"model\":{\"id\":\"resnet50\"},"
    "\"training\":{\"samples\":1281167,\"epochs\":90}") },
};

typedef struct {
  QmCatalog *catalog;
  QmEstimator *estimator;
  QmResolved *resolved;
  QmRecommendation *recommendation;
  QmResolved *settled;              /* the plan on the hardware of the first choice */
  QmChart *chart;
  cairo_surface_t *surface;
  guint switched;
  char *file;
} Job;

static int
compare (gconstpointer a,
         gconstpointer b)
{
  double difference = *(const double *) a - *(const double *) b;

  return difference < 0 ? -1 : difference > 0;
}

static void
measure (const char *name,
         void      (*step) (Job *),
         Job        *job)
{
  double seconds[RUNS], busy[RUNS];

  for (guint i = 0; i < RUNS; i++)
    {
      gint64 start = g_get_monotonic_time ();
      clock_t begun = clock ();

      step (job);
      seconds[i] = (g_get_monotonic_time () - start) / 1e6;
      busy[i] = (double) (clock () - begun) / CLOCKS_PER_SEC;
    }
  qsort (seconds, RUNS, sizeof *seconds, compare);
  qsort (busy, RUNS, sizeof *busy, compare);
  g_print ("  %-28s %9.2f ms  (slowest %.2f ms; of the processor %.2f ms)\n", name, seconds[RUNS / 2] * 1e3, seconds[RUNS - 1] * 1e3,
           busy[RUNS / 2] * 1e3);
}

static void
check (GError *error)
{
  if (error == NULL)
    return;
  g_printerr ("bench: %s\n", error->message);
  exit (EXIT_FAILURE);
}

static void
load_catalog (Job *job)
{
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  GError *error = NULL;

  g_clear_object (&job->estimator);
  g_clear_object (&job->catalog);
  job->catalog = qm_catalog_load (directory, NULL, &error);
  check (error);
  job->estimator = qm_estimator_new (job->catalog, &error);
  check (error);
}

static void
recommend (Job *job)
{
  g_clear_object (&job->recommendation);
  job->recommendation = qm_recommend (job->estimator, job->resolved, NULL, NULL);
}

static void
draw_chart (Job *job)
{
  GError *error = NULL;
  g_autoptr (QmChart) chart = qm_chart_new (QM_CHART_MEMORY, job->estimator, job->recommendation, 0, qm_language_get_words (), &error);
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 800, 500);
  cairo_t *cr = cairo_create (surface);

  check (error);
  qm_chart_draw (chart, cr, 800, 500, qm_palette_light ());
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

static void
redraw_chart (Job *job)
{
  cairo_t *cr = cairo_create (job->surface);

  qm_chart_draw (job->chart, cr, 800, 500, qm_palette_light ());
  cairo_destroy (cr);
}

/* What happens when a person turns a switch below the answer: the plan without
 * and with each technique anew. */
static void
turn_switch (Job *job)
{
  QmLadder *ladder = qm_ladder_with (job->estimator, job->settled, qm_recommendation_choice (job->recommendation, 0)->estimate.device,
                                     1u << (job->switched++ % 12));

  qm_ladder_free (ladder);
}

/* The same with the picture: the chart of the plan as it is then, described, laid
 * out and drawn. */
static void
turn_and_draw (Job *job)
{
  QmLadder *ladder = qm_ladder_with (job->estimator, job->settled, qm_recommendation_choice (job->recommendation, 0)->estimate.device,
                                     1u << (job->switched++ % 12));
  QmChart *chart = qm_chart_describe_memory (&ladder->reached.memory, "RTX 4090", 1, 0.2, qm_language_get_words ());
  cairo_t *cr = cairo_create (job->surface);

  qm_chart_draw (chart, cr, 800, 500, qm_palette_light ());
  cairo_destroy (cr);
  qm_chart_free (chart);
  qm_ladder_free (ladder);
}

static void
make_ladder (Job *job)
{
  qm_ladder_free (qm_ladder_new (job->estimator, job->settled, qm_recommendation_choice (job->recommendation, 0)->estimate.device));
}

/* All of it must be done within a frame of 16 ms. */
static void
measure_frame (Job *job)
{
  GError *error = NULL;

  job->settled = qm_ladder_resolve (job->resolved, &qm_recommendation_choice (job->recommendation, 0)->estimate);
  job->chart = qm_chart_new (QM_CHART_MEMORY, job->estimator, job->recommendation, 0, qm_language_get_words (), &error);
  check (error);
  job->surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 800, 500);
  measure ("redraw the memory chart", redraw_chart, job);
  measure ("turn a technique on or off", turn_switch, job);
  measure ("the same, and draw its chart", turn_and_draw, job);
  measure ("climb down the ladder", make_ladder, job);
  g_clear_pointer (&job->surface, cairo_surface_destroy);
  g_clear_pointer (&job->chart, qm_chart_free);
  g_clear_pointer (&job->settled, qm_resolved_free);
}

static void
write_report (Job *job)
{
  GError *error = NULL;
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();

  qm_report_write (job->estimator, job->recommendation, qm_language_get_words (), "en", "2026-01-01", QM_PAPER_A4, stream, NULL, &error);
  check (error);
}

static void
run_plan (Job        *job,
          const char *name,
          const char *json)
{
  GError *error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (json, -1, NULL, &error);

  check (error);
  job->resolved = qm_resolve (plan, job->catalog, NULL, NULL, &error);
  check (error);
  g_print ("%s\n", name);
  measure ("recommend", recommend, job);
  g_print ("  %-28s %9" G_GUINT64_FORMAT "\n", "configurations", qm_recommendation_get_considered (job->recommendation));
  measure ("describe and draw the chart", draw_chart, job);
  measure_frame (job);
  measure ("write the report", write_report, job);
  g_clear_object (&job->recommendation);
  g_clear_pointer (&job->resolved, qm_resolved_free);
}

#define CONFIG "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma3_text\",\"hidden_size\":5376,\"num_hidden_layers\":62}," \
               "\"vision_config\":{\"hidden_size\":1152,\"num_hidden_layers\":27,\"image_size\":896,\"patch_size\":14}}"

#define HEADER "{\"a\":{\"dtype\":\"F16\",\"shape\":[50000,100000],\"data_offsets\":[0,10000000000]}}"

static void
read_model (Job *job)
{
  GError *error = NULL;
  g_autoptr (QmModel) model = qm_model_from_file (job->file, &error);

  check (error);
}

/* A file that is @size bytes long, most of it a hole. */
static void
measure_model (Job        *job,
               const char *title,
               const char *name,
               const char *data,
               gsize       length,
               goffset     size)
{
  g_autofree char *folder = g_dir_make_tmp ("quartermaster-bench-XXXXXX", NULL);
  GError *error = NULL;
  FILE *file;

  job->file = g_build_filename (folder, name, NULL);
  g_file_set_contents (job->file, data, length, &error);
  check (error);
  file = g_fopen (job->file, "r+b");
  if (file == NULL || (size > 0 && ftruncate (fileno (file), size) != 0))
    exit (EXIT_FAILURE);
  fclose (file);
  measure (title, read_model, job);
  g_remove (job->file);
  g_rmdir (folder);
  g_clear_pointer (&job->file, g_free);
}

static void
measure_models (Job *job)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint64 length = GUINT64_TO_LE (strlen (HEADER));

  g_byte_array_append (bytes, (const guint8 *) &length, sizeof length);
  g_byte_array_append (bytes, (const guint8 *) HEADER, strlen (HEADER));
  measure_model (job, "read a config.json", "config.json", CONFIG, strlen (CONFIG), 0);
  measure_model (job, "read 10 GB of safetensors", "model.safetensors", (const char *) bytes->data, bytes->len, 10000000000 + bytes->len);
}

static void
measure_growth (void)
{
  static const int factors[] = { 1, 10, 100 };

  g_print ("with more devices and offers\n");
  for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
    bench_growth (factors[i]);
}

int
main (int   argc,
      char *argv[])
{
  Job job = { NULL };

  setlocale (LC_ALL, "");
  if (g_getenv ("QM_DATA_DIR") == NULL)
    {
      g_printerr ("bench: QM_DATA_DIR must name the folder that holds catalog/\n");
      return EXIT_FAILURE;
    }
  if (argc == 3 && g_str_equal (argv[1], "--answers"))
    {
      load_catalog (&job);
      bench_write_answers (job.catalog, job.estimator, argv[2]);
      return EXIT_SUCCESS;
    }
  if (argc == 2 && g_str_equal (argv[1], "--search"))
    {
      load_catalog (&job);
      bench_search (job.catalog, job.estimator);
      measure_growth ();
      return EXIT_SUCCESS;
    }
  g_print ("start\n");
  measure ("load the catalog", load_catalog, &job);
  bench_detect (job.catalog);
  measure_models (&job);
  for (guint i = 0; i < G_N_ELEMENTS (PLANS); i++)
    run_plan (&job, PLANS[i].name, PLANS[i].json);
  bench_search (job.catalog, job.estimator);
  measure_growth ();
  g_clear_object (&job.estimator);
  g_clear_object (&job.catalog);

  return EXIT_SUCCESS;
}
