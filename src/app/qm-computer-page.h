/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "probe/qm-watcher.h"
#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_COMPUTER_PAGE (qm_computer_page_get_type ())
G_DECLARE_FINAL_TYPE (QmComputerPage, qm_computer_page, QM, COMPUTER_PAGE, AdwBin)

GtkWidget *qm_computer_page_new      (QmSession      *session);
GtkWidget *qm_computer_page_get_list (QmComputerPage *self);
QmWatcher *qm_computer_page_get_watcher (QmComputerPage *self);

G_END_DECLS
