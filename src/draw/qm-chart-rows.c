/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "qm-chart-private.h"

/* Charts of rows that share one level axis: names at the left, or above where
 * the chart is narrow. */

#define NARROW       520
#define RIGHT_MARGIN 16
#define BAR_HEIGHT   34
#define GAP          12

static const QmTextStyle plain = { .size = QM_TEXT_SIZE, .ink = QM_INK_TEXT };
static const QmTextStyle strong = { .size = QM_TEXT_SIZE, .weight = 600, .ink = QM_INK_TEXT };
static const QmTextStyle second = { .size = QM_TEXT_SIZE, .ink = QM_INK_SECOND };

typedef struct {
  const QmChart *chart;
  QmScene *scene;
  double width;
  double left, right;               /* ends of the axis */
  double line;                      /* height of a line of text */
  double extra;                     /* room to give to each row */
  gboolean narrow;
} Frame;

static double
x_of (const Frame *frame,
      double       value)
{
  return frame->left + (frame->right - frame->left) * qm_axis_place (&frame->chart->x, value);
}

static QmTextStyle
placed (QmTextStyle style,
        double      horizontal,
        double      vertical)
{
  style.horizontal = horizontal;
  style.vertical = vertical;

  return style;
}

static double
width_of (const Frame       *frame,
          const char        *text,
          const QmTextStyle *style)
{
  return text != NULL ? qm_scene_measure (frame->scene, text, style).width : 0;
}

static void
start (Frame *frame)
{
  double widest = 0;

  frame->line = qm_scene_measure (frame->scene, "Ag", &plain).height;
  frame->narrow = frame->width < NARROW;
  frame->left = frame->right = 0;
  for (guint i = 0; i < frame->chart->rows->len && !frame->narrow; i++)
    widest = MAX (widest, width_of (frame, g_array_index (frame->chart->rows, QmChartRow, i).name, &strong));
  if (widest > frame->width * 0.3)
    frame->narrow = TRUE;
  frame->left = frame->narrow ? 2 : widest + GAP;
  frame->right = frame->width - RIGHT_MARGIN;
}

/* ---------------------------------------------------------------- limit labels */

/* Names of limits stand above their lines, in two lines where one is too short. */
static double
lay_limit_labels (Frame *frame)
{
  double y = 0, edge = frame->width;

  for (int i = frame->chart->limits->len - 1; i >= 0; i--)
    {
      const QmChartLimit *limit = &g_array_index (frame->chart->limits, QmChartLimit, i);
      const QmTextStyle *style = limit->hard ? &strong : &second;
      double width = width_of (frame, limit->text, style);
      double x = CLAMP (x_of (frame, limit->value) + 4, width, frame->width);

      if (x > edge - GAP && edge < frame->width)
        {
          if (edge - GAP >= width && x_of (frame, limit->value) - (edge - GAP) < width / 2)
            x = edge - GAP;
          else
            y += frame->line;
        }
      edge = x - width;
      qm_scene_text (frame->scene, x, y, limit->text, &(QmTextStyle) { .size = style->size, .weight = style->weight,
                                                                      .ink = style->ink, .horizontal = 1 });
    }

  return frame->chart->limits->len > 0 ? y + frame->line + 8 : 4;
}

static void
draw_limits (Frame *frame,
             double top,
             double bottom)
{
  for (guint i = 0; i < frame->chart->limits->len; i++)
    {
      const QmChartLimit *limit = &g_array_index (frame->chart->limits, QmChartLimit, i);
      double x = x_of (frame, limit->value);

      if (limit->beyond)
        {
          frame->scene->layer = QM_LAYER_GROUND;
          qm_scene_beyond (frame->scene, (QmBox) { x, top, x_of (frame, limit->beyond_to) - x, bottom - top });
        }
      frame->scene->layer = QM_LAYER_LIMITS;
      qm_scene_line (frame->scene, x, top - 5, x, bottom, limit->hard ? QM_INK_TEXT : QM_INK_SECOND, limit->hard ? 2 : 1.5,
                     limit->hard ? 0 : 5);
    }
  frame->scene->layer = QM_LAYER_SHAPES;
}

