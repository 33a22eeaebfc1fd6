/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <adwaita.h>

#include "first-frame.h"

/* The least that a program of libadwaita is: a window with a header bar. */

static void
activate (GtkApplication *application)
{
  GtkWidget *window = adw_application_window_new (application);
  GtkWidget *view = adw_toolbar_view_new ();

  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), adw_header_bar_new ());
  adw_application_window_set_content (ADW_APPLICATION_WINDOW (window), view);
  gtk_window_set_default_size (GTK_WINDOW (window), 1100, 780);
  gtk_window_present (GTK_WINDOW (window));
}

int
main (void)
{
  AdwApplication *application = adw_application_new ("io.github.quartermaster.Empty", G_APPLICATION_NON_UNIQUE);

  g_signal_connect (application, "activate", G_CALLBACK (activate), NULL);
  return first_frame_run (GTK_APPLICATION (application));
}
