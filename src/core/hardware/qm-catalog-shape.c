/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "plan/qm-plan-fields.h"
#include "qm-catalog-private.h"
#include "qm-error.h"

/* A person's table takes the place of a shipped one, and is read by the same
 * code. What the shipped one has under a name says what is to be there. */

typedef struct {
  QmCatalogFile *file;
  GString *path;
  GError **error;
} Checker;

typedef enum {
  KIND_OBJECT = 1 << 0,
  KIND_ARRAY = 1 << 1,
  KIND_NULL = 1 << 2,
  KIND_TEXT = 1 << 3,
  KIND_BOOLEAN = 1 << 4,
  KIND_NUMBER = 1 << 5,
} Kind;

static Kind
kind_of (JsonNode *node)
{
  if (JSON_NODE_HOLDS_OBJECT (node))
    return KIND_OBJECT;
  if (JSON_NODE_HOLDS_ARRAY (node))
    return KIND_ARRAY;
  if (JSON_NODE_HOLDS_NULL (node))
    return KIND_NULL;
  if (json_node_get_value_type (node) == G_TYPE_STRING)
    return KIND_TEXT;

  return json_node_get_value_type (node) == G_TYPE_BOOLEAN ? KIND_BOOLEAN : KIND_NUMBER;
}

static const char *
words_for (guint kinds)
{
  return kinds & KIND_OBJECT ? N_("an object") : kinds & KIND_ARRAY ? N_("a list") : kinds & KIND_TEXT ? N_("a text")
         : kinds & KIND_BOOLEAN ? N_("true or false") : kinds & KIND_NUMBER ? N_("a number") : N_("null");
}

static gboolean
fail (Checker *self,
      guint    wanted,
      Kind     found)
{
  g_autoptr (QmJsonLines) lines = qm_json_lines_new (self->file->text, strlen (self->file->text), NULL);
  int line = lines != NULL && self->path->len > 0 ? qm_json_lines_find (lines, self->path->str) : 0;

  qm_error_set (self->error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_TYPE, self->path->len > 0 ? self->path->str : NULL,
                N_("{wanted} is expected, found {found}"), "=wanted", words_for (wanted), "=found", words_for (found), NULL);
  if (self->error != NULL)
    qm_error_locate (*self->error, self->file->shown, MAX (1, line));

  return FALSE;
}

static gboolean check (Checker   *self,
                       JsonNode  *node,
                       GPtrArray *shipped);

static gboolean
check_object (Checker    *self,
              JsonObject *object,
              GPtrArray  *shipped)
{
  g_autoptr (GList) names = json_object_get_members (object);
  gsize before = self->path->len;

  for (GList *l = names; l != NULL; l = l->next)
    {
      g_autoptr (GPtrArray) members = g_ptr_array_new ();

      for (guint i = 0; i < shipped->len; i++)
        {
          JsonNode *other = g_ptr_array_index (shipped, i);

          if (JSON_NODE_HOLDS_OBJECT (other) && json_object_has_member (json_node_get_object (other), l->data))
            g_ptr_array_add (members, json_object_get_member (json_node_get_object (other), l->data));
        }
      g_string_append_printf (self->path, "%s%s", before > 0 ? "." : "", (char *) l->data);
      if (!check (self, json_object_get_member (object, l->data), members))
        return FALSE;
      g_string_truncate (self->path, before);
    }

  return TRUE;
}

static gboolean
check_array (Checker   *self,
             JsonArray *array,
             GPtrArray *shipped)
{
  g_autoptr (GPtrArray) elements = g_ptr_array_new ();
  gsize before = self->path->len;

  for (guint i = 0; i < shipped->len; i++)
    {
      JsonNode *other = g_ptr_array_index (shipped, i);

      for (guint j = 0; JSON_NODE_HOLDS_ARRAY (other) && j < json_array_get_length (json_node_get_array (other)); j++)
        g_ptr_array_add (elements, json_array_get_element (json_node_get_array (other), j));
    }

  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      g_string_append_printf (self->path, "[%u]", i);
      if (!check (self, json_array_get_element (array, i), elements))
        return FALSE;
      g_string_truncate (self->path, before);
    }

  return TRUE;
}

/* @shipped is all that the program comes with in the same place. */
static gboolean
check (Checker   *self,
       JsonNode  *node,
       GPtrArray *shipped)
{
  Kind kind = kind_of (node);
  guint kinds = 0;

  for (guint i = 0; i < shipped->len; i++)
    kinds |= kind_of (g_ptr_array_index (shipped, i));

  if (kinds != 0 && (kinds & kind) == 0)
    return fail (self, kinds, kind);
  if (kind == KIND_OBJECT)
    return check_object (self, json_node_get_object (node), shipped);
  if (kind == KIND_ARRAY)
    return check_array (self, json_node_get_array (node), shipped);

  return TRUE;
}

/**
 * qm_catalog_check_shape:
 * @file: a file of the person's own
 * @shipped: (element-type JsonNode): what is shipped in its place; may be empty
 * @error: return location for a #QM_CATALOG_ERROR
 *
 * A name that is not shipped is let pass: nothing reads it.
 *
 * Returns: whether everything in @file is of a kind that is shipped under the
 *   same name
 */
gboolean
qm_catalog_check_shape (QmCatalogFile  *file,
                        GPtrArray      *shipped,
                        GError        **error)
{
  g_autoptr (GString) path = g_string_new (NULL);
  Checker checker = { file, path, error };

  return check (&checker, file->root, shipped);
}
