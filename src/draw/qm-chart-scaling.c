/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"

static const char *
bound_sentence (QmBound bound)
{
  switch (bound)
    {
    case QM_BOUND_COMPUTE: return N_("Arithmetic limits: more devices help");
    case QM_BOUND_MEMORY: return N_("Memory bandwidth limits: more devices help");
    case QM_BOUND_COMMUNICATION: return N_("Links between devices limit");
    case QM_BOUND_INPUT: return N_("Loading the data limits");
    case QM_BOUND_OVERHEAD: return N_("Software overhead limits");
    case QM_BOUND_UNSET:
    default: return NULL;
    }
}

/* What is left of the width of a range when the error that it shares with the
 * first point is taken out: both are guesses of the same device. */
static double
own_width (const QmScalingPoint *first,
           const QmScalingPoint *point)
{
  double shared = qm_range_half_width (first->seconds), whole = qm_range_half_width (point->seconds);

  return whole > shared ? sqrt (whole * whole - shared * shared) : 0;
}

static void
add_lines (QmChart      *self,
           const GArray *curve)
{
  const QmScalingPoint *first = &g_array_index (curve, QmScalingPoint, 0);
  const QmScalingPoint *last = &g_array_index (curve, QmScalingPoint, curve->len - 1);
  QmChartLine ideal = { .ink = QM_INK_SECOND, .line_width = 1.5, .dash = 6, .faint = TRUE,
                        .vertices = g_array_new (FALSE, FALSE, sizeof (QmVertex)) };
  QmChartLine line = { .ink = QM_INK_BLUE, .line_width = 2.5, .vertices = g_array_new (FALSE, FALSE, sizeof (QmVertex)) };
  g_autofree char *ideal_factor = qm_format_factor (self->words, (double) last->devices / first->devices);
  g_autofree char *factor = qm_format_factor (self->words, last->speed_up);

  for (guint i = 0; i < curve->len; i++)
    {
      const QmScalingPoint *point = &g_array_index (curve, QmScalingPoint, i);
      double width = own_width (first, point), perfect = (double) point->devices / first->devices;
      QmVertex vertex = { point->devices, point->speed_up, point->speed_up * exp (-width), point->speed_up * exp (width) };
      QmVertex ideal_vertex = { point->devices, perfect, perfect, perfect };

      g_array_append_val (line.vertices, vertex);
      g_array_append_val (ideal.vertices, ideal_vertex);
    }
  ideal.end_text = qm_fill (self->words->translate (N_("ideal, {factor}")), "factor", ideal_factor, NULL);
  line.end_text = qm_fill (self->words->translate (N_("{factor} expected")), "factor", factor, NULL);
  g_array_append_val (self->lines, ideal);
  g_array_append_val (self->lines, line);
}

static void
add_points (QmChart      *self,
            const GArray *curve,
            int           chosen)
{
  for (guint i = 0; i < curve->len; i++)
    {
      const QmScalingPoint *scaling = &g_array_index (curve, QmScalingPoint, i);
      QmChartPoint point = { .x = scaling->devices, .y = scaling->speed_up, .ink = QM_INK_BLUE, .marker = QM_MARKER_DISC,
                             .range_x = QM_RANGE_UNKNOWN, .range_y = QM_RANGE_UNKNOWN, .chosen = scaling->devices == chosen };
      g_autofree char *count = qm_format_count (self->words, scaling->devices);
      g_autofree char *factor = qm_format_factor (self->words, scaling->speed_up);
      g_autofree char *time = qm_format_seconds (self->words, scaling->seconds.p50);

      if (i > 0 && i + 1 < curve->len)
        point.name = g_strdup (factor);
      point.mark = qm_chart_add_mark (self, qm_fill (self->words->translate (N_("{count} devices: {factor} as fast, {time}")),
                                                     "count", count, "factor", factor, "time", time, NULL), -1);
      g_array_append_val (self->points, point);
      g_array_append_val (self->column_values, point.x);
    }
}

static void
add_zones (QmChart      *self,
           const GArray *curve)
{
  double start = 0;

  for (guint i = 0; i < curve->len; i++)
    {
      const QmScalingPoint *point = &g_array_index (curve, QmScalingPoint, i);
      const QmScalingPoint *next = i + 1 < curve->len ? &g_array_index (curve, QmScalingPoint, i + 1) : NULL;
      const char *sentence = bound_sentence (point->bound_by);
      QmChartZone zone = { .low = start };

      if (next != NULL && next->bound_by == point->bound_by)
        continue;
      zone.high = next != NULL ? sqrt ((double) point->devices * next->devices) : self->x.high;
      if (start == 0)
        zone.low = self->x.low;
      zone.tinted = point->bound_by != QM_BOUND_COMPUTE && point->bound_by != QM_BOUND_MEMORY && sentence != NULL;
      zone.text_at_bottom = zone.low > sqrt (self->x.low * self->x.high) * 0.99;
      zone.text = sentence != NULL ? g_strdup (self->words->translate (sentence)) : NULL;
      g_array_append_val (self->zones, zone);
      start = zone.high;
    }
}

typedef char *(*CellFunc) (const QmWords        *words,
                           const QmScalingPoint *point,
                           const char           *currency);

static char *
count_cell (const QmWords        *words,
            const QmScalingPoint *point,
            const char           *currency)
{
  return qm_format_count (words, point->devices);
}

static char *
time_cell (const QmWords        *words,
           const QmScalingPoint *point,
           const char           *currency)
{
  return qm_format_seconds (words, point->seconds.p50);
}

