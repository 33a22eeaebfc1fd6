/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-private.h"

#include <glib/gi18n.h>
#include <stdio.h>
#include <string.h>

#include "qm-gguf-reader.h"
#include "qm-error.h"

#define MAX_PARTS 1000

/* As many missing files as a sentence can name. */
#define MAX_NAMED 4

/* GGUF's names of families that a config.json calls differently. */
static const char * const families[][2] = {
  { "qwen2moe", "qwen2_moe" }, { "qwen2vl", "qwen2" }, { "qwen3moe", "qwen3_moe" }, { "qwen3next", "qwen3_next" },
  { "qwen35", "qwen3_5_text" }, { "qwen35moe", "qwen3_5_moe_text" }, { "qwen3vl", "qwen3_vl_text" },
  { "qwen3vlmoe", "qwen3_vl_moe_text" }, { "phi2", "phi" }, { "gptneox", "gpt_neox" }, { "deepseek2", "deepseek_v2" },
  { "starcoder", "gpt_bigcode" }, { "command-r", "cohere" }, { "gpt-oss", "gpt_oss" },
  { "nemotron_h_moe", "nemotron_h" }, { "nomic-bert", "nomic_bert" }, { "gemma3", "gemma3_text" },
  { "gemma3n", "gemma3n_text" }, { "gemma4", "gemma4_text" }, { "llama4", "llama4_text" }, { "glm4moe", "glm4_moe" },
  { "ernie4_5-moe", "ernie4_5_moe" }, { "hunyuan-moe", "hunyuan_v1_moe" }, { "hunyuan-dense", "hunyuan_v1_dense" },
  { "bailingmoe", "bailing_moe" }, { "bailingmoe2", "bailing_moe_v2" }, { "granitemoe", "granitemoe" },
  { "granitehybrid", "granitemoehybrid" }, { "falcon-h1", "falcon_h1" }, { "minimax-m2", "minimax_m2" },
  { "lfm2moe", "lfm2_moe" }, { "kimi-linear", "kimi_linear" }, { "mistral3", "ministral3" }, { "grok", "grok-1" },
  { "jina-bert-v2", "bert" }, { "exaone", "exaone" }, { "internlm2", "internlm2" }, { "t5encoder", "t5" },
};

/* What most of the tensors are, by `general.file_type`; llama_ftype of llama.cpp. */
static const char * const file_types[] = {
  [1] = "gguf-f16", [2] = "gguf-q4_0", [3] = "gguf-q4_1", [7] = "gguf-q8_0", [8] = "gguf-q5_0", [9] = "gguf-q5_1",
  [10] = "gguf-q2_k", [11] = "gguf-q3_k_s", [12] = "gguf-q3_k_m", [13] = "gguf-q3_k_l", [14] = "gguf-q4_k_s",
  [15] = "gguf-q4_k_m", [16] = "gguf-q5_k_s", [17] = "gguf-q5_k_m", [18] = "gguf-q6_k", [19] = "gguf-iq2_xxs",
  [20] = "gguf-iq2_xs", [21] = "gguf-q2_k_s", [22] = "gguf-iq3_xs", [23] = "gguf-iq3_xxs", [24] = "gguf-iq1_s",
  [25] = "gguf-iq4_nl", [26] = "gguf-iq3_s", [27] = "gguf-iq3_m", [28] = "gguf-iq2_s", [29] = "gguf-iq2_m",
  [30] = "gguf-iq4_xs", [31] = "gguf-iq1_m",
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

static char *
part_name (const char *path,
           int         part,
           int         count)
{
  int stem = strlen (path) - strlen ("-00001-of-00001.gguf");

  return g_strdup_printf ("%.*s-%05d-of-%05d.gguf", MAX (0, stem), path, part, count);
}

static gboolean
add_part (QmGguf      *gguf,
          const char  *path,
          int          place,
          int          count,
          GError     **error)
{
  g_auto (QmGguf) part = { 0 };
  g_autofree char *name = g_path_get_basename (path);
  gboolean good = qm_gguf_read_after (&part, gguf, path, error);

  if (good && (json_object_get_double_member_with_default (part.metadata, "split.no", place) != place ||
               json_object_get_double_member_with_default (part.metadata, "split.count", count) != count))
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE, "split.no",
                    N_("the file is not what its name says: by its header it is another part of a model"), NULL);
      good = FALSE;
    }
  if (!good && error != NULL && qm_error_get_file (*error) == NULL)
    qm_error_locate (*error, name, 0);
  if (!good)
    return FALSE;
  gguf->parameters += part.parameters;
  gguf->bytes += part.bytes;
  gguf->tensors += part.tensors;
  gguf->repeated += part.repeated;
  gguf->has_output |= part.has_output;
  gguf->cut_short |= part.cut_short;
  gguf->doubtful |= part.doubtful;
  return TRUE;
}

static gboolean
refuse_missing (const char  *path,
                int          count,
                GError     **error)
{
  g_autoptr (GString) names = g_string_new (NULL);
  int missing = 0;

  for (int i = 1; i <= count; i++)
    {
      g_autofree char *part = part_name (path, i, count);
      g_autofree char *base = g_path_get_basename (part);

      if (g_file_test (part, G_FILE_TEST_IS_REGULAR) || ++missing > MAX_NAMED)
        continue;
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", base);
    }
  if (missing == 0)
    return FALSE;
  if (missing > MAX_NAMED)
    g_string_append (names, ", …");
  qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_FILE, NULL,
                N_("the model is in {count} files, and missing are: {names}"), "#count", (double) count,
                "names", names->str, NULL);
  return TRUE;
}

