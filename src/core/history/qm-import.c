/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-import-private.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "qm-error.h"
#include "qm-file.h"
#include "qm-json-error.h"

QM_DEFINE_ERROR_DOMAIN ("qm-import-error-quark", qm_import_error_quark)

/* A trace of some minutes has half of it. What is read at once takes a
 * multiple of its size in memory. */
#define LARGEST_FILE (1024 * 1024 * 1024)
#define LARGEST_UNPACKED ((gsize) 4 * 1024 * 1024 * 1024)
#define LARGEST_JSON (256 * 1024 * 1024)

#define BYTE_ORDER_MARK "\357\273\277"

/**
 * qm_imported_free:
 * @self: (nullable): what was imported
 */
void
qm_imported_free (QmImported *self)
{
  if (self == NULL)
    return;

  qm_run_free (self->run);
  qm_series_free (self->series);
  g_free (self);
}

/* A run of a file, the same whenever that file is read again. */
QmRun *
qm_import_new_run (const QmImportFile *file,
                   guint               index,
                   QmRunSource         source)
{
  g_autofree char *uid = g_strdup_printf ("%.32s-%u", file->sum, index);
  QmRun *run = qm_run_new (uid);

  run->started = file->modified;
  run->status = QM_RUN_STATUS_FINISHED;
  run->source = source;

  return run;
}

void
qm_import_take (GPtrArray *imported,
                QmRun     *run,
                QmSeries  *series)
{
  QmImported *self = g_new0 (QmImported, 1);

  self->run = run;
  self->series = series;
  g_ptr_array_add (imported, self);
}

void
qm_import_refuse (GError        **error,
                  QmImportError   code,
                  int             line,
                  const char     *msgid,
                  ...)
{
  QmMessage *message;
  va_list arguments;

  va_start (arguments, msgid);
  message = qm_message_new_valist ("error", msgid, arguments);
  va_end (arguments);
  qm_error_take (error, QM_IMPORT_ERROR, code, NULL, message);
  if (error != NULL)
    qm_error_locate (*error, NULL, line);
}

static gsize
odd_number_at (const char *text)
{
  static const char * const odd[] = { "-Infinity", "Infinity", "NaN" };

  for (gsize i = 0; i < G_N_ELEMENTS (odd); i++)
    if (g_str_has_prefix (text, odd[i]))
      return strlen (odd[i]);

  return 0;
}

/* Python writes numbers that JSON does not have: what is no number is unknown. */
static char *
without_odd_numbers (const char *data,
                     gsize       length)
{
  GString *text = g_string_sized_new (length);
  gboolean quoted = FALSE;

  for (gsize at = 0; at < length; at++)
    {
      char c = data[at];
      gsize odd = !quoted && (c == 'N' || c == 'I' || c == '-') ? odd_number_at (data + at) : 0;

      if (odd > 0)
        {
          g_string_append (text, "null");
          at += odd - 1;
          continue;
        }
      if (c == '"')
        quoted = !quoted;
      g_string_append_c (text, c);
      if (quoted && c == '\\' && at + 1 < length)
        g_string_append_c (text, data[++at]);
    }

  return g_string_free (text, FALSE);
}

JsonNode *
qm_import_parse (const char  *data,
                 gsize        length,
                 GError     **error)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autoptr (GError) local_error = NULL;
  g_autofree char *text = NULL;
  const char *what;
  guint line;

  if (length > LARGEST_JSON)
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_TOO_LARGE, 0, N_("larger than 256 MiB; import a part of it"), NULL);
      return NULL;
    }
  text = without_odd_numbers (data, length);
  json_parser_set_strict (parser, TRUE);
  if (json_parser_load_from_data (parser, text, -1, &local_error) && json_parser_get_root (parser) != NULL)
    return json_node_ref (json_parser_get_root (parser));

  what = local_error != NULL ? qm_json_error_split (local_error->message, &line) : "";
  qm_import_refuse (error, QM_IMPORT_ERROR_SYNTAX, local_error != NULL ? (int) line : 1, N_("not valid JSON: {what}"), "what", what, NULL);

  return NULL;
}

/* ------------------------------------------------------------------ which of them it is */

static gboolean
begins_object_lines (const char *data)
{
  const char *end = strchr (data, '\n');

  /* an object that is whole on the first line, and another on the second */
  return data[0] == '{' && end != NULL && end > data && end[-1] == '}' && end[1] == '{';
}

static gboolean
is_trace (const char *data,
          gsize       length)
{
  gsize head = MIN (length, 64 * 1024);
  const char *body = data + strspn (data, " \t\r\n");

  if (g_strstr_len (data, head, "\"traceEvents\"") != NULL)
    return TRUE;

  /* the other form of Chrome's: the events alone */
  return body[0] == '[' && g_strstr_len (data, head, "\"ph\"") != NULL && g_strstr_len (data, head, "\"ts\"") != NULL;
}

