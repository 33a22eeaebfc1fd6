/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "plan/qm-plan-fields.h"
#include "plan/qm-vocabulary.h"

#define FORMAT "quartermaster-plan"
#define VERSION 1

/* Plans are small; anything larger is something else. */
#define LARGEST_FILE (16 * 1024 * 1024)
#define DEEPEST_NESTING 100

/* Changes a plan of version N into one of version N + 1. */
typedef gboolean (*Migration) (JsonObject *object);

/* One entry for each version before the present one; index 0 is version 1. */
static const Migration migrations[VERSION] = { NULL };

typedef struct {
  const char *data;                 /* (nullable): for lines */
  gsize length;
  GPtrArray *warnings;              /* (nullable) */
} Reader;

static int
line_of (Reader     *self,
         const char *path)
{
  return self->data != NULL ? qm_json_line_of (self->data, self->length, path) : 0;
}

/* "LINE: message", for the file's name to be put in front. */
static void
prefix_line (Reader      *self,
             const char  *path,
             GError     **error)
{
  int line = line_of (self, path);

  if (line > 0)
    g_prefix_error (error, "%d: ", line);
}

static void
warn (Reader     *self,
      const char *path,
      char       *text)
{
  QmPlanWarning *warning;

  if (self->warnings == NULL)
    {
      g_free (text);
      return;
    }

  warning = g_new0 (QmPlanWarning, 1);
  warning->line = line_of (self, path);
  warning->path = g_strdup (path);
  warning->text = text;
  g_ptr_array_add (self->warnings, warning);
}

/* ------------------------------------------------------------------ unknown keys */

static const char *
nearest_path (const char *path)
{
  guint n, least = G_MAXUINT;
  const QmField *fields = qm_plan_fields (&n);
  const char *nearest = NULL;

  for (guint i = 0; i < n; i++)
    {
      guint distance = qm_edit_distance (path, fields[i].path);

      if (distance < least)
        {
          least = distance;
          nearest = fields[i].path;
        }
    }

  return nearest;
}

static gboolean
is_section (const char *path)
{
  g_autofree char *prefix = g_strconcat (path, ".", NULL);
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  for (guint i = 0; i < n; i++)
    if (g_str_has_prefix (fields[i].path, prefix))
      return TRUE;

  return FALSE;
}

static gboolean
read_object (Reader      *self,
             QmPlan      *plan,
             JsonObject  *object,
             const char  *prefix,
             GError     **error);

static gboolean
read_member (Reader      *self,
             QmPlan      *plan,
             const char  *path,
             JsonNode    *node,
             GError     **error);

/* ------------------------------------------------------------------------ owned */

static gboolean
read_owned_machine (Reader      *self,
                    QmOwned     *owned,
                    JsonNode    *node,
                    GError     **error)
{
  JsonObject *object;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    {
      g_set_error_literal (error, QM_PLAN_ERROR, QM_PLAN_ERROR_TYPE, "places.owned: objects with device, devices and nodes are expected");
      return FALSE;
    }

  object = json_node_get_object (node);
  qm_word_set (owned->device, json_object_get_string_member_with_default (object, "device", ""));
  owned->devices = (int) CLAMP (json_object_get_int_member_with_default (object, "devices", 1), -1, 1000000);
  owned->nodes = (int) CLAMP (json_object_get_int_member_with_default (object, "nodes", 1), -1, 1000000);
  if (owned->device[0] == '\0' || owned->devices < 1 || owned->nodes < 1)
    {
      g_set_error_literal (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE,
                           "places.owned: each machine needs a device of the catalog, and devices and nodes of at least 1");
      return FALSE;
    }

  return TRUE;
}

static gboolean
read_owned (Reader      *self,
            QmPlan      *plan,
            JsonNode    *node,
            GError     **error)
{
  JsonArray *array;

  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (node))
    {
      g_set_error_literal (error, QM_PLAN_ERROR, QM_PLAN_ERROR_TYPE, "places.owned: a list of machines is expected");
      return FALSE;
    }

  array = json_node_get_array (node);
  if (json_array_get_length (array) > QM_MAX_OWNED)
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "places.owned: at most %d machines are possible", QM_MAX_OWNED);
      return FALSE;
    }
  for (guint i = 0; i < json_array_get_length (array); i++)
    if (!read_owned_machine (self, &plan->places.owned[i], json_array_get_element (array, i), error))
      return FALSE;
  plan->places.n_owned = json_array_get_length (array);

  return TRUE;
}

