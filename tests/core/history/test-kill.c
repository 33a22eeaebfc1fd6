/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The program is killed at 200 random moments: what it said was kept is there,
 * and the file is in order. */

#include <math.h>
#include <signal.h>

#include "ledger-fixture.h"

/* What a program with sanitizers takes longer to start and to write. */
#ifdef __SANITIZE_ADDRESS__
#define SLOWER 8
#else
#define SLOWER 1
#endif

#define TRIALS_OF_RECORDING 80
#define TRIALS_OF_IMPORTING 70
#define TRIALS_OF_MIGRATING 50

/* Runs in the file that is brought up to date: enough for it to take a while. */
#define OLD_RUNS 300

/* What the writer said last, killed after some milliseconds; -1 for nothing. */
static gint64
write_and_kill (const char *what,
                const char *path,
                guint       milliseconds)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) writer = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, g_getenv ("QM_TEST_WRITER"), what, path, NULL);
  g_autofree char *output = NULL;
  gint64 last = -1;

  g_assert_no_error (error);
  g_usleep (milliseconds * 1000 * SLOWER);
  g_subprocess_send_signal (writer, SIGKILL);
  g_assert_true (g_subprocess_communicate_utf8 (writer, NULL, NULL, &output, NULL, &error));
  g_assert_no_error (error);
  for (const char *line = output; strchr (line, '\n') != NULL; line = strchr (line, '\n') + 1)
    last = g_ascii_strtoll (line, NULL, 10);

  return last;
}

/* Opened anew, as after a crash. */
static void
open_and_check (Fixture *self)
{
  g_autoptr (GError) error = NULL;

  self->ledger = open_ledger (self->path);
  qm_ledger_check (self->ledger, &error);
  g_assert_no_error (error);
}

static void
test_recording (Fixture       *self,
                gconstpointer  data)
{
  guint said = 0;

  for (int trial = 1; trial <= TRIALS_OF_RECORDING; trial++)
    {
      gint64 runs = qm_ledger_count (self->ledger, NULL);
      gint64 kept;

      g_clear_object (&self->ledger);
      kept = write_and_kill ("record", self->path, g_test_rand_int_range (0, 90));
      open_and_check (self);
      said += kept > 0;
      if (kept >= 0)
        {
          g_autoptr (QmSeries) series = qm_ledger_get_series (self->ledger, runs + 1, NULL);

          g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, runs + 1);
          g_assert_cmpint (qm_series_length (series), >=, kept);
          for (guint i = 0; i < qm_series_length (series); i++)
            g_assert_cmpfloat (qm_series_value (series, i, 1), ==, i + 1);
        }
    }
  /* else the test has tested nothing */
  g_assert_cmpuint (said, >, TRIALS_OF_RECORDING / 10);
}

static void
test_importing (Fixture       *self,
                gconstpointer  data)
{
  gint64 before = 0;

  for (int trial = 0; trial < TRIALS_OF_IMPORTING; trial++)
    {
      gint64 kept, runs;

      g_clear_object (&self->ledger);
      kept = write_and_kill ("import", self->path, g_test_rand_int_range (0, 90));
      open_and_check (self);
      runs = qm_ledger_count (self->ledger, NULL);
      g_assert_cmpint (runs % 10, ==, 0);
      g_assert_cmpint (runs, >=, MAX (kept, before));
      before = runs;
    }
  g_assert_cmpint (before, >, 0);
}

/* A file as the first version wrote it. */
static void
make_old (const char *path)
{
  g_autoptr (QmLedger) old = g_object_new (QM_TYPE_LEDGER, NULL);

  old->path = g_strdup (path);
  g_assert_cmpint (sqlite3_open (path, &old->db), ==, SQLITE_OK);
  g_assert_true (qm_ledger_execute (old, NULL, "PRAGMA synchronous = OFF"));
  g_assert_true (qm_ledger_upgrade (old, 1, NULL));
  g_assert_true (qm_ledger_begin (old, NULL));
  for (int i = 0; i < OLD_RUNS; i++)
    g_assert_true (qm_ledger_run (old, NULL, "INSERT INTO runs (uid, started, status, source, label) VALUES (?, ?, 'finished', 'recorded', 'old run')",
                                  "ii", (gint64) i, (gint64) i));
  g_assert_true (qm_ledger_commit (old, NULL));
}

static void
remove_file (Fixture    *self,
             const char *ending)
{
  g_autofree char *path = g_strconcat (self->path, ending, NULL);

  g_remove (path);
}

static void
test_migrating (Fixture       *self,
                gconstpointer  data)
{
  guint whole = 0;

  for (int trial = 0; trial < TRIALS_OF_MIGRATING; trial++)
    {
      g_auto (QmLedgerPage) page = { 0 };
      QmLedgerQuery query = { .text = "old", .limit = OLD_RUNS };

      g_clear_object (&self->ledger);
      remove_file (self, "");
      remove_file (self, "-wal");
      remove_file (self, "-shm");
      make_old (self->path);
      whole += write_and_kill ("migrate", self->path, g_test_rand_int_range (0, 120)) == 1;
      open_and_check (self);
      g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, OLD_RUNS);
      g_assert_true (qm_ledger_find (self->ledger, &query, &page, NULL));
      g_assert_cmpuint (page.runs->len, ==, OLD_RUNS);
    }
  g_test_message ("%u of %u came to their end", whole, TRIALS_OF_MIGRATING);
}

#define ADD(name, function) g_test_add ("/core/history/kill/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("recording", test_recording);
  ADD ("importing", test_importing);
  ADD ("migrating", test_migrating);

  return g_test_run ();
}
