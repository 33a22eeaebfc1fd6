/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>
#include <time.h>

#include "decide/qm-capacity.h"
#include "decide/qm-choices.h"
#include "decide/qm-elastic.h"
#include "decide/qm-ladder.h"
#include "plan/qm-plan-fields.h"
#include "shipped.h"

/* Whatever a plan says, it is answered soon: the work is bounded, and no number of
 * the plan is counted up to. Processor time of the thread is measured, which other
 * programs hardly change; the answers here take up to 0.1 s, and a batch of 1e12
 * that was divided by every number below it took hours. */

#define MOST_SECONDS 5

/* The shipped catalog has about 1,000 placements; 30,000 configurations are usual. */
#define MOST_CONSIDERED 1000000

#define REQUESTS 100

typedef struct {
  const char *sections;             /* whose fields go to their ends, "" for all */
  const char *plan;
} Base;

static const Base bases[] = {
  { "model training data limits places costs configuration",
    PLAN ("\"task\":\"language-model\",\"activity\":\"train\",\"model\":{\"id\":\"llama-3.1-8b\"}") },
  { "training data limits configuration",
    PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"},"
          "\"training\":{\"method\":\"lora\",\"samples\":10000},\"data\":{\"bytes_per_sample\":4000},"
          "\"configuration\":{\"device\":\"rtx-4090\",\"devices\":1}") },
  { "model serving limits configuration",
    PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"},"
          "\"serving\":{\"requests_per_second\":2,\"latency_p99_seconds\":20}") },
  { "serving",
    PLAN ("\"task\":\"language-model\",\"activity\":\"batch-inference\",\"model\":{\"id\":\"llama-3.1-8b\"},\"serving\":{\"samples\":100000}") },
  { "model training configuration",
    PLAN ("\"task\":\"image-classification\",\"activity\":\"train\",\"model\":{\"id\":\"resnet-50\"},"
          "\"training\":{\"samples\":50000,\"epochs\":30},"
          "\"places\":{\"owned\":[{\"device\":\"rtx-4090\",\"devices\":1000000,\"nodes\":100000}]}") },
  { "serving configuration",
    PLAN ("\"task\":\"image-classification\",\"activity\":\"serve\",\"model\":{\"id\":\"resnet-50\"},\"serving\":{\"requests_per_second\":100}") },
  { "serving",
    PLAN ("\"task\":\"image-generation\",\"activity\":\"serve\",\"model\":{\"id\":\"sdxl\"},\"serving\":{\"requests_per_second\":1}") },
  { "tabular training",
    PLAN ("\"task\":\"tabular\",\"activity\":\"train\",\"training\":{\"samples\":1000000},"
          "\"tabular\":{\"features\":100,\"trees\":500,\"depth\":6}") },
};

static double
processor_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

/* All that window, command line and report make of a choice. */
static void
look_at (QmRecommendation *answer,
         const QmChoice   *choice)
{
  const QmResolved *resolved = qm_recommendation_get_resolved (answer);
  QmElasticRule rule = { .target = NAN, .dead_band = NAN, .warm_up_seconds = NAN, .cool_down_seconds = NAN, .every_seconds = NAN };
  g_autoptr (GArray) curve = qm_scaling_curve (estimator, resolved, choice);
  g_autoptr (QmElastic) elastic = qm_elastic_of_choice (estimator, resolved->plan, choice, NULL, &rule, NULL);
  g_autoptr (QmResolved) settled = qm_ladder_resolve (resolved, &choice->estimate);
  QmCapacity capacity;

  qm_capacity_solve (estimator, resolved, &choice->estimate, &capacity);
  if (resolved->plan->task != QM_TASK_TABULAR)
    {
      g_autoptr (QmLadder) ladder = qm_ladder_new (estimator, settled, choice->estimate.device);

      g_assert_cmpuint (ladder->rungs->len, >, 0);
    }
}

static void
answer_soon (const QmPlan *plan,
             const char   *what,
             double        value)
{
  double start = processor_seconds (), took;
  g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, NULL);
  g_autoptr (QmRecommendation) answer = NULL;
  g_autoptr (QmLadder) nearest = NULL;
  g_autoptr (JsonNode) node = NULL;

  /* Fields may contradict each other at their ends. */
  if (resolved == NULL)
    return;

  answer = qm_recommend (estimator, resolved, NULL, NULL);
  if (qm_recommendation_can_simulate (answer) && !g_str_has_prefix (what, "costs."))
    {
      QmRecommendation *simulated = qm_recommendation_simulate (answer, REQUESTS, NULL);

      g_set_object (&answer, simulated);
      g_object_unref (simulated);
    }
  node = qm_recommendation_to_json (answer, estimator);
  nearest = qm_ladder_of_nearest (answer);
  if (qm_recommendation_n_choices (answer) > 0)
    look_at (answer, qm_recommendation_choice (answer, 0));

  took = processor_seconds () - start;
  g_test_maximized_result (took, "%s = %g: %.2f s", what, value, took);
  if (took > MOST_SECONDS || qm_recommendation_get_considered (answer) > MOST_CONSIDERED)
    g_error ("%s = %g took %.1f s for %" G_GUINT64_FORMAT " configurations", what, value, took, qm_recommendation_get_considered (answer));
}

static gboolean
set_number (const QmField *field,
            double         value,
            QmPlan        *plan)
{
  gpointer at = qm_plan_field_pointer (field, plan);

  if (field->kind == QM_FIELD_INTEGER)
    *(int *) at = (int) value;
  else if (field->kind == QM_FIELD_NUMBER || field->kind == QM_FIELD_COUNT)
    *(double *) at = value;
  else
    return FALSE;

  return TRUE;
}

static gboolean
is_in (const QmField *field,
       const char    *section)
{
  return g_str_has_prefix (field->path, section) && field->path[strlen (section)] == '.';
}

static void
test_fields (gconstpointer data)
{
  const Base *base = data;
  g_auto (GStrv) sections = g_strsplit (base->sections, " ", -1);
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  for (guint i = 0; i < n; i++)
    for (guint section = 0; sections[section] != NULL; section++)
      for (int end = 0; end < 2; end++)
        {
          g_autoptr (QmPlan) plan = qm_plan_from_data (base->plan, -1, NULL, NULL);
          double value = end > 0 ? fields[i].maximum : fields[i].minimum;

          if (is_in (&fields[i], sections[section]) && set_number (&fields[i], value, plan))
            answer_soon (plan, fields[i].path, value);
        }
}

/* All fields of a section at once. */
static void
test_sections (gconstpointer data)
{
  const Base *base = data;
  g_auto (GStrv) sections = g_strsplit (base->sections, " ", -1);
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  for (guint section = 0; sections[section] != NULL; section++)
    for (int end = 0; end < 2; end++)
      {
        g_autoptr (QmPlan) plan = qm_plan_from_data (base->plan, -1, NULL, NULL);

        for (guint i = 0; i < n; i++)
          if (is_in (&fields[i], sections[section]))
            set_number (&fields[i], end > 0 ? fields[i].maximum : fields[i].minimum, plan);
        answer_soon (plan, sections[section], end);
      }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  for (guint i = 0; i < G_N_ELEMENTS (bases); i++)
    {
      g_autofree char *fields = g_strdup_printf ("/extremes/fields/%u", i), *sections = g_strdup_printf ("/extremes/sections/%u", i);

      g_test_add_data_func (fields, &bases[i], test_fields);
      g_test_add_data_func (sections, &bases[i], test_sections);
    }

  return shipped_run ();
}
