/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "plan/qm-plan-fields.h"
#include "qm-enum.h"
#include "qm-error.h"

#define LONGEST_QUOTE 60

/**
 * qm_plan_quote:
 * @text: text from outside
 *
 * Returns: (transfer full): its beginning, without control characters
 */
char *
qm_plan_quote (const char *text)
{
  g_autofree char *start = g_utf8_strlen (text, -1) > LONGEST_QUOTE ? g_utf8_substring (text, 0, LONGEST_QUOTE) : g_strdup (text);
  GString *quote = g_string_new (NULL);

  for (const char *c = start; *c != '\0'; c = g_utf8_next_char (c))
    if (g_unichar_isprint (g_utf8_get_char (c)))
      g_string_append_unichar (quote, g_utf8_get_char (c));
    else
      g_string_append_c (quote, '?');
  if (strlen (start) < strlen (text))
    g_string_append (quote, "…");

  return g_string_free (quote, FALSE);
}

static gboolean
unknown_word (const QmField *self,
              const char    *word,
              const char    *words,
              GError       **error)
{
  g_autofree char *quote = qm_plan_quote (word);

  if (self->kind == QM_FIELD_TEXT)
    qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, self->path, N_("\"{word}\" is not known; use {example}"),
                  "word", quote, "=example", words, NULL);
  else
    qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, self->path, N_("\"{word}\" is not known; use one of {words}"),
                  "word", quote, "words", words, NULL);
  return FALSE;
}

static const char *
kind_of (JsonNode *node)
{
  if (JSON_NODE_HOLDS_OBJECT (node))
    return N_("an object");
  if (JSON_NODE_HOLDS_ARRAY (node))
    return N_("a list");
  if (JSON_NODE_HOLDS_NULL (node))
    return N_("null");
  if (json_node_get_value_type (node) == G_TYPE_STRING)
    return N_("a text");

  return json_node_get_value_type (node) == G_TYPE_BOOLEAN ? N_("true or false") : N_("a number");
}

static gboolean
wrong_type (const QmField *self,
            const char    *expected,
            JsonNode      *node,
            GError       **error)
{
  qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_TYPE, self->path, N_("{wanted} is expected, found {found}"),
                "=wanted", expected, "=found", kind_of (node), NULL);
  return FALSE;
}

static gboolean
holds (JsonNode *node,
       GType     type)
{
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == type;
}

static gboolean
read_double (const QmField *self,
             JsonNode      *node,
             double        *value,
             GError       **error)
{
  if (!holds (node, G_TYPE_INT64) && !holds (node, G_TYPE_DOUBLE))
    return wrong_type (self, N_("a number"), node, error);

  *value = json_node_get_double (node);
  if (!isfinite (*value) || *value < self->minimum || *value > self->maximum)
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, self->path,
                    N_("{value} is out of range; {least} to {most} are possible"),
                    "#value", *value, "#least", self->minimum, "#most", self->maximum, NULL);
      return FALSE;
    }
  if (self->kind != QM_FIELD_NUMBER && *value != floor (*value))
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, self->path, N_("{value} is not whole; a whole number is expected"),
                    "#value", *value, NULL);
      return FALSE;
    }

  return TRUE;
}

static gboolean
check_word (const QmField *self,
            const char    *word,
            GError       **error)
{
  if (strlen (word) >= sizeof (QmWord))
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, self->path,
                    N_("the word is too long; at most {most} letters are possible"), "#most", (double) sizeof (QmWord) - 1, NULL);
      return FALSE;
    }
  if (self->check != NULL && self->words != NULL && word[0] != '\0' && !self->check (word))
    return unknown_word (self, word, self->words, error);

  return TRUE;
}

static gboolean
read_words (const QmField *self,
            QmWordList    *list,
            JsonNode      *node,
            GError       **error)
{
  JsonArray *array;
  guint n;

  if (!JSON_NODE_HOLDS_ARRAY (node))
    return wrong_type (self, N_("a list of words"), node, error);

  array = json_node_get_array (node);
  n = json_array_get_length (array);
  if (n > QM_MAX_WORDS)
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, self->path, N_("{count} words; at most {most} are possible"),
                    "#count", (double) n, "#most", (double) QM_MAX_WORDS, NULL);
      return FALSE;
    }

  for (guint i = 0; i < n; i++)
    {
      JsonNode *element = json_array_get_element (array, i);

      if (!holds (element, G_TYPE_STRING))
        return wrong_type (self, N_("a list of words"), element, error);
      if (!check_word (self, json_node_get_string (element), error))
        return FALSE;
      qm_word_set (list->words[i], json_node_get_string (element));
    }
  list->n = n;

  return TRUE;
}

static gboolean
read_enum (const QmField *self,
           int           *value,
           JsonNode      *node,
           GError       **error)
{
  g_autofree char *words = NULL;

  if (!holds (node, G_TYPE_STRING))
    return wrong_type (self, N_("a word"), node, error);
  if (qm_enum_from_word (self->enum_type (), json_node_get_string (node), value))
    return TRUE;

  words = qm_enum_words (self->enum_type ());
  return unknown_word (self, json_node_get_string (node), words, error);
}

