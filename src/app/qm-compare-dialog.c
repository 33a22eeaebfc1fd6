/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-compare-dialog.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-chart-compare.h"
#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-background.h"
#include "qm-chart-view.h"
#include "qm-columns.h"
#include "qm-error.h"
#include "qm-question-row.h"
#include "qm-ui.h"

#define N_PLANS 2

struct _QmCompareDialog {
  AdwDialog parent_instance;

  QmSession *session;
  QmRecommendation *recommendations[N_PLANS];
  char *names[N_PLANS];             /* "A  Support chatbot" */
  GFile *file;                      /* of the second plan */
  GCancellable *cancellable;
  GtkWidget *stack;                 /* a spinner, then the content */
  GtkWidget *content;
};

G_DEFINE_FINAL_TYPE (QmCompareDialog, qm_compare_dialog, ADW_TYPE_DIALOG)

static const QmPlan *
plan_of (QmCompareDialog *self,
         guint            index)
{
  return qm_recommendation_get_resolved (self->recommendations[index])->plan;
}

static const QmChoice *
choice_of (QmCompareDialog *self,
           guint            index)
{
  return qm_recommendation_n_choices (self->recommendations[index]) > 0 ? qm_recommendation_choice (self->recommendations[index], 0) : NULL;
}

/* ---------------------------------------------------------------------- heads */

static GtkWidget *
head_new (QmCompareDialog *self,
          guint            index)
{
  const QmWords *words = qm_language_get_words ();
  const QmChoice *choice = choice_of (self, index);
  GtkWidget *card = qm_ui_box (GTK_ORIENTATION_VERTICAL, 3);
  g_autofree char *headline = choice != NULL ? qm_phrase_headline (words, choice) : g_strdup (qm_phrase_nothing (words, plan_of (self, index)));
  g_autofree char *terms = choice != NULL ? qm_phrase_terms (words, plan_of (self, index), choice) : NULL;

  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "fact");
  gtk_box_append (GTK_BOX (card), qm_ui_wrapped (self->names[index], "caption-heading second"));
  gtk_box_append (GTK_BOX (card), qm_ui_wrapped (headline, "title-4"));
  if (terms != NULL)
    gtk_box_append (GTK_BOX (card), qm_ui_wrapped (terms, "caption second"));

  return card;
}

/* --------------------------------------------------------------------- figures */

static QmRange
share_of (const QmMemory *memory)
{
  if (!qm_range_is_known (memory->need) || !(memory->usable_bytes > 0))
    return QM_RANGE_UNKNOWN;

  return (QmRange) { memory->need.p10 / memory->usable_bytes, memory->need.p50 / memory->usable_bytes, memory->need.p90 / memory->usable_bytes };
}

static QmRange
figure_of (const QmChoice *choice,
           QmCompared      what)
{
  switch (what)
    {
    case QM_COMPARED_MEMORY: return share_of (&choice->estimate.memory);
    case QM_COMPARED_TIME: return choice->estimate.time.finish;
    case QM_COMPARED_MONEY:
    case QM_COMPARED_MONTH:
    case QM_N_COMPARED:
    default: return choice->estimate.cost.money;
    }
}

static double
limit_of (const QmPlan *plan,
          QmCompared    what)
{
  switch (what)
    {
    case QM_COMPARED_MEMORY: return 1 - qm_plan_get_headroom (plan);
    case QM_COMPARED_TIME: return 3600 * plan->limits.hours;
    case QM_COMPARED_MONEY:
    case QM_COMPARED_MONTH:
    case QM_N_COMPARED:
    default: return plan->limits.money;
    }
}

static void
add_figure (QmCompareDialog *self,
            QmCompared       what)
{
  QmComparedPlan plans[N_PLANS];
  QmChart *chart;
  GtkWidget *view;

  for (guint i = 0; i < N_PLANS; i++)
    plans[i] = (QmComparedPlan) { self->names[i], figure_of (choice_of (self, i), what), qm_plan_get_currency (plan_of (self, i)) };
  chart = qm_chart_describe_compared (what, plans, limit_of (plan_of (self, 0), what), qm_language_get_words ());
  if (chart == NULL)
    return;

  view = qm_chart_view_new (QM_CHART_COMPARED);
  qm_chart_view_show (QM_CHART_VIEW (view), chart);
  gtk_box_append (GTK_BOX (self->content), view);
}

