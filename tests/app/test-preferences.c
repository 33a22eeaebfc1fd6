/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <libsoup/soup.h>
#include <math.h>
#include <string.h>

#include "qm-preferences-dialog.h"
#include "qm-prices-group.h"
#include "window-driver.h"

/* Two machines as skypilot-catalog v8 lists them, prices made up. */
#define LIST "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n" \
             "g6e.xlarge,L40S,1.0,4.0,32.0,,1.23,0.80,us-east-1,us-east-1a\n"                                                 \
             "g4dn.xlarge,T4,1.0,4.0,16.0,,0.45,0.20,us-east-1,us-east-1a\n"
#define MACHINE "aws/g6e.xlarge/us-east-1"

/* ------------------------------------------------------------------- a server */

/* Sends the list at /good/aws.csv, and other things elsewhere. */
static void
answer (SoupServer        *server,
        SoupServerMessage *message,
        const char        *path,
        GHashTable        *query,
        gpointer           data)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
  SoupMessageBody *body = soup_server_message_get_response_body (message);

  soup_server_message_set_status (message, g_str_has_prefix (path, "/missing/") ? 404 : 200, NULL);
  if (g_str_has_prefix (path, "/good/"))
    soup_server_message_set_response (message, "text/csv", SOUP_MEMORY_STATIC, LIST, strlen (LIST));
  else if (g_str_has_prefix (path, "/page/"))
    soup_server_message_set_response (message, "text/html", SOUP_MEMORY_STATIC, "<html>Log in</html>", 19);
  else if (g_str_has_prefix (path, "/huge/"))
    soup_message_headers_set_content_length (headers, G_GOFFSET_CONSTANT (1) << 40);
  else if (g_str_has_prefix (path, "/slow/"))
    {
      /* the half of it, and then nothing more */
      soup_message_headers_set_content_length (headers, strlen (LIST));
      soup_message_body_append (body, SOUP_MEMORY_STATIC, LIST, strlen (LIST) / 2);
    }
}

static SoupServer *
server_new (void)
{
  SoupServer *server = soup_server_new (NULL, NULL);
  g_autoptr (GError) error = NULL;

  soup_server_add_handler (server, NULL, answer, NULL, NULL);
  soup_server_listen_local (server, 0, SOUP_SERVER_LISTEN_IPV4_ONLY, &error);
  g_assert_no_error (error);

  return server;
}

static char *
address (SoupServer *server,
         const char *manner)
{
  GSList *uris = soup_server_get_uris (server);
  char *text = g_strdup_printf ("http://127.0.0.1:%d/%s/aws.csv", g_uri_get_port (uris->data), manner);

  g_slist_free_full (uris, (GDestroyNotify) g_uri_unref);
  return text;
}

/* ----------------------------------------------------------------- the dialog */

static AdwDialog *dialog;

static AdwDialog *
open_preferences (Driver *driver)
{
  driver_open (driver, 1100, 900);
  dialog = qm_preferences_dialog_new (driver->session);
  adw_dialog_present (dialog, GTK_WIDGET (driver->window));
  driver_settle (driver);

  return dialog;
}

/* The row whose title begins so. */
static GtkWidget *
row_of (const char *title)
{
  g_autoptr (GPtrArray) rows = driver_find_all (GTK_WIDGET (dialog), ADW_TYPE_PREFERENCES_ROW);

  for (guint i = 0; i < rows->len; i++)
    if (g_str_has_prefix (adw_preferences_row_get_title (g_ptr_array_index (rows, i)), title))
      return g_ptr_array_index (rows, i);

  return NULL;
}

static const char *
said (const char *title)
{
  return adw_action_row_get_subtitle (ADW_ACTION_ROW (row_of (title)));
}

static GtkWidget *
button_of (GtkWidget  *root,
           const char *name)
{
  g_autoptr (GPtrArray) buttons = driver_find_all (root, GTK_TYPE_BUTTON);

  for (guint i = 0; i < buttons->len; i++)
    {
      GtkWidget *button = g_ptr_array_index (buttons, i);

      if (g_strcmp0 (gtk_button_get_label (GTK_BUTTON (button)), name) == 0 || g_strcmp0 (gtk_widget_get_tooltip_text (button), name) == 0)
        return button;
    }

  return NULL;
}

static gboolean
is_taking (Driver *driver)
{
  return row_of ("Taking prices") != NULL && strstr (said ("Taking prices"), "1 of 1 lists") != NULL;
}

static gboolean
is_done (Driver *driver)
{
  return row_of ("Newer prices") != NULL;
}

