/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Real commands under observation. */

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "probe/qm-recorder.h"

typedef struct {
  char *folder;
  char *path;
  QmLedger *ledger;
  QmRun *run;
  QmSeries *series;
} Fixture;

static void
set_up (Fixture       *self,
        gconstpointer  data)
{
  self->folder = g_dir_make_tmp (NULL, NULL);
  self->path = g_build_filename (self->folder, "ledger.db", NULL);
  self->ledger = qm_ledger_open (self->path, NULL);
  self->run = qm_run_new ("a");
}

static void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  const char *names[] = { "ledger.db", "ledger.db-wal", "ledger.db-shm" };

  g_clear_object (&self->ledger);
  qm_run_free (self->run);
  qm_series_free (self->series);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (self->folder, names[i], NULL);

      g_remove (path);
    }
  g_rmdir (self->folder);
  g_free (self->folder);
  g_free (self->path);
}

static QmRecorder
recorder_for (Fixture            *self,
              const char * const *command)
{
  return (QmRecorder) { .command = command, .interval_seconds = 0.1, .ledger = self->ledger };
}

static void
record (Fixture      *self,
        QmRecorder   *recorder,
        GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (qm_recorder_run (recorder, self->run, &self->series, cancellable, &error));
  g_assert_no_error (error);
}

static double
most_of (Fixture    *self,
         const char *channel)
{
  QmSeriesSummary summary;

  qm_series_summarise (self->series, qm_series_find (self->series, channel), 0, G_MAXDOUBLE, &summary);
  return summary.most;
}

static void
test_progress (Fixture       *self,
               gconstpointer  data)
{
  const char *command[] = { "sh", "-c", "sleep 0.3; for i in 1 2 3 4 5; do echo iter $i: loss 2.$i, time 50ms; sleep 0.15; done; exit 7", NULL };
  QmRecorder recorder = recorder_for (self, command);
  g_autoptr (QmRun) kept = NULL;
  g_autoptr (QmSeries) series = NULL;

  record (self, &recorder, NULL);
  g_assert_cmpint (self->run->exit_status, ==, 7);
  g_assert_cmpint (self->run->status, ==, QM_RUN_STATUS_FAILED);
  g_assert_cmpfloat (qm_run_measured (self->run, "throughput.step_seconds"), ==, 0.05);
  g_assert_cmpfloat (qm_run_measured (self->run, "run.warm_up_seconds"), >=, 0.3);
  g_assert_cmpfloat (self->run->seconds, >=, 1);
  g_assert_cmpfloat (most_of (self, "loss"), ==, 2.5f);

  kept = qm_ledger_get (self->ledger, self->run->id, NULL);
  g_assert_cmpint (kept->status, ==, QM_RUN_STATUS_FAILED);
  g_assert_true (g_str_has_prefix (kept->command, "sh -c '"));
  series = qm_ledger_get_series (self->ledger, self->run->id, NULL);
  g_assert_cmpuint (qm_series_length (series), ==, qm_series_length (self->series));
}

/* Steps that are only counted: one in a fifth of a second. */
static void
test_steps (Fixture       *self,
            gconstpointer  data)
{
  const char *command[] = { "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo step $i; sleep 0.2; done", NULL };
  QmRecorder recorder = recorder_for (self, command);

  record (self, &recorder, NULL);
  g_assert_cmpfloat (qm_run_measured (self->run, "throughput.step_seconds"), >, 0.15);
  g_assert_cmpfloat (qm_run_measured (self->run, "throughput.step_seconds"), <, 0.6);
}

/* What its children use is its own use, also when they have ended. */
static void
test_tree (Fixture       *self,
           gconstpointer  data)
{
  const char *command[] = { "sh", "-c", "(sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'); sleep 0.3", NULL };
  QmRecorder recorder = recorder_for (self, command);
  double seconds = 0;

  record (self, &recorder, NULL);
  g_assert_cmpint (self->run->status, ==, QM_RUN_STATUS_FINISHED);
  /* a crowded computer gives little, and nothing of it is the shell's that waits */
  g_assert_cmpfloat (most_of (self, "process_cpu_cores"), >, 0.05);
  g_assert_cmpfloat (most_of (self, "process_cpu_cores"), <, 2);
  for (guint i = 1; i < qm_series_length (self->series); i++)
    {
      float cores = qm_series_value (self->series, i, qm_series_find (self->series, "process_cpu_cores"));

      if (isfinite (cores))
        seconds += cores * (g_array_index (self->series->times, double, i) - g_array_index (self->series->times, double, i - 1));
    }
  g_assert_cmpfloat (seconds, >, 0.1);
  g_assert_cmpfloat (seconds, <, self->run->seconds);
}

