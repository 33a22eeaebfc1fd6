/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "qm-ledger-private.h"

#define USUAL_LIMIT 50

/* As long as the longest prefix that is indexed. */
#define LONGEST_PREFIX 12

/* ----------------------------------------------------------------------- the words */

/* Letters of Chinese and Japanese stand for words, which nothing parts. */
static gboolean
stands_alone (gunichar c)
{
  GUnicodeScript script = g_unichar_get_script (c);

  return script == G_UNICODE_SCRIPT_HAN || script == G_UNICODE_SCRIPT_HIRAGANA || script == G_UNICODE_SCRIPT_KATAKANA;
}

static void
append_words (GString    *words,
              const char *text)
{
  for (const char *c = text != NULL ? text : ""; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar letter = g_utf8_get_char (c);
      gboolean alone = stands_alone (letter);

      if (alone || !g_unichar_isalnum (letter))
        g_string_append_c (words, ' ');
      if (g_unichar_isalnum (letter))
        g_string_append_unichar (words, letter);
      if (alone)
        g_string_append_c (words, ' ');
    }
  g_string_append_c (words, ' ');
}

/* A word that stands for a whole value, so that it is found exactly. */
static void
append_facet (GString    *words,
              char        kind,
              const char *value)
{
  g_autofree char *sum = value != NULL ? g_compute_checksum_for_string (G_CHECKSUM_SHA256, value, -1) : NULL;

  if (sum != NULL)
    g_string_append_printf (words, " q%c%.16s ", kind, sum);
}

static void
append_tags (GString     *words,
             const QmRun *run)
{
  for (guint i = 0; i < run->tags->len; i++)
    {
      append_words (words, g_ptr_array_index (run->tags, i));
      append_facet (words, 't', g_ptr_array_index (run->tags, i));
    }
}

static gboolean
is_removed (QmLedger  *self,
            gint64     id)
{
  sqlite3_stmt *statement = qm_ledger_query (self, NULL, "SELECT 1 FROM runs WHERE id = ? AND removed IS NULL", "i", id);
  gboolean there = statement != NULL && qm_ledger_step (self, NULL, statement) > 0;

  if (there)
    sqlite3_reset (statement);

  return !there;
}

/**
 * qm_ledger_index_run:
 * @self: a ledger
 * @id: the number of a run
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Writes anew by which words the run is found; by none where it was removed.
 *
 * Returns: whether they were written
 */
gboolean
qm_ledger_index_run (QmLedger  *self,
                     gint64     id,
                     GError   **error)
{
  g_autoptr (GString) words = g_string_new (NULL);
  g_autoptr (QmRun) run = NULL;

  if (is_removed (self, id))
    return qm_ledger_run (self, error, "DELETE FROM words WHERE rowid = ?", "i", id);

  run = qm_ledger_get (self, id, error);
  if (run == NULL)
    return FALSE;

  append_words (words, run->label);
  append_words (words, run->command);
  append_words (words, run->machine);
  append_words (words, run->device);
  append_words (words, run->model);
  append_words (words, run->note);
  append_words (words, qm_run_status_to_word (run->status));
  append_words (words, qm_run_source_to_word (run->source));
  append_facet (words, 'd', run->device);
  append_facet (words, 'm', run->model);
  append_tags (words, run);

  return qm_ledger_run (self, error, "INSERT OR REPLACE INTO words (rowid, text) VALUES (?, ?)", "is", id, words->str);
}

/* --------------------------------------------------------------------- the question */

/* Cut to the prefixes that are indexed: what is longer is rarely told apart
 * only behind its twelfth letter. */
static void
append_prefix (GString    *match,
               const char *word)
{
  glong letters = MIN (g_utf8_strlen (word, -1), LONGEST_PREFIX);

  g_string_append_printf (match, " \"%.*s\" *", (int) (g_utf8_offset_to_pointer (word, letters) - word), word);
}

static void
append_exactly (GString    *match,
                char        kind,
                const char *value)
{
  g_autoptr (GString) facet = g_string_new (NULL);

  append_facet (facet, kind, value);
  if (facet->len > 0)
    g_string_append (match, facet->str);
}

