/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Several searches at once over one catalog and one estimator, as where the
 * window has begun a new one before the old one has noticed: each comes to what
 * it comes to alone. "./dev test --sanitize thread" runs this under the sanitizer
 * of threads. */

#include "decide/qm-recommendation.h"
#include "plan/qm-plan.h"

#define N_THREADS 4
#define N_ROUNDS 2

#define PLAN(rest) "{\"format\":\"quartermaster-plan\",\"version\":1," rest "}"

static const char * const plans[] = {
  PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"lora\"}"),
  PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"mistral-7b-v0.3\"},\"serving\":{\"requests_per_second\":2}"),
  PLAN ("\"task\":\"image-classification\",\"activity\":\"train\",\"model\":{\"id\":\"resnet50\"}"),
};

typedef struct {
  QmCatalog *catalog;
  QmEstimator *estimator;
  QmHere here;
  guint first;
  char *answers[G_N_ELEMENTS (plans)];
} Search;

static char *
answer (Search *self,
        guint   at)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (plans[at], -1, NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmRecommendation) recommendation = NULL;
  GString *text = g_string_new (NULL);

  g_assert_no_error (error);
  resolved = qm_resolve (plan, self->catalog, NULL, NULL, &error);
  g_assert_no_error (error);
  recommendation = qm_recommend (self->estimator, resolved, &self->here, NULL);
  for (guint i = 0; i < qm_recommendation_n_rows (recommendation); i++)
    {
      const QmChoice *row = qm_recommendation_row (recommendation, i);

      g_string_append_printf (text, "%s %g %g\n", row->label, row->estimate.time.seconds.p50, row->estimate.cost.money.p50);
    }

  return g_string_free (text, FALSE);
}

static gpointer
search (gpointer data)
{
  Search *self = data;

  for (guint i = 0; i < N_ROUNDS * G_N_ELEMENTS (plans); i++)
    {
      guint at = (self->first + i) % G_N_ELEMENTS (plans);

      g_free (self->answers[at]);
      self->answers[at] = answer (self, at);
    }

  return NULL;
}

static void
test_searches (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (QmCatalog) catalog = qm_catalog_load (folder, NULL, &error);
  g_autoptr (QmEstimator) estimator = NULL;
  Search alone = { 0 }, searches[N_THREADS] = { { 0 } };
  GThread *threads[N_THREADS];

  g_assert_no_error (error);
  estimator = qm_estimator_new (catalog, &error);
  g_assert_no_error (error);
  /* two cards that differ: what they are together is worked out when it is asked for */
  alone = (Search) { .catalog = catalog, .estimator = estimator, .here = { .n_devices = 2 } };
  alone.here.devices[0] = qm_catalog_find_device (catalog, "rtx-4090");
  alone.here.devices[1] = qm_catalog_find_device (catalog, "rtx-3090");
  alone.here.usable_bytes[0] = alone.here.usable_bytes[1] = 20e9;

  for (guint i = 0; i < N_THREADS; i++)
    {
      searches[i] = alone;
      searches[i].first = i;
      threads[i] = g_thread_new ("search", search, &searches[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);

  for (guint at = 0; at < G_N_ELEMENTS (plans); at++)
    {
      alone.answers[at] = answer (&alone, at);
      g_assert_cmpstr (alone.answers[at], !=, "");
      for (guint i = 0; i < N_THREADS; i++)
        {
          g_assert_cmpstr (searches[i].answers[at], ==, alone.answers[at]);
          g_free (searches[i].answers[at]);
        }
      g_free (alone.answers[at]);
    }
}

/* What threads hold in common is let go as often as it was taken: a catalog's
 * entries, and the config.json that a plan holds, whose references JSON-GLib
 * counts without atomic operations. */
#define N_COPIES 20000

static gpointer
hold_and_let_go (gpointer data)
{
  const QmResolved *resolved = data;

  for (guint i = 0; i < N_COPIES; i++)
    {
      QmResolved *copy = qm_resolved_copy (resolved);

      qm_resolved_free (copy);
    }

  return NULL;
}

static void
hold_in_threads (const char *text,
                 QmCatalog  *catalog)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (text, -1, NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;
  g_autofree char *before = NULL, *after = NULL;
  GThread *threads[N_THREADS];

  g_assert_no_error (error);
  resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);
  before = qm_plan_to_data (plan, NULL);
  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("holder", hold_and_let_go, resolved);
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  after = qm_plan_to_data (resolved->given, NULL);
  g_assert_cmpstr (before, ==, after);
}

static void
test_sharing (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (QmCatalog) catalog = qm_catalog_load (folder, NULL, &error);

  g_assert_no_error (error);
  hold_in_threads (plans[0], catalog);
  hold_in_threads (PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"architecture\":{\"model_type\":\"llama\","
                         "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":128,\"vocab_size\":100,"
                         "\"rope_scaling\":{\"factor\":8.5,\"kinds\":[\"linear\",2,true,null]}}}"), catalog);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/threads/searches", test_searches);
  g_test_add_func ("/core/threads/sharing", test_sharing);

  return g_test_run ();
}
