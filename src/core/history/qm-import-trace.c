/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "history/qm-channels.h"
#include "history/qm-import-private.h"
#include "history/qm-summary.h"

/* Traces of Chrome's form, as the profilers of PyTorch and TensorFlow write
 * them. They are long: events are read one by one, and only the times of those
 * on a device and of the steps are kept. */

/* How many parts the time is cut into for the series. */
#define PARTS 200

typedef struct {
  double from, to;                  /* microseconds */
} Span;

typedef struct {
  GArray *work[QM_MAX_GPUS];        /* of Span: kernels that compute */
  GArray *talk[QM_MAX_GPUS];        /* of Span: collectives */
  GArray *steps;                    /* of Span */
  GHashTable *processes;            /* of TensorFlow: pid to device + 1 */
  double waits;                     /* microseconds of the loader, within the steps */
  char *device;
  gboolean tensorflow;
} Trace;

/* What is looked for in an event; texts point into the file, NULL where they
 * are not there. */
typedef struct {
  const char *name, *category, *phase;
  gsize name_length, category_length;
  const char *arguments_name;       /* args.name, of metadata */
  gsize arguments_name_length;
  double from, duration, pid, device;
} Event;

static void
trace_clear (Trace *self)
{
  for (int i = 0; i < QM_MAX_GPUS; i++)
    {
      g_clear_pointer (&self->work[i], g_array_unref);
      g_clear_pointer (&self->talk[i], g_array_unref);
    }
  g_array_unref (self->steps);
  g_hash_table_unref (self->processes);
  g_free (self->device);
}

/* --------------------------------------------------------------------- the events */

/* All of these return where what they pass ends, NULL where it is broken off. */
static const char *
pass_text (const char *at)
{
  for (at++; *at != '\0' && *at != '"'; at++)
    if (*at == '\\' && at[1] != '\0')
      at++;

  return *at == '"' ? at + 1 : NULL;
}

static const char *
pass_value (const char *at)
{
  int depth = 0;

  do
    {
      if (*at == '"')
        {
          at = pass_text (at);
          if (at == NULL)
            return NULL;
          continue;
        }
      if (*at == '\0')
        return NULL;
      if (depth == 0 && (*at == ',' || *at == '}' || *at == ']'))
        return at;
      depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
      at++;
    }
  while (depth > 0 || (*at != ',' && *at != '}' && *at != ']'));

  return at;
}

static const char *
pass_blanks (const char *at)
{
  return at + strspn (at, " \t\r\n");
}

static gboolean
is_key (const char *key,
        gsize       length,
        const char *wanted)
{
  return length == strlen (wanted) && memcmp (key, wanted, length) == 0;
}

static void
take_member (Event      *event,
             const char *key,
             gsize       length,
             const char *value,
             gsize       value_length,
             gboolean    inner)
{
  gboolean is_text = *value == '"';

  if (inner)
    {
      if (is_key (key, length, "device") && !is_text)
        event->device = g_ascii_strtod (value, NULL);
      if (is_key (key, length, "name") && is_text)
        {
          event->arguments_name = value + 1;
          event->arguments_name_length = value_length - 2;
        }
      return;
    }
  if (is_key (key, length, "name") && is_text)
    {
      event->name = value + 1;
      event->name_length = value_length - 2;
    }
  else if (is_key (key, length, "cat") && is_text)
    {
      event->category = value + 1;
      event->category_length = value_length - 2;
    }
  else if (is_key (key, length, "ph") && is_text)
    event->phase = value + 1;
  else if (is_key (key, length, "ts"))
    event->from = g_ascii_strtod (value + is_text, NULL);
  else if (is_key (key, length, "dur"))
    event->duration = g_ascii_strtod (value + is_text, NULL);
  else if (is_key (key, length, "pid") && !is_text)
    event->pid = g_ascii_strtod (value, NULL);
}

