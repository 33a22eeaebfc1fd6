/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-search.h"

#include <math.h>

/* The rows are ranked again and again: for each kind of alternative, and under
 * hundreds of other limits. What of a score hangs on the objective alone is
 * worked out once, and the rows are brought into its order as far as anybody
 * asks: the rest of a score, the risk to break a limit, is never negative, so
 * that the first rows decide. */

typedef struct {
  double base;
  int row;
} Ranked;

struct _QmOrder {
  int n;                            /* rows that have a base at all */
  int sorted;                       /* the first of them are in order; the others are a heap from the end */
  Ranked ranked[];
};

static gboolean
comes_before (const Ranked *a,
              const Ranked *b)
{
  return a->base < b->base || (a->base == b->base && a->row < b->row);
}

/* The heap grows down from the end of the array: its top is the last item. */
static void
sift_down (QmOrder *self,
           int      i,
           int      size)
{
  Ranked *top = &self->ranked[self->n - 1];
  Ranked item = top[-i];

  for (int child = 2 * i + 1; child < size; child = 2 * i + 1)
    {
      if (child + 1 < size && comes_before (&top[-(child + 1)], &top[-child]))
        child++;
      if (!comes_before (&top[-child], &item))
        break;
      top[-i] = top[-child];
      i = child;
    }
  top[-i] = item;
}

/* The next in order moves to the end of the sorted ones, and what was there to
 * the top of the heap. */
static void
sort_next (QmOrder *self)
{
  Ranked *top = &self->ranked[self->n - 1];
  Ranked next = *top;

  *top = self->ranked[self->sorted];
  self->ranked[self->sorted++] = next;
  if (self->sorted < self->n)
    sift_down (self, 0, self->n - self->sorted);
}

static double
points_lost (const QmSearch *search,
             const QmRow    *row)
{
  const QmRecipe *recipe = g_ptr_array_index (search->recipes,
                                              g_array_index (search->solutions, QmSolution, row->solution).recipe);

  if (isnan (row->quality))
    return 0;

  return recipe->accuracy.is_relative ? -row->quality : (1 - row->quality) * 100;
}

/* The score but for the risk to break a limit. */
static double
base_score (const QmSearch *search,
            const QmRow    *row,
            QmObjective     objective)
{
  const QmEconomics *economics = search->job.economics;
  double money = row->log_money;
  double time = row->log_hours;
  double points = economics->weight_of_point * points_lost (search, row);

  switch (objective)
    {
    case QM_OBJECTIVE_CHEAPEST:
      return log (row->money + row->idle_money + 0.01 * search->job.per_usd) + 0.02 * (time + row->hurdles);
    case QM_OBJECTIVE_FASTEST:
      return (isnan (row->finish_seconds) ? 0 : log (row->finish_seconds)) + 0.02 * (money + row->hurdles);
    case QM_OBJECTIVE_MOST_ACCURATE:
      return 100 * points + money + economics->weight_of_time * time + row->hurdles;
    case QM_OBJECTIVE_BALANCED:
    case QM_OBJECTIVE_UNSET:
    default:
      return money + economics->weight_of_time * time + points + row->hurdles;
    }
}

static QmOrder *
order_new (const QmSearch *search,
           QmObjective     objective)
{
  QmOrder *self = g_malloc (sizeof (QmOrder) + search->rows->len * sizeof (Ranked));

  self->n = self->sorted = 0;
  for (guint i = 0; i < search->rows->len; i++)
    {
      double base = base_score (search, &g_array_index (search->rows, QmRow, i), objective);

      if (!isnan (base))
        self->ranked[self->n++] = (Ranked) { base, i };
    }
  for (int i = self->n / 2 - 1; i >= 0; i--)
    sift_down (self, i, self->n);

  return self;
}

static QmOrder *
order_for (const QmSearch *search,
           QmObjective     objective)
{
  if (search->orders[objective] == NULL)
    search->orders[objective] = order_new (search, objective);

  return search->orders[objective];
}

