/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-choices.h"

/* Which hardware wins at each value of a limit, and what that value then brings:
 * more money buys time, more time saves money. */

static double
gain_of (const QmBand *band,
         QmDial        dial)
{
  const QmEstimate *estimate = &band->choice.estimate;

  if (dial == QM_DIAL_HOURS)
    return estimate->cost.money.p50;
  if (qm_range_is_known (estimate->time.finish))
    return estimate->time.finish.p50;

  return estimate->serving.latency_p99_seconds.p50;
}

static char *
format_limit (const QmWords *words,
              QmDial         dial,
              double         value,
              const char    *currency)
{
  return dial == QM_DIAL_HOURS ? qm_format_seconds (words, 3600 * value) : qm_format_money (words, value, currency);
}

static char *
format_gain (const QmWords *words,
             QmDial         dial,
             double         value,
             const char    *currency)
{
  return dial == QM_DIAL_HOURS ? qm_format_money (words, value, currency) : qm_format_seconds (words, value);
}

/* On the axis a limit of time is in seconds. */
static double
place_of (QmDial dial,
          double value)
{
  return dial == QM_DIAL_HOURS ? 3600 * value : value;
}

static void
add_band (QmChart      *self,
          const QmBand *band,
          QmDial        dial,
          gboolean      chosen,
          const char   *currency,
          GArray       *vertices)
{
  const QmWords *words = self->words;
  double from = place_of (dial, band->from), to = place_of (dial, band->to), gain = gain_of (band, dial);
  g_autofree char *low = format_limit (words, dial, band->from, currency);
  g_autofree char *high = format_limit (words, dial, band->to, currency);
  g_autofree char *figure = format_gain (words, dial, gain, currency);
  QmChartPoint point = { .x = sqrt (from * to), .y = gain, .ink = QM_INK_BLUE, .marker = QM_MARKER_DISC, .chosen = chosen,
                         .range_x = QM_RANGE_UNKNOWN, .range_y = QM_RANGE_UNKNOWN };
  const QmVertex ends[] = { { from, gain, gain, gain }, { to, gain, gain, gain } };

  point.name = qm_choice_short_name (&band->choice, words);
  point.mark = qm_chart_add_mark (self, qm_fill (words->translate (N_("{low} to {high}: {hardware}, {figure}")), "low", low, "high", high,
                                                 "hardware", band->choice.label, "figure", figure, NULL), -1);
  g_array_append_val (self->points, point);
  g_array_append_vals (vertices, ends, G_N_ELEMENTS (ends));
  qm_chart_add_record (self, low, high, band->choice.label, figure, NULL);
}

static void
add_gap (QmChart      *self,
         const QmBand *band,
         QmDial        dial,
         const char   *currency)
{
  g_autofree char *low = format_limit (self->words, dial, band->from, currency);
  g_autofree char *high = format_limit (self->words, dial, band->to, currency);
  QmChartZone zone = { .low = place_of (dial, band->from), .high = place_of (dial, band->to), .tinted = TRUE,
                       .text = g_strdup (self->words->translate (N_("nothing does"))) };

  g_array_append_val (self->zones, zone);
  qm_chart_add_record (self, low, high, zone.text, "", NULL);
}

/* The band that @limit lies in; without one nothing is out of reach. */
static const QmBand *
band_of (const GArray *bands,
         double        limit)
{
  const QmBand *found = &g_array_index (bands, QmBand, bands->len - 1);

  for (guint i = 0; i < bands->len; i++)
    if (limit < g_array_index (bands, QmBand, i).to)
      return &g_array_index (bands, QmBand, i);

  return found;
}

static void
set_words (QmChart      *self,
           const QmBand *band,
           QmDial        dial,
           gboolean      serves,
           const char   *currency)
{
  const QmWords *words = self->words;
  g_autofree char *from = format_limit (words, dial, band->from, currency);
  g_autofree char *name = band->possible ? qm_choice_short_name (&band->choice, words) : NULL;
  const char *sentence;

  if (!band->possible)
    sentence = N_("Nothing does under this limit");
  else if (dial == QM_DIAL_HOURS)
    sentence = N_("With {from} or more to wait it is {name}");
  else
    sentence = serves ? N_("With {from} a month or more to spend it is {name}") : N_("With {from} or more to spend it is {name}");

  self->title = qm_fill (words->translate (sentence), "from", from, "name", name != NULL ? name : "", NULL);
  self->subtitle = g_strdup (words->translate (dial == QM_DIAL_HOURS ? N_("Which hardware wins at each deadline, and what it costs")
                                               : serves ? N_("Which hardware wins at each budget a month, and how long 99 of 100 answers take")
                                                        : N_("Which hardware wins at each budget, and how long it takes")));
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);
}

