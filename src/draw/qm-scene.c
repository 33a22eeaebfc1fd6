/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-scene.h"

#include <math.h>

#define FONTS "Inter, Adwaita Sans, Cantarell, Noto Sans CJK SC, sans-serif"

static void
item_clear (QmItem *self)
{
  g_clear_object (&self->layout);
}

/**
 * qm_text_context_new:
 * @language: (nullable): e.g. "zh_CN": it picks the forms of shared characters
 *
 * Text that is measured must be drawn at the same width on every surface and at
 * every scale: no rounding to pixels, no hinted metrics.
 *
 * Returns: (transfer full): a context for texts of charts and pages
 */
PangoContext *
qm_text_context_new (const char *language)
{
  PangoContext *context = pango_font_map_create_context (pango_cairo_font_map_get_default ());
  cairo_font_options_t *options = cairo_font_options_create ();

  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options (context, options);
  cairo_font_options_destroy (options);
  pango_context_set_round_glyph_positions (context, FALSE);
  if (language != NULL)
    pango_context_set_language (context, pango_language_from_string (language));

  return context;
}

/**
 * qm_scene_new:
 * @language: (nullable): of the texts
 *
 * Returns: (transfer full): an empty scene
 */
QmScene *
qm_scene_new (const char *language)
{
  QmScene *self = g_new0 (QmScene, 1);

  self->items = g_array_new (FALSE, TRUE, sizeof (QmItem));
  g_array_set_clear_func (self->items, (GDestroyNotify) item_clear);
  self->points = g_array_new (FALSE, FALSE, sizeof (QmPoint));
  self->spots = g_array_new (FALSE, FALSE, sizeof (QmPlaceOfMark));
  self->taken = g_array_new (FALSE, FALSE, sizeof (QmBox));
  self->context = qm_text_context_new (language);
  self->layer = QM_LAYER_SHAPES;

  return self;
}

/**
 * qm_scene_free:
 * @self: (transfer full): a scene
 */
void
qm_scene_free (QmScene *self)
{
  g_array_unref (self->items);
  g_array_unref (self->points);
  g_array_unref (self->spots);
  g_array_unref (self->taken);
  g_object_unref (self->context);
  g_free (self);
}

static void
add (QmScene *self,
     QmItem   item)
{
  item.layer = item.kind == QM_ITEM_TEXT ? QM_LAYER_TEXT : item.kind == QM_ITEM_MARKER ? QM_LAYER_MARKERS : self->layer;
  g_array_append_val (self->items, item);
}

/**
 * qm_scene_rectangle:
 * @self: a scene
 * @box: where
 * @radius: of the corners
 * @ink: its role
 * @alpha: opacity, beside that of the role
 *
 * Adds a filled rectangle.
 */
void
qm_scene_rectangle (QmScene *self,
                    QmBox    box,
                    double   radius,
                    QmInk    ink,
                    double   alpha)
{
  if (box.width > 0 && box.height > 0)
    add (self, (QmItem) { .kind = QM_ITEM_RECTANGLE, .box = box, .radius = radius, .ink = ink, .alpha = alpha });
}

/**
 * qm_scene_frame:
 * @self: a scene
 * @box: where
 * @radius: of the corners
 * @ink: its role
 * @line_width: of the frame
 *
 * Adds the outline of a rectangle.
 */
void
qm_scene_frame (QmScene *self,
                QmBox    box,
                double   radius,
                QmInk    ink,
                double   line_width)
{
  add (self, (QmItem) { .kind = QM_ITEM_RECTANGLE, .box = box, .radius = radius, .ink = ink, .alpha = 1,
                        .line_width = line_width });
}

/**
 * qm_scene_hatch:
 * @self: a scene
 * @box: where
 * @hatch: which
 * @ink: its role
 * @alpha: opacity, beside that of the role
 * @step: distance of the lines
 *
 * Adds hatching on the card.
 */
void
qm_scene_hatch (QmScene *self,
                QmBox    box,
                QmHatch  hatch,
                QmInk    ink,
                double   alpha,
                double   step)
{
  if (box.width > 0 && box.height > 0)
    add (self, (QmItem) { .kind = QM_ITEM_HATCH, .box = box, .hatch = hatch, .ink = ink, .alpha = alpha, .step = step,
                          .line_width = 1 });
}

