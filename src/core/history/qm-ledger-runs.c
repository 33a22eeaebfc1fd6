/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include "qm-error.h"
#include "qm-ledger-private.h"

static gboolean
write_figures (QmLedger     *self,
               const QmRun  *run,
               GError      **error)
{
  if (!qm_ledger_run (self, error, "DELETE FROM figures WHERE run = ?", "i", run->id))
    return FALSE;

  for (guint i = 0; i < run->figures->len; i++)
    {
      const QmFigure *figure = &g_array_index (run->figures, QmFigure, i);

      if (!qm_ledger_run (self, error, "INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?)", "isdddd", run->id, figure->key,
                          figure->predicted.p10, figure->predicted.p50, figure->predicted.p90, figure->measured))
        return FALSE;
    }

  return TRUE;
}

static gboolean
write_tags (QmLedger             *self,
            gint64                id,
            const char * const   *tags,
            guint                 n,
            GError              **error)
{
  if (!qm_ledger_run (self, error, "DELETE FROM tags WHERE run = ?", "i", id))
    return FALSE;

  for (guint i = 0; i < n; i++)
    if (!qm_ledger_run (self, error, "INSERT OR IGNORE INTO tags VALUES (?, ?)", "is", id, tags[i]))
      return FALSE;

  return TRUE;
}

static gboolean
write_all (QmLedger     *self,
           const QmRun  *run,
           GError      **error)
{
  return qm_ledger_index_run (self, run->id, FALSE, error) &&
         qm_ledger_run (self, error,
                        "UPDATE runs SET started = ?, seconds = ?, status = ?, source = ?, exit_status = ?, label = ?, command = ?,"
                        " machine = ?, device = ?, devices = ?, model = ?, unit = ?, plan = ?, diagnosis = ?, note = ?,"
                        " throughput = ?, step_seconds = ?, memory_bytes = ? WHERE id = ?",
                        "idssissssisssssdddi", run->started, run->seconds, qm_run_status_to_word (run->status),
                        qm_run_source_to_word (run->source), (gint64) run->exit_status, run->label, run->command, run->machine,
                        run->device, (gint64) run->devices, run->model, run->unit, run->plan, run->diagnosis, run->note,
                        qm_run_measured (run, "throughput.per_second"), qm_run_measured (run, "throughput.step_seconds"),
                        qm_run_measured (run, "memory.per_device_bytes"), run->id) &&
         write_figures (self, run, error) &&
         write_tags (self, run->id, (const char * const *) run->tags->pdata, run->tags->len, error) &&
         qm_ledger_index_run (self, run->id, TRUE, error);
}

/**
 * qm_ledger_has:
 * @self: a ledger
 * @uid: of a run
 * @has: (out): whether it is there, and not removed
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: whether it could be looked up
 */
gboolean
qm_ledger_has (QmLedger    *self,
               const char  *uid,
               gboolean    *has,
               GError     **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, "SELECT 1 FROM runs WHERE uid = ? AND removed IS NULL", "s", uid);
  int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;

  if (result < 0)
    return FALSE;

  *has = result > 0;
  sqlite3_reset (statement);

  return TRUE;
}

/* A run that was removed gives its place to the same one, come again. */
static gboolean
forget_removed (QmLedger    *self,
                const char  *uid,
                GError     **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, "SELECT id FROM runs WHERE uid = ? AND removed IS NOT NULL", "s", uid);
  int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;
  gint64 id;

  if (result <= 0)
    return result == 0;

  id = sqlite3_column_int64 (statement, 0);
  sqlite3_reset (statement);

  return qm_ledger_run (self, error, "DELETE FROM samples WHERE run = ?", "i", id) &&
         qm_ledger_run (self, error, "DELETE FROM series WHERE run = ?", "i", id) &&
         qm_ledger_run (self, error, "DELETE FROM figures WHERE run = ?", "i", id) &&
         qm_ledger_run (self, error, "DELETE FROM tags WHERE run = ?", "i", id) &&
         qm_ledger_run (self, error, "DELETE FROM runs WHERE id = ?", "i", id);
}

static gboolean
add_all (QmLedger        *self,
         QmRun           *run,
         const QmSeries  *series,
         GError         **error)
{
  if (!forget_removed (self, run->uid, error))
    return FALSE;
  if (!qm_ledger_run (self, error, "INSERT INTO runs (uid, started, status, source, label) VALUES (?, 0, '', '', '')", "s", run->uid))
    return FALSE;
  run->id = sqlite3_last_insert_rowid (self->db);

  if (!write_all (self, run, error))
    return FALSE;
  if (series == NULL)
    return TRUE;
  if (!qm_ledger_start_series (self, run->id, series, error))
    return FALSE;
  for (guint i = 0; i < qm_series_length (series); i++)
    if (!qm_ledger_add_sample (self, run->id, g_array_index (series->times, double, i),
                               &g_array_index (series->values, float, i * series->channels->len), series->channels->len, error))
      return FALSE;

  return TRUE;
}

