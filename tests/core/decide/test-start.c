/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "decide/qm-choices.h"
#include "decide/qm-host.h"
#include "decide/qm-ladder.h"
#include "shipped.h"

/* Which configuration of a plan the figures and the ways to need less memory are of;
 * what becomes of one that fits without room to spare, or not in system memory. */

/* What the plan may not have, so that only what it owns is left. */
#define ONLY "\"cloud\":[],\"buy\":false,\"this_computer\":false"

static gboolean
has_message (GPtrArray  *messages,
             const char *code)
{
  for (guint i = 0; messages != NULL && i < messages->len; i++)
    if (strcmp (qm_message_get_code (g_ptr_array_index (messages, i)), code) == 0)
      return TRUE;

  return FALSE;
}

/* ----------------------------------------------------------------------- the start */

static const struct {
  const char *task, *activity, *model;
} jobs[] = {
  { "language-model", "fine-tune", "llama-3.1-8b" },
  { "language-model", "fine-tune", "qwen2.5-7b" },
  { "language-model", "serve", "llama-3.1-8b" },
  { "language-model", "batch-inference", "mistral-7b" },
  { "language-model", "train", "gpt2" },
  { "image-classification", "train", "resnet-50" },
  { "image-classification", "fine-tune", "vit-base-patch16-224" },
  { "image-generation", "fine-tune", "sdxl" },
  { "text-encoder", "fine-tune", "bert-base-uncased" },
  { "speech", "fine-tune", "whisper-large-v3" },
};

static const char * const devices[] = { NULL, "rtx-3060-12gb", "rtx-4090", "l4", "a100-sxm4-80gb", "h100-sxm5-80gb" };
static const char * const methods[] = { NULL, "full", "lora", "qlora" };
static const char * const micro_batches[] = { NULL, NULL, "1", "4", "64" };

#define PICK(random, list) (list)[g_rand_int_range (random, 0, G_N_ELEMENTS (list))]

static char *
random_plan (GRand *random)
{
  int job = g_rand_int_range (random, 0, G_N_ELEMENTS (jobs));
  const char *device = PICK (random, devices), *method = PICK (random, methods), *micro_batch = PICK (random, micro_batches);
  gboolean tunes = g_str_equal (jobs[job].activity, "fine-tune") && g_str_equal (jobs[job].task, "language-model");
  GString *json = g_string_new ("{\"format\":\"quartermaster-plan\",\"version\":1");

  g_string_append_printf (json, ",\"task\":\"%s\",\"activity\":\"%s\",\"model\":{\"id\":\"%s\"}", jobs[job].task, jobs[job].activity,
                          jobs[job].model);
  if (tunes && method != NULL)
    g_string_append_printf (json, ",\"training\":{\"method\":\"%s\"}", method);
  if (device != NULL)
    {
      g_string_append_printf (json, ",\"configuration\":{\"device\":\"%s\"", device);
      if (g_rand_boolean (random))
        g_string_append_printf (json, ",\"devices\":%d", g_rand_boolean (random) ? 1 : 2);
      if (micro_batch != NULL && (tunes || g_str_has_prefix (jobs[job].task, "image-c")))
        g_string_append_printf (json, ",\"micro_batch\":%s", micro_batch);
      g_string_append (json, "}");
    }
  g_string_append (json, "}");

  return g_string_free (json, FALSE);
}

static char *
configuration_text (const QmEstimate *estimate)
{
  g_autoptr (JsonNode) node = qm_configuration_to_json (&estimate->configuration);
  JsonObject *object = json_node_get_object (node);

  /* how much the machine around it has is the placement's, not the predictor's */
  json_object_remove_member (object, "offer");
  json_object_remove_member (object, "host_memory_bytes");

  return json_to_string (node, FALSE);
}

/* The estimate, the answer and the ladder are of the same configuration, whether a
 * device is pinned, whether a batch is given, whether it fits. */
