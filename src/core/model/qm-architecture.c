/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-shape.h"

#include <math.h>
#include <string.h>

#include "qm-model-resolve.h"

/* The largest model anybody has announced is a hundredth of this. */
#define MAX_PARAMETERS 1e15

/**
 * qm_shape_is_type:
 * @self: a shape
 * @type: `model_type`, without the suffix `_text`
 *
 * Returns: whether the shape is of that family
 */
gboolean
qm_shape_is_type (QmShape    *self,
                  const char *type)
{
  return self->family != NULL && g_str_equal (self->family->type, type);
}

/**
 * qm_shape_note:
 * @self: a shape
 * @text: what was assumed, a sentence without its full stop
 *
 * Keeps @text for those who want to know.
 */
void
qm_shape_note (QmShape    *self,
               const char *text)
{
  if (self->notes != NULL)
    g_ptr_array_add (self->notes, g_strdup (text));
}

static void
set_trait (QmShape *self,
           QmTraits trait,
           gboolean on)
{
  if (on)
    self->traits |= trait;
  else
    self->traits &= ~trait;
}

static gboolean
has_trait (QmShape *self,
           QmTraits trait)
{
  return (self->traits & trait) != 0;
}

/* A family nobody described: what its other keys give away. */
static void
guess_traits (QmShape *self)
{
  const char *activation = qm_config_keys_word (&self->keys, "hidden_act");
  gboolean root_mean_square = qm_config_keys_has (&self->keys, "rms_norm_eps");
  gboolean gated = activation != NULL ? g_str_equal (activation, "silu") : root_mean_square;

  set_trait (self, QM_TRAIT_GATED, gated);
  set_trait (self, QM_TRAIT_LAYER_NORM, !root_mean_square && !gated);
  qm_shape_note (self, "The family is not known: counted as a plain transformer, good to about 15 %");
}

static void
read_biases (QmShape *self)
{
  QmConfigKeys *keys = &self->keys;
  gboolean out = has_trait (self, QM_TRAIT_OUT_BIAS);
  gboolean glm = qm_shape_is_type (self, "glm") || qm_shape_is_type (self, "glm4");

  if (qm_config_keys_has (keys, "attention_bias"))
    {
      gboolean bias = qm_config_keys_flag (keys, "attention_bias", FALSE);

      set_trait (self, QM_TRAIT_QKV_BIAS, bias);
      set_trait (self, QM_TRAIT_OUT_BIAS, bias && !glm);
    }
  else if (out)
    set_trait (self, QM_TRAIT_OUT_BIAS, TRUE);
  if (qm_config_keys_flag (keys, "add_qkv_bias", FALSE) || qm_config_keys_flag (keys, "use_qkv_bias", FALSE))
    set_trait (self, QM_TRAIT_QKV_BIAS, TRUE);
  set_trait (self, QM_TRAIT_MLP_BIAS,
             qm_config_keys_flag (keys, "mlp_bias", has_trait (self, QM_TRAIT_MLP_BIAS)));
  if (qm_shape_is_type (self, "falcon") && qm_config_keys_flag (keys, "bias", FALSE))
    set_trait (self, QM_TRAITS_BIAS, TRUE);
  if (qm_shape_is_type (self, "starcoder2") && !qm_config_keys_flag (keys, "use_bias", TRUE))
    set_trait (self, QM_TRAITS_BIAS, FALSE);
  if (qm_shape_is_type (self, "mpt") && qm_config_keys_flag (keys, "no_bias", TRUE))
    set_trait (self, QM_TRAITS_BIAS | QM_TRAIT_LAYER_NORM, FALSE);
}

