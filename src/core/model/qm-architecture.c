/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-formula.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-model-resolve.h"

/* The largest model anybody has announced is a hundredth of this. */
#define MAX_PARAMETERS 1e15

/* What one formula after the other may take together. */
#define MAX_STEPS 500000

/* A family that nobody described is counted as a plain transformer, one of several parts as their sum. */
#define UNKNOWN_FAMILY "unknown"
#define UNKNOWN_PARTS "unknown-parts"

/**
 * qm_shape_note:
 * @self: a shape
 * @code: of the message
 * @key: (nullable): the key that it is about
 * @msgid: what was assumed, a sentence without its full stop
 *
 * Keeps it, once, for those who want to know.
 */
void
qm_shape_note (QmShape    *self,
               const char *code,
               const char *key,
               const char *msgid)
{
  QmMessage *note;

  for (guint i = 0; self->notes != NULL && i < self->notes->len; i++)
    if (g_str_equal (qm_message_get_code (g_ptr_array_index (self->notes, i)), code) && key == NULL)
      return;
  if (self->notes == NULL)
    return;
  note = qm_message_new (code, msgid);
  if (key != NULL)
    qm_message_add_text (note, "key", QM_ARGUMENT_NAME, key);
  g_ptr_array_add (self->notes, note);
}

static const char *
first_class (QmConfigKeys *keys)
{
  JsonArray *names = qm_config_keys_array (keys, "architectures");
  JsonNode *first = names != NULL && json_array_get_length (names) > 0 ? json_array_get_element (names, 0) : NULL;

  if (first == NULL || !JSON_NODE_HOLDS_VALUE (first) || json_node_get_value_type (first) != G_TYPE_STRING)
    return "";
  return json_node_get_string (first);
}

/* The files that some models come with beside or instead of a config.json. */
static const char *
type_by_keys (QmConfigKeys *keys)
{
  JsonArray *attention = qm_config_keys_array (keys, "attn_layer_idx");

  if (json_object_has_member (keys->object, "ssm_cfg") && (attention == NULL || json_array_get_length (attention) == 0))
    return g_strcmp0 (qm_config_keys_word (keys, "ssm_cfg.layer"), "Mamba2") == 0 ? "mamba2-ssm" : "mamba-ssm";
  if (!json_object_has_member (keys->object, "dim"))
    return NULL;
  return json_object_has_member (keys->object, "n_heads") && json_object_has_member (keys->object, "n_layers")
         ? "llama-params" : NULL;
}

/**
 * qm_shape_doubt:
 * @self: a shape
 *
 * Marks it, and all that it is a part of, as a guess.
 */
void
qm_shape_doubt (QmShape *self)
{
  for (QmShape *shape = self; shape != NULL; shape = shape->outer)
    shape->approximate = TRUE;
}

static void
set_family (QmShape    *self,
            const char *type)
{
  self->family = qm_family_table_find (self->table, type, NULL);
  if (self->family == NULL)
    {
      gboolean parts = qm_config_keys_has (&self->keys, "text_config");

      qm_shape_doubt (self);
      self->family = qm_family_table_find (self->table, type, parts ? UNKNOWN_PARTS : UNKNOWN_FAMILY);
      if (parts || qm_config_keys_has (&self->keys, "vocab_size"))
        qm_shape_note (self, "model-family-unknown", NULL,
                       N_("The family is not known: counted as a plain transformer, good to about 15 %"));
      else
        qm_shape_note (self, "model-family-unknown", NULL,
                       N_("The family is not known, and no vocabulary is named: only its layers were counted, and the model "
                          "may have several times as many parameters"));
    }
  self->keys.defaults = qm_architecture_family_defaults (self->family);
}

static const char *
read_type (QmShape *self)
{
  const char *type = qm_config_keys_word (&self->keys, "model_type");

  if (type == NULL)
    type = qm_config_keys_word (&self->keys, "_class_name");
  return type != NULL ? type : type_by_keys (&self->keys);
}

