/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-start-page.h"

#include <glib/gi18n.h>

#include "draw/qm-language.h"
#include "qm-columns.h"
#include "qm-ui.h"

#define SHOWN_RECENT 6

/* Plans that come with the program, to look at an answer before giving one. */
static const struct {
  const char *file;
  const char *title;
  const char *gloss;
} examples[] = {
  { "chat-assistant.qmplan", N_("Teach a chat assistant your style"), N_("Fine-tune an 8 B model with 20,000 conversations, for 60 USD within 12 h") },
  { "colleagues.qmplan", N_("Chat for 50 colleagues, in house"), N_("Serve a 14 B model on a machine of your own; no cloud") },
  { "pictures.qmplan", N_("Train a network for pictures"), N_("ResNet-50 on 1.3 million pictures: which choices gain too little for what they cost?") },
  { "matrix.qmplan", N_("Eight old cards, or four new ones?"),
    N_("Time, money and quality of three choices are given: which are not worth it, and by which count?") },
  { "table.qmplan", N_("Predict from a table"), N_("Gradient boosting over two million rows; no GPU needed") },
};
#define MEDIA_TYPE "application/vnd.quartermaster.plan+json"

struct _QmStartPage {
  AdwNavigationPage parent_instance;

  QmSession *session;
  GtkWidget *computer;
  GtkWidget *recent_title;
  GtkWidget *recent;
};

G_DEFINE_FINAL_TYPE (QmStartPage, qm_start_page, ADW_TYPE_NAVIGATION_PAGE)

static GtkWidget *
card_new (const char *icon,
          const char *title,
          const char *text,
          const char *action,
          GtkWidget **text_label)
{
  GtkWidget *button = gtk_button_new ();
  GtkWidget *content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 9);
  GtkWidget *label = qm_ui_wrapped (text, "second");

  gtk_box_append (GTK_BOX (content), qm_ui_icon_tile (icon, FALSE));
  gtk_box_append (GTK_BOX (content), qm_ui_wrapped (title, "title-4"));
  gtk_box_append (GTK_BOX (content), label);
  gtk_button_set_child (GTK_BUTTON (button), content);
  gtk_widget_add_css_class (button, "card");
  gtk_widget_add_css_class (button, "choice");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  qm_ui_set_label (button, title);
  if (text_label != NULL)
    *text_label = label;

  return button;
}

static void
update_computer (QmStartPage *self)
{
  QmMachine *machine = qm_session_get_machine (self->session);
  const QmWords *words = qm_language_get_words ();
  g_autofree char *text = NULL;

  if (machine == NULL)
    return;

  if (qm_machine_n_devices (machine) > 0)
    {
      const QmProbedDevice *device = qm_machine_device (machine, 0);
      g_autofree char *memory = qm_format_bytes (words, device->memory_bytes);

      text = device->memory_bytes > 0 ? g_strdup_printf (_("Found: %s with %s."), device->name, memory)
                                      : g_strdup_printf (_("Found: %s."), device->name != NULL ? device->name : device->id);
    }
  else
    {
      g_autofree char *memory = qm_format_bytes (words, qm_machine_memory (machine)->total_bytes);

      text = g_strdup_printf (_("No GPU here; the processor and %s of memory can still do a good deal."), memory);
    }
  gtk_label_set_label (GTK_LABEL (self->computer), text);
}

static void
recent_activated (GtkListBox    *list,
                  GtkListBoxRow *row,
                  QmStartPage   *self)
{
  const char *uri = g_object_get_data (G_OBJECT (row), "uri");

  gtk_widget_activate_action (GTK_WIDGET (self), "win.open-uri", "s", uri);
}

static void
add_recent (QmStartPage   *self,
            GtkRecentInfo *info)
{
  GtkWidget *row = adw_action_row_new ();
  g_autofree char *path = gtk_recent_info_get_uri_display (info);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), gtk_recent_info_get_display_name (info));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), path != NULL ? path : "");
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("go-next-symbolic"));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  g_object_set_data_full (G_OBJECT (row), "uri", g_strdup (gtk_recent_info_get_uri (info)), g_free);
  gtk_list_box_append (GTK_LIST_BOX (self->recent), row);
}

/**
 * qm_start_page_refresh:
 * @self: the page
 *
 * Lists the plans that were opened last.
 */
