/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "window-driver.h"

#include "draw/qm-language.h"

#define PATIENCE (60 * G_TIME_SPAN_SECOND)

static QmApplication *application;
static char *folder;

/* ------------------------------------------------------------------- program */

static void
isolate (void)
{
  static const char * const variables[] = { "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "QM_USER_DIR" };

  folder = g_dir_make_tmp ("quartermaster-window-XXXXXX", NULL);
  g_assert_nonnull (folder);
  for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
    g_setenv (variables[i], folder, TRUE);
}

static void
remove_tree (GFile *file)
{
  g_autoptr (GFileEnumerator) children = g_file_enumerate_children (file, "standard::name", G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, NULL, NULL);
  GFile *child;

  while (children != NULL && g_file_enumerator_iterate (children, NULL, &child, NULL, NULL) && child != NULL)
    remove_tree (child);
  g_file_delete (file, NULL, NULL);
}

int
driver_run (int    argc,
            char  *argv[],
            void (*add_tests) (void))
{
  g_autoptr (GFile) file = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  isolate ();
  file = g_file_new_for_path (folder);
  qm_language_init (NULL);
  g_test_init (&argc, &argv, NULL);
  if (!gtk_init_check ())
    {
      g_print ("1..0 # SKIP there is no screen\n");
      remove_tree (file);
      return 0;
    }

  application = qm_application_new ();
  g_application_set_flags (G_APPLICATION (application), G_APPLICATION_NON_UNIQUE);
  g_assert_true (g_application_register (G_APPLICATION (application), NULL, &error));
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, NULL);
  add_tests ();
  status = g_test_run ();
  g_object_unref (application);
  remove_tree (file);

  return status;
}

