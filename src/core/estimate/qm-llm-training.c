/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training.h"

#include <math.h>
#include <string.h>

#include "estimate/qm-known-device.h"
#include "estimate/qm-rules.h"

#define DEFAULT_SEQUENCE 2048
#define DEFAULT_LORA_RANK 16

/* A job under one of the frameworks it may run on. */
typedef struct {
  double weight;
  QmLlmJob job;
  QmLlmMemory memory;
  QmLlmTime time;
} Run;

typedef struct {
  int n;
  Run items[QM_LLM_MAX_CANDIDATES];
} Runs;

static gboolean
is_autocast (QmPrecision precision)
{
  return precision == QM_PRECISION_AMP_BF16 || precision == QM_PRECISION_AMP_FP16;
}

static void
resolve_recipe (QmLlmTraining *self)
{
  QmTraining *t = &self->training;

  if (t->method == QM_METHOD_UNSET)
    t->method = QM_METHOD_FULL;
  if (t->precision == QM_PRECISION_UNSET)
    t->precision = QM_PRECISION_AMP_BF16;
  if (t->optimizer == QM_OPTIMIZER_UNSET)
    t->optimizer = QM_OPTIMIZER_ADAMW;
  if (t->attention == QM_ATTENTION_UNSET)
    t->attention = QM_ATTENTION_FLASH;
  if (!(t->sequence_length > 0))
    t->sequence_length = DEFAULT_SEQUENCE;
  if (!(t->lora_rank > 0))
    t->lora_rank = DEFAULT_LORA_RANK;

  self->sequence = t->sequence_length;
  self->frozen = t->method != QM_METHOD_FULL;
  self->probe = t->method == QM_METHOD_LINEAR_PROBE;
  self->pure_16_bit = t->precision == QM_PRECISION_BF16 || t->precision == QM_PRECISION_FP16;
  self->autocast = is_autocast (t->precision);
  self->chunked_loss = qm_word_list_contains (&t->techniques, "chunked-cross-entropy");
  self->activation_offload = qm_word_list_contains (&t->techniques, "activation-offload");
  self->decomposed = t->method != QM_METHOD_FULL && qm_word_list_contains (&t->techniques, "dora");
  self->optimizer_in_backward = qm_word_list_contains (&t->techniques, "optimizer-in-backward");
}

/* Text whose mean length is the length of the sequence was not packed. */
static void
resolve_packing (QmLlmTraining *self)
{
  QmTraining *t = &self->training;
  gboolean is_mean = t->samples > 0 && t->tokens > 0 && fabs (t->tokens / t->samples / self->sequence - 1) < 0.05;

  self->unpacked = t->packed == QM_TERNARY_NO || is_mean;
  t->packed = self->unpacked ? QM_TERNARY_NO : QM_TERNARY_YES;
}

static void
resolve_frozen_weights (QmLlmTraining *self)
{
  const QmLlmTrainingConstants *constants = self->constants;
  QmTraining *t = &self->training;
  gboolean twice = qm_word_list_contains (&t->techniques, "double-quantization");
  double bits;

  self->integer_4_bit = strstr (t->base_weights, "int4") != NULL;
  self->fp8_frozen = strcmp (t->base_weights, "fp8") == 0;
  if (!self->frozen)
    return;

  if (t->base_weights[0] == '\0')
    qm_word_set (t->base_weights, t->method == QM_METHOD_QLORA ? "nf4" : "bf16");

  bits = qm_llm_training_constants_frozen_bits (constants, t->base_weights);
  if (!(bits > 0))
    bits = qm_llm_training_constants_frozen_bits (constants, "int4");

  self->frozen_bits = bits;
  self->frozen_bits_single = bits;
  self->frozen_in_blocks = bits < 8;
  if (strcmp (t->base_weights, "nf4") == 0)
    {
      self->frozen_bits = qm_llm_training_constants_frozen_bits (constants, "nf4-double");
      self->frozen_bits_single = twice ? self->frozen_bits : bits;
    }
}

static void
resolve_trainable (QmLlmTraining *self)
{
  const QmTraining *t = &self->training;

  if (self->probe)
    self->trainable = t->trainable_parameters > 0 ? t->trainable_parameters : self->shape.hidden;
  else if (self->frozen)
    qm_llm_training_set_adapters (self);
  else
    self->trainable = t->trainable_parameters > 0 ? t->trainable_parameters : self->shape.parameters;
}

/**
 * qm_llm_training_new:
 * @constants: constants, which must outlive the result
 * @plan: a plan that trains or fine-tunes a language model
 * @model: its model, with a known number of parameters
 *
 * Resolves what depends on the answers and the model alone: shape, recipe,
 * frozen weights, adapters and FLOPs per token.
 *
 * Returns: (transfer full): a predictor; immutable, used from any thread
 */
