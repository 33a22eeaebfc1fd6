/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "draw/qm-phrase-runs.h"
#include "draw/qm-language.h"
#include "probe/qm-own-ledger.h"
#include "qm-chart-view.h"
#include "qm-history-page.h"
#include "window-driver.h"

static GtkWidget *
history_page (Driver *driver)
{
  g_autoptr (GPtrArray) pages = NULL;

  gtk_widget_activate_action (GTK_WIDGET (driver->window), "win.show-place", "s", "history");
  driver_settle (driver);
  pages = driver_find_all (GTK_WIDGET (driver->window), QM_TYPE_HISTORY_PAGE);
  g_assert_cmpuint (pages->len, ==, 1);

  return g_ptr_array_index (pages, 0);
}

static guint
n_runs (GtkWidget *page)
{
  g_autoptr (GPtrArray) rows = driver_find_all (page, ADW_TYPE_ACTION_ROW);
  guint n = 0;

  for (guint i = 0; i < rows->len; i++)
    n += g_object_get_data (g_ptr_array_index (rows, i), "run") != NULL;

  return n;
}

static char *
write_table (const char *name,
             const char *text)
{
  char *path = driver_path (name);
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, text, -1, &error));
  return path;
}

static GtkWidget *imported_page;
static guint wanted_runs;

static gboolean
has_runs (Driver *driver)
{
  return n_runs (imported_page) == wanted_runs;
}

static gboolean
is_empty (Driver *driver)
{
  return driver_shows (GTK_WIDGET (driver->window), "No runs yet");
}

/* Who only asks what hardware to use has no file of runs, and no SQLite in memory. */
static void
test_no_ledger (void)
{
  g_auto (Driver) driver = { 0 };

  driver_open (&driver, 1100, 900);
  g_assert_false (qm_own_ledger_exists ());
  history_page (&driver);
  driver_wait (&driver, is_empty);
  g_assert_true (qm_own_ledger_exists ());
}

static GtkWidget *
undo_button (void)
{
  g_autoptr (GPtrArray) labels = driver_find_all (imported_page, GTK_TYPE_LABEL);

  for (guint i = 0; i < labels->len; i++)
    if (g_str_equal (gtk_label_get_text (g_ptr_array_index (labels, i)), "Undo"))
      return gtk_widget_get_ancestor (g_ptr_array_index (labels, i), GTK_TYPE_BUTTON);

  return NULL;
}

/* A toast comes in slowly. */
static gboolean
has_undo (Driver *driver)
{
  return undo_button () != NULL;
}

static void
import (Driver     *driver,
        GtkWidget  *page,
        const char *path,
        guint       wanted)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);

  imported_page = page;
  wanted_runs = wanted;
  qm_history_page_import (QM_HISTORY_PAGE (page), file);
  driver_wait (driver, has_runs);
}

#define TRAINER "{\"global_step\":40,\"log_history\":[{\"loss\":2.0,\"step\":10},{\"loss\":1.5,\"step\":20},{\"loss\":1.2,\"step\":40}," \
                "{\"step\":40,\"train_runtime\":80.0,\"train_samples_per_second\":16.0,\"train_steps_per_second\":0.5,\"train_loss\":1.5}]}"

/* What is imported is found, removed and had back; a second import adds nothing. */
static void
test_import_and_undo (void)
{
  g_auto (Driver) driver = { 0 };
  g_autofree char *path = write_table ("trainer_state.json", TRAINER);
  GtkWidget *page;
  g_autoptr (GPtrArray) rows = NULL;

  driver_open (&driver, 1100, 900);
  page = history_page (&driver);
  driver_wait (&driver, is_empty);
  import (&driver, page, path, 1);
  import (&driver, page, path, 1);
  rows = driver_find_all (page, ADW_TYPE_ACTION_ROW);
  qm_history_page_remove (QM_HISTORY_PAGE (page), *(gint64 *) g_object_get_data (g_ptr_array_index (rows, rows->len - 1), "run"));
  wanted_runs = 0;
  driver_wait (&driver, has_runs);
  driver_wait (&driver, has_undo);
  driver_press (undo_button ());
  wanted_runs = 1;
  driver_wait (&driver, has_runs);
}

/* -------------------------------------------------------------- many runs, many words */

