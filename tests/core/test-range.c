/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "qm-range.h"

#define assert_near(a, b, tolerance) g_assert_cmpfloat_with_epsilon (a, b, tolerance)

static void
test_log_normal (void)
{
  QmRange range = qm_range_log_normal (100, log (2));

  assert_near (range.p10, 50, 1e-9);
  assert_near (range.p90, 200, 1e-9);
  assert_near (qm_range_half_width (range), log (2), 1e-12);
}

static void
test_divide (void)
{
  QmRange seconds = qm_range_divide (1000, (QmRange) { 5, 10, 20 });

  assert_near (seconds.p10, 50, 1e-9);
  assert_near (seconds.p50, 100, 1e-9);
  assert_near (seconds.p90, 200, 1e-9);
}

/* The 90 % quantile of a normal distribution is at 1.2816 standard deviations. */
static void
test_share_below (void)
{
  QmRange range = qm_range_log_normal (100, 0.3);

  assert_near (qm_range_share_below (range, range.p10), 0.1, 1e-9);
  assert_near (qm_range_share_below (range, 100), 0.5, 1e-12);
  assert_near (qm_range_share_below (range, range.p90), 0.9, 1e-9);
  g_assert_cmpfloat (qm_range_share_below (range, 0), ==, 0);
  g_assert_cmpfloat (qm_range_share_below (qm_range_exact (5), 4), ==, 0);
  g_assert_cmpfloat (qm_range_share_below (qm_range_exact (5), 5), ==, 1);
}

static void
test_unknown (void)
{
  g_assert_false (qm_range_is_known (QM_RANGE_UNKNOWN));
  g_assert_true (qm_range_is_known (qm_range_exact (0)));
  g_assert_cmpfloat (qm_range_half_width (qm_range_exact (3)), ==, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/range/log-normal", test_log_normal);
  g_test_add_func ("/range/divide", test_divide);
  g_test_add_func ("/range/share-below", test_share_below);
  g_test_add_func ("/range/unknown", test_unknown);
  return g_test_run ();
}
