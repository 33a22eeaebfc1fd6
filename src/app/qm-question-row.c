/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-question-row.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/qm-language.h"
#include "qm-ui.h"

/**
 * qm_parse_quantity:
 * @text: what somebody typed
 * @words: how the reader writes numbers
 *
 * Returns: the number, with k, M, B or T taken as thousand to trillion; NaN
 *   where it is none
 */
double
qm_parse_quantity (const char    *text,
                   const QmWords *words)
{
  g_autoptr (GString) plain = g_string_new (text);
  static const struct { char letter; double factor; } scales[] = {
    { 'k', 1e3 }, { 'K', 1e3 }, { 'm', 1e6 }, { 'M', 1e6 }, { 'b', 1e9 }, { 'B', 1e9 }, { 'g', 1e9 }, { 'G', 1e9 }, { 't', 1e12 }, { 'T', 1e12 },
  };
  char *end;
  double value;

  if (words->thousands_separator[0] != '\0')
    g_string_replace (plain, words->thousands_separator, "", 0);
  g_string_replace (plain, words->decimal_point, ".", 0);
  g_string_replace (plain, " ", "", 0);
  g_string_replace (plain, "\302\240", "", 0);
  if (plain->len == 0)
    return NAN;

  value = g_ascii_strtod (plain->str, &end);
  if (end == plain->str)
    return NAN;
  for (guint i = 0; i < G_N_ELEMENTS (scales) && *end != '\0'; i++)
    if (*end == scales[i].letter && end[1] == '\0')
      return value * scales[i].factor;

  return *end == '\0' && isfinite (value) ? value : NAN;
}

static const QmOption *
find_option (const QmQuestion *question,
             const char       *value)
{
  for (int i = 0; question->options != NULL && question->options[i].value != NULL; i++)
    if (strcmp (question->options[i].value, value) == 0)
      return &question->options[i];

  return NULL;
}

/* ["eu-west-1","eu-north-1"] of the plan file as people write it: eu-west-1, eu-north-1 */
static char *
join_words (const char *value)
{
  g_autoptr (JsonNode) node = value != NULL ? json_from_string (value, NULL) : NULL;
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_auto (GStrv) strings = NULL;

  for (guint i = 0; node != NULL && JSON_NODE_HOLDS_ARRAY (node) && i < json_array_get_length (json_node_get_array (node)); i++)
    g_strv_builder_add (words, json_array_get_string_element (json_node_get_array (node), i));
  strings = g_strv_builder_end (words);

  return g_strjoinv (", ", strings);
}

/**
 * qm_describe_answer:
 * @question: the question
 * @value: (nullable): its answer as the plan file has it
 * @currency: of money
 *
 * Returns: (transfer full): the answer as people read it
 */
char *
qm_describe_answer (const QmQuestion *question,
                    const char       *value,
                    const char       *currency)
{
  const QmWords *words = qm_language_get_words ();
  const QmOption *option;
  g_autofree char *number = NULL;
  double amount;

  if (value == NULL)
    return g_strdup (question->kind == QM_ANSWER_MONEY || question->kind == QM_ANSWER_HOURS ? _("No limit") : _("Not answered"));

  option = find_option (question, value);
  if (option != NULL)
    return g_strdup (_(option->name));
  if (question->kind == QM_ANSWER_YES_NO)
    return g_strdup (strcmp (value, "true") == 0 ? _("Yes") : _("No"));
  if (question->kind == QM_ANSWER_WORDS)
    return join_words (value);
  if (question->kind == QM_ANSWER_WORD)
    return g_strdup (value);

  amount = g_ascii_strtod (value, NULL);
  if (question->kind == QM_ANSWER_MONEY)
    return qm_format_money (words, amount, currency);
  if (question->kind == QM_ANSWER_HOURS)
    return qm_format_seconds (words, amount * 3600);
  if (question->kind == QM_ANSWER_FRACTION)
    return qm_format_percent (words, amount);

  number = amount >= 1e6 ? qm_format_count_short (words, amount)
           : amount == floor (amount) ? qm_format_count (words, amount) : qm_format_number (words, amount);
  return question->unit != NULL ? g_strconcat (number, "\302\240", _(question->unit), NULL) : g_steal_pointer (&number);
}

/* -------------------------------------------------------------------- a choice */

typedef struct {
  QmSession *session;
  const QmQuestion *question;
  gboolean updating;
} RowData;

static void
row_data_free (RowData *self)
{
  g_object_unref (self->session);
  g_free (self);
}

static RowData *
row_data (gpointer row)
{
  return g_object_get_data (G_OBJECT (row), "question");
}

static void
attach (GtkWidget        *row,
        QmSession        *session,
        const QmQuestion *question)
{
  RowData *data = g_new0 (RowData, 1);

  data->session = g_object_ref (session);
  data->question = question;
  g_object_set_data_full (G_OBJECT (row), "question", data, (GDestroyNotify) row_data_free);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _(question->title));
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  if (ADW_IS_ACTION_ROW (row))
    {
      if (question->gloss != NULL)
        adw_action_row_set_subtitle (ADW_ACTION_ROW (row), _(question->gloss));
      adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 0);
    }
  gtk_widget_set_name (row, question->field);
}

