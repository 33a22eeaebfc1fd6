/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "draw/qm-language.h"
#include "draw/qm-report.h"
#include "qm-answer-page.h"
#include "qm-breakdown.h"
#include "qm-compare-dialog.h"
#include "qm-error.h"
#include "qm-file-choice.h"
#include "qm-guide.h"
#include "qm-record-dialog.h"
#include "qm-window.h"
#include "qm-wizard-page.h"

/* ---------------------------------------------------------------- navigation */

static void
go_next (GtkWidget  *widget,
         const char *name,
         GVariant   *parameter)
{
  qm_window_step (QM_WINDOW (widget), 1);
}

static void
go_back (GtkWidget  *widget,
         const char *name,
         GVariant   *parameter)
{
  qm_window_step (QM_WINDOW (widget), -1);
}

static void
show_computer (GtkWidget  *widget,
               const char *name,
               GVariant   *parameter)
{
  gtk_widget_activate_action (widget, "win.show-place", "s", "computer");
}

static void
show_place (GtkWidget  *widget,
            const char *name,
            GVariant   *parameter)
{
  AdwViewStack *places = ADW_VIEW_STACK (gtk_widget_get_template_child (widget, QM_TYPE_WINDOW, "places"));

  adw_view_stack_set_visible_child_name (places, g_variant_get_string (parameter, NULL));
}

static void
record_run (GtkWidget  *widget,
            const char *name,
            GVariant   *parameter)
{
  adw_dialog_present (ADW_DIALOG (qm_record_dialog_new (qm_window_get_session (QM_WINDOW (widget)))), widget);
}

static void
import_runs (GtkWidget  *widget,
             const char *name,
             GVariant   *parameter)
{
  qm_history_page_choose_import (qm_window_get_history_page (QM_WINDOW (widget)));
}

static void
runs_changed (GtkWidget  *widget,
              const char *name,
              GVariant   *parameter)
{
  qm_history_page_reload (qm_window_get_history_page (QM_WINDOW (widget)));
}

static void
show_message (GtkWidget  *widget,
              const char *name,
              GVariant   *parameter)
{
  qm_window_show_error (QM_WINDOW (widget), _("That did not work"), g_variant_get_string (parameter, NULL));
}

static void
show_toast (GtkWidget  *widget,
            const char *name,
            GVariant   *parameter)
{
  qm_window_show_toast (QM_WINDOW (widget), g_variant_get_string (parameter, NULL), NULL, NULL);
}

static void
show_launch (GtkWidget  *widget,
             const char *name,
             GVariant   *parameter)
{
  AdwNavigationView *pages = ADW_NAVIGATION_VIEW (gtk_widget_get_template_child (widget, QM_TYPE_WINDOW, "pages"));
  AdwNavigationPage *page = adw_navigation_view_get_visible_page (pages);

  if (QM_IS_ANSWER_PAGE (page))
    qm_answer_page_show_launch (QM_ANSWER_PAGE (page));
}

static void
show_breakdown (GtkWidget  *widget,
                const char *name,
                GVariant   *parameter)
{
  QmRecommendation *recommendation = qm_session_get_recommendation (qm_window_get_session (QM_WINDOW (widget)));

  if (recommendation != NULL && qm_recommendation_n_choices (recommendation) > 0)
    adw_dialog_present (qm_breakdown_new (qm_session_get_estimator (qm_window_get_session (QM_WINDOW (widget))), recommendation), widget);
}

static void
show_guide (GtkWidget  *widget,
            const char *name,
            GVariant   *parameter)
{
  adw_dialog_present (qm_guide_new (g_variant_get_string (parameter, NULL)), widget);
}

/* ---------------------------------------------------------------------- plans */

static void
new_plan (GtkWidget  *widget,
          const char *name,
          GVariant   *parameter)
{
  QmWindow *self = QM_WINDOW (widget);

  qm_session_reset (qm_window_get_session (self));
  qm_window_show_page (self, "start");
  qm_window_show_toast (self, _("A new plan"), _("Undo"), "win.undo");
}

