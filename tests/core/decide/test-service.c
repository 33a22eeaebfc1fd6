/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-service.h"
#include "estimate/qm-rules.h"
#include "shipped.h"

/* What people wait under load, and how many replicas it takes. */

static QmResolved *
chat (double latency_seconds)
{
  g_autofree char *text = g_strdup_printf (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'serve', 'model': {'id': 'llama-3.1-8b'},"
    " 'serving': {'input_tokens': 1000, 'output_tokens': 300, 'requests_per_second': 4, 'peak_factor': 3,"
    " 'latency_p99_seconds': %g}}", latency_seconds);

  return resolve (text);
}

/* The answer says where its latency comes from, with the error that the
 * simulation has of its own, which shrinks with the number of requests. */
static void
test_simulated (void)
{
  g_autoptr (QmResolved) resolved = chat (30);
  g_autoptr (QmRecommendation) searched = qm_recommend (estimator, resolved, NULL, NULL);
  g_autoptr (QmRecommendation) rough = NULL;
  g_autoptr (QmRecommendation) fine = NULL;
  double errors[2] = { 0 };

  g_assert_true (qm_recommendation_can_simulate (searched));
  rough = qm_recommendation_simulate (searched, 200, NULL);
  fine = qm_recommendation_simulate (searched, 4000, NULL);
  g_assert_cmpuint (qm_recommendation_n_choices (fine), ==, qm_recommendation_n_choices (searched));
  for (guint i = 0; i < qm_recommendation_n_choices (fine); i++)
    {
      const QmServingFigures *before = &qm_recommendation_choice (searched, i)->estimate.serving;
      const QmChoice *choice = qm_recommendation_choice (fine, i);
      const QmServingFigures *after = &choice->estimate.serving;

      g_assert_cmpint (before->latency_basis, ==, QM_LATENCY_SPREAD);
      g_assert_cmpint (after->latency_basis, ==, QM_LATENCY_SIMULATED);
      g_assert_cmpfloat (after->latency_p50_seconds.p50, <, after->latency_p99_seconds.p50);
      g_assert_cmpfloat (after->first_token_p99_seconds.p50, <, after->latency_p99_seconds.p50);
      g_assert_cmpfloat (after->latency_p99_seconds.p50, <=, 30);
      g_assert_nonnull (choice->waits);
      errors[0] += qm_recommendation_choice (rough, i)->estimate.serving.latency_error;
      errors[1] += after->latency_error;
    }
  g_test_message ("run-to-run error of the 99th percentile: %.3f, %.3f", errors[0], errors[1]);
  g_assert_cmpfloat (errors[1], <, errors[0] / 2);
}

static QmService *
service_of (const QmResolved *resolved,
            QmRecommendation *recommendation)
{
  g_assert_cmpuint (qm_recommendation_n_choices (recommendation), >, 0);

  return qm_service_new (estimator, resolved, qm_recommendation_choice (recommendation, 0));
}

/* The fewest that keep the limit with a fifth in reserve; one less does not. */
static void
test_replicas (void)
{
  g_autoptr (QmResolved) resolved = chat (30);
  g_autoptr (QmRecommendation) recommendation = qm_recommend (estimator, resolved, NULL, NULL);
  g_autoptr (QmService) service = service_of (resolved, recommendation);
  double each = qm_service_capacity (service) / MAX (1, qm_recommendation_choice (recommendation, 0)->estimate.serving.replicas);
  QmWaitPoint alone, busy, less;
  int few, many;

  qm_service_at (service, 1, 0.05 * each, 2000, &alone);
  qm_service_at (service, 5, 4 * each, 2000, &busy);
  g_assert_cmpfloat (alone.p99.p50, <, busy.p99.p50);

  few = qm_service_replicas_for (service, 4 * each, 10 * busy.p99.p50, 2000);
  g_assert_cmpint (few, ==, 5);
  many = qm_service_replicas_for (service, 4 * each, sqrt (alone.p99.p50 * busy.p99.p50), 2000);
  g_assert_cmpint (many, >, few);
  qm_service_at (service, many, 4 * each, 2000, &busy);
  g_assert_cmpfloat (busy.p99.p50, <=, sqrt (alone.p99.p50 * busy.p99.p50) * 1.5);
  qm_service_at (service, many - 1, 4 * each, 2000, &less);
  g_assert_cmpfloat (less.p99.p50, >, busy.p99.p50);
  /* a request alone takes longer */
  g_assert_cmpint (qm_service_replicas_for (service, 4 * each, alone.p50.p50 / 10, 1000), ==, 0);
}

