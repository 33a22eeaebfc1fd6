/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-rules.h"

#include <math.h>

/* The articles' figures. */
#define BASIC_BYTES 4
#define BASIC_MARGIN 1.3
#define QUICK_BYTES 2
#define QUICK_MARGIN 1.2
#define DDP_USABLE_SHARE 0.9

/**
 * qm_rule_basic_bytes:
 * @parameters: of the model
 *
 * The basic method: 32-bit weights and 30 %. It covers inference, not what
 * training keeps beside the weights.
 *
 * Returns: bytes
 */
double
qm_rule_basic_bytes (double parameters)
{
  return parameters * BASIC_BYTES * BASIC_MARGIN;
}

/**
 * qm_rule_quick_bytes:
 * @parameters: of the model
 *
 * The quick method: 16-bit weights and 20 %. It holds for inference and LoRA.
 *
 * Returns: bytes
 */
double
qm_rule_quick_bytes (double parameters)
{
  return parameters * QUICK_BYTES * QUICK_MARGIN;
}

/**
 * qm_rule_precise_bytes:
 * @parameters: of the model
 * @bytes_per_value: of the one type that everything is in
 * @activation_bytes: kept for the backward pass
 * @batch_bytes: of the input
 *
 * The precise method: weights, gradients and two optimizer moments in one type,
 * activations and batch. With mixed precision the states take 16 bytes a
 * parameter whatever the type.
 *
 * Returns: bytes
 */
double
qm_rule_precise_bytes (double parameters,
                       double bytes_per_value,
                       double activation_bytes,
                       double batch_bytes)
{
  double values = parameters + parameters + 2 * parameters;

  return values * bytes_per_value + activation_bytes + batch_bytes;
}

/**
 * qm_rule_weight_bytes:
 * @parameters: of the model
 * @bits: that one takes, scales of quantised blocks included
 *
 * Returns: bytes
 */
double
qm_rule_weight_bytes (double parameters,
                      double bits)
{
  return parameters * bits / 8;
}

/**
 * qm_rule_cnn_activation_bytes:
 * @activations: elements that convolutions write in one forward pass
 * @bytes_per_value: of their type
 *
 * Returns: bytes that training keeps of an image: each output and its
 *   normalised copy
 */
double
qm_rule_cnn_activation_bytes (double activations,
                              double bytes_per_value)
{
  return 2 * activations * bytes_per_value;
}

/**
 * qm_rule_layers_bytes:
 * @bytes_per_step: that past runs took for @layers_per_step
 * @layers_per_step: layers
 * @layers_before: of the model that was measured
 * @layers_after: of the one asked for
 *
 * Returns: bytes that the deeper model takes more
 */
double
qm_rule_layers_bytes (double bytes_per_step,
                      double layers_per_step,
                      double layers_before,
                      double layers_after)
{
  return (layers_after - layers_before) / layers_per_step * bytes_per_step;
}

/**
 * qm_rule_ddp:
 * @devices: there are
 * @parameters: of the model
 * @memory_bytes: of one device
 * @bytes_per_parameter: of the weights
 *
 * The worker rule: min (devices, ceil (weights over 0.9 of the memory)). It
 * counts the shards that hold the weights. Data-parallel training replicates
 * them, so it works with one shard only; the cap hides where even all devices
 * together are too small.
 *
 * Returns: what the rule says and what follows from it
 */
QmRuleDdp
qm_rule_ddp (int    devices,
             double parameters,
             double memory_bytes,
             double bytes_per_parameter)
{
  double raw = parameters / (memory_bytes * DDP_USABLE_SHARE / bytes_per_parameter);
  int needed = (int) fmax (1, ceil (raw));

  return (QmRuleDdp) {
    .workers = MIN (devices, needed),
    .needed = needed,
    .raw = raw,
    .replicates = needed == 1,
    .infeasible = needed > devices,
  };
}

/**
 * qm_rule_amdahl_serial_share:
 * @devices_before: devices of one run
 * @devices_after: more devices of another
 * @gain: rate of the second over the first
 *
 * Returns: the share of the work on one device that does not scale, by
 *   Amdahl's law through two points
 */
double
qm_rule_amdahl_serial_share (double devices_before,
                             double devices_after,
                             double gain)
{
  double parallel = 1 / devices_before - gain / devices_after;

  return parallel / (parallel + gain - 1);
}

/**
 * qm_rule_amdahl_speedup:
 * @serial_share: of the work on one device
 * @devices: how many
 *
 * Returns: rate over that of one device
 */
double
qm_rule_amdahl_speedup (double serial_share,
                        double devices)
{
  return 1 / (serial_share + (1 - serial_share) / devices);
}

/**
 * qm_rule_amdahl_limit:
 * @serial_share: of the work on one device
 *
 * Returns: the rate that no number of devices exceeds, over that of one
 */
double
qm_rule_amdahl_limit (double serial_share)
{
  return 1 / serial_share;
}

/**
 * qm_rule_hidden_share_gain:
 * @share: of the step time, e.g. 0.3 for an all-reduce
 *
 * Returns: the most that can be won by hiding it altogether, as a factor
 */
double
qm_rule_hidden_share_gain (double share)
{
  return 1 / (1 - share);
}

/**
 * qm_rule_training_flops:
 * @parameters: used for a token
 * @tokens: seen
 *
 * Returns: 6 N D, without attention and recomputation
 */
double
qm_rule_training_flops (double parameters,
                        double tokens)
{
  return 6 * parameters * tokens;
}

/**
 * qm_rule_all_reduce_seconds:
 * @bytes: reduced
 * @devices: in the ring
 * @bytes_per_second: of one device, one direction
 *
 * Returns: time of a ring all-reduce
 */
double
qm_rule_all_reduce_seconds (double bytes,
                            double devices,
                            double bytes_per_second)
{
  return 2 * (devices - 1) / devices * bytes / bytes_per_second;
}

/**
 * qm_rule_all_reduce_two_levels:
 * @bytes: reduced
 * @devices: in a fast domain
 * @domains: how many
 * @inside_bytes_per_second: of one device in its domain
 * @between_bytes_per_second: of one device between domains
 *
 * Returns: time of an all-reduce whose two levels overlap
 */
double
qm_rule_all_reduce_two_levels (double bytes,
                               double devices,
                               double domains,
                               double inside_bytes_per_second,
                               double between_bytes_per_second)
{
  return fmax (qm_rule_all_reduce_seconds (bytes, devices, inside_bytes_per_second),
               qm_rule_all_reduce_seconds (bytes / devices, domains, between_bytes_per_second));
}

/**
 * qm_rule_pipeline_bubble:
 * @stages: of the pipeline
 * @micro_batches: of a step
 * @chunks: virtual stages of one device
 *
 * Returns: idle time over busy time of one-forward-one-backward scheduling
 *   (2104.04473)
 */
double
qm_rule_pipeline_bubble (double stages,
                         double micro_batches,
                         double chunks)
{
  return (stages - 1) / (chunks * micro_batches);
}

/**
 * qm_rule_effective_batch:
 * @batch: of one device and micro-step
 * @accumulation: micro-steps
 * @replicas: data-parallel ones
 *
 * Returns: samples of an optimizer step
 */
double
qm_rule_effective_batch (double batch,
                         double accumulation,
                         double replicas)
{
  return batch * accumulation * replicas;
}
