/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-gguf-reader.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-model-resolve.h"
#include "qm-error.h"
#include "qm-file.h"

#define MAX_TENSORS 1000000
#define MAX_ENTRIES 100000
#define MAX_ELEMENTS 1e16
#define MAX_LIST 8192
#define MAX_NAME 65536
#define MAX_DIMENSIONS 8
#define MAX_DEPTH 4

enum {
  VALUE_UINT8, VALUE_INT8, VALUE_UINT16, VALUE_INT16, VALUE_UINT32, VALUE_INT32, VALUE_FLOAT32, VALUE_BOOL,
  VALUE_STRING, VALUE_ARRAY, VALUE_UINT64, VALUE_INT64, VALUE_FLOAT64, N_VALUES,
};

static const guint8 value_bytes[N_VALUES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

/* Elements and bytes of a block, by tensor type; the layout of the ggml library. */
static const struct { guint16 elements, bytes; } blocks[] = {
  [0] = { 1, 4 }, [1] = { 1, 2 }, [2] = { 32, 18 }, [3] = { 32, 20 }, [6] = { 32, 22 }, [7] = { 32, 24 },
  [8] = { 32, 34 }, [9] = { 32, 36 }, [10] = { 256, 84 }, [11] = { 256, 110 }, [12] = { 256, 144 },
  [13] = { 256, 176 }, [14] = { 256, 210 }, [15] = { 256, 292 }, [16] = { 256, 66 }, [17] = { 256, 74 },
  [18] = { 256, 98 }, [19] = { 256, 50 }, [20] = { 32, 18 }, [21] = { 256, 110 }, [22] = { 256, 82 },
  [23] = { 256, 136 }, [24] = { 1, 1 }, [25] = { 1, 2 }, [26] = { 1, 4 }, [27] = { 1, 8 }, [28] = { 1, 8 },
  [29] = { 256, 56 }, [30] = { 1, 2 }, [34] = { 256, 54 }, [35] = { 256, 66 }, [39] = { 32, 17 }, [40] = { 64, 36 },
};

/* The first read that leaves the file marks the cursor as spent; later ones give 0. */
typedef struct {
  const guint8 *data;
  gsize length;
  gsize at;
  gboolean spent;
  double end;                       /* of the last tensor, after the header */
  double bytes;                     /* of all tensors */
  gboolean odd_types;               /* a tensor of a type that is not in the table */
} Cursor;

static const guint8 *
take (Cursor  *cursor,
      guint64  bytes)
{
  const guint8 *start = cursor->data + cursor->at;

  if (cursor->spent || bytes > cursor->length - cursor->at)
    {
      cursor->spent = TRUE;
      return NULL;
    }
  cursor->at += bytes;
  return start;
}

static guint32
take_32 (Cursor *cursor)
{
  const guint8 *bytes = take (cursor, 4);
  guint32 value = 0;

  if (bytes != NULL)
    memcpy (&value, bytes, sizeof value);
  return GUINT32_FROM_LE (value);
}

static guint64
take_64 (Cursor *cursor)
{
  const guint8 *bytes = take (cursor, 8);
  guint64 value = 0;

  if (bytes != NULL)
    memcpy (&value, bytes, sizeof value);
  return GUINT64_FROM_LE (value);
}

static char *
take_string (Cursor *cursor)
{
  guint64 length = take_64 (cursor);
  const guint8 *bytes = take (cursor, length);

  if (bytes == NULL || length > MAX_NAME)
    return g_strdup ("");
  return g_utf8_make_valid ((const char *) bytes, length);
}

static double
take_float (Cursor *cursor,
            guint32 type)
{
  guint64 bits = type == VALUE_FLOAT32 ? take_32 (cursor) : take_64 (cursor);
  guint32 half = bits;
  float single;
  double value;

  if (type == VALUE_FLOAT32)
    {
      memcpy (&single, &half, sizeof single);
      return single;
    }
  memcpy (&value, &bits, sizeof value);
  return value;
}

static double
take_number (Cursor *cursor,
             guint32 type)
{
  const guint8 *bytes;

  switch (type)
    {
    case VALUE_UINT8:
    case VALUE_BOOL:
      bytes = take (cursor, 1);
      return bytes != NULL ? *bytes : 0;
    case VALUE_INT8:
      bytes = take (cursor, 1);
      return bytes != NULL ? (gint8) *bytes : 0;
    case VALUE_UINT16:
    case VALUE_INT16:
      bytes = take (cursor, 2);
      if (bytes == NULL)
        return 0;
      return type == VALUE_UINT16 ? bytes[0] | bytes[1] << 8 : (gint16) (bytes[0] | bytes[1] << 8);
    case VALUE_UINT32:
      return take_32 (cursor);
    case VALUE_INT32:
      return (gint32) take_32 (cursor);
    case VALUE_UINT64:
      return take_64 (cursor);
    case VALUE_INT64:
      return (gint64) take_64 (cursor);
    default:
      return take_float (cursor, type);
    }
}

static void
skip_array (Cursor  *cursor,
            guint32  type,
            guint64  count,
            int      depth)
{
  if (type < N_VALUES && value_bytes[type] > 0)
    {
      if (count > cursor->length)
        cursor->spent = TRUE;
      take (cursor, count * value_bytes[type]);
      return;
    }
  if (depth > MAX_DEPTH || type >= N_VALUES)
    cursor->spent = TRUE;
  for (guint64 i = 0; i < count && !cursor->spent; i++)
    if (type == VALUE_STRING)
      {
        take (cursor, take_64 (cursor));
      }
    else
      {
        guint32 inner = take_32 (cursor);
        guint64 inner_count = take_64 (cursor);

        skip_array (cursor, inner, inner_count, depth + 1);
      }
}

static void
set_number (JsonObject *metadata,
            const char *key,
            double      value)
{
  if (isfinite (value))
    json_object_set_double_member (metadata, key, value);
}

static void
read_array (QmGguf     *self,
            Cursor     *cursor,
            const char *key)
{
  guint32 type = take_32 (cursor);
  guint64 count = take_64 (cursor);
  g_autofree char *length_key = g_strconcat (key, "#", NULL);
  JsonArray *array;

  if (count > MAX_LIST || type >= N_VALUES || value_bytes[type] == 0)
    {
      skip_array (cursor, type, count, 0);
      set_number (self->metadata, length_key, count);
      return;
    }
  array = json_array_new ();
  for (guint64 i = 0; i < count && !cursor->spent; i++)
    {
      double value = take_number (cursor, type);

      json_array_add_double_element (array, isfinite (value) ? value : 0);
    }
  json_object_set_array_member (self->metadata, key, array);
}

static void
read_entry (QmGguf *self,
            Cursor *cursor)
{
  g_autofree char *key = take_string (cursor);
  guint32 type = take_32 (cursor);
  g_autofree char *text = NULL;

  if (cursor->spent)
    return;
  if (type == VALUE_STRING)
    {
      text = take_string (cursor);
      json_object_set_string_member (self->metadata, key, text);
    }
  else if (type == VALUE_ARRAY)
    read_array (self, cursor, key);
  else if (type < N_VALUES)
    set_number (self->metadata, key, take_number (cursor, type));
  else
    cursor->spent = TRUE;
}

static gboolean
read_tensor (QmGguf  *self,
             Cursor  *cursor,
             GError **error)
{
  g_autofree char *name = take_string (cursor);
  guint32 dimensions = take_32 (cursor);
  double elements = 1, offset, bytes = 0;
  guint32 type;

  if (dimensions > MAX_DIMENSIONS)
    cursor->spent = TRUE;
  for (guint32 i = 0; i < dimensions && !cursor->spent; i++)
    elements *= take_64 (cursor);
  type = take_32 (cursor);
  offset = take_64 (cursor);
  if (cursor->spent)
    return TRUE;
  if (elements > MAX_ELEMENTS)
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE, NULL, N_("the tensor {name} is larger than any tensor"),
                    "name", name, NULL);
      return FALSE;
    }
  self->has_output |= g_str_equal (name, "output.weight");
  if (type < G_N_ELEMENTS (blocks) && blocks[type].elements > 0)
    bytes = ceil (elements / blocks[type].elements) * blocks[type].bytes;
  else
    cursor->odd_types = TRUE;
  cursor->bytes += bytes;
  cursor->end = MAX (cursor->end, offset + bytes);
  if (!g_hash_table_add (self->names, g_steal_pointer (&name)))
    {
      self->repeated++;
      return TRUE;
    }
  self->parameters += elements;
  self->bytes += bytes;
  self->tensors++;
  return TRUE;
}

