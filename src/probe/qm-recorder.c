/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "history/qm-channels.h"
#include "history/qm-summary.h"
#include "probe/qm-process-tree.h"
#include "probe/qm-sampler.h"

/* How often it is seen whether the processes wait for storage. */
#define TICK_MILLISECONDS 100

/* Between asking it to end and ending it. */
#define GRACE (10 * G_TIME_SPAN_SECOND)

/* Something it has started may hold its output open when it has ended. */
#define DRAIN_MILLISECONDS 200

/* channels behind those of the sampler */
enum {
  PROCESS_CPU,
  PROCESS_MEMORY,
  PROCESS_READ,
  PROCESS_WRITE,
  PROCESS_WAITING,
  PROCESS_FAULTS,
  SAID_STEP,
  SAID_LOSS,
  SAID_STEPS,
  SAID_SAMPLES,
  SAID_TOKENS,
  N_OWN_CHANNELS,
};

static const char * const own_channels[N_OWN_CHANNELS] = {
  QM_CHANNEL_PROCESS_CPU, QM_CHANNEL_PROCESS_MEMORY, QM_CHANNEL_PROCESS_READ, QM_CHANNEL_PROCESS_WRITE, QM_CHANNEL_PROCESS_WAITING,
  QM_CHANNEL_PROCESS_FAULTS, QM_CHANNEL_STEP, QM_CHANNEL_LOSS, QM_CHANNEL_STEPS, QM_CHANNEL_SAMPLES, QM_CHANNEL_TOKENS,
};

typedef struct {
  const QmRecorder *options;
  QmRun *run;
  QmSeries *series;
  QmSampler *sampler;
  QmProcessTree *tree;
  QmProgressReader *readers[2];
  QmProgress said;                  /* since the last sample */
  QmProgress latest;                /* ever */
  QmProcessUse use;                 /* at the last sample */
  GPid pid;
  int outputs[2];                   /* -1: at its end */
  gint64 began, sampled, next_tick, next_sample;
  gint64 asked;                     /* when it was asked to end; 0 not */
  QmRunStatus stopped_by;
  int ticks, waiting;               /* since the last sample */
  float *values;
  gboolean ended;
  int wait_status;
  struct rusage usage;
} Recording;

/* --------------------------------------------------------------------------- begin */

/* A terminal for what would print to one: progress bars need it. */
static gboolean
make_output (int  like,
             int *inner,
             int *outer)
{
  int ends[2];

  if (isatty (like) && openpty (&ends[0], &ends[1], NULL, NULL, NULL) == 0)
    {
      *outer = ends[0];
      *inner = ends[1];
    }
  else if (g_unix_open_pipe (ends, O_CLOEXEC, NULL))
    {
      *outer = ends[0];
      *inner = ends[1];
    }
  else
    return FALSE;

  fcntl (*outer, F_SETFD, FD_CLOEXEC);
  fcntl (*inner, F_SETFD, FD_CLOEXEC);
  g_unix_set_fd_nonblocking (*outer, TRUE, NULL);

  return TRUE;
}

static gboolean
spawn (Recording  *self,
       GError    **error)
{
  /* Python keeps its output back where it goes into a pipe. */
  g_auto (GStrv) environment = g_environ_setenv (g_get_environ (), "PYTHONUNBUFFERED", "1", FALSE);
  int inner[2] = { -1, -1 };
  gboolean ok;

  if (!make_output (STDOUT_FILENO, &inner[0], &self->outputs[0]) || !make_output (STDERR_FILENO, &inner[1], &self->outputs[1]))
    {
      g_set_error_literal (error, G_IO_ERROR, g_io_error_from_errno (errno), g_strerror (errno));
      ok = FALSE;
    }
  else
    ok = g_spawn_async_with_fds (self->options->directory, (char **) self->options->command, environment,
                                 G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, &self->pid, -1,
                                 inner[0], inner[1], error);
  for (int i = 0; i < 2; i++)
    if (inner[i] >= 0)
      close (inner[i]);

  return ok;
}

