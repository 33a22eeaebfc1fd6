/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training-private.h"

#include <math.h>
#include <string.h>

/* Where only the number of parameters is known: N = 12 L h² with h = 128 L,
 * the proportions of published dense models, two-matrix FFN four times as wide.
 * Of a mixture of experts N is what one token meets. */
static void
guess_shape (QmLlmShape                   *self,
             const QmArchitecture         *architecture,
             const QmLlmTrainingConstants *constants)
{
  double n = architecture->experts > 1 ? self->active : self->parameters;

  self->layers = fmax (2, rint (cbrt (n / (12 * 128 * 128))));
  self->hidden = rint (sqrt (n / 12 / self->layers) / 128) * 128;
  if (!(self->hidden > 0))
    self->hidden = 128;

  self->heads = fmax (1, floor (self->hidden / 128));
  self->query = self->heads * floor (self->hidden / self->heads);
  self->key = self->query;
  self->ffn = 4 * self->hidden;
  self->vocabulary = constants->vocabulary_guessed;
  self->embedding = self->vocabulary * self->hidden;
  self->experts = fmax (1, architecture->experts);
  self->experts_per_token = fmax (1, architecture->experts_per_token);
  self->expert_ffn = architecture->expert_ffn;
  self->gated = architecture->gated;
  self->norms = 2;
}

static void
read_shape (QmLlmShape                   *self,
            const QmArchitecture         *from,
            const QmLlmTrainingConstants *constants)
{
  double head_size = from->head_size > 0 ? from->head_size : floor (from->hidden / from->heads);
  double kv_heads = from->kv_heads > 0 ? from->kv_heads : from->heads;

  self->layers = from->layers;
  self->hidden = from->hidden;
  self->heads = from->heads;
  self->query = from->heads * head_size;
  self->key = kv_heads * head_size;
  self->ffn = from->ffn > 0 ? from->ffn : 4 * from->hidden;
  self->vocabulary = from->vocabulary > 0 ? from->vocabulary : constants->vocabulary;
  self->embedding = self->vocabulary * self->hidden * (from->tied ? 1 : 2);
  self->experts = fmax (1, from->experts);
  self->experts_per_token = fmax (1, from->experts_per_token);
  self->expert_ffn = self->experts > 1 && !(from->expert_ffn > 0) ? self->ffn : from->expert_ffn;
  self->gated = from->gated;
  self->norms = from->parallel_block ? 1 : 2;
  self->qk_norm = from->qk_norm;
  self->wide_norm = strcmp (from->type, "gemma") == 0 || strcmp (from->type, "gemma2") == 0;
}

/* Multi-head latent attention: what the kernels see is wider than what is cached. */
static double
latent_query (const QmArchitecture *architecture)
{
  double nope = architecture->qk_nope_head_size > 0 ? architecture->qk_nope_head_size : 128;
  double rope = architecture->qk_rope_head_size > 0 ? architecture->qk_rope_head_size : 64;

  return architecture->heads * (nope + rope);
}

static double
latent_value (const QmArchitecture *architecture)
{
  return architecture->heads * (architecture->v_head_size > 0 ? architecture->v_head_size : 128);
}

static gboolean
is_latent (const QmArchitecture *architecture)
{
  return architecture->known && architecture->kv_lora_rank > 0;
}

static void
count_layers (QmLlmShape           *self,
              const QmArchitecture *architecture)
{
  double matrices = self->gated ? 3 : 2;
  double ffn = self->moe ? self->experts * self->expert_ffn : self->ffn;
  double moe_layers = self->layers - architecture->dense_layers_first;

  self->layer_parameters = 2 * self->hidden * (self->query + self->key) + matrices * self->hidden * ffn;
  if (self->moe)
    self->expert_parameters = fmin (moe_layers * self->experts * 3 * self->hidden * self->expert_ffn,
                                    0.98 * self->parameters);
}

static gboolean
has_shape (const QmArchitecture *architecture)
{
  return architecture->known && architecture->layers > 0 && architecture->hidden > 0 && architecture->heads > 0;
}

/**
 * qm_llm_shape_init:
 * @self: (out caller-allocates): a shape
 * @model: a resolved model, whose number of parameters is known
 * @constants: constants
 *
 * Takes from @model what training memory and time depend on. Where its
 * architecture is not known the shape is guessed from the parameter count.
 */
