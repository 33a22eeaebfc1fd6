/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-shape.h"

/**
 * qm_shape_norm:
 * @self: a shape
 * @width: of what is normed
 *
 * Returns: parameters of one norm: a scale, and a shift where the family has it
 */
double
qm_shape_norm (QmShape *self,
               double   width)
{
  if (self->traits & QM_TRAIT_NO_NORM)
    return 0;
  return (self->traits & QM_TRAIT_LAYER_NORM) != 0 ? 2 * width : width;
}

static double
latent_attention (QmShape *self)
{
  const QmArchitecture *a = self->a;
  double query = a->heads * (a->qk_nope_head_size + a->qk_rope_head_size);
  double q = a->q_lora_rank > 0 ? a->hidden * a->q_lora_rank + a->q_lora_rank + a->q_lora_rank * query
                                : a->hidden * query;
  double kv = a->hidden * (a->kv_lora_rank + a->qk_rope_head_size) + a->kv_lora_rank +
              a->kv_lora_rank * a->heads * (a->qk_nope_head_size + a->v_head_size);

  return q + kv + a->heads * a->v_head_size * a->hidden;
}

static double
attention (QmShape *self)
{
  const QmArchitecture *a = self->a;
  double query = a->heads * a->head_size;
  double key = a->kv_heads * a->head_size;
  double sum;

  if (a->kv_lora_rank > 0)
    return latent_attention (self);
  sum = a->hidden * query * ((self->traits & QM_TRAIT_OUTPUT_GATE) != 0 ? 2 : 1) + 2 * a->hidden * key +
        query * a->hidden;
  if (self->traits & QM_TRAIT_QKV_BIAS)
    sum += query + 2 * key;
  if (self->traits & QM_TRAIT_OUT_BIAS)
    sum += a->hidden;
  if (self->traits & QM_TRAIT_QK_NORM)
    sum += 2 * a->head_size;
  if (self->traits & QM_TRAIT_WIDE_QK_NORM)
    sum += query + key;
  if (self->traits & QM_TRAIT_SINKS)
    sum += a->heads;
  return sum;
}

static double
feed_forward (QmShape *self,
              double   width)
{
  const QmArchitecture *a = self->a;
  double into = a->gated ? 2 : 1;
  double sum = (into + 1) * a->hidden * width;

  if (self->traits & (QM_TRAIT_MLP_BIAS | QM_TRAIT_SINKS))
    sum += into * width + a->hidden;
  return sum;
}

/* router, shared experts and their gate: what every token passes */
static double
expert_frame (QmShape *self)
{
  const QmArchitecture *a = self->a;
  double sum = a->hidden * a->experts;

  if (a->shared_expert_ffn > 0)
    sum += feed_forward (self, a->shared_expert_ffn);
  if (self->traits & QM_TRAIT_SHARED_GATE)
    sum += a->hidden;
  if (self->traits & QM_TRAIT_SINKS)
    sum += a->experts;
  return sum;
}

static double
mixer_parameters (QmShape *self,
                  QmMixer  mixer)
{
  switch (mixer)
    {
    case QM_MIXER_FULL:
    case QM_MIXER_SLIDING:
      return attention (self);
    case QM_MIXER_LINEAR:
    case QM_MIXER_MAMBA:
      return qm_shape_recurrent_parameters (self, mixer);
    default:
      return 0;
    }
}

static double
layer_norms (QmShape *self,
             QmMixer  mixer,
             QmFfn    ffn)
{
  double norms = 2;

  if (mixer == QM_MIXER_NONE || ffn == QM_FFN_NONE || (self->traits & QM_TRAIT_PARALLEL) != 0)
    norms = 1;
  else if (self->traits & QM_TRAIT_FOUR_NORMS)
    norms = 4;
  return norms * qm_shape_norm (self, self->a->hidden);
}

static void
add_layer (QmShape *self,
           int      layer)
{
  QmArchitecture *a = self->a;
  QmMixer mixer = qm_shape_mixer (self, layer);
  QmFfn ffn = qm_shape_ffn (self, layer);
  double sum = mixer_parameters (self, mixer) + layer_norms (self, mixer, ffn);
  double expert;

  if (ffn == QM_FFN_DENSE)
    sum += feed_forward (self, self->dense_ffn);
  if (ffn == QM_FFN_EXPERTS)
    sum += expert_frame (self);
  a->parameters += sum;
  a->active_parameters += sum;
  if (ffn != QM_FFN_EXPERTS)
    return;
  expert = feed_forward (self, a->expert_ffn);
  a->parameters += a->experts * expert;
  a->active_parameters += a->experts_per_token * expert;
}

static double
position_parameters (QmShape *self)
{
  double extra = qm_shape_is_type (self, "opt") ? 2 : 0;

  if ((self->traits & QM_TRAIT_POSITIONS) == 0)
    return 0;
  return (self->a->max_positions + extra) * self->a->hidden;
}

static double
ends (QmShape *self)
{
  QmArchitecture *a = self->a;
  double width = qm_config_keys_count (&self->keys, "word_embed_proj_dim", a->hidden);
  double sum;

  a->embedding_parameters = a->vocabulary * width;
  sum = a->embedding_parameters * (a->tied ? 1 : 2) + position_parameters (self);
  if (width != a->hidden)
    sum += 2 * width * a->hidden;
  if (self->traits & QM_TRAIT_HEAD_BIAS)
    sum += a->vocabulary;
  if (self->traits & QM_TRAIT_EMBED_NORM)
    sum += qm_shape_norm (self, a->hidden);
  if (qm_config_keys_flag (&self->keys, "do_layer_norm_before", TRUE))
    sum += qm_shape_norm (self, a->hidden);
  return sum;
}

/**
 * qm_shape_count_decoder:
 * @self: a shape whose layers are known
 *
 * Fills in exact counts of a decoder, every tensor once: a tied head is not
 * counted again, next-token-prediction layers and router corrections that are
 * no parameters are left out. Active are those that one token meets.
 */
void
qm_shape_count_decoder (QmShape *self)
{
  QmArchitecture *a = self->a;
  double rest;

  for (int i = 0; i < (int) a->layers; i++)
    add_layer (self, i);
  rest = ends (self) + qm_shape_vision_tower (self);
  a->parameters += rest;
  a->active_parameters += rest;
}
