/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "estimate/qm-rules.h"
#include "qm-chart-choices.h"

#define N_SAMPLES 60

/* How far the rate of interruptions may be from the assumed one, both ways. */
#define RATE_FACTOR 3

static double
money_at (const QmSpotFigures *figures,
          double               interval,
          double               per_hour)
{
  return figures->money * qm_rule_interrupted_factor (interval, figures->checkpoint_seconds, figures->restart_seconds, 3600 / per_hour);
}

static double
best_interval (const QmSpotFigures *figures)
{
  double interval = qm_rule_young_seconds (figures->checkpoint_seconds, 3600 / figures->interruptions_per_hour);

  return CLAMP (interval, 60, figures->seconds);
}

static void
add_curve (QmChart             *self,
           const QmSpotFigures *figures)
{
  QmChartLine line = { .ink = QM_INK_PURPLE, .line_width = 2.5, .vertices = g_array_new (FALSE, FALSE, sizeof (QmVertex)) };
  g_autofree char *rate = qm_format_number (self->words, figures->interruptions_per_hour);

  for (guint i = 0; i <= N_SAMPLES; i++)
    {
      double x = self->x.low * pow (self->x.high / self->x.low, i / (double) N_SAMPLES);
      QmVertex vertex = { x, money_at (figures, x, figures->interruptions_per_hour),
                          money_at (figures, x, figures->interruptions_per_hour / RATE_FACTOR),
                          money_at (figures, x, figures->interruptions_per_hour * RATE_FACTOR) };

      g_array_append_val (line.vertices, vertex);
    }
  line.end_text = qm_fill (self->words->translate (N_("{rate} stops an hour")), "rate", rate, NULL);
  line.end_note = g_strdup (self->words->translate (N_("a third to three times")));
  g_array_append_val (self->lines, line);
}

static void
add_best (QmChart             *self,
          const QmSpotFigures *figures,
          const char          *currency)
{
  double interval = best_interval (figures);
  QmChartPoint point = { .x = interval, .y = money_at (figures, interval, figures->interruptions_per_hour), .ink = QM_INK_PURPLE,
                         .marker = QM_MARKER_DISC, .range_x = QM_RANGE_UNKNOWN, .range_y = QM_RANGE_UNKNOWN };
  g_autofree char *money = qm_format_money (self->words, point.y, currency);
  g_autofree char *time = qm_format_seconds (self->words, interval);

  point.name = qm_fill (self->words->translate (N_("{money} at {time}")), "money", money, "time", time, NULL);
  point.mark = qm_chart_add_mark (self, g_strdup (point.name), -1);
  g_array_append_val (self->points, point);
}

static void
add_table (QmChart             *self,
           const QmSpotFigures *figures,
           const char          *currency)
{
  static const double intervals[] = { 60, 300, 900, 1800, 3600, 10800, 28800 };

  qm_chart_add_record (self, self->words->translate (N_("Time between checkpoints")), self->words->translate (N_("Expected cost")),
                       NULL);
  for (guint i = 0; i < G_N_ELEMENTS (intervals); i++)
    {
      g_autofree char *time = qm_format_seconds (self->words, intervals[i]);
      g_autofree char *money = qm_format_money (self->words, money_at (figures, intervals[i], figures->interruptions_per_hour),
                                                currency);

      qm_chart_add_record (self, time, money, NULL);
      if (intervals[i] >= self->x.low && intervals[i] <= self->x.high)
        {
          QmChartPoint point = { .x = intervals[i], .y = money_at (figures, intervals[i], figures->interruptions_per_hour),
                                 .ink = QM_INK_PURPLE, .marker = QM_MARKER_DISC, .hollow = TRUE, .faint = TRUE,
                                 .range_x = QM_RANGE_UNKNOWN, .range_y = QM_RANGE_UNKNOWN };

          point.mark = qm_chart_add_mark (self, g_strdup_printf ("%s: %s", time, money), -1);
          if (point.y <= self->y.high)
            g_array_append_val (self->points, point);
        }
    }
}

/**
 * qm_chart_describe_spot:
 * @figures: of a job on machines that may be taken away
 * @name: of the choice
 * @currency: of the money
 * @words: the reader's language
 *
 * Returns: (transfer full): expected cost against the time between checkpoints,
 *   by the exact form for exponential interruptions (estimation of the core)
 */
QmChart *
qm_chart_describe_spot (const QmSpotFigures *figures,
                        const char          *name,
                        const char          *currency,
                        const QmWords       *words)
{
  QmChart *self = qm_chart_alloc (QM_CHART_SPOT, QM_FORM_PLANE, words);
  double interval = best_interval (figures), lowest = money_at (figures, interval, figures->interruptions_per_hour);
  g_autofree char *time = qm_format_seconds (words, interval);
  g_autofree char *on_demand = qm_format_money (words, figures->on_demand_money, currency);
  gboolean pays = !(figures->on_demand_money <= lowest);

  self->title = pays ? qm_fill (words->translate (N_("Spot pays with a checkpoint about every {time}")), "time", time, NULL) :
                       g_strdup (words->translate (N_("Spot does not pay here: too much work is lost")));
  self->subtitle = qm_fill (words->translate (N_("Expected cost on {name} with lost work and restarts counted in")), "name", name, NULL);
  self->x = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = QM_QUANTITY_SECONDS, .low = 60, .high = MAX (4 * 3600, interval * 6),
                       .title = g_strdup (words->translate (N_("Time between checkpoints"))) };
  self->y = (QmAxis) { .quantity = QM_QUANTITY_MONEY,
                       .title = qm_fill (words->translate (N_("Expected cost, {currency}")), "currency", currency, NULL) };
  qm_axis_cover (&self->y, 0.8 * figures->money, MAX (1.6 * lowest, isfinite (figures->on_demand_money) ?
                                                                   MIN (figures->on_demand_money * 1.15, lowest * 4) : 0));
  if (isfinite (figures->on_demand_money))
    {
      qm_chart_add_limit (self, figures->on_demand_money, qm_fill (words->translate (N_("{money} on demand")), "money", on_demand, NULL),
                          FALSE);
      g_array_index (self->limits, QmChartLimit, 0).on_y = TRUE;
    }
  add_curve (self, figures);
  add_best (self, figures, currency);
  add_table (self, figures, currency);
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
