/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-live-drawing-private.h"
#include "qm-ui.h"

#define TEXT_SIZE 11

/* Where things lie. */
typedef struct {
  cairo_t *cr;
  QmPalette palette;
  double width, height;             /* of the plot */
  double end;                       /* time at the right edge */
  QmAxis axis;
} Picture;

static void
set_ink (Picture *picture,
         QmInk    ink,
         double   alpha)
{
  QmColor color = qm_palette_ink (&picture->palette, ink);

  cairo_set_source_rgba (picture->cr, color.red, color.green, color.blue, color.alpha * alpha);
}

static double
most_of (QmLiveDrawing *self)
{
  double most = isfinite (self->limit) ? self->limit * 1.08 : 0;
  guint n = qm_watcher_length (self->watcher);

  if (self->look.top > 0)
    return self->look.top;
  for (int k = 0; k < 2; k++)
    {
      int channel = self->channels[k] != NULL ? qm_watcher_find (self->watcher, self->channels[k]) : -1;

      for (guint i = 0; i < n && channel >= 0; i++)
        if (isfinite (qm_watcher_value (self->watcher, i, channel)) &&
            qm_watcher_time (self->watcher, i) > qm_watcher_time (self->watcher, n - 1) - QM_LIVE_SECONDS)
          most = fmax (most, qm_watcher_value (self->watcher, i, channel) * 1.05);
    }

  return most > 0 ? most : 1;
}

static double
x_of (const Picture *picture,
      double         time)
{
  return picture->width * (1 - (picture->end - time) / QM_LIVE_SECONDS);
}

static double
y_of (const Picture *picture,
      double         value)
{
  return picture->height * (1 - CLAMP (value / picture->axis.high, 0, 1));
}

/* From one gap to the next; returns where the next stretch begins. */
static guint
trace (QmLiveDrawing *self,
       Picture       *picture,
       int            channel,
       guint          from,
       double        *first_x,
       double        *last_x)
{
  guint n = qm_watcher_length (self->watcher);
  gboolean any = FALSE;

  cairo_new_path (picture->cr);
  for (guint i = from; i < n; i++)
    {
      float value = qm_watcher_value (self->watcher, i, channel);
      double x = x_of (picture, qm_watcher_time (self->watcher, i));

      if (!isfinite (value) && any)
        return i;
      if (!isfinite (value) || x < -picture->width / 4)
        continue;
      if (any)
        cairo_line_to (picture->cr, x, y_of (picture, value));
      else
        cairo_move_to (picture->cr, *first_x = x, y_of (picture, value));
      *last_x = x;
      any = TRUE;
    }

  return n;
}

static void
draw_channel (QmLiveDrawing *self,
              Picture       *picture,
              int            which)
{
  static const double dashes[] = { 4, 3 };
  int channel = self->channels[which] != NULL ? qm_watcher_find (self->watcher, self->channels[which]) : -1;
  guint n = qm_watcher_length (self->watcher);

  for (guint from = 0; channel >= 0 && from < n;)
    {
      double first = 0, last = 0;
      cairo_path_t *path;

      from = trace (self, picture, channel, from, &first, &last);
      path = cairo_copy_path (picture->cr);
      if (which == 0 && last > first)
        {
          cairo_line_to (picture->cr, last, picture->height);
          cairo_line_to (picture->cr, first, picture->height);
          cairo_close_path (picture->cr);
          set_ink (picture, self->look.ink, 0.16);
          cairo_fill (picture->cr);
        }
      cairo_new_path (picture->cr);
      cairo_append_path (picture->cr, path);
      cairo_path_destroy (path);
      cairo_set_dash (picture->cr, dashes, which == 0 ? 0 : 2, 0);
      cairo_set_line_width (picture->cr, self->small ? 1.5 : 2);
      set_ink (picture, self->look.ink, 1);
      cairo_stroke (picture->cr);
    }
  cairo_set_dash (picture->cr, dashes, 0, 0);
}

static void
draw_text (QmLiveDrawing *self,
           Picture       *picture,
           const char    *text,
           double         x,
           double         y,
           double         align,
           gboolean       bold)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  PangoFontDescription *font = pango_font_description_copy (pango_context_get_font_description (pango_layout_get_context (layout)));
  int width, height;

  pango_font_description_set_absolute_size (font, TEXT_SIZE * PANGO_SCALE);
  if (bold)
    pango_font_description_set_weight (font, PANGO_WEIGHT_SEMIBOLD);
  pango_layout_set_font_description (layout, font);
  pango_font_description_free (font);
  pango_layout_get_pixel_size (layout, &width, &height);
  cairo_move_to (picture->cr, x - align * width, y - height / 2.0);
  pango_cairo_show_layout (picture->cr, layout);
}

