/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "history/qm-ledger.h"
#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_HISTORY (qm_history_get_type ())
G_DECLARE_FINAL_TYPE (QmHistory, qm_history, QM, HISTORY, GObject)

/* The figure by which runs are compared with what was predicted. */
#define QM_HISTORY_KEY "throughput.per_second"

/**
 * QmHistoryLook:
 * @count: how many runs there are in all
 * @points: (nullable) (element-type QmLedgerPoint): what was predicted and
 *   measured, where it was asked for
 * @runs: (element-type QmRun): as of #QmLedgerPage
 * @next: where the next page goes on; 0 where there is none
 *
 * What the page of the runs shows.
 */
typedef struct {
  gint64 count;
  GArray *points;
  GPtrArray *runs;
  gint64 next;
} QmHistoryLook;

void           qm_history_look_free   (QmHistoryLook       *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmHistoryLook, qm_history_look_free)

/* The person's runs for the window, which never waits for them: all reading and
 * writing is done in a thread, in the order in which it was asked for. Emits
 * "changed" when runs came, went or were changed, "removed" with the number of one
 * that went, "learnt" when estimates know of them, "told" with what a person should know, "failed" with what went wrong, and
 * notifies "busy". */
QmHistory     *qm_history_new         (QmSession           *session);
QmSession     *qm_history_get_session (QmHistory           *self);
gboolean       qm_history_get_busy    (QmHistory           *self);

void           qm_history_look        (QmHistory           *self,
                                       const char          *text,
                                       gint64               before,
                                       guint                limit,
                                       gboolean             all,
                                       GCancellable        *cancellable,
                                       GAsyncReadyCallback  callback,
                                       gpointer             user_data);
QmHistoryLook *qm_history_look_finish (GAsyncResult        *result,
                                       GError             **error);
void           qm_history_get         (QmHistory           *self,
                                       gint64               first,
                                       gint64               second,
                                       GAsyncReadyCallback  callback,
                                       gpointer             user_data);
GPtrArray     *qm_history_get_finish  (GAsyncResult        *result,
                                       GError             **error);

void           qm_history_set_note    (QmHistory           *self,
                                       gint64               id,
                                       const char          *note);
void           qm_history_set_tags    (QmHistory           *self,
                                       gint64               id,
                                       const char * const  *tags);
void           qm_history_remove      (QmHistory           *self,
                                       gint64               id);
void           qm_history_restore     (QmHistory           *self,
                                       gint64               id);
void           qm_history_import      (QmHistory           *self,
                                       GFile               *file);
void           qm_history_export      (QmHistory           *self,
                                       GFile               *file);

/* what the runs teach; the estimates follow them where they should */
void           qm_history_learn       (QmHistory           *self);
void           qm_history_set_wanted  (QmHistory           *self,
                                       gboolean             wanted);
guint          qm_history_n_learnt    (QmHistory           *self);

G_END_DECLS