static void
test_same_start (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (14);
  int pinned = 0, open = 0;

  for (int i = 0; i < 80; i++)
    {
      g_autofree char *json = random_plan (random);
      g_autoptr (QmResolved) resolved = resolve (json);
      g_autoptr (QmRecommendation) recommendation = qm_recommend (estimator, resolved, NULL, NULL);
      g_autoptr (QmLadder) ladder = qm_ladder_of_start (recommendation);
      const QmChoice *start = qm_recommendation_get_start (recommendation);
      g_autofree char *named = NULL, *estimated = NULL;
      QmChoice choice;

      g_test_message ("%s", json);
      g_assert_nonnull (start);
      g_assert_nonnull (ladder);
      if (resolved->given->configuration.device[0] != '\0')
        {
          g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, NULL));
          pinned++;
        }
      else
        {
          g_assert_cmpuint (qm_recommendation_n_choices (recommendation), >, 0);
          qm_choice_copy (qm_recommendation_choice (recommendation, 0), &choice);
          open++;
        }

      named = configuration_text (&start->estimate);
      estimated = configuration_text (&choice.estimate);
      g_assert_cmpstr (named, ==, estimated);
      g_assert_cmpfloat (start->estimate.memory.need.p50, ==, choice.estimate.memory.need.p50);
      g_assert_cmpfloat_with_epsilon (ladder->planned.memory.need.p50 / choice.estimate.memory.need.p50, 1, 1e-9);
      g_assert_cmpfloat (ladder->planned.configuration.micro_batch, ==, choice.estimate.configuration.micro_batch);
      qm_choice_clear (&choice);
    }

  g_assert_cmpint (pinned, >, 20);
  g_assert_cmpint (open, >, 5);
}

/* ----------------------------------------------------------------------- headroom */

/* 16-bit weights of Llama 3.1 8B take 16.06 GB of the 24 GB of a card: with a tenth
 * wanted free they fit, with two fifths they do not leave it. */
#define SERVE_ON(device, headroom) \
  PLAN ("\"task\":\"language-model\",\"activity\":\"batch-inference\",\"model\":{\"id\":\"llama-3.1-8b\"},\"serving\":{\"weights\":\"bf16\"}," \
        "\"limits\":{\"headroom\":" headroom "},\"places\":{" ONLY ",\"owned\":[{\"device\":\"" device "\"}]}")

static void
test_tight (void)
{
  g_autoptr (QmRecommendation) roomy = recommend (SERVE_ON ("rtx-4090", "0.1"));
  g_autoptr (QmRecommendation) tight = recommend (SERVE_ON ("rtx-4090", "0.5"));
  g_autoptr (QmRecommendation) none = recommend (SERVE_ON ("rtx-3060-12gb", "0.2"));
  const QmChoice *choice;

  g_assert_cmpuint (qm_recommendation_n_choices (roomy), ==, 1);
  choice = qm_recommendation_choice (roomy, 0);
  g_assert_cmpint (choice->estimate.memory.verdict, ==, QM_VERDICT_FITS);
  g_assert_false (has_message (choice->drawbacks, "tight"));
  g_assert_false (has_message (qm_recommendation_get_warnings (roomy), "little-headroom"));

  g_assert_cmpuint (qm_recommendation_n_choices (tight), ==, 1);
  choice = qm_recommendation_choice (tight, 0);
  g_assert_cmpint (choice->estimate.memory.verdict, ==, QM_VERDICT_TIGHT);
  g_assert_cmpfloat (choice->estimate.memory.need.p50, >, 0.5 * choice->estimate.memory.usable_bytes);
  g_assert_cmpfloat (choice->estimate.memory.need.p50, <=, choice->estimate.memory.usable_bytes);
  g_assert_true (has_message (choice->drawbacks, "tight"));
  g_assert_true (has_message (qm_recommendation_get_warnings (tight), "little-headroom"));

  g_assert_cmpuint (qm_recommendation_n_choices (none), ==, 0);
}

