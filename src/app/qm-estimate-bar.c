/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-estimate-bar.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-range-bar.h"
#include "qm-ui.h"

struct _QmEstimateBar {
  GtkBox parent_instance;

  QmSession *session;
  GtkWidget *bar;
  GtkWidget *label;
  GtkWidget *estimate;
  GtkWidget *next;
};

G_DEFINE_FINAL_TYPE (QmEstimateBar, qm_estimate_bar, GTK_TYPE_BOX)

static char *
describe (const QmPlan   *plan,
          const QmChoice *choice)
{
  const QmWords *words = qm_language_get_words ();
  const QmEstimate *estimate = &choice->estimate;
  g_autofree char *memory = qm_format_bytes (words, estimate->memory.need.p50);
  g_autofree char *hardware = qm_phrase_hardware (choice);
  g_autofree char *time = qm_format_seconds (words, estimate->time.seconds.p50);
  g_autofree char *money = qm_format_money (words, estimate->cost.money.p50, qm_phrase_currency (plan));
  GString *text = g_string_new (NULL);

  if (qm_range_is_known (estimate->memory.need))
    {
      g_string_append_printf (text, _("needs about %s"), memory);
      g_string_append (text, " · ");
    }
  g_string_append (text, hardware);
  if (qm_range_is_known (estimate->time.seconds))
    g_string_append_printf (text, " · %s", time);
  if (estimate->cost.known)
    {
      g_string_append (text, " · ");
      if (plan->activity == QM_ACTIVITY_SERVE)
        g_string_append_printf (text, _("%s a month"), money);
      else
        g_string_append (text, money);
    }

  return g_string_free (text, FALSE);
}

static void
show (QmEstimateBar *self,
      const char    *text,
      QmRange        fraction)
{
  gtk_label_set_label (GTK_LABEL (self->label), text);
  gtk_widget_set_visible (self->bar, qm_range_is_known (fraction));
  qm_range_bar_set (QM_RANGE_BAR (self->bar), fraction, 0, 1, 0.8);
}

static void
update (QmEstimateBar *self)
{
  QmRecommendation *recommendation = qm_session_get_recommendation (self->session);
  const QmChoice *choice;
  g_autofree char *text = NULL;
  QmRange fraction = QM_RANGE_UNKNOWN;

  if (qm_session_get_resolved (self->session) == NULL)
    {
      show (self, qm_session_get_problem (self->session), QM_RANGE_UNKNOWN);
      return;
    }
  if (recommendation == NULL)
    {
      show (self, _("Looking…"), QM_RANGE_UNKNOWN);
      return;
    }
  if (qm_recommendation_n_choices (recommendation) == 0)
    {
      show (self, _("Nothing that may be used keeps all your limits"), QM_RANGE_UNKNOWN);
      return;
    }

  choice = qm_recommendation_choice (recommendation, 0);
  if (choice->estimate.memory.usable_bytes > 0)
    fraction = qm_range_scale (choice->estimate.memory.need, 1 / choice->estimate.memory.usable_bytes);
  text = describe (qm_recommendation_get_resolved (recommendation)->plan, choice);
  show (self, text, fraction);
}

static void
qm_estimate_bar_dispose (GObject *object)
{
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

static void
qm_estimate_bar_init (QmEstimateBar *self)
{
  GtkWidget *line = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 9);

  gtk_box_set_spacing (GTK_BOX (self), 12);
  gtk_widget_add_css_class (GTK_WIDGET (self), "estimate-bar");

  self->bar = qm_range_bar_new (QM_RANGE_BAR_BLUE);
  gtk_widget_set_size_request (self->bar, 60, -1);
  gtk_widget_set_valign (self->bar, GTK_ALIGN_CENTER);
  self->label = qm_ui_wrapped ("", "numeric");
  gtk_label_set_justify (GTK_LABEL (self->label), GTK_JUSTIFY_CENTER);
  gtk_label_set_lines (GTK_LABEL (self->label), 3);
  gtk_label_set_ellipsize (GTK_LABEL (self->label), PANGO_ELLIPSIZE_END);
  gtk_box_append (GTK_BOX (line), self->bar);
  gtk_box_append (GTK_BOX (line), self->label);
  gtk_widget_set_halign (line, GTK_ALIGN_CENTER);

  self->estimate = gtk_button_new ();
  gtk_button_set_child (GTK_BUTTON (self->estimate), line);
  gtk_widget_add_css_class (self->estimate, "flat");
  gtk_widget_set_hexpand (self->estimate, TRUE);
  gtk_widget_set_tooltip_text (self->estimate, _("What this comes from"));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->estimate), "win.breakdown");

  self->next = pill_new (_("Next"), "win.next");
  gtk_widget_add_css_class (self->next, "suggested-action");

  gtk_box_append (GTK_BOX (self), pill_new (_("Back"), "win.back"));
  gtk_box_append (GTK_BOX (self), self->estimate);
  gtk_box_append (GTK_BOX (self), self->next);
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
  g_signal_connect_object (session, "answered", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);

  return GTK_WIDGET (self);
}

/**
 * qm_estimate_bar_set_last:
 * @self: a bar
 * @last: whether the answer comes next
 */
void
qm_estimate_bar_set_last (QmEstimateBar *self,
                          gboolean       last)
{
  gtk_button_set_label (GTK_BUTTON (self->next), last ? _("Show the answer") : _("Next"));
}
