/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "probe/qm-ledger-worker.h"
#include "qm-history.h"

G_BEGIN_DECLS

void       qm_history_start       (QmHistory           *self,
                                   QmLedgerJob          job,
                                   gpointer             data,
                                   GDestroyNotify       data_free,
                                   GDestroyNotify       result_free,
                                   GCancellable        *cancellable,
                                   GAsyncReadyCallback  callback,
                                   gpointer             user_data);

/* the signals */
void       qm_history_tell        (QmHistory           *self,
                                   const char          *text);
void       qm_history_fail        (QmHistory           *self,
                                   const GError        *error);
void       qm_history_has_changed (QmHistory           *self,
                                   gboolean             teaches,
                                   gint64               removed);

G_END_DECLS