/* Without the currency, which the head of the row has. */
static char *
money_cell (const QmWords        *words,
            const QmScalingPoint *point,
            const char           *currency)
{
  char *text = isfinite (point->money.p50) ? qm_format_money (words, point->money.p50, "") : g_strdup ("–");

  return g_strchomp (text);
}

static char *
efficiency_cell (const QmWords        *words,
                 const QmScalingPoint *point,
                 const char           *currency)
{
  return qm_format_percent (words, point->efficiency);
}

static void
add_columns (QmChart      *self,
             const GArray *curve,
             const char   *head,
             const char   *currency,
             CellFunc      cell)
{
  QmChartColumns columns = { .head = g_strdup (head), .cells = g_new0 (char *, curve->len + 1) };

  for (guint i = 0; i < curve->len; i++)
    columns.cells[i] = cell (self->words, &g_array_index (curve, QmScalingPoint, i), currency);
  g_array_append_val (self->columns, columns);
}

/* The rows below the plot, turned. */
static void
add_table (QmChart *self)
{
  guint n = self->columns->len;

  for (guint column = 0; column <= self->column_values->len; column++)
    {
      GStrv record = g_new0 (char *, n + 1);

      for (guint i = 0; i < n; i++)
        {
          const QmChartColumns *columns = &g_array_index (self->columns, QmChartColumns, i);

          record[i] = g_strdup (column == 0 ? columns->head : columns->cells[column - 1]);
        }
      g_ptr_array_add (self->table, record);
    }
}

static void
set_title (QmChart      *self,
           const GArray *curve)
{
  const QmWords *words = self->words;
  const QmScalingPoint *first = &g_array_index (curve, QmScalingPoint, 0);
  const QmScalingPoint *last = &g_array_index (curve, QmScalingPoint, curve->len - 1);
  g_autofree char *count = qm_format_count (words, last->devices);
  g_autofree char *factor = qm_format_factor (words, last->speed_up);
  g_autofree char *ideal = qm_format_factor (words, (double) last->devices / first->devices);
  g_autofree char *money = qm_format_factor (words, last->money.p50 / first->money.p50);

  if (last->speed_up > (double) last->devices / first->devices)
    self->title = qm_fill (words->translate (N_("{count} devices are {factor} as fast as {first}: more than their number, because each then "
                                                "has memory to spare")), "count", count, "factor", factor,
                           "first", first->devices == 1 ? words->translate (N_("one")) : words->translate (N_("the fewest")), NULL);
  else if (isfinite (last->money.p50) && first->money.p50 > 0)
    self->title = qm_fill (words->translate (N_("{count} devices are {factor} as fast as {first}, not {ideal}, for {money} the money")),
                           "count", count, "factor", factor, "ideal", ideal, "money", money, "first",
                           first->devices == 1 ? words->translate (N_("one")) : words->translate (N_("the fewest")), NULL);
  else
    self->title = qm_fill (words->translate (N_("{count} devices are {factor} as fast as {first}, not {ideal}")), "count", count,
                           "factor", factor, "ideal", ideal, "first",
                           first->devices == 1 ? words->translate (N_("one")) : words->translate (N_("the fewest")), NULL);
}

/**
 * qm_chart_describe_scaling:
 * @curve: (element-type QmScalingPoint): two points or more, by count
 * @device_name: short
 * @chosen: how many devices the choice has; 0 none
 * @currency: of the money
 * @words: the reader's language
 *
 * Returns: (transfer full): speed-up against the number of devices, with time,
 *   money and efficiency below
 */
QmChart *
qm_chart_describe_scaling (const GArray  *curve,
                           const char    *device_name,
                           int            chosen,
                           const char    *currency,
                           const QmWords *words)
{
  QmChart *self = qm_chart_alloc (QM_CHART_SCALING, QM_FORM_PLANE, words);
  const QmScalingPoint *first = &g_array_index (curve, QmScalingPoint, 0);
  const QmScalingPoint *last = &g_array_index (curve, QmScalingPoint, curve->len - 1);
  g_autofree char *cost = qm_fill (words->translate (N_("Cost, {currency}")), "currency", currency, NULL);

  set_title (self, curve);
  self->subtitle = qm_fill (words->translate (N_("Speed-up of the whole job against the number of {device} devices, with the 80% range")),
                            "device", device_name, NULL);
  self->x = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = QM_QUANTITY_COUNT, .low = first->devices / pow ((double) last->devices / first->devices, 0.07),
                       .high = last->devices };
  self->y = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = QM_QUANTITY_FACTOR, .low = 1,
                       .high = MAX ((double) last->devices / first->devices, 2),
                       .title = g_strdup (words->translate (N_("Speed-up (both axes logarithmic)"))),
                       .values = g_array_new (FALSE, FALSE, sizeof (double)) };
  for (double tick = 1; tick <= self->y.high * 1.001; tick *= 2)
    g_array_append_val (self->y.values, tick);

  add_zones (self, curve);
  add_lines (self, curve);
  add_points (self, curve, chosen);
  for (guint i = 0; i < curve->len; i++)
    if (g_array_index (curve, QmScalingPoint, i).devices == chosen)
      self->chosen_column = chosen;
  add_columns (self, curve, words->translate (N_("Devices")), currency, count_cell);
  add_columns (self, curve, words->translate (N_("Time")), currency, time_cell);
  add_columns (self, curve, cost, currency, money_cell);
  add_columns (self, curve, words->translate (N_("Efficiency")), currency, efficiency_cell);
  add_table (self);
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