static void
say_excluded (GtkWidget  *widget,
              const char *name,
              GVariant   *parameter)
{
  qm_window_show_toast (QM_WINDOW (widget), _("Looking for the next best"), _("Undo"), "win.undo");
}

static void
undo (GtkWidget  *widget,
      const char *name,
      GVariant   *parameter)
{
  qm_session_undo (qm_window_get_session (QM_WINDOW (widget)));
}

/* In a narrow window the fact sheet lies below what is seen. */
static void
tell_model (QmWindow *self)
{
  const QmResolved *resolved = qm_session_get_resolved (qm_window_get_session (self));
  g_autofree char *count = NULL;
  g_autofree char *text = NULL;

  if (resolved == NULL || resolved->model == NULL)
    return;
  count = qm_format_count_short (qm_language_get_words (), resolved->model->parameters);
  text = g_strdup_printf (_("%s: %s parameters"), resolved->model->name, count);
  qm_window_show_toast (self, text, NULL, NULL);
}

static void
take_model (QmWindow   *self,
            const char *path)
{
  g_autofree char *problem = NULL;

  qm_session_set_model_file (qm_window_get_session (self), path);
  qm_window_show_page (self, "model");
  problem = g_strdup (qm_session_get_problem (qm_window_get_session (self)));
  if (problem == NULL)
    {
      tell_model (self);
      return;
    }
  qm_session_undo (qm_window_get_session (self));
  qm_window_show_error (self, _("This file is no model"), problem);
}

/**
 * qm_window_open_file:
 * @self: a window
 * @file: a plan or a model file
 *
 * Opens a plan, or takes the model from the file.
 */
void
qm_window_open_file (QmWindow *self,
                     GFile    *file)
{
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *path = g_file_get_path (file);
  g_autofree char *uri = g_file_get_uri (file);
  g_autoptr (GError) error = NULL;

  if (!g_str_has_suffix (name, ".qmplan") && path != NULL)
    {
      take_model (self, path);
      return;
    }

  if (!qm_session_open (qm_window_get_session (self), file, &error))
    {
      g_autofree char *problem = qm_error_get_text (error, qm_language_get_words ());

      qm_window_show_error (self, _("The plan could not be opened"), problem);
      return;
    }
  gtk_recent_manager_add_item (gtk_recent_manager_get_default (), uri);
  qm_window_show_page (self, "answer");
}

static void
opened (GtkWidget *widget,
        GFile     *file)
{
  qm_window_open_file (QM_WINDOW (widget), file);
}

/**
 * qm_window_compare:
 * @self: a window whose plan has an answer
 * @file: another plan
 *
 * Shows the plan of @self beside that of @file.
 */
void
qm_window_compare (QmWindow *self,
                   GFile    *file)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *problem = NULL;
  AdwDialog *dialog;

  if (qm_session_get_recommendation (qm_window_get_session (self)) == NULL)
    {
      qm_window_show_error (self, _("There is nothing to compare"), _("The answers of this plan do not fit together."));
      return;
    }
  dialog = qm_compare_dialog_new (qm_window_get_session (self), file, &error);
  if (dialog != NULL)
    {
      adw_dialog_present (dialog, GTK_WIDGET (self));
      return;
    }
  problem = qm_error_get_text (error, qm_language_get_words ());
  qm_window_show_error (self, _("The plan could not be opened"), problem);
}

static void
compared (GtkWidget *widget,
          GFile     *file)
{
  qm_window_compare (QM_WINDOW (widget), file);
}

static void
open_plan (GtkWidget  *widget,
           const char *name,
           GVariant   *parameter)
{
  qm_file_choice_open (widget, _("Open a plan"), "*.qmplan", _("Plans"), opened);
}

static void
open_model (GtkWidget  *widget,
            const char *name,
            GVariant   *parameter)
{
  qm_file_choice_open (widget, _("Open a model file"), "*.json *.safetensors *.gguf", _("Model files"), opened);
}

