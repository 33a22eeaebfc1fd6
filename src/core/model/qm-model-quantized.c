/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-formats.h"

#include <glib/gi18n.h>
#include <math.h>

#include "qm-model-private.h"

typedef struct {
  double bits;                      /* of a packed weight, scales and zeros included */
  gboolean experts_only;
} Packing;

static JsonObject *
object_of (JsonObject *parent,
           const char *key)
{
  JsonNode *node = parent != NULL ? json_object_get_member (parent, key) : NULL;

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static double
number_of (JsonObject *object,
           const char *key)
{
  JsonNode *node = json_object_get_member (object, key);
  GType type = node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE ? json_node_get_double (node) : 0;
}

static gboolean
flag_of (JsonObject *object,
         const char *key)
{
  JsonNode *node = json_object_get_member (object, key);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN &&
         json_node_get_boolean (node);
}

static const char *
word_of (JsonObject *object,
         const char *key)
{
  JsonNode *node = json_object_get_member (object, key);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
         ? json_node_get_string (node) : "";
}

/* A scale of 16 bits and a zero as wide as a weight for each group; -1 is a group a row. */
static double
grouped_bits (double   bits,
              double   group,
              gboolean zeros)
{
  if (bits < 1 || bits > 16)
    return 0;
  return group > 0 ? bits + (16 + (zeros ? bits : 0)) / group : bits;
}

/* QLoRA (Dettmers 2023): a scale for each 64 weights, itself packed to 8 bits
 * with a scale for each 256 of them where quantised doubly. */
static double
bitsandbytes_bits (JsonObject *quantization)
{
  if (flag_of (quantization, "load_in_8bit"))
    return 8;
  if (!flag_of (quantization, "load_in_4bit"))
    return 0;
  return flag_of (quantization, "bnb_4bit_use_double_quant") ? 4 + 8 / 64.0 + 32 / (64.0 * 256) : 4 + 32 / 64.0;
}

/* A scale of 32 bits a block. */
static double
block_bits (JsonObject *quantization)
{
  JsonNode *node = json_object_get_member (quantization, "weight_block_size");
  JsonArray *block = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  double size = 1;

  for (guint i = 0; block != NULL && i < json_array_get_length (block); i++)
    {
      JsonNode *side = json_array_get_element (block, i);

      size *= JSON_NODE_HOLDS_VALUE (side) ? MAX (1, json_node_get_int (side)) : 1;
    }
  return block != NULL ? 8 + 32 / size : 8;
}

static double
compressed_bits (JsonObject *quantization)
{
  JsonObject *groups = object_of (quantization, "config_groups");
  g_autoptr (GList) names = groups != NULL ? json_object_get_members (groups) : NULL;
  JsonObject *weights = names != NULL ? object_of (object_of (groups, names->data), "weights") : NULL;

  if (weights == NULL)
    return 0;
  return grouped_bits (number_of (weights, "num_bits"), number_of (weights, "group_size"), !flag_of (weights, "symmetric"));
}

static double
modelopt_bits (JsonObject *quantization)
{
  const char *algorithm = word_of (quantization, "quant_algo");

  return g_str_equal (algorithm, "NVFP4") ? 4 + 8 / 16.0 : g_str_equal (algorithm, "FP8") ? 8 : 0;
}

static Packing
read_packing (JsonObject *quantization)
{
  const char *method = word_of (quantization, "quant_method");

  if (g_str_has_prefix (method, "gptq") || g_str_has_prefix (method, "awq"))
    return (Packing) { grouped_bits (number_of (quantization, "bits"), number_of (quantization, "group_size"), TRUE) };
  if (g_str_equal (method, "bitsandbytes"))
    return (Packing) { bitsandbytes_bits (quantization) };
  if (g_str_equal (method, "mxfp4"))
    return (Packing) { 4 + 8 / 32.0, TRUE };
  if (g_str_has_suffix (method, "fp8"))
    return (Packing) { block_bits (quantization) };
  if (g_str_equal (method, "compressed-tensors"))
    return (Packing) { compressed_bits (quantization) };
  if (g_str_equal (method, "modelopt"))
    return (Packing) { modelopt_bits (quantization) };
  return (Packing) { 0 };
}

static const char *
compressed_word (JsonObject *quantization)
{
  JsonObject *groups = object_of (quantization, "config_groups");
  g_autoptr (GList) names = groups != NULL ? json_object_get_members (groups) : NULL;
  JsonObject *weights = names != NULL ? object_of (object_of (groups, names->data), "weights") : NULL;
  gboolean floats = weights != NULL && g_str_equal (word_of (weights, "type"), "float");
  double bits = weights != NULL ? number_of (weights, "num_bits") : 0;

  return bits == 8 ? (floats ? "fp8" : "int8") : bits == 4 ? (floats ? "fp4" : "int4") : NULL;
}

/* The word of `serving.weights` for what tools write so; %NULL for what is not known. */
static const char *
word_for (JsonObject *quantization)
{
  const char *method = word_of (quantization, "quant_method");
  double bits = number_of (quantization, "bits");

  if (g_str_has_prefix (method, "awq"))
    return bits == 4 ? "awq-int4" : NULL;
  if (g_str_has_prefix (method, "gptq"))
    return bits == 4 ? "gptq-int4" : bits == 3 ? "gptq-int3" : bits == 8 ? "int8" : NULL;
  if (g_str_equal (method, "bitsandbytes"))
    return flag_of (quantization, "load_in_8bit") ? "int8" : flag_of (quantization, "load_in_4bit") ? "nf4" : NULL;
  if (g_str_equal (method, "mxfp4"))
    return "mxfp4";
  if (g_str_has_suffix (method, "fp8"))
    return "fp8";
  if (g_str_equal (method, "compressed-tensors"))
    return compressed_word (quantization);
  if (g_str_equal (method, "modelopt"))
    return modelopt_bits (quantization) == 8 ? "fp8" : modelopt_bits (quantization) > 0 ? "fp4" : NULL;

  return NULL;
}

static JsonObject *
find_quantization (JsonObject *config)
{
  JsonObject *quantization = object_of (config, "quantization_config");

  return quantization != NULL ? quantization : object_of (object_of (config, "text_config"), "quantization_config");
}

static double
plain_bytes (JsonObject *config)
{
  const char *type = word_of (config, "torch_dtype");

  if (type[0] == '\0')
    type = word_of (config, "dtype");
  return g_str_equal (type, "float32") ? 4 : 2;
}

/**
 * qm_model_quantized_bytes:
 * @self: a model
 *
 * What its config.json says of packed weights, as the tools that write such
 * files do it: matrices of the layers are packed, with a scale and, where
 * there are any, a zero for each group; embedding, head, norms, biases and
 * routers stay as they are. MXFP4 packs the experts alone.
 *
 * Returns: bytes of all weights, 0 where the file says nothing that is known
 */
double
qm_model_quantized_bytes (const QmModel *self)
{
  const QmArchitecture *a = &self->architecture;
  JsonObject *quantization = self->config != NULL ? find_quantization (self->config) : NULL;
  Packing packing = { 0 };
  double packed;

  if (quantization != NULL)
    packing = read_packing (quantization);
  packed = packing.experts_only ? a->expert_linear_parameters : a->linear_parameters;
  if (!(packing.bits > 0) || !(packed > 0) || packed > self->parameters)
    return 0;
  return rint (packed * packing.bits / 8 + (self->parameters - packed) * plain_bytes (self->config));
}

/**
 * qm_model_take_quantization:
 * @self: a model that was read from a file
 *
 * Takes over how its config.json says that the weights are packed, so that a
 * plan serves them so; what is not known is noted.
 */
void
qm_model_take_quantization (QmModel *self)
{
  JsonObject *quantization = self->config != NULL ? find_quantization (self->config) : NULL;
  const char *method = quantization != NULL ? word_of (quantization, "quant_method") : "";

  if (quantization == NULL)
    return;

  self->stored_format = word_for (quantization);
  if (self->stored_format == NULL)
    qm_model_note (self, qm_message_add_text (qm_message_new ("model-packing-unknown",
      N_("The config.json says that weights are packed in a way that is not known ({method}): say in the plan how wide they are (serving.weights)")),
      "method", QM_ARGUMENT_NAME, method[0] != '\0' ? method : "?"));
}
