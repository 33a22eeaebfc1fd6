/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "history/qm-csv.h"
#include "history/qm-import-private.h"
#include "history/qm-summary.h"
#include "qm-error.h"

/* ---------------------------------------------------------------------------- JSON */

gboolean
qm_import_own_json (const QmImportFile *file,
                    JsonNode           *root,
                    GPtrArray          *imported,
                    GError            **error)
{
  JsonObject *object = json_node_get_object (root);
  JsonArray *runs = qm_import_array (object, "runs");
  double version = qm_import_number (object, "version");

  if (g_strcmp0 (qm_import_text (object, "format"), "quartermaster-ledger") != 0 || runs == NULL)
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_FORMAT, 0, N_("not an exported ledger: \"format\" is not \"quartermaster-ledger\""), NULL);
      return FALSE;
    }
  if (version != 1)
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_FORMAT, 0, N_("an exported ledger of version {version}; this program reads version 1"), "#version",
                        isfinite (version) ? version : 0, NULL);
      return FALSE;
    }

  for (guint i = 0; i < json_array_get_length (runs); i++)
    {
      JsonNode *node = json_array_get_element (runs, i);
      QmSeries *series = NULL;
      QmRun *run = NULL;

      if (JSON_NODE_HOLDS_OBJECT (node))
        run = qm_run_from_json (json_node_get_object (node), &series, error);
      else
        qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, 0, N_("a run is an object"), NULL);
      if (run == NULL)
        return FALSE;
      qm_import_take (imported, run, series);
    }

  return TRUE;
}

/* ----------------------------------------------------------------------------- CSV */

static const char * const text_columns[] = {
  "label", "command", "machine", "device", "model", "unit", "note", "plan", "diagnosis",
};

static char **
text_field (QmRun      *run,
            const char *column)
{
  char **fields[] = { &run->label, &run->command, &run->machine, &run->device, &run->model, &run->unit, &run->note, &run->plan,
                      &run->diagnosis };

  for (guint i = 0; i < G_N_ELEMENTS (text_columns); i++)
    if (strcmp (text_columns[i], column) == 0)
      return fields[i];

  return NULL;
}

static gboolean
parse_number (const char *text,
              double     *value)
{
  char *end;

  *value = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && isfinite (*value);
}

/* "KEY" or "KEY predicted p50" */
static gboolean
set_figure (QmRun      *run,
            const char *column,
            double      value)
{
  const char *predicted = strstr (column, " predicted p");
  g_autofree char *key = predicted != NULL ? g_strndup (column, predicted - column) : g_strdup (column);
  QmFigure *figure;

  if (strchr (key, '.') == NULL)
    return FALSE;

  figure = qm_run_ensure_figure (run, key);
  if (predicted == NULL)
    figure->measured = value;
  else if (g_str_has_suffix (predicted, "p10"))
    figure->predicted.p10 = value;
  else if (g_str_has_suffix (predicted, "p50"))
    figure->predicted.p50 = value;
  else
    figure->predicted.p90 = value;

  return TRUE;
}

static gboolean
set_tags (QmRun      *run,
          const char *text)
{
  g_autoptr (JsonNode) node = json_from_string (text, NULL);

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    {
      /* as a person writes them */
      g_auto (GStrv) tags = g_strsplit (text, ";", -1);

      for (guint i = 0; tags[i] != NULL; i++)
        qm_run_add_tag (run, tags[i]);
      return TRUE;
    }
  for (guint i = 0; i < json_array_get_length (json_node_get_array (node)); i++)
    if (JSON_NODE_HOLDS_VALUE (json_array_get_element (json_node_get_array (node), i)))
      qm_run_add_tag (run, json_array_get_string_element (json_node_get_array (node), i));

  return TRUE;
}

static gboolean
set_series (QmSeries   **series,
            const char  *text)
{
  g_autoptr (JsonNode) node = json_from_string (text, NULL);

  *series = node != NULL ? qm_series_from_json (node) : NULL;
  return *series != NULL;
}

static gboolean
set_number (QmRun      *run,
            const char *column,
            double      value)
{
  if (strcmp (column, "seconds") == 0)
    run->seconds = value;
  else if (strcmp (column, "exit_status") == 0)
    run->exit_status = (int) CLAMP (value, -1, 255);
  else if (strcmp (column, "devices") == 0)
    run->devices = (int) CLAMP (value, 0, 1e6);
  else
    return set_figure (run, column, value);

  return TRUE;
}

/* FALSE where @text cannot stand in that column. */
static gboolean
set_field (QmImported *one,
           const char *column,
           const char *text)
{
  QmRun *run = one->run;
  char **field = text_field (run, column);
  double value;

  if (field != NULL)
    g_set_str (field, text);
  else if (strcmp (column, "uid") == 0)
    g_set_str (&run->uid, text);
  else if (strcmp (column, "started") == 0)
    return qm_time_from_text (text, &run->started);
  else if (strcmp (column, "status") == 0)
    return (run->status = qm_run_status_from_word (text)) != QM_RUN_STATUS_UNSET;
  else if (strcmp (column, "source") == 0)
    return (run->source = qm_run_source_from_word (text)) != QM_RUN_SOURCE_UNSET;
  else if (strcmp (column, "tags") == 0)
    return set_tags (run, text);
  else if (strcmp (column, "series") == 0)
    return set_series (&one->series, text);
  else
    return parse_number (text, &value) && set_number (run, column, value);

  return TRUE;
}

