/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Every page and every state, as one meets them who sees nothing, or has no
 * mouse: Tab and the arrows reach whatever can be used and get out again, and a
 * screen reader says what it is. */

#include <glib/gi18n.h>

#include "accessible-tree.h"
#include "draw/qm-phrases.h"
#include "places.h"
#include "qm-chart-drawing.h"
#include "qm-chart-view.h"
#include "qm-wizard-page.h"

#define MOST_STEPS 600

static AccessibleBus *bus;

/* ------------------------------------------------------------------- keyboard */

static gboolean
can_be_used (GtkWidget *widget)
{
  if (!gtk_widget_get_focusable (widget) || !gtk_widget_is_sensitive (widget))
    return FALSE;
  for (GtkWidget *above = widget; above != NULL; above = gtk_widget_get_parent (above))
    if (!gtk_widget_get_can_focus (above))
      return FALSE;

  return TRUE;
}

/* What holds others that are reached is reached. */
static void
note (Driver     *driver,
      GHashTable *reached)
{
  for (GtkWidget *widget = gtk_window_get_focus (GTK_WINDOW (driver->window)); widget != NULL; widget = gtk_widget_get_parent (widget))
    g_hash_table_add (reached, g_object_ref (widget));
}

/* From one end to the other: every place once, and out. */
static void
walk_by_tab (Driver           *driver,
             GtkWidget        *root,
             GtkDirectionType  direction,
             GHashTable       *reached)
{
  g_autoptr (GHashTable) held = g_hash_table_new_full (NULL, NULL, g_object_unref, NULL);
  GtkWidget *first = NULL;
  int steps = 0;

  gtk_window_set_focus (GTK_WINDOW (driver->window), NULL);
  while (gtk_widget_child_focus (root, direction))
    {
      GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (driver->window));

      /* The window begins anew. */
      if (first == NULL)
        first = focus;
      else if (focus == first && GTK_IS_WINDOW (root))
        return;
      if (!g_hash_table_add (held, g_object_ref (focus)) || ++steps > MOST_STEPS)
        {
          g_test_message ("Tab %d comes back to %s %s", direction, G_OBJECT_TYPE_NAME (focus), gtk_widget_get_name (focus));
          g_test_fail ();
          return;
        }
      note (driver, reached);
    }
}

/* What the arrows do in a list. */
static void
walk_list (Driver     *driver,
           GtkListBox *list,
           GHashTable *reached)
{
  static const int steps[] = { 1, -1 };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    for (GtkWidget *before = NULL; before != gtk_window_get_focus (GTK_WINDOW (driver->window));)
      {
        before = gtk_window_get_focus (GTK_WINDOW (driver->window));
        g_signal_emit_by_name (list, "move-cursor", GTK_MOVEMENT_DISPLAY_LINES, steps[i], FALSE, FALSE);
        note (driver, reached);
      }
}

/* Within a list, a table or a group of switches the arrows lead on. */
static void
walk_by_arrows (Driver     *driver,
                GtkWidget  *inside,
                GHashTable *reached)
{
  static const GtkDirectionType directions[] = { GTK_DIR_DOWN, GTK_DIR_UP, GTK_DIR_RIGHT, GTK_DIR_LEFT };

  for (guint i = 0; i < G_N_ELEMENTS (directions); i++)
    {
      int steps = 0;

      gtk_window_set_focus (GTK_WINDOW (driver->window), NULL);
      gtk_widget_child_focus (inside, GTK_DIR_TAB_FORWARD);
      while (gtk_widget_child_focus (inside, directions[i]) && ++steps < MOST_STEPS)
        note (driver, reached);
      if (GTK_IS_LIST_BOX (inside))
        walk_list (driver, GTK_LIST_BOX (inside), reached);
    }
}

static GtkWidget *
nearest_reached (GtkWidget  *widget,
                 GHashTable *reached)
{
  while (widget != NULL && !g_hash_table_contains (reached, widget))
    widget = gtk_widget_get_parent (widget);

  return widget;
}

/* The keys of a table are its own; /window/keyboard/table presses them. */
static gboolean
is_in_table (GtkWidget *widget)
{
  return gtk_widget_get_ancestor (widget, GTK_TYPE_COLUMN_VIEW) != NULL && gtk_widget_get_ancestor (widget, GTK_TYPE_BUTTON) == NULL;
}

/* A long list makes widgets and drops them as one moves along. */
static GPtrArray *
hold_all (GtkWidget *root)
{
  g_autoptr (GPtrArray) widgets = driver_find_all (root, GTK_TYPE_WIDGET);

  g_ptr_array_set_free_func (widgets, g_object_unref);
  g_ptr_array_foreach (widgets, (GFunc) g_object_ref, NULL);
  return g_steal_pointer (&widgets);
}