#define TABLE "label,started,seconds,status,device,throughput.per_second,unit\n" \
              "first light,2026-11-01T10:00:00Z,100,finished,rtx-4090,1000,tokens\n" \
              "second sight,2026-11-02T10:00:00Z,80,finished,rtx-4090,1250,tokens\n" \
              "third time,2026-11-03T10:00:00Z,60,failed,rtx-3060,500,tokens\n"

static GtkWidget *
row_of (GtkWidget  *page,
        const char *label)
{
  g_autoptr (GPtrArray) rows = driver_find_all (page, ADW_TYPE_ACTION_ROW);

  for (guint i = 0; i < rows->len; i++)
    if (g_object_get_data (g_ptr_array_index (rows, i), "run") != NULL &&
        g_str_equal (adw_preferences_row_get_title (g_ptr_array_index (rows, i)), label))
      return g_ptr_array_index (rows, i);

  g_error ("no run is called %s", label);
}

static GtkWidget *
button_of (GtkWidget  *root,
           const char *label)
{
  g_autoptr (GPtrArray) buttons = driver_find_all (root, GTK_TYPE_BUTTON);

  for (guint i = 0; i < buttons->len; i++)
    if (g_strcmp0 (gtk_button_get_label (g_ptr_array_index (buttons, i)), label) == 0)
      return g_ptr_array_index (buttons, i);

  g_error ("no button says %s", label);
}

static AdwDialog *
dialog_of (Driver *driver)
{
  return adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver->window));
}

static gboolean
has_dialog (Driver *driver)
{
  return dialog_of (driver) != NULL;
}

static gboolean
has_none (Driver *driver)
{
  return dialog_of (driver) == NULL;
}

static AdwDialog *
open_run (Driver     *driver,
          GtkWidget  *page,
          const char *label)
{
  adw_action_row_activate (ADW_ACTION_ROW (row_of (page, label)));
  driver_wait (driver, has_dialog);
  driver_settle (driver);

  return dialog_of (driver);
}

static void
enter (GtkWidget  *root,
       const char *title,
       const char *text)
{
  g_autoptr (GPtrArray) entries = driver_find_all (root, ADW_TYPE_ENTRY_ROW);

  for (guint i = 0; i < entries->len; i++)
    if (g_str_equal (adw_preferences_row_get_title (g_ptr_array_index (entries, i)), title))
      {
        gtk_editable_set_text (g_ptr_array_index (entries, i), text);
        return;
      }
  g_error ("no entry is called %s", title);
}

static void
forget_runs (void)
{
  static const char * const ledger[] = { "ledger.db", "ledger.db-wal", "ledger.db-shm" };

  for (guint i = 0; i < G_N_ELEMENTS (ledger); i++)
    {
      g_autofree char *file = driver_path (ledger[i]);

      g_remove (file);
    }
}

static GtkWidget *
page_with_runs (Driver *driver)
{
  g_autofree char *path = write_table ("runs.csv", TABLE);
  GtkWidget *page;

  forget_runs ();
  driver_open (driver, 1100, 900);
  page = history_page (driver);
  import (driver, page, path, 3);

  return page;
}

static void
search (Driver     *driver,
        GtkWidget  *page,
        const char *text,
        guint       wanted)
{
  g_autoptr (GPtrArray) entries = driver_find_all (page, GTK_TYPE_SEARCH_ENTRY);

  gtk_editable_set_text (g_ptr_array_index (entries, 0), text);
  wanted_runs = wanted;
  driver_wait (driver, has_runs);
}

/* Tags are entered with a run, stand beside it, and it is found by them. */
static void
test_tags (void)
{
  g_auto (Driver) driver = { 0 };
  GtkWidget *page = page_with_runs (&driver);
  AdwDialog *dialog = open_run (&driver, page, "second sight");

  enter (GTK_WIDGET (dialog), "Tags, with commas between", " night shift, , baseline");
  enter (GTK_WIDGET (dialog), "Note", "the room was cold");
  adw_dialog_close (dialog);
  driver_wait (&driver, has_none);

  search (&driver, page, "shift", 1);
  g_assert_nonnull (strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row_of (page, "second sight"))), "baseline, night shift"));
  search (&driver, page, "cold", 1);
  search (&driver, page, "warm", 0);
  g_assert_true (driver_shows (page, "No run has these words."));
  search (&driver, page, "", 3);

  /* a tag that is taken away finds nothing */
  dialog = open_run (&driver, page, "second sight");
  enter (GTK_WIDGET (dialog), "Tags, with commas between", "baseline");
  adw_dialog_close (dialog);
  driver_wait (&driver, has_none);
  search (&driver, page, "shift", 0);
  search (&driver, page, "", 3);
}

