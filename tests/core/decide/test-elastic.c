/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "decide/qm-elastic.h"
#include "qm-error.h"

#define RULE ((QmElasticRule) { .target = 0.7, .dead_band = 0.1, .fewest = 1, .most = 8, .warm_up_seconds = 120, \
                                .cool_down_seconds = 300, .every_seconds = 15 })
#define REPLICA ((QmElasticReplica) { .per_second = 10, .at_once = 1, .money_per_hour = 2, .parts = 1 })

static void
assert_near (double value,
             double expected,
             double tolerance)
{
  if (!(fabs (value / expected - 1) <= tolerance))
    g_error ("%.10g, expected %.10g", value, expected);
}

static GArray *
load_of (const char *text)
{
  g_autoptr (GError) error = NULL;
  GArray *load = qm_load_parse (text, &error);

  g_assert_no_error (error);
  return load;
}

static const QmElasticStep *
step_at (const QmElasticRun *run,
         double              seconds)
{
  for (guint i = run->steps->len; i > 0; i--)
    if (g_array_index (run->steps, QmElasticStep, i - 1).seconds <= seconds)
      return &g_array_index (run->steps, QmElasticStep, i - 1);

  g_assert_not_reached ();
}

/* The article's rule: 70 %, 2 to 8 replicas; with the dead band of Kubernetes. */
static void
test_target (void)
{
  QmElasticRule rule = RULE;

  rule.fewest = 2;
  g_assert_cmpint (qm_elastic_target (&rule, 4, 0.95), ==, 6);
  g_assert_cmpint (qm_elastic_target (&rule, 4, 0.35), ==, 2);
  g_assert_cmpint (qm_elastic_target (&rule, 8, 0.90), ==, 8);
  g_assert_cmpint (qm_elastic_target (&rule, 2, 0.20), ==, 2);
  g_assert_cmpint (qm_elastic_target (&rule, 4, 0.74), ==, 4);
}

static void
test_constant (void)
{
  g_autoptr (GArray) load = load_of ("0,13\n3600,13\n");
  QmElasticReplica replica = REPLICA;
  QmElasticRule rule = RULE;
  QmElasticRun run;

  qm_elastic_simulate (load, &replica, &rule, &run);
  g_assert_cmpint (run.most_replicas, ==, 2);
  assert_near (run.money, 4, 1e-9);
  assert_near (run.mean_replicas, 2, 1e-9);
  g_assert_cmpfloat (run.late_share, ==, 0);
  g_assert_cmpuint (run.steps->len, ==, 60);
  g_array_unref (run.steps);
}

/* By hand after the algorithm of the Kubernetes documentation: ceil (replicas ×
 * utilisation / target), replicas that are not ready counted as idle. Ten a second
 * each, 28 a second come: 1 is all busy and asks for ceil (1 / 0.7) = 2, and 2 for
 * 3, 3 for 5, each once those before are ready. */
static void
test_jump (void)
{
  g_autoptr (GArray) load = load_of ("0,7\n600,7\n601,28\n2400,28\n");
  QmElasticReplica replica = REPLICA;
  QmElasticRule rule = RULE;
  QmElasticRun run;

  qm_elastic_simulate (load, &replica, &rule, &run);
  g_assert_cmpint (step_at (&run, 540)->replicas, ==, 1);
  g_assert_cmpint (step_at (&run, 660)->replicas, ==, 2);
  g_assert_cmpint (step_at (&run, 660)->ready, ==, 1);
  g_assert_cmpint (step_at (&run, 780)->ready, ==, 2);
  g_assert_cmpint (step_at (&run, 780)->replicas, ==, 3);
  g_assert_cmpint (step_at (&run, 900)->ready, ==, 3);
  g_assert_cmpint (step_at (&run, 900)->replicas, ==, 5);
  g_assert_cmpint (step_at (&run, 1080)->ready, ==, 5);
  g_assert_cmpfloat (step_at (&run, 780)->queued, >, 1500);
  g_assert_cmpfloat (step_at (&run, 2340)->queued, ==, 0);
  g_assert_cmpfloat (run.late_share, >, 0.2);
  g_array_unref (run.steps);
}

