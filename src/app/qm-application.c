/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-application.h"

#include <glib/gi18n.h>
#include <stdlib.h>

#include "config.h"
#include "draw/qm-language.h"
#include "qm-error.h"
#include "qm-preferences-dialog.h"
#include "qm-session.h"
#include "qm-window.h"

struct _QmApplication {
  AdwApplication parent_instance;

  QmSession *session;
};

G_DEFINE_FINAL_TYPE (QmApplication, qm_application, ADW_TYPE_APPLICATION)

static const struct {
  const char *action;
  const char *keys[3];
  const char *title;
} accelerators[] = {
  { "win.new", { "<Control>n", NULL }, N_("New plan") },
  { "win.open", { "<Control>o", NULL }, N_("Open a plan") },
  { "win.save", { "<Control>s", NULL }, N_("Save the plan") },
  { "win.save-as", { "<Control><Shift>s", NULL }, N_("Save the plan under another name") },
  { "win.report", { "<Control>p", NULL }, N_("Save the report") },
  { "win.undo", { "<Control>z", NULL }, N_("Undo") },
  { "win.next", { "<Alt>Right", NULL }, N_("Next question") },
  { "win.back", { "<Alt>Left", NULL }, N_("Previous question") },
  { "win.show-place::plan", { "<Alt>1", NULL }, N_("Plan") },
  { "win.show-place::computer", { "<Alt>2", NULL }, N_("This Computer") },
  { "win.show-place::history", { "<Alt>3", NULL }, N_("History") },
  { "win.breakdown", { "<Control>b", NULL }, N_("What the estimate is made of") },
  { "app.preferences", { "<Control>comma", NULL }, N_("Preferences") },
  { "win.guide::", { "F1", NULL }, N_("Guide") },
  { "win.record", { "<Control>r", NULL }, N_("Record a run") },
  { "app.shortcuts", { "<Control>question", NULL }, N_("Keyboard shortcuts") },
  { "window.close", { "<Control>w", NULL }, N_("Close the window") },
  { "app.quit", { "<Control>q", NULL }, N_("Quit") },
};

static GtkWidget *
show_window (QmApplication *self)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (self));

  if (window == NULL)
    {
      window = GTK_WINDOW (qm_window_new (GTK_APPLICATION (self), self->session));
#ifdef QM_DEVELOPMENT
      gtk_widget_add_css_class (GTK_WIDGET (window), "devel");
#endif
    }
  gtk_window_present (window);

  return GTK_WIDGET (window);
}

static void
qm_application_activate (GApplication *application)
{
  show_window (QM_APPLICATION (application));
}

static void
qm_application_open (GApplication  *application,
                     GFile        **files,
                     int            n_files,
                     const char    *hint)
{
  GtkWidget *window = show_window (QM_APPLICATION (application));

  if (n_files > 0)
    qm_window_open_file (QM_WINDOW (window), files[0]);
}

/* Without any catalog there is nothing to do but to say so. */
static void
loaded (QmApplication *self,
        const GError  *error)
{
  g_autofree char *problem = NULL;
  g_autofree char *text = NULL;

  if (error == NULL)
    return;

  problem = qm_error_get_text (error, qm_language_get_words ());
  g_printerr ("quartermaster: %s\n", problem);
  if (qm_session_get_catalog (self->session) == NULL)
    exit (EXIT_FAILURE);

  /* Translators: what is wrong in a file */
  text = g_strdup_printf (_("Until it is mended, the devices, prices and models that you added are missing.\n\n%s"), problem);
  qm_window_show_error (QM_WINDOW (show_window (self)), _("Your own catalog cannot be read"), text);
}

static void
about (GSimpleAction *action,
       GVariant      *parameter,
       gpointer       data)
{
  AdwDialog *dialog = adw_about_dialog_new ();

  adw_about_dialog_set_application_name (ADW_ABOUT_DIALOG (dialog), _("Quartermaster"));
  adw_about_dialog_set_application_icon (ADW_ABOUT_DIALOG (dialog), QM_APP_ID);
  adw_about_dialog_set_version (ADW_ABOUT_DIALOG (dialog), QM_VERSION);
  adw_about_dialog_set_developer_name (ADW_ABOUT_DIALOG (dialog), _("The Quartermaster developers"));
  adw_about_dialog_set_comments (ADW_ABOUT_DIALOG (dialog), _("Finds the hardware to run an AI job on."));
  adw_about_dialog_set_license_type (ADW_ABOUT_DIALOG (dialog), GTK_LICENSE_GPL_3_0);
  adw_dialog_present (dialog, GTK_WIDGET (gtk_application_get_active_window (GTK_APPLICATION (data))));
}

