/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "qm-error.h"
#include "qm-file.h"
#include "qm-ledger-private.h"

/* "QMLG": tells a ledger from other SQLite files. */
#define APPLICATION_ID 0x514d4c47

/* A larger file is checked only when asked: its pages take too long to read. */
#define CHECKED_BYTES (64 * 1024 * 1024)

/* What each version adds. A shipped step never changes: files hold its work. */
static const char step_1[] =
  "CREATE TABLE runs ("
  "  id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, started INTEGER NOT NULL, seconds REAL,"
  "  status TEXT NOT NULL, source TEXT NOT NULL, exit_status INTEGER, label TEXT NOT NULL, command TEXT, machine TEXT,"
  "  device TEXT, devices INTEGER, model TEXT, unit TEXT, plan TEXT, diagnosis TEXT, note TEXT,"
  "  throughput REAL, step_seconds REAL, memory_bytes REAL, removed INTEGER);"
  "CREATE TABLE figures ("
  "  run INTEGER NOT NULL, key TEXT NOT NULL, p10 REAL, p50 REAL, p90 REAL, measured REAL,"
  "  PRIMARY KEY (run, key)) WITHOUT ROWID;"
  "CREATE TABLE tags (run INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (run, tag)) WITHOUT ROWID;"
  "CREATE TABLE series (run INTEGER PRIMARY KEY, channels TEXT NOT NULL);"
  "CREATE TABLE samples ("
  "  run INTEGER NOT NULL, number INTEGER NOT NULL, at REAL NOT NULL, data BLOB NOT NULL,"
  "  PRIMARY KEY (run, number)) WITHOUT ROWID;";

/* The words of it stay empty: step 4 has another way. */
static const char step_2[] =
  "CREATE VIRTUAL TABLE words USING fts5 (text, content='', contentless_delete=1, detail=none,"
  "  prefix='1 2 3 4 5 6 7 8 9 10 11 12', tokenize='unicode61 remove_diacritics 2');"
  "CREATE INDEX runs_started ON runs (started) WHERE removed IS NULL;"
  "CREATE INDEX runs_label ON runs (label) WHERE removed IS NULL;"
  "CREATE INDEX runs_model ON runs (model) WHERE removed IS NULL;"
  "CREATE INDEX runs_device ON runs (device) WHERE removed IS NULL;"
  "CREATE INDEX runs_seconds ON runs (seconds) WHERE removed IS NULL;"
  "CREATE INDEX runs_throughput ON runs (throughput) WHERE removed IS NULL;"
  "CREATE INDEX runs_memory ON runs (memory_bytes) WHERE removed IS NULL;"
  "CREATE INDEX runs_removed ON runs (removed) WHERE removed IS NOT NULL;"
  "CREATE INDEX runs_running ON runs (id) WHERE status = 'running';"
  "CREATE INDEX tags_tag ON tags (tag, run);"
  "CREATE INDEX figures_both ON figures (key, run) WHERE p50 IS NOT NULL AND measured IS NOT NULL;"
  "CREATE TABLE totals (runs INTEGER NOT NULL);"
  "INSERT INTO totals SELECT count(*) FROM runs WHERE removed IS NULL;"
  "CREATE TRIGGER total_added AFTER INSERT ON runs WHEN NEW.removed IS NULL"
  "  BEGIN UPDATE totals SET runs = runs + 1; END;"
  "CREATE TRIGGER total_purged AFTER DELETE ON runs WHEN OLD.removed IS NULL"
  "  BEGIN UPDATE totals SET runs = runs - 1; END;"
  "CREATE TRIGGER total_changed AFTER UPDATE OF removed ON runs"
  "  BEGIN UPDATE totals SET runs = runs + (NEW.removed IS NULL) - (OLD.removed IS NULL); END;";

static const char step_3[] =
  "CREATE INDEX runs_planned ON runs (id) WHERE plan IS NOT NULL AND removed IS NULL;";

/* Words that are frequent each and rarely together were found too late by the first
 * way; qm-ledger-words.c has the second. */
#define TERMS "terms (term TEXT NOT NULL, block INTEGER NOT NULL, runs BLOB NOT NULL, PRIMARY KEY (term, block)) WITHOUT ROWID;"

