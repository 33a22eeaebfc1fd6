/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-window.h"

#include <glib/gi18n.h>
#include <string.h>

#include "config.h"
#include "qm-answer-page.h"
#include "qm-computer-page.h"
#include "qm-estimate-bar.h"
#include "qm-question-row.h"
#include "qm-start-page.h"
#include "qm-ui.h"
#include "qm-wizard-page.h"

struct _QmWindow {
  AdwApplicationWindow parent_instance;

  QmSession *session;
  QmHistory *history;
  GSettings *settings;              /* (nullable): none where the schema is not installed */

  AdwOverlaySplitView *split;
  AdwViewStack *places;
  AdwNavigationView *pages;
  AdwToastOverlay *toasts;
  AdwWindowTitle *title;
  GtkStack *side;                   /* what belongs to the place, in the sidebar */
  GtkListBox *steps;
  GtkWidget *computer_bin;          /* empty until it is shown */
  GtkWidget *history_bin;           /* empty until it is needed */
  GtkRevealer *bottom;
  GtkWidget *report_button;
  GtkWidget *launch_button;
  AdwBreakpoint *narrow;
  AdwBreakpoint *fold;

  GtkWidget *estimate_bar;
  GtkWidget *start;
  gboolean updating;
  gboolean from_review;             /* the way on leads back there */
};

G_DEFINE_FINAL_TYPE (QmWindow, qm_window, ADW_TYPE_APPLICATION_WINDOW)

/* -------------------------------------------------------------------- pages */

static int
step_of (const char *tag)
{
  if (strcmp (tag, "start") == 0)
    return 0;
  for (int i = 0; i < QM_N_PAGES; i++)
    if (strcmp (tag, qm_page_tag (i)) == 0)
      return i + 1;

  return QM_N_STEPS;
}

static const char *
tag_of (int step)
{
  return step <= 0 ? "start" : step <= QM_N_PAGES ? qm_page_tag (step - 1) : "answer";
}

/**
 * qm_window_get_page:
 * @self: a window
 *
 * Returns: the tag of the page that is shown
 */
const char *
qm_window_get_page (QmWindow *self)
{
  const char *tag = adw_navigation_view_get_visible_page_tag (self->pages);

  return tag != NULL ? tag : "start";
}

/* All pages before it lie below: the way back is the way through the wizard. */
void
qm_window_show_page (QmWindow   *self,
                     const char *tag)
{
  const char *tags[QM_N_STEPS + 2];
  int step = step_of (tag);

  if (step > 0)
    qm_session_wait (self->session);
  for (int i = 0; i <= step; i++)
    tags[i] = tag_of (i);
  adw_navigation_view_replace_with_tags (self->pages, tags, step + 1);
  adw_view_stack_set_visible_child_name (self->places, "plan");
}

/**
 * qm_window_step:
 * @self: a window
 * @by: how many pages on; negative: back
 *
 * Shows another page. Whoever came from the review to change one answer goes
 * on to the review.
 */
void
qm_window_step (QmWindow *self,
                int       by)
{
  int step = step_of (qm_window_get_page (self)) + by;

  qm_window_show_page (self, self->from_review && by > 0 ? qm_page_tag (QM_PAGE_REVIEW) : tag_of (CLAMP (step, 0, QM_N_STEPS)));
}

static const QmQuestion *
first_question (QmPage        page,
                const QmPlan *plan)
{
  for (guint i = 0; i < qm_flow_n_questions (); i++)
    if (qm_flow_question (i)->page == page && qm_flow_applies (qm_flow_question (i), plan))
      return qm_flow_question (i);

  return NULL;
}

/* In the sidebar a page of many questions stands for its first: "" */
static char *
answer_of_step (QmWindow *self,
                int       step)
{
  static const char * const fields[] = { NULL, "task", "activity", "model.id", "", "stage", "limits.money", NULL };
  const QmResolved *resolved;
  const QmQuestion *question;
  g_autofree char *value = NULL;

  if (step >= (int) G_N_ELEMENTS (fields) || fields[step] == NULL)
    return NULL;
  resolved = qm_session_get_resolved (self->session);
  if (resolved == NULL)
    return NULL;
  if (strcmp (fields[step], "model.id") == 0)
    return g_strdup (resolved->model->name);

  question = fields[step][0] != '\0' ? qm_flow_find_for (fields[step], resolved->plan) : first_question (step - 1, resolved->plan);
  if (question == NULL)
    return NULL;
  value = qm_session_get_effective (self->session, question->field);
  return qm_describe_answer (question, value, qm_plan_get_currency (resolved->plan));
}

