/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-words.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "qm-numerals.h"

#define NO_BREAK_SPACE "\302\240"
#define EN_DASH "\342\200\223"

static const char *
same (const char *msgid)
{
  return msgid;
}

static const char *
same_plural (const char *one,
             const char *many,
             gulong      n)
{
  return n == 1 ? one : many;
}

/**
 * qm_words_english:
 *
 * Returns: (transfer none): the sentences of the source, numbers as in C
 */
const QmWords *
qm_words_english (void)
{
  static const QmWords english = { same, same_plural, ".", "," };

  return &english;
}

/* A sentence whose places {a}, {b}, {c} hold these texts. A translation that
 * drops or doubles a place does no harm. */
static char *
put (const char *sentence,
     const char *a,
     const char *b,
     const char *c)
{
  const char *places[] = { "{a}", "{b}", "{c}" };
  const char *texts[] = { a, b, c };
  GString *text = g_string_new (sentence);

  for (guint i = 0; i < G_N_ELEMENTS (places) && texts[i] != NULL; i++)
    g_string_replace (text, places[i], texts[i], 0);

  return g_string_free (text, FALSE);
}

static char *
unknown (const QmWords *words)
{
  return g_strdup (words->translate (N_("unknown")));
}

/**
 * qm_format_number:
 * @words: the reader's language
 * @value: any number
 *
 * Returns: (transfer full): @value with two or three significant digits
 */
char *
qm_format_number (const QmWords *words,
                  double         value)
{
  return isfinite (value) ? qm_numeral_short (words, value) : unknown (words);
}

/**
 * qm_format_count:
 * @words: the reader's language
 * @value: a whole number
 *
 * Returns: (transfer full): @value with all its digits
 */
char *
qm_format_count (const QmWords *words,
                 double         value)
{
  return isfinite (value) ? qm_numeral_fixed (words, round (value), 0) : unknown (words);
}

/**
 * qm_format_count_short:
 * @words: the reader's language
 * @value: a large number, e.g. of parameters
 *
 * Returns: (transfer full): e.g. "6.74 B", "86.6 M", "820"
 */
char *
qm_format_count_short (const QmWords *words,
                       double         value)
{
  static const struct { double size; const char *letter; } scales[] = {
    { 1e12, N_("T") }, { 1e9, N_("B") }, { 1e6, N_("M") }, { 1e3, N_("k") },
  };

  if (!isfinite (value))
    return unknown (words);

  for (guint i = 0; i < G_N_ELEMENTS (scales); i++)
    {
      double scaled = qm_numeral_significant (value) / scales[i].size;

      if (scaled >= 1)
        {
          int decimals = scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
          g_autofree char *text = qm_numeral_fixed (words, scaled, qm_numeral_decimals (scaled, decimals));

          return g_strconcat (text, NO_BREAK_SPACE, words->translate (scales[i].letter), NULL);
        }
    }

  return qm_numeral_short (words, value);
}

/* The unit in which a size reads best. */
static double
byte_unit (double       bytes,
           double       base,
           const char  *const *names,
           const char **name)
{
  double unit = 1;
  int i = 0;

  while (i < 4 && fabs (bytes) / unit >= base * 0.9995)
    {
      unit *= base;
      i++;
    }

  *name = names[i];
  return unit;
}

static const char * const binary_names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
static const char * const decimal_names[] = { "B", "kB", "MB", "GB", "TB" };

static char *
with_unit (const QmWords *words,
           double         value,
           const char    *unit)
{
  g_autofree char *text = qm_numeral_short (words, value);

  return g_strconcat (text, NO_BREAK_SPACE, unit, NULL);
}

static char *
range_with_unit (const QmWords *words,
                 double         low,
                 double         high,
                 const char    *unit)
{
  g_autofree char *low_text = qm_numeral_short (words, low);
  g_autofree char *high_text = qm_numeral_short (words, high);

  if (strcmp (low_text, high_text) == 0)
    return g_strconcat (low_text, NO_BREAK_SPACE, unit, NULL);

  return g_strconcat (low_text, EN_DASH, high_text, NO_BREAK_SPACE, unit, NULL);
}

/**
 * qm_format_bytes:
 * @words: the reader's language
 * @bytes: a size in memory
 *
 * Returns: (transfer full): e.g. "26.4 GiB"
 */
char *
qm_format_bytes (const QmWords *words,
                 double         bytes)
{
  const char *name;
  double unit;

  if (!isfinite (bytes))
    return unknown (words);

  unit = byte_unit (bytes, 1024, binary_names, &name);
  return with_unit (words, bytes / unit, name);
}

/**
 * qm_format_bytes_range:
 * @words: the reader's language
 * @bytes: a size in memory
 *
 * Returns: (transfer full): e.g. "24–29 GiB"
 */
