/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-cli.h"

#include <glib/gi18n.h>
#include <stdio.h>

#include "config.h"
#include "draw/qm-language.h"
#include "preferences/qm-preferences.h"
#include "qm-error.h"
#include "qm-json-writer.h"

QM_DEFINE_ERROR_DOMAIN ("qm-usage-error-quark", qm_usage_error_quark)

static const char *
data_directory (void)
{
  const char *from_environment = g_getenv ("QM_DATA_DIR");

  return from_environment != NULL ? from_environment : QM_DATA_DIR;
}

static char *
user_directory (void)
{
  const char *from_environment = g_getenv ("QM_USER_DIR");

  if (from_environment != NULL)
    return g_build_filename (from_environment, "catalog", NULL);

  return g_build_filename (g_get_user_data_dir (), "quartermaster", "catalog", NULL);
}

/**
 * qm_cli_parse:
 * @cli: the program
 * @arguments: (inout): the command's name and what follows; options are taken out
 * @entries: (nullable): options of the command beside `--json`
 * @minimum: how many arguments must be left, the name not counted
 * @maximum: how many may be left
 * @error: return location for an error of the domain #QM_USAGE_ERROR
 *
 * Returns: whether the arguments are in order
 */
gboolean
qm_cli_parse (QmCli               *cli,
              GStrv               *arguments,
              const GOptionEntry  *entries,
              int                  minimum,
              int                  maximum,
              GError             **error)
{
  const GOptionEntry common[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &cli->json, N_("Print JSON"), NULL },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GOptionContext) context = g_option_context_new (cli->usage);
  g_autoptr (GError) local_error = NULL;
  int n;

  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_add_main_entries (context, common, GETTEXT_PACKAGE);
  if (entries != NULL)
    g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);

  if (!g_option_context_parse_strv (context, arguments, &local_error))
    {
      g_set_error_literal (error, QM_USAGE_ERROR, 0, local_error->message);
      return FALSE;
    }

  n = g_strv_length (*arguments) - 1;
  if (n < minimum || n > maximum)
    {
      g_set_error (error, QM_USAGE_ERROR, 0, n < minimum ? _("%s: an argument is missing; see quartermaster-cli --help")
                                                         : _("%s: too many arguments; see quartermaster-cli --help"), (*arguments)[0]);
      return FALSE;
    }

  return TRUE;
}

/**
 * qm_cli_may_run_commands:
 * @error: return location for an error of the domain #G_IO_ERROR
 *
 * A Flatpak sees no program but its own: what it would record is not what the
 * person runs.
 *
 * Returns: whether commands of this computer can be run and watched
 */
gboolean
qm_cli_may_run_commands (GError **error)
{
  if (!qm_machine_is_flatpak (g_getenv ("QM_SYSROOT")))
    return TRUE;

  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                       _("a Flatpak cannot run or watch other programs. Record outside of it: run your command while "
                         "“nvidia-smi --query-gpu=timestamp,name,utilization.gpu,memory.used,power.draw --format=csv -l 1 -f run.csv” "
                         "runs, then import run.csv in the window (History, Import…); "
                         "or build quartermaster-cli outside of the Flatpak"));
  return FALSE;
}

/**
 * qm_cli_shipped_directory:
 *
 * Returns: (transfer full): the folder of the catalog that came with the program
 */
char *
qm_cli_shipped_directory (void)
{
  return g_build_filename (data_directory (), "catalog", NULL);
}

/**
 * qm_cli_user_directory:
 *
 * Returns: (transfer full): the folder of the person's own catalog
 */
char *
qm_cli_user_directory (void)
{
  return user_directory ();
}

/**
 * qm_cli_get_catalog:
 * @cli: the program
 * @error: return location for an error
 *
 * Returns: (transfer none): the catalog, or %NULL with @error set
 */
QmCatalog *
qm_cli_get_catalog (QmCli   *cli,
                    GError **error)
{
  if (cli->catalog == NULL)
    {
      g_autofree char *shipped = g_build_filename (data_directory (), "catalog", NULL);
      g_autofree char *own = user_directory ();

      cli->catalog = qm_catalog_load (shipped, own, error);
    }

  return cli->catalog;
}

