/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-labels.h"

#include <math.h>

#define DISTANCE_COST 6.0
#define SIDE_GAP 3.0

/**
 * qm_labeller_init:
 * @self: where to keep it
 * @scene: where the labels go
 * @area: they stay inside
 *
 * Begins to place labels.
 */
void
qm_labeller_init (QmLabeller *self,
                  QmScene    *scene,
                  QmBox       area)
{
  self->scene = scene;
  self->area = area;
  self->segments = g_array_new (FALSE, FALSE, sizeof (QmObstacle));
}

/**
 * qm_labeller_clear:
 * @self: a labeller
 *
 * Frees what it holds.
 */
void
qm_labeller_clear (QmLabeller *self)
{
  g_array_unref (self->segments);
}

/**
 * qm_labeller_add_line:
 * @self: a labeller
 * @a: an end of a line
 * @b: the other
 * @cost: of crossing it; a place farther from the mark costs 6
 *
 * Says where a line runs that labels had better not cross.
 */
void
qm_labeller_add_line (QmLabeller *self,
                      QmPoint     a,
                      QmPoint     b,
                      double      cost)
{
  QmObstacle obstacle = { a, b, cost };

  g_array_append_val (self->segments, obstacle);
}

/**
 * qm_labeller_take:
 * @self: a labeller
 * @box: where no label may go
 *
 * Keeps labels off a place.
 */
void
qm_labeller_take (QmLabeller *self,
                  QmBox       box)
{
  g_array_append_val (self->scene->taken, box);
}

/**
 * qm_labeller_is_free:
 * @self: a labeller
 * @box: a place
 *
 * Returns: whether a label may go there
 */
gboolean
qm_labeller_is_free (const QmLabeller *self,
                     QmBox             box)
{
  if (!qm_box_inside (box, self->area))
    return FALSE;

  /* Two in a row that touch would read as one. */
  box.x -= SIDE_GAP;
  box.width += 2 * SIDE_GAP;
  for (guint i = 0; i < self->scene->taken->len; i++)
    if (qm_box_overlaps (qm_box_grow (box, 1), g_array_index (self->scene->taken, QmBox, i)))
      return FALSE;

  return TRUE;
}

/* Liang and Barsky: whether a line passes through a box. */
static gboolean
passes (QmPoint a,
        QmPoint b,
        QmBox   box)
{
  double from = 0, to = 1, dx = b.x - a.x, dy = b.y - a.y;
  const double p[] = { -dx, dx, -dy, dy };
  const double q[] = { a.x - box.x, box.x + box.width - a.x, a.y - box.y, box.y + box.height - a.y };

  for (guint i = 0; i < 4; i++)
    {
      if (p[i] == 0 && q[i] < 0)
        return FALSE;
      if (p[i] < 0)
        from = MAX (from, q[i] / p[i]);
      else if (p[i] > 0)
        to = MIN (to, q[i] / p[i]);
    }

  return from < to;
}

static double
cost_of (const QmLabeller *self,
         QmBox             box)
{
  double cost = 0;

  for (guint i = 0; i < self->segments->len; i++)
    {
      const QmObstacle *obstacle = &g_array_index (self->segments, QmObstacle, i);

      if (passes (obstacle->a, obstacle->b, box))
        cost += obstacle->cost;
    }

  return cost;
}

/**
 * qm_labeller_put:
 * @self: a labeller
 * @mark: what is labelled
 * @radius: of its marker
 * @text: the label
 * @style: how it looks
 * @highest_cost: rather no label than one that costs more
 *
 * Tries eight places around the mark, near and farther; the first that crosses
 * the fewest lines wins. Where all are taken there is no label: the mark is
 * still named by pointer, keyboard and table.
 *
 * Returns: whether it found a place
 */
gboolean
qm_labeller_put (QmLabeller        *self,
                 QmPoint            mark,
                 double             radius,
                 const char        *text,
                 const QmTextStyle *style,
                 double             highest_cost)
{
  static const struct { double x, y, cost; } sides[] = {
    { 1, 0, 0 }, { 0, -1, 1 }, { 0, 1, 1 }, { 1, 1, 1 }, { 1, -1, 1 }, { -1, 0, 2 }, { -1, -1, 2 }, { -1, 1, 2 },
  };
  static const double reaches[] = { 1, 1.9 };
  QmBox size = qm_scene_measure (self->scene, text, style);
  QmTextStyle left = *style;
  QmBox best = { 0 };
  double lowest = highest_cost;
  gboolean found = FALSE;

  for (guint reach = 0; reach < G_N_ELEMENTS (reaches); reach++)
    for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
      {
        double away = radius + 5 * reaches[reach] + (reach > 0 ? 4 : 0);
        double diagonal = sides[i].x != 0 && sides[i].y != 0 ? 0.75 : 1;
        QmBox box = {
          mark.x + sides[i].x * away * diagonal + (sides[i].x - 1) * size.width / 2,
          mark.y + sides[i].y * away * diagonal + (sides[i].y - 1) * size.height / 2, size.width, size.height,
        };
        double cost = sides[i].cost + reach * DISTANCE_COST + cost_of (self, box);

        if (cost < lowest && qm_labeller_is_free (self, box))
          {
            lowest = cost;
            found = TRUE;
            best = box;
          }
      }
  if (!found)
    return FALSE;

  left.horizontal = left.vertical = 0;
  qm_scene_text (self->scene, best.x, best.y, text, &left);
  return TRUE;
}
