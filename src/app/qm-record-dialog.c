/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-record-dialog.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "history/qm-channels.h"
#include "probe/qm-record-job.h"
#include "qm-columns.h"
#include "qm-error.h"
#include "qm-live-card.h"
#include "qm-record-result.h"
#include "qm-ui.h"

#define USUAL_MINUTES 10
#define MOST_MINUTES  (7 * 24 * 60)

struct _QmRecordDialog {
  AdwDialog parent_instance;

  QmSession *session;
  QmRecordJob *job;                 /* (nullable): while one runs, and after it */
  char *folder;

  GtkWidget *title;
  GtkWidget *header;
  GtkWidget *stack;
  GtkWidget *first;                 /* button at the start of the header */
  GtkWidget *last;                  /* and at its end */
  GtkWidget *command;
  GtkWidget *folder_row;
  GtkWidget *minutes;
  GtkWidget *with_plan;
  GtkWidget *problem;
  GtkWidget *command_line;
  GtkWidget *state;
  GtkWidget *bar;
  GtkWidget *said;
  GtkWidget *cards;
  GtkWidget *result;
};

G_DEFINE_FINAL_TYPE (QmRecordDialog, qm_record_dialog, ADW_TYPE_DIALOG)

/* The buttons of the header, by where the dialog is. */
static const struct {
  const char *page;
  const char *title;
  const char *first;
  const char *last;
  const char *style;
} looks[] = {
  { "form", N_("Record a run"), N_("Cancel"), N_("Record"), "suggested-action" },
  { "running", N_("Recording a run"), N_("Discard"), N_("Stop and keep"), "destructive-action" },
  { "result", N_("What it showed"), N_("Record again"), N_("Show in History"), "suggested-action" },
  { "outside", N_("Record a run"), N_("Close"), N_("Import…"), "suggested-action" },
};

static const char *
page_of (QmRecordDialog *self)
{
  return gtk_stack_get_visible_child_name (GTK_STACK (self->stack));
}

static void
show_page (QmRecordDialog *self,
           const char     *page)
{
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), page);
  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      gtk_widget_remove_css_class (self->last, looks[i].style);
      if (!g_str_equal (looks[i].page, page))
        continue;
      adw_dialog_set_title (ADW_DIALOG (self), _(looks[i].title));
      adw_window_title_set_title (ADW_WINDOW_TITLE (self->title), _(looks[i].title));
      gtk_button_set_label (GTK_BUTTON (self->first), _(looks[i].first));
      gtk_button_set_label (GTK_BUTTON (self->last), _(looks[i].last));
    }
  gtk_widget_add_css_class (self->last, g_str_equal (page, "running") ? "destructive-action" : "suggested-action");
  gtk_widget_set_sensitive (self->first, TRUE);
  gtk_widget_set_sensitive (self->last, TRUE);
  adw_dialog_set_can_close (ADW_DIALOG (self), !g_str_equal (page, "running"));
  adw_dialog_set_default_widget (ADW_DIALOG (self), g_str_equal (page, "running") ? NULL : self->last);
}

static void
show_problem (QmRecordDialog *self,
              const GError   *error)
{
  g_autofree char *text = error != NULL ? qm_error_get_text (error, qm_language_get_words ()) : NULL;

  gtk_label_set_label (GTK_LABEL (self->problem), text != NULL ? text : "");
  gtk_widget_set_visible (self->problem, text != NULL);
}

/* -------------------------------------------------------------------------- running */

static double
limit_seconds (QmRecordDialog *self)
{
  return adw_spin_row_get_value (ADW_SPIN_ROW (self->minutes)) * 60;
}

/* "step 40 of 100, 318 tokens/s, loss 2.1" */
static char *
what_it_says (const QmProgress *progress)
{
  const QmWords *words = qm_language_get_words ();
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);
  double rate = isfinite (progress->tokens_per_second) ? progress->tokens_per_second : progress->samples_per_second;

  if (isfinite (progress->step))
    {
      g_autofree char *step = qm_format_count (words, progress->step), *steps = qm_format_count (words, progress->steps);

      /* Translators: step 40 of 100 */
      g_ptr_array_add (parts, isfinite (progress->steps) ? g_strdup_printf (_("step %s of %s"), step, steps) : g_strdup_printf (_("step %s"), step));
    }
  if (isfinite (rate))
    {
      g_autofree char *number = qm_format_number (words, rate);

      g_ptr_array_add (parts, g_strdup_printf (isfinite (progress->tokens_per_second) ? _("%s tokens/s") : _("%s samples/s"), number));
    }
  if (isfinite (progress->loss))
    {
      g_autofree char *number = qm_format_number (words, progress->loss);

      g_ptr_array_add (parts, g_strdup_printf (_("loss %s"), number));
    }
  if (parts->len == 0)
    return g_strdup (_("It has not said yet how far it is."));
  g_ptr_array_add (parts, NULL);

  return g_strjoinv (", ", (char **) parts->pdata);
}

