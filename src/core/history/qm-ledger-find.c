/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "qm-ledger-private.h"

#define USUAL_LIMIT 50

/* What a run must have to be found; empty where everything is wanted. */
static GHashTable *
terms_of (const QmLedgerQuery *query)
{
  GHashTable *terms = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  qm_ledger_add_words (terms, query->text);
  qm_ledger_add_facet (terms, 'd', query->device);
  qm_ledger_add_facet (terms, 'm', query->model);
  qm_ledger_add_facet (terms, 't', query->tag);

  return terms;
}

#define COLUMNS "runs.id, uid, started, seconds, status, source, exit_status, label, machine, device, devices, model, unit, throughput, step_seconds, memory_bytes"

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
  run->machine = qm_ledger_column (statement, 8);
  run->device = qm_ledger_column (statement, 9);
  run->devices = sqlite3_column_int (statement, 10);
  run->model = qm_ledger_column (statement, 11);
  run->unit = qm_ledger_column (statement, 12);
  qm_run_set_measured (run, "throughput.per_second", qm_ledger_number (statement, 13));
  qm_run_set_measured (run, "throughput.step_seconds", qm_ledger_number (statement, 14));
  qm_run_set_measured (run, "memory.per_device_bytes", qm_ledger_number (statement, 15));

  return run;
}

/* How far off the prediction was stands beside each run. */
static gboolean
read_prediction (QmLedger  *self,
                 QmRun     *run,
                 GError   **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, "SELECT p10, p50, p90 FROM figures WHERE run = ? AND key = 'throughput.per_second'", "i", run->id);
  int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;

  if (result > 0)
    {
      qm_run_ensure_figure (run, "throughput.per_second")->predicted =
        (QmRange) { qm_ledger_number (statement, 0), qm_ledger_number (statement, 1), qm_ledger_number (statement, 2) };
      sqlite3_reset (statement);
    }

  return result >= 0;
}

static gboolean
take_rows (QmLedger      *self,
           sqlite3_stmt  *statement,
           GPtrArray     *runs,
           GError       **error)
{
  int result = -1;

  while (statement != NULL && (result = qm_ledger_step (self, error, statement)) > 0)
    g_ptr_array_add (runs, run_of_row (statement));
  for (guint i = 0; result == 0 && i < runs->len; i++)
    if (!qm_ledger_read_tags (self, g_ptr_array_index (runs, i), error) || !read_prediction (self, g_ptr_array_index (runs, i), error))
      return FALSE;

  return result == 0;
}

static gint64
newest_id (QmLedger *self)
{
  sqlite3_stmt *statement = qm_ledger_query (self, NULL, "SELECT max (id) FROM runs", "");
  gint64 id = 0;

  if (statement != NULL && qm_ledger_step (self, NULL, statement) > 0)
    {
      id = sqlite3_column_int64 (statement, 0);
      sqlite3_reset (statement);
    }

  return id;
}

/* As a list of JSON, which a statement can go through. */
static char *
list_of (const GArray *ids)
{
  g_autoptr (GString) text = g_string_new ("[");

  for (guint i = 0; i < ids->len; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", g_array_index (ids, gint64, i));

  return g_string_free (g_string_append_c (g_steal_pointer (&text), ']'), FALSE);
}

static gboolean
find_latest (QmLedger            *self,
             const QmLedgerQuery *query,
             GHashTable          *terms,
             guint                limit,
             QmLedgerPage        *page,
             GError             **error)
{
  gint64 before = query->before > 0 ? query->before : newest_id (self) + 1;
  g_autoptr (GArray) ids = NULL;
  g_autofree char *list = NULL;
  sqlite3_stmt *statement;

  if (g_hash_table_size (terms) == 0)
    statement = qm_ledger_query (self, error, "SELECT " COLUMNS " FROM runs WHERE id < ? AND removed IS NULL ORDER BY id DESC LIMIT ?", "ii",
                                 before, (gint64) limit);
  else
    {
      ids = qm_ledger_find_words (self, terms, before, limit, error);
      if (ids == NULL)
        return FALSE;
      list = list_of (ids);
      statement = qm_ledger_query (self, error, "SELECT " COLUMNS " FROM json_each (?) JOIN runs ON runs.id = value WHERE removed IS NULL"
                                   " ORDER BY runs.id DESC", "s", list);
    }

  if (!take_rows (self, statement, page->runs, error))
    return FALSE;
  if ((ids != NULL ? ids->len : page->runs->len) == limit)
    page->next = ids != NULL ? g_array_index (ids, gint64, limit - 1) : ((QmRun *) g_ptr_array_index (page->runs, limit - 1))->id;

  return TRUE;
}

static const char * const sort_columns[] = {
  NULL, "started", "label", "model", "device", "seconds", "throughput", "memory_bytes",
};

static gboolean
find_sorted (QmLedger            *self,
             const QmLedgerQuery *query,
             GHashTable          *terms,
             guint                limit,
             QmLedgerPage        *page,
             GError             **error)
{
  const char *column = sort_columns[query->sort];
  const char *way = query->ascending ? "ASC" : "DESC";
  g_autofree char *sql = NULL, *list = NULL;
  g_autoptr (GArray) ids = NULL;

  if (g_hash_table_size (terms) == 0)
    {
      sql = g_strdup_printf ("SELECT " COLUMNS " FROM runs WHERE removed IS NULL AND %s IS NOT NULL ORDER BY %s %s LIMIT ? OFFSET ?",
                             column, column, way);
      return take_rows (self, qm_ledger_query (self, error, sql, "ii", (gint64) limit, (gint64) query->offset), page->runs, error);
    }

  ids = qm_ledger_find_words (self, terms, newest_id (self) + 1, QM_LEDGER_MOST_SORTED, error);
  if (ids == NULL)
    return FALSE;
  list = list_of (ids);
  sql = g_strdup_printf ("SELECT " COLUMNS " FROM json_each (?) JOIN runs ON runs.id = value WHERE removed IS NULL"
                         " ORDER BY runs.%s %s NULLS LAST LIMIT ? OFFSET ?", column, way);
  return take_rows (self, qm_ledger_query (self, error, sql, "sii", list, (gint64) limit, (gint64) query->offset), page->runs, error);
}

/**
 * qm_ledger_page_clear:
 * @self: a page
 *
 * Frees what is in it.
 */
void
qm_ledger_page_clear (QmLedgerPage *self)
{
  g_clear_pointer (&self->runs, g_ptr_array_unref);
}

/**
 * qm_ledger_find:
 * @self: a ledger
 * @query: what is wanted
 * @page: (out caller-allocates): what was found
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Takes less than a frame in a ledger of a million runs.
 *
 * Returns: whether it worked
 */
gboolean
qm_ledger_find (QmLedger             *self,
                const QmLedgerQuery  *query,
                QmLedgerPage         *page,
                GError              **error)
{
  g_autoptr (GHashTable) terms = terms_of (query);
  guint limit = query->limit > 0 ? query->limit : USUAL_LIMIT;
  gboolean ok;

  *page = (QmLedgerPage) { g_ptr_array_new_with_free_func ((GDestroyNotify) qm_run_free), 0 };
  if (query->sort == QM_LEDGER_SORT_ADDED)
    ok = find_latest (self, query, terms, limit, page, error);
  else
    ok = find_sorted (self, query, terms, limit, page, error);
  if (!ok)
    qm_ledger_page_clear (page);

  return ok;
}

/* Goes from each value to the next by the index: the rows between are never read. */
static GPtrArray *
list_values (QmLedger    *self,
             const char  *first,
             const char  *after,
             GError     **error)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  sqlite3_stmt *statement = qm_ledger_query (self, error, first, "");

  for (;;)
    {
      int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;
      char *value;

      if (result < 0)
        return NULL;
      value = result > 0 ? qm_ledger_column (statement, 0) : NULL;
      sqlite3_reset (statement);
      if (value == NULL)
        return g_steal_pointer (&values);
      g_ptr_array_add (values, value);
      statement = qm_ledger_query (self, error, after, "s", value);
    }
}

