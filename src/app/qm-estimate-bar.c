/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-estimate-bar.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-range-bar.h"
#include "qm-ui.h"

/* A slider that is dragged has a new estimate in every frame: said is the one that stays. */
#define QUIET_MILLISECONDS 700

struct _QmEstimateBar {
  GtkBox parent_instance;

  QmSession *session;
  GtkWidget *layouts;
  GtkWidget *bar;
  GtkWidget *hardware;
  GtkWidget *figures;
  GtkWidget *next;
  QmBarForm form;
  char *said;                       /* the estimate that was announced last */
  guint saying;
};

G_DEFINE_FINAL_TYPE (QmEstimateBar, qm_estimate_bar, GTK_TYPE_BOX)

static void
add (GString    *text,
     const char *figure)
{
  if (text->len > 0)
    g_string_append (text, " · ");
  g_string_append (text, figure);
}

static char *
describe (const QmPlan   *plan,
          const QmChoice *choice,
          QmBarForm       form)
{
  const QmWords *words = qm_language_get_words ();
  const QmEstimate *estimate = &choice->estimate;
  g_autofree char *memory = qm_format_bytes (words, estimate->memory.need.p50);
  g_autofree char *need = g_strdup_printf (_("needs about %s"), memory);
  g_autofree char *time = qm_phrase_finish (words, plan, estimate);
  g_autofree char *money = qm_format_money (words, estimate->cost.money.p50, qm_plan_get_currency (plan));
  g_autofree char *month = g_strdup_printf (_("%s a month"), money);
  GString *text = g_string_new (NULL);

  if (qm_range_is_known (estimate->memory.need))
    add (text, form == QM_BAR_WIDE ? need : memory);
  if (qm_range_is_known (estimate->time.finish))
    add (text, time);
  if (estimate->cost.known)
    add (text, plan->activity == QM_ACTIVITY_SERVE ? month : money);

  return g_string_free (text, FALSE);
}

static void
show (QmEstimateBar *self,
      const char    *hardware,
      const char    *figures,
      QmRange        fraction)
{
  gtk_label_set_label (GTK_LABEL (self->hardware), hardware);
  gtk_label_set_label (GTK_LABEL (self->figures), figures);
  gtk_widget_set_visible (self->figures, figures[0] != '\0');
  gtk_widget_set_visible (self->bar, qm_range_is_known (fraction));
  qm_range_bar_set (QM_RANGE_BAR (self->bar), fraction, 0, 1, 0.8);
}

static void
update (QmEstimateBar *self)
{
  QmRecommendation *recommendation;
  const QmChoice *choice;
  g_autofree char *hardware = NULL;
  g_autofree char *figures = NULL;
  QmRange fraction = QM_RANGE_UNKNOWN;

  if (qm_session_get_loading (self->session))
    return;
  recommendation = qm_session_get_recommendation (self->session);
  if (qm_session_get_resolved (self->session) == NULL)
    {
      show (self, qm_session_get_problem (self->session), "", QM_RANGE_UNKNOWN);
      return;
    }
  if (recommendation == NULL)
    {
      show (self, _("Looking…"), "", QM_RANGE_UNKNOWN);
      return;
    }
  if (qm_recommendation_n_choices (recommendation) == 0)
    {
      show (self, qm_phrase_nothing (qm_language_get_words (), qm_recommendation_get_resolved (recommendation)->given), "", QM_RANGE_UNKNOWN);
      return;
    }

  choice = qm_recommendation_choice (recommendation, 0);
  if (choice->estimate.memory.usable_bytes > 0)
    fraction = qm_range_scale (choice->estimate.memory.need, 1 / choice->estimate.memory.usable_bytes);
  hardware = qm_phrase_hardware (choice);
  figures = describe (qm_recommendation_get_resolved (recommendation)->plan, choice, self->form);
  show (self, hardware, figures, fraction);
}

static gboolean
say (gpointer data)
{
  QmEstimateBar *self = data;
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  g_autofree char *text = g_strdup_printf ("%s, %s", gtk_label_get_label (GTK_LABEL (self->hardware)),
                                           gtk_label_get_label (GTK_LABEL (self->figures)));

  self->saying = 0;
  if (root == NULL || g_strcmp0 (text, self->said) == 0)
    return G_SOURCE_REMOVE;

  g_set_str (&self->said, text);
  gtk_accessible_announce (GTK_ACCESSIBLE (root), text, GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_LOW);
  return G_SOURCE_REMOVE;
}

static void
answered (QmEstimateBar *self)
{
  update (self);
  g_clear_handle_id (&self->saying, g_source_remove);
  self->saying = g_timeout_add (QUIET_MILLISECONDS, say, self);
}

static void
qm_estimate_bar_dispose (GObject *object)
{
  g_clear_handle_id (&QM_ESTIMATE_BAR (object)->saying, g_source_remove);
  g_clear_pointer (&QM_ESTIMATE_BAR (object)->said, g_free);
  g_clear_object (&QM_ESTIMATE_BAR (object)->session);

  G_OBJECT_CLASS (qm_estimate_bar_parent_class)->dispose (object);
}

static void
qm_estimate_bar_class_init (QmEstimateBarClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_estimate_bar_dispose;
}

