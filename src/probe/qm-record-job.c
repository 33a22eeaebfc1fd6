/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-record-job.h"

#include <string.h>

#include "decide/qm-recording.h"
#include "probe/qm-own-ledger.h"
#include "probe/qm-recorder.h"
#include "qm-context.h"

struct _QmRecordJob {
  GObject parent_instance;

  GCancellable *cancellable;
  gboolean discarded;
  GMainContext *context;

  /* the thread's until it has ended */
  GStrv command;
  char *directory;
  char *ledger;
  double timeout_seconds;
  QmEstimator *estimator;
  QmMachine *machine;
  QmRun *run;
  QmDiagnosis *diagnosis;
  GError *error;

  /* the main context's */
  gboolean ended;
  double seconds;
  QmProgress progress;
  QmWatcher *watcher;
};

G_DEFINE_FINAL_TYPE (QmRecordJob, qm_record_job, G_TYPE_OBJECT)

enum { UPDATED, ENDED, N_SIGNALS };

static guint signals[N_SIGNALS];

/* How far it is, on its way to the main context. */
typedef struct {
  QmRecordJob *job;
  GStrv channels;
  float *values;
  double seconds;
  QmProgress progress;
} Update;

static void
update_free (Update *self)
{
  g_object_unref (self->job);
  g_strfreev (self->channels);
  g_free (self->values);
  g_free (self);
}

static gboolean
take_update (gpointer data)
{
  Update *update = data;
  QmRecordJob *self = update->job;

  if (self->watcher == NULL)
    self->watcher = qm_watcher_new_fed ((const char * const *) update->channels);
  self->seconds = update->seconds;
  self->progress = update->progress;
  qm_watcher_push (self->watcher, g_get_monotonic_time () / 1e6, update->values);
  g_signal_emit (self, signals[UPDATED], 0);

  return G_SOURCE_REMOVE;
}

/* In the thread. */
static void
recorded (const QmRecorderState *state,
          gpointer               data)
{
  QmRecordJob *self = data;
  const QmSeries *series = state->series;
  guint n = series->channels->len, last = qm_series_length (series) - 1;
  Update *update = g_new0 (Update, 1);

  update->job = g_object_ref (self);
  update->channels = g_new0 (char *, n + 1);
  update->values = g_new (float, n);
  update->seconds = state->seconds;
  update->progress = *state->progress;
  for (guint i = 0; i < n; i++)
    {
      update->channels[i] = g_strdup (g_ptr_array_index (series->channels, i));
      update->values[i] = qm_series_value (series, last, (int) i);
    }
  qm_context_send (self->context, take_update, update, (GDestroyNotify) update_free);
}

static gboolean
take_end (gpointer data)
{
  QmRecordJob *self = data;

  self->ended = TRUE;
  g_signal_emit (self, signals[ENDED], 0);

  return G_SOURCE_REMOVE;
}

static void
name_machine (QmRecordJob *self)
{
  const char *gpu;
  QmHere here;

  if (self->machine == NULL)
    return;

  qm_machine_get_here (self->machine, &here);
  gpu = qm_machine_n_devices (self->machine) > 0 ? qm_machine_device (self->machine, 0)->name : NULL;
  qm_run_set_machine (self->run, &here, qm_machine_cpu (self->machine)->model, gpu, qm_machine_cpu (self->machine)->usable_threads);
}

static gboolean
record (QmRecordJob  *self,
        GError      **error)
{
  QmRecorder recorder = { .command = (const char * const *) self->command, .directory = self->directory, .interval_seconds = 1,
                          .timeout_seconds = self->timeout_seconds, .sysroot = g_getenv ("QM_SYSROOT"), .update = recorded, .data = self };
  g_autoptr (QmLedger) ledger = qm_own_ledger_open (self->ledger, error);
  g_autoptr (QmSeries) series = NULL;

  if (ledger == NULL)
    return FALSE;
  recorder.ledger = ledger;
  if (!qm_recorder_run (&recorder, self->run, &series, self->cancellable, error))
    return FALSE;
  if (self->discarded)
    return qm_ledger_remove (ledger, self->run->id, g_get_real_time (), error);

  qm_run_match_unit (self->run);
  name_machine (self);
  self->diagnosis = qm_run_diagnose (self->run, series, self->estimator);

  return qm_ledger_update (ledger, self->run, error);
}

static gpointer
work (gpointer data)
{
  QmRecordJob *self = data;

  record (self, &self->error);
  qm_context_send (self->context, take_end, self, g_object_unref);

  return NULL;
}

static void
qm_record_job_finalize (GObject *object)
{
  QmRecordJob *self = QM_RECORD_JOB (object);

  g_object_unref (self->cancellable);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_strfreev (self->command);
  g_free (self->directory);
  g_free (self->ledger);
  g_clear_object (&self->estimator);
  g_clear_object (&self->machine);
  g_clear_object (&self->watcher);
  g_clear_pointer (&self->run, qm_run_free);
  g_clear_pointer (&self->diagnosis, qm_diagnosis_free);
  g_clear_error (&self->error);

  G_OBJECT_CLASS (qm_record_job_parent_class)->finalize (object);
}

