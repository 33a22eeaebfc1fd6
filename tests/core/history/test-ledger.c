/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <math.h>

#include "ledger-search.h"

static void
test_round (Fixture       *self,
            gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmRun) run = make_run ("a");
  g_autoptr (QmSeries) series = make_series ();
  g_autoptr (QmRun) back = NULL;
  g_autoptr (QmSeries) series_back = NULL;

  qm_ledger_add (self->ledger, run, series, &error);
  g_assert_no_error (error);
  reopen (self);
  back = qm_ledger_get (self->ledger, run->id, &error);
  g_assert_no_error (error);
  series_back = qm_ledger_get_series (self->ledger, run->id, &error);
  g_assert_no_error (error);
  assert_same_run (run, back);
  assert_same_series (series, series_back);
}

static void
test_same_uid (Fixture       *self,
               gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmRun) again = qm_run_new ("a");
  gboolean has = TRUE;

  g_assert_true (qm_ledger_has (self->ledger, "a", &has, NULL));
  g_assert_false (has);
  add (self, "a", "", NULL);
  g_assert_true (qm_ledger_has (self->ledger, "a", &has, NULL));
  g_assert_true (has);

  g_assert_false (qm_ledger_add (self->ledger, again, NULL, &error));
  g_assert_error (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_FAILED);
  g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, 1);
}

static void
test_remove_and_restore (Fixture       *self,
                         gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  gint64 first = add (self, "a", "one", "rtx-3060");
  gint64 second = add (self, "b", "two", "rtx-3060");

  g_assert_true (qm_ledger_remove (self->ledger, first, 1000, NULL));
  g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, 1);
  assert_found (self, "2");
  assert_found (self, "2", .device = "rtx-3060");
  assert_found (self, "", .text = "one");
  g_assert_null (qm_ledger_get (self->ledger, first, &error));
  g_assert_error (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_NOT_FOUND);

  g_assert_true (qm_ledger_restore (self->ledger, first, NULL));
  assert_found (self, "1", .text = "one");
  assert_found (self, "2 1");
  g_assert_false (qm_ledger_restore (self->ledger, first, NULL));

  /* what is purged is gone; what was removed later can still be had back */
  g_assert_true (qm_ledger_remove (self->ledger, first, 1000, NULL));
  g_assert_true (qm_ledger_remove (self->ledger, second, 3000, NULL));
  g_assert_true (qm_ledger_purge (self->ledger, 2000, NULL));
  g_assert_false (qm_ledger_restore (self->ledger, first, NULL));
  g_assert_true (qm_ledger_restore (self->ledger, second, NULL));
  g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, 1);
  g_assert_cmpint (add (self, "c", "", NULL), ==, 3);
}

static void
test_search (Fixture       *self,
             gconstpointer  data)
{
  const char *tags[] = { "night", "lr sweep", NULL };

  add (self, "a", "Baseline run", "rtx-4090");
  add (self, "b", "Basement", "rtx-4090-laptop");
  add (self, "c", "überlang 训练模型", NULL);
  g_assert_true (qm_ledger_set_tags (self->ledger, 2, tags, NULL));
  g_assert_true (qm_ledger_set_note (self->ledger, 1, "ran out of memory", NULL));

  assert_found (self, "2 1", .text = "base");
  assert_found (self, "1", .text = "basel");
  assert_found (self, "1", .text = "RUN  baseline");
  assert_found (self, "1", .text = "memory");
  assert_found (self, "2 1", .text = "rtx-4090");
  assert_found (self, "3", .text = "uber");
  assert_found (self, "3", .text = "模型");
  assert_found (self, "", .text = "模糊");
  assert_found (self, "3 2 1", .text = " \"*( ");
  assert_found (self, "2", .text = "sweep night");

  /* exactly: a longer name is another */
  assert_found (self, "1", .device = "rtx-4090");
  assert_found (self, "2", .tag = "lr sweep");
  assert_found (self, "", .tag = "lr");
  assert_found (self, "", .device = "rtx-4090", .text = "basement");
}

static void
test_pages (Fixture       *self,
            gconstpointer  data)
{
  g_auto (QmLedgerPage) page = { 0 }, last = { 0 };
  QmLedgerQuery query = { .limit = 2 };

  for (int i = 0; i < 3; i++)
    {
      g_autofree char *uid = g_strdup_printf ("%d", i);

      add (self, uid, "same", NULL);
    }
  g_assert_true (qm_ledger_find (self->ledger, &query, &page, NULL));
  g_assert_cmpuint (page.runs->len, ==, 2);
  query.before = page.next;
  g_assert_true (qm_ledger_find (self->ledger, &query, &last, NULL));
  g_assert_cmpuint (last.runs->len, ==, 1);
  g_assert_cmpint (((QmRun *) g_ptr_array_index (last.runs, 0))->id, ==, 1);
  g_assert_cmpint (last.next, ==, 0);
}

