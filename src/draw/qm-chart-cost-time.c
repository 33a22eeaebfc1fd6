/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-chart-choices.h"

/**
 * qm_choice_short_name:
 * @choice: a choice
 * @words: the reader's language
 *
 * Returns: (transfer full): e.g. "1 × L40S, spot"
 */
char *
qm_choice_short_name (const QmChoice *choice,
                      const QmWords  *words)
{
  int n = MAX (1, choice->estimate.configuration.devices);
  g_autofree char *device = qm_device_short_name (choice->estimate.device);
  g_autofree char *name = g_strdup_printf ("%d × %s", n, device);

  if (choice->place == QM_PLACE_THIS_COMPUTER)
    return g_strdup (words->translate (N_("This computer")));
  if (choice->estimate.cost.pricing == QM_PRICING_SPOT)
    return qm_fill (words->translate (N_("{name}, spot")), "name", name, NULL);
  if (choice->place == QM_PLACE_BUY)
    return qm_fill (words->translate (N_("{name}, bought")), "name", name, NULL);

  return g_steal_pointer (&name);
}

static gboolean
is_drawn (const QmChoice *row)
{
  return row->estimate.time.finish.p50 > 0 && isfinite (row->estimate.time.finish.p50) && row->estimate.cost.known &&
         row->estimate.cost.money.p50 > 0 && isfinite (row->estimate.cost.money.p50);
}

/* Neither quicker nor cheaper choices exist. */
static gboolean
on_front (const QmChoiceSet *set,
          guint              index)
{
  const QmEstimate *own = &set->rows[index]->estimate;

  for (guint i = 0; i < set->n; i++)
    {
      const QmEstimate *other = &set->rows[i]->estimate;

      if (i != index && is_drawn (set->rows[i]) && other->time.finish.p50 <= own->time.finish.p50 &&
          other->cost.money.p50 <= own->cost.money.p50 &&
          (other->time.finish.p50 < own->time.finish.p50 || other->cost.money.p50 < own->cost.money.p50 || i < index))
        return FALSE;
    }

  return TRUE;
}

typedef struct {
  const char *name;
  QmMarker marker;
  gboolean hollow;
} Shape;

/* The shape says the method where methods differ, the place where they do not. */
static Shape
shape_of (const QmChoiceSet *set,
          const QmChoice    *row)
{
  static const Shape methods[] = {
    [QM_METHOD_UNSET] = { N_("other"), QM_MARKER_DISC, FALSE },
    [QM_METHOD_FULL] = { N_("all weights"), QM_MARKER_SQUARE, FALSE },
    [QM_METHOD_LORA] = { N_("small adapters (LoRA)"), QM_MARKER_DISC, FALSE },
    [QM_METHOD_QLORA] = { N_("adapters on 4-bit weights (QLoRA)"), QM_MARKER_DIAMOND, TRUE },
    [QM_METHOD_LINEAR_PROBE] = { N_("last layer only"), QM_MARKER_TRIANGLE, FALSE },
  };
  static const Shape rented = { N_("rented"), QM_MARKER_DISC, FALSE }, spot = { N_("rented as spot"), QM_MARKER_DIAMOND, TRUE };
  static const Shape own = { N_("already there"), QM_MARKER_SQUARE, FALSE }, bought = { N_("bought"), QM_MARKER_TRIANGLE, FALSE };
  static const Shape quoted = { N_("as the plan says"), QM_MARKER_DISC, FALSE };

  for (guint i = 0; i < set->n; i++)
    if (set->rows[i]->estimate.training.method != set->rows[set->chosen]->estimate.training.method)
      return methods[row->estimate.training.method];

  if (row->place == QM_PLACE_QUOTED)
    return quoted;
  if (row->place == QM_PLACE_BUY)
    return bought;
  if (row->place == QM_PLACE_CLOUD)
    return row->estimate.cost.pricing == QM_PRICING_SPOT ? spot : rented;

  return own;
}