static QmSeries *
make_series (QmSampler *sampler)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_auto (GStrv) channels = NULL;

  g_strv_builder_addv (names, (const char **) qm_sampler_get_channels (sampler));
  for (int i = 0; i < N_OWN_CHANNELS; i++)
    g_strv_builder_add (names, own_channels[i]);
  channels = g_strv_builder_end (names);

  return qm_series_new ((const char * const *) channels);
}

static char *
written_out (const char * const *command)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; command[i] != NULL; i++)
    {
      g_autofree char *quoted = command[i][strcspn (command[i], " \t\n\"'\\$`*?;&|<>()")] != '\0' ? g_shell_quote (command[i]) : g_strdup (command[i]);

      g_string_append_printf (text, "%s%s", i > 0 ? " " : "", quoted);
    }

  return g_utf8_make_valid (text->str, -1);
}

static gboolean
begin (Recording  *self,
       GError    **error)
{
  const QmRecorder *options = self->options;
  g_autofree char *name = g_path_get_basename (options->command[0]);

  self->sampler = qm_sampler_new (options->sysroot, options->interval_seconds);
  self->series = make_series (self->sampler);
  self->values = g_new (float, self->series->channels->len);
  qm_progress_clear (&self->said);
  qm_progress_clear (&self->latest);
  for (int i = 0; i < 2; i++)
    self->readers[i] = qm_progress_reader_new ();
  qm_sampler_sample (self->sampler, g_get_monotonic_time (), self->values);
  if (!spawn (self, error))
    return FALSE;

  self->tree = qm_process_tree_new (self->pid);
  self->began = self->sampled = g_get_monotonic_time ();
  self->run->started = g_get_real_time ();
  self->run->status = QM_RUN_STATUS_RUNNING;
  self->run->source = QM_RUN_SOURCE_RECORDED;
  if (self->run->command == NULL)
    self->run->command = written_out (options->command);
  if (self->run->label[0] == '\0')
    g_set_str (&self->run->label, name);

  return options->ledger == NULL || qm_ledger_add (options->ledger, self->run, self->series, error);
}

/* -------------------------------------------------------------------------- output */

static void
write_all (int         fd,
           const char *data,
           gsize       length)
{
  while (length > 0)
    {
      gssize n = write (fd, data, length);

      if (n < 0 && errno != EINTR && errno != EAGAIN)
        return;
      data += MAX (n, 0);
      length -= MAX (n, 0);
    }
}

static gboolean
read_output (Recording *self,
             int        which)
{
  char piece[8192];
  gssize n = read (self->outputs[which], piece, sizeof piece);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return FALSE;
  if (n <= 0)
    {
      /* a terminal whose other end is gone says so by an error */
      close (self->outputs[which]);
      self->outputs[which] = -1;
      return FALSE;
    }
  if (self->options->echo)
    write_all (which == 0 ? STDOUT_FILENO : STDERR_FILENO, piece, n);
  qm_progress_reader_feed (self->readers[which], piece, n, &self->said);

  return TRUE;
}

static void
wait_for_output (Recording *self,
                 int        milliseconds)
{
  struct pollfd fds[2] = { { self->outputs[0], POLLIN, 0 }, { self->outputs[1], POLLIN, 0 } };

  if (poll (fds, 2, milliseconds) <= 0)
    return;
  for (int i = 0; i < 2; i++)
    if (fds[i].fd >= 0 && fds[i].revents != 0)
      read_output (self, i);
}

static void
drain (Recording *self)
{
  gint64 end = g_get_monotonic_time () + DRAIN_MILLISECONDS * G_TIME_SPAN_MILLISECOND;

  while ((self->outputs[0] >= 0 || self->outputs[1] >= 0) && g_get_monotonic_time () < end)
    wait_for_output (self, DRAIN_MILLISECONDS / 4);
}

/* ------------------------------------------------------------------------- samples */

static float
rate (double before,
      double now,
      double seconds)
{
  return seconds > 0 ? (float) (MAX (now - before, 0) / seconds) : NAN;
}

static void
keep_latest (Recording *self)
{
  double *to[] = { &self->latest.step, &self->latest.steps, &self->latest.loss, &self->latest.steps_per_second,
                   &self->latest.samples_per_second, &self->latest.tokens_per_second };
  const double from[] = { self->said.step, self->said.steps, self->said.loss, self->said.steps_per_second,
                          self->said.samples_per_second, self->said.tokens_per_second };

  for (guint i = 0; i < G_N_ELEMENTS (to); i++)
    if (!isnan (from[i]))
      *to[i] = from[i];
  self->latest.out_of_memory |= self->said.out_of_memory;
  qm_progress_clear (&self->said);
}