static void
set_throughput (Fixture *self,
                gint64   id,
                double   value,
                double   predicted)
{
  g_autoptr (QmRun) run = qm_ledger_get (self->ledger, id, NULL);

  qm_run_ensure_figure (run, "throughput.per_second")->predicted = qm_range_exact (predicted);
  qm_run_set_measured (run, "throughput.per_second", value);
  g_assert_true (qm_ledger_update (self->ledger, run, NULL));
}

/* Runs far apart are found page by page, each once, the latest first, also where
 * most pages are empty. */
static void
test_far_apart (Fixture       *self,
                gconstpointer  data)
{
  static const gint64 gaps[] = { 0, 9996, 9999, 450000, 999990, 1000000 };
  g_autoptr (GString) expected = g_string_new (NULL), found = g_string_new (NULL);
  QmLedgerQuery query = { .text = "same", .limit = 2 };
  guint pages = 0;

  for (guint i = 0; i < G_N_ELEMENTS (gaps); i++)
    {
      g_autofree char *uid = g_strdup_printf ("%u", i);
      g_autofree char *skip = g_strdup_printf ("UPDATE sqlite_sequence SET seq = max (seq, %" G_GINT64_FORMAT ") WHERE name = 'runs'", gaps[i]);

      g_assert_true (qm_ledger_execute (self->ledger, NULL, skip));
      add (self, uid, i % 2 == 0 ? "same even" : "same odd", NULL);
      g_string_prepend (expected, " ");
      g_string_prepend (expected, uid);
    }

  do
    {
      g_auto (QmLedgerPage) page = { 0 };

      g_assert_true (qm_ledger_find (self->ledger, &query, &page, NULL));
      for (guint i = 0; i < page.runs->len; i++)
        g_string_append_printf (found, "%s ", ((QmRun *) g_ptr_array_index (page.runs, i))->uid);
      g_assert_cmpuint (page.runs->len, <=, 2);
      query.before = page.next;
      g_assert_cmpuint (++pages, <, 20);
    }
  while (query.before > 0);
  g_assert_cmpstr (found->str, ==, expected->str);

  /* both are frequent, and never together */
  query = (QmLedgerQuery) { .text = "even odd" };
  do
    {
      g_auto (QmLedgerPage) page = { 0 };

      g_assert_true (qm_ledger_find (self->ledger, &query, &page, NULL));
      g_assert_cmpuint (page.runs->len, ==, 0);
      query.before = page.next;
    }
  while (query.before > 0);
}

static void
test_order_and_lists (Fixture       *self,
                      gconstpointer  data)
{
  g_autoptr (GPtrArray) devices = NULL;
  g_autoptr (GArray) points = NULL;

  add (self, "a", "x", "rtx-4090");
  add (self, "b", "x", "a100");
  add (self, "c", "x", "rtx-4090");
  set_throughput (self, 1, 20, 25);
  set_throughput (self, 2, 10, NAN);
  set_throughput (self, 3, 30, 33);

  assert_found (self, "3 1 2", .sort = QM_LEDGER_SORT_THROUGHPUT);
  assert_found (self, "2 1 3", .sort = QM_LEDGER_SORT_THROUGHPUT, .ascending = TRUE);
  assert_found (self, "1 3", .sort = QM_LEDGER_SORT_THROUGHPUT, .ascending = TRUE, .offset = 1);
  assert_found (self, "1 3", .sort = QM_LEDGER_SORT_THROUGHPUT, .ascending = TRUE, .device = "rtx-4090");

  devices = qm_ledger_list_devices (self->ledger, NULL);
  g_assert_cmpuint (devices->len, ==, 2);
  g_assert_cmpstr (g_ptr_array_index (devices, 0), ==, "a100");

  points = qm_ledger_list_points (self->ledger, "throughput.per_second", 10, NULL);
  g_assert_cmpuint (points->len, ==, 2);
  g_assert_cmpint (g_array_index (points, QmLedgerPoint, 0).id, ==, 3);
  g_assert_cmpfloat (g_array_index (points, QmLedgerPoint, 1).predicted.p50, ==, 25);
}

