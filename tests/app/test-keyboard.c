/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-chart-drawing.h"
#include "qm-preferences-dialog.h"
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

/* ----------------------------------------------------------- all within reach */

/* Tab and Shift+Tab lead from one to the next; lists and tables move by arrows within. */
static gboolean
is_reached_by_tab (GtkWidget *widget)
{
  if (!gtk_widget_get_focusable (widget) || !gtk_widget_is_sensitive (widget) || !gtk_widget_get_can_focus (widget))
    return FALSE;
  if (gtk_widget_get_ancestor (widget, GTK_TYPE_COLUMN_VIEW) != NULL || gtk_widget_get_ancestor (widget, GTK_TYPE_LIST_VIEW) != NULL)
    return FALSE;

  return GTK_IS_BUTTON (widget) || GTK_IS_TEXT (widget) || GTK_IS_SWITCH (widget) || QM_IS_CHART_DRAWING (widget);
}

static void
walk_by_tab (Driver           *driver,
             GtkWidget        *page,
             GtkDirectionType  direction,
             GHashTable       *reached)
{
  gtk_window_set_focus (GTK_WINDOW (driver->window), NULL);
  for (int i = 0; i < 400 && gtk_widget_child_focus (page, direction); i++)
    for (GtkWidget *widget = gtk_window_get_focus (GTK_WINDOW (driver->window)); widget != NULL; widget = gtk_widget_get_parent (widget))
      g_hash_table_add (reached, widget);
}

static void
assert_all_reached (Driver     *driver,
                    GtkWidget  *page,
                    const char *tag)
{
  g_autoptr (GPtrArray) widgets = driver_find_all (page, GTK_TYPE_WIDGET);
  g_autoptr (GHashTable) reached = g_hash_table_new (NULL, NULL);
  guint n = 0;

  walk_by_tab (driver, page, GTK_DIR_TAB_FORWARD, reached);
  walk_by_tab (driver, page, GTK_DIR_TAB_BACKWARD, reached);
  for (guint i = 0; i < widgets->len; i++)
    {
      GtkWidget *widget = g_ptr_array_index (widgets, i);

      if (!is_reached_by_tab (widget))
        continue;
      n++;
      if (!g_hash_table_contains (reached, widget))
        {
          g_test_message ("%s: Tab does not reach %s %s", tag, G_OBJECT_TYPE_NAME (widget), gtk_widget_get_name (widget));
          g_test_fail ();
        }
    }
  g_assert_true (n > 0 || g_str_equal (tag, "review"));
}

static void
test_reach (void)
{
  g_auto (Driver) driver = { NULL };

  driver_open (&driver, 1100, 900);
  for (int i = 0; i <= QM_N_STEPS; i++)
    {
      const char *tag = i == 0 ? "start" : i <= QM_N_PAGES ? qm_page_tag (i - 1) : "answer";

      qm_window_show_page (driver.window, tag);
      driver_settle (&driver);
      assert_all_reached (&driver, driver_page (&driver), tag);
    }
}

static void
test_reach_preferences (void)
{
  g_auto (Driver) driver = { NULL };
  AdwDialog *dialog;

  driver_open (&driver, 1100, 900);
  g_settings_set_string (qm_session_get_settings (driver.session), "currency", "EUR");
  dialog = qm_preferences_dialog_new (driver.session);
  adw_dialog_present (dialog, GTK_WIDGET (driver.window));
  driver_settle (&driver);
  assert_all_reached (&driver, GTK_WIDGET (dialog), "preferences");
  g_settings_reset (qm_session_get_settings (driver.session), "currency");
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
  g_test_add_func ("/window/keyboard/reach", test_reach);
  g_test_add_func ("/window/keyboard/reach-preferences", test_reach_preferences);
  g_test_add_func ("/window/keyboard/focus-on-answer", test_focus_on_answer);
  g_test_add_func ("/window/keyboard/default", test_default);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