/* A service costs something each month and is never finished. */
static void
add_figures (QmCompareDialog *self)
{
  gboolean serves[N_PLANS];

  for (guint i = 0; i < N_PLANS; i++)
    serves[i] = plan_of (self, i)->activity == QM_ACTIVITY_SERVE;
  if (choice_of (self, 0) == NULL || choice_of (self, 1) == NULL)
    return;

  add_figure (self, QM_COMPARED_MEMORY);
  if (!serves[0] && !serves[1])
    add_figure (self, QM_COMPARED_TIME);
  if (serves[0] == serves[1] && g_str_equal (qm_plan_get_currency (plan_of (self, 0)), qm_plan_get_currency (plan_of (self, 1))))
    add_figure (self, serves[0] ? QM_COMPARED_MONTH : QM_COMPARED_MONEY);
}

/* --------------------------------------------------------------------- answers */

static char *
answer_of (QmCompareDialog  *self,
           const QmQuestion *question,
           guint             index)
{
  const QmResolved *resolved = qm_recommendation_get_resolved (self->recommendations[index]);
  g_autofree char *value = qm_plan_get_field (resolved->plan, question->field);

  if (!qm_flow_applies (question, resolved->plan))
    return g_strdup ("–");
  if (g_str_equal (question->field, "model.id"))
    return g_strdup (resolved->model->name);
  if (g_str_equal (question->field, "places.cloud"))
    return qm_describe_providers (qm_session_get_catalog (self->session), value);

  return qm_describe_answer (question, value, qm_plan_get_currency (resolved->plan));
}

static void
add_cell (GtkWidget  *grid,
          const char *text,
          const char *style,
          int         column,
          int         row)
{
  gtk_grid_attach (GTK_GRID (grid), qm_ui_cell (text, style), column, row, 1, 1);
}

static GtkWidget *
grid_new (void)
{
  GtkWidget *grid = gtk_grid_new ();

  gtk_grid_set_column_homogeneous (GTK_GRID (grid), TRUE);
  gtk_grid_set_column_spacing (GTK_GRID (grid), 12);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 12);
  gtk_widget_add_css_class (grid, "fact");
  add_cell (grid, "", NULL, 0, 0);
  /* Translators: the first and the second of two plans */
  add_cell (grid, C_("plan", "A"), "heading", 1, 0);
  add_cell (grid, C_("plan", "B"), "heading", 2, 0);

  return grid;
}

static void
add_answers (QmCompareDialog *self)
{
  GtkWidget *grid = grid_new ();
  GtkWidget *table;
  int n_rows = 0, n_questions = 0;
  g_autofree char *title = NULL;

  for (guint i = 0; i < qm_flow_n_questions (); i++)
    {
      const QmQuestion *question = qm_flow_question (i);
      g_autofree char *first = NULL, *second = NULL;

      if (!qm_flow_applies (question, plan_of (self, 0)) && !qm_flow_applies (question, plan_of (self, 1)))
        continue;
      n_questions++;
      first = answer_of (self, question, 0);
      second = answer_of (self, question, 1);
      if (g_strcmp0 (first, second) == 0)
        continue;
      n_rows++;
      add_cell (grid, _(question->title), "second", 0, n_rows);
      add_cell (grid, first, NULL, 1, n_rows);
      add_cell (grid, second, NULL, 2, n_rows);
    }

  /* Translators: how many answers of how many */
  title = n_rows > 0 ? g_strdup_printf (ngettext ("%d of %d answers differs", "%d of %d answers differ", n_rows), n_rows, n_questions)
                     : g_strdup (_("All answers are the same"));
  gtk_box_append (GTK_BOX (self->content), qm_ui_label (title, "heading"));
  table = qm_ui_sideways (grid);
  qm_ui_set_label (table, title);
  gtk_widget_add_css_class (table, "card");
  gtk_widget_set_visible (table, n_rows > 0);
  gtk_box_append (GTK_BOX (self->content), table);
}

static void
fill (QmCompareDialog *self)
{
  GtkWidget *heads = qm_columns_new (300, 2, 12);

  for (guint i = 0; i < N_PLANS; i++)
    qm_columns_append (QM_COLUMNS (heads), head_new (self, i));
  gtk_box_append (GTK_BOX (self->content), heads);
  add_figures (self);
  add_answers (self);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "content");
}

/* ---------------------------------------------------------------------- making */