/**
 * qm_scene_segment:
 * @self: a scene
 * @box: where
 * @ink: its role
 * @hatch: the hatch of that role
 *
 * Adds a part of a bar.
 */
void
qm_scene_segment (QmScene *self,
                  QmBox    box,
                  QmInk    ink,
                  QmHatch  hatch)
{
  qm_scene_rectangle (self, box, 0, ink, 1);
  if (hatch != QM_HATCH_NONE && box.width > 3)
    add (self, (QmItem) { .kind = QM_ITEM_HATCH, .box = box, .hatch = hatch, .ink = QM_INK_CARD, .alpha = 1, .step = 6,
                          .line_width = 1.2, .on_ink = TRUE });
}

/**
 * qm_scene_beyond:
 * @self: a scene
 * @box: what lies beyond a limit
 *
 * Adds the grey hatching that means "beyond" in every chart.
 */
void
qm_scene_beyond (QmScene *self,
                 QmBox    box)
{
  qm_scene_rectangle (self, box, 0, QM_INK_GREY, 0.10);
  qm_scene_hatch (self, box, QM_HATCH_RISING, QM_INK_GREY, 0.26, 9);
}

/**
 * qm_scene_line:
 * @self: a scene
 * @x1: start
 * @y1: start
 * @x2: end
 * @y2: end
 * @ink: its role
 * @line_width: its width; hairlines are moved to the middle of a pixel
 * @dash: length of a dash; 0 solid
 *
 * Adds a line.
 */
void
qm_scene_line (QmScene *self,
               double   x1,
               double   y1,
               double   x2,
               double   y2,
               QmInk    ink,
               double   line_width,
               double   dash)
{
  QmPoint points[2] = { { x1, y1 }, { x2, y2 } };

  if (line_width == 1 && x1 == x2)
    points[0].x = points[1].x = floor (x1) + 0.5;
  if (line_width == 1 && y1 == y2)
    points[0].y = points[1].y = floor (y1) + 0.5;

  qm_scene_path (self, points, 2, ink, 1, line_width, dash);
}

/**
 * qm_scene_path:
 * @self: a scene
 * @points: (array length=n_points): its corners
 * @n_points: how many
 * @ink: its role
 * @alpha: opacity, beside that of the role
 * @line_width: of the line; 0 fills the polygon
 * @dash: length of a dash; 0 solid
 *
 * Adds a polyline or a filled polygon.
 */
void
qm_scene_path (QmScene       *self,
               const QmPoint *points,
               guint          n_points,
               QmInk          ink,
               double         alpha,
               double         line_width,
               double         dash)
{
  QmItem item = { .kind = QM_ITEM_PATH, .ink = ink, .alpha = alpha, .line_width = line_width, .dash = dash,
                  .first_point = self->points->len, .n_points = n_points };

  g_array_append_vals (self->points, points, n_points);
  add (self, item);
}

/**
 * qm_scene_whisker:
 * @self: a scene
 * @x1: start
 * @y1: start
 * @x2: end
 * @y2: end
 * @ink: its role
 * @cap: half the length of the bars at its ends
 *
 * Adds a level or upright line with bars at its ends.
 */
void
qm_scene_whisker (QmScene *self,
                  double   x1,
                  double   y1,
                  double   x2,
                  double   y2,
                  QmInk    ink,
                  double   cap)
{
  double across_x = y1 == y2 ? 0 : cap, across_y = y1 == y2 ? cap : 0;

  qm_scene_line (self, x1, y1, x2, y2, ink, 1.5, 0);
  qm_scene_line (self, x1 - across_x, y1 - across_y, x1 + across_x, y1 + across_y, ink, 1.5, 0);
  qm_scene_line (self, x2 - across_x, y2 - across_y, x2 + across_x, y2 + across_y, ink, 1.5, 0);
}

/**
 * qm_scene_marker:
 * @self: a scene
 * @x: its middle
 * @y: its middle
 * @radius: half its size
 * @marker: its shape
 * @hollow: outlined, not filled
 * @ink: its role
 * @alpha: opacity, beside that of the role
 *
 * Adds a marker with a halo.
 */
void
qm_scene_marker (QmScene *self,
                 double   x,
                 double   y,
                 double   radius,
                 QmMarker marker,
                 gboolean hollow,
                 QmInk    ink,
                 double   alpha)
{
  add (self, (QmItem) { .kind = QM_ITEM_MARKER, .box = { x, y, 0, 0 }, .radius = radius, .marker = marker,
                        .hollow = hollow, .ink = ink, .alpha = alpha });
}

