/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-hurdles.h"
#include "decide/qm-solve-private.h"

#include <math.h>
#include <string.h>

/* A job that ends within the hour needs no more machines. */
#define SOON_SECONDS 3600.0
#define MAX_MACHINES 64

/* Placements of the same hardware, which one set of solutions serves. */
typedef struct {
  int first;                        /* index of its solutions */
  int n;
  QmTrials trials;
  double ram_bytes;
  int host_cores;                   /* what they load data with */
  double host_network_bits_per_second;
  double input_rate;
  int next;                         /* the same device in a machine that loads otherwise; -1 none */
} Solved;

/* ---------------------------------------------------------------- solutions */

static gboolean
pinned_elsewhere (const QmSearch    *self,
                  const QmPlacement *placement)
{
  const QmConfiguration *pinned = &self->job.resolved->given->configuration;

  if (pinned->device[0] != '\0' && !g_str_equal (pinned->device, placement->device.id))
    return TRUE;
  if (pinned->offer[0] != '\0' && (placement->offer == NULL || !g_str_equal (pinned->offer, placement->offer->id)))
    return TRUE;

  return FALSE;
}

/* Keeps, of every device, the limit that it breaks by the least. */
static void
note (QmSearch       *self,
      const QmDevice *device,
      QmLimit         limit,
      double          margin)
{
  int index = qm_catalog_device_index (qm_estimator_get_catalog (self->job.estimator), device);

  if (index < 0 || self->device_limits[index] == QM_LIMIT_BEATEN)
    return;

  if (self->device_limits[index] == QM_LIMIT_NONE || self->device_limits[index] == QM_LIMIT_SUPPORT ||
      limit == QM_LIMIT_BEATEN || margin < self->device_margins[index])
    {
      self->device_limits[index] = limit;
      self->device_margins[index] = margin;
    }
}

/* Keeps what lacks the least memory of all that was tried. */
static void
note_near_miss (QmSearch          *self,
                const QmPlacement *placement,
                const QmSolution  *solution,
                double             margin)
{
  if (!isfinite (margin) || (self->nearest.margin > 0 && margin >= self->nearest.margin))
    return;

  self->nearest = (QmNearMiss) { *solution, placement - &g_array_index (self->placements, QmPlacement, 0), margin };
}

/* Why nothing was found: it does not fit, no speed follows from what is known,
 * or there was nothing to try. */
static void
note_failure (QmSearch          *self,
              const QmPlacement *placement,
              const QmSolution  *solution)
{
  double margin;
  QmLimit limit;

  if (!solution->tried)
    {
      const QmConfiguration *pinned = &self->job.resolved->given->configuration;
      gboolean split = pinned->tensor_parallel > 1 || pinned->pipeline_parallel > 1 || pinned->context_parallel > 1;

      note (self, placement->catalogued, split ? QM_LIMIT_COUNT : QM_LIMIT_BATCH, INFINITY);
      return;
    }

  limit = qm_search_memory_limit (&self->job, placement, &solution->outline, &margin);
  if (limit == QM_LIMIT_NONE)
    note (self, placement->catalogued, QM_LIMIT_NO_RATE, 1);
  else
    {
      note (self, placement->catalogued, limit, margin);
      note_near_miss (self, placement, solution, margin);
    }
}

/* A service is as large as its load asks for, and no larger than it may be. */
static gboolean
too_many (QmSearch          *self,
          const QmPlacement *placement,
          int                machines)
{
  int pinned = qm_search_pinned_machines (&self->job, placement);
  int most = pinned > 0 ? MIN (pinned, placement->max_machines) : placement->max_machines;

  if (machines <= most)
    return FALSE;

  note (self, placement->catalogued, QM_LIMIT_LOAD, (double) machines / most);
  return TRUE;
}

static gboolean
is_right_count (const QmSearch    *self,
                const QmPlacement *placement,
                int                machines)
{
  int pinned = qm_search_pinned_machines (&self->job, placement);

  return self->job.serving ? pinned >= 0 : pinned == 0 || pinned == machines;
}

