/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What is made of the series of a run. */

#include <math.h>

#include "history/qm-summary.h"

#define SECONDS 200
#define WARM_UP 30
#define TOKENS 256.0

/* A run that says its rate and counts its steps of 256 tokens: a tenth of the
 * rate while it warms up, then 1,024 tokens a second, and in two of ten seconds,
 * when it is held up, half of that. */
static double
rate_at (int second)
{
  if (second <= WARM_UP)
    return 102.4;

  return second % 10 < 2 ? 512 : 1024;
}

static QmSeries *
make_series (gboolean rates)
{
  const char *channels[] = { "step", "tokens_per_second", "cpu_utilization", "process_cpu_cores", "cpu_stolen", NULL };
  QmSeries *series = qm_series_new (channels);
  double steps = 0;

  for (int i = 1; i <= SECONDS; i++)
    {
      steps += rate_at (i) / TOKENS;
      qm_series_append (series, i, (float[]) { (float) steps, rates ? (float) rate_at (i) : NAN, 0.75f, 1, i > WARM_UP ? 0.1f : 0.9f });
    }

  return series;
}

/* Rate and step are of one moment, and neither has the warm-up in it. */
static void
test_one_moment (void)
{
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmSeries) series = make_series (TRUE);

  qm_run_summarise (run, series);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run, "throughput.per_second"), 1024, 1e-3);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run, "throughput.step_seconds"), TOKENS / 1024, 1e-4);
  g_assert_cmpfloat (qm_run_measured (run, "run.warm_up_seconds"), ==, WARM_UP + 2); /* the first that is not held up */
  g_assert_cmpstr (run->unit, ==, "tokens");
}

/* Without a rate, the steps of the second half tell: 921.6 tokens a second. */
static void
test_steps_alone (void)
{
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmSeries) series = make_series (FALSE);

  qm_run_summarise (run, series);
  g_assert_true (isnan (qm_run_measured (run, "throughput.per_second")));
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run, "throughput.step_seconds"), TOKENS / 921.6, 2e-3);
}

static void
test_others (void)
{
  static const struct { double all, used, cores, stolen, gpu, expected; } cases[] = {
    { 0.5, 1, 2, 0, NAN, 0 },           /* alone */
    { 1, 1, 2, 0, NAN, 0.5 },           /* another fills the rest */
    { 0.75, 1, 2, 0, NAN, 0.125 },      /* a half of it, which is half felt */
    { 0.4, 4, 64, 0, NAN, 0 },          /* many cores are free */
    { 1, 1, 2, 0.3, NAN, 0.5 },         /* what was taken away counts once */
    { 1, 0.2, 2, 0.9, NAN, 0.9 },
    { 1, 1, 2, 0, 0.8, 0 },             /* a GPU does the work */
    { NAN, 1, 2, 0.25, NAN, 0.25 },
    { NAN, NAN, NAN, NAN, NAN, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmRun) run = qm_run_new ("a");

      qm_run_set_measured (run, "run.cpu_utilization", cases[i].all);
      qm_run_set_measured (run, "run.cpu_cores", cases[i].used);
      qm_run_set_measured (run, "run.cores", cases[i].cores);
      qm_run_set_measured (run, "run.cpu_stolen", cases[i].stolen);
      qm_run_set_measured (run, "run.gpu_utilization", cases[i].gpu);
      g_assert_cmpfloat_with_epsilon (qm_run_contention (run), cases[i].expected, 1e-9);
    }
}

/* Of what comes after the warm-up. */
static void
test_processor (void)
{
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmSeries) series = make_series (TRUE);

  qm_run_summarise (run, series);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run, "run.cpu_stolen"), 0.1, 1e-6);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run, "run.cpu_utilization"), 0.75, 1e-6);
  g_assert_true (isnan (qm_run_measured (run, "run.cpu_pressure")));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/history/summary/one-moment", test_one_moment);
  g_test_add_func ("/history/summary/steps-alone", test_steps_alone);
  g_test_add_func ("/history/summary/processor", test_processor);
  g_test_add_func ("/history/summary/others", test_others);

  return g_test_run ();
}
