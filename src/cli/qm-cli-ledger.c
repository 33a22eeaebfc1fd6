/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-experience.h"
#include "decide/qm-recording.h"
#include "draw/qm-language.h"
#include "draw/qm-phrase-runs.h"
#include "probe/qm-own-ledger.h"
#include "qm-cli.h"
#include "qm-error.h"
#include "qm-json-writer.h"

/* ------------------------------------------------------------------------- for people */

static char *
local_time (gint64 time)
{
  g_autoptr (GDateTime) utc = g_date_time_new_from_unix_utc_usec (time);
  g_autoptr (GDateTime) local = utc != NULL ? g_date_time_to_local (utc) : NULL;

  return local != NULL ? g_date_time_format (local, "%Y-%m-%d %H:%M") : g_strdup ("");
}

/**
 * qm_cli_print_run_line:
 * @run: a run
 *
 * Prints a run on one line.
 */
void
qm_cli_print_run_line (const QmRun *run)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *started = local_time (run->started);
  g_autofree char *seconds = qm_format_seconds (words, run->seconds);
  double rate = qm_run_measured (run, "throughput.per_second");
  g_autofree char *throughput = isnan (rate) ? g_strdup ("") : g_strdup_printf ("%.4g %s/s", rate, run->unit != NULL ? run->unit : "");

  g_print ("%5" G_GINT64_FORMAT "  %s  %-*s  %*s  %-*s  %s\n", run->id, started, QM_COLUMN (12, qm_phrase_run_status (words, run->status)),
           QM_COLUMN (8, seconds), QM_COLUMN (18, throughput), run->label);
}

static void
print_figures (const QmRun *run)
{
  const QmWords *words = qm_language_get_words ();

  for (guint i = 0; i < run->figures->len; i++)
    {
      const QmFigure *figure = &g_array_index (run->figures, QmFigure, i);
      g_autofree char *measured = qm_phrase_figure (words, figure->key, figure->measured, run->unit);

      g_print ("  %-36s %s", figure->key, measured);
      if (qm_range_is_known (figure->predicted))
        {
          g_autofree char *p10 = qm_phrase_figure (words, figure->key, figure->predicted.p10, run->unit);
          g_autofree char *p50 = qm_phrase_figure (words, figure->key, figure->predicted.p50, run->unit);
          g_autofree char *p90 = qm_phrase_figure (words, figure->key, figure->predicted.p90, run->unit);

          /* Translators: an amount, and the range that was expected */
          g_print (_("   predicted %s (%s to %s)"), p50, p10, p90);
        }
      g_print ("\n");
    }
}

/**
 * qm_cli_print_run:
 * @run: a run
 *
 * Prints all that is known of a run.
 */
void
qm_cli_print_run (const QmRun *run)
{
  g_autofree char *started = local_time (run->started);
  const struct { const char *name; const char *text; } lines[] = {
    { _("Command"), run->command }, { _("Machine"), run->machine }, { _("Device"), run->device }, { _("Model"), run->model },
    { _("Note"), run->note },
  };

  g_print ("%" G_GINT64_FORMAT "  %s\n", run->id, run->label);
  g_print ("  %s, %s (%s)\n", started, qm_phrase_run_status (qm_language_get_words (), run->status), qm_run_source_to_word (run->source));
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    if (lines[i].text != NULL && lines[i].text[0] != '\0')
      g_print ("  %-*s %s\n", QM_COLUMN (10, lines[i].name), lines[i].text);
  if (run->tags->len > 0)
    {
      g_print ("  %-*s", QM_COLUMN (10, _("Tags")));
      for (guint i = 0; i < run->tags->len; i++)
        g_print (" %s", (char *) g_ptr_array_index (run->tags, i));
      g_print ("\n");
    }
  print_figures (run);
}

/* ----------------------------------------------------------------------- experience */

/**
 * qm_cli_learn:
 * @cli: the program, which has an estimator
 * @error: return location for an error
 *
 * From now on estimates are corrected by the person's own runs. A ledger that
 * was not asked for and cannot be read is said so, and no error.
 *
 * Returns: whether it worked
 */
gboolean
qm_cli_learn (QmCli   *cli,
              GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (QmLedger) ledger = NULL;
  g_autoptr (QmExperience) experience = NULL;
  QmEstimator *calibrated;

  cli->plain = TRUE;
  if (cli->ledger == NULL && !qm_own_ledger_exists ())
    return TRUE;

  ledger = qm_own_ledger_open (cli->ledger, &local_error);
  if (ledger != NULL)
    experience = qm_experience_new (ledger, cli->estimator, g_get_real_time (), &local_error);
  if (experience == NULL && cli->ledger != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }
  if (experience == NULL)
    {
      g_autofree char *text = qm_error_get_text (local_error, qm_language_get_words ());

      g_printerr ("quartermaster-cli: %s\n", text);
      return TRUE;
    }

  cli->past_runs = g_ptr_array_ref (experience->past_runs);
  calibrated = qm_estimator_calibrate (cli->estimator, experience->calibration);
  g_set_object (&cli->estimator, calibrated);
  g_object_unref (calibrated);

  return TRUE;
}

/* ------------------------------------------------------------------------- diagnosis */

/**
 * qm_cli_diagnose:
 * @cli: the program
 * @run: (inout): a run; is given its diagnosis
 * @series: what was measured over its time
 *
 * Returns: (transfer full): what holds it up
 */
QmDiagnosis *
qm_cli_diagnose (QmCli          *cli,
                 QmRun          *run,
                 const QmSeries *series)
{
  return qm_run_diagnose (run, series, run->plan != NULL ? qm_cli_get_estimator (cli, NULL) : NULL);
}

/**
 * qm_cli_print_diagnosis:
 * @diagnosis: a diagnosis
 *
 * Prints it for people.
 */
void
qm_cli_print_diagnosis (const QmDiagnosis *diagnosis)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *text = qm_message_get_text (diagnosis->message, words);
  g_autofree char *confidence = qm_format_percent (words, diagnosis->confidence);

  /* Translators: what holds a run up, and how sure that is */
  g_print (_("\n%s (%s sure)\n"), text, confidence);
  for (guint i = 0; i < diagnosis->evidence->len; i++)
    qm_cli_print_message (g_ptr_array_index (diagnosis->evidence, i));
  for (guint i = 0; i < diagnosis->cures->len; i++)
    {
      const QmCure *cure = &g_array_index (diagnosis->cures, QmCure, i);
      g_autofree char *cure_text = qm_message_get_text (cure->message, words);
      g_autofree char *gain = qm_format_factor (words, cure->gain);

      g_print ("  → %s", cure_text);
      if (isfinite (cure->gain))
        /* Translators: a factor, as in "up to 1.8×" */
        g_print (_(": up to %s as fast"), gain);
      g_print ("\n");
    }
}
