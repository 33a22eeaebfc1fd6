/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-ladder.h"
#include "draw/qm-language.h"
#include "qm-techniques.h"
#include "window-driver.h"

#define PLAN "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"fine-tune\"," \
             "\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"full\",\"sequence_length\":4096," \
             "\"activation_checkpointing\":\"none\"},\"configuration\":{\"device\":\"h100-sxm5-80gb\",\"devices\":8,\"micro_batch\":4}}"

/* Whether the summary begins with @need. */
static gboolean
tells (GtkWidget  *techniques,
       const char *need)
{
  g_autoptr (GPtrArray) labels = driver_find_all (techniques, GTK_TYPE_LABEL);
  g_autofree char *beginning = g_strconcat (need, " of ", NULL);

  for (guint i = 0; i < labels->len; i++)
    if (g_str_has_prefix (gtk_label_get_text (g_ptr_array_index (labels, i)), beginning))
      return TRUE;

  return FALSE;
}

/* Every switch that can be turned frees what it says, turned on or off: asked of
 * the core for the same plan. */
static void
test_switches (void)
{
  g_autofree char *folder = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmCatalog) catalog = qm_catalog_load (folder, NULL, &error);
  g_autoptr (QmEstimator) estimator = qm_estimator_new (catalog, &error);
  g_autoptr (QmPlan) plan = qm_plan_from_data (PLAN, -1, NULL, &error);
  g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  GtkWidget *window = gtk_window_new ();
  GtkWidget *techniques = qm_techniques_new ();
  g_autoptr (GPtrArray) rows = NULL;
  const QmWords *words = qm_language_get_words ();
  g_autoptr (QmResolved) settled = NULL;
  g_autofree char *shown = NULL;
  guint turned = 0;
  QmChoice choice;

  g_assert_no_error (error);
  g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, &error));
  settled = qm_ladder_resolve (resolved, &choice.estimate);
  shown = qm_format_bytes (words, choice.estimate.memory.need.p50);
  qm_techniques_set (QM_TECHNIQUES (techniques), estimator, resolved, &choice);
  gtk_window_set_child (GTK_WINDOW (window), techniques);
  gtk_window_present (GTK_WINDOW (window));
  while (!gtk_widget_get_mapped (techniques))
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (tells (techniques, shown));
  rows = driver_find_all (techniques, ADW_TYPE_SWITCH_ROW);

  for (guint i = 0; i < rows->len; i++)
    {
      AdwSwitchRow *row = g_ptr_array_index (rows, i);
      g_autoptr (QmLadder) ladder = NULL;
      g_autofree char *need = NULL;
      guint wanted = 0;

      g_assert_true (gtk_widget_is_sensitive (GTK_WIDGET (row)));
      ladder = qm_ladder_with (estimator, settled, choice.estimate.device, 0);
      for (guint j = 0; j < ladder->rungs->len; j++)
        {
          g_autofree char *title = qm_message_get_text (g_array_index (ladder->rungs, QmRung, j).message, words);

          if (g_str_equal (title, adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row))))
            wanted = 1u << j;
        }
      g_clear_pointer (&ladder, qm_ladder_free);

      adw_switch_row_set_active (row, TRUE);
      ladder = qm_ladder_with (estimator, settled, choice.estimate.device, wanted);
      need = qm_format_bytes (words, ladder->reached.memory.need.p50);
      g_assert_cmpfloat (ladder->reached.memory.need.p50, <, choice.estimate.memory.need.p50);
      g_assert_true (tells (techniques, need));
      adw_switch_row_set_active (row, FALSE);
      turned++;
    }
  g_assert_cmpuint (turned, >=, 3);
  qm_choice_clear (&choice);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
add_tests (void)
{
  g_test_add_func ("/techniques/switches", test_switches);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