/* A service, too; and one that no headroom would make fit is told so, and why. */
static void
test_tight_service (void)
{
#define SERVICE(device) \
  PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"},\"serving\":{\"weights\":\"bf16\"," \
        "\"engine\":\"transformers\",\"concurrency\":1,\"requests_per_second\":0.001},\"limits\":{\"headroom\":0.5}," \
        "\"places\":{" ONLY ",\"owned\":[{\"device\":\"" device "\"}]}")
  g_autoptr (QmRecommendation) tight = recommend (SERVICE ("rtx-4090"));
  g_autoptr (QmRecommendation) none = recommend (SERVICE ("rtx-3060-12gb"));
  GPtrArray *rejections = qm_recommendation_get_rejections (none);
  const QmRejection *rejection = NULL;

  g_assert_cmpuint (qm_recommendation_n_choices (tight), ==, 1);
  g_assert_true (has_message (qm_recommendation_choice (tight, 0)->drawbacks, "tight"));

  g_assert_cmpuint (qm_recommendation_n_choices (none), ==, 0);
  for (guint i = 0; i < rejections->len; i++)
    if (g_str_equal (((QmRejection *) g_ptr_array_index (rejections, i))->device->id, "rtx-3060-12gb"))
      rejection = g_ptr_array_index (rejections, i);
  g_assert_nonnull (rejection);
  g_assert_cmpint (rejection->limit, ==, QM_LIMIT_MEMORY);
  g_assert_nonnull (qm_recommendation_get_nearest (none));
#undef SERVICE
}

/* Where something leaves the headroom, nothing tight is offered beside it. */
static void
test_tight_only_where_needed (void)
{
  g_autoptr (QmRecommendation) recommendation = recommend (
    PLAN ("\"task\":\"language-model\",\"activity\":\"batch-inference\",\"model\":{\"id\":\"llama-3.1-8b\"},\"serving\":{\"weights\":\"bf16\"},"
          "\"limits\":{\"headroom\":0.5},\"places\":{" ONLY ",\"owned\":[{\"device\":\"rtx-4090\"},{\"device\":\"a100-sxm4-80gb\"}]}"));

  g_assert_cmpuint (qm_recommendation_n_choices (recommendation), >, 0);
  for (guint i = 0; i < qm_recommendation_n_choices (recommendation); i++)
    g_assert_false (has_message (qm_recommendation_choice (recommendation, i)->drawbacks, "tight"));
}

/* ------------------------------------------------------------------ system memory */

/* Adam's two averages and the 32-bit copy of 8.03 billion weights are 96 GB in system
 * memory (12 bytes each). */
#define OFFLOAD(ram) \
  PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"full\"}," \
        "\"configuration\":{\"device\":\"rtx-4090\",\"devices\":1,\"sharding\":\"zero3\",\"offload\":\"cpu\"}," \
        "\"places\":{" ONLY ",\"owned\":[{\"device\":\"rtx-4090\"" ram "}]}")

static gboolean
warns_of_host (const char *json)
{
  g_autoptr (QmResolved) resolved = resolve (json);
  g_autoptr (GPtrArray) warnings = NULL;
  QmChoice choice;

  g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, NULL));
  g_assert_cmpfloat (choice.estimate.memory.host_bytes, >, 12 * 8.03e9);
  warnings = qm_estimate_warnings (estimator, resolved, &choice);
  g_assert_cmpint (qm_host_is_short (&choice.estimate), ==, has_message (warnings, "system-memory-short"));
  qm_choice_clear (&choice);

  return has_message (warnings, "system-memory-short");
}

static void
test_system_memory (void)
{
  g_autoptr (QmRecommendation) little = recommend (OFFLOAD (",\"host_memory_bytes\":32e9"));
  g_autoptr (QmRecommendation) much = recommend (OFFLOAD (",\"host_memory_bytes\":512e9"));
  g_autoptr (QmRecommendation) unknown = recommend (OFFLOAD (""));

  g_assert_true (warns_of_host (OFFLOAD (",\"host_memory_bytes\":32e9")));
  g_assert_false (warns_of_host (OFFLOAD (",\"host_memory_bytes\":512e9")));
  g_assert_false (warns_of_host (OFFLOAD ("")));

  g_assert_cmpuint (qm_recommendation_n_choices (little), ==, 0);
  g_assert_cmpuint (qm_recommendation_n_choices (much), ==, 1);
  g_assert_cmpuint (qm_recommendation_n_choices (unknown), ==, 1);
  g_assert_cmpfloat (qm_recommendation_choice (much, 0)->estimate.configuration.host_memory_bytes, ==, 512e9);
}

