/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

/* Forward and backward pass, in forward passes. */
#define TRAINING_PASSES 3.0
#define FROZEN_PASSES 2.0

/* Bytes of a gradient as it is exchanged. */
#define GRADIENT_16_BIT 2.0
#define GRADIENT_32_BIT 4.0

/* Rounds of the exchange: a sum; weights gathered twice and gradients scattered. */
#define SUM_ROUNDS 2.0
#define SHARDED_ROUNDS 3.0

/* Share of the extra traffic that depthwise layers have of it (exponent). */
#define DEPTHWISE_LAYOUT 0.4

/* What one optimizer step is made of. */
typedef struct {
  double gpu;                       /* a micro-step */
  double host;                      /* a micro-step */
  double parameters;                /* updated and exchanged */
  double gradient_bytes;
  double update_bytes;
  gboolean sharded;
  gboolean synchronised;
  double overlap;                   /* most of the exchange that can hide; gradients come late */
} Step;

/**
 * qm_domain_stack:
 * @self: a job
 * @site: a site
 *
 * Returns: the software stack: as stated, else the device's only one, else what
 *   the rest of the plan tells
 */
QmDomainStack
qm_domain_stack (const QmOtherDomains *self,
                 const QmDomainSite   *site)
{
  if (self->stack != QM_DOMAIN_STACK_UNSTATED)
    return self->stack;

  return site->stack >= 0 ? (QmDomainStack) site->stack : self->implied;
}

static gboolean
is_tuned (QmDomainStack stack)
{
  return stack == QM_DOMAIN_STACK_MLPERF || stack == QM_DOMAIN_STACK_NVIDIA_TUNED;
}

/* Gradients are as wide as the weights: 32 bits under autocast, where only tuned
 * code sums them in 16; @usual where the constants say nothing of it. */
static double
gradient_bytes (const QmOtherDomains *self,
                QmDomainStack         stack,
                double                usual)
{
  gboolean narrow = is_tuned (stack) && self->train_bytes < GRADIENT_32_BIT;

  if (!(self->constants->wide_gradients > 0))
    return usual;

  return self->pure_16_bit || narrow ? GRADIENT_16_BIT : GRADIENT_32_BIT;
}

static double
eager_tau (const QmOtherDomains *self,
           QmDomainStack         stack)
{
  return stack == QM_DOMAIN_STACK_MLPERF ? self->constants->host.tau_tuned : self->constants->host.tau_eager;
}

/* Micro-batch, accumulation; @usual where the plan gives no batch. */
static void
set_batch (const QmOtherDomains *self,
           const QmDomainSite   *site,
           double                usual,
           double                sigma,
           QmDomainRun          *run)
{
  const QmConfiguration *given = site->given;

  run->data_parallel = given->data_parallel > 0 ? given->data_parallel : site->devices;
  run->accumulation = given->gradient_accumulation;
  if (!(run->accumulation > 0))
    run->accumulation = given->micro_batch > 0 ? fmax (1, ceil (self->training.global_batch / run->data_parallel / given->micro_batch)) : 1;
  run->batch = given->micro_batch;
  if (!(run->batch > 0))
    run->batch = self->training.global_batch / run->data_parallel / run->accumulation;
  if (run->batch > 0)
    return;

  run->batch = usual;
  run->sigma = sigma;
}

static void
add_stack (const QmOtherDomains *self,
           QmDomainField         field,
           QmDomainStack         stack,
           double               *factor,
           QmDomainRun          *run)
{
  *factor = self->constants->stack[field][stack];
  run->sigma = sqrt (run->sigma * run->sigma + self->constants->stack_sigma[field][stack] * self->constants->stack_sigma[field][stack]);
}

