/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

/* From so many images at once on, weights are read less often than once an image. */
#define MANY_IMAGES 8

/* One batch on one device, as it is put together. */
typedef struct {
  const QmOtherDomains *job;
  const QmDomainSite *site;
  QmDomainEngine engine;
  QmFamily family;
  double batch;
  gboolean free;                    /* the batch is ours to choose */
  double flops;                     /* of a sample */
  double activations;
  double ops;
  double weights;                   /* bytes read */
  double bytes;                     /* an element of activations */
  double after;                     /* s a sample, e.g. decoding the image */
} Batch;

/**
 * qm_domain_engine:
 * @self: a job that runs a model
 * @site: a site
 *
 * Returns: how the engine works on the kind of device
 */
QmDomainEngine
qm_domain_engine (const QmOtherDomains *self,
                  const QmDomainSite   *site)
{
  switch (site->kind)
    {
    case QM_DOMAIN_KIND_CPU:
      return QM_DOMAIN_ENGINE_CPU;
    case QM_DOMAIN_KIND_APPLE:
      return QM_DOMAIN_ENGINE_APPLE;
    case QM_DOMAIN_KIND_NPU:
      return QM_DOMAIN_ENGINE_NPU;
    default:
      return self->gpu_engine;
    }
}

static gboolean
is_unfused (QmDomainEngine engine)
{
  return engine == QM_DOMAIN_ENGINE_EAGER || engine == QM_DOMAIN_ENGINE_TENSORFLOW;
}

static gboolean
is_8_bit (QmDomainRate rate)
{
  return rate == QM_DOMAIN_RATE_FP8 || rate == QM_DOMAIN_RATE_INT8;
}

static gboolean
is_convolution (QmFamily family)
{
  return family == QM_FAMILY_CONV || family == QM_FAMILY_GROUPED || family == QM_FAMILY_DENSE ||
         family == QM_FAMILY_CONV3D;
}

/* The question-answering benchmark pads to one length; engines drop the padding. */
static double
real_tokens (const Batch *self)
{
  const QmOtherDomains *job = self->job;
  const QmDomainEncoderConstants *constants = &job->constants->encoder;
  gboolean drops = self->engine == QM_DOMAIN_ENGINE_ENGINE || self->engine == QM_DOMAIN_ENGINE_CPU;

  if (job->serving.real_token_fraction > 0)
    return job->sequence * job->serving.real_token_fraction;

  return job->sequence * (drops && self->free && job->sequence == constants->squad_tokens ? constants->real_tokens_run : 1);
}

static void
take_encoder (Batch       *self,
              QmDomainRun *run)
{
  const QmOtherDomains *job = self->job;
  const QmDomainShape *shape = &job->shape;
  double tokens = real_tokens (self);
  double scores = is_unfused (self->engine) ? shape->heads * tokens : 0;

  self->flops = 2 * shape->body * tokens + 4 * shape->layers * shape->hidden * tokens * tokens;
  self->activations = tokens * shape->layers * (job->constants->encoder.run_passes * shape->hidden + scores);
  self->ops = shape->layers * job->constants->encoder.ops_run;
  self->family = QM_FAMILY_TRANSFORMER;
  self->weights = shape->parameters * job->weight_bytes;
  run->unit = QM_UNIT_TOKENS;
  run->units_per_sample = job->sequence;
}

/* Of the whole image. Guidance takes a pass with the prompt and one without; a
 * distilled model has learnt to do with one. */
static double
flops_of_image (const Batch *self)
{
  const QmOtherDomains *job = self->job;
  const QmDomainFacts *facts = &job->facts;
  double usual = facts->passes_per_step > 0 ? facts->passes_per_step : 2;
  double per_step = job->serving.guidance == QM_TERNARY_YES ? 2 : job->serving.guidance == QM_TERNARY_NO ? 1 : usual;

  if (facts->flops_given || !(job->serving.denoising_steps > 0) || !(facts->pass_flops > 0))
    return self->flops;

  return facts->pass_flops * job->serving.denoising_steps * per_step;
}

