/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-own-rows.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "preferences/qm-preferences.h"
#include "qm-question-row.h"
#include "qm-ui.h"

/* As the plan file takes them. */
#define MOST_HOURS 1e9
#define MOST_FIGURE 1e12
#define MOST_DEVICES 1000000

/* ------------------------------------------------------------------- what is shared */

/**
 * qm_own_dialog_frame:
 * @dialog: a dialog
 * @group: what it asks for
 * @save: (scope notified): called with @dialog alone
 *
 * Puts @group between a button that leaves all as it is and one that saves.
 *
 * Returns: (transfer none): the button that saves
 */
GtkWidget *
qm_own_dialog_frame (AdwDialog *dialog,
                     GtkWidget *group,
                     GCallback  save)
{
  GtkWidget *view = adw_toolbar_view_new (), *bar = adw_header_bar_new (), *page = adw_preferences_page_new ();
  GtkWidget *cancel = gtk_button_new_with_mnemonic (_("_Cancel")), *button = gtk_button_new_with_mnemonic (_("_Save"));

  adw_header_bar_set_show_end_title_buttons (ADW_HEADER_BAR (bar), FALSE);
  g_signal_connect_swapped (cancel, "clicked", G_CALLBACK (adw_dialog_close), dialog);
  gtk_widget_add_css_class (button, "suggested-action");
  gtk_widget_set_name (button, "save-row");
  g_signal_connect_swapped (button, "clicked", save, dialog);
  adw_header_bar_pack_start (ADW_HEADER_BAR (bar), cancel);
  adw_header_bar_pack_end (ADW_HEADER_BAR (bar), button);
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (group));
  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), bar);
  adw_toolbar_view_set_content (ADW_TOOLBAR_VIEW (view), page);
  adw_dialog_set_child (dialog, view);
  adw_dialog_set_content_width (dialog, 440);
  adw_dialog_set_default_widget (dialog, button);

  return button;
}

/**
 * qm_own_dialog_entry:
 * @group: where it goes
 * @title: what is asked
 * @name: of the widget
 * @value: what is there; NaN nothing
 * @changed: (scope notified): called with @dialog alone
 * @dialog: the dialog
 *
 * Returns: (transfer none): an entry for a number
 */
GtkWidget *
qm_own_dialog_entry (GtkWidget  *group,
                     const char *title,
                     const char *name,
                     double      value,
                     GCallback   changed,
                     gpointer    dialog)
{
  GtkWidget *entry = adw_entry_row_new ();
  g_autofree char *text = isnan (value) ? g_strdup ("") : qm_format_number (qm_language_get_words (), value);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (entry), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (entry), title);
  adw_entry_row_set_input_purpose (ADW_ENTRY_ROW (entry), GTK_INPUT_PURPOSE_NUMBER);
  adw_entry_row_set_activates_default (ADW_ENTRY_ROW (entry), TRUE);
  gtk_widget_set_name (entry, name);
  gtk_editable_set_text (GTK_EDITABLE (entry), text);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), entry);
  g_signal_connect_swapped (entry, "changed", changed, dialog);

  return entry;
}

/**
 * qm_own_dialog_read:
 * @entry: an entry for a number
 * @most: no number is larger
 * @optional: it may be empty
 *
 * What cannot be is marked, once there is something.
 *
 * Returns: the number; NaN where there is none; 0 where it cannot be
 */
double
qm_own_dialog_read (GtkWidget *entry,
                    double     most,
                    gboolean   optional)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (entry));
  double value = qm_parse_quantity (text, qm_language_get_words ());
  gboolean empty = text[0] == '\0', wrong = !empty && !(value > 0 && value <= most);

  if (wrong)
    gtk_widget_add_css_class (entry, "error");
  else
    gtk_widget_remove_css_class (entry, "error");
  gtk_accessible_update_state (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_STATE_INVALID,
                               wrong ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE, -1);
  if (empty)
    return optional ? NAN : 0;

  return wrong ? 0 : value;
}

/* ------------------------------------------------------------------------ an offer */

struct _QmQuoteDialog {
  AdwDialog parent_instance;

  QmSession *session;
  int index;                        /* of the row that is changed; -1 for a new one */
  GtkWidget *device;
  GtkWidget *devices;
  GtkWidget *nodes;
  GtkWidget *hours;
  GtkWidget *money;
  GtkWidget *score;
  GtkWidget *save;
  QmQuote quote;                    /* as entered */
};

G_DEFINE_FINAL_TYPE (QmQuoteDialog, qm_quote_dialog, ADW_TYPE_DIALOG)