static void
enter_address (const char *text)
{
  GtkWidget *row = row_of ("Another address of a list");

  gtk_editable_set_text (GTK_EDITABLE (row), text);
  g_signal_emit_by_name (row, "apply");
}

/* What the row of prices says of a list from there in the end. */
static const char *
take (Driver     *driver,
      const char *where)
{
  enter_address (where);
  driver_wait (driver, is_done);
  driver_settle (driver);

  return said ("Newer prices");
}

static double
price (Driver *driver)
{
  const QmOffer *offer = qm_catalog_find_offer (qm_session_get_catalog (driver->session), MACHINE);

  return offer != NULL ? offer->on_demand_usd_per_hour : NAN;
}

static void
remove_prices (Driver *driver)
{
  GtkWidget *row = row_of ("1 newer list in use");
  GtkWidget *button;

  adw_expander_row_set_expanded (ADW_EXPANDER_ROW (row), TRUE);
  driver_settle (driver);
  button = button_of (row, "Remove the prices of AWS");
  g_assert_nonnull (button);
  driver_press (button);
  driver_settle (driver);
}

/* ----------------------------------------------------------------------- tests */

/* A list from a file counts at once, and no more once it is removed. */
static void
test_import (void)
{
  g_auto (Driver) driver = { NULL };
  g_autofree char *path = driver_path ("aws.csv");
  const char *names[] = { path, NULL };
  g_autoptr (GPtrArray) groups = NULL;
  double before;

  g_assert_true (g_file_set_contents (path, LIST, -1, NULL));
  open_preferences (&driver);
  before = price (&driver);
  g_assert_nonnull (row_of ("Only the prices that came with the program"));
  groups = driver_find_all (GTK_WIDGET (dialog), QM_TYPE_PRICES_GROUP);
  qm_prices_group_take (QM_PRICES_GROUP (g_ptr_array_index (groups, 0)), names);
  driver_wait (&driver, is_done);
  driver_settle (&driver);
  g_assert_cmpstr (said ("Newer prices"), ==, "1 list was taken, with 2 offers.");
  g_assert_cmpfloat (price (&driver), ==, 1.23);

  remove_prices (&driver);
  g_assert_cmpstr (said ("Newer prices"), ==, "Removed. The prices that came with the program count again.");
  g_assert_nonnull (row_of ("Only the prices that came with the program"));
  g_assert_true (price (&driver) == before || (isnan (price (&driver)) && isnan (before)));
}

/* Whatever a server does, the prices before it stay, and the row says why. */
static void
test_update (void)
{
  static const struct { const char *manner; const char *said; } bad[] = {
    { "missing", "404" }, { "page", "InstanceType" }, { "huge", "larger" },
  };
  g_auto (Driver) driver = { NULL };
  g_autoptr (SoupServer) server = server_new ();
  g_autofree char *good = address (server, "good");

  open_preferences (&driver);
  g_assert_cmpstr (take (&driver, good), ==, "1 list was taken, with 2 offers.");
  g_assert_cmpfloat (price (&driver), ==, 1.23);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *where = address (server, bad[i].manner);
      const char *text = take (&driver, where);

      g_test_message ("%s: %s", bad[i].manner, text);
      g_assert_true (g_str_has_prefix (text, "Nothing was changed: aws.csv: "));
      g_assert_nonnull (strstr (text, bad[i].said));
      g_assert_cmpfloat (price (&driver), ==, 1.23);
    }
  g_assert_cmpstr (take (&driver, "a/path.csv"), ==, "An address begins with https://");
  soup_server_disconnect (server);
  g_assert_nonnull (strstr (take (&driver, good), "offline"));
  g_assert_cmpfloat (price (&driver), ==, 1.23);
  remove_prices (&driver);
}

/* One that is slow can be stopped by its button, and stops when nobody looks. */
static void
test_cancel (void)
{
  g_auto (Driver) driver = { NULL };
  g_autoptr (SoupServer) server = server_new ();
  g_autofree char *slow = address (server, "slow");

  open_preferences (&driver);
  enter_address (slow);
  driver_wait (&driver, is_taking);
  g_assert_false (gtk_widget_is_sensitive (row_of ("Another address of a list")));
  driver_press (button_of (row_of ("Taking prices"), "Cancel"));
  driver_wait (&driver, is_done);
  g_assert_cmpstr (said ("Newer prices"), ==, "Stopped. The prices stay as they are.");
  g_assert_true (gtk_widget_is_sensitive (row_of ("Another address of a list")));
  g_assert_nonnull (row_of ("Only the prices that came with the program"));

  enter_address (slow);
  driver_wait (&driver, is_taking);
  adw_dialog_force_close (dialog);
  driver_settle (&driver);
  open_preferences (&driver);
  g_assert_nonnull (row_of ("Only the prices that came with the program"));
}

