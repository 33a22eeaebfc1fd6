/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-history-page.h"

#include <glib/gi18n.h>

#include "draw/qm-language.h"
#include "draw/qm-phrase-runs.h"
#include "probe/qm-probe.h"
#include "qm-chart-view.h"
#include "qm-error.h"
#include "qm-file-choice.h"
#include "qm-history.h"
#include "qm-run-comparison.h"
#include "qm-run-dialog.h"
#include "qm-run-row.h"
#include "qm-ui.h"

#define PAGE 50

/* So many rows are filled anew at once after a change. */
#define MOST_ROWS 500

/* What takes longer is said to go on. */
#define PATIENCE_MILLISECONDS 400

struct _QmHistoryPage {
  AdwBin parent_instance;

  QmSession *session;
  QmHistory *history;
  GtkWidget *toasts;
  GtkWidget *stack;                 /* "loading", "problem", "empty", "runs" */
  GtkWidget *problem;
  GtkWidget *chart;
  GtkWidget *learns;                /* whether estimates are corrected by the runs */
  GtkWidget *banner;                /* asks for the run to compare with */
  GtkWidget *search;
  GtkWidget *spinner;
  GtkWidget *list;
  GtkWidget *more;
  GtkWidget *nothing;               /* where no run has the words */
  GCancellable *looking;            /* the look that is waited for */
  gint64 next;                      /* where the next page goes on */
  gint64 compared;                  /* the run that another is picked for; 0 for none */
  guint shown;                      /* rows */
  guint spinning;                   /* the source that shows the spinner */
};

G_DEFINE_FINAL_TYPE (QmHistoryPage, qm_history_page, ADW_TYPE_BIN)

static void
tell (QmHistoryPage *self,
      const char    *text)
{
  AdwToast *toast = adw_toast_new (text);

  adw_toast_set_use_markup (toast, FALSE);
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (self->toasts), toast);
}

static void
show_failed (QmHistoryPage *self,
             const char    *text)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-message", "s", text);
}

static void
show_error (QmHistoryPage *self,
            const GError  *error)
{
  g_autofree char *text = qm_error_get_text (error, qm_language_get_words ());

  show_failed (self, text);
}

/* ------------------------------------------------------------------------ the list */

static void run_activated (AdwActionRow  *row,
                           QmHistoryPage *self);

static void
add_run (QmHistoryPage *self,
         const QmRun   *run)
{
  GtkWidget *row = qm_run_row_new (qm_session_get_catalog (self->session), run, QM_HISTORY_KEY);

  g_object_set_data_full (G_OBJECT (row), "run", g_memdup2 (&run->id, sizeof run->id), g_free);
  g_signal_connect (row, "activated", G_CALLBACK (run_activated), self);
  gtk_list_box_append (GTK_LIST_BOX (self->list), row);
}

static void
add_runs (QmHistoryPage       *self,
          const QmHistoryLook *look)
{
  for (guint i = 0; i < look->runs->len; i++)
    add_run (self, g_ptr_array_index (look->runs, i));
  self->shown += look->runs->len;
  self->next = look->next;
  gtk_widget_set_visible (self->more, self->next > 0);
  gtk_widget_set_visible (self->list, self->shown > 0);
  gtk_widget_set_visible (self->nothing, self->shown == 0);
}

static void
show_look (QmHistoryPage       *self,
           const QmHistoryLook *look)
{
  gtk_list_box_remove_all (GTK_LIST_BOX (self->list));
  self->shown = 0;
  add_runs (self, look);
  if (look->points != NULL)
    qm_chart_view_show (QM_CHART_VIEW (self->chart), qm_chart_new_history (look->points, QM_HISTORY_KEY, qm_language_get_words ()));
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), look->count > 0 ? "runs" : "empty");
}

static void
show_problem (QmHistoryPage *self,
              const GError  *error)
{
  g_autofree char *text = qm_error_get_text (error, qm_language_get_words ());
  g_autofree char *escaped = g_markup_escape_text (text, -1);

  adw_status_page_set_description (ADW_STATUS_PAGE (self->problem), escaped);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "problem");
}

/* An answer to a question that was asked anew since comes cancelled. */
static void
looked (GObject      *source,
        GAsyncResult *result,
        gpointer      data)
{
  g_autoptr (QmHistoryPage) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmHistoryLook) look = qm_history_look_finish (result, &error);

  if (self->history == NULL || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;

  if (look != NULL)
    show_look (self, look);
  else
    show_problem (self, error);
}

static void
more_found (GObject      *source,
            GAsyncResult *result,
            gpointer      data)
{
  g_autoptr (QmHistoryPage) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmHistoryLook) look = qm_history_look_finish (result, &error);

  if (self->history == NULL || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;

  gtk_widget_set_sensitive (self->more, TRUE);
  if (look != NULL)
    add_runs (self, look);
  else
    show_error (self, error);
}