static void
assert_reached (Driver    *driver,
                GtkWidget *root)
{
  g_autoptr (GPtrArray) widgets = hold_all (root);
  g_autoptr (GHashTable) reached = g_hash_table_new_full (NULL, NULL, g_object_unref, NULL);
  guint n = 0;

  walk_by_tab (driver, root, GTK_DIR_TAB_FORWARD, reached);
  walk_by_tab (driver, root, GTK_DIR_TAB_BACKWARD, reached);
  for (guint i = 0; i < widgets->len; i++)
    {
      GtkWidget *widget = g_ptr_array_index (widgets, i), *inside;

      if (!gtk_widget_get_mapped (widget) || !can_be_used (widget) || is_in_table (widget))
        continue;
      n++;
      inside = nearest_reached (widget, reached);
      if (inside != widget && inside != NULL)
        walk_by_arrows (driver, inside, reached);
      if (g_hash_table_contains (reached, widget))
        continue;
      g_test_message ("the keyboard does not reach %s %s in %s", G_OBJECT_TYPE_NAME (widget), gtk_widget_get_name (widget),
                      G_OBJECT_TYPE_NAME (gtk_widget_get_parent (widget)));
      g_test_fail ();
    }
  g_assert_cmpuint (n, >, 0);
}

/* --------------------------------------------------------------- screen reader */

/* Named, and held by @nodes[@i]; for a row, one that is a row as well. */
static gboolean
holds_stop (GPtrArray *nodes,
            guint      i)
{
  const AccessibleNode *holder = g_ptr_array_index (nodes, i);

  for (guint k = i + 1; k < nodes->len; k++)
    {
      const AccessibleNode *node = g_ptr_array_index (nodes, k);

      if (node->depth <= holder->depth)
        return FALSE;
      if (accessible_node_is_stop (node) && accessible_node_is_named (node) &&
          (holder->role != ACCESSIBLE_ROLE_LIST_ITEM || node->role == ACCESSIBLE_ROLE_LIST_ITEM))
        return TRUE;
    }

  return FALSE;
}

/* Lists, and what scrolls, hand the keyboard on to what they hold; so does a row
 * that unfolds to its own first row. The value of a combo box is a list of one
 * that the keyboard cannot come into, and an alert of libadwaita is read out whole
 * before the keyboard is on what scrolls in it. */
static gboolean
is_passed_through (GPtrArray *nodes,
                   guint      i)
{
  const AccessibleNode *node = g_ptr_array_index (nodes, i);

  if (node->in_combo_box || (node->in_alert && node->role == ACCESSIBLE_ROLE_SCROLL_PANE))
    return TRUE;
  if (node->role == ACCESSIBLE_ROLE_LIST || node->role == ACCESSIBLE_ROLE_LIST_ITEM || node->role == ACCESSIBLE_ROLE_PANEL ||
      node->role == ACCESSIBLE_ROLE_SCROLL_PANE)
    return holds_stop (nodes, i);

  return FALSE;
}

/* Where the keyboard can stop, it is said what that is and how it is called. */
static void
assert_named (void)
{
  g_autoptr (GPtrArray) nodes = accessible_bus_read (bus);
  guint n = 0;

  for (guint i = 0; i < nodes->len; i++)
    {
      const AccessibleNode *node = g_ptr_array_index (nodes, i);

      if (!accessible_node_is_stop (node))
        continue;
      n++;
      if ((accessible_node_is_named (node) && !accessible_role_is_generic (node->role)) || is_passed_through (nodes, i))
        continue;
      g_test_message ("role %u, “%s”, in %s", node->role, node->name != NULL ? node->name : "", node->where);
      g_test_fail ();
    }
  g_assert_cmpuint (n, >, 0);
}

static void
test_places (void)
{
  g_auto (Driver) driver = { NULL };

  driver_open (&driver, 1100, 900);
  for (const Place *place = places; place->name != NULL; place++)
    {
      GtkWidget *root = place_open (place, &driver);

      g_test_message ("%s", place->name);
      assert_reached (&driver, root);
      if (bus != NULL)
        assert_named ();
      place_close (&driver);
    }
}

/* --------------------------------------------------------------- announcements */

static char *wanted;
static GPtrArray *heard;

static gboolean
hears (Driver *driver)
{
  g_auto (GStrv) texts = accessible_bus_take_announcements (bus);

  for (guint i = 0; texts[i] != NULL; i++)
    g_ptr_array_add (heard, g_strdup (texts[i]));
  for (guint i = 0; i < heard->len; i++)
    if (strstr (g_ptr_array_index (heard, i), wanted) != NULL)
      return TRUE;

  return FALSE;
}

static void
assert_heard (Driver     *driver,
              const char *text)
{
  g_test_message ("%s", text);
  wanted = (char *) text;
  driver_wait (driver, hears);
  g_ptr_array_set_size (heard, 0);
}

static void
open_with_bus (Driver *driver)
{
  heard = g_ptr_array_new_with_free_func (g_free);
  driver_open (driver, 1100, 900);
  /* who is not asked for says nothing */
  g_ptr_array_unref (accessible_bus_read (bus));
}

