/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-json-writer.h"

#include <math.h>

/* json-glib writes every double with 17 digits: 0.2 becomes
 * 0.20000000000000001. Numbers that people read in files want the fewest digits
 * that give the same double back. */

typedef struct {
  GString *text;
  gboolean pretty;
  int depth;
} Writer;

static void write_node (Writer   *self,
                        JsonNode *node);

static void
new_line (Writer *self)
{
  if (!self->pretty)
    return;

  g_string_append_c (self->text, '\n');
  for (int i = 0; i < self->depth; i++)
    g_string_append (self->text, "  ");
}

static void
write_double (Writer *self,
              double  value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    {
      g_string_append (self->text, "null");
      return;
    }

  for (int precision = 15; precision <= 17; precision++)
    {
      char format[8];

      g_snprintf (format, sizeof format, "%%.%dg", precision);
      g_ascii_formatd (digits, sizeof digits, format, value);
      if (g_ascii_strtod (digits, NULL) == value)
        break;
    }
  g_string_append (self->text, digits);
}

static void
write_value (Writer   *self,
             JsonNode *node)
{
  g_autofree char *text = NULL;

  if (json_node_get_value_type (node) == G_TYPE_DOUBLE)
    {
      write_double (self, json_node_get_double (node));
      return;
    }

  text = json_to_string (node, FALSE);
  g_string_append (self->text, text);
}

static void
write_array (Writer    *self,
             JsonArray *array)
{
  guint n = json_array_get_length (array);

  g_string_append_c (self->text, '[');
  self->depth++;
  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append_c (self->text, ',');
      new_line (self);
      write_node (self, json_array_get_element (array, i));
    }
  self->depth--;
  if (n > 0)
    new_line (self);
  g_string_append_c (self->text, ']');
}

static void
write_object (Writer     *self,
              JsonObject *object)
{
  g_autoptr (GList) members = json_object_get_members (object);

  g_string_append_c (self->text, '{');
  self->depth++;
  for (GList *l = members; l != NULL; l = l->next)
    {
      g_autoptr (JsonNode) name = json_node_init_string (json_node_alloc (), l->data);

      if (l != members)
        g_string_append_c (self->text, ',');
      new_line (self);
      write_value (self, name);
      g_string_append (self->text, self->pretty ? ": " : ":");
      write_node (self, json_object_get_member (object, l->data));
    }
  self->depth--;
  if (members != NULL)
    new_line (self);
  g_string_append_c (self->text, '}');
}

static void
write_node (Writer   *self,
            JsonNode *node)
{
  if (JSON_NODE_HOLDS_OBJECT (node))
    write_object (self, json_node_get_object (node));
  else if (JSON_NODE_HOLDS_ARRAY (node))
    write_array (self, json_node_get_array (node));
  else if (JSON_NODE_HOLDS_NULL (node))
    g_string_append (self->text, "null");
  else
    write_value (self, node);
}

/**
 * qm_json_to_text:
 * @node: what to write
 * @pretty: over several lines, indented by two
 *
 * Writes JSON with the fewest digits that give every number back exactly.
 * Members stay in their order. Numbers that are not finite become null.
 *
 * Returns: (transfer full): the text, without a newline at its end
 */
char *
qm_json_to_text (JsonNode *node,
                 gboolean  pretty)
{
  GString *text = g_string_new (NULL);
  Writer writer = { text, pretty, 0 };

  write_node (&writer, node);
  return g_string_free (text, FALSE);
}

/**
 * qm_json_figure:
 * @value: a figure that was computed
 *
 * Sums of decimal fractions are seldom decimal fractions: 72.426 comes out as
 * 72.42599999999999. No estimate is known to twelve digits.
 *
 * Returns: @value, rounded to twelve significant digits
 */
double
qm_json_figure (double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    return value;

  g_ascii_formatd (digits, sizeof digits, "%.12g", value);
  return g_ascii_strtod (digits, NULL);
}