static void
add_key (QmChart *self,
         Shape    shape)
{
  QmChartKey key = { shape.marker, shape.hollow, QM_INK_GREY, NULL };

  for (guint i = 0; i < self->keys->len; i++)
    {
      const QmChartKey *other = &g_array_index (self->keys, QmChartKey, i);

      if (other->marker == shape.marker && other->hollow == shape.hollow)
        return;
    }
  key.text = g_strdup (self->words->translate (shape.name));
  g_array_append_val (self->keys, key);
}

static void
add_row (QmChart           *self,
         const QmChoiceSet *set,
         guint              index)
{
  const QmChoice *row = set->rows[index];
  const QmEstimate *estimate = &row->estimate;
  Shape shape = shape_of (set, row);
  gboolean front = on_front (set, index);
  g_autofree char *name = qm_choice_short_name (row, self->words);
  g_autofree char *time = qm_format_seconds_against (self->words, estimate->time.finish.p50, set->deadline_seconds);
  g_autofree char *times = qm_format_seconds_range (self->words, estimate->time.finish);
  g_autofree char *money = qm_format_money (self->words, estimate->cost.money.p50, set->currency);
  g_autofree char *moneys = qm_format_money_range (self->words, estimate->cost.money, set->currency);
  QmChartPoint point = {
    .x = estimate->time.finish.p50, .y = estimate->cost.money.p50, .range_x = estimate->time.finish,
    .range_y = QM_RANGE_UNKNOWN, .range_along = estimate->cost.per_hour > 0, .marker = shape.marker, .hollow = shape.hollow,
    .chosen = index == set->chosen, .faint = !front && index != set->chosen,
  };

  point.ink = point.faint ? QM_INK_GREY : QM_INK_BLUE;
  point.name = g_strdup (name);
  point.mark = qm_chart_add_mark (self, g_strdup_printf ("%s: %s (%s), %s (%s)", row->label, time, times, money, moneys), index);
  g_array_append_val (self->points, point);
  add_key (self, shape);
  qm_chart_add_record (self, row->label, time, times, money, moneys, NULL);
}

static int
by_x (gconstpointer a,
      gconstpointer b)
{
  double left = ((const QmVertex *) a)->x, right = ((const QmVertex *) b)->x;

  return left < right ? -1 : left > right;
}

static void
add_front (QmChart           *self,
           const QmChoiceSet *set)
{
  QmChartLine line = { .ink = QM_INK_BLUE, .line_width = 2, .step = TRUE, .faint = TRUE,
                       .vertices = g_array_new (FALSE, FALSE, sizeof (QmVertex)) };

  for (guint i = 0; i < set->n; i++)
    if (is_drawn (set->rows[i]) && on_front (set, i))
      {
        double x = set->rows[i]->estimate.time.finish.p50, y = set->rows[i]->estimate.cost.money.p50;
        QmVertex vertex = { x, y, y, y };

        g_array_append_val (line.vertices, vertex);
      }
  g_array_sort (line.vertices, by_x);
  g_array_append_val (self->lines, line);
}

static void
set_axes (QmChart           *self,
          const QmChoiceSet *set)
{
  double x_low = INFINITY, x_high = 0, y_low = INFINITY, y_high = 0;

  for (guint i = 0; i < self->points->len; i++)
    {
      const QmChartPoint *point = &g_array_index (self->points, QmChartPoint, i);

      x_low = MIN (x_low, point->range_x.p10);
      x_high = MAX (x_high, point->range_x.p90);
      y_low = MIN (y_low, point->y);
      y_high = MAX (y_high, point->y);
    }
  if (set->deadline_seconds < x_high * 8 && set->deadline_seconds > x_low / 2)
    x_high = MAX (x_high, set->deadline_seconds * 1.4);
  if (set->budget < y_high * 4 && set->budget > y_low / 2)
    y_high = MAX (y_high, set->budget * 1.25);

  self->x = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = QM_QUANTITY_SECONDS,
                       .title = g_strdup (self->words->translate (N_("Time for the whole job"))) };
  self->y = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = QM_QUANTITY_MONEY,
                       .title = qm_fill (self->words->translate (N_("Cost, {currency}")), "currency", set->currency, NULL) };
  qm_axis_cover (&self->x, x_low, x_high);
  qm_axis_cover (&self->y, y_low, y_high);
}