static gboolean
read_header (QmGguf  *self,
             Cursor  *cursor,
             GError **error)
{
  guint32 version;
  guint64 tensors, entries;

  take (cursor, 4);
  version = take_32 (cursor);
  if (cursor->data == NULL || memcmp (cursor->data, "GGUF", MIN (4, cursor->length)) != 0)
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                    N_("the file is called GGUF but does not begin like one"), NULL);
      return FALSE;
    }
  if (!cursor->spent && (version < 2 || version > 3))
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                    version > 0xffff && GUINT32_SWAP_LE_BE (version) <= 3 ? N_("the GGUF file is written for big-endian machines; convert it")
                    : N_("the GGUF file is of version {version}; versions 2 and 3 can be read"), "#version", (double) version, NULL);
      return FALSE;
    }
  tensors = take_64 (cursor);
  entries = take_64 (cursor);
  if (tensors > MAX_TENSORS || entries > MAX_ENTRIES)
    cursor->spent = TRUE;
  for (guint64 i = 0; i < entries && !cursor->spent; i++)
    read_entry (self, cursor);
  for (guint64 i = 0; i < tensors && !cursor->spent; i++)
    if (!read_tensor (self, cursor, error))
      return FALSE;
  if (!cursor->spent)
    return TRUE;
  qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                N_("the GGUF file is damaged or cut short: its header does not end within the file"), NULL);
  return FALSE;
}

