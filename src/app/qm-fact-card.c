/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "qm-answer-page.h"
#include "draw/qm-phrases.h"
#include "qm-range-bar.h"
#include "qm-ui.h"

struct _QmFactCard {
  GtkBox parent_instance;

  QmFact fact;
  GtkWidget *title;
  GtkWidget *value;
  GtkWidget *range;
  GtkWidget *bar;
  GtkWidget *start;
  GtkWidget *end;
};

G_DEFINE_FINAL_TYPE (QmFactCard, qm_fact_card, GTK_TYPE_BOX)

static const struct {
  const char *icon;
  const char *title;
  QmRangeBarRole role;
} looks[QM_N_FACTS] = {
  [QM_FACT_MEMORY] = { "qm-memory-symbolic", N_("Memory"), QM_RANGE_BAR_BLUE },
  [QM_FACT_TIME] = { "qm-clock-symbolic", N_("Time"), QM_RANGE_BAR_TEAL },
  [QM_FACT_MONEY] = { "qm-coin-symbolic", N_("Cost"), QM_RANGE_BAR_ORANGE },
  [QM_FACT_QUALITY] = { "qm-target-symbolic", N_("Quality"), QM_RANGE_BAR_PURPLE },
};

/* What a card shows; strings are taken. */
typedef struct {
  char *value;
  char *range;
  char *start;
  char *end;
  QmRange bar;
  double minimum, maximum, limit;
} Face;

static void
face_memory (const QmChoice *choice,
             Face           *face)
{
  const QmWords *words = qm_language_get_words ();
  const QmMemory *memory = &choice->estimate.memory;
  g_autofree char *range = qm_format_bytes_range (words, memory->need);
  g_autofree char *usable = qm_format_bytes (words, memory->usable_bytes);

  face->value = qm_format_bytes (words, memory->need.p50);
  /* Translators: a range of memory and what the device has, e.g. "24–29 GiB of 45 GiB" */
  face->range = memory->usable_bytes > 0 ? g_strdup_printf (_("%s of %s"), range, usable) : g_steal_pointer (&range);
  face->start = g_strdup ("0");
  face->end = g_steal_pointer (&usable);
  face->bar = memory->need;
  face->maximum = memory->usable_bytes;
  face->limit = 0.8 * memory->usable_bytes;
}

static void
face_latency (const QmChoice *choice,
              double          limit,
              Face           *face)
{
  const QmWords *words = qm_language_get_words ();
  const QmServingFigures *serving = &choice->estimate.serving;

  face->value = qm_format_seconds_against (words, serving->latency_p99_seconds.p50, limit);
  face->range = g_strdup (_("slowest answer of a hundred"));
  face->start = g_strdup ("0");
  face->bar = serving->latency_p99_seconds;
  face->maximum = serving->latency_p99_seconds.p90 * 1.3;
  face->end = qm_format_seconds (words, face->maximum);
}

static void
face_time (const QmPlan   *plan,
           const QmChoice *choice,
           Face           *face)
{
  const QmWords *words = qm_language_get_words ();
  QmRange seconds = choice->estimate.time.finish;
  double deadline = plan->limits.hours * 3600;
  g_autofree char *range = qm_format_seconds_range (words, seconds);
  g_autofree char *end = qm_format_seconds (words, deadline);

  if (plan->activity == QM_ACTIVITY_SERVE)
    {
      face_latency (choice, plan->serving.latency_p99_seconds, face);
      return;
    }

  face->value = qm_phrase_finish (words, plan, &choice->estimate);
  face->range = isnan (deadline) ? g_strdup (range) : g_strdup_printf (_("%s, deadline %s"), range, end);
  face->start = g_strdup ("0");
  face->bar = seconds;
  face->limit = deadline;
  face->maximum = MAX (seconds.p90 * 1.3, isnan (deadline) ? 0 : deadline * 1.1);
  face->end = isnan (deadline) ? qm_format_seconds (words, face->maximum) : g_steal_pointer (&end);
}

static void
face_money (const QmPlan   *plan,
            const QmChoice *choice,
            Face           *face)
{
  const QmWords *words = qm_language_get_words ();
  const char *currency = qm_plan_get_currency (plan);
  QmRange money = choice->estimate.cost.money;
  g_autofree char *range = qm_format_money_range (words, money, currency);
  g_autofree char *budget = qm_format_money (words, plan->limits.money, currency);

  face->value = qm_format_money (words, money.p50, currency);
  if (plan->activity == QM_ACTIVITY_SERVE)
    face->range = isnan (plan->limits.money) ? g_strdup (_("each month")) : g_strdup_printf (_("each month, budget %s"), budget);
  else
    face->range = isnan (plan->limits.money) ? g_strdup (range) : g_strdup_printf (_("%s, budget %s"), range, budget);
  face->start = g_strdup ("0");
  face->bar = money;
  face->limit = plan->limits.money;
  face->maximum = MAX (money.p90 * 1.3, isnan (plan->limits.money) ? 0 : plan->limits.money * 1.1);
  face->end = isnan (plan->limits.money) ? qm_format_money (words, face->maximum, currency) : g_steal_pointer (&budget);
}

