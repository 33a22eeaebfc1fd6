/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-rules.h"

#include <math.h>

#define GIB 1073741824.0
#define LLAMA_2_7B 6738415616.0
#define LLAMA_3_8B 8030261248.0
#define LLAMA_3_70B 70553706496.0

/* @found agrees with @expected to the digits that @expected is printed with. */
#define assert_near(found, expected, relative) \
  g_assert_cmpfloat_with_epsilon ((found) / (expected), 1, (relative))

/* Expected values were worked out by hand or in Python from the formulas of the
 * sources, not with this code. */
static void
test_memory (void)
{
  assert_near (qm_rule_basic_bytes (7e9), 36.4e9, 1e-12);
  assert_near (qm_rule_basic_bytes (7e9) / GIB, 33.900, 2e-5);
  assert_near (qm_rule_basic_bytes (25557032), 132.897e6, 1e-5);
  assert_near (qm_rule_quick_bytes (7e9), 16.8e9, 1e-12);
  assert_near (qm_rule_quick_bytes (13e9), 31.2e9, 1e-12);
  assert_near (qm_rule_quick_bytes (70e9), 168e9, 1e-12);
  assert_near (qm_rule_precise_bytes (LLAMA_2_7B, 4, 0, 0) / GIB, 100.410, 1e-5);
  assert_near (qm_rule_precise_bytes (LLAMA_2_7B, 2, 0, 0) / GIB, 50.205, 1e-5);
  g_assert_cmpfloat (qm_rule_precise_bytes (1, 2, 3, 4), ==, 15);

  /* 16 bytes a parameter of mixed-precision Adam */
  assert_near (qm_rule_precise_bytes (LLAMA_3_8B, 4, 0, 0) / GIB, 119.660, 1e-5);
  assert_near (qm_rule_precise_bytes (LLAMA_3_8B, 4, 0, 0) / 8 / GIB, 14.958, 5e-5);
  assert_near (qm_rule_precise_bytes (LLAMA_3_70B, 4, 0, 0) / GIB, 1051.33, 1e-5);
}

/* File sizes that llama.cpp publishes for Llama 3.1 8B. */
static void
test_weights (void)
{
  assert_near (qm_rule_weight_bytes (LLAMA_3_8B, 4.8944) / GIB, 4.576, 2e-4);
  assert_near (qm_rule_weight_bytes (LLAMA_3_8B, 8.5008) / GIB, 7.947, 2e-4);
  assert_near (qm_rule_weight_bytes (LLAMA_3_8B, 16) / GIB, 14.958, 5e-5);
}

/* ResNet-50, 11.11 million activations in 32 bit. */
static void
test_images (void)
{
  assert_near (qm_rule_cnn_activation_bytes (11.11e6, 4), 88.9e6, 1e-3);
}

static void
test_layers (void)
{
  assert_near (qm_rule_layers_bytes (2e9, 10, 50, 101), 10.2e9, 1e-12);
}

static void
test_ddp (void)
{
  QmRuleDdp vit = qm_rule_ddp (8, 632045800, 40e9, 4);
  QmRuleDdp full = qm_rule_ddp (8, LLAMA_2_7B, 24e9, 4);
  QmRuleDdp half = qm_rule_ddp (8, LLAMA_2_7B, 24e9, 2);
  QmRuleDdp large = qm_rule_ddp (4, LLAMA_3_70B, 24e9, 2);

  g_assert_cmpint (vit.workers, ==, 1);
  assert_near (vit.raw, 0.0702, 1e-3);
  g_assert_true (vit.replicates);

  g_assert_cmpint (full.workers, ==, 2);
  assert_near (full.raw, 1.248, 1e-3);
  g_assert_false (full.replicates);
  g_assert_false (full.infeasible);

  g_assert_cmpint (half.workers, ==, 1);
  assert_near (half.raw, 0.624, 1e-3);

  g_assert_cmpint (large.workers, ==, 4);
  g_assert_cmpint (large.needed, ==, 7);
  assert_near (large.raw, 6.533, 1e-4);
  g_assert_true (large.infeasible);
}

static void
test_scaling (void)
{
  double one = qm_rule_amdahl_serial_share (4, 8, 1.3);
  double other = qm_rule_amdahl_serial_share (4, 8, 1.2);

  assert_near (one, 0.22581, 2e-5);
  assert_near (qm_rule_amdahl_limit (one), 4.429, 1e-4);
  assert_near (other, 0.33333, 2e-5);
  assert_near (qm_rule_amdahl_limit (other), 3, 1e-9);
  assert_near (qm_rule_amdahl_speedup (one, 8) / qm_rule_amdahl_speedup (one, 4), 1.3, 1e-9);
  assert_near (qm_rule_hidden_share_gain (0.3), 1.42857, 1e-5);
  g_assert_cmpfloat (qm_rule_effective_batch (32, 4, 1), ==, 128);
}

