/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-run-comparison.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/qm-language.h"
#include "draw/qm-phrase-runs.h"
#include "draw/qm-phrases.h"
#include "qm-run-row.h"
#include "qm-ui.h"

/* "1,170 → 1,190" would turn round in languages that are written from the right:
 * both runs have a letter instead. */
static char *
both (const char *first,
      const char *second)
{
  g_autoptr (GString) text = g_string_new (NULL);

  /* Translators: the first and the second of two runs */
  g_string_append_printf (text, "%s\302\240%s", C_("run", "A"), first);
  g_string_append_printf (text, "  ·  %s\302\240%s", C_("run", "B"), second);

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static GtkWidget *
add_row (GtkWidget  *group,
         const char *title,
         const char *first,
         const char *second)
{
  GtkWidget *row = adw_action_row_new ();
  g_autofree char *text = both (first, second);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), text);
  adw_action_row_set_subtitle_selectable (ADW_ACTION_ROW (row), TRUE);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);

  return row;
}

/* ----------------------------------------------------------------------- the two runs */

static GtkWidget *
heads_new (QmCatalog   *catalog,
           const QmRun *first,
           const QmRun *second)
{
  GtkWidget *group = adw_preferences_group_new ();
  const QmRun *runs[] = { first, second };

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      GtkWidget *row = qm_run_row_new (catalog, runs[i], "throughput.per_second");

      gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
      adw_action_row_add_prefix (ADW_ACTION_ROW (row), qm_ui_label (i == 0 ? C_("run", "A") : C_("run", "B"), "title-4"));
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
    }

  return group;
}

/* --------------------------------------------------------------------- what came out */

static void
add_figure (GtkWidget  *group,
            const char *title,
            const char *first,
            const char *second,
            double      ratio)
{
  GtkWidget *row = add_row (group, title, first, second);
  g_autofree char *percent = NULL, *change = NULL;

  if (!isfinite (ratio))
    return;

  percent = qm_format_percent (qm_language_get_words (), fabs (ratio - 1));
  change = g_strconcat (ratio < 1 ? "−" : "+", percent, NULL);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), qm_ui_label (change, "numeric"));
}

static GtkWidget *
figures_new (const QmRun *first,
             const QmRun *second)
{
  const QmWords *words = qm_language_get_words ();
  GtkWidget *group = adw_preferences_group_new ();
  g_autoptr (GArray) pairs = qm_runs_compare (first, second);
  g_autofree char *first_took = qm_phrase_figure (words, "seconds", first->seconds, NULL);
  g_autofree char *second_took = qm_phrase_figure (words, "seconds", second->seconds, NULL);

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _("What came out"));
  adw_preferences_group_set_description (ADW_PREFERENCES_GROUP (group), _("At the right, how much more or less B has than A"));
  if (!isnan (first->seconds) || !isnan (second->seconds))
    add_figure (group, _("Took"), first_took, second_took, second->seconds / first->seconds);
  for (guint i = 0; i < pairs->len; i++)
    {
      const QmFigurePair *pair = &g_array_index (pairs, QmFigurePair, i);
      g_autofree char *a = qm_phrase_figure (words, pair->key, pair->first, first->unit);
      g_autofree char *b = qm_phrase_figure (words, pair->key, pair->second, second->unit);

      if (!isnan (pair->first) || !isnan (pair->second))
        add_figure (group, qm_phrase_figure_name (words, pair->key), a, b, pair->ratio);
    }

  return group;
}

/* ------------------------------------------------------------------ what was different */

static char *
value_of (const QmPlan *plan,
          const char   *field,
          const char   *value)
{
  g_autofree char *bare = value != NULL ? g_strdup (value) : NULL;
  gsize n = value != NULL ? strlen (value) : 0;

  if (value == NULL)
    return g_strdup ("–");
  /* a string of JSON: the plan's words have no quotes */
  if (n >= 2 && value[0] == '"')
    {
      bare[n - 1] = '\0';
      return qm_phrase_field_value (qm_language_get_words (), plan, field, bare + 1);
    }

  return qm_phrase_field_value (qm_language_get_words (), plan, field, bare);
}

static QmPlan *
plan_of (const QmRun *run)
{
  return run->plan != NULL ? qm_plan_from_data (run->plan, -1, NULL, NULL) : NULL;
}

static GtkWidget *
settings_new (const QmRun *first,
              const QmRun *second)
{
  GtkWidget *group = adw_preferences_group_new ();
  g_autoptr (GPtrArray) differences = qm_runs_compare_plans (first, second);
  g_autoptr (QmPlan) first_plan = plan_of (first), second_plan = plan_of (second);

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _("What was different"));
  if (first->plan == NULL || second->plan == NULL)
    adw_preferences_group_set_description (ADW_PREFERENCES_GROUP (group), _("Not both runs have a plan to compare."));
  else if (differences->len == 0)
    adw_preferences_group_set_description (ADW_PREFERENCES_GROUP (group), _("Nothing: both have the same plan."));
  for (guint i = 0; first_plan != NULL && second_plan != NULL && i < differences->len; i++)
    {
      const QmPlanDifference *difference = g_ptr_array_index (differences, i);
      g_autofree char *a = value_of (first_plan, difference->field, difference->first);
      g_autofree char *b = value_of (second_plan, difference->field, difference->second);

      add_row (group, qm_phrase_field_name (qm_language_get_words (), first_plan, difference->field), a, b);
    }

  return group;
}

/**
 * qm_run_comparison_new:
 * @catalog: the catalog
 * @first: a run with all its figures
 * @second: another
 *
 * Returns: (transfer floating): a dialog with what came out of both, and in what
 *   their plans differ
 */
AdwDialog *
qm_run_comparison_new (QmCatalog   *catalog,
                       const QmRun *first,
                       const QmRun *second)
{
  AdwDialog *dialog = adw_dialog_new ();
  GtkWidget *view = adw_toolbar_view_new ();
  GtkWidget *page = adw_preferences_page_new ();

  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (heads_new (catalog, first, second)));
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (figures_new (first, second)));
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (settings_new (first, second)));
  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), adw_header_bar_new ());
  adw_toolbar_view_set_content (ADW_TOOLBAR_VIEW (view), page);
  adw_dialog_set_child (dialog, view);
  adw_dialog_set_title (dialog, _("Two runs"));
  adw_dialog_set_content_width (dialog, 560);
  adw_dialog_set_content_height (dialog, 680);

  return dialog;
}