static void
combo_selected (AdwComboRow *row)
{
  RowData *data = row_data (row);

  if (!data->updating)
    qm_session_set_answer (data->session, data->question->field,
                           data->question->options[adw_combo_row_get_selected (row)].value, NULL);
}

static void
update_combo (AdwComboRow *row)
{
  RowData *data = row_data (row);
  g_autofree char *value = qm_session_get_effective (data->session, data->question->field);

  data->updating = TRUE;
  for (int i = 0; value != NULL && data->question->options[i].value != NULL; i++)
    if (strcmp (value, data->question->options[i].value) == 0)
      adw_combo_row_set_selected (row, i);
  data->updating = FALSE;
}

static GtkWidget *
combo_row_new (QmSession        *session,
               const QmQuestion *question)
{
  GtkWidget *row = adw_combo_row_new ();
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  attach (row, session, question);
  qm_ui_show_whole_names (ADW_COMBO_ROW (row));
  for (int i = 0; question->options[i].value != NULL; i++)
    gtk_string_list_append (names, _(question->options[i].name));
  row_data (row)->updating = TRUE;
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (names));
  row_data (row)->updating = FALSE;
  g_signal_connect (row, "notify::selected", G_CALLBACK (combo_selected), NULL);
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (update_combo), row, G_CONNECT_SWAPPED);
  update_combo (ADW_COMBO_ROW (row));

  return row;
}

/* ------------------------------------------------------------------- yes or no */

static void
switched (AdwSwitchRow *row)
{
  RowData *data = row_data (row);

  if (!data->updating)
    qm_session_set_answer (data->session, data->question->field, adw_switch_row_get_active (row) ? "true" : "false", NULL);
}

static void
update_switch (AdwSwitchRow *row)
{
  RowData *data = row_data (row);
  g_autofree char *value = qm_session_get_effective (data->session, data->question->field);

  data->updating = TRUE;
  adw_switch_row_set_active (row, g_strcmp0 (value, "true") == 0);
  data->updating = FALSE;
}

static GtkWidget *
switch_row_new (QmSession        *session,
                const QmQuestion *question)
{
  GtkWidget *row = adw_switch_row_new ();

  attach (row, session, question);
  g_signal_connect (row, "notify::active", G_CALLBACK (switched), NULL);
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (update_switch), row, G_CONNECT_SWAPPED);
  update_switch (ADW_SWITCH_ROW (row));

  return row;
}

static void
words_applied (AdwEntryRow *row)
{
  RowData *data = row_data (GTK_WIDGET (row));
  g_auto (GStrv) words = g_strsplit (gtk_editable_get_text (GTK_EDITABLE (row)), ",", -1);
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_ARRAY);
  g_autoptr (JsonArray) array = json_array_new ();
  g_autofree char *value = NULL;

  for (guint i = 0; words[i] != NULL; i++)
    if (g_strstrip (words[i])[0] != '\0')
      json_array_add_string_element (array, words[i]);
  json_node_set_array (node, array);
  value = json_array_get_length (array) > 0 ? json_to_string (node, FALSE) : NULL;
  qm_session_set_answer (data->session, data->question->field, value, NULL);
}

static void
update_words (AdwEntryRow *row)
{
  RowData *data = row_data (GTK_WIDGET (row));
  g_autofree char *value = qm_session_get_effective (data->session, data->question->field);
  g_autofree char *text = join_words (value);

  if (strcmp (gtk_editable_get_text (GTK_EDITABLE (row)), text) != 0)
    gtk_editable_set_text (GTK_EDITABLE (row), text);
}

static GtkWidget *
words_row_new (QmSession        *session,
               const QmQuestion *question)
{
  GtkWidget *row = adw_entry_row_new ();

  attach (row, session, question);
  adw_entry_row_set_show_apply_button (ADW_ENTRY_ROW (row), TRUE);
  gtk_widget_set_tooltip_text (row, question->gloss != NULL ? _(question->gloss) : NULL);
  g_signal_connect (row, "apply", G_CALLBACK (words_applied), NULL);
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (update_words), row, G_CONNECT_SWAPPED);
  update_words (ADW_ENTRY_ROW (row));

  return row;
}

/**
 * qm_question_row_new:
 * @session: the session
 * @question: a question of the flow
 *
 * Returns: (transfer floating): the row that asks it
 */
GtkWidget *
qm_question_row_new (QmSession        *session,
                     const QmQuestion *question)
{
  if (question->kind == QM_ANSWER_CHOICE)
    return combo_row_new (session, question);
  if (question->kind == QM_ANSWER_YES_NO)
    return switch_row_new (session, question);
  if (strcmp (question->field, "places.cloud") == 0)
    return qm_providers_row_new (session, question);
  if (question->kind == QM_ANSWER_WORDS)
    return words_row_new (session, question);

  return qm_number_row_new (session, question);
}