/* One optimizer step: micro-steps, update, exchange of gradients. */
static void
finish (const QmOtherDomains *self,
        const QmDomainSite   *site,
        const Step           *step,
        QmDomainRun          *run)
{
  const QmOtherDomainsConstants *constants = self->constants;
  double devices = site->devices;
  double micro = qm_domain_soft_max (step->gpu, step->host);
  double update = step->update_bytes * step->parameters / (step->sharded ? devices : 1) / site->bandwidth;
  double rounds = step->sharded ? SHARDED_ROUNDS * run->accumulation : SUM_ROUNDS;
  double communication = 0;

  if (devices > 1)
    {
      QmDomainLinks links = qm_domain_links (site);

      links.overlap = fmin (links.overlap, step->overlap);
      communication = qm_domain_all_reduce (&links, step->parameters * step->gradient_bytes, devices, rounds);
      communication = qm_domain_exposed (&links, communication, micro * constants->backward);
      if (step->synchronised)
        communication += log2 (devices) * (constants->link.sync_seconds + constants->link.sync_fraction * micro);
    }

  run->step = run->accumulation * micro + update + communication;
  run->communication = communication;
  run->overhead = run->accumulation * fmax (0, micro - step->gpu) + update;
  run->samples_per_second = devices * run->batch * run->accumulation / run->step;
  run->known = TRUE;
}

/* A probe changes and exchanges its head alone. */
static double
changed_parameters (const QmOtherDomains *self,
                    double                all)
{
  return self->probe ? qm_domain_trainable (self) : all;
}

static double
usual_vision_batch (const QmOtherDomains *self,
                    double                activations)
{
  const QmDomainDefaults *usual = &self->constants->usual;
  double batch = self->facts.family == QM_FAMILY_DEPTHWISE ? usual->batch_depthwise : usual->batch_vision;

  return fmin (batch, usual->batch_elements / fmax (1, activations));
}

/* Convolutions in 16 bits want their channels last and transpose otherwise. */
static double
layout_factor (const QmOtherDomains *self,
               QmDomainStack         stack)
{
  double factor = self->constants->vision.channels_first;
  QmMemoryFormat format = self->training.memory_format;
  gboolean last = is_tuned (stack) || stack == QM_DOMAIN_STACK_TENSORFLOW || stack == QM_DOMAIN_STACK_UNSTATED;

  if (format == QM_MEMORY_FORMAT_UNSET)
    format = last ? QM_MEMORY_FORMAT_CHANNELS_LAST : QM_MEMORY_FORMAT_CHANNELS_FIRST;
  if (format == QM_MEMORY_FORMAT_CHANNELS_LAST || self->train_bytes != 2)
    return 1;

  switch (self->facts.family)
    {
    case QM_FAMILY_CONV:
    case QM_FAMILY_GROUPED:
    case QM_FAMILY_DENSE:
    case QM_FAMILY_UNET:
    case QM_FAMILY_CONV3D:
      return factor;
    case QM_FAMILY_DEPTHWISE:
      return pow (factor, DEPTHWISE_LAYOUT);
    default:
      return 1;
    }
}

static double
vision_passes (const QmOtherDomains *self,
               QmDomainStack         stack)
{
  QmTernary frozen = self->training.frozen_norm;
  gboolean is_frozen = frozen == QM_TERNARY_YES || (frozen == QM_TERNARY_UNSET && stack == QM_DOMAIN_STACK_DETECTRON2);

  return self->constants->train_kappa[self->facts.family] * layout_factor (self, stack) *
         (is_frozen ? self->constants->vision.frozen_norm : 1);
}

/* Pictures a second that one device of a machine gets: each process takes in so
 * many, and TensorFlow decodes them on the cores that all of a machine share. */
static double
pictures_per_device (const QmOtherDomains *self,
                     const QmDomainSite   *site,
                     QmDomainStack         stack)
{
  const QmDomainHostConstants *host = &self->constants->host;
  double per_machine = fmax (1, site->devices / site->nodes);
  double cores = site->device->compute_capability >= 8 || site->device->compute_capability == 0 ? host->cores_new : host->cores_old;

  if (stack != QM_DOMAIN_STACK_TENSORFLOW || site->device->device_class != QM_DEVICE_CLASS_DATACENTER)
    return host->process_rate;

  return fmin (host->process_rate, cores * host->decode_rate / per_machine);
}

