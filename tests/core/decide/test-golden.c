/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "decide/qm-recommendation.h"
#include "qm-enum.h"
#include "qm-enum-types.h"

/* Twenty plans of all kinds, each with the answer that an expert would give a
 * friend and why; and what must hold of every answer. */

static QmCatalog *catalog;
static QmEstimator *estimator;
static char *folder;

typedef struct {
  char *name;
  JsonNode *node;
} Golden;

static QmRecommendation *
recommend_by (QmEstimator *by,
              QmCatalog   *from,
              JsonNode    *plan_node)
{
  g_autofree char *text = json_to_string (plan_node, FALSE);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (text, -1, NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;

  g_assert_no_error (error);
  resolved = qm_resolve (plan, from, NULL, NULL, &error);
  g_assert_no_error (error);

  return qm_recommend (by, resolved, NULL, NULL);
}

static QmRecommendation *
recommend (JsonNode *plan)
{
  return recommend_by (estimator, catalog, plan);
}

static JsonNode *
load (const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;

  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);

  return json_parser_steal_root (parser);
}

static JsonNode *
plan_of (JsonNode *golden)
{
  return json_object_get_member (json_node_get_object (golden), "plan");
}

static GPtrArray *
names (void)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *found = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".json"))
      g_ptr_array_add (found, g_strdup (name));
  g_ptr_array_sort_values (found, (GCompareFunc) strcmp);

  return found;
}

static void
for_each (void (*check) (JsonNode *golden, QmRecommendation *answer))
{
  g_autoptr (GPtrArray) all = names ();

  g_assert_cmpuint (all->len, >=, 20);
  for (guint i = 0; i < all->len; i++)
    {
      g_autoptr (JsonNode) golden = load (all->pdata[i]);
      g_autoptr (QmRecommendation) answer = recommend (plan_of (golden));

      g_test_message ("%s", (char *) all->pdata[i]);
      check (golden, answer);
    }
}

#define VARIANTS 4

/* The factor 10^(-reach) to 10^reach. */
static double
factor (GRand  *random,
        double  reach)
{
  return pow (10, g_rand_double_range (random, -reach, reach));
}

static void
scale (JsonObject *object,
       const char *field,
       double      by)
{
  if (object == NULL || !json_object_has_member (object, field))
    return;
  json_object_set_double_member (object, field, MAX (1, rint (by * json_object_get_double_member (object, field))));
}

/* A person with more or less of everything, who wants something else: limits
 * come and go, so do terms. */
static void
vary (GRand      *random,
      JsonObject *plan)
{
  static const char * const objectives[] = { "cheapest", "fastest", "most-accurate", "balanced" };
  JsonObject *limits = json_object_get_object_member (plan, "limits");
  JsonObject *places = json_object_get_object_member (plan, "places");
  JsonObject *training = json_object_has_member (plan, "training") ? json_object_get_object_member (plan, "training") : NULL;
  JsonObject *serving = json_object_has_member (plan, "serving") ? json_object_get_object_member (plan, "serving") : NULL;

  scale (limits, "money", factor (random, 1.5));
  scale (limits, "hours", factor (random, 1));
  scale (training, "samples", factor (random, 1));
  scale (training, "tokens", factor (random, 0.5));
  scale (serving, "samples", factor (random, 1));
  scale (serving, "requests_per_second", factor (random, 0.7));
  if (g_rand_boolean (random))
    json_object_set_string_member (limits, "objective", objectives[g_rand_int_range (random, 0, G_N_ELEMENTS (objectives))]);
  if (g_rand_int_range (random, 0, 3) == 0)
    json_object_remove_member (limits, g_rand_boolean (random) ? "money" : "hours");
  if (g_rand_int_range (random, 0, 3) == 0)
    json_object_set_string_member (places, "spot", g_rand_boolean (random) ? "never" : "allowed");
  if (g_rand_int_range (random, 0, 3) == 0)
    json_object_set_boolean_member (places, "buy", TRUE);
}

