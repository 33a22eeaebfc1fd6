/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-choices.h"

/* The marginal rule: less than half a point is not worth twice the resources,
 * where the person says nothing else. */
#define MARGINAL_POINTS 0.5
#define MARGINAL_RATIO  2.0
/* It is said only where it is likely true. */
#define MARGINAL_CERTAINTY 0.8

/* Differences of less than a hundredth do not make one choice dominate another. */
#define SAME 1.01
#define SAME_HURDLES 0.01
/* Nobody feels that an answer comes a tenth later. */
#define SAME_WAIT 1.1

static double
seconds_of (const QmChoice *choice)
{
  return isnan (choice->estimate.time.finish.p50) ? 1 : choice->estimate.time.finish.p50;
}

/* Quality as points, higher is better; 0 where nothing is known of either. */
static double
points_of (const QmChoice *choice)
{
  const QmAccuracy *accuracy = &choice->estimate.accuracy;

  if (!qm_range_is_known (accuracy->value))
    return 0;
  if (accuracy->is_relative)
    return accuracy->value.p50;

  /* loss is better when lower */
  return g_strcmp0 (accuracy->metric, "loss") == 0 ? -100 * accuracy->value.p50 : 100 * accuracy->value.p50;
}

static double
points_deviation (const QmChoice *choice)
{
  const QmAccuracy *accuracy = &choice->estimate.accuracy;

  if (!qm_range_is_known (accuracy->value))
    return 0;

  return (accuracy->value.p90 - accuracy->value.p10) / (2 * QM_NORMAL_P90) * (accuracy->is_relative ? 1 : 100);
}

/* How long people wait for half of the answers of a service. */
static double
wait_of (const QmChoice *choice)
{
  const QmServingFigures *serving = &choice->estimate.serving;

  return serving->known && qm_range_is_known (serving->latency_p50_seconds) ? serving->latency_p50_seconds.p50 : 0;
}

static gboolean
dominates (const QmChoice *a,
           const QmChoice *b)
{
  double money_a = a->estimate.cost.money.p50, money_b = b->estimate.cost.money.p50;
  double time_a = seconds_of (a), time_b = seconds_of (b);
  double points_a = points_of (a), points_b = points_of (b);

  /* What is harder to get or to set up is no better for being cheaper. */
  if (money_a > money_b || time_a > time_b || points_a < points_b || a->hurdles > b->hurdles + SAME_HURDLES)
    return FALSE;
  if (wait_of (a) > SAME_WAIT * wait_of (b))
    return FALSE;

  return money_a * SAME < money_b || time_a * SAME < time_b || points_a > points_b + 0.05;
}

/* Probability that @a gains less than the rule's points over @b. Two rows with
 * one recipe have one quality: nothing is gained, for certain. */
static double
gains_little (const QmChoice *a,
              const QmChoice *b,
              double          points)
{
  double gain = points_of (a) - points_of (b);
  double deviation = hypot (points_deviation (a), points_deviation (b));

  if (gain == 0 || deviation == 0)
    return gain < points ? 1 : 0;

  return 0.5 * erfc (-(points - gain) / deviation / sqrt (2));
}

static void
apply_marginal_rule (QmChoice       *row,
                     const QmChoice *chosen,
                     const QmLimits *limits)
{
  double points = isnan (limits->marginal_points) ? MARGINAL_POINTS : limits->marginal_points;
  double ratio = isnan (limits->marginal_ratio) ? MARGINAL_RATIO : limits->marginal_ratio;

  if (gains_little (row, chosen, points) < MARGINAL_CERTAINTY)
    return;

  row->ruled_out_by_count = row->estimate.configuration.devices >= ratio * chosen->estimate.configuration.devices;
  row->ruled_out_by_gpu_hours = row->gpu_hours >= ratio * chosen->gpu_hours;
  row->ruled_out_by_cost = row->estimate.cost.money.p50 >= ratio * chosen->estimate.cost.money.p50;
  if (row->ruled_out_by_count || row->ruled_out_by_gpu_hours || row->ruled_out_by_cost)
    row->ruled_out_against = 0;
}

/* The row that leaves @index no reason to be chosen: of several the one that is
 * easiest to use; -1 if there is none. */
static int
dominator_of (const GArray *rows,
              guint         index)
{
  const QmChoice *row = &g_array_index (rows, QmChoice, index);
  int found = -1;

  for (guint i = 0; i < rows->len; i++)
    {
      const QmChoice *other = &g_array_index (rows, QmChoice, i);

      if (i != index && dominates (other, row) &&
          (found < 0 || other->hurdles < g_array_index (rows, QmChoice, found).hurdles))
        found = i;
    }

  return found;
}

/**
 * qm_matrix_compare:
 * @rows: (element-type QmChoice): the choice first
 * @limits: of the plan, with its marginal rule
 *
 * Marks the Pareto front of money, time and quality, who dominates whom, and
 * what the marginal rule rules out against the first row: that with a
 * probability of 0.8 it gains less than half a point, for twice the devices,
 * hours of devices or money.
 */
void
qm_matrix_compare (GArray         *rows,
                   const QmLimits *limits)
{
  for (guint i = 0; i < rows->len; i++)
    {
      QmChoice *row = &g_array_index (rows, QmChoice, i);

      row->dominated_by = dominator_of (rows, i);
      row->pareto = row->dominated_by < 0;
      if (i > 0)
        apply_marginal_rule (row, &g_array_index (rows, QmChoice, 0), limits);
    }
}
