/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "history/qm-import-private.h"
#include "qm-error.h"

/**
 * qm_time_to_text:
 * @time: microseconds since 1970, UTC
 *
 * Returns: (transfer full): `2026-11-30T12:34:56.123456Z`
 */
char *
qm_time_to_text (gint64 time)
{
  g_autoptr (GDateTime) when = g_date_time_new_from_unix_utc_usec (time);

  return when != NULL ? g_date_time_format (when, "%Y-%m-%dT%H:%M:%S.%fZ") : g_strdup ("1970-01-01T00:00:00.000000Z");
}

/**
 * qm_time_from_text:
 * @text: (nullable): ISO 8601, a time or a day; without a zone it is UTC
 * @time: (out): microseconds since 1970, UTC
 *
 * Returns: whether @text is a time
 */
gboolean
qm_time_from_text (const char *text,
                   gint64     *time)
{
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autofree char *day = text != NULL && strlen (text) == strlen ("2026-11-30") ? g_strconcat (text, "T00:00:00Z", NULL) : NULL;
  g_autoptr (GDateTime) when = text != NULL ? g_date_time_new_from_iso8601 (day != NULL ? day : text, utc) : NULL;

  if (when == NULL)
    return FALSE;

  *time = g_date_time_to_unix_usec (when);
  return TRUE;
}

/* --------------------------------------------------------------------------- write */

static void
set_text (JsonObject *object,
          const char *name,
          const char *text)
{
  if (text != NULL)
    json_object_set_string_member (object, name, text);
  else
    json_object_set_null_member (object, name);
}

static void
set_number (JsonObject *object,
            const char *name,
            double      value)
{
  if (isfinite (value))
    json_object_set_double_member (object, name, value);
  else
    json_object_set_null_member (object, name);
}

/* JSON in JSON: as it is where it can be parsed, so that it is read with it. */
static void
set_json (JsonObject *object,
          const char *name,
          const char *text)
{
  g_autoptr (JsonNode) node = text != NULL ? json_from_string (text, NULL) : NULL;

  if (node != NULL)
    json_object_set_member (object, name, g_steal_pointer (&node));
  else
    json_object_set_null_member (object, name);
}

static JsonObject *
figure_to_object (const QmFigure *figure)
{
  JsonObject *object = json_object_new ();

  if (qm_range_is_known (figure->predicted))
    {
      JsonObject *range = json_object_new ();

      set_number (range, "p10", figure->predicted.p10);
      set_number (range, "p50", figure->predicted.p50);
      set_number (range, "p90", figure->predicted.p90);
      json_object_set_object_member (object, "predicted", range);
    }
  else
    json_object_set_null_member (object, "predicted");
  set_number (object, "measured", figure->measured);

  return object;
}

static void
set_texts (JsonObject  *object,
           const QmRun *run)
{
  set_text (object, "label", run->label);
  set_text (object, "command", run->command);
  set_text (object, "machine", run->machine);
  set_text (object, "device", run->device);
  json_object_set_int_member (object, "devices", run->devices);
  set_text (object, "model", run->model);
  set_text (object, "unit", run->unit);
  set_text (object, "note", run->note);
  set_json (object, "plan", run->plan);
  set_json (object, "diagnosis", run->diagnosis);
}

/**
 * qm_run_to_json:
 * @run: a run
 * @series: (nullable): what was measured over its time
 *
 * Returns: (transfer full): everything of it as an object
 */
JsonNode *
qm_run_to_json (const QmRun    *run,
                const QmSeries *series)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  JsonObject *figures = json_object_new ();
  JsonArray *tags = json_array_new ();
  g_autofree char *started = qm_time_to_text (run->started);

  json_object_set_int_member (object, "id", run->id);
  json_object_set_string_member (object, "uid", run->uid);
  json_object_set_string_member (object, "started", started);
  set_number (object, "seconds", run->seconds);
  json_object_set_string_member (object, "status", qm_run_status_to_word (run->status));
  json_object_set_string_member (object, "source", qm_run_source_to_word (run->source));
  json_object_set_int_member (object, "exit_status", run->exit_status);
  set_texts (object, run);
  for (guint i = 0; i < run->tags->len; i++)
    json_array_add_string_element (tags, g_ptr_array_index (run->tags, i));
  json_object_set_array_member (object, "tags", tags);
  for (guint i = 0; i < run->figures->len; i++)
    {
      const QmFigure *figure = &g_array_index (run->figures, QmFigure, i);

      json_object_set_object_member (figures, figure->key, figure_to_object (figure));
    }
  json_object_set_object_member (object, "figures", figures);
  if (series != NULL)
    json_object_set_member (object, "series", qm_series_to_json (series));
  json_node_take_object (node, object);

  return node;
}