/* ------------------------------------------------------------------------ fields */

static gboolean
read_section (Reader      *self,
              QmPlan      *plan,
              const char  *path,
              JsonNode    *node,
              GError     **error)
{
  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (JSON_NODE_HOLDS_OBJECT (node))
    return read_object (self, plan, json_node_get_object (node), path, error);

  g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_TYPE, "%s: an object is expected", path);
  prefix_line (self, path, error);
  return FALSE;
}

static gboolean
read_member (Reader      *self,
             QmPlan      *plan,
             const char  *path,
             JsonNode    *node,
             GError     **error)
{
  const QmField *field = qm_plan_field_find (path);
  gboolean ok = TRUE;

  if (field != NULL)
    ok = qm_plan_field_read (field, plan, node, error);
  else if (strcmp (path, "places.owned") == 0)
    ok = read_owned (self, plan, node, error);
  else if (is_section (path))
    return read_section (self, plan, path, node, error);
  else if (strcmp (path, "format") != 0 && strcmp (path, "version") != 0)
    warn (self, path, g_strdup_printf ("not a field of a plan; the nearest is \"%s\"", nearest_path (path)));

  if (!ok)
    prefix_line (self, path, error);

  return ok;
}

static gboolean
read_object (Reader      *self,
             QmPlan      *plan,
             JsonObject  *object,
             const char  *prefix,
             GError     **error)
{
  g_autoptr (GList) members = json_object_get_members (object);

  for (GList *l = members; l != NULL; l = l->next)
    {
      g_autofree char *path = prefix != NULL ? g_strconcat (prefix, ".", l->data, NULL) : g_strdup (l->data);

      if (!read_member (self, plan, path, json_object_get_member (object, l->data), error))
        return FALSE;
    }

  return TRUE;
}

/* ----------------------------------------------------------------------- version */

static gboolean
check_format (Reader      *self,
              JsonObject  *object,
              gint64      *version,
              GError     **error)
{
  JsonNode *format = json_object_get_member (object, "format");
  JsonNode *number = json_object_get_member (object, "version");

  if (format == NULL || !JSON_NODE_HOLDS_VALUE (format) || json_node_get_value_type (format) != G_TYPE_STRING ||
      strcmp (json_node_get_string (format), FORMAT) != 0)
    {
      g_set_error_literal (error, QM_PLAN_ERROR, QM_PLAN_ERROR_FORMAT, "format: \"" FORMAT "\" is expected: this is no plan file");
      g_prefix_error (error, "%d: ", MAX (1, line_of (self, "format")));
      return FALSE;
    }

  *version = number != NULL && JSON_NODE_HOLDS_VALUE (number) && json_node_get_value_type (number) == G_TYPE_INT64
               ? json_node_get_int (number) : 0;
  if (*version >= 1 && *version <= VERSION)
    return TRUE;

  g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_FORMAT,
               *version > VERSION ? "version: %" G_GINT64_FORMAT " is of a later program; this one reads up to %d"
                                  : "version: a whole number from 1 is expected, found %" G_GINT64_FORMAT "; this program reads up to %d",
               *version, VERSION);
  g_prefix_error (error, "%d: ", MAX (1, line_of (self, "version")));
  return FALSE;
}

static gboolean
migrate (JsonObject *object,
         gint64      version)
{
  for (; version < VERSION; version++)
    if (migrations[version - 1] != NULL && !migrations[version - 1] (object))
      return FALSE;

  return TRUE;
}

static QmPlan *
read_plan (Reader      *self,
           JsonObject  *object,
           GError     **error)
{
  g_autoptr (QmPlan) plan = qm_plan_new ();
  const char *path = NULL;
  gint64 version;

  if (!check_format (self, object, &version, error))
    return NULL;
  if (!migrate (object, version))
    {
      g_set_error_literal (error, QM_PLAN_ERROR, QM_PLAN_ERROR_FORMAT, "version: this plan could not be brought up to date");
      return NULL;
    }
  if (!read_object (self, plan, object, NULL, error))
    return NULL;
  if (!qm_plan_check (plan, &path, error))
    {
      prefix_line (self, path, error);
      return NULL;
    }

  return g_steal_pointer (&plan);
}