/* Parts of some models bear the name of the whole. */
static gboolean
is_part (QmShape    *self,
         const char *type)
{
  QmArchitectureFamily *family = type != NULL ? qm_family_table_find (self->table, type, NULL) : NULL;

  return family != NULL && qm_architecture_family_word (family, "text") == NULL;
}

/**
 * qm_shape_open:
 * @self: (out caller-allocates): zeros
 * @outer: the shape of the whole
 * @key: where in @outer its config.json lies
 * @fallback: (nullable): its family, where it does not say or says what nobody knows
 *
 * A whole that has no part for the language model describes it itself; of any
 * other part that is not there, what its family usually has is taken.
 */
void
qm_shape_open (QmShape    *self,
               QmShape    *outer,
               const char *key,
               const char *fallback)
{
  JsonObject *object = qm_config_keys_object (&outer->keys, key);
  const char *type;

  *self = (QmShape) { .outer = outer, .table = outer->table, .steps = outer->steps, .notes = outer->notes, .class_name = "Model" };
  if (object == NULL && g_str_equal (key, "text_config"))
    object = outer->keys.object;
  if (object == NULL)
    qm_shape_note (outer, "model-part-assumed", NULL,
                   N_("A part of the model is not described in the file: what the family usually has was taken"));
  if (object == NULL)
    object = self->nothing = json_object_new ();
  self->keys.object = object;
  type = object != outer->keys.object ? qm_config_keys_word (&self->keys, "model_type") : NULL;
  if (fallback != NULL && fallback[0] != '\0' && !is_part (self, type))
    type = fallback;
  set_family (self, type);
}

/**
 * qm_shape_close:
 * @self: a shape that was opened
 */
void
qm_shape_close (QmShape *self)
{
  g_clear_pointer (&self->nothing, json_object_unref);
  g_clear_error (&self->keys.error);
}

/* Sizes that a file should name itself; the library's are most likely not this model's. */
static void
note_assumptions (QmShape *self)
{
  static const char * const keys[] = { "hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size" };

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    if (qm_config_keys_assumed (&self->keys, keys[i]))
      qm_shape_note (self, "model-key-assumed", keys[i], N_("{key} is missing: what the family usually has was taken"));
}

/* Layers for tokens further ahead lie in some files, and few programs load them. */
static void
note_layers_ahead (QmShape *self)
{
  QmConfigKeys keys = { .object = self->keys.object };
  double count = qm_config_keys_count (&keys, "num_nextn_predict_layers", 0);

  if (keys.error == NULL && count > 0 && self->notes != NULL)
    g_ptr_array_add (self->notes, qm_message_new_filled ("model-layers-ahead",
                     N_("Not counted are the layers that predict tokens further ahead (MTP): {count}"),
                     "#count", count, NULL));
  g_clear_error (&keys.error);
}

static double
need_positive (QmShape    *self,
               const char *name,
               const char *key)
{
  double value = qm_shape_value (self, name, 0);

  if (value <= 0)
    qm_config_keys_refuse (&self->keys, key, N_("{key} is {value}, and should be 1 or more"), "#value", value, NULL);
  return value;
}

/* A size that the file itself names as 0 leaves out what every such model has. */
static void
refuse_zero (QmShape    *self,
             const char *key)
{
  if (qm_config_keys_has (&self->keys, key) && !qm_config_keys_assumed (&self->keys, key) &&
      qm_config_keys_array (&self->keys, key) == NULL && qm_config_keys_count (&self->keys, key, 1) == 0)
    qm_config_keys_refuse (&self->keys, key, N_("{key} is {value}, and should be 1 or more"), "#value", 0.0, NULL);
}