static void
answered (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  QmCompareDialog *self = QM_COMPARE_DIALOG (source);
  QmRecommendation *recommendation = qm_background_recommend_finish (result);

  /* It was closed meanwhile. */
  if (recommendation == NULL)
    return;

  self->recommendations[1] = recommendation;
  fill (self);
}

static void
open_second (QmCompareDialog *self)
{
  g_autofree char *uri = g_file_get_uri (self->file);
  GtkWidget *parent = gtk_widget_get_ancestor (GTK_WIDGET (self), GTK_TYPE_WINDOW);

  gtk_widget_activate_action (parent, "win.open-uri", "s", uri);
  adw_dialog_close (ADW_DIALOG (self));
}

static void
qm_compare_dialog_dispose (GObject *object)
{
  QmCompareDialog *self = QM_COMPARE_DIALOG (object);

  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->session);
  g_clear_object (&self->file);
  for (guint i = 0; i < N_PLANS; i++)
    {
      g_clear_object (&self->recommendations[i]);
      g_clear_pointer (&self->names[i], g_free);
    }

  G_OBJECT_CLASS (qm_compare_dialog_parent_class)->dispose (object);
}

static void
qm_compare_dialog_class_init (QmCompareDialogClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_compare_dialog_dispose;
}

static void
qm_compare_dialog_init (QmCompareDialog *self)
{
  GtkWidget *view = adw_toolbar_view_new ();
  GtkWidget *header = adw_header_bar_new ();
  GtkWidget *open = gtk_button_new_with_mnemonic (_("_Open B"));

  self->cancellable = g_cancellable_new ();
  g_signal_connect_object (self, "closed", G_CALLBACK (g_cancellable_cancel), self->cancellable, G_CONNECT_SWAPPED);
  self->content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 12);
  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), adw_spinner_new (), "wait");
  gtk_stack_add_named (GTK_STACK (self->stack), qm_ui_page (self->content, 880), "content");

  gtk_widget_set_tooltip_text (open, _("Go on with the second plan"));
  g_signal_connect_swapped (open, "clicked", G_CALLBACK (open_second), self);
  adw_header_bar_pack_start (ADW_HEADER_BAR (header), open);
  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), header);
  adw_toolbar_view_set_content (ADW_TOOLBAR_VIEW (view), self->stack);
  adw_dialog_set_title (ADW_DIALOG (self), _("Two plans side by side"));
  adw_dialog_set_child (ADW_DIALOG (self), view);
  adw_dialog_set_content_width (ADW_DIALOG (self), 900);
  adw_dialog_set_content_height (ADW_DIALOG (self), 860);
}

static char *
name_new (const char *letter,
          const char *title)
{
  return g_strdup_printf ("%s  %s", letter, title);
}

/**
 * qm_compare_dialog_new:
 * @session: the session, with an answer
 * @file: another plan
 * @error: return location for an error
 *
 * Returns: (transfer floating) (nullable): the plan of @session beside that of
 *   @file, which is answered in the background; %NULL with @error set
 */
AdwDialog *
qm_compare_dialog_new (QmSession  *session,
                       GFile      *file,
                       GError    **error)
{
  g_autofree char *path = g_file_get_path (file);
  g_autofree char *directory = path != NULL ? g_path_get_dirname (path) : NULL;
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmResolved) resolved = NULL;
  g_autofree char *title = qm_session_dup_title (session);
  QmHere here = { 0 };
  QmCompareDialog *self;

  plan = qm_plan_load (path != NULL ? path : "", NULL, error);
  if (plan == NULL)
    return NULL;
  resolved = qm_resolve (plan, qm_session_get_catalog (session), directory, NULL, error);
  if (resolved == NULL)
    return NULL;

  self = g_object_new (QM_TYPE_COMPARE_DIALOG, NULL);
  self->session = g_object_ref (session);
  self->file = g_object_ref (file);
  self->recommendations[0] = g_object_ref (qm_session_get_recommendation (session));
  self->names[0] = name_new (C_("plan", "A"), title);
  self->names[1] = name_new (C_("plan", "B"), plan->title[0] != '\0' ? plan->title : resolved->model->name);
  if (qm_session_get_machine (session) != NULL)
    qm_machine_get_here (qm_session_get_machine (session), &here);
  qm_background_recommend (G_OBJECT (self), qm_session_get_estimator (session), resolved, &here, self->cancellable, answered);

  return ADW_DIALOG (self);
}