/* A sample is several passes of the denoiser, then one of the image decoder. */
static void
take_generation (Batch       *self,
                 QmDomainRun *run)
{
  const QmOtherDomains *job = self->job;
  const QmDomainFacts *facts = &job->facts;
  const QmDomainDiffusionConstants *constants = &job->constants->diffusion;
  double whole = flops_of_image (self);
  double pass = facts->pass_flops > 0 ? facts->pass_flops : whole;
  double passes = pass > 0 ? fmax (1, whole / pass) : 1;
  double stated = job->serving.denoising_steps;
  double steps = fmax (1, stated > 0 ? stated : passes > 1.5 ? passes / 2 : 1);
  double each = facts->pass_activations > 0 ? facts->pass_activations
                                            : pass * job->constants->usual.activations_per_flop_transformer;

  self->flops = whole;
  self->activations = passes * each;
  self->ops *= steps;
  self->weights *= steps;
  run->unit = stated > 0 ? QM_UNIT_IMAGES : QM_UNIT_SAMPLES;
  if (stated > 0 && facts->vae_flops > 0)
    self->after = facts->vae_flops / (constants->run_e * qm_domain_peak (self->site, QM_DOMAIN_RATE_FP16, TRUE, FALSE)) +
                  2 * constants->decoder_passes * facts->vae_activations / self->site->bandwidth;
}

/* The catalog counts one patch of a volume, or one second of audio. */
static void
take_sample (Batch       *self,
             QmDomainRun *run)
{
  const QmOtherDomains *job = self->job;
  double stated = job->serving.patches_per_sample;
  gboolean whole = self->engine != QM_DOMAIN_ENGINE_EAGER && !(job->serving.image_size > 0);
  double patches = stated > 0 ? stated : whole ? job->facts.patches : 0;

  run->unit = job->task == QM_TASK_OTHER ? QM_UNIT_SAMPLES : QM_UNIT_IMAGES;
  if (job->job == QM_DOMAIN_JOB_RUN_SPEECH)
    {
      run->unit = QM_UNIT_AUDIO_SECONDS;
      if (!(self->activations > 0))
        self->activations = self->flops * job->constants->usual.activations_per_flop_speech;
    }
  if (!(patches > 0))
    return;

  self->flops *= patches;
  self->activations *= patches;
  run->sigma = stated > 0 ? 0 : job->constants->sigma.patches;
}

static double
npu_share (const QmOtherDomains *job,
           const QmDomainSite   *site)
{
  const QmDomainRunConstants *constants = &job->constants->run;

  if (site->device->vendor == QM_VENDOR_AWS)
    return constants->run_aws;

  return site->device->vendor == QM_VENDOR_GOOGLE ? constants->run_google : constants->run_other;
}

static double
field_share (const QmOtherDomains *job)
{
  if (job->job == QM_DOMAIN_JOB_RUN_ENCODER)
    return job->constants->encoder.e;

  return job->job == QM_DOMAIN_JOB_RUN_GENERATION ? job->constants->diffusion.run_e : job->constants->vision.e;
}

/* Share of the sustained peak that the engine's matrix products reach. */
static double
share_of_peak (const Batch *self)
{
  const QmOtherDomains *job = self->job;
  const QmDomainRunConstants *constants = &job->constants->run;
  const QmDomainSite *site = self->site;

  /* of a denoiser only matrix products run in 8 bits, attention does not */
  if (job->job == QM_DOMAIN_JOB_RUN_GENERATION && is_8_bit (job->run_rate) && site->kind == QM_DOMAIN_KIND_GPU)
    return job->constants->diffusion.run_e * job->constants->diffusion.run_e8;

  switch (self->engine)
    {
    case QM_DOMAIN_ENGINE_CPU:
      return job->run_rate == QM_DOMAIN_RATE_INT8 && site->device->tflops_bf16 > 0 ? constants->cpu_e8 : constants->cpu_e32;
    case QM_DOMAIN_ENGINE_ENGINE:
      return is_8_bit (job->run_rate) ? constants->engine_e8 : constants->engine_e16;
    case QM_DOMAIN_ENGINE_NPU:
      return npu_share (job, site);
    case QM_DOMAIN_ENGINE_APPLE:
      return constants->apple_e;
    default:
      return field_share (job);
    }
}

