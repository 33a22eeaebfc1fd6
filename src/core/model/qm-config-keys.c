/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-config-keys.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-model-resolve.h"
#include "qm-error.h"

#define MAX_NAMES 8

typedef struct {
  const char *names[MAX_NAMES];     /* the first is the one messages use */
  double max;                       /* beyond it no model is believed */
} KeyAliases;

/* One meaning, every name that a family gives it. A dot leads into a nested object. */
static const KeyAliases aliases[] = {
  { { "hidden_size", "d_model", "n_embd", "n_embed", "dim" }, 1e7 },
  { { "num_hidden_layers", "n_layers", "n_layer", "num_layers" }, 1e4 },
  { { "num_attention_heads", "n_heads", "n_head", "num_heads", "encoder_attention_heads",
      "attention_heads", "decoder_attention_heads", "decoder_num_attention_heads" }, 1e5 },
  { { "num_key_value_heads", "num_kv_heads", "n_kv_heads", "multi_query_group_num", "attn_config.kv_n_heads",
      "n_head_kv" }, 1e5 },
  { { "head_dim", "kv_channels", "d_kv", "attention_head_size" }, 1e6 },
  { { "intermediate_size", "n_inner", "ffn_dim", "d_inner", "d_ff", "hidden_dim", "ffn_hidden_size",
      "ffn_config.ffn_hidden_size" }, 1e8 },
  { { "vocab_size", "padded_vocab_size" }, 1e9 },
  { { "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_sequence_length", "n_ctx" }, 1e12 },
  { { "num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts", "ffn_config.moe_num_experts" }, 1e5 },
  { { "num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_topk", "moe_k",
      "ffn_config.moe_top_k" }, 1e5 },
  { { "moe_intermediate_size", "expert_intermediate_size" }, 1e8 },
  { { "n_shared_experts", "num_shared_experts", "moe_num_shared_experts" }, 1e5 },
  { { "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size" }, 1e8 },
  { { "first_k_dense_replace", "num_dense_layers", "first_dense_layers", "moe_layer_start_index" }, 1e4 },
  { { "moe_step", "interleave_moe_layer_step", "decoder_sparse_step" }, 1e4 },
  { { "state_size", "ssm_state_size", "mamba_d_state" }, 1e6 },
  { { "conv_kernel", "mamba_d_conv", "conv_kernel_size", "linear_conv_kernel_dim" }, 1e3 },
  { { "expand", "mamba_expand" }, 1e3 },
  { { "time_step_rank", "mamba_dt_rank" }, 1e6 },
  { { "mamba_num_heads", "num_heads", "mamba_n_heads" }, 1e5 },
  { { "mamba_head_dim", "head_dim", "mamba_d_head" }, 1e6 },
  { { "n_groups", "mamba_n_groups" }, 1e5 },
  { { "decoder_layers", "num_decoder_layers" }, 1e4 },
  { { "num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "num_mtp_modules", "mtp_num_layers" }, 1e4 },
  { { "text_config", "llm_config", "language_config", "thinker_config.text_config", "decoder" }, 1 },
  { { "layer_types", "layers_block_type", "block_types" }, 1 },
};

static const KeyAliases *
find_aliases (const char *key)
{
  for (gsize i = 0; i < G_N_ELEMENTS (aliases); i++)
    if (g_str_equal (aliases[i].names[0], key))
      return &aliases[i];
  return NULL;
}

static JsonNode *
get_node (JsonObject *object,
          const char *path)
{
  const char *dot = strchr (path, '.');
  g_autofree char *first = NULL;
  JsonNode *node;

  if (dot == NULL)
    return json_object_get_member (object, path);
  first = g_strndup (path, dot - path);
  node = json_object_get_member (object, first);
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    return NULL;
  return get_node (json_node_get_object (node), dot + 1);
}

static JsonNode *
find_node_in (JsonObject    *object,
              const char    *key,
              const char   **name)
{
  const KeyAliases *entry = find_aliases (key);
  JsonNode *node = NULL;

  *name = key;
  if (entry == NULL)
    return get_node (object, key);
  for (int i = 0; i < MAX_NAMES && entry->names[i] != NULL; i++)
    {
      JsonNode *found = get_node (object, entry->names[i]);

      if (found == NULL || (node != NULL && JSON_NODE_HOLDS_NULL (found)))
        continue;
      *name = entry->names[i];
      node = found;
      if (!JSON_NODE_HOLDS_NULL (node))
        break;
    }
  return node;
}

/* Meta's own params.json leaves the vocabulary to the tokenizer, and says so with -1. */
static gboolean
is_left_to_tokenizer (JsonObject *object,
                      const char *key,
                      JsonNode   *node)
{
  return g_str_equal (key, "vocab_size") && json_object_has_member (object, "dim") &&
         !json_object_has_member (object, "model_type") && JSON_NODE_HOLDS_VALUE (node) &&
         json_node_get_value_type (node) == G_TYPE_INT64 && json_node_get_int (node) == -1;
}

static JsonNode *
find_node_in_file (QmConfigKeys  *self,
                   const char    *key,
                   const char   **name)
{
  JsonNode *node = find_node_in (self->object, key, name);

  return node == NULL || is_left_to_tokenizer (self->object, key, node) ? NULL : node;
}

/* A key that is null was left open on purpose: the library's default does not
 * take its place, what follows from the other sizes does. */
static JsonNode *
find_node (QmConfigKeys  *self,
           const char    *key,
           const char   **name)
{
  const char *other;
  JsonNode *node = find_node_in_file (self, key, name);

  if (node == NULL && self->defaults != NULL)
    {
      node = find_node_in (self->defaults, key, &other);
      *name = node != NULL ? other : *name;
    }
  return node == NULL || JSON_NODE_HOLDS_NULL (node) ? NULL : node;
}

static gboolean
is_number (JsonNode *node)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE;
}

/**
 * qm_config_keys_refuse:
 * @self: the reader
 * @key: (nullable): the key that is wrong; it fills the place `{key}`
 * @msgid: a sentence that names the key and what is wrong with it
 * @...: what fills the other places, as of qm_message_new_filled()
 *
 * Notes that the file describes no model. Only the first complaint is kept.
 */
void
qm_config_keys_refuse (QmConfigKeys *self,
                       const char   *key,
                       const char   *msgid,
                       ...)
{
  QmMessage *message;
  va_list arguments;

  if (self->error != NULL)
    return;

  va_start (arguments, msgid);
  message = qm_message_new_valist ("error", msgid, arguments);
  va_end (arguments);
  if (key != NULL)
    qm_message_add_text (message, "key", QM_ARGUMENT_NAME, key);
  qm_error_take (&self->error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE, key, message);
}

static void
refuse_kind (QmConfigKeys *self,
             const char   *name,
             JsonNode     *node)
{
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    {
      g_autofree char *text = g_utf8_substring (json_node_get_string (node), 0,
                                                MIN (40, g_utf8_strlen (json_node_get_string (node), -1)));

      qm_config_keys_refuse (self, name, N_("{key} is “{word}”, and should be a number"), "word", text, NULL);
      return;
    }
  qm_config_keys_refuse (self, name, N_("{key} should be a number"), NULL);
}

static double
read_count (QmConfigKeys *self,
            const char   *key,
            JsonNode     *node,
            const char   *name)
{
  const KeyAliases *entry = find_aliases (key);
  double max = entry != NULL ? entry->max : 1e9;
  double value;

  if (!is_number (node))
    {
      refuse_kind (self, name, node);
      return 0;
    }
  value = json_node_get_double (node);
  if (!isfinite (value) || value > max)
    qm_config_keys_refuse (self, name, N_("{key} is {value}, more than the {most} that any model has"), "#value", value,
                           "#most", max, NULL);
  else if (value < 0)
    qm_config_keys_refuse (self, name, N_("{key} is {value}, and cannot be negative"), "#value", value, NULL);
  else if (value != floor (value))
    qm_config_keys_refuse (self, name, N_("{key} is {value}, and should be a whole number"), "#value", value, NULL);
  return value;
}

/**
 * qm_config_keys_has:
 * @self: the reader
 * @key: the first of the key's names
 *
 * Returns: whether any of its names is there and not null
 */
gboolean
qm_config_keys_has (QmConfigKeys *self,
                    const char   *key)
{
  const char *name;

  return find_node (self, key, &name) != NULL;
}

/**
 * qm_config_keys_count:
 * @self: the reader
 * @key: the first of the key's names
 * @fallback: what the family takes where the key is absent or null
 *
 * Returns: a whole number from 0 to what can be believed
 */
double
qm_config_keys_count (QmConfigKeys *self,
                      const char   *key,
                      double        fallback)
{
  const char *name;
  JsonNode *node = find_node (self, key, &name);

  return node == NULL ? fallback : read_count (self, key, node, name);
}

/**
 * qm_config_keys_number:
 * @self: the reader
 * @key: the first of the key's names
 *
 * Returns: a number that need not be whole, or 0 and 1 for a yes or no where
 *   the key is no size; what is absent is refused
 */
double
qm_config_keys_number (QmConfigKeys *self,
                       const char   *key)
{
  const char *name;
  JsonNode *node = find_node (self, key, &name);
  double value;

  if (node == NULL)
    {
      qm_config_keys_refuse (self, name, N_("{key} is missing, and should be a number"), NULL);
      return 0;
    }
  if (find_aliases (key) != NULL)
    return read_count (self, key, node, name);
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN)
    return json_node_get_boolean (node);
  if (!is_number (node))
    {
      refuse_kind (self, name, node);
      return 0;
    }
  value = json_node_get_double (node);
  if (!isfinite (value) || fabs (value) > 1e9)
    qm_config_keys_refuse (self, name, N_("{key} is {value}, more than the {most} that any model has"), "#value", value,
                           "#most", 1e9, NULL);
  return value;
}

