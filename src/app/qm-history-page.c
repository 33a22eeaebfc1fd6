/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-history-page.h"

#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-experience.h"
#include "draw/qm-language.h"
#include "draw/qm-phrase-runs.h"
#include "history/qm-import.h"
#include "probe/qm-own-ledger.h"
#include "probe/qm-probe.h"
#include "qm-chart-view.h"
#include "qm-error.h"
#include "qm-run-dialog.h"
#include "qm-ui.h"

#define PAGE 50
#define KEY "throughput.per_second"
#define MOST_POINTS 400

struct _QmHistoryPage {
  AdwBin parent_instance;

  QmSession *session;
  QmLedger *ledger;                 /* (nullable): where it cannot be opened */
  GtkWidget *toasts;
  GtkWidget *stack;
  GtkWidget *chart;
  GtkWidget *learns;                /* whether estimates are corrected by the runs */
  GtkWidget *search;
  GtkWidget *list;
  GtkWidget *more;
  GtkWidget *nothing;               /* where no run has the words */
  gboolean learnt;                  /* the session knows of runs */
  gint64 next;                      /* where the next page goes on */
  gint64 removed;                   /* the run that can be had back */
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
tell_error (QmHistoryPage *self,
            const GError  *error)
{
  g_autofree char *text = qm_error_get_text (error, qm_language_get_words ());

  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-message", "s", text);
}

/* ------------------------------------------------------------------------ the list */

static char *
when (gint64 started)
{
  g_autoptr (GDateTime) utc = g_date_time_new_from_unix_utc_usec (started);
  g_autoptr (GDateTime) local = utc != NULL ? g_date_time_to_local (utc) : NULL;
  g_autofree char *day = local != NULL ? g_date_time_format (local, "%Y-%m-%d") : NULL;

  return day != NULL ? qm_format_date (qm_language_get_words (), day) : g_strdup ("");
}

/* "12 November 2026 · RTX 4090 · 23 min · finished" */
static char *
summary_of (const QmRun *run)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *day = when (run->started);
  g_autofree char *took = isnan (run->seconds) ? NULL : qm_format_seconds (words, run->seconds);
  g_autoptr (GPtrArray) parts = g_ptr_array_new ();

  g_ptr_array_add (parts, day);
  if (run->device != NULL)
    g_ptr_array_add (parts, run->device);
  if (took != NULL)
    g_ptr_array_add (parts, took);
  g_ptr_array_add (parts, (char *) qm_phrase_run_status (words, run->status));
  g_ptr_array_add (parts, NULL);

  return g_strjoinv (" · ", (char **) parts->pdata);
}

static GtkWidget *
figures_new (const QmRun *run)
{
  const QmWords *words = qm_language_get_words ();
  GtkWidget *box = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);
  double measured = qm_run_measured (run, KEY);
  g_autofree char *rate = qm_phrase_figure (words, KEY, measured, run->unit);
  g_autofree char *error = qm_phrase_error (words, qm_run_predicted (run, KEY), measured);
  GtkWidget *label = qm_ui_label (rate, "numeric");

  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_box_append (GTK_BOX (box), label);
  if (error != NULL)
    {
      g_autofree char *text = g_strdup_printf (_("predicted %s"), error);
      GtkWidget *second = qm_ui_label (text, "caption second numeric");

      gtk_label_set_xalign (GTK_LABEL (second), 1);
      gtk_box_append (GTK_BOX (box), second);
    }

  return box;
}

static void run_activated (AdwActionRow  *row,
                           QmHistoryPage *self);

static void
add_run (QmHistoryPage *self,
         const QmRun   *run)
{
  GtkWidget *row = adw_action_row_new ();
  g_autofree char *summary = summary_of (run);
  gint64 *id = g_new (gint64, 1);

  *id = run->id;
  g_object_set_data_full (G_OBJECT (row), "run", id, g_free);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), run->label);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), summary);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), figures_new (run));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  g_signal_connect (row, "activated", G_CALLBACK (run_activated), self);
  gtk_list_box_append (GTK_LIST_BOX (self->list), row);
}

/* A page may be empty and yet not the last: the ledger looks through so many as
 * a frame allows. */
static void
add_page (QmHistoryPage *self)
{
  QmLedgerQuery query = { .text = gtk_editable_get_text (GTK_EDITABLE (self->search)), .before = self->next, .limit = PAGE };
  guint shown = 0;

  if (query.text[0] == '\0')
    query.text = NULL;
  do
    {
      g_auto (QmLedgerPage) page = { 0 };
      g_autoptr (GError) error = NULL;

      if (!qm_ledger_find (self->ledger, &query, &page, &error))
        {
          tell_error (self, error);
          return;
        }
      for (guint i = 0; i < page.runs->len; i++)
        add_run (self, g_ptr_array_index (page.runs, i));
      shown += page.runs->len;
      query.before = self->next = page.next;
    }
  while (shown == 0 && self->next > 0);
  gtk_widget_set_visible (self->more, self->next > 0);
}

