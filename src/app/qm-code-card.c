/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-code-card.h"

#include <glib/gi18n.h>
#include <gtksourceview/gtksource.h>

#include "draw/qm-language.h"
#include "qm-error.h"
#include "qm-file-choice.h"
#include "qm-ui.h"

#define HIGHEST 460

struct _QmCodeCard {
  GtkBox parent_instance;

  QmLaunchFile file;
  GtkWidget *code;
};

G_DEFINE_FINAL_TYPE (QmCodeCard, qm_code_card, GTK_TYPE_BOX)

/**
 * qm_code_card_save:
 * @self: a card
 * @file: where to
 * @error: return location for an error
 *
 * Writes the file whole or not at all. A script can be run afterwards, where the
 * place knows such a thing.
 *
 * Returns: whether it is saved
 */
gboolean
qm_code_card_save (QmCodeCard  *self,
                   GFile       *file,
                   GError     **error)
{
  if (!g_file_replace_contents (file, self->file.text, strlen (self->file.text), NULL, FALSE, G_FILE_CREATE_NONE, NULL, NULL, error))
    return FALSE;
  if (self->file.executable)
    g_file_set_attribute_uint32 (file, G_FILE_ATTRIBUTE_UNIX_MODE, 0755, G_FILE_QUERY_INFO_NONE, NULL, NULL);

  return TRUE;
}

static void
save_chosen (GtkWidget *widget,
             GFile     *file)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *problem = NULL;

  if (qm_code_card_save (QM_CODE_CARD (widget), file, &error))
    {
      gtk_widget_activate_action (widget, "win.show-toast", "s", _("File saved"));
      return;
    }
  problem = qm_error_get_text (error, qm_language_get_words ());
  gtk_widget_activate_action (widget, "win.show-message", "s", problem);
}

static void
save_clicked (QmCodeCard *self)
{
  qm_file_choice_save (GTK_WIDGET (self), _("Save the file"), self->file.name, save_chosen);
}

static void
copy_clicked (QmCodeCard *self)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), self->file.text);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-toast", "s", _("File copied"));
}

static void
follow_style (QmCodeCard *self)
{
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  GtkSourceStyleScheme *scheme = gtk_source_style_scheme_manager_get_scheme (gtk_source_style_scheme_manager_get_default (),
                                                                             dark ? "Adwaita-dark" : "Adwaita");

  gtk_source_buffer_set_style_scheme (GTK_SOURCE_BUFFER (gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->code))), scheme);
}

static GtkWidget *
head_new (QmCodeCard *self)
{
  GtkWidget *head = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *name = qm_ui_label (self->file.name, "heading");

  gtk_widget_set_hexpand (name, TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_MIDDLE);
  gtk_box_append (GTK_BOX (head), name);
  gtk_box_append (GTK_BOX (head), qm_ui_tool ("edit-copy-symbolic", _("Copy the file"), G_CALLBACK (copy_clicked), self));
  gtk_box_append (GTK_BOX (head), qm_ui_tool ("document-save-symbolic", _("Save the file"), G_CALLBACK (save_clicked), self));

  return head;
}

static GtkWidget *
code_new (QmCodeCard *self)
{
  GtkSourceLanguage *language = gtk_source_language_manager_guess_language (gtk_source_language_manager_get_default (),
                                                                            self->file.name, NULL);
  g_autoptr (GtkSourceBuffer) buffer = gtk_source_buffer_new (NULL);
  GtkWidget *scrolled = gtk_scrolled_window_new ();

  if (language == NULL && g_str_has_prefix (self->file.text, "#!"))
    language = gtk_source_language_manager_get_language (gtk_source_language_manager_get_default (), "sh");
  gtk_source_buffer_set_language (buffer, language);
  gtk_source_buffer_set_highlight_matching_brackets (buffer, FALSE);
  gtk_text_buffer_set_text (GTK_TEXT_BUFFER (buffer), self->file.text, -1);

  self->code = gtk_source_view_new_with_buffer (buffer);
  gtk_text_view_set_editable (GTK_TEXT_VIEW (self->code), FALSE);
  gtk_text_view_set_accepts_tab (GTK_TEXT_VIEW (self->code), FALSE);
  gtk_text_view_set_monospace (GTK_TEXT_VIEW (self->code), TRUE);
  gtk_source_view_set_show_line_numbers (GTK_SOURCE_VIEW (self->code), TRUE);
  gtk_text_view_set_left_margin (GTK_TEXT_VIEW (self->code), 6);
  gtk_text_view_set_right_margin (GTK_TEXT_VIEW (self->code), 12);
  gtk_text_view_set_bottom_margin (GTK_TEXT_VIEW (self->code), 12);
  qm_ui_set_label (self->code, self->file.name);

  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), self->code);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), HIGHEST);

  return scrolled;
}

static void
qm_code_card_finalize (GObject *object)
{
  QmCodeCard *self = QM_CODE_CARD (object);

  g_free (self->file.name);
  g_free (self->file.text);

  G_OBJECT_CLASS (qm_code_card_parent_class)->finalize (object);
}

static void
qm_code_card_class_init (QmCodeCardClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_code_card_finalize;
}

static void
qm_code_card_init (QmCodeCard *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 6);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self), "code");
}

/**
 * qm_code_card_new:
 * @file: what to show; it is copied
 *
 * Returns: (transfer floating): a card with the text of @file, coloured by the
 *   language that its name tells
 */
GtkWidget *
qm_code_card_new (const QmLaunchFile *file)
{
  QmCodeCard *self = g_object_new (QM_TYPE_CODE_CARD, NULL);

  self->file = (QmLaunchFile) { g_strdup (file->name), g_strdup (file->text), file->executable };
  gtk_box_append (GTK_BOX (self), head_new (self));
  gtk_box_append (GTK_BOX (self), code_new (self));
  follow_style (self);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (follow_style), self, G_CONNECT_SWAPPED);

  return GTK_WIDGET (self);
}
