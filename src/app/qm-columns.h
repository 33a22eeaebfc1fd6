/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_COLUMNS (qm_columns_get_type ())
G_DECLARE_FINAL_TYPE (QmColumns, qm_columns, QM, COLUMNS, GtkWidget)

/* Children in equal columns: as many as are wide enough, @maximum at most. All
 * of a row are as high as the highest. */
GtkWidget *qm_columns_new    (int         column_width,
                              int         maximum,
                              int         spacing);
void       qm_columns_append (QmColumns  *self,
                              GtkWidget  *child);
void       qm_columns_clear  (QmColumns  *self);

G_END_DECLS
