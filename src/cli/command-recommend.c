/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-cli.h"

#define SHOWN_REJECTIONS 12

static int
widest_label (QmRecommendation *recommendation)
{
  int widest = 0;

  for (guint i = 0; i < qm_recommendation_n_rows (recommendation); i++)
    widest = MAX (widest, qm_cli_cells (qm_recommendation_row (recommendation, i)->label));

  return widest;
}

static void
print_matrix (QmRecommendation *recommendation,
              const char       *currency)
{
  const QmWords *words = qm_language_get_words ();
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;
  int widest = widest_label (recommendation);

  if (widest == 0)
    return;

  g_print ("\n%s\n", _("All choices side by side"));
  for (guint i = 0; i < qm_recommendation_n_rows (recommendation); i++)
    {
      const QmChoice *row = qm_recommendation_row (recommendation, i);
      g_autofree char *time = qm_phrase_finish (words, plan, &row->estimate);
      g_autofree char *format = qm_phrase_format (words, plan, &row->estimate);
      g_autofree char *money = qm_format_money (words, row->estimate.cost.money.p50, currency);
      g_autofree char *detail = NULL;
      const char *verdict = qm_phrase_standing (words, recommendation, i, &detail);
      const char *spot = row->estimate.cost.pricing == QM_PRICING_SPOT ? _("spot") : NULL;

      g_print ("  %-*s %*s %*s  %s%s%s%s%s%s%s\n", QM_COLUMN (widest, row->label), QM_COLUMN (12, time), QM_COLUMN (14, money),
               format != NULL ? format : "", format != NULL ? "  " : "",
               spot != NULL ? spot : "", spot != NULL ? "  " : "", verdict, detail != NULL ? ": " : "", detail != NULL ? detail : "");
    }
}

static void
print_sensitivities (QmRecommendation *recommendation)
{
  GPtrArray *sensitivities = qm_recommendation_get_sensitivities (recommendation);

  if (sensitivities->len == 0)
    return;

  g_print ("\n%s\n", _("What would change it"));
  for (guint i = 0; i < sensitivities->len; i++)
    {
      const QmSensitivity *sensitivity = g_ptr_array_index (sensitivities, i);

      qm_cli_print_message (sensitivity->message);
    }
}

static void
print_stages (QmRecommendation *recommendation,
              const char       *currency)
{
  const QmWords *words = qm_language_get_words ();
  GPtrArray *stages = qm_recommendation_get_stages (recommendation);

  if (stages->len == 0)
    return;

  g_print ("\n%s\n", _("In stages"));
  for (guint i = 0; i < stages->len; i++)
    {
      const QmStagePlan *stage = g_ptr_array_index (stages, i);
      g_autofree char *text = qm_message_get_text (stage->message, words);
      g_autofree char *time = qm_format_seconds (words, stage->hours * 3600);
      g_autofree char *money = qm_format_money (words, stage->money, currency);

      g_print ("  %u. %s: %s, %s, %s\n", i + 1, text, stage->label, time, money);
    }
}

static void
print_rejections (QmRecommendation *recommendation)
{
  const QmWords *words = qm_language_get_words ();
  GPtrArray *rejections = qm_recommendation_get_rejections (recommendation);

  g_print ("\n%s\n", _("Why not another"));
  for (guint i = 0; i < MIN (rejections->len, SHOWN_REJECTIONS); i++)
    {
      const QmRejection *rejection = g_ptr_array_index (rejections, i);
      g_autofree char *text = qm_phrase_rejection (words, rejection);

      g_print ("  %s: %s\n", rejection->device->name, text);
    }
  if (rejections->len > SHOWN_REJECTIONS)
    g_print (g_dngettext (NULL, "  and %u more: see --json\n", "  and %u more: see --json\n",
                          rejections->len - SHOWN_REJECTIONS), rejections->len - SHOWN_REJECTIONS);
}

static void
print (QmCli            *cli,
       QmRecommendation *recommendation,
       int               top)
{
  const QmResolved *resolved = qm_recommendation_get_resolved (recommendation);
  const char *currency = qm_plan_get_currency (resolved->plan);
  guint n = qm_recommendation_n_choices (recommendation);
  g_autofree char *considered = qm_format_count (qm_language_get_words (), qm_recommendation_get_considered (recommendation));

  for (guint i = 0; i < qm_recommendation_get_warnings (recommendation)->len; i++)
    qm_cli_print_message (g_ptr_array_index (qm_recommendation_get_warnings (recommendation), i));
  for (guint i = 0; i < n && (int) i < top; i++)
    {
      if (i > 0)
        g_print ("\n");
      qm_cli_print_choice (cli, resolved, qm_recommendation_choice (recommendation, i), i == 0);
    }

  print_matrix (recommendation, currency);
  print_sensitivities (recommendation);
  print_stages (recommendation, currency);
  if (n == 0)
    {
      qm_cli_print_nearest (recommendation);
      print_rejections (recommendation);
    }
  qm_cli_print_assumed (resolved);
  g_print (_("\n%s configurations considered in %.0f ms\n"), considered, qm_recommendation_get_seconds (recommendation) * 1000);
}

static void
cut (JsonNode *node,
     int       top)
{
  JsonArray *choices = json_object_get_array_member (json_node_get_object (node), "choices");

  while (json_array_get_length (choices) > (guint) top)
    json_array_remove_element (choices, json_array_get_length (choices) - 1);
}

/**
 * qm_command_recommend:
 * @cli: the program
 * @arguments: `recommend PLAN [--top N] [--without ID] [-o FILE]`
 * @error: return location for an error
 *
 * Prints the ranked choices, the matrix, the stages and what would change it.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_recommend (QmCli   *cli,
                      GStrv    arguments,
                      GError **error)
{
  int top = G_MAXINT;
  g_auto (GStrv) without = NULL;
  g_autofree char *output = NULL;
  const GOptionEntry entries[] = {
    { "top", 0, 0, G_OPTION_ARG_INT, &top, N_("Print the first N choices only"), "N" },
    { "ledger", 0, 0, G_OPTION_ARG_FILENAME, &cli->ledger, N_("Another file than the person's ledger"), "FILE" },
    { "no-calibration", 0, 0, G_OPTION_ARG_NONE, &cli->plain, N_("Do not correct the estimate by your own runs"), NULL },
    { "without", 0, 0, G_OPTION_ARG_STRING_ARRAY, &without, N_("Leave out an offer or device that cannot be had"), "ID" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_("Keep the plan with what was left out"), "FILE" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmRecommendation) recommendation = NULL;

  if (!qm_cli_parse (cli, &left, entries, 1, 1, error))
    return FALSE;
  if (top < 1)
    {
      g_set_error (error, QM_USAGE_ERROR, 0, _("--top: %d is not a count; give 1 or more"), top);
      return FALSE;
    }

  resolved = qm_cli_load_plan_without (cli, left[1], (const char * const *) without, output, error);
  if (resolved == NULL || !qm_cli_size (cli, resolved, error))
    return FALSE;
  recommendation = qm_cli_recommend (cli, resolved, error);
  if (recommendation == NULL)
    return FALSE;

  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_recommendation_to_json (recommendation, cli->estimator);

      cut (node, top);
      qm_cli_print_json (node, TRUE);
    }
  else
    print (cli, recommendation, top);

  return TRUE;
}
