/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gio/gio.h>
#include <string.h>

#include "plan/qm-plan-fields.h"

/* Plans are small; anything larger is something else. */
#define LARGEST_FILE (16 * 1024 * 1024)

#define BYTE_ORDER_MARK "\357\273\277"

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

  if (length > LARGEST_FILE)
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, "1: larger than %d MiB: no plan file", LARGEST_FILE >> 20);
      return FALSE;
    }
  if (length == 0)
    {
      g_set_error_literal (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, "1: empty; a JSON object is expected");
      return FALSE;
    }
  if (!g_utf8_validate (data, length, &bad))
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, "%d: not UTF-8; save the file as UTF-8", line_at (data, bad));
      return FALSE;
    }

  return TRUE;
}

/* The parser writes "<data>:LINE:COLUMN: Parse error: WHAT". */
static void
set_syntax_error (GError     **error,
                  const char  *message)
{
  const char *place = strstr (message, "<data>:");
  const char *what = strstr (message, "rror: ");
  guint64 line = place != NULL ? g_ascii_strtoull (place + strlen ("<data>:"), NULL, 10) : 1;
  g_autofree char *quote = qm_plan_quote (what != NULL ? what + strlen ("rror: ") : message);

  g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, "%" G_GUINT64_FORMAT ": not JSON: %s", MAX (1, line), quote);
}

static QmPlan *
parse (const char  *data,
       gsize        length,
       GPtrArray   *warnings,
       GError     **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) local_error = NULL;
  g_autoptr (QmJsonLines) lines = qm_json_lines_new (data, length, error);
  JsonNode *root;

  if (lines == NULL)
    return NULL;

  json_parser_set_strict (parser, TRUE);
  if (!json_parser_load_from_data (parser, data, length, &local_error))
    {
      set_syntax_error (error, local_error->message);
      return NULL;
    }
  root = json_parser_get_root (parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root))
    {
      g_set_error_literal (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, "1: an object is expected: this is no plan file");
      return NULL;
    }

  return qm_plan_read (json_node_get_object (root), lines, warnings, error);
}

/**
 * qm_plan_from_data:
 * @data: the text of a plan file
 * @length: its length in bytes, -1 if it ends with a NUL
 * @warnings: (nullable) (element-type QmPlanWarning): what is odd is added here
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
  gsize size = length < 0 ? strlen (data) : (gsize) length;
  g_autofree char *text = NULL;

  if (size >= strlen (BYTE_ORDER_MARK) && memcmp (data, BYTE_ORDER_MARK, strlen (BYTE_ORDER_MARK)) == 0)
    {
      data += strlen (BYTE_ORDER_MARK);
      size -= strlen (BYTE_ORDER_MARK);
    }
  if (!check_text (data, size, error))
    return NULL;

  text = g_strndup (data, size);
  return parse (text, size, warnings, error);
}

/* Reads no more than could be a plan, so a device without an end is refused
 * like a large file. */
static char *
read_file (const char  *path,
           gsize       *length,
           GError     **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) stream = g_file_read (file, NULL, error);
  g_autofree char *data = NULL;

  if (stream == NULL)
    return NULL;

  data = g_malloc (LARGEST_FILE + 2);
  if (!g_input_stream_read_all (G_INPUT_STREAM (stream), data, LARGEST_FILE + 1, length, NULL, error))
    return NULL;
  data[*length] = '\0';

  return g_steal_pointer (&data);
}

/**
 * qm_plan_load:
 * @path: a plan file
 * @warnings: (nullable) (element-type QmPlanWarning): what is odd is added here
 * @error: return location for a #QmPlanError or #GIOErrorEnum, whose message
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

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_FORMAT, "%s: a folder; a plan file is expected", path);
      return NULL;
    }
  data = read_file (path, &length, error);
  if (data == NULL)
    return NULL;

  plan = qm_plan_from_data (data, length, warnings, error);
  if (plan == NULL)
    g_prefix_error (error, "%s:", path);

  return plan;
}

/**
 * qm_plan_locate_error:
 * @path: the file that a plan was read from
 * @error: (inout): an error whose message begins with a field and a colon, as
 *   those of qm_resolve() do
 *
 * Puts the file and, where it is found, the field's line before the message,
 * as those of qm_plan_load() have them.
 */
void
qm_plan_locate_error (const char  *path,
                      GError     **error)
{
  gsize length, skip;
  g_autofree char *data = read_file (path, &length, NULL);
  g_autoptr (QmJsonLines) lines = NULL;
  g_auto (GStrv) parts = g_strsplit ((*error)->message, ":", 2);
  int line = 0;

  if (data != NULL && check_text (data, length, NULL))
    {
      skip = g_str_has_prefix (data, BYTE_ORDER_MARK) ? strlen (BYTE_ORDER_MARK) : 0;
      lines = qm_json_lines_new (data + skip, length - skip, NULL);
    }
  if (lines != NULL)
    line = qm_json_lines_find (lines, parts[0]);
  if (line > 0)
    g_prefix_error (error, "%s:%d: ", path, line);
  else
    g_prefix_error (error, "%s: ", path);
}
