/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-choices.h"
#include "decide/qm-ladder.h"

/**
 * qm_choice_nearest:
 * @search: a search in which nothing fits
 * @wish: the limits
 * @choice: (out caller-allocates): what lacks the least memory
 *
 * For those who want to see what is in the way of a job that nothing holds.
 *
 * Returns: whether there is one: not where it is for another reason that nothing
 *   was found
 */
gboolean
qm_choice_nearest (const QmSearch *search,
                   const QmWish   *wish,
                   QmChoice       *choice)
{
  QmSolution solution = search->nearest.solution;
  QmSearch alone = *search;
  QmRow row = { .placement = search->nearest.placement, .seconds = NAN, .finish_seconds = NAN, .money = NAN, .log_money = NAN,
                .quality = NAN };

  if (!(search->nearest.margin > 0))
    return FALSE;

  /* One copy of a service: what does not fit carries no load. */
  solution.replicas = MAX (1, solution.replicas);
  alone.solutions = g_array_new (FALSE, FALSE, sizeof (QmSolution));
  g_array_append_val (alone.solutions, solution);
  qm_choice_from_row (&alone, &row, wish, choice);
  g_array_unref (alone.solutions);
  choice->within_limits = FALSE;
  choice->broken_limit = QM_LIMIT_MEMORY;

  return qm_range_is_known (choice->estimate.memory.need);
}

/**
 * qm_nearest_to_json:
 * @recommendation: an answer
 *
 * Returns: (transfer full): the estimate of what comes nearest where there is no
 *   choice, with its `label` and, where it does not fit, the `ladder`; else null
 */
JsonNode *
qm_nearest_to_json (QmRecommendation *recommendation)
{
  const QmChoice *nearest = qm_recommendation_get_nearest (recommendation);
  g_autoptr (QmLadder) ladder = qm_ladder_of_nearest (recommendation);
  JsonNode *node;

  if (nearest == NULL)
    return json_node_new (JSON_NODE_NULL);

  node = qm_choice_to_json (qm_recommendation_get_estimator (recommendation), qm_recommendation_get_resolved (recommendation), nearest);
  json_object_set_string_member (json_node_get_object (node), "label", nearest->label);
  json_object_set_member (json_node_get_object (node), "ladder",
                          ladder != NULL ? qm_ladder_to_json (ladder) : json_node_new (JSON_NODE_NULL));

  return node;
}

/**
 * qm_start_to_json:
 * @recommendation: an answer
 *
 * Returns: (transfer full): `label` and `configuration` of what
 *   qm_recommendation_get_start() gives; null where it gives nothing
 */
JsonNode *
qm_start_to_json (QmRecommendation *recommendation)
{
  const QmChoice *start = qm_recommendation_get_start (recommendation);
  JsonNode *node = json_node_new (start != NULL ? JSON_NODE_OBJECT : JSON_NODE_NULL);
  JsonObject *object;

  if (start == NULL)
    return node;

  object = json_object_new ();
  json_object_set_string_member (object, "label", start->label);
  json_object_set_member (object, "configuration", qm_configuration_to_json (&start->estimate.configuration));
  json_node_take_object (node, object);

  return node;
}