/* The processor launches operators, matches boxes, and decodes what comes in. */
static double
vision_host (const QmOtherDomains *self,
             const QmDomainSite   *site,
             QmDomainStack         stack,
             QmDomainRun          *run)
{
  const QmOtherDomainsConstants *constants = self->constants;
  gboolean benchmark = stack == QM_DOMAIN_STACK_MLPERF;
  gboolean compiled = self->training.compiled == QM_TERNARY_YES;
  double tau = benchmark || compiled ? constants->host.tau_tuned : constants->host.tau_eager;
  double per_image = self->task == QM_TASK_OBJECT_DETECTION && !benchmark ? constants->vision.detection_per_image : 0;
  double input = 0;

  if (!benchmark && self->task == QM_TASK_IMAGE_CLASSIFICATION)
    input = run->batch / pictures_per_device (self, site, stack);

  run->input = run->accumulation * input;
  return qm_domain_soft_max (TRAINING_PASSES * self->pass_share * self->facts.ops * tau + run->batch * per_image, input);
}

static void
limit_by_loader (const QmOtherDomains *self,
                 const QmDomainSite   *site,
                 QmDomainRun          *run)
{
  double rate = self->loader_rate * site->nodes;

  if (!(rate < run->samples_per_second))
    return;

  run->input_gain = run->samples_per_second / rate;
  run->step *= run->input_gain;
  run->input = run->step;
  run->samples_per_second = rate;
}

static void
train_vision (const QmOtherDomains *self,
              const QmDomainSite   *site,
              QmDomainRun          *run)
{
  const QmOtherDomainsConstants *constants = self->constants;
  const QmDomainFacts *facts = &self->facts;
  QmDomainStack stack = qm_domain_stack (self, site);
  double activations = facts->activations > 0 ? facts->activations : facts->flops * constants->usual.activations_per_flop;
  double factor, compute, memory;
  Step step = { .synchronised = TRUE, .overlap = 1, .update_bytes = constants->update_sgd };

  if (!(facts->flops > 0))
    return;

  set_batch (self, site, usual_vision_batch (self, activations), constants->sigma.batch_unstated, run);
  add_stack (self, QM_DOMAIN_FIELD_VISION, stack, &factor, run);
  run->flops = TRAINING_PASSES * self->pass_share * facts->flops;
  compute = run->flops / (constants->vision.e * qm_domain_peak (site, self->train_rate, TRUE, FALSE) *
                          qm_domain_train_share (site));
  memory = vision_passes (self, stack) * activations * self->train_bytes / site->bandwidth * self->pass_share;

  step.gpu = run->batch * (compute + memory) * factor;
  step.host = vision_host (self, site, stack, run);
  step.parameters = changed_parameters (self, facts->parameters > 0 ? facts->parameters : constants->usual.parameters);
  step.gradient_bytes = stack == QM_DOMAIN_STACK_MLPERF ? GRADIENT_16_BIT : GRADIENT_32_BIT;
  finish (self, site, &step, run);

  run->compute = run->accumulation * run->batch * compute * factor;
  run->memory = run->accumulation * run->batch * memory * factor;
  run->unit = self->task == QM_TASK_OTHER ? QM_UNIT_SAMPLES : QM_UNIT_IMAGES;
  if (self->task == QM_TASK_SPEECH)
    {
      run->unit = QM_UNIT_AUDIO_SECONDS;
      run->units_per_sample = facts->decoder_layers > 0 ? constants->speech.window_seconds : 1;
    }
  limit_by_loader (self, site, run);
}

/**
 * qm_domain_real_tokens:
 * @self: a job that trains a text encoder
 * @stack: its software
 *
 * Returns: share of real tokens among those computed: short inputs are cut
 *   full, long ones are padded; tuned code drops the padding, or bins inputs by
 *   length
 */
double
qm_domain_real_tokens (const QmOtherDomains *self,
                       QmDomainStack         stack)
{
  const QmDomainEncoderConstants *constants = &self->constants->encoder;
  double padded = CLAMP (log2 (fmax (self->sequence, 1) / 128) / 2, 0, 1);

  if (self->training.real_token_fraction > 0)
    return self->training.real_token_fraction;

  if (stack == QM_DOMAIN_STACK_MLPERF)
    return 1 - (1 - constants->real_tokens) * padded;

  if (stack == QM_DOMAIN_STACK_NVIDIA_TUNED && self->pretrains)
    return 1 - (1 - constants->real_tokens_binned) * padded;

  return 1;
}

