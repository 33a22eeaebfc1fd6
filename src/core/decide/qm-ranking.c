/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-search.h"

#include <math.h>
#include <stdlib.h>

/* The rows are ranked again and again: for each kind of alternative, and under
 * hundreds of other limits. What of a score hangs on the objective alone is
 * worked out once, and the rows are brought into its order as far as anybody
 * asks: the rest of a score, the risk to break a limit, is never negative, so
 * that the first rows decide. */

/* What limits are held against stands in line with the order: to fetch it from
 * the row would be a step through memory for each. */
typedef struct {
  double base;
  int row;
  guint8 is_owned, is_rented, is_relative;
  double money;
  double finish_seconds;
  double quality;
  double alone_p99_seconds;
} Ranked;

/* So many rows are sorted at once, at least. */
#define FIRST_ROWS 64

struct _QmOrder {
  int n;                            /* rows that have a base at all */
  int sorted;                       /* the first of them are in order, before all others */
  Ranked ranked[];
};

static Ranked
ranked_of (const QmRow *row,
           int          index,
           double       base)
{
  return (Ranked) { base, index, row->is_owned, row->is_rented, row->is_relative, row->money, row->finish_seconds, row->quality,
                    row->alone_p99_seconds };
}

static gboolean
comes_before (const Ranked *a,
              const Ranked *b)
{
  return a->base < b->base || (a->base == b->base && a->row < b->row);
}

static int
compare_ranked (gconstpointer a,
                gconstpointer b)
{
  return comes_before (a, b) ? -1 : comes_before (b, a);
}

static void
swap (Ranked *a,
      Ranked *b)
{
  Ranked kept = *a;

  *a = *b;
  *b = kept;
}

/* Of three, the one in the middle to the front. */
static void
bring_middle (Ranked *first,
              Ranked *second,
              Ranked *third)
{
  if (comes_before (second, third) != comes_before (second, first))
    swap (first, second);
  else if (comes_before (third, second) != comes_before (third, first))
    swap (first, third);
}

/* The first @wanted of @n to the front, in any order (Hoare's selection). */
static void
select_first (Ranked *ranked,
              int     n,
              int     wanted)
{
  while (n > 1 && wanted > 0 && wanted < n)
    {
      int low = 0, high = n;

      bring_middle (&ranked[0], &ranked[n / 2], &ranked[n - 1]);
      while (TRUE)
        {
          while (comes_before (&ranked[++low], &ranked[0]) && low + 1 < n)
            continue;
          while (comes_before (&ranked[0], &ranked[--high]))
            continue;
          if (low >= high)
            break;
          swap (&ranked[low], &ranked[high]);
        }
      swap (&ranked[0], &ranked[high]);
      if (high >= wanted)
        {
          n = high;
          continue;
        }
      ranked += high + 1;
      n -= high + 1;
      wanted -= high + 1;
    }
}

/* As many again as there are in order. */
static void
sort_more (QmOrder *self)
{
  int rest = self->n - self->sorted;
  int more = MIN (rest, MAX (FIRST_ROWS, self->sorted));

  select_first (&self->ranked[self->sorted], rest, more);
  qsort (&self->ranked[self->sorted], more, sizeof (Ranked), compare_ranked);
  self->sorted += more;
}

static double
points_lost (const QmRow *row)
{
  if (isnan (row->quality))
    return 0;

  return row->is_relative ? -row->quality : (1 - row->quality) * 100;
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
  double points = economics->weight_of_point * points_lost (row);

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
      const QmRow *row = &g_array_index (search->rows, QmRow, i);
      double base = base_score (search, row, objective);

      if (!isnan (base))
        self->ranked[self->n++] = ranked_of (row, i, base);
    }

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
    sort_more (self);

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

static gboolean
ranked_breaks (const QmSearch *self,
               const Ranked   *row,
               const QmWish   *wish,
               QmLimit        *limit,
               double         *margin)
{
  double latency = self->job.resolved->given->serving.latency_p99_seconds;

  *limit = QM_LIMIT_NONE;
  *margin = 1;

  if (wish->local_only && row->is_rented)
    {
      *limit = QM_LIMIT_PLACE;
      return TRUE;
    }
  if (!isnan (wish->quality) && !row->is_relative && breaks (wish->quality, row->quality, QM_LIMIT_ACCURACY, limit, margin))
    return TRUE;
  /* Where an answer alone is late, no batch is not; where it is not, the batch was chosen so. */
  if (self->job.serving && latency > 0 && breaks (row->alone_p99_seconds, latency, QM_LIMIT_LATENCY, limit, margin))
    return TRUE;
  if (breaks (row->finish_seconds, wish->seconds, QM_LIMIT_DEADLINE, limit, margin))
    return TRUE;

  /* A budget is for what is bought or rented; the power of what is there is told
   * and not weighed against it. */
  return !row->is_owned && breaks (row->money, wish->money, QM_LIMIT_MONEY, limit, margin);
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
  Ranked ranked = ranked_of (row, 0, 0);

  return ranked_breaks (self, &ranked, wish, limit, margin);
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
      const QmRow *row;
      QmLimit limit;
      double margin, score;

      if (ranked_breaks (self, ranked, wish, &limit, &margin))
        continue;
      row = &g_array_index (self->rows, QmRow, ranked->row);
      if (filter != NULL && !filter (self, row, data))
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
