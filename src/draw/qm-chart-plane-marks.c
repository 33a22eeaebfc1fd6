/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "qm-labels.h"
#include "qm-plane.h"

#define LEAST_END     60
#define RADIUS        5
#define CHOSEN_RADIUS 7

/* What it costs a label to cross these. */
#define LIMIT_COST    24
#define LINE_COST     10
#define RANGE_COST    4

/* A faint mark rather goes without a label than with one across a line. */
#define FAINT_COST    14

static double
right_of (const QmPlane *self)
{
  return self->box.x + self->box.width;
}

static double
bottom_of (const QmPlane *self)
{
  return self->box.y + self->box.height;
}

static QmPoint
at (const QmPlane *self,
    double         x,
    double         y)
{
  return (QmPoint) { qm_plane_x (self, x), CLAMP (qm_plane_y (self, y), self->box.y, bottom_of (self)) };
}

/* ------------------------------------------------------------------ zones, limits */

static void
draw_zones (QmPlane *self)
{
  self->scene->layer = QM_LAYER_GROUND;
  for (guint i = 0; i < self->chart->zones->len; i++)
    {
      const QmChartZone *zone = &g_array_index (self->chart->zones, QmChartZone, i);
      double low = MAX (qm_plane_x (self, zone->low), self->box.x), high = MIN (qm_plane_x (self, zone->high), right_of (self));
      QmBox box = { low, self->box.y, high - low, self->box.height };

      if (!zone->tinted)
        continue;
      qm_scene_rectangle (self->scene, box, 0, QM_INK_OCHRE, 0.10);
      qm_scene_hatch (self->scene, box, QM_HATCH_FALLING, QM_INK_OCHRE, 0.30, 10);
    }
  self->scene->layer = QM_LAYER_SHAPES;
}

static void
label_zones (QmPlane    *self,
             QmLabeller *labels)
{
  for (guint i = 0; i < self->chart->zones->len; i++)
    {
      const QmChartZone *zone = &g_array_index (self->chart->zones, QmChartZone, i);
      double low = MAX (qm_plane_x (self, zone->low), self->box.x), high = MIN (qm_plane_x (self, zone->high), right_of (self));
      QmTextStyle style = qm_plane_second;
      QmBox box;

      style.halo = TRUE;
      style.wrap = high - low - 16;
      if (zone->text == NULL || style.wrap < 60)
        continue;
      box = qm_scene_measure (self->scene, zone->text, &style);
      box.x = low + 8;
      box.y = zone->text_at_bottom ? bottom_of (self) - box.height - 6 : self->box.y + 6;
      if (qm_labeller_is_free (labels, box))
        qm_scene_text (self->scene, box.x, box.y, zone->text, &style);
    }
}

/* At the first of some places beside the line that is free. */
static void
put_limit_label (QmPlane            *self,
                 const QmChartLimit *limit,
                 QmPoint             line,
                 QmLabeller         *labels)
{
  QmTextStyle style = qm_plane_strong;
  QmBox size = qm_scene_measure (self->scene, limit->text, &style);
  double beside = line.x + 6 + size.width < self->width ? line.x + 6 : line.x - 6 - size.width;
  const QmPoint upright[] = { { beside, self->box.y + 3 }, { beside, bottom_of (self) - size.height - 3 } };
  const QmPoint level[] = {
    { self->box.x + 5, line.y - size.height - 3 }, { right_of (self) - size.width - 5, line.y - size.height - 3 },
    { self->box.x + 5, line.y + 3 }, { right_of (self) - size.width - 5, line.y + 3 },
  };
  const QmPoint *places = limit->on_y ? level : upright;
  guint n = limit->on_y ? G_N_ELEMENTS (level) : G_N_ELEMENTS (upright);

  style.halo = TRUE;
  for (guint i = 0; i < n; i++)
    if (qm_labeller_is_free (labels, (QmBox) { places[i].x, places[i].y, size.width, size.height }))
      {
        qm_scene_text (self->scene, places[i].x, places[i].y, limit->text, &style);
        return;
      }
}

