/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "decide/qm-ladder.h"
#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "history/qm-import.h"
#include "probe/qm-own-ledger.h"
#include "qm-cli.h"
#include "qm-error.h"

static const char *
tier_words (int tier)
{
  return tier == 1 ? _("Change a setting") : tier == 2 ? _("Trade time or exactness for memory") : _("Run it differently");
}

static void
print_ladder (const QmLadder *ladder,
              const char     *label)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *need = qm_format_bytes (words, ladder->planned.memory.need.p50);
  g_autofree char *usable = qm_format_bytes (words, ladder->planned.memory.usable_bytes);
  int tier = 0, taken = 0;

  g_print ("%s\n", label);
  /* Translators: of what is shown as a name on the line before: two amounts of memory */
  g_print (_("It needs %s on each device, which has %s.\n"), need, usable);
  for (guint i = 0; i < ladder->rungs->len; i++)
    {
      const QmRung *rung = &g_array_index (ladder->rungs, QmRung, i);
      g_autofree char *text = qm_message_get_text (rung->message, words);
      g_autofree char *detail = qm_message_get_detail (rung->message, words);
      g_autofree char *result = qm_phrase_rung (words, rung);

      if (rung->tier != tier)
        g_print ("\n%d. %s\n", rung->tier, tier_words (rung->tier));
      tier = rung->tier;
      taken += rung->state == QM_RUNG_TAKEN;
      g_print ("  %s %s: %s\n", rung->state == QM_RUNG_TAKEN ? "✓" : " ", text, result);
      if (rung->state == QM_RUNG_TAKEN)
        g_print ("      %s\n", detail);
    }
  g_print ("\n%s\n", taken == 0 && ladder->fits ? _("It fits as it is.") : ladder->fits ? _("With the marked changes it fits.") : _("Even so it does not fit: take a smaller model or a larger device."));
}

static void
print_diagnosis (QmCli             *cli,
                 const QmDiagnosis *diagnosis)
{
  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_diagnosis_to_json (diagnosis);

      qm_cli_print_json (node, TRUE);
    }
  else
    qm_cli_print_diagnosis (diagnosis);
}

static gboolean
diagnose_file (QmCli       *cli,
               const char  *path,
               GError     **error)
{
  g_autoptr (GPtrArray) imported = qm_import_read (path, error);
  const char *none[] = { NULL };

  if (imported == NULL)
    return FALSE;

  for (guint i = 0; i < imported->len; i++)
    {
      QmImported *one = g_ptr_array_index (imported, i);
      g_autoptr (QmSeries) empty = qm_series_new (none);
      g_autoptr (QmDiagnosis) diagnosis = qm_cli_diagnose (cli, one->run, one->series != NULL ? one->series : empty);

      print_diagnosis (cli, diagnosis);
    }

  return TRUE;
}

static gboolean
diagnose_run (QmCli       *cli,
              const char  *ledger_path,
              gint64       id,
              GError     **error)
{
  g_autoptr (QmLedger) ledger = qm_own_ledger_open (ledger_path, error);
  g_autoptr (QmRun) run = ledger != NULL ? qm_ledger_get (ledger, id, error) : NULL;
  g_autoptr (QmSeries) series = run != NULL ? qm_ledger_get_series (ledger, id, error) : NULL;
  g_autoptr (QmDiagnosis) diagnosis = NULL;

  if (series == NULL)
    return FALSE;

  diagnosis = qm_cli_diagnose (cli, run, series);
  print_diagnosis (cli, diagnosis);

  return qm_ledger_update (ledger, run, error);
}

static gboolean
make_fit (QmCli       *cli,
          const char  *path,
          GError     **error)
{
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmRecommendation) recommendation = NULL;
  g_autoptr (QmLadder) ladder = NULL;

  if (qm_cli_get_estimator (cli, error) == NULL)
    return FALSE;

  resolved = qm_cli_load_plan (cli, path, error);
  recommendation = resolved != NULL ? qm_cli_recommend (cli, resolved, error) : NULL;
  ladder = recommendation != NULL ? qm_ladder_of_start (recommendation) : NULL;
  if (recommendation != NULL && ladder == NULL)
    qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_MISSING, "configuration.device",
                  N_("is missing, and nothing that may be used can do this job as you ask; name a device"), NULL);
  if (ladder == NULL)
    {
      g_prefix_error (error, "%s: ", path);
      return FALSE;
    }

  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_ladder_to_json (ladder);

      qm_cli_print_json (node, TRUE);
    }
  else
    print_ladder (ladder, qm_recommendation_get_start (recommendation)->label);

  return TRUE;
}

/**
 * qm_command_diagnose:
 * @cli: the program
 * @arguments: `diagnose FILE`, `diagnose ID` or `diagnose --oom PLAN`
 * @error: return location for an error
 *
 * Prints what holds a run up, of a log or of the ledger, or how a plan can be
 * made to fit into the memory of its device.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_diagnose (QmCli   *cli,
                     GStrv    arguments,
                     GError **error)
{
  g_autofree char *plan = NULL, *ledger = NULL;
  const GOptionEntry entries[] = {
    { "oom", 0, 0, G_OPTION_ARG_FILENAME, &plan, N_("How to make a plan fit into memory"), "PLAN" },
    { "ledger", 0, 0, G_OPTION_ARG_FILENAME, &ledger, N_("Another file than the person's ledger"), "FILE" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  gint64 id;

  if (!qm_cli_parse (cli, &left, entries, 0, 1, error))
    return FALSE;
  if ((plan == NULL) == (left[1] == NULL))
    {
      g_set_error_literal (error, QM_USAGE_ERROR, 0, _("diagnose: a log, the number of a run, or --oom PLAN is expected"));
      return FALSE;
    }

  if (plan != NULL)
    return make_fit (cli, plan, error);
  if (!g_file_test (left[1], G_FILE_TEST_EXISTS) && g_ascii_string_to_signed (left[1], 10, 1, G_MAXINT64, &id, NULL))
    return diagnose_run (cli, ledger, id, error);

  return diagnose_file (cli, left[1], error);
}