static void
update_list (QmHistoryPage *self)
{
  gboolean any;

  if (self->ledger == NULL)
    return;

  gtk_list_box_remove_all (GTK_LIST_BOX (self->list));
  self->next = 0;
  add_page (self);
  any = gtk_widget_get_first_child (self->list) != NULL;
  gtk_widget_set_visible (self->list, any);
  gtk_widget_set_visible (self->nothing, !any);
}

/* Estimates follow the runs that are here, where the person wants it. */
static void
learn (QmHistoryPage *self)
{
  gboolean wanted = adw_switch_row_get_active (ADW_SWITCH_ROW (self->learns));
  g_autoptr (QmExperience) experience = qm_experience_new (self->ledger, qm_session_get_estimator (self->session), g_get_real_time (), NULL);
  guint runs = experience != NULL ? experience->runs : 0;
  g_autofree char *text = g_strdup_printf (ngettext ("%u run says how far this computer is from theory.",
                                                     "%u runs say how far this computer is from theory.", runs), runs);

  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->learns), text);
  if (runs == 0 && !self->learnt)
    return;

  self->learnt = runs > 0;
  qm_session_learn (self->session, runs > 0 ? experience->past_runs : NULL, wanted && runs > 0 ? experience->calibration : NULL);
}

static void
update (QmHistoryPage *self)
{
  g_autoptr (GArray) points = NULL;
  gboolean any;

  if (self->ledger == NULL)
    return;

  any = qm_ledger_count (self->ledger, NULL) > 0;
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), any ? "runs" : "empty");
  points = any ? qm_ledger_list_points (self->ledger, KEY, MOST_POINTS, NULL) : NULL;
  qm_chart_view_show (QM_CHART_VIEW (self->chart), points != NULL ? qm_chart_new_history (points, KEY, qm_language_get_words ()) : NULL);
  update_list (self);
}

/* ------------------------------------------------------------------ remove and undo */

static void
restore (QmHistoryPage *self)
{
  g_autoptr (GError) error = NULL;

  if (!qm_ledger_restore (self->ledger, self->removed, &error))
    tell_error (self, error);
  learn (self);
  update (self);
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
  g_autoptr (GError) error = NULL;
  AdwToast *toast;

  if (!qm_ledger_remove (self->ledger, id, g_get_real_time (), &error))
    {
      tell_error (self, error);
      return;
    }

  self->removed = id;
  toast = adw_toast_new (_("Run removed"));
  adw_toast_set_button_label (toast, _("Undo"));
  g_signal_connect_object (toast, "button-clicked", G_CALLBACK (restore), self, G_CONNECT_SWAPPED);
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (self->toasts), toast);
  learn (self);
  update (self);
}

static void
remove_asked (QmRunDialog   *dialog,
              gint64         id,
              QmHistoryPage *self)
{
  qm_history_page_remove (self, id);
}

static void
run_activated (AdwActionRow  *row,
               QmHistoryPage *self)
{
  g_autoptr (GError) error = NULL;
  const gint64 *id = g_object_get_data (G_OBJECT (row), "run");
  QmRun *run = qm_ledger_get (self->ledger, *id, &error);
  GtkWidget *dialog;

  if (run == NULL)
    {
      tell_error (self, error);
      return;
    }
  dialog = qm_run_dialog_new (self->ledger, run);
  g_signal_connect_object (dialog, "remove", G_CALLBACK (remove_asked), self, G_CONNECT_DEFAULT);
  adw_dialog_present (ADW_DIALOG (dialog), GTK_WIDGET (self));
}

/* ---------------------------------------------------------------- import and export */

static void
read_file (GTask        *task,
           gpointer      source,
           gpointer      data,
           GCancellable *cancellable)
{
  GError *error = NULL;
  GPtrArray *imported = qm_import_read (data, &error);

  if (imported == NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, imported, (GDestroyNotify) g_ptr_array_unref);
}

static void
file_read (GObject      *source,
           GAsyncResult *result,
           gpointer      data)
{
  QmHistoryPage *self = QM_HISTORY_PAGE (source);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) imported = g_task_propagate_pointer (G_TASK (result), &error);
  g_autofree char *text = NULL;
  int added;

  if (imported != NULL)
    qm_import_name_devices (imported, qm_session_get_catalog (self->session));
  added = imported != NULL ? qm_import_add (self->ledger, imported, &error) : -1;
  if (added < 0)
    {
      tell_error (self, error);
      return;
    }

  text = added == 0 ? g_strdup (_("These runs are here already"))
                    : g_strdup_printf (ngettext ("%d run imported", "%d runs imported", added), added);
  tell (self, text);
  learn (self);
  update (self);
}

/**
 * qm_history_page_reload:
 * @self: the page
 *
 * Takes in what was added to the ledger elsewhere.
 */
