/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "history/qm-summary.h"
#include "qm-ledger-private.h"

/**
 * qm_ledger_start_series:
 * @self: a ledger
 * @id: the number of a run that has no series
 * @series: its channels count
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: whether samples can be added now
 */
gboolean
qm_ledger_start_series (QmLedger        *self,
                        gint64           id,
                        const QmSeries  *series,
                        GError         **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < series->channels->len; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? " " : "", (char *) g_ptr_array_index (series->channels, i));

  return qm_ledger_run (self, error, "INSERT INTO series VALUES (?, ?)", "is", id, names->str);
}

/**
 * qm_ledger_add_sample:
 * @self: a ledger
 * @id: the number of a run
 * @at: seconds since it began
 * @values: (array length=n): a value for each channel; NaN where unknown
 * @n: how many
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Adds to the series of a run. It is on the disk when this returns.
 *
 * Returns: whether it was added
 */
gboolean
qm_ledger_add_sample (QmLedger     *self,
                      gint64        id,
                      double        at,
                      const float  *values,
                      guint         n,
                      GError      **error)
{
  sqlite3_stmt *statement =
    qm_ledger_query (self, error, "INSERT INTO samples SELECT ?1, coalesce (max (number), -1) + 1, ?2, ?3 FROM samples WHERE run = ?1",
                     "id", id, at);
  g_autofree guint32 *data = g_new (guint32, MAX (n, 1));

  if (statement == NULL)
    return FALSE;

  /* little-endian on every computer: the file may be carried to another */
  memcpy (data, values, n * sizeof *values);
  for (guint i = 0; i < n; i++)
    data[i] = GUINT32_TO_LE (data[i]);
  sqlite3_bind_blob (statement, 3, data, n * sizeof *data, SQLITE_TRANSIENT);

  return qm_ledger_step (self, error, statement) == 0;
}

static gboolean
read_samples (QmLedger  *self,
              gint64     id,
              QmSeries  *series,
              GError   **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, "SELECT at, data FROM samples WHERE run = ? ORDER BY number", "i", id);
  guint n = series->channels->len;
  g_autofree guint32 *data = g_new (guint32, MAX (n, 1));
  int result = -1;

  while (statement != NULL && (result = qm_ledger_step (self, error, statement)) > 0)
    {
      if ((gsize) sqlite3_column_bytes (statement, 1) != n * sizeof *data)
        {
          sqlite3_reset (statement);
          qm_ledger_set_error (self, error, SQLITE_CORRUPT);
          return FALSE;
        }
      if (n > 0)
        memcpy (data, sqlite3_column_blob (statement, 1), n * sizeof *data);
      for (guint i = 0; i < n; i++)
        data[i] = GUINT32_FROM_LE (data[i]);
      qm_series_append (series, sqlite3_column_double (statement, 0), (const float *) data);
    }

  return result == 0;
}

/**
 * qm_ledger_get_series:
 * @self: a ledger
 * @id: the number of a run
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: (transfer full) (nullable): what was measured over its time, without
 *   channels where nothing was; %NULL with @error set
 */
QmSeries *
qm_ledger_get_series (QmLedger  *self,
                      gint64     id,
                      GError   **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, "SELECT channels FROM series WHERE run = ?", "i", id);
  g_autoptr (QmSeries) series = NULL;
  g_auto (GStrv) names = NULL;
  int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;

  if (result < 0)
    return NULL;

  names = g_strsplit (result > 0 ? (const char *) sqlite3_column_text (statement, 0) : "", " ", -1);
  sqlite3_reset (statement);
  series = qm_series_new ((const char * const *) names);
  if (!read_samples (self, id, series, error))
    return NULL;

  return g_steal_pointer (&series);
}

static gboolean
settle_run (QmLedger  *self,
            gint64     id,
            GError   **error)
{
  g_autoptr (QmRun) run = qm_ledger_get (self, id, error);
  g_autoptr (QmSeries) series = run != NULL ? qm_ledger_get_series (self, id, error) : NULL;

  if (series == NULL)
    return FALSE;

  qm_run_summarise (run, series);
  run->status = QM_RUN_STATUS_INTERRUPTED;

  return qm_ledger_update (self, run, error);
}

/**
 * qm_ledger_settle:
 * @self: a ledger
 * @before: microseconds since 1970, UTC
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Runs that are said to go on and have had no sample since then were
 * interrupted: the recorder or the machine went away. They are summed up from
 * the samples there are.
 *
 * Returns: whether it worked
 */
gboolean
qm_ledger_settle (QmLedger  *self,
                  gint64     before,
                  GError   **error)
{
  for (;;)
    {
      sqlite3_stmt *statement =
        qm_ledger_query (self, error,
                         "SELECT id FROM runs WHERE status = 'running' AND removed IS NULL AND started + 1e6 *"
                         " (SELECT coalesce (max (at), 0) FROM samples WHERE run = runs.id) < ? LIMIT 1", "i", before);
      int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;
      gint64 id;

      if (result <= 0)
        return result == 0;
      id = sqlite3_column_int64 (statement, 0);
      sqlite3_reset (statement);
      if (!settle_run (self, id, error))
        return FALSE;
    }
}