static void
face_quality (const QmChoice *choice,
              Face           *face)
{
  const QmAccuracy *accuracy = &choice->estimate.accuracy;
  const QmWords *words = qm_language_get_words ();

  face->value = qm_phrase_quality (words, accuracy);
  face->range = qm_phrase_quality_range (words, accuracy);
  face->bar = accuracy->value;
  face->minimum = accuracy->is_relative ? MIN (-4, floor (accuracy->value.p10)) : accuracy->value.p10 * 0.9;
  face->maximum = accuracy->is_relative ? 0 : accuracy->value.p90 * 1.1;
  if (accuracy->is_relative && qm_range_is_known (accuracy->value))
    {
      face->start = qm_format_number (words, face->minimum);
      face->end = g_strdup ("0");
    }
}

static void
set_text (GtkWidget  *label,
          const char *text)
{
  gtk_label_set_label (GTK_LABEL (label), text != NULL ? text : "");
}

/* Words such as "unknown" have no digits, and are longer than figures: a card is narrow. */
static void
set_value (GtkWidget  *label,
           const char *text)
{
  gboolean figure = FALSE;

  for (const char *letter = text; letter != NULL && *letter != '\0'; letter = g_utf8_next_char (letter))
    figure |= g_unichar_isdigit (g_utf8_get_char (letter));

  if (figure)
    gtk_widget_remove_css_class (label, "words");
  else
    gtk_widget_add_css_class (label, "words");
  set_text (label, text);
}

/**
 * qm_fact_card_set:
 * @self: a card
 * @plan: the plan, for limits and currency
 * @choice: the choice
 */
void
qm_fact_card_set (QmFactCard     *self,
                  const QmPlan   *plan,
                  const QmChoice *choice)
{
  Face face = { .bar = QM_RANGE_UNKNOWN, .limit = NAN };

  if (self->fact == QM_FACT_MEMORY)
    face_memory (choice, &face);
  else if (self->fact == QM_FACT_TIME)
    face_time (plan, choice, &face);
  else if (self->fact == QM_FACT_MONEY)
    face_money (plan, choice, &face);
  else
    face_quality (choice, &face);

  set_text (self->title, self->fact == QM_FACT_TIME && plan->activity == QM_ACTIVITY_SERVE ? _("Waiting time") : _(looks[self->fact].title));
  set_value (self->value, face.value);
  set_text (self->range, face.range);
  set_text (self->start, face.start);
  set_text (self->end, face.end);
  qm_range_bar_set (QM_RANGE_BAR (self->bar), face.bar, face.minimum, face.maximum, face.limit);
  g_free (face.value);
  g_free (face.range);
  g_free (face.start);
  g_free (face.end);
}

static void
qm_fact_card_class_init (QmFactCardClass *klass)
{
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
qm_fact_card_init (QmFactCard *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 3);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self), "fact");
}

/**
 * qm_fact_card_new:
 * @fact: which fact
 *
 * Returns: (transfer floating): a card, empty yet
 */
GtkWidget *
qm_fact_card_new (QmFact fact)
{
  QmFactCard *self = g_object_new (QM_TYPE_FACT_CARD, NULL);
  GtkWidget *head = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *scale = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 6);

  self->fact = fact;
  self->title = qm_ui_label (_(looks[fact].title), "caption-heading second");
  gtk_box_append (GTK_BOX (head), gtk_image_new_from_icon_name (looks[fact].icon));
  gtk_box_append (GTK_BOX (head), self->title);
  self->value = qm_ui_wrapped ("", "big");
  self->range = qm_ui_wrapped ("", "caption second");
  gtk_label_set_lines (GTK_LABEL (self->range), 2);
  self->bar = qm_range_bar_new (looks[fact].role);
  gtk_widget_set_margin_top (self->bar, 6);
  self->start = qm_ui_label ("", "caption second");
  self->end = qm_ui_label ("", "caption second");
  gtk_widget_set_hexpand (self->start, TRUE);
  gtk_box_append (GTK_BOX (scale), self->start);
  gtk_box_append (GTK_BOX (scale), self->end);

  gtk_box_append (GTK_BOX (self), head);
  gtk_box_append (GTK_BOX (self), self->value);
  gtk_box_append (GTK_BOX (self), self->range);
  gtk_widget_set_vexpand (self->range, TRUE);
  gtk_widget_set_valign (self->range, GTK_ALIGN_START);
  gtk_box_append (GTK_BOX (self), self->bar);
  gtk_box_append (GTK_BOX (self), scale);
  qm_ui_set_label (GTK_WIDGET (self), _(looks[fact].title));

  return GTK_WIDGET (self);
}
