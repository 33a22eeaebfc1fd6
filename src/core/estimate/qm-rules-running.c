/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-rules.h"

#include <math.h>

/* The articles' figures. */
#define MEMORY_BOUND_SHARE 0.9
#define COLD_FACTOR_LOW 3
#define COLD_FACTOR_HIGH 5
#define INT8_LOSS_LOW 0.02
#define INT8_LOSS_HIGH 0.05
#define NOT_WORTH_GAIN 0.005
#define NOT_WORTH_RATIO 2
#define REWARD_THROUGHPUT 0.7
#define REWARD_COST 0.3
#define ELASTIC_TARGET 70.0
#define ELASTIC_FEWEST 2
#define ELASTIC_MOST 8

/* Kubernetes' horizontal autoscaler leaves a deviation this small alone. */
#define ELASTIC_DEAD_BAND 0.1

/* More servers than any load of one job asks for. */
#define MOST_SERVERS 100000

/**
 * qm_rule_reward:
 * @throughput: over the best predicted one, 0 to 1
 * @cost: over the highest one, 0 to 1
 *
 * Returns: what a tuner maximises
 */
double
qm_rule_reward (double throughput,
                double cost)
{
  return REWARD_THROUGHPUT * throughput + REWARD_COST * (1 - cost);
}

/**
 * qm_rule_elastic_replicas:
 * @replicas: running
 * @utilisation: mean of their GPUs, per cent
 *
 * Returns: replicas to run so that the utilisation comes to 70 %, from 2 to 8,
 *   the present number where it is within a tenth of that
 */
int
qm_rule_elastic_replicas (int    replicas,
                          double utilisation)
{
  double ratio = utilisation / ELASTIC_TARGET;

  if (fabs (ratio - 1) <= ELASTIC_DEAD_BAND)
    return CLAMP (replicas, ELASTIC_FEWEST, ELASTIC_MOST);

  return (int) CLAMP (ceil (replicas * ratio), ELASTIC_FEWEST, ELASTIC_MOST);
}

/**
 * qm_rule_with_headroom:
 * @load: that is expected
 * @headroom: share of the provisioned capacity to leave free, 0 to 1
 *
 * Returns: the capacity to provision
 */
double
qm_rule_with_headroom (double load,
                       double headroom)
{
  return load / (1 - headroom);
}

/**
 * qm_rule_is_memory_bound:
 * @used_bytes: of the device memory
 * @total_bytes: likewise
 *
 * Returns: whether more than 90 % is in use
 */
gboolean
qm_rule_is_memory_bound (double used_bytes,
                         double total_bytes)
{
  return used_bytes > MEMORY_BOUND_SHARE * total_bytes;
}

/**
 * qm_rule_cold_start_seconds:
 * @warm_seconds: of a request to a warm server
 *
 * Returns: the first request, three to five times as long
 */
QmRange
qm_rule_cold_start_seconds (double warm_seconds)
{
  double middle = sqrt (COLD_FACTOR_LOW * COLD_FACTOR_HIGH);

  return (QmRange) { COLD_FACTOR_LOW * warm_seconds, middle * warm_seconds, COLD_FACTOR_HIGH * warm_seconds };
}

/**
 * qm_rule_int8_points:
 * @score: accuracy of the 32-bit model, 0 to 1
 *
 * The pessimistic prior for 8-bit quantisation after training: two to five
 * percentage points less.
 *
 * Returns: accuracy, 0 to 1
 */
QmRange
qm_rule_int8_points (double score)
{
  double middle = (INT8_LOSS_LOW + INT8_LOSS_HIGH) / 2;

  return (QmRange) { score - INT8_LOSS_HIGH, score - middle, score - INT8_LOSS_LOW };
}

/**
 * qm_rule_not_worth_it:
 * @accuracy_gain: of the larger choice, as a fraction
 * @resource_ratio: its resources over the smaller one's: devices, device hours
 *   or money
 *
 * The marginal rule: less than half a point for twice the resources.
 *
 * Returns: whether the larger choice is to be skipped
 */
gboolean
qm_rule_not_worth_it (double accuracy_gain,
                      double resource_ratio)
{
  return accuracy_gain < NOT_WORTH_GAIN && resource_ratio >= NOT_WORTH_RATIO;
}

/**
 * qm_rule_naive_spot_cost:
 * @discount: of the spot price, 0 to 1
 * @interrupted_share: of the time that is lost, 0 to 1
 *
 * Returns: cost over that on demand if lost time is bought again and nothing else
 */
double
qm_rule_naive_spot_cost (double discount,
                         double interrupted_share)
{
  return (1 - discount) / (1 - interrupted_share);
}

/**
 * qm_rule_young_seconds:
 * @write_seconds: of a checkpoint
 * @mean_seconds_between: interruptions
 *
 * Returns: best time between checkpoints to first order (Young 1974)
 */
double
qm_rule_young_seconds (double write_seconds,
                       double mean_seconds_between)
{
  return sqrt (2 * write_seconds * mean_seconds_between);
}

/**
 * qm_rule_daly_seconds:
 * @write_seconds: of a checkpoint
 * @mean_seconds_between: interruptions
 *
 * Returns: best time between checkpoints (Daly 2006); the mean time between
 *   interruptions where writing takes more than twice that
 */
double
qm_rule_daly_seconds (double write_seconds,
                      double mean_seconds_between)
{
  double share = write_seconds / (2 * mean_seconds_between);

  if (share >= 1)
    return mean_seconds_between;

  return qm_rule_young_seconds (write_seconds, mean_seconds_between) * (1 + sqrt (share) / 3 + share / 9) - write_seconds;
}

