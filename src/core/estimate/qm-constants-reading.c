/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-constants-reading.h"

#include <string.h>

/**
 * qm_constants_node:
 * @object: an object
 * @key: name of a member
 * @type: what it is to be
 *
 * Returns: (transfer none) (nullable): the member; %NULL where there is none of
 *   this type
 */
JsonNode *
qm_constants_node (JsonObject   *object,
                   const char   *key,
                   JsonNodeType  type)
{
  JsonNode *node = json_object_get_member (object, key);

  return node != NULL && json_node_get_node_type (node) == type ? node : NULL;
}

/**
 * qm_constants_number:
 * @object: an object
 * @key: name of a member
 * @otherwise: what stands for a member that is missing, or no number
 *
 * Returns: the number
 */
double
qm_constants_number (JsonObject *object,
                     const char *key,
                     double      otherwise)
{
  JsonNode *node = qm_constants_node (object, key, JSON_NODE_VALUE);
  GType type = node != NULL ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return type == G_TYPE_DOUBLE || type == G_TYPE_INT64 ? json_node_get_double (node) : otherwise;
}

/**
 * qm_constants_string:
 * @object: an object
 * @key: name of a member
 *
 * Returns: (transfer none) (nullable): the string; %NULL where there is none
 */
const char *
qm_constants_string (JsonObject *object,
                     const char *key)
{
  JsonNode *node = qm_constants_node (object, key, JSON_NODE_VALUE);

  return node != NULL && json_node_get_value_type (node) == G_TYPE_STRING ? json_node_get_string (node) : NULL;
}

/**
 * qm_constants_find_word:
 * @words: (array length=n) (element-type utf8): words; %NULL is none
 * @n: how many
 * @word: (nullable): one of them
 *
 * Returns: its index; -1 where it is not among them
 */
int
qm_constants_find_word (const char *const *words,
                        int                n,
                        const char        *word)
{
  for (int i = 0; word != NULL && i < n; i++)
    if (words[i] != NULL && strcmp (words[i], word) == 0)
      return i;

  return -1;
}
