/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-shape.h"

#include <math.h>
#include <string.h>

static QmMixer
mixer_from_word (const char *word)
{
  if (word == NULL)
    return QM_MIXER_FULL;
  if (strstr (word, "sliding") != NULL || strstr (word, "chunked") != NULL)
    return QM_MIXER_SLIDING;
  if (strstr (word, "linear") != NULL || g_str_equal (word, "conv"))
    return QM_MIXER_LINEAR;
  if (strstr (word, "mamba") != NULL || strstr (word, "recurrent") != NULL)
    return QM_MIXER_MAMBA;
  if (g_str_equal (word, "moe") || g_str_equal (word, "mlp"))
    return QM_MIXER_NONE;
  return QM_MIXER_FULL;
}

static const char *
string_element (JsonArray *array,
                int        index)
{
  JsonNode *node;

  if (array == NULL || index >= (int) json_array_get_length (array))
    return NULL;
  node = json_array_get_element (array, index);
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
    return NULL;
  return json_node_get_string (node);
}

/* One letter a layer: M Mamba, E experts, * attention, - feed-forward. */
static char
pattern_letter (QmShape *self,
                int      layer)
{
  const char *pattern = qm_config_keys_word (&self->keys, "hybrid_override_pattern");

  return pattern != NULL && layer < (int) strlen (pattern) ? pattern[layer] : '\0';
}

static QmMixer
mixer_from_letter (char letter)
{
  switch (letter)
    {
    case 'M':
      return QM_MIXER_MAMBA;
    case '*':
      return QM_MIXER_FULL;
    default:
      return QM_MIXER_NONE;
    }
}

static gboolean
window_holds_for_all (QmShape *self,
                      int      layer)
{
  if (!qm_config_keys_has (&self->keys, "sliding_window"))
    return FALSE;
  if (qm_config_keys_flag (&self->keys, "use_sliding_window", FALSE))
    return layer >= qm_config_keys_count (&self->keys, "max_window_layers", 0);
  return (self->traits & QM_TRAIT_SLIDING) != 0 && qm_config_keys_flag (&self->keys, "use_sliding_window", TRUE);
}

static QmMixer
mixer_from_period (QmShape *self,
                   int      layer)
{
  int period = self->family != NULL ? self->family->sliding_period : 0;

  if (period < 0)
    return layer % 2 == 0 ? QM_MIXER_SLIDING : QM_MIXER_FULL;
  if (period > 0)
    {
      period = MAX (1, (int) qm_config_keys_count (&self->keys, "sliding_window_pattern", period));
      return (layer + 1) % period != 0 ? QM_MIXER_SLIDING : QM_MIXER_FULL;
    }
  return window_holds_for_all (self, layer) ? QM_MIXER_SLIDING : QM_MIXER_FULL;
}

/**
 * qm_shape_mixer:
 * @self: a shape
 * @layer: from 0
 *
 * Which past a layer keeps: from the list of layers where the config.json has
 * one, else by the period that it or its family names.
 *
 * Returns: the kind of the layer's first half
 */
QmMixer
qm_shape_mixer (QmShape *self,
                int      layer)
{
  JsonArray *types = qm_config_keys_array (&self->keys, "layer_types");
  double period;

  if (types == NULL)
    types = qm_config_keys_array (&self->keys, "layers_block_type");
  if (types != NULL)
    return mixer_from_word (string_element (types, layer));
  if (qm_config_keys_has (&self->keys, "hybrid_override_pattern"))
    return mixer_from_letter (pattern_letter (self, layer));
  if (qm_shape_is_type (self, "mamba") || qm_shape_is_type (self, "mamba2"))
    return QM_MIXER_MAMBA;
  period = qm_config_keys_count (&self->keys, "attn_layer_period", 0);
  if (period > 0)
    return fmod (layer, period) == qm_config_keys_count (&self->keys, "attn_layer_offset", 0)
           ? QM_MIXER_FULL : QM_MIXER_MAMBA;
  period = qm_config_keys_count (&self->keys, "full_attention_interval", 0);
  if (period > 0)
    return fmod (layer + 1, period) == 0 ? QM_MIXER_FULL : QM_MIXER_LINEAR;
  return mixer_from_period (self, layer);
}

