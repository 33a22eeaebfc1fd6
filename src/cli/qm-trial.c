/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-trial.h"

#include <glib-unix.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Of what a command prints, the end is kept. */
#define KEPT_BYTES  65536
#define CHUNK_BYTES 4096

/* A command that is asked to end has this long. */
#define GRACE_SECONDS 5

typedef struct {
  GMainContext *context;
  GMainLoop *loop;
  GSubprocess *process;
  GInputStream *stream;
  GCancellable *cancellable;
  GString *output;
  guint8 chunk[CHUNK_BYTES];
  int pending;                      /* the process, and its output */
  pid_t group;
  gboolean too_long;
  gboolean stopped;
} Trial;

/* "samples_per_second=12.5", "'train_samples_per_second': 12.5", "throughput: 12.5
 * images/s", "12.5 tokens/sec". Steps are no measure where the batch varies. */
static const char rate_pattern[] =
  "(?:[a-z_]*(?:samples|images|tokens|examples|sequences|rows|items)[_ ]?(?:per[_ ]sec(?:ond)?|/s(?:ec(?:ond)?)?)|throughput)"
  "[\"']?\\s*[:=]\\s*([0-9][0-9.]*(?:e[+-]?[0-9]+)?)"
  "|([0-9][0-9.]*(?:e[+-]?[0-9]+)?)\\s*(?:samples|images|imgs?|tokens|examples|sequences|rows|items)(?:/s| per second)";

static const char memory_pattern[] =
  "out ?of ?memory|OutOfMemory|CUBLAS_STATUS_ALLOC_FAILED|RESOURCE_EXHAUSTED|MemoryError|std::bad_alloc|Cannot allocate memory";

/**
 * qm_trial_find_rate:
 * @text: what a command printed
 * @per_second: (out): the last rate in it: samples, images, tokens … a second
 *
 * Returns: whether there is one
 */
gboolean
qm_trial_find_rate (const char *text,
                    double     *per_second)
{
  g_autoptr (GRegex) regex = g_regex_new (rate_pattern, G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  gboolean found = FALSE;

  for (g_regex_match (regex, text, 0, &match); g_match_info_matches (match); g_match_info_next (match, NULL))
    {
      g_autofree char *named = g_match_info_fetch (match, 1);
      g_autofree char *counted = g_match_info_fetch (match, 2);
      double value = g_ascii_strtod (named != NULL && named[0] != '\0' ? named : counted != NULL ? counted : "", NULL);

      if (value > 0 && isfinite (value))
        {
          *per_second = value;
          found = TRUE;
        }
    }

  return found;
}

/**
 * qm_trial_is_memory:
 * @text: what a command printed that failed
 *
 * Returns: whether it says that memory ran out
 */
gboolean
qm_trial_is_memory (const char *text)
{
  return g_regex_match_simple (memory_pattern, text, G_REGEX_CASELESS, 0);
}

/* ------------------------------------------------------------------- a process */

static void
attach (Trial       *trial,
        GSource     *source,
        GSourceFunc  function)
{
  g_source_set_callback (source, function, trial, NULL);
  g_source_attach (source, trial->context);
  g_source_unref (source);
}

/* The command leads a group of its own, so that what it starts ends with it. */
static void
lead_group (gpointer data)
{
  setpgid (0, 0);
}

static void
done (Trial *trial)
{
  if (--trial->pending == 0)
    g_main_loop_quit (trial->loop);
}

static void
keep (Trial *trial,
      gssize n)
{
  g_string_append_len (trial->output, (const char *) trial->chunk, n);
  if (trial->output->len > 2 * KEPT_BYTES)
    g_string_erase (trial->output, 0, trial->output->len - KEPT_BYTES);
}

static void read_more (Trial *trial);

static void
was_read (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  Trial *trial = data;
  gssize n = g_input_stream_read_finish (G_INPUT_STREAM (source), result, NULL);

  if (n <= 0)
    {
      done (trial);
      return;
    }
  keep (trial, n);
  read_more (trial);
}

static void
read_more (Trial *trial)
{
  g_input_stream_read_async (trial->stream, trial->chunk, CHUNK_BYTES, G_PRIORITY_DEFAULT, trial->cancellable, was_read, trial);
}

/* What it has started may hold its output open: that is read to the end no longer. */
static gboolean
read_no_longer (gpointer data)
{
  g_cancellable_cancel (((Trial *) data)->cancellable);
  return G_SOURCE_REMOVE;
}

static void
has_ended (GObject      *source,
           GAsyncResult *result,
           gpointer      data)
{
  Trial *trial = data;

  g_subprocess_wait_finish (G_SUBPROCESS (source), result, NULL);
  attach (trial, g_timeout_source_new_seconds (1), read_no_longer);
  done (trial);
}

static void
kill_group (const Trial *trial,
            int          number)
{
  if (trial->group > 0)
    kill (-trial->group, number);
}

static gboolean
kill_it (gpointer data)
{
  kill_group (data, SIGKILL);
  return G_SOURCE_CONTINUE;
}

static void
end_it (Trial *trial)
{
  kill_group (trial, SIGTERM);
  attach (trial, g_timeout_source_new_seconds (GRACE_SECONDS), kill_it);
}

static gboolean
takes_too_long (gpointer data)
{
  Trial *trial = data;

  trial->too_long = TRUE;
  end_it (trial);
  return G_SOURCE_REMOVE;
}

static gboolean
interrupted (gpointer data)
{
  Trial *trial = data;

  if (!trial->stopped)
    end_it (trial);
  trial->stopped = TRUE;
  return G_SOURCE_CONTINUE;
}

/* A command that is over at once has no number any more, and nothing to stop. */
static pid_t
group_of (GSubprocess *process)
{
  const char *number = g_subprocess_get_identifier (process);

  return number != NULL ? (pid_t) g_ascii_strtoll (number, NULL, 10) : 0;
}

static gboolean
start (Trial               *trial,
       const char * const  *command,
       GError             **error)
{
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE);

  g_subprocess_launcher_set_child_setup (launcher, lead_group, NULL, NULL);
  trial->process = g_subprocess_launcher_spawnv (launcher, command, error);
  if (trial->process == NULL)
    return FALSE;

  trial->group = group_of (trial->process);
  trial->stream = g_subprocess_get_stdout_pipe (trial->process);
  trial->pending = 2;
  read_more (trial);
  g_subprocess_wait_async (trial->process, NULL, has_ended, trial);

  return TRUE;
}