/* A rung that system memory has no room for is none. */
static void
test_ladder_keeps_to_system_memory (void)
{
#define LAYERS(ram) \
  PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-70b\"},\"serving\":{\"weights\":\"gguf-q4_k_m\"," \
        "\"engine\":\"llama.cpp\"},\"configuration\":{\"device\":\"rtx-4090\",\"devices\":1,\"host_memory_bytes\":" ram "}")
  g_autoptr (QmRecommendation) little = recommend (LAYERS ("16e9"));
  g_autoptr (QmRecommendation) much = recommend (LAYERS ("128e9"));
  g_autoptr (QmLadder) short_ladder = qm_ladder_of_start (little), ladder = qm_ladder_of_start (much);
  gboolean seen = FALSE;

  g_assert_true (ladder->fits);
  g_assert_false (short_ladder->fits);
  for (guint i = 0; i < short_ladder->rungs->len; i++)
    {
      const QmRung *rung = &g_array_index (short_ladder->rungs, QmRung, i);

      if (strcmp (rung->code, "offload") != 0)
        continue;
      g_assert_cmpint (rung->state, ==, QM_RUNG_IMPOSSIBLE);
      g_assert_cmpfloat (rung->host_bytes, >, 0.9 * 16e9);
      seen = TRUE;
    }
  g_assert_true (seen);
#undef LAYERS
}

/* ------------------------------------------------------------------------- whose */

static void
assert_place (const char   *places,
              const QmHere *here,
              QmPlace       place)
{
  g_autofree char *json = g_strdup_printf (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"gpt2\"},"
    "\"configuration\":{\"device\":\"rtx-4090\",\"devices\":1},\"places\":{%s}"), places);
  g_autoptr (QmResolved) resolved = resolve (json);
  QmChoice choice;

  g_assert_true (qm_estimate_pinned (estimator, resolved, here, &choice, NULL));
  g_assert_cmpint (choice.place, ==, place);
  g_assert_cmpint (choice.estimate.cost.known, ==, place != QM_PLACE_UNSET);
  if (place == QM_PLACE_BUY)
    g_assert_cmpfloat (choice.estimate.cost.money.p50, >=, choice.estimate.device->price_usd);
  qm_choice_clear (&choice);
}

/* A card is the person's where the person said so, or this computer has it. */
static void
test_whose (void)
{
  QmHere here = { .n_devices = 1, .ram_bytes = 64e9 };

  here.devices[0] = qm_catalog_find_device (catalog, "rtx-4090");
  assert_place ("\"cloud\":[],\"buy\":false", NULL, QM_PLACE_UNSET);
  assert_place ("\"cloud\":[]", NULL, QM_PLACE_BUY);
  assert_place ("\"buy\":false", NULL, QM_PLACE_CLOUD);
  assert_place ("\"owned\":[{\"device\":\"rtx-4090\"}]", NULL, QM_PLACE_OWNED);
  assert_place ("\"owned\":[{\"device\":\"rtx-3090\"}],\"cloud\":[],\"buy\":false", NULL, QM_PLACE_UNSET);
  assert_place ("\"cloud\":[]", &here, QM_PLACE_THIS_COMPUTER);
  assert_place ("\"cloud\":[],\"this_computer\":false", &here, QM_PLACE_BUY);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/start/same", test_same_start);
  g_test_add_func ("/start/tight", test_tight);
  g_test_add_func ("/start/tight-service", test_tight_service);
  g_test_add_func ("/start/tight-only-where-needed", test_tight_only_where_needed);
  g_test_add_func ("/start/system-memory", test_system_memory);
  g_test_add_func ("/start/ladder-system-memory", test_ladder_keeps_to_system_memory);
  g_test_add_func ("/start/whose", test_whose);

  return shipped_run ();
}
