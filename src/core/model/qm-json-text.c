/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-private.h"

#include <glib/gi18n.h>
#include <string.h>

#include "qm-error.h"
#include "qm-json-error.h"

/* No file of a model nests a quarter as deep; the parser is recursive. */
#define MAX_DEPTH 64

typedef struct {
  const char *data;
  gsize length;
  gsize at;
  int depth;
  int values;
  int most;                         /* of @values */
  GString *text;
} Scan;

static void
copy_string (Scan *scan)
{
  gsize start = scan->at++;

  while (scan->at < scan->length && scan->data[scan->at] != '"')
    scan->at += scan->data[scan->at] == '\\' ? 2 : 1;
  scan->at = MIN (scan->length, scan->at + 1);
  g_string_append_len (scan->text, scan->data + start, scan->at - start);
}

/* Python writes numbers that JSON does not have. As words they parse, and who
 * needs them as numbers refuses them by name. */
static gboolean
copy_odd_number (Scan *scan)
{
  static const char * const words[] = { "-Infinity", "Infinity", "NaN" };

  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    {
      gsize length = strlen (words[i]);

      if (scan->length - scan->at < length || memcmp (scan->data + scan->at, words[i], length) != 0)
        continue;
      g_string_append_printf (scan->text, "\"%s\"", words[i]);
      scan->at += length;
      return TRUE;
    }
  return FALSE;
}

static gboolean
within_bounds (Scan    *scan,
               GError **error)
{
  if (scan->depth > MAX_DEPTH)
    qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                  N_("it nests more than {levels} levels deep, which no model's file does"), "#levels", (double) MAX_DEPTH, NULL);
  else if (scan->values > scan->most)
    qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                  N_("it lists more than {values} values, which no model's file does"), "#values", (double) scan->most, NULL);
  else
    return TRUE;
  return FALSE;
}

/* Of blanks in a row one says as much; where a line ends is kept. */
static gboolean
skip_blank (Scan *scan,
            char  c)
{
  const GString *text = scan->text;

  if ((c != ' ' && c != '\t' && c != '\r') || text->len == 0 || !g_ascii_isspace (text->str[text->len - 1]))
    return FALSE;
  scan->at++;
  return TRUE;
}

static gboolean
follows_weight_map (const GString *text)
{
  static const char * const key = "\"weight_map\"";
  gsize end = text->len;

  for (int blanks = 0; blanks < 2; blanks++)
    {
      while (end > 0 && g_ascii_isspace (text->str[end - 1]))
        end--;
      if (blanks == 0 && (end == 0 || text->str[--end] != ':'))
        return FALSE;
    }
  return end >= strlen (key) && strncmp (text->str + end - strlen (key), key, strlen (key)) == 0;
}

/* Where the string that begins at @at ends, behind its quotes; 0 where there is none. */
static gsize
end_of_string (const Scan *scan,
               gsize       at)
{
  if (at >= scan->length || scan->data[at] != '"')
    return 0;
  for (at++; at < scan->length && scan->data[at] != '"'; at++)
    if (scan->data[at] == '\\')
      return 0;
  return at < scan->length ? at + 1 : 0;
}

static gsize
skip_to (const Scan *scan,
         gsize       at,
         char        sign)
{
  while (at < scan->length && g_ascii_isspace (scan->data[at]))
    at++;
  return at < scan->length && (sign == '\0' || scan->data[at] == sign) ? at : scan->length;
}

/* Of the index of a large model, which names a file for each of hundreds of
 * thousands of tensors, one tensor a file is kept: nothing else is asked of it.
 * What is not plain is left to the parser. */
static gboolean
condense_map (Scan *scan)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) kept = g_string_new ("{");
  gsize at = scan->at + 1;

  while (TRUE)
    {
      gsize key = skip_to (scan, at, '"');
      gsize colon = skip_to (scan, end_of_string (scan, key), ':');
      gsize file = skip_to (scan, colon + 1, '"');
      gsize end = end_of_string (scan, file);
      char *name;

      at = skip_to (scan, end, '\0');
      if (end == 0 || colon < key || at == scan->length || (scan->data[at] != ',' && scan->data[at] != '}'))
        return FALSE;
      name = g_strndup (scan->data + file, end - file);
      if (g_hash_table_add (seen, name))
        g_string_append_printf (kept, "%s%.*s:%s", kept->len > 1 ? "," : "", (int) (end_of_string (scan, key) - key),
                                scan->data + key, name);
      if (scan->data[at++] == '}')
        break;
    }
  g_string_append_c (kept, '}');
  g_string_append_len (scan->text, kept->str, kept->len);
  scan->values += g_hash_table_size (seen);
  scan->at = at;
  return TRUE;
}

static gboolean
tame (Scan    *scan,
      GError **error)
{
  while (scan->at < scan->length)
    {
      char c = scan->data[scan->at];

      if (c == '[' || c == '{')
        scan->depth++;
      if (c == ']' || c == '}')
        scan->depth--;
      if (c == ',' || c == '\n' || c == '{')
        scan->values++;
      if (!within_bounds (scan, error))
        return FALSE;
      if (c == '"')
        copy_string (scan);
      else if (c == '{' && scan->depth == 2 && follows_weight_map (scan->text) && condense_map (scan))
        scan->depth--;
      else if (!skip_blank (scan, c) && !copy_odd_number (scan))
        {
          g_string_append_c (scan->text, c);
          scan->at++;
        }
    }
  return TRUE;
}

static void
set_syntax_error (GError     **error,
                  const char  *message)
{
  guint line;
  const char *what = qm_json_error_split (message, &line);

  qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL, N_("not valid JSON: {what}"), "what", what, NULL);
  if (error != NULL)
    qm_error_locate (*error, NULL, line);
}

/**
 * qm_json_text_parse:
 * @data: (array length=length): UTF-8 text from outside
 * @length: its bytes
 * @most: how many values it may hold, roughly
 * @error: return location for an error
 *
 * Parses JSON strictly, but for the numbers that Python's writer adds to it:
 * `NaN` and `Infinity` become words. Nesting is limited. Of a `weight_map` one
 * tensor a file is kept.
 *
 * Returns: (transfer full) (nullable): the root
 */
JsonNode *
qm_json_text_parse (const char  *data,
                    gsize        length,
                    int          most,
                    GError     **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GString) text = g_string_sized_new (length + 16);
  g_autoptr (GError) reason = NULL;
  Scan scan = { .data = data, .length = length, .most = most, .text = text };

  if (!tame (&scan, error))
    return NULL;
  json_parser_set_strict (parser, TRUE);
  if (json_parser_load_from_data (parser, text->str, text->len, &reason) && json_parser_get_root (parser) != NULL)
    return json_parser_steal_root (parser);
  set_syntax_error (error, reason != NULL ? reason->message : "<data>:1:1: Parse error: it holds nothing");
  return NULL;
}