/**
 * qm_plan_from_object:
 * @object: what a plan file holds
 * @warnings: (nullable) (element-type QmPlanWarning): unknown keys are added here
 * @error: return location for a #QmPlanError
 *
 * Returns: (transfer full): the plan, or %NULL with @error set
 */
QmPlan *
qm_plan_from_object (JsonObject  *object,
                     GPtrArray   *warnings,
                     GError     **error)
{
  Reader reader = { NULL, 0, warnings };

  return read_plan (&reader, object, error);
}

/* ---------------------------------------------------------------------- the text */

static int
line_at (const char *data,
         const char *at)
{
  int line = 1;

  for (; data < at; data++)
    line += *data == '\n';

  return line;
}

static gboolean
check_text (const char  *data,
            gsize        length,
            GError     **error)
{
  const char *bad;
  int depth = 0;
  gboolean quoted = FALSE;

  if (length > LARGEST_FILE)
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, "1: larger than %d MiB: no plan file", LARGEST_FILE >> 20);
      return FALSE;
    }
  if (!g_utf8_validate (data, length, &bad))
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, "%d: not UTF-8; save the file as UTF-8", line_at (data, bad));
      return FALSE;
    }

  for (gsize i = 0; i < length; i++)
    {
      if (quoted && data[i] == '\\')
        i++;
      else if (data[i] == '"')
        quoted = !quoted;
      else if (!quoted)
        depth += (data[i] == '{' || data[i] == '[') - (data[i] == '}' || data[i] == ']');
      if (depth > DEEPEST_NESTING)
        {
          g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, "%d: nested deeper than %d levels", line_at (data, data + i),
                       DEEPEST_NESTING);
          return FALSE;
        }
    }

  return TRUE;
}

/**
 * qm_plan_from_data:
 * @data: the text of a plan file
 * @length: its length in bytes, -1 if it ends with a NUL
 * @warnings: (nullable) (element-type QmPlanWarning): unknown keys are added here
 * @error: return location for a #QmPlanError, whose message begins with the
 *   line and a colon
 *
 * Returns: (transfer full): the plan, or %NULL with @error set
 */
QmPlan *
qm_plan_from_data (const char  *data,
                   gssize       length,
                   GPtrArray   *warnings,
                   GError     **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) local_error = NULL;
  Reader reader = { data, length < 0 ? strlen (data) : (gsize) length, warnings };
  JsonNode *root;

  if (reader.length >= 3 && memcmp (data, "\357\273\277", 3) == 0)
    {
      reader.data += 3;
      reader.length -= 3;
    }
  if (!check_text (reader.data, reader.length, error))
    return NULL;

  json_parser_set_strict (parser, TRUE);
  if (!json_parser_load_from_data (parser, reader.data, reader.length, &local_error))
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, "%u: not JSON: %s", MAX (1, json_parser_get_current_line (parser)),
                   local_error->message);
      return NULL;
    }

  root = json_parser_get_root (parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root))
    {
      g_set_error_literal (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, "1: an object is expected: this is no plan file");
      return NULL;
    }

  return read_plan (&reader, json_node_get_object (root), error);
}

/**
 * qm_plan_load:
 * @path: a plan file
 * @warnings: (nullable) (element-type QmPlanWarning): unknown keys are added here
 * @error: return location for a #QmPlanError or #GFileError, whose message
 *   begins with the file and the line
 *
 * Returns: (transfer full): the plan, or %NULL with @error set
 */
QmPlan *
qm_plan_load (const char  *path,
              GPtrArray   *warnings,
              GError     **error)
{
  g_autofree char *data = NULL;
  gsize length;
  QmPlan *plan;

  if (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_FORMAT, "%s: not a file; a plan file is expected", path);
      return NULL;
    }
  if (!g_file_get_contents (path, &data, &length, error))
    return NULL;

  plan = qm_plan_from_data (data, length, warnings, error);
  if (plan == NULL)
    g_prefix_error (error, "%s:", path);

  return plan;
}
