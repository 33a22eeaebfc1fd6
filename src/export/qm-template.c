/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-template.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-error.h"
#include "qm-file.h"

/* Templates hold places {{name|filter}}, sections {{#name}} … {{/name}}, which
 * are kept where the value is true, or {{^name}} … {{/name}}, where it is not,
 * and {{>name}}, in whose place another template of the folder is filled.
 * Every place names the language that its value is written in: what a person
 * typed stays text there, whatever is in it. */

QM_DEFINE_ERROR_DOMAIN ("qm-template-error-quark", qm_template_error_quark)

/* A template that is part of itself ends here. */
#define DEEPEST_PART 8
#define DEEPEST_SECTION 32
#define LARGEST_TEMPLATE (16 << 20)

/* A cluster takes names of 63 letters, of which some are added here and there. */
#define LONGEST_NAME 40
#define DIGEST_LENGTH 6

typedef struct {
  const char *folder;               /* where the templates lie */
  const char *name;                 /* of the template, for errors */
  const char *text;
  const char *next;
  JsonObject *values;
  int depth;                        /* of parts within parts */
  int sections;                     /* that are open */
} Reader;

static int
line_of (const Reader *reader)
{
  int line = 1;

  for (const char *c = reader->text; c < reader->next; c++)
    line += *c == '\n';

  return line;
}

/* @msgid with the one place @name, of which the file and the line are said. */
static gboolean
fail (const Reader     *reader,
      GError          **error,
      QmTemplateError   code,
      const char       *msgid,
      const char       *name,
      const char       *value)
{
  g_autoptr (GError) local = NULL;

  qm_error_set (&local, QM_TEMPLATE_ERROR, code, NULL, msgid, name, value, NULL);
  qm_error_locate (local, reader->name, line_of (reader));
  g_propagate_error (error, g_steal_pointer (&local));

  return FALSE;
}

/* ------------------------------------------------------------------- filters */

/* What ends a line, is no letter in some language's reader (YAML, for one), or
 * turns the direction of what follows, so that a file reads otherwise than it
 * acts (Boucher and Anderson 2021). */
static gboolean
is_unfit (gunichar letter)
{
  GUnicodeType type = g_unichar_type (letter);

  return g_unichar_iscntrl (letter) || type == G_UNICODE_LINE_SEPARATOR || type == G_UNICODE_PARAGRAPH_SEPARATOR ||
         (letter & 0xfffe) == 0xfffe || (letter >= 0xfdd0 && letter <= 0xfdef) || letter == 0xfeff || letter == 0x061c ||
         letter == 0x200e || letter == 0x200f || (letter >= 0x202a && letter <= 0x202e) || (letter >= 0x2066 && letter <= 0x2069);
}

/* A line of a comment: nothing in it can end the line, in any language. */
static char *
as_comment (const char *value)
{
  g_autofree char *valid = g_utf8_make_valid (value, -1);
  GString *line = g_string_new (NULL);

  for (const char *c = valid; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar letter = g_utf8_get_char (c);

      if (is_unfit (letter))
        g_string_append_c (line, ' ');
      else
        g_string_append_unichar (line, letter);
    }

  return g_string_free (line, FALSE);
}

/* A string of JSON; so it is one of YAML 1.2 and of Python too. */
static char *
as_json (const char *value)
{
  g_autofree char *line = as_comment (value);
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_VALUE);

  json_node_set_string (node, line);
  return json_to_string (node, FALSE);
}

static char *
as_shell (const char *value)
{
  g_autofree char *line = as_comment (value);

  return g_shell_quote (line);
}

/* A string in an instruction of a Dockerfile, where $ stands for a variable. */
static char *
as_docker (const char *value)
{
  g_autofree char *json = as_json (value);
  g_auto (GStrv) parts = g_strsplit (json, "$", -1);

  return g_strjoinv ("\\$", parts);
}

static gboolean
is_word (const char *value)
{
  for (const char *c = value; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c) && strchr ("._-/:", *c) == NULL)
      return FALSE;

  return value[0] != '\0' && value[0] != '-';
}

/* Whether letters were left out, that no Latin ones stand for; @plain has a "?"
 * for each of them. */
static gboolean
lost_letters (const char *value,
              const char *plain)
{
  guint before = 0, after = 0;

  for (const char *c = value; *c != '\0'; c++)
    before += *c == '?';
  for (const char *c = plain; *c != '\0'; c++)
    after += *c == '?';

  return after > before;
}

/* Options of a command, as the catalog has them: nothing in them means anything
 * to a shell, inside or outside of single quotes. */
static gboolean
are_options (const char *value)
{
  for (const char *c = value; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c) && strchr ("._-/:=, ", *c) == NULL)
      return FALSE;

  return value[0] != '\0';
}

/* In YAML 1.1 these words are no texts. */
static gboolean
is_yaml_word (const char *name)
{
  static const char * const words[] = { "y", "n", "yes", "no", "on", "off", "true", "false", "null", NULL };

  return g_strv_contains (words, name);
}

/* A name that clouds and clusters accept: small letters, digits, hyphens. Where
 * the value cannot be told from it, it ends with a few digits that can. */