/**
 * qm_config_keys_assumed:
 * @self: the reader
 * @key: the first of the key's names
 *
 * Returns: whether the key is not in the file, and the library's default takes its place
 */
gboolean
qm_config_keys_assumed (QmConfigKeys *self,
                        const char   *key)
{
  const char *name;

  return find_node_in_file (self, key, &name) == NULL && find_node (self, key, &name) != NULL;
}

/**
 * qm_config_keys_need:
 * @self: the reader
 * @key: the first of the key's names
 *
 * Returns: a whole number, 1 or more; anything else is refused
 */
double
qm_config_keys_need (QmConfigKeys *self,
                     const char   *key)
{
  const char *name;
  JsonNode *node = find_node (self, key, &name);
  double value;

  if (node == NULL)
    {
      if (json_object_has_member (self->object, name))
        qm_config_keys_refuse (self, name, N_("{key} is null, and should be a number"), NULL);
      else
        qm_config_keys_refuse (self, name, N_("{key} is missing; a model needs hidden_size, num_hidden_layers and "
                                               "num_attention_heads, or the names its family has for them"), NULL);
      return 1;
    }
  value = read_count (self, key, node, name);
  if (value == 0)
    qm_config_keys_refuse (self, name, N_("{key} is 0, and should be 1 or more"), NULL);
  return MAX (1, value);
}

