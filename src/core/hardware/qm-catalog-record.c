/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-catalog-record.h"

#include "hardware/qm-catalog.h"
#include "qm-enum.h"
#include "qm-error.h"

static const char *
text_member (JsonObject *object,
             const char *name,
             const char *fallback)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
         ? json_node_get_string (node) : fallback;
}

static const char *
kind_of (JsonNode *node)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  if (JSON_NODE_HOLDS_NULL (node))
    return N_("null");
  if (JSON_NODE_HOLDS_OBJECT (node))
    return N_("an object");
  if (JSON_NODE_HOLDS_ARRAY (node))
    return N_("a list");
  if (type == G_TYPE_STRING)
    return N_("a text");
  return type == G_TYPE_BOOLEAN ? N_("true or false") : N_("a number");
}

/**
 * qm_record_fail:
 * @self: a record
 * @code: a #QmCatalogError
 * @field: the member that is wrong
 * @msgid: what is wrong and what would be right
 * @...: what fills its places, as of qm_message_new_filled()
 *
 * Notes the first error of the record, "FILE:LINE: FIELD: ...".
 */
void
qm_record_fail (QmRecord   *self,
                int         code,
                const char *field,
                const char *msgid,
                ...)
{
  g_autofree char *path = self->inside != NULL ? g_strconcat (self->inside, ".", field, NULL) : g_strdup (field);
  QmMessage *message;
  va_list arguments;

  if (self->failed)
    return;

  va_start (arguments, msgid);
  message = qm_message_new_valist ("error", msgid, arguments);
  va_end (arguments);

  qm_error_take (self->error, QM_CATALOG_ERROR, code, path, message);
  if (self->error != NULL)
    qm_error_locate (*self->error, self->file->shown,
                     qm_catalog_file_line (self->file, self->array, self->index, self->inside != NULL ? self->inside : field));
  self->failed = TRUE;
}

/**
 * qm_record_open:
 * @self: (out): a record to be read
 * @file: the file it is in
 * @array: the member of the file that holds it
 * @index: its place there
 * @node: the record
 * @error: return location of everything that is read from @self
 *
 * Returns: whether @node is an object
 */
gboolean
qm_record_open (QmRecord      *self,
                QmCatalogFile *file,
                const char    *array,
                guint          index,
                JsonNode      *node,
                GError       **error)
{
  *self = (QmRecord) { file, array, index, NULL, NULL, error, FALSE };
  if (JSON_NODE_HOLDS_OBJECT (node))
    {
      self->object = json_node_get_object (node);
      return TRUE;
    }

  qm_record_fail (self, QM_CATALOG_ERROR_TYPE, array, N_("a record is expected, found {found}"), "=found", kind_of (node), NULL);
  return FALSE;
}

/* The member, if there is one and it is not null. */
static JsonNode *
member (QmRecord   *self,
        const char *field)
{
  JsonNode *node = self->failed ? NULL : json_object_get_member (self->object, field);

  return node != NULL && !JSON_NODE_HOLDS_NULL (node) ? node : NULL;
}

/**
 * qm_record_open_inside:
 * @self: a record
 * @field: a member that is an object itself
 * @inside: (out): a reader of that object
 *
 * Returns: whether there is such a member; qm_record_close_inside() is then due
 */
gboolean
qm_record_open_inside (QmRecord   *self,
                       const char *field,
                       QmRecord   *inside)
{
  JsonNode *node = member (self, field);

  if (node == NULL)
    return FALSE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    {
      qm_record_fail (self, QM_CATALOG_ERROR_TYPE, field, N_("an object is expected, found {found}"), "=found", kind_of (node), NULL);
      return FALSE;
    }

  *inside = *self;
  inside->inside = field;
  inside->object = json_node_get_object (node);
  return TRUE;
}

/**
 * qm_record_close_inside:
 * @self: a record
 * @inside: a reader of one of its members
 *
 * Takes over the error of @inside, if it has one.
 */
void
qm_record_close_inside (QmRecord *self,
                        QmRecord *inside)
{
  self->failed = inside->failed;
}

/**
 * qm_record_number:
 * @self: a record
 * @field: a member
 * @missing: the value where there is no such member
 *
 * Quantities of hardware are never negative, so a negative one is an error.
 *
 * Returns: the number
 */
double
qm_record_number (QmRecord   *self,
                  const char *field,
                  double      missing)
{
  JsonNode *node = member (self, field);
  GType type = node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;
  double value;

  if (node == NULL)
    return missing;
  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
    {
      qm_record_fail (self, QM_CATALOG_ERROR_TYPE, field, N_("a number is expected, found {found}"), "=found", kind_of (node), NULL);
      return missing;
    }

  value = json_node_get_double (node);
  if (!isfinite (value) || value < 0)
    {
      qm_record_fail (self, QM_CATALOG_ERROR_VALUE, field, N_("must not be negative, found {value}"), "#value", value, NULL);
      return missing;
    }
  return value;
}

/* Kept as long as the catalog. */
static const char *
keep (QmRecord   *self,
      const char *text)
{
  return text != NULL ? g_string_chunk_insert_const (self->file->strings, text) : NULL;
}

/**
 * qm_record_string:
 * @self: a record
 * @field: a member
 *
 * Returns: (nullable): the text, %NULL where there is none; it belongs to the
 *   catalog
 */
const char *
qm_record_string (QmRecord   *self,
                  const char *field)
{
  JsonNode *node = member (self, field);

  if (node == NULL)
    return NULL;
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    return keep (self, json_node_get_string (node));

  qm_record_fail (self, QM_CATALOG_ERROR_TYPE, field, N_("a text is expected, found {found}"), "=found", kind_of (node), NULL);
  return NULL;
}

