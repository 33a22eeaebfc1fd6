/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "qm-labels.h"
#include "qm-plane.h"

/* Charts with two axes: places, ticks, and the order of drawing. What stands in
 * the plane is in qm-chart-plane-marks.c. */

#define GAP         12
#define LEAST_PLOT  180
#define COLUMN_HALF 26

const QmTextStyle qm_plane_plain = { .size = QM_TEXT_SIZE, .ink = QM_INK_TEXT };
const QmTextStyle qm_plane_strong = { .size = QM_TEXT_SIZE, .weight = 600, .ink = QM_INK_TEXT };
const QmTextStyle qm_plane_second = { .size = QM_TEXT_SIZE, .ink = QM_INK_SECOND };

double
qm_plane_x (const QmPlane *self,
            double         value)
{
  return self->box.x + self->box.width * qm_axis_place (&self->chart->x, value);
}

double
qm_plane_y (const QmPlane *self,
            double         value)
{
  return self->box.y + self->box.height * (1 - qm_axis_place (&self->chart->y, value));
}

static double
width_of (const QmPlane     *self,
          const char        *text,
          const QmTextStyle *style)
{
  return text != NULL ? qm_scene_measure (self->scene, text, style).width : 0;
}

/* ------------------------------------------------------------------------ ticks */

static gboolean
ticks_fit (const QmPlane *self,
           const QmAxis  *axis,
           const GArray  *ticks,
           gboolean       upright)
{
  double length = upright ? self->box.height : self->box.width, edge = -INFINITY;

  for (guint i = 0; i < ticks->len; i++)
    {
      double value = g_array_index (ticks, double, i), middle = length * qm_axis_place (axis, value);
      g_autofree char *text = qm_axis_tick_label (axis, value, i + 1 == ticks->len, self->chart->words);
      double half = upright ? self->line / 2 + 3 : width_of (self, text, &qm_plane_second) / 2;

      if (middle - half < edge + (upright ? 2 : GAP))
        return FALSE;
      edge = middle + half;
    }

  return TRUE;
}

static GArray *
choose_ticks (const QmPlane *self,
              const QmAxis  *axis,
              gboolean       upright)
{
  GArray *ticks = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint level = 0;; level++)
    {
      GArray *next = qm_axis_ticks (axis, level);

      /* an axis with one tick says nothing of its scale */
      if (next == NULL || (next->len < 2 && ticks->len >= 2 && ticks->len <= 9))
        {
          g_clear_pointer (&next, g_array_unref);
          return ticks;
        }
      g_array_unref (ticks);
      ticks = next;
      if (ticks->len <= (upright ? 7 : 9) && ticks_fit (self, axis, ticks, upright))
        return ticks;
    }
}

static double
widest_tick (const QmPlane *self,
             const GArray  *ticks)
{
  double widest = 0;

  for (guint i = 0; i < ticks->len; i++)
    {
      g_autofree char *text = qm_axis_tick_label (&self->chart->y, g_array_index (ticks, double, i), i + 1 == ticks->len,
                                                  self->chart->words);

      widest = MAX (widest, width_of (self, text, &qm_plane_second));
    }

  return widest;
}

/* In a narrow chart the title of the axis takes more lines. */
static QmTextStyle
title_style (const QmPlane *self)
{
  QmTextStyle style = qm_plane_second;

  style.wrap = self->width;
  return style;
}

static double
title_height (const QmPlane *self)
{
  QmTextStyle style = title_style (self);

  return self->chart->y.title != NULL ? qm_scene_measure (self->scene, self->chart->y.title, &style).height + 4 : 0;
}

static void
draw_y_axis (QmPlane      *self,
             const GArray *ticks)
{
  QmTextStyle style = qm_plane_second;

  style.horizontal = 1;
  style.vertical = 0.5;
  for (guint i = 0; i < ticks->len; i++)
    {
      double y = qm_plane_y (self, g_array_index (ticks, double, i));
      g_autofree char *text = qm_axis_tick_label (&self->chart->y, g_array_index (ticks, double, i), i + 1 == ticks->len,
                                                  self->chart->words);

      self->scene->layer = QM_LAYER_GROUND;
      qm_scene_line (self->scene, self->box.x, y, self->box.x + self->box.width, y, QM_INK_GRID, 1, 0);
      self->scene->layer = QM_LAYER_SHAPES;
      qm_scene_text (self->scene, self->box.x - 9, y, text, &style);
    }
  if (self->chart->y.title != NULL)
    {
      style = title_style (self);
      qm_scene_text (self->scene, 0, 0, self->chart->y.title, &style);
    }
}

