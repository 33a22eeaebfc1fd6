/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-elastic.h"

#include <glib/gi18n.h>
#include <math.h>

#include "estimate/qm-rules.h"
#include "qm-error.h"

/* Kubernetes' horizontal autoscaler as it comes (autoscaling/v2): it looks every
 * 15 seconds, leaves a tenth of deviation alone, and removes only what five
 * minutes agree on. */
#define EVERY_SECONDS     15
#define DEAD_BAND         0.1
#define COOL_DOWN_SECONDS 300

/* The article's rule: 70 % of the GPUs in use, 2 to 8 replicas. */
#define TARGET 0.7
#define FEWEST 2
#define MOST   8

#define STEP_SECONDS   60
#define MOST_SERVERS   4096
#define MOST_FIXED     8
#define MOST_COOL_DOWN 4096

/* In an hour no queue grows further than chance takes it: 99 of 100 times not
 * beyond 2.58 deviations of the arrivals and answers of that time. */
#define QUEUE_SECONDS  3600
#define QUEUE_QUANTILE 2.576

typedef struct {
  const QmElasticReplica *replica;
  const QmElasticRule *rule;
  GArray *starting;                 /* of double: when each will be ready, in order */
  double *wanted;                   /* by the rule, of the last cool-down */
  guint n_wanted;
  guint next_wanted;
  int ready;
  double backlog;
} Fleet;

/* How the wait of the answers of one step is spread: P (W > w) = chance e^(-w / scale). */
typedef struct {
  double weight;
  double offset;
  double chance;
  double scale;
} Wait;

/**
 * qm_elastic_target:
 * @rule: an autoscaler's
 * @replicas: that are paid
 * @utilisation: mean over them, 0 to 1
 *
 * Returns: replicas that would bring the utilisation to the target: ceil (replicas
 *   × utilisation / target) within the bounds, or as many as there are within the
 *   dead band
 */
int
qm_elastic_target (const QmElasticRule *rule,
                   int                  replicas,
                   double               utilisation)
{
  double ratio = utilisation / rule->target;

  if (fabs (ratio - 1) <= rule->dead_band)
    return CLAMP (replicas, rule->fewest, rule->most);

  /* a hair below a whole number is that number */
  return (int) CLAMP (ceil (replicas * ratio - 1e-9), rule->fewest, rule->most);
}

static int
paid (const Fleet *fleet)
{
  return fleet->ready + fleet->starting->len;
}

static void
remember (Fleet *fleet,
          int    wanted)
{
  fleet->wanted[fleet->next_wanted] = wanted;
  fleet->next_wanted = (fleet->next_wanted + 1) % fleet->n_wanted;
}

static int
most_wanted (const Fleet *fleet)
{
  double most = 0;

  for (guint i = 0; i < fleet->n_wanted; i++)
    most = MAX (most, fleet->wanted[i]);

  return (int) most;
}

/* What is still starting goes first. */
static void
remove_replicas (Fleet *fleet,
                 int    n)
{
  guint starting = MIN ((guint) n, fleet->starting->len);

  g_array_set_size (fleet->starting, fleet->starting->len - starting);
  fleet->ready -= n - (int) starting;
}

static void
scale (Fleet  *fleet,
       double  now,
       double  utilisation)
{
  int have = paid (fleet), wanted = qm_elastic_target (fleet->rule, have, utilisation), keep;
  double ready_at = now + fleet->rule->warm_up_seconds;

  remember (fleet, wanted);
  for (int i = have; i < wanted; i++)
    g_array_append_val (fleet->starting, ready_at);
  keep = most_wanted (fleet);
  if (keep < have)
    remove_replicas (fleet, have - keep);
}

static void
start_ready (Fleet  *fleet,
             double  now)
{
  guint n = 0;

  while (n < fleet->starting->len && g_array_index (fleet->starting, double, n) <= now)
    n++;
  if (n > 0)
    g_array_remove_range (fleet->starting, 0, n);
  fleet->ready += n;
}

/* The queue of a moment: what stands in it because there is no capacity, and
 * what chance adds (Allen and Cunneen; no further than an hour's drift). */
