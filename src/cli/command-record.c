/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "decide/qm-recording.h"
#include "history/qm-import.h"
#include "preferences/qm-preferences.h"
#include "probe/qm-recorder.h"
#include "probe/qm-own-ledger.h"
#include "qm-cli.h"

/* A handler of signals can reach nothing else. */
static volatile sig_atomic_t pending_signal;

/* What is typed at a terminal reaches the command anyway: it is passed on when
 * it comes from a process. */
static void
take_signal (int        number,
             siginfo_t *info,
             void      *context)
{
  if (info->si_code <= 0)
    pending_signal = number;
}

static void
catch_signals (void)
{
  const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
  struct sigaction action = { .sa_sigaction = take_signal, .sa_flags = SA_SIGINFO | SA_RESTART };

  sigemptyset (&action.sa_mask);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    sigaction (numbers[i], &action, NULL);
}

/* What this computer has, where somebody asks: a plan that names its device does not. */
static gboolean
look_here (QmCli             *cli,
           const QmResolved  *resolved,
           QmHere            *here,
           GError           **error)
{
  *here = (QmHere) { 0 };
  if (resolved != NULL && resolved->plan->configuration.device[0] != '\0')
    return TRUE;
  if (qm_cli_get_machine (cli, error) == NULL)
    return FALSE;

  qm_machine_get_here (cli->machine, here);
  return TRUE;
}

static gboolean
apply_plan (QmCli       *cli,
            const char  *path,
            QmRun       *run,
            GError     **error)
{
  g_autoptr (QmResolved) resolved = qm_cli_load_plan (cli, path, error);
  QmHere here;

  if (resolved == NULL || qm_cli_get_estimator (cli, error) == NULL || !look_here (cli, resolved, &here, error))
    return FALSE;
  if (qm_run_set_plan (run, cli->estimator, resolved, &here, error))
    return TRUE;

  qm_plan_locate_error (path, *error);
  return FALSE;
}

static void
name_device (QmCli *cli,
             QmRun *run)
{
  const char *gpu;
  QmHere here;

  if (!look_here (cli, NULL, &here, NULL))
    return;

  gpu = qm_machine_n_devices (cli->machine) > 0 ? qm_machine_device (cli->machine, 0)->name : NULL;
  qm_run_set_machine (run, &here, qm_machine_cpu (cli->machine)->model, gpu, qm_machine_cpu (cli->machine)->usable_threads);
}

static void
print_summary (QmCli             *cli,
               const QmRun       *run,
               const QmSeries    *series,
               const QmDiagnosis *diagnosis)
{
  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_run_to_json (run, series);

      qm_cli_print_json (node, TRUE);
    }
  else
    {
      g_print ("\n");
      qm_cli_print_run (run);
      qm_cli_print_diagnosis (diagnosis);
    }
}

/* What stands behind "--" is the command's, and none of our options. */
static void
split (GStrv  arguments,
       GStrv *own,
       GStrv *command)
{
  guint n = 0;

  while (arguments[n] != NULL && strcmp (arguments[n], "--") != 0)
    n++;
  *command = g_strdupv (arguments + n + (arguments[n] != NULL));
  *own = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    (*own)[i] = g_strdup (arguments[i]);
}

static gboolean
check (char   **command,
       double   interval,
       double   timeout,
       GError **error)
{
  if (command[0] == NULL)
    g_set_error_literal (error, QM_USAGE_ERROR, 0, _("record: the command is missing; it is used so: record [OPTIONS] -- COMMAND…"));
  else if (!(interval >= 0.1 && interval <= 3600) || !(timeout >= 0))
    g_set_error_literal (error, QM_USAGE_ERROR, 0, _("--interval: a number of seconds from 0.1 to 3600 is expected"));
  else
    return qm_cli_may_run_commands (error);

  return FALSE;
}

static gboolean
record (QmCli       *cli,
        QmRecorder  *recorder,
        QmRun       *run,
        GError     **error)
{
  g_autoptr (QmSeries) series = NULL;
  g_autoptr (QmDiagnosis) diagnosis = NULL;

  if (!qm_preferences_keep_commands ())
    g_set_str (&run->command, "");
  catch_signals ();
  if (!qm_recorder_run (recorder, run, &series, NULL, error))
    return FALSE;

  qm_run_match_unit (run);
  name_device (cli, run);
  diagnosis = qm_cli_diagnose (cli, run, series);
  if (recorder->ledger != NULL && !qm_ledger_update (recorder->ledger, run, error))
    return FALSE;
  print_summary (cli, run, series, diagnosis);
  cli->exit_status = run->exit_status;

  return TRUE;
}

/**
 * qm_command_record:
 * @cli: the program
 * @arguments: `record … -- COMMAND …`
 * @error: return location for an error
 *
 * Runs a command under observation and keeps what was measured.
 *
 * Returns: whether it was recorded; the command's own exit status is passed on
 */
gboolean
qm_command_record (QmCli   *cli,
                   GStrv    arguments,
                   GError **error)
{
  g_autofree char *label = NULL, *plan = NULL, *path = NULL, *uid = g_uuid_string_random ();
  double interval = 1, timeout = 0;
  const GOptionEntry entries[] = {
    { "label", 0, 0, G_OPTION_ARG_STRING, &label, N_("What to call the run"), "TEXT" },
    { "plan", 0, 0, G_OPTION_ARG_FILENAME, &plan, N_("What is run, to compare with its estimate"), "PLAN" },
    { "interval", 0, 0, G_OPTION_ARG_DOUBLE, &interval, N_("Seconds between two samples; usually 1"), "S" },
    { "timeout", 0, 0, G_OPTION_ARG_DOUBLE, &timeout, N_("Stop the command after so many seconds"), "S" },
    { "ledger", 0, 0, G_OPTION_ARG_FILENAME, &path, N_("Another file than the person's ledger"), "FILE" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) own = NULL;
  g_auto (GStrv) command = NULL;
  g_autoptr (QmLedger) ledger = NULL;
  g_autoptr (QmRun) run = qm_run_new (uid);
  QmRecorder recorder = { .sysroot = g_getenv ("QM_SYSROOT"), .signal = &pending_signal };

  cli->json = FALSE;
  split (arguments, &own, &command);
  if (!qm_cli_parse (cli, &own, entries, 0, 0, error) || !check (command, interval, timeout, error))
    return FALSE;
  if (label != NULL)
    g_set_str (&run->label, label);
  g_set_str (&cli->ledger, path);
  if (plan != NULL && !apply_plan (cli, plan, run, error))
    return FALSE;
  ledger = qm_own_ledger_open (path, error);
  if (ledger == NULL)
    return FALSE;

  recorder.command = (const char * const *) command;
  recorder.interval_seconds = interval;
  recorder.timeout_seconds = timeout;
  recorder.echo = !cli->json;
  recorder.ledger = ledger;

  return record (cli, &recorder, run, error);
}