static void
read_traits (QmShape *self)
{
  QmConfigKeys *keys = &self->keys;
  const char *feed_forward = qm_config_keys_word (keys, "feed_forward_proj");

  if (self->family != NULL)
    self->traits = self->family->traits;
  else
    guess_traits (self);
  read_biases (self);
  if (qm_shape_is_type (self, "falcon"))
    set_trait (self, QM_TRAIT_PARALLEL,
               qm_config_keys_flag (keys, "parallel_attn", TRUE) &&
               qm_config_keys_count (keys, "num_ln_in_parallel_attn",
                                     qm_config_keys_flag (keys, "new_decoder_architecture", FALSE) ? 2 : 1) < 2);
  if (feed_forward != NULL)
    set_trait (self, QM_TRAIT_GATED, g_str_has_prefix (feed_forward, "gated"));
  if (qm_config_keys_flag (keys, "learned_pos_emb", FALSE) && !qm_config_keys_flag (keys, "attn_config.alibi", FALSE))
    set_trait (self, QM_TRAIT_POSITIONS, TRUE);
  if (qm_shape_is_type (self, "cohere") && qm_config_keys_flag (keys, "use_qk_norm", FALSE))
    set_trait (self, QM_TRAIT_WIDE_QK_NORM, TRUE);
  self->a->gated = has_trait (self, QM_TRAIT_GATED);
  self->a->parallel_block = has_trait (self, QM_TRAIT_PARALLEL);
  self->a->qk_norm = has_trait (self, QM_TRAIT_QK_NORM | QM_TRAIT_WIDE_QK_NORM);
  self->a->tied = qm_config_keys_flag (keys, "tie_word_embeddings",
                                       qm_config_keys_flag (&self->outer, "tie_word_embeddings",
                                                            has_trait (self, QM_TRAIT_TIED)));
}

/* What Meta's params.json says instead of the FFN width. */
static double
width_from_multiple (QmShape *self)
{
  double width = floor (2 * 4 * self->a->hidden / 3);
  double multiple = MAX (1, qm_config_keys_count (&self->keys, "multiple_of", 256));

  width = floor (qm_config_keys_ratio (&self->keys, "ffn_dim_multiplier", 1) * width);
  return multiple * ceil (width / multiple);
}

static double
default_ffn (QmShape *self)
{
  if (qm_shape_is_type (self, "llama"))
    return width_from_multiple (self);
  return floor (self->a->hidden * qm_config_keys_ratio (&self->keys, "expansion_ratio", 4));
}

static void
read_widths (QmShape *self)
{
  QmArchitecture *a = self->a;
  QmConfigKeys *keys = &self->keys;
  gboolean has_ffn = qm_config_keys_has (keys, "intermediate_size");

  a->ffn = has_ffn ? qm_config_keys_count (keys, "intermediate_size", 0)
                   : qm_config_keys_count (keys, "encoder_ffn_dim", default_ffn (self));
  if (has_ffn && qm_shape_is_type (self, "qwen"))
    a->ffn = floor (a->ffn / 2);
  self->dense_ffn = qm_config_keys_count (keys, "intermediate_size_mlp", a->ffn);
  if (a->ffn == 0)
    qm_config_keys_refuse (keys, "intermediate_size is 0, and should be 1 or more");
  if (self->family != NULL && (self->family->body == QM_BODY_VISION))
    return;
  a->vocabulary = qm_config_keys_count (keys, "vocab_size", 0);
  if (qm_config_keys_has (keys, "vocab_size"))
    {
      if (a->vocabulary == 0)
        qm_config_keys_refuse (keys, "vocab_size is 0, and should be 1 or more");
      return;
    }
  a->vocabulary = self->family != NULL && self->family->vocabulary > 0 ? self->family->vocabulary : 50304;
  qm_shape_note (self, "vocab_size is missing: the family's usual vocabulary was taken");
}

static double
default_kv_heads (QmShape *self)
{
  gboolean multi_query = has_trait (self, QM_TRAIT_MULTI_QUERY) &&
                         qm_config_keys_flag (&self->keys, "multi_query", TRUE) &&
                         !qm_config_keys_flag (&self->keys, "new_decoder_architecture", FALSE);

  return multi_query ? 1 : self->a->heads;
}