static gboolean
asks_for_another (Driver *driver)
{
  g_autoptr (GPtrArray) banners = driver_find_all (imported_page, ADW_TYPE_BANNER);

  return banners->len == 1 && adw_banner_get_revealed (g_ptr_array_index (banners, 0)) && dialog_of (driver) == NULL;
}

/* Two runs side by side, the older first, whichever was opened. */
static void
test_comparison (void)
{
  g_auto (Driver) driver = { 0 };
  GtkWidget *page = page_with_runs (&driver);
  AdwDialog *dialog = open_run (&driver, page, "second sight");

  driver_press (button_of (GTK_WIDGET (dialog), "Compare with another run…"));
  driver_wait (&driver, asks_for_another);
  g_assert_true (driver_shows (page, "Pick the run to compare with “second sight”"));
  dialog = open_run (&driver, page, "first light");
  g_assert_cmpstr (adw_dialog_get_title (dialog), ==, "Two runs");
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "A\302\2401,000\302\240tokens/s  ·  B\302\2401,250\302\240tokens/s"));
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "+25%"));
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "−20%"));
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "Not both runs have a plan to compare."));
  adw_dialog_close (dialog);
  driver_wait (&driver, has_none);
}

/* ------------------------------------------------------------------------ never waits */

static QmLedger *holder;

static gboolean
is_removed (Driver *driver)
{
  return n_runs (imported_page) == wanted_runs && undo_button () != NULL;
}

/* Another program holds the ledger: the window goes on, and the change comes when
 * it can. */
static void
test_never_waits (void)
{
  g_auto (Driver) driver = { 0 };
  GtkWidget *page = page_with_runs (&driver);
  g_autofree char *path = driver_path ("ledger.db");
  const gint64 id = *(gint64 *) g_object_get_data (G_OBJECT (row_of (page, "third time")), "run");
  gint64 began, end, longest = 0;
  g_autoptr (GError) error = NULL;

  holder = qm_ledger_open (path, &error);
  g_assert_no_error (error);
  g_assert_true (qm_ledger_begin (holder, &error));
  qm_history_page_remove (QM_HISTORY_PAGE (page), id);
  end = g_get_monotonic_time () + 2 * G_TIME_SPAN_SECOND;
  while ((began = g_get_monotonic_time ()) < end)
    {
      if (!g_main_context_iteration (NULL, FALSE))
        g_usleep (1000);
      longest = MAX (longest, g_get_monotonic_time () - began);
    }
  g_assert_cmpint (longest, <, G_TIME_SPAN_SECOND);
  g_assert_cmpuint (n_runs (page), ==, 3);

  qm_ledger_roll_back (holder);
  g_clear_object (&holder);
  wanted_runs = 2;
  driver_wait (&driver, is_removed);
  wanted_runs = 3;
  driver_press (undo_button ());
  driver_wait (&driver, has_runs);
}

static void
test_chart (void)
{
  const QmLedgerPoint runs[] = { { 1, { 90, 100, 110 }, 95 }, { 2, { 900, 1000, 1100 }, 500 }, { 3, { NAN, NAN, NAN }, 7 } };
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (QmLedgerPoint));
  g_autoptr (QmChart) chart = NULL;

  g_assert_null (qm_chart_new_history (points, "throughput.per_second", qm_words_english ()));
  g_array_append_vals (points, runs, G_N_ELEMENTS (runs));
  chart = qm_chart_new_history (points, "throughput.per_second", qm_words_english ());
  g_assert_cmpstr (qm_chart_get_title (chart), ==, "1 of 2 predictions were within 10%");
  g_assert_cmpuint (qm_chart_n_marks (chart), ==, 2);
  g_assert_cmpstr (qm_chart_table_cell (chart, 1, 3), ==, "+5.3%");
  g_assert_cmpstr (qm_chart_table_cell (chart, 2, 3), ==, "+100%");
}

#define PLAN "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"fine-tune\"," \
             "\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"lora\",\"samples\":20000,\"epochs\":3}," \
             "\"places\":{\"owned\":[{\"device\":\"a100-sxm4-80gb\",\"devices\":1}],\"cloud\":[],\"buy\":false}}"

