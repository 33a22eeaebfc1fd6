/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "decide/qm-figures.h"
#include "decide/qm-choices.h"
#include "decide/qm-ladder.h"
#include "qm-enum.h"
#include "qm-enum-types.h"
#include "shipped.h"

/* What an expert would say of the founding articles' scenarios, asked of the
 * real catalog. */

static const QmRejection *
find_rejection (QmRecommendation *recommendation,
                const char       *id)
{
  GPtrArray *rejections = qm_recommendation_get_rejections (recommendation);

  for (guint i = 0; i < rejections->len; i++)
    if (strcmp (((QmRejection *) g_ptr_array_index (rejections, i))->device->id, id) == 0)
      return g_ptr_array_index (rejections, i);

  return NULL;
}

static gboolean
is_chosen (QmRecommendation *recommendation,
           const char       *id)
{
  for (guint i = 0; i < qm_recommendation_n_choices (recommendation); i++)
    if (strcmp (qm_recommendation_choice (recommendation, i)->estimate.device->id, id) == 0)
      return TRUE;

  return FALSE;
}

/* Each device of a scenario is a choice, or it is said what beats it. */
static void
assert_answered (QmRecommendation *recommendation,
                 const char       *id)
{
  const QmRejection *rejection = find_rejection (recommendation, id);

  g_assert_true (is_chosen (recommendation, id) != (rejection != NULL));
  if (rejection != NULL)
    g_assert_nonnull (rejection->message);
}

/* Requirements A7, scenario A: an individual with little money. */
static void
test_scenario_individual (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"image-classification\",\"activity\":\"train\",\"model\":{\"id\":\"resnet-50\"},"
                     "\"training\":{\"samples\":50000,\"epochs\":30},\"limits\":{\"money\":500}"));

  g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
  for (guint i = 0; i < qm_recommendation_n_choices (answer); i++)
    {
      const QmChoice *choice = qm_recommendation_choice (answer, i);

      g_assert_false (choice->place == QM_PLACE_BUY && choice->estimate.device->device_class == QM_DEVICE_CLASS_DATACENTER);
      g_assert_cmpfloat (choice->estimate.cost.money.p50, <=, 500);
    }
  assert_answered (answer, "rtx-3060-12gb");
  assert_answered (answer, "rtx-4060-ti-16gb");
  assert_answered (answer, "t4");
}

/* Scenario B and the worked example A9: 7 B with all weights trained takes far
 * more than one card of 24 GB. */
static void
test_scenario_team (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-2-7b\"},"
                     "\"training\":{\"method\":\"full\"},\"limits\":{\"money\":5000,\"hours\":48}"));

  g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
  for (guint i = 0; i < qm_recommendation_n_rows (answer); i++)
    {
      const QmChoice *row = qm_recommendation_row (answer, i);
      double all = row->estimate.memory.usable_bytes * row->estimate.configuration.devices;

      /* 16 B for each of 6.74 billion parameters */
      if (row->within_limits && row->estimate.configuration.offload <= QM_OFFLOAD_NONE)
        g_assert_cmpfloat (all, >, 8 * 6.7e9);
      g_assert_false (row->within_limits && row->estimate.configuration.devices == 1 &&
                      row->estimate.memory.usable_bytes < 25.8e9);
    }
  assert_answered (answer, "a100-sxm4-80gb");
  assert_answered (answer, "a100-sxm4-40gb");
  assert_answered (answer, "tpu-v3");

  /* One card of 24 GB does it with most of the job in system memory at best: then
   * it is said. */
  {
    static const char * const small[] = { "rtx-3090", "rtx-4090", "a10", "l4" };

    for (guint i = 0; i < G_N_ELEMENTS (small); i++)
      {
        const QmRejection *rejection = find_rejection (answer, small[i]);
        g_autofree char *detail = rejection != NULL ? qm_message_get_detail (rejection->message, qm_words_english ()) : NULL;

        g_assert_nonnull (rejection);
        if (rejection->limit == QM_LIMIT_BEATEN && rejection->devices == 1)
          g_assert_cmpstr (detail, ==, "a part in system memory");
      }
  }
}

