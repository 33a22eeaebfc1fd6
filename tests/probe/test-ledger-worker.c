/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The ledger in a thread: in order, not at all where nobody wants it, and again
 * after it could not be opened. */

#include <glib/gstdio.h>

#include "probe/qm-ledger-worker.h"
#include "probe/qm-own-ledger.h"

typedef struct {
  char *folder;
  char *path;
  QmLedgerWorker *worker;
  GString *told;
  guint answers;
  GError *error;
} Fixture;

static void
set_up (Fixture       *self,
        gconstpointer  data)
{
  self->folder = g_dir_make_tmp (NULL, NULL);
  self->path = g_build_filename (self->folder, "ledger.db", NULL);
  self->worker = qm_ledger_worker_new (self->path);
  self->told = g_string_new (NULL);
}

static void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  g_autofree char *log = g_strconcat (self->path, "-wal", NULL);

  g_clear_object (&self->worker);
  /* the thread closes the ledger, which puts into it what was written beside it */
  for (guint i = 0; i < 1000 && g_file_test (log, G_FILE_TEST_EXISTS); i++)
    g_usleep (10000);
  g_remove (self->path);
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  g_string_free (self->told, TRUE);
  g_clear_error (&self->error);
  g_free (self->folder);
  g_free (self->path);
}

static void
answered (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  Fixture *self = data;
  g_autofree char *text = NULL;

  g_clear_error (&self->error);
  text = qm_ledger_worker_finish (QM_LEDGER_WORKER (source), result, &self->error);
  if (text != NULL)
    g_string_append (self->told, text);
  self->answers++;
}

/* Slow first, so that a second thread would overtake it. */
static gpointer
add_run (QmLedger      *ledger,
         gpointer       data,
         GCancellable  *cancellable,
         GError       **error)
{
  g_autoptr (QmRun) run = qm_run_new (data);

  if (g_str_equal (data, "a"))
    g_usleep (100000);
  if (!qm_ledger_add (ledger, run, NULL, error))
    return NULL;

  return g_strdup_printf ("%s%" G_GINT64_FORMAT " ", (char *) data, run->id);
}

static void
give (Fixture      *self,
      const char   *name,
      GCancellable *cancellable)
{
  qm_ledger_worker_do (self->worker, add_run, g_strdup (name), g_free, g_free, cancellable, answered, self);
}

static void
wait_for (Fixture *self,
          guint    answers)
{
  while (self->answers < answers)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_order (Fixture       *self,
            gconstpointer  data)
{
  give (self, "a", NULL);
  give (self, "b", NULL);
  give (self, "c", NULL);
  g_assert_cmpuint (self->answers, ==, 0);
  wait_for (self, 3);
  g_assert_cmpstr (self->told->str, ==, "a1 b2 c3 ");
}

static void
test_cancel (Fixture       *self,
             gconstpointer  data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  give (self, "a", NULL);
  give (self, "b", cancellable);
  g_cancellable_cancel (cancellable);
  wait_for (self, 2);
  g_assert_error (self->error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  give (self, "c", NULL);
  wait_for (self, 3);
  g_assert_cmpstr (self->told->str, ==, "a1 c2 ");
}

/* A failure is of that job alone. */
static void
test_failure (Fixture       *self,
              gconstpointer  data)
{
  give (self, "b", NULL);
  give (self, "b", NULL);
  wait_for (self, 2);
  g_assert_nonnull (self->error);
  give (self, "c", NULL);
  wait_for (self, 3);
  g_assert_true (g_str_has_prefix (self->told->str, "b1 c"));
}

static void
test_opened_later (Fixture       *self,
                   gconstpointer  data)
{
  g_assert_true (g_file_set_contents (self->path, "these are no runs", -1, NULL));
  give (self, "b", NULL);
  wait_for (self, 1);
  g_assert_error (self->error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_FORMAT);
  g_assert_cmpint (g_remove (self->path), ==, 0);
  give (self, "c", NULL);
  wait_for (self, 2);
  g_assert_cmpstr (self->told->str, ==, "c1 ");
}

/* While another program changes it, runs are there to be read at once: what is
 * tidied up when it is opened can wait, for which it is given ten seconds elsewhere. */
static void
test_held_by_another (Fixture       *self,
                      gconstpointer  data)
{
  g_autoptr (QmLedger) other = qm_ledger_open (self->path, NULL);
  g_autoptr (QmLedger) ledger = NULL;
  g_autoptr (QmRun) run = qm_run_new ("a"), going = qm_run_new ("b"), more = qm_run_new ("c");
  g_autoptr (GError) error = NULL;
  g_auto (QmLedgerPage) page = { 0 };
  const QmLedgerQuery query = { 0 };
  gint64 began;

  going->status = QM_RUN_STATUS_RUNNING;
  g_assert_true (qm_ledger_add (other, run, NULL, NULL) && qm_ledger_add (other, going, NULL, NULL));
  g_assert_true (qm_ledger_begin (other, NULL));
  g_assert_true (qm_ledger_add (other, more, NULL, NULL));
  began = g_get_monotonic_time ();
  ledger = qm_own_ledger_open (self->path, &error);
  g_assert_no_error (error);
  g_assert_true (qm_ledger_find (ledger, &query, &page, NULL));
  g_assert_cmpuint (page.runs->len, ==, 2);
  g_assert_cmpint (g_get_monotonic_time () - began, <, 5 * G_TIME_SPAN_SECOND);
  g_assert_true (qm_ledger_commit (other, NULL));
}

/* Jobs that were given are done, and answered, though the giver let go. */
static void
test_let_go (Fixture       *self,
             gconstpointer  data)
{
  give (self, "a", NULL);
  give (self, "b", NULL);
  g_clear_object (&self->worker);
  wait_for (self, 2);
  g_assert_cmpstr (self->told->str, ==, "a1 b2 ");
}

#define ADD(name, function) g_test_add ("/probe/ledger-worker/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("order", test_order);
  ADD ("cancel", test_cancel);
  ADD ("failure", test_failure);
  ADD ("opened-later", test_opened_later);
  ADD ("let-go", test_let_go);
  ADD ("held-by-another", test_held_by_another);

  return g_test_run ();
}
