/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/**
 * qm_series_new:
 * @channels: (array zero-terminated=1): what is measured
 *
 * Returns: (transfer full): a series without values
 */
QmSeries *
qm_series_new (const char * const *channels)
{
  QmSeries *self = g_new0 (QmSeries, 1);

  self->channels = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; channels[i] != NULL; i++)
    g_ptr_array_add (self->channels, g_strdup (channels[i]));
  self->times = g_array_new (FALSE, FALSE, sizeof (double));
  self->values = g_array_new (FALSE, FALSE, sizeof (float));

  return self;
}

/**
 * qm_series_free:
 * @self: (nullable): a series
 */
void
qm_series_free (QmSeries *self)
{
  if (self == NULL)
    return;

  g_ptr_array_unref (self->channels);
  g_array_unref (self->times);
  g_array_unref (self->values);
  g_free (self);
}

/**
 * qm_series_length:
 * @self: a series
 *
 * Returns: at how many times something was measured
 */
guint
qm_series_length (const QmSeries *self)
{
  return self->times->len;
}

/**
 * qm_series_find:
 * @self: a series
 * @channel: its name
 *
 * Returns: its index; -1 where it is not there
 */
int
qm_series_find (const QmSeries *self,
                const char     *channel)
{
  guint index;

  return g_ptr_array_find_with_equal_func (self->channels, channel, g_str_equal, &index) ? (int) index : -1;
}

/**
 * qm_series_append:
 * @self: a series
 * @at: seconds since the run began, not before the last
 * @values: as many as there are channels
 */
void
qm_series_append (QmSeries    *self,
                  double       at,
                  const float *values)
{
  g_array_append_val (self->times, at);
  g_array_append_vals (self->values, values, self->channels->len);
}

/**
 * qm_series_value:
 * @self: a series
 * @row: below qm_series_length()
 * @channel: an index, or -1
 *
 * Returns: the value; NaN where it is unknown or @channel is -1
 */
float
qm_series_value (const QmSeries *self,
                 guint           row,
                 int             channel)
{
  return channel < 0 ? NAN : g_array_index (self->values, float, row * self->channels->len + channel);
}

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static GArray *
known_values (const QmSeries *self,
              int             channel,
              double          from,
              double          to)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < self->times->len; i++)
    {
      double at = g_array_index (self->times, double, i);
      double value = qm_series_value (self, i, channel);

      if (at >= from && at <= to && isfinite (value))
        g_array_append_val (values, value);
    }

  return values;
}

/**
 * qm_series_summarise:
 * @self: a series
 * @channel: an index, or -1
 * @from: seconds
 * @to: seconds
 * @summary: (out caller-allocates): what the channel did between them; without
 *   values all but `n` are NaN
 */
void
qm_series_summarise (const QmSeries  *self,
                     int              channel,
                     double           from,
                     double           to,
                     QmSeriesSummary *summary)
{
  g_autoptr (GArray) values = known_values (self, channel, from, to);
  const double *v = (const double *) values->data;
  guint n = values->len;
  double sum = 0, squares = 0;

  *summary = (QmSeriesSummary) { n, NAN, NAN, NAN, NAN, NAN, NAN };
  if (n == 0)
    return;

  for (guint i = 0; i < n; i++)
    sum += v[i];
  for (guint i = 0; i < n; i++)
    squares += (v[i] - sum / n) * (v[i] - sum / n);
  g_array_sort (values, compare_doubles);

  summary->mean = sum / n;
  summary->deviation = sqrt (squares / n);
  summary->least = v[0];
  summary->most = v[n - 1];
  summary->median = (v[(n - 1) / 2] + v[n / 2]) / 2;
  summary->p90 = v[MIN (n - 1, n * 9 / 10)];
}

/* What a rate must reach to count as steady, and how much of the end says what
 * steady is. */
#define STEADY_SHARE 0.9
#define SETTLED_PART 0.5

/**
 * qm_series_warm_up:
 * @self: a series
 * @channel: a rate, such as `tokens_per_second`
 *
 * Loading, compiling and filling caches come before a rate is steady. A rate is
 * steady as soon as it has come to nine tenths of the median of its second half.
 *
 * Returns: seconds until then; 0 where nothing is known
 */
