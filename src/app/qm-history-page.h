/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-history.h"

G_BEGIN_DECLS

#define QM_TYPE_HISTORY_PAGE (qm_history_page_get_type ())
G_DECLARE_FINAL_TYPE (QmHistoryPage, qm_history_page, QM, HISTORY_PAGE, AdwBin)

/* The runs of the ledger: found, read, imported, removed with a way back, and
 * how far predictions were off. */
GtkWidget *qm_history_page_new     (QmHistory     *history);
void       qm_history_page_reload  (QmHistoryPage *self);
void       qm_history_page_choose_import (QmHistoryPage *self);
void       qm_history_page_import  (QmHistoryPage *self,
                                    GFile         *file);
void       qm_history_page_remove  (QmHistoryPage *self,
                                    gint64         id);

G_END_DECLS