static void
test_traffic (void)
{
  double gib4 = 4 * GIB;

  assert_near (qm_rule_all_reduce_seconds (16.06e9, 8, 360e9), 0.0781, 1e-3);
  assert_near (qm_rule_all_reduce_two_levels (gib4, 8, 4, 0.8 * 900e9, 0.74 * 50e9), 0.02177, 5e-4);
  assert_near (qm_rule_pipeline_bubble (8, 64, 1), 0.1094, 5e-4);
  assert_near (qm_rule_pipeline_bubble (8, 64, 3), 0.0365, 1.4e-3);
}

/* Llama 3.1 405B on 15.6 trillion tokens, 16,384 devices at 400 TFLOP/s. */
static void
test_compute (void)
{
  double flops = qm_rule_training_flops (405e9, 15.6e12);

  assert_near (flops, 3.791e25, 1e-4);
  assert_near (flops / (16384 * 400e12) / 86400, 66.9, 1e-3);
}

static void
test_tuning (void)
{
  assert_near (qm_rule_reward (0.8, 0.4), 0.74, 1e-12);
  assert_near (qm_rule_reward (1, 1), 0.70, 1e-12);
  assert_near (qm_rule_reward (0.5, 0.1), 0.62, 1e-12);
}

static void
test_elastic (void)
{
  g_assert_cmpint (qm_rule_elastic_replicas (4, 95), ==, 6);
  g_assert_cmpint (qm_rule_elastic_replicas (4, 35), ==, 2);
  g_assert_cmpint (qm_rule_elastic_replicas (8, 90), ==, 8);
  g_assert_cmpint (qm_rule_elastic_replicas (2, 20), ==, 2);
  g_assert_cmpint (qm_rule_elastic_replicas (4, 74), ==, 4);
}

static void
test_margins (void)
{
  QmRange cold = qm_rule_cold_start_seconds (0.020);
  QmRange score = qm_rule_int8_points (0.825);

  assert_near (qm_rule_with_headroom (100, 0.2), 125, 1e-12);
  assert_near (qm_rule_weight_bytes (1, 8) / qm_rule_weight_bytes (1, 32), 0.25, 1e-12);
  g_assert_true (qm_rule_is_memory_bound (38, 40));
  g_assert_false (qm_rule_is_memory_bound (35, 40));
  assert_near (cold.p10, 0.060, 1e-12);
  assert_near (cold.p90, 0.100, 1e-12);
  assert_near (score.p90, 0.805, 1e-12);
  assert_near (score.p10, 0.775, 1e-12);
}

/* Four to eight V100: 0.2 points for twice the devices, 1.448 times the money,
 * 1.167 times the device hours. */
static void
test_marginal (void)
{
  g_assert_true (qm_rule_not_worth_it (0.002, 2));
  g_assert_false (qm_rule_not_worth_it (0.002, 1.448));
  g_assert_false (qm_rule_not_worth_it (0.002, 1.167));
  g_assert_false (qm_rule_not_worth_it (0.006, 3));
}

static void
test_spot (void)
{
  static const double rates[] = { 0.15 / 3600, 0.15 / 86400 };
  static const double intervals[] = { 1697, 8314 };
  static const double factors[] = { 1.0877, 1.0151 };
  static const double savings[] = { 0.565, 0.594 };

  assert_near (qm_rule_naive_spot_cost (0.37, 0.15), 0.7412, 1e-4);
  assert_near (qm_rule_naive_spot_cost (0.60, 0.15), 0.4706, 1e-4);
  assert_near (qm_rule_naive_spot_cost (0.65, 0.15), 0.4118, 1e-4);

  for (int i = 0; i < 2; i++)
    {
      double between = 1 / rates[i];
      double interval = qm_rule_young_seconds (60, between);
      double factor = qm_rule_interrupted_factor (interval, 60, 300, between);

      assert_near (interval, intervals[i], 1e-3);
      assert_near (factor, factors[i], 1e-3);
      assert_near (qm_rule_spot_saving (0.6, factor), savings[i], 1e-3);
    }

  /* (e - 1) / 1: a job as long as the mean time between stops */
  assert_near (qm_rule_unsaved_factor (3600, 3600), 1.71828, 1e-5);
}