double
qm_series_warm_up (const QmSeries *self,
                   int             channel)
{
  guint n = self->times->len;
  QmSeriesSummary settled;
  double middle;

  if (n == 0)
    return 0;

  middle = g_array_index (self->times, double, n - 1) * SETTLED_PART;
  qm_series_summarise (self, channel, middle, G_MAXDOUBLE, &settled);
  if (settled.n == 0)
    return 0;

  for (guint i = 0; i < n; i++)
    {
      float value = qm_series_value (self, i, channel);

      if (isfinite (value) && value >= STEADY_SHARE * settled.median)
        return g_array_index (self->times, double, i);
    }

  return 0;
}

/* ------------------------------------------------------------------------ JSON */

/* The fewest digits that give a float back. */
static double
shortest (float value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  for (int n = 6; n < 9; n++)
    {
      char format[8];

      g_snprintf (format, sizeof format, "%%.%dg", n);
      if ((float) g_ascii_strtod (g_ascii_formatd (digits, sizeof digits, format, value), NULL) == value)
        return g_ascii_strtod (digits, NULL);
    }

  return g_ascii_strtod (g_ascii_formatd (digits, sizeof digits, "%.9g", value), NULL);
}

/**
 * qm_series_to_json:
 * @self: a series
 *
 * Returns: (transfer full): `{"channels": [...], "samples": [[seconds, value or
 *   null, ...], ...]}`
 */
JsonNode *
qm_series_to_json (const QmSeries *self)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  JsonArray *channels = json_array_new ();
  JsonArray *samples = json_array_new ();

  for (guint i = 0; i < self->channels->len; i++)
    json_array_add_string_element (channels, g_ptr_array_index (self->channels, i));
  for (guint i = 0; i < self->times->len; i++)
    {
      JsonArray *sample = json_array_new ();

      json_array_add_double_element (sample, g_array_index (self->times, double, i));
      for (guint c = 0; c < self->channels->len; c++)
        {
          float value = qm_series_value (self, i, c);

          if (isfinite (value))
            json_array_add_double_element (sample, shortest (value));
          else
            json_array_add_null_element (sample);
        }
      json_array_add_array_element (samples, sample);
    }
  json_object_set_array_member (object, "channels", channels);
  json_object_set_array_member (object, "samples", samples);
  json_node_take_object (node, object);

  return node;
}

static gboolean
is_number (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) &&
         (json_node_get_value_type (node) == G_TYPE_INT64 || json_node_get_value_type (node) == G_TYPE_DOUBLE);
}

static JsonArray *
array_member (JsonObject *object,
              const char *name)
{
  JsonNode *member = json_object_get_member (object, name);

  return member != NULL && JSON_NODE_HOLDS_ARRAY (member) ? json_node_get_array (member) : NULL;
}

static gboolean
append_json (QmSeries *self,
             JsonNode *node,
             float    *values)
{
  JsonArray *sample = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  if (sample == NULL || json_array_get_length (sample) != self->channels->len + 1)
    return FALSE;
  if (!is_number (json_array_get_element (sample, 0)))
    return FALSE;

  for (guint c = 0; c < self->channels->len; c++)
    {
      JsonNode *value = json_array_get_element (sample, c + 1);

      if (!JSON_NODE_HOLDS_NULL (value) && !is_number (value))
        return FALSE;
      values[c] = JSON_NODE_HOLDS_NULL (value) ? NAN : (float) json_node_get_double (value);
    }
  qm_series_append (self, json_node_get_double (json_array_get_element (sample, 0)), values);

  return TRUE;
}

/**
 * qm_series_from_json:
 * @node: as qm_series_to_json() gives it
 *
 * Returns: (transfer full) (nullable): the series; %NULL where @node is none
 */
QmSeries *
qm_series_from_json (JsonNode *node)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  JsonArray *channels = object != NULL ? array_member (object, "channels") : NULL;
  JsonArray *samples = object != NULL ? array_member (object, "samples") : NULL;
  const char *none[] = { NULL };
  g_autoptr (QmSeries) self = NULL;
  g_autofree float *values = NULL;

  if (channels == NULL || samples == NULL)
    return NULL;

  self = qm_series_new (none);
  for (guint i = 0; i < json_array_get_length (channels); i++)
    {
      JsonNode *name = json_array_get_element (channels, i);

      if (!JSON_NODE_HOLDS_VALUE (name) || json_node_get_value_type (name) != G_TYPE_STRING)
        return NULL;
      g_ptr_array_add (self->channels, json_node_dup_string (name));
    }
  values = g_new (float, self->channels->len + 1);
  for (guint i = 0; i < json_array_get_length (samples); i++)
    if (!append_json (self, json_array_get_element (samples, i), values))
      return NULL;

  return g_steal_pointer (&self);
}
