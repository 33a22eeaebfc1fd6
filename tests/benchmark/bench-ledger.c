/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "history/qm-ledger-private.h"

/* How long the window's questions to a large ledger take: bench-ledger [RUNS
 * [FILE]] makes one of a million runs, and asks. A FILE is kept, and asked anew
 * where it is there. Prints the least, the median and the most. Exits 1 where a question takes longer than a frame: of the
 * processor, since other programs disturb the clock on the wall. */

#define FRAME_SECONDS 0.016
#define REPEATS 7

static double slowest;

static void
check (gboolean  ok,
       GError   *error)
{
  if (ok)
    return;
  g_printerr ("bench-ledger: %s\n", error != NULL ? error->message : "failed");
  exit (EXIT_FAILURE);
}

static const char * const devices[] = { "rtx-4090", "rtx-3060", "a100-sxm4-80gb", "h100-sxm5-80gb", "l40s", "mi300x" };
static const char * const models[] = { "llama-3.1-8b", "qwen2.5-7b", "resnet-50", "bert-base-uncased", "sdxl" };
static const char * const words[] = { "baseline", "ablation", "night", "sweep" };

static void
add_run (QmLedger *ledger,
         int       i)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *uid = g_strdup_printf ("%d", i);
  g_autoptr (QmRun) run = qm_run_new (uid);

  g_free (run->label);
  run->label = g_strdup_printf ("training run %d %s", i, words[i % 4]);
  run->note = g_strdup (i % 1000 == 7 ? "needle in the hay" : "");
  run->started = 1700000000000000 + (i * 7919ll % 1000003) * 1000000;
  run->status = QM_RUN_STATUS_FINISHED;
  run->source = QM_RUN_SOURCE_RECORDED;
  run->device = g_strdup (devices[i % 6]);
  run->model = g_strdup (models[i / 6 % 5]);
  run->seconds = i * 31 % 86400;
  if (i % 3 == 0)
    run->plan = g_strdup ("{\"format\":\"quartermaster-plan\",\"version\":1}");
  qm_run_add_tag (run, i % 2 == 0 ? "even" : "odd");
  qm_run_ensure_figure (run, "throughput.per_second")->predicted = qm_range_exact (i * 17 % 5000 + 100);
  qm_run_set_measured (run, "throughput.per_second", i * 13 % 5000 + 100);
  check (qm_ledger_add (ledger, run, NULL, &error), error);
}

static void
fill (QmLedger *ledger,
      int       n)
{
  g_autoptr (GError) error = NULL;

  for (int from = 0; from < n; from += 20000)
    {
      check (qm_ledger_begin (ledger, &error), error);
      for (int i = from; i < MIN (n, from + 20000); i++)
        add_run (ledger, i);
      check (qm_ledger_commit (ledger, &error), error);
    }
}

static int
compare (gconstpointer a,
         gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* What is asked, and how long each time took. */
typedef struct {
  const char *name;
  double wall[REPEATS], busy[REPEATS];
  int n;
  gint64 began;
  struct timespec busy_began;
} Watch;

static void
begin (Watch *self)
{
  self->began = g_get_monotonic_time ();
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &self->busy_began);
}

static void
end (Watch *self)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  self->wall[self->n] = (g_get_monotonic_time () - self->began) / 1e6;
  self->busy[self->n++] = (double) (now.tv_sec - self->busy_began.tv_sec) + (now.tv_nsec - self->busy_began.tv_nsec) / 1e9;
}

static void
report (Watch *self)
{
  qsort (self->wall, self->n, sizeof (double), compare);
  qsort (self->busy, self->n, sizeof (double), compare);
  g_print ("  %-38s %6.2f %6.2f %6.2f ms of the processor, %6.2f %6.2f %6.2f ms on the wall\n", self->name, self->busy[0] * 1e3,
           self->busy[self->n / 2] * 1e3, self->busy[self->n - 1] * 1e3, self->wall[0] * 1e3, self->wall[self->n / 2] * 1e3, self->wall[self->n - 1] * 1e3);
  slowest = MAX (slowest, self->busy[self->n / 2]);
}

static const struct {
  const char *name;
  QmLedgerQuery query;
} queries[] = {
  { "the latest", { 0 } },
  { "a word in all", { .text = "training" } },
  { "the beginning of a word in all", { .text = "trainin" } },
  { "a rare word", { .text = "needle" } },
  { "two words never together", { .text = "rtx mi300x" } },
  { "three words", { .text = "run sweep l40s" } },
  { "four words", { .text = "training run mi300x rtx" } },
  { "two halves", { .text = "even odd" } },
  { "a frequent word and a rare one", { .text = "even needle" } },
  { "the beginning of every word", { .text = "t r" } },
  { "a page far down", { .text = "sweep", .before = 1000 } },
  { "no such word", { .text = "zebra" } },
  { "a device", { .device = "l40s" } },
  { "a device and a tag never together", { .device = "rtx-4090", .tag = "odd" } },
  { "a device, a model, and words", { .device = "l40s", .model = "sdxl", .text = "night" } },
  { "by time", { .sort = QM_LEDGER_SORT_STARTED } },
  { "by label, far down", { .sort = QM_LEDGER_SORT_LABEL, .ascending = TRUE, .offset = 2000 } },
  { "by throughput", { .sort = QM_LEDGER_SORT_THROUGHPUT } },
  { "a word, by throughput", { .sort = QM_LEDGER_SORT_THROUGHPUT, .text = "sweep" } },
};

