/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-chart-choices.h"

static gboolean
is_drawn (const QmChoiceSet *set,
          const QmChoice    *row)
{
  return qm_range_is_known (row->estimate.accuracy.value) && row->estimate.cost.known && row->estimate.cost.money.p50 > 0 &&
         g_strcmp0 (row->estimate.accuracy.metric, set->rows[set->chosen]->estimate.accuracy.metric) == 0;
}

static char *
quality_text (const QmAccuracy *accuracy,
              double            value,
              const QmWords    *words)
{
  if (accuracy->is_relative)
    return qm_format_points (words, value);
  if (g_strcmp0 (accuracy->metric, "loss") == 0)
    return qm_format_number (words, value);

  return qm_format_percent (words, value);
}

static void
add_key (QmChart *self)
{
  QmChartKey key = { .marker = QM_MARKER_SQUARE, .ink = QM_INK_GREY };

  if (self->keys->len > 0)
    return;

  key.text = g_strdup (self->words->translate (N_("not worth the money by the marginal rule")));
  g_array_append_val (self->keys, key);
}

static void
add_row (QmChart           *self,
         const QmChoiceSet *set,
         guint              index)
{
  const QmChoice *row = set->rows[index];
  const QmAccuracy *accuracy = &row->estimate.accuracy;
  gboolean chosen = index == set->chosen, beaten = row->dominated_by >= 0;
  g_autofree char *quality = quality_text (accuracy, accuracy->value.p50, self->words);
  g_autofree char *low = quality_text (accuracy, accuracy->value.p10, self->words);
  g_autofree char *high = quality_text (accuracy, accuracy->value.p90, self->words);
  g_autofree char *money = qm_format_money (self->words, row->estimate.cost.money.p50, set->currency);
  g_autofree char *range = qm_fill (self->words->translate (N_("{low} to {high}")), "low", low, "high", high, NULL);
  QmChartPoint point = {
    .x = row->estimate.cost.money.p50, .y = accuracy->value.p50, .range_x = QM_RANGE_UNKNOWN, .range_y = accuracy->value,
    .marker = QM_MARKER_DISC, .chosen = chosen, .faint = !chosen && (beaten || !row->within_limits),
  };

  point.ink = chosen ? QM_INK_BLUE : point.faint ? QM_INK_GREY : row->ruled_out_by_cost ? QM_INK_ORANGE : QM_INK_TEAL;
  if (row->ruled_out_by_cost)
    {
      point.marker = QM_MARKER_SQUARE;
      add_key (self);
    }
  point.name = qm_choice_short_name (row, self->words);
  point.mark = qm_chart_add_mark (self, g_strdup_printf ("%s: %s (%s), %s", row->label, quality, range, money), index);
  g_array_append_val (self->points, point);
  qm_chart_add_record (self, row->label, quality, range, money, NULL);
}

/* The dearest row that the marginal rule strikes, against what it struck it for;
 * what costs more and is worse as well gains nothing that could be weighed. */
static void
add_bracket (QmChart           *self,
             const QmChoiceSet *set)
{
  const QmWords *words = self->words;

  for (guint i = 0; i < set->n; i++)
    {
      const QmChoice *row = set->rows[i];
      const QmChoice *against = row->ruled_out_against >= 0 && row->ruled_out_against < (int) set->n ?
                                set->rows[row->ruled_out_against] : NULL;
      QmChartBracket bracket;
      g_autofree char *factor = NULL;
      g_autofree char *gain = NULL;

      if (!row->ruled_out_by_cost || against == NULL || row->estimate.accuracy.value.p50 <= against->estimate.accuracy.value.p50 ||
          !is_drawn (set, row) || !is_drawn (set, against))
        continue;
      bracket = (QmChartBracket) { against->estimate.cost.money.p50, against->estimate.accuracy.value.p50,
                                   row->estimate.cost.money.p50, row->estimate.accuracy.value.p50, NULL, NULL };
      factor = qm_format_factor (words, bracket.x2 / bracket.x1);
      gain = row->estimate.accuracy.is_relative ? qm_format_points (words, bracket.y2 - bracket.y1) :
             qm_format_points (words, 100 * (bracket.y2 - bracket.y1));
      bracket.text = qm_fill (words->translate (N_("{factor} the money for {gain}")), "factor", factor, "gain", gain, NULL);
      bracket.note = g_strdup (words->translate (N_("not worth it by the marginal rule")));
      self->title = g_strdup (bracket.text);
      g_array_append_val (self->brackets, bracket);
      return;
    }
}

