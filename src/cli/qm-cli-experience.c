/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-experience.h"
#include "decide/qm-past-runs.h"
#include "draw/qm-language.h"
#include "qm-cli.h"

static JsonNode *
experience_to_json (const QmExperience *experience)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new ();
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < experience->refused->len; i++)
    {
      const QmRefusedFigure *refused = g_ptr_array_index (experience->refused, i);
      g_autofree char *text = qm_message_get_text (refused->reason, qm_words_english ());
      JsonObject *object = json_object_new ();

      json_object_set_int_member (object, "id", refused->id);
      json_object_set_string_member (object, "figure", refused->key);
      json_object_set_string_member (object, "code", qm_message_get_code (refused->reason));
      json_object_set_string_member (object, "text", text);
      json_array_add_object_element (array, object);
    }
  json_object_set_int_member (root, "runs", experience->runs);
  json_object_set_int_member (root, "figures", qm_calibration_n_samples (experience->calibration));
  json_object_set_array_member (root, "refused", array);
  json_node_take_object (node, root);

  return node;
}

/**
 * qm_cli_print_experience:
 * @cli: the program
 * @ledger: the runs of the past
 * @error: return location for an error
 *
 * Prints which runs correct the estimates, and what is refused.
 *
 * Returns: whether it worked
 */
gboolean
qm_cli_print_experience (QmCli     *cli,
                         QmLedger  *ledger,
                         GError   **error)
{
  g_autoptr (QmExperience) experience = NULL;

  cli->plain = TRUE;
  if (qm_cli_get_estimator (cli, error) == NULL)
    return FALSE;
  experience = qm_experience_new (ledger, cli->estimator, g_get_real_time (), error);
  if (experience == NULL)
    return FALSE;

  if (cli->json)
    {
      g_autoptr (JsonNode) node = experience_to_json (experience);

      qm_cli_print_json (node, TRUE);
      return TRUE;
    }
  g_print (ngettext ("Estimates are corrected by %u run.\n", "Estimates are corrected by %u runs.\n", experience->runs), experience->runs);
  for (guint i = 0; i < experience->refused->len; i++)
    {
      const QmRefusedFigure *refused = g_ptr_array_index (experience->refused, i);
      g_autofree char *text = qm_message_get_text (refused->reason, qm_language_get_words ());

      /* Translators: number of a run, name of a figure, why it is not used */
      g_print (_("Not used: run %d, %s. %s\n"), (int) refused->id, refused->key, text);
    }

  return TRUE;
}

static void
print_suggestions (QmCli        *cli,
                   const GArray *runs)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_ARRAY);
  JsonArray *array = json_array_new ();

  json_node_take_array (node, array);
  for (guint i = 0; i < runs->len; i++)
    {
      const QmTeachingRun *run = &g_array_index (runs, QmTeachingRun, i);
      JsonObject *object = json_object_new ();

      json_object_set_int_member (object, "sequence_length", (gint64) run->sequence_length);
      json_object_set_int_member (object, "micro_batch", (gint64) run->micro_batch);
      json_object_set_double_member (object, "deviation", run->deviation);
      json_array_add_object_element (array, object);
      if (!cli->json)
        /* Translators: of a run that would make estimates surer */
        g_print (_("sequence_length %.0f, micro_batch %.0f: estimates of this model would then be sure to %.0f %%\n"), run->sequence_length,
                 run->micro_batch, 100 * (exp (run->deviation) - 1));
    }
  if (cli->json)
    qm_cli_print_json (node, TRUE);
}

/* What runs of another depth say of the plan's memory. */
static gboolean
print_growth (QmCli            *cli,
              QmLedger         *ledger,
              const QmResolved *resolved,
              GError          **error)
{
  g_autoptr (QmExperience) experience = qm_experience_new (ledger, cli->estimator, g_get_real_time (), error);
  g_autofree char *more = NULL, *all = NULL;
  QmGrowth growth;
  QmChoice choice;
  gboolean known;

  if (experience == NULL)
    return FALSE;

  known = qm_estimate_pinned (cli->estimator, resolved, NULL, &choice, NULL) &&
          qm_past_runs_growth (experience->past_runs, resolved, &choice.estimate, &growth);
  qm_choice_clear (&choice);
  if (!known)
    return TRUE;

  more = qm_format_bytes (qm_language_get_words (), growth.per_ten_layers);
  all = qm_format_bytes (qm_language_get_words (), growth.bytes);
  if (!cli->json)
    g_print (ngettext ("By %u run of the same structure, ten layers more take %s, and this plan %s.\n",
                       "By %u runs of the same structure, ten layers more take %s, and this plan %s.\n", growth.runs), growth.runs, more, all);

  return TRUE;
}

/**
 * qm_cli_print_suggestions:
 * @cli: the program
 * @ledger: the runs of the past
 * @path: a plan
 * @error: return location for an error
 *
 * Prints which two runs would teach most about a plan, and what those of another
 * depth say of its memory.
 *
 * Returns: whether it worked
 */
gboolean
qm_cli_print_suggestions (QmCli       *cli,
                          QmLedger    *ledger,
                          const char  *path,
                          GError     **error)
{
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (GArray) runs = NULL;

  cli->plain = TRUE;
  if (qm_cli_get_estimator (cli, error) == NULL)
    return FALSE;
  resolved = qm_cli_load_plan (cli, path, error);
  if (resolved == NULL)
    return FALSE;

  runs = qm_experience_suggest (cli->estimator, resolved);
  print_suggestions (cli, runs);
  if (runs->len == 0 && !cli->json)
    g_print ("%s\n", _("No run can be suggested: the plan names no device, or trains nothing."));

  return print_growth (cli, ledger, resolved, error);
}

/**
 * qm_cli_size:
 * @cli: the program
 * @resolved: (inout): a plan; is given what the person's own runs took
 * @error: return location for an error
 *
 * Returns: whether it worked
 */
gboolean
qm_cli_size (QmCli       *cli,
             QmResolved  *resolved,
             GError     **error)
{
  if (qm_cli_get_estimator (cli, error) == NULL)
    return FALSE;

  if (cli->past_runs != NULL && resolved->past_runs == NULL)
    resolved->past_runs = g_ptr_array_ref (cli->past_runs);
  return TRUE;
}