static void
test_timeout (Fixture       *self,
              gconstpointer  data)
{
  const char *command[] = { "sh", "-c", "sleep 60 & sleep 60", NULL };
  QmRecorder recorder = recorder_for (self, command);

  recorder.timeout_seconds = 0.3;
  record (self, &recorder, NULL);
  g_assert_cmpint (self->run->status, ==, QM_RUN_STATUS_TIMED_OUT);
  g_assert_cmpint (self->run->exit_status, ==, 128 + SIGTERM);
  g_assert_cmpfloat (self->run->seconds, <, 10);
}

static gboolean
cancel (gpointer data)
{
  g_usleep (300000);
  g_cancellable_cancel (data);
  return FALSE;
}

static gpointer
cancel_in_thread (gpointer data)
{
  cancel (data);
  return NULL;
}

static void
test_stop (Fixture       *self,
           gconstpointer  data)
{
  const char *command[] = { "sleep", "60", NULL };
  QmRecorder recorder = recorder_for (self, command);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GThread *thread = g_thread_new (NULL, cancel_in_thread, cancellable);

  record (self, &recorder, cancellable);
  g_thread_join (thread);
  g_assert_cmpint (self->run->status, ==, QM_RUN_STATUS_STOPPED);
}

/* A program that ends in its own way when it is interrupted. */
static void
test_signal (Fixture       *self,
             gconstpointer  data)
{
  const char *command[] = { "sh", "-c", "trap 'exit 5' INT; while :; do sleep 0.05; done", NULL };
  volatile sig_atomic_t pending = 0;
  QmRecorder recorder = recorder_for (self, command);

  recorder.signal = &pending;
  pending = SIGINT;
  /* a shell that has not yet set its trap dies of it: both are right */
  record (self, &recorder, NULL);
  g_assert_cmpint (pending, ==, 0);
  g_assert_cmpint (self->run->status, ==, QM_RUN_STATUS_STOPPED);
  g_assert_true (self->run->exit_status == 5 || self->run->exit_status == 128 + SIGINT);
}

static void
test_out_of_memory (Fixture       *self,
                    gconstpointer  data)
{
  const char *command[] = { "sh", "-c", "echo 'torch.OutOfMemoryError: CUDA out of memory.' >&2; exit 1", NULL };
  QmRecorder recorder = recorder_for (self, command);

  record (self, &recorder, NULL);
  g_assert_cmpint (self->run->status, ==, QM_RUN_STATUS_OUT_OF_MEMORY);
}

static void
test_no_command (Fixture       *self,
                 gconstpointer  data)
{
  const char *command[] = { "no-such-program-anywhere", NULL };
  QmRecorder recorder = recorder_for (self, command);
  g_autoptr (GError) error = NULL;

  g_assert_false (qm_recorder_run (&recorder, self->run, &self->series, NULL, &error));
  g_assert_error (error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT);
  g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, 0);
}

/* Even one that is over before the first look is kept. */
static void
test_short (Fixture       *self,
            gconstpointer  data)
{
  const char *command[] = { "true", NULL };
  QmRecorder recorder = recorder_for (self, command);

  record (self, &recorder, NULL);
  g_assert_cmpint (self->run->status, ==, QM_RUN_STATUS_FINISHED);
  g_assert_cmpuint (qm_series_length (self->series), >=, 1);
  g_assert_cmpfloat (qm_run_measured (self->run, "memory.host_bytes"), >, 0);
}

#define ADD(name, function) g_test_add ("/probe/recorder/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("progress", test_progress);
  ADD ("steps", test_steps);
  ADD ("tree", test_tree);
  ADD ("timeout", test_timeout);
  ADD ("stop", test_stop);
  ADD ("signal", test_signal);
  ADD ("out-of-memory", test_out_of_memory);
  ADD ("no-command", test_no_command);
  ADD ("short", test_short);

  return g_test_run ();
}
