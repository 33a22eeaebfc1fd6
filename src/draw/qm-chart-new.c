/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "decide/qm-past-runs.h"
#include "qm-chart-choices.h"
#include "qm-language.h"

/**
 * qm_device_short_name:
 * @device: (nullable): a device
 *
 * Returns: (transfer full): its name without the maker's and without remarks in
 *   brackets
 */
char *
qm_device_short_name (const QmDevice *device)
{
  static const char * const makers[] = { "NVIDIA GeForce ", "NVIDIA ", "AMD ", "Intel ", "Apple ", "Google ", "AWS ", "Huawei " };
  const char *name = device != NULL ? device->name : "";
  char *shortened;

  for (guint i = 0; i < G_N_ELEMENTS (makers); i++)
    if (g_str_has_prefix (name, makers[i]))
      {
        name += strlen (makers[i]);
        break;
      }

  shortened = g_strdup (name);
  shortened[strcspn (shortened, "(")] = '\0';

  return g_strchomp (shortened);
}

static QmChart *
refuse (GError     **error,
        const char  *sentence)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, sentence);
  return NULL;
}

static QmChart *
new_memory (QmRecommendation *recommendation,
            const QmChoice   *choice,
            const QmWords    *words,
            GError          **error)
{
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;
  double headroom = qm_plan_get_headroom (plan);
  g_autofree char *name = qm_device_short_name (choice->estimate.device);

  if (!qm_range_is_known (choice->estimate.memory.need))
    return refuse (error, words->translate (N_("There is no memory chart: how much memory this job needs is not known")));

  return qm_chart_describe_memory (&choice->estimate.memory, name, choice->estimate.configuration.devices, headroom,
                                   words);
}

static const char *
currency_of (QmRecommendation *recommendation)
{
  return qm_plan_get_currency (qm_recommendation_get_resolved (recommendation)->plan);
}

static QmChart *
new_sizing (QmRecommendation *recommendation,
            const QmChoice   *choice,
            const QmWords    *words,
            GError          **error)
{
  const QmResolved *resolved = qm_recommendation_get_resolved (recommendation);
  QmMemory memory = choice->estimate.memory;
  QmGrowth growth;
  g_autofree char *name = qm_device_short_name (choice->estimate.device);

  memory.measured_bytes = qm_past_runs_measured (resolved->past_runs, resolved, &choice->estimate);
  if (qm_past_runs_growth (resolved->past_runs, resolved, &choice->estimate, &growth))
    memory.history_bytes = growth.bytes;
  if (!(memory.quick_bytes > 0) || !qm_range_is_known (memory.need))
    return refuse (error, words->translate (N_("There is nothing to compare: the rules of thumb count parameters, and this job has "
                                               "none")));

  return qm_chart_describe_sizing (&memory, name, qm_plan_is_training (resolved->plan), words);
}

static QmChart *
new_scaling (QmEstimator      *estimator,
             QmRecommendation *recommendation,
             const QmChoice   *choice,
             const QmWords    *words,
             GError          **error)
{
  g_autofree char *name = qm_device_short_name (choice->estimate.device);
  g_autoptr (GArray) curve = qm_scaling_curve (estimator, qm_recommendation_get_resolved (recommendation), choice);

  if (choice->place == QM_PLACE_QUOTED)
    return refuse (error, words->translate (N_("There is no scaling chart: the figures of this choice are those of the plan, not estimated")));
  if (curve == NULL || curve->len < 2)
    return refuse (error, words->translate (N_("There is no scaling chart: this job runs on one number of devices only")));

  return qm_chart_describe_scaling (curve, name, choice->estimate.configuration.devices, currency_of (recommendation), words);
}

static QmChart *
new_latency (QmRecommendation *recommendation,
          const QmChoice   *choice,
          const QmWords    *words,
          GError          **error)
{
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;
  const QmServing *serving = &plan->serving;
  guint answered = 0;

  for (guint i = 0; choice->waits != NULL && i < choice->waits->len; i++)
    answered += !g_array_index (choice->waits, QmWaitPoint, i).saturated;
  if (answered < 2)
    return refuse (error, words->translate (N_("There is no chart of load: this job has no people who wait for answers, or it is not "
                                               "simulated yet")));

  return qm_chart_describe_latency (choice->waits, choice->estimate.throughput.samples_per_second,
                                 serving->requests_per_second * MAX (1, serving->peak_factor), serving->latency_p99_seconds, words);
}

