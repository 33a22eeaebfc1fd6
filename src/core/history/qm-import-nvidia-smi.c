/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "history/qm-channels.h"
#include "history/qm-csv.h"
#include "history/qm-import-private.h"
#include "history/qm-summary.h"

/* nvidia-smi --query-gpu=timestamp,… --format=csv[,nounits] -l 1: a line for
 * each GPU and time. */

#define MIB (1024.0 * 1024.0)

/* How the names of its columns begin, and what they are. */
static const struct {
  const char *column;
  const char *channel;
  double factor;
} known[] = {
  { "utilization.gpu", QM_CHANNEL_GPU_BUSY, 0.01 },
  { "utilization.memory", QM_CHANNEL_GPU_MEMORY_BUSY, 0.01 },
  { "memory.used", QM_CHANNEL_GPU_MEMORY, MIB },
  { "memory.total", QM_CHANNEL_GPU_MEMORY_TOTAL, MIB },
  { "power.draw", QM_CHANNEL_GPU_POWER, 1 },
  { "enforced.power.limit", QM_CHANNEL_GPU_POWER_LIMIT, 1 },
  { "power.limit", QM_CHANNEL_GPU_POWER_LIMIT, 1 },
  { "temperature.gpu", QM_CHANNEL_GPU_TEMPERATURE, 1 },
  { "clocks.current.sm", QM_CHANNEL_GPU_CLOCK, 1e6 },
  { "clocks.sm", QM_CHANNEL_GPU_CLOCK, 1e6 },
  { "clocks.max.sm", QM_CHANNEL_GPU_CLOCK_MOST, 1e6 },
  { "clocks_throttle_reasons.active", QM_CHANNEL_GPU_THROTTLED, 0 },
  { "clocks_event_reasons.active", QM_CHANNEL_GPU_THROTTLED, 0 },
};

/* nvml.h: nvmlClocksEventReason… */
#define REASON_SW_POWER_CAP    0x04
#define REASON_HW_SLOWDOWN     0x08
#define REASON_SW_THERMAL      0x20
#define REASON_HW_THERMAL      0x40
#define REASON_HW_POWER_BRAKE  0x80

/**
 * qm_throttled_from_reasons:
 * @reasons: as NVML gives them
 *
 * Returns: the bits of %QM_CHANNEL_GPU_THROTTLED
 */
int
qm_throttled_from_reasons (guint64 reasons)
{
  return (reasons & (REASON_SW_POWER_CAP | REASON_HW_POWER_BRAKE) ? QM_THROTTLED_POWER : 0) |
         (reasons & (REASON_SW_THERMAL | REASON_HW_THERMAL) ? QM_THROTTLED_THERMAL : 0) |
         (reasons & REASON_HW_SLOWDOWN && !(reasons & (REASON_HW_THERMAL | REASON_HW_POWER_BRAKE)) ? QM_THROTTLED_OTHER : 0);
}

typedef struct {
  GPtrArray *columns;
  int *whats;                       /* index of known for each column; -1 none */
  int time, identity, name;         /* columns; -1 none */
  GPtrArray *gpus;                  /* identities met */
  GPtrArray *rows;                  /* of Row */
} Log;

/* What is known of all GPUs at one time. */
typedef struct {
  double at;
  GArray *values;                   /* of float: G_N_ELEMENTS (known) for each GPU */
} Row;

static void
row_free (Row *self)
{
  g_array_unref (self->values);
  g_free (self);
}

static gboolean
is_named (const char *column,
          const char *name)
{
  gsize length = strlen (name);

  return strncmp (column, name, length) == 0 && (column[length] == '\0' || column[length] == ' ');
}

static int
find_column (const Log  *log,
             const char *name)
{
  for (guint i = 0; i < log->columns->len; i++)
    if (is_named (g_ptr_array_index (log->columns, i), name))
      return i;

  return -1;
}

static int
first_of (const Log          *log,
          const char * const *names)
{
  for (guint i = 0; names[i] != NULL; i++)
    if (find_column (log, names[i]) >= 0)
      return find_column (log, names[i]);

  return -1;
}