static Wait
wait_of (const Fleet *fleet,
         double       per_second,
         double       seconds)
{
  const QmElasticReplica *replica = fleet->replica;
  double capacity = fleet->ready * replica->per_second;
  double drift = QUEUE_QUANTILE * sqrt (2 * per_second * QUEUE_SECONDS) / capacity;
  int servers = (int) CLAMP (round (fleet->ready * replica->at_once), 1, MOST_SERVERS);
  double service = servers / capacity;
  Wait wait = { per_second * seconds, fleet->backlog / capacity, 1, drift / log (100) };

  if (per_second < capacity)
    {
      double p99 = qm_rule_queue_wait_p99 (servers, per_second, service, 1, 1);

      wait.chance = qm_rule_erlang_c (servers, per_second * service);
      if (p99 < drift)
        wait.scale = service / (servers - per_second * service);
      else
        wait.chance = 1;
    }

  return wait;
}

static double
p99_of (const Wait *wait)
{
  return wait->offset + (wait->chance > 0.01 ? log (100 * wait->chance) * wait->scale : 0);
}

static double
tail_of (const Wait *wait,
         double      seconds)
{
  if (seconds < wait->offset)
    return 1;

  return wait->scale > 0 ? wait->chance * exp ((wait->offset - seconds) / wait->scale) : 0;
}

static double
share_above (const GArray *waits,
             double        seconds)
{
  double above = 0, all = 0;

  for (guint i = 0; i < waits->len; i++)
    {
      const Wait *wait = &g_array_index (waits, Wait, i);

      all += wait->weight;
      above += wait->weight * tail_of (wait, seconds);
    }

  return all > 0 ? above / all : 0;
}

/* What 1 in 100 of all answers waits longer, by halving. */
static double
p99_of_all (const GArray *waits)
{
  double low = 0, high = 1e-3;

  if (share_above (waits, 0) <= 0.01)
    return 0;
  while (share_above (waits, high) > 0.01)
    high *= 2;
  for (int i = 0; i < 60; i++)
    {
      double middle = (low + high) / 2;

      if (share_above (waits, middle) > 0.01)
        low = middle;
      else
        high = middle;
    }

  return high;
}

static void
serve (Fleet         *fleet,
       double         per_second,
       double         seconds,
       QmElasticStep *step)
{
  double capacity = fleet->ready * fleet->replica->per_second;
  double asked = fleet->backlog + per_second * seconds;
  double served = MIN (asked, capacity * seconds);

  fleet->backlog = asked - served;
  step->utilisation = served / (capacity * seconds);
}

static void
fleet_init (Fleet                  *fleet,
            const GArray           *load,
            const QmElasticReplica *replica,
            const QmElasticRule    *rule)
{
  guint hint = 0;
  double needed = ceil (qm_load_at (load, 0, &hint) / (replica->per_second * rule->target));

  *fleet = (Fleet) { .replica = replica, .rule = rule, .starting = g_array_new (FALSE, FALSE, sizeof (double)) };
  fleet->n_wanted = CLAMP (ceil (rule->cool_down_seconds / rule->every_seconds), 1, MOST_COOL_DOWN);
  fleet->wanted = g_new0 (double, fleet->n_wanted);
  fleet->ready = (int) CLAMP (needed, rule->fewest, rule->most);
  for (guint i = 0; i < fleet->n_wanted; i++)
    fleet->wanted[i] = fleet->ready;
}

static void
finish (QmElasticRun           *run,
        const QmElasticReplica *replica,
        const GArray           *waits,
        double                  span,
        double                  late,
        double                  requests)
{
  run->mean_replicas /= span;
  run->p99_seconds = replica->latency_p99_seconds + p99_of_all (waits);
  run->late_share = requests > 0 ? late / requests : 0;
}

static void
note_step (QmElasticRun           *run,
           const QmElasticReplica *replica,
           const Fleet            *fleet,
           GArray                 *waits,
           QmElasticStep          *step,
           double                  seconds)
{
  Wait wait = wait_of (fleet, step->per_second, seconds);

  step->replicas = paid (fleet);
  step->ready = fleet->ready;
  step->queued = fleet->backlog;
  step->p99_seconds = replica->latency_p99_seconds + p99_of (&wait);
  run->most_replicas = MAX (run->most_replicas, step->replicas);
  run->worst_p99_seconds = fmax (run->worst_p99_seconds, step->p99_seconds);
  g_array_append_val (waits, wait);
  g_array_append_val (run->steps, *step);
}

/**
 * qm_elastic_simulate:
 * @load: (element-type QmLoadPoint): two points or more
 * @replica: what is added and removed
 * @rule: how; with as many at least as at most the fleet stays as it is
 * @run: (out caller-allocates): what it costs and how long answers take; free its
 *   steps
 *
 * Lets an autoscaler follow the load. Requests flow like water: what exceeds the
 * capacity queues, and is worked off later; on top comes the queue that chance
 * makes at each moment, of M/M/k servers. New replicas are paid while they warm
 * up, and count as idle in the utilisation, as Kubernetes counts them.
 */