static void
quote_changed (QmQuoteDialog *self)
{
  QmCatalog *catalog = qm_session_get_catalog (self->session);
  guint device = adw_combo_row_get_selected (ADW_COMBO_ROW (self->device));
  QmQuote *quote = &self->quote;
  gboolean even;

  /* Until all of them are there. */
  if (self->save == NULL)
    return;

  if (device != GTK_INVALID_LIST_POSITION)
    qm_word_set (quote->device, qm_catalog_device (catalog, device)->id);
  quote->devices = (int) adw_spin_row_get_value (ADW_SPIN_ROW (self->devices));
  quote->nodes = (int) adw_spin_row_get_value (ADW_SPIN_ROW (self->nodes));
  quote->hours = qm_own_dialog_read (self->hours, MOST_HOURS, FALSE);
  quote->money = qm_own_dialog_read (self->money, MOST_FIGURE, FALSE);
  quote->accuracy = qm_own_dialog_read (self->score, 100, TRUE) / 100;
  even = quote->devices % quote->nodes == 0;
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->nodes), even ? "" : _("The devices are to be the same number in each machine"));
  gtk_widget_set_sensitive (self->save, even && quote->device[0] != '\0' && quote->hours > 0 && quote->money > 0 && quote->accuracy != 0);
}

static void
quote_saved (QmQuoteDialog *self)
{
  g_autoptr (QmPlan) changed = qm_plan_copy (qm_session_get_plan (self->session));
  int index = self->index >= 0 ? self->index : changed->n_quotes;

  if (index >= QM_MAX_ROWS || index > changed->n_quotes)
    return;

  /* Money is typed in the currency that stands beside it. */
  qm_preferences_fill_currency (qm_session_get_settings (self->session), changed);
  changed->quotes[index] = self->quote;
  changed->n_quotes = MAX (changed->n_quotes, index + 1);
  qm_session_change_plan (self->session, changed);
  adw_dialog_close (ADW_DIALOG (self));
}

static GtkWidget *
spin_new (GtkWidget     *group,
          const char    *title,
          const char    *name,
          int            value,
          QmQuoteDialog *self)
{
  GtkWidget *row = adw_spin_row_new_with_range (1, MOST_DEVICES, 1);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 0);
  gtk_widget_set_name (row, name);
  adw_spin_row_set_value (ADW_SPIN_ROW (row), value);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
  g_signal_connect_swapped (row, "notify::value", G_CALLBACK (quote_changed), self);

  return row;
}

static GtkWidget *
devices_new (QmQuoteDialog *self)
{
  QmCatalog *catalog = qm_session_get_catalog (self->session);
  GtkWidget *row = adw_combo_row_new ();
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  const QmDevice *now = qm_catalog_find_device (catalog, self->quote.device);

  for (guint i = 0; i < qm_catalog_n_devices (catalog); i++)
    gtk_string_list_append (names, qm_catalog_device (catalog, i)->name);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _("Device"));
  qm_ui_show_whole_names (ADW_COMBO_ROW (row));
  adw_combo_row_set_use_subtitle (ADW_COMBO_ROW (row), TRUE);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (names));
  adw_combo_row_set_expression (ADW_COMBO_ROW (row), gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string"));
  adw_combo_row_set_enable_search (ADW_COMBO_ROW (row), TRUE);
  adw_combo_row_set_search_match_mode (ADW_COMBO_ROW (row), GTK_STRING_FILTER_MATCH_MODE_SUBSTRING);
  adw_combo_row_set_selected (ADW_COMBO_ROW (row), now != NULL ? (guint) qm_catalog_device_index (catalog, now) : 0);
  gtk_widget_set_name (row, "quote-device");
  g_signal_connect_swapped (row, "notify::selected", G_CALLBACK (quote_changed), self);

  return row;
}

static void
qm_quote_dialog_dispose (GObject *object)
{
  g_clear_object (&QM_QUOTE_DIALOG (object)->session);

  G_OBJECT_CLASS (qm_quote_dialog_parent_class)->dispose (object);
}

static void
qm_quote_dialog_class_init (QmQuoteDialogClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_quote_dialog_dispose;
}

static void
qm_quote_dialog_init (QmQuoteDialog *self)
{
}

/* A new offer is first of the hardware that is chosen now. */
static QmQuote
first_quote (QmSession *session)
{
  QmRecommendation *answer = qm_session_get_recommendation (session);
  QmQuote quote = { .devices = 1, .nodes = 1, .hours = NAN, .money = NAN, .accuracy = NAN };

  if (answer != NULL && qm_recommendation_n_choices (answer) > 0)
    qm_word_set (quote.device, qm_recommendation_choice (answer, 0)->estimate.device->id);

  return quote;
}

