/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

#include "qm-range.h"

G_BEGIN_DECLS

/* Rules of thumb, by the names they go by, and closed forms that need nothing
 * but their arguments. */

/* memory */
double   qm_rule_basic_bytes             (double parameters);
double   qm_rule_quick_bytes             (double parameters);
double   qm_rule_precise_bytes           (double parameters,
                                          double bytes_per_value,
                                          double activation_bytes,
                                          double batch_bytes);
double   qm_rule_weight_bytes            (double parameters,
                                          double bits);
double   qm_rule_cnn_activation_bytes    (double activations,
                                          double bytes_per_value);
double   qm_rule_layers_bytes            (double bytes_per_step,
                                          double layers_per_step,
                                          double layers_before,
                                          double layers_after);

/**
 * QmRuleDdp:
 * @workers: what the rule says
 * @needed: shards that hold the weights, before the rule caps them
 * @raw: weights over the usable memory of one device
 * @replicates: one device holds the weights, so data-parallel replicas work
 * @infeasible: more shards are needed than there are devices
 */
typedef struct {
  int workers;
  int needed;
  double raw;
  gboolean replicates;
  gboolean infeasible;
} QmRuleDdp;

QmRuleDdp qm_rule_ddp                    (int    devices,
                                          double parameters,
                                          double memory_bytes,
                                          double bytes_per_parameter);

/* scaling */
double   qm_rule_amdahl_serial_share     (double devices_before,
                                          double devices_after,
                                          double gain);
double   qm_rule_amdahl_speedup          (double serial_share,
                                          double devices);
double   qm_rule_amdahl_limit            (double serial_share);
double   qm_rule_hidden_share_gain       (double share);
double   qm_rule_training_flops          (double parameters,
                                          double tokens);
double   qm_rule_all_reduce_seconds      (double bytes,
                                          double devices,
                                          double bytes_per_second);
double   qm_rule_all_reduce_two_levels   (double bytes,
                                          double devices,
                                          double domains,
                                          double inside_bytes_per_second,
                                          double between_bytes_per_second);
double   qm_rule_pipeline_bubble         (double stages,
                                          double micro_batches,
                                          double chunks);
double   qm_rule_effective_batch         (double batch,
                                          double accumulation,
                                          double replicas);

/* running */
double   qm_rule_reward                  (double throughput,
                                          double cost);
int      qm_rule_elastic_replicas        (int    replicas,
                                          double utilisation);
double   qm_rule_with_headroom           (double load,
                                          double headroom);
gboolean qm_rule_is_memory_bound         (double used_bytes,
                                          double total_bytes);
QmRange  qm_rule_cold_start_seconds      (double warm_seconds);
QmRange  qm_rule_int8_points             (double score);
gboolean qm_rule_not_worth_it            (double accuracy_gain,
                                          double resource_ratio);

/* interruptions */
double   qm_rule_naive_spot_cost         (double discount,
                                          double interrupted_share);
double   qm_rule_young_seconds           (double write_seconds,
                                          double mean_seconds_between);
double   qm_rule_daly_seconds            (double write_seconds,
                                          double mean_seconds_between);
double   qm_rule_first_order_waste       (double interval_seconds,
                                          double write_seconds,
                                          double restart_seconds,
                                          double mean_seconds_between);
double   qm_rule_interrupted_factor      (double interval_seconds,
                                          double write_seconds,
                                          double restart_seconds,
                                          double mean_seconds_between);
double   qm_rule_unsaved_factor          (double seconds,
                                          double mean_seconds_between);
double   qm_rule_spot_saving             (double discount,
                                          double interrupted_factor);

/* queues */
double   qm_rule_erlang_c                (int    servers,
                                          double offered);
double   qm_rule_queue_wait              (int    servers,
                                          double per_second,
                                          double service_seconds,
                                          double arrival_variation,
                                          double service_variation);
double   qm_rule_queue_wait_p99          (int    servers,
                                          double per_second,
                                          double service_seconds,
                                          double arrival_variation,
                                          double service_variation);
int      qm_rule_servers_for_wait_p99    (double per_second,
                                          double service_seconds,
                                          double arrival_variation,
                                          double service_variation,
                                          double limit_seconds);

/* learning */
typedef enum {
  QM_LOSS_LAW_BESIROGLU,            /* re-fit of Hoffmann's data, 2404.10102 */
  QM_LOSS_LAW_HOFFMANN,             /* 2203.15556 */
} QmLossLaw;

double   qm_rule_loss                    (QmLossLaw law,
                                          double    parameters,
                                          double    tokens);
double   qm_rule_optimal_parameters      (QmLossLaw law,
                                          double    flops);
double   qm_rule_optimal_tokens          (QmLossLaw law,
                                          double    flops);
double   qm_rule_critical_tokens         (double    loss);
double   qm_rule_batch_samples           (double    batch,
                                         double    critical);
double   qm_rule_speculative_tokens      (double    acceptance,
                                          int       drafted);
double   qm_rule_speculative_speedup     (double    acceptance,
                                          int       drafted,
                                          double    draft_cost);

/**
 * QmShrinkage:
 * @weight: of the measurements, from 0 to 1
 * @factor: what to multiply the estimate with
 * @deviation: standard deviation of ln (measured / estimate) that is left
 */
typedef struct {
  double weight;
  double factor;
  double deviation;
} QmShrinkage;

QmShrinkage qm_rule_shrink               (double mean_log_ratio,
                                          int    n,
                                          double prior_deviation,
                                          double noise_deviation);

G_END_DECLS
