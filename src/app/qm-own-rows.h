/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-session.h"

G_BEGIN_DECLS

/* What the person knows better than any estimate, row by row. */
typedef enum {
  QM_OWN_QUOTES,                    /* hardware, with its time and price */
  QM_OWN_RESULTS,                   /* scores, by the amount of data */
} QmOwnKind;

#define QM_TYPE_OWN_ROWS (qm_own_rows_get_type ())
G_DECLARE_FINAL_TYPE (QmOwnRows, qm_own_rows, QM, OWN_ROWS, AdwPreferencesGroup)

GtkWidget *qm_own_rows_new      (QmSession *session,
                                 QmOwnKind  kind);
int        qm_own_rows_count    (QmOwnKind  kind,
                                 const QmPlan *plan);
const char *qm_own_rows_title   (QmOwnKind  kind);

#define QM_TYPE_QUOTE_DIALOG (qm_quote_dialog_get_type ())
G_DECLARE_FINAL_TYPE (QmQuoteDialog, qm_quote_dialog, QM, QUOTE_DIALOG, AdwDialog)

GtkWidget *qm_quote_dialog_new  (QmSession *session,
                                 int        index);

#define QM_TYPE_RESULT_DIALOG (qm_result_dialog_get_type ())
G_DECLARE_FINAL_TYPE (QmResultDialog, qm_result_dialog, QM, RESULT_DIALOG, AdwDialog)

GtkWidget *qm_result_dialog_new (QmSession *session,
                                 int        index);

/* what both dialogs are made of */
GtkWidget *qm_own_dialog_frame  (AdwDialog  *dialog,
                                 GtkWidget  *group,
                                 GCallback   save);
GtkWidget *qm_own_dialog_entry  (GtkWidget  *group,
                                 const char *title,
                                 const char *name,
                                 double      value,
                                 GCallback   changed,
                                 gpointer    dialog);
double     qm_own_dialog_read   (GtkWidget  *entry,
                                 double      most,
                                 gboolean    optional);

G_END_DECLS