static gboolean
is_column (const char *name)
{
  static const char * const others[] = { "uid", "started", "seconds", "status", "source", "exit_status", "devices", "tags", "series", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (text_columns); i++)
    if (strcmp (text_columns[i], name) == 0)
      return TRUE;

  return g_strv_contains (others, name) || (strchr (name, '.') != NULL && name[0] != '.');
}

static gboolean
check_columns (GPtrArray  *columns,
               GError    **error)
{
  for (guint i = 0; i < columns->len; i++)
    if (!is_column (g_ptr_array_index (columns, i)))
      {
        qm_import_refuse (error, QM_IMPORT_ERROR_FORMAT, 1,
                          N_("no column \"{name}\" is known; a run has label, device, started, seconds, note, tags and figures such as throughput.per_second"),
                          "name", g_ptr_array_index (columns, i), NULL);
        return FALSE;
      }

  return TRUE;
}

static gboolean
take_row (QmImported  *one,
          GPtrArray   *columns,
          GPtrArray   *fields,
          int          line,
          GError     **error)
{
  if (fields->len != columns->len)
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_SYNTAX, line, N_("{found} fields, where the first line names {wanted} columns"), "#found",
                        (double) fields->len, "#wanted", (double) columns->len, NULL);
      return FALSE;
    }

  for (guint i = 0; i < fields->len; i++)
    {
      const char *text = g_ptr_array_index (fields, i);

      if (text[0] == '\0' || set_field (one, g_ptr_array_index (columns, i), text))
        continue;
      qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, line, N_("\"{word}\" cannot stand in the column {name}"), "word", text, "name",
                        g_ptr_array_index (columns, i), NULL);
      return FALSE;
    }

  return TRUE;
}

gboolean
qm_import_own_csv (const QmImportFile *file,
                   GPtrArray          *imported,
                   GError            **error)
{
  g_autoptr (GPtrArray) columns = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) fields = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) local_error = NULL;
  QmCsv csv;

  qm_csv_init (&csv, file->data, file->length);
  if (!qm_csv_next (&csv, columns, error) || !check_columns (columns, error))
    return FALSE;

  while (qm_csv_next (&csv, fields, &local_error))
    {
      g_autoptr (QmImported) one = g_new0 (QmImported, 1);

      one->run = qm_import_new_run (file, imported->len, QM_RUN_SOURCE_TABLE);
      if (!take_row (one, columns, fields, csv.line, error))
        return FALSE;
      g_ptr_array_add (imported, g_steal_pointer (&one));
    }
  if (local_error != NULL)
    g_propagate_error (error, g_steal_pointer (&local_error));

  return local_error == NULL && (error == NULL || *error == NULL);
}

/* ----------------------------------------------------------------------- watch --json */

static QmSeries *
series_of_line (JsonObject *object)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_auto (GStrv) channels = NULL;
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &member))
    if (!g_str_equal (name, "seconds") && !g_str_equal (name, "time") && !JSON_NODE_HOLDS_ARRAY (member))
      g_strv_builder_add (names, name);
  channels = g_strv_builder_end (names);

  return qm_series_new ((const char * const *) channels);
}

static gboolean
append_line (QmSeries    *series,
             JsonObject  *object,
             float       *values)
{
  double at = qm_import_number (object, "seconds");

  if (isnan (at))
    return FALSE;
  for (guint i = 0; i < series->channels->len; i++)
    values[i] = (float) qm_import_number (object, g_ptr_array_index (series->channels, i));
  qm_series_append (series, at, values);

  return TRUE;
}

/* The lines are read one by one: a day of them is large. */
static gboolean
read_lines (const QmImportFile *file,
            QmRun              *run,
            QmSeries          **series,
            GError            **error)
{
  g_autofree float *values = NULL;
  int number = 1;

  for (const char *line = file->data; line[0] != '\0'; number++)
    {
      const char *end = strchrnul (line, '\n');
      g_autofree char *text = g_strndup (line, end - line);
      g_autoptr (JsonNode) node = text[0] != '\0' ? json_from_string (text, NULL) : NULL;
      gboolean is_object = node != NULL && JSON_NODE_HOLDS_OBJECT (node);

      line = *end != '\0' ? end + 1 : end;
      if (text[0] == '\0')
        continue;
      if (is_object && *series == NULL)
        {
          *series = series_of_line (json_node_get_object (node));
          values = g_new (float, (*series)->channels->len + 1);
          qm_time_from_text (qm_import_text (json_node_get_object (node), "time"), &run->started);
        }
      if (!is_object || !append_line (*series, json_node_get_object (node), values))
        {
          qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, number, N_("not a line of watch: an object with \"seconds\" and numbers is expected"), NULL);
          return FALSE;
        }
    }

  return TRUE;
}

gboolean
qm_import_watched (const QmImportFile *file,
                   GPtrArray          *imported,
                   GError            **error)
{
  QmRun *run = qm_import_new_run (file, 0, QM_RUN_SOURCE_TABLE);
  QmSeries *series = NULL;

  if (!read_lines (file, run, &series, error))
    {
      qm_run_free (run);
      qm_series_free (series);
      return FALSE;
    }
  qm_run_summarise (run, series);
  qm_import_take (imported, run, series);

  return TRUE;
}