static void
open_plan (Driver *driver)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = driver_path ("sizing.qmplan");
  g_autoptr (GFile) file = g_file_new_for_path (path);

  g_file_set_contents (path, PLAN, -1, &error);
  g_assert_no_error (error);
  driver_open (driver, 1100, 900);
  qm_window_open_file (driver->window, file);
  driver_settle (driver);
  driver_assert_page (driver, "answer");
}

/* A run of the plan as it was chosen, which took @bytes. */
static void
keep_run (Driver *driver,
          double  bytes)
{
  QmRecommendation *recommendation = qm_session_get_recommendation (driver->session);
  const QmEstimate *estimate = &qm_recommendation_choice (recommendation, 0)->estimate;
  g_autoptr (QmPlan) plan = qm_plan_copy (qm_recommendation_get_resolved (recommendation)->plan);
  g_autofree char *path = driver_path ("ledger.db");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmLedger) ledger = qm_ledger_open (path, &error);
  g_autoptr (QmRun) run = qm_run_new ("own");
  gsize length;

  g_assert_no_error (error);
  plan->configuration = estimate->configuration;
  plan->training = estimate->training;
  run->plan = qm_plan_to_data (plan, &length);
  run->status = QM_RUN_STATUS_FINISHED;
  run->source = QM_RUN_SOURCE_RECORDED;
  qm_run_set_measured (run, "memory.per_device_bytes", bytes);
  g_assert_true (qm_ledger_add (ledger, run, NULL, &error));
}

/* The ways of sizing are compared beside the answer, own runs among them. */
static void
test_sizing (void)
{
  g_auto (Driver) before = { 0 }, after = { 0 };
  g_autoptr (GPtrArray) views = NULL;
  guint shown = 0;

  open_plan (&before);
  g_assert_true (driver_shows (driver_page (&before), "Memory by three ways of sizing, and what each leaves out"));
  keep_run (&before, 21e9);
  driver_close (&before);

  open_plan (&after);
  g_assert_true (driver_shows (driver_page (&after), "Memory by each way of sizing, your own runs as well, and what each leaves out"));
  views = driver_find_all (driver_page (&after), QM_TYPE_CHART_VIEW);
  for (guint i = 0; i < views->len; i++)
    {
      g_autoptr (GPtrArray) toggles = driver_find_all (g_ptr_array_index (views, i), GTK_TYPE_TOGGLE_BUTTON);

      g_assert_cmpuint (toggles->len, ==, 1);
      g_assert_false (driver_shows (g_ptr_array_index (views, i), "Your latest run of this very plan. It holds for that software and that data."));
      gtk_toggle_button_set_active (g_ptr_array_index (toggles, 0), TRUE);
      shown += driver_shows (g_ptr_array_index (views, i), "Your latest run of this very plan. It holds for that software and that data.");
    }
  g_assert_cmpuint (shown, ==, 1);
}

static gboolean
is_corrected (Driver *driver)
{
  return qm_estimator_get_calibration (qm_session_get_estimator (driver->session)) != NULL;
}

static gboolean
is_plain (Driver *driver)
{
  return !is_corrected (driver);
}

/* Whoever turns it off in the preferences need not have looked at the runs. */
static void
test_learning_off (void)
{
  g_auto (Driver) before = { 0 }, after = { 0 };
  g_autoptr (GPtrArray) pages = NULL;
  GSettings *settings;

  forget_runs ();
  open_plan (&before);
  keep_run (&before, 21e9);
  driver_close (&before);

  open_plan (&after);
  settings = qm_session_get_settings (after.session);
  driver_wait (&after, is_corrected);
  pages = driver_find_all (GTK_WIDGET (after.window), QM_TYPE_HISTORY_PAGE);
  g_assert_cmpuint (pages->len, ==, 0);
  g_settings_set_boolean (settings, "learn-from-runs", FALSE);
  driver_wait (&after, is_plain);
  g_settings_reset (settings, "learn-from-runs");
  driver_wait (&after, is_corrected);
}

static void
add_tests (void)
{
  /* the first: all share a folder */
  g_test_add_func ("/history/no-ledger", test_no_ledger);
  g_test_add_func ("/history/import-and-undo", test_import_and_undo);
  g_test_add_func ("/history/tags", test_tags);
  g_test_add_func ("/history/comparison", test_comparison);
  g_test_add_func ("/history/never-waits", test_never_waits);
  g_test_add_func ("/history/sizing", test_sizing);
  g_test_add_func ("/history/learning-off", test_learning_off);
  g_test_add_func ("/history/chart", test_chart);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
