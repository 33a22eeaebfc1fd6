/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-inference.h"

#include <math.h>
#include <string.h>

#include "estimate/qm-known-device.h"
#include "estimate/qm-rules.h"

/* Context at which the cache of a token is stated: windows are full by then. */
#define STATED_CONTEXT 4096
#define TERA 1e12

static QmState
find_state (const QmLlmInferenceConstants *constants,
            QmInferenceQuantity            quantity,
            int                            engine,
            QmInferenceClass               device_class,
            int                            kernel)
{
  int cell = constants->cell_sweeps[quantity][engine][device_class];
  int with_kernel = constants->kernel_sweeps[quantity][engine][kernel];

  if (!constants->measured[quantity][engine])
    return QM_STATE_NEW;

  if (cell == 0 || with_kernel == 0)
    return QM_STATE_ENGINE;

  return cell >= 3 && with_kernel >= 2 ? QM_STATE_CELL : QM_STATE_THIN;
}

/* ln (p90 / p50) of how many guesses hold. */
static double
speculation_width (const QmLlmInference *self)
{
  const QmInferenceSpeculation *s = self->speculation;

  if (s == NULL)
    return 0;

  return log (qm_rule_speculative_tokens (s->acceptance.p90, (int) s->drafted) /
              qm_rule_speculative_tokens (s->acceptance.p10, (int) s->drafted)) / 2;
}

static void
resolve_speculation (QmLlmInference *self)
{
  const QmInferenceSpeculation *s = &self->constants->speculations[self->serving.speculation];

  self->accepted = 1;
  if (self->serving.speculation <= QM_SPECULATION_NONE)
    return;

  self->speculation = s;
  self->accepted = qm_rule_speculative_tokens (s->acceptance.p50, (int) s->drafted);
}

/* The product of what is known of @kernel with an engine on a class. */
static double
multiply (const QmLlmInference *self,
          QmInferenceTable      table,
          QmInferenceClass      device_class,
          int                   kernel)
{
  const QmInferenceFactors *t = &self->constants->tables[table];
  int engine = self->engine->same_as;

  return t->base * t->family[self->family] * t->engine[engine] * t->device_class[device_class] * t->cell[engine][device_class] *
         t->kernel[kernel] * t->engine_kernel[engine][kernel] * t->family_kernel[self->family][kernel] *
         t->mixture[self->shape.experts > 1];
}

/* Attention is that of 16-bit weights where nobody measured it with others. */
static int
attention_kernel (const QmLlmInference *self,
                  gboolean              on_cpu,
                  int                   kernel)
{
  const QmInferenceFactors *t = &self->constants->tables[QM_INFERENCE_KAPPA];
  gboolean measured = t->engine_kernel[self->engine->same_as][kernel] != 1;

  return measured || on_cpu || !(self->constants->limits.copied_bytes > 0) ? kernel : QM_INFERENCE_KERNEL_W16;
}

static void
fill_cell (QmLlmInference   *self,
           gboolean          on_cpu,
           QmInferenceClass  device_class)
{
  const QmLlmInferenceConstants *constants = self->constants;
  QmInferenceCell *cell = &self->cells[on_cpu][device_class];
  int engine = self->engine->same_as;
  int kernel = self->format.kernel + (on_cpu ? QM_INFERENCE_N_KERNELS : 0);
  double guess = self->shape.experts > 1 ? constants->limits.guessed_mixture : constants->limits.guessed_shape;
  double guessed = self->shape.guessed ? guess : 0;

  for (int i = 0; i < QM_INFERENCE_N_TABLES; i++)
    cell->values[i] = multiply (self, i, device_class, kernel);
  cell->values[QM_INFERENCE_KAPPA] = multiply (self, QM_INFERENCE_KAPPA, device_class, attention_kernel (self, on_cpu, kernel));
  cell->plain_mu = multiply (self, QM_INFERENCE_MU, device_class, QM_INFERENCE_KERNEL_W16);

  for (int i = 0; i < QM_INFERENCE_N_QUANTITIES; i++)
    {
      cell->states[i] = find_state (constants, i, engine, device_class, kernel);
      cell->widths[i] = hypot (constants->widths[i][cell->states[i]] * constants->class_widths[i][device_class], guessed);
      if (i == QM_INFERENCE_DECODE || i == QM_INFERENCE_SERVING)
        cell->widths[i] = hypot (cell->widths[i], speculation_width (self));
    }
}

