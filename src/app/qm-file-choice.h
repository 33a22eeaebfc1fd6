/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What happens with the file that a person chose; not called where none was. */
typedef void (*QmFileChosen) (GtkWidget *widget,
                              GFile     *file);

/* Asks for a file, above the window that @widget is in; it lives until then. */
void qm_file_choice_open (GtkWidget    *widget,
                          const char   *title,
                          const char   *patterns,
                          const char   *kind,
                          QmFileChosen  chosen);
void qm_file_choice_save (GtkWidget    *widget,
                          const char   *title,
                          const char   *name,
                          QmFileChosen  chosen);

G_END_DECLS