static double
default_head_size (QmShape *self)
{
  QmArchitecture *a = self->a;

  if (self->family != NULL && g_str_has_prefix (self->family->type, "qwen3"))
    return 128;
  if (self->family != NULL && g_str_has_prefix (self->family->type, "gemma"))
    return 256;
  if (g_str_has_suffix (a->type, "t5"))
    return 64;
  if (fmod (a->hidden, a->heads) != 0 && a->kv_lora_rank == 0)
    qm_config_keys_refuse (&self->keys, "hidden_size is %g, and should be a multiple of the %g attention heads",
                           a->hidden, a->heads);
  return floor (a->hidden / a->heads);
}

static void
read_heads (QmShape *self)
{
  QmArchitecture *a = self->a;
  QmConfigKeys *keys = &self->keys;

  a->kv_lora_rank = qm_config_keys_count (keys, "kv_lora_rank", 0);
  if (qm_shape_is_type (self, "mamba") || qm_shape_is_type (self, "mamba2"))
    return;
  a->heads = qm_config_keys_need (keys, "num_attention_heads");
  a->kv_heads = qm_config_keys_count (keys, "num_key_value_heads", default_kv_heads (self));
  if (has_trait (self, QM_TRAIT_MULTI_QUERY) && default_kv_heads (self) == 1)
    a->kv_heads = 1;
  if (a->kv_heads == 0)
    qm_config_keys_refuse (keys, "num_key_value_heads is 0, and should be 1 or more");
  if (a->kv_heads > a->heads)
    qm_config_keys_refuse (keys, "num_key_value_heads is %g, more than the %g attention heads", a->kv_heads, a->heads);
  a->head_size = qm_config_keys_has (keys, "head_dim") ? qm_config_keys_need (keys, "head_dim")
                                                       : default_head_size (self);
  if (a->kv_lora_rank == 0)
    return;
  a->q_lora_rank = qm_config_keys_count (keys, "q_lora_rank", 0);
  a->qk_nope_head_size = qm_config_keys_count (keys, "qk_nope_head_dim", 128);
  a->qk_rope_head_size = qm_config_keys_count (keys, "qk_rope_head_dim", 64);
  a->v_head_size = qm_config_keys_count (keys, "v_head_dim", 128);
}

static void
read_experts (QmShape *self)
{
  QmArchitecture *a = self->a;
  QmConfigKeys *keys = &self->keys;

  a->experts = MAX (1, qm_config_keys_count (keys, "num_experts", 1));
  a->experts_per_token = 1;
  if (a->experts < 2)
    return;
  a->experts_per_token = MAX (1, qm_config_keys_count (keys, "num_experts_per_tok",
                                                       qm_shape_is_type (self, "mixtral") ? 2 : 1));
  if (a->experts_per_token > a->experts)
    qm_config_keys_refuse (keys, "num_experts_per_tok is %g, more than the %g experts",
                           a->experts_per_token, a->experts);
  a->expert_ffn = qm_config_keys_count (keys, "moe_intermediate_size", a->ffn);
  a->dense_layers_first = qm_config_keys_count (keys, "first_k_dense_replace", 0);
  a->shared_experts = qm_config_keys_count (keys, "n_shared_experts", has_trait (self, QM_TRAIT_SHARED_FFN) ? 1 : 0);
  a->shared_expert_ffn = qm_config_keys_count (keys, "shared_expert_intermediate_size",
                                               a->shared_experts * a->expert_ffn);
  if (a->shared_expert_ffn > 0 && a->shared_experts == 0)
    a->shared_experts = 1;
}

/* Nobody's count depends on it unless positions are learned, and files hold
 * nonsense like 1e30 here. */
static double
read_positions (QmShape *self)
{
  QmConfigKeys keys = { .object = self->keys.object };
  double positions = qm_config_keys_count (&keys, "max_position_embeddings", 0);

  if (keys.error != NULL)
    positions = 0;
  g_clear_error (&keys.error);
  if (positions == 0 && has_trait (self, QM_TRAIT_POSITIONS))
    return qm_shape_is_type (self, "opt") || qm_shape_is_type (self, "gpt_neo") ? 2048 : 1024;
  return positions;
}

