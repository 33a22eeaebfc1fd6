/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_START_PAGE (qm_start_page_get_type ())
G_DECLARE_FINAL_TYPE (QmStartPage, qm_start_page, QM, START_PAGE, AdwNavigationPage)

/* three ways to begin, and the plans of the last days */
GtkWidget *qm_start_page_new     (QmSession   *session);
void       qm_start_page_refresh (QmStartPage *self);

G_END_DECLS