/* The check on each of the plans varied by chance, the same chance every time. */
static void
for_each_variant (void (*check) (JsonNode *golden, QmRecommendation *answer))
{
  g_autoptr (GPtrArray) all = names ();
  g_autoptr (GRand) random = g_rand_new_with_seed (2026);
  guint answered = 0;

  for (guint i = 0; i < all->len * VARIANTS; i++)
    {
      g_autoptr (JsonNode) golden = load (all->pdata[i % all->len]);
      g_autoptr (QmRecommendation) answer = NULL;
      g_autofree char *text = NULL;

      vary (random, json_node_get_object (plan_of (golden)));
      text = json_to_string (plan_of (golden), FALSE);
      g_test_message ("%s", text);
      answer = recommend (plan_of (golden));
      if (qm_recommendation_n_choices (answer) == 0)
        continue;
      answered++;
      check (golden, answer);
    }

  /* Where hardly any plan has an answer nothing was checked. */
  g_assert_cmpuint (answered, >, all->len * VARIANTS / 2);
}

static void
check_answer (JsonNode         *golden,
              QmRecommendation *answer)
{
  JsonObject *expected = json_object_get_object_member (json_node_get_object (golden), "answer");
  const QmChoice *best;

  g_assert_cmpuint (strlen (json_object_get_string_member (json_node_get_object (golden), "why")), >, 20);
  g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
  best = qm_recommendation_choice (answer, 0);
  g_assert_cmpstr (best->estimate.device->id, ==, json_object_get_string_member (expected, "device"));
  g_assert_cmpint (best->estimate.configuration.devices, ==, json_object_get_int_member (expected, "devices"));
  g_assert_cmpint (best->estimate.configuration.nodes, ==, json_object_get_int_member (expected, "machines"));
  g_assert_cmpstr (qm_enum_to_word (QM_TYPE_PRICING, best->estimate.cost.pricing), ==, json_object_get_string_member (expected, "pricing"));
  if (best->offer != NULL)
    g_assert_cmpstr (best->offer->provider, ==, json_object_get_string_member (expected, "provider"));
}

static void
test_answers (void)
{
  for_each (check_answer);
}

static void
check_not_dominated (JsonNode         *golden,
                     QmRecommendation *answer)
{
  g_assert_cmpint (qm_recommendation_choice (answer, 0)->dominated_by, <, 0);
}

static void
test_never_dominated (void)
{
  for_each (check_not_dominated);
  for_each_variant (check_not_dominated);
}

static gboolean
warns (QmRecommendation *answer,
       const QmChoice   *choice,
       const char       *code)
{
  g_autoptr (GPtrArray) warnings = qm_estimate_warnings (estimator, qm_recommendation_get_resolved (answer), choice);

  for (guint i = 0; i < warnings->len; i++)
    if (strcmp (qm_message_get_code (warnings->pdata[i]), code) == 0)
      return TRUE;

  return FALSE;
}

static void
check_limits (JsonNode         *golden,
              QmRecommendation *answer)
{
  const QmLimits *limits = &qm_recommendation_get_resolved (answer)->plan->limits;

  for (guint i = 0; i < qm_recommendation_n_choices (answer); i++)
    {
      const QmChoice *choice = qm_recommendation_choice (answer, i);
      const QmEstimate *estimate = &choice->estimate;
      gboolean own = choice->place == QM_PLACE_OWNED;

      g_assert_true (choice->within_limits);
      /* the time with the start of the machine and with interruptions */
      g_assert_false (estimate->time.finish.p50 > limits->hours * 3600);
      g_assert_true (own || !(estimate->cost.money.p50 > limits->money));
      g_assert_cmpint (warns (answer, choice, "may-be-late"), ==, estimate->time.finish.p90 > limits->hours * 3600);
      g_assert_cmpint (warns (answer, choice, "may-cost-more"), ==, !own && estimate->cost.money.p90 > limits->money);
    }
}

/* Limits about what the answer needs: those of most people rule nothing out. */
static void
check_tight_limits (JsonNode         *golden,
                    QmRecommendation *answer)
{
  static const double shares[] = { 0.6, 0.9, 1.1 };
  JsonObject *limits = json_object_get_object_member (json_node_get_object (plan_of (golden)), "limits");
  const QmEstimate *estimate = &qm_recommendation_choice (answer, 0)->estimate;

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      g_autoptr (QmRecommendation) tight = NULL;

      if (estimate->time.finish.p50 > 0)
        json_object_set_double_member (limits, "hours", shares[i] * estimate->time.finish.p50 / 3600);
      else
        json_object_set_double_member (limits, "money", MAX (0.01, shares[i] * estimate->cost.money.p50));
      tight = recommend (plan_of (golden));
      check_limits (golden, tight);
    }
}