static GCancellable *
look_anew (QmHistoryPage *self)
{
  g_cancellable_cancel (self->looking);
  g_clear_object (&self->looking);
  gtk_widget_set_sensitive (self->more, TRUE);

  return self->looking = g_cancellable_new ();
}

static void
look (QmHistoryPage *self,
      guint          limit,
      gboolean       all)
{
  qm_history_look (self->history, gtk_editable_get_text (GTK_EDITABLE (self->search)), 0, limit, all, look_anew (self), looked,
                   g_object_ref (self));
}

static void
search_changed (QmHistoryPage *self)
{
  look (self, PAGE, FALSE);
}

static void
more_clicked (QmHistoryPage *self)
{
  GCancellable *cancellable = look_anew (self);

  gtk_widget_set_sensitive (self->more, FALSE);
  qm_history_look (self->history, gtk_editable_get_text (GTK_EDITABLE (self->search)), self->next, PAGE, FALSE, cancellable, more_found,
                   g_object_ref (self));
}

/* As many rows as before, so that nobody loses the place. */
static void
update (QmHistoryPage *self)
{
  look (self, CLAMP (self->shown, PAGE, MOST_ROWS), TRUE);
}

static void
update_learnt (QmHistoryPage *self)
{
  guint runs = qm_history_n_learnt (self->history);
  g_autofree char *text = g_strdup_printf (ngettext ("%u run says how far this computer is from theory.",
                                                     "%u runs say how far this computer is from theory.", runs), runs);

  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->learns), text);
}

static void
learns_changed (QmHistoryPage *self)
{
  qm_history_set_wanted (self->history, adw_switch_row_get_active (ADW_SWITCH_ROW (self->learns)));
}

static gboolean
show_spinner (gpointer data)
{
  QmHistoryPage *self = QM_HISTORY_PAGE (data);

  self->spinning = 0;
  gtk_widget_set_opacity (self->spinner, 1);

  return G_SOURCE_REMOVE;
}

/* What is done at once shows nothing. Its place is always free: nothing moves. */
static void
update_busy (QmHistoryPage *self)
{
  g_clear_handle_id (&self->spinning, g_source_remove);
  gtk_widget_set_opacity (self->spinner, 0);
  if (qm_history_get_busy (self->history))
    self->spinning = g_timeout_add (PATIENCE_MILLISECONDS, show_spinner, self);
}

/* -------------------------------------------------------------- one run, and another */

static void
restore_clicked (AdwToast      *toast,
                 QmHistoryPage *self)
{
  const gint64 *id = g_object_get_data (G_OBJECT (toast), "run");

  qm_history_restore (self->history, *id);
}

static void
offer_undo (QmHistoryPage *self,
            gint64         id)
{
  AdwToast *toast = adw_toast_new (_("Run removed"));

  adw_toast_set_button_label (toast, _("Undo"));
  g_object_set_data_full (G_OBJECT (toast), "run", g_memdup2 (&id, sizeof id), g_free);
  g_signal_connect_object (toast, "button-clicked", G_CALLBACK (restore_clicked), self, G_CONNECT_DEFAULT);
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (self->toasts), toast);
}

/**
 * qm_history_page_remove:
 * @self: the page
 * @id: number of a run
 *
 * Removes a run, with a way to have it back.
 */
void
qm_history_page_remove (QmHistoryPage *self,
                        gint64         id)
{
  qm_history_remove (self->history, id);
}

static void
remove_asked (QmRunDialog   *dialog,
              gint64         id,
              QmHistoryPage *self)
{
  qm_history_page_remove (self, id);
}

static void
end_comparing (QmHistoryPage *self)
{
  self->compared = 0;
  adw_banner_set_revealed (ADW_BANNER (self->banner), FALSE);
}

static void
compare_asked (QmRunDialog   *dialog,
               gint64         id,
               QmHistoryPage *self)
{
  g_autofree char *title = g_strdup_printf (_("Pick the run to compare with “%s”"), adw_dialog_get_title (ADW_DIALOG (dialog)));

  self->compared = id;
  adw_banner_set_title (ADW_BANNER (self->banner), title);
  adw_banner_set_revealed (ADW_BANNER (self->banner), TRUE);
}

static void
show_run (QmHistoryPage *self,
          QmRun         *run)
{
  GtkWidget *dialog = qm_run_dialog_new (self->history, run);

  g_signal_connect_object (dialog, "remove", G_CALLBACK (remove_asked), self, G_CONNECT_DEFAULT);
  g_signal_connect_object (dialog, "compare", G_CALLBACK (compare_asked), self, G_CONNECT_DEFAULT);
  adw_dialog_present (ADW_DIALOG (dialog), GTK_WIDGET (self));
}