static QmChart *
new_stages (QmRecommendation *recommendation,
            const QmWords    *words,
            GError          **error)
{
  GPtrArray *stages = qm_recommendation_get_stages (recommendation);

  if (stages == NULL || stages->len == 0)
    return refuse (error, words->translate (qm_recommendation_get_resolved (recommendation)->plan->n_quotes > 0
                                              ? N_("There are no stages: the figures are those of the plan, of one run")
                                              : N_("There are no stages: they are for jobs that train")));

  return qm_chart_describe_stages (stages, qm_recommendation_get_resolved (recommendation)->plan->stage,
                                   currency_of (recommendation), words);
}

typedef QmChart *(*DescribeChoices) (const QmChoiceSet *set,
                                     const QmWords     *words,
                                     GError           **error);

static QmChart *
new_of_choices (QmRecommendation *recommendation,
                guint             row,
                DescribeChoices   describe,
                const QmWords    *words,
                GError          **error)
{
  const QmLimits *limits = &qm_recommendation_get_resolved (recommendation)->plan->limits;
  guint n = qm_recommendation_n_rows (recommendation);
  g_autofree const QmChoice **rows = g_new (const QmChoice *, n);
  QmChoiceSet set = { .n = n, .chosen = row, .currency = currency_of (recommendation), .deadline_seconds = limits->hours * 3600,
                      .budget = limits->money, .minimum_quality = limits->min_accuracy,
                      .latency_seconds = qm_recommendation_get_resolved (recommendation)->plan->serving.latency_p99_seconds };

  for (guint i = 0; i < n; i++)
    rows[i] = qm_recommendation_row (recommendation, i);
  set.rows = rows;

  return describe (&set, words, error);
}

static QmChart *
new_cost_time (QmRecommendation *recommendation,
               guint             row,
               const QmWords    *words,
               GError          **error)
{
  if (qm_recommendation_get_resolved (recommendation)->plan->activity == QM_ACTIVITY_SERVE)
    return refuse (error, words->translate (N_("There is no chart of cost against time: serving has no end, only a cost a month")));

  return new_of_choices (recommendation, row, qm_chart_describe_cost_time, words, error);
}

static QmChart *
new_spot (QmEstimator      *estimator,
          QmRecommendation *recommendation,
          const QmChoice   *choice,
          const QmWords    *words,
          GError          **error)
{
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;
  const QmEstimate *estimate = &choice->estimate;
  const char *currency = currency_of (recommendation);
  g_autofree char *name = qm_choice_short_name (choice, words);
  double hours = estimate->time.seconds.p50 / 3600, rate;
  QmEconomics economics;
  QmSpotFigures figures;

  qm_economics_apply (qm_estimator_get_economics (estimator), plan, &economics);
  rate = qm_economics_per_usd (&economics, currency);
  figures = (QmSpotFigures) { .seconds = estimate->time.seconds.p50, .on_demand_money = NAN,
                              .interruptions_per_hour = economics.spot_interruptions_per_hour,
                              .checkpoint_seconds = economics.checkpoint_seconds, .restart_seconds = economics.restart_seconds };
  if (!qm_plan_is_training (plan))
    return refuse (error, words->translate (N_("There is no spot chart: only training can go on from a checkpoint")));
  if (choice->offer == NULL || !(choice->offer->spot_usd_per_hour > 0) || !(hours > 0))
    return refuse (error, words->translate (N_("There is no spot chart: this machine is not to be had as a spot machine")));

  figures.money = choice->offer->spot_usd_per_hour * choice->machines * hours * rate;
  if (choice->offer->on_demand_usd_per_hour > 0)
    figures.on_demand_money = choice->offer->on_demand_usd_per_hour * choice->machines * hours * rate;

  return qm_chart_describe_spot (&figures, name, currency, words);
}

/* The bought row that is looked at, or the first there is. */
static const QmChoice *
bought_row (QmRecommendation *recommendation,
            const QmChoice   *choice)
{
  if (choice->place == QM_PLACE_BUY)
    return choice;

  for (guint i = 0; i < qm_recommendation_n_rows (recommendation); i++)
    if (qm_recommendation_row (recommendation, i)->place == QM_PLACE_BUY)
      return qm_recommendation_row (recommendation, i);

  return NULL;
}

