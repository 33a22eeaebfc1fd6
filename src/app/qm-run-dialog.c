/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-run-dialog.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "draw/qm-phrase-runs.h"
#include "qm-run-row.h"
#include "qm-ui.h"

struct _QmRunDialog {
  AdwDialog parent_instance;

  QmHistory *history;
  QmRun *run;
  GtkWidget *tags;
  GtkWidget *note;
  gboolean kept;                    /* what was entered */
};

G_DEFINE_FINAL_TYPE (QmRunDialog, qm_run_dialog, ADW_TYPE_DIALOG)

enum { REMOVE, COMPARE, N_SIGNALS };

static guint signals[N_SIGNALS];

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

      qm_ui_add_property (group, qm_phrase_figure_name (qm_language_get_words (), figure->key), text);
    }

  return group;
}

static GtkWidget *
facts_new (QmCatalog   *catalog,
           const QmRun *run)
{
  GtkWidget *group = adw_preferences_group_new ();
  g_autofree char *took = isnan (run->seconds) ? NULL : qm_format_seconds (qm_language_get_words (), run->seconds);

  qm_ui_add_property (group, _("Outcome"), qm_phrase_run_status (qm_language_get_words (), run->status));
  qm_ui_add_property (group, _("Took"), took);
  qm_ui_add_property (group, _("Device"), qm_run_row_device_name (catalog, run));
  qm_ui_add_property (group, _("Computer"), run->machine);
  qm_ui_add_property (group, _("Model"), run->model);
  qm_ui_add_property (group, _("Command"), run->command);

  return group;
}

static GStrv
split_tags (const char *text)
{
  g_autoptr (GStrvBuilder) tags = g_strv_builder_new ();
  g_auto (GStrv) parts = g_strsplit_set (text, ",，、", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (g_strstrip (parts[i])[0] != '\0')
      g_strv_builder_add (tags, parts[i]);

  return g_strv_builder_end (tags);
}

/* When the dialog closes, or before anything else is done with the run. */
static void
keep (QmRunDialog *self)
{
  const char *note = gtk_editable_get_text (GTK_EDITABLE (self->note));
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->tags));
  g_autofree char *before = qm_run_join_tags (self->run);
  g_auto (GStrv) tags = split_tags (text);

  if (self->kept)
    return;

  self->kept = TRUE;
  if (g_strcmp0 (note, self->run->note != NULL ? self->run->note : "") != 0)
    qm_history_set_note (self->history, self->run->id, note);
  if (g_strcmp0 (text, before) != 0)
    qm_history_set_tags (self->history, self->run->id, (const char * const *) tags);
}

static void
emit_and_close (QmRunDialog *self,
                guint        signal)
{
  keep (self);
  g_signal_emit (self, signals[signal], 0, self->run->id);
  adw_dialog_close (ADW_DIALOG (self));
}

static void
remove_clicked (QmRunDialog *self)
{
  emit_and_close (self, REMOVE);
}

static void
compare_clicked (QmRunDialog *self)
{
  emit_and_close (self, COMPARE);
}

static GtkWidget *
entry_new (GtkWidget  *group,
           const char *title,
           const char *text)
{
  GtkWidget *entry = adw_entry_row_new ();

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (entry), title);
  gtk_editable_set_text (GTK_EDITABLE (entry), text != NULL ? text : "");
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), entry);

  return entry;
}

static void
add_button (GtkWidget  *box,
            const char *text,
            const char *style,
            GCallback   clicked,
            gpointer    self)
{
  GtkWidget *button = gtk_button_new_with_label (text);

  gtk_widget_add_css_class (button, style);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  adw_wrap_box_append (ADW_WRAP_BOX (box), button);
}

static GtkWidget *
own_words_new (QmRunDialog *self)
{
  GtkWidget *group = adw_preferences_group_new ();
  GtkWidget *buttons = adw_wrap_box_new ();
  g_autofree char *tags = qm_run_join_tags (self->run);

  self->tags = entry_new (group, _("Tags, with commas between"), tags);
  self->note = entry_new (group, _("Note"), self->run->note);

  adw_wrap_box_set_child_spacing (ADW_WRAP_BOX (buttons), 12);
  adw_wrap_box_set_line_spacing (ADW_WRAP_BOX (buttons), 12);
  adw_wrap_box_set_align (ADW_WRAP_BOX (buttons), 0.5f);
  gtk_widget_set_margin_top (buttons, 18);
  add_button (buttons, _("Compare with another run…"), "pill", G_CALLBACK (compare_clicked), self);
  add_button (buttons, _("Remove this run"), "destructive-action", G_CALLBACK (remove_clicked), self);
  gtk_widget_add_css_class (gtk_widget_get_last_child (buttons), "pill");
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), buttons);

  return group;
}

static void
qm_run_dialog_finalize (GObject *object)
{
  QmRunDialog *self = QM_RUN_DIALOG (object);

  g_clear_object (&self->history);
  g_clear_pointer (&self->run, qm_run_free);

  G_OBJECT_CLASS (qm_run_dialog_parent_class)->finalize (object);
}

static void
qm_run_dialog_class_init (QmRunDialogClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_run_dialog_finalize;

  signals[REMOVE] = g_signal_new ("remove", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_INT64);
  signals[COMPARE] = g_signal_new ("compare", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_INT64);
}

static void
qm_run_dialog_init (QmRunDialog *self)
{
  adw_dialog_set_content_width (ADW_DIALOG (self), 480);
  adw_dialog_set_content_height (ADW_DIALOG (self), 620);
  g_signal_connect (self, "closed", G_CALLBACK (keep), NULL);
}

/**
 * qm_run_dialog_new:
 * @history: the runs that @run is one of
 * @run: (transfer full): a run with all its figures
 *
 * Returns: (transfer floating): a dialog that shows it
 */
GtkWidget *
qm_run_dialog_new (QmHistory *history,
                   QmRun     *run)
{
  QmRunDialog *self = g_object_new (QM_TYPE_RUN_DIALOG, "title", run->label, NULL);
  GtkWidget *view = adw_toolbar_view_new ();
  GtkWidget *page = adw_preferences_page_new ();

  self->history = g_object_ref (history);
  self->run = run;
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (facts_new (qm_session_get_catalog (qm_history_get_session (history)), run)));
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (figures_new (run)));
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (own_words_new (self)));
  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), adw_header_bar_new ());
  adw_toolbar_view_set_content (ADW_TOOLBAR_VIEW (view), page);
  adw_dialog_set_child (ADW_DIALOG (self), view);

  return GTK_WIDGET (self);
}