/* ----------------------------------------------------------------- stacked bars */

/* Labels want the middle of their parts; they are pushed apart, then back in. */
static gboolean
spread (const double *widths,
        double       *middles,
        guint         n,
        double        left,
        double        right)
{
  double total = 0, edge = left;

  for (guint i = 0; i < n; i++)
    total += widths[i] + (i > 0 ? GAP : 0);
  if (total > right - left)
    return FALSE;

  for (guint i = 0; i < n; i++)
    {
      middles[i] = MAX (middles[i], edge + widths[i] / 2);
      edge = middles[i] + widths[i] / 2 + GAP;
    }
  edge = right;
  for (int i = n - 1; i >= 0; i--)
    {
      middles[i] = MIN (middles[i], edge - widths[i] / 2);
      edge = middles[i] - widths[i] / 2 - GAP;
    }

  return TRUE;
}

static double
part_end (const GArray *parts,
          guint         index)
{
  double sum = 0;

  for (guint i = 0; i <= index; i++)
    sum += g_array_index (parts, QmPart, i).value;

  return sum;
}

static double
lay_part_labels (Frame        *frame,
                 const GArray *parts,
                 double        y)
{
  double widths[QM_MEMORY_N_PARTS], middles[QM_MEMORY_N_PARTS], anchors[QM_MEMORY_N_PARTS];
  guint n = MIN (parts->len, QM_MEMORY_N_PARTS);

  for (guint i = 0; i < n; i++)
    {
      const QmPart *part = &g_array_index (parts, QmPart, i);

      widths[i] = MAX (width_of (frame, part->name, &plain), width_of (frame, part->value_text, &strong));
      anchors[i] = middles[i] = x_of (frame, part_end (parts, i) - part->value / 2);
    }
  if (!spread (widths, middles, n, frame->narrow ? 0 : frame->left - 8, frame->width))
    return -1;

  for (guint i = 0; i < n; i++)
    {
      const QmPart *part = &g_array_index (parts, QmPart, i);
      double x = CLAMP (anchors[i], middles[i] - widths[i] / 2, middles[i] + widths[i] / 2);
      QmPoint leader[3] = { { anchors[i], y }, { anchors[i], y + 5 }, { x == anchors[i] ? x : middles[i], y + 15 } };
      QmTextStyle name = placed (plain, 0.5, 0), value = placed (strong, 0.5, 0);

      name.halo = value.halo = TRUE;
      qm_scene_path (frame->scene, leader, 3, part->ink, 1, 1, 0);
      qm_scene_text (frame->scene, middles[i], y + 17, part->name, &name);
      qm_scene_text (frame->scene, middles[i], y + 17 + frame->line, part->value_text, &value);
    }

  return y + 17 + 2 * frame->line + 6;
}

/* A key below the bar, for bars too short to label their parts. */
static double
lay_part_key (Frame        *frame,
              const GArray *parts,
              double        y)
{
  QmTextStyle name_style = plain, value_style = strong;
  double x = 0;

  name_style.halo = value_style.halo = TRUE;
  y += 8;
  for (guint i = 0; i < parts->len; i++)
    {
      const QmPart *part = &g_array_index (parts, QmPart, i);
      double name = width_of (frame, part->name, &plain), value = width_of (frame, part->value_text, &strong);

      if (x > 0 && x + 18 + name + 6 + value > frame->width)
        {
          x = 0;
          y += frame->line + 5;
        }
      qm_scene_segment (frame->scene, (QmBox) { x, y + 1, 12, frame->line - 3 }, part->ink, part->hatch);
      qm_scene_text (frame->scene, x + 18, y, part->name, &name_style);
      qm_scene_text (frame->scene, x + 18 + name + 6, y, part->value_text, &value_style);
      x += 18 + name + 6 + value + 16;
    }

  return y + frame->line + 8;
}