void
qm_start_page_refresh (QmStartPage *self)
{
  GList *items = gtk_recent_manager_get_items (gtk_recent_manager_get_default ());
  int n = 0;

  gtk_list_box_remove_all (GTK_LIST_BOX (self->recent));
  for (GList *l = items; l != NULL && n < SHOWN_RECENT; l = l->next)
    if (g_strcmp0 (gtk_recent_info_get_mime_type (l->data), MEDIA_TYPE) == 0 && gtk_recent_info_exists (l->data))
      {
        add_recent (self, l->data);
        n++;
      }
  g_list_free_full (items, (GDestroyNotify) gtk_recent_info_unref);
  gtk_widget_set_visible (self->recent, n > 0);
  gtk_widget_set_visible (self->recent_title, n > 0);
}

static void
example_activated (GtkListBox    *list,
                   GtkListBoxRow *row,
                   QmStartPage   *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.open-example", "s", examples[gtk_list_box_row_get_index (row)].file);
}

static GtkWidget *
examples_new (QmStartPage *self)
{
  GtkWidget *list = gtk_list_box_new ();

  gtk_widget_add_css_class (list, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  qm_ui_set_label (list, _("Examples"));
  for (guint i = 0; i < G_N_ELEMENTS (examples); i++)
    {
      GtkWidget *row = adw_action_row_new ();

      adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _(examples[i].title));
      adw_action_row_set_subtitle (ADW_ACTION_ROW (row), _(examples[i].gloss));
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("go-next-symbolic"));
      gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
      gtk_widget_set_name (row, examples[i].file);
      gtk_list_box_append (GTK_LIST_BOX (list), row);
    }
  g_signal_connect (list, "row-activated", G_CALLBACK (example_activated), self);

  return list;
}

static void
qm_start_page_dispose (GObject *object)
{
  g_clear_object (&QM_START_PAGE (object)->session);

  G_OBJECT_CLASS (qm_start_page_parent_class)->dispose (object);
}

static void
qm_start_page_class_init (QmStartPageClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_start_page_dispose;
}

static GtkWidget *
cards_new (QmStartPage *self)
{
  GtkWidget *columns = qm_columns_new (210, 3, 12);

  qm_columns_append (QM_COLUMNS (columns),
                     card_new ("qm-tune-symbolic", _("Find hardware for a job"),
                                 _("A handful of questions, then a choice with memory, time, cost and quality."), "win.next", NULL));
  qm_columns_append (QM_COLUMNS (columns),
                     card_new ("qm-chip-symbolic", _("What can this computer run?"), _("Looking at this computer…"), "win.show-computer",
                                 &self->computer));
  qm_columns_append (QM_COLUMNS (columns),
                     card_new ("document-open-symbolic", _("Open a plan"), _("A file that was saved before."), "win.open", NULL));

  return columns;
}

static void
qm_start_page_init (QmStartPage *self)
{
  GtkWidget *content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *title;
  GtkWidget *hint = qm_ui_wrapped (_("You can also drop a plan or a model file (config.json, safetensors, GGUF) anywhere on this window."), "second");

  gtk_box_append (GTK_BOX (content), qm_ui_heading (NULL, _("What hardware should I run this AI job on?"),
                                                    _("Answer what you know. Every question has a sensible answer already.")));
  gtk_box_append (GTK_BOX (content), cards_new (self));
  gtk_widget_set_margin_top (hint, 12);
  gtk_box_append (GTK_BOX (content), hint);

  self->recent_title = qm_ui_label (_("Plans of the last days"), "heading");
  gtk_widget_set_margin_top (self->recent_title, 18);
  self->recent = gtk_list_box_new ();
  gtk_widget_add_css_class (self->recent, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->recent), GTK_SELECTION_NONE);
  g_signal_connect (self->recent, "row-activated", G_CALLBACK (recent_activated), self);
  gtk_box_append (GTK_BOX (content), self->recent_title);
  gtk_box_append (GTK_BOX (content), self->recent);

  title = qm_ui_label (_("Examples"), "heading");
  gtk_widget_set_margin_top (title, 18);
  gtk_box_append (GTK_BOX (content), title);
  gtk_box_append (GTK_BOX (content), examples_new (self));
  adw_navigation_page_set_child (ADW_NAVIGATION_PAGE (self), qm_ui_page (content, 880));
}

/**
 * qm_start_page_new:
 * @session: the session
 *
 * Returns: (transfer floating): the first page
 */
GtkWidget *
qm_start_page_new (QmSession *session)
{
  QmStartPage *self = g_object_new (QM_TYPE_START_PAGE, "title", _("Start"), "tag", "start", NULL);

  self->session = g_object_ref (session);
  g_signal_connect_object (session, "machine-changed", G_CALLBACK (update_computer), self, G_CONNECT_SWAPPED);
  update_computer (self);
  qm_start_page_refresh (self);

  return GTK_WIDGET (self);
}
