/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "qm-own-rows.h"
#include "window-driver.h"

/* Offers and results of one's own, entered, changed, removed and taken back. */

static gboolean
has_dialog (Driver *driver)
{
  return adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver->window)) != NULL;
}

static gboolean
has_none (Driver *driver)
{
  return !has_dialog (driver);
}

static GtkWidget *
dialog_of (Driver *driver)
{
  driver_wait (driver, has_dialog);
  driver_settle (driver);
  return GTK_WIDGET (adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver->window)));
}

static GtkWidget *
open_new (Driver     *driver,
          const char *page,
          const char *button)
{
  qm_window_show_page (driver->window, page);
  driver_settle (driver);
  driver_press (driver_find (driver_page (driver), button));

  return dialog_of (driver);
}

static void
save (Driver    *driver,
      GtkWidget *dialog)
{
  driver_press (driver_find (dialog, "save-row"));
  driver_wait (driver, has_none);
  driver_settle (driver);
}

static gboolean
can_save (GtkWidget *dialog)
{
  return gtk_widget_is_sensitive (driver_find (dialog, "save-row"));
}

static void
pick_device (Driver     *driver,
             GtkWidget  *dialog,
             const char *id)
{
  QmCatalog *catalog = qm_session_get_catalog (driver->session);

  adw_combo_row_set_selected (ADW_COMBO_ROW (driver_find (dialog, "quote-device")),
                              qm_catalog_device_index (catalog, qm_catalog_find_device (catalog, id)));
}

static void
take_plan (Driver *driver)
{
  g_autoptr (GError) error = NULL;
  QmPlan *plan = qm_plan_from_data ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"image-classification\",\"activity\":\"train\","
                                    "\"model\":{\"id\":\"resnet50\"},\"training\":{\"samples\":1281167,\"epochs\":90}}", -1, NULL, &error);

  g_assert_no_error (error);
  qm_session_set_plan (driver->session, plan, NULL);
  driver_settle (driver);
}

static void
add_quote (Driver     *driver,
           const char *device,
           int         devices,
           const char *hours,
           const char *money)
{
  GtkWidget *dialog = open_new (driver, "budget", "add-quote");

  g_assert_false (can_save (dialog));
  pick_device (driver, dialog, device);
  adw_spin_row_set_value (ADW_SPIN_ROW (driver_find (dialog, "quote-devices")), devices);
  driver_enter (dialog, "quote-hours", hours);
  g_assert_false (can_save (dialog));
  driver_enter (dialog, "quote-money", money);
  g_assert_true (can_save (dialog));
  save (driver, dialog);
}

/* Requirements E1: 4 V100 for 72 hours and 580 dollars, 8 for 42 hours and 840. */
static void
test_quotes (void)
{
  g_auto (Driver) driver = { NULL, NULL };
  const QmPlan *plan;
  QmRecommendation *answer;

  driver_open (&driver, 1100, 800);
  take_plan (&driver);
  add_quote (&driver, "v100-sxm2-16gb", 4, "72", "580");
  add_quote (&driver, "v100-sxm2-16gb", 8, "42", "840");

  plan = qm_session_get_plan (driver.session);
  g_assert_cmpint (plan->n_quotes, ==, 2);
  g_assert_cmpstr (plan->quotes[1].device, ==, "v100-sxm2-16gb");
  g_assert_cmpint (plan->quotes[1].devices, ==, 8);
  g_assert_cmpfloat (plan->quotes[1].hours, ==, 42);
  g_assert_cmpfloat (plan->quotes[1].money, ==, 840);
  g_assert_true (isnan (plan->quotes[1].accuracy));
  answer = qm_session_get_recommendation (driver.session);
  g_assert_cmpuint (qm_recommendation_n_rows (answer), ==, 2);
  g_assert_cmpint (qm_recommendation_row (answer, 0)->place, ==, QM_PLACE_QUOTED);

  /* the first goes, and comes back */
  driver_press (driver_find (driver_page (&driver), "remove-quote"));
  driver_settle (&driver);
  g_assert_cmpint (qm_session_get_plan (driver.session)->n_quotes, ==, 1);
  g_assert_cmpint (qm_session_get_plan (driver.session)->quotes[0].devices, ==, 8);
  gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.undo", NULL);
  driver_settle (&driver);
  g_assert_cmpint (qm_session_get_plan (driver.session)->n_quotes, ==, 2);
  g_assert_cmpint (qm_session_get_plan (driver.session)->quotes[0].devices, ==, 4);
}

