/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-phrase-runs.h"

#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"

/**
 * qm_phrase_run_status:
 * @words: the reader's language
 * @status: how a run ended
 *
 * Returns: a word for it
 */
const char *
qm_phrase_run_status (const QmWords *words,
                      QmRunStatus    status)
{
  static const char * const names[] = {
    [QM_RUN_STATUS_UNSET] = N_("unknown"),
    [QM_RUN_STATUS_RUNNING] = N_("running"),
    [QM_RUN_STATUS_FINISHED] = N_("finished"),
    [QM_RUN_STATUS_FAILED] = N_("failed"),
    [QM_RUN_STATUS_STOPPED] = N_("stopped"),
    [QM_RUN_STATUS_TIMED_OUT] = N_("timed out"),
    [QM_RUN_STATUS_OUT_OF_MEMORY] = N_("ran out of memory"),
    [QM_RUN_STATUS_INTERRUPTED] = N_("interrupted"),
  };

  return words->translate (names[status]);
}

static const struct { const char *key; const char *name; } figure_names[] = {
  { "throughput.per_second", N_("Throughput") },
  { "throughput.samples_per_second", N_("Samples a second") },
  { "throughput.step_seconds", N_("Time of a step") },
  { "memory.need_bytes", N_("Memory of each device") },
  { "memory.per_device_bytes", N_("Memory of each device") },
  { "memory.host_bytes", N_("Memory of its processes") },
  { "time.seconds", N_("Time") },
  { "run.loss", N_("Lowest loss") },
  { "run.warm_up_seconds", N_("Warm-up") },
  { "run.gpu_utilization", N_("Use of the GPU") },
  { "run.power_limit_watts", N_("Power limit of each device") },
  { "run.cpu_cores", N_("Processor cores in use") },
  { "run.cores", N_("Processor cores of the computer") },
  { "run.cpu_utilization", N_("Use of the processor by all programs") },
  { "run.cpu_stolen", N_("Processor time that the host took away") },
  { "run.cpu_pressure", N_("Time in which work waited for the processor") },
};

/**
 * qm_phrase_figure_is_named:
 * @key: of a figure of a run
 *
 * Returns: whether it has a name that people know
 */
gboolean
qm_phrase_figure_is_named (const char *key)
{
  for (guint i = 0; i < G_N_ELEMENTS (figure_names); i++)
    if (g_str_equal (figure_names[i].key, key))
      return TRUE;

  return FALSE;
}

/**
 * qm_phrase_figure_name:
 * @words: the reader's language
 * @key: of a figure of a run
 *
 * Returns: what it is called, or @key where it has no name
 */
const char *
qm_phrase_figure_name (const QmWords *words,
                       const char    *key)
{
  for (guint i = 0; i < G_N_ELEMENTS (figure_names); i++)
    if (g_str_equal (figure_names[i].key, key))
      return words->translate (figure_names[i].name);

  return key;
}

/**
 * qm_phrase_figure:
 * @words: the reader's language
 * @key: of a figure of a run, of which the end says the unit
 * @value: its value; NaN unknown
 * @unit: (nullable): what a throughput counts
 *
 * Returns: (transfer full): the value for people
 */
char *
qm_phrase_figure (const QmWords *words,
                  const char    *key,
                  double         value,
                  const char    *unit)
{
  g_autofree char *number = NULL;

  if (isnan (value))
    return g_strdup ("–");
  if (g_str_has_suffix (key, "_bytes"))
    return qm_format_bytes (words, value);
  if (g_str_has_suffix (key, "utilization") || g_str_has_suffix (key, "_share") || g_str_has_suffix (key, "mfu") ||
      g_str_has_suffix (key, "_stolen") || g_str_has_suffix (key, "_pressure"))
    return qm_format_percent (words, value);
  if (g_str_has_suffix (key, "seconds"))
    return qm_format_seconds (words, value);

  number = qm_format_number (words, value);
  return g_str_has_suffix (key, "per_second") ? g_strdup_printf ("%s\302\240%s/s", number, unit != NULL ? unit : "")
                                              : g_steal_pointer (&number);
}

/**
 * qm_phrase_error:
 * @words: the reader's language
 * @predicted: what was said before
 * @measured: what came out
 *
 * Returns: (transfer full) (nullable): how far the prediction was off, with its
 *   sign; %NULL where one of both is not known
 */
char *
qm_phrase_error (const QmWords *words,
                 double         predicted,
                 double         measured)
{
  double error = predicted / measured - 1;
  g_autofree char *percent = NULL;

  if (!isfinite (error))
    return NULL;

  percent = qm_format_percent (words, fabs (error));
  return g_strconcat (error < 0 ? "−" : "+", percent, NULL);
}

/* ------------------------------------------------------------ predicted, measured */

#define CLOSE 0.1
#define NEAR 0.2

