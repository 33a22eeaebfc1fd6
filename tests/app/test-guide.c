/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-chart-view.h"
#include "qm-compare-dialog.h"
#include "qm-guide.h"
#include "window-driver.h"

/* ---------------------------------------------------------------------- guide */

static void
test_entries (void)
{
  g_autoptr (GHashTable) ids = g_hash_table_new (g_str_hash, g_str_equal);

  for (const QmGuidePart *part = qm_guide_get_parts (); part->title != NULL; part++)
    for (const QmGuideEntry *entry = part->entries; entry->id != NULL; entry++)
      {
        g_assert_true (g_hash_table_add (ids, (gpointer) entry->id));
        g_assert_nonnull (entry->title);
        g_assert_nonnull (entry->gloss);
        g_assert_cmpuint (strlen (entry->text), >, strlen (entry->gloss));
      }
}

/* Whatever a button of the window asks for is there, and open. */
static void
test_topics (void)
{
  static const char * const topics[] = { "choice", "range", "estimate" };
  g_auto (Driver) driver = { NULL };

  driver_open (&driver, 1100, 900);
  for (guint i = 0; i < G_N_ELEMENTS (topics); i++)
    {
      AdwDialog *guide;
      GtkWidget *row;

      gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.guide", "s", topics[i]);
      driver_settle (&driver);
      guide = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver.window));
      g_assert_nonnull (guide);
      row = driver_find (GTK_WIDGET (guide), topics[i]);
      g_assert_true (ADW_IS_EXPANDER_ROW (row));
      g_assert_true (adw_expander_row_get_expanded (ADW_EXPANDER_ROW (row)));
      adw_dialog_force_close (guide);
      driver_settle (&driver);
    }
}

static guint
count_shown (GtkWidget *guide)
{
  g_autoptr (GPtrArray) rows = driver_find_all (guide, ADW_TYPE_EXPANDER_ROW);
  guint shown = 0;

  for (guint i = 0; i < rows->len; i++)
    shown += gtk_widget_get_visible (g_ptr_array_index (rows, i));

  return shown;
}

static gboolean
is_searched (Driver *driver)
{
  AdwDialog *guide = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver->window));
  guint shown = count_shown (GTK_WIDGET (guide));

  return shown > 0 && shown < 5;
}

static void
test_search (void)
{
  g_auto (Driver) driver = { NULL };
  AdwDialog *guide;
  g_autoptr (GPtrArray) entries = NULL;

  driver_open (&driver, 1100, 900);
  gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.guide", "s", "");
  driver_settle (&driver);
  guide = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver.window));
  g_assert_cmpuint (count_shown (GTK_WIDGET (guide)), >, 20);
  entries = driver_find_all (GTK_WIDGET (guide), GTK_TYPE_SEARCH_ENTRY);
  gtk_editable_set_text (GTK_EDITABLE (g_ptr_array_index (entries, 0)), "QLoRA");
  driver_wait (&driver, is_searched);
  g_assert_true (gtk_widget_get_visible (driver_find (GTK_WIDGET (guide), "lora")));
}

/* -------------------------------------------------------------------- compare */

static void
write_plan (const char *path,
            const char *model,
            const char *method)
{
  g_autofree char *text = g_strdup_printf ("{\"format\": \"quartermaster-plan\", \"version\": 1, \"title\": \"%s\", \"task\": \"language-model\", "
                                           "\"activity\": \"fine-tune\", \"model\": {\"id\": \"%s\"}, \"training\": {\"method\": \"%s\"}}",
                                           method, model, method);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static gboolean
is_compared (Driver *driver)
{
  AdwDialog *dialog = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver->window));
  g_autoptr (GPtrArray) charts = driver_find_all (GTK_WIDGET (dialog), QM_TYPE_CHART_VIEW);

  return charts->len == 3;
}

static void
test_compare (void)
{
  g_auto (Driver) driver = { NULL };
  g_autofree char *first = driver_path ("first.qmplan");
  g_autofree char *second = driver_path ("second.qmplan");
  g_autoptr (GFile) first_file = g_file_new_for_path (first);
  g_autoptr (GFile) second_file = g_file_new_for_path (second);
  AdwDialog *dialog;

  write_plan (first, "llama-3.1-8b", "lora");
  write_plan (second, "llama-3.1-8b", "qlora");
  driver_open (&driver, 1100, 900);
  qm_window_open_file (driver.window, first_file);
  driver_settle (&driver);
  qm_window_compare (driver.window, second_file);
  driver_wait (&driver, is_compared);
  dialog = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver.window));
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "A  lora"));
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "B  qlora"));
  /* of all answers the method alone differs, and stands there with both values */
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "Train a small add-on"));
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "Add-on on a compressed model"));
}

/* A file that is no plan says so, and nothing else is shown. */
static void
test_compare_with_nonsense (void)
{
  g_auto (Driver) driver = { NULL };
  g_autofree char *path = driver_path ("broken.qmplan");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  AdwDialog *dialog;

  g_assert_true (g_file_set_contents (path, "{\"format\": ", -1, NULL));
  driver_open (&driver, 1100, 900);
  driver_settle (&driver);
  qm_window_compare (driver.window, file);
  driver_settle (&driver);
  dialog = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver.window));
  g_assert_true (ADW_IS_ALERT_DIALOG (dialog));
  g_assert_nonnull (strstr (adw_alert_dialog_get_body (ADW_ALERT_DIALOG (dialog)), "broken.qmplan"));
}

static void
add_tests (void)
{
  g_test_add_func ("/guide/entries", test_entries);
  g_test_add_func ("/guide/topics", test_topics);
  g_test_add_func ("/guide/search", test_search);
  g_test_add_func ("/compare/two-plans", test_compare);
  g_test_add_func ("/compare/nonsense", test_compare_with_nonsense);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