static void
qm_record_job_class_init (QmRecordJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_record_job_finalize;

  signals[UPDATED] = g_signal_new ("updated", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[ENDED] = g_signal_new ("ended", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_record_job_init (QmRecordJob *self)
{
  self->cancellable = g_cancellable_new ();
  qm_progress_clear (&self->progress);
}

/* What only a shell understands goes to one. */
static GStrv
split_command (const char  *text,
               GError     **error)
{
  const char *shell[] = { "sh", "-c", text, NULL };
  GStrv command = NULL;

  if (strpbrk (text, "|&;<>()$`*?[]~\n") != NULL || (strchr (text, '=') != NULL && strchr (text, '=') < text + strcspn (text, " ")))
    return g_strdupv ((char **) shell);
  if (!g_shell_parse_argv (text, NULL, &command, error))
    return NULL;

  return command;
}

static char *
label_of (const char *text)
{
  g_autofree char *line = g_strndup (text, strcspn (text, "\n"));

  return g_utf8_strlen (line, -1) <= 60 ? g_steal_pointer (&line) : g_utf8_substring (line, 0, 60);
}

static gboolean
set_plan (QmRecordJob           *self,
          const QmRecordOptions *options,
          GError               **error)
{
  g_autoptr (QmResolved) resolved = NULL;
  QmHere here = { 0 };

  if (options->resolved == NULL)
    return TRUE;

  resolved = qm_resolved_copy (options->resolved);
  if (options->machine != NULL)
    qm_machine_get_here (options->machine, &here);

  return qm_run_set_plan (self->run, options->estimator, resolved, &here, error);
}

/**
 * qm_record_job_start:
 * @options: what to record; nothing of it is needed afterwards
 * @error: return location for an error
 *
 * Runs a command under observation. What can be wrong before it runs is said at
 * once; what goes wrong later, when it has ended.
 *
 * Returns: (transfer full) (nullable): the recording
 */
QmRecordJob *
qm_record_job_start (const QmRecordOptions  *options,
                     GError                **error)
{
  g_autoptr (QmRecordJob) self = g_object_new (QM_TYPE_RECORD_JOB, NULL);
  g_autofree char *uid = g_uuid_string_random ();
  GThread *thread;

  self->run = qm_run_new (uid);
  self->command = split_command (options->command, error);
  if (self->command == NULL || !set_plan (self, options, error))
    return NULL;

  if (self->run->label[0] == '\0')
    {
      g_free (self->run->label);
      self->run->label = label_of (options->command);
    }
  self->run->command = g_strdup (options->command);
  self->directory = g_strdup (options->directory);
  self->ledger = g_strdup (options->ledger);
  self->timeout_seconds = options->timeout_seconds;
  g_set_object (&self->estimator, options->estimator);
  g_set_object (&self->machine, options->machine);
  self->context = g_main_context_ref_thread_default ();
  thread = g_thread_new ("recorder", work, g_object_ref (self));
  g_thread_unref (thread);

  return g_steal_pointer (&self);
}

/**
 * qm_record_job_stop:
 * @self: a recording
 *
 * Asks the command to end; what was recorded is kept.
 */
void
qm_record_job_stop (QmRecordJob *self)
{
  g_cancellable_cancel (self->cancellable);
}

/**
 * qm_record_job_discard:
 * @self: a recording
 *
 * Asks the command to end, and removes the run from the ledger.
 */
void
qm_record_job_discard (QmRecordJob *self)
{
  self->discarded = TRUE;
  g_cancellable_cancel (self->cancellable);
}

double
qm_record_job_get_seconds (QmRecordJob *self)
{
  return self->seconds;
}

const QmProgress *
qm_record_job_get_progress (QmRecordJob *self)
{
  return &self->progress;
}

/**
 * qm_record_job_get_watcher:
 * @self: a recording
 *
 * Returns: (transfer none) (nullable): its samples; %NULL before the first
 */
QmWatcher *
qm_record_job_get_watcher (QmRecordJob *self)
{
  return self->watcher;
}

gboolean
qm_record_job_has_ended (QmRecordJob *self)
{
  return self->ended;
}

/**
 * qm_record_job_get_error:
 * @self: a recording that has ended
 *
 * Returns: (transfer none) (nullable): why it could not be recorded
 */
const GError *
qm_record_job_get_error (QmRecordJob *self)
{
  return self->error;
}

/**
 * qm_record_job_get_run:
 * @self: a recording
 *
 * Returns: (transfer none): the run; its figures are there when it has ended
 */
const QmRun *
qm_record_job_get_run (QmRecordJob *self)
{
  return self->run;
}

/**
 * qm_record_job_get_diagnosis:
 * @self: a recording that has ended
 *
 * Returns: (transfer none) (nullable): what held it up; %NULL where it was discarded
 */
const QmDiagnosis *
qm_record_job_get_diagnosis (QmRecordJob *self)
{
  return self->diagnosis;
}