static void
add_limits (QmChart           *self,
            const QmChoiceSet *set)
{
  if (isfinite (set->deadline_seconds))
    {
      qm_chart_add_limit (self, set->deadline_seconds, g_strdup (self->words->translate (N_("after your deadline"))), TRUE);
      g_array_index (self->limits, QmChartLimit, self->limits->len - 1).beyond = TRUE;
    }
  if (isfinite (set->budget))
    {
      qm_chart_add_limit (self, set->budget, g_strdup (self->words->translate (N_("over your budget"))), TRUE);
      g_array_index (self->limits, QmChartLimit, self->limits->len - 1).beyond = TRUE;
      g_array_index (self->limits, QmChartLimit, self->limits->len - 1).on_y = TRUE;
    }
}

static void
set_title (QmChart           *self,
           const QmChoiceSet *set)
{
  const QmWords *words = self->words;
  g_autofree char *name = qm_choice_short_name (set->rows[set->chosen], words);
  gboolean limited = !isnan (set->deadline_seconds) || !isnan (set->budget) || !isnan (set->minimum_quality);
  guint cheaper = 0, faster = 0;

  for (guint i = 0; i < set->n; i++)
    if (i != set->chosen && is_drawn (set->rows[i]) && set->rows[i]->within_limits)
      {
        cheaper += set->rows[i]->estimate.cost.money.p50 < set->rows[set->chosen]->estimate.cost.money.p50;
        faster += set->rows[i]->estimate.time.finish.p50 < set->rows[set->chosen]->estimate.time.finish.p50;
      }

  if (cheaper == 0 && faster == 0)
    self->title = qm_fill (words->translate (limited ? N_("{name} is both the cheapest and the fastest that keeps your limits")
                                                     : N_("{name} is both the cheapest and the fastest")), "name", name, NULL);
  else if (cheaper == 0)
    self->title = qm_fill (words->translate (limited ? N_("{name} is the cheapest that keeps your limits") : N_("{name} is the cheapest")),
                           "name", name, NULL);
  else if (faster == 0)
    self->title = qm_fill (words->translate (limited ? N_("{name} is the fastest that keeps your limits") : N_("{name} is the fastest")),
                           "name", name, NULL);
  else
    self->title = qm_fill (words->translate (N_("{name} balances time and money")), "name", name, NULL);
}

/**
 * qm_chart_describe_cost_time:
 * @set: the choices
 * @words: the reader's language
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): cost against time, with the best that one
 *   can do for the money or the time as a step line
 */
QmChart *
qm_chart_describe_cost_time (const QmChoiceSet *set,
                             const QmWords     *words,
                             GError           **error)
{
  QmChart *self = qm_chart_alloc (QM_CHART_COST_TIME, QM_FORM_PLANE, words);

  qm_chart_add_record (self, words->translate (N_("Choice")), words->translate (N_("Time")), words->translate (N_("Range of time")),
                       words->translate (N_("Cost")), words->translate (N_("Range of cost")), NULL);
  for (guint i = 0; i < set->n; i++)
    if (is_drawn (set->rows[i]))
      add_row (self, set, i);
  if (self->points->len < 2)
    {
      qm_chart_free (self);
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                           words->translate (N_("There is no chart of cost against time: fewer than two choices have both")));
      return NULL;
    }

  add_front (self, set);
  set_axes (self, set);
  add_limits (self, set);
  set_title (self, set);
  self->subtitle = g_strdup (words->translate (N_("Cost against time with 80% ranges; the line joins the best that can be had for the "
                                                  "money or the time")));
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