/**
 * qm_rule_first_order_waste:
 * @interval_seconds: of work between checkpoints
 * @write_seconds: of a checkpoint
 * @restart_seconds: after an interruption
 * @mean_seconds_between: interruptions
 *
 * Returns: the share of time that is no work, where interruptions are rare
 */
double
qm_rule_first_order_waste (double interval_seconds,
                           double write_seconds,
                           double restart_seconds,
                           double mean_seconds_between)
{
  return write_seconds / interval_seconds + interval_seconds / (2 * mean_seconds_between) +
         restart_seconds / mean_seconds_between;
}

/**
 * qm_rule_interrupted_factor:
 * @interval_seconds: of work between checkpoints
 * @write_seconds: of a checkpoint
 * @restart_seconds: after an interruption
 * @mean_seconds_between: interruptions
 *
 * Returns: expected time over the time without interruptions, exact where these
 *   come at random: (M / τ) e^(R / M) (e^((τ + C) / M) - 1)
 */
double
qm_rule_interrupted_factor (double interval_seconds,
                            double write_seconds,
                            double restart_seconds,
                            double mean_seconds_between)
{
  return mean_seconds_between / interval_seconds * exp (restart_seconds / mean_seconds_between) *
         expm1 ((interval_seconds + write_seconds) / mean_seconds_between);
}

/**
 * qm_rule_unsaved_factor:
 * @seconds: that the job takes
 * @mean_seconds_between: interruptions
 *
 * Returns: expected time over @seconds where each interruption starts the job
 *   again from nothing
 */
double
qm_rule_unsaved_factor (double seconds,
                        double mean_seconds_between)
{
  double interruptions = seconds / mean_seconds_between;

  return expm1 (interruptions) / interruptions;
}

/**
 * qm_rule_spot_saving:
 * @discount: of the spot price, 0 to 1
 * @interrupted_factor: of the time
 *
 * Returns: what spot machines save of the cost on demand; negative where they
 *   cost more
 */
double
qm_rule_spot_saving (double discount,
                     double interrupted_factor)
{
  return 1 - (1 - discount) * interrupted_factor;
}

/**
 * qm_rule_erlang_c:
 * @servers: how many
 * @offered: load, arrivals per second times service seconds
 *
 * Returns: the probability that an arrival has to wait; 1 where the load is
 *   more than the servers can do
 */
double
qm_rule_erlang_c (int    servers,
                  double offered)
{
  double blocked = 1;

  if (offered >= servers)
    return 1;

  for (int k = 1; k <= servers; k++)
    blocked = offered * blocked / (k + offered * blocked);

  return blocked / (1 - offered / servers * (1 - blocked));
}

static double
queue_scale (int    servers,
             double per_second,
             double service_seconds,
             double arrival_variation,
             double service_variation)
{
  double spare = servers - per_second * service_seconds;
  double variation = (arrival_variation * arrival_variation + service_variation * service_variation) / 2;

  return spare > 0 ? service_seconds / spare * variation : INFINITY;
}

/**
 * qm_rule_queue_wait:
 * @servers: how many
 * @per_second: arrivals
 * @service_seconds: mean time of one
 * @arrival_variation: coefficient of variation of the time between arrivals,
 *   1 at random
 * @service_variation: that of the service time, 0 where all are alike
 *
 * Returns: mean wait by Allen and Cunneen, exact with both variations 1;
 *   infinite where the load is more than the servers can do
 */
double
qm_rule_queue_wait (int    servers,
                    double per_second,
                    double service_seconds,
                    double arrival_variation,
                    double service_variation)
{
  return qm_rule_erlang_c (servers, per_second * service_seconds) *
         queue_scale (servers, per_second, service_seconds, arrival_variation, service_variation);
}

/**
 * qm_rule_queue_wait_p99:
 * @servers: how many
 * @per_second: arrivals
 * @service_seconds: mean time of one
 * @arrival_variation: as for qm_rule_queue_wait()
 * @service_variation: likewise
 *
 * Returns: the wait that one arrival in a hundred exceeds; 0 where fewer have
 *   to wait at all
 */
double
qm_rule_queue_wait_p99 (int    servers,
                        double per_second,
                        double service_seconds,
                        double arrival_variation,
                        double service_variation)
{
  double waiting = qm_rule_erlang_c (servers, per_second * service_seconds);
  double scale = queue_scale (servers, per_second, service_seconds, arrival_variation, service_variation);

  return waiting > 0.01 ? log (100 * waiting) * scale : 0;
}

/**
 * qm_rule_servers_for_wait_p99:
 * @per_second: arrivals
 * @service_seconds: mean time of one
 * @arrival_variation: as for qm_rule_queue_wait()
 * @service_variation: likewise
 * @limit_seconds: that one arrival in a hundred may wait at most
 *
 * Returns: the fewest servers that keep to it; 0 where no number would do
 */
int
qm_rule_servers_for_wait_p99 (double per_second,
                              double service_seconds,
                              double arrival_variation,
                              double service_variation,
                              double limit_seconds)
{
  double offered = per_second * service_seconds;

  if (!(offered >= 0 && offered < MOST_SERVERS) || limit_seconds < 0)
    return 0;

  for (int k = (int) floor (offered) + 1; k <= MOST_SERVERS; k++)
    {
      if (qm_rule_queue_wait_p99 (k, per_second, service_seconds, arrival_variation, service_variation) <= limit_seconds)
        return k;
    }

  return 0;
}
