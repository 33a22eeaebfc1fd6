/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-choices.h"

/* While one waits beside the screen. */
#define PATIENCE_SECONDS 3600.0
/* Who wants the cheapest counts trouble only between equals, as in the ranking. */
#define TIE_BREAK 0.02

static void
stage_free (QmStagePlan *self)
{
  qm_message_free (self->message);
  g_free (self);
}

typedef struct {
  QmStage stage;
  double share;                     /* of the full job, in one run */
  double runs;
  double patience_seconds;          /* of one run; infinite: no matter */
  QmObjective objective;
  const char *code;
  const char *msgid;
} Step;

/* The machine stays up from one run to the next: it starts once. */
static double
step_seconds (const QmSearch *search,
              const QmRow    *row,
              const Step     *step)
{
  const QmPlacement *placement = &g_array_index (search->placements, QmPlacement, row->placement);

  return row->seconds * step->share * step->runs +
         qm_job_start_up_seconds (&search->job, placement->place);
}

static double
step_money (const QmSearch *search,
            const QmRow    *row,
            const Step     *step)
{
  const QmPlacement *placement = &g_array_index (search->placements, QmPlacement, row->placement);
  int machines = g_array_index (search->solutions, QmSolution, row->solution).machines;
  double hours = step_seconds (search, row, step) / 3600;

  return (placement->usd_per_hour * hours + placement->purchase_usd) * machines * search->job.per_usd;
}

static const char *
provider_of (const QmPlacement *placement)
{
  return placement->offer != NULL ? placement->offer->provider : NULL;
}

/* Settings do not carry over to another device or number of them, nor data and
 * images to another provider: each is work of its own. */
static int
count_changes (const QmSearch *search,
               const QmRow    *row,
               int             production)
{
  const QmRow *last = &g_array_index (search->rows, QmRow, production);
  const QmPlacement *here = &g_array_index (search->placements, QmPlacement, row->placement);
  const QmPlacement *there = &g_array_index (search->placements, QmPlacement, last->placement);
  int devices_here = qm_solution_devices (&g_array_index (search->solutions, QmSolution, row->solution), here);
  int devices_there = qm_solution_devices (&g_array_index (search->solutions, QmSolution, last->solution), there);

  return (here->catalogued != there->catalogued) + (devices_here != devices_there) +
         (g_strcmp0 (provider_of (here), provider_of (there)) != 0);
}

/* Short trials within one's patience are all alike; full runs are waited for as
 * the answer itself is. */
static double
weight_of_waiting (const QmSearch *search,
                   const QmWish   *wish,
                   const QmRow    *row,
                   const Step     *step)
{
  const QmEconomics *economics = search->job.economics;

  if (step->objective != QM_OBJECTIVE_BALANCED || wish->objective == QM_OBJECTIVE_CHEAPEST)
    return 0;

  return economics->weight_of_time * log (row->seconds * step->share / 3600 + economics->small_hours);
}

/* Cheapest machine on which one run of the step does not try one's patience,
 * with what it costs to change to that of the last step, the answer to the plan
 * itself. */
static int
best_for (const QmSearch *search,
          const QmWish   *wish,
          const Step     *step,
          int             production)
{
  double weight_of_trouble = wish->objective == QM_OBJECTIVE_CHEAPEST ? TIE_BREAK : 1;
  double lowest = INFINITY;
  int best = -1;
  QmLimit limit;
  double margin;

  for (guint i = 0; i < search->rows->len; i++)
    {
      const QmRow *row = &g_array_index (search->rows, QmRow, i);
      const QmPlacement *placement = &g_array_index (search->placements, QmPlacement, row->placement);
      double money = step_money (search, row, step);
      double score;

      /* Nobody buys for a trial, and a machine that vanishes while one sits before
       * it spoils an afternoon; a full run goes on from its checkpoint. */
      if (placement->place == QM_PLACE_BUY || (placement->pricing == QM_PRICING_SPOT && isfinite (step->patience_seconds)))
        continue;
      if (row->seconds * step->share > step->patience_seconds)
        continue;
      /* A full run keeps what the last one must keep. */
      if (step->share == 1 && qm_search_breaks (search, row, wish, &limit, &margin))
        continue;
      score = log (money + search->job.economics->small_money_usd * search->job.per_usd) +
              weight_of_waiting (search, wish, row, step) +
              weight_of_trouble * (row->hurdles + search->job.economics->hurdle_change * count_changes (search, row, production));
      if (score < lowest)
        {
          lowest = score;
          best = i;
        }
    }

  return best;
}

/* What all runs of a step cost. A machine that is bought is there for the steps after
 * the one that buys it: these pay its power alone. */
static double
money_of_step (const QmCost *cost,
               const Step   *step,
               double        hours,
               gboolean      bought)
{
  double purchase = cost->purchase_money > 0 ? cost->purchase_money : 0;

  if (step->runs == 1 || !cost->known)
    return cost->money.p50 - (bought ? purchase : 0);

  return cost->per_hour * hours + (bought ? 0 : purchase);
}

static void
add_step (const QmSearch *search,
          const QmWish   *wish,
          const Step     *step,
          int             index,
          gboolean        bought,
          GPtrArray      *stages)
{
  const QmRow *row = &g_array_index (search->rows, QmRow, index);
  QmStagePlan *stage = g_new0 (QmStagePlan, 1);
  QmChoice choice;

  qm_choice_from_row (search, row, wish, &choice);
  stage->stage = step->stage;
  stage->device = choice.estimate.device;
  stage->hours = step_seconds (search, row, step) / 3600;
  stage->money = money_of_step (&choice.estimate.cost, step, stage->hours, bought);
  g_strlcpy (stage->label, choice.label, sizeof stage->label);
  stage->message = qm_message_new (step->code, step->msgid);
  qm_message_add (stage->message, "runs", QM_ARGUMENT_COUNT, step->runs);
  g_ptr_array_add (stages, stage);
  qm_choice_clear (&choice);
}

/**
 * qm_search_stages:
 * @search: a search
 * @wish: the limits and the objective
 * @choices: (element-type QmChoice): what was picked
 *
 * Returns: (transfer full) (element-type QmStagePlan): prototype, development and
 *   production, which may take three devices; empty for serving and batch work
 */
GPtrArray *
qm_search_stages (const QmSearch *search,
                  const QmWish   *wish,
                  const GArray   *choices)
{
  const QmEconomics *economics = search->job.economics;
  const Step steps[] = {
    { QM_STAGE_PROTOTYPE, economics->prototype_share, economics->prototype_runs, PATIENCE_SECONDS, QM_OBJECTIVE_CHEAPEST,
      "prototype", N_("{runs} short runs on a sample, until the idea holds") },
    { QM_STAGE_DEVELOPMENT, 1, economics->development_runs, INFINITY, QM_OBJECTIVE_BALANCED,
      "development", N_("{runs} full runs, until the settings are right") },
    { QM_STAGE_PRODUCTION, 1, 1, INFINITY, QM_OBJECTIVE_BALANCED, "production", N_("The last run, whose result is kept") },
  };
  GPtrArray *stages = g_ptr_array_new_with_free_func ((GDestroyNotify) stage_free);
  int production = qm_search_best (search, wish);
  gboolean there = FALSE;

  if (!search->job.training || production < 0)
    return stages;

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      int index = i + 1 < G_N_ELEMENTS (steps) ? best_for (search, wish, &steps[i], production) : production;

      index = index >= 0 ? index : production;
      /* Nothing but the last one's machine is bought. */
      add_step (search, wish, &steps[i], index, there && index == production, stages);
      there |= index == production;
    }

  return stages;
}