/**
 * qm_cli_load_table:
 * @cli: the program
 * @name: of a table of the catalog
 * @error: return location for an error
 *
 * Returns: (transfer full): a catalog that holds that table alone, or %NULL
 *   with @error set
 */
QmCatalog *
qm_cli_load_table (QmCli       *cli,
                   const char  *name,
                   GError     **error)
{
  g_autofree char *shipped = g_build_filename (data_directory (), "catalog", NULL);
  g_autofree char *own = user_directory ();

  return qm_catalog_load_table (shipped, own, name, error);
}

/**
 * qm_cli_load_model:
 * @cli: the program
 * @id: of a model
 * @table: of a table of the catalog
 * @error: return location for an error
 *
 * Returns: (transfer full): a catalog that holds that table and the model, if
 *   there is one, or %NULL with @error set
 */
QmCatalog *
qm_cli_load_model (QmCli       *cli,
                   const char  *id,
                   const char  *table,
                   GError     **error)
{
  g_autofree char *shipped = g_build_filename (data_directory (), "catalog", NULL);
  g_autofree char *own = user_directory ();

  return qm_catalog_load_model (shipped, own, id, table, error);
}

static gboolean
learns (void)
{
  g_autoptr (GSettings) settings = qm_preferences_open ();

  return settings == NULL || g_settings_get_boolean (settings, "learn-from-runs");
}

/**
 * qm_cli_get_estimator:
 * @cli: the program
 * @error: return location for an error
 *
 * Returns: (transfer none): the estimator, or %NULL with @error set
 */
QmEstimator *
qm_cli_get_estimator (QmCli   *cli,
                      GError **error)
{
  if (cli->estimator == NULL && qm_cli_get_catalog (cli, error) != NULL)
    {
      g_autofree char *today = qm_today ();

      cli->estimator = qm_estimator_new (cli->catalog, error);
      if (cli->estimator != NULL)
        qm_estimator_set_today (cli->estimator, today);
      cli->plain |= !learns ();
    }
  if (cli->estimator != NULL && !cli->plain && !qm_cli_learn (cli, error))
    return NULL;

  return cli->estimator;
}

/**
 * qm_cli_get_machine:
 * @cli: the program
 * @error: return location for an error
 *
 * Returns: (transfer none): what this computer has, or %NULL with @error set
 */
QmMachine *
qm_cli_get_machine (QmCli   *cli,
                    GError **error)
{
  if (cli->machine == NULL && qm_cli_get_catalog (cli, error) != NULL)
    cli->machine = qm_machine_probe (cli->catalog, g_getenv ("QM_SYSROOT"), NULL);

  return cli->machine;
}

/**
 * qm_cli_print_warnings:
 * @warnings: (element-type QmPlanWarning): what reading a plan found odd
 * @path: (nullable): the file it was read from
 *
 * Prints them to the error output, a line each.
 */
void
qm_cli_print_warnings (GPtrArray  *warnings,
                       const char *path)
{
  g_autofree char *name = path != NULL ? g_filename_display_name (path) : g_strdup ("-");

  for (guint i = 0; i < warnings->len; i++)
    {
      const QmPlanWarning *warning = g_ptr_array_index (warnings, i);
      g_autofree char *text = qm_message_get_text (warning->message, qm_language_get_words ());

      if (path != NULL && warning->line > 0)
        g_printerr ("quartermaster-cli: %s:%d: %s: %s\n", name, warning->line, warning->path, text);
      else
        g_printerr ("quartermaster-cli: %s: %s: %s\n", name, warning->path, text);
    }
}

/**
 * qm_cli_load_plan:
 * @cli: the program
 * @path: a plan file
 * @error: return location for an error
 *
 * Returns: (transfer full): the plan with every default filled in, or %NULL
 *   with @error set
 */
QmResolved *
qm_cli_load_plan (QmCli       *cli,
                  const char  *path,
                  GError     **error)
{
  return qm_cli_load_plan_without (cli, path, NULL, NULL, error);
}

/* Offers and devices by their ids. */
static gboolean
exclude (QmPlan             *plan,
         const char * const *without,
         GError            **error)
{
  for (int i = 0; without != NULL && without[i] != NULL; i++)
    if (!qm_plan_exclude (plan, without[i]))
      {
        g_set_error (error, QM_USAGE_ERROR, 0, _("--without: \"%s\" is too long for the id of an offer or device"), without[i]);
        return FALSE;
      }

  return TRUE;
}