/* The row stays, and with it the keyboard that may be on it. */
static void
fill_step_row (QmWindow  *self,
               GtkWidget *row,
               int        step,
               int        now)
{
  GtkWidget *line = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *text = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);
  g_autofree char *number = g_strdup_printf ("%d", step + 1);
  g_autofree char *answer = step < now ? answer_of_step (self, step) : NULL;
  const char *name = step == 0 ? _("Start") : step == QM_N_STEPS ? _("Answer") : _(qm_flow_page_name (step - 1));
  GtkWidget *mark = step < now ? gtk_image_new_from_icon_name ("object-select-symbolic") : gtk_label_new (number);

  gtk_widget_add_css_class (mark, "step");
  gtk_widget_add_css_class (mark, step < now ? "done" : step == now ? "now" : "later");
  gtk_widget_set_valign (mark, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (line), mark);
  gtk_box_append (GTK_BOX (text), qm_ui_label (name, step == now ? "heading" : NULL));
  if (answer != NULL)
    {
      GtkWidget *label = qm_ui_label (answer, "caption second");

      gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
      gtk_box_append (GTK_BOX (text), label);
    }
  gtk_widget_set_valign (text, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (line), text);
  gtk_widget_add_css_class (line, "step-row");
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), line);
  qm_ui_set_label (row, name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, answer != NULL ? answer : "", -1);
}

static void
update_steps (QmWindow *self)
{
  int now = step_of (qm_window_get_page (self));

  self->updating = TRUE;
  for (int i = 0; i <= QM_N_STEPS; i++)
    fill_step_row (self, GTK_WIDGET (gtk_list_box_get_row_at_index (self->steps, i)), i, now);
  gtk_list_box_select_row (self->steps, gtk_list_box_get_row_at_index (self->steps, now));
  self->updating = FALSE;
}

static void
step_activated (GtkListBox    *list,
                GtkListBoxRow *row,
                QmWindow      *self)
{
  if (self->updating)
    return;

  self->from_review = FALSE;
  qm_window_show_page (self, tag_of (gtk_list_box_row_get_index (row)));
  if (adw_overlay_split_view_get_collapsed (self->split))
    adw_overlay_split_view_set_show_sidebar (self->split, FALSE);
}

static void
jump (QmWizardPage *page,
      int           target,
      QmWindow     *self)
{
  self->from_review = TRUE;
  qm_window_show_page (self, qm_page_tag (target));
}

/* Enter goes on wherever the bar is to be seen; what belongs to the answer is
 * offered beside it alone. */
static void
update_place (QmWindow *self)
{
  int step = step_of (qm_window_get_page (self));
  gboolean plan = g_strcmp0 (adw_view_stack_get_visible_child_name (self->places), "plan") == 0;

  gtk_widget_set_visible (self->report_button, plan && step == QM_N_STEPS);
  gtk_widget_set_visible (self->launch_button, plan && step == QM_N_STEPS);
  gtk_window_set_default_widget (GTK_WINDOW (self), plan && step > 0 && step < QM_N_STEPS
                                                      ? qm_estimate_bar_get_next (QM_ESTIMATE_BAR (self->estimate_bar)) : NULL);
}

static void
update_title (QmWindow *self)
{
  GtkWidget *place = adw_view_stack_get_visible_child (self->places);
  gboolean plan = g_strcmp0 (adw_view_stack_get_visible_child_name (self->places), "plan") == 0, computer = place == self->computer_bin;
  g_autofree char *title = qm_session_dup_title (self->session);
  const char *shown = plan || place == NULL ? title : adw_view_stack_page_get_title (adw_view_stack_get_page (self->places, place));
  GFile *file = qm_session_get_file (self->session);
  g_autofree char *name = file != NULL ? g_file_get_basename (file) : NULL;

  /* the heading of the sidebar, which has the questions of the plan wherever it has no devices */
  adw_window_title_set_title (self->title, computer ? shown : title);
  adw_window_title_set_subtitle (self->title, name != NULL && !computer ? name : "");
  /* a narrow window shows its own title above the page */
  gtk_window_set_title (GTK_WINDOW (self), shown);
}

static void
device_picked (QmWindow *self)
{
  if (adw_overlay_split_view_get_collapsed (self->split))
    adw_overlay_split_view_set_show_sidebar (self->split, FALSE);
}

static void
add_computer (QmWindow *self)
{
  GtkWidget *page = qm_computer_page_new (self->session);
  GtkWidget *list = qm_computer_page_get_list (QM_COMPUTER_PAGE (page));

  adw_bin_set_child (ADW_BIN (self->computer_bin), page);
  gtk_stack_add_named (self->side, list, "computer");
  g_signal_connect_object (list, "picked", G_CALLBACK (device_picked), self, G_CONNECT_SWAPPED);
}

/**
 * qm_window_get_history_page:
 * @self: a window
 *
 * Returns: (transfer none): the page of the runs
 */