static gboolean
has_members (JsonNode   *node,
             const char *name)
{
  return JSON_NODE_HOLDS_OBJECT (node) && json_object_has_member (json_node_get_object (node), name);
}

static gboolean
import_json (const QmImportFile *file,
             GPtrArray          *imported,
             GError            **error)
{
  g_autoptr (JsonNode) root = qm_import_parse (file->data, file->length, error);
  JsonNode *first = NULL;

  if (root == NULL)
    return FALSE;
  if (JSON_NODE_HOLDS_ARRAY (root) && json_array_get_length (json_node_get_array (root)) > 0)
    first = json_array_get_element (json_node_get_array (root), 0);

  if (has_members (root, "runs"))
    return qm_import_own_json (file, root, imported, error);
  if (has_members (root, "log_history"))
    return qm_import_trainer_state (file, root, imported, error);
  if (first != NULL && has_members (first, "avg_ts") && has_members (first, "n_gen"))
    return qm_import_llama_bench (file, root, imported, error);
  if (has_members (root, "cols") || (first != NULL && has_members (first, "cols")))
    return qm_import_tables (file, root, imported, error);

  qm_import_refuse (error, QM_IMPORT_ERROR_FORMAT, 0,
                    N_("JSON, but none of those that can be read: an exported ledger, trainer_state.json, llama-bench, or a profiler's trace"), NULL);
  return FALSE;
}

/* Lines of an object each: llama-bench writes them, and watch. */
static gboolean
import_lines (const QmImportFile *file,
              GPtrArray          *imported,
              GError            **error)
{
  g_auto (GStrv) lines = NULL;
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *whole = NULL;
  g_autofree char *joined = NULL;
  g_autofree char *array = NULL;

  if (strstr (file->data, "\"avg_ts\"") == NULL)
    return qm_import_watched (file, imported, error);

  whole = g_strchomp (g_strdup (file->data));
  lines = g_strsplit (whole, "\n", -1);
  joined = g_strjoinv (",\n", lines);
  array = g_strconcat ("[", joined, "]", NULL);
  root = qm_import_parse (array, strlen (array), error);

  return root != NULL && qm_import_llama_bench (file, root, imported, error);
}

static gboolean
import_text (const QmImportFile *file,
             GPtrArray          *imported,
             GError            **error)
{
  const char *body = file->data + strspn (file->data, " \t\r\n");
  const char *end = strchrnul (body, '\n');

  if (is_trace (file->data, file->length))
    return qm_import_trace (file, imported, error);
  if (begins_object_lines (body))
    return import_lines (file, imported, error);
  if (body[0] == '{' || body[0] == '[')
    return import_json (file, imported, error);
  if (g_strstr_len (body, end - body, "timestamp") != NULL || g_strstr_len (body, end - body, "utilization.gpu") != NULL)
    return qm_import_nvidia_smi (file, imported, error);
  if (memchr (body, ',', end - body) != NULL)
    return qm_import_own_csv (file, imported, error);

  qm_import_refuse (error, QM_IMPORT_ERROR_FORMAT, 0,
                    N_("none of the logs that can be read: nvidia-smi CSV, trainer_state.json, llama-bench JSON, a PyTorch or TensorFlow trace, an exported ledger"),
                    NULL);
  return FALSE;
}

/**
 * qm_import_data:
 * @data: (array length=length): the content of a file, ended by a NUL
 * @length: its bytes
 * @modified: microseconds since 1970, UTC: when the file was written, for what
 *   says nothing of its time
 * @error: return location for a #QM_IMPORT_ERROR with the line
 *
 * Tells by its content what it is: a ledger that was exported (JSON or CSV), a
 * log of nvidia-smi (`--query-gpu=… --format=csv`), `trainer_state.json` of
 * Hugging Face, llama-bench (`-o json`), a trace of the profiler of PyTorch or
 * TensorFlow, or what `watch --json` printed.
 *
 * Returns: (transfer full) (element-type QmImported) (nullable): the runs
 */
GPtrArray *
qm_import_data (const char  *data,
                gsize        length,
                gint64       modified,
                GError     **error)
{
  g_autoptr (GPtrArray) imported = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_imported_free);
  g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) data, length);
  QmImportFile file = { data, length, sum, modified };
  const char *bad;

  if (g_str_has_prefix (data, BYTE_ORDER_MARK))
    {
      file.data += strlen (BYTE_ORDER_MARK);
      file.length -= strlen (BYTE_ORDER_MARK);
    }
  if (!g_utf8_validate (data, length, &bad))
    {
      int line = 1;

      for (const char *c = data; c < bad; c++)
        line += *c == '\n';
      qm_import_refuse (error, QM_IMPORT_ERROR_SYNTAX, line, N_("not UTF-8 text"), NULL);
      return NULL;
    }
  if (!import_text (&file, imported, error))
    return NULL;

  return g_steal_pointer (&imported);
}

