/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-service.h"

#include <math.h>

#include "decide/qm-choices.h"
#include "estimate/qm-rules.h"

/* The same load gives the same answer. */
#define SEED 20260101

/* What is in reserve at the busiest time. */
#define UTILISATION 0.8

/* A curve has many points: fewer requests at each. */
#define CURVE_SHARE 4
#define LEAST_REQUESTS 200

/* Nobody answers a slow service with more than so many times the machines. */
#define MOST_TIMES 8

/* A service of one choice. Language models are simulated; elsewhere batches form
 * as requests come, which a queue describes. */
struct _QmService {
  QmPlan *plan;                     /* of one replica */
  QmEvaluator *evaluator;
  const QmDevice *device;
  double faster;                    /* than the evaluator without calibration */
  double half_width;
  double batch;
  double batch_seconds;
  double each_per_second;           /* what one replica answers when busy */
  int replicas;
};

static int
devices_of_a_replica (const QmConfiguration *configuration)
{
  return MAX (1, configuration->tensor_parallel) * MAX (1, configuration->pipeline_parallel) *
         MAX (1, configuration->context_parallel);
}

static int
copies (const QmEstimate *estimate)
{
  return MAX (1, MAX (estimate->serving.replicas, estimate->configuration.data_parallel));
}

/* The search counts the sequences of one replica, a pinned plan those of all. */
static void
narrow_to_a_replica (QmPlan           *plan,
                     const QmEstimate *estimate)
{
  gboolean searched = estimate->serving.replicas == MAX (1, estimate->configuration.data_parallel);

  plan->serving = estimate->serving_plan;
  plan->configuration = estimate->configuration;
  if (!searched && plan->serving.concurrency > 0)
    plan->serving.concurrency = MAX (1, plan->serving.concurrency / copies (estimate));
  plan->configuration.devices = devices_of_a_replica (&estimate->configuration);
  plan->configuration.data_parallel = 1;
  plan->configuration.nodes = 1;
}

/**
 * qm_service_new:
 * @estimator: an estimator, which must outlive the service
 * @resolved: a plan that serves
 * @choice: what it runs on
 *
 * Returns: (transfer full) (nullable): the service, %NULL where nobody waits for
 *   answers or their rate is not known
 */
QmService *
qm_service_new (QmEstimator      *estimator,
                const QmResolved *resolved,
                const QmChoice   *choice)
{
  const QmEstimate *estimate = &choice->estimate;
  QmService *self;
  QmEstimate one;

  if (resolved->plan->activity != QM_ACTIVITY_SERVE || estimate->device == NULL || !estimate->throughput.known)
    return NULL;

  self = g_new0 (QmService, 1);
  self->plan = qm_plan_copy (resolved->plan);
  narrow_to_a_replica (self->plan, estimate);
  self->device = estimate->device;
  self->evaluator = qm_evaluator_new (estimator, self->plan, resolved->model);
  qm_evaluator_evaluate (self->evaluator, self->device, &self->plan->configuration, &one);
  self->replicas = copies (estimate);
  self->each_per_second = one.throughput.samples_per_second;
  self->half_width = qm_range_half_width (one.throughput.per_second);
  self->batch = MAX (1, self->plan->serving.concurrency);
  self->batch_seconds = self->batch / self->each_per_second;
  self->faster = 1;
  if (qm_evaluator_get_inference (self->evaluator) != NULL)
    {
      QmEstimate plain = one;

      qm_llm_inference_predict (qm_evaluator_get_inference (self->evaluator), self->device, &self->plan->configuration, &plain);
      self->faster = one.throughput.per_second.p50 / plain.throughput.per_second.p50;
    }

  return self;
}

/**
 * qm_service_free:
 * @self: (transfer full) (nullable): a service
 */
void
qm_service_free (QmService *self)
{
  if (self == NULL)
    return;

  qm_evaluator_free (self->evaluator);
  qm_plan_free (self->plan);
  g_free (self);
}

static QmRange
with_error (const QmService *self,
            double           seconds,
            double           error)
{
  return isfinite (seconds) ? qm_range_log_normal (seconds / self->faster, hypot (self->half_width, QM_NORMAL_P90 * error))
                            : QM_RANGE_UNKNOWN;
}

