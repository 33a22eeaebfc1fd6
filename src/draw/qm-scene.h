/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <pango/pangocairo.h>

#include "qm-chart.h"

G_BEGIN_DECLS

/* What a colour is for; the palette says which it is. */
typedef enum {
  QM_INK_TEXT,
  QM_INK_SECOND,
  QM_INK_GRID,
  QM_INK_AXIS,
  QM_INK_CARD,
  QM_INK_BLUE,
  QM_INK_ORANGE,
  QM_INK_TEAL,
  QM_INK_PURPLE,
  QM_INK_OCHRE,
  QM_INK_GREY,
} QmInk;

QmColor qm_palette_ink (const QmPalette *self,
                        QmInk            ink);

/* The second encoding beside the colour. */
typedef enum {
  QM_HATCH_NONE,
  QM_HATCH_RISING,
  QM_HATCH_FALLING,
  QM_HATCH_CROSS,
  QM_HATCH_FLAT,
  QM_HATCH_DOTS,
} QmHatch;

typedef enum {
  QM_MARKER_DISC,
  QM_MARKER_SQUARE,
  QM_MARKER_DIAMOND,
  QM_MARKER_TRIANGLE,
} QmMarker;

typedef struct {
  double x, y, width, height;
} QmBox;

typedef struct {
  double x, y;
} QmPoint;

/**
 * QmTextStyle:
 * @size: in pixels or points of the surface
 * @wrap: width to break lines at; 0: one line
 * @horizontal: 0 when the given point is at the left of the text, 0.5 at its
 *   middle, 1 at its right
 * @vertical: likewise from the top
 * @halo: lines may pass behind it
 */
typedef struct {
  double size;
  int weight;
  QmInk ink;
  double wrap;
  double horizontal;
  double vertical;
  gboolean halo;
  gboolean tabular;
} QmTextStyle;

/* Painted from the first to the last, whatever the order of adding. */
typedef enum {
  QM_LAYER_GROUND,
  QM_LAYER_SHAPES,
  QM_LAYER_LIMITS,
  QM_LAYER_MARKERS,
  QM_LAYER_TEXT,
  QM_N_LAYERS,
} QmLayer;

typedef enum {
  QM_ITEM_RECTANGLE,
  QM_ITEM_HATCH,
  QM_ITEM_PATH,
  QM_ITEM_MARKER,
  QM_ITEM_TEXT,
} QmItemKind;

typedef struct {
  QmItemKind kind;
  QmLayer layer;
  QmInk ink;
  double alpha;
  QmBox box;                        /* a marker: its middle and radius */
  double radius;
  double line_width;                /* 0: filled */
  double dash;
  double step;
  QmHatch hatch;
  QmMarker marker;
  gboolean hollow;
  gboolean on_ink;                  /* a hatch over a filled area */
  gboolean halo;
  guint first_point, n_points;
  PangoLayout *layout;
} QmItem;

typedef struct {
  guint mark;
  QmBox box;
} QmPlaceOfMark;

/**
 * QmScene:
 * @layer: of what is added next; markers and texts have their own
 * @items: (element-type QmItem): in the order of drawing within a layer
 * @spots: (element-type QmPlaceOfMark): where marks are, for the pointer
 * @taken: (element-type QmBox): where labels may not go
 *
 * A chart laid out for one size: shapes and texts with places, and roles for
 * colours. What draws it knows nothing of charts.
 */
typedef struct {
  double width, height;
  QmLayer layer;
  GArray *items;
  GArray *points;
  GArray *spots;
  GArray *taken;
  PangoContext *context;
} QmScene;

QmScene *qm_scene_new       (const char        *language);
void     qm_scene_free      (QmScene           *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmScene, qm_scene_free)

void     qm_scene_rectangle (QmScene           *self,
                             QmBox              box,
                             double             radius,
                             QmInk              ink,
                             double             alpha);
void     qm_scene_frame     (QmScene           *self,
                             QmBox              box,
                             double             radius,
                             QmInk              ink,
                             double             line_width);
void     qm_scene_hatch     (QmScene           *self,
                             QmBox              box,
                             QmHatch            hatch,
                             QmInk              ink,
                             double             alpha,
                             double             step);
void     qm_scene_segment   (QmScene           *self,
                             QmBox              box,
                             QmInk              ink,
                             QmHatch            hatch);
void     qm_scene_beyond    (QmScene           *self,
                             QmBox              box);
void     qm_scene_line      (QmScene           *self,
                             double             x1,
                             double             y1,
                             double             x2,
                             double             y2,
                             QmInk              ink,
                             double             line_width,
                             double             dash);
void     qm_scene_path      (QmScene           *self,
                             const QmPoint     *points,
                             guint              n_points,
                             QmInk              ink,
                             double             alpha,
                             double             line_width,
                             double             dash);
void     qm_scene_whisker   (QmScene           *self,
                             double             x1,
                             double             y1,
                             double             x2,
                             double             y2,
                             QmInk              ink,
                             double             cap);
void     qm_scene_marker    (QmScene           *self,
                             double             x,
                             double             y,
                             double             radius,
                             QmMarker           marker,
                             gboolean           hollow,
                             QmInk              ink,
                             double             alpha);
QmBox    qm_scene_text      (QmScene           *self,
                             double             x,
                             double             y,
                             const char        *text,
                             const QmTextStyle *style);
QmBox    qm_scene_measure   (QmScene           *self,
                             const char        *text,
                             const QmTextStyle *style);
void     qm_scene_spot      (QmScene           *self,
                             guint              mark,
                             QmBox              box);

gboolean qm_box_overlaps    (QmBox              a,
                             QmBox              b);
QmBox    qm_box_grow        (QmBox              box,
                             double             by);
gboolean qm_box_inside      (QmBox              inner,
                             QmBox              outer);

PangoLayout *qm_text_layout (PangoContext      *context,
                             const char        *text,
                             const QmTextStyle *style);
PangoContext *qm_text_context_new (const char  *language);

void     qm_scene_paint     (const QmScene     *self,
                             cairo_t           *cr,
                             const QmPalette   *palette);

G_END_DECLS