/**
 * qm_ledger_list_devices:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: (transfer full) (element-type utf8) (nullable): the devices there
 *   are runs of, sorted
 */
GPtrArray *
qm_ledger_list_devices (QmLedger  *self,
                        GError   **error)
{
  return list_values (self, "SELECT min (device) FROM runs WHERE removed IS NULL",
                      "SELECT min (device) FROM runs WHERE removed IS NULL AND device > ?", error);
}

/**
 * qm_ledger_list_models:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: (transfer full) (element-type utf8) (nullable): the models there are
 *   runs of, sorted
 */
GPtrArray *
qm_ledger_list_models (QmLedger  *self,
                       GError   **error)
{
  return list_values (self, "SELECT min (model) FROM runs WHERE removed IS NULL",
                      "SELECT min (model) FROM runs WHERE removed IS NULL AND model > ?", error);
}

/**
 * qm_ledger_list_tags:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: (transfer full) (element-type utf8) (nullable): the tags that are in
 *   use, sorted
 */
GPtrArray *
qm_ledger_list_tags (QmLedger  *self,
                     GError   **error)
{
  return list_values (self, "SELECT min (tag) FROM tags", "SELECT min (tag) FROM tags WHERE tag > ?", error);
}

/**
 * qm_ledger_list_points:
 * @self: a ledger
 * @key: path of the estimate
 * @limit: how many at the most
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: (transfer full) (element-type QmLedgerPoint) (nullable): the latest
 *   runs of which the figure was predicted and measured, the latest first
 */
GArray *
qm_ledger_list_points (QmLedger    *self,
                       const char  *key,
                       guint        limit,
                       GError     **error)
{
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (QmLedgerPoint));
  sqlite3_stmt *statement =
    qm_ledger_query (self, error,
                     "SELECT run, p10, p50, p90, measured FROM figures JOIN runs ON runs.id = run WHERE key = ? AND p50 IS NOT NULL"
                     " AND measured IS NOT NULL AND removed IS NULL ORDER BY run DESC LIMIT ?", "si", key, (gint64) limit);
  int result = -1;

  while (statement != NULL && (result = qm_ledger_step (self, error, statement)) > 0)
    {
      QmLedgerPoint point = {
        sqlite3_column_int64 (statement, 0),
        { qm_ledger_number (statement, 1), qm_ledger_number (statement, 2), qm_ledger_number (statement, 3) },
        qm_ledger_number (statement, 4),
      };

      g_array_append_val (points, point);
    }

  return result == 0 ? g_steal_pointer (&points) : NULL;
}

/**
 * qm_ledger_list_planned:
 * @self: a ledger
 * @limit: how many at the most
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: (transfer full) (element-type gint64) (nullable): the numbers of the
 *   latest runs that have a plan, the latest first
 */
GArray *
qm_ledger_list_planned (QmLedger  *self,
                        guint      limit,
                        GError   **error)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint64));
  sqlite3_stmt *statement =
    qm_ledger_query (self, error, "SELECT id FROM runs WHERE plan IS NOT NULL AND removed IS NULL ORDER BY id DESC LIMIT ?", "i", (gint64) limit);
  int result = -1;

  while (statement != NULL && (result = qm_ledger_step (self, error, statement)) > 0)
    {
      gint64 id = sqlite3_column_int64 (statement, 0);

      g_array_append_val (ids, id);
    }

  return result == 0 ? g_steal_pointer (&ids) : NULL;
}
