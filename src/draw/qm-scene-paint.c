/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "qm-scene.h"
#include "qm-text-show.h"

#define HALO 4

/* How far a curve may be from what it should be, in pixels. */
#define ROUGH 0.4

static void
set_color (cairo_t *cr,
           QmColor  color,
           double   alpha)
{
  cairo_set_source_rgba (cr, color.red, color.green, color.blue, color.alpha * alpha);
}

static void
rounded (cairo_t *cr,
         QmBox    box,
         double   radius)
{
  double r = MIN (radius, MIN (box.width, box.height) / 2);

  cairo_new_path (cr);
  if (r <= 0)
    {
      cairo_rectangle (cr, box.x, box.y, box.width, box.height);
      return;
    }

  cairo_arc (cr, box.x + box.width - r, box.y + r, r, -G_PI_2, 0);
  cairo_arc (cr, box.x + box.width - r, box.y + box.height - r, r, 0, G_PI_2);
  cairo_arc (cr, box.x + r, box.y + box.height - r, r, G_PI_2, G_PI);
  cairo_arc (cr, box.x + r, box.y + r, r, G_PI, 1.5 * G_PI);
  cairo_close_path (cr);
}

static void
paint_rectangle (cairo_t         *cr,
                 const QmItem    *item,
                 const QmPalette *palette)
{
  rounded (cr, item->box, item->radius);
  set_color (cr, qm_palette_ink (palette, item->ink), item->alpha);
  if (item->line_width > 0)
    {
      cairo_set_line_width (cr, item->line_width);
      cairo_stroke (cr);
    }
  else
    {
      cairo_fill (cr);
    }
}

/* Lines start at multiples of the step, so that neighbours continue each other. */
static void
hatch_slanted (cairo_t      *cr,
               const QmItem *item,
               gboolean      rising)
{
  QmBox box = item->box;
  double first = floor ((box.x - box.height) / item->step) * item->step;

  for (double x = first; x < box.x + box.width; x += item->step)
    {
      cairo_move_to (cr, x, rising ? box.y + box.height : box.y);
      cairo_line_to (cr, x + box.height, rising ? box.y : box.y + box.height);
    }
}

static void
hatch_dots (cairo_t      *cr,
            const QmItem *item)
{
  QmBox box = item->box;
  gboolean odd = FALSE;

  for (double y = box.y + item->step / 2; y < box.y + box.height; y += item->step * 0.8, odd = !odd)
    for (double x = box.x + 1.5 + (odd ? item->step / 2 : 0); x < box.x + box.width; x += item->step)
      {
        cairo_new_sub_path (cr);
        cairo_arc (cr, x, y, 1.1, 0, 2 * G_PI);
      }
  cairo_fill (cr);
}

static void
paint_hatch (cairo_t         *cr,
             const QmItem    *item,
             const QmPalette *palette)
{
  QmBox box = item->box;

  cairo_save (cr);
  cairo_new_path (cr);
  cairo_rectangle (cr, box.x, box.y, box.width, box.height);
  cairo_clip (cr);
  if (!item->on_ink)
    set_color (cr, qm_palette_ink (palette, item->ink), item->alpha);
  else if (palette->dark)
    cairo_set_source_rgba (cr, 0, 0, 0, 0.32);
  else
    set_color (cr, palette->card, 0.42);
  cairo_set_line_width (cr, item->line_width);
  /* Hundreds of faint lines and dots: most of the time of a chart goes into their edges. */
  cairo_set_antialias (cr, CAIRO_ANTIALIAS_FAST);
  cairo_set_tolerance (cr, ROUGH);

  if (item->hatch == QM_HATCH_RISING || item->hatch == QM_HATCH_CROSS)
    hatch_slanted (cr, item, TRUE);
  if (item->hatch == QM_HATCH_FALLING || item->hatch == QM_HATCH_CROSS)
    hatch_slanted (cr, item, FALSE);
  if (item->hatch == QM_HATCH_FLAT)
    for (double y = box.y + item->step / 2; y < box.y + box.height; y += item->step)
      {
        cairo_move_to (cr, box.x, y);
        cairo_line_to (cr, box.x + box.width, y);
      }
  if (item->hatch == QM_HATCH_DOTS)
    hatch_dots (cr, item);
  cairo_stroke (cr);
  cairo_restore (cr);
}

static void
paint_path (cairo_t         *cr,
            const QmScene   *self,
            const QmItem    *item,
            const QmPalette *palette)
{
  double dashes[2] = { item->dash, item->dash * 0.7 };

  cairo_save (cr);
  cairo_new_path (cr);
  for (guint i = 0; i < item->n_points; i++)
    {
      QmPoint point = g_array_index (self->points, QmPoint, item->first_point + i);

      cairo_line_to (cr, point.x, point.y);
    }
  set_color (cr, qm_palette_ink (palette, item->ink), item->alpha);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  if (item->line_width > 0)
    {
      cairo_set_line_width (cr, item->line_width);
      if (item->dash > 0)
        cairo_set_dash (cr, dashes, 2, 0);
      cairo_stroke (cr);
    }
  else
    {
      cairo_close_path (cr);
      cairo_fill (cr);
    }
  cairo_restore (cr);
}

