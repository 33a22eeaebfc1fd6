/* SPDX-License-Identifier: GPL-3.0-or-later */

/* This Computer as a person uses it: it shows what goes on while it is seen, and
 * records a run. */

#include <glib/gstdio.h>

#include "../probe/qm-test-tree.h"
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

/* The window is called by its place, and the sidebar by what it lists. */
static void
test_titles (void)
{
  static const struct { const char *place, *window, *sidebar; } cases[] = {
    { "plan", NULL, NULL }, { "computer", "This Computer", "This Computer" }, { "history", "History", NULL },
  };
  g_auto (Driver) driver = { 0 };
  g_autofree char *plan = NULL;

  driver_open (&driver, 1100, 900);
  plan = qm_session_dup_title (driver.session);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) titles = NULL;

      gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.show-place", "s", cases[i].place);
      titles = driver_find_all (GTK_WIDGET (driver.window), ADW_TYPE_WINDOW_TITLE);
      g_assert_cmpuint (titles->len, >, 0);
      g_assert_cmpstr (adw_window_title_get_title (g_ptr_array_index (titles, 0)), ==, cases[i].sidebar != NULL ? cases[i].sidebar : plan);
      g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (driver.window)), ==, cases[i].window != NULL ? cases[i].window : plan);
    }
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

/* --------------------------------------------------------------------- what hangs */

static const QmTestFile geforce[] = {
  { "sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n" },
  { "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n" },
  { "sys/bus/pci/devices/0000:01:00.0/device", "0x2684\n" },
  { "sys/bus/pci/devices/0000:01:00.0/driver@", "../../../bus/pci/drivers/nvidia" },
  { "sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "active\n" },
  { "proc/stat", "cpu  1000 0 0 9000 0 0 0 0 0 0\ncpu0 1000 0 0 9000 0 0 0 0 0 0\n" },
  { "proc/meminfo", "MemTotal:       65536000 kB\nMemAvailable:   60000000 kB\n" },
};

/* A driver that takes the question and never answers. */
static char *
play_hanging_driver (const char *root)
{
  g_autofree char *script = g_build_filename (root, "nvml.ini", NULL);
  char *trace = g_build_filename (root, "started", NULL);
  g_autofree char *text = g_strdup_printf ("[driver]\nhang=true\ntrace=%s\n[device 0]\nbus=1\nid=10de:2684\n", trace);

  g_assert_true (g_file_set_contents (script, text, -1, NULL));
  g_setenv ("QM_TEST_NVML", script, TRUE);
  g_setenv ("QM_NVML_LIBRARY", g_getenv ("QM_TEST_NVML_STUB"), TRUE);
  g_setenv ("QM_SYSROOT", root, TRUE);

  return trace;
}

static const char *trace;
static guint beats;
static gboolean answered;

static gboolean
beat (gpointer data)
{
  beats++;
  return G_SOURCE_CONTINUE;
}

static void
machine_changed (void)
{
  answered = TRUE;
}

static gboolean
has_begun_to_hang (Driver *driver)
{
  return g_file_test (trace, G_FILE_TEST_EXISTS);
}

static gboolean
has_given_up (Driver *driver)
{
  return answered;
}

/* In the sidebar. */
static void
pick_device (Driver     *driver,
             const char *name)
{
  g_autoptr (GPtrArray) rows = NULL;

  driver_settle (driver);
  rows = driver_find_all (qm_computer_page_get_list (page), GTK_TYPE_LIST_BOX_ROW);
  for (guint i = 0; i < rows->len; i++)
    if (driver_shows (g_ptr_array_index (rows, i), name))
      gtk_list_box_select_row (GTK_LIST_BOX (gtk_widget_get_parent (g_ptr_array_index (rows, i))), g_ptr_array_index (rows, i));
  driver_settle (driver);
}

/* The main loop turns while NVIDIA's library hangs: between the moment in which
 * it was asked and that in which it is given up, and while the page goes on
 * asking it. Counted in turns, whose number a busy computer cannot bring to 0. */
static void
test_library_hangs (void)
{
  g_auto (Driver) driver = { 0 };
  g_auto (QmTestTree) root = qm_test_tree_new (geforce, G_N_ELEMENTS (geforce));
  g_autofree char *started = play_hanging_driver (root);
  guint source;

  trace = started;
  driver_open (&driver, 1100, 900);
  page = show_computer (&driver);
  qm_watcher_set_interval (qm_computer_page_get_watcher (page), 0.2);
  pick_device (&driver, "NVIDIA GeForce RTX 4090");
  g_assert_true (driver_shows (GTK_WIDGET (driver.window), "unknown: the NVIDIA driver does not answer"));

  g_remove (trace);
  answered = FALSE;
  g_signal_connect (driver.session, "machine-changed", machine_changed, NULL);
  qm_session_probe (driver.session, FALSE);
  driver_wait (&driver, has_begun_to_hang);
  g_assert_false (answered);
  source = g_timeout_add (10, beat, NULL);
  beats = 0;
  driver_wait (&driver, has_given_up);
  g_assert_cmpuint (beats, >=, 20);

  wanted = qm_watcher_length (qm_computer_page_get_watcher (page)) + 5;
  beats = 0;
  driver_wait (&driver, has_samples);
  g_assert_cmpuint (beats, >=, 20);
  g_test_message ("%u turns", beats);
  g_source_remove (source);
  g_signal_handlers_disconnect_by_func (driver.session, machine_changed, NULL);
  g_unsetenv ("QM_SYSROOT");
  g_unsetenv ("QM_NVML_LIBRARY");
}

static guint n_found;

static void
assert_of_catalog (QmSession *session)
{
  QmHere here = { 0 };

  qm_machine_get_here (qm_session_get_machine (session), &here);
  g_assert_cmpint (here.n_devices, ==, 1);
  g_assert_true (here.devices[0] == qm_catalog_find_device (qm_session_get_catalog (session), "rtx-4090"));
  n_found++;
}

static gboolean
has_found (Driver *driver)
{
  return n_found > 0;
}

/* What is found while prices are read anew is not taken for the new catalog's. */
static void
test_reload (void)
{
  g_auto (Driver) driver = { 0 };
  g_auto (QmTestTree) root = qm_test_tree_new (geforce, G_N_ELEMENTS (geforce));
  g_autoptr (GError) error = NULL;

  g_setenv ("QM_SYSROOT", root, TRUE);
  driver_open (&driver, 1100, 900);
  g_signal_connect (driver.session, "machine-changed", G_CALLBACK (assert_of_catalog), NULL);
  n_found = 0;
  qm_session_probe (driver.session, FALSE);
  g_assert_true (qm_session_reload (driver.session, &error));
  g_assert_no_error (error);
  driver_wait (&driver, has_found);
  driver_settle (&driver);
  g_unsetenv ("QM_SYSROOT");
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
  g_test_add_func ("/computer/titles", test_titles);
  g_test_add_func ("/computer/live", test_live);
  g_test_add_func ("/computer/library-hangs", test_library_hangs);
  g_test_add_func ("/computer/reload", test_reload);
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