/* What cannot be is marked, and is not taken. */
static void
test_wrong (void)
{
  g_auto (Driver) driver = { NULL, NULL };
  GtkWidget *dialog;

  driver_open (&driver, 360, 640);
  take_plan (&driver);
  dialog = open_new (&driver, "budget", "add-quote");
  pick_device (&driver, dialog, "v100-sxm2-16gb");
  driver_enter (dialog, "quote-money", "1.5k");
  driver_enter (dialog, "quote-hours", "soon");
  g_assert_true (gtk_widget_has_css_class (driver_find (dialog, "quote-hours"), "error"));
  g_assert_false (can_save (dialog));
  driver_enter (dialog, "quote-hours", "-3");
  g_assert_false (can_save (dialog));
  driver_enter (dialog, "quote-hours", "3");
  g_assert_false (gtk_widget_has_css_class (driver_find (dialog, "quote-hours"), "error"));
  g_assert_true (can_save (dialog));
  adw_spin_row_set_value (ADW_SPIN_ROW (driver_find (dialog, "quote-nodes")), 2);
  g_assert_false (can_save (dialog));
  adw_spin_row_set_value (ADW_SPIN_ROW (driver_find (dialog, "quote-devices")), 16);
  g_assert_true (can_save (dialog));
  driver_enter (dialog, "quote-score", "182");
  g_assert_false (can_save (dialog));
  driver_enter (dialog, "quote-score", "82.1");
  save (&driver, dialog);
  g_assert_cmpfloat (qm_session_get_plan (driver.session)->quotes[0].money, ==, 1500);
  g_assert_cmpfloat_with_epsilon (qm_session_get_plan (driver.session)->quotes[0].accuracy, 0.821, 1e-12);
  g_assert_cmpint (qm_session_get_plan (driver.session)->quotes[0].nodes, ==, 2);
}

/* Two results are a trend; a row that is pressed can be changed. */
static void
test_results (void)
{
  g_auto (Driver) driver = { NULL, NULL };
  g_autoptr (GPtrArray) groups = NULL;
  g_autoptr (GPtrArray) rows = NULL;
  const QmPlan *plan;
  GtkWidget *dialog;

  driver_open (&driver, 1100, 800);
  take_plan (&driver);
  for (int i = 0; i < 2; i++)
    {
      dialog = open_new (&driver, "scale", "add-result");
      driver_enter (dialog, "result-samples", i == 0 ? "10k" : "100k");
      driver_enter (dialog, "result-score", i == 0 ? "41" : "100");
      g_assert_cmpint (can_save (dialog), ==, i == 0);
      driver_enter (dialog, "result-score", i == 0 ? "41" : "66");
      save (&driver, dialog);
    }
  plan = qm_session_get_plan (driver.session);
  g_assert_cmpint (plan->n_results, ==, 2);
  g_assert_cmpfloat (plan->results[1].samples, ==, 100000);
  g_assert_cmpfloat_with_epsilon (plan->results[1].score, 0.66, 1e-12);
  g_assert_cmpint (qm_recommendation_row (qm_session_get_recommendation (driver.session), 0)->estimate.accuracy.basis, ==,
                   QM_ACCURACY_SCALING_LAW);

  groups = driver_find_all (driver_page (&driver), QM_TYPE_OWN_ROWS);
  g_assert_cmpuint (groups->len, ==, 1);
  rows = driver_find_all (g_ptr_array_index (groups, 0), ADW_TYPE_ACTION_ROW);
  g_assert_cmpuint (rows->len, ==, 2);
  gtk_widget_activate (g_ptr_array_index (rows, 1));
  dialog = dialog_of (&driver);
  driver_enter (dialog, "result-score", "70");
  save (&driver, dialog);
  g_assert_cmpfloat_with_epsilon (qm_session_get_plan (driver.session)->results[1].score, 0.70, 1e-12);
  g_assert_cmpint (qm_session_get_plan (driver.session)->n_results, ==, 2);
}

#define CLUSTER "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"image-classification\",\"activity\":\"train\"," \
                "\"model\":{\"id\":\"resnet50\"},\"training\":{\"samples\":1281167,\"epochs\":90},\"places\":{\"owned\":[" \
                "{\"device\":\"v100-sxm2-16gb\",\"devices\":32,\"nodes\":4,\"host_memory_bytes\":67000000000}]}}"

/* Of what a plan file says of the computers of one's own only that is changed which is
 * changed here, however much more it is than people usually have. */
static void
test_computers (void)
{
  g_auto (Driver) driver = { NULL, NULL };
  const QmOwned *owned;
  g_autoptr (GError) error = NULL;
  QmPlan *plan = qm_plan_from_data (CLUSTER, -1, NULL, &error);
  GtkWidget *row;

  g_assert_no_error (error);
  driver_open (&driver, 1100, 800);
  qm_session_set_plan (driver.session, plan, NULL);
  qm_window_show_page (driver.window, "budget");
  driver_settle (&driver);
  row = driver_find (driver_page (&driver), "places.owned");
  adw_expander_row_set_expanded (ADW_EXPANDER_ROW (row), TRUE);
  driver_settle (&driver);

  adw_spin_row_set_value (ADW_SPIN_ROW (driver_find (row, "owned-count")), 28);
  owned = &qm_session_get_plan (driver.session)->places.owned[0];
  g_assert_cmpint (owned->devices, ==, 28);
  g_assert_cmpint (owned->nodes, ==, 4);
  g_assert_cmpfloat (owned->host_memory_bytes, ==, 67e9);
  adw_spin_row_set_value (ADW_SPIN_ROW (driver_find (row, "owned-memory")), 64);
  owned = &qm_session_get_plan (driver.session)->places.owned[0];
  g_assert_cmpint (owned->devices, ==, 28);
  g_assert_cmpint (owned->nodes, ==, 4);
  g_assert_cmpfloat (owned->host_memory_bytes, ==, 64.0 * 1024 * 1024 * 1024);
  adw_spin_row_set_value (ADW_SPIN_ROW (driver_find (row, "owned-count")), 9);
  owned = &qm_session_get_plan (driver.session)->places.owned[0];
  g_assert_cmpint (owned->devices, ==, 9);
  g_assert_cmpint (owned->nodes, ==, 1);

  adw_combo_row_set_selected (ADW_COMBO_ROW (driver_find (row, "owned-device")), 0);
  g_assert_cmpint (qm_session_get_plan (driver.session)->places.n_owned, ==, 0);
}

