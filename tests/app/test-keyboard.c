/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "window-driver.h"
#include "qm-wizard-page.h"

/* ---------------------------------------------------------------- real keys */

/* Presses keys on the virtual screen; FALSE where that cannot be done. */
static gboolean
press_keys (const char *first,
            const char *second)
{
  g_autofree char *script = g_test_build_filename (G_TEST_DIST, "press.py", NULL);
  const char *command[] = { "python3", script, first, second, NULL };
  int status = 0;

  return g_spawn_sync (NULL, (char **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, NULL) && status == 0;
}

static gboolean
wait_for_page (Driver     *driver,
               const char *tag)
{
  gint64 end = g_get_monotonic_time () + 10 * G_TIME_SPAN_SECOND;

  while (!g_str_equal (qm_window_get_page (driver->window), tag) && g_get_monotonic_time () < end)
    driver_settle (driver);
  g_assert_cmpstr (qm_window_get_page (driver->window), ==, tag);

  return TRUE;
}

static void
wait_for_row (Driver             *driver,
              GtkSingleSelection *selection,
              guint               row)
{
  gint64 end = g_get_monotonic_time () + 10 * G_TIME_SPAN_SECOND;

  while (gtk_single_selection_get_selected (selection) != row && g_get_monotonic_time () < end)
    driver_settle (driver);
  g_assert_cmpuint (gtk_single_selection_get_selected (selection), ==, row);
}

static gboolean
holds_focus (Driver    *driver,
             GtkWidget *widget)
{
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (driver->window));

  return focus != NULL && gtk_widget_is_ancestor (focus, widget);
}

static void
wait_for_leave (Driver    *driver,
                GtkWidget *widget)
{
  gint64 end = g_get_monotonic_time () + 10 * G_TIME_SPAN_SECOND;

  while (holds_focus (driver, widget) && g_get_monotonic_time () < end)
    driver_settle (driver);
  g_assert_false (holds_focus (driver, widget));
}

static void
test_navigation (void)
{
  static const struct { const char *first; const char *second; const char *page; } keys[] = {
    { "Alt_L", "Right", "task" }, { "Alt_L", "Right", "activity" }, { "Escape", NULL, "task" }, { "Alt_L", "Right", "activity" },
    { "Alt_L", "Right", "model" }, { "Alt_L", "Right", "scale" }, { "Return", NULL, "stage" }, { "Alt_L", "Left", "scale" },
    { "Escape", NULL, "model" },
  };
  g_auto (Driver) driver = { NULL };

  driver_open (&driver, 1100, 900);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_test_message ("%s %s", keys[i].first, keys[i].second != NULL ? keys[i].second : "");
      if (!press_keys (keys[i].first, keys[i].second))
        {
          g_test_skip ("keys cannot be pressed on this screen");
          return;
        }
      wait_for_page (&driver, keys[i].page);
      driver_settle (&driver);
    }
}

/* A table is one stop; its rows are gone through by arrows. */
static void
test_table (void)
{
  g_auto (Driver) driver = { NULL };
  g_autoptr (GPtrArray) tables = NULL;
  GtkSingleSelection *selection;
  guint before;

  driver_open (&driver, 1100, 900);
  qm_window_show_page (driver.window, "answer");
  driver_settle (&driver);
  tables = driver_find_all (driver_page (&driver), GTK_TYPE_COLUMN_VIEW);
  g_assert_cmpuint (tables->len, ==, 1);
  selection = GTK_SINGLE_SELECTION (gtk_column_view_get_model (g_ptr_array_index (tables, 0)));
  before = gtk_single_selection_get_selected (selection);
  g_assert_true (gtk_widget_grab_focus (g_ptr_array_index (tables, 0)));
  driver_settle (&driver);
  if (!press_keys ("Down", NULL))
    {
      g_test_skip ("keys cannot be pressed on this screen");
      return;
    }
  wait_for_row (&driver, selection, before + 1);
  press_keys ("Down", NULL);
  wait_for_row (&driver, selection, before + 2);
  press_keys ("Up", NULL);
  wait_for_row (&driver, selection, before + 1);
  press_keys ("Tab", NULL);
  wait_for_leave (&driver, g_ptr_array_index (tables, 0));
}

/* The keyboard comes in where the answer is, and leaves a chart as it came. */
static void
test_focus_on_answer (void)
{
  g_auto (Driver) driver = { NULL };
  GtkWidget *focus;

  driver_open (&driver, 1100, 900);
  g_assert_true (qm_session_set_answer (driver.session, "activity", "serve", NULL));
  qm_window_show_page (driver.window, "activity");
  driver_settle (&driver);
  gtk_window_set_focus (GTK_WINDOW (driver.window), NULL);
  g_assert_true (gtk_widget_child_focus (driver_page (&driver), GTK_DIR_TAB_FORWARD));
  focus = gtk_window_get_focus (GTK_WINDOW (driver.window));
  g_assert_cmpstr (gtk_widget_get_name (focus), ==, "serve");
}

/* Enter goes on where there are questions, and does nothing elsewhere. */
static void
test_default (void)
{
  g_auto (Driver) driver = { NULL };
  GtkWidget *next;

  driver_open (&driver, 1100, 900);
  g_assert_null (gtk_window_get_default_widget (GTK_WINDOW (driver.window)));
  qm_window_show_page (driver.window, "scale");
  driver_settle (&driver);
  next = gtk_window_get_default_widget (GTK_WINDOW (driver.window));
  g_assert_true (GTK_IS_BUTTON (next));
  g_assert_cmpstr (gtk_actionable_get_action_name (GTK_ACTIONABLE (next)), ==, "win.next");
  gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.show-place", "s", "computer");
  g_assert_null (gtk_window_get_default_widget (GTK_WINDOW (driver.window)));
}

static void
add_tests (void)
{
  g_test_add_func ("/window/keyboard/navigation", test_navigation);
  g_test_add_func ("/window/keyboard/table", test_table);
  g_test_add_func ("/window/keyboard/focus-on-answer", test_focus_on_answer);
  g_test_add_func ("/window/keyboard/default", test_default);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