/* A limit that the load alone does not ask for takes more machines, at their
 * price. */
static void
test_added (void)
{
  g_autoptr (QmResolved) resolved = chat (30);
  g_autoptr (QmRecommendation) recommendation = qm_recommend (estimator, resolved, NULL, NULL);
  QmChoice choice = *qm_recommendation_choice (recommendation, 0);
  int replicas = choice.estimate.serving.replicas;
  double money = choice.estimate.cost.money.p50;

  choice.waits = NULL;
  qm_choice_simulate (estimator, resolved, 2000, &choice);
  g_assert_cmpint (choice.estimate.serving.replicas, ==, replicas);

  resolved->given->serving.latency_p99_seconds = 0.97 * choice.estimate.serving.latency_p99_seconds.p50;
  qm_choice_simulate (estimator, resolved, 2000, &choice);
  g_assert_cmpint (choice.estimate.serving.replicas, >, replicas);
  g_assert_cmpfloat (choice.estimate.serving.latency_p99_seconds.p50, <=, resolved->given->serving.latency_p99_seconds);
  g_assert_cmpfloat_with_epsilon (choice.estimate.cost.money.p50 / money,
                                  (double) choice.machines / qm_recommendation_choice (recommendation, 0)->machines, 1e-9);
  g_array_unref (choice.waits);
}

/* Pictures come at random to batches of equal length: one batch runs, and the
 * line is that of a queue. */
static void
test_queue (void)
{
  g_autoptr (QmResolved) resolved = resolve (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'image-classification', 'activity': 'serve', 'model': {'id': 'resnet-50'},"
    " 'serving': {'requests_per_second': 300, 'peak_factor': 2, 'latency_p99_seconds': 0.2}}");
  g_autoptr (QmRecommendation) recommendation = qm_recommend (estimator, resolved, NULL, NULL);
  g_autoptr (QmService) service = service_of (resolved, recommendation);
  double each = qm_service_capacity (service) / MAX (1, qm_recommendation_choice (recommendation, 0)->estimate.serving.replicas);
  QmWaitPoint idle, busy;

  qm_service_at (service, 4, 0.01 * each, 100, &idle);
  qm_service_at (service, 4, 3.6 * each, 100, &busy);
  g_assert_cmpint (idle.basis, ==, QM_LATENCY_QUEUE);
  g_assert_cmpfloat_with_epsilon ((busy.p99.p50 - idle.p99.p50) * each, qm_rule_queue_wait_p99 (4, 3.6, 1, 1, 0), 1e-6);
}

static QmColdStart
cold_start_of (const char *model,
               const char *serving,
               const char *configuration)
{
  g_autofree char *text = g_strdup_printf (
    "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'serve', 'model': {'id': '%s'},"
    " 'serving': {%s}, 'configuration': {%s}}", model, serving, configuration);
  g_autoptr (QmResolved) resolved = resolve (text);
  g_autoptr (GError) error = NULL;
  QmColdStart cold;
  QmChoice choice;

  g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, &error));
  cold = choice.estimate.serving.cold_start;
  qm_choice_clear (&choice);
  g_assert_cmpfloat_with_epsilon (cold.seconds.p50,
                                  cold.machine_seconds + cold.image_seconds + cold.weights_seconds + cold.engine_seconds, 1e-9);

  return cold;
}

/* BentoML, "Cold-Starting LLMs on Kubernetes in Under 30 Seconds" (2025): a
 * container with Llama 3.1 8B took 10 minutes to start. vLLM was ready in 39 s
 * with Llama 3 8B (vllm-project/vllm#11005) and in 145 s with Llama 70B on eight
 * devices (#19824), beside the imports of Python. */
