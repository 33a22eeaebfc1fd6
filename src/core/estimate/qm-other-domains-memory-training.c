/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

/* Bytes of a number. */
#define FULL 4.0
#define HALF 2.0

/* Optimizer states follow weights of 16 bits. */
#define PURE_16_BIT_STATES 0.5

/**
 * qm_domain_parameters:
 * @self: a job
 *
 * Returns: how many parameters the model has, those usual where nothing tells
 */
double
qm_domain_parameters (const QmOtherDomains *self)
{
  if (self->shape.parameters > 0)
    return self->shape.parameters;

  return self->facts.parameters > 0 ? self->facts.parameters : self->constants->usual.parameters;
}

/**
 * qm_domain_trainable:
 * @self: a job that trains
 *
 * Of a pipeline that makes images the denoiser alone is trained.
 *
 * Returns: how many parameters change
 */
double
qm_domain_trainable (const QmOtherDomains *self)
{
  double all = qm_domain_parameters (self);

  if (self->adapters || self->probe)
    return self->adapter_parameters > 0 ? self->adapter_parameters : all * self->constants->usual.adapter_share_memory;

  return self->facts.denoiser_parameters > 0 ? self->facts.denoiser_parameters : all;
}

static double
kept_bytes (const QmOtherDomains *self)
{
  return self->training.precision == QM_PRECISION_FP8 ? HALF : self->train_bytes;
}

/**
 * qm_domain_states_bytes:
 * @self: a job that trains
 *
 * Returns: bytes of optimizer states of a trained parameter
 */
double
qm_domain_states_bytes (const QmOtherDomains *self)
{
  QmOptimizer optimizer = self->training.optimizer;

  if (optimizer == QM_OPTIMIZER_UNSET)
    optimizer = QM_OPTIMIZER_ADAMW;

  return self->constants->memory.optimizer[optimizer] * (self->pure_16_bit && !self->adapters ? PURE_16_BIT_STATES : 1);
}

/* Tuned code drops the padding, and its attention keeps no scores. */
static void
keep_encoder (const QmOtherDomains *self,
              const QmDomainSite   *site,
              double                batch,
              double               *parts)
{
  const QmDomainMemoryConstants *constants = &self->constants->memory;
  const QmDomainShape *shape = &self->shape;
  QmDomainStack stack = qm_domain_stack (self, site);
  double real = qm_domain_real_tokens (self, stack);
  double tokens = batch * self->sequence * (real + constants->padding_kept * (1 - real));
  double scores = self->training.attention == QM_ATTENTION_FLASH ? 0 : shape->heads * self->sequence;

  if (self->training.attention == QM_ATTENTION_UNSET && stack == QM_DOMAIN_STACK_MLPERF)
    scores *= constants->fused_scores;
  parts[QM_MEMORY_ACTIVATIONS] = tokens * shape->layers * kept_bytes (self) *
                                 (constants->encoder_states * shape->hidden + constants->encoder_scores * scores);
  if (self->checkpointed)
    parts[QM_MEMORY_ACTIVATIONS] = tokens * shape->hidden * kept_bytes (self) * (shape->layers + constants->encoder_states);
  parts[QM_MEMORY_LOGITS] = tokens * self->constants->encoder.pretrain_head * shape->vocabulary * constants->encoder_logits;
}

static void
keep_denoiser (const QmOtherDomains *self,
               double                batch,
               double               *parts)
{
  const QmDomainMemoryConstants *constants = &self->constants->memory;
  const QmDomainFacts *facts = &self->facts;
  double layers = facts->layers > 0 ? facts->layers : constants->generation_layers;
  double activations = facts->activations;
  double kept = self->checkpointed ? constants->checkpointed + constants->generation_layer / layers : constants->generation;

  if (!(activations > 0))
    activations = facts->flops * self->constants->usual.activations_per_flop_transformer;

  parts[QM_MEMORY_ACTIVATIONS] = batch * activations * kept_bytes (self) * kept;
  if (facts->family == QM_FAMILY_TRANSFORMER && !self->pure_16_bit && !self->adapters)
    parts[QM_MEMORY_WEIGHTS] += qm_domain_parameters (self) * constants->moving_average;
  parts[QM_MEMORY_WORKSPACE] = constants->generation_workspace +
                               (self->training.method == QM_METHOD_LORA ? constants->generation_adapter_workspace : 0);
}

