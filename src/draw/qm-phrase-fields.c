/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "draw/qm-phrases.h"
#include "plan/qm-flow.h"

/* In the words of the plan's task, or else of any: what is not asked may yet be
 * assumed. */
static const QmQuestion *
question_of (const QmPlan *plan,
             const char   *field)
{
  const QmQuestion *question = qm_flow_find_for (field, plan);

  return question != NULL ? question : qm_flow_find (field);
}

/**
 * qm_phrase_field_name:
 * @words: the reader's language
 * @plan: a plan
 * @field: one of its fields
 *
 * Returns: (transfer none): the question that the window asks, or what the field
 *   is in a few words
 */
const char *
qm_phrase_field_name (const QmWords *words, const QmPlan *plan, const char *field)
{
  static const struct { const char *field; const char *name; } names[] = {
    { "data.bytes_per_sample", N_("Size of one example on disk, in bytes") },
    { "limits.currency", N_("Currency") },
    { "model.parameters", N_("Parameters of the model") },
    { "serving.denoising_steps", N_("Steps for one picture") },
    { "serving.first_token_seconds", N_("Wait for the first word, in seconds") },
    { "serving.image_size", N_("Side of a picture, in pixels") },
    { "tabular.depth", N_("Depth of a tree") },
    { "tabular.features", N_("Columns of the table") },
    { "tabular.trees", N_("Trees") },
    { "training.global_batch", N_("Examples in one step") },
    { "training.method", N_("How much of the model is trained") },
    { "training.image_size", N_("Side of a picture, in pixels") },
    { "training.sequence_length", N_("Length of one example, in tokens") },
  };
  const QmQuestion *question = question_of (plan, field);

  if (question != NULL)
    return words->translate (question->title);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i].field, field) == 0)
      return words->translate (names[i].name);

  return field;
}

/* The items of a list of the plan file, apart from its brackets and quotes. */
static char *
list_value (const char *value)
{
  g_autoptr (JsonNode) node = json_from_string (value, NULL);
  g_autoptr (GStrvBuilder) items = g_strv_builder_new ();
  g_auto (GStrv) strings = NULL;
  JsonArray *array;

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return g_strdup (value);

  array = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (array); i++)
    if (json_node_get_value_type (json_array_get_element (array, i)) == G_TYPE_STRING)
      g_strv_builder_add (items, json_array_get_string_element (array, i));
  strings = g_strv_builder_end (items);

  return strings[0] != NULL ? g_strjoinv (", ", strings) : g_strdup ("\342\200\223");
}

/**
 * qm_phrase_field_value:
 * @words: the reader's language
 * @plan: a plan
 * @field: one of its fields
 * @value: as the plan file has it
 *
 * Returns: (transfer full): the words of the window for it
 */
char *
qm_phrase_field_value (const QmWords *words, const QmPlan *plan, const char *field, const char *value)
{
  const QmQuestion *question = question_of (plan, field);
  double number = g_ascii_strtod (value, NULL);

  if (question == NULL)
    return g_ascii_isdigit (value[0]) && number >= 1000 ? qm_format_count (words, number) : g_strdup (value);
  for (const QmOption *option = question->options; option != NULL && option->value != NULL; option++)
    if (strcmp (option->value, value) == 0)
      return g_strdup (words->translate (option->name));

  switch (question->kind)
    {
    case QM_ANSWER_MONEY:
      return qm_format_money (words, number, qm_plan_get_currency (plan));
    case QM_ANSWER_HOURS:
      return qm_format_seconds (words, number * 3600);
    case QM_ANSWER_FRACTION:
      return qm_format_percent (words, number);
    case QM_ANSWER_NUMBER:
      {
        g_autofree char *text = number == floor (number) ? qm_format_count (words, number) :
                                                           qm_format_number (words, number);

        return question->unit != NULL ? g_strconcat (text, "\302\240", words->translate (question->unit), NULL) : g_steal_pointer (&text);
      }
    case QM_ANSWER_YES_NO:
      return g_strdup (strcmp (value, "true") == 0 || strcmp (value, "yes") == 0 ? words->translate (N_("yes")) : words->translate (N_("no")));
    default:
      return value[0] == '[' ? list_value (value) : g_strdup (value);
    }
}
