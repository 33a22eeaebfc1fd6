/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

#include <string.h>

/* A forward pass of the three that training takes. */
#define FORWARD_SHARE (1.0 / 3)

/* Of three passes, and the forward one again. */
#define RECOMPUTED_SHARE (4.0 / 3)

/* Parameters of a transformer layer, in squares of the width. */
#define ENCODER_LAYER 12
#define DECODER_LAYER 16

static double
or_else (double value,
         double otherwise)
{
  return value > 0 ? value : otherwise;
}

static QmDomainJob
training_job (QmTask task)
{
  switch (task)
    {
    case QM_TASK_TEXT_ENCODER:
      return QM_DOMAIN_JOB_TRAIN_ENCODER;
    case QM_TASK_IMAGE_GENERATION:
      return QM_DOMAIN_JOB_TRAIN_DIFFUSION;
    case QM_TASK_RECOMMENDER:
      return QM_DOMAIN_JOB_TRAIN_RECOMMENDER;
    default:
      return QM_DOMAIN_JOB_TRAIN_VISION;
    }
}

static QmDomainJob
running_job (QmTask         task,
             const QmModel *model)
{
  switch (task)
    {
    case QM_TASK_TEXT_ENCODER:
      return QM_DOMAIN_JOB_RUN_ENCODER;
    case QM_TASK_IMAGE_GENERATION:
      return QM_DOMAIN_JOB_RUN_GENERATION;
    case QM_TASK_RECOMMENDER:
      return QM_DOMAIN_JOB_RUN_RECOMMENDER;
    case QM_TASK_SPEECH:
      return model->decoder_layers > 0 ? QM_DOMAIN_JOB_RUN_WHISPER : QM_DOMAIN_JOB_RUN_SPEECH;
    default:
      return QM_DOMAIN_JOB_RUN_VISION;
    }
}

/* A count without a shape: layers and width as those of BERT grow. */
static void
guess_shape (const QmDomainEncoderConstants *constants,
             double                          parameters,
             QmDomainShape                  *shape)
{
  double heads = rint (constants->base_heads * cbrt (parameters / constants->base_parameters));

  shape->parameters = parameters;
  shape->vocabulary = constants->vocabulary;
  shape->hidden = fmax (2, heads) * constants->head_size;
  shape->body = fmax (0.5 * parameters, parameters - shape->vocabulary * shape->hidden);
  shape->layers = fmax (2, rint (shape->body / (ENCODER_LAYER * shape->hidden * shape->hidden)));
  shape->heads = shape->hidden / constants->head_size;
}

/* Distilled models keep the configuration of what they are distilled from: the
 * count tells how many layers there really are. */
static void
take_layers (const QmArchitecture *architecture,
             QmDomainShape        *shape)
{
  double h = shape->hidden;
  double ffn = or_else (architecture->ffn, 4 * h);
  double layer = 4 * h * h + (architecture->gated ? 3 : 2) * h * ffn;
  double rest = shape->parameters - shape->vocabulary * h;

  shape->body = shape->layers * layer;
  if (!(shape->parameters > 0) || shape->body <= shape->parameters - 0.9 * shape->vocabulary * h)
    return;

  shape->layers = fmax (1, rint (rest / layer));
  shape->body = shape->layers * layer;
}

