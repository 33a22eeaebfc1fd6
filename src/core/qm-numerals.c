/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-numerals.h"

#include <math.h>
#include <string.h>

#define MINUS "\342\210\222"

/* Digits after the point that leave two or three significant digits. */
static int
decimals_for (double value)
{
  double size = fabs (value);

  if (size >= 10 || size == 0)
    return 0;
  if (size >= 1)
    return 1;

  return MIN (6, 1 - (int) floor (log10 (size)));
}

/**
 * qm_numeral_significant:
 * @value: any number
 *
 * Returns: @value, rounded so that no more than three digits claim to be known
 */
double
qm_numeral_significant (double value)
{
  double unit;

  if (value == 0 || !isfinite (value))
    return value;

  unit = pow (10, floor (log10 (fabs (value))) - 2);
  return unit > 0 ? round (value / unit) * unit : 0;
}

static char *
grouped (const QmWords *words,
         const char    *digits)
{
  GString *text = g_string_new (NULL);
  gsize length = strlen (digits);

  for (gsize i = 0; i < length; i++)
    {
      if (i > 0 && (length - i) % 3 == 0)
        g_string_append (text, words->thousands_separator);
      g_string_append_c (text, digits[i]);
    }

  return g_string_free (text, FALSE);
}

/* From here on a double no longer knows all its digits. */
#define POWERS_FROM 1e16

/* What nobody meant, such as a number of a damaged file, stays short: "1.5×10³⁰⁸". */
static char *
as_power (const QmWords *words,
          double         value)
{
  static const char * const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
  char buffer[32];
  g_auto (GStrv) parts = NULL;
  GString *text = g_string_new (NULL);

  g_ascii_formatd (buffer, sizeof buffer, "%.1e", CLAMP (value, -G_MAXDOUBLE, G_MAXDOUBLE));
  parts = g_strsplit (buffer, "e+", 2);
  g_string_append_printf (text, "%s×10", parts[0]);
  g_string_replace (text, ".", words->decimal_point, 1);
  g_string_replace (text, "-", MINUS, 1);
  for (const char *digit = parts[1]; *digit != '\0'; digit++)
    g_string_append (text, raised[g_ascii_digit_value (*digit)]);

  return g_string_free (text, FALSE);
}

/**
 * qm_numeral_fixed:
 * @words: the reader's language
 * @value: a number
 * @decimals: digits after the point, at most 6
 *
 * Returns: (transfer full): e.g. "1,234.50"; a power of ten where a double no
 *   longer knows all digits
 */
char *
qm_numeral_fixed (const QmWords *words,
                  double         value,
                  int            decimals)
{
  char format[8];
  char buffer[64];
  char *point;
  g_autofree char *whole = NULL;

  if (fabs (value) >= POWERS_FROM)
    return as_power (words, value);

  g_snprintf (format, sizeof format, "%%.%df", decimals);
  g_ascii_formatd (buffer, sizeof buffer, format, fabs (value));
  point = strchr (buffer, '.');
  if (point != NULL)
    *point = '\0';
  whole = grouped (words, buffer);

  return g_strconcat (value < 0 && strspn (buffer, "0") < strlen (buffer) + (point != NULL) ? MINUS : "", whole,
                      point != NULL ? words->decimal_point : "", point != NULL ? point + 1 : "", NULL);
}

/**
 * qm_numeral_decimals:
 * @value: a number
 * @decimals: digits after the point
 *
 * Returns: @decimals without those that would be zeros at the end, which say
 *   nothing
 */
int
qm_numeral_decimals (double value,
                     int    decimals)
{
  while (decimals > 0 && fabs (value - round (value * pow (10, decimals - 1)) / pow (10, decimals - 1)) < 1e-9 * fabs (value))
    decimals--;

  return decimals;
}

/**
 * qm_numeral_short:
 * @words: the reader's language
 * @value: a number
 *
 * Returns: (transfer full): @value with two or three significant digits
 */
char *
qm_numeral_short (const QmWords *words,
                  double         value)
{
  double shown = qm_numeral_significant (value);
  int decimals = decimals_for (shown);

  shown = round (shown * pow (10, decimals)) / pow (10, decimals);
  return qm_numeral_fixed (words, shown, qm_numeral_decimals (shown, decimals));
}
