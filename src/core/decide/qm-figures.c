/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-figures.h"

#include <math.h>

/* Relative uncertainty (ln p90/p50) of a price that was remembered, not listed. */
#define REMEMBERED_PRICE_HALF_WIDTH 0.26

/**
 * qm_job_init:
 * @self: (out caller-allocates): the job
 * @estimator: an estimator
 * @resolved: a plan
 */
void
qm_job_init (QmJob            *self,
             QmEstimator      *estimator,
             const QmResolved *resolved)
{
  const QmPlan *plan = resolved->plan;

  *self = (QmJob) { 0 };
  self->estimator = estimator;
  self->economics = qm_estimator_get_economics (estimator);
  self->resolved = resolved;
  self->plan = plan;
  self->training = qm_plan_is_training (plan);
  self->serving = plan->activity == QM_ACTIVITY_SERVE;
  self->total_samples = qm_plan_total_samples (plan);
  self->total_tokens = qm_plan_total_tokens (plan);
  self->per_usd = qm_economics_per_usd (self->economics, qm_plan_get_currency (plan));
  if (self->serving && plan->serving.requests_per_second > 0)
    self->peak_requests_per_second = plan->serving.requests_per_second * MAX (1, plan->serving.peak_factor);
}

/**
 * qm_spot_time_factor:
 * @interruptions_per_hour: rate of interruptions of the whole job
 * @checkpoint_seconds: to write a checkpoint
 * @restart_seconds: until the job runs again
 * @interval_seconds: (out) (optional): the checkpoint interval that costs least
 *
 * Young's interval, and Daly's expected time with lost work and restarts
 * (J. W. Young 1974; J. T. Daly 2006).
 *
 * Returns: expected time over undisturbed time
 */
double
qm_spot_time_factor (double  interruptions_per_hour,
                     double  checkpoint_seconds,
                     double  restart_seconds,
                     double *interval_seconds)
{
  double rate = interruptions_per_hour / 3600;
  double interval = sqrt (2 * checkpoint_seconds / rate);

  if (interval_seconds != NULL)
    *interval_seconds = interval;

  return exp (rate * restart_seconds) * expm1 (rate * (interval + checkpoint_seconds)) / (rate * interval);
}

static double
amount_of_work (const QmJob      *self,
                const QmEstimate *estimate)
{
  if (estimate->throughput.unit != QM_UNIT_TOKENS)
    return self->total_samples;
  if (self->training)
    return self->total_tokens;

  /* Generated tokens are counted, not read ones; encoders count what they read. */
  if (self->plan->task == QM_TASK_LANGUAGE_MODEL)
    return self->total_samples * self->plan->serving.output_tokens;

  return self->total_samples * MAX (1, self->plan->serving.input_tokens);
}

/**
 * qm_job_time:
 * @self: a job
 * @pricing: on what terms the machines are had
 * @machines: how many
 * @estimate: (inout): its time is set; the rate must be there
 *
 * Time to do all the work once. Serving has no end: its time stays unknown.
 */
void
qm_job_time (const QmJob *self,
             QmPricing    pricing,
             int          machines,
             QmEstimate  *estimate)
{
  const QmEconomics *economics = self->economics;
  double devices = MAX (1, estimate->configuration.devices);
  double work = amount_of_work (self, estimate);
  double factor, interval, failures_per_hour;

  if (self->serving || !estimate->throughput.known)
    return;
  if (!qm_range_is_known (estimate->time.seconds) && work > 0)
    estimate->time.seconds = qm_range_divide (work, estimate->throughput.per_second);
  if (!qm_range_is_known (estimate->time.seconds) || !self->training)
    return;

  failures_per_hour = devices / economics->mean_hours_between_failures;
  if (pricing == QM_PRICING_SPOT)
    failures_per_hour += economics->spot_interruptions_per_hour * machines;

  factor = qm_spot_time_factor (failures_per_hour, economics->checkpoint_seconds, economics->restart_seconds, &interval);
  if (estimate->time.seconds.p50 < interval && pricing != QM_PRICING_SPOT)
    return;

  estimate->time.with_interruptions_seconds = estimate->time.seconds.p50 * factor;
  estimate->time.checkpoint_every_seconds = interval;
}

static double
watts (const QmJob      *self,
       const QmEstimate *estimate,
       int               machines)
{
  const QmEconomics *economics = self->economics;
  double each = estimate->device->power_watts;

  return estimate->configuration.devices * each * economics->power_share + machines * economics->host_watts;
}