static const QmChoice *
cheapest_rent (QmRecommendation *recommendation)
{
  const QmChoice *cheapest = NULL;

  for (guint i = 0; i < qm_recommendation_n_rows (recommendation); i++)
    {
      const QmChoice *row = qm_recommendation_row (recommendation, i);

      if (row->place == QM_PLACE_CLOUD && row->estimate.cost.money.p50 > 0 &&
          (cheapest == NULL || row->estimate.cost.money.p50 < cheapest->estimate.cost.money.p50))
        cheapest = row;
    }

  return cheapest;
}

static QmChart *
new_buy_or_rent (QmEstimator      *estimator,
                 QmRecommendation *recommendation,
                 const QmChoice   *choice,
                 const QmWords    *words,
                 GError          **error)
{
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;
  gboolean serves = plan->activity == QM_ACTIVITY_SERVE;
  const QmChoice *bought = bought_row (recommendation, choice), *rented = cheapest_rent (recommendation);
  QmEconomics economics;
  QmOwningFigures figures;
  double hours;
  g_autofree char *name = NULL;

  if (bought == NULL || rented == NULL)
    return refuse (error, words->translate (N_("There is nothing to compare: the choices are not both to rent and to buy")));

  qm_economics_apply (qm_estimator_get_economics (estimator), plan, &economics);
  hours = serves ? economics.hours_per_month : bought->estimate.time.seconds.p50 / 3600;
  figures = (QmOwningFigures) { .purchase = bought->estimate.cost.purchase_money * (1 - economics.resale_share),
                                .own_per_hour = bought->estimate.cost.per_hour,
                                .rent_per_hour = qm_range_scale (rented->estimate.cost.money, 1 / hours),
                                .resale_share = economics.resale_share, .use_hours_per_month = economics.use_hours_per_month,
                                .lifetime_hours = economics.amortisation_months *
                                                  (isnan (economics.use_hours_per_month) ? economics.hours_per_month
                                                                                         : economics.use_hours_per_month) };
  figures.break_even_hours = figures.purchase / (figures.rent_per_hour.p50 - figures.own_per_hour);
  if (!(figures.break_even_hours > 0) || isinf (figures.break_even_hours))
    return refuse (error, words->translate (N_("Buying never pays here: an hour of rent costs less than the power of an own device")));

  name = g_strdup_printf ("%d × %s", MAX (1, bought->estimate.configuration.devices),
                          bought->estimate.device != NULL ? bought->estimate.device->name : "");
  return qm_chart_describe_buy_or_rent (&figures, name, currency_of (recommendation), words);
}

static QmChart *
new_elastic (QmEstimator      *estimator,
             QmRecommendation *recommendation,
             const QmChoice   *choice,
             GArray           *load,
             const QmWords    *words,
             GError          **error)
{
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;
  const QmConfiguration *configuration = &choice->estimate.configuration;
  g_autofree char *device = qm_device_short_name (choice->estimate.device);
  g_autofree char *name = g_strdup_printf ("%d × %s", MAX (1, configuration->devices / MAX (1, configuration->nodes)), device);
  g_autoptr (QmElastic) elastic = NULL;

  if (plan->activity != QM_ACTIVITY_SERVE)
    return refuse (error, words->translate (N_("There is no chart of replicas: only a service has a load that goes up and down")));
  if (choice->place != QM_PLACE_CLOUD)
    return refuse (error, words->translate (N_("There is no chart of replicas: only rented machines stop costing when they stop")));

  elastic = qm_elastic_of_choice (estimator, plan, choice, load, &QM_ELASTIC_RULE_USUAL, NULL);
  if (elastic == NULL)
    return refuse (error, words->translate (N_("There is no chart of replicas: the plan does not say how many requests come")));

  return qm_chart_describe_elastic (elastic, name, currency_of (recommendation), words);
}

static QmChart *
new_decision (QmRecommendation *recommendation,
              QmDial            dial,
              const QmWords    *words,
              GError          **error)
{
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;
  g_autoptr (GArray) bands = qm_recommendation_bands (recommendation, qm_recommendation_get_here (recommendation), dial, NULL);
  QmChart *self = qm_chart_describe_decision (bands, dial, dial == QM_DIAL_HOURS ? plan->limits.hours : plan->limits.money,
                                              plan->activity == QM_ACTIVITY_SERVE, currency_of (recommendation), words);

  return self != NULL ? self : refuse (error, words->translate (N_("There is no chart of decisions: this limit makes no difference here")));
}