/* The currency stands beside what is asked for and what was answered, and money
 * that is typed is in it, whatever is set later. */
static void
test_currency (void)
{
  g_auto (Driver) driver = { NULL };
  GSettings *settings;

  open_preferences (&driver);
  settings = qm_session_get_settings (driver.session);
  g_assert_true (g_settings_set_string (settings, "currency", "EUR"));
  adw_dialog_force_close (dialog);
  qm_window_show_page (driver.window, "budget");
  driver_settle (&driver);
  g_assert_true (driver_shows (driver_page (&driver), "EUR"));
  driver_enter (driver_page (&driver), "limits.money", "4000");
  g_assert_true (g_settings_set_string (settings, "currency", "JPY"));
  qm_window_show_page (driver.window, "answer");
  driver_settle (&driver);
  g_assert_true (driver_shows (GTK_WIDGET (driver.window), "4,000\302\240EUR"));
  g_assert_cmpstr (qm_plan_get_currency (qm_session_get_plan (driver.session)), ==, "EUR");
  g_settings_reset (settings, "currency");
}

/* A rate of one's own is read as people write it, and another than a number is
 * refused where it was typed. */
static void
test_rate (void)
{
  g_auto (Driver) driver = { NULL };
  GSettings *settings;
  GtkWidget *row;

  open_preferences (&driver);
  settings = qm_session_get_settings (driver.session);
  g_settings_set_string (settings, "currency", "EUR");
  adw_dialog_force_close (dialog);
  driver_close (&driver);
  open_preferences (&driver);
  settings = qm_session_get_settings (driver.session);
  row = row_of ("Your rate: how many EUR");
  gtk_editable_set_text (GTK_EDITABLE (row), "much");
  g_signal_emit_by_name (row, "apply");
  g_assert_true (gtk_widget_has_css_class (row, "error"));
  gtk_editable_set_text (GTK_EDITABLE (row), "0,5");
  g_signal_emit_by_name (row, "apply");
  g_assert_false (gtk_widget_has_css_class (row, "error"));
  g_assert_true (g_str_has_prefix (said ("Rate of exchange"), "1 US dollar = 0.50\302\240EUR, your rate of "));
  driver_settle (&driver);
  g_assert_cmpfloat (qm_session_get_resolved (driver.session)->plan->costs.currency_per_usd, ==, 0.5);
  driver_press (button_of (row_of ("Rate of exchange"), "Forget your rate"));
  driver_settle (&driver);
  g_assert_null (strstr (said ("Rate of exchange"), "your rate"));
  g_assert_true (isnan (qm_session_get_resolved (driver.session)->plan->costs.currency_per_usd));
  g_settings_reset (settings, "currency");
}

/* Who hears the window instead of seeing it is told what every button does. */
static void
test_names (void)
{
  g_auto (Driver) driver = { NULL };
  g_autoptr (GPtrArray) pages = NULL;
  g_autoptr (GPtrArray) buttons = NULL;

  open_preferences (&driver);
  /* that which closes the dialog is of the library */
  pages = driver_find_all (GTK_WIDGET (dialog), ADW_TYPE_PREFERENCES_PAGE);
  buttons = driver_find_all (g_ptr_array_index (pages, 0), GTK_TYPE_BUTTON);
  g_assert_cmpuint (buttons->len, >, 3);
  for (guint i = 0; i < buttons->len; i++)
    {
      GtkWidget *button = g_ptr_array_index (buttons, i);
      g_autoptr (GPtrArray) texts = driver_find_all (button, GTK_TYPE_LABEL);

      if (texts->len > 0 || gtk_widget_get_tooltip_text (button) != NULL ||
          gtk_widget_get_ancestor (button, ADW_TYPE_SPIN_ROW) != NULL)
        continue;
      g_test_message ("a button in %s has no name", G_OBJECT_TYPE_NAME (gtk_widget_get_parent (button)));
      g_test_fail ();
    }
}

static void
add_tests (void)
{
  g_test_add_func ("/window/preferences/import", test_import);
  g_test_add_func ("/window/preferences/update", test_update);
  g_test_add_func ("/window/preferences/cancel", test_cancel);
  g_test_add_func ("/window/preferences/currency", test_currency);
  g_test_add_func ("/window/preferences/rate", test_rate);
  g_test_add_func ("/window/preferences/names", test_names);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