/* Llama 3's 50,677 device hours between stops, on 16,384 devices. */
static void
test_failures (void)
{
  double between = 50677.0 / 16384 * 3600;
  double young = qm_rule_young_seconds (60, between);

  assert_near (between / 3600, 3.093, 1e-4);
  assert_near (young, 1156, 1e-3);
  assert_near (qm_rule_daly_seconds (60, between), 1116, 1e-3);
  assert_near (qm_rule_first_order_waste (young, 60, 600, between), 0.1577, 1e-3);
  g_assert_cmpfloat (qm_rule_daly_seconds (300, 100), ==, 100);
}

static void
test_queues (void)
{
  assert_near (qm_rule_erlang_c (4, 3), 0.5094, 1e-4);
  assert_near (qm_rule_queue_wait (4, 100, 0.030, 1, 1), 0.01528, 1e-3);
  assert_near (qm_rule_queue_wait_p99 (4, 100, 0.030, 1, 1), 0.1179, 1e-3);
  g_assert_cmpint (qm_rule_servers_for_wait_p99 (100, 0.030, 1, 1, 0.050), ==, 5);
  g_assert_cmpint (qm_rule_servers_for_wait_p99 (200, 0.030, 1, 1, 0.050), ==, 9);
  g_assert_cmpint (qm_rule_servers_for_wait_p99 (400, 0.030, 1, 1, 0.050), ==, 15);

  /* constant service time halves the wait; too few servers never catch up */
  assert_near (qm_rule_queue_wait (4, 100, 0.030, 1, 0), 0.01528 / 2, 1e-3);
  g_assert_true (isinf (qm_rule_queue_wait (3, 100, 0.030, 1, 1)));
}

static void
test_losses (void)
{
  double n = qm_rule_optimal_parameters (QM_LOSS_LAW_BESIROGLU, 5.76e23);
  double d = qm_rule_optimal_tokens (QM_LOSS_LAW_BESIROGLU, 5.76e23);

  assert_near (qm_rule_loss (QM_LOSS_LAW_BESIROGLU, 70e9, 1.4e12), 1.9739, 5e-5);
  assert_near (qm_rule_loss (QM_LOSS_LAW_HOFFMANN, 70e9, 1.4e12), 1.9366, 5e-5);
  assert_near (n, 7.23e10, 1e-3);
  assert_near (d, 1.33e12, 3e-3);
  assert_near (d / n, 18.4, 3e-3);
}

static void
test_speculative (void)
{
  assert_near (qm_rule_speculative_tokens (0.8, 4), 3.3616, 1e-6);
  assert_near (qm_rule_speculative_speedup (0.8, 4, 0.05), 2.8013, 2e-5);
  g_assert_cmpfloat (qm_rule_speculative_tokens (1, 4), ==, 5);
}

static void
test_shrinkage (void)
{
  QmShrinkage one = qm_rule_shrink (log (1.15), 1, 0.25, 0.08);
  QmShrinkage three = qm_rule_shrink (log (1.15), 3, 0.25, 0.08);

  assert_near (one.weight, 0.9071, 1e-4);
  assert_near (one.factor, 1.1352, 1e-4);
  assert_near (one.deviation, 0.0762, 1e-3);
  assert_near (three.weight, 0.9670, 1e-4);
  assert_near (three.deviation, 0.0454, 1e-3);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/rules/memory", test_memory);
  g_test_add_func ("/rules/weights", test_weights);
  g_test_add_func ("/rules/images", test_images);
  g_test_add_func ("/rules/layers", test_layers);
  g_test_add_func ("/rules/ddp", test_ddp);
  g_test_add_func ("/rules/scaling", test_scaling);
  g_test_add_func ("/rules/traffic", test_traffic);
  g_test_add_func ("/rules/compute", test_compute);
  g_test_add_func ("/rules/tuning", test_tuning);
  g_test_add_func ("/rules/elastic", test_elastic);
  g_test_add_func ("/rules/margins", test_margins);
  g_test_add_func ("/rules/marginal", test_marginal);
  g_test_add_func ("/rules/spot", test_spot);
  g_test_add_func ("/rules/failures", test_failures);
  g_test_add_func ("/rules/queues", test_queues);
  g_test_add_func ("/rules/losses", test_losses);
  g_test_add_func ("/rules/speculative", test_speculative);
  g_test_add_func ("/rules/shrinkage", test_shrinkage);

  return g_test_run ();
}
