/* SPDX-License-Identifier: GPL-3.0-or-later */

/* This Computer as a person uses it: it shows what goes on while it is seen, and
 * records a run. */

#include "qm-computer-page.h"
#include "qm-history-page.h"
#include "qm-live-card.h"
#include "qm-record-dialog.h"
#include "qm-ui.h"
#include "window-driver.h"

static QmComputerPage *
show_computer (Driver *driver)
{
  g_autoptr (GPtrArray) pages = NULL;

  gtk_widget_activate_action (GTK_WIDGET (driver->window), "win.show-place", "s", "computer");
  pages = driver_find_all (GTK_WIDGET (driver->window), QM_TYPE_COMPUTER_PAGE);
  g_assert_cmpuint (pages->len, ==, 1);

  return g_ptr_array_index (pages, 0);
}

static QmComputerPage *page;
static guint wanted;

static gboolean
has_samples (Driver *driver)
{
  return qm_watcher_length (qm_computer_page_get_watcher (page)) >= wanted;
}

static gboolean
has_cards (Driver *driver)
{
  g_autoptr (GPtrArray) cards = driver_find_all (GTK_WIDGET (page), QM_TYPE_LIVE_CARD);

  for (guint i = 0; i < cards->len; i++)
    if (gtk_widget_get_mapped (g_ptr_array_index (cards, i)))
      return TRUE;

  return FALSE;
}

static void
pass (guint milliseconds)
{
  gint64 end = g_get_monotonic_time () + milliseconds * G_TIME_SPAN_MILLISECOND;

  while (g_get_monotonic_time () < end)
    g_main_context_iteration (NULL, FALSE);
}

/* Samples come while the page is seen, and no more when it is not. */
static void
test_live (void)
{
  g_auto (Driver) driver = { 0 };
  QmWatcher *watcher;
  guint before;

  driver_open (&driver, 1100, 900);
  page = show_computer (&driver);
  watcher = qm_computer_page_get_watcher (page);
  qm_watcher_set_interval (watcher, 0.2);
  wanted = 4;
  driver_wait (&driver, has_samples);
  driver_wait (&driver, has_cards);

  gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.show-place", "s", "history");
  driver_settle (&driver);
  pass (500);
  before = qm_watcher_length (watcher);
  pass (1000);
  g_assert_cmpuint (qm_watcher_length (watcher), ==, before);

  show_computer (&driver);
  wanted = before + 2;
  driver_wait (&driver, has_samples);
}

/* --------------------------------------------------------------------------- record */

static AdwDialog *dialog;

static AdwDialog *
open_recorder (Driver *driver)
{
  gtk_widget_activate_action (GTK_WIDGET (driver->window), "win.record", NULL);
  driver_settle (driver);
  dialog = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver->window));
  g_assert_true (QM_IS_RECORD_DIALOG (dialog));

  return dialog;
}

static GtkWidget *
button_named (const char *label)
{
  g_autoptr (GPtrArray) buttons = driver_find_all (GTK_WIDGET (dialog), GTK_TYPE_BUTTON);

  for (guint i = 0; i < buttons->len; i++)
    if (g_strcmp0 (gtk_button_get_label (g_ptr_array_index (buttons, i)), label) == 0)
      return g_ptr_array_index (buttons, i);

  return NULL;
}

static gboolean
is_in_command (Driver *driver)
{
  GtkWidget *focus = gtk_root_get_focus (GTK_ROOT (driver->window));


  return focus != NULL && gtk_widget_get_ancestor (focus, ADW_TYPE_ENTRY_ROW) != NULL;
}

static void
type_command (const char *command)
{
  g_autoptr (GPtrArray) rows = driver_find_all (GTK_WIDGET (dialog), ADW_TYPE_ENTRY_ROW);

  g_assert_cmpuint (rows->len, ==, 1);
  gtk_editable_set_text (g_ptr_array_index (rows, 0), command);
}

static gboolean
has_result (Driver *driver)
{
  return button_named ("Show in History") != NULL;
}

static guint
n_runs (Driver *driver)
{
  g_autoptr (GPtrArray) rows = driver_find_all (GTK_WIDGET (driver->window), ADW_TYPE_ACTION_ROW);
  guint n = 0;

  for (guint i = 0; i < rows->len; i++)
    n += g_object_get_data (g_ptr_array_index (rows, i), "run") != NULL;

  return n;
}