static gboolean
array_holds (JsonArray *array,
             int        value)
{
  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    {
      JsonNode *node = json_array_get_element (array, i);

      if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_int (node) == value)
        return TRUE;
    }
  return FALSE;
}

static gboolean
has_experts (QmShape *self,
             int      layer)
{
  QmConfigKeys *keys = &self->keys;
  double period = qm_config_keys_count (keys, "expert_layer_period", 0);

  if (layer < self->a->dense_layers_first || array_holds (qm_config_keys_array (keys, "mlp_only_layers"), layer))
    return FALSE;
  if (period > 0)
    return fmod (layer, period) == qm_config_keys_count (keys, "expert_layer_offset", 0);
  period = qm_config_keys_count (keys, "moe_step", 1);
  if (period > 1)
    return fmod (layer + 1, period) == 0;
  period = qm_config_keys_array (keys, "moe_layer_freq") == NULL ? qm_config_keys_count (keys, "moe_layer_freq", 1) : 1;
  return period <= 1 || fmod (layer, period) == 0;
}

/**
 * qm_shape_ffn:
 * @self: a shape
 * @layer: from 0
 *
 * Returns: the kind of the layer's second half
 */
QmFfn
qm_shape_ffn (QmShape *self,
              int      layer)
{
  if (qm_config_keys_has (&self->keys, "hybrid_override_pattern"))
    switch (pattern_letter (self, layer))
      {
      case 'E':
        return QM_FFN_EXPERTS;
      case '-':
        return QM_FFN_DENSE;
      default:
        return QM_FFN_NONE;
      }
  if (qm_shape_is_type (self, "mamba") || qm_shape_is_type (self, "mamba2"))
    return QM_FFN_NONE;
  return self->a->experts > 1 && has_experts (self, layer) ? QM_FFN_EXPERTS : QM_FFN_DENSE;
}

static double
mamba_inner (QmShape *self)
{
  double heads = qm_config_keys_count (&self->keys, "mamba_num_heads", 0);
  double inner = qm_config_keys_count (&self->keys, "expand", 2) * self->a->hidden;

  if (heads > 0 && !qm_shape_is_type (self, "mamba") && !qm_shape_is_type (self, "jamba"))
    return heads * qm_config_keys_count (&self->keys, "mamba_head_dim", 64);
  return inner;
}

static gboolean
is_mamba_1 (QmShape *self)
{
  return qm_shape_is_type (self, "mamba") || qm_shape_is_type (self, "jamba");
}

/* channels of the short convolution */
static double
convolution_width (QmShape *self,
                   QmMixer  mixer)
{
  QmConfigKeys *keys = &self->keys;

  if (mixer == QM_MIXER_LINEAR)
    return 2 * qm_config_keys_count (keys, "linear_num_key_heads", 16) *
           qm_config_keys_count (keys, "linear_key_head_dim", 128) +
           qm_config_keys_count (keys, "linear_num_value_heads", 32) *
           qm_config_keys_count (keys, "linear_value_head_dim", 128);
  if (is_mamba_1 (self))
    return self->inner;
  return self->inner + 2 * qm_config_keys_count (keys, "n_groups", 8) * qm_config_keys_count (keys, "state_size", 128);
}

/**
 * qm_shape_state_elements:
 * @self: a shape
 * @mixer: %QM_MIXER_LINEAR or %QM_MIXER_MAMBA
 *
 * What one recurrent layer keeps of a sequence, whatever its length: the last
 * inputs of the short convolution and the state proper.
 *
 * Returns: elements
 */
double
qm_shape_state_elements (QmShape *self,
                         QmMixer  mixer)
{
  QmConfigKeys *keys = &self->keys;
  double convolution = (qm_config_keys_count (keys, "conv_kernel", 4) - 1) * convolution_width (self, mixer);

  if (mixer == QM_MIXER_LINEAR)
    return convolution + qm_config_keys_count (keys, "linear_num_value_heads", 32) *
           qm_config_keys_count (keys, "linear_key_head_dim", 128) *
           qm_config_keys_count (keys, "linear_value_head_dim", 128);
  return convolution + self->inner * qm_config_keys_count (keys, "state_size", is_mamba_1 (self) ? 16 : 128);
}