static char *
as_name (const char *value)
{
  g_autofree char *valid = g_utf8_make_valid (value, -1);
  g_autofree char *plain = g_str_to_ascii (valid, "C");
  gboolean whole = !lost_letters (valid, plain);
  GString *name = g_string_new (NULL);

  for (const char *c = plain; *c != '\0'; c++)
    {
      if (g_ascii_isalnum (*c))
        g_string_append_c (name, g_ascii_tolower (*c));
      else if (name->len > 0 && name->str[name->len - 1] != '-')
        g_string_append_c (name, '-');
    }
  if (name->len == 0 || name->len > LONGEST_NAME)
    whole = FALSE;
  if (!whole)
    g_string_truncate (name, MIN (name->len, LONGEST_NAME - DIGEST_LENGTH - 1));
  while (name->len > 0 && name->str[name->len - 1] == '-')
    g_string_truncate (name, name->len - 1);
  if (name->len == 0 || !g_ascii_isalpha (name->str[0]) || is_yaml_word (name->str))
    g_string_prepend (name, name->len == 0 ? "job" : "job-");
  if (!whole)
    {
      g_autofree char *digest = g_compute_checksum_for_string (G_CHECKSUM_SHA256, valid, -1);

      g_string_append_printf (name, "-%.*s", DIGEST_LENGTH, digest);
    }

  return g_string_free (name, FALSE);
}

static gboolean
append_filtered (Reader      *reader,
                 const char  *filter,
                 const char  *value,
                 GString     *out,
                 GError     **error)
{
  static const struct { const char *name; char *(*write) (const char *value); } filters[] = {
    { "comment", as_comment }, { "json", as_json }, { "yaml", as_json }, { "python", as_json },
    { "shell", as_shell }, { "docker", as_docker }, { "name", as_name },
  };

  for (guint i = 0; i < G_N_ELEMENTS (filters); i++)
    if (strcmp (filter, filters[i].name) == 0)
      {
        g_autofree char *written = filters[i].write (value);

        g_string_append (out, written);
        return TRUE;
      }
  if (strcmp (filter, "word") != 0 && strcmp (filter, "options") != 0)
    return fail (reader, error, QM_TEMPLATE_ERROR_NAME, N_("the filter \"{name}\" is not known"), "name", filter);
  if (strcmp (filter, "word") == 0 ? !is_word (value) : !are_options (value))
    return fail (reader, error, QM_TEMPLATE_ERROR_VALUE, N_("\"{value}\" may not stand here without quotes"), "value", value);

  g_string_append (out, value);
  return TRUE;
}

/* -------------------------------------------------------------------- values */

/* Six digits, and no exponent where a whole number can be written out: some of the
 * languages read none. */
static char *
number_text (double value)
{
  gboolean long_whole = fabs (value) >= 1e6 && fabs (value) < 1e15;
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  g_auto (GStrv) parts = NULL;

  g_ascii_formatd (buffer, sizeof buffer, long_whole ? "%.0f" : "%.6g", value);
  parts = g_strsplit (buffer, "+", 2);

  return g_strjoinv ("", parts);
}

static char *
value_text (JsonNode *node)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  if (type == G_TYPE_STRING)
    return json_node_dup_string (node);
  if (type == G_TYPE_BOOLEAN)
    return g_strdup (json_node_get_boolean (node) ? "true" : "false");
  if (type == G_TYPE_INT64)
    return g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
  if (type == G_TYPE_DOUBLE)
    return number_text (json_node_get_double (node));

  return NULL;
}

static gboolean
is_true (JsonNode *node)
{
  g_autofree char *text = node != NULL ? value_text (node) : NULL;

  return text != NULL && text[0] != '\0' && strcmp (text, "false") != 0 && strcmp (text, "0") != 0;
}

/* ------------------------------------------------------------------- reading */

/* The inside of the next {{ }}, after what comes before it. */
static gboolean
next_tag (Reader   *reader,
          GString  *out,
          char    **tag,
          GError  **error)
{
  const char *start = strstr (reader->next, "{{");
  const char *end;

  *tag = NULL;
  if (start == NULL)
    {
      if (out != NULL)
        g_string_append (out, reader->next);
      reader->next += strlen (reader->next);
      return TRUE;
    }

  if (out != NULL)
    g_string_append_len (out, reader->next, start - reader->next);
  reader->next = start;
  end = strstr (start, "}}");
  if (end == NULL)
    return fail (reader, error, QM_TEMPLATE_ERROR_SYNTAX, N_("a place that begins here is not closed"), NULL, NULL);

  *tag = g_strndup (start + 2, end - start - 2);
  reader->next = end + 2;
  /* A section or part that stands alone on its line leaves no empty line. */
  if (strchr ("#^/>", (*tag)[0]) != NULL && *reader->next == '\n' && (start == reader->text || start[-1] == '\n'))
    reader->next++;

  return TRUE;
}