/* How often an activation is read and written. */
static double
activation_passes (const Batch *self)
{
  const QmOtherDomainsConstants *constants = self->job->constants;
  double passes = constants->run_kappa[self->family];

  switch (self->engine)
    {
    case QM_DOMAIN_ENGINE_COMPILED:
    case QM_DOMAIN_ENGINE_NPU:
      return passes * constants->run.kappa_fused;
    case QM_DOMAIN_ENGINE_ENGINE:
      return passes * constants->run.kappa_engine;
    case QM_DOMAIN_ENGINE_CPU:
      return passes * constants->run.cpu_cache;
    case QM_DOMAIN_ENGINE_EAGER:
    case QM_DOMAIN_ENGINE_TENSORFLOW:
      return passes * (self->job->job == QM_DOMAIN_JOB_RUN_ENCODER ? constants->encoder.run_kappa : 1);
    default:
      return passes;
    }
}

/* Python engines store 8 bits and compute in 16. */
static QmDomainRate
computed_rate (const Batch *self)
{
  const QmOtherDomains *job = self->job;
  gboolean widened = job->engine_stated && job->engine.sixteen_bit && self->site->kind != QM_DOMAIN_KIND_CPU &&
                     job->job != QM_DOMAIN_JOB_RUN_GENERATION;

  return widened && is_8_bit (job->run_rate) ? QM_DOMAIN_RATE_FP16 : job->run_rate;
}

static double
sample_compute (const Batch *self)
{
  const QmOtherDomains *job = self->job;
  const QmOtherDomainsConstants *constants = job->constants;
  double peak = qm_domain_peak (self->site, computed_rate (self), job->job != QM_DOMAIN_JOB_RUN_ENCODER,
                                self->engine == QM_DOMAIN_ENGINE_ENGINE);
  double share = share_of_peak (self);
  gboolean matrices = self->family == QM_FAMILY_TRANSFORMER || self->family == QM_FAMILY_UNET;

  if (job->job == QM_DOMAIN_JOB_RUN_ENCODER && job->engine_stated && job->engine.server)
    share *= constants->encoder.server;

  /* systolic arrays like large matrices */
  if (self->engine == QM_DOMAIN_ENGINE_NPU && !matrices)
    share *= constants->run.conv;

  return self->flops / (share * peak * self->site->core_share);
}

static double
sample_traffic (const Batch *self)
{
  gboolean on_chip = self->engine == QM_DOMAIN_ENGINE_NPU && self->site->device->vendor == QM_VENDOR_AWS;

  return activation_passes (self) * self->activations * self->bytes / self->site->bandwidth *
         (on_chip ? self->job->constants->run.sram : 1);
}

static double
operator_seconds (const QmOtherDomains *job,
                  QmDomainEngine        engine)
{
  const QmDomainHostConstants *constants = &job->constants->host;

  if (is_unfused (engine))
    return constants->tau_run;

  return engine == QM_DOMAIN_ENGINE_COMPILED ? constants->tau_compiled : constants->tau_graph;
}

/* Convolution, norm and activation are one operator; instances of a few cores
 * work side by side. */
static double
cpu_seconds (const Batch *self)
{
  const QmDomainRunConstants *constants = &self->job->constants->run;
  double groups = fmax (1, self->site->cores / constants->cpu_group);
  double ops = self->ops / (is_convolution (self->family) ? constants->cpu_fused_ops : 1);
  double boxes = self->job->task == QM_TASK_OBJECT_DETECTION ? constants->cpu_detection_post : 0;

  return self->batch * (ops * constants->cpu_tau * (self->free ? constants->cpu_free_tau : 1) + boxes) / groups;
}