/* Nothing is better by a factor below one. */
static void
test_margins (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"limits\":{\"money\":20,\"hours\":5}"));
  GPtrArray *rejections = qm_recommendation_get_rejections (answer);

  g_assert_cmpuint (rejections->len, >, 100);
  for (guint i = 0; i < rejections->len; i++)
    {
      const QmRejection *rejection = g_ptr_array_index (rejections, i);

      if (rejection->limit == QM_LIMIT_BEATEN || rejection->limit == QM_LIMIT_MONEY || rejection->limit == QM_LIMIT_DEADLINE)
        g_assert_cmpfloat (rejection->margin, >=, 1);
    }
}

static void
test_worked_example (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-2-7b\"},"
                     "\"training\":{\"method\":\"lora\"},\"places\":{\"this_computer\":false,\"buy\":false,\"cloud\":[],"
                     "\"owned\":[{\"device\":\"a100-sxm4-40gb\",\"devices\":1},{\"device\":\"rtx-3090\",\"devices\":2}]}"));

  g_assert_cmpuint (qm_recommendation_n_choices (answer), >=, 2);
  g_assert_true (is_chosen (answer, "a100-sxm4-40gb"));
  g_assert_true (is_chosen (answer, "rtx-3090"));
  for (guint i = 0; i < qm_recommendation_n_choices (answer); i++)
    {
      const QmMemory *memory = &qm_recommendation_choice (answer, i)->estimate.memory;

      /* the weights alone are 13.5 GB */
      g_assert_cmpfloat (memory->need.p50, >, 13e9);
      g_assert_true (memory->fits);
    }
}

/* Full fine-tuning that fits nowhere names the method that does. */
static void
test_other_method (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-2-7b\"},"
                     "\"training\":{\"method\":\"full\"},\"places\":{\"this_computer\":false,\"buy\":false,\"cloud\":[],"
                     "\"owned\":[{\"device\":\"rtx-3090\",\"devices\":1}]}"));

  for (guint i = 0; i < qm_recommendation_n_choices (answer); i++)
    {
      const QmEstimate *estimate = &qm_recommendation_choice (answer, i)->estimate;

      g_assert_true (estimate->training.method != QM_METHOD_FULL || estimate->configuration.offload > QM_OFFLOAD_NONE);
    }
}

/* Scenario C: light models are served by a CPU. */
static void
test_scenario_serving (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"image-classification\",\"activity\":\"serve\",\"stage\":\"production\","
                     "\"model\":{\"id\":\"mobilenetv3-large-100\"},\"serving\":{\"requests_per_second\":20}"));

  g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
  g_assert_cmpint (qm_recommendation_choice (answer, 0)->estimate.device->device_class, ==, QM_DEVICE_CLASS_CPU);
  assert_answered (answer, "t4");
  assert_answered (answer, "a10");
  assert_answered (answer, "inferentia2");
  assert_answered (answer, "edge-tpu-usb");
}

/* Classical machine learning goes to CPUs. */
static void
test_scenario_table (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"tabular\",\"activity\":\"train\",\"model\":{\"id\":\"xgboost\"}"));

  g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
  g_assert_cmpint (qm_recommendation_choice (answer, 0)->estimate.device->device_class, ==, QM_DEVICE_CLASS_CPU);
}

static gboolean
has_drawback (const QmChoice *choice,
              const char     *code)
{
  for (guint i = 0; i < choice->drawbacks->len; i++)
    if (strcmp (qm_message_get_code (g_ptr_array_index (choice->drawbacks, i)), code) == 0)
      return TRUE;

  return FALSE;
}

/* People depend on a service: what may vanish is at most an alternative, and it
 * is said. */