static void
test_keeps_limits (void)
{
  for_each (check_tight_limits);
  for_each (check_limits);
  for_each_variant (check_limits);
}

/* So tight that the end of the range breaks what the best guess keeps. */
static void
test_says_what_may_break (void)
{
  g_autoptr (JsonNode) golden = load ("04-lora-8b.json");
  JsonObject *limits = json_object_get_object_member (json_node_get_object (plan_of (golden)), "limits");
  g_autoptr (QmRecommendation) at_ease = recommend (plan_of (golden));
  QmRange time = qm_recommendation_choice (at_ease, 0)->estimate.time.seconds;
  g_autofree char *device = g_strdup (qm_recommendation_choice (at_ease, 0)->estimate.device->id);
  JsonObject *configuration = json_object_new ();
  g_autoptr (QmRecommendation) answer = NULL;

  json_object_set_double_member (limits, "hours",
                                 ((time.p50 + time.p90) / 2 + qm_estimator_get_economics (estimator)->start_up_seconds) / 3600);
  json_object_set_string_member (configuration, "device", device);
  json_object_set_int_member (configuration, "devices", 1);
  json_object_set_object_member (json_node_get_object (plan_of (golden)), "configuration", configuration);
  answer = recommend (plan_of (golden));
  g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
  g_assert_true (warns (answer, qm_recommendation_choice (answer, 0), "may-be-late"));
  g_assert_false (warns (answer, qm_recommendation_choice (answer, 0), "may-cost-more"));
}

/* What was best is still allowed, and no riskier. */
static void
check_looser (JsonNode         *golden,
              QmRecommendation *answer)
{
  static const char * const fields[] = { "money", "hours" };
  JsonObject *limits = json_object_get_object_member (json_node_get_object (plan_of (golden)), "limits");
  double score = qm_recommendation_choice (answer, 0)->score;

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      double before = json_object_get_double_member_with_default (limits, fields[i], 0);
      g_autoptr (QmRecommendation) looser = NULL;

      if (!(before > 0))
        continue;
      json_object_set_double_member (limits, fields[i], 3 * before);
      looser = recommend (plan_of (golden));
      g_assert_cmpuint (qm_recommendation_n_choices (looser), >, 0);
      g_assert_cmpfloat (qm_recommendation_choice (looser, 0)->score, <=, score + 1e-9);
      json_object_set_double_member (limits, fields[i], before);
    }
}

static void
test_looser_is_no_worse (void)
{
  for_each (check_looser);
  for_each_variant (check_looser);
}

/* Trials cost about what the last run does, not several times as much a run. */
static void
check_stages (JsonNode         *golden,
              QmRecommendation *answer)
{
  GPtrArray *stages = qm_recommendation_get_stages (answer);
  double runs = qm_estimator_get_economics (estimator)->development_runs;

  if (stages->len > 1)
    g_assert_cmpfloat (((QmStagePlan *) stages->pdata[1])->money, <,
                       1.5 * runs * ((QmStagePlan *) stages->pdata[2])->money + 1);
}

static void
test_stages (void)
{
  for_each (check_stages);
  for_each_variant (check_stages);
}

/* What is kept in nine cases of ten is no reason for something else. */
static void
check_changes (JsonNode         *golden,
               QmRecommendation *answer)
{
  const QmEstimate *estimate = &qm_recommendation_choice (answer, 0)->estimate;
  GPtrArray *changes = qm_recommendation_get_sensitivities (answer);

  for (guint i = 0; i < changes->len; i++)
    {
      const QmSensitivity *change = changes->pdata[i];

      if (change->above)
        continue;
      if (g_str_equal (change->field, "limits.hours"))
        g_assert_cmpfloat (change->threshold * 3600, <=, estimate->time.finish.p90);
      else
        g_assert_cmpfloat (change->threshold, <=, estimate->cost.money.p90);
    }
}