/* What the ends of all kernels take, where part of the device waits for the
 * rest: the more the wider it is against the work. Batches of images leave
 * nothing to see of it. */
static double
tail_seconds (const Batch *self)
{
  if (self->site->kind != QM_DOMAIN_KIND_GPU || self->job->job == QM_DOMAIN_JOB_RUN_VISION)
    return 0;

  return self->ops * self->job->constants->host.kernel;
}

static double
host_seconds (const Batch *self)
{
  const QmOtherDomains *job = self->job;
  double seconds;

  if (self->engine == QM_DOMAIN_ENGINE_CPU)
    return cpu_seconds (self);

  if (self->engine == QM_DOMAIN_ENGINE_NPU || self->engine == QM_DOMAIN_ENGINE_APPLE)
    return 0;

  seconds = self->ops * operator_seconds (job, self->engine);
  if (self->engine != QM_DOMAIN_ENGINE_EAGER)
    return seconds;

  if (job->job == QM_DOMAIN_JOB_RUN_VISION)
    seconds += job->constants->vision.run_step_seconds;
  else if (job->job == QM_DOMAIN_JOB_RUN_SPEECH)
    seconds += job->constants->speech.step_seconds;

  return seconds;
}

static void
take_job (Batch       *self,
          QmDomainRun *run)
{
  const QmOtherDomains *job = self->job;
  const QmDomainFacts *facts = &job->facts;
  double parameters = facts->parameters > 0 ? facts->parameters : job->constants->usual.parameters;

  self->family = facts->family;
  self->flops = facts->flops;
  self->activations = facts->activations;
  self->ops = facts->ops;
  self->weights = parameters * job->weight_bytes;
  self->bytes = fmax (job->run_rate == QM_DOMAIN_RATE_FP16 ? 2 : 1, job->weight_bytes);

  switch (job->job)
    {
    case QM_DOMAIN_JOB_RUN_ENCODER:
      take_encoder (self, run);
      break;
    case QM_DOMAIN_JOB_RUN_GENERATION:
      if (is_8_bit (job->run_rate))
        self->bytes = 2;
      take_generation (self, run);
      break;
    default:
      take_sample (self, run);
      break;
    }
}

static void
run_dense (const QmOtherDomains *job,
           const QmDomainSite   *site,
           QmDomainRun          *run)
{
  gboolean generation = job->job == QM_DOMAIN_JOB_RUN_GENERATION;
  Batch batch = { .job = job, .site = site, .engine = qm_domain_engine (job, site) };
  double compute, traffic, reads, device, host;

  batch.batch = qm_domain_batch (job, site);
  batch.free = !(site->given->micro_batch > 0) && !(job->serving.concurrency > 0);
  take_job (&batch, run);
  if (!(batch.flops > 0))
    return;

  compute = batch.batch * sample_compute (&batch) + tail_seconds (&batch);
  traffic = batch.batch * sample_traffic (&batch);
  reads = batch.weights / site->bandwidth;
  if (generation && batch.batch >= MANY_IMAGES)
    device = qm_domain_soft_max (compute + traffic, reads * job->constants->diffusion.weight_reads);
  else
    device = qm_domain_soft_max (compute + traffic, reads);

  host = host_seconds (&batch);
  run->step = batch.engine == QM_DOMAIN_ENGINE_CPU ? device + host : qm_domain_soft_max (device, host);
  run->step += batch.batch * batch.after;
  if (generation)
    run->step *= job->constants->diffusion.engine_factor[batch.engine];

  run->sheet_peak = qm_domain_sheet_peak (site, computed_rate (&batch), batch.engine == QM_DOMAIN_ENGINE_ENGINE);
  run->batch = batch.batch;
  run->compute = compute;
  run->memory = traffic + reads;
  run->overhead = fmax (0, run->step - device);
  run->flops = batch.flops;
  run->samples_per_second = site->devices * batch.batch / run->step;
  run->known = TRUE;
}