static void
fill_own (Recording          *self,
          float              *own,
          const QmProcessUse *use,
          double              seconds)
{
  own[PROCESS_CPU] = rate (self->use.cpu_seconds, use->cpu_seconds, seconds);
  own[PROCESS_MEMORY] = use->processes > 0 ? (float) use->memory_bytes : NAN;
  own[PROCESS_READ] = rate (self->use.read_bytes, use->read_bytes, seconds);
  own[PROCESS_WRITE] = rate (self->use.written_bytes, use->written_bytes, seconds);
  own[PROCESS_WAITING] = self->ticks > 0 ? (float) self->waiting / self->ticks : NAN;
  own[PROCESS_FAULTS] = rate (self->use.major_faults, use->major_faults, seconds);
  own[SAID_STEP] = (float) self->said.step;
  own[SAID_LOSS] = (float) self->said.loss;
  own[SAID_STEPS] = (float) self->said.steps_per_second;
  own[SAID_SAMPLES] = (float) self->said.samples_per_second;
  own[SAID_TOKENS] = (float) self->said.tokens_per_second;
}

static gboolean
sample (Recording  *self,
        gint64      now,
        GError    **error)
{
  double at = (now - self->began) / 1e6;
  guint n = self->series->channels->len;
  QmProcessUse use;
  QmRecorderState state = { self->run->id, at, self->series, &self->latest };

  qm_sampler_sample (self->sampler, now, self->values);
  qm_process_tree_look (self->tree, now, &use);
  /* when all have ended, what they have used is not to be had any more */
  if (use.processes == 0)
    use = self->use;
  fill_own (self, self->values + n - N_OWN_CHANNELS, &use, use.processes > 0 ? (now - self->sampled) / 1e6 : 0);
  if (use.processes > 0)
    self->use = use;
  self->sampled = now;
  self->ticks = self->waiting = 0;
  keep_latest (self);
  qm_series_append (self->series, at, self->values);
  if (self->options->ledger != NULL && !qm_ledger_add_sample (self->options->ledger, self->run->id, at, self->values, n, error))
    return FALSE;

  if (self->options->update != NULL)
    self->options->update (&state, self->options->data);
  return TRUE;
}

static void
tick (Recording *self)
{
  int processes = 0, waiting = 0;

  qm_process_tree_states (self->tree, &processes, &waiting);
  self->ticks += processes > 0;
  self->waiting += waiting > 0;
}

/* ----------------------------------------------------------------------------- end */

static void
ask_to_end (Recording   *self,
            gint64       now,
            QmRunStatus  why)
{
  if (self->asked > 0)
    return;

  self->asked = now;
  self->stopped_by = why;
  qm_process_tree_signal (self->tree, SIGTERM);
}

static void
watch_for_ends (Recording    *self,
                gint64        now,
                GCancellable *cancellable)
{
  const QmRecorder *options = self->options;
  int pending = options->signal != NULL ? *options->signal : 0;

  if (pending != 0)
    {
      *options->signal = 0;
      self->stopped_by = QM_RUN_STATUS_STOPPED;
      kill (self->pid, pending);
    }
  if (g_cancellable_is_cancelled (cancellable))
    ask_to_end (self, now, QM_RUN_STATUS_STOPPED);
  if (options->timeout_seconds > 0 && now - self->began > options->timeout_seconds * G_TIME_SPAN_SECOND)
    ask_to_end (self, now, QM_RUN_STATUS_TIMED_OUT);
  if (self->asked > 0 && now - self->asked > GRACE)
    qm_process_tree_signal (self->tree, SIGKILL);

  if (wait4 (self->pid, &self->wait_status, WNOHANG, &self->usage) == self->pid)
    self->ended = TRUE;
}

