/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-known-device.h"

/**
 * qm_other_domains_new:
 * @constants: constants, which must outlive the result
 * @plan: a plan of any task but a language model's
 * @model: its model
 *
 * Resolves what depends on the answers and the model alone: kind of job, shape
 * or figures of the model, number formats, software stack and engine.
 *
 * Returns: (transfer full): a predictor; immutable, used from any thread
 */
QmOtherDomains *
qm_other_domains_new (const QmOtherDomainsConstants *constants,
                      const QmPlan                  *plan,
                      const QmModel                 *model)
{
  QmOtherDomains *self = g_new0 (QmOtherDomains, 1);

  self->constants = constants;
  qm_domain_job_init (self, plan, model);

  return self;
}

/**
 * qm_other_domains_free:
 * @self: (transfer full) (nullable): a predictor
 *
 * Frees @self.
 */
void
qm_other_domains_free (QmOtherDomains *self)
{
  g_free (self);
}

static void
fill_configuration (const QmDomainSite *site,
                    const QmDomainRun  *run,
                    gboolean            training,
                    QmConfiguration    *configuration)
{
  const QmConfiguration *given = site->given;

  *configuration = *given;
  if (given->device[0] == '\0')
    qm_word_set (configuration->device, site->device->id);
  configuration->devices = (int) site->devices;
  configuration->nodes = (int) site->nodes;
  configuration->data_parallel = (int) run->data_parallel;
  configuration->tensor_parallel = MAX (1, given->tensor_parallel);
  configuration->pipeline_parallel = MAX (1, given->pipeline_parallel);
  configuration->expert_parallel = MAX (1, given->expert_parallel);
  configuration->context_parallel = MAX (1, given->context_parallel);
  if (given->sharding == QM_SHARDING_UNSET)
    configuration->sharding = QM_SHARDING_NONE;
  if (given->offload == QM_OFFLOAD_UNSET)
    configuration->offload = QM_OFFLOAD_NONE;
  if (site->kind == QM_DOMAIN_KIND_CPU)
    configuration->cpu_cores = (int) site->cores;
  if (!training)
    return;

  configuration->micro_batch = run->batch;
  configuration->gradient_accumulation = run->accumulation;
}

static void
fill_training (const QmOtherDomains *self,
               const QmDomainRun    *run,
               QmTraining           *training)
{
  *training = self->training;
  if (training->optimizer == QM_OPTIMIZER_UNSET)
    training->optimizer = QM_OPTIMIZER_ADAMW;
  if (training->activation_checkpointing == QM_CHECKPOINTING_UNSET)
    training->activation_checkpointing = QM_CHECKPOINTING_NONE;
  if (!(training->global_batch > 0))
    training->global_batch = run->batch * run->accumulation * run->data_parallel;
  training->trainable_parameters = qm_domain_trainable (self);
}

static QmBound
largest_part (const QmThroughput *throughput)
{
  const double parts[] = { throughput->compute_seconds, throughput->memory_seconds, throughput->communication_seconds,
                           throughput->input_seconds, throughput->overhead_seconds };
  gsize largest = 0;

  for (gsize i = 1; i < G_N_ELEMENTS (parts); i++)
    {
      if (parts[i] > parts[largest])
        largest = i;
    }

  return QM_BOUND_COMPUTE + largest;
}

/* Latency is that of one batch; what waits in line comes on top. */
static void
fill_serving (const QmDomainSite *site,
              const QmDomainRun  *run,
              double              width,
              QmEstimate         *estimate)
{
  QmServingFigures *serving = &estimate->serving;

  serving->known = TRUE;
  serving->latency_p50_seconds = qm_range_log_normal (run->step, width);
  serving->max_concurrency = run->batch * site->devices;
  serving->requests_per_second = estimate->throughput.samples_per_second / site->devices;
  serving->replicas = (int) site->devices;
  serving->state = estimate->throughput.state;
}