static void
read_sizes (QmShape *self)
{
  QmArchitecture *a = self->a;
  double encoder = qm_config_keys_count (&self->keys, "encoder_layers", 0);

  a->hidden = qm_config_keys_need (&self->keys, "hidden_size");
  a->layers = encoder > 0 ? encoder : qm_config_keys_need (&self->keys, "num_hidden_layers");
  read_traits (self);
  read_widths (self);
  read_heads (self);
  read_experts (self);
  a->max_positions = read_positions (self);
  if (self->keys.error == NULL)
    qm_shape_count_layers (self);
}

static void
count (QmShape *self)
{
  switch (self->family != NULL ? self->family->body : QM_BODY_DECODER)
    {
    case QM_BODY_ENCODER:
      qm_shape_count_encoder (self);
      break;
    case QM_BODY_ENCODER_DECODER:
      qm_shape_count_encoder_decoder (self);
      break;
    case QM_BODY_VISION:
      qm_shape_count_vision (self);
      break;
    case QM_BODY_TWO_TOWERS:
      qm_shape_count_two_towers (self);
      break;
    case QM_BODY_RESIDUAL:
      qm_shape_count_residual (self);
      break;
    case QM_BODY_UNET:
      qm_shape_count_unet (self);
      break;
    case QM_BODY_DECODER:
      qm_shape_count_decoder (self);
      break;
    }
  if (self->a->parameters > MAX_PARAMETERS)
    qm_config_keys_refuse (&self->keys, "the sizes make %g parameters, more than any model has", self->a->parameters);
}

static JsonObject *
find_text_config (QmConfigKeys *outer)
{
  static const char * const names[] = { "text_config", "llm_config", "language_config" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      JsonObject *object = qm_config_keys_object (outer, names[i]);

      if (object != NULL)
        return object;
    }
  return outer->object;
}

/* A nested part may leave out all that equals the defaults of its family;
 * LLaVA's does. */
static JsonObject *
fill_llama_defaults (JsonObject *text)
{
  static const struct { const char *key; int value; } defaults[] = {
    { "hidden_size", 4096 }, { "num_hidden_layers", 32 }, { "num_attention_heads", 32 },
    { "intermediate_size", 11008 }, { "vocab_size", 32000 },
  };
  JsonObject *filled = json_object_new ();
  g_autoptr (GList) members = json_object_get_members (text);

  for (gsize i = 0; i < G_N_ELEMENTS (defaults); i++)
    json_object_set_int_member (filled, defaults[i].key, defaults[i].value);
  for (GList *member = members; member != NULL; member = member->next)
    json_object_set_member (filled, member->data, json_object_dup_member (text, member->data));
  return filled;
}

static const char *
read_type (QmShape *self)
{
  const char *type = qm_config_keys_word (&self->keys, "model_type");

  if (type == NULL)
    type = qm_config_keys_word (&self->outer, "model_type");
  if (type == NULL)
    type = qm_config_keys_word (&self->outer, "_class_name");
  if (type == NULL && qm_config_keys_has (&self->keys, "dim") && qm_config_keys_has (&self->keys, "multiple_of"))
    type = "llama";
  if (g_strcmp0 (type, "clip_text_model") == 0)
    type = "clip";
  return type;
}

static gboolean
is_transformer (QmShape *self)
{
  return self->family == NULL || (self->family->body != QM_BODY_RESIDUAL && self->family->body != QM_BODY_UNET);
}

static gboolean
read_object (QmShape  *self,
             GError  **error)
{
  const char *type = read_type (self);

  memset (self->a, 0, sizeof *self->a);
  g_strlcpy (self->a->type, type != NULL ? type : "", sizeof self->a->type);
  self->a->known = TRUE;
  self->family = qm_architecture_family_find (type);
  if (is_transformer (self))
    read_sizes (self);
  if (self->keys.error == NULL)
    count (self);
  if (self->keys.error == NULL && self->outer.error != NULL)
    self->keys.error = g_steal_pointer (&self->outer.error);
  g_clear_error (&self->outer.error);
  if (self->keys.error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&self->keys.error));
  return FALSE;
}

