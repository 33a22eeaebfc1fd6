/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-wizard-page.h"

#include <glib/gi18n.h>

#include "draw/qm-chart-methods.h"
#include "draw/qm-language.h"
#include "qm-chart-view.h"
#include "qm-choice-cards.h"
#include "qm-own-rows.h"
#include "qm-question-row.h"
#include "qm-ui.h"

struct _QmWizardPage {
  AdwNavigationPage parent_instance;

  QmSession *session;
  QmPage page;
  GtkWidget *head;
  GtkWidget *body;                  /* what changes with the answers */
  GtkWidget *methods;               /* (nullable): chart of the ways to tune, in @body */
  char *shown;                      /* the questions that are in @body */
};

G_DEFINE_FINAL_TYPE (QmWizardPage, qm_wizard_page, ADW_TYPE_NAVIGATION_PAGE)

static guint jump_signal;

static const char * const tags[QM_N_PAGES] = { "task", "activity", "model", "scale", "stage", "budget", "review" };

/**
 * qm_page_tag:
 * @page: a page of the flow
 *
 * Returns: its name in navigation
 */
const char *
qm_page_tag (QmPage page)
{
  return tags[page];
}

static const QmPlan *
current_plan (QmWizardPage *self)
{
  const QmResolved *resolved = qm_session_get_resolved (self->session);

  return resolved != NULL ? resolved->plan : qm_session_get_plan (self->session);
}

static gboolean
is_asked (QmWizardPage     *self,
          const QmQuestion *question)
{
  return question->page == self->page && qm_flow_applies (question, current_plan (self));
}

/* Whether rows of one's own are entered here. Services have no offers with a time and
 * a price, but a plan file may give some. */
static gboolean
has_own_rows (QmWizardPage *self,
              QmOwnKind     kind)
{
  const QmPlan *plan = current_plan (self);

  if (kind == QM_OWN_RESULTS)
    return self->page == QM_PAGE_SCALE && qm_plan_is_training (plan);

  return self->page == QM_PAGE_BUDGET && (plan->activity != QM_ACTIVITY_SERVE || plan->n_quotes > 0);
}

/* The questions of the page by name: while they stay the same, so do the widgets. */
static char *
questions (QmWizardPage *self)
{
  GString *fields = g_string_new (qm_flow_page_title_for (self->page, current_plan (self)));

  for (guint i = 0; i < qm_flow_n_questions (); i++)
    if (is_asked (self, qm_flow_question (i)))
      g_string_append_printf (fields, " %s", qm_flow_question (i)->title);
  for (QmOwnKind kind = QM_OWN_QUOTES; kind <= QM_OWN_RESULTS; kind++)
    if (has_own_rows (self, kind))
      g_string_append_printf (fields, " %s", qm_own_rows_title (kind));

  return g_string_free (fields, FALSE);
}

static void
add_cards (QmWizardPage     *self,
           const QmQuestion *question,
           int               columns,
           gboolean          with_title)
{
  if (with_title)
    {
      GtkWidget *title = qm_ui_wrapped (_(question->title), "heading");

      gtk_widget_set_margin_top (title, 18);
      gtk_box_append (GTK_BOX (self->body), title);
    }
  gtk_box_append (GTK_BOX (self->body), qm_choice_cards_new (self->session, question, columns));
}

static void
add_rows (QmWizardPage *self)
{
  GtkWidget *list = gtk_list_box_new ();
  g_autoptr (GtkSizeGroup) units = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);

  gtk_widget_add_css_class (list, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  qm_ui_set_label (list, _(qm_flow_page_title (self->page)));
  for (guint i = 0; i < qm_flow_n_questions (); i++)
    if (is_asked (self, qm_flow_question (i)))
      {
        GtkWidget *row = qm_question_row_new (self->session, qm_flow_question (i));

        if (QM_IS_NUMBER_ROW (row))
          gtk_size_group_add_widget (units, qm_number_row_get_unit (QM_NUMBER_ROW (row)));
        gtk_list_box_append (GTK_LIST_BOX (list), row);
        if (g_str_equal (qm_flow_question (i)->field, "places.this_computer"))
          gtk_list_box_append (GTK_LIST_BOX (list), qm_owned_row_new (self->session));
      }
  gtk_box_append (GTK_BOX (self->body), list);
}

/* Each way to tune beside the others, with the answers so far. */
static void
update_methods (QmWizardPage *self)
{
  QmRecommendation *recommendation = qm_session_get_recommendation (self->session);
  const QmResolved *resolved;
  const QmEstimate *estimate;
  g_autoptr (GArray) methods = NULL;

  if (self->methods == NULL || qm_session_get_busy (self->session))
    return;
  gtk_widget_set_visible (self->methods, FALSE);
  if (recommendation == NULL || qm_recommendation_n_rows (recommendation) == 0)
    return;

  resolved = qm_recommendation_get_resolved (recommendation);
  estimate = &qm_recommendation_row (recommendation, 0)->estimate;
  methods = qm_methods_compare (qm_session_get_estimator (self->session), resolved, estimate);
  qm_chart_view_show (QM_CHART_VIEW (self->methods),
                      qm_chart_describe_methods (methods, resolved->plan->training.method, estimate->device->name,
                                                 estimate->memory.usable_bytes, qm_language_get_words ()));
}

