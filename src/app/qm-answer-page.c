/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-answer-page.h"

#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-capacity.h"
#include "decide/qm-ladder.h"
#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "plan/qm-flow.h"
#include "qm-chart-view.h"
#include "qm-columns.h"
#include "qm-launch-view.h"
#include "qm-matrix.h"
#include "qm-techniques.h"
#include "qm-ui.h"

#define SHOWN_REJECTIONS 6

static const QmChartKind chart_kinds[] = {
  QM_CHART_MEMORY, QM_CHART_SIZING, QM_CHART_SCALING, QM_CHART_SERVING, QM_CHART_LATENCY, QM_CHART_ELASTIC, QM_CHART_COST_TIME,
  QM_CHART_ACCURACY, QM_CHART_SPOT, QM_CHART_BUY_OR_RENT, QM_CHART_STAGES,
};

struct _QmAnswerPage {
  AdwNavigationPage parent_instance;

  QmSession *session;
  GtkWidget *eyebrow;
  GtkWidget *headline;
  GtkWidget *terms;
  GtkWidget *elsewhere;
  GtkWidget *warnings;
  GtkWidget *facts[QM_N_FACTS];
  GtkWidget *fact_columns;
  GtkWidget *body;                  /* what there is below the facts */
  GtkWidget *reasons_title;
  GtkWidget *techniques;
  GtkWidget *reasons;
  GtkWidget *changes;
  GtkWidget *matrix_title;
  GtkWidget *matrix;
  GtkWidget *charts[G_N_ELEMENTS (chart_kinds)];
  GtkWidget *launch;
  guint row;
  QmRecommendation *shown;          /* weak: the answer that is on the page */
};

G_DEFINE_FINAL_TYPE (QmAnswerPage, qm_answer_page, ADW_TYPE_NAVIGATION_PAGE)

static void
add_message (GtkWidget  *list,
             const char *icon,
             const char *title,
             const char *detail)
{
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  if (detail != NULL)
    adw_action_row_set_subtitle (ADW_ACTION_ROW (row), detail);
  if (icon != NULL)
    adw_action_row_add_prefix (ADW_ACTION_ROW (row), qm_ui_icon_tile (icon, TRUE));
  gtk_list_box_append (GTK_LIST_BOX (list), row);
}