static gboolean
is_packed (const char *data,
           gsize       length)
{
  return length > 2 && (guint8) data[0] == 0x1f && (guint8) data[1] == 0x8b;
}

/* Profilers pack their traces with gzip. */
static char *
unpack (const char  *data,
        gsize        length,
        gsize       *unpacked,
        GError     **error)
{
  g_autoptr (GInputStream) bytes = g_memory_input_stream_new_from_data (data, length, NULL);
  g_autoptr (GConverter) converter = G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  g_autoptr (GInputStream) stream = g_converter_input_stream_new (bytes, converter);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *piece = g_malloc (1 << 16);
  gssize n = 1;

  while (n > 0 && text->len <= LARGEST_UNPACKED)
    {
      n = g_input_stream_read (stream, piece, 1 << 16, NULL, NULL);
      g_string_append_len (text, piece, MAX (n, 0));
    }
  if (n != 0)
    {
      qm_import_refuse (error, n < 0 ? QM_IMPORT_ERROR_SYNTAX : QM_IMPORT_ERROR_TOO_LARGE, 0,
                        n < 0 ? N_("packed with gzip, and broken off or damaged") : N_("larger than 4 GiB when unpacked"), NULL);
      return NULL;
    }
  *unpacked = text->len;

  return g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * qm_import_read:
 * @path: a file, packed with gzip or not
 * @error: return location for an error with file and line
 *
 * Returns: (transfer full) (element-type QmImported) (nullable): as of
 *   qm_import_data()
 */
GPtrArray *
qm_import_read (const char  *path,
                GError     **error)
{
  gsize length;
  g_autofree char *data = qm_file_read (path, LARGEST_FILE, &length, error);
  g_autofree char *name = g_filename_display_name (path);
  GStatBuf info = { 0 };
  GPtrArray *imported = NULL;

  if (data == NULL)
    return NULL;
  if (length > LARGEST_FILE)
    qm_import_refuse (error, QM_IMPORT_ERROR_TOO_LARGE, 0, N_("larger than 1 GiB; import a part of it, or pack it with gzip"), NULL);
  else if (is_packed (data, length))
    {
      g_autofree char *packed = g_steal_pointer (&data);

      data = unpack (packed, length, &length, error);
    }

  g_stat (path, &info);
  if (data != NULL && (error == NULL || *error == NULL))
    imported = qm_import_data (data, length, (gint64) info.st_mtime * G_TIME_SPAN_SECOND, error);
  if (imported == NULL && error != NULL)
    qm_error_locate (*error, name, 0);

  return imported;
}

/**
 * qm_import_name_devices:
 * @imported: (element-type QmImported): what was read
 * @catalog: the catalog
 *
 * Logs name devices as their drivers do: the name gives way to the id of the
 * catalog where there is one.
 */
void
qm_import_name_devices (GPtrArray *imported,
                        QmCatalog *catalog)
{
  for (guint i = 0; i < imported->len; i++)
    {
      QmRun *run = ((QmImported *) g_ptr_array_index (imported, i))->run;
      const QmDevice *device = qm_catalog_find_device (catalog, run->device);

      if (device == NULL && run->device != NULL)
        device = qm_catalog_match_device (catalog, NULL, run->device, 0);
      if (device != NULL)
        g_set_str (&run->device, device->id);
    }
}

/**
 * qm_import_add:
 * @ledger: a ledger
 * @imported: (element-type QmImported): what was read
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Adds what is not there yet, all of it or nothing. Those that are added get
 * their numbers.
 *
 * Returns: how many were added; -1 with @error set
 */
int
qm_import_add (QmLedger   *ledger,
               GPtrArray  *imported,
               GError    **error)
{
  int added = 0;

  if (!qm_ledger_begin (ledger, error))
    return -1;

  for (guint i = 0; i < imported->len; i++)
    {
      QmImported *one = g_ptr_array_index (imported, i);
      gboolean has;

      if (!qm_ledger_has (ledger, one->run->uid, &has, error) || (!has && !qm_ledger_add (ledger, one->run, one->series, error)))
        {
          qm_ledger_roll_back (ledger);
          return -1;
        }
      added += !has;
    }

  return qm_ledger_commit (ledger, error) ? added : -1;
}
