/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-figures.h"

#include "decide/qm-cold-start.h"
#include "estimate/qm-rules.h"

#include <math.h>

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
  qm_economics_apply (qm_estimator_get_economics (estimator), plan, &self->applied);
  self->economics = &self->applied;
  self->resolved = resolved;
  self->plan = plan;
  self->training = qm_plan_is_training (plan);
  self->serving = plan->activity == QM_ACTIVITY_SERVE;
  self->total_samples = qm_plan_total_samples (plan);
  self->total_tokens = qm_plan_total_tokens (plan);
  self->per_usd = qm_economics_per_usd (self->economics, qm_plan_get_currency (plan));
  self->headroom = qm_plan_get_headroom (plan);
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
  double between = 3600 / interruptions_per_hour;
  double interval = qm_rule_young_seconds (checkpoint_seconds, between);

  if (interval_seconds != NULL)
    *interval_seconds = interval;

  return qm_rule_interrupted_factor (interval, checkpoint_seconds, restart_seconds, between);
}

/* How much longer than undisturbed. */
static double
lengthened (double seconds,
            double with_interruptions)
{
  return isnan (with_interruptions) ? 1 : with_interruptions / seconds;
}

static double
amount_of_work (const QmJob *self,
                QmUnit       unit)
{
  if (unit != QM_UNIT_TOKENS)
    return self->total_samples;
  if (self->training)
    return self->total_tokens;

  /* Generated tokens are counted, not read ones; encoders count what they read. */
  if (self->plan->task == QM_TASK_LANGUAGE_MODEL)
    return self->total_samples * self->plan->serving.output_tokens;

  return self->total_samples * MAX (1, self->plan->serving.input_tokens);
}

/* Of a job that trains for so long; NaN where nothing interrupts it. */
static double
interrupted_seconds (const QmJob *self,
                     QmPricing    pricing,
                     int          machines,
                     double       devices,
                     double       seconds,
                     double      *interval)
{
  const QmEconomics *economics = self->economics;
  double failures_per_hour = devices / economics->mean_hours_between_failures;

  if (pricing == QM_PRICING_SPOT)
    failures_per_hour += economics->spot_interruptions_per_hour * machines;

  *interval = qm_rule_young_seconds (economics->checkpoint_seconds, 3600 / failures_per_hour);
  if (seconds < *interval && pricing != QM_PRICING_SPOT)
    return NAN;

  return seconds * qm_spot_time_factor (failures_per_hour, economics->checkpoint_seconds, economics->restart_seconds, NULL);
}

static void
interrupt (const QmJob *self,
           QmPricing    pricing,
           int          machines,
           QmEstimate  *estimate)
{
  QmTime *time = &estimate->time;
  double interval;
  double interrupted = interrupted_seconds (self, pricing, machines, MAX (1, estimate->configuration.devices),
                                            time->seconds.p50, &interval);

  if (isnan (interrupted))
    return;

  time->with_interruptions_seconds = interrupted;
  time->checkpoint_every_seconds = interval;
}

/**
 * qm_job_start_up_seconds:
 * @self: a job
 * @place: where its machines are
 *
 * Returns: from the order until they work: boot, image, data, first compilation
 */
double
qm_job_start_up_seconds (const QmJob *self,
                         QmPlace      place)
{
  return place == QM_PLACE_CLOUD && !self->serving ? self->economics->start_up_seconds : 0;
}

/**
 * qm_job_time:
 * @self: a job
 * @place: where its machines are
 * @pricing: on what terms they are had
 * @machines: how many
 * @estimate: (inout): its time is set; the rate must be there
 *
 * Time to do all the work once. Serving has no end: its time stays unknown, and
 * its cold start is set.
 */
void
qm_job_time (const QmJob *self,
             QmPlace      place,
             QmPricing    pricing,
             int          machines,
             QmEstimate  *estimate)
{
  QmTime *time = &estimate->time;
  double work = amount_of_work (self, estimate->throughput.unit);

  qm_cold_start_estimate (self, place, estimate);
  if (self->serving || !estimate->throughput.known)
    return;
  if (!qm_range_is_known (time->seconds) && work > 0)
    time->seconds = qm_range_divide (work, estimate->throughput.per_second);
  if (!qm_range_is_known (time->seconds))
    return;
  if (self->training)
    interrupt (self, pricing, machines, estimate);

  time->start_up_seconds = qm_job_start_up_seconds (self, place);
  time->finish = qm_range_scale (time->seconds, lengthened (time->seconds.p50, time->with_interruptions_seconds));
  time->finish.p10 += time->start_up_seconds;
  time->finish.p50 += time->start_up_seconds;
  time->finish.p90 += time->start_up_seconds;
}

/**
 * qm_job_seconds:
 * @self: a job
 * @pricing: on what terms the machines are had
 * @machines: how many
 * @devices: of all of them
 * @outline: whose rate is there
 * @with_interruptions: (out): seconds with what is lost and repeated; NaN where
 *   nothing interrupts
 *
 * Returns: the p50 of what qm_job_time() sets; NaN where it is unknown
 */
