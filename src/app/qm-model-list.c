/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/qm-language.h"
#include "qm-columns.h"
#include "qm-model-sheet-view.h"
#include "qm-question-row.h"
#include "qm-ui.h"
#include "qm-wizard-page.h"

/* One model of the catalog, for the list. */
#define QM_TYPE_MODEL_ITEM (qm_model_item_get_type ())
G_DECLARE_FINAL_TYPE (QmModelItem, qm_model_item, QM, MODEL_ITEM, GObject)

struct _QmModelItem {
  GObject parent_instance;

  const char *id;
  const char *name;
  QmTask task;
  double parameters;
};

G_DEFINE_FINAL_TYPE (QmModelItem, qm_model_item, G_TYPE_OBJECT)

static void
qm_model_item_class_init (QmModelItemClass *klass)
{
}

static void
qm_model_item_init (QmModelItem *self)
{
}

#define QM_TYPE_MODEL_LIST (qm_model_list_get_type ())
G_DECLARE_FINAL_TYPE (QmModelList, qm_model_list, QM, MODEL_LIST, GtkBox)

struct _QmModelList {
  GtkBox parent_instance;

  QmSession *session;
  GtkWidget *search;
  GtkWidget *size;
  GtkWidget *sheet;
  GtkFilter *filter;
  GtkSingleSelection *selection;
  GtkWidget *view;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (QmModelList, qm_model_list, GTK_TYPE_BOX)

static QmTask
task_of (QmModelList *self)
{
  QmTask task = qm_session_get_plan (self->session)->task;

  return task != QM_TASK_UNSET ? task : QM_TASK_LANGUAGE_MODEL;
}

static gboolean
matches (gpointer item,
         gpointer data)
{
  QmModelItem *model = item;
  QmModelList *self = data;
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->search));
  g_autofree char *wanted = g_utf8_casefold (text, -1);
  g_autofree char *name = g_utf8_casefold (model->name, -1);

  if (model->task != task_of (self))
    return FALSE;

  return wanted[0] == '\0' || strstr (name, wanted) != NULL || strstr (model->id, wanted) != NULL;
}

/* Models with several image sizes are one line. */
static GListModel *
models (QmModelList *self)
{
  QmCatalog *catalog = qm_session_get_catalog (self->session);
  GListStore *store = g_list_store_new (QM_TYPE_MODEL_ITEM);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < qm_catalog_n_models (catalog); i++)
    {
      const QmModelEntry *entry = qm_catalog_model (catalog, i);
      g_autoptr (QmModelItem) item = NULL;

      if (!g_hash_table_add (seen, (gpointer) entry->id))
        continue;
      item = g_object_new (QM_TYPE_MODEL_ITEM, NULL);
      item->id = entry->id;
      item->name = entry->name;
      item->task = entry->task;
      item->parameters = entry->parameters;
      g_list_store_append (store, item);
    }

  return G_LIST_MODEL (store);
}

static void
setup_row (GtkSignalListItemFactory *factory,
           GtkListItem              *item)
{
  GtkWidget *row = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *name = qm_ui_wrapped ("", NULL);

  gtk_widget_set_hexpand (name, TRUE);
  gtk_box_append (GTK_BOX (row), name);
  gtk_box_append (GTK_BOX (row), qm_ui_label ("", "second numeric"));
  gtk_widget_add_css_class (row, "model-row");
  gtk_list_item_set_child (item, row);
}

static void
bind_row (GtkSignalListItemFactory *factory,
          GtkListItem              *item)
{
  QmModelItem *model = gtk_list_item_get_item (item);
  GtkWidget *row = gtk_list_item_get_child (item);
  GtkWidget *name = gtk_widget_get_first_child (row);
  GtkWidget *size = gtk_widget_get_last_child (row);
  g_autofree char *text = isnan (model->parameters) ? g_strdup ("") : qm_format_count_short (qm_language_get_words (), model->parameters);

  gtk_label_set_label (GTK_LABEL (name), model->name);
  gtk_label_set_label (GTK_LABEL (size), text);
  gtk_list_item_set_accessible_label (item, model->name);
}