/* FLOPs of a token, forward and backward: layers, scores, and the head where
 * tokens are predicted. */
static double
encoder_flops (const QmOtherDomains *self,
               double                real)
{
  const QmDomainShape *shape = &self->shape;
  double share = shape->decoder ? 1 : self->pretrains ? self->constants->encoder.pretrain_head : 0;

  return self->pass_share * (6 * shape->body + 12 * shape->layers * shape->hidden * real +
                             6 * shape->vocabulary * shape->hidden * share);
}

static double
encoder_element_bytes (const QmOtherDomains *self,
                       QmDomainStack         stack)
{
  QmPrecision precision = self->training.precision;
  gboolean autocast = precision == QM_PRECISION_AMP_FP16 || precision == QM_PRECISION_AMP_BF16;

  return stack == QM_DOMAIN_STACK_HUGGINGFACE && autocast ? self->constants->encoder.amp_bytes : self->train_bytes;
}

/* Traffic left by merged kernels. */
static double
encoder_fusion (const QmOtherDomains *self,
                QmDomainStack         stack,
                QmDomainRun          *run)
{
  double fused = self->constants->encoder.fused;

  if (is_tuned (stack) || stack == QM_DOMAIN_STACK_NEURONX || stack == QM_DOMAIN_STACK_HABANA)
    return fused;

  if (stack != QM_DOMAIN_STACK_UNSTATED)
    return 1;

  run->sigma = hypot (run->sigma, self->constants->sigma.fusion_unstated * fabs (log (fused)));
  return sqrt (fused);
}

/* 8-bit training is a gain over 16 bits, whatever the 8-bit units could do. */
static double
train_peak (const QmOtherDomains *self,
            const QmDomainSite   *site)
{
  gboolean fp8 = self->training.precision == QM_PRECISION_FP8;

  return qm_domain_peak (site, fp8 ? QM_DOMAIN_RATE_BF16 : self->train_rate, FALSE, FALSE) *
         (fp8 ? self->constants->encoder.fp8_gain : 1) * qm_domain_train_share (site);
}

static void
train_encoder (const QmOtherDomains *self,
               const QmDomainSite   *site,
               QmDomainRun          *run)
{
  const QmOtherDomainsConstants *constants = self->constants;
  const QmDomainShape *shape = &self->shape;
  QmDomainStack stack = qm_domain_stack (self, site);
  double real = self->sequence * qm_domain_real_tokens (self, stack);
  double factor, flops, compute, memory, tokens;
  Step step = { .synchronised = TRUE, .overlap = stack == QM_DOMAIN_STACK_NVIDIA_TUNED ? constants->encoder.overlap_tuned : 1,
                .update_bytes = constants->update_adam };

  set_batch (self, site, constants->usual.batch_encoder, constants->sigma.batch_unstated, run);
  add_stack (self, QM_DOMAIN_FIELD_ENCODER, stack, &factor, run);
  flops = encoder_flops (self, real);
  tokens = run->batch * real;
  compute = tokens * flops / (constants->encoder.e * train_peak (self, site)) * factor;
  memory = tokens * shape->layers * encoder_element_bytes (self, stack) *
           (constants->encoder.passes * shape->hidden + constants->encoder.score_passes * shape->heads * real) /
           site->bandwidth * encoder_fusion (self, stack, run) * factor * self->pass_share;

  step.gpu = compute + memory;
  step.host = shape->layers * constants->encoder.ops_train * eager_tau (self, stack) * self->pass_share;
  step.parameters = changed_parameters (self, shape->parameters);
  step.gradient_bytes = gradient_bytes (self, stack, is_tuned (stack) ? GRADIENT_16_BIT : GRADIENT_32_BIT);
  finish (self, site, &step, run);

  run->compute = run->accumulation * compute;
  run->memory = run->accumulation * memory;
  run->flops = flops * real;
  run->unit = QM_UNIT_TOKENS;
  run->units_per_sample = self->sequence;
}