void
qm_elastic_simulate (const GArray           *load,
                     const QmElasticReplica *replica,
                     const QmElasticRule    *rule,
                     QmElasticRun           *run)
{
  g_autoptr (GArray) waits = g_array_new (FALSE, FALSE, sizeof (Wait));
  double span = qm_load_span (load), every = MIN (rule->every_seconds, span), late = 0, requests = 0, noted = 0;
  guint hint = 0;
  Fleet fleet;

  *run = (QmElasticRun) { .steps = g_array_new (FALSE, FALSE, sizeof (QmElasticStep)) };
  fleet_init (&fleet, load, replica, rule);
  for (guint64 i = 0; i * every < span; i++)
    {
      double now = i * every, seconds = MIN (every, span - now);
      QmElasticStep step = { .seconds = now, .per_second = qm_load_at (load, now + seconds / 2, &hint) };

      start_ready (&fleet, now);
      serve (&fleet, step.per_second, seconds, &step);
      requests += step.per_second * seconds;
      late += fleet.backlog > 0 ? step.per_second * seconds : 0;
      run->mean_replicas += paid (&fleet) * seconds;
      step.money = run->money;
      run->money += paid (&fleet) * replica->money_per_hour * seconds / 3600;
      if (now >= noted)
        {
          note_step (run, replica, &fleet, waits, &step, MAX (every, STEP_SECONDS));
          noted = now + STEP_SECONDS;
        }
      scale (&fleet, now + seconds, step.utilisation * fleet.ready / paid (&fleet));
    }
  finish (run, replica, waits, span, late, requests);
  g_array_unref (fleet.starting);
  g_free (fleet.wanted);
}

static void
run_clear (gpointer data)
{
  QmElasticRun *run = data;

  g_clear_pointer (&run->steps, g_array_unref);
}

static int
fleet_for (double                  per_second,
           const QmElasticReplica *replica,
           const QmElasticRule    *rule)
{
  return (int) CLAMP (ceil (per_second / (replica->per_second * rule->target) - 1e-9), 1, G_MAXINT / 2);
}

/* Fleets that stay: the one for the peak, and a few around it and the mean. */
static void
add_fixed (QmElastic *self)
{
  int low = MIN (fleet_for (qm_load_mean (self->load), &self->replica, &self->rule), self->peak_fleet);
  int span = self->peak_fleet - low + 1, stride = (span + MOST_FIXED - 1) / MOST_FIXED;

  for (int n = self->peak_fleet; n >= low; n -= stride)
    {
      QmElasticRule rule = self->rule;
      QmElasticRun run;

      rule.fewest = rule.most = n;
      qm_elastic_simulate (self->load, &self->replica, &rule, &run);
      g_array_prepend_val (self->fixed, run);
    }
}

/**
 * qm_elastic_new:
 * @load: (element-type QmLoadPoint): what comes
 * @replica: what is added and removed
 * @rule: when
 *
 * Simulates the rule, and fleets of fixed size between what carries the mean load
 * and what carries its peak at the same utilisation.
 *
 * Returns: (transfer full): what each costs and how long answers take
 */
QmElastic *
qm_elastic_new (GArray                 *load,
                const QmElasticReplica *replica,
                const QmElasticRule    *rule)
{
  QmElastic *self = g_new0 (QmElastic, 1);

  self->load = g_array_ref (load);
  self->replica = *replica;
  self->rule = *rule;
  self->fixed = g_array_new (FALSE, FALSE, sizeof (QmElasticRun));
  g_array_set_clear_func (self->fixed, run_clear);
  self->peak_fleet = fleet_for (qm_load_peak (load), replica, rule);
  qm_elastic_simulate (load, replica, rule, &self->run);
  add_fixed (self);

  return self;
}

/**
 * qm_elastic_free:
 * @self: (transfer full) (nullable): a simulation
 */
void
qm_elastic_free (QmElastic *self)
{
  if (self == NULL)
    return;

  run_clear (&self->run);
  g_array_unref (self->fixed);
  g_array_unref (self->load);
  g_free (self);
}

/**
 * qm_elastic_peak_run:
 * @self: a simulation
 *
 * Returns: the fixed fleet that carries the peak: what one would rent without an
 *   autoscaler
 */
