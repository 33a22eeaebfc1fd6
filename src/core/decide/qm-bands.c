/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-bands.h"

#include <math.h>

#include "decide/qm-choices.h"

/* Values that are looked at, and how often the place of a change between two of
 * them is halved: to a thousandth of the scale. */
#define STEPS 80
#define HALVINGS 6

/* How far the scale reaches under the least that will do, and over it. */
#define ROOM_BELOW 3.0
#define ROOM_ABOVE 20.0
#define ROOM_ABOVE_FREE 4.0
#define ROOM_ABOVE_GIVEN 1.5

typedef struct {
  const QmSearch *search;
  QmWish wish;
  QmDial dial;
  double lowest;                    /* of the scale, in units of the wish */
  double highest;
} Scale;

static double
value_of (const QmRow *row,
          QmDial       dial)
{
  return dial == QM_DIAL_MONEY ? row->money : row->finish_seconds;
}

static int
best_at (const Scale *self,
         double       value)
{
  QmWish wish = self->wish;

  if (self->dial == QM_DIAL_MONEY)
    wish.money = value;
  else
    wish.seconds = value;

  return qm_search_best (self->search, &wish);
}

/* What is there already has no budget to keep. */
static gboolean
is_measured (const Scale *self,
             const QmRow *row)
{
  return self->dial == QM_DIAL_HOURS || !row->is_owned;
}

/* From where nothing does to where more makes no difference. */
static gboolean
set_ends (Scale *self)
{
  double given = self->dial == QM_DIAL_MONEY ? self->wish.money : self->wish.seconds;
  double least = INFINITY;
  int free_best;

  self->wish.money = self->dial == QM_DIAL_MONEY ? NAN : self->wish.money;
  self->wish.seconds = self->dial == QM_DIAL_HOURS ? NAN : self->wish.seconds;
  free_best = qm_search_best (self->search, &self->wish);
  if (free_best < 0)
    return FALSE;

  for (guint i = 0; i < self->search->rows->len; i++)
    {
      const QmRow *row = &g_array_index (self->search->rows, QmRow, i);
      double value = value_of (row, self->dial);
      double margin;
      QmLimit limit;

      if (value > 0 && value < least && is_measured (self, row) &&
          !qm_search_breaks (self->search, row, &self->wish, &limit, &margin))
        least = value;
    }
  if (isinf (least))
    return FALSE;

  /* the limit that is set now stays on the scale */
  self->lowest = given > 0 ? MIN (least, given) / ROOM_BELOW : least / ROOM_BELOW;
  self->highest = MAX (ROOM_ABOVE * least,
                       ROOM_ABOVE_FREE * value_of (&g_array_index (self->search->rows, QmRow, free_best), self->dial));
  if (given > 0)
    self->highest = MAX (self->highest, ROOM_ABOVE_GIVEN * given);
  return TRUE;
}

static gboolean
is_same_answer (const QmSearch *search,
                int             a,
                int             b)
{
  const QmRow *row_a, *row_b;
  const QmPlacement *placement_a, *placement_b;

  if (a < 0 || b < 0)
    return a == b;

  row_a = &g_array_index (search->rows, QmRow, a);
  row_b = &g_array_index (search->rows, QmRow, b);
  placement_a = &g_array_index (search->placements, QmPlacement, row_a->placement);
  placement_b = &g_array_index (search->placements, QmPlacement, row_b->placement);

  return placement_a->catalogued == placement_b->catalogued && placement_a->place == placement_b->place &&
         qm_solution_devices (&g_array_index (search->solutions, QmSolution, row_a->solution), placement_a) ==
           qm_solution_devices (&g_array_index (search->solutions, QmSolution, row_b->solution), placement_b);
}

/* Where between @inside and @outside the answer is @now no longer. */
static double
narrow (const Scale *self,
        int          now,
        double       inside,
        double       outside)
{
  for (int i = 0; i < HALVINGS; i++)
    {
      double middle = sqrt (inside * outside);

      if (is_same_answer (self->search, now, best_at (self, middle)))
        inside = middle;
      else
        outside = middle;
    }

  return outside;
}

static void
band_clear (QmBand *self)
{
  if (self->possible)
    qm_choice_clear (&self->choice);
}

static void
add_band (const Scale *self,
          int          best,
          double       from,
          double       to,
          GArray      *bands)
{
  double unit = self->dial == QM_DIAL_HOURS ? 3600 : 1;
  QmBand band = { .from = from / unit, .to = to / unit, .possible = best >= 0 };

  if (band.possible)
    qm_choice_from_row (self->search, &g_array_index (self->search->rows, QmRow, best), &self->wish, &band.choice);
  g_array_append_val (bands, band);
}

static void
fill_bands (const Scale  *self,
            GCancellable *cancellable,
            GArray       *bands)
{
  double factor = pow (self->highest / self->lowest, 1.0 / STEPS);
  double from = self->lowest, value = self->lowest;
  int best = best_at (self, value);

  for (int i = 0; i < STEPS && !g_cancellable_is_cancelled (cancellable); i++)
    {
      double next = value * factor;
      int other = best_at (self, next);

      if (!is_same_answer (self->search, best, other))
        {
          double change = narrow (self, best, value, next);

          add_band (self, best, from, change, bands);
          from = change;
        }
      best = other;
      value = next;
    }
  add_band (self, best, from, self->highest, bands);
}

/**
 * qm_recommendation_bands:
 * @self: a recommendation
 * @here: (nullable): what this computer has, as the recommendation was given it
 * @dial: a limit
 * @cancellable: (nullable): ends it early
 *
 * Searches once more, and ranks under each value of @dial, all other limits as
 * they are: nothing is evaluated anew for a value.
 *
 * Returns: (transfer full) (element-type QmBand): which hardware wins at each
 *   value, in order and without gaps; empty where nothing does at any value, or
 *   the limit makes no difference
 */
GArray *
qm_recommendation_bands (QmRecommendation *self,
                         const QmHere     *here,
                         QmDial            dial,
                         GCancellable     *cancellable)
{
  GArray *bands = g_array_new (FALSE, FALSE, sizeof (QmBand));
  g_autoptr (QmSearch) search = qm_search_new (qm_recommendation_get_estimator (self), qm_recommendation_get_resolved (self),
                                               here, cancellable);
  Scale scale = { .search = search, .dial = dial };

  g_array_set_clear_func (bands, (GDestroyNotify) band_clear);
  if (qm_recommendation_get_resolved (self)->plan->n_quotes > 0)
    return bands;
  qm_search_wish (search, &scale.wish);
  if (search->job.serving && dial == QM_DIAL_HOURS)
    return bands;
  if (set_ends (&scale))
    fill_bands (&scale, cancellable, bands);

  return bands;
}