/* What is no longer needed stays for the cool-down, and not longer. */
static void
test_cool_down (void)
{
  g_autoptr (GArray) load = load_of ("0,28\n600,28\n601,7\n2400,7\n");
  QmElasticReplica replica = REPLICA;
  QmElasticRule rule = RULE;
  QmElasticRun run;

  qm_elastic_simulate (load, &replica, &rule, &run);
  g_assert_cmpint (step_at (&run, 540)->replicas, ==, 4);
  g_assert_cmpint (step_at (&run, 840)->replicas, ==, 4);
  g_assert_cmpint (step_at (&run, 960)->replicas, ==, 1);
  g_array_unref (run.steps);
}

/* Twice the capacity for 100 s leaves 1,000 requests, 100 s of work. */
static void
test_queue (void)
{
  g_autoptr (GArray) load = load_of ("0,20\n100,20\n100.001,0\n300,0\n");
  QmElasticReplica replica = REPLICA;
  QmElasticRule rule = RULE;
  QmElasticRun run;

  rule.most = 1;
  rule.every_seconds = 1;
  qm_elastic_simulate (load, &replica, &rule, &run);
  assert_near (step_at (&run, 60)->queued, 610, 1e-6);
  assert_near (step_at (&run, 120)->queued, 790, 1e-3);
  g_assert_cmpfloat (step_at (&run, 240)->queued, ==, 0);
  g_assert_cmpfloat (run.worst_p99_seconds, >, 79);
  g_array_unref (run.steps);
}

/* M/M/4 with 100 a second of 30 ms each: 99 of 100 wait 117.9 ms at most. */
static void
test_chance (void)
{
  g_autoptr (GArray) load = load_of ("0,100\n86400,100\n");
  QmElasticReplica replica = { .per_second = 4 / 0.03, .at_once = 4, .latency_p99_seconds = 0.2, .money_per_hour = 1, .parts = 1 };
  QmElasticRule rule = RULE;
  QmElasticRun run;

  rule.most = 1;
  qm_elastic_simulate (load, &replica, &rule, &run);
  assert_near (run.p99_seconds - 0.2, 0.1179, 1e-3);
  assert_near (run.worst_p99_seconds - 0.2, 0.1179, 1e-3);
  g_array_unref (run.steps);
}

/* More replicas never cost less, and never make people wait longer. */
static void
test_fixed_fleets (void)
{
  g_autoptr (GArray) load = qm_load_of_a_day (20, 3);
  QmElasticReplica replica = REPLICA;
  QmElasticRule rule = RULE;
  g_autoptr (QmElastic) elastic = NULL;
  const QmElasticRun *peak;

  rule.most = 12;
  elastic = qm_elastic_new (load, &replica, &rule);
  peak = qm_elastic_peak_run (elastic);
  g_assert_cmpint (elastic->peak_fleet, ==, 9);     /* 60 a second at 70 % of 10 each */
  g_assert_cmpint (peak->most_replicas, ==, 9);
  assert_near (peak->money, 9 * 2 * 24, 1e-9);
  g_assert_cmpuint (elastic->fixed->len, >, 3);
  for (guint i = 1; i < elastic->fixed->len; i++)
    {
      const QmElasticRun *fewer = &g_array_index (elastic->fixed, QmElasticRun, i - 1), *more = fewer + 1;

      g_assert_cmpint (fewer->most_replicas, <, more->most_replicas);
      g_assert_cmpfloat (fewer->money, <, more->money);
      g_assert_cmpfloat (fewer->p99_seconds, >=, more->p99_seconds);
    }
  g_assert_cmpfloat (elastic->run.money, <, 0.7 * peak->money);
  g_assert_cmpfloat (elastic->run.money, >, 20 / 10.0 * 2 * 24);
}

