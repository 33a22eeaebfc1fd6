/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-safetensors-reader.h"

#include <glib/gi18n.h>
#include <string.h>

#include <gio/gio.h>

#include "qm-error.h"
#include "qm-file.h"
#include "qm-model-private.h"

/* The format's own limit. */
#define MAX_HEADER_BYTES (100 * 1000 * 1000)

/* A hundred thousand tensors take half of it. */
#define MAX_READ_BYTES (32 * 1000 * 1000)
#define MAX_ELEMENTS 1e16
#define MAX_DIMENSIONS 16

/* What tools pack weights in, where no file beside says it. */
#define USUAL_BITS 4
#define USUAL_GROUP 64

/* Names of tensors that only unpack others. */
static const char * const helpers[] = {
  ".qzeros", ".scales", ".g_idx", ".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map", ".weight_scale",
  ".weight_scale_2", ".weight_scale_inv", ".input_scale", ".k_scale", ".v_scale", ".SCB", ".weight_format", "_scales",
  ".zero_point", ".weight_zero_point", ".weight_shape", ".qscales", "_scale_inv",
};

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
read_offsets (JsonArray      *offsets,
              const char     *name,
              QmSafetensors  *self,
              double          data_bytes,
              double         *bytes,
              GError        **error)
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
  *bytes = (double) json_node_get_int (nodes[1]) - json_node_get_int (nodes[0]);
  self->file_bytes += *bytes;
  self->end = MAX (self->end, json_node_get_int (nodes[1]));
  self->cut_short |= json_node_get_int (nodes[1]) > data_bytes;
  return TRUE;
}

/* Bits of an element, 0 for a type that is not known. */
static double
bits_of_type (const char *type)
{
  static const struct { const char *type; double bits; } types[] = {
    { "BF16", 16 }, { "F16", 16 }, { "F32", 32 }, { "F64", 64 }, { "I8", 8 }, { "U8", 8 }, { "I16", 16 }, { "U16", 16 },
    { "I32", 32 }, { "U32", 32 }, { "I64", 64 }, { "U64", 64 }, { "BOOL", 8 }, { "F8_E4M3", 8 }, { "F8_E5M2", 8 },
    { "F8_E8M0", 8 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_str_equal (types[i].type, type))
      return types[i].bits;
  return 0;
}

static JsonArray *
array_of (JsonObject *object,
          const char *key)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, key) : NULL;

  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

/* The tensor of that name but for its last word. */
static JsonObject *
companion (JsonObject *header,
           const char *name,
           const char *from,
           const char *to)
{
  g_autofree char *other = NULL;
  JsonNode *node;

  if (!g_str_has_suffix (name, from))
    return NULL;
  other = g_strdup_printf ("%.*s%s", (int) (strlen (name) - strlen (from)), name, to);
  node = json_object_get_member (header, other);
  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static gboolean
is_helper (JsonObject *header,
           const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (helpers); i++)
    if (g_str_has_suffix (name, helpers[i]))
      return TRUE;
  return strstr (name, ".quant_state.") != NULL || companion (header, name, ".biases", ".scales") != NULL;
}

static double
last_size (JsonObject *tensor)
{
  JsonArray *shape = array_of (tensor, "shape");
  guint n = shape != NULL ? json_array_get_length (shape) : 0;
  JsonNode *node = n > 0 ? json_array_get_element (shape, n - 1) : NULL;

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) ? MAX (0, json_node_get_double (node)) : 0;
}

/* Scales beside packed weights, one a group of 64: how wide the weights are. */
static double
bits_by_scales (JsonObject *tensor,
                JsonObject *scales)
{
  double columns = last_size (scales) * USUAL_GROUP;

  for (double bits = 2; columns > 0 && bits <= 8; bits++)
    if (last_size (tensor) * 32 == columns * bits)
      return bits;
  return USUAL_BITS;
}

static double
packed_bits (QmSafetensors *self,
             double         found)
{
  if (self->packed_bits > 0)
    return self->packed_bits;
  self->guessed = TRUE;
  return found;
}

/* How many weights one element holds: narrow weights travel in wider integers. */
static double
weights_per_element (QmSafetensors *self,
                     JsonObject    *header,
                     const char    *name,
                     const char    *type,
                     JsonObject    *tensor)
{
  JsonObject *scales = companion (header, name, ".weight", ".scales");
  gboolean wide = g_str_equal (type, "I32") || g_str_equal (type, "U32");

  if (g_str_has_suffix (name, ".qweight"))
    return (g_str_equal (type, "I16") ? 16 : 32) / packed_bits (self, USUAL_BITS);
  if (g_str_has_suffix (name, ".weight_packed") && wide)
    return 32 / packed_bits (self, USUAL_BITS);
  if (scales != NULL && g_str_equal (type, "U32"))
    return 32 / packed_bits (self, bits_by_scales (tensor, scales));
  if (!g_str_equal (type, "U8"))
    return 1;
  if (g_str_has_suffix (name, "_blocks") || g_str_has_suffix (name, ".weight_packed") ||
      companion (header, name, "", ".absmax") != NULL || companion (header, name, ".weight", ".weight_scale_2") != NULL)
    return 2;
  return 1;
}