/**
 * qm_chart_new_elastic:
 * @estimator: the estimator
 * @recommendation: what to show
 * @row: the row of the decision matrix that is looked at
 * @load: (element-type QmLoadPoint): how the load changes over time
 * @words: the reader's language
 * @error: return location for an error
 *
 * Returns: (transfer full): the chart of replicas as qm_chart_new() gives it, for
 *   a load of one's own; %NULL likewise
 */
QmChart *
qm_chart_new_elastic (QmEstimator      *estimator,
                      QmRecommendation *recommendation,
                      guint             row,
                      GArray           *load,
                      const QmWords    *words,
                      GError          **error)
{
  const QmChoice *choice = row < qm_recommendation_n_rows (recommendation) ? qm_recommendation_row (recommendation, row) : NULL;
  QmChart *self;

  if (choice == NULL)
    return refuse (error, words->translate (N_("There is no chart: nothing that is allowed can run this job")));

  self = new_elastic (estimator, recommendation, choice, load, words, error);
  if (self != NULL)
    self->language = g_strdup (qm_language_get_tag ());

  return self;
}

/* Where the job fits nowhere, its memory on what comes nearest is all there is to
 * show. */
static const QmChoice *
find_row (QmRecommendation *recommendation,
          guint             row,
          QmChartKind       kind)
{
  if (row < qm_recommendation_n_rows (recommendation))
    return qm_recommendation_row (recommendation, row);

  return kind == QM_CHART_MEMORY || kind == QM_CHART_SIZING ? qm_recommendation_get_nearest (recommendation) : NULL;
}

/**
 * qm_chart_new:
 * @kind: which chart
 * @estimator: the estimator
 * @recommendation: what to show
 * @row: the row of the decision matrix that is looked at; where it has none, memory
 *   is that of what comes nearest
 * @words: the reader's language
 * @error: return location for an error
 *
 * Returns: (transfer full): a chart; %NULL with %G_IO_ERROR_NOT_FOUND and a
 *   sentence that says why where the plan has nothing for it to show
 */
QmChart *
qm_chart_new (QmChartKind       kind,
              QmEstimator      *estimator,
              QmRecommendation *recommendation,
              guint             row,
              const QmWords    *words,
              GError          **error)
{
  const QmChoice *choice = find_row (recommendation, row, kind);
  QmChart *self = NULL;

  if (choice == NULL)
    return refuse (error, words->translate (N_("There is no chart: nothing that is allowed can run this job")));

  switch (kind)
    {
    case QM_CHART_MEMORY: self = new_memory (recommendation, choice, words, error); break;
    case QM_CHART_SIZING: self = new_sizing (recommendation, choice, words, error); break;
    case QM_CHART_SCALING: self = new_scaling (estimator, recommendation, choice, words, error); break;
    case QM_CHART_COST_TIME: self = new_cost_time (recommendation, row, words, error); break;
    case QM_CHART_ACCURACY: self = new_of_choices (recommendation, row, qm_chart_describe_accuracy, words, error); break;
    case QM_CHART_STAGES: self = new_stages (recommendation, words, error); break;
    case QM_CHART_SERVING: self = new_of_choices (recommendation, row, qm_chart_describe_serving, words, error); break;
    case QM_CHART_LATENCY: self = new_latency (recommendation, choice, words, error); break;
    case QM_CHART_SPOT: self = new_spot (estimator, recommendation, choice, words, error); break;
    case QM_CHART_BUY_OR_RENT: self = new_buy_or_rent (estimator, recommendation, choice, words, error); break;
    case QM_CHART_ELASTIC: self = new_elastic (estimator, recommendation, choice, NULL, words, error); break;
    case QM_CHART_DECISION_HOURS: self = new_decision (recommendation, QM_DIAL_HOURS, words, error); break;
    case QM_CHART_DECISION_MONEY: self = new_decision (recommendation, QM_DIAL_MONEY, words, error); break;
    case QM_CHART_HISTORY:
    case QM_CHART_FITS:
      return refuse (error, words->translate (N_("This chart is of the runs that were recorded, not of a plan: see History in the window")));
    case QM_CHART_COMPARED:
    case QM_CHART_METHODS:
    default: g_return_val_if_reached (NULL);
    }
  if (self != NULL)
    self->language = g_strdup (qm_language_get_tag ());

  return self;
}