/* A model in several files names them NAME-00001-of-00004.gguf, counted from 1,
 * and numbers them inside from 0; only the first tells of the model, and each
 * only of its own tensors. */
static gboolean
add_parts (QmGguf      *gguf,
           const char  *path,
           GError     **error)
{
  double count = json_object_get_double_member_with_default (gguf->metadata, "split.count", 1);
  double place = json_object_get_double_member_with_default (gguf->metadata, "split.no", 0);
  g_autofree char *own = NULL;

  if (count <= 1)
    return TRUE;
  own = part_name (path, CLAMP (place, 0, MAX_PARTS) + 1, MIN (count, MAX_PARTS));
  if (count > MAX_PARTS || !g_str_equal (own, path))
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                    N_("this is one of {count} files of a model, and not named like one"), "#count", count, NULL);
      return FALSE;
    }
  if (refuse_missing (path, count, error))
    return FALSE;
  if (place != 0)
    {
      g_autofree char *first = part_name (path, 1, count);

      qm_gguf_clear (gguf);
      if (!qm_gguf_read (gguf, first, error))
        return FALSE;
    }
  for (int i = 2; i <= (int) count; i++)
    {
      g_autofree char *part = part_name (path, i, count);

      if (!add_part (gguf, part, i - 1, count, error))
        return FALSE;
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

static const char *
stored_format (const QmGguf *gguf)
{
  JsonNode *node = json_object_get_member (gguf->metadata, "general.file_type");
  double type = node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) : 0;

  return type >= 0 && type < G_N_ELEMENTS (file_types) ? file_types[(int) type] : NULL;
}

/* Experts that one token does not meet: their share is the same in the file as
 * in the shapes. */
static void
set_counts (QmModel      *self,
            const QmGguf *gguf)
{
  double idle = qm_model_idle_parameters (self);

  self->parameters = gguf->parameters > 0 ? gguf->parameters : self->architecture.parameters;
  self->active_parameters = self->parameters > idle ? self->parameters - idle : self->parameters;
  self->stored_bytes = gguf->bytes;
  self->stored_format = stored_format (gguf);
}

/* The tensors are known all the same. */
static void
guess_shapes (QmModel      *self,
              const QmGguf *gguf)
{
  qm_architecture_guess (MAX (1, gguf->parameters), &self->architecture);
  qm_model_note (self, qm_message_new ("model-shapes-unknown",
                                       N_("The header does not tell the sizes of the layers: they are guessed from the "
                                          "parameter count, and the cache is not known")));
}

/* Of a model in parts, how many tensors all of them should hold. */
static void
check_tensors (QmModel      *self,
               const QmGguf *gguf)
{
  double all = json_object_get_double_member_with_default (gguf->metadata, "split.tensors.count", 0);

  if (all > 0 && all != gguf->tensors)
    qm_model_note (self, qm_message_new_filled ("model-tensors-missing",
                                                N_("The files hold {tensors} tensors, and should hold {all}"),
                                                "#tensors", gguf->tensors, "#all", all, NULL));
}

static void
check_bytes (QmModel      *self,
             const QmGguf *gguf)
{
  if (gguf->repeated > 0)
    qm_model_note (self, qm_message_new_filled ("model-tensors-repeated",
                                                N_("The files hold {count} tensors more than once: each is counted once"),
                                                "#count", gguf->repeated, NULL));
  if (gguf->cut_short)
    qm_model_note (self, qm_message_new ("model-cut-short",
                                         N_("The file is shorter than its header says: the download may not have ended")));
  if (gguf->doubtful)
    qm_model_note (self, qm_message_new ("model-tensors-doubtful",
                                         N_("The list of tensors in the file does not fit together: the counts may be wrong")));
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
 * qm_model_from_gguf_header:
 * @gguf: what the headers of all its files say
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): the model; its parameters are the
 *   elements of its tensors
 */
QmModel *
qm_model_from_gguf_header (const QmGguf  *gguf,
                           GError       **error)
{
  g_autoptr (QmModel) self = NULL;
  g_autoptr (JsonObject) config = NULL;
  g_autoptr (GError) reason = NULL;
  const char *name = word (gguf->metadata, "general.architecture");
  const char *title = word (gguf->metadata, "general.name");

  if (refuse_parts (name, error))
    return NULL;
  if (g_strcmp0 (word (gguf->metadata, "general.type"), "adapter") == 0)
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                    N_("this is a LoRA adapter; give the GGUF file of the model that it was made for"), NULL);
      return NULL;
    }
  config = make_config (gguf, name);
  self = qm_model_new ();
  if (!qm_model_read_config (self, config, &reason))
    guess_shapes (self, gguf);
  if (gguf->parameters <= 0 && reason != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return NULL;
    }
  set_counts (self, gguf);
  check_tensors (self, gguf);
  check_bytes (self, gguf);
  if (title != NULL)
    qm_model_set_name (self, title);
  self->read_by = QM_READER_GGUF;
  return g_steal_pointer (&self);
}

/**
 * qm_model_from_gguf:
 * @path: a GGUF file; of several, any
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): the model
 */
QmModel *
qm_model_from_gguf (const char  *path,
                    GError     **error)
{
  g_auto (QmGguf) gguf = { 0 };

  if (!qm_gguf_read (&gguf, path, error) || !add_parts (&gguf, path, error))
    return NULL;
  return qm_model_from_gguf_header (&gguf, error);
}
