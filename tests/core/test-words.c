/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "qm-words.h"

#define NBSP "\302\240"
#define GIB 1073741824.0

static void
assert_text (char       *text,
             const char *expected)
{
  g_assert_cmpstr (text, ==, expected);
  g_free (text);
}

static void
test_numbers (void)
{
  const QmWords *english = qm_words_english ();

  assert_text (qm_format_number (english, 0), "0");
  assert_text (qm_format_number (english, 3.14159), "3.1");
  assert_text (qm_format_number (english, 4.0), "4");
  assert_text (qm_format_number (english, 0.01234), "0.012");
  assert_text (qm_format_number (english, 1234567), "1,230,000");
  assert_text (qm_format_number (english, -42.4), "\342\210\22242");
  assert_text (qm_format_number (english, NAN), "unknown");
  assert_text (qm_format_count (english, 6738415616.0), "6,738,415,616");
  assert_text (qm_format_count_short (english, 6738415616.0), "6.74" NBSP "B");
  assert_text (qm_format_count_short (english, 86567656), "86.6" NBSP "M");
  assert_text (qm_format_count_short (english, 405853388800.0), "406" NBSP "B");
}

/* Numbers of a damaged file are told in a few letters. */
static void
test_extremes (void)
{
  static const double values[] = { 1e308, -1e308, G_MAXDOUBLE, 1e16, -4e99, 5e-324, -5e-324, 1e-300 };
  const QmWords *english = qm_words_english (), comma = { english->translate, english->translate_plural, ",", "." };
  char *(*formats[]) (const QmWords *words, double value) = {
    qm_format_number, qm_format_count, qm_format_count_short, qm_format_bytes, qm_format_file_bytes, qm_format_seconds, qm_format_percent,
    qm_format_percent_tenths, qm_format_factor, qm_format_points,
  };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    for (guint k = 0; k < G_N_ELEMENTS (formats); k++)
      {
        g_autofree char *text = formats[k] (english, values[i]);

        g_assert_cmpint (g_utf8_strlen (text, -1), <, 24);
        g_assert_null (strstr (text, "nan"));
      }

  assert_text (qm_format_number (english, 1.5e300), "1.5×10³⁰⁰");
  assert_text (qm_format_number (&comma, -1.5e300), "\342\210\2221,5×10³⁰⁰");
  assert_text (qm_format_count (english, 9007199254740992.0), "9,007,199,254,740,992");
  assert_text (qm_format_seconds (english, 365.25 * 86400 * 2e20), "2.0×10²⁰" NBSP "years");
  assert_text (qm_format_seconds (english, -5), "\342\210\2225" NBSP "s");
}

static void
test_bytes (void)
{
  const QmWords *english = qm_words_english ();

  assert_text (qm_format_bytes (english, 26.4 * GIB), "26" NBSP "GiB");
  assert_text (qm_format_bytes (english, 6.42 * GIB), "6.4" NBSP "GiB");
  assert_text (qm_format_bytes (english, 1.5 * 1024 * GIB), "1.5" NBSP "TiB");
  assert_text (qm_format_bytes_range (english, (QmRange) { 24 * GIB, 26 * GIB, 29 * GIB }), "24\342\200\22329" NBSP "GiB");
  assert_text (qm_format_file_bytes (english, 16.1e9), "16" NBSP "GB");
}

static void
test_durations (void)
{
  const QmWords *english = qm_words_english ();

  assert_text (qm_format_seconds (english, 4 * 3600), "4" NBSP "h");
  assert_text (qm_format_seconds (english, 39 * 60), "39" NBSP "min");
  assert_text (qm_format_seconds (english, 0.035), "35" NBSP "ms");
  assert_text (qm_format_seconds (english, 2.5 * 86400), "2.5" NBSP "days");
  assert_text (qm_format_seconds_range (english, (QmRange) { 2.6 * 3600, 4 * 3600, 6.2 * 3600 }),
               "2.6\342\200\2236.2" NBSP "h");
}

static void
test_against (void)
{
  const QmWords *english = qm_words_english ();

  assert_text (qm_format_seconds_against (english, 43800, 12 * 3600), "12" NBSP "h" NBSP "10" NBSP "min");
  assert_text (qm_format_seconds_against (english, 12 * 3600 + 5, 12 * 3600), "12" NBSP "h" NBSP "1" NBSP "min");
  assert_text (qm_format_seconds_against (english, 12 * 3600 - 5, 12 * 3600), "11" NBSP "h" NBSP "59" NBSP "min");
  assert_text (qm_format_seconds_against (english, 12 * 3600, 12 * 3600), "12" NBSP "h");
  assert_text (qm_format_seconds_against (english, 13 * 3600, 12 * 3600), "13" NBSP "h");
  assert_text (qm_format_seconds_against (english, 43800, NAN), "12" NBSP "h");
  assert_text (qm_format_seconds_against (english, 3 * 86400 + 600, 3 * 86400), "3" NBSP "days" NBSP "1" NBSP "h");
  assert_text (qm_format_seconds_against (english, NAN, 3600), "unknown");
}

static void
test_money (void)
{
  const QmWords *english = qm_words_english ();

  assert_text (qm_format_money (english, 7.4, "USD"), "7.40" NBSP "USD");
  assert_text (qm_format_money (english, 920, "USD"), "920" NBSP "USD");
  assert_text (qm_format_money (english, 12345, "EUR"), "12,300" NBSP "EUR");
  assert_text (qm_format_money_range (english, (QmRange) { 4.8, 7.4, 12 }, "USD"), "4.80\342\200\22312" NBSP "USD");
}

static void
test_other (void)
{
  const QmWords *english = qm_words_english ();

  assert_text (qm_format_percent (english, 0.46), "46%");
  assert_text (qm_format_percent (english, 0.005), "0.5%");
  assert_text (qm_format_factor (english, 5.9), "5.9\303\227");
  assert_text (qm_format_factor (english, 1.02), "1.02\303\227");
  assert_text (qm_format_factor (english, 1.001), "1\303\227");
  assert_text (qm_format_points (english, -1), "\342\210\2221 point");
  assert_text (qm_format_points (english, -2.5), "\342\210\2222.5 points");
  assert_text (qm_format_date (english, "2026-07-20"), "20 July 2026");
  assert_text (qm_format_date (english, "2026-07"), "July 2026");
  assert_text (qm_format_date (english, "2025"), "2025");
}

/* Between characters that are as wide as high there is no space; in front of and
 * behind Latin letters and digits there is one. */
static void
test_close_up (void)
{
  const struct { const char *filled, *expected; } cases[] = {
    { "能在 25\302\240秒 内得到回答", "能在 25\302\240秒内得到回答" },
    { "4 × RTX 3090（竞价） 兼顾时间", "4 × RTX 3090（竞价）兼顾时间" },
    { "取 A100 为 例", "取 A100 为例" },
    { "within 25 s of the order", "within 25 s of the order" },
    { " 内 ", " 内 " },
    { "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) text = g_string_new (cases[i].filled);

      qm_text_close_up (text);
      g_assert_cmpstr (text->str, ==, cases[i].expected);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/words/numbers", test_numbers);
  g_test_add_func ("/words/extremes", test_extremes);
  g_test_add_func ("/words/bytes", test_bytes);
  g_test_add_func ("/words/durations", test_durations);
  g_test_add_func ("/words/against", test_against);
  g_test_add_func ("/words/money", test_money);
  g_test_add_func ("/words/other", test_other);
  g_test_add_func ("/words/close-up", test_close_up);

  return g_test_run ();
}
