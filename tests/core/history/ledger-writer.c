/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Writes into a ledger until it is killed: ledger-writer WHAT PATH. It says what
 * is kept as soon as it is: a line with the number of all samples or runs.
 *   record   one sample after another, each kept by itself
 *   import   ten runs at a time, kept together
 *   migrate  brings the file up to date, and says 1 */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "history/qm-import.h"
#include "history/qm-ledger.h"

#define TOGETHER 10

static void
say (gint64 kept)
{
  char line[32];
  int n = g_snprintf (line, sizeof line, "%" G_GINT64_FORMAT "\n", kept);

  if (write (STDOUT_FILENO, line, n) != n)
    _exit (1);
}

static void
record (QmLedger *ledger)
{
  const char *channels[] = { "cpu_utilization", "loss", NULL };
  g_autoptr (QmSeries) series = qm_series_new (channels);
  g_autofree char *uid = g_uuid_string_random ();
  g_autoptr (QmRun) run = qm_run_new (uid);

  run->status = QM_RUN_STATUS_RUNNING;
  run->source = QM_RUN_SOURCE_RECORDED;
  if (!qm_ledger_add (ledger, run, series, NULL))
    _exit (1);
  say (0);
  for (gint64 i = 1;; i++)
    {
      if (!qm_ledger_add_sample (ledger, run->id, i, (float[]) { 0.5f, (float) i }, 2, NULL))
        _exit (1);
      say (i);
    }
}

static void
import (QmLedger *ledger)
{
  for (;;)
    {
      g_autoptr (GString) table = g_string_new ("label,note,throughput.per_second\n");
      g_autofree char *unique = g_uuid_string_random ();
      g_autoptr (GPtrArray) imported = NULL;

      for (int i = 0; i < TOGETHER; i++)
        g_string_append_printf (table, "%s,number %d,%d\n", unique, i, i + 1);
      imported = qm_import_data (table->str, table->len, 0, NULL);
      if (imported == NULL || qm_import_add (ledger, imported, NULL) != TOGETHER)
        _exit (1);
      say (qm_ledger_count (ledger, NULL));
    }
}

int
main (int    argc,
      char **argv)
{
  g_autoptr (QmLedger) ledger = NULL;

  if (argc != 3)
    return 2;

  ledger = qm_ledger_open (argv[2], NULL);
  if (ledger == NULL)
    return 1;
  if (strcmp (argv[1], "record") == 0)
    record (ledger);
  else if (strcmp (argv[1], "import") == 0)
    import (ledger);
  say (1);

  return 0;
}
