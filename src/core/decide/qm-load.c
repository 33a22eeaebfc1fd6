/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-load.h"

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-error.h"
#include "qm-file.h"

#define DAY_SECONDS     86400.0
#define MOST_SECONDS    (31 * DAY_SECONDS)
#define MOST_PER_SECOND 1e9
#define MOST_BYTES      (64 * 1024 * 1024)

/* The made-up day: a point every quarter of an hour, its busiest minute in the
 * evening, and nights of a tenth of the mean at least. */
#define DAY_POINTS      96
#define BUSIEST_HOUR    20.0
#define LEAST_OF_MEAN   0.1
#define SHARPEST        200

QM_DEFINE_ERROR_DOMAIN ("qm-load-error-quark", qm_load_error_quark)

typedef struct {
  int time_column;
  int load_column;
  gboolean is_date;
  double time_unit;                 /* seconds */
  double load_unit;                 /* requests per second */
} Columns;

static const struct { const char *name; double unit; gboolean is_time; gboolean is_date; } known_columns[] = {
  { "seconds", 1, TRUE, FALSE }, { "minutes", 60, TRUE, FALSE }, { "hours", 3600, TRUE, FALSE }, { "time", 1, TRUE, TRUE },
  { "requests_per_second", 1, FALSE, FALSE }, { "requests_per_minute", 1 / 60.0, FALSE, FALSE },
  { "requests_per_hour", 1 / 3600.0, FALSE, FALSE },
};

static void
take_column (Columns    *columns,
             const char *name,
             int         index)
{
  for (guint i = 0; i < G_N_ELEMENTS (known_columns); i++)
    if (g_ascii_strcasecmp (name, known_columns[i].name) == 0)
      {
        if (known_columns[i].is_time)
          {
            columns->time_column = index;
            columns->time_unit = known_columns[i].unit;
            columns->is_date = known_columns[i].is_date;
          }
        else
          {
            columns->load_column = index;
            columns->load_unit = known_columns[i].unit;
          }
      }
}

static gboolean
parse_number (const char *cell,
              double     *value)
{
  char *end;

  *value = g_ascii_strtod (cell, &end);

  return end != cell && *end == '\0' && isfinite (*value);
}

/* A first line of numbers is data: seconds and requests per second. */
static gboolean
read_head (char     **cells,
           Columns   *columns,
           gboolean  *is_data,
           GError   **error)
{
  double number;

  *columns = (Columns) { 0, 1, FALSE, 1, 1 };
  *is_data = parse_number (cells[0], &number);
  if (*is_data)
    return TRUE;

  columns->time_column = columns->load_column = -1;
  for (int i = 0; cells[i] != NULL; i++)
    take_column (columns, cells[i], i);
  if (columns->time_column >= 0 && columns->load_column >= 0)
    return TRUE;

  qm_error_set (error, QM_LOAD_ERROR, QM_LOAD_ERROR_MISSING, NULL,
                columns->time_column < 0 ? N_("a column of times is missing: seconds, minutes, hours, or time for dates")
                                         : N_("a column of the load is missing: requests_per_second, _per_minute or _per_hour"), NULL);
  return FALSE;
}

static gboolean
parse_time (const Columns *columns,
            const char    *cell,
            double        *seconds)
{
  g_autoptr (GTimeZone) utc = NULL;
  g_autoptr (GDateTime) date = NULL;

  if (parse_number (cell, seconds))
    {
      *seconds *= columns->time_unit;
      return TRUE;
    }
  if (!columns->is_date)
    return FALSE;

  utc = g_time_zone_new_utc ();
  date = g_date_time_new_from_iso8601 (cell, utc);
  if (date == NULL)
    return FALSE;

  *seconds = g_date_time_to_unix (date) + g_date_time_get_microsecond (date) / 1e6;
  return TRUE;
}

static gboolean
refuse (GError     **error,
        int          code,
        const char  *msgid,
        const char  *cell)
{
  qm_error_set (error, QM_LOAD_ERROR, code, NULL, msgid, "word", cell, NULL);
  return FALSE;
}

