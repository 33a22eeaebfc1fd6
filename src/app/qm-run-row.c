/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-run-row.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "draw/qm-phrase-runs.h"
#include "qm-ui.h"

static char *
when (gint64 started)
{
  g_autoptr (GDateTime) utc = g_date_time_new_from_unix_utc_usec (started);
  g_autoptr (GDateTime) local = utc != NULL ? g_date_time_to_local (utc) : NULL;
  g_autofree char *day = local != NULL ? g_date_time_format (local, "%Y-%m-%d") : NULL;

  return day != NULL ? qm_format_date (qm_language_get_words (), day) : g_strdup ("");
}

/* "12 November 2026 · RTX 4090 · 23 min · finished · baseline, night" */
static char *
summary_of (QmCatalog   *catalog,
            const QmRun *run)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *tags = run->tags->len > 0 ? qm_run_join_tags (run) : NULL;
  g_autofree char *day = when (run->started);
  g_autofree char *took = isnan (run->seconds) ? NULL : qm_format_seconds (words, run->seconds);
  g_autoptr (GPtrArray) parts = g_ptr_array_new ();

  g_ptr_array_add (parts, day);
  if (run->device != NULL)
    g_ptr_array_add (parts, (char *) qm_run_row_device_name (catalog, run));
  if (took != NULL)
    g_ptr_array_add (parts, took);
  g_ptr_array_add (parts, (char *) qm_phrase_run_status (words, run->status));
  if (tags != NULL)
    g_ptr_array_add (parts, tags);
  g_ptr_array_add (parts, NULL);

  return g_strjoinv (" · ", (char **) parts->pdata);
}

static GtkWidget *
figures_new (const QmRun *run,
             const char  *key)
{
  const QmWords *words = qm_language_get_words ();
  GtkWidget *box = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);
  double measured = qm_run_measured (run, key);
  g_autofree char *rate = qm_phrase_figure (words, key, measured, run->unit);
  g_autofree char *error = qm_phrase_error (words, qm_run_predicted (run, key), measured);
  GtkWidget *label = qm_ui_label (rate, "numeric");

  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_box_append (GTK_BOX (box), label);
  if (error != NULL)
    {
      g_autofree char *text = g_strdup_printf (_("predicted %s"), error);
      GtkWidget *second = qm_ui_label (text, "caption second numeric");

      gtk_label_set_xalign (GTK_LABEL (second), 1);
      gtk_box_append (GTK_BOX (box), second);
    }

  return box;
}

/**
 * qm_run_row_device_name:
 * @catalog: the catalog
 * @run: a run
 *
 * Returns: (transfer none) (nullable): what its device is called; %NULL where it
 *   is not known
 */
const char *
qm_run_row_device_name (QmCatalog   *catalog,
                        const QmRun *run)
{
  const QmDevice *device = run->device != NULL ? qm_catalog_find_device (catalog, run->device) : NULL;

  return device != NULL ? device->name : run->device;
}

/**
 * qm_run_row_new:
 * @catalog: the catalog
 * @run: a run
 * @key: of the figure that is shown
 *
 * Returns: (transfer floating): a row to be activated, with what the run was and
 *   how far the prediction was off
 */
GtkWidget *
qm_run_row_new (QmCatalog   *catalog,
                const QmRun *run,
                const char  *key)
{
  GtkWidget *row = adw_action_row_new ();
  g_autofree char *summary = summary_of (catalog, run);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), run->label != NULL && *run->label != '\0' ? run->label : _("A run without a name"));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), summary);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), figures_new (run, key));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);

  return row;
}
