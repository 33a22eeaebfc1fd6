/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "history/qm-import.h"
#include "preferences/qm-preferences.h"
#include "probe/qm-recorder.h"
#include "qm-cli.h"

/* A GPU that is as busy as this works for somebody. */
#define BUSY_SHARE 0.02

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

typedef struct {
  const char *key;
  QmRange value;
} Prediction;

/* What the plan says would come out on this device. */
static void
predict (QmRun          *run,
         const QmChoice *choice)
{
  const QmEstimate *e = &choice->estimate;
  const Prediction predictions[] = {
    { "memory.per_device_bytes", e->memory.device },
    { "throughput.per_second", e->throughput.known ? e->throughput.per_second : QM_RANGE_UNKNOWN },
    { "throughput.step_seconds", e->throughput.known ? e->throughput.step_seconds : QM_RANGE_UNKNOWN },
    { "time.seconds", e->time.seconds },
    { "serving.first_token_seconds", e->serving.known ? e->serving.first_token_seconds : QM_RANGE_UNKNOWN },
    { "serving.decode_tokens_per_second", e->serving.known ? e->serving.decode_tokens_per_second : QM_RANGE_UNKNOWN },
    { "serving.prefill_tokens_per_second", e->serving.known ? e->serving.prefill_tokens_per_second : QM_RANGE_UNKNOWN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (predictions); i++)
    if (qm_range_is_known (predictions[i].value))
      qm_run_ensure_figure (run, predictions[i].key)->predicted = predictions[i].value;
}

/* The plan with what it runs on, so that it can be estimated again in the same way. */
static char *
plan_to_text (const QmResolved *resolved,
              const QmEstimate *estimate)
{
  g_autoptr (QmPlan) plan = qm_plan_copy (resolved->given);
  g_autofree char *text = NULL;
  g_autoptr (JsonNode) node = NULL;

  qm_word_set (plan->configuration.device, estimate->device->id);
  plan->configuration.devices = estimate->configuration.devices;
  plan->configuration.nodes = estimate->configuration.nodes;
  text = qm_plan_to_data (plan, NULL);
  node = json_from_string (text, NULL);

  return json_to_string (node, FALSE);
}

/* What the plan is run on: what it names, else what this computer has. */
static gboolean
settle_device (QmCli       *cli,
               QmResolved  *resolved,
               GError     **error)
{
  QmHere here = { 0 };
  const QmDevice *device = NULL;

  if (resolved->plan->configuration.device[0] != '\0')
    return TRUE;
  if (qm_cli_get_machine (cli, error) == NULL)
    return FALSE;

  qm_machine_get_here (cli->machine, &here);
  for (int i = 0; i < here.n_devices && device == NULL; i++)
    device = here.devices[i];
  if (device == NULL)
    device = here.cpu;
  if (device == NULL)
    {
      g_set_error_literal (error, QM_PLAN_ERROR, QM_PLAN_ERROR_MISSING,
                           _("configuration.device: the catalog knows no device of this computer; name the nearest one in the plan"));
      return FALSE;
    }
  qm_word_set (resolved->plan->configuration.device, device->id);
  qm_word_set (resolved->given->configuration.device, device->id);
  if (here.n_devices == 0)
    resolved->plan->configuration.cpu_cores = resolved->given->configuration.cpu_cores = here.cpu_cores;

  return TRUE;
}

static gboolean
apply_plan (QmCli       *cli,
            const char  *path,
            QmRun       *run,
            GError     **error)
{
  g_autoptr (QmResolved) resolved = qm_cli_load_plan (cli, path, error);
  QmChoice choice;
  gboolean ok;

  if (resolved == NULL || qm_cli_get_estimator (cli, error) == NULL || !settle_device (cli, resolved, error))
    return FALSE;

  ok = qm_estimate_pinned (cli->estimator, resolved, NULL, &choice, error);
  if (ok)
    {
      predict (run, &choice);
      run->plan = plan_to_text (resolved, &choice.estimate);
      run->device = g_strdup (choice.estimate.device->id);
      run->devices = choice.estimate.configuration.devices;
      run->model = g_strdup (resolved->plan->model.id[0] != '\0' ? resolved->plan->model.id : resolved->model->name);
      if (run->label[0] == '\0' && resolved->given->title[0] != '\0')
        g_set_str (&run->label, resolved->given->title);
    }
  else
    qm_plan_locate_error (path, *error);
  qm_choice_clear (&choice);

  return ok;
}

/* What the run was on, where no plan says it: the GPU that was busy. */
static void
name_device (QmCli *cli,
             QmRun *run)
{
  QmHere here = { 0 };
  const QmProbedCpu *cpu;

  if (qm_cli_get_machine (cli, NULL) == NULL)
    return;

  cpu = qm_machine_cpu (cli->machine);
  run->machine = g_strdup (cpu->model);
  qm_run_set_measured (run, "run.cores", cpu->usable_threads);
  if (run->device != NULL)
    return;

  qm_machine_get_here (cli->machine, &here);
  if (here.n_devices > 0 && qm_run_measured (run, "run.gpu_utilization") > BUSY_SHARE)
    {
      run->device = g_strdup (here.devices[0] != NULL ? here.devices[0]->id : qm_machine_device (cli->machine, 0)->name);
      run->devices = here.n_devices;
    }
  else
    {
      run->device = g_strdup (cpu->device != NULL ? cpu->device->id : cpu->model);
      run->devices = 1;
    }
}

/* Rates that a program prints are those of what the plan counts. */
static void
match_unit (QmRun *run)
{
  g_autoptr (JsonNode) node = run->plan != NULL ? json_from_string (run->plan, NULL) : NULL;
  JsonObject *training = node != NULL && json_object_has_member (json_node_get_object (node), "training")
                           ? json_object_get_object_member (json_node_get_object (node), "training") : NULL;
  double length = training != NULL ? json_object_get_double_member_with_default (training, "sequence_length", 0) : 0;
  double batch = training != NULL ? json_object_get_double_member_with_default (training, "global_batch", 0) : 0;
  double step = qm_run_measured (run, "throughput.step_seconds");
  double samples = g_strcmp0 (run->unit, "samples") == 0 ? qm_run_measured (run, "throughput.per_second") : NAN;

  if (isnan (samples) && isnan (qm_run_measured (run, "throughput.per_second")) && batch > 0)
    samples = batch / step;
  if (!isfinite (samples))
    return;

  qm_run_set_measured (run, "throughput.samples_per_second", samples);
  qm_run_set_measured (run, "throughput.per_second", length > 0 ? samples * length : samples);
  g_set_str (&run->unit, length > 0 ? "tokens" : "samples");
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

  match_unit (run);
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
  ledger = qm_cli_open_ledger (path, error);
  if (ledger == NULL)
    return FALSE;

  recorder.command = (const char * const *) command;
  recorder.interval_seconds = interval;
  recorder.timeout_seconds = timeout;
  recorder.echo = !cli->json;
  recorder.ledger = ledger;

  return record (cli, &recorder, run, error);
}
