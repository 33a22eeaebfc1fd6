/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <unistd.h>

#include "draw/qm-language.h"
#include "first-frame.h"
#include "qm-application.h"
#include "qm-window.h"

/* The program as a person has it who opened an example: prints its resident memory
 * once the answer has been there for a moment. */

#define EXAMPLE "chat-assistant.qmplan"
#define MOMENT  (2 * G_TIME_SPAN_SECOND)

static gboolean
is_done (QmSession *session)
{
  return qm_session_get_machine (session) != NULL && !qm_session_get_busy (session) && !qm_session_get_simulating (session) &&
         !qm_session_get_learning (session) && qm_session_get_recommendation (session) != NULL;
}

static gboolean
look (GtkWidget     *window,
      GdkFrameClock *clock,
      gpointer       data)
{
  gint64 *since = data;

  if (!is_done (qm_window_get_session (QM_WINDOW (window))))
    return G_SOURCE_CONTINUE;
  if (*since == 0)
    *since = g_get_monotonic_time ();
  if (g_get_monotonic_time () < *since + MOMENT)
    return G_SOURCE_CONTINUE;

  first_frame_print_memory ();
  _exit (0);
}

static void
opened (GtkWidget *window)
{
  static gint64 since = 0;

  gtk_widget_activate_action (window, "win.open-example", "s", EXAMPLE);
  gtk_widget_add_tick_callback (window, look, &since, NULL);
}

static void
added (GtkApplication *application,
       GtkWidget      *window)
{
  g_signal_connect (window, "map", G_CALLBACK (opened), NULL);
}

int
main (void)
{
  QmApplication *application;

  qm_language_init (NULL);
  application = qm_application_new ();
  g_signal_connect (application, "window-added", G_CALLBACK (added), NULL);
  g_application_run (G_APPLICATION (application), 0, NULL);

  return 1;
}
