/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"
#include "qm-language.h"

/* Space beside a mark in which the pointer still finds it. */
#define REACH 24

/* Below this no chart is laid out: it is drawn smaller as a whole. */
#define LEAST_WIDTH 340

double
qm_chart_least_width (const QmChart *self)
{
  return LEAST_WIDTH;
}

static double
lay (const QmChart *self,
     QmScene       *scene,
     double         width,
     double         height)
{
  switch (self->form)
    {
    case QM_FORM_PLANE:
      return qm_chart_lay_plane (self, scene, width, height);
    case QM_FORM_CARDS:
      return qm_chart_lay_cards (self, scene, width, height);
    case QM_FORM_ROWS:
    default:
      return qm_chart_lay_rows (self, scene, width, height);
    }
}

/* The height below which texts would overlap. */
double
qm_chart_least_height (const QmChart *self,
                       double         width)
{
  g_autoptr (QmScene) scene = qm_scene_new (self->language);

  return lay (self, scene, width, 0);
}

/* The chart laid out. Where there is too little room for its texts it is laid
 * out larger and drawn smaller, by @scale. */
const QmScene *
qm_chart_scene (const QmChart *self,
                double         width,
                double         height,
                double        *scale)
{
  QmLaidOut *laid_out = self->laid_out;
  double used, factor = MIN (1, width / qm_chart_least_width (self));

  if (laid_out->scene == NULL || laid_out->width != width || laid_out->height != height)
    {
      while (factor > 0.05 && qm_chart_least_height (self, width / factor) > height / factor)
        factor *= 0.93;

      g_clear_pointer (&laid_out->scene, qm_scene_free);
      laid_out->scene = qm_scene_new (self->language);
      laid_out->width = width;
      laid_out->height = height;
      laid_out->scale = factor;
      laid_out->scene->width = width / factor;
      used = lay (self, laid_out->scene, width / factor, height / factor);
      laid_out->scene->height = MAX (used, height / factor);
    }

  *scale = laid_out->scale;
  return laid_out->scene;
}

/**
 * qm_chart_get_title:
 * @self: a chart
 *
 * Returns: a sentence that says what the chart shows
 */
const char *
qm_chart_get_title (const QmChart *self)
{
  return self->title;
}

/**
 * qm_chart_get_subtitle:
 * @self: a chart
 *
 * Returns: what is drawn
 */
const char *
qm_chart_get_subtitle (const QmChart *self)
{
  return self->subtitle;
}

/**
 * qm_chart_get_summary:
 * @self: a chart
 *
 * Returns: the chart in words, for a screen reader
 */
const char *
qm_chart_get_summary (const QmChart *self)
{
  return self->summary;
}

/**
 * qm_chart_n_table_rows:
 * @self: a chart
 *
 * Returns: how many lines its data has, the heads among them
 */
guint
qm_chart_n_table_rows (const QmChart *self)
{
  return self->table->len;
}

/**
 * qm_chart_n_table_columns:
 * @self: a chart
 *
 * Returns: how many columns its data has
 */
guint
qm_chart_n_table_columns (const QmChart *self)
{
  return self->table->len > 0 ? g_strv_length (g_ptr_array_index (self->table, 0)) : 0;
}

/**
 * qm_chart_table_cell:
 * @self: a chart
 * @row: a line, 0 for the heads
 * @column: a column
 *
 * Returns: its text
 */
const char *
qm_chart_table_cell (const QmChart *self,
                     guint          row,
                     guint          column)
{
  GStrv cells;

  g_return_val_if_fail (row < self->table->len, "");

  cells = g_ptr_array_index (self->table, row);
  return column < g_strv_length (cells) ? cells[column] : "";
}

/**
 * qm_chart_natural_height:
 * @self: a chart
 * @width: in pixels
 *
 * Returns: a height at which it looks well
 */
double
qm_chart_natural_height (const QmChart *self,
                         double         width)
{
  double factor = MIN (1, width / qm_chart_least_width (self));
  double least = qm_chart_least_height (self, width / factor) * factor;

  if (self->form == QM_FORM_PLANE)
    return ceil (MAX (least, CLAMP (width * 0.48, 300, 520)));

  return ceil (least);
}