static gboolean
read_point (char          **cells,
            const Columns  *columns,
            GArray         *load,
            GError        **error)
{
  int n = g_strv_length (cells);
  const char *time = columns->time_column < n ? cells[columns->time_column] : "";
  const char *value = columns->load_column < n ? cells[columns->load_column] : "";
  QmLoadPoint point;

  if (!parse_time (columns, time, &point.seconds))
    return refuse (error, QM_LOAD_ERROR_SYNTAX, N_("\"{word}\" is not a time"), time);
  if (!parse_number (value, &point.per_second))
    return refuse (error, QM_LOAD_ERROR_SYNTAX, N_("\"{word}\" is not a number of requests"), value);

  point.per_second *= columns->load_unit;
  if (point.per_second < 0 || point.per_second > MOST_PER_SECOND)
    return refuse (error, QM_LOAD_ERROR_VALUE, N_("\"{word}\" requests are not possible"), value);
  if (load->len > 0 && !(point.seconds > g_array_index (load, QmLoadPoint, load->len - 1).seconds))
    return refuse (error, QM_LOAD_ERROR_VALUE, N_("the time \"{word}\" does not come after the one before"), time);

  g_array_append_val (load, point);
  return TRUE;
}

static char **
split_line (const char *line)
{
  char **cells = g_strsplit_set (line, ",;\t", -1);

  for (int i = 0; cells[i] != NULL; i++)
    {
      g_strstrip (cells[i]);
      if (cells[i][0] == '"' && strlen (cells[i]) > 1 && g_str_has_suffix (cells[i], "\""))
        {
          cells[i][strlen (cells[i]) - 1] = '\0';
          memmove (cells[i], cells[i] + 1, strlen (cells[i]));
        }
    }

  return cells;
}

/* Times count from the first line on. */
static gboolean
settle (GArray  *load,
        GError **error)
{
  double start;

  if (load->len < 2)
    {
      qm_error_set (error, QM_LOAD_ERROR, QM_LOAD_ERROR_MISSING, NULL, N_("at least two times with their load are expected"), NULL);
      return FALSE;
    }

  start = g_array_index (load, QmLoadPoint, 0).seconds;
  for (guint i = 0; i < load->len; i++)
    g_array_index (load, QmLoadPoint, i).seconds -= start;
  if (qm_load_span (load) <= MOST_SECONDS)
    return TRUE;

  qm_error_set (error, QM_LOAD_ERROR, QM_LOAD_ERROR_VALUE, NULL, N_("the load may span 31 days at most"), NULL);
  return FALSE;
}

/**
 * qm_load_parse:
 * @text: CSV: a head that names `seconds`, `minutes`, `hours` or `time` (ISO 8601)
 *   and `requests_per_second`, `_per_minute` or `_per_hour`, in any order, other
 *   columns ignored; without a head seconds and requests per second. Lines that
 *   begin with # are ignored
 * @error: return location for an error of %QM_LOAD_ERROR, with its line
 *
 * Returns: (transfer full) (element-type QmLoadPoint): two points or more, times
 *   rising from 0; %NULL with @error set
 */
GArray *
qm_load_parse (const char  *text,
               GError     **error)
{
  g_autoptr (GArray) load = g_array_new (FALSE, FALSE, sizeof (QmLoadPoint));
  g_auto (GStrv) lines = g_strsplit (g_str_has_prefix (text, "\xef\xbb\xbf") ? text + 3 : text, "\n", -1);
  gboolean has_head = FALSE;
  Columns columns;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) cells = NULL;
      gboolean is_data = TRUE;

      g_strstrip (lines[i]);
      if (lines[i][0] == '\0' || lines[i][0] == '#')
        continue;

      cells = split_line (lines[i]);
      if ((has_head || read_head (cells, &columns, &is_data, error)) &&
          (!is_data || read_point (cells, &columns, load, error)))
        {
          has_head = TRUE;
          continue;
        }
      if (error != NULL)
        qm_error_locate (*error, NULL, i + 1);
      return NULL;
    }

  return settle (load, error) ? g_steal_pointer (&load) : NULL;
}

/**
 * qm_load_read:
 * @path: a CSV file, as for qm_load_parse()
 * @error: return location for an error, with its file and line
 *
 * Returns: (transfer full) (element-type QmLoadPoint): the load over time
 */
