/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <sqlite3.h>

#include "history/qm-ledger.h"

G_BEGIN_DECLS

struct _QmLedger {
  GObject parent_instance;

  char *path;
  sqlite3 *db;
  GHashTable *statements;           /* SQL to sqlite3_stmt */
  int depth;                        /* of qm_ledger_begin() */
  GHashTable *pending;              /* a term to its GArray of changes, not written yet */
  guint n_pending;
};

#define QM_LEDGER_SCHEMA 4          /* user_version of a file that is up to date */

void           qm_ledger_set_error  (QmLedger    *self,
                                     GError     **error,
                                     int          result);
sqlite3_stmt  *qm_ledger_query      (QmLedger    *self,
                                     GError     **error,
                                     const char  *sql,
                                     const char  *types,
                                     ...);
int            qm_ledger_step       (QmLedger    *self,
                                     GError     **error,
                                     sqlite3_stmt *statement);
gboolean       qm_ledger_run        (QmLedger    *self,
                                     GError     **error,
                                     const char  *sql,
                                     const char  *types,
                                     ...);
gboolean       qm_ledger_execute    (QmLedger    *self,
                                     GError     **error,
                                     const char  *sql);

gboolean       qm_ledger_prepare_file (QmLedger  *self,
                                     GError     **error);
gboolean       qm_ledger_upgrade    (QmLedger    *self,
                                     int          version,
                                     GError     **error);

gboolean       qm_ledger_read_tags  (QmLedger    *self,
                                     QmRun       *run,
                                     GError     **error);

/* the words by which a run is found */
void           qm_ledger_add_words  (GHashTable  *terms,
                                     const char  *text);
void           qm_ledger_add_facet  (GHashTable  *terms,
                                     char         kind,
                                     const char  *value);
gboolean       qm_ledger_index_run  (QmLedger    *self,
                                     gint64       id,
                                     gboolean     has,
                                     GError     **error);
gboolean       qm_ledger_write_words (QmLedger   *self,
                                     GError     **error);
void           qm_ledger_forget_words (QmLedger  *self);
GArray        *qm_ledger_find_words (QmLedger    *self,
                                     GHashTable  *terms,
                                     gint64       before,
                                     guint        limit,
                                     GError     **error);

/* (transfer full): for the next use of sqlite3_column_text() */
char          *qm_ledger_column     (sqlite3_stmt *statement,
                                     int          column);
double         qm_ledger_number     (sqlite3_stmt *statement,
                                     int          column);

G_END_DECLS