/**
 * qm_ledger_add:
 * @self: a ledger
 * @run: a run that is not in it; gets its number
 * @series: (nullable): what was measured over its time
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: whether it was added
 */
gboolean
qm_ledger_add (QmLedger        *self,
               QmRun           *run,
               const QmSeries  *series,
               GError         **error)
{
  if (!qm_ledger_begin (self, error))
    return FALSE;
  if (add_all (self, run, series, error))
    return qm_ledger_commit (self, error);

  qm_ledger_roll_back (self);
  run->id = 0;

  return FALSE;
}

/**
 * qm_ledger_update:
 * @self: a ledger
 * @run: a run of it
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Writes everything of @run but its number and uid.
 *
 * Returns: whether it was written
 */
gboolean
qm_ledger_update (QmLedger     *self,
                  const QmRun  *run,
                  GError      **error)
{
  if (!qm_ledger_begin (self, error))
    return FALSE;
  if (write_all (self, run, error))
    return qm_ledger_commit (self, error);

  qm_ledger_roll_back (self);
  return FALSE;
}

static gboolean
read_figures (QmLedger  *self,
              QmRun     *run,
              GError   **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, "SELECT key, p10, p50, p90, measured FROM figures WHERE run = ?", "i", run->id);
  int result = -1;

  while (statement != NULL && (result = qm_ledger_step (self, error, statement)) > 0)
    {
      QmFigure *figure = qm_run_ensure_figure (run, (const char *) sqlite3_column_text (statement, 0));

      figure->predicted = (QmRange) { qm_ledger_number (statement, 1), qm_ledger_number (statement, 2), qm_ledger_number (statement, 3) };
      figure->measured = qm_ledger_number (statement, 4);
    }

  return result == 0;
}

/**
 * qm_ledger_read_tags:
 * @self: a ledger
 * @run: a run of it
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Adds its tags to @run.
 *
 * Returns: whether they were read
 */
gboolean
qm_ledger_read_tags (QmLedger  *self,
                     QmRun     *run,
                     GError   **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, "SELECT tag FROM tags WHERE run = ?", "i", run->id);
  int result = -1;

  while (statement != NULL && (result = qm_ledger_step (self, error, statement)) > 0)
    qm_run_add_tag (run, (const char *) sqlite3_column_text (statement, 0));

  return result == 0;
}

static QmRun *
run_of_row (sqlite3_stmt *statement)
{
  QmRun *run = qm_run_new ((const char *) sqlite3_column_text (statement, 1));

  run->id = sqlite3_column_int64 (statement, 0);
  run->started = sqlite3_column_int64 (statement, 2);
  run->seconds = qm_ledger_number (statement, 3);
  run->status = qm_run_status_from_word ((const char *) sqlite3_column_text (statement, 4));
  run->source = qm_run_source_from_word ((const char *) sqlite3_column_text (statement, 5));
  run->exit_status = sqlite3_column_int (statement, 6);
  g_set_str (&run->label, (const char *) sqlite3_column_text (statement, 7));
  run->command = qm_ledger_column (statement, 8);
  run->machine = qm_ledger_column (statement, 9);
  run->device = qm_ledger_column (statement, 10);
  run->devices = sqlite3_column_int (statement, 11);
  run->model = qm_ledger_column (statement, 12);
  run->unit = qm_ledger_column (statement, 13);
  run->plan = qm_ledger_column (statement, 14);
  run->diagnosis = qm_ledger_column (statement, 15);
  run->note = qm_ledger_column (statement, 16);

  return run;
}

static void
set_not_found (QmLedger  *self,
               gint64     id,
               GError   **error)
{
  qm_error_set (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_NOT_FOUND, NULL, N_("there is no run {id} in the ledger"), "#id", (double) id, NULL);
}

/**
 * qm_ledger_get:
 * @self: a ledger
 * @id: the number of a run
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: (transfer full) (nullable): everything of the run but its series
 */
QmRun *
qm_ledger_get (QmLedger  *self,
               gint64     id,
               GError   **error)
{
  sqlite3_stmt *statement =
    qm_ledger_query (self, error,
                     "SELECT id, uid, started, seconds, status, source, exit_status, label, command, machine, device, devices, model,"
                     " unit, plan, diagnosis, note FROM runs WHERE id = ? AND removed IS NULL", "i", id);
  g_autoptr (QmRun) run = NULL;
  int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;

  if (result == 0)
    set_not_found (self, id, error);
  if (result <= 0)
    return NULL;

  run = run_of_row (statement);
  sqlite3_reset (statement);
  if (!read_figures (self, run, error) || !qm_ledger_read_tags (self, run, error))
    return NULL;

  return g_steal_pointer (&run);
}

