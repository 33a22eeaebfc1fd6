/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-breakdown.h"

#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-money.h"
#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-ui.h"

static const char * const part_names[QM_MEMORY_N_PARTS] = {
  N_("Weights"), N_("Gradients"), N_("Optimiser states"), N_("Activations"), N_("Word scores (logits)"),
  N_("KV cache"), N_("Exchange between devices"), N_("Work space"), N_("Driver and runtime"), N_("Fragmentation"),
};

static void
add_line (GtkWidget  *group,
          const char *name,
          const char *value)
{
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), name);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), qm_ui_label (value, "numeric"));
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
}

static GtkWidget *
memory_group_new (const QmMemory *memory)
{
  const QmWords *words = qm_language_get_words ();
  GtkWidget *group = adw_preferences_group_new ();
  g_autofree char *sum = qm_format_bytes (words, memory->need.p50);
  g_autofree char *range = qm_format_bytes_range (words, memory->need);
  g_autofree char *title = g_strdup_printf (_("Memory of each device: %s (%s)"), sum, range);

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), title);
  for (int i = 0; i < QM_MEMORY_N_PARTS; i++)
    {
      g_autofree char *value = qm_format_bytes (words, memory->parts[i]);

      if (memory->parts[i] > 1 << 20)
        add_line (group, _(part_names[i]), value);
    }

  return group;
}

static void
add_seconds (GtkWidget  *group,
             const char *name,
             double      seconds)
{
  g_autofree char *value = qm_format_seconds (qm_language_get_words (), seconds);

  if (seconds > 0)
    add_line (group, name, value);
}

static GtkWidget *
time_group_new (const QmThroughput *throughput)
{
  GtkWidget *group = adw_preferences_group_new ();

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _("One step"));
  add_seconds (group, _("Arithmetic"), throughput->compute_seconds);
  add_seconds (group, _("Moving data in memory"), throughput->memory_seconds);
  add_seconds (group, _("Exchange between devices"), throughput->communication_seconds);
  add_seconds (group, _("Loading data"), throughput->input_seconds);
  add_seconds (group, _("Software overhead"), throughput->overhead_seconds);

  return group;
}

/* One thing alone is the whole. */
static void
add_parts (GtkWidget         *group,
           const QmCostParts *parts,
           const char        *currency)
{
  QmCostPart list[QM_MOST_COST_PARTS];
  guint n = qm_cost_parts_list (parts, list);

  for (guint i = 0; n > 1 && i < n; i++)
    {
      g_autofree char *money = qm_format_money (qm_language_get_words (), list[i].money, currency);

      add_line (group, _(list[i].name), money);
    }
}

/* How the money comes about, and what is doubtful about it. */
static GtkWidget *
about_money_new (QmEstimator      *estimator,
                 QmRecommendation *recommendation,
                 const QmChoice   *choice)
{
  const QmWords *words = qm_language_get_words ();
  g_autoptr (GPtrArray) messages = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
  GtkWidget *group = adw_preferences_group_new ();

  qm_money_warn (estimator, qm_recommendation_get_resolved (recommendation), choice, messages);
  qm_money_explain (estimator, qm_recommendation_get_resolved (recommendation), choice, messages);
  for (guint i = 0; i < messages->len; i++)
    {
      GtkWidget *row = adw_action_row_new ();
      g_autofree char *text = qm_message_get_text (g_ptr_array_index (messages, i), words);
      g_autofree char *detail = qm_message_get_detail (g_ptr_array_index (messages, i), words);

      adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), text);
      if (detail != NULL)
        adw_action_row_set_subtitle (ADW_ACTION_ROW (row), detail);
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
    }
  gtk_widget_set_visible (group, messages->len > 0);

  return group;
}

static GtkWidget *
money_group_new (const QmPlan   *plan,
                 const QmChoice *choice)
{
  const QmWords *words = qm_language_get_words ();
  const char *currency = qm_plan_get_currency (plan);
  GtkWidget *group = adw_preferences_group_new ();
  g_autofree char *money = qm_format_money (words, choice->estimate.cost.money.p50, currency);
  g_autofree char *hour = qm_format_money (words, choice->estimate.cost.per_hour, currency);
  g_autofree char *terms = qm_phrase_terms (qm_language_get_words (), plan, choice);

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _("Money"));
  adw_preferences_group_set_description (ADW_PREFERENCES_GROUP (group), terms);
  add_line (group, _("Each hour"), hour);
  add_parts (group, &choice->estimate.cost.parts, currency);
  add_line (group, plan->activity == QM_ACTIVITY_SERVE ? _("Each month") : _("The whole job"), money);

  return group;
}

AdwDialog *
qm_breakdown_new (QmEstimator      *estimator,
                  QmRecommendation *recommendation)
{
  const QmChoice *choice = qm_recommendation_choice (recommendation, 0);
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;
  AdwDialog *dialog = adw_dialog_new ();
  GtkWidget *view = adw_toolbar_view_new ();
  GtkWidget *page = adw_preferences_page_new ();
  GtkWidget *header = adw_header_bar_new ();

  adw_preferences_page_set_description (ADW_PREFERENCES_PAGE (page), choice->label);
  if (qm_range_is_known (choice->estimate.memory.need))
    adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (memory_group_new (&choice->estimate.memory)));
  if (choice->estimate.throughput.known)
    adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (time_group_new (&choice->estimate.throughput)));
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (money_group_new (plan, choice)));
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (about_money_new (estimator, recommendation, choice)));

  adw_header_bar_pack_start (ADW_HEADER_BAR (header), qm_ui_guide ("estimate", _("Read about it in the guide")));
  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), header);
  adw_toolbar_view_set_content (ADW_TOOLBAR_VIEW (view), page);
  adw_dialog_set_title (dialog, _("What the estimate is made of"));
  adw_dialog_set_child (dialog, view);
  adw_dialog_set_content_width (dialog, 560);
  adw_dialog_set_content_height (dialog, 640);

  return dialog;
}