void
qm_history_page_reload (QmHistoryPage *self)
{
  if (self->ledger == NULL)
    return;

  learn (self);
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
  g_autoptr (GTask) task = g_task_new (self, NULL, file_read, NULL);

  if (self->ledger == NULL || g_file_peek_path (file) == NULL)
    return;

  g_task_set_source_tag (task, qm_history_page_import);
  g_task_set_task_data (task, g_file_get_path (file), g_free);
  g_task_run_in_thread (task, read_file);
}

static void
import_chosen (GObject      *source,
               GAsyncResult *result,
               gpointer      data)
{
  g_autoptr (QmHistoryPage) self = data;
  g_autoptr (GFile) file = gtk_file_dialog_open_finish (GTK_FILE_DIALOG (source), result, NULL);

  if (file != NULL)
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
  g_autoptr (GtkFileDialog) dialog = gtk_file_dialog_new ();

  gtk_file_dialog_set_title (dialog, _("Import runs"));
  gtk_file_dialog_open (dialog, GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self))), NULL, import_chosen, g_object_ref (self));
}

static void
export_chosen (GObject      *source,
               GAsyncResult *result,
               gpointer      data)
{
  g_autoptr (QmHistoryPage) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = gtk_file_dialog_save_finish (GTK_FILE_DIALOG (source), result, NULL);
  g_autofree char *name = file != NULL ? g_file_get_basename (file) : NULL;
  g_autofree char *text = NULL;

  if (file == NULL)
    return;

  text = g_str_has_suffix (name, ".csv") ? qm_export_csv (self->ledger, &error) : qm_export_json (self->ledger, &error);
  if (text == NULL || !g_file_replace_contents (file, text, strlen (text), NULL, FALSE, G_FILE_CREATE_NONE, NULL, NULL, &error))
    tell_error (self, error);
  else
    tell (self, _("Runs exported"));
}

static void
export_clicked (QmHistoryPage *self)
{
  g_autoptr (GtkFileDialog) dialog = gtk_file_dialog_new ();

  gtk_file_dialog_set_title (dialog, _("Export runs"));
  gtk_file_dialog_set_initial_name (dialog, "quartermaster-runs.json");
  gtk_file_dialog_save (dialog, GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self))), NULL, export_chosen, g_object_ref (self));
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
  g_signal_connect_swapped (self->search, "search-changed", G_CALLBACK (update_list), self);
  gtk_box_append (GTK_BOX (tools), self->search);
  g_signal_connect_swapped (import, "clicked", G_CALLBACK (qm_history_page_choose_import), self);
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
  g_signal_connect_swapped (self->learns, "notify::active", G_CALLBACK (learn), self);
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
  g_signal_connect_swapped (self->more, "clicked", G_CALLBACK (add_page), self);
  gtk_box_append (GTK_BOX (content), self->more);

  return qm_ui_page (content, 860);
}

static GtkWidget *
status_new (const char *title,
            const char *text,
            GtkWidget  *button)
{
  GtkWidget *page = adw_status_page_new ();
  g_autofree char *escaped = g_markup_escape_text (text, -1);

  adw_status_page_set_icon_name (ADW_STATUS_PAGE (page), "qm-clock-symbolic");
  adw_status_page_set_title (ADW_STATUS_PAGE (page), title);
  adw_status_page_set_description (ADW_STATUS_PAGE (page), escaped);
  adw_status_page_set_child (ADW_STATUS_PAGE (page), button);

  return page;
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

  return status_new (_("No runs yet"), how_to_record (), button);
}

static void
qm_history_page_dispose (GObject *object)
{
  QmHistoryPage *self = QM_HISTORY_PAGE (object);

  g_clear_object (&self->session);
  g_clear_object (&self->ledger);

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
  g_autoptr (GError) error = NULL;
  g_autofree char *problem = NULL;

  self->stack = gtk_stack_new ();
  self->toasts = adw_toast_overlay_new ();
  self->ledger = qm_own_ledger_open (NULL, &error);
  if (self->ledger == NULL)
    {
      problem = qm_error_get_text (error, qm_language_get_words ());
      gtk_stack_add_named (GTK_STACK (self->stack), status_new (_("The runs cannot be read"), problem, NULL), "problem");
    }
  else
    {
      gtk_stack_add_named (GTK_STACK (self->stack), empty_new (self), "empty");
      gtk_stack_add_named (GTK_STACK (self->stack), runs_new (self), "runs");
    }
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (self->toasts), self->stack);
  adw_bin_set_child (ADW_BIN (self), self->toasts);
}

/**
 * qm_history_page_new:
 * @session: the session
 *
 * Returns: (transfer floating): the page of the runs; it reads them anew when it
 *   is shown
 */
GtkWidget *
qm_history_page_new (QmSession *session)
{
  QmHistoryPage *self = g_object_new (QM_TYPE_HISTORY_PAGE, NULL);

  self->session = g_object_ref (session);
  if (qm_session_get_settings (session) != NULL)
    g_settings_bind (qm_session_get_settings (session), "learn-from-runs", self->learns, "active", G_SETTINGS_BIND_DEFAULT);
  if (self->ledger != NULL)
    learn (self);

  return GTK_WIDGET (self);
}