static void
resolve_serving (QmLlmInference *self,
                 const QmPlan   *plan)
{
  const QmInferenceLimits *limits = &self->constants->limits;
  QmServing *serving = &self->serving;
  double answer = serving->output_tokens > 0 ? serving->output_tokens : limits->decode_output_tokens;

  self->mean_context = limits->decode_context;
  if (serving->input_tokens > 0 || serving->output_tokens > 0)
    self->mean_context = serving->input_tokens + answer / 2;

  if (!(serving->input_tokens > 0))
    serving->input_tokens = limits->input_tokens;
  if (!(serving->output_tokens > 0))
    serving->output_tokens = limits->output_tokens;
  if (serving->engine[0] == '\0')
    g_strlcpy (serving->engine, self->engine->word, sizeof serving->engine);
  if (serving->weights[0] == '\0')
    g_strlcpy (serving->weights, self->constants->default_format, sizeof serving->weights);

  self->prompt = serving->input_tokens;
  self->answer = serving->output_tokens;
  self->max_sequences = serving->max_sequences > 0 ? serving->max_sequences : self->engine->max_sequences;
  self->headroom = qm_plan_get_headroom (plan);
}

/**
 * qm_llm_inference_new:
 * @constants: constants, which must outlive the result
 * @plan: a plan that serves a language model or runs it over a batch
 * @model: its model, with a known number of parameters
 *
 * Resolves what depends on the answers and the model alone: shape, engine,
 * format of weights and cache, and the product of all factors on each class of
 * devices.
 *
 * Returns: (transfer full): a predictor; immutable, used from any thread
 */
QmLlmInference *
qm_llm_inference_new (const QmLlmInferenceConstants *constants,
                      const QmPlan                  *plan,
                      const QmModel                 *model)
{
  QmLlmInference *self = g_new0 (QmLlmInference, 1);
  gboolean known;

  self->constants = constants;
  self->serving = plan->serving;
  self->engine = &constants->engines[qm_inference_constants_find_engine (constants, plan->serving.engine)];
  self->family = self->engine->family;
  self->format = qm_inference_constants_find_format (constants, plan->serving.weights, &known);
  self->kv_bytes = qm_inference_constants_kv_bytes (constants, plan->serving.kv_cache);
  if (self->engine->fp8_cache && plan->serving.kv_cache[0] == '\0' &&
      (self->format.kernel == QM_INFERENCE_KERNEL_FP8 || self->format.kernel == QM_INFERENCE_KERNEL_FP4))
    self->kv_bytes = qm_inference_constants_kv_bytes (constants, "fp8");
  qm_inference_shape_init (&self->shape, &model->architecture, model->parameters, model->active_parameters);
  self->weight_bytes = qm_inference_weight_bytes (&self->shape, &self->format);
  resolve_serving (self, plan);
  resolve_speculation (self);

  for (int on_cpu = 0; on_cpu < 2; on_cpu++)
    {
      for (int i = 0; i < QM_INFERENCE_N_CLASSES; i++)
        fill_cell (self, on_cpu, i);
    }

  return self;
}

/**
 * qm_llm_inference_free:
 * @self: (transfer full) (nullable): a predictor
 *
 * Frees @self.
 */
void
qm_llm_inference_free (QmLlmInference *self)
{
  g_free (self);
}

static QmRange
range_of (const QmInferenceJob *job,
          QmInferenceQuantity   quantity,
          double                value)
{
  return qm_range_log_normal (value, job->cell->widths[quantity]);
}

static QmVerdict
judge (const QmInferenceJob *job,
       const QmMemory       *memory)
{
  const QmInferenceLimits *limits = &job->plan->constants->limits;
  double need = memory->need.p50;

  if (!(memory->usable_bytes > 0))
    return QM_VERDICT_UNKNOWN;

  if (need > memory->usable_bytes)
    return QM_VERDICT_DOES_NOT_FIT;

  if (job->device_share < 1 || job->expert_share < 1)
    return QM_VERDICT_PARTLY_IN_SYSTEM_MEMORY;

  if (need <= (1 - job->plan->headroom) * memory->usable_bytes)
    return QM_VERDICT_FITS;

  return need <= limits->tight_share * memory->usable_bytes ? QM_VERDICT_TIGHT : QM_VERDICT_MAY_FIT;
}

/* On a processor the memory is the computer's, of which the device says nothing
 * unless both share it. */