/* To finish the job; NaN where it is not known how long that is. */
static double
finish_seconds (const QmOtherDomains *self,
                double                samples_per_second)
{
  const QmOtherDomainsConstants *constants = self->constants;
  double seconds = self->samples / samples_per_second;

  if (!(self->samples > 0))
    return NAN;

  return self->trains ? seconds * constants->time_evaluation + constants->time_start : seconds;
}

static double
finish_width (const QmOtherDomains *self,
              double                sigma)
{
  double finish = self->constants->sigma.finish;

  return QM_NORMAL_P90 * sqrt (sigma * sigma + finish * finish);
}

static double
samples_of (const QmOtherDomains *self,
            const QmDomainRun    *run)
{
  double each = run->unit == QM_UNIT_AUDIO_SECONDS ? self->sample_seconds : run->units_per_sample;

  return run->samples_per_second * run->units_per_sample / each;
}

static void
fill_throughput (const QmOtherDomains *self,
                 const QmDomainSite   *site,
                 const QmDomainRun    *run,
                 QmEstimate           *estimate)
{
  QmThroughput *throughput = &estimate->throughput;
  double sigma = qm_domain_rate_sigma (self, site, run);
  double width = QM_NORMAL_P90 * sigma;
  double seconds;

  throughput->known = TRUE;
  throughput->unit = run->unit;
  throughput->per_second = qm_range_log_normal (run->samples_per_second * run->units_per_sample, width);
  throughput->per_device_per_second = qm_range_scale (throughput->per_second, 1 / site->devices);
  throughput->samples_per_second = samples_of (self, run);
  throughput->tflops_per_device = run->flops * run->samples_per_second / site->devices / 1e12;
  throughput->mfu = throughput->tflops_per_device * 1e12 / run->sheet_peak;
  throughput->compute_seconds = run->compute;
  throughput->memory_seconds = run->memory;
  throughput->communication_seconds = run->communication;
  throughput->input_seconds = run->input;
  throughput->input_gain = run->input_gain > 1 ? run->input_gain : 1;
  throughput->overhead_seconds = run->overhead;
  throughput->bound_by = largest_part (throughput);
  throughput->state = qm_domain_rate_state (self, site);
  /* an optimizer step, or one batch through the network */
  throughput->step_seconds = qm_range_log_normal (run->step, width);
  if (!self->trains)
    fill_serving (site, run, width, estimate);

  seconds = finish_seconds (self, throughput->samples_per_second);
  if (!isnan (seconds))
    estimate->time.seconds = qm_range_log_normal (seconds, finish_width (self, sigma));
}

static gboolean
has_rates (const QmDevice *device)
{
  return device->tflops_fp32 > 0 || device->tflops_bf16 > 0 || device->tflops_fp16 > 0 || device->tflops_int8 > 0;
}

/* The rate first, for its batch; embedding tables that turn out not to fit
 * change it. */
static void
predict (const QmOtherDomains *self,
         const QmDomainSite   *site,
         QmDomainRun          *run,
         QmDomainStore        *store)
{
  gboolean concurrent = site->given->micro_batch > 0 || self->serving.concurrency > 0;
  double batch;

  qm_domain_rate (self, site, 0, run);
  if (!(run->batch > 0))
    run->batch = fmax (1, site->given->micro_batch);

  /* one utterance at a time unless more are asked for */
  batch = self->task == QM_TASK_SPEECH && !self->trains && !concurrent ? 1 : run->batch;
  qm_domain_store (self, site, batch, site->device->usable_bytes, store);
  if (store->host_share > 0)
    qm_domain_rate (self, site, store->host_share, run);
}