static gboolean
go_on (Recording     *self,
       GCancellable  *cancellable,
       GError       **error)
{
  gint64 interval = (gint64) (self->options->interval_seconds * G_TIME_SPAN_SECOND);

  self->next_sample = self->began + interval;
  self->next_tick = self->began;
  while (!self->ended)
    {
      gint64 now = g_get_monotonic_time ();

      if (now >= self->next_tick)
        {
          tick (self);
          watch_for_ends (self, now, cancellable);
          self->next_tick = now + MIN (TICK_MILLISECONDS * G_TIME_SPAN_MILLISECOND, interval);
        }
      if (now >= self->next_sample)
        {
          if (!sample (self, now, error))
            return FALSE;
          self->next_sample = MAX (self->next_sample + interval, now + interval / 2);
        }
      if (!self->ended)
        wait_for_output (self, (int) CLAMP ((MIN (self->next_tick, self->next_sample) - g_get_monotonic_time ()) / 1000, 1, TICK_MILLISECONDS));
    }
  drain (self);

  return sample (self, g_get_monotonic_time (), error);
}

static int
exit_status_of (int wait_status)
{
  return WIFEXITED (wait_status) ? WEXITSTATUS (wait_status) : 128 + WTERMSIG (wait_status);
}

static QmRunStatus
status_of (Recording *self)
{
  if (self->stopped_by != QM_RUN_STATUS_UNSET)
    return self->stopped_by;
  if (self->run->exit_status == 0)
    return QM_RUN_STATUS_FINISHED;
  /* the kernel takes what fills the memory by this signal */
  if (self->latest.out_of_memory || self->run->exit_status == 128 + SIGKILL)
    return QM_RUN_STATUS_OUT_OF_MEMORY;

  return QM_RUN_STATUS_FAILED;
}

static gboolean
conclude (Recording  *self,
          GError    **error)
{
  double largest = self->usage.ru_maxrss * 1024.0;

  self->run->seconds = g_array_index (self->series->times, double, qm_series_length (self->series) - 1);
  self->run->exit_status = exit_status_of (self->wait_status);
  self->run->status = status_of (self);
  qm_run_summarise (self->run, self->series);
  /* a peak between two samples */
  if (!(qm_run_measured (self->run, "memory.host_bytes") >= largest))
    {
      gboolean is_device = qm_run_measured (self->run, "memory.per_device_bytes") == qm_run_measured (self->run, "memory.host_bytes");

      qm_run_set_measured (self->run, "memory.host_bytes", largest);
      if (is_device || isnan (qm_run_measured (self->run, "memory.per_device_bytes")))
        qm_run_set_measured (self->run, "memory.per_device_bytes", largest);
    }

  return self->options->ledger == NULL || qm_ledger_update (self->options->ledger, self->run, error);
}

/* Without its recorder it is not left to run on. */
static void
abandon (Recording *self)
{
  if (self->pid > 0 && !self->ended)
    {
      qm_process_tree_signal (self->tree, SIGKILL);
      waitpid (self->pid, NULL, 0);
    }
}

static void
recording_clear (Recording *self)
{
  for (int i = 0; i < 2; i++)
    {
      if (self->outputs[i] >= 0)
        close (self->outputs[i]);
      qm_progress_reader_free (self->readers[i]);
    }
  qm_process_tree_free (self->tree);
  qm_sampler_free (self->sampler);
  g_free (self->values);
}

/**
 * qm_recorder_run:
 * @self: what to record and how
 * @run: the run; gets its command, times, figures, and its number in the ledger
 * @series: (out) (nullable): what was measured over its time
 * @cancellable: (nullable): stops the command: it is asked to end, and ended
 *   ten seconds later
 * @error: return location for an error
 *
 * Runs a command under observation, and returns when it has ended. Every sample
 * is on the disk when the next is taken; the summary comes with the end. That
 * the command fails is no error: @run says so.
 *
 * Returns: whether it was run and recorded
 */
gboolean
qm_recorder_run (const QmRecorder  *self,
                 QmRun             *run,
                 QmSeries         **series,
                 GCancellable      *cancellable,
                 GError           **error)
{
  Recording recording = { .options = self, .run = run, .outputs = { -1, -1 } };
  gboolean ok = begin (&recording, error) && go_on (&recording, cancellable, error) && conclude (&recording, error);

  if (!ok)
    abandon (&recording);
  recording_clear (&recording);
  *series = recording.series;

  return ok;
}
