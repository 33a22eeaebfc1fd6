/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-search.h"

/* What one more doubling brings is seen long before. */
#define MOST_DEVICES 1024
#define MOST_TIMES   16

/* Cards of one's own go into machines of so many, where it is not known better. */
#define USUAL_SLOTS 8

/* The recipe of a choice: of those that run on its device, the one that computes
 * again what it does. */
static QmRecipe *
find_recipe (const GPtrArray *recipes,
             const QmChoice  *choice)
{
  for (guint i = 0; i < recipes->len; i++)
    {
      QmRecipe *recipe = g_ptr_array_index (recipes, i);

      if (qm_recipe_runs_on (recipe, choice->estimate.device) &&
          recipe->plan->training.activation_checkpointing == choice->estimate.training.activation_checkpointing)
        return recipe;
    }

  return recipes->len > 0 ? g_ptr_array_index (recipes, 0) : NULL;
}

static int
machines_for (const QmChoice *choice,
              int             devices)
{
  const QmConfiguration *chosen = &choice->estimate.configuration;
  int offered = choice->offer != NULL ? choice->offer->device_count : 0;
  int per_machine = MIN (devices, MAX (1, MAX (offered, chosen->devices / MAX (1, chosen->nodes))));

  if (per_machine == 1 && devices > 1)
    per_machine = MIN (devices, USUAL_SLOTS);

  return MAX (1, devices / per_machine);
}

/* The machines of @choice with so many devices. */
static QmPlacement
placement_for (const QmJob    *job,
               const QmChoice *choice,
               int             devices,
               int             machines)
{
  const QmEstimate *estimate = &choice->estimate;
  QmPlacement placement = { .device = *estimate->device, .catalogued = estimate->device, .place = choice->place,
                            .pricing = estimate->cost.pricing, .offer = choice->offer, .per_machine = devices / machines };

  if (choice->place == QM_PLACE_CLOUD)
    placement.usd_per_hour = estimate->cost.per_hour / job->per_usd / MAX (1, estimate->configuration.devices) *
                             placement.per_machine;

  return placement;
}

/* All but the gain over the first point. */
static gboolean
evaluate (const QmJob    *job,
          QmRecipe       *recipe,
          const QmChoice *choice,
          int             devices,
          QmScalingPoint *point,
          double         *per_second)
{
  int machines = machines_for (choice, devices);
  QmPlacement placement = placement_for (job, choice, devices, machines);
  QmSolution solution = { .machines = machines };
  QmEstimate estimate;
  QmTrials trials = { 0 };

  if (!qm_search_solve (job, recipe, &placement, &solution, &trials) || !solution.outline.known)
    return FALSE;

  qm_solution_complete (&solution, job, recipe, &placement, &estimate);
  qm_job_time (job, placement.place, placement.pricing, machines, &estimate);
  qm_job_cost (job, &placement, machines, &estimate);
  *per_second = estimate.throughput.per_second.p50;
  *point = (QmScalingPoint) { .devices = devices, .seconds = estimate.time.finish, .money = estimate.cost.money,
                              .bound_by = estimate.throughput.bound_by };

  return TRUE;
}

/* Which software a job of no stated framework runs on hangs on the layout: one
 * device alone is usually run by plainer software than many. A curve of both would
 * count the software as a gain of the devices. */
#define ONE_FRAMEWORK "fsdp"

static QmResolved *
with_one_framework (const QmResolved *resolved,
                    const QmChoice   *choice)
{
  QmResolved *copy = qm_resolved_copy (resolved);
  QmTraining *training = &copy->plan->training;
  QmVendor vendor = choice->estimate.device != NULL ? choice->estimate.device->vendor : QM_VENDOR_OTHER;

  if (training->framework[0] == '\0' && copy->plan->task == QM_TASK_LANGUAGE_MODEL && training->method == QM_METHOD_FULL &&
      (vendor == QM_VENDOR_NVIDIA || vendor == QM_VENDOR_AMD))
    qm_word_set (training->framework, ONE_FRAMEWORK);

  return copy;
}

/* The point of the choice has the figures of the choice, the others in proportion. */
static void
fit_to_choice (const QmChoice *choice,
               GArray         *points)
{
  double time = 1, money = 1;

  for (guint i = 0; i < points->len; i++)
    {
      const QmScalingPoint *point = &g_array_index (points, QmScalingPoint, i);

      if (point->devices != choice->estimate.configuration.devices)
        continue;
      time = choice->estimate.time.finish.p50 / point->seconds.p50;
      money = choice->estimate.cost.money.p50 / point->money.p50;
    }
  for (guint i = 0; i < points->len; i++)
    {
      QmScalingPoint *point = &g_array_index (points, QmScalingPoint, i);

      if (isfinite (time))
        point->seconds = qm_range_scale (point->seconds, time);
      if (isfinite (money))
        point->money = qm_range_scale (point->money, money);
    }
}

/**
 * qm_scaling_curve:
 * @estimator: an estimator
 * @resolved: a plan
 * @choice: one of its choices
 *
 * The same job on one device, two, four ... up to sixteen times as many as
 * @choice has, on the same kind of machine and under one framework.
 *
 * Returns: (transfer full) (element-type QmScalingPoint): what more devices
 *   bring; empty where the plan is no job with an end
 */
GArray *
qm_scaling_curve (QmEstimator      *estimator,
                  const QmResolved *resolved,
                  const QmChoice   *choice)
{
  GArray *points = g_array_new (FALSE, FALSE, sizeof (QmScalingPoint));
  int most = MIN (MOST_DEVICES, MOST_TIMES * MAX (1, choice->estimate.configuration.devices));
  g_autoptr (QmResolved) alike = with_one_framework (resolved, choice);
  g_autoptr (GPtrArray) recipes = NULL;
  QmRecipe *recipe;
  double first = 0;
  QmJob job;

  qm_job_init (&job, estimator, alike);
  if (!job.training || choice->estimate.device == NULL)
    return points;

  recipes = qm_recipes_for_job (&job);
  recipe = find_recipe (recipes, choice);
  for (int n = 1; recipe != NULL && n <= most; n *= 2)
    {
      QmScalingPoint point;
      double per_second;

      if (!evaluate (&job, recipe, choice, n, &point, &per_second))
        continue;
      if (first == 0)
        first = per_second / n;
      point.speed_up = per_second / first;
      point.efficiency = point.speed_up / n;
      g_array_append_val (points, point);
    }
  fit_to_choice (choice, points);

  return points;
}