static void
simulate (const QmService      *self,
          const QmLlmInference *inference,
          double                each,
          guint                 requests,
          QmWaitPoint          *point)
{
  QmLatency latency = qm_llm_inference_simulate (inference, self->device, &self->plan->configuration,
                                                 each / self->faster, requests, SEED);

  point->basis = QM_LATENCY_SIMULATED;
  point->saturated = latency.saturated;
  point->error = latency.relative_error;
  point->p50 = with_error (self, latency.request_p50_seconds, 0);
  point->p99 = with_error (self, latency.request_p99_seconds, latency.relative_error);
  point->first_token_p50 = with_error (self, latency.first_token_p50_seconds, 0);
  point->first_token_p99 = with_error (self, latency.first_token_p99_seconds, latency.relative_error);
  point->token_p99 = with_error (self, latency.token_p99_seconds, latency.relative_error);
}

/* Whoever comes waits for the batch that runs and for the line before it
 * (Allen and Cunneen: random arrivals, equal service). */
static void
queue (const QmService *self,
       int              replicas,
       double           per_second,
       QmWaitPoint     *point)
{
  double service = 1 / self->each_per_second;
  double window = self->batch > 1 ? self->batch_seconds : 0;

  point->basis = QM_LATENCY_QUEUE;
  point->saturated = per_second * service >= replicas;
  point->error = 0;
  point->p50 = with_error (self, self->batch_seconds + window / 2, 0);
  point->p99 = with_error (self, self->batch_seconds + window + qm_rule_queue_wait_p99 (replicas, per_second, service, 1, 0), 0);
  point->first_token_p50 = point->first_token_p99 = point->token_p99 = QM_RANGE_UNKNOWN;
}

/**
 * qm_service_at:
 * @self: a service
 * @replicas: how many answer
 * @requests_per_second: that come, whole service
 * @requests: how many to simulate in each of three runs
 * @point: (out caller-allocates): what people wait
 */
void
qm_service_at (const QmService *self,
               int              replicas,
               double           requests_per_second,
               guint            requests,
               QmWaitPoint     *point)
{
  const QmLlmInference *inference = qm_evaluator_get_inference (self->evaluator);

  *point = (QmWaitPoint) { .requests_per_second = requests_per_second, .p50 = QM_RANGE_UNKNOWN, .p99 = QM_RANGE_UNKNOWN };
  if (inference != NULL)
    simulate (self, inference, requests_per_second / replicas, requests, point);
  else
    queue (self, replicas, requests_per_second, point);
}

/**
 * qm_service_capacity:
 * @self: a service
 *
 * Returns: requests per second that all replicas answer when they are never idle
 */
double
qm_service_capacity (const QmService *self)
{
  return self->each_per_second * self->replicas;
}

static gboolean
is_enough (const QmService *self,
           int              replicas,
           double           requests_per_second,
           double           p99_seconds,
           guint            requests)
{
  QmWaitPoint point;

  if (requests_per_second > UTILISATION * self->each_per_second * replicas)
    return FALSE;

  qm_service_at (self, replicas, requests_per_second, requests, &point);
  return !point.saturated && point.p99.p50 <= p99_seconds;
}

/**
 * qm_service_replicas_for:
 * @self: a service
 * @requests_per_second: that come at the busiest time, whole service
 * @p99_seconds: within which 99 of 100 are to be answered
 * @requests: how many to simulate in each of three runs
 *
 * Returns: the fewest replicas that keep to it with a fifth of their capacity in
 *   reserve; 0 where no number within reason does, since a request alone takes
 *   longer
 */
int
qm_service_replicas_for (const QmService *self,
                         double           requests_per_second,
                         double           p99_seconds,
                         guint            requests)
{
  double least = ceil (requests_per_second / (UTILISATION * self->each_per_second));
  int low, high;

  if (!(least < G_MAXINT / MOST_TIMES))
    return 0;

  low = MAX (1, (int) least);
  if (is_enough (self, low, requests_per_second, p99_seconds, requests))
    return low;

  for (high = 2 * low; !is_enough (self, high, requests_per_second, p99_seconds, requests); high *= 2)
    {
      if (high >= MOST_TIMES * low)
        return 0;
    }

  while (high - low > 1)
    {
      int middle = low + (high - low) / 2;

      if (is_enough (self, middle, requests_per_second, p99_seconds, requests))
        high = middle;
      else
        low = middle;
    }

  return high;
}

/**
 * qm_service_curve:
 * @self: a service
 * @requests: how many to simulate in each of three runs at each load
 *
 * Returns: (transfer full) (element-type QmWaitPoint): what people wait from next
 *   to no load to beyond what is answered
 */
GArray *
qm_service_curve (const QmService *self,
                  guint            requests)
{
  static const double shares[] = { 0.05, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.87, 0.94, 1, 1.1 };
  GArray *curve = g_array_new (FALSE, FALSE, sizeof (QmWaitPoint));

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      QmWaitPoint point;

      qm_service_at (self, self->replicas, shares[i] * qm_service_capacity (self), requests, &point);
      if (isfinite (point.p99.p50))
        g_array_append_val (curve, point);
    }

  return curve;
}