static void
read_heads (QmShape        *self,
            QmArchitecture *a)
{
  QmConfigKeys *keys = &self->keys;

  qm_config_keys_need (keys, "num_attention_heads");
  a->heads = need_positive (self, "heads", "num_attention_heads");
  a->kv_heads = need_positive (self, "kv", "num_key_value_heads");
  if (a->kv_heads > a->heads)
    qm_config_keys_refuse (keys, "num_key_value_heads", N_("{key} is {value}, more than the {heads} attention heads"),
                           "#value", a->kv_heads, "#heads", a->heads, NULL);
  a->head_size = need_positive (self, "d", "head_dim");
  if (a->head_size != floor (a->head_size))
    qm_config_keys_refuse (keys, "hidden_size", N_("{key} is {value}, and should be a multiple of the {heads} attention heads"),
                           "#value", a->hidden, "#heads", a->heads, NULL);
  a->kv_lora_rank = qm_shape_value (self, "latent", 0);
  if (a->kv_lora_rank == 0)
    return;
  a->q_lora_rank = qm_shape_value (self, "latent_q", 0);
  a->qk_nope_head_size = qm_shape_value (self, "nope", 0);
  a->qk_rope_head_size = qm_shape_value (self, "rope", 0);
  a->v_head_size = qm_shape_value (self, "value_size", 0);
}

static void
read_experts (QmShape        *self,
              QmArchitecture *a)
{
  a->experts = MAX (1, qm_shape_value (self, "E", 1));
  a->experts_per_token = 1;
  a->moe_layers = 0;
  if (a->experts < 2)
    return;
  a->experts_per_token = MAX (1, qm_shape_value (self, "k", 1));
  if (a->experts_per_token > a->experts)
    qm_config_keys_refuse (&self->keys, "num_experts_per_tok", N_("{key} is {value}, more than the {experts} experts"),
                           "#value", a->experts_per_token, "#experts", a->experts, NULL);
  a->moe_layers = self->ffns[QM_FFN_EXPERTS];
  a->dense_layers_first = qm_shape_value (self, "dense_first", 0);
  a->expert_ffn = qm_shape_value (self, "fe", a->ffn);
  a->shared_expert_ffn = qm_shape_value (self, "fs", 0);
  a->shared_experts = a->shared_expert_ffn > 0 ? qm_shape_value (self, "shared_count", 1) : 0;
}

/* Nobody's count depends on it unless positions are learned, and files hold
 * nonsense like 1e30 here. What the library takes is no model's own. */
static double
read_positions (QmShape *self)
{
  QmConfigKeys keys = { .object = self->keys.object };
  double positions = qm_config_keys_count (&keys, "max_position_embeddings", 0);

  if (keys.error != NULL)
    positions = 0;
  g_clear_error (&keys.error);
  return positions;
}

static void
read_layers (QmShape        *self,
             QmArchitecture *a)
{
  qm_shape_count_layers (self);
  a->full_attention_layers = self->mixers[QM_MIXER_FULL];
  a->sliding_layers = self->mixers[QM_MIXER_SLIDING];
  a->recurrent_layers = self->mixers[QM_MIXER_LINEAR] + self->mixers[QM_MIXER_MAMBA];
  a->full_cache_elements = qm_shape_value (self, "cache_full", 0);
  a->sliding_cache_elements = qm_shape_value (self, "cache_sliding", 0);
  a->window = a->sliding_layers > 0 || a->sliding_cache_elements > 0 ? qm_shape_value (self, "window", 0) : 0;
  a->cross_cache_elements = qm_shape_value (self, "cache_cross", 0);
  a->encoder_tokens = qm_shape_value (self, "encoder_tokens", 0);
  a->state_size = 2 * qm_shape_value (self, "state", 0);
  if (a->window > 0 || a->sliding_layers == 0)
    return;
  a->full_attention_layers += a->sliding_layers;
  a->full_cache_elements += a->sliding_cache_elements;
  a->sliding_layers = a->sliding_cache_elements = 0;
}

