/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-shape.h"

#include <math.h>

/* One block of attention and a two-matrix feed-forward part, two norms and all biases. */
static double
biased_block (double hidden,
              double ffn)
{
  return 4 * hidden * hidden + 9 * hidden + 2 * hidden * ffn + ffn;
}

static gboolean
class_name_contains (QmShape    *self,
                     const char *part)
{
  JsonArray *names = qm_config_keys_array (&self->outer, "architectures");
  JsonNode *first;

  if (names == NULL || json_array_get_length (names) == 0)
    return FALSE;
  first = json_array_get_element (names, 0);
  if (!JSON_NODE_HOLDS_VALUE (first) || json_node_get_value_type (first) != G_TYPE_STRING)
    return FALSE;
  return strstr (json_node_get_string (first), part) != NULL;
}

static gboolean
has_no_pooler (QmShape *self)
{
  return qm_shape_is_type (self, "distilbert") || qm_shape_is_type (self, "deberta-v2");
}

static double
encoder_head (QmShape *self)
{
  const QmArchitecture *a = self->a;

  if (class_name_contains (self, "MaskedLM"))
    return a->hidden * a->hidden + 3 * a->hidden + a->vocabulary;
  return has_no_pooler (self) ? 0 : a->hidden * a->hidden + a->hidden;
}

/* Vectors beside those of the words: positions and kinds of text, or what
 * relative positions need in their place. */
static double
encoder_tables (QmShape *self)
{
  const QmArchitecture *a = self->a;
  gboolean roberta = qm_shape_is_type (self, "roberta") || qm_shape_is_type (self, "xlm-roberta");
  double types = qm_shape_is_type (self, "distilbert") ? 0 : roberta ? 1 : 2;
  double positions = a->max_positions > 0 ? a->max_positions : roberta ? 514 : 512;
  double buckets;

  if (qm_shape_is_type (self, "deberta-v2"))
    {
      buckets = qm_config_keys_count (&self->keys, "position_buckets", 256);
      return (2 * buckets + qm_config_keys_count (&self->keys, "type_vocab_size", 0) + 2) * a->hidden;
    }
  if (qm_shape_is_type (self, "mpnet"))
    {
      buckets = qm_config_keys_count (&self->keys, "relative_attention_num_buckets", 32);
      return positions * a->hidden + buckets * a->heads;
    }
  return (positions + qm_config_keys_count (&self->keys, "type_vocab_size", types)) * a->hidden;
}

/* No biases, a gated feed-forward part, and a first layer without its first norm. */
static double
modern_encoder (const QmArchitecture *a)
{
  double h = a->hidden;

  return a->embedding_parameters + h + a->layers * (4 * h * h + 3 * h * a->ffn + 2 * h);
}

/**
 * qm_shape_count_encoder:
 * @self: a shape
 *
 * Fills in the counts of a BERT-like encoder: embeddings, blocks, and the head
 * for masked words where the file names it, else the pooler.
 */
void
qm_shape_count_encoder (QmShape *self)
{
  QmArchitecture *a = self->a;

  a->embedding_parameters = a->vocabulary * a->hidden;
  if (qm_shape_is_type (self, "modernbert"))
    a->parameters = modern_encoder (a);
  else
    a->parameters = a->embedding_parameters + encoder_tables (self) + 2 * a->hidden +
                    a->layers * biased_block (a->hidden, a->ffn) + encoder_head (self);
  a->active_parameters = a->parameters;
  a->encoder_layers = a->layers;
  a->full_attention_layers = 0;
  a->sliding_layers = 0;
}

static void
count_t5 (QmShape *self)
{
  QmArchitecture *a = self->a;
  double h = a->hidden, inner = a->heads * a->head_size;
  double ffn = (a->gated ? 3 : 2) * h * a->ffn;
  double buckets = qm_config_keys_count (&self->keys, "relative_attention_num_buckets", 32);

  a->parameters = a->encoder_layers * (4 * h * inner + ffn + 2 * h) +
                  a->decoder_layers * (8 * h * inner + ffn + 3 * h) + 2 * h + 2 * buckets * a->heads +
                  a->embedding_parameters * (a->tied ? 1 : 2);
}

static double
bart_layers (QmShape *self,
             double   key_bias)
{
  QmArchitecture *a = self->a;
  double h = a->hidden;
  double encoder_ffn = qm_config_keys_count (&self->keys, "encoder_ffn_dim", 4 * h);
  double decoder_ffn = qm_config_keys_count (&self->keys, "decoder_ffn_dim", 4 * h);
  double attend = 4 * h * h + (3 + key_bias) * h;

  return a->encoder_layers * (attend + 2 * h * encoder_ffn + encoder_ffn + h + 4 * h) +
         a->decoder_layers * (2 * attend + 2 * h * decoder_ffn + decoder_ffn + h + 6 * h);
}