/* Of each layer its input stays, which autocast leaves in 32 bits, and all of the
 * one that is computed again. */
static double
recomputed_bytes (const QmOtherDomains *self,
                  double                activations)
{
  const QmDomainMemoryConstants *constants = &self->constants->memory;
  double layers = self->facts.layers > 0 ? self->facts.layers : constants->block_layers;

  return activations * (constants->block_input * (self->pure_16_bit ? HALF : FULL) + constants->norm * kept_bytes (self) / layers);
}

static void
keep_activations (const QmOtherDomains *self,
                  const QmDomainSite   *site,
                  double                batch,
                  double               *parts)
{
  const QmDomainMemoryConstants *constants = &self->constants->memory;
  double activations = self->facts.activations > 0 ? self->facts.activations : self->constants->usual.activations;
  double kept = constants->norm;

  switch (self->job)
    {
    case QM_DOMAIN_JOB_TRAIN_ENCODER:
      keep_encoder (self, site, batch, parts);
      return;
    case QM_DOMAIN_JOB_TRAIN_DIFFUSION:
      keep_denoiser (self, batch, parts);
      return;
    case QM_DOMAIN_JOB_TRAIN_RECOMMENDER:
      kept = constants->recommender;
      break;
    default:
      if (self->task == QM_TASK_OBJECT_DETECTION)
        kept = constants->frozen_norm;
      break;
    }

  parts[QM_MEMORY_ACTIVATIONS] = batch * (self->recomputes ? recomputed_bytes (self, activations)
                                                             : activations * kept_bytes (self) * kept);
}

/* Large denoisers are spread whatever the plan says of their data parallelism,
 * so is their time; not below adapters, where every device reads all of them. */
static void
shard (const QmOtherDomains *self,
       const QmDomainSite   *site,
       double               *parts)
{
  double devices = site->devices;
  gboolean whole = self->job == QM_DOMAIN_JOB_TRAIN_DIFFUSION && !self->adapters;
  gboolean large = whole && qm_domain_parameters (self) > self->constants->memory.sharded_from;

  switch (large ? QM_SHARDING_ZERO3 : site->given->sharding)
    {
    case QM_SHARDING_ZERO3:
    case QM_SHARDING_HYBRID:
      parts[QM_MEMORY_WEIGHTS] /= devices;
      parts[QM_MEMORY_GRADIENTS] /= devices;
      parts[QM_MEMORY_OPTIMIZER] /= devices;
      break;
    case QM_SHARDING_ZERO2:
      parts[QM_MEMORY_GRADIENTS] /= devices;
      parts[QM_MEMORY_OPTIMIZER] /= devices;
      break;
    case QM_SHARDING_ZERO1:
      parts[QM_MEMORY_OPTIMIZER] /= devices;
      break;
    default:
      break;
    }
}

/* What bitsandbytes and torchao quantise: matrices of linear layers, which leaves
 * out convolutions and embeddings. */
static double
linear_parameters (const QmOtherDomains *self)
{
  const QmDomainFacts *facts = &self->facts;

  if (self->shape.parameters > 0)
    return self->shape.body;
  if (facts->linear_parameters > 0)
    return facts->linear_parameters;

  return facts->family == QM_FAMILY_TRANSFORMER || facts->decoder_parameters > 0 ? qm_domain_parameters (self) : 0;
}

/* Weights that are only read. Adapters leave them in the 16 bits of the
 * computation, as what runs beside the denoiser of a pipeline; the body below a
 * probe stays in 32 bits as it was loaded, and autocast makes copies. */