/* Rows are looked up, then small dense layers run; a query may rank many items. */
static void
run_recommender (const QmOtherDomains *job,
                 const QmDomainSite   *site,
                 double                host_share,
                 QmDomainRun          *run)
{
  const QmOtherDomainsConstants *constants = job->constants;
  const QmDomainRecommenderConstants *own = &constants->recommender;
  const QmDomainFacts *facts = &job->facts;
  gboolean cpu = site->kind == QM_DOMAIN_KIND_CPU;
  QmDomainEngine engine = qm_domain_engine (job, site);
  double bytes = fmax (job->run_rate == QM_DOMAIN_RATE_FP16 ? 2 : 1, job->weight_bytes);
  double per_byte = (1 - host_share) / site->bandwidth + host_share / qm_domain_pcie (site);
  double share = cpu ? constants->run.cpu_e8 : is_8_bit (job->run_rate) ? constants->run.engine_e8 : own->e;
  double kept = engine == QM_DOMAIN_ENGINE_ENGINE ? own->engine : 1;
  double device, host;

  run->batch = qm_domain_batch (job, site);
  run->flops = 2 * facts->dense_parameters;
  run->compute = run->batch * run->flops / (share * qm_domain_peak (site, job->run_rate, TRUE, FALSE));
  run->memory = run->batch * kept * (own->run_passes * facts->activations * bytes / site->bandwidth +
                                     2 * facts->embedding_lookups * facts->embedding_dim * bytes * per_byte);
  device = run->compute + run->memory;
  host = cpu ? 0 : facts->ops * constants->host.tau_recommender;

  run->step = qm_domain_soft_max (device, host);
  run->overhead = fmax (0, run->step - device);
  run->samples_per_second = site->devices * run->batch / run->step;
  if (!(site->given->micro_batch > 0))
    run->samples_per_second /= facts->items_per_query;
  run->sigma = constants->sigma.recommender_serving;
  run->unit = QM_UNIT_SAMPLES;
  run->known = TRUE;
}

/**
 * qm_domain_batch:
 * @self: a job that runs a model
 * @site: a site
 *
 * Returns: samples at once on one device
 */
double
qm_domain_batch (const QmOtherDomains *self,
                 const QmDomainSite   *site)
{
  const QmDomainDefaults *usual = &self->constants->usual;

  if (site->given->micro_batch > 0)
    return site->given->micro_batch;

  if (self->serving.concurrency > 0)
    return self->serving.concurrency * (self->job == QM_DOMAIN_JOB_RUN_RECOMMENDER ? self->facts.items_per_query : 1);

  switch (self->job)
    {
    case QM_DOMAIN_JOB_RUN_GENERATION:
      return usual->batch_generation;
    case QM_DOMAIN_JOB_RUN_WHISPER:
      return usual->batch_whisper;
    case QM_DOMAIN_JOB_RUN_RECOMMENDER:
      return usual->batch_recommender;
    default:
      return usual->batch_run;
    }
}

/**
 * qm_domain_run:
 * @self: a job that runs a model
 * @site: a site
 * @host_share: of embedding rows that lie in the memory of the machine
 * @run: (out caller-allocates): the rate; not known where the model's FLOPs are
 *   not
 *
 * A step is one batch through the network.
 */
void
qm_domain_run (const QmOtherDomains *self,
               const QmDomainSite   *site,
               double                host_share,
               QmDomainRun          *run)
{
  *run = (QmDomainRun) { .units_per_sample = 1, .accumulation = 1, .data_parallel = site->devices };
  run->sheet_peak = qm_domain_sheet_peak (site, self->run_rate, FALSE);

  switch (self->job)
    {
    case QM_DOMAIN_JOB_RUN_RECOMMENDER:
      run_recommender (self, site, host_share, run);
      break;
    case QM_DOMAIN_JOB_RUN_WHISPER:
      qm_domain_run_whisper (self, site, run);
      break;
    default:
      run_dense (self, site, run);
      break;
    }
}