static double
paid_seconds (const QmJob       *self,
              const QmPlacement *placement,
              const QmEstimate  *estimate,
              double             seconds)
{
  double factor = 1;

  if (!isnan (estimate->time.with_interruptions_seconds) && placement->pricing == QM_PRICING_SPOT)
    factor = estimate->time.with_interruptions_seconds / estimate->time.seconds.p50;

  return seconds * factor + (placement->place == QM_PLACE_CLOUD ? self->economics->start_up_seconds : 0);
}

static void
cost_of_serving (const QmJob       *self,
                 const QmPlacement *placement,
                 double             power_per_hour,
                 QmEstimate        *estimate)
{
  const QmEconomics *economics = self->economics;
  double hourly = estimate->cost.per_hour + power_per_hour;

  estimate->cost.money = qm_range_exact (hourly * economics->hours_per_month);
  if (placement->purchase_usd > 0)
    {
      double monthly = estimate->cost.purchase_money / economics->amortisation_months;

      estimate->cost.money = qm_range_log_normal (estimate->cost.money.p50 + monthly, REMEMBERED_PRICE_HALF_WIDTH);
      hourly += monthly / economics->hours_per_month;
    }
  if (estimate->throughput.known)
    estimate->cost.per_million_units = qm_range_divide (hourly * 1e6 / 3600, estimate->throughput.per_second);
  estimate->cost.kwh = qm_range_exact (economics->hours_per_month * watts (self, estimate, 1) / 1000);
}

static void
cost_of_a_job (const QmJob       *self,
               const QmPlacement *placement,
               int                machines,
               double             power_per_hour,
               QmEstimate        *estimate)
{
  QmRange time = estimate->time.seconds;
  double hourly = estimate->cost.per_hour + power_per_hour;
  QmRange hours;

  if (!qm_range_is_known (time))
    return;

  hours = (QmRange) { paid_seconds (self, placement, estimate, time.p10) / 3600,
                      paid_seconds (self, placement, estimate, time.p50) / 3600,
                      paid_seconds (self, placement, estimate, time.p90) / 3600 };
  estimate->cost.money = qm_range_scale (hours, hourly);
  if (placement->purchase_usd > 0)
    estimate->cost.money = qm_range_log_normal (estimate->cost.purchase_money + estimate->cost.money.p50,
                                                REMEMBERED_PRICE_HALF_WIDTH);
  estimate->cost.kwh = qm_range_scale (hours, watts (self, estimate, machines) / 1000);
  estimate->cost.per_million_units = qm_range_divide (hourly * 1e6 / 3600, estimate->throughput.per_second);
}

/**
 * qm_job_cost:
 * @self: a job
 * @placement: the machine and its terms
 * @machines: how many of it
 * @estimate: (inout): its cost is set; time and rate must be there
 *
 * Money in the plan's currency: of the whole job, start-up included; of a month
 * where it serves. What is bought is paid in full, or by the month over its
 * life where it serves. What the person has costs its power.
 */
void
qm_job_cost (const QmJob       *self,
             const QmPlacement *placement,
             int                machines,
             QmEstimate        *estimate)
{
  QmCost *cost = &estimate->cost;
  double power_per_hour = 0;

  cost->pricing = placement->pricing;
  cost->per_hour = placement->usd_per_hour * machines * self->per_usd;
  cost->as_of = placement->offer == NULL ? placement->catalogued->as_of
                : placement->pricing == QM_PRICING_SPOT && placement->offer->spot_as_of != NULL
                  ? placement->offer->spot_as_of : placement->offer->as_of;
  if (placement->purchase_usd > 0)
    cost->purchase_money = placement->purchase_usd * machines * self->per_usd;
  if (placement->place != QM_PLACE_CLOUD)
    power_per_hour = watts (self, estimate, machines) / 1000 * self->economics->electricity_usd_per_kwh * self->per_usd;

  if (self->serving)
    cost_of_serving (self, placement, power_per_hour, estimate);
  else
    cost_of_a_job (self, placement, machines, power_per_hour, estimate);

  cost->per_hour += power_per_hour;
  cost->known = qm_range_is_known (cost->money);
  if (qm_range_is_known (cost->kwh))
    cost->kg_co2e = qm_range_scale (cost->kwh, self->economics->carbon_kg_per_kwh);
}
