/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "history/qm-csv.h"
#include "history/qm-import-private.h"
#include "history/qm-ledger-private.h"
#include "qm-json-writer.h"

/* Calls @visit with each run, the oldest first. */
typedef gboolean (*Visit) (const QmRun    *run,
                           const QmSeries *series,
                           gpointer        data);

static gboolean
visit_run (QmLedger  *ledger,
           gint64     id,
           gboolean   with_series,
           Visit      visit,
           gpointer   data,
           GError   **error)
{
  g_autoptr (QmRun) run = qm_ledger_get (ledger, id, error);
  g_autoptr (QmSeries) series = NULL;

  if (run == NULL)
    return FALSE;
  if (with_series)
    {
      series = qm_ledger_get_series (ledger, id, error);
      if (series == NULL)
        return FALSE;
    }

  return visit (run, series != NULL && qm_series_length (series) > 0 ? series : NULL, data);
}

static gboolean
visit_all (QmLedger  *ledger,
           gboolean   with_series,
           Visit      visit,
           gpointer   data,
           GError   **error)
{
  gint64 last = 0;

  for (;;)
    {
      sqlite3_stmt *statement = qm_ledger_query (ledger, error, "SELECT id FROM runs WHERE id > ? AND removed IS NULL ORDER BY id LIMIT 1",
                                                 "i", last);
      int result = statement != NULL ? qm_ledger_step (ledger, error, statement) : -1;

      if (result <= 0)
        return result == 0;
      last = sqlite3_column_int64 (statement, 0);
      sqlite3_reset (statement);
      if (!visit_run (ledger, last, with_series, visit, data, error))
        return FALSE;
    }
}

static gboolean
append_json (const QmRun    *run,
             const QmSeries *series,
             gpointer        data)
{
  GString *text = data;
  g_autoptr (JsonNode) node = qm_run_to_json (run, series);
  g_autofree char *line = qm_json_to_text (node, FALSE);

  g_string_append_printf (text, "%s%s", text->str[text->len - 1] == '[' ? "\n" : ",\n", line);
  return TRUE;
}

/**
 * qm_export_json:
 * @ledger: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: (transfer full) (nullable): every run with its series, a line each;
 *   qm_import_data() reads it without loss
 */
char *
qm_export_json (QmLedger  *ledger,
                GError   **error)
{
  g_autoptr (GString) text = g_string_new ("{\"format\":\"quartermaster-ledger\",\"version\":1,\"runs\":[");

  if (!visit_all (ledger, TRUE, append_json, text, error))
    return NULL;
  g_string_append (text, "\n]}\n");

  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* ----------------------------------------------------------------------------- CSV */

static gboolean
collect_keys (const QmRun    *run,
              const QmSeries *series,
              gpointer        data)
{
  GPtrArray *keys = data;

  for (guint i = 0; i < run->figures->len; i++)
    {
      const char *key = g_array_index (run->figures, QmFigure, i).key;

      if (!g_ptr_array_find_with_equal_func (keys, key, g_str_equal, NULL))
        g_ptr_array_add (keys, g_strdup (key));
    }

  return TRUE;
}

typedef struct {
  GString *text;
  GPtrArray *keys;
} Table;

static void
append_number (GString *text,
               double   value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  qm_csv_append (text, isfinite (value) ? g_ascii_dtostr (digits, sizeof digits, value) : NULL, FALSE);
}

static char *
tags_of (const QmRun *run)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_ARRAY);
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < run->tags->len; i++)
    json_array_add_string_element (array, g_ptr_array_index (run->tags, i));
  json_node_take_array (node, array);

  return run->tags->len > 0 ? qm_json_to_text (node, FALSE) : NULL;
}

static void
append_fields (GString     *text,
               const QmRun *run)
{
  g_autofree char *started = qm_time_to_text (run->started);
  g_autofree char *exit_status = g_strdup_printf ("%d", run->exit_status);
  g_autofree char *devices = g_strdup_printf ("%d", run->devices);
  g_autofree char *tags = tags_of (run);

  qm_csv_append (text, run->uid, FALSE);
  qm_csv_append (text, started, FALSE);
  append_number (text, run->seconds);
  qm_csv_append (text, qm_run_status_to_word (run->status), FALSE);
  qm_csv_append (text, qm_run_source_to_word (run->source), FALSE);
  qm_csv_append (text, exit_status, FALSE);
  qm_csv_append (text, run->label, FALSE);
  qm_csv_append (text, run->command, FALSE);
  qm_csv_append (text, run->machine, FALSE);
  qm_csv_append (text, run->device, FALSE);
  qm_csv_append (text, devices, FALSE);
  qm_csv_append (text, run->model, FALSE);
  qm_csv_append (text, run->unit, FALSE);
  qm_csv_append (text, run->note, FALSE);
  qm_csv_append (text, tags, FALSE);
  qm_csv_append (text, run->plan, FALSE);
  qm_csv_append (text, run->diagnosis, FALSE);
}

static gboolean
append_row (const QmRun    *run,
            const QmSeries *series,
            gpointer        data)
{
  Table *table = data;
  g_autoptr (JsonNode) node = series != NULL ? qm_series_to_json (series) : NULL;
  g_autofree char *samples = node != NULL ? qm_json_to_text (node, FALSE) : NULL;

  append_fields (table->text, run);
  for (guint i = 0; i < table->keys->len; i++)
    {
      const QmFigure *figure = qm_run_figure (run, g_ptr_array_index (table->keys, i));

      append_number (table->text, figure != NULL ? figure->measured : NAN);
      append_number (table->text, figure != NULL ? figure->predicted.p10 : NAN);
      append_number (table->text, figure != NULL ? figure->predicted.p50 : NAN);
      append_number (table->text, figure != NULL ? figure->predicted.p90 : NAN);
    }
  qm_csv_append (table->text, samples, TRUE);

  return TRUE;
}

/**
 * qm_export_csv:
 * @ledger: a ledger
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * A row for each run. A figure has four columns: `KEY`, and `KEY predicted p10`
 * to `p90`; the series is JSON in the last column.
 *
 * Returns: (transfer full) (nullable): the table; qm_import_data() reads it
 *   without loss
 */
char *
qm_export_csv (QmLedger  *ledger,
               GError   **error)
{
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) text = g_string_new ("uid,started,seconds,status,source,exit_status,label,command,machine,device,devices,model,"
                                           "unit,note,tags,plan,diagnosis,");
  Table table = { text, keys };

  if (!visit_all (ledger, FALSE, collect_keys, keys, error))
    return NULL;

  for (guint i = 0; i < keys->len; i++)
    {
      const char *key = g_ptr_array_index (keys, i);

      g_string_append_printf (text, "%s,%s predicted p10,%s predicted p50,%s predicted p90,", key, key, key, key);
    }
  g_string_append (text, "series\n");
  if (!visit_all (ledger, TRUE, append_row, &table, error))
    return NULL;

  return g_string_free (g_steal_pointer (&text), FALSE);
}
