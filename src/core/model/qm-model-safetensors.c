/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-private.h"

#include <glib/gi18n.h>
#include <string.h>

#include <gio/gio.h>

#include "qm-tensor-shapes.h"
#include "qm-error.h"
#include "qm-file.h"

/* The format's own limit. */
#define MAX_HEADER_BYTES (100 * 1000 * 1000)
#define MAX_ELEMENTS 1e16
#define MAX_DIMENSIONS 16

/* Names of tensors that only unpack others. */
static const char * const helpers[] = {
  ".qzeros", ".scales", ".g_idx", ".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map", ".weight_scale",
  ".weight_scale_inv", ".input_scale", ".SCB", ".weight_format", "_scales", ".zero_point", ".qscales",
};

typedef struct {
  QmTensorTotals totals;
  double packed_bits;               /* of a weight in qweight tensors */
  gboolean assumed_bits;
  double largest_end;               /* where the last tensor ends, in bytes of data */
  JsonObject *header;
  QmTensorShapes shapes;
} Header;

static gboolean
fail (GError     **error,
      const char  *name,
      const char  *what)
{
  g_autofree char *start = g_utf8_substring (name, 0, MIN (80, g_utf8_strlen (name, -1)));

  qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE, NULL,
                N_("the header of the safetensors file is damaged: {name} {what}"), "name", start, "=what", what, NULL);
  return FALSE;
}

static gboolean
read_shape (JsonArray   *shape,
            const char  *name,
            double      *elements,
            GError     **error)
{
  *elements = 1;
  if (json_array_get_length (shape) > MAX_DIMENSIONS)
    return fail (error, name, N_("has too many dimensions"));
  for (guint i = 0; i < json_array_get_length (shape); i++)
    {
      JsonNode *node = json_array_get_element (shape, i);

      if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_INT64 ||
          json_node_get_int (node) < 0)
        return fail (error, name, N_("has a size that is no whole number"));
      *elements *= json_node_get_int (node);
      if (*elements > MAX_ELEMENTS)
        return fail (error, name, N_("is larger than any tensor"));
    }
  return TRUE;
}

static gboolean
read_offsets (JsonArray   *offsets,
              const char  *name,
              Header      *header,
              GError     **error)
{
  JsonNode *nodes[2];

  if (json_array_get_length (offsets) != 2)
    return fail (error, name, N_("has offsets that are no pair"));
  for (guint i = 0; i < 2; i++)
    {
      nodes[i] = json_array_get_element (offsets, i);
      if (!JSON_NODE_HOLDS_VALUE (nodes[i]) || json_node_get_value_type (nodes[i]) != G_TYPE_INT64)
        return fail (error, name, N_("has an offset that is no whole number"));
    }
  if (json_node_get_int (nodes[0]) < 0 || json_node_get_int (nodes[1]) < json_node_get_int (nodes[0]))
    return fail (error, name, N_("ends before it begins"));
  header->totals.bytes += (double) json_node_get_int (nodes[1]) - json_node_get_int (nodes[0]);
  header->largest_end = MAX (header->largest_end, json_node_get_int (nodes[1]));
  return TRUE;
}

static gboolean
is_helper (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (helpers); i++)
    if (g_str_has_suffix (name, helpers[i]))
      return TRUE;
  return strstr (name, ".quant_state.") != NULL;
}

/* How many weights one element holds: four-bit weights travel in larger integers. */
static double
weights_per_element (Header     *header,
                     const char *name,
                     const char *type)
{
  g_autofree char *companion = g_strconcat (name, ".absmax", NULL);

  if (g_str_has_suffix (name, ".qweight"))
    return (g_str_equal (type, "I16") ? 16 : 32) / header->packed_bits;
  if (g_str_has_suffix (name, "_blocks") && g_str_equal (type, "U8"))
    return 2;
  if (g_str_equal (type, "U8") && json_object_has_member (header->header, companion))
    return 2;
  return 1;
}

