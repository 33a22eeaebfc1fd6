/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <unistd.h>

#include <gtk/gtk.h>

/* Ends the program when its first frame is painted: its length is the time to it.
 * Says what memory it holds then. */

static inline void
first_frame_print_memory (void)
{
  g_autofree char *text = NULL;
  long pages;

  if (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL) && sscanf (text, "%*d %ld", &pages) == 1)
    g_print ("%.0f\n", (double) pages * sysconf (_SC_PAGESIZE));
}

static void
first_frame_painted (GdkFrameClock *clock,
                     gpointer       data)
{
  first_frame_print_memory ();
  _exit (0);
}

static void
first_frame_realized (GtkWidget *window)
{
  g_signal_connect (gtk_widget_get_frame_clock (window), "after-paint", G_CALLBACK (first_frame_painted), NULL);
}

static void
first_frame_added (GtkApplication *application,
                   GtkWidget      *window)
{
  g_signal_connect (window, "map", G_CALLBACK (first_frame_realized), NULL);
}

static inline int
first_frame_run (GtkApplication *application)
{
  g_signal_connect (application, "window-added", G_CALLBACK (first_frame_added), NULL);
  g_application_run (G_APPLICATION (application), 0, NULL);

  return 1;
}
