/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-formats.h"

static JsonObject *
find_row (JsonNode   *table,
          const char *format)
{
  JsonObject *root = table != NULL && JSON_NODE_HOLDS_OBJECT (table) ? json_node_get_object (table) : NULL;
  JsonNode *node = root != NULL ? json_object_get_member (root, "formats") : NULL;
  JsonArray *rows = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  for (guint i = 0; rows != NULL && i < json_array_get_length (rows); i++)
    {
      JsonNode *row = json_array_get_element (rows, i);
      JsonObject *object = JSON_NODE_HOLDS_OBJECT (row) ? json_node_get_object (row) : NULL;

      if (object != NULL &&
          g_strcmp0 (json_object_get_string_member_with_default (object, "word", NULL), format) == 0)
        return object;
    }
  return NULL;
}

/**
 * qm_format_bits:
 * @table: (nullable): the table `quantization` of the catalog
 * @format: a word of `serving.weights`
 * @bits: (out caller-allocates): where to put the bits
 *
 * Returns: whether the table has the format
 */
gboolean
qm_format_bits (JsonNode     *table,
                const char   *format,
                QmFormatBits *bits)
{
  JsonObject *row = find_row (table, format);

  if (row == NULL)
    return FALSE;
  *bits = (QmFormatBits) {
    .body = json_object_get_double_member_with_default (row, "body", 0),
    .embedding = json_object_get_double_member_with_default (row, "embedding", 0),
    .head = json_object_get_double_member_with_default (row, "head", 0),
    .experts_only = json_object_get_boolean_member_with_default (row, "experts_only", FALSE),
  };
  return bits->body > 0 && bits->embedding > 0 && bits->head > 0;
}

static double
expert_weights (const QmArchitecture *a)
{
  return (a->parameters - a->active_parameters) * a->experts / (a->experts - a->experts_per_token);
}

/* Formats that pack the matrices of the layers and leave all else in 16 bit. */
static gboolean
keeps_rest (const QmFormatBits *bits)
{
  return bits->body < 16 && bits->embedding == 16 && bits->head == 16;
}

/* Whether it is known which weights are in such matrices. */
static gboolean
packs_less (const QmModel *self)
{
  return self->architecture.known && self->architecture.linear_parameters > 0 &&
         self->architecture.linear_parameters < self->parameters;
}

/**
 * qm_model_is_packable:
 * @self: a model
 *
 * Returns: whether formats that pack the matrices between an embedding and an
 *   output head are made for it: networks of convolutions or without tokens
 *   have other ones, if any
 */
gboolean
qm_model_is_packable (const QmModel *self)
{
  return self->architecture.vocabulary > 0;
}

/**
 * qm_model_format_bytes:
 * @self: a model
 * @bits: of a weight
 *
 * Returns: bytes of all weights in the format
 */
double
qm_model_format_bytes (const QmModel      *self,
                       const QmFormatBits *bits)
{
  const QmArchitecture *a = &self->architecture;
  double embedding = MIN (a->embedding_parameters, self->parameters);
  double head = a->tied ? 0 : MIN (embedding, self->parameters - embedding);
  double experts;

  if (!bits->experts_only && keeps_rest (bits) && packs_less (self))
    return (a->linear_parameters * bits->body + (self->parameters - a->linear_parameters) * bits->embedding) / 8;
  if (bits->experts_only && a->experts > a->experts_per_token)
    {
      experts = a->expert_linear_parameters > 0 ? a->expert_linear_parameters : expert_weights (a);
      return (experts * bits->body + (self->parameters - experts) * bits->embedding) / 8;
    }
  return ((self->parameters - embedding - head) * bits->body + embedding * bits->embedding + head * bits->head) / 8;
}