static void
test_day (void)
{
  const double peaks[] = { 1, 1.3, 2, 3, 6, 12 };

  for (guint i = 0; i < G_N_ELEMENTS (peaks); i++)
    {
      g_autoptr (GArray) load = qm_load_of_a_day (5, peaks[i]);
      guint hint = 0;

      assert_near (qm_load_mean (load), 5, 1e-6);
      assert_near (qm_load_peak (load), 5 * peaks[i], 1e-9);
      g_assert_cmpfloat (qm_load_span (load), ==, 86400);
      assert_near (qm_load_at (load, 20 * 3600, &hint), 5 * peaks[i], 1e-9);
      for (guint j = 0; j < load->len; j++)
        g_assert_cmpfloat (g_array_index (load, QmLoadPoint, j).per_second, >=, 0.5 - 1e-9);
    }
}

static void
test_read (void)
{
  static const char * const same[] = {
    "0,2\n60,4\n", "# load\n\nseconds,requests_per_second\n0,2\r\n60,4", "note;requests_per_minute;minutes\nx;120;0\ny;240;1\n",
    "\xef\xbb\xbfTime\tRequests_per_Hour\n2026-11-30T10:00:00Z\t7200\n2026-11-30T11:01:00+01:00\t14400\n",
    "\"hours\",\"requests_per_second\"\n5,2\n5.0166666666666667,4\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (same); i++)
    {
      g_autoptr (GArray) load = load_of (same[i]);
      guint hint = 0;

      g_assert_cmpuint (load->len, ==, 2);
      g_assert_cmpfloat (g_array_index (load, QmLoadPoint, 0).seconds, ==, 0);
      assert_near (g_array_index (load, QmLoadPoint, 1).seconds, 60, 1e-9);
      assert_near (qm_load_at (load, 30, &hint), 3, 1e-9);
    }
}

static void
test_refused (void)
{
  static const struct { const char *text; int code; const char *says; } wrong[] = {
    { "", QM_LOAD_ERROR_MISSING, "at least two" },
    { "0,1\n", QM_LOAD_ERROR_MISSING, "at least two" },
    { "seconds,users\n0,1\n1,1\n", QM_LOAD_ERROR_MISSING, "1: a column of the load" },
    { "when,requests_per_second\n0,1\n", QM_LOAD_ERROR_MISSING, "1: a column of times" },
    { "0,1\n1,x\n", QM_LOAD_ERROR_SYNTAX, "2: \"x\" is not a number" },
    { "0,1\nx,1\n", QM_LOAD_ERROR_SYNTAX, "2: \"x\" is not a time" },
    { "time,requests_per_second\n2026-13-01T00:00:00Z,1\n", QM_LOAD_ERROR_SYNTAX, "2: \"2026-13" },
    { "0,1\n5\n", QM_LOAD_ERROR_SYNTAX, "2: \"\" is not a number" },
    { "0,1\n1,-1\n", QM_LOAD_ERROR_VALUE, "2: \"-1\" requests" },
    { "0,1\n1,nan\n", QM_LOAD_ERROR_SYNTAX, "2: \"nan\"" },
    { "0,1\n1,1e300\n", QM_LOAD_ERROR_VALUE, "2: \"1e300\"" },
    { "0,1\n2,1\n1,1\n", QM_LOAD_ERROR_VALUE, "3: the time \"1\"" },
    { "0,1\n99999999,1\n", QM_LOAD_ERROR_VALUE, "31 days" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      g_test_message ("%u", i);
      g_assert_null (qm_load_parse (wrong[i].text, &error));
      g_assert_error (error, QM_LOAD_ERROR, wrong[i].code);
      qm_error_locate (error, "f.csv", 0);
      if (strstr (error->message, wrong[i].says) == NULL || !g_str_has_prefix (error->message, "f.csv:"))
        g_error ("\"%s\" does not say \"%s\"", error->message, wrong[i].says);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/elastic/target", test_target);
  g_test_add_func ("/elastic/constant", test_constant);
  g_test_add_func ("/elastic/jump", test_jump);
  g_test_add_func ("/elastic/cool-down", test_cool_down);
  g_test_add_func ("/elastic/queue", test_queue);
  g_test_add_func ("/elastic/chance", test_chance);
  g_test_add_func ("/elastic/fixed-fleets", test_fixed_fleets);
  g_test_add_func ("/load/day", test_day);
  g_test_add_func ("/load/read", test_read);
  g_test_add_func ("/load/refused", test_refused);

  return g_test_run ();
}