static gboolean
has_run (Driver *driver)
{
  return n_runs (driver) == wanted;
}

#define TRAINING "i=0; while [ $i -lt 8 ]; do i=$((i+1)); echo \"step $i/8, loss 2.5, 120 tokens/s\"; sleep 0.4; done"

/* The way of a person: a command, progress, what it showed, and the run in History. */
static void
test_record (void)
{
  g_auto (Driver) driver = { 0 };

  driver_open (&driver, 1100, 900);
  show_computer (&driver);
  open_recorder (&driver);
  g_assert_false (gtk_widget_get_sensitive (button_named ("Record")));
  /* what is typed is the command, and Enter records */
  driver_wait (&driver, is_in_command);
  type_command (TRAINING);
  g_assert_true (gtk_widget_get_sensitive (button_named ("Record")));
  driver_press (button_named ("Record"));
  g_assert_nonnull (button_named ("Stop and keep"));
  g_assert_false (adw_dialog_get_can_close (dialog));
  driver_wait (&driver, has_result);
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "Throughput"));
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "120\302\240tokens/s"));
  driver_press (button_named ("Show in History"));
  wanted = 1;
  driver_wait (&driver, has_run);
}

static gboolean
has_form (Driver *driver)
{
  return button_named ("Record") != NULL;
}

/* A program that is not there, and half a line: said in the form, which stays. */
static void
test_wrong_command (void)
{
  static const char * const wrong[] = { "no-such-program-here 1", "python3 \"train.py" };
  g_auto (Driver) driver = { 0 };

  driver_open (&driver, 1100, 900);
  show_computer (&driver);
  open_recorder (&driver);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GPtrArray) labels = NULL;
      gboolean said = FALSE;

      type_command (wrong[i]);
      driver_press (button_named ("Record"));
      driver_wait (&driver, has_form);
      labels = driver_find_all (GTK_WIDGET (dialog), GTK_TYPE_LABEL);
      for (guint k = 0; k < labels->len; k++)
        said = said || (gtk_widget_has_css_class (g_ptr_array_index (labels, k), "error") && gtk_widget_get_mapped (g_ptr_array_index (labels, k)));
      g_assert_true (said);
    }
  adw_dialog_force_close (dialog);
}

/* What runs is stopped and kept, or stopped and forgotten. */
static void
test_stop (void)
{
  g_auto (Driver) driver = { 0 };
  guint before;

  driver_open (&driver, 1100, 900);
  gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.show-place", "s", "history");
  driver_settle (&driver);
  before = n_runs (&driver);
  show_computer (&driver);
  open_recorder (&driver);
  type_command ("sleep 300");
  driver_press (button_named ("Record"));
  pass (1500);
  driver_press (button_named ("Stop and keep"));
  driver_wait (&driver, has_result);
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "What it showed"));

  driver_press (button_named ("Record again"));
  driver_press (button_named ("Record"));
  pass (1500);
  driver_press (button_named ("Discard"));
  driver_wait (&driver, has_form);
  adw_dialog_force_close (dialog);
  gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.show-place", "s", "history");
  wanted = before + 1;
  driver_wait (&driver, has_run);
}

/* In a sandbox that cannot start programs of the person, it says how to record outside. */
static void
test_sandbox (void)
{
  g_auto (Driver) driver = { 0 };
  g_autofree char *root = driver_path ("sandbox");
  g_autofree char *info = g_build_filename (root, ".flatpak-info", NULL);

  g_assert_cmpint (g_mkdir_with_parents (root, 0700), ==, 0);
  g_assert_true (g_file_set_contents (info, "[Application]\n", -1, NULL));
  g_setenv ("QM_SYSROOT", root, TRUE);
  driver_open (&driver, 1100, 900);
  open_recorder (&driver);
  g_unsetenv ("QM_SYSROOT");
  g_assert_nonnull (button_named ("Import…"));
  g_assert_null (button_named ("Record"));
  g_assert_true (driver_shows (GTK_WIDGET (dialog), "python3 train.py"));
  adw_dialog_force_close (dialog);
}

static void
add_tests (void)
{
  g_test_add_func ("/computer/live", test_live);
  g_test_add_func ("/computer/record", test_record);
  g_test_add_func ("/computer/wrong-command", test_wrong_command);
  g_test_add_func ("/computer/stop", test_stop);
  g_test_add_func ("/computer/sandbox", test_sandbox);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