static void
test_service_stays (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"stage\":\"production\","
                     "\"model\":{\"id\":\"llama-3.1-70b\"},\"serving\":{\"concurrency\":50}"));

  g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
  g_assert_cmpint (qm_recommendation_choice (answer, 0)->estimate.cost.pricing, !=, QM_PRICING_SPOT);
  for (guint i = 0; i < qm_recommendation_n_rows (answer); i++)
    {
      const QmChoice *row = qm_recommendation_row (answer, i);

      if (row->estimate.cost.pricing == QM_PRICING_SPOT)
        g_assert_true (has_drawback (row, "unreliable-service"));
    }
}

/* Whoever has code for GPUs must hear what a TPU asks of them. */
static void
test_drawbacks (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-2-7b\"}"));
  guint seen = 0;

  for (guint i = 0; i < qm_recommendation_n_rows (answer); i++)
    {
      const QmChoice *row = qm_recommendation_row (answer, i);

      if (row->estimate.device->device_class == QM_DEVICE_CLASS_TPU)
        {
          g_assert_true (has_drawback (row, "other-framework"));
          seen++;
        }
      if (row->place == QM_PLACE_BUY)
        g_assert_true (has_drawback (row, "to-be-bought"));
    }
  g_assert_cmpuint (seen, >, 0);
}

/* ROCm dropped the MI25 (gfx900) in 2021, and modules are sold by the board. */
static void
test_not_to_be_had (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"image-classification\",\"activity\":\"train\",\"model\":{\"id\":\"resnet-50\"}"));
  const QmRejection *rejection = find_rejection (answer, "mi25");

  g_assert_nonnull (rejection);
  g_assert_cmpint (rejection->limit, ==, QM_LIMIT_SUPPORT);

  g_clear_object (&answer);
  answer = recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-70b\"},"
                            "\"places\":{\"this_computer\":false,\"cloud\":[]},\"serving\":{\"concurrency\":50}"));
  g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
  for (guint i = 0; i < qm_recommendation_n_rows (answer); i++)
    {
      const QmEstimate *estimate = &qm_recommendation_row (answer, i)->estimate;

      g_assert_cmpint (estimate->configuration.devices, >=, estimate->device->sold_in);
    }
}

/* No money, no time: an empty list with reasons, no error. */
static void
test_impossible (void)
{
  g_autoptr (QmRecommendation) answer =
    recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"train\",\"model\":{\"id\":\"llama-3.1-405b\"},"
                     "\"limits\":{\"money\":1,\"hours\":1}"));

  g_assert_cmpuint (qm_recommendation_n_choices (answer), ==, 0);
  g_assert_cmpuint (qm_recommendation_get_rejections (answer)->len, >, 200);
  g_assert_cmpuint (qm_recommendation_get_warnings (answer)->len, >, 0);
}

/* The switches of the window begin where its chart stands: a plan settled by an
 * estimate needs what the estimate says. */
static void
assert_settles (QmRecommendation *answer)
{
  const QmChoice *choice = qm_recommendation_choice (answer, 0);
  g_autoptr (QmResolved) settled = qm_ladder_resolve (qm_recommendation_get_resolved (answer), &choice->estimate);
  g_autoptr (QmLadder) ladder = NULL;

  if (!qm_range_is_known (choice->estimate.memory.need))
    return;

  ladder = qm_ladder_with (estimator, settled, choice->estimate.device, 0);
  g_assert_cmpfloat_with_epsilon (ladder->planned.memory.need.p50 / choice->estimate.memory.need.p50, 1, 1e-6);
}