/* The stack of layers that the language model, or the one network there is, consists of. */
static void
read_stack (QmShape        *self,
            QmArchitecture *a)
{
  a->hidden = qm_config_keys_need (&self->keys, "hidden_size");
  if (!qm_shape_defines (self, "stack"))
    qm_config_keys_need (&self->keys, "num_hidden_layers");
  note_assumptions (self);
  note_layers_ahead (self);
  a->layers = qm_shape_layers (self);
  a->vocabulary = qm_shape_value (self, "V", 0);
  a->ffn = qm_shape_value (self, "f", 0);
  a->gated = qm_shape_value (self, "gated", 0) != 0;
  a->tied = qm_shape_value (self, "tie", 0) != 0;
  a->parallel_block = qm_shape_value (self, "parallel", 0) != 0;
  a->qk_norm = qm_shape_value (self, "qk_norm", 0) != 0;
  a->max_positions = read_positions (self);
  if (qm_shape_defines (self, "V") && qm_shape_defines (self, "heads"))
    refuse_zero (self, "vocab_size");
  if (qm_shape_defines (self, "heads"))
    read_heads (self, a);
  if (self->keys.error != NULL)
    return;
  read_layers (self, a);
  if (self->ffns[QM_FFN_DENSE] > 0 && qm_shape_defines (self, "f"))
    refuse_zero (self, "intermediate_size");
  read_experts (self, a);
  a->encoder_layers = qm_shape_value (self, "encoder_layers_count", 0);
  a->decoder_layers = qm_shape_value (self, "decoder_layers_count", 0);
  if (a->encoder_layers > 0 && a->decoder_layers > 0)
    a->layers = a->encoder_layers + a->decoder_layers;
  if (qm_shape_value (self, "keeps_past", 1) == 0)
    a->full_attention_layers = a->sliding_layers = a->full_cache_elements = a->sliding_cache_elements = 0;
}

static void
count_stack (QmShape        *self,
             QmArchitecture *a)
{
  a->embedding_parameters = qm_shape_evaluate (self, "embedding").total;
  a->head_parameters = qm_shape_evaluate (self, "head").total;
  if (a->experts > 1)
    {
      QmAmount experts = qm_shape_evaluate (self, "experts");

      a->expert_parameters = experts.total;
      a->expert_linear_parameters = experts.linear;
    }
  a->linear_parameters = qm_shape_evaluate (self, "model").linear - qm_shape_evaluate (self, "head").linear;
}

static void
count_whole (QmShape        *self,
             QmArchitecture *a)
{
  double sum = qm_shape_evaluate (self, "model").total;

  if (sum > MAX_PARAMETERS)
    qm_config_keys_refuse (&self->keys, NULL, N_("the sizes make {value} parameters, more than any model has"), "#value", sum, NULL);
  else if (!(sum >= 1 && sum == floor (sum)))
    qm_config_keys_refuse (&self->keys, NULL, N_("the sizes make {value} parameters, which is no whole number of weights"), "#value", sum, NULL);
  a->parameters = sum;
  a->active_parameters = sum - a->expert_parameters * (1 - a->experts_per_token / MAX (1, a->experts));
}

static void
read_part (QmShape        *root,
           QmArchitecture *a)
{
  QmShape text = { 0 };

  if (!qm_shape_defines (root, "text"))
    {
      if (qm_shape_defines (root, "state") || qm_shape_defines (root, "heads"))
        read_stack (root, a);
      if (root->keys.error == NULL)
        count_stack (root, a);
      return;
    }
  qm_shape_open (&text, root, "text_config", qm_architecture_family_word (root->family, "text"));
  text.class_name = "ForCausalLM";
  read_stack (&text, a);
  if (text.keys.error == NULL)
    count_stack (&text, a);
  if (text.keys.error != NULL)
    root->keys.error = g_steal_pointer (&text.keys.error);
  qm_shape_close (&text);
}

/**
 * qm_architecture_read:
 * @config: the content of a config.json, of any naming family
 * @architecture: (out caller-allocates): where to put the shapes and counts
 * @notes: (nullable) (element-type QmMessage): what was assumed is added to it
 * @error: return location for an error
 *
 * Like qm_architecture_from_config(), and tells what was assumed.
 *
 * Returns: whether the sizes make a model
 */
