/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gtksourceview/gtksource.h>

#include "draw/qm-language.h"
#include "export/qm-launch.h"
#include "qm-code-card.h"
#include "qm-launch-view.h"
#include "window-driver.h"

/* Hidden ones are not found. */
static GtkWidget *
launch_view (Driver *driver)
{
  g_autoptr (GPtrArray) views = driver_find_all (driver_page (driver), QM_TYPE_LAUNCH_VIEW);

  g_assert_cmpuint (views->len, ==, 1);
  return g_ptr_array_index (views, 0);
}

static void
open_answer (Driver     *driver,
             const char *plan)
{
  g_autofree char *path = driver_path ("launch.qmplan");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, plan, -1, &error));
  driver_open (driver, 1100, 900);
  qm_window_open_file (driver->window, file);
  driver_settle (driver);
  qm_window_show_page (driver->window, "answer");
  driver_settle (driver);
}

static GtkWidget *awaited_card;

static guint
n_codes (GtkWidget *root)
{
  g_autoptr (GPtrArray) views = driver_find_all (root, GTK_SOURCE_TYPE_VIEW);

  return views->len;
}

/* The page may still be finding its sizes. */
static gboolean
has_code (Driver *driver)
{
  gtk_viewport_scroll_to (GTK_VIEWPORT (gtk_widget_get_ancestor (awaited_card, GTK_TYPE_VIEWPORT)), awaited_card, NULL);

  return n_codes (awaited_card) > 0;
}

/* It is made when it is scrolled in sight. */
static char *
shown_code (Driver    *driver,
            GtkWidget *card)
{
  g_autoptr (GPtrArray) views = NULL;
  GtkTextBuffer *buffer;
  GtkTextIter start, end;

  awaited_card = card;
  driver_wait (driver, has_code);
  views = driver_find_all (card, GTK_SOURCE_TYPE_VIEW);
  buffer = gtk_text_view_get_buffer (g_ptr_array_index (views, 0));
  gtk_text_buffer_get_bounds (buffer, &start, &end);
  return gtk_text_buffer_get_text (buffer, &start, &end, FALSE);
}

static void
saved (GObject      *source,
       GAsyncResult *result,
       gpointer      data)
{
  g_autoptr (GError) error = NULL;

  *(int *) data = qm_code_card_save_finish (QM_CODE_CARD (source), result, &error) ? 1 : -1;
  g_assert_true (*(int *) data == 1 || error != NULL);
}

/* The window goes on meanwhile: nothing is saved before it does. */
static gboolean
save (GtkWidget *card,
      GFile     *file)
{
  int state = 0;

  qm_code_card_save_async (QM_CODE_CARD (card), file, saved, &state);
  g_assert_cmpint (state, ==, 0);
  while (state == 0)
    g_main_context_iteration (NULL, TRUE);

  return state == 1;
}

/* Every way that is offered shows the files that the launcher writes for the
 * choice; what is saved is what is shown. */
static void
check_way (Driver     *driver,
           GtkWidget  *view,
           QmLauncher *launcher,
           const char *format)
{
  QmRecommendation *recommendation = qm_session_get_recommendation (driver->session);
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format (now, "%Y-%m-%d");
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) files = qm_launcher_write (launcher, format, qm_session_get_estimator (driver->session),
                                                   qm_recommendation_get_resolved (recommendation),
                                                   qm_recommendation_choice (recommendation, 0), date, &error);
  g_autoptr (GPtrArray) cards = driver_find_all (view, QM_TYPE_CODE_CARD);

  g_assert_no_error (error);
  g_assert_cmpuint (cards->len, ==, files->len);
  for (guint i = 0; i < files->len; i++)
    {
      const QmLaunchFile *written = g_ptr_array_index (files, i);
      g_autofree char *code = shown_code (driver, g_ptr_array_index (cards, i));
      g_autofree char *path = driver_path (written->name);
      g_autoptr (GFile) file = g_file_new_for_path (path);
      g_autofree char *saved = NULL;

      g_assert_cmpstr (code, ==, written->text);
      g_assert_true (driver_shows (g_ptr_array_index (cards, i), written->name));
      g_assert_true (save (g_ptr_array_index (cards, i), file));
      g_assert_true (g_file_get_contents (path, &saved, NULL, &error));
      g_assert_cmpstr (saved, ==, written->text);
      g_assert_true (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE) == written->executable);
    }
}