/* Every task and activity has an answer with nothing else said. */
static void
test_every_task (void)
{
  for (int task = QM_TASK_LANGUAGE_MODEL; task <= QM_TASK_OTHER; task++)
    for (int activity = QM_ACTIVITY_TRAIN; activity <= QM_ACTIVITY_BATCH_INFERENCE; activity++)
      {
        g_autofree char *json = NULL;
        g_autoptr (QmRecommendation) answer = NULL;

        /* A tabular model is not fine-tuned, and what "other" is must be said. */
        if (task == QM_TASK_OTHER || (task == QM_TASK_TABULAR && activity != QM_ACTIVITY_TRAIN))
          continue;
        json = g_strdup_printf (PLAN ("\"task\":\"%s\",\"activity\":\"%s\""), qm_enum_to_word (qm_task_get_type (), task),
                                qm_enum_to_word (qm_activity_get_type (), activity));
        answer = recommend (json);
        g_test_message ("%s: %u choices of %" G_GUINT64_FORMAT, json, qm_recommendation_n_choices (answer),
                        qm_recommendation_get_considered (answer));
        g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
        g_assert_cmpuint (qm_recommendation_choice (answer, 0)->reasons->len, >=, 3);
        g_assert_cmpuint (qm_recommendation_choice (answer, 0)->reasons->len, <=, 6);
        assert_settles (answer);
      }
}

/* One plan and one catalog give one answer, byte for byte. */
static void
test_repeatable (void)
{
  const char *plan = PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\"");
  g_autoptr (QmRecommendation) first = recommend (plan);
  g_autoptr (QmRecommendation) second = recommend (plan);
  g_autoptr (JsonNode) first_node = qm_recommendation_to_json (first, estimator);
  g_autoptr (JsonNode) second_node = qm_recommendation_to_json (second, estimator);
  g_autofree char *first_text = json_to_string (first_node, FALSE);
  g_autofree char *second_text = json_to_string (second_node, FALSE);

  g_assert_cmpstr (first_text, ==, second_text);
}

/* Loosening a limit never makes the answer worse: every row that was allowed
 * still is, and none is riskier than before. */
static void
test_looser_is_no_worse (void)
{
  static const double hours[] = { 0.5, 1, 4, 24, 200 };
  double before = INFINITY;

  for (guint i = 0; i < G_N_ELEMENTS (hours); i++)
    {
      g_autofree char *json = g_strdup_printf (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\","
                                                     "\"limits\":{\"objective\":\"cheapest\",\"hours\":%g}"), hours[i]);
      g_autoptr (QmRecommendation) answer = recommend (json);
      const QmChoice *best;

      if (qm_recommendation_n_choices (answer) == 0)
        continue;
      best = qm_recommendation_choice (answer, 0);
      g_assert_cmpfloat (best->estimate.time.finish.p50, <=, hours[i] * 3600);
      g_assert_cmpfloat (best->score, <=, before + 1e-9);
      before = best->score;
    }
}

/* ------------------------------------------------------------------ what is said */

/* Nobody who has set no limit is told of limits. */
static void
test_nothing_without_limits (void)
{
  g_autoptr (QmRecommendation) answer = recommend (PLAN (
    "\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-70b\"},"
    "\"places\":{\"this_computer\":false,\"cloud\":[],\"buy\":false,\"owned\":[{\"device\":\"rtx-4060\"}]}"));
  GPtrArray *warnings = qm_recommendation_get_warnings (answer);
  g_autofree char *text = NULL;

  g_assert_cmpuint (qm_recommendation_n_choices (answer), ==, 0);
  g_assert_cmpuint (warnings->len, ==, 1);
  text = qm_message_get_text (warnings->pdata[0], qm_words_english ());
  g_assert_null (strstr (text, "limit"));
}

/* Fifty colleagues who must stay in the house buy what most recipes are written
 * for; the card that runs other software says so. */
static void
test_other_software (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("QM_DATA_DIR"), "examples", "colleagues.qmplan", NULL);
  g_autofree char *text = NULL;
  g_autoptr (QmRecommendation) answer = NULL;
  guint others = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  answer = recommend (text);
  g_assert_cmpint (qm_recommendation_choice (answer, 0)->estimate.device->vendor, ==, QM_VENDOR_NVIDIA);
  for (guint i = 1; i < qm_recommendation_n_rows (answer); i++)
    {
      const QmChoice *row = qm_recommendation_row (answer, i);

      if (row->estimate.device->vendor != QM_VENDOR_AMD || row->estimate.device->device_class == QM_DEVICE_CLASS_CPU)
        continue;
      others++;
      g_assert_nonnull (row->drawback);
      g_assert_cmpstr (row->needs, ==, "Vulkan");
    }
  g_assert_cmpuint (others, >, 0);
}