static void
add_methods (QmWizardPage *self)
{
  self->methods = qm_chart_view_new (QM_CHART_METHODS);
  gtk_widget_set_margin_top (self->methods, 12);
  gtk_box_append (GTK_BOX (self->body), self->methods);
  update_methods (self);
}

static void
add_own_rows (QmWizardPage *self,
              QmOwnKind     kind)
{
  GtkWidget *rows;

  if (!has_own_rows (self, kind))
    return;

  rows = qm_own_rows_new (self->session, kind);
  gtk_widget_set_margin_top (rows, 18);
  gtk_box_append (GTK_BOX (self->body), rows);
}

static void
fill (QmWizardPage *self)
{
  const QmQuestion *method = qm_flow_find_for ("training.method", current_plan (self));

  switch (self->page)
    {
    case QM_PAGE_TASK:
      add_cards (self, qm_flow_find ("task"), 3, FALSE);
      break;
    case QM_PAGE_ACTIVITY:
      add_cards (self, qm_flow_find ("activity"), 2, FALSE);
      if (method != NULL && is_asked (self, method))
        {
          add_cards (self, method, 2, TRUE);
          add_methods (self);
        }
      break;
    case QM_PAGE_STAGE:
      add_cards (self, qm_flow_find ("stage"), 3, FALSE);
      break;
    case QM_PAGE_MODEL:
      gtk_box_append (GTK_BOX (self->body), qm_model_list_new (self->session));
      break;
    case QM_PAGE_REVIEW:
      gtk_box_append (GTK_BOX (self->body), qm_review_list_new (self->session, self));
      break;
    case QM_PAGE_SCALE:
      add_rows (self);
      add_own_rows (self, QM_OWN_RESULTS);
      break;
    case QM_PAGE_BUDGET:
      add_rows (self);
      add_own_rows (self, QM_OWN_QUOTES);
      break;
    case QM_N_PAGES:
    default:
      add_rows (self);
      break;
    }
}

static void
update_head (QmWizardPage *self)
{
  const QmPlan *plan = current_plan (self);
  const char *intro = qm_flow_page_intro (self->page, plan);
  /* Translators: the step of the wizard and how many there are */
  g_autofree char *step = g_strdup_printf (_("Step %d of %d"), self->page + 2, QM_N_STEPS);

  qm_ui_clear (self->head);
  gtk_box_append (GTK_BOX (self->head), qm_ui_heading (step, _(qm_flow_page_title_for (self->page, plan)), intro != NULL ? _(intro) : NULL));
}

static void
build (QmWizardPage *self)
{
  GtkWidget *content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 12);

  self->head = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);
  gtk_box_append (GTK_BOX (content), self->head);
  self->body = qm_ui_box (GTK_ORIENTATION_VERTICAL, 12);
  gtk_box_append (GTK_BOX (content), self->body);
  adw_navigation_page_set_child (ADW_NAVIGATION_PAGE (self), qm_ui_page (content, 880));
}

static void
update (QmWizardPage *self)
{
  g_autofree char *now = questions (self);

  if (g_strcmp0 (now, self->shown) == 0)
    return;

  if (self->head == NULL)
    build (self);
  update_head (self);
  qm_ui_clear (self->body);
  self->methods = NULL;
  g_set_str (&self->shown, now);
  fill (self);
}

static void
qm_wizard_page_dispose (GObject *object)
{
  QmWizardPage *self = QM_WIZARD_PAGE (object);

  g_clear_object (&self->session);
  g_clear_pointer (&self->shown, g_free);

  G_OBJECT_CLASS (qm_wizard_page_parent_class)->dispose (object);
}

static void
qm_wizard_page_class_init (QmWizardPageClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_wizard_page_dispose;

  jump_signal = g_signal_new ("jump", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_INT);
}

static void
qm_wizard_page_init (QmWizardPage *self)
{
}

/**
 * qm_wizard_page_new:
 * @session: the session
 * @page: which page
 *
 * Returns: (transfer floating): the page
 */
GtkWidget *
qm_wizard_page_new (QmSession *session,
                    QmPage     page)
{
  QmWizardPage *self = g_object_new (QM_TYPE_WIZARD_PAGE, "title", _(qm_flow_page_name (page)), "tag", tags[page], NULL);

  self->session = g_object_ref (session);
  self->page = page;
  qm_ui_update_in_sight (GTK_WIDGET (self), session, "plan-changed", G_CALLBACK (update));
  g_signal_connect_object (session, "answered", G_CALLBACK (update_methods), self, G_CONNECT_SWAPPED);

  return GTK_WIDGET (self);
}
