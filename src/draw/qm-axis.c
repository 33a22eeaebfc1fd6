/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-axis.h"

#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"

#define NO_BREAK_SPACE "\302\240"
#define GIB 1073741824.0

/* From here on counts are told in millions. */
#define LARGE_COUNT 1e6
#define MIB 1048576.0
#define DAY 86400.0

/* Steps between ticks of a clock and a calendar. */
static const double time_steps[] = {
  1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800,
  14400, 21600, 43200, DAY, 2 * DAY, 5 * DAY, 10 * DAY, 30 * DAY, 60 * DAY, 90 * DAY, 180 * DAY, 365.25 * DAY,
};

/* Ticks of a logarithmic time axis, from the densest set to the sparsest. */
static const double time_dense[] = {
  1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400,
  28800, DAY, 2 * DAY, 4 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 60 * DAY, 120 * DAY, 365.25 * DAY, 730.5 * DAY, 1826.25 * DAY, 0,
};
static const double time_medium[] = {
  1e-3, 1e-2, 0.1, 1, 5, 15, 60, 300, 900, 3600, 14400, 43200, DAY * 2, DAY * 7, DAY * 30, DAY * 120, DAY * 365.25,
  DAY * 1461, 0,
};
static const double time_sparse[] = {
  1e-3, 1e-2, 0.1, 1, 10, 60, 600, 3600, 28800, DAY * 3, DAY * 30, DAY * 365.25, DAY * 3652.5, 0,
};
static const double time_rare[] = { 1e-3, 1, 60, 3600, DAY, DAY * 30, DAY * 365.25, 0 };

/**
 * qm_axis_clear:
 * @self: an axis
 *
 * Frees what @self holds.
 */
void
qm_axis_clear (QmAxis *self)
{
  g_clear_pointer (&self->title, g_free);
  g_clear_pointer (&self->values, g_array_unref);
}

/**
 * qm_axis_place:
 * @self: an axis
 * @value: in its quantity
 *
 * Returns: where @value lies, 0 at the start and 1 at the end
 */
double
qm_axis_place (const QmAxis *self,
               double        value)
{
  if (self->scale == QM_SCALE_LOG)
    return log (MAX (value, self->low * 1e-3) / self->low) / log (self->high / self->low);

  return (value - self->low) / (self->high - self->low);
}

/* The step of a linear axis that comes nearest to n intervals, and is nice. */
static double
linear_step (const QmAxis *self,
             double        n)
{
  double rough = (self->high - self->low) / n;
  double unit, factor;

  if (self->quantity == QM_QUANTITY_SECONDS)
    {
      guint i = 0;

      while (i + 1 < G_N_ELEMENTS (time_steps) && time_steps[i] < rough)
        i++;
      return time_steps[i];
    }
  if (self->quantity == QM_QUANTITY_BYTES && self->high < GIB)
    return pow (2, ceil (log2 (rough)));
  if (self->quantity == QM_QUANTITY_BYTES)
    rough /= GIB;

  unit = pow (10, floor (log10 (rough) + 1e-9));
  factor = rough / unit;
  factor = factor <= 1.0001 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10;
  if (self->quantity == QM_QUANTITY_COUNT)
    return MAX (1, factor * unit);

  return factor * unit * (self->quantity == QM_QUANTITY_BYTES ? GIB : 1);
}

/**
 * qm_axis_cover:
 * @self: an axis with a scale and a quantity
 * @low: smallest value to show
 * @high: largest
 *
 * Sets the ends of the axis: on a linear scale to the next tick outside, on a
 * logarithmic one with some room.
 */
void
qm_axis_cover (QmAxis *self,
               double  low,
               double  high)
{
  double step;

  if (self->scale == QM_SCALE_LOG)
    {
      double room = MAX (pow (high / low, 0.09), 1.35);

      self->low = low / room;
      self->high = high * room;
      return;
    }

  self->low = low;
  self->high = high > low ? high : low + 1;
  step = linear_step (self, 5);
  self->low = floor (low / step + 1e-6) * step;
  self->high = MAX (ceil (high / step - 1e-6) * step, self->low + step);
}

static void
take (const QmAxis *self,
      GArray       *ticks,
      double        value)
{
  double place = qm_axis_place (self, value);

  if (place >= -1e-6 && place <= 1 + 1e-6)
    g_array_append_val (ticks, value);
}

static gboolean
logarithmic_decades (const QmAxis *self,
                     guint         level,
                     GArray       *ticks)
{
  static const double sets[][10] = {
    { 1, 1.5, 2, 3, 4, 5, 6, 8, 0 }, { 1, 2, 3, 5, 7, 0 }, { 1, 2, 5, 0 }, { 1, 3, 0 }, { 1, 0 }, { 1, 0 },
  };
  int every = level < 5 ? 1 : 2;
  double unit = self->quantity == QM_QUANTITY_BYTES ? GIB : self->quantity == QM_QUANTITY_PERCENT ? 0.01 : 1;

  if (level >= G_N_ELEMENTS (sets))
    return FALSE;

  for (int decade = -9; decade <= 15; decade += every)
    for (guint i = 0; sets[level][i] > 0; i++)
      if (self->quantity != QM_QUANTITY_COUNT || pow (10, decade) * sets[level][i] >= 1)
        take (self, ticks, sets[level][i] * pow (10, decade) * unit);

  return TRUE;
}