QmLlmTraining *
qm_llm_training_new (const QmLlmTrainingConstants *constants,
                     const QmPlan                 *plan,
                     const QmModel                *model)
{
  QmLlmTraining *self = g_new0 (QmLlmTraining, 1);

  self->constants = constants;
  self->training = plan->training;
  self->headroom = qm_plan_get_headroom (plan);
  self->framework = -1;
  if (plan->training.framework[0] != '\0')
    self->framework = qm_llm_training_constants_find_framework (constants, plan->training.framework);

  qm_llm_shape_init (&self->shape, model, constants);
  resolve_recipe (self);
  self->flash = self->training.attention != QM_ATTENTION_EAGER && strcmp (model->architecture.type, "transfo-xl") != 0;
  resolve_packing (self);
  resolve_frozen_weights (self);
  resolve_trainable (self);
  qm_llm_training_set_flops (self, model);

  return self;
}

/**
 * qm_llm_training_free:
 * @self: (transfer full) (nullable): a predictor
 *
 * Frees @self.
 */
void
qm_llm_training_free (QmLlmTraining *self)
{
  g_free (self);
}

/* Jobs and their memory; their time is for later. */
static void
run_candidates (Runs                  *runs,
                const QmLlmTraining   *self,
                const QmDevice        *device,
                const QmKnownDevice   *known,
                const QmConfiguration *given,
                gboolean               with_parts)
{
  const QmLlmCandidates stated = { 1, { { self->framework, 1 } } };
  const QmLlmCandidates *candidates = &stated;
  const QmLlmFamily *family = known != NULL ? known->family : NULL;
  double mamf = known != NULL ? known->mamf : 0;

  if (family == NULL)
    qm_llm_training_constants_find_family (self->constants, device->id, &family, &mamf);
  if (self->framework < 0)
    candidates = qm_llm_job_candidates (self, device, given, family);

  runs->n = candidates->n;
  for (int i = 0; i < runs->n; i++)
    {
      Run *run = &runs->items[i];

      run->weight = candidates->items[i].weight;
      qm_llm_job_init (&run->job, self, device, given, family, mamf, candidates->items[i].framework);
      if (with_parts)
        qm_llm_memory_predict (&run->job, &self->constants->memory, &run->memory);
      else
        qm_llm_memory_predict_peak (&run->job, &self->constants->memory, &run->memory);
    }
}

/* They share the links. */
static void
time_candidates (Runs *runs)
{
  QmLlmLinks links = qm_llm_links (&runs->items[0].job);

  for (int i = 0; i < runs->n; i++)
    qm_llm_time_predict (&runs->items[i].job, &links, &runs->items[i].time);
}

/* The weighted geometric mean of the member at @offset of each run. Where the
 * framework is a guess the spread over the candidates widens the range. */
static double
mean_of (const Runs *runs,
         gsize       offset,
         double     *width)
{
  const QmLlmTraining *self = runs->items[0].job.plan;
  double logs[QM_LLM_MAX_CANDIDATES];
  double mean = 0, variance = 0;

  if (self->framework >= 0)
    return G_STRUCT_MEMBER (double, &runs->items[0], offset);

  for (int i = 0; i < runs->n; i++)
    {
      double value = G_STRUCT_MEMBER (double, &runs->items[i], offset);

      /* frameworks of one class often differ in one of the two alone */
      logs[i] = i > 0 && value == G_STRUCT_MEMBER (double, &runs->items[i - 1], offset) ? logs[i - 1] : log (value);
      mean += runs->items[i].weight * logs[i];
    }

  for (int i = 0; i < runs->n; i++)
    variance += runs->items[i].weight * (logs[i] - mean) * (logs[i] - mean);

  *width = fmax (sqrt (*width * *width + QM_NORMAL_P90 * QM_NORMAL_P90 * variance), *width * self->constants->unknown_framework);
  return exp (mean);
}

static QmRange
mix (const Runs *runs,
     gsize       offset,
     double      width)
{
  double mean = mean_of (runs, offset, &width);

  return qm_range_log_normal (mean, width);
}

#define MIX(runs, member, width) mix ((runs), G_STRUCT_OFFSET (Run, member), (width))

static QmVerdict
judge (double need,
       double usable,
       double headroom)
{
  if (!(usable > 0))
    return QM_VERDICT_UNKNOWN;

  if (need <= (1 - headroom) * usable)
    return QM_VERDICT_FITS;

  if (need <= QM_TIGHT_SHARE * usable)
    return QM_VERDICT_TIGHT;

  return need <= usable ? QM_VERDICT_MAY_FIT : QM_VERDICT_DOES_NOT_FIT;
}

