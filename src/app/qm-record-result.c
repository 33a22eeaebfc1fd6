/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-record-result.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "draw/qm-phrase-runs.h"
#include "qm-ui.h"

static GtkWidget *
card_new (const char *style)
{
  GtkWidget *card = qm_ui_box (GTK_ORIENTATION_VERTICAL, 6);

  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, style);
  return card;
}

static GtkWidget *
verdict_new (const QmDiagnosis *diagnosis)
{
  const QmWords *words = qm_language_get_words ();
  gboolean fine = diagnosis->bottleneck == QM_BOTTLENECK_NONE || diagnosis->bottleneck == QM_BOTTLENECK_UNKNOWN;
  GtkWidget *card = card_new (fine ? "sheet" : "notice");
  g_autofree char *title = qm_message_get_text (diagnosis->message, words);
  g_autofree char *sure = qm_format_percent (words, diagnosis->confidence);
  g_autofree char *confidence = NULL;

  gtk_box_append (GTK_BOX (card), qm_ui_wrapped (title, "title-4"));
  for (guint i = 0; i < diagnosis->evidence->len; i++)
    {
      g_autofree char *text = qm_message_get_text (g_ptr_array_index (diagnosis->evidence, i), words);

      gtk_box_append (GTK_BOX (card), qm_ui_wrapped (text, NULL));
    }
  if (diagnosis->bottleneck == QM_BOTTLENECK_UNKNOWN)
    return card;
  /* Translators: how sure a diagnosis is, e.g. "88% sure" */
  confidence = g_strdup_printf (_("%s sure"), sure);
  gtk_box_append (GTK_BOX (card), qm_ui_wrapped (confidence, "caption second"));

  return card;
}

static GtkWidget *
cures_new (const QmDiagnosis *diagnosis)
{
  const QmWords *words = qm_language_get_words ();
  GtkWidget *group = adw_preferences_group_new ();

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _("What to do, most useful first"));
  for (guint i = 0; i < diagnosis->cures->len; i++)
    {
      const QmCure *cure = &g_array_index (diagnosis->cures, QmCure, i);
      GtkWidget *row = adw_action_row_new ();
      g_autofree char *text = qm_message_get_text (cure->message, words);
      g_autofree char *factor = qm_format_factor (words, cure->gain);
      /* Translators: a factor, as in "up to 1.8× as fast" */
      g_autofree char *gain = isfinite (cure->gain) ? g_strdup_printf (_("up to %s as fast"), factor) : NULL;

      adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), text);
      if (gain != NULL)
        adw_action_row_add_suffix (ADW_ACTION_ROW (row), qm_ui_label (gain, "numeric second"));
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
    }
  gtk_widget_set_visible (group, diagnosis->cures->len > 0);

  return group;
}

static void
attach (GtkWidget  *grid,
        const char *text,
        const char *style,
        int         column,
        int         row)
{
  GtkWidget *label = qm_ui_wrapped (text, style);

  gtk_label_set_xalign (GTK_LABEL (label), column > 0 ? 1 : 0);
  gtk_widget_set_hexpand (label, column == 0);
  gtk_grid_attach (GTK_GRID (grid), label, column, row, 1, 1);
}

/* What was measured, beside what was predicted where the run has a plan. */
static GtkWidget *
figures_new (const QmRun *run)
{
  const QmWords *words = qm_language_get_words ();
  GtkWidget *card = card_new ("sheet");
  GtkWidget *grid = gtk_grid_new ();
  int line = 1;

  gtk_grid_set_column_spacing (GTK_GRID (grid), 18);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 6);
  attach (grid, _("Per run"), "caption second", 0, 0);
  attach (grid, _("Predicted"), "caption second", 1, 0);
  attach (grid, _("Measured"), "caption second", 2, 0);
  attach (grid, _("Error"), "caption second", 3, 0);
  for (guint i = 0; i < run->figures->len; i++)
    {
      const QmFigure *figure = &g_array_index (run->figures, QmFigure, i);
      g_autofree char *predicted = qm_phrase_figure (words, figure->key, figure->predicted.p50, run->unit);
      g_autofree char *measured = qm_phrase_figure (words, figure->key, figure->measured, run->unit);
      g_autofree char *error = qm_phrase_error (words, figure->predicted.p50, figure->measured);

      if (!qm_phrase_figure_is_named (figure->key) || isnan (figure->measured))
        continue;
      attach (grid, qm_phrase_figure_name (words, figure->key), "second", 0, line);
      attach (grid, predicted, "numeric", 1, line);
      attach (grid, measured, "numeric heading", 2, line);
      attach (grid, error != NULL ? error : "", "numeric", 3, line++);
    }
  gtk_box_append (GTK_BOX (card), grid);

  return card;
}

/**
 * qm_record_result_new:
 * @run: a run that was recorded
 * @diagnosis: what held it up
 *
 * Returns: (transfer floating): the diagnosis with its cures, and what was
 *   measured beside what was predicted
 */
GtkWidget *
qm_record_result_new (const QmRun       *run,
                      const QmDiagnosis *diagnosis)
{
  GtkWidget *content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 18);
  g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, run->id);
  /* Translators: its number, and how it ended */
  g_autofree char *kept = g_strdup_printf (_("In History as run %s: %s"), number, qm_phrase_run_status (qm_language_get_words (), run->status));

  gtk_box_append (GTK_BOX (content), verdict_new (diagnosis));
  gtk_box_append (GTK_BOX (content), cures_new (diagnosis));
  gtk_box_append (GTK_BOX (content), figures_new (run));
  gtk_box_append (GTK_BOX (content), qm_ui_wrapped (kept, "caption second"));

  return content;
}
