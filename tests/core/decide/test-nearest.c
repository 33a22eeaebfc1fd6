/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-choices.h"
#include "decide/qm-ladder.h"
#include "shipped.h"

/* Where a job fits nowhere: what comes nearest, and what would make it fit. */

/* Full fine-tuning of 8 billion parameters takes 16 bytes for each (asks.md 34):
 * no 12 GB card holds that, and the answer shows that card all the same. */
static void
test_nearest (void)
{
  g_autoptr (QmRecommendation) recommendation = recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\","
    "\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"full\"},"
    "\"configuration\":{\"device\":\"rtx-3060-12gb\",\"devices\":1,\"offload\":\"none\"}"));
  const QmChoice *nearest = qm_recommendation_get_nearest (recommendation);
  g_autoptr (QmLadder) ladder = qm_ladder_of_nearest (recommendation);
  g_autoptr (JsonNode) node = qm_nearest_to_json (recommendation);
  g_autoptr (JsonNode) rungs = NULL;

  g_assert_cmpuint (qm_recommendation_n_choices (recommendation), ==, 0);
  g_assert_cmpuint (qm_recommendation_n_rows (recommendation), ==, 0);
  g_assert_nonnull (nearest);
  g_assert_cmpstr (nearest->estimate.device->id, ==, "rtx-3060-12gb");
  g_assert_cmpfloat (nearest->estimate.memory.need.p50, >, 16 * 8.03e9);
  g_assert_false (nearest->within_limits);
  g_assert_cmpint (nearest->broken_limit, ==, QM_LIMIT_MEMORY);

  g_assert_cmpfloat (ladder->planned.memory.need.p50, ==, nearest->estimate.memory.need.p50);
  g_assert_true (ladder->fits);
  rungs = qm_ladder_to_json (ladder);
  g_assert_true (json_node_equal (rungs, json_object_get_member (json_node_get_object (node), "ladder")));
}

/* Of what is at hand, the device with the most memory comes nearest; the method
 * that was asked for stays. */
static void
test_nearest_of_several (void)
{
  g_autoptr (QmRecommendation) recommendation = recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\","
    "\"model\":{\"id\":\"llama-3.1-405b\"},\"training\":{\"method\":\"full\"},\"configuration\":{\"offload\":\"none\"},"
    "\"places\":{\"cloud\":[],\"buy\":false,\"this_computer\":false,"
    "\"owned\":[{\"device\":\"rtx-3060-12gb\"},{\"device\":\"rtx-4090\"},{\"device\":\"rtx-3070\"}]}"));
  const QmChoice *nearest = qm_recommendation_get_nearest (recommendation);
  g_autoptr (QmLadder) ladder = qm_ladder_of_nearest (recommendation);

  g_assert_cmpuint (qm_recommendation_n_choices (recommendation), ==, 0);
  g_assert_nonnull (nearest);
  g_assert_cmpstr (nearest->estimate.device->id, ==, "rtx-4090");
  g_assert_cmpint (nearest->estimate.training.method, ==, QM_METHOD_FULL);
  g_assert_nonnull (ladder);
}

/* A choice leaves nothing to come near; a row that breaks another limit than
 * memory is the nearest itself. */
static void
test_nearest_of_rows (void)
{
  g_autoptr (QmRecommendation) chosen = recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"}"));
  g_autoptr (QmRecommendation) poor = recommend (PLAN ("\"task\":\"language-model\",\"activity\":\"train\",\"model\":{\"id\":\"llama-3.1-70b\"},"
    "\"limits\":{\"money\":10,\"hours\":2}"));

  g_assert_null (qm_recommendation_get_nearest (chosen));
  g_assert_true (qm_recommendation_get_nearest (poor) == qm_recommendation_row (poor, 0));
  g_assert_null (qm_ladder_of_nearest (poor));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/nearest/pinned", test_nearest);
  g_test_add_func ("/nearest/of-several", test_nearest_of_several);
  g_test_add_func ("/nearest/of-rows", test_nearest_of_rows);

  return shipped_run ();
}