static double
diffusion_passes (const QmOtherDomains *self)
{
  return (self->adapters ? FROZEN_PASSES : TRAINING_PASSES) + (self->checkpointed ? 1 : 0);
}

/* Image and text encoders run beside the denoiser unless their output is stored. */
static double
conditioning (const QmOtherDomains *self,
              QmDomainStack         stack)
{
  QmTernary stored = self->training.latents_stored;
  gboolean is_stored = stored == QM_TERNARY_YES || (stored == QM_TERNARY_UNSET && stack == QM_DOMAIN_STACK_COMPOSER);

  return is_stored ? 0 : self->constants->diffusion.conditioning;
}

static double
diffusion_flops (const QmOtherDomains *self)
{
  const QmDomainFacts *facts = &self->facts;

  if (facts->pass_flops > 0 && !facts->flops_given)
    return facts->pass_flops;

  return facts->flops > 0 ? facts->flops : 2 * facts->parameters * self->constants->usual.diffusion_tokens;
}

static double
usual_diffusion_batch (const QmOtherDomains *self)
{
  const QmDomainDefaults *usual = &self->constants->usual;
  double size = self->training.image_size;

  return size > 0 && size < 512 ? usual->batch_diffusion_small : usual->batch_diffusion;
}

static void
train_diffusion (const QmOtherDomains *self,
                 const QmDomainSite   *site,
                 QmDomainRun          *run)
{
  const QmOtherDomainsConstants *constants = self->constants;
  const QmDomainFacts *facts = &self->facts;
  QmDomainStack stack = qm_domain_stack (self, site);
  double flops = diffusion_flops (self);
  double activations = facts->activations;
  double passes = diffusion_passes (self);
  double factor, compute, memory;
  Step step = { .synchronised = TRUE, .overlap = 1, .update_bytes = constants->update_adam };

  if (!(flops > 0) || !(facts->parameters > 0))
    return;

  if (!(activations > 0))
    activations = flops * constants->usual.activations_per_flop_transformer;
  set_batch (self, site, usual_diffusion_batch (self), constants->sigma.batch_unstated, run);
  add_stack (self, QM_DOMAIN_FIELD_DIFFUSION, stack, &factor, run);
  run->flops = flops * (passes + conditioning (self, stack));
  compute = run->batch * run->flops / (constants->diffusion.e * train_peak (self, site)) * factor;
  memory = run->batch * activations * self->train_bytes * constants->diffusion.train_kappa * passes / TRAINING_PASSES /
           site->bandwidth * factor;

  step.gpu = compute + memory;
  step.host = passes * facts->ops * constants->host.tau_eager * constants->diffusion.launches *
              (stack == QM_DOMAIN_STACK_MLPERF ? constants->diffusion.launches_tuned : 1);
  step.gradient_bytes = gradient_bytes (self, stack, GRADIENT_16_BIT);
  step.parameters = qm_domain_trainable (self);
  if (self->adapters)
    step.parameters = self->adapter_parameters > 0 ? self->adapter_parameters : facts->parameters * constants->usual.adapter_share;
  step.sharded = !self->adapters && facts->parameters > constants->diffusion.sharded_from && site->devices > 1;
  finish (self, site, &step, run);

  run->compute = run->accumulation * compute;
  run->memory = run->accumulation * memory;
  run->unit = QM_UNIT_IMAGES;
}

/* Rows read, their gradients, and the update; from the memory of the machine
 * where the tables are there. */
static double
embedding_seconds (const QmOtherDomains *self,
                   const QmDomainSite   *site,
                   double                host_share)
{
  const QmDomainRecommenderConstants *constants = &self->constants->recommender;
  double per_byte = (1 - host_share) / site->bandwidth + host_share / qm_domain_pcie (site);

  return self->facts.embedding_lookups * self->facts.embedding_dim * constants->row_bytes *
         constants->embedding_passes * per_byte;
}