double
qm_job_seconds (const QmJob     *self,
                QmPricing        pricing,
                int              machines,
                int              devices,
                const QmOutline *outline,
                double          *with_interruptions)
{
  double work = amount_of_work (self, outline->unit);
  double seconds = outline->seconds;
  double interval;

  *with_interruptions = NAN;
  if (self->serving || !outline->known)
    return NAN;
  if (isnan (seconds) && work > 0)
    seconds = work / outline->per_second;
  if (!isnan (seconds) && self->training)
    *with_interruptions = interrupted_seconds (self, pricing, machines, devices, seconds, &interval);

  return seconds;
}

/* Where devices draw @share of what they may. Of a machine of the person the
 * heat must be carried away, too. */
static double
kilowatts (const QmJob       *self,
           const QmPlacement *placement,
           double             share,
           double             devices,
           double             each,
           int                machines)
{
  const QmEconomics *economics = self->economics;
  double cooling = placement->place == QM_PLACE_CLOUD ? 1 : economics->cooling_factor;

  return (devices * each * share + machines * economics->host_watts) * cooling / 1000;
}

/* Paid while nothing is computed: before the job and after it. */
static double
waiting_hours (const QmJob       *self,
               const QmPlacement *placement)
{
  double idle = placement->place == QM_PLACE_CLOUD ? self->economics->paid_idle_hours : 0;

  return qm_job_start_up_seconds (self, placement->place) / 3600 + idle;
}

static double
paid_hours (const QmJob       *self,
            const QmPlacement *placement,
            double             factor,
            double             seconds)
{
  return seconds * factor / 3600 + waiting_hours (self, placement);
}

/* Of what is kept with a provider and leaves it again, in the plan's currency. */
static void
storage_and_egress (const QmJob       *self,
                    const QmPlacement *placement,
                    double             hours,
                    double            *storage,
                    double            *egress)
{
  const QmEconomics *economics = self->economics;
  double per_gb = placement->offer != NULL && economics->sent_gb > 0 ? qm_economics_egress (economics, placement->offer->provider) : NAN;

  *storage = *egress = 0;
  if (placement->place != QM_PLACE_CLOUD)
    return;

  *storage = economics->stored_gb * economics->storage_usd_per_gb_month * hours / economics->hours_per_month * self->per_usd;
  if (!isnan (per_gb))
    *egress = economics->sent_gb * per_gb * self->per_usd;
}

/* Of what stands at the person's place, in the plan's currency. */
static double
power_per_hour_of (const QmJob       *self,
                   const QmPlacement *placement,
                   double             devices,
                   double             each,
                   int                machines)
{
  if (placement->place == QM_PLACE_CLOUD)
    return 0;

  return kilowatts (self, placement, self->economics->power_share, devices, each, machines) *
         self->economics->electricity_usd_per_kwh * self->per_usd;
}

/* Of a month of its life: what is left of it then was not used up. */
static double
monthly_purchase (const QmJob *self,
                  double       purchase)
{
  return purchase * (1 - self->economics->resale_share) / self->economics->amortisation_months;
}

static void
cost_of_serving (const QmJob       *self,
                 const QmPlacement *placement,
                 int                machines,
                 double             power_per_hour,
                 QmEstimate        *estimate)
{
  const QmEconomics *economics = self->economics;
  QmCostParts *parts = &estimate->cost.parts;
  double month = economics->hours_per_month;
  double hourly = estimate->cost.per_hour + power_per_hour;

  parts->machine = estimate->cost.per_hour * month;
  parts->power = power_per_hour * month;
  storage_and_egress (self, placement, month, &parts->storage, &parts->egress);
  estimate->cost.money = qm_range_exact (hourly * month + parts->storage + parts->egress);
  if (placement->purchase_usd > 0)
    {
      parts->purchase = monthly_purchase (self, estimate->cost.purchase_money);
      estimate->cost.money = qm_range_log_normal (estimate->cost.money.p50 + parts->purchase, QM_REMEMBERED_PRICE_WIDTH);
      hourly += parts->purchase / month;
    }
  if (estimate->throughput.known)
    estimate->cost.per_million_units = qm_range_divide (hourly * 1e6 / 3600, estimate->throughput.per_second);
  estimate->cost.kwh = qm_range_exact (month * kilowatts (self, placement, economics->power_share, estimate->configuration.devices,
                                                          estimate->device->power_watts, machines));
}