static void
predict_on (const QmOtherDomains  *self,
            const QmDevice        *device,
            const QmDomainSite    *known,
            const QmConfiguration *configuration,
            QmEstimate            *estimate)
{
  QmDomainSite site;
  QmDomainStore store;
  QmDomainRun run = { .accumulation = 1 };

  qm_domain_site_init (&site, self->constants, device, known, configuration);
  estimate->device = device;
  run.data_parallel = site.devices;
  if (self->job == QM_DOMAIN_JOB_TABULAR)
    {
      fill_configuration (&site, &run, FALSE, &estimate->configuration);
      if (self->trains)
        qm_domain_tabular (self, &site, estimate);
      else
        estimate->failure = "no-rate";
      return;
    }

  predict (self, &site, &run, &store);
  fill_configuration (&site, &run, self->trains, &estimate->configuration);
  if (self->trains)
    {
      fill_training (self, &run, &estimate->training);
      estimate->trainable_parameters = estimate->training.trainable_parameters;
    }
  qm_domain_fill_memory (self, &site, run.batch, &store, &estimate->memory);

  if (!has_rates (device))
    estimate->failure = "no-rate";
  else if (!run.known)
    estimate->failure = "no-flops";
  else
    fill_throughput (self, &site, &run, estimate);
}

/**
 * qm_other_domains_predict:
 * @self: a predictor
 * @device: what the job runs on
 * @configuration: how many, and how the batch is split, as far as it is given
 * @estimate: (inout): where memory, rate, serving figures, the resolved
 *   configuration and the training as evaluated are filled in; the rest stays
 *   as it is
 *
 * Predicts memory and rate of one configuration. Where the data sheet has no
 * rate at all there is none here ("no-rate"), nor where nothing tells how much
 * a model computes ("no-flops"). Ranges come from cross-validation on measured
 * cases. Allocates nothing.
 */
void
qm_other_domains_predict (const QmOtherDomains  *self,
                          const QmDevice        *device,
                          const QmConfiguration *configuration,
                          QmEstimate            *estimate)
{
  predict_on (self, device, NULL, configuration, estimate);
}

/* Gradient boosting is not searched over splits: its estimate is as quick. */
static void
outline_tabular (const QmOtherDomains  *self,
                 const QmDevice        *device,
                 const QmDomainSite    *known,
                 const QmConfiguration *configuration,
                 QmOutline             *outline)
{
  QmEstimate estimate;

  qm_estimate_clear (&estimate);
  predict_on (self, device, known, configuration, &estimate);
  qm_outline_from_estimate (outline, &estimate);
}

/**
 * qm_other_domains_outline:
 * @self: a predictor
 * @device: what the job runs on
 * @known: (nullable): what was looked up of @device
 * @configuration: how many, and how the batch is split, as far as it is given
 * @outline: (out caller-allocates): memory and rate
 *
 * The figures of qm_other_domains_predict() that a search needs.
 */
void
qm_other_domains_outline (const QmOtherDomains  *self,
                          const QmDevice        *device,
                          const QmKnownDevice   *known,
                          const QmConfiguration *configuration,
                          QmOutline             *outline)
{
  QmDomainSite site;
  QmDomainStore store;
  QmDomainRun run = { .accumulation = 1 };
  double sigma;

  if (self->job == QM_DOMAIN_JOB_TABULAR)
    {
      outline_tabular (self, device, known != NULL ? &known->site : NULL, configuration, outline);
      return;
    }

  qm_outline_init (outline);
  qm_domain_site_init (&site, self->constants, device, known != NULL ? &known->site : NULL, configuration);
  predict (self, &site, &run, &store);
  qm_domain_outline_memory (self, &site, run.batch, &store, outline);
  if (!has_rates (device) || !run.known)
    return;

  sigma = qm_domain_rate_sigma (self, &site, &run);
  outline->known = TRUE;
  outline->unit = run.unit;
  outline->per_second = run.samples_per_second * run.units_per_sample;
  outline->rate_width = QM_NORMAL_P90 * sigma;
  outline->samples_per_second = samples_of (self, &run);
  outline->seconds = finish_seconds (self, outline->samples_per_second);
  outline->seconds_width = finish_width (self, sigma);
}