/* Rows go to the devices that need them, their gradients back. */
static void
exchange_rows (const QmOtherDomains *self,
               const QmDomainSite   *site,
               QmDomainRun          *run)
{
  const QmDomainFacts *facts = &self->facts;
  double bytes = 2 * run->batch * facts->embedding_features * facts->embedding_dim * self->train_bytes;
  QmDomainLinks links;
  double seconds;

  if (site->devices <= 1)
    return;

  links = qm_domain_links (site);
  seconds = qm_domain_all_to_all (site, &links, bytes);
  run->communication += seconds;
  run->step += seconds;
  run->samples_per_second = site->devices * run->batch * run->accumulation / run->step;
}

/* Models of few tables copy them and sum their gradients; others spread them
 * over the devices and exchange rows both ways. */
static void
train_recommender (const QmOtherDomains *self,
                   const QmDomainSite   *site,
                   double                host_share,
                   QmDomainRun          *run)
{
  const QmOtherDomainsConstants *constants = self->constants;
  const QmDomainRecommenderConstants *own = &constants->recommender;
  const QmDomainFacts *facts = &self->facts;
  QmDomainStack stack = qm_domain_stack (self, site);
  gboolean spread = facts->embedding_features >= own->spread_from;
  double global_batch = self->training.global_batch > 0 ? self->training.global_batch : constants->usual.batch_recommender;
  double full = own->e32 * qm_domain_peak (site, QM_DOMAIN_RATE_FP32, FALSE, FALSE);
  double units = own->e * qm_domain_peak (site, self->train_rate, FALSE, FALSE);
  double reached = self->train_rate == QM_DOMAIN_RATE_FP32 ? full : fmax (full, units);
  double factor, compute, memory;
  Step step = { .synchronised = !spread, .overlap = spread ? 1 : own->overlap, .update_bytes = constants->update_adam };

  set_batch (self, site, global_batch / site->devices, constants->sigma.batch_unstated_recommender, run);
  add_stack (self, QM_DOMAIN_FIELD_RECOMMENDER, stack, &factor, run);
  run->flops = 6 * facts->dense_parameters;
  compute = run->batch * run->flops / reached * factor;
  memory = run->batch * factor * (own->passes * facts->activations * self->train_bytes / site->bandwidth +
                                  embedding_seconds (self, site, host_share));

  step.gpu = compute + memory;
  step.host = TRAINING_PASSES * facts->ops *
              (stack == QM_DOMAIN_STACK_MLPERF ? constants->host.tau_graph : constants->host.tau_eager);
  step.parameters = spread || !(facts->parameters > 0) ? facts->dense_parameters : facts->parameters;
  step.gradient_bytes = stack == QM_DOMAIN_STACK_MLPERF ? GRADIENT_16_BIT : GRADIENT_32_BIT;
  finish (self, site, &step, run);

  run->compute = run->accumulation * compute;
  run->memory = run->accumulation * memory;
  run->unit = QM_UNIT_SAMPLES;
  if (spread)
    exchange_rows (self, site, run);
}

/**
 * qm_domain_train:
 * @self: a job that trains
 * @site: a site
 * @host_share: of embedding rows that lie in the memory of the machine
 * @run: (out caller-allocates): the rate; not known where the model's FLOPs are
 *   not
 *
 * An optimizer step is compute and traffic of activations on the device, beside
 * what the processor launches; then update, exchange and waiting.
 */
void
qm_domain_train (const QmOtherDomains *self,
                 const QmDomainSite   *site,
                 double                host_share,
                 QmDomainRun          *run)
{
  *run = (QmDomainRun) { .units_per_sample = 1, .accumulation = 1, .data_parallel = site->devices };
  run->sheet_peak = qm_domain_sheet_peak (site, self->train_rate, FALSE);

  switch (self->job)
    {
    case QM_DOMAIN_JOB_TRAIN_ENCODER:
      train_encoder (self, site, run);
      break;
    case QM_DOMAIN_JOB_TRAIN_DIFFUSION:
      train_diffusion (self, site, run);
      break;
    case QM_DOMAIN_JOB_TRAIN_RECOMMENDER:
      train_recommender (self, site, host_share, run);
      break;
    default:
      train_vision (self, site, run);
      break;
    }
}