#define SERVICE "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"serve\"," \
                "\"model\":{\"id\":\"llama-3.1-8b\"}%s}"

static guint
n_groups (Driver     *driver,
          const char *quotes)
{
  g_autofree char *text = g_strdup_printf (SERVICE, quotes);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) groups = NULL;
  QmPlan *plan = qm_plan_from_data (text, -1, NULL, &error);

  g_assert_no_error (error);
  qm_session_set_plan (driver->session, plan, NULL);
  qm_window_show_page (driver->window, "budget");
  driver_settle (driver);
  groups = driver_find_all (driver_page (driver), QM_TYPE_OWN_ROWS);

  return groups->len;
}

/* A page that asks the same questions of two plans shows what only one of them has. */
static void
test_service (void)
{
  g_auto (Driver) driver = { NULL, NULL };

  driver_open (&driver, 1100, 800);
  g_assert_cmpuint (n_groups (&driver, ""), ==, 0);
  g_assert_cmpuint (n_groups (&driver, ",\"quotes\":[{\"device\":\"v100-sxm2-16gb\",\"devices\":4,\"hours\":72,\"money\":580}]"), ==, 1);
  g_assert_cmpuint (n_groups (&driver, ""), ==, 0);
}

static gboolean
is_cut (GtkWidget *label)
{
  return pango_layout_is_ellipsized (gtk_label_get_layout (GTK_LABEL (label)));
}

/* Cards differ in the ends of their names: each is read whole, in the list and once
 * it is picked. */
static void
test_cards_whole (void)
{
  g_auto (Driver) driver = { 0 };
  g_autoptr (GPtrArray) labels = NULL;
  GtkWidget *row;
  guint cards = 0;

  driver_open (&driver, 1100, 780);
  qm_window_show_page (driver.window, "budget");
  driver_settle (&driver);
  adw_expander_row_set_expanded (ADW_EXPANDER_ROW (driver_find (driver_page (&driver), "places.owned")), TRUE);
  driver_settle (&driver);
  row = driver_find (driver_page (&driver), "owned-device");
  adw_action_row_activate (ADW_ACTION_ROW (row));
  driver_settle (&driver);

  labels = driver_find_all (row, GTK_TYPE_LABEL);
  for (guint i = 0; i < labels->len; i++)
    {
      g_assert_false (is_cut (labels->pdata[i]));
      cards += g_str_has_prefix (gtk_label_get_label (labels->pdata[i]), "AMD ");
    }
  g_assert_cmpuint (cards, >, 1);
}

static double
turn_wheel (GtkWidget *table)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (table);
  GtkWidget *page = gtk_widget_get_ancestor (gtk_widget_get_parent (table), GTK_TYPE_SCROLLED_WINDOW);
  gboolean handled = FALSE;

  for (guint i = 0; i < g_list_model_get_n_items (controllers) && !handled; i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_SCROLL (controller) &&
          gtk_event_controller_get_propagation_phase (controller) == GTK_PHASE_CAPTURE)
        g_signal_emit_by_name (controller, "scroll", 0.0, 1.0, &handled);
    }

  return gtk_adjustment_get_value (gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (page)));
}

/* A table that scrolls sideways does not hold a reader up on the way down. */
static void
test_wheel (void)
{
  g_auto (Driver) driver = { 0 };
  g_autoptr (GPtrArray) views = NULL;
  GtkWidget *table;

  driver_open (&driver, 1100, 780);
  qm_window_show_page (driver.window, "answer");
  driver_settle (&driver);
  views = driver_find_all (driver_page (&driver), GTK_TYPE_COLUMN_VIEW);
  table = gtk_widget_get_ancestor (views->pdata[0], GTK_TYPE_SCROLLED_WINDOW);

  g_assert_cmpfloat (turn_wheel (table), >, 0);
}

static void
add_tests (void)
{
  g_test_add_func ("/window/own-rows/quotes", test_quotes);
  g_test_add_func ("/window/own-rows/wrong", test_wrong);
  g_test_add_func ("/window/own-rows/results", test_results);
  g_test_add_func ("/window/own-rows/computers", test_computers);
  g_test_add_func ("/window/own-rows/service", test_service);
  g_test_add_func ("/window/own-rows/cards-whole", test_cards_whole);
  g_test_add_func ("/window/own-rows/wheel", test_wheel);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