static const char step_4[] =
  "DROP TABLE words;"
  "CREATE TABLE " TERMS;

static gboolean
index_all (QmLedger  *self,
           GError   **error)
{
  gint64 last = 0;

  for (;;)
    {
      sqlite3_stmt *statement = qm_ledger_query (self, error, "SELECT id FROM runs WHERE id > ? AND removed IS NULL ORDER BY id LIMIT 1",
                                                 "i", last);
      int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;

      if (result <= 0)
        return result == 0;
      last = sqlite3_column_int64 (statement, 0);
      sqlite3_reset (statement);
      if (!qm_ledger_index_run (self, last, TRUE, error))
        return FALSE;
    }
}

static const struct {
  const char *sql;
  gboolean (*finish) (QmLedger *self, GError **error);
} steps[QM_LEDGER_SCHEMA] = {
  { step_1, NULL },
  { step_2, NULL },
  { step_3, NULL },
  { step_4, index_all },
};

static gboolean
read_number (QmLedger    *self,
             const char  *sql,
             gint64      *number,
             GError     **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, sql, "");
  int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;

  if (result < 0)
    return FALSE;

  *number = result > 0 ? sqlite3_column_int64 (statement, 0) : 0;
  if (result > 0)
    sqlite3_reset (statement);

  return TRUE;
}

static gboolean
read_version (QmLedger  *self,
              gint64    *version,
              GError   **error)
{
  return read_number (self, "PRAGMA user_version", version, error);
}

/* Which of the steps have been taken. The file of another program is refused. */
static gboolean
identify (QmLedger  *self,
          gint64    *version,
          GError   **error)
{
  gint64 application, tables;

  if (!read_number (self, "PRAGMA application_id", &application, error) ||
      !read_number (self, "SELECT count(*) FROM sqlite_schema", &tables, error) ||
      !read_version (self, version, error))
    return FALSE;

  if (tables > 0 && application != APPLICATION_ID)
    qm_error_set (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_FORMAT, NULL, N_("it is the file of another program, not a ledger of runs"), NULL);
  else if (*version > QM_LEDGER_SCHEMA)
    qm_error_set (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_VERSION, NULL,
                  N_("a later version of the program wrote it (version {version}; this one reads up to {newest})"), "#version",
                  (double) *version, "#newest", (double) QM_LEDGER_SCHEMA, NULL);
  else
    return TRUE;

  if (error != NULL)
    qm_error_locate (*error, self->path, 0);
  return FALSE;
}

/* A name alone is not on the disk before its folder is. */
static void
sync_folder (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  int fd = g_open (folder, O_RDONLY | O_CLOEXEC, 0);

  if (fd >= 0)
    {
      fsync (fd);
      close (fd);
    }
}

static gboolean
sync_file (const char *path)
{
  int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  gboolean ok = fd >= 0 && fsync (fd) == 0;

  if (fd >= 0)
    close (fd);

  return ok;
}

/* A whole copy beside the file, "FILE.version-N". */
static gboolean
back_up (QmLedger  *self,
         gint64     version,
         GError   **error)
{
  g_autofree char *kept = g_strdup_printf ("%s.version-%" G_GINT64_FORMAT, self->path, version);
  g_autofree char *writing = g_strdup_printf ("%s.%d", kept, (int) getpid ());

  g_unlink (writing);
  if (!qm_ledger_run (self, error, "VACUUM INTO ?", "s", writing))
    {
      g_unlink (writing);
      return FALSE;
    }
  if (!sync_file (writing) || g_rename (writing, kept) != 0)
    {
      qm_error_set (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_FAILED, NULL, N_("no copy of it can be written: {reason}"), "reason",
                    g_strerror (errno), NULL);
      if (error != NULL)
        qm_error_locate (*error, self->path, 0);
      g_unlink (writing);
      return FALSE;
    }
  sync_folder (kept);

  return TRUE;
}

/**
 * qm_ledger_upgrade:
 * @self: a ledger
 * @version: up to which
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Takes the steps that are missing, all of them or none. Another program may
 * have taken them meanwhile.
 *
 * Returns: whether it is of that version now
 */