static const char *
read_object (const char *at,
             Event      *event,
             gboolean    inner)
{
  at = pass_blanks (at + 1);
  while (*at != '}')
    {
      const char *key = at, *end = *at == '"' ? pass_text (at) : NULL, *value;

      if (end == NULL)
        return NULL;
      value = pass_blanks (end);
      if (*value != ':')
        return NULL;
      value = pass_blanks (value + 1);
      if (!inner && *value == '{' && is_key (key + 1, end - key - 2, "args"))
        at = read_object (value, event, TRUE);
      else
        {
          at = pass_value (value);
          if (at != NULL)
            take_member (event, key + 1, end - key - 2, value, at - value, inner);
        }
      if (at == NULL)
        return NULL;
      at = pass_blanks (at);
      if (*at == ',')
        at = pass_blanks (at + 1);
      else if (*at != '}')
        return NULL;
    }

  return at + 1;
}

static gboolean
begins (const char *text,
        gsize       length,
        const char *prefix)
{
  gsize n = strlen (prefix);

  return text != NULL && length >= n && g_ascii_strncasecmp (text, prefix, n) == 0;
}

static void
add_span (GArray     **spans,
          const Event *event)
{
  Span span = { event->from, event->from + event->duration };

  if (*spans == NULL)
    *spans = g_array_new (FALSE, FALSE, sizeof (Span));
  g_array_append_val (*spans, span);
}