static void
add_card (QmRecordDialog   *self,
          const char       *title,
          const QmLiveLook *look)
{
  qm_columns_append (QM_COLUMNS (self->cards), qm_live_card_new (qm_record_job_get_watcher (self->job), title, look));
}

static void
add_cards (QmRecordDialog *self)
{
  char name[QM_CHANNEL_SIZE];
  const QmLiveLook tokens = { .channels = { QM_CHANNEL_TOKENS }, .ink = QM_INK_BLUE, .quantity = QM_QUANTITY_NUMBER };
  const QmLiveLook samples = { .channels = { QM_CHANNEL_SAMPLES }, .ink = QM_INK_BLUE, .quantity = QM_QUANTITY_NUMBER };
  const QmLiveLook cores = { .channels = { QM_CHANNEL_PROCESS_CPU }, .ink = QM_INK_TEAL, .quantity = QM_QUANTITY_NUMBER };
  const QmLiveLook memory = { .channels = { QM_CHANNEL_PROCESS_MEMORY }, .ink = QM_INK_PURPLE, .quantity = QM_QUANTITY_BYTES };
  QmLiveLook gpu = { .channels = { qm_channel_of_gpu (name, 0, QM_CHANNEL_GPU_BUSY) }, .ink = QM_INK_TEAL, .quantity = QM_QUANTITY_PERCENT,
                     .top = 1 };

  qm_columns_clear (QM_COLUMNS (self->cards));
  add_card (self, _("Tokens a second"), &tokens);
  add_card (self, _("Samples a second"), &samples);
  add_card (self, _("Use of the GPU"), &gpu);
  gpu = (QmLiveLook) { .channels = { qm_channel_of_gpu (name, 0, QM_CHANNEL_GPU_MEMORY) }, .ink = QM_INK_PURPLE, .quantity = QM_QUANTITY_BYTES };
  add_card (self, _("Memory of the GPU"), &gpu);
  add_card (self, _("Processor cores in use"), &cores);
  add_card (self, _("Memory of its processes"), &memory);
}

static void
updated (QmRecordDialog *self)
{
  const QmWords *words = qm_language_get_words ();
  double seconds = qm_record_job_get_seconds (self->job), limit = limit_seconds (self);
  const QmProgress *progress = qm_record_job_get_progress (self->job);
  g_autofree char *so_far = qm_format_seconds (words, seconds), *all = qm_format_seconds (words, limit);
  g_autofree char *state = limit > 0 ? g_strdup_printf (_("Recording, %s of at most %s"), so_far, all) : g_strdup_printf (_("Recording, %s"), so_far);
  g_autofree char *said = what_it_says (progress);

  if (gtk_widget_get_first_child (self->cards) == NULL)
    add_cards (self);
  gtk_label_set_label (GTK_LABEL (self->state), state);
  gtk_label_set_label (GTK_LABEL (self->said), said);
  if (progress->steps > 0 && progress->step >= 0)
    gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->bar), CLAMP (progress->step / progress->steps, 0, 1));
  else if (limit > 0)
    gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->bar), CLAMP (seconds / limit, 0, 1));
  else
    gtk_progress_bar_pulse (GTK_PROGRESS_BAR (self->bar));
}

static void
ended (QmRecordDialog *self)
{
  const GError *error = qm_record_job_get_error (self->job);
  const QmDiagnosis *diagnosis = qm_record_job_get_diagnosis (self->job);

  adw_dialog_set_can_close (ADW_DIALOG (self), TRUE);
  qm_columns_clear (QM_COLUMNS (self->cards));
  show_problem (self, error);
  if (diagnosis == NULL)
    {
      show_page (self, "form");
      return;
    }

  adw_bin_set_child (ADW_BIN (self->result), qm_record_result_new (qm_record_job_get_run (self->job), diagnosis));
  show_page (self, "result");
  gtk_widget_activate_action (GTK_WIDGET (self), "win.runs-changed", NULL);
}