static double
lay_stack (Frame            *frame,
           const QmChartRow *row,
           double            y)
{
  double height = BAR_HEIGHT + MIN (frame->extra, 14);
  double below, start_value = 0;

  y += 8;
  if (frame->narrow)
    {
      qm_scene_text (frame->scene, 0, y, row->name, &strong);
      y += frame->line + 4;
    }
  else
    {
      QmTextStyle name = placed (strong, 1, 0.5);

      qm_scene_text (frame->scene, frame->left - GAP, y + height / 2, row->name, &name);
    }

  for (guint i = 0; i < row->parts->len; i++)
    {
      const QmPart *part = &g_array_index (row->parts, QmPart, i);
      double x = x_of (frame, start_value), end = x_of (frame, start_value + part->value);
      QmBox box = { x, y, MAX (end - x - 1, 0.8), height };

      qm_scene_segment (frame->scene, box, part->ink, part->hatch);
      qm_scene_spot (frame->scene, part->mark, box);
      start_value += part->value;
    }

  below = frame->narrow ? -1 : lay_part_labels (frame, row->parts, y + height);
  return below >= 0 ? below : lay_part_key (frame, row->parts, y + height);
}

/* ------------------------------------------------------------------ single values */

/* Whether a text would stand on a limit's line. */
static gboolean
crosses_limit (const Frame *frame,
               double       x1,
               double       x2)
{
  for (guint i = 0; i < frame->chart->limits->len; i++)
    {
      double x = x_of (frame, g_array_index (frame->chart->limits, QmChartLimit, i).value);

      if (x > x1 - 6 && x < x2 + 6)
        return TRUE;
    }

  return FALSE;
}

typedef struct {
  double value, note;               /* widths; 0 no note */
  double left, right;               /* where texts may end and begin */
} Room;

/* Where the value goes, 1 right, -1 left of the mark, 0 nowhere: free of lines if
 * that is possible, at least within the chart otherwise. */
static int
side_for (const Frame *frame,
          const Room  *room,
          double       width,
          gboolean     strict)
{
  if (room->right + width <= frame->width && !(strict && crosses_limit (frame, room->right, room->right + width)))
    return 1;
  if (room->left - width >= frame->left && !(strict && crosses_limit (frame, room->left - width, room->left)))
    return -1;

  return 0;
}

/* A remark that found no room beside its value goes to the other side, past a
 * limit's line where one is in the way. */
static void
put_note_apart (Frame            *frame,
                const QmChartRow *row,
                const Room       *room,
                int               side,
                double            y,
                const QmTextStyle *style)
{
  double end = side > 0 ? room->left : room->left - room->value - 10;

  for (int i = frame->chart->limits->len - 1; i >= 0; i--)
    {
      double x = x_of (frame, g_array_index (frame->chart->limits, QmChartLimit, i).value);

      if (x > end - room->note - 6 && x < end + 6)
        end = x - 9;
    }
  if (end - room->note >= frame->left)
    qm_scene_text (frame->scene, end - room->note, y, row->note, style);
}

static void
put_value_texts (Frame            *frame,
                 const QmChartRow *row,
                 double            low,
                 double            high,
                 double            y)
{
  QmTextStyle value_style = placed (strong, 0, 0.5), note_style = placed (second, 0, 0.5);
  Room room = { width_of (frame, row->value_text, &strong), 0, low - 11, high + 11 };
  double gap = 10;
  int side;

  value_style.halo = note_style.halo = TRUE;
  if (row->note != NULL && !row->note_below)
    room.note = width_of (frame, row->note, &second);

  side = side_for (frame, &room, room.value + (room.note > 0 ? gap + room.note : 0), TRUE);
  if (side != 0)
    {
      double x = side > 0 ? room.right : room.left - room.value;

      qm_scene_text (frame->scene, x, y, row->value_text, &value_style);
      if (room.note > 0)
        qm_scene_text (frame->scene, side > 0 ? x + room.value + gap : x - gap - room.note, y, row->note, &note_style);
      return;
    }

  side = side_for (frame, &room, room.value, TRUE);
  if (side == 0)
    side = side_for (frame, &room, room.value, FALSE);
  qm_scene_text (frame->scene, side >= 0 ? MIN (room.right, frame->width - room.value) : room.left - room.value, y,
                 row->value_text, &value_style);
  if (room.note > 0)
    put_note_apart (frame, row, &room, side, y, &note_style);
}