static void
draw_x_axis (QmPlane      *self,
             const GArray *ticks)
{
  QmTextStyle style = qm_plane_second;
  double bottom = self->box.y + self->box.height;

  style.horizontal = 0.5;
  for (guint i = 0; i < ticks->len; i++)
    {
      double x = qm_plane_x (self, g_array_index (ticks, double, i));
      g_autofree char *text = qm_axis_tick_label (&self->chart->x, g_array_index (ticks, double, i), i + 1 == ticks->len,
                                                  self->chart->words);
      double half = width_of (self, text, &style) / 2;

      self->scene->layer = QM_LAYER_GROUND;
      qm_scene_line (self->scene, x, self->box.y, x, bottom, QM_INK_GRID, 1, 0);
      self->scene->layer = QM_LAYER_SHAPES;
      qm_scene_text (self->scene, MIN (x, self->width - half), bottom + 6, text, &style);
    }
}

/* ------------------------------------------------------------------ below the axis */

/* The key of the markers, and the title of the x axis at its right. */
static double
lay_keys (QmPlane *self,
          double   y)
{
  double x = 0, title = width_of (self, self->chart->x.title, &qm_plane_second);
  QmTextStyle right = qm_plane_second;

  right.horizontal = 1;
  if (title > 0)
    qm_scene_text (self->scene, self->width, y, self->chart->x.title, &right);
  for (guint i = 0; i < self->chart->keys->len; i++)
    {
      const QmChartKey *key = &g_array_index (self->chart->keys, QmChartKey, i);
      double width = width_of (self, key->text, &qm_plane_second) + 18;

      if (x + width > self->width - (title > 0 ? title + GAP : 0))
        {
          x = 0;
          title = 0;
          y += self->line + 3;
        }
      qm_scene_marker (self->scene, x + 6, y + self->line / 2, 5, key->marker, key->hollow, key->ink, 1);
      qm_scene_text (self->scene, x + 17, y, key->text, &qm_plane_second);
      x += width + 14;
    }

  return title > 0 || self->chart->keys->len > 0 ? y + self->line : y;
}

/* Every how many columns have room for their widest cell. */
static guint
column_stride (const QmPlane *self)
{
  const GArray *values = self->chart->column_values;

  for (guint stride = 1; stride < values->len; stride *= 2)
    {
      gboolean fits = TRUE;

      for (guint row = 0; row < self->chart->columns->len && fits; row++)
        {
          const QmChartColumns *columns = &g_array_index (self->chart->columns, QmChartColumns, row);
          double edge = -INFINITY;

          for (guint i = 0; i < values->len; i += stride)
            {
              double half = width_of (self, columns->cells[i], &qm_plane_strong) / 2;
              double x = qm_plane_x (self, g_array_index (values, double, i));

              fits = fits && x - half >= edge + 8;
              edge = x + half;
            }
        }
      if (fits)
        return stride;
    }

  return MAX (1, values->len);
}

static void
lay_column_row (QmPlane              *self,
                const QmChartColumns *columns,
                gboolean              first,
                guint                 stride,
                double                y)
{
  QmTextStyle style = { .size = QM_TEXT_SIZE, .horizontal = 0.5, .ink = QM_INK_TEXT };

  qm_scene_text (self->scene, 0, y, columns->head, first ? &qm_plane_strong : &qm_plane_second);
  for (guint i = 0; i < self->chart->column_values->len; i += stride)
    {
      double value = g_array_index (self->chart->column_values, double, i);

      style.weight = first || value == self->chart->chosen_column ? 600 : 400;
      qm_scene_text (self->scene, qm_plane_x (self, value), y, columns->cells[i], &style);
    }
}