gboolean
qm_architecture_read (JsonObject      *config,
                      QmArchitecture  *architecture,
                      GPtrArray       *notes,
                      GError         **error)
{
  int steps = MAX_STEPS;
  g_autoptr (QmFamilyTable) table = qm_family_table_new ();
  QmShape root = { .keys.object = config, .table = table, .notes = notes, .steps = &steps };
  const char *type = read_type (&root);
  gboolean good;

  *architecture = (QmArchitecture) { .known = TRUE, .experts = 1, .experts_per_token = 1 };
  g_strlcpy (architecture->type, type != NULL ? type : "", sizeof architecture->type);
  root.class_name = first_class (&root.keys);
  set_family (&root, type);
  read_part (&root, architecture);
  if (root.keys.error == NULL)
    count_whole (&root, architecture);
  architecture->approximate = root.approximate;
  good = root.keys.error == NULL;
  if (!good)
    g_propagate_error (error, g_steal_pointer (&root.keys.error));
  qm_shape_close (&root);
  return good;
}

/**
 * qm_architecture_from_config:
 * @config: the content of a config.json, of any naming family
 * @architecture: (out caller-allocates): where to put the shapes and counts
 * @error: return location for an error
 *
 * Reads the sizes of a model. What the file leaves out is taken as its family
 * takes it. A size that no model can have is %QM_MODEL_ERROR_VALUE, and the
 * message names the key.
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
    .full_attention_layers = layers, .full_cache_elements = 2 * layers * hidden,
    .parameters = parameters, .active_parameters = parameters, .embedding_parameters = 50304 * hidden,
  };
}

/* Of the experts, how many a token meets: two of few and large ones (Mixtral,
 * Grok-1), eight of many and small ones (DeepSeek-V3, Qwen3). */
static double
usual_experts_per_token (double share)
{
  return share > 1.0 / 8 ? 2 : 8;
}

/**
 * qm_architecture_mix:
 * @self: (inout): shapes
 * @parameters: how many the model has
 * @active_parameters: how many of them one token meets
 *
 * Makes a mixture of experts of shapes that tell no experts, where the counts
 * alone say that it is one. Shapes that are guessed become those of a dense
 * model as large as what a token meets, as in published mixtures; all that a
 * token does not meet is experts, and attention and embedding are met by all.
 */
void
qm_architecture_mix (QmArchitecture *self,
                     double          parameters,
                     double          active_parameters)
{
  double idle = parameters - active_parameters;
  double tables = self->embedding_parameters * (self->tied ? 1 : 2);
  double others, share, used;

  if (self->experts > 1 || !(active_parameters > 0) || !(idle > 0) || (self->known && idle <= tables))
    return;

  if (!self->known)
    {
      char type[sizeof self->type];

      g_strlcpy (type, self->type, sizeof type);
      qm_architecture_guess (active_parameters, self);
      g_strlcpy (self->type, type, sizeof type);
      self->gated = TRUE;
      tables = self->embedding_parameters;
    }
  others = tables + 2 * self->layers * self->hidden * self->head_size * (self->heads + self->kv_heads);
  others = MIN (others, active_parameters / 2);
  share = (active_parameters - others) / (parameters - others);
  used = usual_experts_per_token (share);

  self->experts_guessed = self->approximate = TRUE;
  self->experts_per_token = used;
  self->experts = MAX (used + 1, rint (used / share));
  self->expert_parameters = self->expert_linear_parameters = parameters - others;
  self->moe_layers = self->layers;
  self->expert_ffn = MAX (1, rint (self->expert_parameters / (3 * self->hidden * self->experts * MAX (1, self->layers))));
  self->parameters = parameters;
  self->active_parameters = active_parameters;
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

  return bytes_per_element * (self->full_cache_elements * context + self->sliding_cache_elements * within);
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

/**
 * qm_architecture_can_share_heads:
 * @self: an architecture
 * @ways: devices that share each of its layers
 *
 * Engines give every device whole heads. Heads of keys and values may be fewer
 * than devices, and are repeated then.
 *
 * Returns: whether each device gets as many
 */
gboolean
qm_architecture_can_share_heads (const QmArchitecture *self,
                                 int                   ways)
{
  double few = MIN (self->kv_heads, ways), many = MAX (self->kv_heads, ways);

  if (ways < 2 || !(self->heads > 0))
    return TRUE;
  if (fmod (self->heads, ways) != 0)
    return FALSE;

  return self->kv_lora_rank > 0 || !(self->kv_heads > 0) || fmod (many, few) == 0;
}