/* ------------------------------------------------------------------------- changes */

static gboolean
change (QmLedger    *self,
        gint64       id,
        const char  *sql,
        const char  *text,
        GError     **error)
{
  if (!qm_ledger_run (self, error, sql, "si", text, id))
    return FALSE;
  if (sqlite3_changes (self->db) > 0)
    return TRUE;

  set_not_found (self, id, error);
  return FALSE;
}

/**
 * qm_ledger_set_note:
 * @self: a ledger
 * @id: the number of a run
 * @note: (nullable): what the person has to say of it
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: whether it was written
 */
gboolean
qm_ledger_set_note (QmLedger    *self,
                    gint64       id,
                    const char  *note,
                    GError     **error)
{
  if (!qm_ledger_begin (self, error))
    return FALSE;
  if (qm_ledger_index_run (self, id, FALSE, error) &&
      change (self, id, "UPDATE runs SET note = ? WHERE id = ? AND removed IS NULL", note, error) &&
      qm_ledger_index_run (self, id, TRUE, error))
    return qm_ledger_commit (self, error);

  qm_ledger_roll_back (self);
  return FALSE;
}

/**
 * qm_ledger_set_tags:
 * @self: a ledger
 * @id: the number of a run
 * @tags: (array zero-terminated=1): all its tags
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: whether they were written
 */
gboolean
qm_ledger_set_tags (QmLedger            *self,
                    gint64               id,
                    const char * const  *tags,
                    GError             **error)
{
  g_autoptr (QmRun) run = qm_ledger_get (self, id, error);

  if (run == NULL)
    return FALSE;

  g_ptr_array_set_size (run->tags, 0);
  for (guint i = 0; tags[i] != NULL; i++)
    qm_run_add_tag (run, tags[i]);

  return qm_ledger_update (self, run, error);
}

static gboolean
mark (QmLedger    *self,
      gint64       id,
      const char  *sql,
      gint64       now,
      GError     **error)
{
  if (!qm_ledger_index_run (self, id, FALSE, error) || !qm_ledger_run (self, error, sql, "ii", id, now))
    return FALSE;
  if (sqlite3_changes (self->db) > 0)
    return qm_ledger_index_run (self, id, TRUE, error);

  set_not_found (self, id, error);
  return FALSE;
}

static gboolean
mark_together (QmLedger    *self,
               gint64       id,
               const char  *sql,
               gint64       now,
               GError     **error)
{
  if (!qm_ledger_begin (self, error))
    return FALSE;
  if (mark (self, id, sql, now, error))
    return qm_ledger_commit (self, error);

  qm_ledger_roll_back (self);
  return FALSE;
}

/**
 * qm_ledger_remove:
 * @self: a ledger
 * @id: the number of a run
 * @now: microseconds since 1970, UTC
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * The run is found no more, and can be had back by qm_ledger_restore() until
 * qm_ledger_purge().
 *
 * Returns: whether it was removed
 */
gboolean
qm_ledger_remove (QmLedger  *self,
                  gint64     id,
                  gint64     now,
                  GError   **error)
{
  return mark_together (self, id, "UPDATE runs SET removed = ?2 WHERE id = ?1 AND removed IS NULL", now, error);
}

/**
 * qm_ledger_restore:
 * @self: a ledger
 * @id: the number of a run that was removed
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: whether it is there again
 */
gboolean
qm_ledger_restore (QmLedger  *self,
                   gint64     id,
                   GError   **error)
{
  return mark_together (self, id, "UPDATE runs SET removed = NULL WHERE id = ?1 AND removed > ?2", 0, error);
}

/**
 * qm_ledger_purge:
 * @self: a ledger
 * @before: microseconds since 1970, UTC
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * What was removed before then is gone for good.
 *
 * Returns: whether it worked
 */
gboolean
qm_ledger_purge (QmLedger  *self,
                 gint64     before,
                 GError   **error)
{
  static const char * const tables[] = { "samples", "series", "figures", "tags" };

  if (!qm_ledger_begin (self, error))
    return FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autofree char *sql = g_strdup_printf ("DELETE FROM %s WHERE run IN (SELECT id FROM runs WHERE removed < ?)", tables[i]);

      if (!qm_ledger_run (self, error, sql, "i", before))
        goto failed;
    }
  if (qm_ledger_run (self, error, "DELETE FROM runs WHERE removed < ?", "i", before))
    return qm_ledger_commit (self, error);

failed:
  qm_ledger_roll_back (self);
  return FALSE;
}