static gboolean
read_header (Log     *log,
             GError **error)
{
  static const char * const identities[] = { "index", "pci.bus_id", "gpu_bus_id", "uuid", "gpu_uuid", NULL };
  static const char * const names[] = { "name", "gpu_name", NULL };
  int n_known = 0;

  log->whats = g_new (int, log->columns->len);
  for (guint i = 0; i < log->columns->len; i++)
    {
      char *column = g_strstrip (g_ptr_array_index (log->columns, i));

      log->whats[i] = -1;
      for (guint k = 0; k < G_N_ELEMENTS (known); k++)
        if (is_named (column, known[k].column))
          log->whats[i] = k;
      n_known += log->whats[i] >= 0;
    }
  log->time = find_column (log, "timestamp");
  log->identity = first_of (log, identities);
  log->name = first_of (log, names);

  if (log->time < 0)
    qm_import_refuse (error, QM_IMPORT_ERROR_FORMAT, 1, N_("there is no column timestamp; add it to --query-gpu"), NULL);
  else if (n_known == 0)
    qm_import_refuse (error, QM_IMPORT_ERROR_FORMAT, 1, N_("there is no column to learn from, such as utilization.gpu or memory.used"), NULL);

  return log->time >= 0 && n_known > 0;
}

/* "2024/05/01 12:34:56.789", in a zone that is not said: taken as UTC. */
static gboolean
parse_time (const char *text,
            gint64     *time)
{
  int year, month, day, hour, minute, end = 0;
  g_autoptr (GDateTime) when = NULL;

  if (sscanf (text, " %d/%d/%d %d:%d:%n", &year, &month, &day, &hour, &minute, &end) != 5 || !g_ascii_isdigit (text[end]))
    return FALSE;
  when = g_date_time_new_utc (year, month, day, hour, minute, g_ascii_strtod (text + end, NULL));
  if (when == NULL)
    return FALSE;

  *time = g_date_time_to_unix_usec (when);
  return TRUE;
}

/* "45 %", "8123 MiB", "0x0000000000000004", "[N/A]"; FALSE for what is neither
 * a number nor a way to say that there is none. */
static gboolean
parse_value (const char *text,
             double      factor,
             float      *value)
{
  char *end;

  while (*text == ' ')
    text++;
  *value = NAN;
  if (text[0] == '[' || g_ascii_strncasecmp (text, "N/A", 3) == 0 || text[0] == '\0')
    return TRUE;

  if (factor == 0)
    {
      *value = qm_throttled_from_reasons (g_ascii_strtoull (text, &end, 0));
      return end != text;
    }
  *value = (float) (g_ascii_strtod (text, &end) * factor);

  return end != text;
}

static guint
gpu_of (Log       *log,
        GPtrArray *fields)
{
  const char *identity = log->identity >= 0 ? g_ptr_array_index (fields, log->identity) : "";
  guint index;

  if (g_ptr_array_find_with_equal_func (log->gpus, identity, g_str_equal, &index))
    return index;

  g_ptr_array_add (log->gpus, g_strdup (identity));
  return log->gpus->len - 1;
}

/* A new time begins where a GPU comes again. */
static Row *
row_for (Log    *log,
         guint   gpu,
         double  at)
{
  guint width = G_N_ELEMENTS (known);
  Row *row = log->rows->len > 0 ? g_ptr_array_index (log->rows, log->rows->len - 1) : NULL;

  if (row == NULL || row->values->len > gpu * width)
    {
      row = g_new0 (Row, 1);
      row->at = at;
      row->values = g_array_new (FALSE, FALSE, sizeof (float));
      g_ptr_array_add (log->rows, row);
    }
  while (row->values->len < (gpu + 1) * width)
    g_array_append_val (row->values, ((float) { NAN }));

  return row;
}

