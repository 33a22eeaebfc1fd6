/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "draw/qm-chart.h"

G_BEGIN_DECLS

/* Small pieces that every page is made of. */
GtkWidget *qm_ui_label        (const char *text,
                               const char *style);
GtkWidget *qm_ui_wrapped      (const char *text,
                               const char *style);
GtkWidget *qm_ui_cell         (const char *text,
                               const char *style);
GtkWidget *qm_ui_sideways     (GtkWidget  *table);
void       qm_ui_scroll_page_from (GtkWidget *table);
void       qm_ui_show_whole_names (AdwComboRow *row);
GtkWidget *qm_ui_box          (GtkOrientation orientation,
                               int         spacing);
GtkWidget *qm_ui_icon_tile    (const char *icon_name,
                               gboolean    small);
GtkWidget *qm_ui_heading      (const char *eyebrow,
                               const char *title,
                               const char *subtitle);
GtkWidget *qm_ui_page         (GtkWidget  *content,
                               int         maximum_width);
GtkWidget *qm_ui_status       (const char *icon_name,
                               const char *title,
                               const char *text,
                               GtkWidget  *button);
GtkWidget *qm_ui_loading      (const char *title);
void       qm_ui_clear        (GtkWidget  *box);
GtkWidget *qm_ui_tool         (const char *icon_name,
                               const char *tooltip,
                               GCallback   clicked,
                               gpointer    data);
GtkWidget *qm_ui_guide        (const char *topic,
                               const char *tooltip);
void       qm_ui_set_label    (GtkWidget  *widget,
                               const char *label);
void       qm_ui_add_property (GtkWidget  *group,
                               const char *title,
                               const char *value);

void       qm_ui_update_in_sight (GtkWidget  *widget,
                                  gpointer    source,
                                  const char *signal,
                                  GCallback   update);

/* the colours of what is drawn */
const QmPalette *qm_ui_roles  (void);
QmPalette  qm_ui_palette      (GtkWidget  *widget);
void       qm_ui_follow_theme (GtkWidget  *widget);

/* where nothing is to be had */
void       qm_ui_append_hatching (GtkSnapshot           *snapshot,
                                  const graphene_rect_t *rect,
                                  const GdkRGBA         *ink);

G_END_DECLS