char *
qm_format_bytes_range (const QmWords *words,
                       QmRange        bytes)
{
  const char *name;
  double unit;

  if (!qm_range_is_known (bytes))
    return unknown (words);

  unit = byte_unit (bytes.p90, 1024, binary_names, &name);
  return range_with_unit (words, bytes.p10 / unit, bytes.p90 / unit, name);
}

/**
 * qm_format_file_bytes:
 * @words: the reader's language
 * @bytes: a size on disk or on the wire
 *
 * Returns: (transfer full): e.g. "16.1 GB"
 */
char *
qm_format_file_bytes (const QmWords *words,
                      double         bytes)
{
  const char *name;
  double unit;

  if (!isfinite (bytes))
    return unknown (words);

  unit = byte_unit (bytes, 1000, decimal_names, &name);
  return with_unit (words, bytes / unit, name);
}

typedef struct {
  double from;
  double size;
  const char *name;
} SecondUnit;

static const SecondUnit second_units[] = {
  { 2 * 365.25 * 86400, 365.25 * 86400, N_("years") },
  { 2 * 86400, 86400, N_("days") },
  { 5400, 3600, N_("h") },
  { 90, 60, N_("min") },
  { 1, 1, N_("s") },
  { 1e-3, 1e-3, N_("ms") },
  { 0, 1e-6, N_("µs") },
};

static const SecondUnit *
second_unit (double seconds)
{
  guint i = 0;

  while (i + 1 < G_N_ELEMENTS (second_units) && fabs (seconds) < second_units[i].from)
    i++;

  return &second_units[i];
}

/**
 * qm_format_seconds:
 * @words: the reader's language
 * @seconds: a duration
 *
 * Returns: (transfer full): e.g. "4 h", "39 min", "2.5 days"
 */
char *
qm_format_seconds (const QmWords *words,
                   double         seconds)
{
  const SecondUnit *unit = second_unit (seconds);

  if (!isfinite (seconds))
    return unknown (words);
  if (seconds == 0)
    return with_unit (words, 0, words->translate (N_("s")));

  return with_unit (words, seconds / unit->size, words->translate (unit->name));
}

/**
 * qm_format_seconds_against:
 * @words: the reader's language
 * @seconds: a duration
 * @limit: what it is held against; NaN nothing
 *
 * As qm_format_seconds(), but what is above a limit never reads as the limit, nor
 * what keeps it as more.
 *
 * Returns: (transfer full): e.g. "12 h 10 min" for 43,800 s against 12 h
 */
char *
qm_format_seconds_against (const QmWords *words,
                           double         seconds,
                           double         limit)
{
  g_autofree char *plain = qm_format_seconds (words, seconds);
  g_autofree char *boundary = isfinite (limit) ? qm_format_seconds (words, limit) : NULL;
  const SecondUnit *unit = second_unit (seconds), *smaller = unit + 1;
  g_autofree char *large = NULL, *small = NULL;
  double parts, whole;

  if (g_strcmp0 (plain, boundary) != 0 || seconds == limit || !(unit->size > 1))
    return g_steal_pointer (&plain);

  parts = seconds > limit ? ceil (seconds / smaller->size) : floor (seconds / smaller->size);
  whole = floor (parts * smaller->size / unit->size);
  large = with_unit (words, whole, words->translate (unit->name));
  small = with_unit (words, parts - whole * unit->size / smaller->size, words->translate (smaller->name));

  return g_strconcat (large, NO_BREAK_SPACE, small, NULL);
}

/**
 * qm_format_seconds_range:
 * @words: the reader's language
 * @seconds: a duration
 *
 * Returns: (transfer full): e.g. "2.6–6.2 h"
 */
char *
qm_format_seconds_range (const QmWords *words,
                         QmRange        seconds)
{
  const SecondUnit *unit = second_unit (seconds.p50);

  if (!qm_range_is_known (seconds))
    return unknown (words);

  return range_with_unit (words, seconds.p10 / unit->size, seconds.p90 / unit->size, words->translate (unit->name));
}

/* Cents matter below ten; nobody quotes them above. */
static char *
amount (const QmWords *words,
        double         value)
{
  double size = fabs (value);

  if (size >= 1000)
    return qm_numeral_fixed (words, qm_numeral_significant (value), 0);
  if (size >= 10 || size == 0)
    return qm_numeral_fixed (words, value, 0);
  if (size >= 0.095)
    return qm_numeral_fixed (words, value, 2);

  return qm_numeral_short (words, value);
}

/**
 * qm_format_money:
 * @words: the reader's language
 * @value: an amount
 * @currency: its ISO 4217 code
 *
 * Returns: (transfer full): e.g. "7.40 USD"
 */
char *
qm_format_money (const QmWords *words,
                 double         value,
                 const char    *currency)
{
  g_autofree char *text = NULL;

  if (!isfinite (value))
    return unknown (words);

  text = amount (words, value);
  return g_strconcat (text, NO_BREAK_SPACE, currency, NULL);
}