static void
test_changes (void)
{
  for_each (check_changes);
  for_each_variant (check_changes);
}

/* Nobody is shown a chat that answers in minutes beside one of seconds. */
static void
check_in_time (JsonNode         *golden,
               QmRecommendation *answer)
{
  double patience = 3 * qm_recommendation_get_resolved (answer)->plan->serving.latency_p99_seconds;

  if (!(qm_recommendation_choice (answer, 0)->estimate.serving.latency_p99_seconds.p50 <= patience))
    return;
  for (guint i = 0; i < qm_recommendation_n_choices (answer); i++)
    g_assert_cmpfloat (qm_recommendation_choice (answer, i)->estimate.serving.latency_p99_seconds.p50, <=, 1.01 * patience);
}

static void
test_in_time (void)
{
  g_autoptr (JsonNode) golden = load ("10-chatbot-70b.json");
  JsonObject *serving = json_object_get_object_member (json_node_get_object (plan_of (golden)), "serving");
  g_autoptr (QmRecommendation) answer = NULL;

  /* Without a limit of the person's own, processors of 22 minutes were shown. */
  json_object_remove_member (serving, "latency_p99_seconds");
  json_object_remove_member (serving, "requests_per_second");
  json_object_set_int_member (serving, "concurrency", 50);
  answer = recommend (plan_of (golden));
  g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 2);
  check_in_time (golden, answer);
  for_each (check_in_time);
  for_each_variant (check_in_time);
}

/* A card of one's own that is too small: the first line says by how much, not
 * that other cards are not there. */
static void
test_nearest_first (void)
{
  static const char plan[] =
    "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"fine-tune\","
    "\"model\":{\"id\":\"qwen2.5-7b\"},\"places\":{\"this_computer\":false,\"cloud\":[],\"buy\":false,"
    "\"owned\":[{\"device\":\"rtx-4060-laptop\",\"devices\":1}]}}";
  g_autoptr (JsonNode) node = json_from_string (plan, NULL);
  g_autoptr (QmRecommendation) answer = recommend (node);
  const QmRejection *first = g_ptr_array_index (qm_recommendation_get_rejections (answer), 0);

  g_assert_cmpuint (qm_recommendation_n_choices (answer), ==, 0);
  g_assert_cmpstr (first->device->id, ==, "rtx-4060-laptop");
  g_assert_cmpint (first->limit, ==, QM_LIMIT_MEMORY);
}

static QmCatalog *larger;
static QmEstimator *with_more;
static guint n_better;

static void
check_with_more (JsonNode         *golden,
                 QmRecommendation *answer)
{
  g_autoptr (QmRecommendation) after = recommend_by (with_more, larger, plan_of (golden));
  double before = qm_recommendation_choice (answer, 0)->score;

  g_assert_cmpuint (qm_recommendation_n_choices (after), >, 0);
  g_assert_cmpfloat (qm_recommendation_choice (after, 0)->score, <=, before + 1e-9);
  n_better += qm_recommendation_choice (after, 0)->score < before - 1e-9;
}