GArray *
qm_load_read (const char  *path,
              GError     **error)
{
  gsize length;
  g_autofree char *text = qm_file_read (path, MOST_BYTES, &length, error);
  g_autofree char *name = g_filename_display_name (path);
  GArray *load;

  if (text == NULL)
    return NULL;
  if (strlen (text) != length || !g_utf8_validate (text, length, NULL))
    {
      qm_error_set (error, QM_LOAD_ERROR, QM_LOAD_ERROR_SYNTAX, NULL, N_("is not a text file"), NULL);
      load = NULL;
    }
  else
    load = qm_load_parse (text, error);
  if (load == NULL && error != NULL)
    qm_error_locate (*error, name, 0);

  return load;
}

/* Mean of ((1 + cos) / 2)^n over a turn: (2 n)! / (4^n n!^2). */
static double
mean_of_bump (int sharpness)
{
  double mean = 1;

  for (int i = 1; i <= sharpness; i++)
    mean *= (2.0 * i - 1) / (2.0 * i);

  return mean;
}

/**
 * qm_load_of_a_day:
 * @mean_per_second: requests, over the day
 * @peak_factor: of the busiest minutes over the mean, 1 or more
 *
 * A day with one smooth peak in the evening: a constant part and a power of a
 * cosine, as wide as mean and peak leave it with nights of at least a tenth of
 * the mean. It stands in for a load that is not known by the hour.
 *
 * Returns: (transfer full) (element-type QmLoadPoint): 24 hours from midnight
 */
GArray *
qm_load_of_a_day (double mean_per_second,
                  double peak_factor)
{
  GArray *load = g_array_new (FALSE, FALSE, sizeof (QmLoadPoint));
  double peak = MAX (1, peak_factor), height = 0;
  int sharpness = 0;

  do
    height = (peak - 1) / (1 - mean_of_bump (++sharpness));
  while (peak - height < LEAST_OF_MEAN && sharpness < SHARPEST);
  height = MIN (height, peak);

  for (int i = 0; i <= DAY_POINTS; i++)
    {
      double hour = 24.0 * i / DAY_POINTS;
      double bump = pow ((1 + cos (2 * G_PI * (hour - BUSIEST_HOUR) / 24)) / 2, sharpness);
      QmLoadPoint point = { hour * 3600, mean_per_second * (peak - height + height * bump) };

      g_array_append_val (load, point);
    }

  return load;
}

/**
 * qm_load_at:
 * @load: (element-type QmLoadPoint): a load
 * @seconds: since its start; outside it the nearest end holds
 * @hint: (inout): 0 at first; makes a series of rising times fast
 *
 * Returns: requests per second at that time
 */
double
qm_load_at (const GArray *load,
            double        seconds,
            guint        *hint)
{
  const QmLoadPoint *points = (const QmLoadPoint *) load->data;
  guint i = *hint;

  while (i + 2 < load->len && points[i + 1].seconds <= seconds)
    i++;
  *hint = i;
  if (seconds <= points[i].seconds)
    return points[i].per_second;
  if (seconds >= points[i + 1].seconds)
    return points[i + 1].per_second;

  return points[i].per_second + (points[i + 1].per_second - points[i].per_second) * (seconds - points[i].seconds) /
                                (points[i + 1].seconds - points[i].seconds);
}

/**
 * qm_load_span:
 * @load: (element-type QmLoadPoint): a load
 *
 * Returns: seconds from its first time to its last
 */
double
qm_load_span (const GArray *load)
{
  return g_array_index (load, QmLoadPoint, load->len - 1).seconds - g_array_index (load, QmLoadPoint, 0).seconds;
}

/**
 * qm_load_mean:
 * @load: (element-type QmLoadPoint): a load
 *
 * Returns: requests per second over its span
 */
double
qm_load_mean (const GArray *load)
{
  double sum = 0;

  for (guint i = 1; i < load->len; i++)
    {
      const QmLoadPoint *a = &g_array_index (load, QmLoadPoint, i - 1), *b = &g_array_index (load, QmLoadPoint, i);

      sum += (a->per_second + b->per_second) / 2 * (b->seconds - a->seconds);
    }

  return sum / qm_load_span (load);
}

/**
 * qm_load_peak:
 * @load: (element-type QmLoadPoint): a load
 *
 * Returns: the most requests per second
 */
double
qm_load_peak (const GArray *load)
{
  double peak = 0;

  for (guint i = 0; i < load->len; i++)
    peak = MAX (peak, g_array_index (load, QmLoadPoint, i).per_second);

  return peak;
}