static void
runs_got (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  g_autoptr (QmHistoryPage) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) runs = qm_history_get_finish (result, &error);

  if (self->history == NULL)
    return;
  if (runs == NULL)
    show_error (self, error);
  else if (runs->len == 1)
    show_run (self, g_ptr_array_steal_index (runs, 0));
  else
    adw_dialog_present (qm_run_comparison_new (qm_session_get_catalog (self->session), g_ptr_array_index (runs, 0), g_ptr_array_index (runs, 1)),
                        GTK_WIDGET (self));
}

static void
run_activated (AdwActionRow  *row,
               QmHistoryPage *self)
{
  const gint64 *id = g_object_get_data (G_OBJECT (row), "run");
  gint64 other = self->compared != *id ? self->compared : 0;

  end_comparing (self);
  /* the older first */
  qm_history_get (self->history, other > 0 ? MIN (other, *id) : *id, other > 0 ? MAX (other, *id) : 0, runs_got, g_object_ref (self));
}

/* ---------------------------------------------------------------- import and export */

/**
 * qm_history_page_reload:
 * @self: the page
 *
 * Takes in what was added to the ledger elsewhere.
 */
void
qm_history_page_reload (QmHistoryPage *self)
{
  qm_history_learn (self->history);
  update (self);
}

/**
 * qm_history_page_import:
 * @self: the page
 * @file: a log, or runs of another ledger
 *
 * Reads it in the background and adds the runs that are not here yet.
 */
void
qm_history_page_import (QmHistoryPage *self,
                        GFile         *file)
{
  qm_history_import (self->history, file);
}

static void
import_chosen (GtkWidget *widget,
               GFile     *file)
{
  QmHistoryPage *self = QM_HISTORY_PAGE (widget);

  if (self->history != NULL)
    qm_history_page_import (self, file);
}

/**
 * qm_history_page_choose_import:
 * @self: the page
 *
 * Asks for a log, and imports it.
 */
void
qm_history_page_choose_import (QmHistoryPage *self)
{
  qm_file_choice_open (GTK_WIDGET (self), _("Import runs"), NULL, NULL, import_chosen);
}

static void
export_chosen (GtkWidget *widget,
               GFile     *file)
{
  QmHistoryPage *self = QM_HISTORY_PAGE (widget);

  if (self->history != NULL)
    qm_history_export (self->history, file);
}

static void
export_clicked (QmHistoryPage *self)
{
  qm_file_choice_save (GTK_WIDGET (self), _("Export runs"), "quartermaster-runs.json", export_chosen);
}

/* ------------------------------------------------------------------------- building */

static GtkWidget *
tools_new (QmHistoryPage *self)
{
  GtkWidget *tools = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *import = gtk_button_new_with_label (_("Import…"));

  self->search = gtk_search_entry_new ();
  gtk_search_entry_set_placeholder_text (GTK_SEARCH_ENTRY (self->search), _("Search runs"));
  qm_ui_set_label (self->search, _("Search runs"));
  gtk_widget_set_hexpand (self->search, TRUE);
  g_signal_connect_swapped (self->search, "search-changed", G_CALLBACK (search_changed), self);
  gtk_box_append (GTK_BOX (tools), self->search);
  g_signal_connect_swapped (import, "clicked", G_CALLBACK (qm_history_page_choose_import), self);
  self->spinner = adw_spinner_new ();
  gtk_widget_set_opacity (self->spinner, 0);
  gtk_box_append (GTK_BOX (tools), self->spinner);
  gtk_box_append (GTK_BOX (tools), import);
  gtk_box_append (GTK_BOX (tools), qm_ui_tool ("document-save-symbolic", _("Export runs"), G_CALLBACK (export_clicked), self));

  return tools;
}

static GtkWidget *
learns_new (QmHistoryPage *self)
{
  GtkWidget *list = gtk_list_box_new ();

  gtk_widget_add_css_class (list, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  self->learns = adw_switch_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->learns), _("Correct estimates by these runs"));
  adw_switch_row_set_active (ADW_SWITCH_ROW (self->learns), TRUE);
  g_signal_connect_swapped (self->learns, "notify::active", G_CALLBACK (learns_changed), self);
  gtk_list_box_append (GTK_LIST_BOX (list), self->learns);

  return list;
}