static const Ranked *
order_at (QmOrder *self,
          int      i)
{
  if (i >= self->n)
    return NULL;
  if (i >= self->sorted)
    sort_next (self);

  return &self->ranked[i];
}

/**
 * qm_search_wish:
 * @self: a search
 * @wish: (out caller-allocates): the limits of the plan
 *
 * Only what the person said is a limit; a default never rules anything out.
 */
void
qm_search_wish (const QmSearch *self,
                QmWish         *wish)
{
  const QmLimits *limits = &self->job.plan->limits;

  wish->objective = limits->objective;
  wish->money = limits->money;
  wish->seconds = limits->hours * 3600;
  wish->quality = limits->min_accuracy;
  wish->local_only = self->job.plan->places.on_premises == QM_TERNARY_YES;
}

/* The logarithm of how likely it is. */
static double
log_within (double value,
            double half_width,
            double limit)
{
  if (isnan (limit) || isnan (value))
    return 0;

  return log (qm_range_share_below (qm_range_log_normal (value, half_width), limit));
}

static gboolean
breaks (double  value,
        double  allowed,
        QmLimit which,
        QmLimit *limit,
        double *margin)
{
  if (isnan (allowed) || isnan (value) || value <= allowed)
    return FALSE;

  *limit = which;
  *margin = allowed > 0 ? value / allowed : INFINITY;
  return TRUE;
}

/**
 * qm_search_breaks:
 * @self: a search
 * @row: one of its rows
 * @wish: the limits
 * @limit: (out): the first limit that is broken, %QM_LIMIT_NONE if none
 * @margin: (out): by how much: needed over allowed
 *
 * Returns: whether any limit is broken
 */
gboolean
qm_search_breaks (const QmSearch *self,
                  const QmRow    *row,
                  const QmWish   *wish,
                  QmLimit        *limit,
                  double         *margin)
{
  const QmPlacement *placement = &g_array_index (self->placements, QmPlacement, row->placement);
  const QmSolution *solution = &g_array_index (self->solutions, QmSolution, row->solution);
  const QmRecipe *recipe = g_ptr_array_index (self->recipes, solution->recipe);
  double latency = self->job.resolved->given->serving.latency_p99_seconds;

  *limit = QM_LIMIT_NONE;
  *margin = 1;

  if (wish->local_only && placement->place == QM_PLACE_CLOUD)
    {
      *limit = QM_LIMIT_PLACE;
      return TRUE;
    }
  if (!isnan (wish->quality) && !recipe->accuracy.is_relative &&
      breaks (wish->quality, row->quality, QM_LIMIT_ACCURACY, limit, margin))
    return TRUE;
  if (self->job.serving && latency > 0 &&
      breaks (solution->latency_p99_seconds, latency, QM_LIMIT_LATENCY, limit, margin))
    return TRUE;
  if (breaks (row->finish_seconds, wish->seconds, QM_LIMIT_DEADLINE, limit, margin))
    return TRUE;

  /* A budget is for what is bought or rented; the power of what is there is told
   * and not weighed against it. */
  return placement->pricing != QM_PRICING_OWNED && breaks (row->money, wish->money, QM_LIMIT_MONEY, limit, margin);
}

/**
 * qm_search_least_score:
 * @self: a search
 * @row: one of its rows
 * @wish: the limits and the objective
 *
 * Returns: what qm_search_score() is at least, for little work
 */
double
qm_search_least_score (const QmSearch *self,
                       const QmRow    *row,
                       const QmWish   *wish)
{
  return base_score (self, row, wish->objective);
}

/* ln (p90 / p50) of the time. */
static double
seconds_width (const QmOutline *outline)
{
  return isnan (outline->seconds) ? outline->rate_width : outline->seconds_width;
}