static void
fill_memory (QmEstimate           *estimate,
             const QmInferenceJob *job)
{
  QmMemory *memory = &estimate->memory;
  QmInferenceMemoryParts bytes;

  qm_inference_memory (job, &bytes);
  memory->device = range_of (job, QM_INFERENCE_MEMORY, bytes.device);
  memory->need = range_of (job, QM_INFERENCE_MEMORY, bytes.need);
  memory->allocated = range_of (job, QM_INFERENCE_MEMORY, bytes.allocated);
  memory->reserved = range_of (job, QM_INFERENCE_MEMORY, bytes.reserved);
  memcpy (memory->parts, bytes.parts, sizeof memory->parts);

  memory->capacity_bytes = job->memory;
  memory->usable_bytes = job->on_cpu ? job->memory : job->device->usable_bytes;
  memory->host_bytes = bytes.host;
  memory->fits = memory->usable_bytes > 0 && bytes.need <= memory->usable_bytes;
  memory->fit_probability = memory->usable_bytes > 0 ? qm_range_share_below (memory->need, memory->usable_bytes) : NAN;
  memory->verdict = judge (job, memory);
  memory->quick_bytes = qm_rule_quick_bytes (job->plan->shape.parameters);
  memory->basic_bytes = qm_rule_basic_bytes (job->plan->shape.parameters);
  memory->state = job->cell->states[QM_INFERENCE_MEMORY];
}

static QmBound
largest_part (const QmThroughput *throughput)
{
  double largest = throughput->memory_seconds;
  QmBound bound = QM_BOUND_MEMORY;

  if (throughput->compute_seconds > largest)
    {
      largest = throughput->compute_seconds;
      bound = QM_BOUND_COMPUTE;
    }
  if (throughput->communication_seconds > largest)
    {
      largest = throughput->communication_seconds;
      bound = QM_BOUND_COMMUNICATION;
    }

  return throughput->overhead_seconds > largest ? QM_BOUND_OVERHEAD : bound;
}

/* One replica in the steady state. */
typedef struct {
  QmInferenceStep step;
  double reading;                   /* s, of one batch of prompts */
  double seconds;                   /* from a request to its last token */
  double per_second;                /* tokens of the whole job */
} Steady;

/* Each of @sequences at once costs its share of the reading of prompts and one
 * step a token. */
static void
run_steadily (const QmInferenceJob *job,
              double                sequences,
              Steady               *steady)
{
  const QmLlmInference *plan = job->plan;
  gboolean alone = sequences <= 1;
  double answer = plan->answer, prompt = 0;

  steady->reading = qm_inference_prompt_seconds (job, plan->prompt, sequences, FALSE);
  qm_inference_step (job, sequences, plan->prompt + answer / 2, &steady->step);
  if (plan->prompt > 1)
    prompt = alone ? qm_inference_prompt_seconds (job, plan->prompt, sequences, TRUE) : steady->reading;
  if (!alone)
    prompt += job->values[QM_INFERENCE_T0] * 1e-3;

  steady->seconds = prompt + answer * steady->step.seconds;
  steady->per_second = job->data * sequences * answer / steady->seconds;
}

static void
fill_throughput (QmEstimate           *estimate,
                 const QmInferenceJob *job,
                 double                sequences)
{
  const QmLlmInference *plan = job->plan;
  QmThroughput *throughput = &estimate->throughput;
  Steady steady;
  double flops;

  run_steadily (job, sequences, &steady);
  throughput->known = TRUE;
  throughput->unit = QM_UNIT_TOKENS;
  throughput->per_second = range_of (job, QM_INFERENCE_SERVING, steady.per_second);
  throughput->per_device_per_second = qm_range_scale (throughput->per_second, 1 / job->devices);
  throughput->samples_per_second = throughput->per_second.p50 / plan->answer;

  flops = throughput->samples_per_second / job->devices * 2 * plan->shape.active * (plan->prompt + plan->answer);
  throughput->tflops_per_device = flops / TERA;
  throughput->mfu = flops / job->flops;
  throughput->memory_seconds = steady.step.memory;
  throughput->compute_seconds = steady.step.compute + steady.reading / plan->answer;
  throughput->communication_seconds = steady.step.communication;
  throughput->overhead_seconds = steady.step.overhead;
  throughput->bound_by = largest_part (throughput);
  throughput->state = job->cell->states[QM_INFERENCE_SERVING];
  estimate->serving.latency_p50_seconds = range_of (job, QM_INFERENCE_SERVING, steady.seconds);
}