/* Doubles the machines for as long as it makes the job end sooner by a fair part. */
static void
solve_recipe (QmSearch          *self,
              const QmPlacement *placement,
              int                recipe_index,
              QmTrials          *trials)
{
  QmRecipe *recipe = g_ptr_array_index (self->recipes, recipe_index);
  double before = INFINITY;
  int most = self->job.serving ? 1 : MIN (placement->max_machines, MAX_MACHINES);

  for (int count = 1; count <= most; count *= 2)
    {
      QmSolution solution = { .recipe = recipe_index, .machines = count };

      if (!is_right_count (self, placement, count))
        {
          note (self, placement->catalogued, QM_LIMIT_COUNT, INFINITY);
          continue;
        }
      if (!qm_search_solve (&self->job, recipe, placement, &solution, trials))
        {
          note_failure (self, placement, &solution);
          continue;
        }
      if (!solution.outline.known)
        {
          note (self, placement->catalogued, QM_LIMIT_NO_RATE, 1);
          return;
        }
      if (too_many (self, placement, solution.machines))
        return;

      solution.seconds = qm_job_seconds (&self->job, placement->pricing, solution.machines,
                                         qm_solution_devices (&solution, placement), &solution.outline,
                                         &solution.with_interruptions_seconds);
      if (solution.seconds > 0.8 * before)
        return;
      g_array_append_val (self->solutions, solution);
      if (isnan (solution.seconds) || solution.seconds < SOON_SECONDS)
        return;
      before = solution.seconds;
    }
}

/* Rows of a placement, roughly: an array that grows is moved each time. */
#define ROWS_EACH 3

static Solved
solve_hardware (QmSearch          *self,
                const QmPlacement *placement,
                double             input_rate)
{
  Solved solved = { .first = self->solutions->len, .host_cores = placement->host_cores, .input_rate = input_rate,
                    .host_network_bits_per_second = placement->host_network_bits_per_second,
                    .ram_bytes = placement->ram_bytes, .next = -1 };
  gboolean runs = FALSE;

  for (guint i = 0; i < self->recipes->len; i++)
    {
      if (!qm_recipe_runs_on (g_ptr_array_index (self->recipes, i), &placement->device))
        continue;
      runs = TRUE;
      solve_recipe (self, placement, i, &solved.trials);
    }
  if (!runs)
    note (self, placement->catalogued, QM_LIMIT_SUPPORT, INFINITY);

  solved.n = self->solutions->len - solved.first;
  self->considered += solved.trials.considered;
  return solved;
}

static const char *
network_of (const QmPlacement *placement)
{
  return placement->max_machines > 1 ? placement->interconnect : "";
}

static guint
hash_hardware (gconstpointer data)
{
  const QmPlacement *placement = data;

  return placement->device.index * 31 + placement->per_machine * 7 + placement->cpu_cores;
}

/* Two placements on the same terms of memory, count and network have the same
 * solutions, if the machines around them do as well: the price is all that differs. */
static gboolean
is_same_hardware (gconstpointer data_a,
                  gconstpointer data_b)
{
  const QmPlacement *a = data_a, *b = data_b;

  return a->per_machine == b->per_machine && a->max_machines == b->max_machines && a->cpu_cores == b->cpu_cores &&
         rint (a->device.usable_bytes) == rint (b->device.usable_bytes) && a->device.power_watts == b->device.power_watts &&
         (a->pricing == QM_PRICING_SPOT) == (b->pricing == QM_PRICING_SPOT) &&
         a->device.index == b->device.index && g_str_equal (a->device.id, b->device.id) && g_str_equal (network_of (a), network_of (b));
}

/* --------------------------------------------------------------------- rows */

