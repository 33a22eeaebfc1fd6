/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-file-choice.h"

typedef struct {
  GtkWidget *widget;
  QmFileChosen chosen;
} Choice;

static Choice *
choice_new (GtkWidget    *widget,
            QmFileChosen  chosen)
{
  Choice *self = g_new0 (Choice, 1);

  self->widget = g_object_ref (widget);
  self->chosen = chosen;

  return self;
}

static void
take (Choice *self,
      GFile  *file)
{
  if (file != NULL)
    self->chosen (self->widget, file);
  g_object_unref (self->widget);
  g_free (self);
}

static void
opened (GObject      *source,
        GAsyncResult *result,
        gpointer      data)
{
  g_autoptr (GFile) file = gtk_file_dialog_open_finish (GTK_FILE_DIALOG (source), result, NULL);

  take (data, file);
}

static void
saved (GObject      *source,
       GAsyncResult *result,
       gpointer      data)
{
  g_autoptr (GFile) file = gtk_file_dialog_save_finish (GTK_FILE_DIALOG (source), result, NULL);

  take (data, file);
}

static GtkFileFilter *
filter_new (const char *patterns,
            const char *kind)
{
  GtkFileFilter *filter = gtk_file_filter_new ();
  g_auto (GStrv) each = g_strsplit (patterns, " ", -1);

  gtk_file_filter_set_name (filter, kind);
  for (guint i = 0; each[i] != NULL; i++)
    gtk_file_filter_add_pattern (filter, each[i]);

  return filter;
}

/**
 * qm_file_choice_open:
 * @widget: who asks
 * @title: of the dialog
 * @patterns: (nullable): of the names of files that are shown, with spaces
 *   between; %NULL for all
 * @kind: (nullable): what files of such names are called
 * @chosen: called with @widget
 *
 * Asks for a file that is there.
 */
void
qm_file_choice_open (GtkWidget    *widget,
                     const char   *title,
                     const char   *patterns,
                     const char   *kind,
                     QmFileChosen  chosen)
{
  g_autoptr (GtkFileDialog) dialog = gtk_file_dialog_new ();
  g_autoptr (GtkFileFilter) filter = patterns != NULL ? filter_new (patterns, kind) : NULL;

  gtk_file_dialog_set_title (dialog, title);
  gtk_file_dialog_set_default_filter (dialog, filter);
  gtk_file_dialog_open (dialog, GTK_WINDOW (gtk_widget_get_root (widget)), NULL, opened, choice_new (widget, chosen));
}

/**
 * qm_file_choice_save:
 * @widget: who asks
 * @title: of the dialog
 * @name: what the file is called unless the person calls it otherwise
 * @chosen: called with @widget
 *
 * Asks where to write a file.
 */
void
qm_file_choice_save (GtkWidget    *widget,
                     const char   *title,
                     const char   *name,
                     QmFileChosen  chosen)
{
  g_autoptr (GtkFileDialog) dialog = gtk_file_dialog_new ();

  gtk_file_dialog_set_title (dialog, title);
  gtk_file_dialog_set_initial_name (dialog, name);
  gtk_file_dialog_save (dialog, GTK_WINDOW (gtk_widget_get_root (widget)), NULL, saved, choice_new (widget, chosen));
}
