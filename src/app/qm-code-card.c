/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-code-card.h"

#include <glib/gi18n.h>
#include <gtksourceview/gtksource.h>

#include "draw/qm-language.h"
#include "qm-error.h"
#include "qm-file-choice.h"
#include "qm-ui.h"

#define HIGHEST 460

/* About what a line takes, for the room that code takes before it is there. */
#define LINE 17

/* It is there before the person who scrolls is. */
#define NEAR 300

/* A page that was scrolled has its places in the frame after. */
#define FRAMES_TO_WAIT 2

struct _QmCodeCard {
  GtkBox parent_instance;

  QmLaunchFile file;
  GtkWidget *room;
  GtkWidget *code;                  /* NULL until it is seen: colouring takes megabytes */
  guint looking;                    /* a tick callback, or 0 */
  int frames;                       /* that it waits for */
};

G_DEFINE_FINAL_TYPE (QmCodeCard, qm_code_card, GTK_TYPE_BOX)

static void
made_executable (GObject      *source,
                 GAsyncResult *result,
                 gpointer      data)
{
  g_autoptr (GTask) task = data;

  /* A place that knows no such thing has the file all the same. */
  g_file_set_attributes_finish (G_FILE (source), result, NULL, NULL);
  g_task_return_boolean (task, TRUE);
}

static void
written (GObject      *source,
         GAsyncResult *result,
         gpointer      data)
{
  g_autoptr (GTask) task = data;
  QmCodeCard *self = g_task_get_source_object (task);
  g_autoptr (GFileInfo) info = g_file_info_new ();
  GError *error = NULL;

  if (!g_file_replace_contents_finish (G_FILE (source), result, NULL, &error))
    {
      g_task_return_error (task, error);
      return;
    }
  if (!self->file.executable)
    {
      g_task_return_boolean (task, TRUE);
      return;
    }

  g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_UNIX_MODE, 0755);
  g_file_set_attributes_async (G_FILE (source), info, G_FILE_QUERY_INFO_NONE, G_PRIORITY_DEFAULT, NULL, made_executable, g_steal_pointer (&task));
}

/**
 * qm_code_card_save_async:
 * @self: a card
 * @file: where to
 * @callback: called when it is done
 * @data: for @callback
 *
 * Writes the file whole or not at all, while the window goes on: the place may
 * be a slow one. A script can be run afterwards, where the place knows such a
 * thing.
 */
void
qm_code_card_save_async (QmCodeCard          *self,
                         GFile               *file,
                         GAsyncReadyCallback  callback,
                         gpointer             data)
{
  GTask *task = g_task_new (self, NULL, callback, data);
  g_autoptr (GBytes) bytes = g_bytes_new (self->file.text, strlen (self->file.text));

  g_task_set_source_tag (task, qm_code_card_save_async);
  g_file_replace_contents_bytes_async (file, bytes, NULL, FALSE, G_FILE_CREATE_NONE, NULL, written, task);
}

/**
 * qm_code_card_save_finish:
 * @self: a card
 * @result: of qm_code_card_save_async()
 * @error: return location for an error
 *
 * Returns: whether it is saved
 */
gboolean
qm_code_card_save_finish (QmCodeCard    *self,
                          GAsyncResult  *result,
                          GError       **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
saved (GObject      *source,
       GAsyncResult *result,
       gpointer      data)
{
  QmCodeCard *self = QM_CODE_CARD (source);
  g_autoptr (GError) error = NULL;
  g_autofree char *problem = NULL;

  if (qm_code_card_save_finish (self, result, &error))
    {
      gtk_widget_activate_action (GTK_WIDGET (self), "win.show-toast", "s", _("File saved"));
      return;
    }
  problem = qm_error_get_text (error, qm_language_get_words ());
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-message", "s", problem);
}

static void
save_chosen (GtkWidget *widget,
             GFile     *file)
{
  qm_code_card_save_async (QM_CODE_CARD (widget), file, saved, NULL);
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
  GtkSourceStyleScheme *scheme;

  if (self->code == NULL)
    return;

  scheme = gtk_source_style_scheme_manager_get_scheme (gtk_source_style_scheme_manager_get_default (), dark ? "Adwaita-dark" : "Adwaita");
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
room_new (QmCodeCard *self)
{
  int lines = 1;

  for (const char *p = self->file.text; *p != '\0'; p++)
    lines += *p == '\n';
  self->room = adw_bin_new ();
  gtk_widget_set_size_request (self->room, -1, MIN (lines * LINE, HIGHEST));

  return self->room;
}

static void
show_code (QmCodeCard *self)
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
  adw_bin_set_child (ADW_BIN (self->room), scrolled);
  gtk_widget_set_size_request (self->room, -1, -1);
  follow_style (self);
}

static gboolean
in_sight (QmCodeCard *self,
          GtkWidget  *page)
{
  graphene_rect_t bounds;

  return page == NULL || (gtk_widget_compute_bounds (GTK_WIDGET (self), page, &bounds) &&
                          bounds.origin.y < gtk_widget_get_height (page) + NEAR && bounds.origin.y + bounds.size.height > -NEAR);
}

static gboolean
look (GtkWidget     *widget,
      GdkFrameClock *clock,
      gpointer       data)
{
  QmCodeCard *self = QM_CODE_CARD (widget);

  if (gtk_widget_get_width (widget) == 0)
    return G_SOURCE_CONTINUE;
  if (in_sight (self, gtk_widget_get_ancestor (widget, GTK_TYPE_SCROLLED_WINDOW)))
    show_code (self);
  else if (--self->frames > 0)
    return G_SOURCE_CONTINUE;

  self->looking = 0;
  return G_SOURCE_REMOVE;
}

static void
look_soon (QmCodeCard *self)
{
  self->frames = FRAMES_TO_WAIT;
  if (self->code == NULL && self->looking == 0)
    self->looking = gtk_widget_add_tick_callback (GTK_WIDGET (self), look, NULL, NULL);
}

/* In the page that it is part of by now. */
static void
qm_code_card_map (GtkWidget *widget)
{
  GtkWidget *page = gtk_widget_get_ancestor (widget, GTK_TYPE_SCROLLED_WINDOW);
  GtkAdjustment *place = page != NULL ? gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (page)) : NULL;

  GTK_WIDGET_CLASS (qm_code_card_parent_class)->map (widget);
  if (place != NULL)
    {
      g_signal_handlers_disconnect_by_func (place, look_soon, widget);
      g_signal_connect_object (place, "value-changed", G_CALLBACK (look_soon), widget, G_CONNECT_SWAPPED);
      g_signal_connect_object (place, "changed", G_CALLBACK (look_soon), widget, G_CONNECT_SWAPPED);
    }
  look_soon (QM_CODE_CARD (widget));
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
  GTK_WIDGET_CLASS (klass)->map = qm_code_card_map;
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
 *   language that its name tells once it is scrolled in sight
 */
GtkWidget *
qm_code_card_new (const QmLaunchFile *file)
{
  QmCodeCard *self = g_object_new (QM_TYPE_CODE_CARD, NULL);

  self->file = (QmLaunchFile) { g_strdup (file->name), g_strdup (file->text), file->executable };
  gtk_box_append (GTK_BOX (self), head_new (self));
  gtk_box_append (GTK_BOX (self), room_new (self));
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (follow_style), self, G_CONNECT_SWAPPED);

  return GTK_WIDGET (self);
}