/* A page that comes, by its name and how far it is; what became of the estimate. */
static void
test_announcements (void)
{
  g_auto (Driver) driver = { NULL };
  g_autofree char *before = NULL, *after = NULL;

  if (bus == NULL)
    {
      g_test_skip ("there is no accessibility bus");
      return;
    }
  open_with_bus (&driver);
  for (int i = 0; i <= QM_N_PAGES; i++)
    {
      g_autoptr (GString) said = g_string_new (_("step %d of %d"));
      g_autofree char *number = g_strdup_printf ("%d", i + 2);
      g_autofree char *whole = NULL;

      driver_press_action (&driver, "win.next");
      g_string_replace (said, "%d", number, 1);
      g_string_replace (said, "%d", "9", 1);
      whole = g_strdup_printf ("%s, %s", adw_navigation_page_get_title (ADW_NAVIGATION_PAGE (driver_page (&driver))), said->str);
      assert_heard (&driver, whole);
    }
  gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.show-place", "s", "computer");
  assert_heard (&driver, _("This Computer"));

  gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.show-place", "s", "plan");
  g_assert_true (qm_session_set_answer (driver.session, "task", "tabular", NULL));
  driver_settle (&driver);
  before = qm_phrase_hardware (qm_recommendation_choice (qm_session_get_recommendation (driver.session), 0));
  assert_heard (&driver, before);
  g_assert_true (qm_session_set_answer (driver.session, "task", "language-model", NULL));
  driver_settle (&driver);
  after = qm_phrase_hardware (qm_recommendation_choice (qm_session_get_recommendation (driver.session), 0));
  g_assert_cmpstr (before, !=, after);
  assert_heard (&driver, after);
  g_clear_pointer (&heard, g_ptr_array_unref);
}

/* --------------------------------------------------------------------- charts */

static void
press (GtkWidget *widget,
       guint      key)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  gboolean handled = FALSE;

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_KEY (controller))
        g_signal_emit_by_name (controller, "key-pressed", key, 0, 0, &handled);
    }
  g_assert_true (handled);
}

/* The arrows go from mark to mark, and each is said. */
static void
walk_chart (Driver    *driver,
            GtkWidget *view)
{
  const QmChart *chart = qm_chart_view_get_chart (QM_CHART_VIEW (view));
  g_autoptr (GPtrArray) drawings = driver_find_all (view, QM_TYPE_CHART_DRAWING);
  GtkWidget *drawing;

  g_assert_nonnull (chart);
  g_assert_cmpuint (drawings->len, ==, 1);
  drawing = g_ptr_array_index (drawings, 0);
  g_assert_cmpuint (qm_chart_n_marks (chart), >, 0);
  g_assert_cmpuint (qm_chart_n_table_rows (chart), >, 1);
  g_assert_cmpuint (strlen (qm_chart_get_summary (chart)), >, 20);
  g_assert_true (gtk_widget_grab_focus (drawing));
  for (guint i = 0; i < qm_chart_n_marks (chart); i++)
    {
      press (drawing, GDK_KEY_Right);
      assert_heard (driver, qm_chart_mark_text (chart, i));
    }
  press (drawing, GDK_KEY_Home);
  assert_heard (driver, qm_chart_mark_text (chart, 0));
}

static void
test_charts (void)
{
  g_auto (Driver) driver = { NULL };
  g_autoptr (GPtrArray) views = NULL;

  if (bus == NULL)
    {
      g_test_skip ("there is no accessibility bus");
      return;
    }
  open_with_bus (&driver);
  qm_window_show_page (driver.window, "answer");
  driver_settle (&driver);
  views = driver_find_all (driver_page (&driver), QM_TYPE_CHART_VIEW);
  g_assert_cmpuint (views->len, >, 3);
  for (guint i = 0; i < views->len; i++)
    walk_chart (&driver, g_ptr_array_index (views, i));
  g_clear_pointer (&heard, g_ptr_array_unref);
}

/* Who goes to a step by the sidebar is still somewhere afterwards. */
static void
test_steps (void)
{
  g_auto (Driver) driver = { NULL };
  GtkWidget *row, *list;

  driver_open (&driver, 1100, 900);
  qm_window_show_page (driver.window, "review");
  driver_settle (&driver);
  list = driver_find (GTK_WIDGET (driver.window), "steps");
  row = GTK_WIDGET (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 2));
  g_assert_true (gtk_widget_grab_focus (row));
  gtk_widget_activate (row);
  driver_settle (&driver);
  driver_assert_page (&driver, "activity");
  g_assert_nonnull (gtk_window_get_focus (GTK_WINDOW (driver.window)));
}

static void
add_tests (void)
{
  bus = accessible_bus_new ();
  g_test_add_func ("/window/accessibility/places", test_places);
  g_test_add_func ("/window/accessibility/announcements", test_announcements);
  g_test_add_func ("/window/accessibility/charts", test_charts);
  g_test_add_func ("/window/accessibility/steps", test_steps);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