static gboolean
logarithmic (const QmAxis *self,
             guint         level,
             GArray       *ticks)
{
  static const double * const sets[] = { time_dense, time_medium, time_sparse, time_rare };

  if (self->quantity != QM_QUANTITY_SECONDS)
    return logarithmic_decades (self, level, ticks);
  if (level >= G_N_ELEMENTS (sets))
    return FALSE;

  for (const double *value = sets[level]; *value > 0; value++)
    take (self, ticks, *value);

  return TRUE;
}

static gboolean
linear (const QmAxis *self,
        guint         level,
        GArray       *ticks)
{
  static const double intervals[] = { 10, 7, 5, 4, 3, 2, 1 };
  double step, first;

  if (level >= G_N_ELEMENTS (intervals))
    return FALSE;

  step = linear_step (self, intervals[level]);
  first = ceil (self->low / step - 1e-6);
  for (double i = first; i * step <= self->high + step * 1e-6; i++)
    take (self, ticks, i * step);

  return TRUE;
}

static gboolean
given (const QmAxis *self,
       guint         level,
       GArray       *ticks)
{
  guint every = 1u << level;

  if (level > 0 && every >= 2 * self->values->len)
    return FALSE;

  for (guint i = 0; i < self->values->len; i += every)
    take (self, ticks, g_array_index (self->values, double, i));

  return TRUE;
}

/**
 * qm_axis_ticks:
 * @self: an axis
 * @level: 0 for the densest ticks, more for fewer
 *
 * Ticks as people would choose them: 30 min, 1 h, 2 h; 2, 5, 10, 20.
 *
 * Returns: (transfer full) (element-type double) (nullable): their values; %NULL
 *   when no set of ticks is sparser
 */
GArray *
qm_axis_ticks (const QmAxis *self,
               guint         level)
{
  GArray *ticks = g_array_new (FALSE, FALSE, sizeof (double));
  gboolean found = self->values != NULL ? given (self, level, ticks) :
                   self->scale == QM_SCALE_LOG ? logarithmic (self, level, ticks) : linear (self, level, ticks);

  if (!found)
    g_clear_pointer (&ticks, g_array_unref);

  return ticks;
}

/* On a linear axis all ticks have the unit that suits its end. */
static char *
time_label (const QmAxis  *self,
            double         value,
            const QmWords *words)
{
  static const struct { double unit; const char *name; } units[] = {
    { 3600, N_("h") }, { 60, N_("min") }, { 1, N_("s") }, { 1e-3, N_("ms") },
  };
  double size = self->scale == QM_SCALE_LOG ? value : self->high / 3;
  g_autofree char *text = NULL;
  guint i = 0;

  if (value == 0)
    return g_strdup ("0");
  if (size >= 365.25 * DAY)
    {
      text = qm_format_number (words, value / (365.25 * DAY));
      return qm_fill (words->translate_plural ("{n} year", "{n} years", value == 365.25 * DAY ? 1 : 2), "n", text, NULL);
    }
  if (size >= DAY)
    {
      text = qm_format_number (words, value / DAY);
      return qm_fill (words->translate_plural ("{n} day", "{n} days", value == DAY ? 1 : 2), "n", text, NULL);
    }

  while (i + 1 < G_N_ELEMENTS (units) && size < units[i].unit)
    i++;
  text = qm_format_number (words, value / units[i].unit);

  return g_strconcat (text, NO_BREAK_SPACE, words->translate (units[i].name), NULL);
}

static char *
byte_label (const QmAxis  *self,
            double         value,
            gboolean       with_unit,
            const QmWords *words)
{
  double unit = self->high < GIB ? MIB : self->high < 4096 * GIB ? GIB : 1024 * GIB;
  const char *name = unit == MIB ? "MiB" : unit == GIB ? "GiB" : "TiB";
  g_autofree char *text = qm_format_number (words, value / unit);

  return with_unit ? g_strconcat (text, NO_BREAK_SPACE, name, NULL) : g_steal_pointer (&text);
}

/**
 * qm_axis_tick_label:
 * @self: an axis
 * @value: of a tick
 * @with_unit: whether the unit is to be written
 * @words: the reader's language
 *
 * Returns: (transfer full): the text of a tick
 */
char *
qm_axis_tick_label (const QmAxis  *self,
                    double         value,
                    gboolean       with_unit,
                    const QmWords *words)
{
  switch (self->quantity)
    {
    case QM_QUANTITY_SECONDS:
      return time_label (self, value, words);
    case QM_QUANTITY_BYTES:
      return byte_label (self, value, with_unit, words);
    case QM_QUANTITY_PERCENT:
      return fabs (100 * value - round (100 * value)) > 1e-6 ? qm_format_percent_tenths (words, value) : qm_format_percent (words, value);
    case QM_QUANTITY_FACTOR:
      return qm_format_factor (words, value);
    case QM_QUANTITY_COUNT:
      return self->high >= LARGE_COUNT ? qm_format_count_short (words, value) : qm_format_count (words, value);
    case QM_QUANTITY_NUMBER:
    case QM_QUANTITY_MONEY:
    default:
      return qm_format_number (words, fabs (value) < 1e-12 ? 0 : value);
    }
}