static JsonArray *
array_of (JsonObject *object,
          const char *key)
{
  JsonNode *node = json_object_get_member (object, key);

  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

static gboolean
read_tensor (Header      *header,
             const char  *name,
             JsonNode    *node,
             GError     **error)
{
  JsonObject *tensor = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  JsonNode *type = tensor != NULL ? json_object_get_member (tensor, "dtype") : NULL;
  JsonArray *shape, *offsets;
  double elements;

  if (type == NULL || !JSON_NODE_HOLDS_VALUE (type) || json_node_get_value_type (type) != G_TYPE_STRING)
    return fail (error, name, N_("has no type"));
  shape = array_of (tensor, "shape");
  offsets = array_of (tensor, "data_offsets");
  if (shape == NULL || offsets == NULL)
    return fail (error, name, N_("has no shape or no offsets"));
  if (!read_shape (shape, name, &elements, error) || !read_offsets (offsets, name, header, error))
    return FALSE;
  qm_tensor_shapes_add (&header->shapes, name, shape);
  if (!is_helper (name))
    header->totals.parameters += elements * weights_per_element (header, name, json_node_get_string (type));
  return TRUE;
}

static gboolean
read_tensors (Header  *header,
              GError **error)
{
  JsonObjectIter iterator;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&iterator, header->header);
  while (json_object_iter_next (&iterator, &name, &node))
    if (!g_str_equal (name, "__metadata__") && !read_tensor (header, name, node, error))
      return FALSE;
  return TRUE;
}

static char *
read_header_text (const char  *path,
                  gsize       *length,
                  goffset     *size,
                  GError     **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) reason = NULL;
  g_autoptr (GFileInputStream) stream = g_file_read (file, NULL, &reason);
  g_autoptr (GFileInfo) info = NULL;
  g_autofree char *text = NULL;
  guint64 announced = 0;
  gsize got = 0;

  if (stream != NULL)
    info = g_file_input_stream_query_info (stream, G_FILE_ATTRIBUTE_STANDARD_SIZE, NULL, &reason);
  if (info == NULL || !g_input_stream_read_all (G_INPUT_STREAM (stream), &announced, 8, &got, NULL, &reason))
    {
      qm_file_set_error (error, path, reason);
      return NULL;
    }
  *size = g_file_info_get_size (info);
  announced = GUINT64_FROM_LE (announced);
  if (got < 8 || announced == 0 || announced > MAX_HEADER_BYTES || announced > (guint64) *size - 8)
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                    N_("this is no safetensors file, or one that is cut short: the header it announces is not there"), NULL);
      return NULL;
    }
  text = g_malloc (announced + 1);
  if (g_input_stream_read_all (G_INPUT_STREAM (stream), text, announced, length, NULL, &reason) && *length == announced)
    return g_steal_pointer (&text);
  qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_FILE, NULL, N_("the header cannot be read to its end"), NULL);
  return NULL;
}

static double
bits_of_config (JsonObject *config)
{
  JsonNode *node = config != NULL ? json_object_get_member (config, "quantization_config") : NULL;
  double bits = 0;

  if (node != NULL && JSON_NODE_HOLDS_OBJECT (node))
    {
      JsonNode *value = json_object_get_member (json_node_get_object (node), "bits");

      bits = value != NULL && JSON_NODE_HOLDS_VALUE (value) ? json_node_get_double (value) : 0;
    }
  return bits >= 1 && bits <= 16 ? bits : 0;
}

static JsonObject *
config_beside (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *file = g_build_filename (folder, "config.json", NULL);

  return g_file_test (file, G_FILE_TEST_IS_REGULAR) ? qm_model_load_config (file, NULL) : NULL;
}

static gboolean
read_file (const char  *path,
           double       packed_bits,
           Header      *header,
           gboolean    *cut_short,
           GError     **error)
{
  gsize length = 0;
  goffset size = 0;
  g_autofree char *text = read_header_text (path, &length, &size, error);
  g_autoptr (JsonNode) root = NULL;
  gboolean good;

  if (text == NULL)
    return FALSE;
  if (!g_utf8_validate_len (text, length, NULL))
    return fail (error, "it", N_("is not UTF-8"));
  root = qm_json_text_parse (text, length, error);
  if (root == NULL)
    return FALSE;
  if (!JSON_NODE_HOLDS_OBJECT (root))
    return fail (error, "it", N_("is no JSON object"));
  header->header = json_node_get_object (root);
  header->packed_bits = packed_bits > 0 ? packed_bits : 4;
  header->largest_end = 0;
  good = read_tensors (header, error);
  header->header = NULL;
  *cut_short |= header->largest_end > (double) size - 8 - length;
  return good;
}