static GtkWidget *
runs_new (QmHistoryPage *self)
{
  GtkWidget *content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 12);

  self->chart = qm_chart_view_new (QM_CHART_HISTORY);
  gtk_box_append (GTK_BOX (content), self->chart);
  gtk_box_append (GTK_BOX (content), learns_new (self));
  gtk_box_append (GTK_BOX (content), tools_new (self));

  self->list = gtk_list_box_new ();
  gtk_widget_add_css_class (self->list, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->list), GTK_SELECTION_NONE);
  qm_ui_set_label (self->list, _("Runs"));
  gtk_box_append (GTK_BOX (content), self->list);
  self->nothing = qm_ui_wrapped (_("No run has these words."), "second");
  gtk_box_append (GTK_BOX (content), self->nothing);
  self->more = gtk_button_new_with_label (_("Show more"));
  gtk_widget_set_halign (self->more, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (self->more, "clicked", G_CALLBACK (more_clicked), self);
  gtk_box_append (GTK_BOX (content), self->more);

  return qm_ui_page (content, 860);
}

/* The banner stays where it is while the list is scrolled. */
static GtkWidget *
runs_with_banner_new (QmHistoryPage *self)
{
  GtkWidget *box = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);

  self->banner = adw_banner_new ("");
  adw_banner_set_use_markup (ADW_BANNER (self->banner), FALSE);
  adw_banner_set_button_label (ADW_BANNER (self->banner), _("Cancel"));
  g_signal_connect_swapped (self->banner, "button-clicked", G_CALLBACK (end_comparing), self);
  gtk_box_append (GTK_BOX (box), self->banner);
  gtk_box_append (GTK_BOX (box), runs_new (self));

  return box;
}

/* The command line in a Flatpak sees no other program. */
static const char *
how_to_record (void)
{
  if (qm_machine_is_flatpak (NULL))
    return _("Let “nvidia-smi” write a log while your job runs, and import it: the run shows here, beside what was predicted. "
             "Estimates learn from it.");

  return _("Runs that you record here or with “quartermaster-cli record”, or import from a log, show here beside what was predicted. "
           "Estimates learn from them.");
}

static GtkWidget *
empty_new (QmHistoryPage *self)
{
  GtkWidget *button = gtk_button_new_with_label (_("Import…"));

  gtk_widget_add_css_class (button, "pill");
  gtk_widget_set_halign (button, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (qm_history_page_choose_import), self);

  return qm_ui_status ("qm-clock-symbolic", _("No runs yet"), how_to_record (), button);
}

static void
qm_history_page_dispose (GObject *object)
{
  QmHistoryPage *self = QM_HISTORY_PAGE (object);

  g_clear_handle_id (&self->spinning, g_source_remove);
  g_cancellable_cancel (self->looking);
  g_clear_object (&self->looking);
  g_clear_object (&self->session);
  g_clear_object (&self->history);

  G_OBJECT_CLASS (qm_history_page_parent_class)->dispose (object);
}

static void
qm_history_page_map (GtkWidget *widget)
{
  update (QM_HISTORY_PAGE (widget));

  GTK_WIDGET_CLASS (qm_history_page_parent_class)->map (widget);
}

static void
qm_history_page_class_init (QmHistoryPageClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_history_page_dispose;
  GTK_WIDGET_CLASS (klass)->map = qm_history_page_map;
}

static void
qm_history_page_init (QmHistoryPage *self)
{
  self->stack = gtk_stack_new ();
  self->toasts = adw_toast_overlay_new ();
  self->problem = qm_ui_status ("qm-clock-symbolic", _("The runs cannot be read"), NULL, NULL);
  gtk_stack_add_named (GTK_STACK (self->stack), qm_ui_loading (_("Reading your runs…")), "loading");
  gtk_stack_add_named (GTK_STACK (self->stack), self->problem, "problem");
  gtk_stack_add_named (GTK_STACK (self->stack), empty_new (self), "empty");
  gtk_stack_add_named (GTK_STACK (self->stack), runs_with_banner_new (self), "runs");
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (self->toasts), self->stack);
  adw_bin_set_child (ADW_BIN (self), self->toasts);
}

/**
 * qm_history_page_new:
 * @history: the runs
 *
 * Returns: (transfer floating): the page of @history; it reads them
 *   anew when it is shown
 */
GtkWidget *
qm_history_page_new (QmHistory *history)
{
  QmHistoryPage *self = g_object_new (QM_TYPE_HISTORY_PAGE, NULL);
  QmSession *session = qm_history_get_session (history);

  self->session = g_object_ref (session);
  self->history = g_object_ref (history);
  g_signal_connect_object (self->history, "changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->history, "removed", G_CALLBACK (offer_undo), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->history, "learnt", G_CALLBACK (update_learnt), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->history, "told", G_CALLBACK (tell), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->history, "failed", G_CALLBACK (show_failed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->history, "notify::busy", G_CALLBACK (update_busy), self, G_CONNECT_SWAPPED);
  if (qm_session_get_settings (session) != NULL)
    g_settings_bind (qm_session_get_settings (session), "learn-from-runs", self->learns, "active", G_SETTINGS_BIND_DEFAULT);
  learns_changed (self);
  update_learnt (self);

  return GTK_WIDGET (self);
}