/* ---------------------------------------------------------------------------- read */

const char *
qm_import_text (JsonObject *object,
                const char *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING ? json_node_get_string (node) : NULL;
}

double
qm_import_number (JsonObject *object,
                  const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  GType type = node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE ? json_node_get_double (node) : NAN;
}

JsonArray *
qm_import_array (JsonObject *object,
                 const char *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

JsonObject *
qm_import_object (JsonObject *object,
                  const char *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static char *
json_member (JsonObject *object,
             const char *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_to_string (node, FALSE) : NULL;
}

static void
read_figures (QmRun      *run,
              JsonObject *figures)
{
  JsonObjectIter iter;
  const char *key;
  JsonNode *member;

  json_object_iter_init (&iter, figures);
  while (json_object_iter_next (&iter, &key, &member))
    {
      JsonObject *object = JSON_NODE_HOLDS_OBJECT (member) ? json_node_get_object (member) : NULL;
      JsonObject *range = object != NULL ? qm_import_object (object, "predicted") : NULL;
      QmFigure *figure;

      if (object == NULL)
        continue;
      figure = qm_run_ensure_figure (run, key);
      figure->measured = qm_import_number (object, "measured");
      if (range != NULL)
        figure->predicted = (QmRange) { qm_import_number (range, "p10"), qm_import_number (range, "p50"), qm_import_number (range, "p90") };
    }
}

static void
read_texts (QmRun      *run,
            JsonObject *object)
{
  double exit_status = qm_import_number (object, "exit_status");
  double devices = qm_import_number (object, "devices");

  run->seconds = qm_import_number (object, "seconds");
  run->status = qm_run_status_from_word (qm_import_text (object, "status"));
  run->source = qm_run_source_from_word (qm_import_text (object, "source"));
  run->exit_status = exit_status >= 0 && exit_status < 256 ? (int) exit_status : -1;
  run->devices = devices > 0 && devices < 1e6 ? (int) devices : 0;
  g_set_str (&run->label, qm_import_text (object, "label") != NULL ? qm_import_text (object, "label") : "");
  run->command = g_strdup (qm_import_text (object, "command"));
  run->machine = g_strdup (qm_import_text (object, "machine"));
  run->device = g_strdup (qm_import_text (object, "device"));
  run->model = g_strdup (qm_import_text (object, "model"));
  run->unit = g_strdup (qm_import_text (object, "unit"));
  run->note = g_strdup (qm_import_text (object, "note"));
  run->plan = json_member (object, "plan");
  run->diagnosis = json_member (object, "diagnosis");
}

/**
 * qm_run_from_json:
 * @object: as of qm_run_to_json()
 * @series: (out) (nullable): what was measured over its time
 * @error: return location for a #QM_IMPORT_ERROR
 *
 * Returns: (transfer full) (nullable): the run
 */
QmRun *
qm_run_from_json (JsonObject  *object,
                  QmSeries   **series,
                  GError     **error)
{
  const char *uid = qm_import_text (object, "uid");
  g_autoptr (QmRun) run = NULL;
  JsonArray *tags = qm_import_array (object, "tags");
  JsonNode *samples = json_object_get_member (object, "series");

  if (uid == NULL || uid[0] == '\0')
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, 0, N_("a run has no uid"), NULL);
      return NULL;
    }
  run = qm_run_new (uid);
  if (!qm_time_from_text (qm_import_text (object, "started"), &run->started))
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, 0, N_("the run {uid} does not say when it started, as 2026-11-30T12:34:56Z"), "uid", uid, NULL);
      return NULL;
    }
  read_texts (run, object);
  for (guint i = 0; tags != NULL && i < json_array_get_length (tags); i++)
    if (JSON_NODE_HOLDS_VALUE (json_array_get_element (tags, i)))
      qm_run_add_tag (run, json_array_get_string_element (tags, i));
  if (qm_import_object (object, "figures") != NULL)
    read_figures (run, qm_import_object (object, "figures"));

  *series = samples != NULL ? qm_series_from_json (samples) : NULL;
  if (samples != NULL && !JSON_NODE_HOLDS_NULL (samples) && *series == NULL)
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, 0, N_("the series of the run {uid} is not one row of numbers for each time"), "uid", uid, NULL);
      return NULL;
    }

  return g_steal_pointer (&run);
}
