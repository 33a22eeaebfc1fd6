/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-history-page.h"
#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_WINDOW (qm_window_get_type ())
G_DECLARE_FINAL_TYPE (QmWindow, qm_window, QM, WINDOW, AdwApplicationWindow)

GtkWidget *qm_window_new          (GtkApplication *application,
                                   QmSession      *session);
QmSession *qm_window_get_session  (QmWindow       *self);
QmHistoryPage *qm_window_get_history_page (QmWindow *self);
void       qm_window_show_page    (QmWindow       *self,
                                   const char     *tag);
void       qm_window_step         (QmWindow       *self,
                                   int             by);
const char *qm_window_get_page    (QmWindow       *self);
void       qm_window_show_error   (QmWindow       *self,
                                   const char     *heading,
                                   const char     *body);
void       qm_window_show_toast   (QmWindow       *self,
                                   const char     *text,
                                   const char     *button,
                                   const char     *action);
void       qm_window_open_file    (QmWindow       *self,
                                   GFile          *file);

/* qm-window-actions.c: what the menus and keys do */
void       qm_window_save_report  (QmWindow       *self,
                                   GFile          *file);
void       qm_window_class_install_actions (GtkWidgetClass *widget_class);

void        qm_window_compare         (QmWindow *self,
                                       GFile    *file);

G_END_DECLS
