/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "plan/qm-plan-fields.h"
#include "qm-error.h"
#include "qm-file.h"
#include "qm-json-error.h"
#include "qm-launch-private.h"

/* formats.json as it must be: whoever reads it afterwards finds what is written
 * here, of the right kind, and need not look again. */

#define LARGEST_FILE (16 << 20)

typedef enum {
  KIND_TEXT,
  KIND_ID,                          /* small letters, digits and hyphens: it names a folder */
  KIND_FILE_NAME,                   /* without a folder */
  KIND_TRUTH,
  KIND_LIST,                        /* of objects */
  KIND_TEXTS,                       /* a list of texts, or of objects with a text */
  KIND_TEXT_OR_LIST,                /* one text, or a list of objects with a text */
} Kind;

typedef struct _Shape Shape;

typedef struct {
  const char *name;
  Kind kind;
  gboolean needed;
  const Shape *inner;               /* (nullable): of the objects in a list */
} Member;

struct _Shape {
  Member members[10];
};

static const Shape file_shape = { {
  { "template", KIND_FILE_NAME, TRUE, NULL }, { "name", KIND_FILE_NAME, TRUE, NULL }, { "executable", KIND_TRUTH, FALSE, NULL },
  { "when", KIND_TEXT, FALSE, NULL }, { "unless", KIND_TEXT, FALSE, NULL },
} };
static const Shape condition_shape = { {
  { "value", KIND_TEXT, TRUE, NULL }, { "is", KIND_TEXT, TRUE, NULL }, { "why", KIND_TEXT, TRUE, NULL },
} };
static const Shape sentence_shape = { {
  { "text", KIND_TEXT, TRUE, NULL }, { "when", KIND_TEXT, FALSE, NULL }, { "unless", KIND_TEXT, FALSE, NULL },
} };
static const Shape format_shape = { {
  { "id", KIND_ID, TRUE, NULL }, { "name", KIND_TEXT, TRUE, NULL }, { "files", KIND_LIST, TRUE, &file_shape },
  { "when", KIND_LIST, FALSE, &condition_shape }, { "start", KIND_TEXT_OR_LIST, FALSE, &sentence_shape },
  { "needs", KIND_TEXTS, FALSE, &sentence_shape }, { "guards", KIND_TEXTS, FALSE, &sentence_shape },
} };

static const char *
expected (Kind kind)
{
  switch (kind)
    {
    case KIND_TEXT:
      return N_("a text is expected here");
    case KIND_ID:
      return N_("a name of small letters, digits and hyphens is expected here");
    case KIND_FILE_NAME:
      return N_("the name of a file, without a folder, is expected here");
    case KIND_TRUTH:
      return N_("true or false is expected here");
    case KIND_LIST:
      return N_("a list of objects is expected here");
    case KIND_TEXTS:
      return N_("a list of texts is expected here");
    case KIND_TEXT_OR_LIST:
      return N_("a text, or a list of objects, is expected here");
    }

  return NULL;
}

static gboolean
fail (GError     **error,
      const char  *path,
      const char  *msgid)
{
  qm_error_set (error, QM_LAUNCH_ERROR, QM_LAUNCH_ERROR_TEMPLATE, path, msgid, NULL);
  return FALSE;
}

static const char *
text_of (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING ? json_node_get_string (node) : NULL;
}

static gboolean
is_id (const char *text)
{
  return text != NULL && text[0] != '\0' && text[0] != '-' &&
         strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen (text);
}

static gboolean
is_file_name (const char *text)
{
  return text != NULL && text[0] != '\0' && text[0] != '.' && strpbrk (text, "/\\") == NULL;
}

static gboolean
is_of_kind (JsonNode *node,
            Kind      kind)
{
  const char *text = text_of (node);

  switch (kind)
    {
    case KIND_TEXT:
      return text != NULL;
    case KIND_ID:
      return is_id (text);
    case KIND_FILE_NAME:
      return is_file_name (text);
    case KIND_TRUTH:
      return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN;
    case KIND_TEXT_OR_LIST:
      return text != NULL || JSON_NODE_HOLDS_ARRAY (node);
    case KIND_LIST:
    case KIND_TEXTS:
      return JSON_NODE_HOLDS_ARRAY (node);
    }

  return FALSE;
}

static gboolean check_object (JsonNode     *node,
                              const Shape  *shape,
                              const char   *path,
                              GError      **error);

static gboolean
check_elements (JsonArray     *list,
                const Member  *member,
                const char    *path,
                GError       **error)
{
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonNode *element = json_array_get_element (list, i);
      g_autofree char *inner = g_strdup_printf ("%s[%u]", path, i);

      if (member->kind == KIND_TEXTS && text_of (element) != NULL)
        continue;
      if (!check_object (element, member->inner, inner, error))
        return FALSE;
    }

  return TRUE;
}