static gboolean
read_text (const QmField *self,
           gpointer       at,
           JsonNode      *node,
           GError       **error)
{
  const char *text;

  if (!holds (node, G_TYPE_STRING))
    return wrong_type (self, N_("a text"), node, error);

  text = json_node_get_string (node);
  if (self->offset != G_STRUCT_OFFSET (QmPlan, limits.currency))
    {
      g_set_str ((char **) at, text);
      return TRUE;
    }
  if (strlen (text) != 3 || strspn (text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
    return unknown_word (self, text, self->words, error);
  g_strlcpy (at, text, 4);

  return TRUE;
}

/**
 * qm_plan_field_read:
 * @self: a field
 * @plan: (inout): the plan to take the answer
 * @node: what the file holds; null takes the answer back
 * @error: return location for a #QmPlanError
 *
 * Returns: whether @node is an answer that can be
 */
gboolean
qm_plan_field_read (const QmField *self,
                    QmPlan        *plan,
                    JsonNode      *node,
                    GError       **error)
{
  gpointer at = qm_plan_field_pointer (self, plan);
  double value;

  qm_plan_field_unset (self, plan);
  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;

  switch (self->kind)
    {
    case QM_FIELD_TEXT:
      return read_text (self, at, node, error);
    case QM_FIELD_WORD:
      if (!holds (node, G_TYPE_STRING))
        return wrong_type (self, N_("a word"), node, error);
      if (!check_word (self, json_node_get_string (node), error))
        return FALSE;
      qm_word_set (at, json_node_get_string (node));
      return TRUE;
    case QM_FIELD_WORDS:
      return read_words (self, at, node, error);
    case QM_FIELD_ENUM:
      return read_enum (self, at, node, error);
    case QM_FIELD_TERNARY:
      if (!holds (node, G_TYPE_BOOLEAN))
        return wrong_type (self, N_("true or false"), node, error);
      *(QmTernary *) at = json_node_get_boolean (node) ? QM_TERNARY_YES : QM_TERNARY_NO;
      return TRUE;
    case QM_FIELD_OBJECT:
      if (!JSON_NODE_HOLDS_OBJECT (node))
        return wrong_type (self, N_("an object"), node, error);
      *(QmJsonBox **) at = qm_json_box_new_object (json_node_dup_object (node));
      return TRUE;
    case QM_FIELD_INTEGER:
      if (!read_double (self, node, &value, error))
        return FALSE;
      *(int *) at = (int) value;
      return TRUE;
    case QM_FIELD_NUMBER:
    case QM_FIELD_COUNT:
    default:
      return read_double (self, node, at, error);
    }
}

static JsonNode *
number_node (double value)
{
  JsonNode *node = json_node_new (JSON_NODE_VALUE);

  if (value == floor (value) && fabs (value) < 9007199254740992.0)
    json_node_set_int (node, (gint64) value);
  else
    json_node_set_double (node, value);

  return node;
}

static JsonNode *
words_node (const QmWordList *list)
{
  JsonNode *node = json_node_new (JSON_NODE_ARRAY);
  JsonArray *array = json_array_new ();

  for (int i = 0; i < list->n; i++)
    json_array_add_string_element (array, list->words[i]);
  json_node_take_array (node, array);

  return node;
}

static JsonNode *
text_node (const char *text)
{
  JsonNode *node = json_node_new (JSON_NODE_VALUE);

  json_node_set_string (node, text);
  return node;
}

/**
 * qm_plan_field_write:
 * @self: a field
 * @plan: a plan that answers it
 *
 * Returns: (transfer full): the answer as the file has it
 */
JsonNode *
qm_plan_field_write (const QmField *self,
                     const QmPlan  *plan)
{
  gpointer at = qm_plan_field_pointer (self, plan);
  JsonNode *node;

  switch (self->kind)
    {
    case QM_FIELD_TEXT:
      return text_node (self->offset == G_STRUCT_OFFSET (QmPlan, limits.currency) ? at : *(char **) at);
    case QM_FIELD_WORD:
      return text_node (at);
    case QM_FIELD_WORDS:
      return words_node (at);
    case QM_FIELD_ENUM:
      return text_node (qm_enum_to_word (self->enum_type (), *(int *) at));
    case QM_FIELD_TERNARY:
      node = json_node_new (JSON_NODE_VALUE);
      json_node_set_boolean (node, *(int *) at == QM_TERNARY_YES);
      return node;
    case QM_FIELD_OBJECT:
      return qm_json_box_dup_root (*(QmJsonBox **) at);
    case QM_FIELD_INTEGER:
      return number_node (*(int *) at);
    case QM_FIELD_NUMBER:
    case QM_FIELD_COUNT:
    default:
      return number_node (*(double *) at);
    }
}