/* The recorder went away: what it had written is summed up. */
static void
test_settle (Fixture       *self,
             gconstpointer  data)
{
  const char *channels[] = { "process_memory_bytes", "tokens_per_second", NULL };
  g_autoptr (QmSeries) series = qm_series_new (channels);
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmRun) going = NULL;
  g_autoptr (QmRun) settled = NULL;

  run->started = 1000 * G_TIME_SPAN_SECOND;
  run->status = QM_RUN_STATUS_RUNNING;
  g_assert_true (qm_ledger_add (self->ledger, run, series, NULL));
  for (int i = 1; i <= 10; i++)
    g_assert_true (qm_ledger_add_sample (self->ledger, run->id, i, (float[]) { 1e9f * i, i < 3 ? 5 : 100 }, 2, NULL));

  g_assert_true (qm_ledger_settle (self->ledger, 1009 * G_TIME_SPAN_SECOND, NULL));
  going = qm_ledger_get (self->ledger, run->id, NULL);
  g_assert_cmpint (going->status, ==, QM_RUN_STATUS_RUNNING);

  g_assert_true (qm_ledger_settle (self->ledger, 1060 * G_TIME_SPAN_SECOND, NULL));
  settled = qm_ledger_get (self->ledger, run->id, NULL);
  g_assert_cmpint (settled->status, ==, QM_RUN_STATUS_INTERRUPTED);
  g_assert_cmpfloat (settled->seconds, ==, 10);
  g_assert_cmpfloat (qm_run_measured (settled, "throughput.per_second"), ==, 100);
  g_assert_cmpfloat (qm_run_measured (settled, "run.warm_up_seconds"), ==, 3);
  g_assert_cmpfloat (qm_run_measured (settled, "memory.per_device_bytes"), ==, 1e10f);
}

static void
test_compare (void)
{
  g_autoptr (QmRun) first = make_run ("a");
  g_autoptr (QmRun) second = make_run ("b");
  g_autoptr (GArray) pairs = NULL;
  g_autoptr (GPtrArray) differences = NULL;
  const QmPlanDifference *difference;

  qm_run_set_measured (second, "throughput.per_second", 2 * 3123.4567890123);
  qm_run_set_measured (second, "run.loss", 1.5);
  g_set_str (&second->plan, "{\"title\":\"x\",\"training\":{\"epochs\":3}}");
  pairs = qm_runs_compare (first, second);
  g_assert_cmpuint (pairs->len, ==, 3);
  g_assert_cmpfloat (g_array_index (pairs, QmFigurePair, 0).ratio, ==, 2);
  g_assert_true (isnan (g_array_index (pairs, QmFigurePair, 2).first));

  differences = qm_runs_compare_plans (first, second);
  g_assert_cmpuint (differences->len, ==, 1);
  difference = g_ptr_array_index (differences, 0);
  g_assert_cmpstr (difference->field, ==, "training.epochs");
  g_assert_cmpstr (difference->first, ==, "2");
  g_assert_cmpstr (difference->second, ==, "3");
}

/* --------------------------------------------------------------------------- files */

/* What a file is before and after it is refused. */
static void
assert_refused (Fixture       *self,
                QmLedgerError  code)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *before = NULL, *after = NULL;
  gsize length_before, length_after;

  g_assert_true (g_file_get_contents (self->path, &before, &length_before, NULL));
  g_assert_null (qm_ledger_open (self->path, &error));
  g_assert_error (error, QM_LEDGER_ERROR, (int) code);
  g_assert_true (g_str_has_prefix (error->message, self->path));
  g_assert_true (g_file_get_contents (self->path, &after, &length_after, NULL));
  g_assert_cmpmem (before, length_before, after, length_after);
}