/* Money and energy of a service go with its machines. */
static void
set_machines (QmChoice *choice,
              int       machines,
              int       replicas)
{
  double factor = (double) machines / choice->machines, more = (double) replicas / choice->estimate.serving.replicas;
  QmEstimate *estimate = &choice->estimate;

  estimate->cost.money = qm_range_scale (estimate->cost.money, factor);
  estimate->cost.per_hour *= factor;
  estimate->cost.purchase_money *= factor;
  estimate->cost.kwh = qm_range_scale (estimate->cost.kwh, factor);
  estimate->cost.kg_co2e = qm_range_scale (estimate->cost.kg_co2e, factor);
  estimate->cost.per_million_units = qm_range_scale (estimate->cost.per_million_units, factor / more);
  estimate->throughput.per_second = qm_range_scale (estimate->throughput.per_second, more);
  estimate->throughput.samples_per_second *= more;
  estimate->configuration.devices = estimate->configuration.devices / choice->machines * machines;
  estimate->configuration.nodes = machines;
  estimate->configuration.data_parallel = estimate->serving.replicas = replicas;
  choice->gpu_hours *= factor;
  choice->machines = machines;
}

/* As many more as the limit takes, where the person set one. */
static void
add_replicas (const QmService  *service,
              const QmResolved *resolved,
              double            peak,
              guint             requests,
              QmChoice         *choice)
{
  double limit = resolved->given->serving.latency_p99_seconds;
  int before = choice->estimate.serving.replicas;
  int per_machine = MAX (1, choice->estimate.configuration.devices / MAX (1, choice->machines) /
                            devices_of_a_replica (&choice->estimate.configuration));
  int replicas;

  if (!(limit > 0) || resolved->given->configuration.devices > 0)
    return;

  replicas = qm_service_replicas_for (service, peak, limit, requests);
  if (replicas <= before)
    return;

  set_machines (choice, (replicas + per_machine - 1) / per_machine, replicas);
  qm_choice_set_label (choice);
}

/* The line grows as long as the peak lasts: no wait is that of most people. */
static void
forget_latency (QmServingFigures *serving,
                double            answered_per_second)
{
  serving->overloaded_at = answered_per_second;
  serving->latency_basis = QM_LATENCY_UNSET;
  serving->latency_error = NAN;
  serving->first_token_seconds = serving->first_token_p99_seconds = serving->token_p99_seconds = QM_RANGE_UNKNOWN;
  serving->latency_p50_seconds = serving->latency_p99_seconds = QM_RANGE_UNKNOWN;
}

/**
 * qm_choice_simulate:
 * @estimator: an estimator
 * @resolved: a plan
 * @requests: how many to simulate in each of three runs
 * @choice: (inout): a choice of it
 *
 * What people wait at the busiest time: language models by simulation, others by
 * the law of queues. Where the person's limit takes more replicas than the load
 * alone, they are added. Where the load is more than it can carry, it says so in
 * place of a wait. Nothing changes where nobody waits, or no load is known.
 */
void
qm_choice_simulate (QmEstimator      *estimator,
                    const QmResolved *resolved,
                    guint             requests,
                    QmChoice         *choice)
{
  g_autoptr (QmService) service = qm_service_new (estimator, resolved, choice);
  QmServingFigures *serving = &choice->estimate.serving;
  QmWaitPoint point;
  QmJob job;

  if (service == NULL)
    return;

  qm_job_init (&job, estimator, resolved);
  if (!(job.peak_requests_per_second > 0))
    return;

  if (choice->machines > 0 && serving->replicas > 0)
    add_replicas (service, resolved, job.peak_requests_per_second, requests, choice);
  service->replicas = copies (&choice->estimate);
  qm_service_at (service, service->replicas, job.peak_requests_per_second, requests, &point);
  if (point.saturated)
    {
      forget_latency (serving, qm_service_capacity (service));
      return;
    }
  if (!qm_range_is_known (point.p99))
    return;

  g_clear_pointer (&choice->waits, g_array_unref);
  choice->waits = qm_service_curve (service, MAX (LEAST_REQUESTS, requests / CURVE_SHARE));
  serving->latency_basis = point.basis;
  serving->latency_error = point.basis == QM_LATENCY_SIMULATED ? point.error : NAN;
  if (qm_range_is_known (point.first_token_p50))
    serving->first_token_seconds = point.first_token_p50;
  serving->latency_p50_seconds = point.p50;
  serving->latency_p99_seconds = point.p99;
  serving->first_token_p99_seconds = point.first_token_p99;
  serving->token_p99_seconds = point.token_p99;
}