static void
draw_limits (QmPlane    *self,
             QmLabeller *labels)
{
  for (guint i = 0; i < self->chart->limits->len; i++)
    {
      const QmChartLimit *limit = &g_array_index (self->chart->limits, QmChartLimit, i);
      double place = qm_axis_place (limit->on_y ? &self->chart->y : &self->chart->x, limit->value);
      QmPoint line = at (self, limit->value, limit->value);
      QmPoint a = limit->on_y ? (QmPoint) { self->box.x, line.y } : (QmPoint) { line.x, self->box.y };
      QmPoint b = limit->on_y ? (QmPoint) { right_of (self), line.y } : (QmPoint) { line.x, bottom_of (self) };

      if (place <= 0 || place >= 1)
        continue;
      self->scene->layer = QM_LAYER_GROUND;
      if (limit->beyond)
        qm_scene_beyond (self->scene, limit->on_y ? (QmBox) { self->box.x, self->box.y, self->box.width, line.y - self->box.y } :
                                                    (QmBox) { line.x, self->box.y, right_of (self) - line.x, self->box.height });
      self->scene->layer = QM_LAYER_LIMITS;
      qm_scene_line (self->scene, a.x, a.y, b.x, b.y, QM_INK_TEXT, 1.5, limit->hard ? 0 : 5);
      self->scene->layer = QM_LAYER_SHAPES;
      qm_labeller_add_line (labels, a, b, LIMIT_COST);

      put_limit_label (self, limit, line, labels);
    }
}

/* ------------------------------------------------------------------------- lines */

static void
draw_band (QmPlane           *self,
           const QmChartLine *line)
{
  guint n = line->vertices->len;
  g_autofree QmPoint *points = g_new (QmPoint, 2 * n + 2);
  gboolean wide = FALSE;

  for (guint i = 0; i < n; i++)
    {
      QmVertex vertex = g_array_index (line->vertices, QmVertex, i);
      double low = line->area ? self->chart->y.low : vertex.low;

      wide = wide || line->area || vertex.high > vertex.low;
      points[i] = at (self, vertex.x, line->area ? vertex.y : vertex.high);
      points[2 * n - 1 - i] = at (self, vertex.x, low);
    }
  if (wide)
    qm_scene_path (self->scene, points, 2 * n, line->ink, 0.20, 0, 0);
}

static void
draw_line (QmPlane           *self,
           const QmChartLine *line,
           QmLabeller        *labels)
{
  guint n = line->vertices->len, m = 0;
  g_autofree QmPoint *points = g_new (QmPoint, 2 * n + 1);

  for (guint i = 0; i < n; i++)
    {
      QmVertex vertex = g_array_index (line->vertices, QmVertex, i);
      QmPoint point = at (self, vertex.x, vertex.y);

      if (line->step && m > 0)
        {
          points[m] = (QmPoint) { point.x, points[m - 1].y };
          m++;
        }
      points[m++] = point;
    }
  for (guint i = 1; i < m; i++)
    qm_labeller_add_line (labels, points[i - 1], points[i], LINE_COST);
  qm_scene_path (self->scene, points, m, line->ink, line->faint ? 0.7 : 1, line->line_width, line->dash);
}

/* Behind a narrow chart there is less room than the text is long. */
static double
label_end (QmPlane     *self,
           double       x,
           double       y,
           const char  *text,
           QmTextStyle  style)
{
  style.wrap = MAX (self->width - x, LEAST_END);

  return qm_scene_text (self->scene, x, y, text, &style).height;
}