/* Memory is affine in the micro-batch, so the largest one has a closed form. */
static double
largest_micro_batch (const QmLlmMemory *memory,
                     double             budget)
{
  double allocated = (budget - memory->context) / memory->growth;

  if (!(allocated >= memory->update) || !(memory->per_micro_batch > 0))
    return 0;

  return fmax (0, floor ((allocated - memory->fixed) / memory->per_micro_batch));
}

static void
fill_memory (QmEstimate *estimate,
             const Runs *runs)
{
  const Run *first = &runs->items[0];
  const QmLlmTraining *self = first->job.plan;
  const QmDevice *device = first->job.device;
  QmMemory *memory = &estimate->memory;
  double width = qm_llm_memory_width (&first->job);
  double scale;

  memory->device = MIX (runs, memory.whole, width);
  memory->need = memory->device;
  memory->allocated = MIX (runs, memory.allocated, width);
  memory->reserved = MIX (runs, memory.reserved, width);

  scale = memory->device.p50 / first->memory.whole;
  for (int i = 0; i < QM_MEMORY_N_PARTS; i++)
    memory->parts[i] = first->memory.parts[i] * scale;

  memory->capacity_bytes = device->memory_bytes;
  memory->usable_bytes = device->usable_bytes;
  memory->host_bytes = qm_llm_host_bytes (&first->job);
  memory->storage_bytes = qm_llm_storage_bytes (&first->job);
  memory->fits = memory->need.p50 <= memory->usable_bytes;
  memory->fit_probability = qm_range_share_below (memory->need, memory->usable_bytes);
  memory->verdict = judge (memory->need.p50, memory->usable_bytes, self->headroom);
  memory->largest_micro_batch = largest_micro_batch (&first->memory, (1 - self->headroom) * memory->usable_bytes / scale);
  memory->quick_bytes = qm_rule_quick_bytes (self->shape.parameters);
  memory->basic_bytes = qm_rule_basic_bytes (self->shape.parameters);
  memory->state = qm_llm_memory_state (&first->job);
}

static QmBound
largest_part (const QmLlmTime *time)
{
  double largest = time->compute;
  QmBound bound = QM_BOUND_COMPUTE;

  if (time->memory > largest)
    {
      largest = time->memory;
      bound = QM_BOUND_MEMORY;
    }
  if (time->communication > largest)
    {
      largest = time->communication;
      bound = QM_BOUND_COMMUNICATION;
    }

  return time->overhead > largest ? QM_BOUND_OVERHEAD : bound;
}

static void
fill_throughput (QmEstimate *estimate,
                 const Runs *runs)
{
  const Run *first = &runs->items[0];
  const QmLlmTraining *self = first->job.plan;
  QmThroughput *throughput = &estimate->throughput;
  double width = qm_llm_rate_width (&first->job);
  double attention = self->attention_flops * (first->job.framework->counts_whole_attention ? 2 : 1);
  double flops, scale;

  throughput->unit = QM_UNIT_TOKENS;
  throughput->known = first->time.known;
  if (!throughput->known)
    return;

  throughput->per_device_per_second = MIX (runs, time.rate, width);
  throughput->per_second = qm_range_scale (throughput->per_device_per_second, first->job.devices);
  throughput->step_seconds = MIX (runs, time.step, width);
  throughput->samples_per_second = throughput->per_second.p50 / self->sequence;

  /* Counted as the logs of the framework do, so that one can compare. A probe
   * trains behind a frozen model, which is run forward only. */
  flops = throughput->per_device_per_second.p50 * (self->dense_flops + attention) / (self->probe ? 3 : 1);
  throughput->tflops_per_device = flops / 1e12;
  throughput->mfu = flops / first->time.peak;
  throughput->bound_by = largest_part (&first->time);
  throughput->state = qm_llm_rate_state (&first->job);

  scale = throughput->step_seconds.p50 / first->time.step;
  throughput->compute_seconds = first->time.compute * scale;
  throughput->memory_seconds = first->time.memory * scale;
  throughput->communication_seconds = first->time.communication * scale;
  throughput->input_seconds = 0;
  throughput->overhead_seconds = first->time.overhead * scale;
}