/**
 * qm_text_layout:
 * @context: from qm_text_context_new()
 * @text: the text
 * @style: how it looks
 *
 * Returns: (transfer full): the text, shaped
 */
PangoLayout *
qm_text_layout (PangoContext      *context,
                const char        *text,
                const QmTextStyle *style)
{
  PangoLayout *layout = pango_layout_new (context);
  PangoFontDescription *font = pango_font_description_from_string (FONTS);

  pango_font_description_set_absolute_size (font, style->size * PANGO_SCALE);
  pango_font_description_set_weight (font, style->weight != 0 ? style->weight : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description (layout, font);
  pango_font_description_free (font);

  pango_layout_set_text (layout, text, -1);
  if (style->wrap > 0)
    {
      pango_layout_set_width (layout, style->wrap * PANGO_SCALE);
      pango_layout_set_wrap (layout, PANGO_WRAP_WORD_CHAR);
      pango_layout_set_alignment (layout, style->horizontal == 0.5 ? PANGO_ALIGN_CENTER :
                                          style->horizontal == 1 ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT);
    }
  if (style->tabular)
    {
      PangoAttrList *attributes = pango_attr_list_new ();

      pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum=1"));
      pango_layout_set_attributes (layout, attributes);
      pango_attr_list_unref (attributes);
    }

  return layout;
}

static QmBox
box_of (PangoLayout       *layout,
        double             x,
        double             y,
        const QmTextStyle *style)
{
  PangoRectangle logical;
  double width, height, left;

  pango_layout_get_extents (layout, NULL, &logical);
  width = logical.width / (double) PANGO_SCALE;
  height = logical.height / (double) PANGO_SCALE;
  left = x - style->horizontal * width;

  return (QmBox) { left, y - style->vertical * height, width, height };
}

/**
 * qm_scene_measure:
 * @self: a scene
 * @text: a text
 * @style: how it would look
 *
 * Returns: the box that it would take, put at the origin
 */
QmBox
qm_scene_measure (QmScene           *self,
                  const char        *text,
                  const QmTextStyle *style)
{
  g_autoptr (PangoLayout) layout = qm_text_layout (self->context, text, style);

  return box_of (layout, 0, 0, style);
}

/**
 * qm_scene_text:
 * @self: a scene
 * @x: where; @style says which part of the text
 * @y: where
 * @text: the text
 * @style: how it looks
 *
 * Adds a text and takes its place, so that labels keep away from it.
 *
 * Returns: the box that it takes
 */
QmBox
qm_scene_text (QmScene           *self,
               double             x,
               double             y,
               const char        *text,
               const QmTextStyle *style)
{
  PangoLayout *layout = qm_text_layout (self->context, text, style);
  QmBox box = box_of (layout, x, y, style);

  add (self, (QmItem) { .kind = QM_ITEM_TEXT, .box = box, .ink = style->ink, .alpha = 1, .halo = style->halo,
                        .layout = layout });
  g_array_append_val (self->taken, box);

  return box;
}

/**
 * qm_scene_spot:
 * @self: a scene
 * @mark: index of the chart's mark
 * @box: where it is
 *
 * Says where the pointer finds a mark.
 */
void
qm_scene_spot (QmScene *self,
               guint    mark,
               QmBox    box)
{
  QmPlaceOfMark spot = { mark, box };

  g_array_append_val (self->spots, spot);
}

/**
 * qm_box_overlaps:
 * @a: a box
 * @b: another
 *
 * Returns: whether they share an area
 */
gboolean
qm_box_overlaps (QmBox a,
                 QmBox b)
{
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/**
 * qm_box_grow:
 * @box: a box
 * @by: a distance, which may be negative
 *
 * Returns: @box with each side moved outwards
 */
QmBox
qm_box_grow (QmBox  box,
             double by)
{
  return (QmBox) { box.x - by, box.y - by, box.width + 2 * by, box.height + 2 * by };
}

/**
 * qm_box_inside:
 * @inner: a box
 * @outer: another
 *
 * Returns: whether @inner lies in @outer
 */
gboolean
qm_box_inside (QmBox inner,
               QmBox outer)
{
  return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}