/**
 * qm_record_require_string:
 * @self: a record
 * @field: a member that every record has
 *
 * Returns: (nullable): the text; %NULL after an error
 */
const char *
qm_record_require_string (QmRecord   *self,
                          const char *field)
{
  const char *text = qm_record_string (self, field);

  if (!self->failed && (text == NULL || *text == '\0'))
    qm_record_fail (self, QM_CATALOG_ERROR_MISSING, field, N_("is missing"), NULL);
  return text;
}

/**
 * qm_record_boolean:
 * @self: a record
 * @field: a member
 *
 * Returns: whether it is true; %FALSE where it is missing
 */
gboolean
qm_record_boolean (QmRecord   *self,
                   const char *field)
{
  JsonNode *node = member (self, field);

  if (node == NULL)
    return FALSE;
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN)
    return json_node_get_boolean (node);

  qm_record_fail (self, QM_CATALOG_ERROR_TYPE, field, N_("true or false is expected, found {found}"), "=found", kind_of (node), NULL);
  return FALSE;
}

/**
 * qm_record_strings:
 * @self: a record
 * @field: a member that is a list of strings
 * @strings: (element-type utf8): where to add them; they belong to the
 *   catalog
 *
 * Adds nothing where the member is missing.
 */
void
qm_record_strings (QmRecord   *self,
                   const char *field,
                   GPtrArray  *strings)
{
  JsonNode *node = member (self, field);
  JsonArray *array = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  if (node != NULL && array == NULL)
    qm_record_fail (self, QM_CATALOG_ERROR_TYPE, field, N_("a list of texts is expected, found {found}"), "=found", kind_of (node), NULL);

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    {
      JsonNode *element = json_array_get_element (array, i);

      if (!JSON_NODE_HOLDS_VALUE (element) || json_node_get_value_type (element) != G_TYPE_STRING)
        {
          qm_record_fail (self, QM_CATALOG_ERROR_TYPE, field, N_("a list of texts is expected, found {found} in it"), "=found", kind_of (element), NULL);
          return;
        }
      g_ptr_array_add (strings, (char *) keep (self, json_node_get_string (element)));
    }
}

/**
 * qm_record_word:
 * @self: a record
 * @field: a member that every record has
 * @type: the enumeration whose words it may have
 *
 * Returns: the value of the word; 0 after an error
 */
int
qm_record_word (QmRecord   *self,
                const char *field,
                GType       type)
{
  const char *word = qm_record_require_string (self, field);
  int value = 0;

  if (!self->failed && !qm_enum_from_word (type, word, &value))
    {
      g_autofree char *words = qm_enum_words (type);

      qm_record_fail (self, QM_CATALOG_ERROR_VALUE, field, N_("“{word}” is not one of {words}"), "word", word, "words", words, NULL);
    }
  return value;
}

/* Whether it looks like the key of a source: letters, digits and hyphens. */
static gboolean
is_key (const char *text,
        gsize       length)
{
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_islower (text[i]) && !g_ascii_isdigit (text[i]) && text[i] != '-')
      return FALSE;
  return length > 0;
}

/* Appends what @reference means: "KEY" or "KEY: detail" of the table of
 * sources, or a text of its own. The newest date of all wins. */
static void
append_source (QmRecord    *self,
               const char  *field,
               const char  *reference,
               GString     *text,
               const char **as_of)
{
  const char *detail = strstr (reference, ": ");
  gsize length = detail != NULL ? (gsize) (detail - reference) : strlen (reference);
  g_autofree char *key = g_strndup (reference, length);
  JsonObject *source = NULL;
  const char *date;

  if (is_key (reference, length))
    {
      JsonNode *node = self->file->sources != NULL ? json_object_get_member (self->file->sources, key) : NULL;

      if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
        {
          qm_record_fail (self, QM_CATALOG_ERROR_REFERENCE, field, N_("“{word}” is not one of the sources of this file"), "word", key, NULL);
          return;
        }
      source = json_node_get_object (node);
    }

  if (text->len > 0)
    g_string_append (text, "; ");
  if (source == NULL)
    {
      g_string_append (text, reference);
      return;
    }

  g_string_append (text, text_member (source, "text", key));
  g_string_append (text, detail != NULL ? detail : "");
  date = text_member (source, "as_of", NULL);
  if (date != NULL && as_of != NULL && (*as_of == NULL || strcmp (date, *as_of) > 0))
    *as_of = keep (self, date);
}

/**
 * qm_record_source:
 * @self: a record
 * @field: a member: a reference to a source, or a list of them
 * @as_of: (out) (optional) (nullable): the newest date that the table of
 *   sources gives for them
 *
 * Returns: (nullable): the sources, written out; %NULL where none is given
 */
const char *
qm_record_source (QmRecord      *self,
                  const char    *field,
                  const char   **as_of)
{
  g_autoptr (GPtrArray) references = g_ptr_array_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  JsonNode *node = member (self, field);

  if (as_of != NULL)
    *as_of = NULL;
  if (node != NULL && JSON_NODE_HOLDS_VALUE (node))
    g_ptr_array_add (references, (char *) qm_record_string (self, field));
  else
    qm_record_strings (self, field, references);

  for (guint i = 0; i < references->len && !self->failed; i++)
    append_source (self, field, g_ptr_array_index (references, i), text, as_of);

  return text->len > 0 && !self->failed ? keep (self, text->str) : NULL;
}