/* Adapters of the tools peft, diffusers, kohya and LyCORIS, by a part of a tensor's name. */
static gboolean
is_of_adapter (const char *name)
{
  static const char * const parts[] = {
    ".lora_A", ".lora_B", ".lora_down.", ".lora_up.", "_lora.down.", "_lora.up.", ".lora.down.", ".lora.up.",
    ".lora_embedding_", ".lora_magnitude_", ".hada_w", ".lokr_w", ".ia3_l", ".oft_", ".boft_", ".vera_lambda_",
    ".dora_scale",
  };

  if (g_str_has_prefix (name, "base_model.model.") || g_str_equal (name, "prompt_embeddings"))
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strstr (name, parts[i]) != NULL)
      return TRUE;
  return FALSE;
}

static gboolean
read_tensor (QmSafetensors  *self,
             JsonObject     *header,
             const char     *name,
             JsonNode       *node,
             double          data_bytes,
             GError        **error)
{
  JsonObject *tensor = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  JsonNode *type = tensor != NULL ? json_object_get_member (tensor, "dtype") : NULL;
  JsonArray *shape = array_of (tensor, "shape"), *offsets = array_of (tensor, "data_offsets");
  double elements, bytes, bits;

  if (type == NULL || !JSON_NODE_HOLDS_VALUE (type) || json_node_get_value_type (type) != G_TYPE_STRING)
    return fail (error, name, N_("has no type"));
  if (shape == NULL || offsets == NULL)
    return fail (error, name, N_("has no shape or no offsets"));
  if (!read_shape (shape, name, &elements, error) || !read_offsets (offsets, name, self, data_bytes, &bytes, error))
    return FALSE;
  bits = bits_of_type (json_node_get_string (type));
  self->doubtful |= bits > 0 && elements * bits / 8 != bytes;
  if (!g_hash_table_add (self->names, g_strdup (name)))
    {
      self->repeated++;
      return TRUE;
    }
  self->bytes += bytes;
  qm_tensor_shapes_add (&self->shapes, name, shape);
  self->adapter_parameters += is_of_adapter (name) ? elements : 0;
  if (!is_helper (header, name))
    self->parameters += elements * weights_per_element (self, header, name, json_node_get_string (type), tensor);
  return TRUE;
}

/**
 * qm_safetensors_add_header:
 * @self: what was seen so far
 * @text: (array length=length): the header of a file, JSON
 * @length: its bytes
 * @data_bytes: how many bytes follow it in the file
 * @error: return location for an error
 *
 * Returns: whether every tensor in it makes sense
 */
gboolean
qm_safetensors_add_header (QmSafetensors  *self,
                           const char     *text,
                           gsize           length,
                           double          data_bytes,
                           GError        **error)
{
  g_autoptr (JsonNode) root = NULL;
  JsonObjectIter iterator;
  JsonObject *header;
  const char *name;
  JsonNode *node;

  if (!g_utf8_validate_len (text, length, NULL))
    return fail (error, "it", N_("is not UTF-8"));
  root = qm_json_text_parse (text, length, QM_JSON_TEXT_MOST_IN_HEADER, error);
  if (root == NULL)
    return FALSE;
  if (!JSON_NODE_HOLDS_OBJECT (root))
    return fail (error, "it", N_("is no JSON object"));
  header = json_node_get_object (root);
  if (self->names == NULL)
    self->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->file_bytes = self->end = 0;
  json_object_iter_init (&iterator, header);
  while (json_object_iter_next (&iterator, &name, &node))
    if (!g_str_equal (name, "__metadata__") && !read_tensor (self, header, name, node, data_bytes, error))
      return FALSE;
  self->doubtful |= self->file_bytes != self->end;
  return TRUE;
}

/* An error page or a pointer may bear the name of the file that it stands for. */
static void
refuse_header (const char  *path,
               GError     **error)
{
  if (!qm_model_refuse_first_bytes (path, error))
    qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                  N_("this is no safetensors file, or one that is cut short: the header it announces is not there"), NULL);
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
      refuse_header (path, error);
      return NULL;
    }
  if (announced > MAX_READ_BYTES)
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                    N_("the header of the safetensors file takes {megabytes} MB, more than that of any model"),
                    "#megabytes", (double) (announced / 1000000), NULL);
      return NULL;
    }
  text = g_malloc (announced + 1);
  if (g_input_stream_read_all (G_INPUT_STREAM (stream), text, announced, length, NULL, &reason) && *length == announced)
    return g_steal_pointer (&text);
  qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_FILE, NULL, N_("the header cannot be read to its end"), NULL);
  return NULL;
}

/**
 * qm_safetensors_add_file:
 * @self: what was seen so far
 * @path: a safetensors file
 * @error: return location for an error
 *
 * Reads the header alone, and no more of it than the file holds.
 *
 * Returns: whether every tensor in it makes sense
 */
gboolean
qm_safetensors_add_file (QmSafetensors  *self,
                         const char     *path,
                         GError        **error)
{
  gsize length = 0;
  goffset size = 0;
  g_autofree char *text = read_header_text (path, &length, &size, error);

  return text != NULL && qm_safetensors_add_header (self, text, length, (double) size - 8 - length, error);
}

/**
 * qm_safetensors_clear:
 * @self: what was seen, or zeros
 */
void
qm_safetensors_clear (QmSafetensors *self)
{
  g_clear_pointer (&self->names, g_hash_table_unref);
}