/* Estimation test vector 17. */
static void
test_spot (void)
{
  double interval;

  g_assert_cmpfloat_with_epsilon (qm_spot_time_factor (0.15, 60, 300, &interval), 1.0877, 1e-3);
  g_assert_cmpfloat_with_epsilon (interval, 1697, 1);
  g_assert_cmpfloat_with_epsilon (qm_spot_time_factor (0.15 / 24, 60, 300, &interval), 1.0151, 1e-3);
  g_assert_cmpfloat_with_epsilon (interval, 8314, 1);
}

/* A copy of the model that is to be split over four devices needs four: by the
 * meaning of tensor parallelism, whatever the search prefers. */
static void
test_fixed_split (void)
{
  static const char *const plans[] = {
    PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"stage\":\"production\",\"model\":{\"id\":\"llama-3.1-8b\"},"
          "\"serving\":{\"requests_per_second\":5},\"configuration\":{\"tensor_parallel\":4}"),
    PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"stage\":\"production\",\"model\":{\"id\":\"llama-3.1-8b\"},"
          "\"serving\":{\"requests_per_second\":5},\"configuration\":{\"tensor_parallel\":2,\"pipeline_parallel\":2}"),
    PLAN ("\"task\":\"language-model\",\"activity\":\"batch-inference\",\"model\":{\"id\":\"llama-3.1-8b\"},"
          "\"configuration\":{\"tensor_parallel\":4}"),
    PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"},"
          "\"training\":{\"method\":\"lora\",\"samples\":20000},\"configuration\":{\"tensor_parallel\":4}"),
  };

  for (guint i = 0; i < G_N_ELEMENTS (plans); i++)
    {
      g_autoptr (QmRecommendation) answer = recommend (plans[i]);

      g_assert_cmpuint (qm_recommendation_n_choices (answer), >, 0);
      for (guint j = 0; j < qm_recommendation_n_choices (answer); j++)
        {
          const QmConfiguration *found = &qm_recommendation_choice (answer, j)->estimate.configuration;

          g_assert_cmpint (found->tensor_parallel * found->pipeline_parallel, >=, 4);
          g_assert_cmpint (found->data_parallel * found->tensor_parallel * found->pipeline_parallel, <=, found->devices);
        }
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/recommend/scenario/individual", test_scenario_individual);
  g_test_add_func ("/recommend/scenario/team", test_scenario_team);
  g_test_add_func ("/recommend/margins", test_margins);
  g_test_add_func ("/recommend/scenario/worked-example", test_worked_example);
  g_test_add_func ("/recommend/scenario/other-method", test_other_method);
  g_test_add_func ("/recommend/scenario/serving", test_scenario_serving);
  g_test_add_func ("/recommend/scenario/table", test_scenario_table);
  g_test_add_func ("/recommend/service-stays", test_service_stays);
  g_test_add_func ("/recommend/drawbacks", test_drawbacks);
  g_test_add_func ("/recommend/not-to-be-had", test_not_to_be_had);
  g_test_add_func ("/recommend/fixed-split", test_fixed_split);
  g_test_add_func ("/recommend/impossible", test_impossible);
  g_test_add_func ("/recommend/every-task", test_every_task);
  g_test_add_func ("/recommend/repeatable", test_repeatable);
  g_test_add_func ("/recommend/looser-is-no-worse", test_looser_is_no_worse);
  g_test_add_func ("/recommend/nothing-without-limits", test_nothing_without_limits);
  g_test_add_func ("/recommend/other-software", test_other_software);
  g_test_add_func ("/spot/interval", test_spot);

  return shipped_run ();
}