static void
count_whisper (QmShape *self)
{
  QmArchitecture *a = self->a;
  double h = a->hidden;
  double bins = qm_config_keys_count (&self->keys, "num_mel_bins", 80);
  double source = qm_config_keys_count (&self->keys, "max_source_positions", 1500);
  double target = qm_config_keys_count (&self->keys, "max_target_positions", 448);

  a->parameters = 3 * bins * h + h + 3 * h * h + h + (source + target) * h + bart_layers (self, 0) + 4 * h +
                  a->embedding_parameters * (a->tied ? 1 : 2);
}

static void
count_bart (QmShape *self)
{
  QmArchitecture *a = self->a;
  double final_norms = qm_shape_is_type (self, "mbart") ? 4 * a->hidden : 0;

  a->parameters = a->embedding_parameters * (a->tied ? 1 : 2) + 2 * (a->max_positions + 2) * a->hidden +
                  4 * a->hidden + bart_layers (self, 1) + final_norms;
}

/**
 * qm_shape_count_encoder_decoder:
 * @self: a shape
 *
 * Fills in the counts of T5, BART and Whisper. The cache of the decoder's own
 * past is that of its full-attention layers; what it keeps of the encoder's
 * output is not part of it.
 */
void
qm_shape_count_encoder_decoder (QmShape *self)
{
  QmArchitecture *a = self->a;

  a->encoder_layers = qm_config_keys_count (&self->keys, "encoder_layers", a->layers);
  a->decoder_layers = qm_config_keys_count (&self->keys, "decoder_layers", a->layers);
  a->layers = a->encoder_layers + a->decoder_layers;
  a->full_attention_layers = a->decoder_layers;
  a->sliding_layers = 0;
  a->embedding_parameters = a->vocabulary * a->hidden;
  if (qm_shape_is_type (self, "whisper"))
    count_whisper (self);
  else if (g_str_has_suffix (self->family->type, "bart"))
    count_bart (self);
  else
    count_t5 (self);
  a->active_parameters = a->parameters;
}

static double
patches (QmConfigKeys *keys,
         double        image_size,
         double        patch_size)
{
  double side = floor (qm_config_keys_count (keys, "image_size", image_size) /
                       MAX (1, qm_config_keys_count (keys, "patch_size", patch_size)));

  return side * side;
}

static double
patch_weights (QmConfigKeys *keys,
               double        patch_size)
{
  double patch = qm_config_keys_count (keys, "patch_size", patch_size);
  double channels = qm_config_keys_count (keys, "num_channels", qm_config_keys_count (keys, "in_channels", 3));

  return channels * patch * patch * qm_config_keys_count (keys, "temporal_patch_size", 1);
}

static double
class_count (QmShape *self)
{
  JsonObject *names = qm_config_keys_object (&self->keys, "id2label");
  double fallback = names != NULL ? json_object_get_size (names) : 0;

  return qm_config_keys_count (&self->keys, "num_labels", fallback);
}

/**
 * qm_shape_count_vision:
 * @self: a shape
 *
 * Fills in the counts of a vision transformer (Dosovitskiy 2020) with its classifier.
 */
void
qm_shape_count_vision (QmShape *self)
{
  QmArchitecture *a = self->a;
  double h = a->hidden;
  double classes = class_count (self);

  a->parameters = patch_weights (&self->keys, 16) * h + h + h + (patches (&self->keys, 224, 16) + 1) * h +
                  a->layers * biased_block (h, a->ffn) + 2 * h;
  if (qm_shape_is_type (self, "deit"))
    a->parameters += 2 * h;
  a->parameters += classes > 0 ? classes * (h + 1) : h * h + h;
  a->active_parameters = a->parameters;
  a->encoder_layers = a->layers;
  a->full_attention_layers = 0;
  a->sliding_layers = 0;
}

static double
clip_vision (QmConfigKeys *keys)
{
  double h = qm_config_keys_count (keys, "hidden_size", 768);
  double layers = qm_config_keys_count (keys, "num_hidden_layers", 12);
  double ffn = qm_config_keys_count (keys, "intermediate_size", 4 * h);

  return h + patch_weights (keys, 32) * h + (patches (keys, 224, 32) + 1) * h + 4 * h + layers * biased_block (h, ffn);
}

static double
siglip_vision (QmConfigKeys *keys)
{
  double h = qm_config_keys_count (keys, "hidden_size", 768);
  double layers = qm_config_keys_count (keys, "num_hidden_layers", 12);
  double ffn = qm_config_keys_count (keys, "intermediate_size", 4 * h);

  return patch_weights (keys, 16) * h + h + patches (keys, 224, 16) * h + layers * biased_block (h, ffn) + 2 * h;
}

