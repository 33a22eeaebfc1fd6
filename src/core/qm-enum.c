/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-enum.h"

/**
 * qm_enum_to_word:
 * @type: a registered enumeration whose value 0 means "not answered"
 * @value: one of its values
 *
 * Returns: (transfer none) (nullable): the word of plan files for @value, or
 *   %NULL for 0 and for what is no value of @type
 */
const char *
qm_enum_to_word (GType type,
                 int   value)
{
  g_autoptr (GTypeClass) enum_class = g_type_class_ref (type);
  GEnumValue *found = value != 0 ? g_enum_get_value (G_ENUM_CLASS (enum_class), value) : NULL;

  return found != NULL ? found->value_nick : NULL;
}

/**
 * qm_enum_from_word:
 * @type: a registered enumeration whose value 0 means "not answered"
 * @word: a word of plan files
 * @value: (out): its value
 *
 * Returns: whether @word is one of the words of @type
 */
gboolean
qm_enum_from_word (GType       type,
                   const char *word,
                   int        *value)
{
  g_autoptr (GTypeClass) enum_class = g_type_class_ref (type);
  GEnumValue *found = g_enum_get_value_by_nick (G_ENUM_CLASS (enum_class), word);

  if (found == NULL || found->value == 0)
    return FALSE;

  *value = found->value;
  return TRUE;
}

/**
 * qm_enum_words:
 * @type: a registered enumeration whose value 0 means "not answered"
 *
 * Returns: (transfer full): all its words, for an error message: "a, b, c"
 */
char *
qm_enum_words (GType type)
{
  g_autoptr (GTypeClass) enum_class = g_type_class_ref (type);
  GEnumClass *values = G_ENUM_CLASS (enum_class);
  GString *words = g_string_new (NULL);

  for (guint i = 0; i < values->n_values; i++)
    {
      if (values->values[i].value == 0)
        continue;
      if (words->len > 0)
        g_string_append (words, ", ");
      g_string_append (words, values->values[i].value_nick);
    }

  return g_string_free (words, FALSE);
}