/**
 * qm_chart_draw:
 * @self: a chart
 * @cr: where to draw, at the origin
 * @width: to fill
 * @height: to fill
 * @palette: the colours
 *
 * Draws the chart without title, subtitle and background.
 */
void
qm_chart_draw (const QmChart   *self,
               cairo_t         *cr,
               double           width,
               double           height,
               const QmPalette *palette)
{
  double scale;
  const QmScene *scene = qm_chart_scene (self, width, height, &scale);

  cairo_save (cr);
  cairo_scale (cr, scale, scale);
  qm_scene_paint (scene, cr, palette);
  cairo_restore (cr);
}

/**
 * qm_chart_n_marks:
 * @self: a chart
 *
 * Returns: how many marks can be pointed at
 */
guint
qm_chart_n_marks (const QmChart *self)
{
  return self->marks->len;
}

static double
distance (QmBox  box,
          double x,
          double y)
{
  double dx = MAX (MAX (box.x - x, x - box.x - box.width), 0);
  double dy = MAX (MAX (box.y - y, y - box.y - box.height), 0);

  return hypot (dx, dy);
}

/**
 * qm_chart_mark_at:
 * @self: a chart
 * @width: as it was drawn
 * @height: as it was drawn
 * @x: of the pointer
 * @y: of the pointer
 *
 * Returns: the nearest mark within reach, -1 for none
 */
int
qm_chart_mark_at (const QmChart *self,
                  double         width,
                  double         height,
                  double         x,
                  double         y)
{
  double scale, nearest = REACH;
  const QmScene *scene = qm_chart_scene (self, width, height, &scale);
  int found = -1;

  for (guint i = 0; i < scene->spots->len; i++)
    {
      const QmPlaceOfMark *spot = &g_array_index (scene->spots, QmPlaceOfMark, i);
      double far = distance (spot->box, x / scale, y / scale) * scale;

      if (spot->mark != QM_NO_MARK && far < nearest)
        {
          nearest = far;
          found = spot->mark;
        }
    }

  return found;
}

/**
 * qm_chart_mark_text:
 * @self: a chart
 * @mark: index of a mark
 *
 * Returns: what it stands for, with its value
 */
const char *
qm_chart_mark_text (const QmChart *self,
                    guint          mark)
{
  g_return_val_if_fail (mark < self->marks->len, "");

  return g_array_index (self->marks, QmMark, mark).text;
}

/**
 * qm_chart_mark_row:
 * @self: a chart
 * @mark: index of a mark
 *
 * Returns: its row of the decision matrix, -1 for none
 */
int
qm_chart_mark_row (const QmChart *self,
                   guint          mark)
{
  g_return_val_if_fail (mark < self->marks->len, -1);

  return g_array_index (self->marks, QmMark, mark).row;
}

/**
 * qm_chart_draw_cursor:
 * @self: a chart
 * @cr: where it was drawn
 * @width: as it was drawn
 * @height: as it was drawn
 * @palette: the colours
 * @mark: index of a mark
 *
 * Draws a ring around a mark.
 */
void
qm_chart_draw_cursor (const QmChart   *self,
                      cairo_t         *cr,
                      double           width,
                      double           height,
                      const QmPalette *palette,
                      guint            mark)
{
  double scale;
  const QmScene *scene = qm_chart_scene (self, width, height, &scale);
  g_autoptr (QmScene) ring = qm_scene_new (NULL);

  for (guint i = 0; i < scene->spots->len; i++)
    {
      const QmPlaceOfMark *spot = &g_array_index (scene->spots, QmPlaceOfMark, i);

      if (spot->mark == mark)
        {
          qm_scene_frame (ring, qm_box_grow (spot->box, 3), 9, QM_INK_CARD, 5);
          qm_scene_frame (ring, qm_box_grow (spot->box, 3), 9, QM_INK_BLUE, 2);
        }
    }

  cairo_save (cr);
  cairo_scale (cr, scale, scale);
  qm_scene_paint (ring, cr, palette);
  cairo_restore (cr);
}
