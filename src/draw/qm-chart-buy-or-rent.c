/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-choices.h"

static void
add_line (QmChart    *self,
          QmInk       ink,
          double      dash,
          double      start,
          QmRange     per_hour,
          const char *name,
          const char *currency)
{
  QmChartLine line = { .ink = ink, .line_width = 2.5, .dash = dash, .vertices = g_array_new (FALSE, FALSE, sizeof (QmVertex)) };
  double end = start + per_hour.p50 * self->x.high;
  g_autofree char *money = qm_format_money (self->words, end, currency);
  const double hours[] = { 0, self->x.high };

  for (guint i = 0; i < G_N_ELEMENTS (hours); i++)
    {
      QmVertex vertex = { hours[i], start + per_hour.p50 * hours[i], start + per_hour.p10 * hours[i], start + per_hour.p90 * hours[i] };

      g_array_append_val (line.vertices, vertex);
    }
  line.end_text = g_strdup (self->words->translate (name));
  line.end_note = g_steal_pointer (&money);
  g_array_append_val (self->lines, line);
}

static void
add_table (QmChart               *self,
           const QmOwningFigures *figures,
           const char            *currency)
{
  static const double shares[] = { 0.25, 0.5, 1, 1.5, 2 };

  qm_chart_add_record (self, self->words->translate (N_("Hours of use")), self->words->translate (N_("Renting")),
                       self->words->translate (N_("Owning")), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      double hours = figures->break_even_hours * shares[i];
      double rent = figures->rent_per_hour.p50 * hours, own = figures->purchase + figures->own_per_hour * hours;
      g_autofree char *hours_text = qm_format_number (self->words, hours);
      g_autofree char *rent_text = qm_format_money (self->words, rent, currency);
      g_autofree char *own_text = qm_format_money (self->words, own, currency);
      QmChartPoint point = { .x = hours, .y = own, .ink = QM_INK_BLUE, .marker = QM_MARKER_DISC, .chosen = shares[i] == 1,
                             .faint = shares[i] != 1, .range_x = QM_RANGE_UNKNOWN, .range_y = QM_RANGE_UNKNOWN };

      qm_chart_add_record (self, hours_text, rent_text, own_text, NULL);
      point.mark = qm_chart_add_mark (self, qm_fill (self->words->translate (N_("{hours} hours: {rent} rented, {own} owned")), "hours",
                                                     hours_text, "rent", rent_text, "own", own_text, NULL), -1);
      if (point.chosen)
        point.name = qm_fill (self->words->translate (N_("Even after {hours} hours")), "hours", hours_text, NULL);
      g_array_append_val (self->points, point);
    }
}

static char *
subtitle_of (const QmOwningFigures *figures,
             const QmWords         *words)
{
  g_autofree char *resale = qm_format_percent (words, figures->resale_share);
  g_autofree char *months = qm_format_number (words, figures->break_even_hours / figures->use_hours_per_month);

  if (figures->use_hours_per_month > 0)
    return qm_fill (words->translate (N_("With the power it takes, and {resale} of the price left in the end; {months} months at your use")),
                    "resale", resale, "months", months, NULL);
  if (figures->resale_share > 0)
    return qm_fill (words->translate (N_("Money spent for the same work, rented or owned with the power it takes; {resale} of the price "
                                         "is left in the end")), "resale", resale, NULL);

  return g_strdup (words->translate (N_("Money spent for the same work, rented or owned with the power it takes; no resale counted")));
}

/**
 * qm_chart_describe_buy_or_rent:
 * @figures: what owning and renting the same work cost
 * @name: of what is bought
 * @currency: of the money
 * @words: the reader's language
 *
 * Returns: (transfer full): money spent against hours of use, rented and owned
 */
QmChart *
qm_chart_describe_buy_or_rent (const QmOwningFigures *figures,
                               const char            *name,
                               const char            *currency,
                               const QmWords         *words)
{
  QmChart *self = qm_chart_alloc (QM_CHART_BUY_OR_RENT, QM_FORM_PLANE, words);
  g_autofree char *hours = qm_format_number (words, figures->break_even_hours);
  g_autofree char *lifetime = qm_format_seconds (words, figures->lifetime_hours * 3600);

  self->title = figures->break_even_hours > figures->lifetime_hours
                  ? qm_fill (words->translate (N_("Buying {name} does not pay within {time}")), "name", name, "time", lifetime, NULL)
                  : qm_fill (words->translate (N_("Buying {name} pays after {hours} hours of use")), "name", name, "hours", hours, NULL);
  self->subtitle = subtitle_of (figures, words);
  self->x = (QmAxis) { .quantity = QM_QUANTITY_COUNT, .high = 2 * figures->break_even_hours,
                       .title = g_strdup (words->translate (N_("Hours of use"))) };
  self->y = (QmAxis) { .quantity = QM_QUANTITY_MONEY,
                       .title = qm_fill (words->translate (N_("Paid so far, {currency}")), "currency", currency, NULL) };
  qm_axis_cover (&self->y, 0, MAX (figures->rent_per_hour.p50 * self->x.high, figures->purchase * 1.2));
  add_line (self, QM_INK_ORANGE, 6, 0, figures->rent_per_hour, N_("Rent"), currency);
  add_line (self, QM_INK_BLUE, 0, figures->purchase, qm_range_exact (figures->own_per_hour), N_("Own"), currency);
  add_table (self, figures, currency);
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
