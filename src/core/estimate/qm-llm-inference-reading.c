/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-inference-constants.h"

#include <glib/gi18n.h>
#include <math.h>

#include "hardware/qm-catalog.h"
#include "qm-error.h"

/* What the files that read constants share. */

/**
 * qm_inference_missing:
 * @path: the key
 * @error: return location for an error of %QM_CATALOG_ERROR, which is set
 *
 * Returns: %FALSE
 */
gboolean
qm_inference_missing (const char  *path,
                      GError     **error)
{
  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING, path,
                N_("the constants of language-model inference lack “{word}”, or it is of the wrong type"), "word", path, NULL);
  return FALSE;
}

/**
 * qm_inference_unknown:
 * @path: the key
 * @word: what it names and there is not
 * @error: return location for an error of %QM_CATALOG_ERROR, which is set
 *
 * Returns: %FALSE
 */
gboolean
qm_inference_unknown (const char  *path,
                      const char  *word,
                      GError     **error)
{
  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_REFERENCE, path,
                N_("the constants of language-model inference name “{word}” in “{key}”, which there is not"),
                "word", word, "key", path, NULL);
  return FALSE;
}

/**
 * qm_inference_object:
 * @object: an object
 * @key: of a member
 * @error: return location for an error of %QM_CATALOG_ERROR
 *
 * Returns: (transfer none) (nullable): the object that is the member; %NULL with
 *   @error set
 */
JsonObject *
qm_inference_object (JsonObject  *object,
                     const char  *key,
                     GError     **error)
{
  JsonNode *node = qm_constants_node (object, key, JSON_NODE_OBJECT);

  if (node == NULL)
    {
      qm_inference_missing (key, error);
      return NULL;
    }

  return json_node_get_object (node);
}

/**
 * qm_inference_array:
 * @object: an object
 * @key: of a member
 * @at_most: lines that it may have
 * @error: return location for an error of %QM_CATALOG_ERROR
 *
 * Returns: (transfer none) (nullable): the array of objects that is the member;
 *   %NULL with @error set
 */
JsonArray *
qm_inference_array (JsonObject  *object,
                    const char  *key,
                    guint        at_most,
                    GError     **error)
{
  JsonNode *node = qm_constants_node (object, key, JSON_NODE_ARRAY);
  JsonArray *array = node != NULL ? json_node_get_array (node) : NULL;

  if (array == NULL)
    {
      qm_inference_missing (key, error);
      return NULL;
    }

  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      if (!JSON_NODE_HOLDS_OBJECT (json_array_get_element (array, i)))
        {
          qm_inference_missing (key, error);
          return NULL;
        }
    }

  if (json_array_get_length (array) > at_most)
    {
      qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_VALUE, key, N_("“{word}” has more than {most} lines"),
                    "word", key, "#most", (double) at_most, NULL);
      return NULL;
    }

  return array;
}

/**
 * qm_inference_copy_word:
 * @line: an object
 * @key: of a member
 * @into: (out caller-allocates): where its text is put
 * @size: bytes there, the end included
 * @error: return location for an error of %QM_CATALOG_ERROR
 *
 * Returns: whether there is such a text and it fits
 */
gboolean
qm_inference_copy_word (JsonObject  *line,
                        const char  *key,
                        char        *into,
                        gsize        size,
                        GError     **error)
{
  const char *word = qm_constants_string (line, key);

  if (word == NULL)
    return qm_inference_missing (key, error);

  if (g_strlcpy (into, word, size) < size)
    return TRUE;

  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_VALUE, NULL, N_("“{word}” is longer than {most} bytes"),
                "word", word, "#most", (double) (size - 1), NULL);
  return FALSE;
}