static char *
last_line_of (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (valid), "\n", -1);
  guint n = g_strv_length (lines);

  return g_strdup (n > 0 ? g_strstrip (lines[n - 1]) : "");
}

static void
judge (const Trial *trial,
       QmTrialRun  *run)
{
  gboolean exited = g_subprocess_get_if_exited (trial->process);

  run->status = exited ? g_subprocess_get_exit_status (trial->process) : 128 + g_subprocess_get_term_sig (trial->process);
  run->last_line = last_line_of (trial->output->str);
  run->printed_rate = qm_trial_find_rate (trial->output->str, &run->per_second);
  if (!run->printed_rate)
    run->per_second = 1 / run->seconds;

  /* The kernel kills what takes the last memory of a machine. */
  if (trial->stopped)
    run->outcome = QM_OUTCOME_STOPPED;
  else if (trial->too_long)
    run->outcome = QM_OUTCOME_TOO_LONG;
  else if (run->status == 0)
    run->outcome = QM_OUTCOME_DONE;
  else if (qm_trial_is_memory (trial->output->str) || run->status == 128 + SIGKILL)
    run->outcome = QM_OUTCOME_OUT_OF_MEMORY;
  else
    run->outcome = QM_OUTCOME_FAILED;
}

/**
 * qm_trial_run:
 * @command: a program and its arguments
 * @limit_seconds: when to end it; 0 never
 * @run: (out caller-allocates): what came of it
 * @error: return location for an error
 *
 * Runs a command to its end, or until a limit or an interrupt (Ctrl+C) ends it
 * and all that it started.
 *
 * Returns: whether it could be started
 */
gboolean
qm_trial_run (const char * const  *command,
              double               limit_seconds,
              QmTrialRun          *run,
              GError             **error)
{
  GMainContext *context = g_main_context_new ();
  Trial trial = { .context = context, .loop = g_main_loop_new (context, FALSE), .output = g_string_new (NULL), .cancellable = g_cancellable_new () };
  gint64 begin = g_get_monotonic_time ();
  gboolean started;

  *run = (QmTrialRun) { 0 };
  g_main_context_push_thread_default (context);
  started = start (&trial, command, error);
  if (started)
    {
      attach (&trial, g_unix_signal_source_new (SIGINT), interrupted);
      attach (&trial, g_unix_signal_source_new (SIGTERM), interrupted);
      if (limit_seconds > 0)
        attach (&trial, g_timeout_source_new ((guint) MIN (limit_seconds * 1000, G_MAXUINT)), takes_too_long);
      g_main_loop_run (trial.loop);
      run->seconds = (g_get_monotonic_time () - begin) / 1e6;
      judge (&trial, run);
    }
  g_main_context_pop_thread_default (context);
  g_clear_object (&trial.process);
  g_object_unref (trial.cancellable);
  g_string_free (trial.output, TRUE);
  g_main_loop_unref (trial.loop);
  g_main_context_unref (context);

  return started;
}