/* A file in the folder of the test. */
char *
driver_path (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

/* -------------------------------------------------------------------- window */

static void
assert_loaded (QmSession *session,
               GError    *error)
{
  g_assert_no_error (error);
}

/* Shown, but as it is before anything was waited for. */
void
driver_present (Driver *self,
                int     width,
                int     height)
{
  self->session = qm_session_new ();
  g_signal_connect (self->session, "loaded", G_CALLBACK (assert_loaded), NULL);
  self->window = QM_WINDOW (qm_window_new (GTK_APPLICATION (application), self->session));
  gtk_window_set_default_size (GTK_WINDOW (self->window), width, height);
  gtk_window_present (GTK_WINDOW (self->window));
}

void
driver_open (Driver *self,
             int     width,
             int     height)
{
  driver_present (self, width, height);
  driver_settle (self);
}

void
driver_close (Driver *self)
{
  if (self->window != NULL)
    gtk_window_destroy (GTK_WINDOW (self->window));
  self->window = NULL;
  g_clear_object (&self->session);
}

void
driver_wait (Driver    *self,
             gboolean (*done) (Driver *self))
{
  gint64 end = g_get_monotonic_time () + PATIENCE;

  while (!done (self))
    {
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      if (!g_main_context_iteration (NULL, FALSE))
        g_usleep (1000);
    }
}

static gboolean
has_answered (Driver *self)
{
  return qm_session_get_machine (self->session) != NULL && !qm_session_get_busy (self->session) &&
         !qm_session_get_simulating (self->session) && !qm_session_get_learning (self->session) &&
         (qm_session_get_recommendation (self->session) != NULL || qm_session_get_problem (self->session) != NULL);
}

static gboolean
count_frame (GtkWidget     *widget,
             GdkFrameClock *clock,
             gpointer       data)
{
  int *frames = data;

  return --*frames > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

void
driver_settle (Driver *self)
{
  gint64 end = g_get_monotonic_time () + PATIENCE;
  int frames = 3;

  driver_wait (self, has_answered);
  gtk_widget_add_tick_callback (GTK_WIDGET (self->window), count_frame, &frames, NULL);
  while (frames > 0)
    {
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      g_main_context_iteration (NULL, TRUE);
    }
}

/* ------------------------------------------------------------------- widgets */

GtkWidget *
driver_page (Driver *self)
{
  g_autoptr (GPtrArray) views = driver_find_all (GTK_WIDGET (self->window), ADW_TYPE_NAVIGATION_VIEW);

  g_assert_cmpuint (views->len, ==, 1);
  return GTK_WIDGET (adw_navigation_view_get_visible_page (g_ptr_array_index (views, 0)));
}

/* One of the plan, which need not be on top. */
AdwNavigationPage *
driver_find_page (Driver     *self,
                  const char *tag)
{
  g_autoptr (GPtrArray) views = driver_find_all (GTK_WIDGET (self->window), ADW_TYPE_NAVIGATION_VIEW);

  g_assert_cmpuint (views->len, ==, 1);
  return adw_navigation_view_find_page (g_ptr_array_index (views, 0), tag);
}

static void
collect (GtkWidget *widget,
         GType      type,
         GPtrArray *found)
{
  if (!gtk_widget_get_mapped (widget))
    return;
  if (g_type_is_a (G_OBJECT_TYPE (widget), type))
    g_ptr_array_add (found, widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    collect (child, type, found);
}

/* All that is to be seen, in the order of the tree. */
GPtrArray *
driver_find_all (GtkWidget *root,
                 GType      type)
{
  GPtrArray *found = g_ptr_array_new ();

  collect (root, type, found);
  return found;
}

/* The one widget of that name that is to be seen. */
GtkWidget *
driver_find (GtkWidget  *root,
             const char *name)
{
  g_autoptr (GPtrArray) all = driver_find_all (root, GTK_TYPE_WIDGET);

  for (guint i = 0; i < all->len; i++)
    if (g_str_equal (gtk_widget_get_name (g_ptr_array_index (all, i)), name))
      return g_ptr_array_index (all, i);

  g_test_message ("there is no %s", name);
  g_test_fail ();
  return NULL;
}

gboolean
driver_shows (GtkWidget  *root,
              const char *text)
{
  g_autoptr (GPtrArray) labels = driver_find_all (root, GTK_TYPE_LABEL);

  for (guint i = 0; i < labels->len; i++)
    if (g_str_equal (gtk_label_get_text (g_ptr_array_index (labels, i)), text))
      return TRUE;

  g_test_message ("nowhere: %s", text);
  return FALSE;
}

void
driver_press (GtkWidget *button)
{
  g_assert_true (GTK_IS_BUTTON (button));
  g_assert_true (gtk_widget_get_mapped (button));
  g_assert_true (gtk_widget_is_sensitive (button));
  g_signal_emit_by_name (button, "clicked");
}

/* Presses the button that does @action. */
void
driver_press_action (Driver     *self,
                     const char *action)
{
  g_autoptr (GPtrArray) buttons = driver_find_all (GTK_WIDGET (self->window), GTK_TYPE_BUTTON);

  for (guint i = 0; i < buttons->len; i++)
    if (g_strcmp0 (gtk_actionable_get_action_name (g_ptr_array_index (buttons, i)), action) == 0)
      {
        driver_press (g_ptr_array_index (buttons, i));
        driver_settle (self);
        return;
      }
  g_error ("no button does %s on the page %s", action, qm_window_get_page (self->window));
}

void
driver_enter (GtkWidget  *root,
              const char *name,
              const char *text)
{
  GtkWidget *entry = driver_find (root, name);

  g_assert_true (GTK_IS_EDITABLE (entry));
  g_assert_true (gtk_widget_is_sensitive (entry));
  gtk_editable_set_text (GTK_EDITABLE (entry), text);
}

void
driver_assert_page (Driver     *self,
                    const char *tag)
{
  g_assert_cmpstr (qm_window_get_page (self->window), ==, tag);
  g_assert_cmpstr (adw_navigation_page_get_tag (ADW_NAVIGATION_PAGE (driver_page (self))), ==, tag);
}
