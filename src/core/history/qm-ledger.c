/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-ledger-private.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-error.h"
#include "qm-json-writer.h"

QM_DEFINE_ERROR_DOMAIN ("qm-ledger-error-quark", qm_ledger_error_quark)

G_DEFINE_FINAL_TYPE (QmLedger, qm_ledger, G_TYPE_OBJECT)

/* Another program holds the file for the moment of a change. */
#define PATIENCE_MILLISECONDS 10000

static void
qm_ledger_finalize (GObject *object)
{
  QmLedger *self = QM_LEDGER (object);

  g_hash_table_unref (self->statements);
  g_hash_table_unref (self->pending);
  sqlite3_close_v2 (self->db);
  g_free (self->path);

  G_OBJECT_CLASS (qm_ledger_parent_class)->finalize (object);
}

static void
qm_ledger_class_init (QmLedgerClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_ledger_finalize;
}

static void
qm_ledger_init (QmLedger *self)
{
  self->statements = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) sqlite3_finalize);
  self->pending = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);
}

/* -------------------------------------------------------------------- statements */

/**
 * qm_ledger_set_error:
 * @self: a ledger
 * @error: return location
 * @result: of SQLite
 *
 * Says what went wrong, and with which file.
 */
void
qm_ledger_set_error (QmLedger  *self,
                     GError   **error,
                     int        result)
{
  switch (result & 0xff)
    {
    case SQLITE_CORRUPT:
      qm_error_set (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_DAMAGED, NULL,
                    N_("the ledger is damaged, and was left as it is; move it away to begin a new one"), NULL);
      break;
    case SQLITE_NOTADB:
      qm_error_set (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_FORMAT, NULL, N_("it is no ledger of runs, or its beginning is damaged; it was left as it is"), NULL);
      break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      qm_error_set (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_BUSY, NULL, N_("another program is changing it; try again"), NULL);
      break;
    case SQLITE_FULL:
      qm_error_set (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_FAILED, NULL, N_("the disk is full"), NULL);
      break;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      qm_error_set (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_FAILED, NULL, N_("it cannot be opened for writing"), NULL);
      break;
    default:
      qm_error_set (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_FAILED, NULL, N_("it cannot be used: {reason}"), "reason",
                    self->db != NULL ? sqlite3_errmsg (self->db) : sqlite3_errstr (result), NULL);
      break;
    }
  if (error != NULL)
    qm_error_locate (*error, self->path, 0);
}

static void
bind (sqlite3_stmt *statement,
      const char   *types,
      va_list       values)
{
  for (int i = 0; types[i] != '\0'; i++)
    {
      const char *text;

      switch (types[i])
        {
        case 'i':
          sqlite3_bind_int64 (statement, i + 1, va_arg (values, gint64));
          break;
        case 'd':
          sqlite3_bind_double (statement, i + 1, va_arg (values, double));
          break;
        default:
          text = va_arg (values, const char *);
          sqlite3_bind_text (statement, i + 1, text, -1, SQLITE_TRANSIENT);
          break;
        }
    }
}

static sqlite3_stmt *
query_valist (QmLedger    *self,
              GError     **error,
              const char  *sql,
              const char  *types,
              va_list      values)
{
  sqlite3_stmt *statement = g_hash_table_lookup (self->statements, sql);

  if (statement == NULL)
    {
      int result = sqlite3_prepare_v3 (self->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);

      if (result != SQLITE_OK)
        {
          qm_ledger_set_error (self, error, result);
          return NULL;
        }
      g_hash_table_insert (self->statements, g_strdup (sql), statement);
    }

  sqlite3_reset (statement);
  sqlite3_clear_bindings (statement);
  bind (statement, types, values);

  return statement;
}

/**
 * qm_ledger_query:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 * @sql: one statement
 * @types: what fills its places: `i` a gint64, `d` a double of which NaN is
 *   NULL, `s` a text or %NULL
 * @...: the values
 *
 * Returns: (transfer none) (nullable): the statement, prepared once; to be
 *   reset by the caller unless it is stepped to its end
 */
sqlite3_stmt *
qm_ledger_query (QmLedger    *self,
                 GError     **error,
                 const char  *sql,
                 const char  *types,
                 ...)
{
  sqlite3_stmt *statement;
  va_list values;

  va_start (values, types);
  statement = query_valist (self, error, sql, types, values);
  va_end (values);

  return statement;
}

/**
 * qm_ledger_step:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 * @statement: of qm_ledger_query()
 *
 * Returns: 1 where there is a row, 0 at the end, -1 with @error set
 */
int
qm_ledger_step (QmLedger      *self,
                GError       **error,
                sqlite3_stmt  *statement)
{
  int result = sqlite3_step (statement);

  if (result == SQLITE_ROW)
    return 1;

  if (result != SQLITE_DONE)
    qm_ledger_set_error (self, error, result);
  sqlite3_reset (statement);

  return result == SQLITE_DONE ? 0 : -1;
}

/**
 * qm_ledger_run:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 * @sql: one statement
 * @types: as of qm_ledger_query()
 * @...: the values
 *
 * Returns: whether the statement was carried out
 */
