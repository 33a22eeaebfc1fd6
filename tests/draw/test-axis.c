/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "qm-axis.h"

#define NBSP "\302\240"
#define GIB 1073741824.0

static void
assert_ticks (const QmAxis *axis,
              guint         level,
              const char   *expected)
{
  g_autoptr (GArray) ticks = qm_axis_ticks (axis, level);
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_nonnull (ticks);
  for (guint i = 0; i < ticks->len; i++)
    {
      g_autofree char *label = qm_axis_tick_label (axis, g_array_index (ticks, double, i), i + 1 == ticks->len, qm_words_english ());

      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", label);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_money (void)
{
  QmAxis axis = { .scale = QM_SCALE_LOG, .quantity = QM_QUANTITY_MONEY, .low = 1.5, .high = 60 };

  assert_ticks (&axis, 2, "2, 5, 10, 20, 50");
}

static void
test_time (void)
{
  QmAxis axis = { .scale = QM_SCALE_LOG, .quantity = QM_QUANTITY_SECONDS, .low = 1500, .high = 200000 };

  assert_ticks (&axis, 0, "30" NBSP "min, 1" NBSP "h, 2" NBSP "h, 4" NBSP "h, 8" NBSP "h, 1 day, 2 days");
}

static void
test_linear_time (void)
{
  QmAxis axis = { .quantity = QM_QUANTITY_SECONDS, .high = 110 };

  assert_ticks (&axis, 2, "0, 30" NBSP "s, 60" NBSP "s, 90" NBSP "s");
}

static void
test_bytes (void)
{
  QmAxis axis = { .quantity = QM_QUANTITY_BYTES, .high = 52 * GIB };
  QmAxis small = { .quantity = QM_QUANTITY_BYTES, .high = 900 * 1048576.0 };

  assert_ticks (&axis, 2, "0, 20, 40" NBSP "GiB");
  assert_ticks (&axis, 1, "0, 10, 20, 30, 40, 50" NBSP "GiB");
  assert_ticks (&small, 2, "0, 256, 512, 768" NBSP "MiB");
}

static void
test_sparser (void)
{
  QmAxis axis = { .scale = QM_SCALE_LOG, .quantity = QM_QUANTITY_MONEY, .low = 1, .high = 1000 };
  guint before = G_MAXUINT, level = 0;

  while (TRUE)
    {
      g_autoptr (GArray) ticks = qm_axis_ticks (&axis, level++);

      if (ticks == NULL)
        break;
      g_assert_cmpuint (ticks->len, <=, before);
      before = ticks->len;
    }
  g_assert_cmpuint (level, >, 3);
}

static void
test_place (void)
{
  QmAxis axis = { .scale = QM_SCALE_LOG, .low = 1, .high = 100 };
  QmAxis linear = { .low = -4, .high = 4 };

  g_assert_cmpfloat_with_epsilon (qm_axis_place (&axis, 10), 0.5, 1e-12);
  g_assert_cmpfloat_with_epsilon (qm_axis_place (&linear, 0), 0.5, 1e-12);
}

/* Parameters of models: in billions, and not with all their zeros. */
static void
test_large_counts (void)
{
  const QmAxis axis = { .quantity = QM_QUANTITY_COUNT, .high = 30.5e9 }, small = { .quantity = QM_QUANTITY_COUNT, .high = 24 };
  g_autofree char *large = qm_axis_tick_label (&axis, 25e9, TRUE, qm_words_english ());
  g_autofree char *zero = qm_axis_tick_label (&axis, 0, TRUE, qm_words_english ());
  g_autofree char *few = qm_axis_tick_label (&small, 8, TRUE, qm_words_english ());

  g_assert_cmpstr (large, ==, "25\302\240B");
  g_assert_cmpstr (zero, ==, "0");
  g_assert_cmpstr (few, ==, "8");
}

static void
test_cover (void)
{
  QmAxis axis = { .quantity = QM_QUANTITY_NUMBER };

  qm_axis_cover (&axis, 0, 47);
  g_assert_cmpfloat (axis.low, ==, 0);
  g_assert_cmpfloat (axis.high, ==, 50);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/axis/money", test_money);
  g_test_add_func ("/axis/time", test_time);
  g_test_add_func ("/axis/linear-time", test_linear_time);
  g_test_add_func ("/axis/bytes", test_bytes);
  g_test_add_func ("/axis/sparser", test_sparser);
  g_test_add_func ("/axis/place", test_place);
  g_test_add_func ("/axis/large-counts", test_large_counts);
  g_test_add_func ("/axis/cover", test_cover);
  return g_test_run ();
}
