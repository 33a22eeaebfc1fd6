/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

#include "history/qm-run.h"
#include "history/qm-series.h"

G_BEGIN_DECLS

#define QM_LEDGER_ERROR (qm_ledger_error_quark ())

/**
 * QmLedgerError:
 * @QM_LEDGER_ERROR_DAMAGED: the file is damaged; it stays as it is
 * @QM_LEDGER_ERROR_FORMAT: the file is no ledger
 * @QM_LEDGER_ERROR_VERSION: it is of a later version of the program
 * @QM_LEDGER_ERROR_BUSY: another program holds it
 * @QM_LEDGER_ERROR_FAILED: it cannot be read or written: disk full, not allowed
 * @QM_LEDGER_ERROR_NOT_FOUND: there is no such run
 */
typedef enum {
  QM_LEDGER_ERROR_DAMAGED,
  QM_LEDGER_ERROR_FORMAT,
  QM_LEDGER_ERROR_VERSION,
  QM_LEDGER_ERROR_BUSY,
  QM_LEDGER_ERROR_FAILED,
  QM_LEDGER_ERROR_NOT_FOUND,
} QmLedgerError;

GQuark     qm_ledger_error_quark   (void);

#define QM_TYPE_LEDGER (qm_ledger_get_type ())
G_DECLARE_FINAL_TYPE (QmLedger, qm_ledger, QM, LEDGER, GObject)

/* The runs of a person, in one SQLite file. An object is used from one thread
 * at a time; several objects and programs may have the same file open. */
QmLedger  *qm_ledger_open          (const char      *path,
                                    GError         **error);
const char *qm_ledger_get_path     (QmLedger        *self);
void       qm_ledger_set_patient   (QmLedger        *self,
                                    gboolean         patient);
gboolean   qm_ledger_check         (QmLedger        *self,
                                    GError         **error);

/* runs */
gboolean   qm_ledger_add           (QmLedger        *self,
                                    QmRun           *run,
                                    const QmSeries  *series,
                                    GError         **error);
gboolean   qm_ledger_has           (QmLedger        *self,
                                    const char      *uid,
                                    gboolean        *has,
                                    GError         **error);
gboolean   qm_ledger_update        (QmLedger        *self,
                                    const QmRun     *run,
                                    GError         **error);
QmRun     *qm_ledger_get           (QmLedger        *self,
                                    gint64           id,
                                    GError         **error);
QmSeries  *qm_ledger_get_series    (QmLedger        *self,
                                    gint64           id,
                                    GError         **error);

/* a run that goes on: each call is on the disk when it returns */
gboolean   qm_ledger_start_series  (QmLedger        *self,
                                    gint64           id,
                                    const QmSeries  *series,
                                    GError         **error);
gboolean   qm_ledger_add_sample    (QmLedger        *self,
                                    gint64           id,
                                    double           at,
                                    const float     *values,
                                    guint            n,
                                    GError         **error);
gboolean   qm_ledger_settle        (QmLedger        *self,
                                    gint64           before,
                                    GError         **error);

/* small changes */
gboolean   qm_ledger_set_note      (QmLedger        *self,
                                    gint64           id,
                                    const char      *note,
                                    GError         **error);
gboolean   qm_ledger_set_tags      (QmLedger        *self,
                                    gint64           id,
                                    const char * const *tags,
                                    GError         **error);
gboolean   qm_ledger_remove        (QmLedger        *self,
                                    gint64           id,
                                    gint64           now,
                                    GError         **error);
gboolean   qm_ledger_restore       (QmLedger        *self,
                                    gint64           id,
                                    GError         **error);
gboolean   qm_ledger_purge         (QmLedger        *self,
                                    gint64           before,
                                    GError         **error);

/* several changes that are made together or not at all */
gboolean   qm_ledger_begin         (QmLedger        *self,
                                    GError         **error);
gboolean   qm_ledger_commit        (QmLedger        *self,
                                    GError         **error);
void       qm_ledger_roll_back     (QmLedger        *self);

/* finding */
typedef enum {
  QM_LEDGER_SORT_ADDED,
  QM_LEDGER_SORT_STARTED,
  QM_LEDGER_SORT_LABEL,
  QM_LEDGER_SORT_MODEL,
  QM_LEDGER_SORT_DEVICE,
  QM_LEDGER_SORT_SECONDS,
  QM_LEDGER_SORT_THROUGHPUT,
  QM_LEDGER_SORT_MEMORY,
} QmLedgerSort;

/* Where words or filters are given, so many of the latest that match are sorted. */
#define QM_LEDGER_MOST_SORTED 500

/**
 * QmLedgerQuery:
 * @text: (nullable): words of which each begins a word of the run
 * @device: (nullable): exactly this device
 * @model: (nullable): exactly this model
 * @tag: (nullable): exactly this tag
 * @sort: with words or filters, the latest QM_LEDGER_MOST_SORTED that match are
 *   sorted, unless @sort is %QM_LEDGER_SORT_ADDED
 * @ascending: the smallest first; without effect on %QM_LEDGER_SORT_ADDED,
 *   which has the latest first
 * @before: 0, or the next of the page before; for %QM_LEDGER_SORT_ADDED
 * @offset: how many to leave out; for the other orders
 * @limit: how many at the most; 0 is 50
 */
typedef struct {
  const char *text;
  const char *device;
  const char *model;
  const char *tag;
  QmLedgerSort sort;
  gboolean ascending;
  gint64 before;
  guint offset;
  guint limit;
} QmLedgerQuery;

/**
 * QmLedgerPage:
 * @runs: (element-type QmRun): without plan, note and figures beside the
 *   throughput with what was predicted of it, the step and the memory
 * @next: where the next page goes on; 0 where there is none
 */
typedef struct {
  GPtrArray *runs;
  gint64 next;
} QmLedgerPage;

void       qm_ledger_page_clear    (QmLedgerPage    *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmLedgerPage, qm_ledger_page_clear)

gboolean   qm_ledger_find          (QmLedger        *self,
                                    const QmLedgerQuery *query,
                                    QmLedgerPage    *page,
                                    GError         **error);
gint64     qm_ledger_count         (QmLedger        *self,
                                    GError         **error);
GPtrArray *qm_ledger_list_devices  (QmLedger        *self,
                                    GError         **error);
GPtrArray *qm_ledger_list_models   (QmLedger        *self,
                                    GError         **error);
GPtrArray *qm_ledger_list_tags     (QmLedger        *self,
                                    GError         **error);

GArray    *qm_ledger_list_planned  (QmLedger        *self,
                                    guint            limit,
                                    GError         **error);

/* A run of which a figure was predicted and measured. */
typedef struct {
  gint64 id;
  QmRange predicted;
  double measured;
} QmLedgerPoint;

GArray    *qm_ledger_list_points   (QmLedger        *self,
                                    const char      *key,
                                    guint            limit,
                                    GError         **error);

G_END_DECLS