static double
frozen_bytes (const QmOtherDomains *self,
              double                frozen)
{
  const char *word = self->training.method == QM_METHOD_QLORA ? "nf4" : "";
  gboolean narrow = self->pure_16_bit || (!self->probe && self->train_bytes < FULL);
  double plain = narrow ? HALF : FULL;
  const QmDomainWeights *weights;
  double linear;

  if (self->training.base_weights[0] != '\0' && (self->adapters || self->probe))
    word = self->training.base_weights;
  weights = qm_domains_constants_find_weights (self->constants, word);
  if (weights == NULL)
    return frozen * plain;
  if (weights->bytes >= HALF)
    return frozen * weights->bytes;

  linear = fmin (linear_parameters (self), frozen);
  return linear * weights->bytes + (frozen - linear) * plain;
}

/* What runs beside the denoiser and is not trained: within the parameters of a
 * pipeline, or counted beside them. */
static double
parameters_beside (const QmOtherDomains *self)
{
  const QmDomainFacts *facts = &self->facts;

  return facts->denoiser_parameters > 0 ? fmax (0, qm_domain_parameters (self) - facts->denoiser_parameters) : 0;
}

/* Scripts for transformers that read a text encoder larger than themselves work
 * out its output before they begin; those of UNets run encoders in each step. */
static gboolean
keeps_encoders (const QmOtherDomains *self,
                const QmDomainSite   *site)
{
  if (self->job != QM_DOMAIN_JOB_TRAIN_DIFFUSION)
    return TRUE;
  if (self->training.latents_stored != QM_TERNARY_UNSET)
    return self->training.latents_stored == QM_TERNARY_NO;

  return self->facts.denoiser_parameters > 0 && qm_domain_stack (self, site) != QM_DOMAIN_STACK_COMPOSER;
}

static double
weights_bytes (const QmOtherDomains *self,
               const QmDomainSite   *site)
{
  double stored = keeps_encoders (self, site) ? 0 : parameters_beside (self);
  double all = qm_domain_parameters (self) - stored;
  double trainable = qm_domain_trainable (self);

  if (self->adapters)
    return frozen_bytes (self, all) + trainable * self->constants->memory.adapter_bytes;
  if (self->probe)
    return frozen_bytes (self, all);

  return trainable * (self->pure_16_bit ? HALF : FULL) + frozen_bytes (self, fmax (0, all - trainable));
}

/**
 * qm_domain_store_training:
 * @self: a job that trains
 * @site: a site
 * @batch: samples per device and micro-step
 * @parts: (out): bytes of one device, %QM_MEMORY_N_PARTS of them, zero before
 *
 * Weights, trained and frozen, their gradients and optimizer states by the table
 * of the ZeRO paper, and what is kept of the activations.
 */
void
qm_domain_store_training (const QmOtherDomains *self,
                          const QmDomainSite   *site,
                          double                batch,
                          double               *parts)
{
  const QmDomainMemoryConstants *constants = &self->constants->memory;
  double trainable = qm_domain_trainable (self);
  double gradient = self->adapters ? constants->adapter_bytes : self->pure_16_bit ? HALF : FULL;
  gboolean exchanges = site->devices > 1 && self->job != QM_DOMAIN_JOB_TRAIN_DIFFUSION;

  parts[QM_MEMORY_WEIGHTS] = weights_bytes (self, site);
  parts[QM_MEMORY_GRADIENTS] = trainable * gradient;
  parts[QM_MEMORY_OPTIMIZER] = trainable * qm_domain_states_bytes (self);
  parts[QM_MEMORY_WORKSPACE] = constants->workspace;
  parts[QM_MEMORY_COMMUNICATION] = exchanges ? trainable * gradient : 0;
  keep_activations (self, site, batch, parts);
  /* as in inference: nothing is kept for a way back */
  if (self->probe)
    {
      parts[QM_MEMORY_ACTIVATIONS] *= constants->run_activations / constants->norm;
      parts[QM_MEMORY_LOGITS] = 0;
    }
  shard (self, site, parts);
  /* each device has encoders of its own */
  if (keeps_encoders (self, site))
    parts[QM_MEMORY_WEIGHTS] += self->facts.encoder_parameters * (self->train_bytes < FULL ? HALF : FULL);
}
