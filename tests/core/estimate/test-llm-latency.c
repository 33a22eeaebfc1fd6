/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "llm-inference-fixture.h"

#include "estimate/qm-rules.h"

typedef struct {
  QmLlmInference *inference;
  const QmDevice *device;
  QmPlan *plan;
  QmModel *model;
  QmEstimate estimate;
} Service;

static void
service_init (Service    *self,
              Fixture    *fixture,
              const char *id,
              double      concurrency)
{
  g_autoptr (JsonNode) root = NULL;
  JsonObject *vectors = load_vectors (&root);

  read_plan (json_object_get_object_member (find_case (vectors, id), "plan"), &self->plan, &self->model);
  self->plan->serving.concurrency = concurrency;
  self->device = find_device (fixture, self->plan);
  self->inference = qm_llm_inference_new (fixture->constants, self->plan, self->model);
  qm_estimate_clear (&self->estimate);
  qm_llm_inference_predict (self->inference, self->device, &self->plan->configuration, &self->estimate);
}

static void
service_clear (Service *self)
{
  qm_llm_inference_free (self->inference);
  qm_plan_free (self->plan);
  qm_model_free (self->model);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Service, service_clear)

static QmLatency
simulate (const Service *self,
          double         load,
          guint          requests,
          guint32        seed)
{
  return qm_llm_inference_simulate (self->inference, self->device, &self->plan->configuration,
                                    load * self->estimate.serving.requests_per_second, requests, seed);
}

/* With next to no load nobody waits: medians are the times of one request. */
static void
test_alone (Fixture       *fixture,
            gconstpointer  data)
{
  g_auto (Service) service = { 0 };
  QmLatency latency;
  double median_answer;

  service_init (&service, fixture, "spec-1", 1);
  latency = simulate (&service, 0.001, 2000, 7);
  /* of a log-normal length with a spread of 0.5 */
  median_answer = 128 * exp (-0.125);

  g_assert_false (latency.saturated);
  g_assert_cmpfloat_with_epsilon (latency.token_p50_seconds / service.estimate.serving.token_seconds.p50, 1, 0.1);
  g_assert_cmpfloat_with_epsilon (latency.request_p50_seconds /
                                  (median_answer * service.estimate.serving.token_seconds.p50 +
                                   latency.first_token_p50_seconds), 1, 0.1);
  g_assert_cmpfloat (latency.first_token_p50_seconds, <, service.estimate.serving.first_token_seconds.p50);
}

/* One slot is a queue with one server. Its waiting times by the usual
 * approximation for heavy load; the coefficient of variation of log-normal
 * answers is the root of exp (0.25) − 1. */
static void
test_one_server (Fixture       *fixture,
                 gconstpointer  data)
{
  g_auto (Service) service = { 0 };
  QmLatency latency;
  double seconds, wait;

  service_init (&service, fixture, "spec-1", 1);
  seconds = 1 / service.estimate.serving.requests_per_second;
  latency = simulate (&service, 0.7, 20000, 3);
  wait = qm_rule_queue_wait_p99 (1, 0.7 / seconds, seconds, 1, sqrt (exp (0.25) - 1));
  g_test_message ("waits %g s, by the approximation %g s", latency.first_token_p99_seconds, wait);

  g_assert_false (latency.saturated);
  g_assert_cmpfloat_with_epsilon (latency.first_token_p99_seconds / wait, 1, 0.25);
}

static void
test_load (Fixture       *fixture,
           gconstpointer  data)
{
  static const double loads[] = { 0.1, 0.4, 0.7, 0.9 };
  g_auto (Service) service = { 0 };
  double before = 0;

  service_init (&service, fixture, "spec-2", 32);
  for (gsize i = 0; i < G_N_ELEMENTS (loads); i++)
    {
      QmLatency latency = simulate (&service, loads[i], 3000, 11);

      g_assert_false (latency.saturated);
      g_assert_cmpfloat (latency.request_p99_seconds, >, before);
      g_assert_cmpfloat (latency.request_p99_seconds, >, latency.request_p50_seconds);
      g_assert_cmpfloat (latency.first_token_p99_seconds, >, latency.first_token_p50_seconds);
      g_assert_cmpfloat (latency.token_p99_seconds, >, latency.token_p50_seconds);
      g_assert_cmpfloat (latency.relative_error, <, 0.5);
      before = latency.request_p99_seconds;
    }
}

/* What arrives faster than it is answered piles up for as long as one waits. */
static void
test_saturated (Fixture       *fixture,
                gconstpointer  data)
{
  g_auto (Service) service = { 0 };
  QmLatency few, many;

  service_init (&service, fixture, "spec-2", 32);
  few = simulate (&service, 1.5, 1000, 5);
  many = simulate (&service, 1.5, 4000, 5);

  g_assert_true (few.saturated);
  g_assert_true (many.saturated);
  g_assert_cmpfloat (many.request_p99_seconds, >, 2 * few.request_p99_seconds);
}

/* Two replicas share the load. */
static void
test_replicas (Fixture       *fixture,
               gconstpointer  data)
{
  g_auto (Service) one = { 0 };
  QmConfiguration configuration;
  g_autoptr (QmLlmInference) two = NULL;
  QmLatency alone, shared;

  service_init (&one, fixture, "spec-2", 32);
  alone = simulate (&one, 0.5, 1000, 2);

  one.plan->serving.concurrency = 64;
  two = qm_llm_inference_new (fixture->constants, one.plan, one.model);
  configuration = one.plan->configuration;
  configuration.devices = configuration.data_parallel = 2;
  shared = qm_llm_inference_simulate (two, one.device, &configuration,
                                      one.estimate.serving.requests_per_second, 1000, 2);
  g_assert_cmpfloat (shared.request_p99_seconds, ==, alone.request_p99_seconds);
}

static void
test_repeatable (Fixture       *fixture,
                 gconstpointer  data)
{
  g_auto (Service) service = { 0 };
  QmLatency first, again, other;

  service_init (&service, fixture, "spec-2", 32);
  first = simulate (&service, 0.8, 1000, 42);
  again = simulate (&service, 0.8, 1000, 42);
  other = simulate (&service, 0.8, 1000, 43);

  g_assert_cmpmem (&first, sizeof first, &again, sizeof again);
  g_assert_cmpfloat (first.request_p99_seconds, !=, other.request_p99_seconds);
}

static void
test_impossible (Fixture       *fixture,
                 gconstpointer  data)
{
  g_auto (Service) service = { 0 };
  QmDevice small;
  QmLatency latency;

  service_init (&service, fixture, "spec-2", 32);
  small = *service.device;
  small.memory_bytes = 16e9;
  latency = qm_llm_inference_simulate (service.inference, &small, &service.plan->configuration, 1, 1000, 1);
  g_assert_true (latency.saturated);
  g_assert_true (isnan (latency.request_p99_seconds));

  latency = simulate (&service, 0, 1000, 1);
  g_assert_false (latency.saturated);
  g_assert_true (isnan (latency.request_p99_seconds));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("alone", test_alone);
  ADD ("one-server", test_one_server);
  ADD ("load", test_load);
  ADD ("saturated", test_saturated);
  ADD ("replicas", test_replicas);
  ADD ("repeatable", test_repeatable);
  ADD ("impossible", test_impossible);

  return g_test_run ();
}
