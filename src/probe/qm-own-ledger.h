/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "history/qm-ledger.h"

G_BEGIN_DECLS

/* Where the runs of the person are kept. */
char     *qm_own_ledger_dup_path (void);
gboolean  qm_own_ledger_exists   (void);
QmLedger *qm_own_ledger_open     (const char  *path,
                                  GError     **error);

G_END_DECLS