/* Names of lines at their right ends, pushed apart. */
static void
label_line_ends (QmPlane *self)
{
  double edge = -INFINITY;
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < self->chart->lines->len; i++)
    if (g_array_index (self->chart->lines, QmChartLine, i).end_text != NULL)
      g_array_append_val (order, i);
  for (guint i = 0; i < order->len; i++)
    for (guint j = i + 1; j < order->len; j++)
      {
        guint *a = &g_array_index (order, guint, i), *b = &g_array_index (order, guint, j);
        const GArray *first = g_array_index (self->chart->lines, QmChartLine, *a).vertices;
        const GArray *second = g_array_index (self->chart->lines, QmChartLine, *b).vertices;

        if (g_array_index (second, QmVertex, second->len - 1).y > g_array_index (first, QmVertex, first->len - 1).y)
          {
            guint swap = *a;

            *a = *b;
            *b = swap;
          }
      }
  for (guint i = 0; i < order->len; i++)
    {
      const QmChartLine *line = &g_array_index (self->chart->lines, QmChartLine, g_array_index (order, guint, i));
      QmVertex last = g_array_index (line->vertices, QmVertex, line->vertices->len - 1);
      QmPoint end = at (self, last.x, last.y);
      double y = MAX (end.y - self->line / 2, edge);
      QmTextStyle style = line->faint ? qm_plane_second : qm_plane_strong;

      if (!line->faint && line->ink != QM_INK_OCHRE && line->ink != QM_INK_GREY)
        style.ink = line->ink;
      edge = y + label_end (self, end.x + 10, y, line->end_text, style);
      if (line->end_note != NULL)
        edge += label_end (self, end.x + 10, edge, line->end_note, qm_plane_second);
    }
}

/* ------------------------------------------------------------------------ points */

static void
draw_range (QmPlane            *self,
            const QmChartPoint *point,
            QmLabeller         *labels)
{
  double width = point->faint ? 2 : 3, alpha = point->faint ? 0.28 : 0.45;
  QmPoint ends[2];

  if (point->range_along)
    {
      ends[0] = at (self, point->range_x.p10, point->y * point->range_x.p10 / point->x);
      ends[1] = at (self, point->range_x.p90, point->y * point->range_x.p90 / point->x);
      ends[0].x = MAX (ends[0].x, self->box.x);
      ends[1].x = MIN (ends[1].x, right_of (self));
      qm_scene_path (self->scene, ends, 2, point->ink, alpha, width, 0);
      qm_labeller_add_line (labels, ends[0], ends[1], RANGE_COST);
      return;
    }
  if (point->range_x.p90 > point->range_x.p10)
    {
      ends[0] = at (self, point->range_x.p10, point->y);
      ends[1] = at (self, point->range_x.p90, point->y);
      qm_scene_path (self->scene, ends, 2, point->ink, alpha, width, 0);
      qm_labeller_add_line (labels, ends[0], ends[1], RANGE_COST);
    }
  if (point->range_y.p90 > point->range_y.p10)
    {
      ends[0] = at (self, point->x, point->range_y.p10);
      ends[1] = at (self, point->x, point->range_y.p90);
      if (point->faint)
        qm_scene_path (self->scene, ends, 2, point->ink, alpha, width, 0);
      else
        qm_scene_whisker (self->scene, ends[0].x, ends[0].y, ends[1].x, ends[1].y, point->ink, 4);
      qm_labeller_add_line (labels, ends[0], ends[1], RANGE_COST);
    }
}

static void
draw_point (QmPlane            *self,
            const QmChartPoint *point,
            QmLabeller         *labels)
{
  QmPoint place = at (self, point->x, point->y);
  double radius = point->chosen ? CHOSEN_RADIUS : RADIUS;
  QmBox box = { place.x - radius - 1, place.y - radius - 1, 2 * radius + 2, 2 * radius + 2 };

  draw_range (self, point, labels);
  if (point->chosen)
    qm_scene_rectangle (self->scene, qm_box_grow (box, 3), radius + 4, QM_INK_BLUE, 0.22);
  qm_scene_marker (self->scene, place.x, place.y, radius, point->marker, point->hollow, point->ink, point->faint ? 0.75 : 1);
  if (point->mark != QM_NO_MARK)
    qm_scene_spot (self->scene, point->mark, box);
  qm_labeller_take (labels, box);
}