static void
set_axes (QmChart      *self,
          const GArray *bands,
          QmDial        dial,
          gboolean      serves,
          const char   *currency)
{
  const QmWords *words = self->words;
  g_autofree char *cost = qm_fill (words->translate (N_("Cost, {currency}")), "currency", currency, NULL);
  g_autofree char *budget = qm_fill (words->translate (serves ? N_("Budget a month, {currency}") : N_("Budget, {currency}")), "currency",
                                     currency, NULL);
  double low = INFINITY, high = 0;

  for (guint i = 0; i < self->points->len; i++)
    {
      low = MIN (low, g_array_index (self->points, QmChartPoint, i).y);
      high = MAX (high, g_array_index (self->points, QmChartPoint, i).y);
    }
  self->x = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = dial == QM_DIAL_HOURS ? QM_QUANTITY_SECONDS : QM_QUANTITY_MONEY,
                       .low = place_of (dial, g_array_index (bands, QmBand, 0).from),
                       .high = place_of (dial, g_array_index (bands, QmBand, bands->len - 1).to),
                       .title = g_strdup (dial == QM_DIAL_HOURS ? words->translate (N_("Deadline")) : budget) };
  self->y = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = dial == QM_DIAL_HOURS ? QM_QUANTITY_MONEY : QM_QUANTITY_SECONDS,
                       .title = g_strdup (dial == QM_DIAL_HOURS ? cost
                                          : words->translate (serves ? N_("99 of 100 within") : N_("Time for the whole job"))) };
  qm_axis_cover (&self->y, low / 1.3, high * 1.3);
}

/**
 * qm_chart_describe_decision:
 * @bands: (element-type QmBand): of qm_recommendation_bands()
 * @dial: the limit that is turned
 * @limit: what it is set to; NaN none
 * @serves: whether the money is of a month
 * @currency: of the money
 * @words: the reader's language
 *
 * Returns: (transfer full) (nullable): which hardware wins at each value of the
 *   limit; %NULL where there is no more than one answer
 */
QmChart *
qm_chart_describe_decision (const GArray  *bands,
                            QmDial         dial,
                            double         limit,
                            gboolean       serves,
                            const char    *currency,
                            const QmWords *words)
{
  g_autoptr (QmChart) self = NULL;
  QmChartLine line = { .ink = QM_INK_BLUE, .line_width = 2.5 };
  const QmBand *chosen;

  if (bands->len < 2)
    return NULL;

  self = qm_chart_alloc (dial == QM_DIAL_HOURS ? QM_CHART_DECISION_HOURS : QM_CHART_DECISION_MONEY, QM_FORM_PLANE, words);
  chosen = band_of (bands, limit);
  line.vertices = g_array_new (FALSE, FALSE, sizeof (QmVertex));
  qm_chart_add_record (self, words->translate (N_("From")), words->translate (N_("To")), words->translate (N_("Hardware")),
                       words->translate (dial == QM_DIAL_HOURS ? N_("Cost") : N_("Time")), NULL);
  for (guint i = 0; i < bands->len; i++)
    {
      const QmBand *band = &g_array_index (bands, QmBand, i);

      if (band->possible && gain_of (band, dial) > 0)
        add_band (self, band, dial, band == chosen, currency, line.vertices);
      else
        add_gap (self, band, dial, currency);
    }
  g_array_append_val (self->lines, line);
  if (self->points->len == 0)
    return NULL;

  set_axes (self, bands, dial, serves, currency);
  set_words (self, chosen, dial, serves, currency);
  if (!isnan (limit))
    qm_chart_add_limit (self, place_of (dial, limit), g_strdup (words->translate (N_("your limit"))), FALSE);

  return g_steal_pointer (&self);
}