/* In the language of FTS5; empty where everything is wanted. */
static char *
match_of (const QmLedgerQuery *query)
{
  GString *match = g_string_new (NULL);
  g_autoptr (GString) plain = g_string_new (NULL);
  g_auto (GStrv) words = NULL;

  append_words (plain, query->text);
  words = g_strsplit (plain->str, " ", -1);
  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0')
      append_prefix (match, words[i]);
  append_exactly (match, 'd', query->device);
  append_exactly (match, 'm', query->model);
  append_exactly (match, 't', query->tag);

  return g_string_free (match, FALSE);
}

#define COLUMNS "id, uid, started, seconds, status, source, exit_status, label, machine, device, devices, model, unit, throughput, step_seconds, memory_bytes"

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

/* Without bounds: where words are frequent each and never together, the index
 * goes through all of them in any case before it says so. */
static gboolean
find_latest (QmLedger            *self,
             const QmLedgerQuery *query,
             const char          *match,
             guint                limit,
             QmLedgerPage        *page,
             GError             **error)
{
  gint64 before = query->before > 0 ? query->before : newest_id (self) + 1;
  sqlite3_stmt *statement =
    match[0] != '\0'
      ? qm_ledger_query (self, error,
                         "SELECT " COLUMNS " FROM (SELECT rowid AS found FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?)"
                         " JOIN runs ON id = found ORDER BY id DESC", "sii", match, before, (gint64) limit)
      : qm_ledger_query (self, error, "SELECT " COLUMNS " FROM runs WHERE id < ? AND removed IS NULL ORDER BY id DESC LIMIT ?", "ii",
                         before, (gint64) limit);

  if (!take_rows (self, statement, page->runs, error))
    return FALSE;
  if (page->runs->len == limit)
    page->next = ((QmRun *) g_ptr_array_index (page->runs, limit - 1))->id;

  return TRUE;
}

static const char * const sort_columns[] = {
  NULL, "started", "label", "model", "device", "seconds", "throughput", "memory_bytes",
};

static gboolean
find_sorted (QmLedger            *self,
             const QmLedgerQuery *query,
             const char          *match,
             guint                limit,
             QmLedgerPage        *page,
             GError             **error)
{
  const char *column = sort_columns[query->sort];
  const char *way = query->ascending ? "ASC" : "DESC";
  g_autofree char *sql = NULL;

  if (match[0] == '\0')
    {
      sql = g_strdup_printf ("SELECT " COLUMNS " FROM runs WHERE removed IS NULL AND %s IS NOT NULL ORDER BY %s %s LIMIT ? OFFSET ?",
                             column, column, way);
      return take_rows (self, qm_ledger_query (self, error, sql, "ii", (gint64) limit, (gint64) query->offset), page->runs, error);
    }

  sql = g_strdup_printf ("SELECT " COLUMNS " FROM (SELECT rowid AS found FROM words WHERE words MATCH ? ORDER BY rowid DESC"
                         " LIMIT %d) JOIN runs ON id = found ORDER BY %s %s NULLS LAST LIMIT ? OFFSET ?", QM_LEDGER_MOST_SORTED, column, way);
  return take_rows (self, qm_ledger_query (self, error, sql, "sii", match, (gint64) limit, (gint64) query->offset), page->runs, error);
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
 * Takes less than a frame in a ledger of a million runs, except for words that are
 * frequent each and never together, which may take two.
 *
 * Returns: whether it worked
 */
gboolean
qm_ledger_find (QmLedger             *self,
                const QmLedgerQuery  *query,
                QmLedgerPage         *page,
                GError              **error)
{
  g_autofree char *match = match_of (query);
  guint limit = query->limit > 0 ? query->limit : USUAL_LIMIT;
  gboolean ok;

  *page = (QmLedgerPage) { g_ptr_array_new_with_free_func ((GDestroyNotify) qm_run_free), 0 };
  if (query->sort == QM_LEDGER_SORT_ADDED)
    ok = find_latest (self, query, match, limit, page, error);
  else
    ok = find_sorted (self, query, match, limit, page, error);
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