/* Collectives by the names that NCCL, RCCL and XLA give them. */
static gboolean
is_talk (const Event *event)
{
  static const char * const names[] = { "nccl", "rccl", "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (begins (event->name, event->name_length, names[i]))
      return TRUE;

  return FALSE;
}

static int
device_of (const Trace *trace,
           const Event *event)
{
  int of_process = GPOINTER_TO_INT (g_hash_table_lookup (trace->processes, GINT_TO_POINTER ((int) event->pid)));

  if (of_process > 0)
    return of_process - 1;
  if (!begins (event->category, event->category_length, "kernel") && !begins (event->category, event->category_length, "gpu_mem"))
    return -1;

  return event->device >= 0 && event->device < QM_MAX_GPUS ? (int) event->device : 0;
}

/* "/device:TPU:0": which process of the trace stands for which device. */
static void
take_process (Trace       *trace,
              const Event *event)
{
  g_autofree char *name = event->arguments_name != NULL ? g_strndup (event->arguments_name, event->arguments_name_length) : g_strdup ("");
  const char *kind = strstr (name, "/device:");
  const char *number = kind != NULL ? strrchr (kind, ':') : NULL;

  if (kind == NULL && strstr (name, "/host:") == NULL)
    return;
  trace->tensorflow = TRUE;
  if (kind == NULL || g_str_has_prefix (kind, "/device:CPU"))
    return;
  g_hash_table_insert (trace->processes, GINT_TO_POINTER ((int) event->pid), GINT_TO_POINTER (1 + (atoi (number + 1) & (QM_MAX_GPUS - 1))));
  if (trace->device == NULL)
    trace->device = g_strndup (kind + strlen ("/device:"), number - kind - strlen ("/device:"));
}

static void
take_event (Trace       *trace,
            const Event *event)
{
  int device;

  if (event->phase != NULL && event->phase[0] == 'M' && begins (event->name, event->name_length, "process_name"))
    take_process (trace, event);
  if (event->phase == NULL || event->phase[0] != 'X' || !isfinite (event->from) || !(event->duration >= 0))
    return;

  device = device_of (trace, event);
  if (begins (event->name, event->name_length, "ProfilerStep#") && device < 0)
    add_span (&trace->steps, event);
  else if (begins (event->name, event->name_length, "enumerate(DataLoader)"))
    trace->waits += event->duration;
  else if (device >= 0)
    add_span (is_talk (event) ? &trace->talk[device] : &trace->work[device], event);
}

static int
line_of (const QmImportFile *file,
         const char         *at)
{
  int line = 1;

  for (const char *c = file->data; c < at && c < file->data + file->length; c++)
    line += *c == '\n';

  return line;
}

static gboolean
read_events (const QmImportFile *file,
             Trace              *trace,
             GError            **error)
{
  const char *list = strstr (file->data, "\"traceEvents\"");
  const char *at = list != NULL ? strchr (list, '[') : strchr (file->data, '[');
  const char *event_at = at != NULL ? at : file->data;

  at = at != NULL ? pass_blanks (at + 1) : NULL;
  while (at != NULL && *at == '{')
    {
      Event event = { .from = NAN, .duration = 0, .pid = -1, .device = 0 };

      event_at = at;
      at = read_object (at, &event, FALSE);
      if (at == NULL)
        break;
      take_event (trace, &event);
      at = pass_blanks (at);
      if (*at == ',')
        at = pass_blanks (at + 1);
      else if (*at != ']')
        at = NULL;
    }
  if (at != NULL && *at == ']')
    return TRUE;

  qm_import_refuse (error, QM_IMPORT_ERROR_SYNTAX, line_of (file, event_at), N_("the trace is broken off or damaged in the event that begins here"), NULL);
  return FALSE;
}

/* ------------------------------------------------------------------------ the times */

static int
compare_spans (gconstpointer a,
               gconstpointer b)
{
  const Span *x = a, *y = b;

  return (x->from > y->from) - (x->from < y->from);
}

/* Streams run side by side: what overlaps is counted once. */
static void
merge (GArray *spans)
{
  guint n = 0;

  g_array_sort (spans, compare_spans);
  for (guint i = 0; i < spans->len; i++)
    {
      Span span = g_array_index (spans, Span, i);
      Span *last = n > 0 ? &g_array_index (spans, Span, n - 1) : NULL;

      if (last != NULL && span.from <= last->to)
        last->to = fmax (last->to, span.to);
      else
        g_array_index (spans, Span, n++) = span;
    }
  g_array_set_size (spans, n);
}

/* How much of the time from @from to @to merged spans take. */
static double
covered (const GArray *spans,
         double        from,
         double        to)
{
  double sum = 0;

  for (guint i = 0; spans != NULL && i < spans->len; i++)
    {
      const Span *span = &g_array_index (spans, Span, i);

      sum += fmax (0, fmin (span->to, to) - fmax (span->from, from));
    }

  return sum;
}

/* The talk beside which nothing is computed; both merged. */
static double
exposed (const GArray *talk,
         const GArray *work)
{
  double sum = 0;
  guint first = 0;

  for (guint i = 0; talk != NULL && i < talk->len; i++)
    {
      const Span *span = &g_array_index (talk, Span, i);

      sum += span->to - span->from;
      while (work != NULL && first < work->len && g_array_index (work, Span, first).to <= span->from)
        first++;
      for (guint w = first; work != NULL && w < work->len && g_array_index (work, Span, w).from < span->to; w++)
        sum -= fmin (g_array_index (work, Span, w).to, span->to) - fmax (g_array_index (work, Span, w).from, span->from);
    }

  return sum;
}

static void
extend (Span         *whole,
        const GArray *spans)
{
  for (guint i = 0; spans != NULL && i < spans->len; i++)
    {
      whole->from = fmin (whole->from, g_array_index (spans, Span, i).from);
      whole->to = fmax (whole->to, g_array_index (spans, Span, i).to);
    }
}

/* Time in equal parts. A part of merged spans is found in one pass. */
static void
add_parts (float         *shares,
           const GArray  *spans,
           const Span    *whole)
{
  double part = (whole->to - whole->from) / PARTS;

  for (guint i = 0; spans != NULL && i < spans->len; i++)
    {
      const Span *span = &g_array_index (spans, Span, i);
      int first = (int) ((span->from - whole->from) / part), last = (int) ((span->to - whole->from) / part);

      for (int p = MAX (first, 0); p <= MIN (last, PARTS - 1); p++)
        shares[p] += (float) (fmax (0, fmin (span->to, whole->from + (p + 1) * part) - fmax (span->from, whole->from + p * part)) / part);
    }
}

static QmSeries *
series_of_trace (const Trace *trace,
                 const Span  *whole,
                 int          devices)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_auto (GStrv) channels = NULL;
  g_autofree float *shares = g_new0 (float, (gsize) PARTS * devices);
  g_autofree float *row = g_new (float, MAX (devices, 1));
  QmSeries *series;

  for (int d = 0; d < devices; d++)
    {
      char name[QM_CHANNEL_SIZE];

      g_strv_builder_add (names, qm_channel_of_gpu (name, d, QM_CHANNEL_GPU_BUSY));
      add_parts (shares + d * PARTS, trace->work[d], whole);
      add_parts (shares + d * PARTS, trace->talk[d], whole);
    }
  channels = g_strv_builder_end (names);
  series = qm_series_new ((const char * const *) channels);
  for (int p = 0; p < PARTS; p++)
    {
      for (int d = 0; d < devices; d++)
        row[d] = fminf (shares[d * PARTS + p], 1);
      qm_series_append (series, (p + 1) * (whole->to - whole->from) / PARTS / 1e6, row);
    }

  return series;
}