static const char *
icon_of (const char *code)
{
  static const struct { const char *code; const char *icon; } icons[] = {
    { "fits-with-room", "qm-memory-symbolic" }, { "fits-tightly", "qm-memory-symbolic" },
    { "needs-system-memory", "qm-memory-symbolic" }, { "time", "qm-clock-symbolic" },
    { "in-time", "qm-clock-symbolic" }, { "money", "qm-coin-symbolic" }, { "carries-load", "qm-rocket-symbolic" },
    { "spot", "qm-cloud-symbolic" }, { "already-here", "qm-chip-symbolic" }, { "one-device", "qm-chip-symbolic" },
    { "one-machine", "qm-chip-symbolic" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (icons); i++)
    if (g_str_equal (icons[i].code, code))
      return icons[i].icon;

  return "qm-flag-symbolic";
}

static void
show_reasons (QmAnswerPage     *self,
              QmRecommendation *recommendation,
              const QmChoice   *choice)
{
  const QmWords *words = qm_language_get_words ();
  gboolean given = choice->reasons != NULL && choice->reasons->len > 0;
  g_autoptr (GPtrArray) reasons = given ? g_ptr_array_ref (choice->reasons)
                                        : qm_estimate_explain (qm_session_get_estimator (self->session),
                                                               qm_recommendation_get_resolved (recommendation), choice, NULL);

  gtk_list_box_remove_all (GTK_LIST_BOX (self->reasons));
  for (guint i = 0; i < reasons->len; i++)
    {
      const QmMessage *message = g_ptr_array_index (reasons, i);
      g_autofree char *text = qm_message_get_text (message, words);
      g_autofree char *detail = qm_message_get_detail (message, words);

      add_message (self->reasons, icon_of (qm_message_get_code (message)), text, detail);
    }
}

static void
show_rejections (QmAnswerPage     *self,
                 QmRecommendation *recommendation)
{
  GPtrArray *rejections = qm_recommendation_get_rejections (recommendation);

  gtk_list_box_remove_all (GTK_LIST_BOX (self->reasons));
  for (guint i = 0; i < MIN (rejections->len, SHOWN_REJECTIONS); i++)
    {
      const QmRejection *rejection = g_ptr_array_index (rejections, i);
      g_autofree char *text = qm_phrase_rejection (qm_language_get_words (), rejection);

      add_message (self->reasons, "qm-chip-symbolic", rejection->device->name, text);
    }
}

/* How a job fits after all that fits nowhere as it is. */
static gboolean
show_way_out (QmAnswerPage     *self,
              QmRecommendation *recommendation)
{
  const QmWords *words = qm_language_get_words ();
  g_autoptr (QmLadder) ladder = qm_ladder_of_nearest (recommendation);
  g_autoptr (QmMessage) bounds = NULL;
  g_autofree char *text = NULL, *detail = NULL, *fewest = NULL;
  QmCapacity capacity;

  if (ladder == NULL)
    return FALSE;

  text = qm_phrase_way_out (words, ladder, &detail);
  add_message (self->changes, NULL, text, detail);
  qm_capacity_solve (qm_session_get_estimator (self->session), qm_recommendation_get_resolved (recommendation),
                     &qm_recommendation_get_nearest (recommendation)->estimate, &capacity);
  bounds = qm_capacity_explain (&capacity);
  fewest = bounds != NULL ? qm_message_get_text (bounds, words) : NULL;
  if (fewest != NULL)
    add_message (self->changes, NULL, fewest, NULL);

  return TRUE;
}

static void
show_changes (QmAnswerPage     *self,
              QmRecommendation *recommendation)
{
  const QmWords *words = qm_language_get_words ();
  GPtrArray *sensitivities = qm_recommendation_get_sensitivities (recommendation);
  gboolean any = qm_recommendation_n_choices (recommendation) > 0;
  gboolean way_out;

  gtk_list_box_remove_all (GTK_LIST_BOX (self->changes));
  for (guint i = 0; i < sensitivities->len; i++)
    {
      const QmSensitivity *sensitivity = g_ptr_array_index (sensitivities, i);
      g_autofree char *text = qm_message_get_text (sensitivity->message, words);
      g_autofree char *detail = qm_message_get_detail (sensitivity->message, words);

      add_message (self->changes, NULL, text, detail);
    }
  way_out = show_way_out (self, recommendation);
  gtk_widget_set_visible (gtk_widget_get_parent (self->changes), any || way_out || sensitivities->len > 0);
  if (sensitivities->len == 0 && !way_out)
    add_message (self->changes, NULL, _("Nothing within reason"), _("The same hardware stays best over a wide range of money and time."));
}

static void
show_warnings (QmAnswerPage     *self,
               QmRecommendation *recommendation)
{
  const QmWords *words = qm_language_get_words ();
  GPtrArray *warnings = qm_recommendation_get_warnings (recommendation);

  qm_ui_clear (self->warnings);
  for (guint i = 0; i < warnings->len; i++)
    {
      const QmMessage *warning = g_ptr_array_index (warnings, i);
      g_autofree char *text = qm_message_get_text (warning, words);
      g_autofree char *detail = qm_message_get_detail (warning, words);
      g_autofree char *both = detail != NULL ? g_strconcat (text, ". ", detail, NULL) : NULL;

      /* That nothing fits is the headline. */
      if (!g_str_equal (qm_message_get_code (warning), "nothing-fits"))
        gtk_box_append (GTK_BOX (self->warnings), qm_ui_wrapped (both != NULL ? both : text, "card notice"));
    }
  gtk_widget_set_visible (self->warnings, gtk_widget_get_first_child (self->warnings) != NULL);
}

/* @format is one of the translated sentences here, with a place for the title. */
static void
show_eyebrow (QmAnswerPage *self,
              const char   *format)
{
  g_autofree char *title = qm_session_dup_title (self->session);
  g_autoptr (GString) eyebrow = g_string_new (format);

  g_string_replace (eyebrow, "%s", title, 1);
  gtk_label_set_label (GTK_LABEL (self->eyebrow), eyebrow->str);
}

/* Facts, reasons and charts follow the row that is looked at. */
static void
show_row (QmAnswerPage     *self,
          QmRecommendation *recommendation,
          guint             row)
{
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;
  const QmChoice *choice = row < qm_recommendation_n_choices (recommendation) ? qm_recommendation_choice (recommendation, row)
                                                                              : qm_recommendation_row (recommendation, row);
  g_autofree char *headline = qm_phrase_headline (qm_language_get_words (), choice);
  g_autofree char *price = qm_phrase_terms (qm_language_get_words (), plan, choice);
  g_autofree char *setup = qm_phrase_setup (qm_language_get_words (), plan, &choice->estimate);
  g_autofree char *terms = setup != NULL ? g_strconcat (price, "\n", setup, NULL) : g_strdup (price);

  self->row = row;
  show_eyebrow (self, row == 0 && choice->within_limits ? _("Our choice for “%s”") : _("Another choice for “%s”"));
  gtk_label_set_label (GTK_LABEL (self->reasons_title), _("Why this one"));
  gtk_label_set_label (GTK_LABEL (self->headline), headline);
  gtk_label_set_label (GTK_LABEL (self->terms), terms);
  for (int i = 0; i < QM_N_FACTS; i++)
    qm_fact_card_set (QM_FACT_CARD (self->facts[i]), plan, choice);
  gtk_widget_set_visible (self->elsewhere, choice->place == QM_PLACE_CLOUD || choice->place == QM_PLACE_BUY);
  gtk_widget_set_visible (self->fact_columns, TRUE);
  show_reasons (self, recommendation, choice);
  for (guint i = 0; i < G_N_ELEMENTS (chart_kinds); i++)
    qm_chart_view_set (QM_CHART_VIEW (self->charts[i]), qm_session_get_estimator (self->session), recommendation, row);
  qm_techniques_set (QM_TECHNIQUES (self->techniques), qm_session_get_estimator (self->session),
                     qm_recommendation_get_resolved (recommendation), choice);
  qm_launch_view_set (QM_LAUNCH_VIEW (self->launch), self->session, recommendation, choice);
}

/* What comes nearest is drawn, as each row that is picked. */
static void
show_nearest (QmAnswerPage     *self,
              QmRecommendation *recommendation)
{
  const QmChoice *nearest = qm_recommendation_get_nearest (recommendation);

  for (guint i = 0; i < G_N_ELEMENTS (chart_kinds); i++)
    qm_chart_view_set (QM_CHART_VIEW (self->charts[i]), qm_session_get_estimator (self->session), recommendation, 0);
  if (nearest != NULL)
    qm_techniques_set (QM_TECHNIQUES (self->techniques), qm_session_get_estimator (self->session),
                       qm_recommendation_get_resolved (recommendation), nearest);
  else
    gtk_widget_set_visible (self->techniques, FALSE);
}

static char *
nothing_text (QmRecommendation *recommendation)
{
  const QmChoice *nearest = qm_recommendation_get_nearest (recommendation);
  g_autoptr (GString) text = NULL;

  if (qm_recommendation_n_rows (recommendation) > 0)
    return g_strdup (_("The rows below come nearest. Loosen the limit that they break, or allow more places."));
  if (nearest == NULL)
    return g_strdup (_("What stands in the way is below. Allow more places, or take a smaller model."));

  /* Translators: %s is the device that comes nearest */
  text = g_string_new (_("Nothing that may be used has enough memory. The charts show what comes nearest, %s; the switches below them, what saves memory."));
  g_string_replace (text, "%s", nearest->label, 1);

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
show_nothing (QmAnswerPage     *self,
              QmRecommendation *recommendation)
{
  const QmPlan *given = qm_recommendation_get_resolved (recommendation)->given;
  g_autofree char *text = nothing_text (recommendation);

  self->row = 0;
  gtk_widget_set_visible (self->elsewhere, FALSE);
  show_eyebrow (self, _("No choice for “%s”"));
  gtk_label_set_label (GTK_LABEL (self->reasons_title), _("What stands in the way"));
  gtk_label_set_label (GTK_LABEL (self->headline), qm_phrase_nothing (qm_language_get_words (), given));
  gtk_label_set_label (GTK_LABEL (self->terms), text);
  show_rejections (self, recommendation);
  show_nearest (self, recommendation);
  qm_launch_view_set (QM_LAUNCH_VIEW (self->launch), self->session, recommendation, NULL);
}

/* There is no answer to answers that contradict each other. */
static void
show_problem (QmAnswerPage *self,
              const char   *problem)
{
  show_eyebrow (self, _("No choice for “%s”"));
  gtk_label_set_label (GTK_LABEL (self->headline), _("The answers do not fit together"));
  gtk_label_set_label (GTK_LABEL (self->terms), problem != NULL ? problem : "");
  gtk_widget_set_visible (self->elsewhere, FALSE);
  gtk_widget_set_visible (self->fact_columns, FALSE);
  gtk_widget_set_visible (self->warnings, FALSE);
}

static void
row_picked (GtkWidget    *widget,
            int           row,
            QmAnswerPage *self)
{
  QmRecommendation *recommendation = qm_session_get_recommendation (self->session);

  if (recommendation == NULL || row < 0 || (guint) row >= qm_recommendation_n_rows (recommendation) || self->row == (guint) row)
    return;

  show_row (self, recommendation, row);
  if (!QM_IS_MATRIX (widget))
    qm_matrix_pick (QM_MATRIX (self->matrix), row);
}

/* The offer, or the device where it is to be bought. */
static const char *
excludable_id (const QmChoice *choice)
{
  if (choice->place == QM_PLACE_CLOUD && choice->offer != NULL)
    return choice->offer->id;

  return choice->place == QM_PLACE_BUY && choice->estimate.device != NULL ? choice->estimate.device->id : NULL;
}

static void
cannot_be_had (QmAnswerPage *self)
{
  QmRecommendation *recommendation = qm_session_get_recommendation (self->session);
  const char *id = recommendation != NULL && self->row < qm_recommendation_n_rows (recommendation)
                     ? excludable_id (qm_recommendation_row (recommendation, self->row)) : NULL;
  g_autoptr (QmPlan) plan = qm_plan_copy (qm_session_get_plan (self->session));
  g_autofree char *excluded = id != NULL && qm_plan_exclude (plan, id) ? qm_plan_get_field (plan, "places.excluded") : NULL;

  if (excluded != NULL && qm_session_set_answer (self->session, "places.excluded", excluded, NULL))
    gtk_widget_activate_action (GTK_WIDGET (self), "win.say-excluded", NULL);
}

/* ------------------------------------------------------------------ building */

static GtkWidget *
list_column_new (const char *title,
                 const char *topic,
                 GtkWidget **head,
                 GtkWidget **list)
{
  GtkWidget *column = qm_ui_box (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *line = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 6);

  *list = gtk_list_box_new ();
  gtk_widget_add_css_class (*list, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (*list), GTK_SELECTION_NONE);
  gtk_widget_set_valign (*list, GTK_ALIGN_START);
  qm_ui_set_label (*list, title);
  *head = qm_ui_label (title, "heading");
  gtk_box_append (GTK_BOX (line), *head);
  gtk_box_append (GTK_BOX (line), qm_ui_guide (topic, _("Read about it in the guide")));
  gtk_box_append (GTK_BOX (column), line);
  gtk_box_append (GTK_BOX (column), *list);

  return column;
}

static void
build_head (QmAnswerPage *self,
            GtkWidget    *content)
{
  GtkWidget *head = qm_ui_box (GTK_ORIENTATION_VERTICAL, 6);

  self->eyebrow = qm_ui_wrapped ("", "caption-heading second");
  self->headline = qm_ui_wrapped ("", "hero");
  self->terms = qm_ui_wrapped ("", "second");
  gtk_widget_set_name (self->headline, "headline");
  gtk_box_append (GTK_BOX (head), self->eyebrow);
  gtk_box_append (GTK_BOX (head), self->headline);
  gtk_box_append (GTK_BOX (head), self->terms);
  self->elsewhere = gtk_button_new_with_mnemonic (_("I _can’t get this one"));
  gtk_widget_set_margin_top (self->elsewhere, 6);
  gtk_widget_set_halign (self->elsewhere, GTK_ALIGN_START);
  gtk_widget_set_tooltip_text (self->elsewhere, _("No quota, or sold out: look for the next best, and remember it in the plan"));
  gtk_widget_set_name (self->elsewhere, "elsewhere");
  gtk_widget_set_visible (self->elsewhere, FALSE);
  g_signal_connect_swapped (self->elsewhere, "clicked", G_CALLBACK (cannot_be_had), self);
  gtk_box_append (GTK_BOX (head), self->elsewhere);
  gtk_box_append (GTK_BOX (content), head);

  self->warnings = qm_ui_box (GTK_ORIENTATION_VERTICAL, 6);
  gtk_box_append (GTK_BOX (content), self->warnings);

  self->fact_columns = qm_columns_new (150, 4, 12);
  for (int i = 0; i < QM_N_FACTS; i++)
    {
      self->facts[i] = qm_fact_card_new (i);
      qm_columns_append (QM_COLUMNS (self->fact_columns), self->facts[i]);
    }
  gtk_widget_set_visible (self->fact_columns, FALSE);
  gtk_box_append (GTK_BOX (content), self->fact_columns);
}

static void
build_body (QmAnswerPage *self,
            GtkWidget    *content)
{
  GtkWidget *columns = qm_columns_new (330, 2, 12);
  GtkWidget *changes_title;
  GtkWidget *head = qm_ui_box (GTK_ORIENTATION_VERTICAL, 3);

  qm_columns_append (QM_COLUMNS (columns), list_column_new (_("Why this one"), "choice", &self->reasons_title, &self->reasons));
  qm_columns_append (QM_COLUMNS (columns), list_column_new (_("What would change it"), "range", &changes_title, &self->changes));
  gtk_box_append (GTK_BOX (content), columns);

  self->matrix_title = qm_ui_wrapped ("", "caption second");
  gtk_box_append (GTK_BOX (head), qm_ui_label (_("All choices side by side"), "heading"));
  gtk_box_append (GTK_BOX (head), self->matrix_title);
  gtk_box_append (GTK_BOX (content), head);
  self->matrix = qm_matrix_new ();
  g_signal_connect (self->matrix, "row-picked", G_CALLBACK (row_picked), self);
  gtk_box_append (GTK_BOX (content), self->matrix);

  self->techniques = qm_techniques_new ();
  for (guint i = 0; i < G_N_ELEMENTS (chart_kinds); i++)
    {
      self->charts[i] = qm_chart_view_new (chart_kinds[i]);
      g_signal_connect (self->charts[i], "row-picked", G_CALLBACK (row_picked), self);
      gtk_box_append (GTK_BOX (content), self->charts[i]);
      if (chart_kinds[i] == QM_CHART_MEMORY)
        gtk_box_append (GTK_BOX (content), self->techniques);
    }

  self->launch = qm_launch_view_new ();
  gtk_box_append (GTK_BOX (content), self->launch);
}

static void
build (QmAnswerPage *self)
{
  GtkWidget *content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 18);
  GtkWidget *page;

  build_head (self, content);
  self->body = qm_ui_box (GTK_ORIENTATION_VERTICAL, 18);
  build_body (self, self->body);
  gtk_widget_set_visible (self->body, FALSE);
  gtk_box_append (GTK_BOX (content), self->body);
  page = qm_ui_page (content, 960);
  /* Without an answer the keyboard stops on it. */
  qm_ui_set_label (page, _("Answer"));
  adw_navigation_page_set_child (ADW_NAVIGATION_PAGE (self), page);
}

/* ----------------------------------------------------------------- answering */

static void
update (QmAnswerPage *self)
{
  QmRecommendation *recommendation = qm_session_get_recommendation (self->session);
  g_autofree char *count = NULL;
  gboolean any;

  if (self->body == NULL)
    build (self);
  if (qm_session_get_busy (self->session))
    return;

  g_set_weak_pointer (&self->shown, recommendation);
  gtk_widget_set_visible (self->body, recommendation != NULL);
  if (recommendation == NULL)
    {
      show_problem (self, qm_session_get_problem (self->session));
      return;
    }

  any = qm_recommendation_n_choices (recommendation) > 0;
  gtk_widget_set_visible (self->fact_columns, any);
  show_warnings (self, recommendation);
  show_changes (self, recommendation);
  /* Translators: how many rows are shown of how many configurations that were looked at */
  count = g_strdup_printf (_("%u of %u looked at · select a row and every chart follows"), qm_recommendation_n_rows (recommendation),
                           (guint) qm_recommendation_get_considered (recommendation));
  gtk_label_set_label (GTK_LABEL (self->matrix_title), count);
  gtk_widget_set_visible (gtk_widget_get_parent (self->matrix_title), qm_recommendation_n_rows (recommendation) > 0);
  gtk_widget_set_visible (self->matrix, qm_recommendation_n_rows (recommendation) > 0);
  if (any)
    show_row (self, recommendation, 0);
  else
    show_nothing (self, recommendation);
  qm_matrix_set (QM_MATRIX (self->matrix), recommendation);
}

/* The same rows with latencies that are better known: whoever looks at one keeps it. */
static void
refresh (QmAnswerPage *self)
{
  QmRecommendation *recommendation = qm_session_get_recommendation (self->session);
  guint row = self->row;

  if (qm_session_get_busy (self->session) || recommendation == NULL || recommendation == self->shown ||
      qm_recommendation_n_choices (recommendation) == 0)
    return;

  g_set_weak_pointer (&self->shown, recommendation);
  qm_matrix_set (QM_MATRIX (self->matrix), recommendation);
  qm_matrix_pick (QM_MATRIX (self->matrix), row);
  show_row (self, recommendation, row);
}

static void
qm_answer_page_dispose (GObject *object)
{
  g_clear_weak_pointer (&QM_ANSWER_PAGE (object)->shown);
  g_clear_object (&QM_ANSWER_PAGE (object)->session);

  G_OBJECT_CLASS (qm_answer_page_parent_class)->dispose (object);
}

static void
qm_answer_page_class_init (QmAnswerPageClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_answer_page_dispose;
}

static void
qm_answer_page_init (QmAnswerPage *self)
{
}

/**
 * qm_answer_page_new:
 * @session: the session
 *
 * Returns: (transfer floating): the page that answers the plan
 */
GtkWidget *
qm_answer_page_new (QmSession *session)
{
  QmAnswerPage *self = g_object_new (QM_TYPE_ANSWER_PAGE, "title", _("Answer"), "tag", "answer", NULL);

  self->session = g_object_ref (session);
  qm_ui_update_in_sight (GTK_WIDGET (self), session, "answered", G_CALLBACK (update));
  qm_ui_update_in_sight (GTK_WIDGET (self), session, "simulated", G_CALLBACK (refresh));

  return GTK_WIDGET (self);
}

/**
 * qm_answer_page_show_launch:
 * @self: the page
 *
 * Brings in sight how the job is started.
 */
void
qm_answer_page_show_launch (QmAnswerPage *self)
{
  qm_launch_view_grab_focus (QM_LAUNCH_VIEW (self->launch));
}