static void
draw_bar (Frame            *frame,
          const QmChartRow *row,
          double            y)
{
  double zero = x_of (frame, 0), low = x_of (frame, row->value.p10), middle = x_of (frame, row->value.p50);
  double high = x_of (frame, row->value.p90);
  QmBox box = { zero, y - 9, middle - zero, 18 };

  qm_scene_segment (frame->scene, box, row->ink, row->hatch);
  if (high > low)
    {
      qm_scene_rectangle (frame->scene, (QmBox) { middle, y - 9, high - middle, 18 }, 0, row->ink, 0.28);
      frame->scene->layer = QM_LAYER_MARKERS;
      qm_scene_whisker (frame->scene, low, y, high, y, QM_INK_TEXT, 5);
      frame->scene->layer = QM_LAYER_SHAPES;
    }
  qm_scene_spot (frame->scene, row->mark, box);
}

static void
draw_marker (Frame            *frame,
             const QmChartRow *row,
             double            y)
{
  double low = x_of (frame, row->value.p10), middle = x_of (frame, row->value.p50), high = x_of (frame, row->value.p90);

  if (high > low)
    {
      qm_scene_rectangle (frame->scene, (QmBox) { low, y - 5, high - low, 10 }, 3, row->ink, 0.28);
      qm_scene_whisker (frame->scene, low, y, high, y, row->ink, 5);
    }
  qm_scene_marker (frame->scene, middle, y, 5, row->marker, row->hollow, row->ink, 1);
  qm_scene_spot (frame->scene, row->mark, (QmBox) { middle - 6, y - 6, 12, 12 });
}

static double
lay_note_below (Frame            *frame,
                const QmChartRow *row,
                double            y)
{
  QmTextStyle style = second;

  style.wrap = frame->width - frame->left - RIGHT_MARGIN;
  style.halo = TRUE;
  for (guint i = 0; i < frame->chart->limits->len; i++)
    {
      double end = x_of (frame, g_array_index (frame->chart->limits, QmChartLimit, i).value) - 10 - frame->left;

      if (end > style.wrap * 0.6)
        style.wrap = MIN (style.wrap, end);
    }
  return y + qm_scene_text (frame->scene, frame->left, y, row->note, &style).height;
}

static double
lay_value (Frame            *frame,
           const QmChartRow *row,
           double            y)
{
  double step = 27 + frame->extra, top = y;
  const QmTextStyle *name = row->chosen || row->note_below ? &strong : &plain;
  double middle, bottom;

  if (frame->narrow)
    {
      QmTextStyle style = placed (*name, 0, 0);

      qm_scene_text (frame->scene, 4, y + 4, row->name, &style);
      y += frame->line + 4;
    }
  middle = y + step / 2;
  if (!frame->narrow)
    {
      QmTextStyle style = placed (*name, 1, 0.5);

      qm_scene_text (frame->scene, frame->left - GAP, middle, row->name, &style);
    }
  if (row->bar)
    draw_bar (frame, row, middle);
  else
    draw_marker (frame, row, middle);
  put_value_texts (frame, row, row->bar ? x_of (frame, 0) : x_of (frame, row->value.p10), x_of (frame, row->value.p90), middle);

  bottom = y + step;
  if (row->note_below)
    bottom = lay_note_below (frame, row, bottom - 2) + 12;
  if (row->chosen)
    {
      frame->scene->layer = QM_LAYER_GROUND;
      qm_scene_rectangle (frame->scene, (QmBox) { 0, top + 1, frame->width, bottom - top - 2 }, 6, QM_INK_BLUE, 0.10);
      frame->scene->layer = QM_LAYER_SHAPES;
    }

  return bottom;
}