/* A name with a mistake would else be left out in silence. */
static gboolean
check_names (JsonObject   *object,
             const Shape  *shape,
             const char   *path,
             GError      **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) known = NULL;
  g_autofree char *list = NULL;
  JsonObjectIter iter;
  const char *name;

  for (const Member *member = shape->members; member->name != NULL; member++)
    g_strv_builder_add (builder, member->name);
  known = g_strv_builder_end (builder);
  list = g_strjoinv (", ", known);

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, NULL))
    if (!g_strv_contains ((const char * const *) known, name))
      {
        g_autofree char *inner = g_strconcat (path, ".", name, NULL);

        qm_error_set (error, QM_LAUNCH_ERROR, QM_LAUNCH_ERROR_TEMPLATE, inner, N_("nothing here is called so; it is one of {list}"),
                      "list", list, NULL);
        return FALSE;
      }

  return TRUE;
}

static gboolean
check_object (JsonNode     *node,
              const Shape  *shape,
              const char   *path,
              GError      **error)
{
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return fail (error, path, N_("an object is expected here"));
  if (!check_names (json_node_get_object (node), shape, path, error))
    return FALSE;

  for (const Member *member = shape->members; member->name != NULL; member++)
    {
      JsonNode *value = json_object_get_member (json_node_get_object (node), member->name);
      g_autofree char *inner = g_strconcat (path, ".", member->name, NULL);

      if (value == NULL && member->needed)
        return fail (error, inner, N_("it is missing"));
      if (value == NULL)
        continue;
      if (!is_of_kind (value, member->kind))
        return fail (error, inner, expected (member->kind));
      if (JSON_NODE_HOLDS_ARRAY (value) && !check_elements (json_node_get_array (value), member, inner, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
check_unique (JsonArray  *formats,
              GError    **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < json_array_get_length (formats); i++)
    if (!g_hash_table_add (seen, (char *) json_object_get_string_member (json_array_get_object_element (formats, i), "id")))
      {
        g_autofree char *path = g_strdup_printf ("formats[%u].id", i);

        return fail (error, path, N_("another format has this name"));
      }

  return TRUE;
}

static JsonArray *
check_root (JsonNode  *root,
            GError   **error)
{
  static const Member formats = { "formats", KIND_LIST, TRUE, &format_shape };
  JsonNode *node = root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_object_get_member (json_node_get_object (root), formats.name) : NULL;
  JsonArray *list = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  if (list == NULL)
    fail (error, NULL, N_("an object with \"formats\", a list, is expected"));
  else if (check_elements (list, &formats, formats.name, error) && check_unique (list, error))
    return list;

  return NULL;
}

static JsonArray *
parse (JsonParser  *parser,
       const char  *text,
       gsize        length,
       guint       *line,
       GError     **error)
{
  g_autoptr (GError) local = NULL;

  if (json_parser_load_from_data (parser, text, length, &local))
    return check_root (json_parser_get_root (parser), error);

  qm_error_set (error, QM_LAUNCH_ERROR, QM_LAUNCH_ERROR_TEMPLATE, NULL, N_("not JSON: {what}"),
                "what", qm_json_error_split (local->message, line), NULL);
  return NULL;
}

/**
 * qm_launch_load_formats:
 * @parser: keeps what is read
 * @path: of `formats.json`
 * @error: return location for an error, with the file, the line and the place
 *
 * Reads the descriptions of all formats, and checks that each part is there and
 * of its kind.
 *
 * Returns: (transfer none): the list of formats, or %NULL with @error set
 */
JsonArray *
qm_launch_load_formats (JsonParser  *parser,
                        const char  *path,
                        GError     **error)
{
  g_autoptr (GError) local = NULL;
  g_autofree char *text = NULL;
  g_autoptr (QmJsonLines) lines = NULL;
  JsonArray *list;
  gsize length;
  guint line = 0;

  text = qm_file_read_regular (path, LARGEST_FILE, &length, error);
  if (text == NULL)
    return NULL;

  json_parser_set_strict (parser, TRUE);
  list = parse (parser, text, length, &line, &local);
  if (list != NULL)
    return list;

  lines = qm_json_lines_new (text, length, NULL);
  if (lines != NULL && qm_error_get_path (local) != NULL)
    line = qm_json_lines_find (lines, qm_error_get_path (local));
  qm_error_locate (local, path, line);
  g_propagate_error (error, g_steal_pointer (&local));
  return NULL;
}