static GtkWidget *
pill_new (const char *label,
          const char *action)
{
  GtkWidget *button = gtk_button_new_with_label (label);

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  gtk_widget_add_css_class (button, "pill");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);

  return button;
}

static GtkWidget *
line_new (const char *style)
{
  GtkWidget *label = qm_ui_label ("", style);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);

  return label;
}

static GtkWidget *
estimate_new (QmEstimateBar *self)
{
  GtkWidget *button = gtk_button_new ();
  GtkWidget *line = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *text = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);

  self->bar = qm_range_bar_new (QM_RANGE_BAR_BLUE);
  gtk_widget_set_size_request (self->bar, 60, -1);
  gtk_widget_set_valign (self->bar, GTK_ALIGN_CENTER);
  self->hardware = line_new ("heading may-be-cut");
  self->figures = line_new ("figures");
  gtk_box_append (GTK_BOX (text), self->hardware);
  gtk_box_append (GTK_BOX (text), self->figures);
  gtk_widget_set_valign (text, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (line), self->bar);
  gtk_box_append (GTK_BOX (line), text);
  gtk_widget_set_halign (line, GTK_ALIGN_CENTER);

  gtk_button_set_child (GTK_BUTTON (button), line);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_hexpand (button, TRUE);
  gtk_widget_set_tooltip_text (button, _("What this comes from"));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.breakdown");

  return button;
}

static void
add_layout (QmEstimateBar *self,
            const char    *name,
            GtkWidget     *content)
{
  AdwLayout *layout = adw_layout_new (content);

  adw_layout_set_name (layout, name);
  adw_multi_layout_view_add_layout (ADW_MULTI_LAYOUT_VIEW (self->layouts), layout);
}

/* Wide: the estimate between the buttons. Narrow: above them. */
static void
add_layouts (QmEstimateBar *self)
{
  GtkWidget *wide = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *narrow = qm_ui_box (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *buttons = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 6);

  gtk_box_append (GTK_BOX (wide), adw_layout_slot_new ("back"));
  gtk_box_append (GTK_BOX (wide), adw_layout_slot_new ("estimate"));
  gtk_box_append (GTK_BOX (wide), adw_layout_slot_new ("next"));
  add_layout (self, "wide", wide);

  gtk_box_set_homogeneous (GTK_BOX (buttons), TRUE);
  gtk_box_append (GTK_BOX (buttons), adw_layout_slot_new ("back"));
  gtk_box_append (GTK_BOX (buttons), adw_layout_slot_new ("next"));
  gtk_box_append (GTK_BOX (narrow), adw_layout_slot_new ("estimate"));
  gtk_box_append (GTK_BOX (narrow), buttons);
  add_layout (self, "narrow", narrow);
}

static void
qm_estimate_bar_init (QmEstimateBar *self)
{
  gtk_widget_add_css_class (GTK_WIDGET (self), "estimate-bar");
  self->layouts = adw_multi_layout_view_new ();
  gtk_widget_set_hexpand (self->layouts, TRUE);
  add_layouts (self);

  self->next = pill_new (_("Next"), "win.next");
  gtk_widget_add_css_class (self->next, "suggested-action");
  adw_multi_layout_view_set_child (ADW_MULTI_LAYOUT_VIEW (self->layouts), "back", pill_new (_("Back"), "win.back"));
  adw_multi_layout_view_set_child (ADW_MULTI_LAYOUT_VIEW (self->layouts), "estimate", estimate_new (self));
  adw_multi_layout_view_set_child (ADW_MULTI_LAYOUT_VIEW (self->layouts), "next", self->next);
  gtk_box_append (GTK_BOX (self), self->layouts);
}

/**
 * qm_estimate_bar_new:
 * @session: the session
 *
 * Returns: (transfer floating): the bar below the questions
 */
GtkWidget *
qm_estimate_bar_new (QmSession *session)
{
  QmEstimateBar *self = g_object_new (QM_TYPE_ESTIMATE_BAR, NULL);

  self->session = g_object_ref (session);
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session, "answered", G_CALLBACK (answered), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session, "simulated", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);

  return GTK_WIDGET (self);
}

/**
 * qm_estimate_bar_set_goal:
 * @self: a bar
 * @goal: where the way on leads
 */
void
qm_estimate_bar_set_goal (QmEstimateBar *self,
                          QmGoal         goal)
{
  gtk_button_set_label (GTK_BUTTON (self->next), goal == QM_GOAL_ANSWER ? _("Show the answer")
                                                 : goal == QM_GOAL_REVIEW ? _("Back to review") : _("Next"));
}

/**
 * qm_estimate_bar_set_form:
 * @self: a bar
 * @form: how much room there is
 */
void
qm_estimate_bar_set_form (QmEstimateBar *self,
                          QmBarForm      form)
{
  self->form = form;
  adw_multi_layout_view_set_layout_name (ADW_MULTI_LAYOUT_VIEW (self->layouts), form == QM_BAR_NARROW ? "narrow" : "wide");
  update (self);
}

/**
 * qm_estimate_bar_get_next:
 * @self: a bar
 *
 * Returns: (transfer none): the button that leads on
 */
GtkWidget *
qm_estimate_bar_get_next (QmEstimateBar *self)
{
  return self->next;
}