/**
 * qm_format_money_range:
 * @words: the reader's language
 * @value: an amount
 * @currency: its ISO 4217 code
 *
 * Returns: (transfer full): e.g. "4.80–12 USD"
 */
char *
qm_format_money_range (const QmWords *words,
                       QmRange        value,
                       const char    *currency)
{
  g_autofree char *low = NULL;
  g_autofree char *high = NULL;

  if (!qm_range_is_known (value))
    return unknown (words);

  low = amount (words, value.p10);
  high = amount (words, value.p90);
  if (strcmp (low, high) == 0)
    return g_strconcat (low, NO_BREAK_SPACE, currency, NULL);

  return g_strconcat (low, EN_DASH, high, NO_BREAK_SPACE, currency, NULL);
}

/**
 * qm_format_percent:
 * @words: the reader's language
 * @fraction: 0.46 is 46 %
 *
 * Returns: (transfer full): e.g. "46%", as the language writes it
 */
char *
qm_format_percent (const QmWords *words,
                   double         fraction)
{
  g_autofree char *text = NULL;
  double percent = fraction * 100;

  if (!isfinite (fraction))
    return unknown (words);

  text = fabs (percent) >= 10 || percent == 0 ? qm_numeral_fixed (words, round (percent), 0) : qm_numeral_short (words, percent);
  /* Translators: a percentage; some languages put a no-break space before the sign */
  return put (words->translate (N_("{a}%")), text, NULL, NULL);
}

/**
 * qm_format_percent_tenths:
 * @words: the reader's language
 * @fraction: 0.821 is 82.1 %
 *
 * Returns: (transfer full): e.g. "82.1%", as the language writes it
 */
char *
qm_format_percent_tenths (const QmWords *words,
                          double         fraction)
{
  g_autofree char *text = qm_numeral_fixed (words, round (1000 * fraction) / 10, 1);

  return put (words->translate (N_("{a}%")), text, NULL, NULL);
}

/**
 * qm_format_factor:
 * @words: the reader's language
 * @factor: a ratio
 *
 * Returns: (transfer full): e.g. "2.3×"
 */
char *
qm_format_factor (const QmWords *words,
                  double         factor)
{
  /* Two digits would say that something a little over its limit keeps it. */
  gboolean near = fabs (factor - 1) < 0.05 && fabs (factor - 1) >= 0.005;
  g_autofree char *text = near ? qm_numeral_fixed (words, factor, 2) : qm_format_number (words, factor);

  /* Translators: a factor, as in "needs 1.2× of the memory" and "2× as fast" */
  return isfinite (factor) ? put (words->translate (N_("{a}×")), text, NULL, NULL) : g_steal_pointer (&text);
}

/**
 * qm_format_points:
 * @words: the reader's language
 * @points: percentage points, negative for a loss
 *
 * Returns: (transfer full): e.g. "−1 point"
 */
char *
qm_format_points (const QmWords *words,
                  double         points)
{
  g_autofree char *text = NULL;

  if (!isfinite (points))
    return unknown (words);

  text = qm_numeral_short (words, round (points * 10) / 10);
  return put (words->translate_plural ("{a} point", "{a} points", fabs (fabs (points) - 1) < 0.05 ? 1 : 2),
              text, NULL, NULL);
}

/**
 * qm_format_date:
 * @words: the reader's language
 * @iso_date: "2026-07-20", "2026-07" or "2026"
 *
 * Returns: (transfer full): e.g. "20 July 2026"; @iso_date where it is no date
 */
char *
qm_format_date (const QmWords *words,
                const char    *iso_date)
{
  static const char * const months[] = {
    N_("January"), N_("February"), N_("March"), N_("April"), N_("May"), N_("June"),
    N_("July"), N_("August"), N_("September"), N_("October"), N_("November"), N_("December"),
  };
  int year = 0, month = 0, day = 0;
  char year_text[16], day_text[16];
  const char *month_name;
  int parts = iso_date != NULL ? sscanf (iso_date, "%4d-%2d-%2d", &year, &month, &day) : 0;

  if (parts < 2 || month < 1 || month > 12)
    return iso_date != NULL ? g_strdup (iso_date) : unknown (words);

  month_name = words->translate (months[month - 1]);
  g_snprintf (year_text, sizeof year_text, "%d", year);
  g_snprintf (day_text, sizeof day_text, "%d", day);
  if (parts == 2)
    /* Translators: {a} is the name of the month, {b} the year */
    return put (words->translate (N_("{a} {b}")), month_name, year_text, NULL);

  /* Translators: {a} is the day, {b} the name of the month, {c} the year */
  return put (words->translate (N_("{a} {b} {c}")), day_text, month_name, year_text);
}
