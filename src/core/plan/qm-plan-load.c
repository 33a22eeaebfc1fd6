/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "plan/qm-plan-fields.h"
#include "qm-error.h"
#include "qm-file.h"
#include "qm-json-error.h"

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

static void
refuse (GError     **error,
        int          line,
        const char  *msgid)
{
  qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, NULL, msgid, NULL);
  if (error != NULL)
    qm_error_locate (*error, NULL, line);
}

static gboolean
check_text (const char  *data,
            gsize        length,
            GError     **error)
{
  const char *bad;

  if (length > LARGEST_FILE)
    refuse (error, 1, N_("larger than 16 MiB: no plan file"));
  else if (length == 0)
    refuse (error, 1, N_("empty; a JSON object is expected"));
  else if (!g_utf8_validate (data, length, &bad))
    refuse (error, line_at (data, bad), N_("not UTF-8; save the file as UTF-8"));
  else
    return TRUE;

  return FALSE;
}

static void
set_syntax_error (GError      **error,
                  QmJsonLines  *lines,
                  const char   *message)
{
  guint line;
  g_autofree char *quote = qm_plan_quote (qm_json_error_split (message, &line));

  qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, qm_json_lines_stopped_at (lines), N_("not JSON: {what}"),
                "what", quote, NULL);
  if (error != NULL)
    qm_error_locate (*error, NULL, line);
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
      set_syntax_error (error, lines, local_error->message);
      return NULL;
    }
  root = json_parser_get_root (parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root))
    {
      refuse (error, 1, N_("an object is expected: this is no plan file"));
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

/**
 * qm_plan_load:
 * @path: a plan file
 * @warnings: (nullable) (element-type QmPlanWarning): what is odd is added here
 * @error: return location for a #QmPlanError or #QM_FILE_ERROR, whose message
 *   begins with the file and the line
 *
 * Returns: (transfer full): the plan, or %NULL with @error set
 */
QmPlan *
qm_plan_load (const char  *path,
              GPtrArray   *warnings,
              GError     **error)
{
  g_autofree char *name = g_filename_display_name (path);
  g_autofree char *data = NULL;
  gsize length;
  QmPlan *plan;

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_FORMAT, NULL, N_("a folder; a plan file is expected"), NULL);
      if (error != NULL)
        qm_error_locate (*error, name, 0);
      return NULL;
    }
  data = qm_file_read (path, LARGEST_FILE, &length, error);
  if (data == NULL)
    return NULL;

  plan = qm_plan_from_data (data, length, warnings, error);
  if (plan == NULL && error != NULL)
    qm_error_locate (*error, name, 0);

  return plan;
}

/**
 * qm_plan_locate_error:
 * @path: the file that a plan was read from
 * @error: (inout): an error that knows its field, as those of qm_resolve() do
 *
 * Puts the file and, where it is found, the field's line before the message,
 * as those of qm_plan_load() have them. An error that is of another file, such
 * as that of the model, stays as it is.
 */
void
qm_plan_locate_error (const char *path,
                      GError     *error)
{
  gsize length, skip;
  g_autofree char *data = qm_file_read (path, LARGEST_FILE, &length, NULL);
  g_autofree char *name = g_filename_display_name (path);
  g_autoptr (QmJsonLines) lines = NULL;

  if (qm_error_get_file (error) != NULL)
    return;

  if (data != NULL && qm_error_get_path (error) != NULL && check_text (data, length, NULL))
    {
      skip = g_str_has_prefix (data, BYTE_ORDER_MARK) ? strlen (BYTE_ORDER_MARK) : 0;
      lines = qm_json_lines_new (data + skip, length - skip, NULL);
    }
  qm_error_locate (error, name, lines != NULL ? qm_json_lines_find (lines, qm_error_get_path (error)) : 0);
}
