/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-flow.h"
#include "qm-preferences-dialog.h"
#include "window-driver.h"
#include "qm-wizard-page.h"

/* The width of a telephone, the least that the window promises, and what a window
 * without a window manager spends of it on its frame. */
#define NARROW 360
#define FRAME  20

static const char * const activities[] = { "train", "serve" };

/* Rounding, shadows and the like are no text that is cut: only what a label had
 * to leave out, and may not: names of hardware below and the title are long. */
static gboolean
may_be_cut (GtkWidget *label)
{
  return (gtk_widget_get_ancestor (label, ADW_TYPE_HEADER_BAR) != NULL && gtk_widget_has_css_class (label, "title")) ||
         gtk_widget_get_ancestor (label, ADW_TYPE_WINDOW_TITLE) != NULL || gtk_widget_has_css_class (label, "may-be-cut");
}

static gboolean
is_latin (const char *text,
          int         index)
{
  return g_ascii_isalpha (text[index]);
}

/* "nee-ds": a line that begins inside a word. */
static gboolean
breaks_a_word (PangoLayout *layout)
{
  const char *text = pango_layout_get_text (layout);

  for (int i = 1; i < pango_layout_get_line_count (layout); i++)
    {
      int start = pango_layout_get_line_readonly (layout, i)->start_index;

      if (is_latin (text, start - 1) && is_latin (text, start))
        return TRUE;
    }

  return FALSE;
}

static gboolean
has_sizes (GtkWidget *root)
{
  g_autoptr (GPtrArray) labels = driver_find_all (root, GTK_TYPE_LABEL);

  for (guint i = 0; i < labels->len; i++)
    if (gtk_label_get_text (g_ptr_array_index (labels, i))[0] != '\0' && gtk_widget_get_width (g_ptr_array_index (labels, i)) == 0)
      return FALSE;

  return TRUE;
}

/* What a late measurement of the computer brings has no size before the next frame,
 * and a label without one looks cut; one that is squeezed away is judged at last. */
static void
assert_texts_whole (Driver    *driver,
                    GtkWidget *root)
{
  g_autoptr (GPtrArray) labels = NULL;

  for (int i = 0; i < 10 && !has_sizes (root); i++)
    driver_settle (driver);
  labels = driver_find_all (root, GTK_TYPE_LABEL);

  for (guint i = 0; i < labels->len; i++)
    {
      GtkWidget *label = g_ptr_array_index (labels, i);
      PangoLayout *layout = gtk_label_get_layout (GTK_LABEL (label));

      if (may_be_cut (label))
        continue;
      if (pango_layout_is_ellipsized (layout) || breaks_a_word (layout))
        {
          GtkWidget *parent = gtk_widget_get_parent (label);

          g_test_message ("cut: %s, in %s of %s", gtk_label_get_text (GTK_LABEL (label)), G_OBJECT_TYPE_NAME (parent),
                          G_OBJECT_TYPE_NAME (gtk_widget_get_parent (parent)));
          g_test_fail ();
        }
    }
}

static int
least_width (GtkWidget *widget)
{
  int least = 0;

  if (gtk_widget_get_visible (widget))
    gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);

  return least;
}

/* What makes a page too wide, the widest part within the widest, said before the
 * window warns of it. */
static void
tell_widest (GtkWidget *page,
             int        width)
{
  if (least_width (page) <= width)
    return;

  for (GtkWidget *widget = page; widget != NULL;)
    {
      GtkWidget *widest = gtk_widget_get_first_child (widget);

      g_test_message ("%d px: %s %s %s", least_width (widget), G_OBJECT_TYPE_NAME (widget), gtk_widget_get_name (widget),
                      GTK_IS_LABEL (widget) ? gtk_label_get_text (GTK_LABEL (widget)) : "");
      for (GtkWidget *child = widest; child != NULL; child = gtk_widget_get_next_sibling (child))
        if (least_width (child) > least_width (widest))
          widest = child;
      widget = widest;
    }
}