void
qm_llm_shape_init (QmLlmShape                   *self,
                   const QmModel                *model,
                   const QmLlmTrainingConstants *constants)
{
  const QmArchitecture *architecture = &model->architecture;

  *self = (QmLlmShape) { 0 };
  self->parameters = model->parameters;
  self->active = model->active_parameters > 0 ? model->active_parameters : model->parameters;
  self->known = has_shape (architecture);
  self->approximate = architecture->approximate;

  if (self->known)
    read_shape (self, architecture, constants);
  else
    guess_shape (self, architecture, constants);

  self->moe = self->experts > 1;
  self->ffn_used = self->ffn;
  if (self->moe)
    self->ffn_used = (self->experts_per_token + architecture->shared_experts) * self->expert_ffn;

  self->activation_query = is_latent (architecture) ? latent_query (architecture) : self->query;
  self->activation_key = is_latent (architecture) ? self->activation_query : self->key;
  count_layers (self, architecture);
}

/**
 * qm_llm_training_set_flops:
 * @self: a plan in the making, shape and sequence length known
 * @model: its model
 *
 * Sets the FLOPs that a trained token costs without recomputation, matrix
 * products of the weights and of causal attention apart: 6 (N - look-up) and
 * 6 L A s, sliding layers no further than twice their window.
 */
void
qm_llm_training_set_flops (QmLlmTraining *self,
                           const QmModel *model)
{
  const QmArchitecture *architecture = &model->architecture;
  const QmLlmShape *shape = &self->shape;
  double lookup = shape->known && !architecture->tied ? shape->vocabulary * shape->hidden : 0;
  double full = architecture->full_attention_layers;
  double sliding = architecture->sliding_layers;
  double width = shape->query;

  if (is_latent (architecture))
    width = (latent_query (architecture) + latent_value (architecture)) / 2;

  if (!shape->known || full + sliding <= 0)
    {
      full = shape->known && architecture->recurrent_layers > 0 ? shape->layers / 8 : shape->layers;
      sliding = 0;
    }

  self->dense_flops = 6 * (shape->active - lookup);
  self->attention_flops = 6 * width * (full * self->sequence +
                                       sliding * fmin (self->sequence, 2 * architecture->window));
}

typedef struct {
  const char *name;
  double input;
  double output;
} Module;

static const Module *
find_module (const Module *modules,
             int           n,
             const char   *name)
{
  for (int i = 0; i < n; i++)
    {
      if (strcmp (modules[i].name, name) == 0)
        return &modules[i];
    }

  return NULL;
}

/**
 * qm_llm_training_set_adapters:
 * @self: a plan in the making, its shape known
 *
 * Sets the number of trained parameters, r (d_in + d_out) for each module with
 * an adapter of rank r, d_out more where it is decomposed (DoRA, 2402.09353),
 * and the sums of the widths of these modules in a layer. All linear modules of
 * the block are adapted where the plan names none.
 */
void
qm_llm_training_set_adapters (QmLlmTraining *self)
{
  const QmLlmShape *s = &self->shape;
  const Module modules[] = {
    { "q_proj", s->hidden, s->query }, { "k_proj", s->hidden, s->key }, { "v_proj", s->hidden, s->key },
    { "o_proj", s->query, s->hidden }, { "up_proj", s->hidden, s->ffn }, { "down_proj", s->ffn, s->hidden },
    { "gate_proj", s->hidden, s->ffn },
  };
  const QmWordList *targets = &self->training.lora_targets;
  int n_modules = s->gated ? 7 : 6;
  double rank = self->training.lora_rank;
  int n = targets->n > 0 ? targets->n : n_modules;

  self->trainable = 0;
  self->adapted_distinct = 0;
  for (int i = 0; i < n; i++)
    {
      const char *name = targets->n > 0 ? targets->words[i] : modules[i].name;
      const Module other = { name, s->hidden, s->hidden };
      const Module *module = find_module (modules, n_modules, name);

      if (strcmp (name, "lm_head") == 0)
        {
          self->trainable += rank * (s->hidden + s->vocabulary) + (self->decomposed ? s->vocabulary : 0);
          continue;
        }

      module = module != NULL ? module : &other;
      self->trainable += (rank * (module->input + module->output) + (self->decomposed ? module->output : 0)) * s->layers;
      self->adapted_modules++;
      self->adapted_inputs += module->input;
      self->adapted_outputs += module->output;
      self->adapted_weights += module->input * module->output;
      /* the others read what a projection beside them reads, or what attention keeps */
      if (!g_str_equal (name, "k_proj") && !g_str_equal (name, "v_proj") && !g_str_equal (name, "gate_proj") &&
          !g_str_equal (name, "o_proj"))
        self->adapted_distinct += module->input;
    }

  if (self->training.trainable_parameters > 0)
    self->trainable = self->training.trainable_parameters;
}