static void
ask_all (QmLedger *ledger)
{
  for (guint q = 0; q < G_N_ELEMENTS (queries); q++)
    {
      Watch watch = { .name = queries[q].name };

      for (int i = 0; i < REPEATS; i++)
        {
          g_auto (QmLedgerPage) page = { 0 };
          g_autoptr (GError) error = NULL;

          begin (&watch);
          check (qm_ledger_find (ledger, &queries[q].query, &page, &error), error);
          end (&watch);
        }
      report (&watch);
    }
}

static void
ask_for_points (QmLedger *ledger)
{
  g_autoptr (GArray) points = qm_ledger_list_points (ledger, "throughput.per_second", 400, NULL);

  check (points != NULL && points->len == 400, NULL);
}

static void
ask_for_names (QmLedger *ledger)
{
  g_autoptr (GPtrArray) all_devices = qm_ledger_list_devices (ledger, NULL), all_tags = qm_ledger_list_tags (ledger, NULL);

  check (all_devices != NULL && all_tags != NULL, NULL);
}

/* What estimates learn from. */
static void
ask_for_planned (QmLedger *ledger)
{
  g_autoptr (GArray) ids = qm_ledger_list_planned (ledger, 60, NULL);

  check (ids != NULL && ids->len == 60, NULL);
  for (guint i = 0; i < ids->len; i++)
    {
      g_autoptr (QmRun) run = qm_ledger_get (ledger, g_array_index (ids, gint64, i), NULL);

      check (run != NULL, NULL);
    }
}

static void
ask_for_one (QmLedger *ledger)
{
  g_autoptr (QmRun) run = qm_ledger_get (ledger, 500, NULL);

  check (run != NULL, NULL);
}

static void
ask_for_count (QmLedger *ledger)
{
  check (qm_ledger_count (ledger, NULL) > 0, NULL);
}

/* As the window opens it: runs that were broken off are settled, those that were
 * removed long ago forgotten. */
static void
open_another (QmLedger *ledger)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmLedger) another = qm_ledger_open (qm_ledger_get_path (ledger), &error);

  check (another != NULL, error);
  check (qm_ledger_settle (another, 0, &error) && qm_ledger_purge (another, 0, &error), error);
}

static void
change_note (QmLedger *ledger)
{
  static int times;
  g_autofree char *note = g_strdup_printf ("seen %d times, and noted", ++times);

  check (qm_ledger_set_note (ledger, 500, note, NULL), NULL);
}

static void
change_tags (QmLedger *ledger)
{
  static int times;
  const char *tags[] = { "even", ++times % 2 == 0 ? "seen" : "looked at", NULL };

  check (qm_ledger_set_tags (ledger, 501, tags, NULL), NULL);
}

static void
remove_and_restore (QmLedger *ledger)
{
  check (qm_ledger_remove (ledger, 502, 1, NULL) && qm_ledger_restore (ledger, 502, NULL), NULL);
}

static const struct {
  const char *name;
  void (*ask) (QmLedger *ledger);
} others[] = {
  { "predicted against measured, 400 points", ask_for_points },
  { "all devices and tags", ask_for_names },
  { "the latest 60 runs with a plan", ask_for_planned },
  { "one run", ask_for_one },
  { "how many", ask_for_count },
  { "open, settle and purge", open_another },
  { "change a note", change_note },
  { "change tags", change_tags },
  { "remove a run and have it back", remove_and_restore },
};

static void
ask_others (QmLedger *ledger)
{
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      Watch watch = { .name = others[i].name };

      for (int k = 0; k < REPEATS; k++)
        {
          begin (&watch);
          others[i].ask (ledger);
          end (&watch);
        }
      report (&watch);
    }
}

static void
remove_all (const char *path)
{
  static const char * const endings[] = { "", "-wal", "-shm" };

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *file = g_strconcat (path, endings[i], NULL);

      g_remove (file);
    }
}

int
main (int    argc,
      char **argv)
{
  int n = argc > 1 ? atoi (argv[1]) : 1000000;
  g_autofree char *folder = argc > 2 ? NULL : g_dir_make_tmp (NULL, NULL);
  g_autofree char *path = argc > 2 ? g_strdup (argv[2]) : g_build_filename (folder, "ledger.db", NULL);
  g_autoptr (GError) error = NULL;
  QmLedger *ledger = qm_ledger_open (path, &error);
  gint64 began = g_get_monotonic_time ();

  check (ledger != NULL, error);
  if (qm_ledger_count (ledger, NULL) < n)
    {
      /* a power cut while this is made does no harm */
      check (qm_ledger_execute (ledger, &error, "PRAGMA synchronous = OFF"), error);
      fill (ledger, n);
      check (qm_ledger_execute (ledger, &error, "PRAGMA synchronous = FULL"), error);
      g_print ("ledger of %d runs, made in %.0f s\n", n, (g_get_monotonic_time () - began) / 1e6);
    }
  ask_all (ledger);
  ask_others (ledger);
  g_object_unref (ledger);
  if (folder != NULL)
    {
      remove_all (path);
      g_rmdir (folder);
    }

  return slowest < FRAME_SECONDS ? EXIT_SUCCESS : EXIT_FAILURE;
}
