/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "plan/qm-plan-fields.h"
#include "qm-error.h"

/* json-glib tells no positions of what it has parsed, keeps the last of two
 * members of one name, and cuts numbers that are too large. This walks the
 * tokens once, before json-glib does, and sees all three. Where the text is no
 * JSON it stops without a word: json-glib says what is wrong with it. */

#define DEEPEST_NESTING 100
#define DEEPEST_PATH 4              /* places.owned[0].device */
#define MOST_PATHS 20000
#define LONGEST_NAME 128

struct _QmJsonLines {
  GHashTable *lines;                /* (element-type utf8 int) */
  char *stopped_at;                 /* (nullable): where the text is no JSON */
};

typedef struct {
  const char *at;
  const char *end;
  int line;
  int depth;
  GString *path;
  GHashTable *lines;
  GError **error;
} Walker;

static gboolean walk_value (Walker *self);

static gboolean
fail (Walker     *self,
      const char *msgid)
{
  const char *path = self->path->len > 0 ? self->path->str : NULL;

  qm_error_set (self->error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX, path, msgid, NULL);
  qm_error_locate (*self->error, NULL, self->line);
  return FALSE;
}

static void
skip_space (Walker *self)
{
  for (; self->at < self->end && (*self->at == ' ' || *self->at == '\t' || *self->at == '\r' || *self->at == '\n'); self->at++)
    self->line += *self->at == '\n';
}

static gboolean
take (Walker *self,
      char    token)
{
  skip_space (self);
  if (self->at >= self->end || *self->at != token)
    return FALSE;

  self->at++;
  return TRUE;
}

/* The text between the quotes, escapes and all. */
static gboolean
walk_string (Walker      *self,
             const char **start,
             gsize       *length)
{
  if (!take (self, '"'))
    return FALSE;

  *start = self->at;
  while (self->at < self->end && *self->at != '"')
    {
      if (strncmp (self->at, "\\u0000", 6) == 0)
        return fail (self, N_("a text holds a zero byte; leave it out"));
      self->line += *self->at == '\n';
      self->at += *self->at == '\\' && self->at + 1 < self->end ? 2 : 1;
    }
  *length = self->at - *start;

  return take (self, '"');
}

static gboolean
remember (Walker *self)
{
  if (self->depth > DEEPEST_PATH || g_hash_table_size (self->lines) >= MOST_PATHS)
    return TRUE;
  if (!g_hash_table_insert (self->lines, g_strdup (self->path->str), GINT_TO_POINTER (self->line)))
    return fail (self, N_("is there twice; leave one of them out"));

  return TRUE;
}

/* A name may be written with escapes, and is the same name. */
static char *
plain_name (const char *name,
            gsize       length)
{
  g_autofree char *quoted = g_strdup_printf ("\"%.*s\"", (int) MIN (length, G_MAXINT), name);
  g_autoptr (JsonNode) node = memchr (name, '\\', length) != NULL ? json_from_string (quoted, NULL) : NULL;

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_dup_string (node) : g_strndup (name, length);
}

static gboolean
walk_member (Walker *self)
{
  gsize before = self->path->len, length;
  const char *start;
  g_autofree char *name = NULL;
  gboolean ok;

  if (!walk_string (self, &start, &length))
    return FALSE;

  name = plain_name (start, length);
  if (before > 0)
    g_string_append_c (self->path, '.');
  g_string_append (self->path, name);
  /* A name with a point in it is no path. */
  ok = (length > LONGEST_NAME || strpbrk (name, ".[") != NULL || remember (self)) && take (self, ':') && walk_value (self);
  if (ok)
    g_string_truncate (self->path, before);

  return ok;
}

static gboolean
walk_object (Walker *self)
{
  if (take (self, '}'))
    return TRUE;

  do
    if (!walk_member (self))
      return FALSE;
  while (take (self, ','));

  return take (self, '}');
}

static gboolean
walk_array (Walker *self)
{
  gsize before = self->path->len;
  guint n = 0;

  if (take (self, ']'))
    return TRUE;

  do
    {
      skip_space (self);
      g_string_append_printf (self->path, "[%u]", n++);
      if (!remember (self) || !walk_value (self))
        return FALSE;
      g_string_truncate (self->path, before);
    }
  while (take (self, ','));

  return take (self, ']');
}

