/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "decide/qm-money.h"
#include "decide/qm-service.h"
#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-cli.h"

/* In each of three runs. */
#define SIMULATED_REQUESTS 3000

/* What the money is for; one thing alone is the whole. */
static void
print_parts (const QmResolved *resolved,
             const QmChoice   *choice)
{
  QmCostPart parts[QM_MOST_COST_PARTS];
  guint n = qm_cost_parts_list (&choice->estimate.cost.parts, parts);

  for (guint i = 0; n > 1 && i < n; i++)
    {
      g_autofree char *money = qm_format_money (qm_language_get_words (), parts[i].money, qm_plan_get_currency (resolved->plan));

      g_print ("    %-*s %s\n", QM_COLUMN (32, _(parts[i].name)), money);
    }
}

static void
print (QmCli            *cli,
       const QmResolved *resolved,
       const QmChoice   *choice)
{
  g_autoptr (GPtrArray) explanation = NULL;
  g_autoptr (GPtrArray) warnings = NULL;

  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_choice_to_json (cli->estimator, resolved, choice);

      qm_cli_print_json (node, TRUE);
      return;
    }

  qm_cli_print_choice (cli, resolved, choice, FALSE);
  print_parts (resolved, choice);
  explanation = qm_estimate_explain (cli->estimator, resolved, choice, NULL);
  warnings = qm_estimate_warnings (cli->estimator, resolved, choice);
  for (guint i = 0; i < explanation->len; i++)
    qm_cli_print_message (g_ptr_array_index (explanation, i));
  for (guint i = 0; i < warnings->len; i++)
    qm_cli_print_message (g_ptr_array_index (warnings, i));
  qm_cli_print_assumed (resolved);
}

/* What the recommendation of it starts from, without the search. */
static gboolean
estimate_pinned (QmCli             *cli,
                 const QmResolved  *resolved,
                 const char        *path,
                 GError           **error)
{
  QmHere here = { 0 };
  QmChoice choice;
  gboolean ok;

  if (qm_cli_get_machine (cli, error) == NULL)
    return FALSE;

  qm_machine_get_here (cli->machine, &here);
  ok = qm_estimate_pinned (cli->estimator, resolved, &here, &choice, error);
  if (ok)
    {
      qm_choice_simulate (cli->estimator, resolved, SIMULATED_REQUESTS, &choice);
      print (cli, resolved, &choice);
    }
  else
    qm_plan_locate_error (path, *error);
  qm_choice_clear (&choice);

  return ok;
}

/**
 * qm_command_estimate:
 * @cli: the program
 * @arguments: `estimate PLAN`
 * @error: return location for an error
 *
 * Prints one configuration: the pinned one, or the recommended one where
 * nothing is pinned.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_estimate (QmCli   *cli,
                     GStrv    arguments,
                     GError **error)
{
  const GOptionEntry entries[] = {
    { "ledger", 0, 0, G_OPTION_ARG_FILENAME, &cli->ledger, N_("Another file than the person's ledger"), "FILE" },
    { "no-calibration", 0, 0, G_OPTION_ARG_NONE, &cli->plain, N_("Do not correct the estimate by your own runs"), NULL },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmRecommendation) recommendation = NULL;

  if (!qm_cli_parse (cli, &left, entries, 1, 1, error) || qm_cli_get_estimator (cli, error) == NULL)
    return FALSE;

  resolved = qm_cli_load_plan (cli, left[1], error);
  if (resolved == NULL || !qm_cli_size (cli, resolved, error))
    return FALSE;

  if (resolved->given->configuration.device[0] != '\0')
    return estimate_pinned (cli, resolved, left[1], error);

  recommendation = qm_cli_recommend (cli, resolved, error);
  if (recommendation == NULL)
    return FALSE;
  if (qm_recommendation_n_choices (recommendation) > 0)
    print (cli, qm_recommendation_get_resolved (recommendation), qm_recommendation_get_start (recommendation));
  else if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_recommendation_to_json (recommendation, cli->estimator);

      qm_cli_print_json (node, TRUE);
    }
  else
    g_print ("%s\n", qm_phrase_nothing (qm_language_get_words (), qm_recommendation_get_resolved (recommendation)->given));

  return TRUE;
}