/* An example is a new plan: saving it asks for a name. */
static void
open_example (GtkWidget  *widget,
              const char *name,
              GVariant   *parameter)
{
  QmWindow *self = QM_WINDOW (widget);
  g_autofree char *folder = qm_session_dup_data_path ("examples");
  g_autofree char *path = g_build_filename (folder, g_variant_get_string (parameter, NULL), NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *problem = NULL;
  QmPlan *plan = qm_plan_load (path, NULL, &error);

  if (plan != NULL)
    {
      qm_session_set_plan (qm_window_get_session (self), plan, NULL);
      qm_window_show_page (self, "answer");
      qm_window_show_toast (self, _("An example; its answers are yours to change"), _("Undo"), "win.undo");
      return;
    }
  problem = qm_error_get_text (error, qm_language_get_words ());
  qm_window_show_error (self, _("The plan could not be opened"), problem);
}

static void
compare_plans (GtkWidget  *widget,
               const char *name,
               GVariant   *parameter)
{
  qm_file_choice_open (widget, _("Compare with another plan"), "*.qmplan", _("Plans"), compared);
}

static void
open_uri (GtkWidget  *widget,
          const char *name,
          GVariant   *parameter)
{
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));

  qm_window_open_file (QM_WINDOW (widget), file);
}

static void
save_to (QmWindow *self,
         GFile    *file)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *uri = g_file_get_uri (file);

  if (!qm_session_save (qm_window_get_session (self), file, &error))
    {
      g_autofree char *problem = qm_error_get_text (error, qm_language_get_words ());

      qm_window_show_error (self, _("The plan could not be saved"), problem);
      return;
    }
  gtk_recent_manager_add_item (gtk_recent_manager_get_default (), uri);
  qm_window_show_toast (self, _("Plan saved"), NULL, NULL);
}

static void
save_chosen (GtkWidget *widget,
             GFile     *file)
{
  save_to (QM_WINDOW (widget), file);
}

static char *
suggested_name (QmWindow   *self,
                const char *ending)
{
  g_autofree char *title = qm_session_dup_title (qm_window_get_session (self));

  g_strdelimit (title, "/\\:\n\r\t", '-');
  return g_strconcat (title, ending, NULL);
}

static void
save_as (GtkWidget  *widget,
         const char *name,
         GVariant   *parameter)
{
  g_autofree char *suggested = suggested_name (QM_WINDOW (widget), ".qmplan");

  qm_file_choice_save (widget, _("Save the plan"), suggested, save_chosen);
}

static void
save (GtkWidget  *widget,
      const char *name,
      GVariant   *parameter)
{
  GFile *file = qm_session_get_file (qm_window_get_session (QM_WINDOW (widget)));

  if (file != NULL)
    save_to (QM_WINDOW (widget), file);
  else
    save_as (widget, name, parameter);
}

/* --------------------------------------------------------------------- report */

typedef struct {
  QmEstimator *estimator;
  QmRecommendation *recommendation;
  char *date;
  QmPaper paper;
  GFile *file;
} Report;

static void
report_free (Report *self)
{
  g_object_unref (self->estimator);
  g_object_unref (self->recommendation);
  g_object_unref (self->file);
  g_free (self->date);
  g_free (self);
}