static void
add_row (QmSearch          *self,
         int                placement_index,
         int                solution_index)
{
  const QmPlacement *placement = &g_array_index (self->placements, QmPlacement, placement_index);
  const QmSolution *solution = &g_array_index (self->solutions, QmSolution, solution_index);
  const QmRecipe *recipe = g_ptr_array_index (self->recipes, solution->recipe);
  const QmEconomics *economics = self->job.economics;
  QmRow row = { .placement = placement_index, .solution = solution_index };

  row.money = qm_job_money (&self->job, placement, solution->machines, solution->seconds,
                            solution->with_interruptions_seconds);
  if (isnan (row.money))
    {
      note (self, placement->catalogued, QM_LIMIT_NO_PRICE, 1);
      return;
    }

  row.seconds = isnan (solution->with_interruptions_seconds) ? solution->seconds : solution->with_interruptions_seconds;
  if (placement->place == QM_PLACE_CLOUD && !self->job.serving)
    row.idle_money = economics->idle_hours * (placement->usd_per_hour * solution->machines * self->job.per_usd);
  row.log_money = log (row.money + row.idle_money + economics->small_money_usd * self->job.per_usd);
  row.finish_seconds = row.seconds + qm_job_start_up_seconds (&self->job, placement->place);
  row.log_hours = isnan (row.seconds) ? 0 : log (row.seconds / 3600 + economics->small_hours);
  row.quality = recipe->accuracy.value.p50;
  row.latency_p99_seconds = solution->latency_p99_seconds;
  row.alone_p99_seconds = solution->alone_p99_seconds;
  row.is_owned = placement->pricing == QM_PRICING_OWNED;
  row.is_rented = placement->place == QM_PLACE_CLOUD;
  row.is_bought = placement->place == QM_PLACE_BUY;
  row.is_relative = recipe->accuracy.is_relative;
  row.hurdles = qm_hurdles_weigh (&self->job, placement, recipe, solution, &row.drawbacks);
  g_array_append_val (self->rows, row);
}

/* Machines that load the same, or both faster than any configuration takes; and
 * hold the same, or both more. */
static gboolean
does_as_well (const Solved      *solved,
              const QmPlacement *placement,
              double             input_rate)
{
  double wanted = solved->trials.wanted;

  if (solved->ram_bytes != placement->ram_bytes &&
      !(qm_trials_fit_host (&solved->trials, solved->ram_bytes) && qm_trials_fit_host (&solved->trials, placement->ram_bytes)))
    return FALSE;
  if (solved->host_cores == placement->host_cores &&
      solved->host_network_bits_per_second == placement->host_network_bits_per_second)
    return TRUE;

  return wanted < INFINITY && (solved->input_rate == input_rate || (solved->input_rate >= wanted && input_rate >= wanted));
}

static double
input_rate_of (const QmSearch    *self,
               const QmPlacement *placement)
{
  QmConfiguration configuration;

  if (self->recipes->len == 0)
    return INFINITY;

  qm_configuration_start (placement, 1, &configuration);
  return qm_evaluator_input_rate (qm_recipe_evaluator (g_ptr_array_index (self->recipes, 0), &self->job, 0), &configuration);
}

/* What was solved before for the hardware of @placement, or is now. */
static const Solved *
solve_placement (QmSearch   *self,
                 GHashTable *hardware,
                 Solved     *solved,
                 int         i)
{
  const QmPlacement *placement = &g_array_index (self->placements, QmPlacement, i);
  double input_rate = input_rate_of (self, placement);
  Solved *first = g_hash_table_lookup (hardware, placement);

  for (Solved *found = first; found != NULL; found = found->next >= 0 ? &solved[found->next] : NULL)
    if (does_as_well (found, placement, input_rate))
      {
        self->considered += found->n;
        return found;
      }

  solved[i] = solve_hardware (self, placement, input_rate);
  if (first == NULL)
    {
      g_hash_table_insert (hardware, (gpointer) placement, &solved[i]);
      return &solved[i];
    }

  solved[i].next = first->next;
  first->next = i;
  return &solved[i];
}

static void
search (QmSearch     *self,
        GCancellable *cancellable)
{
  g_autofree Solved *solved = g_new0 (Solved, self->placements->len + 1);
  g_autoptr (GHashTable) hardware = g_hash_table_new (hash_hardware, is_same_hardware);
  gboolean loads = qm_plan_is_training (self->job.plan) && self->job.plan->data.bytes_per_sample > 0;

  for (guint i = 0; i < self->placements->len && !g_cancellable_is_cancelled (cancellable); i++)
    {
      QmPlacement *placement = &g_array_index (self->placements, QmPlacement, i);
      const Solved *found;

      if (pinned_elsewhere (self, placement))
        continue;
      /* Where no data are loaded the machine around a device makes no difference. */
      if (!loads)
        placement->host_cores = placement->host_network_bits_per_second = 0;
      found = solve_placement (self, hardware, solved, i);
      for (int j = 0; j < found->n; j++)
        add_row (self, i, found->first + j);
    }
}