/* A catalog with three more offers: cheap, dear, and of a card that few have. */
static void
test_more_offers_are_no_worse (void)
{
  static const char offers[] =
    "{\"format\":\"quartermaster-offers\",\"version\":1,\"sources\":{\"t\":{\"text\":\"test\"}},\"offers\":["
    "{\"id\":\"aws/t.a/us-east-1\",\"provider\":\"aws\",\"instance\":\"t.a\",\"region\":\"us-east-1\",\"kind\":\"vm\",\"device\":\"l4\","
    "\"device_count\":1,\"vcpus\":8,\"ram_gib\":32,\"on_demand_usd_per_hour\":0.2,\"price_status\":\"listed\",\"as_of\":\"2026-11-30\",\"source\":\"t\"},"
    "{\"id\":\"aws/t.b/us-east-1\",\"provider\":\"aws\",\"instance\":\"t.b\",\"region\":\"us-east-1\",\"kind\":\"vm\",\"device\":\"h100-sxm5-80gb\","
    "\"device_count\":8,\"vcpus\":96,\"ram_gib\":1024,\"on_demand_usd_per_hour\":9,\"price_status\":\"listed\",\"as_of\":\"2026-11-30\",\"source\":\"t\"},"
    "{\"id\":\"vast/t.c/FR\",\"provider\":\"vast\",\"instance\":\"t.c\",\"region\":\"FR\",\"kind\":\"marketplace\",\"device\":\"a16-quarter\","
    "\"device_count\":1,\"vcpus\":8,\"ram_gib\":32,\"on_demand_usd_per_hour\":90,\"price_status\":\"listed\",\"as_of\":\"2026-11-30\",\"source\":\"t\"}]}";
  g_autofree char *own = g_dir_make_tmp ("qm-golden-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (own, "offers-more.json", NULL);
  g_autofree char *shipped = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, offers, -1, NULL));
  larger = qm_catalog_load (shipped, own, &error);
  g_assert_no_error (error);
  with_more = qm_estimator_new (larger, &error);
  g_assert_no_error (error);
  n_better = 0;
  for_each (check_with_more);
  for_each_variant (check_with_more);
  g_assert_cmpuint (n_better, >, 3 * (1 + VARIANTS));
  g_clear_object (&with_more);
  g_clear_object (&larger);
  g_unlink (path);
  g_rmdir (own);
}

/* "I can't get this one": the next one, until nothing of it is left. */
static void
test_excluded (void)
{
  g_autoptr (JsonNode) golden = load ("04-lora-8b.json");
  JsonObject *places = json_object_get_object_member (json_node_get_object (plan_of (golden)), "places");
  g_autoptr (GHashTable) had = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  JsonArray *excluded = json_array_new ();
  double before = -INFINITY;

  json_object_set_array_member (places, "excluded", excluded);
  for (int i = 0; i < 5; i++)
    {
      g_autoptr (QmRecommendation) answer = recommend (plan_of (golden));
      const QmChoice *best = qm_recommendation_choice (answer, 0);

      g_assert_true (g_hash_table_add (had, g_strdup (best->offer->id)));
      g_assert_cmpfloat (best->score, >=, before - 1e-9);
      before = best->score;
      json_array_add_string_element (excluded, best->offer->id);
    }
  json_array_add_string_element (excluded, "h100-sxm5-80gb");
  json_array_add_string_element (excluded, "aws/g6e.xlarge");
  {
    g_autoptr (QmRecommendation) answer = recommend (plan_of (golden));

    for (guint i = 0; i < qm_recommendation_n_rows (answer); i++)
      {
        const QmChoice *row = qm_recommendation_row (answer, i);

        g_assert_cmpstr (row->estimate.device->id, !=, "h100-sxm5-80gb");
        g_assert_false (row->offer != NULL && g_str_has_prefix (row->offer->id, "aws/g6e.xlarge/"));
        g_assert_false (row->offer != NULL && g_hash_table_contains (had, row->offer->id));
      }
  }
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr (GError) error = NULL;
  g_autofree char *shipped = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  shipped = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  folder = g_test_build_filename (G_TEST_DIST, "data", "golden", NULL);
  catalog = qm_catalog_load (shipped, NULL, &error);
  g_assert_no_error (error);
  estimator = qm_estimator_new (catalog, &error);
  g_assert_no_error (error);

  g_test_add_func ("/golden/answers", test_answers);
  g_test_add_func ("/golden/never-dominated", test_never_dominated);
  g_test_add_func ("/golden/keeps-limits", test_keeps_limits);
  g_test_add_func ("/golden/says-what-may-break", test_says_what_may_break);
  g_test_add_func ("/golden/looser-is-no-worse", test_looser_is_no_worse);
  g_test_add_func ("/golden/more-offers-are-no-worse", test_more_offers_are_no_worse);
  g_test_add_func ("/golden/stages", test_stages);
  g_test_add_func ("/golden/changes", test_changes);
  g_test_add_func ("/golden/in-time", test_in_time);
  g_test_add_func ("/golden/nearest-first", test_nearest_first);
  g_test_add_func ("/golden/excluded", test_excluded);
  status = g_test_run ();

  g_clear_object (&estimator);
  g_clear_object (&catalog);
  g_free (folder);
  return status;
}
