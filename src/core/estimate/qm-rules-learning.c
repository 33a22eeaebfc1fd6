/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-rules.h"

#include <math.h>

/* loss = E + A / N^α + B / D^β */
typedef struct {
  double floor;
  double a;
  double b;
  double alpha;
  double beta;
} LossLaw;

static const LossLaw loss_laws[] = {
  [QM_LOSS_LAW_BESIROGLU] = { 1.8172, 482.01, 2085.43, 0.3478, 0.3658 },
  [QM_LOSS_LAW_HOFFMANN] = { 1.69, 406.4, 410.7, 0.34, 0.28 },
};

/**
 * qm_rule_loss:
 * @law: which fit
 * @parameters: of a dense decoder, 7e7 to 1.6e10 in the data behind the fits
 * @tokens: seen once, 5e9 to 5e11 there
 *
 * Returns: pre-training loss in nats per token of the MassiveText tokenizer
 */
double
qm_rule_loss (QmLossLaw law,
              double    parameters,
              double    tokens)
{
  const LossLaw *l = &loss_laws[law];

  return l->floor + l->a / pow (parameters, l->alpha) + l->b / pow (tokens, l->beta);
}

/**
 * qm_rule_optimal_parameters:
 * @law: which fit
 * @flops: of the whole training
 *
 * Returns: parameters of the model with the least loss for @flops = 6 N D
 */
double
qm_rule_optimal_parameters (QmLossLaw law,
                            double    flops)
{
  const LossLaw *l = &loss_laws[law];
  double sum = l->alpha + l->beta;

  return pow (l->alpha * l->a / (l->beta * l->b), 1 / sum) * pow (flops / 6, l->beta / sum);
}

/**
 * qm_rule_optimal_tokens:
 * @law: which fit
 * @flops: of the whole training
 *
 * Returns: tokens to train that model on
 */
double
qm_rule_optimal_tokens (QmLossLaw law,
                        double    flops)
{
  return flops / 6 / qm_rule_optimal_parameters (law, flops);
}

/**
 * qm_rule_critical_tokens:
 * @loss: nats per token at the end of a pre-training
 *
 * Returns: tokens of a step at which twice the tokens of small steps are needed
 *   (Kaplan and others, arXiv:2001.08361: 2e8 / L^4.76)
 */
double
qm_rule_critical_tokens (double loss)
{
  return 2e8 / pow (loss, 4.76);
}

/**
 * qm_rule_batch_samples:
 * @batch: samples of a step
 * @critical: the critical batch
 *
 * Returns: samples to the same result, over those that the smallest batches need
 *   (McCandlish and others, arXiv:1812.06162: 1 + B / B_c)
 */
double
qm_rule_batch_samples (double batch,
                       double critical)
{
  return 1 + batch / critical;
}

/**
 * qm_rule_speculative_tokens:
 * @acceptance: probability that a drafted token is accepted, 0 to 1
 * @drafted: tokens before each check
 *
 * Returns: tokens that a pass of the large model gives (2211.17192)
 */
double
qm_rule_speculative_tokens (double acceptance,
                            int    drafted)
{
  if (acceptance >= 1)
    return drafted + 1;

  return (1 - pow (acceptance, drafted + 1)) / (1 - acceptance);
}

/**
 * qm_rule_speculative_speedup:
 * @acceptance: probability that a drafted token is accepted, 0 to 1
 * @drafted: tokens before each check
 * @draft_cost: time of a drafted token over that of the large model
 *
 * Returns: decode rate over that without drafting, as long as memory traffic
 *   bounds it (2211.17192)
 */
double
qm_rule_speculative_speedup (double acceptance,
                             int    drafted,
                             double draft_cost)
{
  return qm_rule_speculative_tokens (acceptance, drafted) / (drafted * draft_cost + 1);
}

/**
 * qm_rule_shrink:
 * @mean_log_ratio: mean ln (measured / estimate) of the runs
 * @n: runs
 * @prior_deviation: of ln (true / estimate) before any run
 * @noise_deviation: of ln (measured / true) of a run
 *
 * Returns: the posterior of a normal prior around the estimate
 */
QmShrinkage
qm_rule_shrink (double mean_log_ratio,
                int    n,
                double prior_deviation,
                double noise_deviation)
{
  double prior = prior_deviation * prior_deviation;
  double noise = noise_deviation * noise_deviation;
  double weight = n * prior / (n * prior + noise);

  return (QmShrinkage) {
    .weight = weight,
    .factor = exp (weight * mean_log_ratio),
    .deviation = sqrt (prior * noise / (n * prior + noise)),
  };
}