/* Like qm_architecture_from_config(), and tells what was assumed. */
gboolean
qm_architecture_read (JsonObject      *config,
                      QmArchitecture  *architecture,
                      GPtrArray       *notes,
                      GError         **error)
{
  QmShape shape = { .outer = { .object = config }, .a = architecture, .notes = notes };
  JsonObject *text = find_text_config (&shape.outer);
  g_autoptr (JsonObject) filled = NULL;

  shape.keys.object = text;
  if (text != config && g_strcmp0 (qm_config_keys_word (&shape.keys, "model_type"), "llama") == 0 &&
      !qm_config_keys_has (&shape.keys, "num_hidden_layers"))
    shape.keys.object = filled = fill_llama_defaults (text);
  return read_object (&shape, error);
}

/**
 * qm_architecture_from_config:
 * @config: the content of a config.json, of any naming family
 * @architecture: (out caller-allocates): where to put the shapes and counts
 * @error: return location for an error
 *
 * Reads the sizes of a transformer-like model. What the file leaves out is
 * taken as its family takes it. A size that no model can have is
 * %QM_MODEL_ERROR_VALUE, and the message names the key.
 *
 * Returns: whether the sizes make a model
 */
gboolean
qm_architecture_from_config (JsonObject      *config,
                             QmArchitecture  *architecture,
                             GError         **error)
{
  return qm_architecture_read (config, architecture, NULL, error);
}

/**
 * qm_architecture_guess:
 * @parameters: how many parameters the model has, positive
 * @architecture: (out caller-allocates): where to put the shapes
 *
 * The shape law of GPT-like models: N = 12·L·h², with h near 128·L.
 */
void
qm_architecture_guess (double          parameters,
                       QmArchitecture *architecture)
{
  double layers = MAX (2, rint (cbrt (parameters / (12 * 128.0 * 128.0))));
  double hidden = 128 * MAX (1, rint (sqrt (parameters / 12 / layers) / 128));
  double heads = MAX (1, floor (hidden / 128));

  *architecture = (QmArchitecture) {
    .known = FALSE,
    .layers = layers, .hidden = hidden, .heads = heads, .kv_heads = heads, .head_size = floor (hidden / heads),
    .ffn = 4 * hidden, .vocabulary = 50304, .tied = TRUE, .experts = 1, .experts_per_token = 1,
    .full_attention_layers = layers,
    .parameters = parameters, .active_parameters = parameters, .embedding_parameters = 50304 * hidden,
  };
}

static double
elements_per_layer (const QmArchitecture *self)
{
  if (self->kv_lora_rank > 0)
    return self->kv_lora_rank + self->qk_rope_head_size;
  return 2 * self->kv_heads * self->head_size;
}

/**
 * qm_architecture_kv_bytes:
 * @self: an architecture
 * @context: tokens of one sequence
 * @bytes_per_element: of the cache, 2 for 16 bit
 *
 * Layers with a window keep no more than it; latent attention keeps the latent
 * alone (DeepSeek-V2, 2024).
 *
 * Returns: bytes of the key-value cache of one sequence
 */
double
qm_architecture_kv_bytes (const QmArchitecture *self,
                          double                context,
                          double                bytes_per_element)
{
  double within = self->window > 0 ? MIN (context, self->window) : context;

  return elements_per_layer (self) * bytes_per_element *
         (self->full_attention_layers * context + self->sliding_layers * within);
}

/**
 * qm_architecture_kv_bytes_per_token:
 * @self: an architecture
 * @bytes_per_element: of the cache, 2 for 16 bit
 *
 * Returns: bytes that one more token takes while it is inside every window
 */
double
qm_architecture_kv_bytes_per_token (const QmArchitecture *self,
                                    double                bytes_per_element)
{
  return qm_architecture_kv_bytes (self, 1, bytes_per_element);
}