static void
fill_configuration (QmEstimate     *estimate,
                    const QmLlmJob *job)
{
  QmConfiguration *c = &estimate->configuration;

  *c = *job->given;
  if (c->device[0] == '\0')
    g_strlcpy (c->device, job->device->id, sizeof c->device);
  c->devices = (int) job->devices;
  c->nodes = c->nodes > 0 ? c->nodes : (int) ceil (job->devices / job->family->domain);
  c->data_parallel = (int) job->data;
  c->tensor_parallel = (int) job->tensor;
  c->pipeline_parallel = (int) job->pipeline;
  c->expert_parallel = (int) job->expert;
  c->context_parallel = (int) job->context;
  c->virtual_pipeline = (int) job->virtual_pipeline;
  c->shard_group = (int) job->shards;
  c->slices = MAX (1, c->slices);
  c->sharding = job->sharding;
  c->offload = job->offload;
  c->micro_batch = job->micro_batch;
  c->gradient_accumulation = job->accumulation;
  if (c->sequence_parallel == QM_TERNARY_UNSET)
    c->sequence_parallel = job->tensor > 1 && job->stack != QM_LLM_STACK_MEGATRON_2022 ? QM_TERNARY_YES : QM_TERNARY_NO;
}

static void
fill_training (QmEstimate     *estimate,
               const QmLlmJob *job)
{
  QmTraining *t = &estimate->training;

  *t = job->plan->training;
  t->activation_checkpointing = job->checkpointing;
  t->global_batch = job->global_batch;
  t->trainable_parameters = job->plan->trainable;
  t->compiled = job->fused ? QM_TERNARY_YES : QM_TERNARY_NO;
  if (t->framework[0] == '\0')
    g_strlcpy (t->framework, job->framework->word, sizeof t->framework);
}

/**
 * qm_llm_training_predict:
 * @self: a predictor
 * @device: what the job runs on
 * @configuration: how it is split, as far as it is given
 * @estimate: (inout): where memory, throughput, the resolved configuration and
 *   the training as evaluated are filled in; the rest stays as it is
 *
 * Predicts peak memory of the fullest device and the training rate. Ranges come
 * from cross-validation on measured runs. Where the plan names no framework the
 * result is the weighted geometric mean over the usual ones. Where the catalog
 * lacks a peak or bandwidth there is no rate ("no-rate"), and nothing at all for
 * a model of unknown size ("no-parameters"). Allocates nothing.
 */
void
qm_llm_training_predict (const QmLlmTraining   *self,
                         const QmDevice        *device,
                         const QmConfiguration *configuration,
                         QmEstimate            *estimate)
{
  Runs runs;

  estimate->device = device;
  if (!(self->shape.parameters > 0))
    {
      estimate->failure = "no-parameters";
      return;
    }

  run_candidates (&runs, self, device, NULL, configuration, TRUE);
  time_candidates (&runs);

  estimate->trainable_parameters = self->trainable;
  estimate->layout_assumed = !runs.items[0].job.layout_known || (configuration->sharding == QM_SHARDING_UNSET && runs.items[0].job.devices > 1);
  fill_configuration (estimate, &runs.items[0].job);
  fill_training (estimate, &runs.items[0].job);
  fill_memory (estimate, &runs);
  fill_throughput (estimate, &runs);
  estimate->failure = runs.items[0].time.known ? NULL : "no-rate";
}

/**
 * qm_llm_training_outline:
 * @self: a predictor
 * @device: what the job runs on
 * @known: (nullable): what was looked up of @device
 * @configuration: how it is split, as far as it is given
 * @outline: (out caller-allocates): memory and rate
 *
 * The figures of qm_llm_training_predict() that a search needs.
 */
void
qm_llm_training_outline (const QmLlmTraining   *self,
                         const QmDevice        *device,
                         const QmKnownDevice   *known,
                         const QmConfiguration *configuration,
                         QmOutline             *outline)
{
  double share = 1 - self->headroom;
  const Run *first;
  Runs runs;

  qm_outline_init (outline);
  if (!(self->shape.parameters > 0))
    return;

  run_candidates (&runs, self, device, known, configuration, FALSE);
  first = &runs.items[0];
  outline->need_width = qm_llm_memory_width (&first->job);
  outline->need_bytes = mean_of (&runs, G_STRUCT_OFFSET (Run, memory.whole), &outline->need_width);
  outline->usable_bytes = device->usable_bytes;
  outline->host_bytes = qm_llm_host_bytes (&first->job);
  if (outline->usable_bytes > 0 && outline->need_bytes > share * outline->usable_bytes)
    return;

  outline->largest_micro_batch = largest_micro_batch (&first->memory, share * outline->usable_bytes /
                                                                        (outline->need_bytes / first->memory.whole));
  time_candidates (&runs);
  outline->unit = QM_UNIT_TOKENS;
  outline->known = first->time.known;
  if (!outline->known)
    return;

  outline->rate_width = qm_llm_rate_width (&first->job);
  outline->per_second = mean_of (&runs, G_STRUCT_OFFSET (Run, time.rate), &outline->rate_width) * first->job.devices;
  outline->samples_per_second = outline->per_second / self->sequence;
}