static void
selected (QmModelList *self)
{
  QmModelItem *model = gtk_single_selection_get_selected_item (self->selection);

  if (self->updating || model == NULL)
    return;

  qm_session_set_answer (self->session, "model.parameters", NULL, NULL);
  qm_session_set_answer (self->session, "model.id", model->id, NULL);
}

static void
size_changed (GtkEditable *editable,
              QmModelList *self)
{
  double parameters = qm_parse_quantity (gtk_editable_get_text (editable), qm_language_get_words ());
  char value[G_ASCII_DTOSTR_BUF_SIZE];

  if (self->updating || isnan (parameters))
    return;

  g_ascii_formatd (value, sizeof value, "%.0f", parameters);
  if (qm_session_set_answer (self->session, "model.parameters", value, NULL))
    qm_session_set_answer (self->session, "model.id", NULL, NULL);
}

static void
update_sheet (QmModelList *self)
{
  const QmResolved *resolved = qm_session_get_resolved (self->session);

  qm_model_sheet_fill (self->sheet, resolved != NULL ? resolved->model : NULL, qm_session_get_catalog (self->session));
  if (resolved == NULL && qm_session_get_problem (self->session) != NULL)
    gtk_box_append (GTK_BOX (self->sheet), qm_ui_wrapped (qm_session_get_problem (self->session), "error"));
}

static void
select_current (QmModelList *self)
{
  GListModel *model = G_LIST_MODEL (self->selection);
  g_autofree char *id = qm_session_get_effective (self->session, "model.id");
  guint found = GTK_INVALID_LIST_POSITION;

  for (guint i = 0; id != NULL && i < g_list_model_get_n_items (model); i++)
    {
      g_autoptr (QmModelItem) item = g_list_model_get_item (model, i);

      if (strcmp (item->id, id) == 0)
        found = i;
    }
  gtk_single_selection_set_selected (self->selection, found);
}

static void
update (QmModelList *self)
{
  self->updating = TRUE;
  gtk_filter_changed (self->filter, GTK_FILTER_CHANGE_DIFFERENT);
  select_current (self);
  self->updating = FALSE;
  update_sheet (self);
}

static void
scroll_to_current (gpointer data)
{
  g_autoptr (QmModelList) self = data;
  guint position = self->selection != NULL ? gtk_single_selection_get_selected (self->selection) : GTK_INVALID_LIST_POSITION;

  if (position != GTK_INVALID_LIST_POSITION)
    gtk_list_view_scroll_to (GTK_LIST_VIEW (self->view), position, GTK_LIST_SCROLL_NONE, NULL);
}

/* A list has somewhere to scroll to as soon as its rows are laid out; from then
 * on where it stands is the person's. */
static void
laid_out (GtkAdjustment *adjustment,
          QmModelList   *self)
{
  if (gtk_adjustment_get_upper (adjustment) <= gtk_adjustment_get_page_size (adjustment))
    return;

  g_signal_handlers_disconnect_by_func (adjustment, laid_out, self);
  g_idle_add_once (scroll_to_current, g_object_ref (self));
}

static void
search_changed (GtkSearchEntry *entry,
                QmModelList    *self)
{
  self->updating = TRUE;
  gtk_filter_changed (self->filter, GTK_FILTER_CHANGE_DIFFERENT);
  select_current (self);
  self->updating = FALSE;
}

static GtkWidget *
list_new (QmModelList *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (setup_row), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_row), NULL);
  self->filter = GTK_FILTER (gtk_custom_filter_new (matches, self, NULL));
  self->selection = gtk_single_selection_new (
    G_LIST_MODEL (gtk_filter_list_model_new (models (self), g_object_ref (self->filter))));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  g_signal_connect_swapped (self->selection, "notify::selected", G_CALLBACK (selected), self);

  self->view = gtk_list_view_new (GTK_SELECTION_MODEL (g_object_ref (self->selection)), factory);
  gtk_list_view_set_tab_behavior (GTK_LIST_VIEW (self->view), GTK_LIST_TAB_ITEM);
  gtk_widget_set_name (self->view, "models");
  qm_ui_set_label (self->view, _("Models"));
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), self->view);
  g_signal_connect_object (gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled)), "changed", G_CALLBACK (laid_out), self,
                           G_CONNECT_DEFAULT);
  gtk_scrolled_window_set_min_content_height (GTK_SCROLLED_WINDOW (scrolled), 320);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_widget_add_css_class (scrolled, "card");
  gtk_widget_set_overflow (scrolled, GTK_OVERFLOW_HIDDEN);

  return scrolled;
}

