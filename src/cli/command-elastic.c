/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "decide/qm-elastic.h"
#include "draw/qm-language.h"
#include "qm-cli.h"
#include "qm-error.h"

#define NAME_CELLS 26

static void
print_row (const QmElasticRun *run,
           const char         *name,
           const char         *currency)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *mean = qm_format_number (words, run->mean_replicas);
  g_autofree char *money = qm_format_money (words, run->money, currency);
  g_autofree char *p99 = qm_format_seconds (words, run->p99_seconds);
  g_autofree char *worst = qm_format_seconds (words, run->worst_p99_seconds);
  g_autofree char *late = qm_format_percent (words, run->late_share);

  g_print ("%-*s %*s %*s %*s %*s %*s\n", QM_COLUMN (NAME_CELLS, name), QM_COLUMN (8, mean), QM_COLUMN (14, money),
           QM_COLUMN (12, p99), QM_COLUMN (12, worst), QM_COLUMN (9, late));
}

static void
print_rule (const QmElastic *elastic,
            const QmChoice  *choice)
{
  const QmWords *words = qm_language_get_words ();
  const QmElasticRule *rule = &elastic->rule;
  g_autofree char *rate = qm_format_number (words, elastic->replica.per_second);
  g_autofree char *target = qm_format_percent (words, rule->target);
  g_autofree char *warm_up = qm_format_seconds (words, rule->warm_up_seconds);
  g_autofree char *cool_down = qm_format_seconds (words, rule->cool_down_seconds);

  g_print ("%s\n", choice->label);
  /* Translators: a number */
  g_print (_("One replica is one such machine: it answers %s requests a second when always busy.\n"), rate);
  /* Translators: a share, two numbers of replicas, two durations */
  g_print (_("The rule: %s in use, %d to %d replicas, %s to warm up, %s to cool down.\n"), target, rule->fewest, rule->most,
           warm_up, cool_down);
}

static void
print (const QmElastic *elastic,
       const QmChoice  *choice,
       const char      *currency,
       gboolean         made_up)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *span = qm_format_seconds (words, qm_load_span (elastic->load));
  g_autofree char *mean = qm_format_number (words, qm_load_mean (elastic->load));
  g_autofree char *peak = qm_format_number (words, qm_load_peak (elastic->load));

  print_rule (elastic, choice);
  /* Translators: a duration, two numbers */
  g_print (_("The load: %s, %s requests a second in the mean, %s at the peak.\n"), span, mean, peak);
  if (made_up)
    g_print (_("The day is made up from the mean and the peak of the plan; give --load FILE.csv for your own.\n"));

  g_print ("\n%-*s %*s %*s %*s %*s %*s\n", QM_COLUMN (NAME_CELLS, _("Fleet")), QM_COLUMN (8, _("Mean")), QM_COLUMN (14, _("Cost")),
           QM_COLUMN (12, _("99 in 100")), QM_COLUMN (12, _("Worst")), QM_COLUMN (9, _("Late")));
  print_row (&elastic->run, _("Following the load"), currency);
  for (guint i = 0; i < elastic->fixed->len; i++)
    {
      const QmElasticRun *run = &g_array_index (elastic->fixed, QmElasticRun, i);
      g_autofree char *name = g_strdup_printf (g_dngettext (NULL, "%d fixed", "%d fixed", run->most_replicas), run->most_replicas);

      print_row (run, name, currency);
    }
  g_print (_("\n99 in 100: answers within; worst: the same, of the worst minute; late: share of requests that come while there is "
             "too little capacity.\n"));
}

static gboolean
check (const QmElasticRule *rule,
       GError             **error)
{
  if (rule->target >= 0 && rule->target < 1 && rule->fewest >= 0 && rule->most >= 0 && rule->most <= 100000 &&
      (rule->most == 0 || rule->most >= rule->fewest) && !(rule->warm_up_seconds < 0) && !(rule->cool_down_seconds < 0))
    return TRUE;

  g_set_error_literal (error, QM_USAGE_ERROR, 0,
                       _("elastic: --target is above 0 and below 1, --most is not below --fewest, and times are not below 0"));
  return FALSE;
}

static const QmChoice *
choice_of (QmRecommendation *recommendation,
           const char       *path,
           GError          **error)
{
  if (qm_recommendation_n_choices (recommendation) > 0)
    return qm_recommendation_choice (recommendation, 0);

  g_set_error (error, QM_USAGE_ERROR, 0, _("%s: nothing that is allowed can run this job"), path);
  return NULL;
}

/**
 * qm_command_elastic:
 * @cli: the program
 * @arguments: `elastic PLAN [--load FILE.csv]`
 * @error: return location for an error
 *
 * Prints what a fleet that follows the load costs, and how long answers take,
 * beside fleets that stay as they are.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_elastic (QmCli   *cli,
                    GStrv    arguments,
                    GError **error)
{
  g_autofree char *path = NULL;
  QmElasticRule rule = QM_ELASTIC_RULE_USUAL;
  const GOptionEntry entries[] = {
    { "load", 0, 0, G_OPTION_ARG_FILENAME, &path, N_("How the load changes over time"), "FILE" },
    { "target", 0, 0, G_OPTION_ARG_DOUBLE, &rule.target, N_("Utilisation to keep, 0 to 1"), "X" },
    { "fewest", 0, 0, G_OPTION_ARG_INT, &rule.fewest, N_("Replicas at least"), "N" },
    { "most", 0, 0, G_OPTION_ARG_INT, &rule.most, N_("Replicas at most"), "N" },
    { "warm-up", 0, 0, G_OPTION_ARG_DOUBLE, &rule.warm_up_seconds, N_("Until a new replica answers"), "SECONDS" },
    { "cool-down", 0, 0, G_OPTION_ARG_DOUBLE, &rule.cool_down_seconds, N_("Before a replica is removed"), "SECONDS" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmRecommendation) recommendation = NULL;
  g_autoptr (QmElastic) elastic = NULL;
  g_autoptr (GArray) load = NULL;
  const QmChoice *choice;
  const char *currency;

  if (!qm_cli_parse (cli, &left, entries, 1, 1, error) || !check (&rule, error) ||
      (path != NULL && (load = qm_load_read (path, error)) == NULL))
    return FALSE;

  resolved = qm_cli_load_plan (cli, left[1], error);
  recommendation = resolved != NULL ? qm_cli_recommend (cli, resolved, error) : NULL;
  choice = recommendation != NULL ? choice_of (recommendation, left[1], error) : NULL;
  if (choice == NULL)
    return FALSE;
  elastic = qm_elastic_of_choice (cli->estimator, resolved->plan, choice, load, &rule, error);
  if (elastic == NULL)
    {
      qm_error_locate (*error, left[1], 0);
      return FALSE;
    }

  currency = qm_plan_get_currency (resolved->plan);
  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_elastic_to_json (elastic, currency);

      qm_cli_print_json (node, TRUE);
    }
  else
    print (elastic, choice, currency, load == NULL);

  return TRUE;
}