static gboolean
read_bytes (QmGguf        *self,
            const guint8  *data,
            gsize          length,
            GError       **error)
{
  Cursor cursor = { .data = data, .length = length };

  if (self->names == NULL)
    self->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->metadata = json_object_new ();
  if (!read_header (self, &cursor, error))
    {
      qm_gguf_clear (self);
      return FALSE;
    }
  self->cut_short = cursor.end > cursor.length - cursor.at;
  self->doubtful = cursor.bytes > cursor.end;
  if (cursor.odd_types)
    self->bytes = cursor.length - cursor.at;
  return TRUE;
}

/**
 * qm_gguf_read_bytes:
 * @self: (out caller-allocates): where to put it
 * @data: (array length=length): a GGUF file
 * @length: its bytes
 * @error: return location for an error
 *
 * Reads the header alone; no length in it is believed before it is compared
 * with @length. Where a tensor is of a type that nobody told of, all that
 * follows the header counts as tensors.
 *
 * Returns: whether it is a GGUF file in one piece up to its tensors
 */
gboolean
qm_gguf_read_bytes (QmGguf        *self,
                    const guint8  *data,
                    gsize          length,
                    GError       **error)
{
  *self = (QmGguf) { 0 };
  return read_bytes (self, data, length, error);
}

/**
 * qm_gguf_read:
 * @self: (out caller-allocates): where to put it
 * @path: a GGUF file
 * @error: return location for an error
 *
 * Like qm_gguf_read_bytes(); the file is mapped, and only its header touched.
 *
 * Returns: whether it is a GGUF file in one piece up to its tensors
 */
gboolean
qm_gguf_read (QmGguf      *self,
              const char  *path,
              GError     **error)
{
  return qm_gguf_read_after (self, NULL, path, error);
}

/**
 * qm_gguf_read_after:
 * @self: (out caller-allocates): where to put it
 * @before: (nullable): what the parts before this one hold
 * @path: a GGUF file
 * @error: return location for an error
 *
 * Like qm_gguf_read() of the next part of a model: tensors of the same name as
 * one of @before are not counted. Their names go over to @before.
 *
 * Returns: whether it is a GGUF file in one piece up to its tensors
 */
gboolean
qm_gguf_read_after (QmGguf      *self,
                    QmGguf      *before,
                    const char  *path,
                    GError     **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, &reason);

  *self = (QmGguf) { .names = before != NULL ? g_hash_table_ref (before->names) : NULL };
  if (file != NULL)
    return read_bytes (self, (const guint8 *) g_mapped_file_get_contents (file),
                               g_mapped_file_get_length (file), error);
  qm_file_set_error (error, path, reason);
  return FALSE;
}

/**
 * qm_gguf_clear:
 * @self: a header that was read, or zeros
 */
void
qm_gguf_clear (QmGguf *self)
{
  g_clear_pointer (&self->metadata, json_object_unref);
  g_clear_pointer (&self->names, g_hash_table_unref);
}