static double
mamba_1_parameters (QmShape *self)
{
  QmConfigKeys *keys = &self->keys;
  double h = self->a->hidden, i = self->inner;
  double state = qm_config_keys_count (keys, "state_size", 16);
  double rank = qm_config_keys_count (keys, "time_step_rank", ceil (h / 16));
  double kernel = qm_config_keys_count (keys, "conv_kernel", 4);
  double norms = qm_shape_is_type (self, "jamba") ? rank + 2 * state : 0;

  return 2 * h * i + i * kernel + i + i * (rank + 2 * state) + rank * i + i + i * state + i + i * h + norms;
}

static double
mamba_2_parameters (QmShape *self)
{
  QmConfigKeys *keys = &self->keys;
  double h = self->a->hidden, i = self->inner;
  double heads = qm_config_keys_count (keys, "mamba_num_heads", 128);
  double kernel = qm_config_keys_count (keys, "conv_kernel", 4);
  double width = convolution_width (self, QM_MIXER_MAMBA);

  return h * (i + width + heads) + width * (kernel + 1) + 3 * heads + i + i * h;
}

/* Gated delta rule: queries, keys and values, gate, decay and step, a short
 * convolution, a norm a head and the projection back. */
static double
delta_parameters (QmShape *self)
{
  QmConfigKeys *keys = &self->keys;
  double h = self->a->hidden;
  double heads = qm_config_keys_count (keys, "linear_num_value_heads", 32);
  double value_size = qm_config_keys_count (keys, "linear_value_head_dim", 128);
  double width = convolution_width (self, QM_MIXER_LINEAR);
  double values = heads * value_size;

  return h * (width + values + 2 * heads) + width * qm_config_keys_count (keys, "conv_kernel", 4) +
         2 * heads + value_size + values * h;
}

/**
 * qm_shape_recurrent_parameters:
 * @self: a shape
 * @mixer: %QM_MIXER_LINEAR or %QM_MIXER_MAMBA
 *
 * Mamba: Gu and Dao 2023; Mamba-2: Dao and Gu 2024; gated delta rule: the
 * layers of Qwen3-Next.
 *
 * Returns: parameters of one such layer, without its norms
 */
double
qm_shape_recurrent_parameters (QmShape *self,
                               QmMixer  mixer)
{
  if (mixer == QM_MIXER_LINEAR)
    return delta_parameters (self);
  return is_mamba_1 (self) ? mamba_1_parameters (self) : mamba_2_parameters (self);
}

static double
read_window (QmShape *self)
{
  double fallback = self->family != NULL ? self->family->window : 0;
  double window = qm_config_keys_count (&self->keys, "attention_chunk_size", fallback);

  return qm_config_keys_count (&self->keys, "sliding_window", window);
}

/**
 * qm_shape_count_layers:
 * @self: a shape
 *
 * Fills in how many layers of each kind there are and what the recurrent ones keep.
 */
void
qm_shape_count_layers (QmShape *self)
{
  QmArchitecture *a = self->a;

  self->inner = mamba_inner (self);
  for (int i = 0; i < (int) a->layers; i++)
    {
      QmMixer mixer = qm_shape_mixer (self, i);

      a->full_attention_layers += mixer == QM_MIXER_FULL;
      a->sliding_layers += mixer == QM_MIXER_SLIDING;
      if (mixer == QM_MIXER_LINEAR || mixer == QM_MIXER_MAMBA)
        {
          a->recurrent_layers++;
          a->state_size += 2 * qm_shape_state_elements (self, mixer);
        }
      a->moe_layers += qm_shape_ffn (self, i) == QM_FFN_EXPERTS;
    }
  if (a->sliding_layers == 0)
    return;
  a->window = read_window (self);
  if (a->window > 0)
    return;
  a->full_attention_layers += a->sliding_layers;
  a->sliding_layers = 0;
}
