/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"

/* Beyond what is answered the queue grows for as long as one waits. */
#define BEYOND 1.15

static QmRange
p99_with_own_error (const QmWaitPoint *point)
{
  return qm_range_log_normal (point->p99.p50, QM_NORMAL_P90 * point->error);
}

static void
add_line (QmChart     *self,
          const GArray *curve,
          gboolean      slowest,
          char         *text)
{
  QmChartLine line = { .ink = slowest ? QM_INK_BLUE : QM_INK_TEAL, .line_width = 2.5, .dash = slowest ? 0 : 6, .end_text = text,
                       .vertices = g_array_new (FALSE, FALSE, sizeof (QmVertex)) };

  for (guint i = 0; i < curve->len; i++)
    {
      const QmWaitPoint *point = &g_array_index (curve, QmWaitPoint, i);
      QmRange seconds = slowest ? p99_with_own_error (point) : qm_range_exact (point->p50.p50);
      QmVertex vertex = { point->requests_per_second, seconds.p50, seconds.p10, seconds.p90 };

      if (!point->saturated)
        g_array_append_val (line.vertices, vertex);
    }
  g_array_append_val (self->lines, line);
}

static void
add_points (QmChart      *self,
            const GArray *curve)
{
  qm_chart_add_record (self, self->words->translate (N_("Requests a second")), self->words->translate (N_("Half within")),
                       self->words->translate (N_("99 of 100 within")), self->words->translate (N_("Range")), NULL);
  for (guint i = 0; i < curve->len; i++)
    {
      const QmWaitPoint *load = &g_array_index (curve, QmWaitPoint, i);
      g_autofree char *rate = qm_format_number (self->words, load->requests_per_second);
      g_autofree char *half = qm_format_seconds (self->words, load->p50.p50);
      g_autofree char *slowest = qm_format_seconds (self->words, load->p99.p50);
      g_autofree char *range = qm_format_seconds_range (self->words, load->p99);
      QmChartPoint point = { .x = load->requests_per_second, .y = load->p99.p50, .ink = QM_INK_BLUE, .marker = QM_MARKER_DISC, .faint = TRUE,
                             .range_x = QM_RANGE_UNKNOWN, .range_y = QM_RANGE_UNKNOWN };

      if (load->saturated)
        continue;
      qm_chart_add_record (self, rate, half, slowest, range, NULL);
      point.mark = qm_chart_add_mark (self, qm_fill (self->words->translate (N_("{rate} requests a second: half within {half}, 99 of 100 within {slowest}")),
                                                     "rate", rate, "half", half, "slowest", slowest, NULL), -1);
      g_array_append_val (self->points, point);
    }
}

static void
set_axes (QmChart      *self,
          const GArray *curve,
          double        capacity,
          double        target_seconds)
{
  double low = INFINITY, high = target_seconds;

  for (guint i = 0; i < curve->len; i++)
    {
      const QmWaitPoint *point = &g_array_index (curve, QmWaitPoint, i);

      if (point->saturated)
        continue;
      low = MIN (low, point->p50.p50);
      high = MAX (high, p99_with_own_error (point).p90);
    }

  self->x = (QmAxis) { .quantity = QM_QUANTITY_NUMBER, .high = capacity * BEYOND,
                       .title = g_strdup (self->words->translate (N_("Requests a second, whole service"))) };
  self->y = (QmAxis) { .scale = QM_SCALE_LOG, .quantity = QM_QUANTITY_SECONDS, .low = low / 1.5, .high = high * 1.5,
                       .title = g_strdup (self->words->translate (N_("Until the answer is complete (logarithmic)"))) };
}

static void
add_bounds (QmChart *self,
            double   capacity,
            double   peak,
            double   target_seconds)
{
  const QmWords *words = self->words;
  QmChartZone beyond = { .low = capacity, .high = self->x.high, .tinted = TRUE, .text_at_bottom = TRUE,
                         .text = g_strdup (words->translate (N_("More than is answered"))) };

  g_array_append_val (self->zones, beyond);
  if (target_seconds > 0)
    {
      g_autofree char *time = qm_format_seconds (words, target_seconds);

      qm_chart_add_limit (self, target_seconds, qm_fill (words->translate (N_("your limit, {time}")), "time", time, NULL), TRUE);
      g_array_index (self->limits, QmChartLimit, self->limits->len - 1).on_y = TRUE;
    }
  if (peak > 0 && peak < self->x.high)
    {
      g_autofree char *rate = qm_format_number (words, peak);

      qm_chart_add_limit (self, peak, qm_fill (words->translate (N_("your peak, {rate}")), "rate", rate, NULL), FALSE);
    }
}

/* The load up to which the limit is kept, between two points in proportion. */
static double
kept_up_to (const GArray *curve,
            double        target_seconds)
{
  double kept = 0;

  for (guint i = 0; i < curve->len; i++)
    {
      const QmWaitPoint *point = &g_array_index (curve, QmWaitPoint, i);

      if (point->saturated || point->p99.p50 > target_seconds)
        {
          const QmWaitPoint *before = i > 0 ? point - 1 : NULL;

          if (before != NULL && !point->saturated)
            kept += (point->requests_per_second - before->requests_per_second) *
                    (target_seconds - before->p99.p50) / (point->p99.p50 - before->p99.p50);
          break;
        }
      kept = point->requests_per_second;
    }

  return kept;
}

static char *
title_of (const GArray  *curve,
          double         target_seconds,
          const QmWords *words)
{
  double kept = target_seconds > 0 ? kept_up_to (curve, target_seconds) : 0;
  g_autofree char *time = qm_format_seconds (words, target_seconds);
  g_autofree char *rate = qm_format_number (words, kept);

  if (!(target_seconds > 0))
    return g_strdup (words->translate (N_("What people wait, by how many come")));
  if (kept == 0)
    return qm_fill (words->translate (N_("Not even a few requests keep within {time}")), "time", time, NULL);

  return qm_fill (words->translate (N_("Up to {rate} requests a second are answered within {time}")), "rate", rate, "time", time, NULL);
}

/**
 * qm_chart_describe_latency:
 * @curve: (element-type QmWaitPoint): two points or more that are not saturated
 * @capacity: requests per second that are answered at most
 * @peak: that come at the busiest time; 0 unknown
 * @target_seconds: within which 99 of 100 are to be answered; 0 none
 * @words: the reader's language
 *
 * Returns: (transfer full): latency against the rate of requests
 */
QmChart *
qm_chart_describe_latency (const GArray  *curve,
                        double         capacity,
                        double         peak,
                        double         target_seconds,
                        const QmWords *words)
{
  QmChart *self = qm_chart_alloc (QM_CHART_LATENCY, QM_FORM_PLANE, words);
  gboolean simulated = g_array_index (curve, QmWaitPoint, 0).basis == QM_LATENCY_SIMULATED;

  self->title = title_of (curve, target_seconds, words);
  self->subtitle = g_strdup (simulated
    ? words->translate (N_("Simulated with random arrivals and lengths; the band is what the simulation itself is unsure of"))
    : words->translate (N_("By the law of queues, with random arrivals")));
  set_axes (self, curve, capacity, target_seconds);
  add_line (self, curve, FALSE, g_strdup (words->translate (N_("half within"))));
  add_line (self, curve, TRUE, g_strdup (words->translate (N_("99 of 100 within"))));
  add_points (self, curve);
  add_bounds (self, capacity, peak, target_seconds);
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