gboolean
qm_ledger_run (QmLedger    *self,
               GError     **error,
               const char  *sql,
               const char  *types,
               ...)
{
  sqlite3_stmt *statement;
  va_list values;
  int result = 1;

  va_start (values, types);
  statement = query_valist (self, error, sql, types, values);
  va_end (values);
  while (statement != NULL && result > 0)
    result = qm_ledger_step (self, error, statement);

  return statement != NULL && result == 0;
}

/**
 * qm_ledger_execute:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 * @sql: statements without places
 *
 * Returns: whether they were carried out
 */
gboolean
qm_ledger_execute (QmLedger    *self,
                   GError     **error,
                   const char  *sql)
{
  int result = sqlite3_exec (self->db, sql, NULL, NULL, NULL);

  if (result != SQLITE_OK)
    qm_ledger_set_error (self, error, result);

  return result == SQLITE_OK;
}

/**
 * qm_ledger_column:
 * @statement: a row
 * @column: which
 *
 * Returns: (transfer full) (nullable): its text; %NULL where there is none
 */
char *
qm_ledger_column (sqlite3_stmt *statement,
                  int           column)
{
  return g_strdup ((const char *) sqlite3_column_text (statement, column));
}

/**
 * qm_ledger_number:
 * @statement: a row
 * @column: which
 *
 * Returns: its number; NaN where there is none
 */
double
qm_ledger_number (sqlite3_stmt *statement,
                  int           column)
{
  return sqlite3_column_type (statement, column) == SQLITE_NULL ? NAN : sqlite3_column_double (statement, column);
}

/* ------------------------------------------------------------------ open and change */

/**
 * qm_ledger_open:
 * @path: a file; made where it is not there, in a folder that is
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: (transfer full) (nullable): the ledger; %NULL where the file is
 *   damaged or none: it then stays as it is
 */
QmLedger *
qm_ledger_open (const char  *path,
                GError     **error)
{
  g_autoptr (QmLedger) self = g_object_new (QM_TYPE_LEDGER, NULL);
  int result;

  self->path = g_strdup (path);
  result = sqlite3_open_v2 (path, &self->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
  if (result != SQLITE_OK)
    {
      qm_ledger_set_error (self, error, result);
      return NULL;
    }
  sqlite3_busy_timeout (self->db, PATIENCE_MILLISECONDS);
  if (!qm_ledger_prepare_file (self, error))
    return NULL;

  return g_steal_pointer (&self);
}

/**
 * qm_ledger_get_path:
 * @self: a ledger
 *
 * Returns: (transfer none): the file
 */
const char *
qm_ledger_get_path (QmLedger *self)
{
  return self->path;
}

/**
 * qm_ledger_set_patient:
 * @self: a ledger
 * @patient: whether a change waits while another program changes the file, as it
 *   does at first; else it fails with %QM_LEDGER_ERROR_BUSY
 */
void
qm_ledger_set_patient (QmLedger *self,
                       gboolean  patient)
{
  sqlite3_busy_timeout (self->db, patient ? PATIENCE_MILLISECONDS : 0);
}

/**
 * qm_ledger_begin:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * What follows is kept together by qm_ledger_commit(), or not at all. May be
 * nested; the outermost counts.
 *
 * Returns: whether it has begun
 */
gboolean
qm_ledger_begin (QmLedger  *self,
                 GError   **error)
{
  if (self->depth == 0 && !qm_ledger_execute (self, error, "BEGIN IMMEDIATE"))
    return FALSE;

  self->depth++;
  return TRUE;
}

/**
 * qm_ledger_commit:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: whether all that was changed since qm_ledger_begin() is kept; where
 *   it is not, nothing is
 */
gboolean
qm_ledger_commit (QmLedger  *self,
                  GError   **error)
{
  if (self->depth > 1)
    {
      self->depth--;
      return TRUE;
    }
  if (self->depth == 1 && qm_ledger_write_words (self, error) && qm_ledger_execute (self, error, "COMMIT"))
    {
      self->depth = 0;
      return TRUE;
    }

  qm_ledger_roll_back (self);
  return FALSE;
}

/**
 * qm_ledger_roll_back:
 * @self: a ledger
 *
 * Undoes everything since the outermost qm_ledger_begin().
 */
void
qm_ledger_roll_back (QmLedger *self)
{
  if (self->depth > 0 && !sqlite3_get_autocommit (self->db))
    sqlite3_exec (self->db, "ROLLBACK", NULL, NULL, NULL);
  self->depth = 0;
  qm_ledger_forget_words (self);
}

/**
 * qm_ledger_count:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: how many runs there are; -1 with @error set
 */
gint64
qm_ledger_count (QmLedger  *self,
                 GError   **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, "SELECT runs FROM totals", "");
  gint64 count = -1;

  if (statement != NULL && qm_ledger_step (self, error, statement) > 0)
    {
      count = sqlite3_column_int64 (statement, 0);
      sqlite3_reset (statement);
    }

  return count;
}