static void
shortcuts (GSimpleAction *action,
           GVariant      *parameter,
           gpointer       data)
{
  AdwDialog *dialog = adw_dialog_new ();
  GtkWidget *view = adw_toolbar_view_new ();
  GtkWidget *page = adw_preferences_page_new ();
  GtkWidget *group = adw_preferences_group_new ();

  for (guint i = 0; i < G_N_ELEMENTS (accelerators); i++)
    {
      GtkWidget *row = adw_action_row_new ();
      GtkWidget *keys = gtk_shortcut_label_new (accelerators[i].keys[0]);

      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _(accelerators[i].title));
      gtk_widget_set_valign (keys, GTK_ALIGN_CENTER);
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), keys);
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
    }
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (group));
  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), adw_header_bar_new ());
  adw_toolbar_view_set_content (ADW_TOOLBAR_VIEW (view), page);
  adw_dialog_set_title (dialog, _("Keyboard shortcuts"));
  adw_dialog_set_child (dialog, view);
  adw_dialog_set_content_width (dialog, 480);
  adw_dialog_present (dialog, GTK_WIDGET (gtk_application_get_active_window (GTK_APPLICATION (data))));
}

static void
preferences (GSimpleAction *action,
             GVariant      *parameter,
             gpointer       data)
{
  QmApplication *self = QM_APPLICATION (data);

  adw_dialog_present (qm_preferences_dialog_new (self->session), show_window (self));
}

static void
quit (GSimpleAction *action,
      GVariant      *parameter,
      gpointer       data)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (data));

  if (window != NULL)
    gtk_window_close (window);
  else
    g_application_quit (G_APPLICATION (data));
}

static const GActionEntry actions[] = {
  { .name = "about", .activate = about },
  { .name = "preferences", .activate = preferences },
  { .name = "shortcuts", .activate = shortcuts },
  { .name = "quit", .activate = quit },
};

static void
qm_application_startup (GApplication *application)
{
  QmApplication *self = QM_APPLICATION (application);

  G_APPLICATION_CLASS (qm_application_parent_class)->startup (application);

  gtk_icon_theme_add_resource_path (gtk_icon_theme_get_for_display (gdk_display_get_default ()),
                                    "/io/github/quartermaster/Quartermaster/icons");
  g_action_map_add_action_entries (G_ACTION_MAP (self), actions, G_N_ELEMENTS (actions), self);
  for (guint i = 0; i < G_N_ELEMENTS (accelerators); i++)
    gtk_application_set_accels_for_action (GTK_APPLICATION (self), accelerators[i].action, (const char * const *) accelerators[i].keys);

  self->session = qm_session_new ();
  g_signal_connect_object (self->session, "loaded", G_CALLBACK (loaded), self, G_CONNECT_SWAPPED);
  qm_session_restore_draft (self->session);
}

static void
qm_application_dispose (GObject *object)
{
  g_clear_object (&QM_APPLICATION (object)->session);

  G_OBJECT_CLASS (qm_application_parent_class)->dispose (object);
}

static void
qm_application_class_init (QmApplicationClass *klass)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_application_dispose;
  application_class->startup = qm_application_startup;
  application_class->activate = qm_application_activate;
  application_class->open = qm_application_open;
}

static void
qm_application_init (QmApplication *self)
{
}

/**
 * qm_application_new:
 *
 * Returns: (transfer full): the application
 */
QmApplication *
qm_application_new (void)
{
  return g_object_new (QM_TYPE_APPLICATION, "application-id", QM_APP_ID, "flags", G_APPLICATION_HANDLES_OPEN,
                       "resource-base-path", "/io/github/quartermaster/Quartermaster", "version", QM_VERSION, NULL);
}
