/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-tensor-shapes.h"

#include <math.h>
#include <string.h>

#define MAX_LAYERS 10000

/* The usual size of a head. How wide all of them are is read from the file; what
 * the cache takes does not depend on how many they are. */
#define USUAL_HEAD_SIZE 128
#define SMALL_HEAD_SIZE 64

static double
size_at (JsonArray *shape,
         guint      index)
{
  return index < json_array_get_length (shape) ? json_array_get_double_element (shape, index) : 0;
}

static void
see_layer (QmTensorShapes *self,
           const char     *name)
{
  const char *place = strstr (name, "layers.");
  guint64 layer;
  char *end;

  if (place == NULL || !g_ascii_isdigit (place[strlen ("layers.")]))
    return;
  layer = g_ascii_strtoull (place + strlen ("layers."), &end, 10);
  if (*end == '.' && layer < MAX_LAYERS)
    self->layers = MAX (self->layers, layer + 1);
}

/**
 * qm_tensor_shapes_add:
 * @self: what was seen so far
 * @name: of a tensor
 * @shape: its sizes, whole numbers
 *
 * Takes note of a tensor with the names that Llama's implementation has and
 * most decoders since then.
 */
void
qm_tensor_shapes_add (QmTensorShapes *self,
                      const char     *name,
                      JsonArray      *shape)
{
  if (json_array_get_length (shape) != 2)
    return;
  see_layer (self, name);
  self->has_experts |= strstr (name, ".experts.") != NULL;
  if (g_str_has_suffix (name, "embed_tokens.weight"))
    {
      self->vocabulary = size_at (shape, 0);
      self->hidden = size_at (shape, 1);
    }
  else if (g_str_equal (name, "lm_head.weight"))
    self->has_head = TRUE;
  else if (g_str_has_suffix (name, "self_attn.q_proj.weight"))
    self->query = size_at (shape, 0);
  else if (g_str_has_suffix (name, "self_attn.k_proj.weight"))
    self->key = size_at (shape, 0);
  else if (g_str_has_suffix (name, "mlp.up_proj.weight"))
    self->ffn = size_at (shape, 0);
}

/**
 * qm_tensor_shapes_to_config:
 * @self: what was seen of all tensors
 *
 * Returns: (transfer full) (nullable): what the config.json of such a decoder
 *   would hold, or %NULL where the tensors do not tell. Experts are not
 *   described: how many of them a token meets is in no tensor.
 */
JsonObject *
qm_tensor_shapes_to_config (const QmTensorShapes *self)
{
  double head = fmod (self->query, USUAL_HEAD_SIZE) == 0 && fmod (self->key, USUAL_HEAD_SIZE) == 0
                ? USUAL_HEAD_SIZE : SMALL_HEAD_SIZE;
  JsonObject *config;

  if (self->layers == 0 || self->hidden == 0 || self->vocabulary == 0 || self->ffn == 0 || self->has_experts ||
      self->query < head || self->key < head || fmod (self->query, head) != 0 || fmod (self->key, head) != 0)
    return NULL;
  config = json_object_new ();
  json_object_set_string_member (config, "model_type", "llama");
  json_object_set_double_member (config, "hidden_size", self->hidden);
  json_object_set_double_member (config, "num_hidden_layers", self->layers);
  json_object_set_double_member (config, "num_attention_heads", self->query / head);
  json_object_set_double_member (config, "num_key_value_heads", self->key / head);
  json_object_set_double_member (config, "head_dim", head);
  json_object_set_double_member (config, "intermediate_size", self->ffn);
  json_object_set_double_member (config, "vocab_size", self->vocabulary);
  json_object_set_boolean_member (config, "tie_word_embeddings", !self->has_head);
  return config;
}