/* Shapes come from the config.json beside the file, else from the tensors. */
static void
find_shapes (QmModel      *self,
             JsonObject   *config,
             const Header *header)
{
  g_autoptr (JsonObject) seen = NULL;

  if (config != NULL && qm_model_read_config (self, config, NULL))
    return;
  seen = qm_tensor_shapes_to_config (&header->shapes);
  if (seen != NULL && qm_model_read_config (self, seen, NULL))
    {
      qm_model_note (self, "No config.json lies beside the file: layers and cache are from the shapes of its tensors, "
                     "without windows");
      return;
    }
  qm_model_note (self, "No config.json lies beside the file: the layers are guessed from the parameter count, "
                 "and the cache is not known");
  qm_architecture_guess (header->totals.parameters, &self->architecture);
}

/* Counts come from the file itself. */
static QmModel *
finish (JsonObject    *config,
        const Header  *header,
        GError       **error)
{
  g_autoptr (QmModel) self = qm_model_new ();
  double parameters = header->totals.parameters;

  if (parameters <= 0)
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL, N_("the file holds no weights"), NULL);
      return NULL;
    }
  find_shapes (self, config, header);
  self->parameters = parameters;
  self->active_parameters = MAX (0, parameters - qm_model_expert_parameters (self));
  self->stored_bytes = header->totals.bytes;
  self->read_by = QM_READER_SAFETENSORS;
  return g_steal_pointer (&self);
}

/**
 * qm_model_from_safetensors:
 * @path: a safetensors file
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): the model
 */
QmModel *
qm_model_from_safetensors (const char  *path,
                           GError     **error)
{
  g_autoptr (JsonObject) config = config_beside (path);
  double bits = bits_of_config (config);
  gboolean cut_short = FALSE;
  Header header = { 0 };
  QmModel *self;

  if (!read_file (path, bits, &header, &cut_short, error))
    return NULL;
  self = finish (config, &header, error);
  if (self != NULL && cut_short)
    qm_model_note (self, "The file is shorter than its header says: the download may not have ended");
  return self;
}

/* Every shard that is named must be beside the index for its header to count. */
static gboolean
read_shards (const char *path,
             JsonObject *map,
             double      bits,
             Header     *header)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  JsonObjectIter iterator;
  const char *tensor;
  JsonNode *node;
  gboolean cut_short = FALSE;

  json_object_iter_init (&iterator, map);
  while (json_object_iter_next (&iterator, &tensor, &node))
    {
      const char *shard = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;
      g_autofree char *file = NULL;

      if (shard == NULL || strchr (shard, G_DIR_SEPARATOR) != NULL)
        return FALSE;
      if (!g_hash_table_add (seen, (char *) shard))
        continue;
      file = g_build_filename (folder, shard, NULL);
      if (!read_file (file, bits, header, &cut_short, NULL))
        return FALSE;
    }
  return header->totals.parameters > 0;
}

static double
bytes_per_weight (JsonObject *config)
{
  const char *type = NULL;

  if (config != NULL)
    type = json_object_get_string_member_with_default (config, "torch_dtype",
             json_object_get_string_member_with_default (config, "dtype", NULL));
  return g_strcmp0 (type, "float32") == 0 ? 4 : 2;
}

/**
 * qm_model_from_weight_index:
 * @path: a model.safetensors.index.json
 * @index: its content
 * @error: return location for an error
 *
 * Reads the headers of all shards where they are there. Else `total_size`,
 * which is bytes, and the type of weight of the config.json beside it.
 *
 * Returns: (transfer full) (nullable): the model
 */
QmModel *
qm_model_from_weight_index (const char  *path,
                            JsonObject  *index,
                            GError     **error)
{
  g_autoptr (JsonObject) config = config_beside (path);
  JsonNode *map = json_object_get_member (index, "weight_map");
  JsonNode *metadata = json_object_get_member (index, "metadata");
  Header header = { 0 };
  QmModel *self;

  if (JSON_NODE_HOLDS_OBJECT (map) && read_shards (path, json_node_get_object (map), bits_of_config (config), &header))
    return finish (config, &header, error);
  header = (Header) { 0 };
  if (metadata != NULL && JSON_NODE_HOLDS_OBJECT (metadata))
    header.totals.bytes = json_object_get_double_member_with_default (json_node_get_object (metadata), "total_size", 0);
  if (!(header.totals.bytes > 0 && header.totals.bytes < MAX_ELEMENTS))
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE, "metadata.total_size",
                    N_("metadata.total_size is missing, and the files the index names are not all beside it"), NULL);
      return NULL;
    }
  header.totals.parameters = header.totals.bytes / bytes_per_weight (config);
  self = finish (config, &header, error);
  if (self != NULL && config == NULL)
    qm_model_note (self, "The index tells bytes, not parameters: weights of 16 bits were taken");
  return self;
}
