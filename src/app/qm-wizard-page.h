/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "plan/qm-flow.h"
#include "qm-session.h"

G_BEGIN_DECLS

/* "start" is the first step, the pages of the flow follow */
#define QM_N_STEPS (QM_N_PAGES + 1)

#define QM_TYPE_WIZARD_PAGE (qm_wizard_page_get_type ())
G_DECLARE_FINAL_TYPE (QmWizardPage, qm_wizard_page, QM, WIZARD_PAGE, AdwNavigationPage)

/* a page of the wizard, its questions as the answers so far ask for them.
 * Emits "jump" with the page that is to be shown. */
GtkWidget  *qm_wizard_page_new     (QmSession    *session,
                                    QmPage        page);
const char *qm_page_tag            (QmPage        page);

/* the contents of single pages */
GtkWidget  *qm_model_list_new      (QmSession    *session);
GtkWidget  *qm_review_list_new     (QmSession    *session,
                                    QmWizardPage *page);

G_END_DECLS