static void
write_report (GTask        *task,
              gpointer      source,
              gpointer      data,
              GCancellable *cancellable)
{
  Report *report = data;
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;

  /* Made whole first: a stream into the file would put what there is of it in
   * the place of an older report when it fails. */
  if (qm_report_write (report->estimator, report->recommendation, qm_language_get_words (), qm_language_get_tag (), report->date,
                       report->paper, memory, cancellable, &error) &&
      g_output_stream_close (memory, cancellable, &error) &&
      g_file_replace_contents (report->file, g_memory_output_stream_get_data (G_MEMORY_OUTPUT_STREAM (memory)),
                               g_memory_output_stream_get_data_size (G_MEMORY_OUTPUT_STREAM (memory)), NULL, FALSE,
                               G_FILE_CREATE_REPLACE_DESTINATION, NULL, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static void
report_written (GObject      *source,
                GAsyncResult *result,
                gpointer      data)
{
  QmWindow *self = QM_WINDOW (source);
  g_autoptr (GError) error = NULL;
  g_autofree char *problem = NULL;

  if (g_task_propagate_boolean (G_TASK (result), &error))
    {
      qm_window_show_toast (self, _("Report saved"), NULL, NULL);
      return;
    }
  problem = qm_error_get_text (error, qm_language_get_words ());
  qm_window_show_error (self, _("The report could not be saved"), problem);
}

/**
 * qm_window_save_report:
 * @self: a window
 * @file: where to
 *
 * Writes the answer as a PDF in the background and says when it is done.
 */
void
qm_window_save_report (QmWindow *self,
                       GFile    *file)
{
  QmSession *session = qm_window_get_session (self);
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autoptr (GTask) task = NULL;
  Report *report;

  if (qm_session_get_recommendation (session) == NULL)
    return;

  report = g_new0 (Report, 1);
  report->estimator = g_object_ref (qm_session_get_estimator (session));
  report->recommendation = g_object_ref (qm_session_get_recommendation (session));
  report->paper = qm_session_get_settings (session) != NULL && g_settings_get_enum (qm_session_get_settings (session), "paper") == 1
                    ? QM_PAPER_LETTER : QM_PAPER_A4;
  report->date = g_date_time_format (now, "%Y-%m-%d");
  report->file = g_object_ref (file);
  task = g_task_new (self, NULL, report_written, NULL);
  g_task_set_source_tag (task, qm_window_save_report);
  g_task_set_task_data (task, report, (GDestroyNotify) report_free);
  g_task_run_in_thread (task, write_report);
}

static void
report_chosen (GtkWidget *widget,
               GFile     *file)
{
  qm_window_save_report (QM_WINDOW (widget), file);
}

static void
save_report (GtkWidget  *widget,
             const char *name,
             GVariant   *parameter)
{
  g_autofree char *suggested = suggested_name (QM_WINDOW (widget), ".pdf");

  qm_file_choice_save (widget, _("Save the report"), suggested, report_chosen);
}

/* Installs the actions of the window; their keys are in the application. */
void
qm_window_class_install_actions (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "win.next", NULL, go_next);
  gtk_widget_class_install_action (widget_class, "win.back", NULL, go_back);
  gtk_widget_class_install_action (widget_class, "win.show-computer", NULL, show_computer);
  gtk_widget_class_install_action (widget_class, "win.show-place", "s", show_place);
  gtk_widget_class_install_action (widget_class, "win.record", NULL, record_run);
  gtk_widget_class_install_action (widget_class, "win.import-runs", NULL, import_runs);
  gtk_widget_class_install_action (widget_class, "win.runs-changed", NULL, runs_changed);
  gtk_widget_class_install_action (widget_class, "win.show-message", "s", show_message);
  gtk_widget_class_install_action (widget_class, "win.show-toast", "s", show_toast);
  gtk_widget_class_install_action (widget_class, "win.launch", NULL, show_launch);
  gtk_widget_class_install_action (widget_class, "win.breakdown", NULL, show_breakdown);
  gtk_widget_class_install_action (widget_class, "win.guide", "s", show_guide);
  gtk_widget_class_install_action (widget_class, "win.new", NULL, new_plan);
  gtk_widget_class_install_action (widget_class, "win.say-excluded", NULL, say_excluded);
  gtk_widget_class_install_action (widget_class, "win.undo", NULL, undo);
  gtk_widget_class_install_action (widget_class, "win.open", NULL, open_plan);
  gtk_widget_class_install_action (widget_class, "win.open-model", NULL, open_model);
  gtk_widget_class_install_action (widget_class, "win.open-example", "s", open_example);
  gtk_widget_class_install_action (widget_class, "win.compare", NULL, compare_plans);
  gtk_widget_class_install_action (widget_class, "win.open-uri", "s", open_uri);
  gtk_widget_class_install_action (widget_class, "win.save", NULL, save);
  gtk_widget_class_install_action (widget_class, "win.save-as", NULL, save_as);
  gtk_widget_class_install_action (widget_class, "win.report", NULL, save_report);
}
