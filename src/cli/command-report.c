/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "draw/qm-language.h"
#include "draw/qm-report.h"
#include "preferences/qm-preferences.h"
#include "qm-cli.h"

static gboolean
parse_paper (const char  *word,
             QmPaper     *paper,
             GError     **error)
{
  g_autoptr (GSettings) settings = word == NULL ? qm_preferences_open () : NULL;
  g_autofree char *usual = settings != NULL ? g_settings_get_string (settings, "paper") : NULL;

  if (word == NULL)
    word = usual != NULL ? usual : "a4";
  if (strcmp (word, "a4") == 0)
    {
      *paper = QM_PAPER_A4;
      return TRUE;
    }
  if (strcmp (word, "letter") == 0)
    {
      *paper = QM_PAPER_LETTER;
      return TRUE;
    }

  g_set_error (error, QM_USAGE_ERROR, 0, _("--paper: \"%s\" is not known; use \"a4\" or \"letter\""), word);
  return FALSE;
}

/* The date on the report: of the day, or as reproducible builds ask for it. */
static char *
report_date (void)
{
  const char *epoch = g_getenv ("SOURCE_DATE_EPOCH");
  gint64 seconds;
  g_autoptr (GDateTime) now = NULL;

  if (epoch != NULL && g_ascii_string_to_signed (epoch, 10, 0, G_MAXINT32, &seconds, NULL))
    now = g_date_time_new_from_unix_utc (seconds);
  else
    now = g_date_time_new_now_utc ();

  return g_date_time_format (now, "%Y-%m-%d");
}

/**
 * qm_command_report:
 * @cli: the program
 * @arguments: `report PLAN -o FILE.pdf [--paper a4|letter] [--language L]`
 * @error: return location for an error
 *
 * Writes the report, whole or not at all.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_report (QmCli   *cli,
                   GStrv    arguments,
                   GError **error)
{
  g_autofree char *output = NULL;
  g_autofree char *paper_word = NULL;
  g_autofree char *language = NULL;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_("Write to FILE"), "FILE" },
    { "paper", 0, 0, G_OPTION_ARG_STRING, &paper_word, N_("a4 or letter"), "PAPER" },
    { "language", 0, 0, G_OPTION_ARG_STRING, &language, N_("Language of the report, e.g. zh_CN"), "LANGUAGE" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmRecommendation) recommendation = NULL;
  g_autofree char *date = report_date ();
  QmPaper paper;

  if (!qm_cli_parse (cli, &left, entries, 1, 1, error) || !parse_paper (paper_word, &paper, error))
    return FALSE;
  if (output == NULL)
    {
      g_set_error_literal (error, QM_USAGE_ERROR, 0, _("report: -o FILE.pdf is missing"));
      return FALSE;
    }
  if (language != NULL)
    qm_language_init (language);

  resolved = qm_cli_load_plan (cli, left[1], error);
  if (resolved == NULL || !qm_cli_size (cli, resolved, error))
    return FALSE;
  recommendation = qm_cli_recommend (cli, resolved, error);
  if (recommendation == NULL)
    return FALSE;

  return qm_report_write_file (cli->estimator, recommendation, qm_language_get_words (), qm_language_get_tag (), date,
                               paper, output, NULL, error);
}