QmHistoryPage *
qm_window_get_history_page (QmWindow *self)
{
  if (adw_bin_get_child (ADW_BIN (self->history_bin)) == NULL)
    adw_bin_set_child (ADW_BIN (self->history_bin), qm_history_page_new (self->history));

  return QM_HISTORY_PAGE (adw_bin_get_child (ADW_BIN (self->history_bin)));
}

/* The sidebar belongs to the place. */
static void
place_changed (QmWindow *self)
{
  GtkWidget *place = adw_view_stack_get_visible_child (self->places);
  gboolean computer = place == self->computer_bin;

  qm_session_wait (self->session);
  if (computer && adw_bin_get_child (ADW_BIN (place)) == NULL)
    add_computer (self);
  if (place == self->history_bin)
    qm_window_get_history_page (self);
  gtk_stack_set_visible_child_name (self->side, computer ? "computer" : "plan");
  update_title (self);
  update_place (self);
  if (place != NULL && gtk_widget_get_mapped (GTK_WIDGET (self)))
    gtk_accessible_announce (GTK_ACCESSIBLE (self), adw_view_stack_page_get_title (adw_view_stack_get_page (self->places, place)),
                             GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM);
}

static void
narrowed (QmWindow *self)
{
  gtk_widget_add_css_class (GTK_WIDGET (self), "narrow");
  qm_estimate_bar_set_form (QM_ESTIMATE_BAR (self->estimate_bar), QM_BAR_NARROW);
}

static void
folded (QmWindow *self)
{
  qm_estimate_bar_set_form (QM_ESTIMATE_BAR (self->estimate_bar), QM_BAR_BRIEF);
}

static void
widened (QmWindow *self)
{
  gtk_widget_remove_css_class (GTK_WIDGET (self), "narrow");
  qm_estimate_bar_set_form (QM_ESTIMATE_BAR (self->estimate_bar), QM_BAR_WIDE);
}

/* "Model, step 4 of 9" */
static void
announce_page (QmWindow   *self,
               const char *title,
               int         step)
{
  g_autofree char *where = g_strdup_printf (_("step %d of %d"), step + 1, QM_N_STEPS + 1);
  g_autofree char *text = g_strdup_printf ("%s, %s", title, where);

  gtk_accessible_announce (GTK_ACCESSIBLE (self), text, GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM);
}

/* The way on starts where the eye is: at the head of the page. */
static void
page_changed (QmWindow *self)
{
  const char *tag = qm_window_get_page (self);
  AdwNavigationPage *page = adw_navigation_view_get_visible_page (self->pages);
  int step = step_of (tag);

  gtk_revealer_set_reveal_child (self->bottom, step > 0 && step < QM_N_STEPS);
  gtk_widget_set_visible (GTK_WIDGET (self->bottom), step > 0 && step < QM_N_STEPS);
  if (step == 0 || step >= QM_N_PAGES)
    self->from_review = FALSE;
  qm_estimate_bar_set_goal (QM_ESTIMATE_BAR (self->estimate_bar), step == QM_N_PAGES ? QM_GOAL_ANSWER
                                                                  : self->from_review ? QM_GOAL_REVIEW : QM_GOAL_NEXT);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.back", step > 0);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.next", step < QM_N_STEPS);
  if (step == 0)
    qm_start_page_refresh (QM_START_PAGE (self->start));
  update_steps (self);
  update_place (self);
  if (page != NULL && gtk_widget_get_mapped (GTK_WIDGET (self)))
    announce_page (self, adw_navigation_page_get_title (page), step);
}

static void
add_pages (QmWindow *self)
{
  self->start = qm_start_page_new (self->session);
  adw_navigation_view_add (self->pages, ADW_NAVIGATION_PAGE (self->start));
  for (int i = 0; i < QM_N_PAGES; i++)
    {
      GtkWidget *page = qm_wizard_page_new (self->session, i);

      g_signal_connect (page, "jump", G_CALLBACK (jump), self);
      adw_navigation_view_add (self->pages, ADW_NAVIGATION_PAGE (page));
    }
  adw_navigation_view_add (self->pages, ADW_NAVIGATION_PAGE (qm_answer_page_new (self->session)));
}

/* -------------------------------------------------------------------- session */

static void
plan_changed (QmWindow *self)
{
  update_title (self);
  update_steps (self);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.undo", qm_session_can_undo (self->session));
}

QmSession *
qm_window_get_session (QmWindow *self)
{
  return self->session;
}

/**
 * qm_window_show_error:
 * @self: a window
 * @heading: what went wrong, in a few words
 * @body: why, and what would be right
 */
