/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "qm-decision-slider.h"
#include "qm-question-row.h"
#include "qm-ui.h"

struct _QmNumberRow {
  AdwPreferencesRow parent_instance;

  QmSession *session;
  const QmQuestion *question;
  GtkWidget *entry;
  GtkWidget *unit;
  GtkWidget *error;
  GtkWidget *reset;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (QmNumberRow, qm_number_row, ADW_TYPE_PREFERENCES_ROW)

static gboolean
is_fraction (QmNumberRow *self)
{
  return self->question->kind == QM_ANSWER_FRACTION;
}

/* As it stands in the entry: percent for fractions. */
static char *
shown (QmNumberRow *self,
       const char  *value)
{
  const QmWords *words = qm_language_get_words ();
  double number = g_ascii_strtod (value, NULL);

  if (is_fraction (self))
    return qm_format_number (words, number * 100);

  return number == floor (number) ? qm_format_count (words, number) : qm_format_number (words, number);
}

static void
show_problem (QmNumberRow *self,
              const char  *problem)
{
  gtk_label_set_label (GTK_LABEL (self->error), problem != NULL ? problem : "");
  gtk_widget_set_visible (self->error, problem != NULL);
  if (problem != NULL)
    {
      gtk_widget_add_css_class (self->entry, "error");
      gtk_accessible_update_state (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_STATE_INVALID, GTK_ACCESSIBLE_INVALID_TRUE, -1);
    }
  else
    {
      gtk_widget_remove_css_class (self->entry, "error");
      gtk_accessible_reset_state (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_STATE_INVALID);
    }
}

static const char *
unit_of (QmNumberRow *self)
{
  const QmResolved *resolved = qm_session_get_resolved (self->session);

  if (is_fraction (self))
    return "%";
  if (self->question->kind == QM_ANSWER_MONEY)
    return qm_plan_get_currency (resolved != NULL ? resolved->plan : qm_session_get_plan (self->session));

  return self->question->unit != NULL ? _(self->question->unit) : "";
}

static void
update (QmNumberRow *self)
{
  g_autofree char *answer = qm_session_get_answer (self->session, self->question->field);
  g_autofree char *effective = qm_session_get_effective (self->session, self->question->field);
  g_autofree char *text = answer != NULL ? shown (self, answer) : NULL;
  g_autofree char *placeholder = effective != NULL ? shown (self, effective) : NULL;

  /* Somebody is typing: what they typed stays. */
  self->updating = TRUE;
  gtk_label_set_label (GTK_LABEL (self->unit), unit_of (self));
  if (gtk_widget_get_focus_child (self->entry) == NULL)
    gtk_editable_set_text (GTK_EDITABLE (self->entry), text != NULL ? text : "");
  gtk_entry_set_placeholder_text (GTK_ENTRY (self->entry), placeholder != NULL ? placeholder : _("no limit"));
  gtk_widget_set_sensitive (self->reset, answer != NULL);
  self->updating = FALSE;
}

static void
set_number (QmNumberRow *self,
            double       number)
{
  g_autoptr (GError) error = NULL;
  char value[G_ASCII_DTOSTR_BUF_SIZE];

  if (is_fraction (self))
    number /= 100;
  g_ascii_dtostr (value, sizeof value, number);
  if (number < self->question->minimum || number > self->question->maximum)
    {
      const QmWords *words = qm_language_get_words ();
      double scale = is_fraction (self) ? 100 : 1;
      g_autofree char *low = qm_format_number (words, self->question->minimum * scale);
      g_autofree char *high = qm_format_number (words, self->question->maximum * scale);
      g_autofree char *problem = g_strdup_printf (_("From %s to %s, please"), low, high);

      show_problem (self, problem);
      return;
    }
  if (qm_session_set_answer (self->session, self->question->field, value, &error))
    show_problem (self, NULL);
  else
    show_problem (self, _("A whole number, please"));
}

static void
changed (GtkEditable *editable,
         QmNumberRow *self)
{
  const char *text = gtk_editable_get_text (editable);
  double number;

  if (self->updating)
    return;
  if (text[0] == '\0')
    {
      show_problem (self, NULL);
      qm_session_set_answer (self->session, self->question->field, NULL, NULL);
      return;
    }

  number = qm_parse_quantity (text, qm_language_get_words ());
  if (isnan (number))
    show_problem (self, _("A number, please: 20000, 20k or 1.5M"));
  else
    set_number (self, number);
}

static void
reset (GtkButton   *button,
       QmNumberRow *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  show_problem (self, NULL);
  qm_session_set_answer (self->session, self->question->field, NULL, NULL);
  self->updating = TRUE;
  gtk_editable_set_text (GTK_EDITABLE (self->entry), "");
  self->updating = FALSE;
}

static void
chip_clicked (GtkButton   *button,
              QmNumberRow *self)
{
  double value = *(double *) g_object_get_data (G_OBJECT (button), "value");
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *label = NULL;

  g_ascii_dtostr (text, sizeof text, value);
  qm_session_set_answer (self->session, self->question->field, text, NULL);
  label = shown (self, text);
  self->updating = TRUE;
  gtk_editable_set_text (GTK_EDITABLE (self->entry), label);
  self->updating = FALSE;
  show_problem (self, NULL);
}

static GtkWidget *
chips_new (QmNumberRow *self)
{
  GtkWidget *chips = adw_wrap_box_new ();
  const double *typical = self->question->typical;

  adw_wrap_box_set_child_spacing (ADW_WRAP_BOX (chips), 6);
  adw_wrap_box_set_line_spacing (ADW_WRAP_BOX (chips), 6);
  for (int i = 0; typical != NULL && typical[i] != 0; i++)
    {
      char value[G_ASCII_DTOSTR_BUF_SIZE];
      g_autofree char *label = NULL;
      GtkWidget *button;

      g_ascii_dtostr (value, sizeof value, typical[i]);
      label = typical[i] >= 1e6 ? qm_format_count_short (qm_language_get_words (), typical[i]) : shown (self, value);
      button = gtk_button_new_with_label (label);
      gtk_widget_add_css_class (button, "chip");
      g_object_set_data_full (G_OBJECT (button), "value", g_memdup2 (&typical[i], sizeof (double)), g_free);
      g_signal_connect (button, "clicked", G_CALLBACK (chip_clicked), self);
      adw_wrap_box_append (ADW_WRAP_BOX (chips), button);
    }

  return chips;
}

static GtkWidget *
entry_box_new (QmNumberRow *self)
{
  GtkWidget *box = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 6);

