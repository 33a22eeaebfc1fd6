/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-json-box.h"

/**
 * qm_json_box_new:
 * @root: (transfer full): a tree that nobody else holds
 *
 * Returns: (transfer full): a box with it
 */
QmJsonBox *
qm_json_box_new (JsonNode *root)
{
  QmJsonBox *self = g_atomic_rc_box_new0 (QmJsonBox);

  self->root = root;
  return self;
}

/**
 * qm_json_box_new_object:
 * @object: (transfer full): an object that nobody else holds
 *
 * Returns: (transfer full): a box with it
 */
QmJsonBox *
qm_json_box_new_object (JsonObject *object)
{
  JsonNode *root = json_node_new (JSON_NODE_OBJECT);

  json_node_take_object (root, object);
  return qm_json_box_new (root);
}

/**
 * qm_json_box_ref:
 * @self: (nullable): a box
 *
 * Returns: (transfer full) (nullable): @self, held once more
 */
QmJsonBox *
qm_json_box_ref (QmJsonBox *self)
{
  return self != NULL ? g_atomic_rc_box_acquire (self) : NULL;
}

static void
clear (gpointer data)
{
  QmJsonBox *self = data;

  json_node_unref (self->root);
}

/**
 * qm_json_box_unref:
 * @self: (transfer full): a box
 */
void
qm_json_box_unref (QmJsonBox *self)
{
  g_atomic_rc_box_release_full (self, clear);
}

/**
 * qm_json_box_object:
 * @self: a box whose root is an object
 *
 * Returns: (transfer none): that object
 */
JsonObject *
qm_json_box_object (const QmJsonBox *self)
{
  return json_node_get_object (self->root);
}

static JsonNode *copy_node (JsonNode *node);

static JsonObject *
copy_object (JsonObject *object)
{
  JsonObject *copy = json_object_new ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    json_object_set_member (copy, name, copy_node (node));

  return copy;
}

static JsonArray *
copy_array (JsonArray *array)
{
  guint n = json_array_get_length (array);
  JsonArray *copy = json_array_sized_new (n);

  for (guint i = 0; i < n; i++)
    json_array_add_element (copy, copy_node (json_array_get_element (array, i)));

  return copy;
}

/* json_node_copy() shares what a node holds: that counts references. */
static JsonNode *
copy_node (JsonNode *node)
{
  JsonNode *copy = json_node_new (JSON_NODE_TYPE (node));

  if (JSON_NODE_HOLDS_OBJECT (node))
    json_node_take_object (copy, copy_object (json_node_get_object (node)));
  else if (JSON_NODE_HOLDS_ARRAY (node))
    json_node_take_array (copy, copy_array (json_node_get_array (node)));
  else if (JSON_NODE_HOLDS_VALUE (node))
    {
      g_auto (GValue) value = G_VALUE_INIT;

      json_node_get_value (node, &value);
      json_node_set_value (copy, &value);
    }

  return copy;
}

/**
 * qm_json_box_dup_root:
 * @self: a box
 *
 * Returns: (transfer full): a copy of its root, which shares nothing with it
 */
JsonNode *
qm_json_box_dup_root (const QmJsonBox *self)
{
  return copy_node (self->root);
}