static double
lay_columns (QmPlane *self,
             double   y)
{
  guint n = self->chart->columns->len;
  guint stride = column_stride (self);
  double step = self->line + 5;

  self->scene->layer = QM_LAYER_GROUND;
  qm_scene_line (self->scene, 0, y, self->width, y, QM_INK_AXIS, 1, 0);
  if (!isnan (self->chart->chosen_column))
    qm_scene_rectangle (self->scene, (QmBox) { qm_plane_x (self, self->chart->chosen_column) - COLUMN_HALF, y + 2,
                                               2 * COLUMN_HALF, n * step + 3 }, 6, QM_INK_BLUE, 0.10);
  self->scene->layer = QM_LAYER_SHAPES;
  for (guint i = 0; i < n; i++)
    lay_column_row (self, &g_array_index (self->chart->columns, QmChartColumns, i), i == 0, stride, y + 5 + i * step);

  return y + 5 + n * step;
}

/* ----------------------------------------------------------------------- the whole */

static double
right_margin (const QmPlane *self)
{
  double widest = 4;

  for (guint i = 0; i < self->chart->lines->len; i++)
    {
      const QmChartLine *line = &g_array_index (self->chart->lines, QmChartLine, i);

      widest = MAX (widest, width_of (self, line->end_text, &qm_plane_strong) + 12);
      widest = MAX (widest, width_of (self, line->end_note, &qm_plane_second) + 12);
    }
  if (self->chart->columns->len > 0)
    widest = MAX (widest, COLUMN_HALF + 4);

  return MIN (widest, self->width * 0.45);
}

static double
left_margin (const QmPlane *self)
{
  double widest = 0;

  for (guint i = 0; i < self->chart->columns->len; i++)
    widest = MAX (widest, width_of (self, g_array_index (self->chart->columns, QmChartColumns, i).head, &qm_plane_strong) + GAP +
                          COLUMN_HALF);

  return widest;
}

static double
height_below (const QmPlane *self)
{
  double height = 6 + self->line;

  if (self->chart->columns->len > 0)
    return 10 + self->chart->columns->len * (self->line + 5) + 8;
  if (self->chart->x.title != NULL || self->chart->keys->len > 0)
    {
      double x = 0, title = width_of (self, self->chart->x.title, &qm_plane_second);

      height += 5 + self->line;
      for (guint i = 0; i < self->chart->keys->len; i++)
        {
          double width = width_of (self, g_array_index (self->chart->keys, QmChartKey, i).text, &qm_plane_second) + 18;

          if (x + width > self->width - (title > 0 ? title + GAP : 0))
            {
              x = title = 0;
              height += self->line + 3;
            }
          x += width + 14;
        }
    }

  return height;
}

/**
 * qm_chart_lay_plane:
 * @self: a chart with two axes
 * @scene: an empty scene
 * @width: to fill
 * @height: to fill; 0: as little as it takes
 *
 * Returns: the height that it takes
 */
double
qm_chart_lay_plane (const QmChart *self,
                    QmScene       *scene,
                    double         width,
                    double         height)
{
  QmPlane plane = { .chart = self, .scene = scene, .width = width };
  g_autoptr (GArray) x_ticks = NULL;
  g_autoptr (GArray) y_ticks = NULL;
  double below, left;

  plane.line = qm_scene_measure (scene, "Ag", &qm_plane_plain).height;
  below = height_below (&plane);
  plane.box.y = title_height (&plane) + plane.line / 2 + 2;
  plane.box.height = MAX (height - below - plane.box.y, LEAST_PLOT);
  y_ticks = choose_ticks (&plane, &self->y, TRUE);
  left = MAX (widest_tick (&plane, y_ticks) + 9, left_margin (&plane));
  plane.box.x = left;
  plane.box.width = MAX (width - left - right_margin (&plane), 40);
  x_ticks = choose_ticks (&plane, &self->x, FALSE);

  draw_y_axis (&plane, y_ticks);
  if (self->columns->len > 0)
    {
      lay_columns (&plane, plane.box.y + plane.box.height + 8);
    }
  else
    {
      draw_x_axis (&plane, x_ticks);
      lay_keys (&plane, plane.box.y + plane.box.height + 6 + plane.line + 5);
    }
  qm_plane_draw_marks (&plane);

  return plane.box.y + plane.box.height + below;
}