static void
draw_line (Picture *picture,
           double   value,
           QmInk    ink,
           double   width)
{
  double y = floor (y_of (picture, value)) + 0.5;

  set_ink (picture, ink, 1);
  cairo_set_line_width (picture->cr, width);
  cairo_new_path (picture->cr);
  cairo_move_to (picture->cr, 0, y);
  cairo_line_to (picture->cr, picture->width, y);
  cairo_stroke (picture->cr);
}

static void
draw_grid (QmLiveDrawing *self,
           Picture       *picture)
{
  g_autoptr (GArray) ticks = qm_axis_ticks (&picture->axis, 3);

  for (guint i = 0; i < ticks->len; i++)
    {
      double value = g_array_index (ticks, double, i);
      g_autofree char *label = qm_live_format (&self->look, value);

      if (value > picture->axis.high)
        continue;
      draw_line (picture, value, value == 0 ? QM_INK_AXIS : QM_INK_GRID, 1);
      set_ink (picture, QM_INK_SECOND, 1);
      draw_text (self, picture, label, picture->width + 6, CLAMP (y_of (picture, value), 6, picture->height - 6), 0, FALSE);
    }
  draw_text (self, picture, _("2 min ago"), 0, picture->height + QM_LIVE_FOOT / 2.0 + 2, 0, FALSE);
  draw_text (self, picture, _("now"), picture->width, picture->height + QM_LIVE_FOOT / 2.0 + 2, 1, FALSE);
}

static void
draw_limit (QmLiveDrawing *self,
            Picture       *picture)
{
  static const double dashes[] = { 4, 3 };

  if (!isfinite (self->limit) || self->limit > picture->axis.high)
    return;

  cairo_set_dash (picture->cr, dashes, 2, 0);
  draw_line (picture, self->limit, QM_INK_TEXT, 1.5);
  cairo_set_dash (picture->cr, dashes, 0, 0);
  if (self->limit_text == NULL)
    return;
  set_ink (picture, QM_INK_TEXT, 1);
  draw_text (self, picture, self->limit_text, 4, y_of (picture, self->limit) + 10, 0, TRUE);
}

static void
draw_cursor (QmLiveDrawing *self,
             Picture       *picture,
             int            index)
{
  float value = index >= 0 ? qm_watcher_value (self->watcher, index, qm_watcher_find (self->watcher, self->channels[0])) : NAN;
  double x;

  if (index < 0 || !isfinite (value))
    return;

  x = x_of (picture, qm_watcher_time (self->watcher, index));
  set_ink (picture, self->look.ink, 1);
  cairo_new_path (picture->cr);
  cairo_arc (picture->cr, x, y_of (picture, value), 4, 0, 2 * G_PI);
  cairo_fill (picture->cr);
}

/* Rates are told by the thousand, sizes of memory by 1024: so are their ticks. */
static QmQuantity
quantity_of (const QmLiveLook *look)
{
  return look->quantity == QM_QUANTITY_BYTES && look->suffix != NULL ? QM_QUANTITY_NUMBER : look->quantity;
}

/**
 * qm_live_paint:
 * @self: a chart
 * @cr: where it is drawn
 * @width: in pixels
 * @height: likewise
 * @end: time at the right edge of the plot
 * @cursor: the sample that is pointed at; -1 none
 */
void
qm_live_paint (QmLiveDrawing *self,
               cairo_t       *cr,
               double         width,
               double         height,
               double         end,
               int            cursor)
{
  Picture picture = { .cr = cr, .palette = qm_ui_palette (GTK_WIDGET (self)), .width = self->small ? width : width - QM_LIVE_LABELS,
                      .height = self->small ? height : height - QM_LIVE_FOOT, .end = end,
                      .axis = { .quantity = quantity_of (&self->look), .high = most_of (self) } };

  if (!self->small)
    draw_grid (self, &picture);
  cairo_save (cr);
  cairo_rectangle (cr, 0, -2, picture.width, picture.height + 2);
  cairo_clip (cr);
  draw_channel (self, &picture, 0);
  draw_channel (self, &picture, 1);
  cairo_restore (cr);
  draw_limit (self, &picture);
  draw_cursor (self, &picture, cursor);
}
