/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-run-dialog.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "draw/qm-phrase-runs.h"
#include "qm-ui.h"

struct _QmRunDialog {
  AdwDialog parent_instance;

  QmLedger *ledger;
  QmRun *run;
  GtkWidget *note;
};

G_DEFINE_FINAL_TYPE (QmRunDialog, qm_run_dialog, ADW_TYPE_DIALOG)

static guint remove_signal;

static void
add_row (GtkWidget  *group,
         const char *title,
         const char *value)
{
  GtkWidget *row;

  if (value == NULL || value[0] == '\0')
    return;

  row = adw_action_row_new ();
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), value);
  adw_action_row_set_subtitle_selectable (ADW_ACTION_ROW (row), TRUE);
  gtk_widget_add_css_class (row, "property");
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
}

/* "1.2 GiB measured · 1.1 GiB predicted, −8 %" */
static char *
figure_text (const QmFigure *figure,
             const char     *unit)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *measured = qm_phrase_figure (words, figure->key, figure->measured, unit);
  g_autofree char *predicted = qm_phrase_figure (words, figure->key, figure->predicted.p50, unit);
  g_autofree char *error = qm_phrase_error (words, figure->predicted.p50, figure->measured);
  g_autoptr (GString) text = g_string_new (isnan (figure->measured) ? _("{predicted} predicted")
                                           : isnan (figure->predicted.p50) ? _("{measured} measured")
                                                                           : _("{measured} measured · {predicted} predicted, {error}"));

  g_string_replace (text, "{measured}", measured, 0);
  g_string_replace (text, "{predicted}", predicted, 0);
  g_string_replace (text, "{error}", error != NULL ? error : "", 0);

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static GtkWidget *
figures_new (const QmRun *run)
{
  GtkWidget *group = adw_preferences_group_new ();

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _("Figures"));
  for (guint i = 0; i < run->figures->len; i++)
    {
      const QmFigure *figure = &g_array_index (run->figures, QmFigure, i);
      g_autofree char *text = figure_text (figure, run->unit);

      add_row (group, qm_phrase_figure_name (qm_language_get_words (), figure->key), text);
    }

  return group;
}

static GtkWidget *
facts_new (const QmRun *run)
{
  GtkWidget *group = adw_preferences_group_new ();
  g_autofree char *took = isnan (run->seconds) ? NULL : qm_format_seconds (qm_language_get_words (), run->seconds);

  add_row (group, _("Outcome"), qm_phrase_run_status (qm_language_get_words (), run->status));
  add_row (group, _("Took"), took);
  add_row (group, _("Device"), run->device);
  add_row (group, _("Computer"), run->machine);
  add_row (group, _("Model"), run->model);
  add_row (group, _("Command"), run->command);

  return group;
}

/* A note is kept when the dialog closes. */
static void
keep_note (QmRunDialog *self)
{
  const char *note = gtk_editable_get_text (GTK_EDITABLE (self->note));

  if (g_strcmp0 (note, self->run->note != NULL ? self->run->note : "") != 0)
    qm_ledger_set_note (self->ledger, self->run->id, note, NULL);
}

static void
remove_clicked (QmRunDialog *self)
{
  g_signal_emit (self, remove_signal, 0, self->run->id);
  adw_dialog_close (ADW_DIALOG (self));
}

static GtkWidget *
note_new (QmRunDialog *self)
{
  GtkWidget *group = adw_preferences_group_new ();
  GtkWidget *button = gtk_button_new_with_label (_("Remove this run"));

  self->note = adw_entry_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->note), _("Note"));
  gtk_editable_set_text (GTK_EDITABLE (self->note), self->run->note != NULL ? self->run->note : "");
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), self->note);

  gtk_widget_add_css_class (button, "destructive-action");
  gtk_widget_set_halign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_margin_top (button, 12);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (remove_clicked), self);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), button);

  return group;
}

static void
qm_run_dialog_finalize (GObject *object)
{
  QmRunDialog *self = QM_RUN_DIALOG (object);

  g_clear_object (&self->ledger);
  g_clear_pointer (&self->run, qm_run_free);

  G_OBJECT_CLASS (qm_run_dialog_parent_class)->finalize (object);
}

static void
qm_run_dialog_class_init (QmRunDialogClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_run_dialog_finalize;

  remove_signal = g_signal_new ("remove", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_INT64);
}

static void
qm_run_dialog_init (QmRunDialog *self)
{
  adw_dialog_set_content_width (ADW_DIALOG (self), 480);
  adw_dialog_set_content_height (ADW_DIALOG (self), 620);
  g_signal_connect (self, "closed", G_CALLBACK (keep_note), NULL);
}

/**
 * qm_run_dialog_new:
 * @ledger: the ledger that @run is in
 * @run: (transfer full): a run with all its figures
 *
 * Returns: (transfer floating): a dialog that shows it
 */
GtkWidget *
qm_run_dialog_new (QmLedger *ledger,
                   QmRun    *run)
{
  QmRunDialog *self = g_object_new (QM_TYPE_RUN_DIALOG, "title", run->label, NULL);
  GtkWidget *view = adw_toolbar_view_new ();
  GtkWidget *page = adw_preferences_page_new ();

  self->ledger = g_object_ref (ledger);
  self->run = run;
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (facts_new (run)));
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (figures_new (run)));
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (note_new (self)));
  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), adw_header_bar_new ());
  adw_toolbar_view_set_content (ADW_TOOLBAR_VIEW (view), page);
  adw_dialog_set_child (ADW_DIALOG (self), view);

  return GTK_WIDGET (self);
}
