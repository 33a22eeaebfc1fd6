/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <string.h>

#include "plan/qm-plan.h"
#include "window-driver.h"

#define PLAN "{\"format\":\"quartermaster-plan\",\"version\":1,\"title\":\"Mine\",\"task\":\"image-classification\"," \
             "\"activity\":\"train\",\"model\":{\"id\":\"resnet50\"},\"training\":{\"samples\":5000,\"epochs\":10}," \
             "\"limits\":{\"money\":40,\"hours\":30}}"

static GFile *
write_file (const char *name,
            const char *content,
            gssize      length)
{
  g_autofree char *path = driver_path (name);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, content, length, &error);
  g_assert_no_error (error);
  return g_file_new_for_path (path);
}

static char *
headline (Driver *driver)
{
  return g_strdup (gtk_label_get_text (GTK_LABEL (driver_find (driver_page (driver), "headline"))));
}

/* --------------------------------------------------------------- save and open */

static void
test_save_and_open (void)
{
  g_auto (Driver) first = { NULL };
  g_auto (Driver) second = { NULL };
  g_autoptr (GFile) file = write_file ("mine.qmplan", PLAN, -1);
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  driver_open (&first, 1100, 900);
  qm_window_open_file (first.window, file);
  driver_settle (&first);
  driver_assert_page (&first, "answer");
  g_assert_true (qm_session_set_answer (first.session, "limits.money", "250", NULL));
  driver_settle (&first);
  before = headline (&first);
  gtk_widget_activate_action (GTK_WIDGET (first.window), "win.save", NULL);
  driver_settle (&first);
  g_assert_true (driver_shows (GTK_WIDGET (first.window), "Plan saved"));

  driver_open (&second, 1100, 900);
  qm_window_open_file (second.window, file);
  driver_settle (&second);
  after = headline (&second);
  g_assert_true (qm_plan_equal (qm_session_get_plan (first.session), qm_session_get_plan (second.session)));
  g_assert_cmpfloat (qm_session_get_plan (second.session)->limits.money, ==, 250);
  g_assert_cmpfloat (qm_session_get_plan (second.session)->training.samples, ==, 5000);
  g_assert_cmpstr (before, ==, after);
}

/* A plan in progress outlives the window. */
static void
test_draft (void)
{
  g_auto (Driver) first = { NULL };
  g_auto (Driver) second = { NULL };

  driver_open (&first, 1100, 900);
  g_assert_true (qm_session_set_answer (first.session, "task", "speech", NULL));
  g_assert_true (qm_session_set_answer (first.session, "limits.money", "77", NULL));
  gtk_window_close (GTK_WINDOW (first.window));
  first.window = NULL;

  driver_open (&second, 1100, 900);
  g_assert_true (qm_session_restore_draft (second.session));
  g_assert_cmpint (qm_session_get_plan (second.session)->task, ==, QM_TASK_SPEECH);
  g_assert_cmpfloat (qm_session_get_plan (second.session)->limits.money, ==, 77);
}

/* ------------------------------------------------------------ what is no plan */

static void
assert_refused (Driver     *driver,
                GFile      *file,
                const char *heading)
{
  g_autoptr (QmPlan) before = qm_plan_copy (qm_session_get_plan (driver->session));
  g_autofree char *title = qm_session_dup_title (driver->session);
  g_autofree char *title_after = NULL;
  AdwDialog *dialog;

  g_test_message ("%s", g_file_peek_path (file));
  qm_window_open_file (driver->window, file);
  driver_settle (driver);
  dialog = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver->window));
  g_assert_true (ADW_IS_ALERT_DIALOG (dialog));
  g_assert_cmpstr (adw_alert_dialog_get_heading (ADW_ALERT_DIALOG (dialog)), ==, heading);
  g_assert_cmpuint (strlen (adw_alert_dialog_get_body (ADW_ALERT_DIALOG (dialog))), >, 10);
  adw_dialog_force_close (dialog);
  driver_settle (driver);

  title_after = qm_session_dup_title (driver->session);
  g_assert_true (qm_plan_equal (before, qm_session_get_plan (driver->session)));
  g_assert_cmpstr (title, ==, title_after);
  g_assert_nonnull (qm_session_get_recommendation (driver->session));
}

static void
test_unreadable (void)
{
  static const struct { const char *name; const char *content; } files[] = {
    { "broken.qmplan", "{ not json" },
    { "empty.qmplan", "" },
    { "other.qmplan", "{\"hello\":\"world\"}" },
    { "wrong.qmplan", "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"cooking\"}" },
    { "later.qmplan", "{\"format\":\"quartermaster-plan\",\"version\":999}" },
    { "nonsense.gguf", "GGUF, but not really" },
    { "config.json", "{\"hello\":\"world\"}" },
    { "picture.png", "\211PNG" },
  };
  g_auto (Driver) driver = { NULL };
  g_autoptr (GFile) file = write_file ("good.qmplan", PLAN, -1);
  g_autoptr (GFile) missing = NULL;
  g_autofree char *path = driver_path ("missing.qmplan");

  driver_open (&driver, 1100, 900);
  qm_window_open_file (driver.window, file);
  driver_settle (&driver);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GFile) bad = write_file (files[i].name, files[i].content, -1);

      assert_refused (&driver, bad, g_str_has_suffix (files[i].name, ".qmplan") ? "The plan could not be opened" : "This file is no model");
    }
  missing = g_file_new_for_path (path);
  assert_refused (&driver, missing, "The plan could not be opened");
}