static void
test_ways (gconstpointer plan)
{
  g_auto (Driver) driver = { 0 };
  g_autofree char *templates = qm_session_dup_data_path ("templates");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmLauncher) launcher = qm_launcher_new (templates, &error);
  g_autoptr (GPtrArray) ways = NULL;
  GtkWidget *view;
  guint shown = 0;

  open_answer (&driver, plan);
  view = launch_view (&driver);
  g_assert_true (gtk_widget_get_visible (view));
  /* far below: nobody has seen it */
  g_assert_cmpuint (n_codes (view), ==, 0);
  ways = driver_find_all (view, GTK_TYPE_TOGGLE_BUTTON);
  for (guint i = 0; i < ways->len; i++)
    {
      GtkWidget *way = g_ptr_array_index (ways, i);

      gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (way), TRUE);
      driver_settle (&driver);
      check_way (&driver, view, launcher, gtk_widget_get_name (way));
      shown++;
    }
  g_assert_cmpuint (shown, >=, 3);
  driver_press_action (&driver, "win.launch");
  g_assert_true (gtk_widget_is_ancestor (gtk_root_get_focus (GTK_ROOT (driver.window)), view));
}

/* Where nothing keeps the limits, there is nothing to start. */
static void
test_nothing (void)
{
  g_auto (Driver) driver = { 0 };
  g_autoptr (GPtrArray) views = NULL;

  open_answer (&driver, "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"train\","
                        "\"model\":{\"id\":\"llama-3.1-70b\"},\"limits\":{\"money\":1,\"hours\":1}}");
  g_assert_cmpuint (qm_recommendation_n_choices (qm_session_get_recommendation (driver.session)), ==, 0);
  views = driver_find_all (driver_page (&driver), QM_TYPE_LAUNCH_VIEW);
  g_assert_cmpuint (views->len, ==, 0);
}

/* Where nothing can be written, it is said. */
static void
test_not_saved (void)
{
  g_auto (Driver) driver = { 0 };
  g_autoptr (GPtrArray) cards = NULL;
  g_autofree char *path = driver_path ("no-folder/run.sh");
  g_autoptr (GFile) file = g_file_new_for_path (path);

  open_answer (&driver, "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"fine-tune\","
                        "\"model\":{\"id\":\"llama-3.1-8b\"}}");
  cards = driver_find_all (launch_view (&driver), QM_TYPE_CODE_CARD);
  g_assert_cmpuint (cards->len, >, 0);
  g_assert_false (save (g_ptr_array_index (cards, 0), file));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

static void
test_driver_version (void)
{
  const QmWords *words = qm_words_english ();
  g_autofree char *old = qm_launch_check_driver ("nvidia 535.183.01", "570.26", words);

  g_assert_nonnull (strstr (old, "535.183.01"));
  g_assert_nonnull (strstr (old, "570.26"));
  g_assert_null (qm_launch_check_driver ("nvidia 570.26", "570.26", words));
  g_assert_null (qm_launch_check_driver ("nvidia 570.124.06", "570.26", words));
  g_assert_null (qm_launch_check_driver ("nvidia 1000.1", "570.26", words));
  g_assert_null (qm_launch_check_driver ("amdgpu", "570.26", words));
  g_assert_null (qm_launch_check_driver ("nvidia 535.183.01", "", words));
}

static void
add_tests (void)
{
  g_test_add_data_func ("/launch/ways/training",
                        "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"fine-tune\","
                        "\"model\":{\"id\":\"llama-3.1-8b\"}}", test_ways);
  g_test_add_data_func ("/launch/ways/serving",
                        "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"serve\","
                        "\"stage\":\"production\",\"model\":{\"id\":\"llama-3.1-8b\"}}", test_ways);
  g_test_add_func ("/launch/nothing", test_nothing);
  g_test_add_func ("/launch/not-saved", test_not_saved);
  g_test_add_func ("/launch/driver-version", test_driver_version);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