/* The patch merger that leads into the language model: two matrices over groups of patches. */
static double
patch_merger (QmConfigKeys *keys,
              double        h,
              double        out)
{
  double group = qm_config_keys_count (keys, "spatial_merge_size", 2);
  double wide = group * group * h;

  return 2 * h + wide * wide + wide + wide * out + out;
}

static double
qwen2_vision (QmConfigKeys *keys)
{
  double h = qm_config_keys_count (keys, "tower_width", 1280);
  double ffn = h * qm_config_keys_ratio (keys, "mlp_ratio", 4);

  return patch_weights (keys, 14) * h + qm_config_keys_count (keys, "depth", 32) * biased_block (h, ffn) +
         patch_merger (keys, h, qm_config_keys_count (keys, "hidden_size", 3584));
}

static double
qwen3_vision (QmConfigKeys *keys,
              double        text_width)
{
  double h = qm_config_keys_count (keys, "hidden_size", 1152);
  double ffn = qm_config_keys_count (keys, "intermediate_size", 4304);
  double out = qm_config_keys_count (keys, "out_hidden_size", text_width);
  JsonArray *deep = qm_config_keys_array (keys, "deepstack_visual_indexes");
  double group = qm_config_keys_count (keys, "spatial_merge_size", 2);
  double deep_merger = patch_merger (keys, h, out) + 2 * h * (group * group - 1);

  return patch_weights (keys, 16) * h + h + qm_config_keys_count (keys, "num_position_embeddings", 2304) * h +
         qm_config_keys_count (keys, "depth", 27) * biased_block (h, ffn) + patch_merger (keys, h, out) +
         (deep != NULL ? json_array_get_length (deep) * deep_merger : 0);
}

static double
tower_parameters (QmShape      *self,
                  QmConfigKeys *keys,
                  const char   *type)
{
  double text = self->a->hidden;
  double width = qm_config_keys_count (keys, "hidden_size", 1152);

  if (g_str_equal (type, "llava"))
    return clip_vision (keys) + width * text + text + text * text + text;
  if (g_str_equal (type, "gemma3"))
    return siglip_vision (keys) + width * text + width;
  if (g_str_equal (type, "qwen2_vl"))
    return qwen2_vision (keys);
  if (g_str_equal (type, "qwen3_5") || g_str_equal (type, "qwen3_5_moe") || g_str_has_prefix (type, "qwen3_vl"))
    return qwen3_vision (keys, text);
  qm_shape_note (self, "The vision part is not counted: how this family builds it is not known");
  return 0;
}

/**
 * qm_shape_vision_tower:
 * @self: a shape
 *
 * Returns: parameters of the vision part and of what leads from it into the
 *   language model, 0 where there is none
 */
double
qm_shape_vision_tower (QmShape *self)
{
  QmConfigKeys keys = { .object = qm_config_keys_object (&self->outer, "vision_config") };
  const char *type = qm_config_keys_word (&self->outer, "model_type");
  double sum;

  if (keys.object == NULL || type == NULL)
    return 0;
  sum = tower_parameters (self, &keys, type);
  if (keys.error != NULL && self->keys.error == NULL)
    self->keys.error = g_steal_pointer (&keys.error);
  g_clear_error (&keys.error);
  return sum;
}

/**
 * qm_shape_count_two_towers:
 * @self: a shape of the text tower
 *
 * Fills in the counts of CLIP (Radford 2021): two encoders, two projections and a temperature.
 */
void
qm_shape_count_two_towers (QmShape *self)
{
  QmArchitecture *a = self->a;
  QmConfigKeys keys = { .object = qm_config_keys_object (&self->outer, "vision_config") };
  double projection = qm_config_keys_count (&self->outer, "projection_dim", 512);
  double h = a->hidden;

  a->embedding_parameters = a->vocabulary * h;
  a->parameters = a->embedding_parameters + (a->max_positions > 0 ? a->max_positions : 77) * h +
                  a->layers * biased_block (h, a->ffn) + 2 * h + h * projection + 1;
  if (keys.object != NULL)
    a->parameters += clip_vision (&keys) + qm_config_keys_count (&keys, "hidden_size", 768) * projection;
  a->active_parameters = a->parameters;
  a->encoder_layers = a->layers;
  a->full_attention_layers = 0;
  a->sliding_layers = 0;
  if (keys.error != NULL && self->keys.error == NULL)
    self->keys.error = g_steal_pointer (&keys.error);
  g_clear_error (&keys.error);
}