static void
fill_serving (QmEstimate           *estimate,
              const QmInferenceJob *job,
              double                room)
{
  const QmLlmInference *plan = job->plan;
  const QmInferenceLimits *limits = &plan->constants->limits;
  QmServingFigures *serving = &estimate->serving;
  double sequences = job->batch > 0 ? job->batch : 1;
  double first = qm_inference_prompt_seconds (job, plan->prompt, sequences, TRUE);
  double whole_job = job->tensor * job->pipeline / job->device_share * job->data;
  QmInferenceStep step;

  qm_inference_step (job, sequences, plan->mean_context, &step);
  serving->known = TRUE;
  serving->first_token_seconds = range_of (job, QM_INFERENCE_FIRST_TOKEN, first);
  serving->prefill_tokens_per_second = range_of (job, QM_INFERENCE_PREFILL, plan->prompt * sequences / first);
  serving->token_seconds = range_of (job, QM_INFERENCE_DECODE, step.seconds);
  serving->decode_tokens_per_second = range_of (job, QM_INFERENCE_DECODE, 1 / step.seconds);
  serving->kv_cache_bytes = estimate->memory.parts[QM_MEMORY_KV_CACHE] * whole_job;
  serving->kv_pool_bytes = serving->kv_cache_bytes;
  if (plan->family == QM_INFERENCE_FAMILY_SERVER && job->memory > 0)
    serving->kv_pool_bytes = fmax (0, qm_inference_pool_bytes (job)) * job->data;
  serving->max_concurrency = floor (room) * job->data;
  serving->requests_per_second = estimate->throughput.samples_per_second / job->data;
  serving->replicas = 1;
  serving->cold_start_factor_low = limits->cold_start_low;
  serving->cold_start_factor_high = limits->cold_start_high;
  serving->state = job->cell->states[QM_INFERENCE_DECODE];
}

static void
fill_configuration (QmEstimate           *estimate,
                    const QmInferenceJob *job)
{
  QmConfiguration *c = &estimate->configuration;

  *c = *job->given;
  if (c->device[0] == '\0' && job->device->id != NULL)
    g_strlcpy (c->device, job->device->id, sizeof c->device);
  c->devices = (int) job->devices;
  c->nodes = MAX (1, c->nodes);
  c->tensor_parallel = (int) job->tensor;
  c->pipeline_parallel = (int) job->pipeline;
  c->data_parallel = (int) job->data;
}

/**
 * qm_llm_inference_predict:
 * @self: a predictor
 * @device: what the job runs on
 * @configuration: how it is split, as far as it is given; `gpu_layers` between 0
 *   and the number of layers leaves the rest in system memory
 * @estimate: (inout): where memory, throughput, serving figures and the resolved
 *   configuration are filled in; the rest stays as it is
 *
 * Predicts memory of one device, the rate of the whole job in the steady state
 * and what one request waits. The plan's concurrency counts over all replicas;
 * where it is missing, engines run as many sequences as their limits and the
 * memory allow. Ranges come from cross-validation on measured runs, and are
 * wider where the engine or the device was not among them. How many replicas a
 * load needs is for the caller to say. Allocates nothing.
 */
void
qm_llm_inference_predict (const QmLlmInference  *self,
                          const QmDevice        *device,
                          const QmConfiguration *configuration,
                          QmEstimate            *estimate)
{
  QmInferenceJob job;
  double room;

  qm_inference_job_init (&job, self, device, -1, configuration);
  room = qm_inference_room (&job);

  estimate->device = device;
  estimate->serving_plan = self->serving;
  estimate->kv_cache_bytes_per_token = qm_inference_kv_bytes (&self->shape, STATED_CONTEXT, self->kv_bytes) / STATED_CONTEXT;
  fill_configuration (estimate, &job);
  fill_memory (estimate, &job);
  fill_throughput (estimate, &job, job.batch > 0 ? job.batch : room);
  fill_serving (estimate, &job, room);
  estimate->failure = NULL;
}

/**
 * qm_llm_inference_outline:
 * @self: a predictor
 * @device: what the job runs on
 * @known: (nullable): what was looked up of @device
 * @configuration: how it is split, as far as it is given
 * @outline: (out caller-allocates): memory and rate
 *
 * The figures of qm_llm_inference_predict() that a search needs.
 */
void
qm_llm_inference_outline (const QmLlmInference  *self,
                          const QmDevice        *device,
                          const QmKnownDevice   *known,
                          const QmConfiguration *configuration,
                          QmOutline             *outline)
{
  QmInferenceMemoryParts bytes;
  QmInferenceJob job;
  Steady steady;

  qm_outline_init (outline);
  qm_inference_job_init (&job, self, device, known != NULL ? known->arch : -1, configuration);
  qm_inference_memory (&job, &bytes);
  outline->need_bytes = bytes.need;
  outline->need_width = job.cell->widths[QM_INFERENCE_MEMORY];
  outline->usable_bytes = job.on_cpu ? job.memory : device->usable_bytes;
  outline->host_bytes = bytes.host;
  if (outline->usable_bytes > 0 && bytes.need > (1 - self->headroom) * outline->usable_bytes)
    return;

  run_steadily (&job, job.batch > 0 ? job.batch : qm_inference_room (&job), &steady);
  outline->known = TRUE;
  outline->unit = QM_UNIT_TOKENS;
  outline->per_second = steady.per_second;
  outline->rate_width = job.cell->widths[QM_INFERENCE_SERVING];
  outline->samples_per_second = steady.per_second / self->answer;
}