static void
start (QmRecordDialog *self)
{
  const char *command = gtk_editable_get_text (GTK_EDITABLE (self->command));
  QmRecordOptions options = { .command = command, .directory = self->folder, .timeout_seconds = limit_seconds (self),
                              .estimator = qm_session_get_estimator (self->session), .machine = qm_session_get_machine (self->session) };
  g_autoptr (GError) error = NULL;

  if (adw_switch_row_get_active (ADW_SWITCH_ROW (self->with_plan)))
    options.resolved = qm_session_get_resolved (self->session);
  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  g_clear_object (&self->job);
  self->job = qm_record_job_start (&options, &error);
  show_problem (self, error);
  if (self->job == NULL)
    return;

  gtk_label_set_label (GTK_LABEL (self->command_line), command);
  gtk_label_set_label (GTK_LABEL (self->state), _("Starting…"));
  gtk_label_set_label (GTK_LABEL (self->said), "");
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->bar), 0);
  g_signal_connect_object (self->job, "updated", G_CALLBACK (updated), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->job, "ended", G_CALLBACK (ended), self, G_CONNECT_SWAPPED);
  show_page (self, "running");
}

static void
stop (QmRecordDialog *self,
      gboolean        keep)
{
  gtk_widget_set_sensitive (self->first, FALSE);
  gtk_widget_set_sensitive (self->last, FALSE);
  gtk_label_set_label (GTK_LABEL (self->state), _("Stopping…"));
  if (keep)
    qm_record_job_stop (self->job);
  else
    qm_record_job_discard (self->job);
}

/* -------------------------------------------------------------------------- buttons */

static void
first_clicked (QmRecordDialog *self)
{
  if (g_str_equal (page_of (self), "running"))
    stop (self, FALSE);
  else if (g_str_equal (page_of (self), "result"))
    show_page (self, "form");
  else
    adw_dialog_close (ADW_DIALOG (self));
}

static void
last_clicked (QmRecordDialog *self)
{
  const char *page = page_of (self);

  if (g_str_equal (page, "form"))
    start (self);
  else if (g_str_equal (page, "running"))
    stop (self, TRUE);
  else
    {
      gtk_widget_activate_action (GTK_WIDGET (self), "win.show-place", "s", "history");
      if (g_str_equal (page, "outside"))
        gtk_widget_activate_action (GTK_WIDGET (self), "win.import-runs", NULL);
      adw_dialog_close (ADW_DIALOG (self));
    }
}

static void
stop_answered (AdwAlertDialog *alert,
               const char     *response,
               QmRecordDialog *self)
{
  if (g_str_equal (response, "stop") && g_str_equal (page_of (self), "running"))
    stop (self, TRUE);
}

/* While it records, it is not closed by accident. */
static void
close_attempted (QmRecordDialog *self)
{
  AdwDialog *alert = adw_alert_dialog_new (_("Stop the recording?"), _("The command is asked to end. What was recorded up to now is kept."));

  adw_alert_dialog_add_responses (ADW_ALERT_DIALOG (alert), "go-on", _("Go on"), "stop", _("Stop and keep"), NULL);
  adw_alert_dialog_set_response_appearance (ADW_ALERT_DIALOG (alert), "stop", ADW_RESPONSE_DESTRUCTIVE);
  g_signal_connect_object (alert, "response", G_CALLBACK (stop_answered), self, G_CONNECT_DEFAULT);
  adw_dialog_present (alert, GTK_WIDGET (self));
}

/* ------------------------------------------------------------------------- building */

static void
show_folder (QmRecordDialog *self)
{
  g_autofree char *name = g_filename_display_name (self->folder);

  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->folder_row), name);
}

static void
folder_chosen (GObject      *source,
               GAsyncResult *result,
               gpointer      data)
{
  g_autoptr (QmRecordDialog) self = data;
  g_autoptr (GFile) file = gtk_file_dialog_select_folder_finish (GTK_FILE_DIALOG (source), result, NULL);

  if (file == NULL || g_file_peek_path (file) == NULL)
    return;
  g_set_str (&self->folder, g_file_peek_path (file));
  show_folder (self);
}

static void
choose_folder (QmRecordDialog *self)
{
  g_autoptr (GtkFileDialog) dialog = gtk_file_dialog_new ();
  g_autoptr (GFile) folder = g_file_new_for_path (self->folder);

  gtk_file_dialog_set_title (dialog, _("Choose the folder it runs in"));
  gtk_file_dialog_set_initial_folder (dialog, folder);
  gtk_file_dialog_select_folder (dialog, GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self))), NULL, folder_chosen, g_object_ref (self));
}

static void
command_changed (QmRecordDialog *self)
{
  g_autofree char *text = g_strstrip (g_strdup (gtk_editable_get_text (GTK_EDITABLE (self->command))));

  if (g_str_equal (page_of (self), "form"))
    gtk_widget_set_sensitive (self->last, text[0] != '\0');
}

