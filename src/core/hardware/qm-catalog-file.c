/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "qm-catalog-record.h"

#include "hardware/qm-catalog.h"
#include "qm-error.h"
#include "qm-file.h"
#include "qm-json-error.h"

#define LARGEST_FILE (64 * 1024 * 1024)

/* What a reader of JSON text knows while it looks for a place in it. */
typedef struct {
  const char *at;
  guint line;
  int depth;
  const char *string;               /* the last string that was passed, without quotes */
  gsize length;
} Scanner;

static gboolean
scanner_string_is (const Scanner *self,
                   const char    *text)
{
  return self->string != NULL && strlen (text) == self->length && strncmp (self->string, text, self->length) == 0;
}

static void
scanner_skip_string (Scanner *self)
{
  self->string = ++self->at;
  while (*self->at != '"' && *self->at != '\0')
    self->at += self->at[0] == '\\' && self->at[1] != '\0' ? 2 : 1;
  self->length = self->at - self->string;
}

/**
 * qm_catalog_file_line:
 * @self: a file that was parsed without error
 * @array: the member of the root that holds the records
 * @index: which record
 * @field: (nullable): a member of the record
 *
 * json-glib keeps no positions, so the text is walked again; only errors ask.
 *
 * Returns: the line of @field, else that on which the record begins, else 1
 */
guint
qm_catalog_file_line (QmCatalogFile *self,
                      const char    *array,
                      guint          index,
                      const char    *field)
{
  Scanner scanner = { self->text, 1 };
  gboolean in_array = FALSE;
  guint begun = 0;
  guint record_line = 1;

  for (; *scanner.at != '\0'; scanner.at++)
    {
      char c = *scanner.at;

      if (c == '\n')
        scanner.line++;
      else if (c == '"')
        scanner_skip_string (&scanner);
      else if (c == ':' && scanner.depth == 1)
        in_array = scanner_string_is (&scanner, array);
      else if (c == ':' && scanner.depth == 3 && in_array && begun == index + 1 && field != NULL && scanner_string_is (&scanner, field))
        return scanner.line;
      else if (c == '{' || c == '[')
        {
          if (in_array && scanner.depth == 2 && begun++ == index)
            record_line = scanner.line;
          scanner.depth++;
        }
      else if (c == '}' || c == ']')
        scanner.depth--;

      if (*scanner.at == '\0')
        break;
    }

  return record_line;
}

static gboolean
parse (QmCatalogFile *self,
       GError       **error)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autoptr (GError) found = NULL;
  const char *reason;
  guint line;

  json_parser_set_strict (parser, TRUE);
  if (json_parser_load_from_data (parser, self->text, -1, &found))
    {
      self->tree = qm_json_box_new (json_parser_steal_root (parser));
      self->root = self->tree->root;
      return TRUE;
    }

  reason = qm_json_error_split (found->message, &line);
  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_SYNTAX, NULL, N_("not valid JSON: {what}"), "what", reason, NULL);
  if (error != NULL)
    qm_error_locate (*error, self->shown, line);
  return FALSE;
}

/**
 * qm_catalog_file_read:
 * @path: a JSON file
 * @is_users: whether it is of the user's own folder
 * @strings: where to keep what its records say
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the file, or %NULL with @error set
 *   where it cannot be read or is not valid JSON
 */
QmCatalogFile *
qm_catalog_file_read (const char    *path,
                      gboolean       is_users,
                      GStringChunk  *strings,
                      GError       **error)
{
  g_autoptr (QmCatalogFile) self = g_new0 (QmCatalogFile, 1);
  g_autofree char *base = g_path_get_basename (path);
  JsonNode *sources = NULL;
  gsize length;

  self->path = g_strdup (path);
  self->shown = g_strdup (is_users ? path : base);
  self->stem = g_strndup (base, strlen (base) - strlen (".json"));
  self->is_users = is_users;
  self->strings = strings;

  self->text = qm_file_read (path, LARGEST_FILE, &length, error);
  if (self->text == NULL)
    return NULL;
  if (length > LARGEST_FILE)
    {
      qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_SYNTAX, NULL, N_("larger than 64 MiB: no catalog file"), NULL);
      if (error != NULL)
        qm_error_locate (*error, self->shown, 1);
      return NULL;
    }
  if (!parse (self, error))
    return NULL;

  if (self->root != NULL && JSON_NODE_HOLDS_OBJECT (self->root))
    {
      JsonObject *root = json_node_get_object (self->root);

      self->format = json_object_get_string_member_with_default (root, "format", NULL);
      sources = json_object_get_member (root, "sources");
    }
  if (sources != NULL && JSON_NODE_HOLDS_OBJECT (sources))
    self->sources = json_node_get_object (sources);

  return g_steal_pointer (&self);
}

/**
 * qm_catalog_file_free:
 * @self: (transfer full): a file
 *
 * Frees @self and what was parsed from it.
 */
void
qm_catalog_file_free (QmCatalogFile *self)
{
  g_free (self->path);
  g_free (self->shown);
  g_free (self->stem);
  g_free (self->text);
  g_clear_pointer (&self->tree, qm_json_box_unref);
  g_free (self);
}

/**
 * qm_catalog_file_forget:
 * @self: a file of a catalog that is loaded without error
 * @whole: whether nothing but its strings is needed any more
 *
 * Frees what was there to be read, or to tell the line of an error: parsed text
 * takes ten times the memory of the records that are made of it.
 */
void
qm_catalog_file_forget (QmCatalogFile *self,
                        gboolean       whole)
{
  g_clear_pointer (&self->text, g_free);
  if (!whole)
    return;

  self->format = NULL;
  self->sources = NULL;
  self->root = NULL;
  g_clear_pointer (&self->tree, qm_json_box_unref);
}

/**
 * qm_catalog_file_records:
 * @self: a file of records
 * @array: the member that holds them
 * @error: return location
 *
 * Returns: (transfer none) (nullable): the records, or %NULL with @error set
 */
JsonArray *
qm_catalog_file_records (QmCatalogFile *self,
                         const char    *array,
                         GError       **error)
{
  JsonNode *node = json_object_get_member (json_node_get_object (self->root), array);

  if (node != NULL && JSON_NODE_HOLDS_ARRAY (node))
    return json_node_get_array (node);

  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING, array, N_("a list of records is expected"), NULL);
  if (error != NULL)
    qm_error_locate (*error, self->shown, 1);
  return NULL;
}