  self->entry = gtk_entry_new ();
  gtk_editable_set_width_chars (GTK_EDITABLE (self->entry), 8);
  gtk_editable_set_max_width_chars (GTK_EDITABLE (self->entry), 14);
  gtk_entry_set_activates_default (GTK_ENTRY (self->entry), TRUE);
  gtk_editable_set_alignment (GTK_EDITABLE (self->entry), 1);
  gtk_entry_set_input_purpose (GTK_ENTRY (self->entry), GTK_INPUT_PURPOSE_NUMBER);
  gtk_widget_set_valign (self->entry, GTK_ALIGN_CENTER);
  gtk_widget_set_name (self->entry, self->question->field);
  qm_ui_set_label (self->entry, _(self->question->title));
  g_signal_connect (self->entry, "changed", G_CALLBACK (changed), self);
  gtk_box_append (GTK_BOX (box), self->entry);
  self->unit = qm_ui_label (unit_of (self), "second");
  gtk_box_append (GTK_BOX (box), self->unit);

  self->reset = gtk_button_new_from_icon_name ("edit-undo-symbolic");
  gtk_widget_add_css_class (self->reset, "flat");
  gtk_widget_add_css_class (self->reset, "circular");
  gtk_widget_set_valign (self->reset, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (self->reset, _("I do not know: take the usual value"));
  g_signal_connect (self->reset, "clicked", G_CALLBACK (reset), self);
  gtk_box_append (GTK_BOX (box), self->reset);

  return box;
}

static void
build (QmNumberRow *self)
{
  GtkWidget *outer = qm_ui_box (GTK_ORIENTATION_VERTICAL, 9);
  GtkWidget *line = adw_wrap_box_new ();
  GtkWidget *text = qm_ui_box (GTK_ORIENTATION_VERTICAL, 3);

  gtk_box_append (GTK_BOX (text), qm_ui_wrapped (_(self->question->title), NULL));
  if (self->question->gloss != NULL)
    gtk_box_append (GTK_BOX (text), qm_ui_wrapped (_(self->question->gloss), "caption second"));
  gtk_widget_set_hexpand (text, TRUE);
  gtk_widget_set_valign (text, GTK_ALIGN_CENTER);
  adw_wrap_box_set_child_spacing (ADW_WRAP_BOX (line), 12);
  adw_wrap_box_set_line_spacing (ADW_WRAP_BOX (line), 9);
  adw_wrap_box_set_justify (ADW_WRAP_BOX (line), ADW_JUSTIFY_FILL);
  adw_wrap_box_set_justify_last_line (ADW_WRAP_BOX (line), TRUE);
  adw_wrap_box_append (ADW_WRAP_BOX (line), text);
  adw_wrap_box_append (ADW_WRAP_BOX (line), entry_box_new (self));
  gtk_box_append (GTK_BOX (outer), line);
  if (qm_decision_slider_is_for (self->question))
    gtk_box_append (GTK_BOX (outer), qm_decision_slider_new (self->session, self->question));
  if (self->question->typical != NULL)
    gtk_box_append (GTK_BOX (outer), chips_new (self));
  self->error = qm_ui_wrapped ("", "caption error");
  gtk_widget_set_visible (self->error, FALSE);
  gtk_box_append (GTK_BOX (outer), self->error);
  gtk_widget_add_css_class (outer, "number-row");
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (self), outer);
}

static void
qm_number_row_dispose (GObject *object)
{
  g_clear_object (&QM_NUMBER_ROW (object)->session);

  G_OBJECT_CLASS (qm_number_row_parent_class)->dispose (object);
}

static void
qm_number_row_class_init (QmNumberRowClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_number_row_dispose;
}

static void
qm_number_row_init (QmNumberRow *self)
{
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (self), FALSE);
  gtk_widget_set_focusable (GTK_WIDGET (self), FALSE);
}

/**
 * qm_number_row_new:
 * @session: the session
 * @question: a question for a number
 *
 * Returns: (transfer floating): a row with an entry and typical values to pick
 */
GtkWidget *
qm_number_row_new (QmSession        *session,
                   const QmQuestion *question)
{
  QmNumberRow *self = g_object_new (QM_TYPE_NUMBER_ROW, NULL);

  self->session = g_object_ref (session);
  self->question = question;
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self), _(question->title));
  build (self);
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);

  return GTK_WIDGET (self);
}

/**
 * qm_number_row_get_unit:
 * @self: a row
 *
 * Returns: (transfer none): the label behind the entry: as wide in all rows,
 *   the entries stand in line
 */
GtkWidget *
qm_number_row_get_unit (QmNumberRow *self)
{
  return self->unit;
}