static GtkWidget *
scrolled (GtkWidget *content)
{
  GtkWidget *window = gtk_scrolled_window_new ();

  gtk_widget_set_margin_top (content, 18);
  gtk_widget_set_margin_bottom (content, 24);
  gtk_widget_set_margin_start (content, 18);
  gtk_widget_set_margin_end (content, 18);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (window), content);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (window), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (window), TRUE);

  return window;
}

static GtkWidget *
plan_row_new (QmRecordDialog *self)
{
  g_autofree char *plan = qm_session_dup_title (self->session);
  gboolean can = qm_session_get_resolved (self->session) != NULL;

  self->with_plan = adw_switch_row_new ();
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self->with_plan), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->with_plan), _("It runs the plan that is open"));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->with_plan), plan);
  adw_switch_row_set_active (ADW_SWITCH_ROW (self->with_plan), can && qm_session_get_file (self->session) != NULL);
  gtk_widget_set_sensitive (self->with_plan, can);

  return self->with_plan;
}

static GtkWidget *
form_new (QmRecordDialog *self)
{
  GtkWidget *content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 18);
  GtkWidget *group = adw_preferences_group_new ();
  GtkWidget *choose = qm_ui_tool ("folder-open-symbolic", _("Choose the folder it runs in"), G_CALLBACK (choose_folder), self);

  gtk_box_append (GTK_BOX (content), qm_ui_wrapped (_("Starts a command of yours and watches it: what it uses, how fast it is, and what holds it up. "
                                                      "The plan of the same job is then estimated better."), "second"));
  self->problem = qm_ui_wrapped ("", "error");
  gtk_widget_set_visible (self->problem, FALSE);
  gtk_box_append (GTK_BOX (content), self->problem);
  self->command = adw_entry_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->command), _("Command, such as python3 train.py"));
  adw_entry_row_set_activates_default (ADW_ENTRY_ROW (self->command), TRUE);
  g_signal_connect_swapped (self->command, "changed", G_CALLBACK (command_changed), self);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), self->command);

  self->folder_row = adw_action_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->folder_row), _("Folder it runs in"));
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self->folder_row), FALSE);
  adw_action_row_add_suffix (ADW_ACTION_ROW (self->folder_row), choose);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (self->folder_row), choose);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), self->folder_row);

  self->minutes = adw_spin_row_new_with_range (0, MOST_MINUTES, 1);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->minutes), _("Stop after, in minutes"));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->minutes), _("A few minutes tell enough; 0 lets it run to its end"));
  adw_spin_row_set_value (ADW_SPIN_ROW (self->minutes), USUAL_MINUTES);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), self->minutes);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), plan_row_new (self));
  gtk_box_append (GTK_BOX (content), group);

  return scrolled (content);
}

static GtkWidget *
running_new (QmRecordDialog *self)
{
  GtkWidget *content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 12);

  self->command_line = qm_ui_wrapped ("", "monospace");
  gtk_label_set_selectable (GTK_LABEL (self->command_line), TRUE);
  self->state = qm_ui_wrapped ("", "heading");
  self->bar = gtk_progress_bar_new ();
  qm_ui_set_label (self->bar, _("How far the recording is"));
  self->said = qm_ui_wrapped ("", "second numeric");
  self->cards = qm_columns_new (280, 2, 12);
  gtk_box_append (GTK_BOX (content), self->command_line);
  gtk_box_append (GTK_BOX (content), self->state);
  gtk_box_append (GTK_BOX (content), self->bar);
  gtk_box_append (GTK_BOX (content), self->said);
  gtk_box_append (GTK_BOX (content), self->cards);
  gtk_box_append (GTK_BOX (content), qm_ui_wrapped (_("Saved every second. If the program, the run or the computer stops, what was recorded is kept."),
                                                    "caption second"));

  return scrolled (content);
}