/* Lines on both axes are straight, except where the band leaves the plane. */
static void
add_band (QmChart *self,
          double   share,
          gboolean line)
{
  QmChartLine band = { .ink = QM_INK_GREY, .line_width = line ? 1.5 : 0, .dash = 4, .faint = TRUE,
                       .vertices = g_array_new (FALSE, FALSE, sizeof (QmVertex)) };
  const double places[] = { self->x.low, self->x.low / (1 - share), self->x.high / (1 + share), self->x.high };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      QmVertex vertex = { places[i], places[i], MAX (self->y.low, places[i] * (1 - share)), MIN (self->y.high, places[i] * (1 + share)) };

      g_array_append_val (band.vertices, vertex);
    }
  if (line)
    band.end_text = g_strdup (self->words->translate (N_("as predicted")));
  g_array_append_val (self->lines, band);
}

static void
add_runs (QmChart      *self,
          const GArray *points,
          const char   *key)
{
  const QmWords *words = self->words;

  qm_chart_add_record (self, words->translate (N_("Run")), words->translate (N_("Predicted")), words->translate (N_("Measured")),
                       words->translate (N_("Error")), NULL);
  for (guint i = 0; i < points->len; i++)
    {
      const QmLedgerPoint *run = &g_array_index (points, QmLedgerPoint, i);
      g_autofree char *predicted = qm_phrase_figure (words, key, run->predicted.p50, NULL);
      g_autofree char *measured = qm_phrase_figure (words, key, run->measured, NULL);
      g_autofree char *error = qm_phrase_error (words, run->predicted.p50, run->measured);
      g_autofree char *id = g_strdup_printf ("%" G_GINT64_FORMAT, run->id);
      QmChartPoint point = { .x = run->predicted.p50, .y = run->measured, .ink = QM_INK_BLUE, .marker = QM_MARKER_DISC,
                             .range_x = run->predicted, .range_y = QM_RANGE_UNKNOWN };

      point.mark = qm_chart_add_mark (self, qm_fill (words->translate (N_("Run {id}: {predicted} predicted, {measured} measured, {error}")),
                                                     "id", id, "predicted", predicted, "measured", measured, "error", error, NULL), i);
      qm_chart_add_record (self, id, predicted, measured, error, NULL);
      g_array_append_val (self->points, point);
    }
}

static gboolean
is_usable (const QmLedgerPoint *point)
{
  return isfinite (point->predicted.p50) && point->predicted.p50 > 0 && isfinite (point->measured) && point->measured > 0;
}

static void
set_axes (QmChart      *self,
          const GArray *points,
          const char   *key)
{
  QmQuantity quantity = g_str_has_suffix (key, "_bytes") ? QM_QUANTITY_BYTES
                        : g_str_has_suffix (key, "seconds") ? QM_QUANTITY_SECONDS : QM_QUANTITY_COUNT;
  double low = INFINITY, high = 0;

  for (guint i = 0; i < points->len; i++)
    {
      const QmLedgerPoint *point = &g_array_index (points, QmLedgerPoint, i);

      low = MIN (low, MIN (point->predicted.p50, point->measured));
      high = MAX (high, MAX (point->predicted.p50, point->measured));
    }
  self->x = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = quantity, .low = low / 1.4, .high = high * 1.4,
                       .title = g_strdup (self->words->translate (N_("Predicted before the run"))) };
  self->y = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = quantity, .low = low / 1.4, .high = high * 1.4,
                       .title = g_strdup (self->words->translate (N_("Measured"))) };
}

/**
 * qm_chart_new_history:
 * @points: (element-type QmLedgerPoint): runs that were predicted and measured
 * @key: of the figure
 * @words: the reader's language
 *
 * Returns: (transfer full) (nullable): measured against predicted, on logarithmic
 *   axes, with the line where both are the same and bands of 10 and 20 % around
 *   it; %NULL where there is no such run. The row of a mark is its index in @points
 */
QmChart *
qm_chart_new_history (const GArray  *points,
                      const char    *key,
                      const QmWords *words)
{
  g_autoptr (GArray) usable = g_array_new (FALSE, FALSE, sizeof (QmLedgerPoint));
  g_autofree char *within = NULL, *all = NULL;
  QmChart *self;
  guint close = 0;

  for (guint i = 0; i < points->len; i++)
    {
      const QmLedgerPoint *point = &g_array_index (points, QmLedgerPoint, i);

      if (is_usable (point))
        g_array_append_val (usable, *point);
      if (is_usable (point) && fabs (point->predicted.p50 / point->measured - 1) <= CLOSE)
        close++;
    }
  if (usable->len == 0)
    return NULL;

  self = qm_chart_alloc (QM_CHART_HISTORY, QM_FORM_PLANE, words);
  within = g_strdup_printf ("%u", close);
  all = g_strdup_printf ("%u", usable->len);
  self->title = qm_fill (words->translate (N_("{within} of {all} predictions were within 10%")), "within", within, "all", all, NULL);
  self->subtitle = qm_fill (words->translate (N_("{figure}: measured against predicted, with bands of 10 and 20%")),
                            "figure", qm_phrase_figure_name (words, key), NULL);
  set_axes (self, usable, key);
  add_band (self, NEAR, FALSE);
  add_band (self, CLOSE, TRUE);
  add_runs (self, usable, key);
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