static void
take_shape (QmOtherDomains *self,
            const QmModel  *model)
{
  const QmDomainEncoderConstants *constants = &self->constants->encoder;
  const QmArchitecture *architecture = &model->architecture;
  QmDomainShape *shape = &self->shape;

  if (!architecture->known)
    {
      guess_shape (constants, or_else (model->parameters, constants->base_parameters), shape);
      return;
    }

  shape->parameters = model->parameters;
  shape->hidden = or_else (architecture->hidden, constants->hidden);
  shape->vocabulary = or_else (architecture->vocabulary, constants->vocabulary);
  shape->layers = or_else (architecture->layers, constants->layers);
  shape->heads = or_else (architecture->heads, floor (shape->hidden / constants->head_size));
  shape->decoder = architecture->decoder_layers > 0;
  if (shape->decoder)
    {
      double encoder = or_else (architecture->encoder_layers, constants->layers);

      shape->layers = encoder + architecture->decoder_layers;
      shape->body = shape->hidden * shape->hidden * (ENCODER_LAYER * encoder + DECODER_LAYER * architecture->decoder_layers);
    }
  else
    take_layers (architecture, shape);

  shape->parameters = or_else (shape->parameters, shape->body + shape->vocabulary * shape->hidden);
}

static void
take_facts (QmOtherDomains *self,
            const QmModel  *model)
{
  QmDomainFacts *facts = &self->facts;

  facts->family = model->family;
  facts->parameters = model->parameters;
  facts->flops = model->flops_per_sample;
  facts->pass_flops = model->pass_flops;
  facts->passes_per_step = model->passes_per_step;
  facts->activations = model->activations_per_sample;
  facts->pass_activations = model->pass_activations;
  facts->ops = model->ops;
  facts->image_size = model->image_size;
  facts->vae_flops = model->vae_flops;
  facts->vae_activations = model->vae_activations;
  facts->encoder_parameters = model->text_encoder_parameters;
  facts->denoiser_parameters = model->denoiser_parameters;
  facts->linear_parameters = model->linear_parameters;
  facts->patches = model->patches_per_volume;
  facts->tokens = model->image_tokens;
  facts->layers = model->architecture.layers;
  facts->hidden = model->architecture.hidden;
  facts->decoder_layers = model->decoder_layers;
  facts->decoder_parameters = model->decoder_parameters;
}

static void
take_recommender (QmOtherDomains *self,
                  const QmModel  *model)
{
  const QmDomainDefaults *usual = &self->constants->usual;
  QmDomainFacts *facts = &self->facts;

  facts->activations = or_else (facts->activations, usual->recommender_activations);
  facts->dense_parameters = or_else (model->dense_parameters, usual->dense_parameters);
  facts->embedding_dim = or_else (model->embedding_dim, usual->embedding_dim);
  facts->embedding_features = or_else (model->embedding_features, usual->embedding_features);
  facts->embedding_lookups = or_else (model->embedding_lookups, self->job == QM_DOMAIN_JOB_RUN_RECOMMENDER
                                                                    ? usual->embedding_features
                                                                    : facts->embedding_features);
  facts->items_per_query = or_else (model->items_per_query, 1);
}

static void
take_speech (QmOtherDomains *self)
{
  const QmDomainDefaults *usual = &self->constants->usual;
  QmDomainFacts *facts = &self->facts;

  facts->hidden = or_else (facts->hidden, usual->whisper_hidden);
  facts->decoder_layers = or_else (facts->decoder_layers, usual->whisper_layers);
  facts->decoder_parameters = or_else (facts->decoder_parameters, usual->whisper_decoder);
}

static void
take_model (QmOtherDomains *self,
            const QmPlan   *plan,
            const QmModel  *model)
{
  gboolean counted = self->task == QM_TASK_TEXT_ENCODER || self->task == QM_TASK_RECOMMENDER || model->catalogued;

  take_facts (self, model);
  self->facts.guessed = model->flops_guessed || (!counted && !(plan->model.activations_per_sample > 0));
  self->facts.flops_given = plan->model.flops_per_sample > 0;
  if (self->task == QM_TASK_TEXT_ENCODER)
    take_shape (self, model);
  else if (self->task == QM_TASK_RECOMMENDER)
    take_recommender (self, model);
  else if (self->job == QM_DOMAIN_JOB_RUN_WHISPER)
    take_speech (self);
}