/* What the money of a job is for. */
static void
split_cost (const QmJob       *self,
            const QmPlacement *placement,
            double             power_per_hour,
            double             factor,
            QmEstimate        *estimate)
{
  const QmEconomics *economics = self->economics;
  QmCostParts *parts = &estimate->cost.parts;
  double second = estimate->cost.per_hour / 3600;
  double hours = paid_hours (self, placement, factor, estimate->time.seconds.p50);

  parts->machine = second * estimate->time.seconds.p50 * factor;
  parts->power = power_per_hour * hours;
  parts->purchase = placement->purchase_usd > 0 ? estimate->cost.purchase_money : 0;
  if (placement->place != QM_PLACE_CLOUD)
    return;

  parts->start_up = second * (economics->start_up_seconds - economics->failed_seconds - economics->upload_seconds);
  parts->failed_starts = second * economics->failed_seconds;
  parts->upload = second * economics->upload_seconds;
  parts->idle = second * economics->paid_idle_hours * 3600;
  storage_and_egress (self, placement, hours, &parts->storage, &parts->egress);
}

static QmRange
kilowatt_hours (const QmJob       *self,
                const QmPlacement *placement,
                int                machines,
                double             factor,
                const QmEstimate  *estimate)
{
  const QmEconomics *economics = self->economics;
  double devices = estimate->configuration.devices, each = estimate->device->power_watts;
  double busy = kilowatts (self, placement, economics->power_share, devices, each, machines);
  double idle = kilowatts (self, placement, economics->idle_power_share, devices, each, machines);

  return qm_range_add (qm_range_scale (estimate->time.seconds, factor * busy / 3600), idle * waiting_hours (self, placement));
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
  double factor = lengthened (time.p50, estimate->time.with_interruptions_seconds);
  QmCostParts *parts = &estimate->cost.parts;
  QmRange hours;

  if (!qm_range_is_known (time))
    return;

  hours = (QmRange) { paid_hours (self, placement, factor, time.p10), paid_hours (self, placement, factor, time.p50),
                      paid_hours (self, placement, factor, time.p90) };
  split_cost (self, placement, power_per_hour, factor, estimate);
  estimate->cost.money = qm_range_add (qm_range_scale (hours, hourly), parts->storage + parts->egress);
  if (placement->purchase_usd > 0)
    estimate->cost.money = qm_range_log_normal (estimate->cost.purchase_money + estimate->cost.money.p50,
                                                QM_REMEMBERED_PRICE_WIDTH);
  estimate->cost.kwh = kilowatt_hours (self, placement, machines, factor, estimate);
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
 * life where it serves. What the person has costs its power. What the plan says
 * of storage, traffic and idle hours is in it.
 */
void
qm_job_cost (const QmJob       *self,
             const QmPlacement *placement,
             int                machines,
             QmEstimate        *estimate)
{
  QmCost *cost = &estimate->cost;
  double power_per_hour = power_per_hour_of (self, placement, estimate->configuration.devices,
                                             estimate->device->power_watts, machines);
  QmCarbonBasis basis;

  cost->pricing = placement->pricing;
  cost->break_even_months = NAN;
  cost->per_hour = placement->usd_per_hour * machines * self->per_usd;
  cost->as_of = placement->offer == NULL ? placement->catalogued->as_of
                : placement->pricing == QM_PRICING_SPOT && placement->offer->spot_as_of != NULL
                  ? placement->offer->spot_as_of : placement->offer->as_of;
  if (placement->purchase_usd > 0)
    cost->purchase_money = placement->purchase_usd * machines * self->per_usd;

  if (self->serving)
    cost_of_serving (self, placement, machines, power_per_hour, estimate);
  else
    cost_of_a_job (self, placement, machines, power_per_hour, estimate);

  if (placement->place == QM_PLACE_UNSET)
    cost->money = QM_RANGE_UNKNOWN;
  cost->per_hour += power_per_hour;
  cost->known = qm_range_is_known (cost->money);
  cost->carbon_kg_per_kwh = qm_economics_carbon (self->economics, placement->offer, &basis);
  cost->carbon_basis = basis;
  if (qm_range_is_known (cost->kwh))
    cost->kg_co2e = qm_range_scale (cost->kwh, cost->carbon_kg_per_kwh);
}

/**
 * qm_job_money:
 * @self: a job
 * @placement: the machine and its terms
 * @machines: how many of it
 * @seconds: that the job takes undisturbed
 * @with_interruptions: that it takes with them; NaN where there are none
 *
 * Returns: the p50 of the money that qm_job_cost() sets; NaN where it is unknown
 */
double
qm_job_money (const QmJob       *self,
              const QmPlacement *placement,
              int                machines,
              double             seconds,
              double             with_interruptions)
{
  double devices = placement->per_machine * machines;
  double hourly = placement->usd_per_hour * machines * self->per_usd +
                  power_per_hour_of (self, placement, devices, placement->device.power_watts, machines);
  double purchase = placement->purchase_usd > 0 ? placement->purchase_usd * machines * self->per_usd : 0;
  double hours = self->serving ? self->economics->hours_per_month
                               : paid_hours (self, placement, lengthened (seconds, with_interruptions), seconds);
  double storage, egress;

  storage_and_egress (self, placement, hours, &storage, &egress);
  if (self->serving)
    purchase = monthly_purchase (self, purchase);

  return purchase + hours * hourly + storage + egress;
}
