/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-scaling.h"
#include "decide/qm-search.h"
#include "estimate/qm-rules.h"

/* What one more doubling brings is seen long before. */
#define MOST_DEVICES 1024
#define MOST_TIMES   16

/* Cards of one's own go into machines of so many, where it is not known better. */
#define USUAL_SLOTS 8

/* A doubling of the devices is worth it that makes the job at least half as fast again. */
#define WORTH_DOUBLING 1.5

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

/**
 * qm_scaling_justified:
 * @curve: (element-type QmScalingPoint): by count
 *
 * Returns: the devices up to which each step of @curve is worth it; 0 where it is empty
 */
int
qm_scaling_justified (const GArray *curve)
{
  const QmScalingPoint *last = NULL;

  for (guint i = 0; i < curve->len; i++)
    {
      const QmScalingPoint *point = &g_array_index (curve, QmScalingPoint, i);

      if (last != NULL && point->speed_up < last->speed_up * pow (WORTH_DOUBLING, log2 ((double) point->devices / last->devices)))
        break;
      last = point;
    }

  return last != NULL ? last->devices : 0;
}

/* As the rule has it: of the weights alone. */
static double
bytes_of_a_weight (QmPrecision precision)
{
  return precision == QM_PRECISION_FP32 || precision == QM_PRECISION_TF32 ? 4 : 2;
}

/**
 * qm_scaling_explain_workers:
 * @estimator: an estimator
 * @resolved: a plan
 * @choice: one of its choices
 *
 * Returns: (transfer full) (nullable): how many devices the worker rule gives, beside
 *   how many the scaling curve justifies; %NULL where the job does not train on devices
 */
QmMessage *
qm_scaling_explain_workers (QmEstimator      *estimator,
                            const QmResolved *resolved,
                            const QmChoice   *choice)
{
  double parameters = resolved->model->parameters;
  double memory = choice->estimate.device != NULL ? choice->estimate.device->memory_bytes : 0;
  double bytes = bytes_of_a_weight (resolved->plan->training.precision);
  int devices = MAX (1, choice->estimate.configuration.devices);
  g_autoptr (GArray) curve = NULL;
  QmMessage *message;
  QmRuleDdp rule;

  if (!qm_plan_is_training (resolved->plan) || !(parameters > 0) || !(memory > 0) || choice->place == QM_PLACE_QUOTED)
    return NULL;
  curve = qm_scaling_curve (estimator, resolved, choice);
  if (curve->len < 2)
    return NULL;

  rule = qm_rule_ddp (devices, parameters, memory, bytes);
  message = qm_message_new ("worker-rule", N_("Devices by the worker rule: {rule}; by the scaling curve: {justified}"));
  qm_message_set_detail (message, rule.infeasible
    ? N_("The rule takes the smaller of two numbers: the devices there are, {devices}, and {parameters} parameters / ({memory} × 0.9 / {bytes} bytes), rounded up: {needed}. That is more than there are. It counts who holds the weights, and knows nothing of speed. By the curve each doubling up to {justified} makes the job at least half as fast again.")
    : N_("The rule takes the smaller of two numbers: the devices there are, {devices}, and {parameters} parameters / ({memory} × 0.9 / {bytes} bytes), rounded up: {needed}. It counts who holds the weights, and knows nothing of speed. By the curve each doubling up to {justified} makes the job at least half as fast again."));
  qm_message_add (message, "rule", QM_ARGUMENT_COUNT, rule.workers);
  qm_message_add (message, "justified", QM_ARGUMENT_COUNT, qm_scaling_justified (curve));
  qm_message_add (message, "devices", QM_ARGUMENT_COUNT, devices);
  qm_message_add (message, "parameters", QM_ARGUMENT_COUNT_SHORT, parameters);
  qm_message_add (message, "memory", QM_ARGUMENT_BYTES, memory);
  qm_message_add (message, "bytes", QM_ARGUMENT_COUNT, bytes);

  return qm_message_add (message, "needed", QM_ARGUMENT_COUNT, rule.needed);
}
