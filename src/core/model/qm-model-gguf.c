/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-private.h"

#include <glib/gi18n.h>
#include <stdio.h>
#include <string.h>

#include "qm-gguf-reader.h"
#include "qm-error.h"

#define MAX_SHARDS 1000

/* GGUF's names of families that a config.json calls differently. */
static const char * const families[][2] = {
  { "qwen2moe", "qwen2_moe" }, { "qwen2vl", "qwen2" }, { "qwen3moe", "qwen3_moe" }, { "qwen3next", "qwen3_next" },
  { "qwen35", "qwen3_5" }, { "qwen35moe", "qwen3_5_moe" }, { "phi2", "phi" }, { "gptneox", "gpt_neox" },
  { "deepseek2", "deepseek_v2" }, { "starcoder", "gpt_bigcode" }, { "command-r", "cohere" }, { "gpt-oss", "gpt_oss" },
  { "nemotron_h_moe", "nemotron_h" }, { "nomic-bert", "bert" },
};

/* Keys after the family's name, and what a config.json calls them. */
static const char * const keys[][2] = {
  { "embedding_length", "hidden_size" },
  { "block_count", "num_hidden_layers" },
  { "attention.head_count", "num_attention_heads" },
  { "attention.head_count_kv", "num_key_value_heads" },
  { "attention.key_length", "head_dim" },
  { "feed_forward_length", "intermediate_size" },
  { "vocab_size", "vocab_size" },
  { "context_length", "max_position_embeddings" },
  { "attention.sliding_window", "sliding_window" },
  { "expert_count", "num_experts" },
  { "expert_used_count", "num_experts_per_tok" },
  { "expert_feed_forward_length", "moe_intermediate_size" },
  { "expert_shared_count", "n_shared_experts" },
  { "expert_shared_feed_forward_length", "shared_expert_intermediate_size" },
  { "leading_dense_block_count", "first_k_dense_replace" },
  { "attention.kv_lora_rank", "kv_lora_rank" },
  { "attention.q_lora_rank", "q_lora_rank" },
  { "rope.dimension_count", "qk_rope_head_dim" },
  { "full_attention_interval", "full_attention_interval" },
  { "ssm.conv_kernel", "conv_kernel" },
  { "ssm.state_size", "state_size" },
  { "ssm.group_count", "n_groups" },
  { "ssm.time_step_rank", "time_step_rank" },
};

static const char *
family_name (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (families); i++)
    if (g_str_equal (families[i][0], name))
      return families[i][1];
  return name;
}

static double
largest (JsonArray *array)
{
  double most = 0;

  for (guint i = 0; i < json_array_get_length (array); i++)
    most = MAX (most, json_array_get_double_element (array, i));
  return most;
}

/* A list holds a number a layer: the largest stands for the model, since
 * layers that keep nothing say 0. */
static void
copy_key (JsonObject *metadata,
          const char *name,
          const char *key,
          JsonObject *config,
          const char *config_key)
{
  g_autofree char *full = g_strconcat (name, ".", key, NULL);
  JsonNode *node = json_object_get_member (metadata, full);

  if (node == NULL)
    return;
  if (JSON_NODE_HOLDS_ARRAY (node))
    json_object_set_double_member (config, config_key, largest (json_node_get_array (node)));
  else if (json_node_get_value_type (node) == G_TYPE_DOUBLE)
    json_object_set_double_member (config, config_key, json_node_get_double (node));
}

static double
number (JsonObject *metadata,
        const char *name,
        const char *key)
{
  g_autofree char *full = g_strconcat (name, ".", key, NULL);
  JsonNode *node = json_object_get_member (metadata, full);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_DOUBLE
         ? json_node_get_double (node) : 0;
}

static gboolean
is_delta (const char *name)
{
  return g_str_has_prefix (name, "qwen3");
}

/* Which layers keep a past: those with key-value heads. */
static void
copy_layer_types (JsonObject *metadata,
                  const char *name,
                  JsonObject *config)
{
  g_autofree char *key = g_strconcat (name, ".attention.head_count_kv", NULL);
  JsonNode *node = json_object_get_member (metadata, key);
  JsonArray *heads = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  const char *recurrent = is_delta (name) ? "linear_attention" : "mamba";
  JsonArray *types;
  gboolean hybrid = FALSE;

  for (guint i = 0; heads != NULL && i < json_array_get_length (heads); i++)
    hybrid |= json_array_get_double_element (heads, i) == 0;
  if (!hybrid || largest (heads) == 0)
    return;
  types = json_array_new ();
  for (guint i = 0; i < json_array_get_length (heads); i++)
    json_array_add_string_element (types, json_array_get_double_element (heads, i) > 0 ? "full_attention" : recurrent);
  json_object_set_array_member (config, "layer_types", types);
}

/* The sizes of a gated delta rule go under the names of a state-space model. */
static void
copy_delta_sizes (JsonObject *metadata,
                  const char *name,
                  JsonObject *config)
{
  double heads = number (metadata, name, "ssm.time_step_rank");
  double inner = number (metadata, name, "ssm.inner_size");

  if (!is_delta (name) || heads <= 0 || inner <= 0)
    return;
  json_object_set_double_member (config, "linear_key_head_dim", number (metadata, name, "ssm.state_size"));
  json_object_set_double_member (config, "linear_num_key_heads", number (metadata, name, "ssm.group_count"));
  json_object_set_double_member (config, "linear_num_value_heads", heads);
  json_object_set_double_member (config, "linear_value_head_dim", inner / heads);
}