static void
test_cold_start (void)
{
  QmColdStart small = cold_start_of ("llama-3.1-8b", "'engine': 'vllm', 'weights': 'bf16'",
                                     "'device': 'a100-sxm4-80gb', 'offer': 'aws/p4de.24xlarge/us-east-1', 'devices': 8");
  QmColdStart large = cold_start_of ("llama-3.1-70b", "'engine': 'vllm', 'weights': 'fp8'",
                                     "'device': 'h100-sxm5-80gb', 'devices': 8, 'tensor_parallel': 8");

  g_assert_cmpfloat (small.seconds.p10, <, 600);
  g_assert_cmpfloat (small.seconds.p90, >, 600);
  g_assert_cmpfloat (small.engine_seconds, >, 39);
  g_assert_cmpfloat (small.engine_seconds, <, 39 + 30);
  g_assert_cmpfloat (large.engine_seconds, >, 145 * 0.8);
  g_assert_cmpfloat (large.engine_seconds, <, 145 + 30);
}

/* A machine that is there, of a card that nobody rents out, only reads and
 * compiles; 16.06 GB come off an NVMe drive (3.5 GB/s) in 4.6 s, and off a hard
 * disk (150 MB/s) in 107 s. An engine that compiles nothing is there sooner than
 * one that does. */
static void
test_cold_start_at_home (void)
{
  QmColdStart home = cold_start_of ("llama-3.1-8b", "'engine': 'vllm', 'weights': 'bf16'", "'device': 'rtx-pro-5000-blackwell'");
  QmColdStart disk = cold_start_of ("llama-3.1-8b", "'engine': 'vllm', 'weights': 'bf16'}, 'data': {'storage': 'hdd'",
                                    "'device': 'rtx-pro-5000-blackwell'");
  QmColdStart local = cold_start_of ("llama-3.1-8b", "'engine': 'llama.cpp', 'weights': 'fp16'", "'device': 'rtx-pro-5000-blackwell'");

  g_assert_cmpfloat (home.machine_seconds, ==, 0);
  g_assert_cmpfloat (home.image_seconds, ==, 0);
  g_assert_cmpfloat_with_epsilon (home.weights_seconds, 16.06e9 / 3.5e9, 0.05);
  g_assert_cmpfloat_with_epsilon (disk.weights_seconds, 16.06e9 / 150e6, 1);
  g_assert_cmpfloat (local.seconds.p90, <, home.seconds.p50);
}

/* One card answers some twenty requests a second, not five hundred: the line grows
 * as long as the load lasts, and no wait is told. A thousandth of it is carried. */
static void
test_overloaded (void)
{
  const double loads[] = { 500, 0.5 };

  for (gsize i = 0; i < G_N_ELEMENTS (loads); i++)
    {
      g_autofree char *text = g_strdup_printf (
        "{'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'serve', 'model': {'id': 'llama-3.1-8b'},"
        " 'serving': {'engine': 'vllm', 'input_tokens': 512, 'output_tokens': 256, 'requests_per_second': %g},"
        " 'configuration': {'device': 'h100-sxm5-80gb', 'devices': 1}}", loads[i]);
      g_autoptr (QmResolved) resolved = resolve (text);
      g_autoptr (GPtrArray) warnings = NULL;
      gboolean told = FALSE;
      QmChoice choice;

      g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, NULL));
      qm_choice_simulate (estimator, resolved, 500, &choice);
      warnings = qm_estimate_warnings (estimator, resolved, &choice);
      for (guint j = 0; j < warnings->len; j++)
        told |= g_str_equal (qm_message_get_code (g_ptr_array_index (warnings, j)), "overloaded");
      g_assert_cmpint (told, ==, loads[i] > 100);
      g_assert_cmpint (qm_range_is_known (choice.estimate.serving.latency_p99_seconds), ==, loads[i] < 100);
      qm_choice_clear (&choice);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/service/simulated", test_simulated);
  g_test_add_func ("/service/replicas", test_replicas);
  g_test_add_func ("/service/added", test_added);
  g_test_add_func ("/service/overloaded", test_overloaded);
  g_test_add_func ("/service/queue", test_queue);
  g_test_add_func ("/service/cold-start", test_cold_start);
  g_test_add_func ("/service/cold-start-at-home", test_cold_start_at_home);

  return shipped_run ();
}