static const char *
axis_title (const QmChoice *row)
{
  const QmAccuracy *accuracy = &row->estimate.accuracy;

  /* What the plan gives has no range; what it leaves out is the published score. */
  if (row->place == QM_PLACE_QUOTED && accuracy->value.p10 == accuracy->value.p90)
    return N_("Quality, as the plan says");
  if (g_strcmp0 (accuracy->metric, "points-against-full") == 0)
    return N_("Quality, points against training all weights");
  if (g_strcmp0 (accuracy->metric, "points-against-16-bit") == 0)
    return N_("Quality, points against 16-bit weights");
  if (g_strcmp0 (accuracy->metric, "loss") == 0)
    return N_("Expected loss, nats per token (lower is better)");
  if (g_strcmp0 (accuracy->metric, "own-score") == 0)
    return N_("Score expected from your own results");

  return N_("Published accuracy on a benchmark, not on your data");
}

static void
set_axes (QmChart           *self,
          const QmChoiceSet *set)
{
  const QmAccuracy *accuracy = &set->rows[set->chosen]->estimate.accuracy;
  double x_low = INFINITY, x_high = 0, y_low = INFINITY, y_high = -INFINITY, room;

  for (guint i = 0; i < self->points->len; i++)
    {
      const QmChartPoint *point = &g_array_index (self->points, QmChartPoint, i);

      x_low = MIN (x_low, point->x);
      x_high = MAX (x_high, point->x);
      y_low = MIN (y_low, point->range_y.p10);
      y_high = MAX (y_high, point->range_y.p90);
    }
  self->x = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = QM_QUANTITY_MONEY,
                       .title = qm_fill (self->words->translate (N_("Cost, {currency}")), "currency", set->currency, NULL) };
  self->y = (QmAxis) { .quantity = accuracy->is_relative || g_strcmp0 (accuracy->metric, "loss") == 0 ? QM_QUANTITY_NUMBER :
                                                                                                         QM_QUANTITY_PERCENT,
                       .title = g_strdup (self->words->translate (axis_title (set->rows[set->chosen]))) };
  qm_axis_cover (&self->x, x_low, x_high);
  room = MAX ((y_high - y_low) * 0.12, accuracy->is_relative ? 0.4 : 0.01);
  self->y.low = y_low - room;
  self->y.high = y_high + room;
}

static void
set_title (QmChart           *self,
           const QmChoiceSet *set)
{
  const QmWords *words = self->words;
  const QmAccuracy *own = &set->rows[set->chosen]->estimate.accuracy;
  gboolean loss = g_strcmp0 (own->metric, "loss") == 0;
  g_autofree char *name = qm_choice_short_name (set->rows[set->chosen], words);
  double lowest = INFINITY, highest = -INFINITY;

  for (guint i = 0; i < self->points->len; i++)
    {
      lowest = MIN (lowest, g_array_index (self->points, QmChartPoint, i).y);
      highest = MAX (highest, g_array_index (self->points, QmChartPoint, i).y);
    }

  if (highest - lowest < 1e-9)
    self->title = g_strdup (words->translate (N_("More money buys time here, not quality")));
  else if (self->title == NULL && own->value.p50 == (loss ? lowest : highest))
    self->title = qm_fill (words->translate (N_("Nothing here is better than {name}")), "name", name, NULL);
  else if (self->title == NULL)
    self->title = qm_fill (words->translate (N_("Better quality than {name} costs more")), "name", name, NULL);
}

/**
 * qm_chart_describe_accuracy:
 * @set: the choices
 * @words: the reader's language
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): quality against cost, with the marginal
 *   rule as a bracket where it strikes
 */
QmChart *
qm_chart_describe_accuracy (const QmChoiceSet *set,
                            const QmWords     *words,
                            GError           **error)
{
  QmChart *self = qm_chart_alloc (QM_CHART_ACCURACY, QM_FORM_PLANE, words);

  qm_chart_add_record (self, words->translate (N_("Choice")), words->translate (N_("Quality")), words->translate (N_("Range")),
                       words->translate (N_("Cost")), NULL);
  for (guint i = 0; i < set->n; i++)
    if (is_drawn (set, set->rows[i]))
      add_row (self, set, i);
  if (self->points->len < 2)
    {
      qm_chart_free (self);
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                           words->translate (N_("There is no chart of quality: it is not known for two choices of this job")));
      return NULL;
    }

  set_axes (self, set);
  add_bracket (self, set);
  set_title (self, set);
  if (isfinite (set->minimum_quality) && self->y.quantity == QM_QUANTITY_PERCENT)
    {
      qm_chart_add_limit (self, set->minimum_quality, g_strdup (words->translate (N_("your least quality"))), TRUE);
      g_array_index (self->limits, QmChartLimit, 0).on_y = TRUE;
    }
  self->subtitle = g_strdup (words->translate (N_("Quality against cost, with ranges that hold 8 of 10 outcomes")));
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