static double
median_step (GArray *steps)
{
  g_autoptr (GArray) lengths = g_array_new (FALSE, FALSE, sizeof (Span));

  for (guint i = 0; i < steps->len; i++)
    {
      Span length = { g_array_index (steps, Span, i).to - g_array_index (steps, Span, i).from, 0 };

      g_array_append_val (lengths, length);
    }
  g_array_sort (lengths, compare_spans);

  return lengths->len > 0 ? g_array_index (lengths, Span, lengths->len / 2).from / 1e6 : NAN;
}

static QmRun *
run_of_trace (const QmImportFile *file,
              Trace              *trace,
              QmSeries          **series)
{
  QmRun *run = qm_import_new_run (file, 0, trace->tensorflow ? QM_RUN_SOURCE_TENSORFLOW_PROFILER : QM_RUN_SOURCE_PYTORCH_PROFILER);
  Span whole = { HUGE_VAL, -HUGE_VAL };
  double busy = 0, talk = 0;
  int devices = 0;

  extend (&whole, trace->steps);
  for (int d = 0; d < QM_MAX_GPUS; d++)
    {
      if (trace->work[d] != NULL)
        merge (trace->work[d]);
      if (trace->talk[d] != NULL)
        merge (trace->talk[d]);
      extend (&whole, trace->work[d]);
      extend (&whole, trace->talk[d]);
      devices = trace->work[d] != NULL || trace->talk[d] != NULL ? d + 1 : devices;
    }
  for (int d = 0; d < devices; d++)
    {
      double alone = exposed (trace->talk[d], trace->work[d]);

      busy += covered (trace->work[d], whole.from, whole.to) + alone;
      talk += alone;
    }

  run->seconds = (whole.to - whole.from) / 1e6;
  run->devices = devices;
  run->device = g_strdup (trace->device);
  qm_run_set_measured (run, "time.seconds", run->seconds);
  qm_run_set_measured (run, "throughput.step_seconds", median_step (trace->steps));
  qm_run_set_measured (run, "run.input_share", trace->waits / (whole.to - whole.from));
  qm_run_set_measured (run, "run.gpu_utilization", busy / devices / (whole.to - whole.from));
  qm_run_set_measured (run, "run.communication_share", talk / devices / (whole.to - whole.from));
  *series = whole.to > whole.from && devices > 0 ? series_of_trace (trace, &whole, devices) : NULL;

  return run;
}

/* PyTorch names its devices before the events. */
static char *
name_of_device (const QmImportFile *file)
{
  const char *list = g_strstr_len (file->data, MIN (file->length, 64 * 1024), "\"deviceProperties\"");
  const char *key = list != NULL ? strstr (list, "\"name\"") : NULL;
  const char *value = key != NULL ? strchr (key, ':') : NULL;
  const char *from = value != NULL ? strchr (value, '"') : NULL;
  const char *to = from != NULL ? strchr (from + 1, '"') : NULL;

  return to != NULL && key - list < 4096 ? g_strndup (from + 1, to - from - 1) : NULL;
}

gboolean
qm_import_trace (const QmImportFile *file,
                 GPtrArray          *imported,
                 GError            **error)
{
  Trace trace = { .steps = g_array_new (FALSE, FALSE, sizeof (Span)), .processes = g_hash_table_new (NULL, NULL) };
  QmSeries *series = NULL;
  QmRun *run = NULL;
  gboolean ok;

  trace.device = name_of_device (file);
  ok = read_events (file, &trace, error);
  if (ok)
    {
      run = run_of_trace (file, &trace, &series);
      ok = isfinite (run->seconds) && run->seconds > 0;
      if (!ok)
        qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, 0,
                          N_("the trace has no step and no work of a device; record it with ProfilerActivity.CUDA, or with prof.step() after each step"), NULL);
    }
  if (ok)
    qm_import_take (imported, run, series);
  else
    {
      qm_run_free (run);
      qm_series_free (series);
    }
  trace_clear (&trace);

  return ok;
}