static GtkWidget *
outside_new (void)
{
  GtkWidget *content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 12);
  static const char * const commands[] = {
    "nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu,memory.used,memory.total,power.draw --format=csv -l 1 > smi-log.csv",
    "python3 train.py",
  };

  gtk_box_append (GTK_BOX (content), qm_ui_wrapped (_("Quartermaster runs in a sandbox, which cannot start your programs. Record in a terminal, and import "
                                                      "what was written."), NULL));
  gtk_box_append (GTK_BOX (content), qm_ui_wrapped (_("1. In one terminal, let the driver write down what the GPU does:"), "heading"));
  gtk_box_append (GTK_BOX (content), qm_ui_wrapped (commands[0], "monospace"));
  gtk_box_append (GTK_BOX (content), qm_ui_wrapped (_("2. In another, start your training. When it has ended, stop the first with Ctrl+C:"), "heading"));
  gtk_box_append (GTK_BOX (content), qm_ui_wrapped (commands[1], "monospace"));
  gtk_box_append (GTK_BOX (content), qm_ui_wrapped (_("3. Import the log here. The trainer_state.json of Hugging Face, llama-bench, and the traces of the "
                                                      "profilers of PyTorch and TensorFlow are read, too."), "heading"));
  for (GtkWidget *child = gtk_widget_get_first_child (content); child != NULL; child = gtk_widget_get_next_sibling (child))
    gtk_label_set_selectable (GTK_LABEL (child), gtk_widget_has_css_class (child, "monospace"));

  return scrolled (content);
}

static void
qm_record_dialog_dispose (GObject *object)
{
  QmRecordDialog *self = QM_RECORD_DIALOG (object);

  /* what goes on without its dialog is ended, and kept */
  if (self->job != NULL && !qm_record_job_has_ended (self->job))
    qm_record_job_stop (self->job);
  g_clear_object (&self->job);
  g_clear_object (&self->session);
  g_clear_pointer (&self->folder, g_free);

  G_OBJECT_CLASS (qm_record_dialog_parent_class)->dispose (object);
}

static void
qm_record_dialog_class_init (QmRecordDialogClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_record_dialog_dispose;
}

static void
qm_record_dialog_init (QmRecordDialog *self)
{
  GtkWidget *view = adw_toolbar_view_new ();

  self->folder = g_strdup (g_get_home_dir ());
  self->title = adw_window_title_new ("", "");
  self->header = adw_header_bar_new ();
  adw_header_bar_set_show_start_title_buttons (ADW_HEADER_BAR (self->header), FALSE);
  adw_header_bar_set_show_end_title_buttons (ADW_HEADER_BAR (self->header), FALSE);
  adw_header_bar_set_title_widget (ADW_HEADER_BAR (self->header), self->title);
  self->first = gtk_button_new ();
  self->last = gtk_button_new ();
  g_signal_connect_swapped (self->first, "clicked", G_CALLBACK (first_clicked), self);
  g_signal_connect_swapped (self->last, "clicked", G_CALLBACK (last_clicked), self);
  adw_header_bar_pack_start (ADW_HEADER_BAR (self->header), self->first);
  adw_header_bar_pack_end (ADW_HEADER_BAR (self->header), self->last);
  self->stack = gtk_stack_new ();
  gtk_stack_set_vhomogeneous (GTK_STACK (self->stack), FALSE);
  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), self->header);
  adw_toolbar_view_set_content (ADW_TOOLBAR_VIEW (view), self->stack);
  adw_dialog_set_child (ADW_DIALOG (self), view);
  adw_dialog_set_content_width (ADW_DIALOG (self), 720);
  g_signal_connect (self, "close-attempt", G_CALLBACK (close_attempted), NULL);
}

static gboolean
focus_command (gpointer row)
{
  gtk_widget_grab_focus (row);

  return G_SOURCE_REMOVE;
}

/* What is typed is the command; the dialog takes the focus only once it is shown. */
static void
command_mapped (GtkWidget *row)
{
  g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, focus_command, g_object_ref (row), g_object_unref);
}

/**
 * qm_record_dialog_new:
 * @session: the session
 *
 * In a Flatpak, where no command of the person can be started, it says how to
 * record outside.
 *
 * Returns: (transfer floating): a dialog that records a run
 */
GtkWidget *
qm_record_dialog_new (QmSession *session)
{
  QmRecordDialog *self = g_object_new (QM_TYPE_RECORD_DIALOG, NULL);
  gboolean inside = qm_machine_is_flatpak (g_getenv ("QM_SYSROOT"));

  self->session = g_object_ref (session);
  self->result = adw_bin_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), form_new (self), "form");
  gtk_stack_add_named (GTK_STACK (self->stack), running_new (self), "running");
  gtk_stack_add_named (GTK_STACK (self->stack), scrolled (self->result), "result");
  gtk_stack_add_named (GTK_STACK (self->stack), outside_new (), "outside");
  show_folder (self);
  show_page (self, inside ? "outside" : "form");
  if (!inside)
    g_signal_connect (self->command, "map", G_CALLBACK (command_mapped), NULL);
  command_changed (self);

  return GTK_WIDGET (self);
}