static void
test_not_a_ledger (Fixture       *self,
                   gconstpointer  data)
{
  sqlite3 *other = NULL;

  g_clear_object (&self->ledger);
  g_assert_true (g_file_set_contents (self->path, "id,label\n1,no database at all, but long enough to be looked at\n", -1, NULL));
  assert_refused (self, QM_LEDGER_ERROR_FORMAT);

  g_remove (self->path);
  g_assert_cmpint (sqlite3_open (self->path, &other), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (other, "CREATE TABLE bookmarks (url TEXT)", NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (other);
  assert_refused (self, QM_LEDGER_ERROR_FORMAT);
}

static void
test_damaged (Fixture       *self,
              gconstpointer  data)
{
  g_autofree char *content = NULL;
  gsize length;

  for (int i = 0; i < 200; i++)
    {
      g_autofree char *uid = g_strdup_printf ("%d", i);

      add (self, uid, "a run with a name of some length, so that there are pages", "rtx-4090");
    }
  g_clear_object (&self->ledger);
  g_assert_true (g_file_get_contents (self->path, &content, &length, NULL));

  /* the heads of its pages, from the third on */
  for (gsize page = 2 * 4096; page + 4096 <= length; page += 4096)
    memset (content + page, 0xa5, 64);
  g_assert_true (g_file_set_contents (self->path, content, length, NULL));
  assert_refused (self, QM_LEDGER_ERROR_DAMAGED);
}

static void
test_later_version (Fixture       *self,
                    gconstpointer  data)
{
  g_assert_true (qm_ledger_execute (self->ledger, NULL, "PRAGMA user_version = 99"));
  g_clear_object (&self->ledger);
  assert_refused (self, QM_LEDGER_ERROR_VERSION);
}

static void
test_no_folder (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (qm_ledger_open ("/no/such/folder/ledger.db", &error));
  g_assert_error (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_FAILED);
}

/* The file as the first version wrote it: brought up to date, a copy kept. */
static void
test_migrate (Fixture       *self,
              gconstpointer  data)
{
  g_autofree char *copy = g_strconcat (self->path, ".version-1", NULL);
  g_autoptr (QmLedger) old = NULL;
  g_autoptr (QmRun) run = NULL;
  sqlite3_stmt *statement;
  sqlite3 *file;

  g_clear_object (&self->ledger);
  g_remove (self->path);
  old = g_object_new (QM_TYPE_LEDGER, NULL);
  old->path = g_strdup (self->path);
  g_assert_cmpint (sqlite3_open (self->path, &old->db), ==, SQLITE_OK);
  g_assert_true (qm_ledger_upgrade (old, 1, NULL));
  g_assert_true (qm_ledger_execute (old, NULL,
                                    "INSERT INTO runs (uid, started, status, source, label, device, note) VALUES"
                                    " ('a', 5, 'finished', 'recorded', 'from before', 'l4', 'kept')"));
  g_clear_object (&old);

  self->ledger = open_ledger (self->path);
  assert_found (self, "1", .text = "before kept");
  assert_found (self, "1", .device = "l4");
  g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, 1);
  run = qm_ledger_get (self->ledger, 1, NULL);
  g_assert_cmpint (run->started, ==, 5);

  g_assert_cmpint (sqlite3_open (copy, &file), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (file, "PRAGMA user_version", -1, &statement, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  g_assert_cmpint (sqlite3_column_int (statement, 0), ==, 1);
  sqlite3_finalize (statement);
  g_assert_cmpint (sqlite3_exec (file, "SELECT uid FROM runs", NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (file);
}

/* Several programs have it open at once. */
static void
test_two_at_once (Fixture       *self,
                  gconstpointer  data)
{
  g_autoptr (QmLedger) other = open_ledger (self->path);
  g_autoptr (QmRun) run = qm_run_new ("b");

  add (self, "a", "first", NULL);
  g_assert_cmpint (qm_ledger_count (other, NULL), ==, 1);
  g_assert_true (qm_ledger_add (other, run, NULL, NULL));
  g_assert_cmpint (run->id, ==, 2);
  assert_found (self, "2 1");
}

/* What is begun and not kept leaves no trace. */
static void
test_roll_back (Fixture       *self,
                gconstpointer  data)
{
  g_assert_true (qm_ledger_begin (self->ledger, NULL));
  add (self, "a", "one", NULL);
  add (self, "b", "two", NULL);
  qm_ledger_roll_back (self->ledger);
  g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, 0);
  assert_found (self, "");
  assert_found (self, "", .text = "one");
}

#define ADD(name, function) g_test_add ("/core/history/ledger/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("round", test_round);
  ADD ("same-uid", test_same_uid);
  ADD ("remove-and-restore", test_remove_and_restore);
  ADD ("search", test_search);
  ADD ("pages", test_pages);
  ADD ("far-apart", test_far_apart);
  ADD ("order-and-lists", test_order_and_lists);
  ADD ("settle", test_settle);
  ADD ("not-a-ledger", test_not_a_ledger);
  ADD ("damaged", test_damaged);
  ADD ("later-version", test_later_version);
  ADD ("migrate", test_migrate);
  ADD ("two-at-once", test_two_at_once);
  ADD ("roll-back", test_roll_back);
  g_test_add_func ("/core/history/ledger/compare", test_compare);
  g_test_add_func ("/core/history/ledger/no-folder", test_no_folder);

  return g_test_run ();
}