/**
 * qm_search_complete:
 * @self: a search
 * @row: one of its rows
 * @estimate: (out caller-allocates): all its figures
 */
void
qm_search_complete (const QmSearch *self,
                    const QmRow    *row,
                    QmEstimate     *estimate)
{
  const QmPlacement *placement = &g_array_index (self->placements, QmPlacement, row->placement);
  const QmSolution *solution = &g_array_index (self->solutions, QmSolution, row->solution);

  qm_solution_complete (solution, &self->job, g_ptr_array_index (self->recipes, solution->recipe), placement, estimate);
  qm_job_time (&self->job, placement->place, placement->pricing, solution->machines, estimate);
  estimate->device = placement->catalogued;
  estimate->configuration.host_memory_bytes = placement->ram_bytes;
  if (placement->offer != NULL)
    qm_word_set (estimate->configuration.offer, placement->offer->id);
  qm_job_cost (&self->job, placement, solution->machines, estimate);
}

static QmSearch *
search_with_headroom (QmEstimator      *estimator,
                      const QmResolved *resolved,
                      const QmHere     *here,
                      double            headroom,
                      GCancellable     *cancellable)
{
  QmSearch *self = g_new0 (QmSearch, 1);
  guint n = qm_catalog_n_devices (qm_estimator_get_catalog (estimator));

  qm_job_init (&self->job, estimator, resolved);
  self->job.headroom = headroom;
  self->device_limits = g_new0 (guint8, n);
  self->device_margins = g_new0 (double, n);
  self->recipes = qm_recipes_for_job (&self->job);
  self->placements = qm_placements_list (estimator, resolved, here, self->device_limits);
  self->solutions = g_array_new (FALSE, FALSE, sizeof (QmSolution));
  self->rows = g_array_sized_new (FALSE, FALSE, sizeof (QmRow), ROWS_EACH * self->placements->len);
  self->orders = g_new0 (QmOrder *, QM_OBJECTIVE_MOST_ACCURATE + 1);
  search (self, cancellable);

  return self;
}

/* Whether something that broke no limit but that of memory would fit. */
static gboolean
would_fit (const QmSearch *self,
           double          headroom)
{
  return headroom < self->job.headroom && self->nearest.margin > 0 &&
         self->nearest.margin * (1 - self->job.headroom) <= 1 - headroom;
}

/**
 * qm_search_new:
 * @estimator: an estimator
 * @resolved: a plan
 * @here: (nullable): what this computer has
 * @cancellable: (nullable): ends the search early
 *
 * Searches every device, count, layout and offer of the catalog that the
 * answers allow. Where nothing leaves as much memory free as is wanted, what
 * leaves less is better than no answer: it is searched for next, with a drawback.
 *
 * Returns: (transfer full): the rows, not ranked
 */
QmSearch *
qm_search_new (QmEstimator      *estimator,
               const QmResolved *resolved,
               const QmHere     *here,
               GCancellable     *cancellable)
{
  static const double less[] = { 1 - QM_TIGHT_SHARE, 0 };
  QmSearch *self = search_with_headroom (estimator, resolved, here, qm_plan_get_headroom (resolved->plan), cancellable);

  for (guint i = 0; i < G_N_ELEMENTS (less); i++)
    {
      QmSearch *other;
      QmWish wish;

      qm_search_wish (self, &wish);
      if (qm_search_best (self, &wish) >= 0 || !would_fit (self, less[i]))
        continue;

      other = search_with_headroom (estimator, resolved, here, less[i], cancellable);
      other->considered += self->considered;
      if (qm_search_best (other, &wish) >= 0)
        {
          qm_search_free (self);
          return other;
        }
      self->considered = other->considered;
      qm_search_free (other);
    }

  return self;
}

/**
 * qm_search_free:
 * @self: (transfer full) (nullable): a search
 */
void
qm_search_free (QmSearch *self)
{
  if (self == NULL)
    return;

  g_ptr_array_unref (self->recipes);
  g_array_unref (self->placements);
  g_array_unref (self->solutions);
  g_array_unref (self->rows);
  for (int i = 0; i <= QM_OBJECTIVE_MOST_ACCURATE; i++)
    g_free (self->orders[i]);
  g_free (self->orders);
  g_free (self->device_limits);
  g_free (self->device_margins);
  g_free (self);
}