static GtkWidget *
size_row_new (QmModelList *self)
{
  GtkWidget *list = gtk_list_box_new ();

  self->size = adw_entry_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->size), _("I only know its size, e.g. 7B"));
  gtk_list_box_append (GTK_LIST_BOX (list), self->size);
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  g_signal_connect (self->size, "changed", G_CALLBACK (size_changed), self);

  return list;
}

static GtkWidget *
file_button_new (void)
{
  GtkWidget *button = gtk_button_new ();
  GtkWidget *content = adw_button_content_new ();

  adw_button_content_set_icon_name (ADW_BUTTON_CONTENT (content), "document-open-symbolic");
  adw_button_content_set_label (ADW_BUTTON_CONTENT (content), _("From a file…"));
  gtk_button_set_child (GTK_BUTTON (button), content);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.open-model");
  gtk_widget_set_tooltip_text (button, _("A config.json, safetensors or GGUF file; nothing is run or uploaded"));

  return button;
}

static void
build (QmModelList *self)
{
  GtkWidget *columns = qm_columns_new (360, 2, 18);
  GtkWidget *left = qm_ui_box (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *line = adw_wrap_box_new ();

  adw_wrap_box_set_child_spacing (ADW_WRAP_BOX (line), 12);
  adw_wrap_box_set_line_spacing (ADW_WRAP_BOX (line), 6);
  adw_wrap_box_set_justify (ADW_WRAP_BOX (line), ADW_JUSTIFY_FILL);
  self->search = gtk_search_entry_new ();
  gtk_search_entry_set_placeholder_text (GTK_SEARCH_ENTRY (self->search), _("Search models"));
  gtk_widget_set_hexpand (self->search, TRUE);
  qm_ui_set_label (self->search, _("Search models"));
  adw_wrap_box_append (ADW_WRAP_BOX (line), self->search);
  adw_wrap_box_append (ADW_WRAP_BOX (line), file_button_new ());
  gtk_box_append (GTK_BOX (left), line);
  gtk_box_append (GTK_BOX (left), list_new (self));
  gtk_box_append (GTK_BOX (left), size_row_new (self));
  g_signal_connect (self->search, "search-changed", G_CALLBACK (search_changed), self);

  self->sheet = qm_ui_box (GTK_ORIENTATION_VERTICAL, 9);
  gtk_widget_add_css_class (self->sheet, "card");
  gtk_widget_add_css_class (self->sheet, "sheet");
  gtk_widget_set_valign (self->sheet, GTK_ALIGN_START);

  qm_columns_append (QM_COLUMNS (columns), left);
  qm_columns_append (QM_COLUMNS (columns), self->sheet);
  gtk_box_append (GTK_BOX (self), columns);
}

static void
qm_model_list_dispose (GObject *object)
{
  QmModelList *self = QM_MODEL_LIST (object);

  if (self->selection != NULL)
    g_signal_handlers_disconnect_by_data (self->selection, self);
  g_clear_object (&self->selection);
  if (self->filter != NULL)
    gtk_custom_filter_set_filter_func (GTK_CUSTOM_FILTER (self->filter), NULL, NULL, NULL);
  g_clear_object (&self->filter);
  g_clear_object (&self->session);

  G_OBJECT_CLASS (qm_model_list_parent_class)->dispose (object);
}

static void
qm_model_list_class_init (QmModelListClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_model_list_dispose;
}

static void
qm_model_list_init (QmModelList *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
}

/**
 * qm_model_list_new:
 * @session: the session
 *
 * Returns: (transfer floating): the models of the task, with search, a file, a
 *   bare size, and the facts of the one that is picked
 */
GtkWidget *
qm_model_list_new (QmSession *session)
{
  QmModelList *self = g_object_new (QM_TYPE_MODEL_LIST, NULL);

  self->session = g_object_ref (session);
  build (self);
  qm_ui_update_in_sight (GTK_WIDGET (self), session, "plan-changed", G_CALLBACK (update));

  return GTK_WIDGET (self);
}