/* Latent attention: newer files write the sizes of a head beside those of the latent. */
static void
copy_latent_sizes (JsonObject *metadata,
                   const char *name,
                   JsonObject *config)
{
  double key = number (metadata, name, "attention.key_length_mla");
  double value = number (metadata, name, "attention.value_length_mla");
  double rope = number (metadata, name, "rope.dimension_count");

  if (number (metadata, name, "attention.kv_lora_rank") <= 0)
    {
      json_object_remove_member (config, "kv_lora_rank");
      return;
    }
  key = key > 0 ? key : number (metadata, name, "attention.key_length");
  value = value > 0 ? value : number (metadata, name, "attention.value_length");
  if (key > rope)
    json_object_set_double_member (config, "qk_nope_head_dim", key - rope);
  if (value > 0)
    json_object_set_double_member (config, "v_head_dim", value);
}

static JsonObject *
make_config (const QmGguf *gguf,
             const char   *name)
{
  JsonObject *config = json_object_new ();
  double words = json_object_get_double_member_with_default (gguf->metadata, "tokenizer.ggml.tokens#", 0);

  json_object_set_string_member (config, "model_type", family_name (name));
  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    copy_key (gguf->metadata, name, keys[i][0], config, keys[i][1]);
  if (!json_object_has_member (config, "vocab_size") && words > 0)
    json_object_set_double_member (config, "vocab_size", words);
  if (json_object_get_double_member_with_default (config, "sliding_window", 0) <= 0)
    json_object_remove_member (config, "sliding_window");
  copy_layer_types (gguf->metadata, name, config);
  copy_latent_sizes (gguf->metadata, name, config);
  copy_delta_sizes (gguf->metadata, name, config);
  json_object_set_boolean_member (config, "tie_word_embeddings", !gguf->has_output);
  return config;
}

/* A model in several files names them NAME-00001-of-00004.gguf; only the first
 * tells of the model, and each only of its own tensors. */
static gboolean
add_shards (QmGguf      *gguf,
            const char  *path,
            GError     **error)
{
  double count = json_object_get_double_member_with_default (gguf->metadata, "split.count", 1);
  double place = json_object_get_double_member_with_default (gguf->metadata, "split.no", 0);
  gsize length = strlen (path), tail = strlen ("-00001-of-00001.gguf");

  if (count <= 1)
    return TRUE;
  if (count > MAX_SHARDS || length <= tail || place != 0)
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                    N_("this is part {part} of a model in {count} files; give the first of them"),
                    "#part", place + 1, "#count", count, NULL);
      return FALSE;
    }
  for (int i = 2; i <= (int) count; i++)
    {
      g_autofree char *other = g_strdup_printf ("%.*s-%05d-of-%05d.gguf", (int) (length - tail), path, i, (int) count);
      g_auto (QmGguf) part = { 0 };

      if (!g_file_test (other, G_FILE_TEST_IS_REGULAR))
        {
          g_autofree char *base = g_path_get_basename (other);

          qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_FILE, NULL,
                        N_("the model is in {count} files, and {name} is missing"), "#count", count, "name", base, NULL);
          return FALSE;
        }
      if (!qm_gguf_read (&part, other, error))
        return FALSE;
      gguf->parameters += part.parameters;
      gguf->bytes += part.bytes;
      gguf->has_output |= part.has_output;
    }
  return TRUE;
}

static const char *
word (JsonObject *metadata,
      const char *key)
{
  JsonNode *node = json_object_get_member (metadata, key);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
         ? json_node_get_string (node) : NULL;
}

/* Experts that one token does not meet: their share is the same in the file as
 * in the shapes. */
static void
set_counts (QmModel      *self,
            const QmGguf *gguf)
{
  double idle = qm_model_expert_parameters (self);

  self->parameters = gguf->parameters > 0 ? gguf->parameters : self->architecture.parameters;
  self->active_parameters = self->parameters > idle ? self->parameters - idle : self->parameters;
  self->stored_bytes = gguf->bytes;
}

static gboolean
refuse_parts (const char  *name,
              GError     **error)
{
  if (g_strcmp0 (name, "clip") == 0 || g_strcmp0 (name, "mmproj") == 0)
    qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                  N_("this is the image part of a model; give the GGUF file of the language model"), NULL);
  else if (name == NULL)
    qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE, "general.architecture",
                  N_("general.architecture is missing from the GGUF file"), NULL);
  else
    return FALSE;
  return TRUE;
}

/**
 * qm_model_from_gguf:
 * @path: a GGUF file, of several the first
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): the model; its parameters are the
 *   elements of its tensors
 */
QmModel *
qm_model_from_gguf (const char  *path,
                    GError     **error)
{
  g_auto (QmGguf) gguf = { 0 };
  g_autoptr (QmModel) self = NULL;
  g_autoptr (JsonObject) config = NULL;
  const char *name, *title;

  if (!qm_gguf_read (&gguf, path, error) || !add_shards (&gguf, path, error))
    return NULL;
  name = word (gguf.metadata, "general.architecture");
  if (refuse_parts (name, error))
    return NULL;
  if (g_strcmp0 (word (gguf.metadata, "general.type"), "adapter") == 0)
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                    N_("this is a LoRA adapter; give the GGUF file of the model that it was made for"), NULL);
      return NULL;
    }
  config = make_config (&gguf, name);
  self = qm_model_new ();
  if (!qm_model_read_config (self, config, error))
    return NULL;
  set_counts (self, &gguf);
  title = word (gguf.metadata, "general.name");
  if (title != NULL)
    qm_model_set_name (self, title);
  self->read_by = QM_READER_GGUF;
  return g_steal_pointer (&self);
}