/* A model file says at once what it is, however narrow the window. */
static void
test_model_file (void)
{
  g_auto (Driver) driver = { NULL };
  g_autoptr (GFile) file = write_file ("small-model.json", "{\"model_type\":\"llama\",\"hidden_size\":4096,\"vocab_size\":32000,"
                                       "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"intermediate_size\":11008}", -1);

  driver_open (&driver, 360, 700);
  qm_window_open_file (driver.window, file);
  driver_settle (&driver);
  driver_assert_page (&driver, "model");
  g_assert_true (driver_shows (GTK_WIDGET (driver.window), "small-model: 6.74\302\240B parameters"));
}

static void
test_unwritable (void)
{
  g_auto (Driver) driver = { NULL };
  g_autofree char *path = driver_path ("no-such-folder/plan.pdf");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  AdwDialog *dialog = NULL;

  driver_open (&driver, 1100, 900);
  qm_window_save_report (driver.window, file);
  for (int i = 0; i < 1000 && dialog == NULL; i++)
    {
      driver_settle (&driver);
      dialog = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver.window));
    }
  g_assert_true (ADW_IS_ALERT_DIALOG (dialog));
  g_assert_cmpstr (adw_alert_dialog_get_heading (ADW_ALERT_DIALOG (dialog)), ==, "The report could not be saved");
  g_assert_false (g_file_query_exists (file, NULL));
  adw_dialog_force_close (dialog);
}

/* --------------------------------------------------------------------- report */

static gboolean
is_saved (Driver *driver)
{
  g_autoptr (GPtrArray) toasts = driver_find_all (GTK_WIDGET (driver->window), GTK_TYPE_LABEL);

  for (guint i = 0; i < toasts->len; i++)
    if (g_str_equal (gtk_label_get_text (g_ptr_array_index (toasts, i)), "Report saved"))
      return TRUE;

  return FALSE;
}

static void
test_report (void)
{
  g_auto (Driver) driver = { NULL };
  g_autoptr (GFile) plan = write_file ("report.qmplan", PLAN, -1);
  g_autofree char *path = driver_path ("report.pdf");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autofree char *content = NULL;
  gsize length;

  driver_open (&driver, 1100, 900);
  qm_window_open_file (driver.window, plan);
  driver_settle (&driver);
  qm_window_save_report (driver.window, file);
  driver_wait (&driver, is_saved);
  g_assert_true (g_file_get_contents (path, &content, &length, NULL));
  g_assert_cmpuint (length, >, 10000);
  g_assert_true (g_str_has_prefix (content, "%PDF-1."));
  g_assert_nonnull (g_strrstr_len (content + length - 32, 32, "%%EOF"));
}

/* ----------------------------------------------------------- a catalog of one's own */

static void
note_error (QmSession    *session,
            const GError *error,
            GError      **noted)
{
  g_assert_null (*noted);
  if (error != NULL)
    *noted = g_error_copy (error);
}

static guint
n_devices_with (const char  *own,
                GError     **error)
{
  g_autoptr (GFile) file = own != NULL ? write_file ("catalog/mine.json", own, -1) : NULL;
  g_autoptr (QmSession) session = qm_session_new ();

  g_signal_connect (session, "loaded", G_CALLBACK (note_error), error);
  qm_session_wait (session);
  if (file != NULL)
    g_file_delete (file, NULL, NULL);
  g_assert_nonnull (qm_session_get_catalog (session));
  g_assert_nonnull (qm_session_get_resolved (session));

  return qm_catalog_n_devices (qm_session_get_catalog (session));
}

/* A mistake in a file of one's own is told, and all else is there. */
static void
test_own_catalog (void)
{
  static const char * const wrong[] = { "{", "{\"format\":\"quartermaster-devices\",\"version\":1,\"devices\":[{\"id\":3}]}" };
  g_autofree char *folder = driver_path ("catalog");
  g_autoptr (GError) none = NULL;
  guint shipped = n_devices_with (NULL, &none);

  g_assert_no_error (none);
  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_cmpuint (n_devices_with (wrong[i], &error), ==, shipped);
      g_assert_nonnull (error);
      g_assert_nonnull (strstr (error->message, "mine.json:1"));
    }
}

/* Who closes the window before the catalog is read waits for nothing that is left. */
static void
test_closed_early (void)
{
  Driver driver = { NULL };
  GWeakRef session;
  gint64 end = g_get_monotonic_time () + 30 * G_TIME_SPAN_SECOND;

  driver_present (&driver, 1100, 900);
  g_assert_true (qm_session_get_loading (driver.session));
  g_weak_ref_init (&session, driver.session);
  driver_close (&driver);
  for (gpointer alive = g_weak_ref_get (&session); alive != NULL; alive = g_weak_ref_get (&session))
    {
      g_object_unref (alive);
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      if (!g_main_context_iteration (NULL, FALSE))
        g_usleep (1000);
    }
  g_weak_ref_clear (&session);
}

static void
add_tests (void)
{
  g_test_add_func ("/window/files/closed-early", test_closed_early);
  g_test_add_func ("/window/files/own-catalog", test_own_catalog);
  g_test_add_func ("/window/files/save-and-open", test_save_and_open);
  g_test_add_func ("/window/files/draft", test_draft);
  g_test_add_func ("/window/files/unreadable", test_unreadable);
  g_test_add_func ("/window/files/unwritable", test_unwritable);
  g_test_add_func ("/window/files/model-file", test_model_file);
  g_test_add_func ("/window/files/report", test_report);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