static QmPrecision
usual_precision (const QmOtherDomains *self)
{
  return self->job == QM_DOMAIN_JOB_TRAIN_DIFFUSION ? QM_PRECISION_AMP_BF16 : QM_PRECISION_AMP_FP16;
}

static void
take_precision (QmOtherDomains *self)
{
  gboolean narrow = self->job == QM_DOMAIN_JOB_TRAIN_VISION || self->job == QM_DOMAIN_JOB_TRAIN_RECOMMENDER;

  self->train_bytes = 2;
  switch (self->training.precision)
    {
    case QM_PRECISION_FP32:
      self->train_rate = QM_DOMAIN_RATE_FP32;
      self->train_bytes = 4;
      break;
    case QM_PRECISION_TF32:
      self->train_rate = QM_DOMAIN_RATE_TF32;
      self->train_bytes = 4;
      break;
    case QM_PRECISION_FP8:
      self->train_rate = QM_DOMAIN_RATE_FP8;
      self->train_bytes = narrow ? 1 : 2;
      break;
    case QM_PRECISION_FP4:
      self->train_rate = QM_DOMAIN_RATE_FP4;
      self->train_bytes = 0.5;
      break;
    case QM_PRECISION_AMP_BF16:
    case QM_PRECISION_BF16:
      self->train_rate = QM_DOMAIN_RATE_BF16;
      break;
    default:
      self->train_rate = QM_DOMAIN_RATE_FP16;
      break;
    }
}

/* What a plan without a framework tells all the same. */
static QmDomainStack
implied_stack (const QmOtherDomains *self)
{
  const QmTraining *t = &self->training;

  if (t->memory_format != QM_MEMORY_FORMAT_UNSET)
    return QM_DOMAIN_STACK_PYTORCH;

  if (t->method == QM_METHOD_LORA || t->method == QM_METHOD_QLORA)
    return QM_DOMAIN_STACK_HUGGINGFACE;

  if (self->task == QM_TASK_TEXT_ENCODER && t->precision == QM_PRECISION_FP8)
    return QM_DOMAIN_STACK_MLPERF;

  if (self->task == QM_TASK_TEXT_ENCODER && t->optimizer == QM_OPTIMIZER_LAMB)
    return QM_DOMAIN_STACK_NVIDIA_TUNED;

  return QM_DOMAIN_STACK_UNSTATED;
}

static double
loader_rate (const QmOtherDomains *self,
             const QmData         *data)
{
  const QmDomainHostConstants *constants = &self->constants->host;

  if (!(data->bytes_per_sample > 0) || data->loader_workers <= 0)
    return INFINITY;

  return data->loader_workers * constants->images_per_core * constants->image_bytes /
         fmax (constants->least_bytes, data->bytes_per_sample);
}

/* The gradient checkpointing of timm and transformers goes by blocks of a
 * transformer. Nothing flows back through what a probe reads. */
static gboolean
recomputes_blocks (const QmOtherDomains *self)
{
  return self->checkpointed && !self->probe && self->job == QM_DOMAIN_JOB_TRAIN_VISION &&
         self->facts.family == QM_FAMILY_TRANSFORMER && self->task != QM_TASK_OBJECT_DETECTION;
}

static void
take_training (QmOtherDomains *self,
               const QmPlan   *plan)
{
  QmTraining *t = &self->training;

  if (t->method == QM_METHOD_UNSET)
    t->method = QM_METHOD_FULL;
  if (t->precision == QM_PRECISION_UNSET)
    t->precision = usual_precision (self);

  take_precision (self);
  self->pure_16_bit = t->precision == QM_PRECISION_BF16 || t->precision == QM_PRECISION_FP16;
  self->adapters = t->method == QM_METHOD_LORA || t->method == QM_METHOD_QLORA;
  self->probe = t->method == QM_METHOD_LINEAR_PROBE &&
                (self->job == QM_DOMAIN_JOB_TRAIN_VISION || self->job == QM_DOMAIN_JOB_TRAIN_ENCODER);
  self->adapter_parameters = t->trainable_parameters;
  self->checkpointed = t->activation_checkpointing == QM_CHECKPOINTING_FULL;
  self->recomputes = recomputes_blocks (self);
  self->pass_share = self->probe ? FORWARD_SHARE : self->recomputes ? RECOMPUTED_SHARE : 1;
  self->stack = qm_domains_constants_find_stack (self->constants, t->framework);
  self->implied = implied_stack (self);
  self->sequence = or_else (t->sequence_length, self->constants->usual.sequence);
  self->loader_rate = loader_rate (self, &plan->data);
  self->samples = t->samples * or_else (t->epochs, 1);
}