static gboolean
take_fields (Log        *log,
             GPtrArray  *fields,
             int         line,
             QmRun      *run,
             GError    **error)
{
  guint gpu;
  gint64 time;
  Row *row;

  if (fields->len != log->columns->len)
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_SYNTAX, line, N_("{found} fields, where the first line names {wanted} columns"), "#found",
                        (double) fields->len, "#wanted", (double) log->columns->len, NULL);
      return FALSE;
    }
  if (!parse_time (g_ptr_array_index (fields, log->time), &time))
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, line, N_("\"{word}\" is no time such as 2026/11/30 12:34:56.789"), "word",
                        g_ptr_array_index (fields, log->time), NULL);
      return FALSE;
    }
  if (log->rows->len == 0)
    run->started = time;
  gpu = gpu_of (log, fields);
  if (gpu >= QM_MAX_GPUS)
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, line, N_("more than {most} GPUs"), "#most", (double) QM_MAX_GPUS, NULL);
      return FALSE;
    }

  row = row_for (log, gpu, (time - run->started) / 1e6);
  for (guint i = 0; i < fields->len; i++)
    if (log->whats[i] >= 0 &&
        !parse_value (g_ptr_array_index (fields, i), known[log->whats[i]].factor,
                      &g_array_index (row->values, float, gpu * G_N_ELEMENTS (known) + log->whats[i])))
      {
        qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, line, N_("\"{word}\" cannot stand in the column {name}"), "word",
                          g_ptr_array_index (fields, i), "name", g_ptr_array_index (log->columns, i), NULL);
        return FALSE;
      }
  if (log->name >= 0 && run->device == NULL)
    run->device = g_strstrip (g_strdup (g_ptr_array_index (fields, log->name)));

  return TRUE;
}

static QmSeries *
series_of_log (const Log *log)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (guint));
  g_auto (GStrv) channels = NULL;
  g_autofree float *values = NULL;
  QmSeries *series;

  for (guint gpu = 0; gpu < log->gpus->len; gpu++)
    for (guint i = 0; i < log->columns->len; i++)
      if (log->whats[i] >= 0)
        {
          guint place = gpu * G_N_ELEMENTS (known) + log->whats[i];
          char name[QM_CHANNEL_SIZE];

          g_strv_builder_add (names, qm_channel_of_gpu (name, gpu, known[log->whats[i]].channel));
          g_array_append_val (places, place);
        }
  channels = g_strv_builder_end (names);
  series = qm_series_new ((const char * const *) channels);
  values = g_new (float, places->len);
  for (guint r = 0; r < log->rows->len; r++)
    {
      const Row *row = g_ptr_array_index (log->rows, r);

      for (guint i = 0; i < places->len; i++)
        {
          guint place = g_array_index (places, guint, i);

          values[i] = place < row->values->len ? g_array_index (row->values, float, place) : NAN;
        }
      qm_series_append (series, row->at, values);
    }

  return series;
}

static gboolean
read_log (const QmImportFile *file,
          Log                *log,
          QmRun              *run,
          GError            **error)
{
  g_autoptr (GPtrArray) fields = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) local_error = NULL;
  QmCsv csv;

  qm_csv_init (&csv, file->data, file->length);
  if (!qm_csv_next (&csv, log->columns, error) || !read_header (log, error))
    return FALSE;

  while (qm_csv_next (&csv, fields, &local_error))
    if (!take_fields (log, fields, csv.line, run, error))
      return FALSE;
  if (local_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }
  if (log->rows->len == 0)
    qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, csv.next_line, N_("no measurement follows the first line"), NULL);

  return log->rows->len > 0;
}

gboolean
qm_import_nvidia_smi (const QmImportFile *file,
                      GPtrArray          *imported,
                      GError            **error)
{
  Log log = { g_ptr_array_new_with_free_func (g_free), NULL, -1, -1, -1, g_ptr_array_new_with_free_func (g_free),
              g_ptr_array_new_with_free_func ((GDestroyNotify) row_free) };
  QmRun *run = qm_import_new_run (file, 0, QM_RUN_SOURCE_NVIDIA_SMI);
  gboolean ok = read_log (file, &log, run, error);

  if (ok)
    {
      QmSeries *series = series_of_log (&log);

      run->devices = (int) log.gpus->len;
      qm_run_summarise (run, series);
      qm_import_take (imported, run, series);
    }
  else
    qm_run_free (run);
  g_ptr_array_unref (log.columns);
  g_ptr_array_unref (log.gpus);
  g_ptr_array_unref (log.rows);
  g_free (log.whats);

  return ok;
}