/* ------------------------------------------------------------------------- axis */

static char *
tick_text (const Frame  *frame,
           const GArray *ticks,
           guint         index)
{
  return qm_axis_tick_label (&frame->chart->x, g_array_index (ticks, double, index), index + 1 == ticks->len,
                             frame->chart->words);
}

static gboolean
ticks_fit (const Frame  *frame,
           const GArray *ticks)
{
  double edge = -INFINITY;

  for (guint i = 0; i < ticks->len; i++)
    {
      g_autofree char *text = tick_text (frame, ticks, i);
      double width = width_of (frame, text, &second), middle = x_of (frame, g_array_index (ticks, double, i));

      middle = CLAMP (middle, width / 2, frame->width - width / 2);
      if (middle - width / 2 < edge + GAP)
        return FALSE;
      edge = middle + width / 2;
    }

  return TRUE;
}

static double
lay_axis (Frame *frame,
          double top,
          double bottom)
{
  g_autoptr (GArray) ticks = NULL;
  guint level = 0;

  while (TRUE)
    {
      g_autoptr (GArray) next = qm_axis_ticks (&frame->chart->x, level++);

      if (next == NULL)
        break;
      g_clear_pointer (&ticks, g_array_unref);
      ticks = g_steal_pointer (&next);
      if (ticks->len <= 8 && ticks_fit (frame, ticks))
        break;
    }

  for (guint i = 0; i < ticks->len; i++)
    {
      g_autofree char *text = tick_text (frame, ticks, i);
      double x = x_of (frame, g_array_index (ticks, double, i)), half = width_of (frame, text, &second) / 2;
      QmTextStyle style = placed (second, 0.5, 0);

      frame->scene->layer = QM_LAYER_GROUND;
      qm_scene_line (frame->scene, x, top, x, bottom, QM_INK_GRID, 1, 0);
      frame->scene->layer = QM_LAYER_SHAPES;
      qm_scene_text (frame->scene, CLAMP (x, half, frame->width - half), bottom + 6, text, &style);
    }

  return bottom + 6 + frame->line;
}

static double
lay (const QmChart *self,
     QmScene       *scene,
     double         width,
     double         extra)
{
  Frame frame = { .chart = self, .scene = scene, .width = width, .extra = extra };
  double top, y;

  start (&frame);
  top = y = lay_limit_labels (&frame);
  for (guint i = 0; i < self->rows->len; i++)
    {
      const QmChartRow *row = &g_array_index (self->rows, QmChartRow, i);

      if (i > 0 && g_array_index (self->rows, QmChartRow, i - 1).parts != NULL)
        {
          scene->layer = QM_LAYER_GROUND;
          qm_scene_line (scene, 0, y, frame.right, y, QM_INK_GRID, 1, 0);
          scene->layer = QM_LAYER_SHAPES;
          y += 5;
        }
      y = row->parts != NULL ? lay_stack (&frame, row, y) : lay_value (&frame, row, y);
    }
  y += 4;
  draw_limits (&frame, top, y);

  return lay_axis (&frame, top, y);
}

/**
 * qm_chart_lay_rows:
 * @self: a chart of rows
 * @scene: an empty scene
 * @width: to fill
 * @height: to fill; 0: as little as it takes
 *
 * Returns: the height that it takes
 */
double
qm_chart_lay_rows (const QmChart *self,
                   QmScene       *scene,
                   double         width,
                   double         height)
{
  g_autoptr (QmScene) trial = qm_scene_new (self->language);
  double least = lay (self, trial, width, 0);
  double extra = self->rows->len > 0 ? CLAMP ((height - least) / self->rows->len, 0, 30) : 0;

  return lay (self, scene, width, extra);
}