static void
assert_fits (Driver     *driver,
             GtkWidget  *page,
             const char *name,
             int         width)
{
  int least, shown = gtk_widget_get_width (GTK_WIDGET (driver->window));

  g_test_message ("%s", name);
  gtk_widget_measure (page, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
  g_assert_cmpint (shown, <=, width);
  g_assert_cmpint (shown, >=, width - FRAME);
  g_assert_cmpint (least, <=, shown);
  assert_texts_whole (driver, GTK_WIDGET (driver->window));
}

static void
walk (Driver *driver,
      int     width)
{
  AdwNavigationView *pages = ADW_NAVIGATION_VIEW (gtk_widget_get_ancestor (driver_page (driver), ADW_TYPE_NAVIGATION_VIEW));

  qm_window_show_page (driver->window, "start");
  for (int i = 0; i <= QM_N_STEPS; i++)
    {
      const char *tag = i == 0 ? "start" : i <= QM_N_PAGES ? qm_page_tag (i - 1) : "answer";

      tell_widest (GTK_WIDGET (adw_navigation_view_find_page (pages, tag)), width - FRAME);
      qm_window_show_page (driver->window, tag);
      driver_settle (driver);
      assert_fits (driver, driver_page (driver), tag, width);
    }
}

/* Every task and two things to do with it, on every page. Whatever is reported on
 * the way as a warning ends the test. */
static void
walk_all (int width)
{
  g_auto (Driver) driver = { NULL };
  const QmQuestion *task = qm_flow_find ("task");

  driver_open (&driver, width, 700);
  for (int i = 0; task->options[i].value != NULL; i++)
    for (guint j = 0; j < G_N_ELEMENTS (activities); j++)
      {
        g_test_message ("%s, %s", task->options[i].value, activities[j]);
        g_assert_true (qm_session_set_answer (driver.session, "task", task->options[i].value, NULL));
        g_assert_true (qm_session_set_answer (driver.session, "activity", activities[j], NULL));
        walk (&driver, width);
      }
  gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.show-place", "s", "computer");
  driver_settle (&driver);
  assert_texts_whole (&driver, GTK_WIDGET (driver.window));
}

static void
test_narrow (void)
{
  walk_all (NARROW);
}

static void
test_wide (void)
{
  walk_all (1200);
}

static void
test_right_to_left (void)
{
  gtk_widget_set_default_direction (GTK_TEXT_DIR_RTL);
  walk_all (NARROW);
  gtk_widget_set_default_direction (GTK_TEXT_DIR_LTR);
}

/* A window is drawn smaller and larger: the bar follows. */
static void
test_resize (void)
{
  g_auto (Driver) driver = { NULL };
  static const int widths[] = { 1200, 700, NARROW, 860, NARROW, 1200 };

  driver_open (&driver, 1000, 700);
  qm_window_show_page (driver.window, "review");
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    {
      gtk_window_set_default_size (GTK_WINDOW (driver.window), widths[i], 600);
      for (int n = 0; n < 20 && ABS (gtk_widget_get_width (GTK_WIDGET (driver.window)) - widths[i]) > FRAME; n++)
        driver_settle (&driver);
      assert_fits (&driver, driver_page (&driver), "review", widths[i]);
    }
}

/* What opens over the page fits it too. */
static void
test_dialogs (void)
{
  static const char * const actions[] = { "win.breakdown", "app.shortcuts", "app.about" };
  g_auto (Driver) driver = { NULL };

  driver_open (&driver, NARROW, 700);
  qm_window_show_page (driver.window, "answer");
  driver_settle (&driver);
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    {
      AdwDialog *dialog;

      g_test_message ("%s", actions[i]);
      gtk_widget_activate_action (GTK_WIDGET (driver.window), actions[i], NULL);
      driver_settle (&driver);
      dialog = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver.window));
      g_assert_nonnull (dialog);
      assert_texts_whole (&driver, GTK_WIDGET (dialog));
      adw_dialog_force_close (dialog);
      driver_settle (&driver);
    }
}

/* With the longest name of a country. A dialog of libadwaita has this least width. */
static void
test_preferences (void)
{
  g_auto (Driver) driver = { NULL };
  AdwDialog *dialog;

  driver_open (&driver, NARROW + FRAME, 700);
  g_settings_set_string (qm_session_get_settings (driver.session), "carbon-country", "AE");
  dialog = qm_preferences_dialog_new (driver.session);
  adw_dialog_present (dialog, GTK_WIDGET (driver.window));
  driver_settle (&driver);
  assert_texts_whole (&driver, GTK_WIDGET (dialog));
  g_settings_reset (qm_session_get_settings (driver.session), "carbon-country");
}

static void
add_tests (void)
{
  g_test_add_func ("/window/layout/narrow/preferences", test_preferences);
  g_test_add_func ("/window/layout/narrow/pages", test_narrow);
  g_test_add_func ("/window/layout/wide", test_wide);
  g_test_add_func ("/window/layout/right-to-left", test_right_to_left);
  g_test_add_func ("/window/layout/resize", test_resize);
  g_test_add_func ("/window/layout/dialogs", test_dialogs);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