static void
label_point (QmPlane            *self,
             const QmChartPoint *point,
             QmLabeller         *labels)
{
  QmTextStyle style = { .size = QM_TEXT_SIZE + (point->chosen ? 1 : 0), .weight = point->chosen ? 700 : point->faint ? 400 : 500,
                        .ink = point->faint ? QM_INK_SECOND : QM_INK_TEXT, .halo = TRUE };

  if (point->name != NULL)
    qm_labeller_put (labels, at (self, point->x, point->y), point->chosen ? CHOSEN_RADIUS : RADIUS, point->name,
                     &style, point->faint ? FAINT_COST : INFINITY);
}

/* Faint ones first, so that what matters lies above; labels the other way round. */
static void
draw_points (QmPlane    *self,
             QmLabeller *labels)
{
  const GArray *points = self->chart->points;

  for (int important = 0; important < 3; important++)
    for (guint i = 0; i < points->len; i++)
      {
        const QmChartPoint *point = &g_array_index (points, QmChartPoint, i);

        if ((point->chosen ? 2 : point->faint ? 0 : 1) == important)
          draw_point (self, point, labels);
      }
}

static void
label_points (QmPlane    *self,
              QmLabeller *labels)
{
  const GArray *points = self->chart->points;

  for (int important = 2; important >= 0; important--)
    for (guint i = 0; i < points->len; i++)
      {
        const QmChartPoint *point = &g_array_index (points, QmChartPoint, i);

        if ((point->chosen ? 2 : point->faint ? 0 : 1) == important)
          label_point (self, point, labels);
      }
}

/* ---------------------------------------------------------------------- brackets */

static void
draw_bracket (QmPlane              *self,
              const QmChartBracket *bracket,
              QmLabeller           *labels)
{
  QmPoint a = at (self, bracket->x1, bracket->y1), b = at (self, bracket->x2, bracket->y2);
  QmTextStyle strong = qm_plane_strong, second = qm_plane_second;
  double y = MIN (MAX (a.y, b.y) + 34, bottom_of (self) - 2 * self->line - 8);
  QmBox text, note;

  strong.ink = QM_INK_ORANGE;
  strong.halo = second.halo = TRUE;
  qm_scene_line (self->scene, a.x, a.y + 12, a.x, y, QM_INK_ORANGE, 1.2, 3);
  qm_scene_line (self->scene, b.x, b.y + 12, b.x, y, QM_INK_ORANGE, 1.2, 3);
  qm_scene_line (self->scene, a.x, y, b.x, y, QM_INK_ORANGE, 1.5, 0);
  qm_labeller_take (labels, (QmBox) { MIN (a.x, b.x), y - 2, fabs (b.x - a.x), 4 });
  text = qm_scene_measure (self->scene, bracket->text, &strong);
  note = qm_scene_measure (self->scene, bracket->note, &second);
  text.x = CLAMP ((a.x + b.x) / 2 - text.width / 2, self->box.x, right_of (self) - text.width);
  note.x = CLAMP ((a.x + b.x) / 2 - note.width / 2, self->box.x, right_of (self) - note.width);
  qm_scene_text (self->scene, text.x, y + 3, bracket->text, &strong);
  qm_scene_text (self->scene, note.x, y + 3 + self->line, bracket->note, &second);
}

/* Everything between the axes. */
void
qm_plane_draw_marks (QmPlane *self)
{
  QmLabeller labels;
  QmBox area = { self->box.x, self->box.y - 4, self->width - self->box.x, self->box.height + 2 };

  qm_labeller_init (&labels, self->scene, area);
  draw_zones (self);
  for (guint i = 0; i < self->chart->lines->len; i++)
    draw_band (self, &g_array_index (self->chart->lines, QmChartLine, i));
  for (guint i = 0; i < self->chart->lines->len; i++)
    draw_line (self, &g_array_index (self->chart->lines, QmChartLine, i), &labels);
  draw_points (self, &labels);
  draw_limits (self, &labels);
  label_line_ends (self);
  for (guint i = 0; i < self->chart->brackets->len; i++)
    draw_bracket (self, &g_array_index (self->chart->brackets, QmChartBracket, i), &labels);
  label_points (self, &labels);
  label_zones (self, &labels);
  qm_labeller_clear (&labels);
}