gboolean
qm_ledger_upgrade (QmLedger  *self,
                   int        version,
                   GError   **error)
{
  g_autofree char *settle = g_strdup_printf ("PRAGMA user_version = %d; PRAGMA application_id = %d", version, APPLICATION_ID);
  gint64 at;

  if (!qm_ledger_begin (self, error))
    return FALSE;
  if (!read_version (self, &at, error))
    goto failed;

  for (; at < version; at++)
    if (!qm_ledger_execute (self, error, steps[at].sql) || (steps[at].finish != NULL && !steps[at].finish (self, error)))
      goto failed;
  if (at == version && !qm_ledger_execute (self, error, settle))
    goto failed;

  return qm_ledger_commit (self, error);

failed:
  qm_ledger_roll_back (self);
  return FALSE;
}

static gboolean
is_large (const char *path)
{
  GStatBuf info;

  return g_stat (path, &info) == 0 && info.st_size > CHECKED_BYTES;
}

/**
 * qm_ledger_check:
 * @self: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Reads the whole file. Takes about a second for each gigabyte.
 *
 * Returns: whether every page is in order
 */
gboolean
qm_ledger_check (QmLedger  *self,
                 GError   **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, "PRAGMA quick_check (1)", "");
  int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;
  gboolean ok;

  if (result <= 0)
    return FALSE;

  ok = g_strcmp0 ((const char *) sqlite3_column_text (statement, 0), "ok") == 0;
  sqlite3_reset (statement);
  if (!ok)
    qm_ledger_set_error (self, error, SQLITE_CORRUPT);

  return ok;
}

/* Tables that are made of the others: what made them, and makes them anew where a
 * repair of the file, or a tool, has lost them. */
static const struct {
  const char *name;
  const char *sql;
  gboolean (*finish) (QmLedger *self, GError **error);
} derived[] = {
  { "terms", "CREATE TABLE IF NOT EXISTS " TERMS, index_all },
  { "totals", "CREATE TABLE IF NOT EXISTS totals (runs INTEGER NOT NULL);"
              "DELETE FROM totals; INSERT INTO totals SELECT count(*) FROM runs WHERE removed IS NULL;", NULL },
};

static gboolean
has_table (QmLedger    *self,
           const char  *name,
           gboolean    *has,
           GError     **error)
{
  sqlite3_stmt *statement = qm_ledger_query (self, error, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", "s", name);
  int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;

  *has = result > 0;
  if (result > 0)
    sqlite3_reset (statement);

  return result >= 0;
}

static gboolean
restore_derived (QmLedger  *self,
                 GError   **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (derived); i++)
    {
      gboolean has;

      if (!has_table (self, derived[i].name, &has, error))
        return FALSE;
      if (has)
        continue;
      if (!qm_ledger_begin (self, error))
        return FALSE;
      if (!qm_ledger_execute (self, error, derived[i].sql) || (derived[i].finish != NULL && !derived[i].finish (self, error)))
        {
          qm_ledger_roll_back (self);
          return FALSE;
        }
      if (!qm_ledger_commit (self, error))
        return FALSE;
    }

  return TRUE;
}

/**
 * qm_ledger_prepare_file:
 * @self: a ledger whose file was opened
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Makes an empty file a ledger, refuses one that is damaged or no ledger, and
 * brings an older one up to date, of which a copy is kept. An index that was lost
 * is made anew.
 *
 * Returns: whether the ledger can be used
 */
gboolean
qm_ledger_prepare_file (QmLedger  *self,
                        GError   **error)
{
  gint64 version;

  if (!identify (self, &version, error))
    return FALSE;
  if (!is_large (self->path) && !qm_ledger_check (self, error))
    return FALSE;
  /* A commit is on the disk when it returns, also where the power fails. Of a large
   * file, what a search goes through stays in memory (KiB). */
  if (!qm_ledger_execute (self, error, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384"))
    return FALSE;
  if (version == QM_LEDGER_SCHEMA)
    return restore_derived (self, error);
  if (version > 0 && !back_up (self, version, error))
    return FALSE;

  return qm_ledger_upgrade (self, QM_LEDGER_SCHEMA, error);
}