/**
 * qm_config_keys_flag:
 * @self: the reader
 * @key: the key
 * @fallback: what the family takes where the key is absent
 *
 * Returns: a yes or no, also from 1 or 0; anything else is refused
 */
gboolean
qm_config_keys_flag (QmConfigKeys *self,
                     const char   *key,
                     gboolean      fallback)
{
  const char *name;
  JsonNode *node = find_node (self, key, &name);

  if (node == NULL)
    return fallback;
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN)
    return json_node_get_boolean (node);
  if (is_number (node) && (json_node_get_double (node) == 0 || json_node_get_double (node) == 1))
    return json_node_get_double (node) == 1;
  qm_config_keys_refuse (self, name, N_("{key} should be true or false"), NULL);
  return fallback;
}

/**
 * qm_config_keys_word:
 * @self: the reader
 * @key: the key
 *
 * Returns: (nullable): a string, or %NULL where there is none
 */
const char *
qm_config_keys_word (QmConfigKeys *self,
                     const char   *key)
{
  const char *name;
  JsonNode *node = find_node (self, key, &name);

  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
    return NULL;
  return json_node_get_string (node);
}

/**
 * qm_config_keys_array:
 * @self: the reader
 * @key: the key
 *
 * Returns: (transfer none) (nullable): an array, or %NULL where there is none
 */
JsonArray *
qm_config_keys_array (QmConfigKeys *self,
                      const char   *key)
{
  const char *name;
  JsonNode *node = find_node (self, key, &name);

  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

/**
 * qm_config_keys_object:
 * @self: the reader
 * @key: the key
 *
 * Returns: (transfer none) (nullable): an object, or %NULL where there is none
 */
JsonObject *
qm_config_keys_object (QmConfigKeys *self,
                       const char   *key)
{
  const char *name;
  JsonNode *node = find_node (self, key, &name);

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}
