/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "history/qm-ledger.h"

G_BEGIN_DECLS

#define QM_TYPE_LEDGER_WORKER (qm_ledger_worker_get_type ())
G_DECLARE_FINAL_TYPE (QmLedgerWorker, qm_ledger_worker, QM, LEDGER_WORKER, GObject)

/**
 * QmLedgerJob:
 * @ledger: the ledger
 * @data: (nullable): what was given with it
 * @cancellable: (nullable): set where nobody wants the result any more
 * @error: return location for an error
 *
 * Is called in the thread of the worker.
 *
 * Returns: (nullable): the result; %NULL with @error set
 */
typedef gpointer (*QmLedgerJob) (QmLedger      *ledger,
                                 gpointer       data,
                                 GCancellable  *cancellable,
                                 GError       **error);

/* A thread with a ledger of its own, for those who must not wait: one job after
 * another, in the order in which they were given. */
QmLedgerWorker *qm_ledger_worker_new    (const char           *path);
void            qm_ledger_worker_do     (QmLedgerWorker       *self,
                                         QmLedgerJob           job,
                                         gpointer              data,
                                         GDestroyNotify        data_free,
                                         GDestroyNotify        result_free,
                                         GCancellable         *cancellable,
                                         GAsyncReadyCallback   callback,
                                         gpointer              user_data);
gpointer        qm_ledger_worker_finish (QmLedgerWorker       *self,
                                         GAsyncResult         *result,
                                         GError              **error);

G_END_DECLS