void
qm_window_show_error (QmWindow   *self,
                      const char *heading,
                      const char *body)
{
  /* A long path may be broken where its folders end. */
  g_autoptr (GString) text = g_string_new (body);
  AdwDialog *dialog;

  g_string_replace (text, "/", "/\342\200\213", 0);
  dialog = adw_alert_dialog_new (heading, text->str);

  adw_alert_dialog_add_response (ADW_ALERT_DIALOG (dialog), "close", _("Close"));
  adw_dialog_present (dialog, GTK_WIDGET (self));
}

/**
 * qm_window_show_toast:
 * @self: a window
 * @text: what happened
 * @button: (nullable): label of a button
 * @action: (nullable): what it does
 */
void
qm_window_show_toast (QmWindow   *self,
                      const char *text,
                      const char *button,
                      const char *action)
{
  AdwToast *toast = adw_toast_new (text);

  adw_toast_set_use_markup (toast, FALSE);
  if (button != NULL)
    {
      adw_toast_set_button_label (toast, button);
      adw_toast_set_action_name (toast, action);
    }
  adw_toast_overlay_add_toast (self->toasts, toast);
}

static gboolean
dropped (GtkDropTarget *target,
         const GValue  *value,
         double         x,
         double         y,
         QmWindow      *self)
{
  if (!G_VALUE_HOLDS (value, G_TYPE_FILE))
    return FALSE;

  qm_window_open_file (self, g_value_get_object (value));
  return TRUE;
}

static gboolean
qm_window_close_request (GtkWindow *window)
{
  qm_session_store_draft (QM_WINDOW (window)->session);

  return GTK_WINDOW_CLASS (qm_window_parent_class)->close_request (window);
}

static void
bind_settings (QmWindow *self)
{
  if (qm_session_get_settings (self->session) == NULL)
    return;

  self->settings = g_object_ref (qm_session_get_settings (self->session));

  g_settings_bind (self->settings, "window-width", self, "default-width", G_SETTINGS_BIND_DEFAULT);
  g_settings_bind (self->settings, "window-height", self, "default-height", G_SETTINGS_BIND_DEFAULT);
  g_settings_bind (self->settings, "window-maximized", self, "maximized", G_SETTINGS_BIND_DEFAULT);
}

static void
qm_window_dispose (GObject *object)
{
  QmWindow *self = QM_WINDOW (object);

  gtk_widget_dispose_template (GTK_WIDGET (self), QM_TYPE_WINDOW);
  g_clear_object (&self->history);
  g_clear_object (&self->settings);
  g_clear_object (&self->session);

  G_OBJECT_CLASS (qm_window_parent_class)->dispose (object);
}

static void
qm_window_class_init (QmWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_window_dispose;
  GTK_WINDOW_CLASS (klass)->close_request = qm_window_close_request;

  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/quartermaster/Quartermaster/qm-window.ui");
  gtk_widget_class_bind_template_child (widget_class, QmWindow, split);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, places);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, pages);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, toasts);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, title);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, side);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, steps);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, computer_bin);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, history_bin);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, bottom);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, report_button);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, launch_button);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, narrow);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, fold);
  qm_window_class_install_actions (widget_class);
}

static void
qm_window_init (QmWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  for (int i = 0; i <= QM_N_STEPS; i++)
    gtk_list_box_append (self->steps, gtk_list_box_row_new ());
}

/**
 * qm_window_new:
 * @application: the application
 * @session: the session
 *
 * Returns: (transfer floating): the window, at the start of the wizard
 */
GtkWidget *
qm_window_new (GtkApplication *application,
               QmSession      *session)
{
  QmWindow *self = g_object_new (QM_TYPE_WINDOW, "application", application, NULL);
  GtkDropTarget *drop = gtk_drop_target_new (G_TYPE_FILE, GDK_ACTION_COPY);

  self->session = g_object_ref (session);
  bind_settings (self);
  add_pages (self);
  self->estimate_bar = qm_estimate_bar_new (session);
  gtk_revealer_set_child (self->bottom, self->estimate_bar);
  self->history = qm_history_new (session);

  g_signal_connect (self->steps, "row-activated", G_CALLBACK (step_activated), self);
  g_signal_connect_object (self->pages, "notify::visible-page", G_CALLBACK (page_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->places, "notify::visible-child", G_CALLBACK (place_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->narrow, "apply", G_CALLBACK (narrowed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->fold, "apply", G_CALLBACK (folded), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->fold, "unapply", G_CALLBACK (widened), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->narrow, "unapply", G_CALLBACK (widened), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (plan_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session, "notify::title", G_CALLBACK (update_title), self, G_CONNECT_SWAPPED);
  g_signal_connect (drop, "drop", G_CALLBACK (dropped), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drop));

  qm_window_show_page (self, "start");
  page_changed (self);
  plan_changed (self);

  return GTK_WIDGET (self);
}