static gboolean
walk_number (Walker *self)
{
  gsize length = strspn (self->at, "+-0123456789.eE");
  g_autofree char *text = g_strndup (self->at, length);
  const char *digits = text + (text[0] == '-');
  char *end;

  self->at += length;
  if (digits[0] != '\0' && strspn (digits, "0123456789") == strlen (digits))
    return g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, NULL, NULL) ||
           fail (self, N_("the number is too large; whole numbers up to 9223372036854775807 are possible"));
  if (length == 0 || (!isfinite (g_ascii_strtod (text, &end)) && *end == '\0'))
    return length > 0 && fail (self, N_("the number is too large; numbers up to 1e308 are possible"));

  return TRUE;
}

static gboolean
walk_word (Walker *self)
{
  static const char * const words[] = { "true", "false", "null" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_prefix (self->at, words[i]))
      {
        self->at += strlen (words[i]);
        return TRUE;
      }

  return walk_number (self);
}

static gboolean
walk_value (Walker *self)
{
  const char *start;
  gsize length;
  gboolean ok;

  skip_space (self);
  if (self->at >= self->end)
    return FALSE;
  if (*self->at == '"')
    return walk_string (self, &start, &length);
  if (*self->at != '{' && *self->at != '[')
    return walk_word (self);

  if (++self->depth > DEEPEST_NESTING)
    {
      g_string_truncate (self->path, MIN (self->path->len, LONGEST_NAME));
      return fail (self, N_("nested too deep; a plan has four levels"));
    }
  ok = *self->at++ == '{' ? walk_object (self) : walk_array (self);
  self->depth--;

  return ok;
}

/**
 * qm_json_lines_new:
 * @data: a text, UTF-8, that ends with a NUL
 * @length: its length in bytes
 * @error: return location for a #QmPlanError, whose message begins with the line
 *
 * Finds the line of every member of the first levels. Members that are there
 * twice, numbers beyond 64 bits and deep nesting are errors; anything else that
 * is wrong with the text is left for the parser to find.
 *
 * Returns: (transfer full): the lines, or %NULL with @error set
 */
QmJsonLines *
qm_json_lines_new (const char  *data,
                   gsize        length,
                   GError     **error)
{
  g_autoptr (GString) path = g_string_new (NULL);
  g_autoptr (GError) local_error = NULL;
  QmJsonLines *self = g_new0 (QmJsonLines, 1);
  Walker walker = { data, data + length, 1, 0, path, NULL, &local_error };

  self->lines = walker.lines = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (!walk_value (&walker) && path->len > 0)
    self->stopped_at = qm_plan_quote (path->str);
  if (local_error == NULL)
    return self;

  g_propagate_error (error, g_steal_pointer (&local_error));
  qm_json_lines_free (self);
  return NULL;
}

/**
 * qm_json_lines_free:
 * @self: (transfer full) (nullable): lines
 */
void
qm_json_lines_free (QmJsonLines *self)
{
  if (self == NULL)
    return;

  g_hash_table_unref (self->lines);
  g_free (self->stopped_at);
  g_free (self);
}

/**
 * qm_json_lines_stopped_at:
 * @self: lines
 *
 * Returns: (nullable): the field at which the text stops being JSON, where it
 *   does
 */
const char *
qm_json_lines_stopped_at (QmJsonLines *self)
{
  return self->stopped_at;
}

/**
 * qm_json_lines_find:
 * @self: lines
 * @path: names of members with points between, e.g. `training.epochs`
 *
 * Returns: the line on which the member is named, or the nearest one around it
 *   that is there; 0 where there is none
 */
int
qm_json_lines_find (QmJsonLines *self,
                    const char  *path)
{
  g_autofree char *around = g_strdup (path);
  char *point;

  for (;;)
    {
      int line = GPOINTER_TO_INT (g_hash_table_lookup (self->lines, around));

      if (line > 0)
        return line;
      point = MAX (strrchr (around, '.'), strrchr (around, '['));
      if (point == NULL)
        return 0;
      *point = '\0';
    }
}