static void
marker_path (cairo_t      *cr,
             const QmItem *item)
{
  double x = item->box.x, y = item->box.y, r = item->radius;

  cairo_new_path (cr);
  switch (item->marker)
    {
    case QM_MARKER_SQUARE:
      cairo_rectangle (cr, x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
      break;
    case QM_MARKER_DIAMOND:
      cairo_move_to (cr, x, y - r * 1.25);
      cairo_line_to (cr, x + r * 1.25, y);
      cairo_line_to (cr, x, y + r * 1.25);
      cairo_line_to (cr, x - r * 1.25, y);
      break;
    case QM_MARKER_TRIANGLE:
      cairo_move_to (cr, x, y - r * 1.2);
      cairo_line_to (cr, x + r * 1.1, y + r * 0.85);
      cairo_line_to (cr, x - r * 1.1, y + r * 0.85);
      break;
    case QM_MARKER_DISC:
    default:
      cairo_arc (cr, x, y, r, 0, 2 * G_PI);
      break;
    }
  cairo_close_path (cr);
}

static void
paint_marker (cairo_t         *cr,
              const QmItem    *item,
              const QmPalette *palette)
{
  marker_path (cr, item);
  set_color (cr, palette->card, 1);
  cairo_set_line_width (cr, HALO);
  cairo_stroke_preserve (cr);
  cairo_fill_preserve (cr);
  set_color (cr, qm_palette_ink (palette, item->ink), item->alpha);
  if (item->hollow)
    {
      cairo_set_line_width (cr, 2);
      cairo_stroke (cr);
    }
  else
    {
      cairo_fill (cr);
    }
}

/* Pages hold text that can be selected: once, and no more. */
static gboolean
is_page (cairo_t *cr)
{
  cairo_surface_type_t type = cairo_surface_get_type (cairo_get_target (cr));

  return type == CAIRO_SURFACE_TYPE_PDF || type == CAIRO_SURFACE_TYPE_SVG || type == CAIRO_SURFACE_TYPE_PS;
}

/* What keeps a label apart from lines under it. On a screen the text itself, moved
 * around by half the width: its glyphs are drawn already, where outlines would have
 * to be stroked anew each time, for most of the time of a chart. */
static void
paint_halo (cairo_t      *cr,
            const QmItem *item,
            double        x,
            double        y)
{
  if (!is_page (cr))
    {
      for (int i = 0; i < 8; i++)
        {
          cairo_move_to (cr, x + HALO / 2 * cos (i * G_PI_4), y + HALO / 2 * sin (i * G_PI_4));
          pango_cairo_show_layout (cr, item->layout);
        }
      return;
    }

  cairo_save (cr);
  cairo_new_path (cr);
  /* its edge is seen by nobody: card on card, and half a pixel will do */
  cairo_set_tolerance (cr, ROUGH);
  cairo_set_antialias (cr, CAIRO_ANTIALIAS_FAST);
  cairo_move_to (cr, x, y);
  pango_cairo_layout_path (cr, item->layout);
  cairo_set_line_width (cr, HALO);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  cairo_stroke (cr);
  cairo_restore (cr);
}

static void
paint_text (cairo_t         *cr,
            const QmItem    *item,
            const QmPalette *palette)
{
  PangoRectangle logical;
  double x, y;

  pango_layout_get_extents (item->layout, NULL, &logical);
  x = item->box.x - logical.x / (double) PANGO_SCALE;
  y = item->box.y - logical.y / (double) PANGO_SCALE;

  if (item->halo)
    {
      set_color (cr, palette->card, 1);
      paint_halo (cr, item, x, y);
    }
  set_color (cr, qm_palette_ink (palette, item->ink), item->alpha);
  cairo_move_to (cr, x, y);
  qm_text_show (cr, item->layout);
}

static void
paint_item (cairo_t         *cr,
            const QmScene   *self,
            const QmItem    *item,
            const QmPalette *palette)
{
  switch (item->kind)
    {
    case QM_ITEM_RECTANGLE: paint_rectangle (cr, item, palette); break;
    case QM_ITEM_HATCH: paint_hatch (cr, item, palette); break;
    case QM_ITEM_PATH: paint_path (cr, self, item, palette); break;
    case QM_ITEM_MARKER: paint_marker (cr, item, palette); break;
    case QM_ITEM_TEXT:
    default: paint_text (cr, item, palette); break;
    }
}

/**
 * qm_scene_paint:
 * @self: a scene
 * @cr: where to draw; one unit is one of the scene
 * @palette: the colours
 *
 * Draws the scene at the origin.
 */
void
qm_scene_paint (const QmScene   *self,
                cairo_t         *cr,
                const QmPalette *palette)
{
  cairo_save (cr);
  for (QmLayer layer = 0; layer < QM_N_LAYERS; layer++)
    for (guint i = 0; i < self->items->len; i++)
      {
        const QmItem *item = &g_array_index (self->items, QmItem, i);

        if (item->layer == layer)
          paint_item (cr, self, item, palette);
      }
  cairo_restore (cr);
}
