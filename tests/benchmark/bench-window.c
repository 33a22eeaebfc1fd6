/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "window-driver.h"

/* What the window takes: the time to its first frame beside that of an empty one,
 * the memory with an answer open, and what a frame costs while a slider moves. */

#define STARTS 9
#define FRAMES 60

static int
compare (gconstpointer a,
         gconstpointer b)
{
  double difference = *(const double *) a - *(const double *) b;

  return difference < 0 ? -1 : difference > 0;
}

static double
processor_seconds (clockid_t clock)
{
  struct timespec time;

  clock_gettime (clock, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

/* -------------------------------------------------------------------------- start */

/* Milliseconds until it ended by itself. */
static double
start_once (const char *program,
            double     *resident_bytes)
{
  const char *command[] = { program, NULL };
  gint64 begun = g_get_monotonic_time ();
  g_autofree char *output = NULL;
  int status = 1;

  g_assert_true (g_spawn_sync (NULL, (char **) command, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);
  *resident_bytes = g_ascii_strtod (output, NULL);

  return (g_get_monotonic_time () - begun) / 1e3;
}

/* One after the other, so that what else the machine does meets both. */
static void
bench_start (void)
{
  double empty[STARTS], program[STARTS], resident[3];

  for (int i = 0; i < STARTS; i++)
    {
      empty[i] = start_once (BENCH_START_EMPTY, &resident[0]);
      program[i] = start_once (BENCH_START_PROGRAM, &resident[1]);
    }
  qsort (empty, STARTS, sizeof *empty, compare);
  qsort (program, STARTS, sizeof *program, compare);
  g_print ("  %-34s %9.0f ms\n", "first frame of an empty window", empty[STARTS / 2]);
  g_print ("  %-34s %9.0f ms  (%.2f times as long; at best %.0f against %.0f ms)\n", "first frame of this program", program[STARTS / 2],
           program[STARTS / 2] / empty[STARTS / 2], program[0], empty[0]);
  start_once (BENCH_SHOW_ANSWER, &resident[2]);
  g_print ("  %-34s %9.0f MB  (an empty window %.0f MB, this program at its first frame %.0f MB)\n", "resident memory with an answer",
           resident[2] / 1e6, resident[0] / 1e6, resident[1] / 1e6);
}

/* ------------------------------------------------------------------------- frames */

typedef struct {
  double busy[FRAMES];
  double own;                       /* of the main thread, at the last frame */
  int n;
} Frames;

/* One hand's width in a second: another value in every frame. */
static gboolean
move_on (GtkWidget     *widget,
         GdkFrameClock *clock,
         gpointer       data)
{
  Frames *frames = data;
  const char *field = g_object_get_data (G_OBJECT (widget), "field");
  double share = (double) frames->n / FRAMES;
  g_autofree char *value = g_strdup_printf ("%.4g", exp (log (20) + share * (log (2000) - log (20))));
  double now = processor_seconds (CLOCK_THREAD_CPUTIME_ID);

  if (frames->n > 0)
    frames->busy[frames->n - 1] = now - frames->own;
  frames->own = now;
  if (frames->n++ == FRAMES)
    return G_SOURCE_REMOVE;

  qm_session_set_answer (qm_window_get_session (QM_WINDOW (widget)), field, value, NULL);
  return G_SOURCE_CONTINUE;
}

static void
drag (Driver     *driver,
      const char *page,
      const char *field)
{
  Frames frames = { .n = 0 };
  double all = processor_seconds (CLOCK_PROCESS_CPUTIME_ID);

  qm_window_show_page (driver->window, page);
  driver_settle (driver);
  all = processor_seconds (CLOCK_PROCESS_CPUTIME_ID);
  g_object_set_data (G_OBJECT (driver->window), "field", (gpointer) field);
  gtk_widget_add_tick_callback (GTK_WIDGET (driver->window), move_on, &frames, NULL);
  while (frames.n <= FRAMES)
    g_main_context_iteration (NULL, TRUE);
  all = processor_seconds (CLOCK_PROCESS_CPUTIME_ID) - all;
  qsort (frames.busy, FRAMES, sizeof *frames.busy, compare);
  g_print ("  drag %-29s %9.2f ms a frame  (nine of ten under %.2f ms; with the search beside it %.2f ms)\n", field, frames.busy[FRAMES / 2] * 1e3,
           frames.busy[FRAMES * 9 / 10] * 1e3, all / FRAMES * 1e3);
  driver_settle (driver);
}

static void
bench_frames (void)
{
  g_auto (Driver) driver = { NULL };

  driver_open (&driver, 1100, 780);
  drag (&driver, "budget", "limits.money");
  drag (&driver, "budget", "limits.hours");
  drag (&driver, "scale", "training.samples");
}

static void
add_benches (void)
{
  g_test_add_func ("/start", bench_start);
  g_test_add_func ("/frames", bench_frames);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_benches);
}