/* The same of the money, which follows the time but for what does not hang on it. */
static double
money_width (const QmSearch    *self,
             const QmPlacement *placement,
             const QmSolution  *solution)
{
  double factor = exp (seconds_width (&solution->outline));
  double interrupted = solution->with_interruptions_seconds;
  double least, most;

  if (placement->purchase_usd > 0)
    return QM_REMEMBERED_PRICE_WIDTH;
  if (self->job.serving)
    return 0;

  least = qm_job_money (&self->job, placement, solution->machines, solution->seconds / factor, interrupted / factor);
  most = qm_job_money (&self->job, placement, solution->machines, solution->seconds * factor, interrupted * factor);

  return log (most / least) / 2;
}

static double
log_fits (const QmOutline *outline)
{
  QmRange need = qm_range_log_normal (outline->need_bytes, outline->need_width);
  double probability = outline->usable_bytes > 0 ? qm_range_share_below (need, outline->usable_bytes) : 1;

  return probability > 0 ? log (probability) : 0;
}

/* How likely a limit is broken after all, in natural logarithms; never negative. */
static double
risk (const QmSearch *self,
      const QmRow    *row,
      const QmWish   *wish)
{
  const QmPlacement *placement = &g_array_index (self->placements, QmPlacement, row->placement);
  const QmSolution *solution = &g_array_index (self->solutions, QmSolution, row->solution);
  double late = 0, dear = 0;

  if (!isnan (wish->seconds))
    late = -0.5 * log_within (row->finish_seconds, seconds_width (&solution->outline), wish->seconds);
  if (!isnan (wish->money) && placement->pricing != QM_PRICING_OWNED)
    dear = -0.5 * log_within (row->money, money_width (self, placement, solution), wish->money);

  return late + dear - log_fits (&solution->outline);
}

/**
 * qm_search_score:
 * @self: a search
 * @row: one of its rows
 * @wish: the limits and the objective
 * @limit: (out): the first limit that is broken, %QM_LIMIT_NONE if none
 * @margin: (out): by how much: needed over allowed
 *
 * Returns: how good the row is, lower is better, in natural logarithms of
 *   money; infinite where a limit is broken
 */
double
qm_search_score (const QmSearch *self,
                 const QmRow    *row,
                 const QmWish   *wish,
                 QmLimit        *limit,
                 double         *margin)
{
  if (qm_search_breaks (self, row, wish, limit, margin))
    return INFINITY;

  return base_score (self, row, wish->objective) + risk (self, row, wish);
}

/**
 * qm_search_best_of:
 * @self: a search
 * @wish: the limits and the objective
 * @filter: (nullable) (scope call): which rows to look at
 * @data: for @filter
 *
 * Returns: the index of the best row, the first of equals; -1 if every row
 *   breaks a limit
 */
int
qm_search_best_of (const QmSearch *self,
                   const QmWish   *wish,
                   QmRowFilter     filter,
                   gconstpointer   data)
{
  QmOrder *order = order_for (self, wish->objective);
  double best_score = INFINITY;
  const Ranked *ranked;
  int best = -1;

  for (int i = 0; (ranked = order_at (order, i)) != NULL && ranked->base <= best_score; i++)
    {
      const QmRow *row = &g_array_index (self->rows, QmRow, ranked->row);
      QmLimit limit;
      double margin, score;

      if ((filter != NULL && !filter (self, row, data)) || qm_search_breaks (self, row, wish, &limit, &margin))
        continue;
      score = ranked->base + risk (self, row, wish);
      if (score < best_score || (score == best_score && ranked->row < best))
        {
          best_score = score;
          best = ranked->row;
        }
    }

  return best;
}

/**
 * qm_search_best:
 * @self: a search
 * @wish: the limits and the objective
 *
 * Returns: the index of the best row, -1 if every row breaks a limit
 */
int
qm_search_best (const QmSearch *self,
                const QmWish   *wish)
{
  return qm_search_best_of (self, wish, NULL, NULL);
}