/* By what the person said once for all. */
static gboolean
complete (QmCli   *cli,
          QmPlan  *plan,
          GError **error)
{
  g_autoptr (GSettings) settings = qm_preferences_open ();
  g_autoptr (QmEconomics) economics = settings != NULL ? qm_economics_new (qm_catalog_table (cli->catalog, "economics"), error) : NULL;

  if (settings == NULL)
    return TRUE;
  if (economics == NULL || !qm_economics_set_carbon (economics, qm_catalog_table (cli->catalog, "carbon"), error))
    return FALSE;

  qm_preferences_fill_plan (settings, economics, plan);
  return TRUE;
}

/**
 * qm_cli_load_plan_without:
 * @cli: the program
 * @path: a plan file
 * @without: (nullable): what cannot be had, beside what the plan says
 * @output: (nullable): where the plan is kept with that
 * @error: return location for an error
 *
 * Returns: (transfer full): as qm_cli_load_plan()
 */
QmResolved *
qm_cli_load_plan_without (QmCli               *cli,
                          const char          *path,
                          const char * const  *without,
                          const char          *output,
                          GError             **error)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmPlan) completed = NULL;
  g_autoptr (QmResolved) resolved = NULL;
  g_autofree char *directory = g_path_get_dirname (path);
  QmCatalog *catalog = qm_cli_get_catalog (cli, error);

  if (catalog == NULL)
    return NULL;

  plan = qm_plan_load (path, warnings, error);
  if (plan == NULL || !exclude (plan, without, error))
    return NULL;

  completed = qm_plan_copy (plan);
  if (!complete (cli, completed, error))
    return NULL;
  resolved = qm_resolve (completed, catalog, directory, warnings, error);
  if (resolved == NULL)
    {
      if (error != NULL)
        qm_plan_locate_error (path, *error);
      return NULL;
    }
  qm_cli_print_warnings (warnings, path);
  if (output != NULL && !qm_plan_save (plan, output, error))
    return NULL;

  return g_steal_pointer (&resolved);
}

/* In each of three runs: what the slowest one percent wait is then known to some
 * ten percent. */
#define SIMULATED_REQUESTS 2000

/**
 * qm_cli_recommend:
 * @cli: the program
 * @resolved: a plan
 * @error: return location for an error
 *
 * Returns: (transfer full): the answer, with the time it took, or %NULL with
 *   @error set
 */
QmRecommendation *
qm_cli_recommend (QmCli             *cli,
                  const QmResolved  *resolved,
                  GError           **error)
{
  QmEstimator *estimator = qm_cli_get_estimator (cli, error);
  QmRecommendation *recommendation;
  QmHere here = { 0 };
  gint64 start;

  if (estimator == NULL || qm_cli_get_machine (cli, error) == NULL)
    return NULL;

  qm_machine_get_here (cli->machine, &here);
  start = g_get_monotonic_time ();
  recommendation = qm_recommend (estimator, resolved, &here, NULL);
  qm_recommendation_set_seconds (recommendation, (g_get_monotonic_time () - start) / 1e6);
  if (qm_recommendation_can_simulate (recommendation))
    {
      QmRecommendation *simulated = qm_recommendation_simulate (recommendation, SIMULATED_REQUESTS, NULL);

      g_object_unref (recommendation);
      return simulated;
    }

  return recommendation;
}

/**
 * qm_cli_print_json:
 * @node: what to print
 * @pretty: over several lines
 */
void
qm_cli_print_json (JsonNode *node,
                   gboolean  pretty)
{
  g_autofree char *text = qm_json_to_text (node, pretty);

  fputs (text, stdout);
  fputc ('\n', stdout);
}

/**
 * qm_cli_print_message:
 * @message: a sentence of the core
 *
 * Prints it in the reader's language, the detail on a line of its own.
 */
void
qm_cli_print_message (const QmMessage *message)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *text = qm_message_get_text (message, words);
  g_autofree char *detail = qm_message_get_detail (message, words);

  g_print ("  • %s\n", text);
  if (detail != NULL)
    g_print ("    %s\n", detail);
}