static gboolean
fill_place (Reader      *reader,
            const char  *tag,
            GString     *out,
            GError     **error)
{
  g_auto (GStrv) parts = g_strsplit (tag, "|", 2);
  JsonNode *node = parts[0] != NULL ? json_object_get_member (reader->values, parts[0]) : NULL;
  g_autofree char *value = node != NULL ? value_text (node) : NULL;

  if (parts[0] == NULL)
    return fail (reader, error, QM_TEMPLATE_ERROR_SYNTAX, N_("\"{place}\" names no value"), "place", tag);
  if (value == NULL)
    return fail (reader, error, QM_TEMPLATE_ERROR_NAME, N_("there is no value \"{name}\""), "name", parts[0]);
  if (parts[1] == NULL)
    return fail (reader, error, QM_TEMPLATE_ERROR_SYNTAX, N_("\"{place}\" does not say in which language its value is to be written"), "place", tag);

  return append_filtered (reader, parts[1], value, out, error);
}

static gboolean fill_until (Reader      *reader,
                            const char  *name,
                            GString     *out,
                            GError     **error);

static gboolean
fill_part (Reader      *reader,
           const char  *name,
           GString     *out,
           GError     **error)
{
  g_autofree char *path = g_build_filename (reader->folder, name, NULL);
  g_autofree char *text = NULL;
  gsize length;
  Reader part = { reader->folder, name, NULL, NULL, reader->values, reader->depth + 1, reader->sections };

  if (strchr (name, '/') != NULL)
    return fail (reader, error, QM_TEMPLATE_ERROR_SYNTAX, N_("\"{name}\" is no template of the folder"), "name", name);
  if (part.depth > DEEPEST_PART)
    return fail (reader, error, QM_TEMPLATE_ERROR_SYNTAX, N_("\"{name}\" is part of itself"), "name", name);
  text = qm_file_read_regular (path, LARGEST_TEMPLATE, &length, error);
  if (text == NULL)
    return FALSE;
  part.text = part.next = text;

  return fill_until (&part, NULL, out, error);
}

/* Up to {{/name}}, or to the end where @name is %NULL; @out %NULL: left out. */
static gboolean
fill_until (Reader      *reader,
            const char  *name,
            GString     *out,
            GError     **error)
{
  while (TRUE)
    {
      g_autofree char *tag = NULL;

      if (!next_tag (reader, out, &tag, error))
        return FALSE;
      if (tag == NULL)
        return name == NULL || fail (reader, error, QM_TEMPLATE_ERROR_SYNTAX, N_("the section \"{name}\" is not closed"), "name", name);
      if (tag[0] == '/')
        return (name != NULL && strcmp (tag + 1, name) == 0) ||
               fail (reader, error, QM_TEMPLATE_ERROR_SYNTAX, N_("\"{name}\" closes no section"), "name", tag + 1);

      if (tag[0] == '#' || tag[0] == '^')
        {
          gboolean kept = is_true (json_object_get_member (reader->values, tag + 1)) == (tag[0] == '#');

          if (++reader->sections > DEEPEST_SECTION)
            return fail (reader, error, QM_TEMPLATE_ERROR_SYNTAX, N_("sections lie too deep in each other"), NULL, NULL);
          if (!fill_until (reader, tag + 1, kept ? out : NULL, error))
            return FALSE;
          reader->sections--;
        }
      else if (tag[0] == '>' && out != NULL)
        {
          if (!fill_part (reader, tag + 1, out, error))
            return FALSE;
        }
      else if (out != NULL && !fill_place (reader, tag, out, error))
        return FALSE;
    }
}

/**
 * qm_template_fill_text:
 * @folder: where its parts lie
 * @name: of the template, for errors
 * @text: the template
 * @values: strings, numbers and booleans by name
 * @error: return location for an error
 *
 * Fills a template that is no file, as qm_template_fill() does.
 *
 * Returns: (transfer full): the text, or %NULL with @error set
 */
char *
qm_template_fill_text (const char  *folder,
                       const char  *name,
                       const char  *text,
                       JsonObject  *values,
                       GError     **error)
{
  Reader whole = { folder, name, text, text, values, 0, 0 };
  g_autoptr (GString) out = g_string_new (NULL);

  if (!fill_until (&whole, NULL, out, error))
    return NULL;

  return g_string_free (g_steal_pointer (&out), FALSE);
}

/**
 * qm_template_fill:
 * @folder: where the templates lie
 * @name: of the template
 * @values: strings, numbers and booleans by name
 * @error: return location for an error
 *
 * Fills a template. Each place names how its value is written: `comment`,
 * `shell`, `json`, `yaml`, `python`, `docker`, `name` (small letters, digits and
 * hyphens), `word` (as it is, where it holds nothing that means anything) or
 * `options` (the same, with spaces and hyphens before words).
 *
 * Returns: (transfer full): the text, or %NULL with @error set
 */
char *
qm_template_fill (const char  *folder,
                  const char  *name,
                  JsonObject  *values,
                  GError     **error)
{
  Reader whole = { folder, name, "", "", values, -1, 0 };
  g_autoptr (GString) out = g_string_new (NULL);

  if (!fill_part (&whole, name, out, error))
    return NULL;

  return g_string_free (g_steal_pointer (&out), FALSE);
}