static void
take_engine (QmOtherDomains *self)
{
  const QmServing *s = &self->serving;
  const char *usual = self->job == QM_DOMAIN_JOB_RUN_WHISPER ? "transformers" : "pytorch";
  const QmDomainEngineWord *engine = qm_domains_constants_find_engine (self->constants, s->engine[0] != '\0' ? s->engine : usual);
  gboolean low = self->run_rate == QM_DOMAIN_RATE_FP16 || self->run_rate == QM_DOMAIN_RATE_INT8;

  self->engine = (QmDomainEngineWord) { .speech = QM_DOMAIN_SPEECH_TRANSFORMERS };
  if (engine != NULL)
    self->engine = *engine;

  self->engine_stated = s->engine[0] != '\0';
  self->gpu_engine = self->engine.kind;
  if (self->engine.kind == QM_DOMAIN_ENGINE_ENGINE)
    return;

  if (s->compiled == QM_TERNARY_YES || (self->engine.compiles_low_precision && low))
    self->gpu_engine = QM_DOMAIN_ENGINE_COMPILED;
}

static void
take_serving (QmOtherDomains *self,
              const QmPlan   *plan)
{
  const QmDomainWeights *weights = qm_domains_constants_find_weights (self->constants, self->serving.weights);

  self->run_rate = QM_DOMAIN_RATE_OTHER;
  self->weight_bytes = 2;
  if (self->serving.weights[0] == '\0')
    {
      self->run_rate = QM_DOMAIN_RATE_FP16;
      qm_word_set (self->serving.weights, "fp16");
    }
  else if (weights != NULL)
    {
      self->run_rate = weights->rate;
      self->weight_bytes = weights->bytes;
    }

  take_engine (self);
  self->sequence = or_else (self->serving.input_tokens, self->constants->usual.sequence);
  if (plan->activity == QM_ACTIVITY_BATCH_INFERENCE)
    self->samples = self->serving.samples;
}

/**
 * qm_domain_job_init:
 * @self: (inout): a job whose constants are set
 * @plan: a plan of any task but a language model's
 * @model: its model
 *
 * Resolves everything that depends on neither device nor layout.
 */
void
qm_domain_job_init (QmOtherDomains *self,
                    const QmPlan   *plan,
                    const QmModel  *model)
{
  gboolean training = qm_plan_is_training (plan);

  self->task = plan->task;
  self->pretrains = plan->activity == QM_ACTIVITY_TRAIN;
  self->training = plan->training;
  self->serving = plan->serving;
  self->tabular = plan->tabular;
  self->headroom = qm_plan_get_headroom (plan);
  self->loader_rate = INFINITY;
  self->sample_seconds = or_else (plan->serving.audio_seconds_per_sample, self->constants->speech.window_seconds);
  self->booster = qm_domains_constants_find_booster (self->constants, plan->model.id);
  if (plan->task == QM_TASK_TABULAR)
    {
      self->job = QM_DOMAIN_JOB_TABULAR;
      self->trains = training;
      return;
    }

  self->job = training ? training_job (plan->task) : running_job (plan->task, model);
  self->trains = training;
  take_model (self, plan, model);
  if (training)
    take_training (self, plan);
  else
    take_serving (self, plan);
}
