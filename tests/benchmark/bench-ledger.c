/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

#include "history/qm-ledger-private.h"

/* How long the window's questions to a large ledger take: bench-ledger [RUNS]
 * makes one of a million runs. Exits 1 where one takes longer than a frame. */

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

static void
report (const char *name,
        double     *seconds)
{
  qsort (seconds, REPEATS, sizeof *seconds, compare);
  g_print ("  %-44s %8.2f ms\n", name, seconds[REPEATS / 2] * 1e3);
  slowest = MAX (slowest, seconds[REPEATS / 2]);
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
      double seconds[REPEATS];

      for (int i = 0; i < REPEATS; i++)
        {
          g_auto (QmLedgerPage) page = { 0 };
          g_autoptr (GError) error = NULL;
          gint64 began = g_get_monotonic_time ();

          check (qm_ledger_find (ledger, &queries[q].query, &page, &error), error);
          seconds[i] = (g_get_monotonic_time () - began) / 1e6;
        }
      report (queries[q].name, seconds);
    }
}

static void
ask_others (QmLedger *ledger)
{
  double seconds[4][REPEATS];

  for (int i = 0; i < REPEATS; i++)
    {
      gint64 began = g_get_monotonic_time ();
      g_autoptr (GArray) points = qm_ledger_list_points (ledger, "throughput.per_second", 1000, NULL);
      gint64 pointed = g_get_monotonic_time ();
      g_autoptr (GPtrArray) all_devices = qm_ledger_list_devices (ledger, NULL);
      g_autoptr (GPtrArray) all_tags = qm_ledger_list_tags (ledger, NULL);
      gint64 listed = g_get_monotonic_time ();
      g_autoptr (QmRun) run = qm_ledger_get (ledger, 500, NULL);
      gint64 got = g_get_monotonic_time ();

      check (points != NULL && all_devices != NULL && all_tags != NULL && run != NULL && qm_ledger_count (ledger, NULL) > 0, NULL);
      seconds[0][i] = (pointed - began) / 1e6;
      seconds[1][i] = (listed - pointed) / 1e6;
      seconds[2][i] = (got - listed) / 1e6;
      seconds[3][i] = (g_get_monotonic_time () - got) / 1e6;
    }
  report ("predicted against measured, 1000 points", seconds[0]);
  report ("all devices and tags", seconds[1]);
  report ("one run", seconds[2]);
  report ("how many", seconds[3]);
}

int
main (int    argc,
      char **argv)
{
  int n = argc > 1 ? atoi (argv[1]) : 1000000;
  g_autofree char *folder = g_dir_make_tmp (NULL, NULL);
  g_autofree char *path = g_build_filename (folder, "ledger.db", NULL);
  g_autofree char *log = g_strconcat (path, "-wal", NULL), *index = g_strconcat (path, "-shm", NULL);
  g_autoptr (GError) error = NULL;
  QmLedger *ledger = qm_ledger_open (path, &error);
  gint64 began = g_get_monotonic_time ();

  check (ledger != NULL, error);
  /* a power cut while this is made does no harm */
  check (qm_ledger_execute (ledger, &error, "PRAGMA synchronous = OFF"), error);
  fill (ledger, n);
  g_print ("ledger of %d runs, made in %.0f s\n", n, (g_get_monotonic_time () - began) / 1e6);
  ask_all (ledger);
  ask_others (ledger);
  g_object_unref (ledger);
  g_remove (path);
  g_remove (log);
  g_remove (index);
  g_rmdir (folder);

  return slowest < FRAME_SECONDS ? EXIT_SUCCESS : EXIT_FAILURE;
}