const QmElasticRun *
qm_elastic_peak_run (const QmElastic *self)
{
  return &g_array_index (self->fixed, QmElasticRun, self->fixed->len - 1);
}

/**
 * qm_elastic_replica_of:
 * @choice: an answer to a serving plan
 * @replica: (out caller-allocates): one machine of it
 *
 * Returns: whether there is a rate to simulate with
 */
gboolean
qm_elastic_replica_of (const QmChoice   *choice,
                       QmElasticReplica *replica)
{
  const QmEstimate *estimate = &choice->estimate;
  const QmConfiguration *configuration = &estimate->configuration;
  int machines = MAX (1, configuration->nodes);
  int per_machine = MAX (1, configuration->devices / machines);
  int parts = MAX (1, per_machine / MAX (1, configuration->tensor_parallel * MAX (1, configuration->pipeline_parallel)));
  double rate = estimate->throughput.samples_per_second / MAX (1, configuration->data_parallel);

  if (!estimate->serving.known || !(rate > 0))
    return FALSE;

  *replica = (QmElasticReplica) {
    .per_second = rate * parts,
    .at_once = 1,
    .latency_p99_seconds = estimate->serving.latency_p99_seconds.p50,
    .money_per_hour = estimate->cost.per_hour / MAX (1, choice->machines),
    .parts = parts,
  };
  if (qm_range_is_known (estimate->serving.latency_p50_seconds))
    replica->at_once = MAX (parts, replica->per_second * estimate->serving.latency_p50_seconds.p50);

  return TRUE;
}

/* The article's 70 % and 2 to 8 replicas, with the times of Kubernetes'
 * autoscaler, and what a cold start takes; more than 8 where the peak needs them. */
static void
fill_rule (QmElasticRule          *rule,
           const QmEconomics      *economics,
           const QmColdStart      *cold,
           const GArray           *load,
           const QmElasticReplica *replica)
{
  rule->target = rule->target > 0 ? rule->target : TARGET;
  rule->dead_band = DEAD_BAND;
  rule->every_seconds = EVERY_SECONDS;
  rule->fewest = rule->fewest > 0 ? rule->fewest : FEWEST;
  if (!(rule->warm_up_seconds >= 0))
    rule->warm_up_seconds = qm_range_is_known (cold->seconds) ? cold->seconds.p50 : economics->start_up_seconds;
  if (!(rule->cool_down_seconds >= 0))
    rule->cool_down_seconds = COOL_DOWN_SECONDS;
  if (rule->most <= 0)
    rule->most = MAX (MOST, fleet_for (qm_load_peak (load), replica, rule));
  rule->most = MAX (rule->most, rule->fewest);
}

/**
 * qm_elastic_of_choice:
 * @estimator: an estimator
 * @plan: a plan that serves
 * @choice: an answer to it
 * @load: (nullable) (element-type QmLoadPoint): what comes; %NULL for a day with
 *   the mean and the peak of the plan
 * @wish: an autoscaler's rule; target, fewest and most of 0 and times of NaN stand
 *   for what is usual
 * @error: return location for an error of %QM_LOAD_ERROR
 *
 * Returns: (transfer full): the choice with its machines following the load
 */
QmElastic *
qm_elastic_of_choice (QmEstimator         *estimator,
                      const QmPlan        *plan,
                      const QmChoice      *choice,
                      GArray              *load,
                      const QmElasticRule *wish,
                      GError             **error)
{
  g_autoptr (GArray) series = load != NULL ? g_array_ref (load) : NULL;
  QmElasticRule rule = *wish;
  QmElasticReplica replica;

  if (plan->activity != QM_ACTIVITY_SERVE || !qm_elastic_replica_of (choice, &replica))
    {
      qm_error_set (error, QM_LOAD_ERROR, QM_LOAD_ERROR_VALUE, "activity", N_("is not a service whose load goes up and down"), NULL);
      return NULL;
    }
  if (series == NULL && !(plan->serving.requests_per_second > 0))
    {
      qm_error_set (error, QM_LOAD_ERROR, QM_LOAD_ERROR_MISSING, "serving.requests_per_second",
                    N_("is missing, and no file says how the load changes"), NULL);
      return NULL;
    }

  if (series == NULL)
    series = qm_load_of_a_day (plan->serving.requests_per_second, plan->serving.peak_factor);
  fill_rule (&rule, qm_estimator_get_economics (estimator), &choice->estimate.serving.cold_start, series, &replica);

  return qm_elastic_new (series, &replica, &rule);
}