/* What money is typed in: of the plan, or of a plan that gets its first amount. */
static char *
money_title (QmSession *session)
{
  g_autoptr (QmPlan) plan = qm_plan_copy (qm_session_get_plan (session));

  qm_preferences_fill_currency (qm_session_get_settings (session), plan);
  /* Translators: a currency, such as EUR */
  return g_strdup_printf (_("What it costs, all of it, in %s"), qm_plan_get_currency (plan));
}

/**
 * qm_quote_dialog_new:
 * @session: the session
 * @index: the row to change; -1 to add one
 *
 * Returns: (transfer floating): a dialog for one offer
 */
GtkWidget *
qm_quote_dialog_new (QmSession *session,
                     int        index)
{
  QmQuoteDialog *self = g_object_new (QM_TYPE_QUOTE_DIALOG, "title", C_("dialog", "Offer"), NULL);
  GtkWidget *group = adw_preferences_group_new ();
  g_autofree char *money = money_title (session);
  GtkWidget *save;

  self->session = g_object_ref (session);
  self->index = index;
  self->quote = index < 0 ? first_quote (session) : qm_session_get_plan (session)->quotes[index];
  self->device = devices_new (self);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), self->device);
  self->devices = spin_new (group, _("Devices, all machines together"), "quote-devices", self->quote.devices, self);
  self->nodes = spin_new (group, _("Machines"), "quote-nodes", self->quote.nodes, self);
  self->hours = qm_own_dialog_entry (group, _("Hours until the result is there"), "quote-hours", self->quote.hours, G_CALLBACK (quote_changed), self);
  self->money = qm_own_dialog_entry (group, money, "quote-money", self->quote.money, G_CALLBACK (quote_changed), self);
  self->score = qm_own_dialog_entry (group, _("Quality in percent, if known"), "quote-score", 100 * self->quote.accuracy,
                                     G_CALLBACK (quote_changed), self);
  save = qm_own_dialog_frame (ADW_DIALOG (self), group, G_CALLBACK (quote_saved));
  self->save = save;
  quote_changed (self);

  return GTK_WIDGET (self);
}

/* ------------------------------------------------------------------------ a result */

struct _QmResultDialog {
  AdwDialog parent_instance;

  QmSession *session;
  int index;                        /* as above */
  GtkWidget *samples;
  GtkWidget *score;
  GtkWidget *save;
  QmResult result;                  /* as entered */
};

G_DEFINE_FINAL_TYPE (QmResultDialog, qm_result_dialog, ADW_TYPE_DIALOG)

static void
result_changed (QmResultDialog *self)
{
  if (self->save == NULL)
    return;

  self->result.samples = qm_own_dialog_read (self->samples, MOST_FIGURE, FALSE);
  self->result.score = qm_own_dialog_read (self->score, 99.99, FALSE) / 100;
  gtk_widget_set_sensitive (self->save, self->result.samples > 0 && self->result.score > 0);
}

static void
result_saved (QmResultDialog *self)
{
  g_autoptr (QmPlan) changed = qm_plan_copy (qm_session_get_plan (self->session));
  int index = self->index >= 0 ? self->index : changed->n_results;

  if (index >= QM_MAX_ROWS || index > changed->n_results)
    return;

  changed->results[index] = self->result;
  changed->n_results = MAX (changed->n_results, index + 1);
  qm_session_change_plan (self->session, changed);
  adw_dialog_close (ADW_DIALOG (self));
}

static void
qm_result_dialog_dispose (GObject *object)
{
  g_clear_object (&QM_RESULT_DIALOG (object)->session);

  G_OBJECT_CLASS (qm_result_dialog_parent_class)->dispose (object);
}

static void
qm_result_dialog_class_init (QmResultDialogClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_result_dialog_dispose;
}

static void
qm_result_dialog_init (QmResultDialog *self)
{
}

/**
 * qm_result_dialog_new:
 * @session: the session
 * @index: the row to change; -1 to add one
 *
 * Returns: (transfer floating): a dialog for one result
 */
GtkWidget *
qm_result_dialog_new (QmSession *session,
                      int        index)
{
  QmResultDialog *self = g_object_new (QM_TYPE_RESULT_DIALOG, "title", C_("dialog", "Result"), NULL);
  GtkWidget *group = adw_preferences_group_new ();

  self->session = g_object_ref (session);
  self->index = index;
  self->result = index < 0 ? (QmResult) { NAN, NAN } : qm_session_get_plan (session)->results[index];
  self->samples = qm_own_dialog_entry (group, _("Samples it was trained on"), "result-samples", self->result.samples, G_CALLBACK (result_changed), self);
  self->score = qm_own_dialog_entry (group, _("Score it reached, in percent"), "result-score", 100 * self->result.score, G_CALLBACK (result_changed), self);
  self->save = qm_own_dialog_frame (ADW_DIALOG (self), group, G_CALLBACK (result_saved));
  result_changed (self);

  return GTK_WIDGET (self);
}
