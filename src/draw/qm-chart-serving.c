/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-choices.h"

#define MAX_SERVING_ROWS 8

static gboolean
is_drawn (const QmChoice *row)
{
  return row->estimate.serving.known && qm_range_is_known (row->estimate.serving.latency_p99_seconds);
}

static void
add_row (QmChart           *self,
         const QmChoiceSet *set,
         guint              index)
{
  const QmChoice *choice = set->rows[index];
  const QmServingFigures *serving = &choice->estimate.serving;
  QmChartRow row = { .value = serving->latency_p99_seconds, .chosen = index == set->chosen, .marker = QM_MARKER_DISC };
  g_autofree char *value = qm_format_seconds (self->words, row.value.p50);
  g_autofree char *range = qm_format_seconds_range (self->words, row.value);
  g_autofree char *rate = qm_format_number (self->words, serving->requests_per_second);
  g_autofree char *replicas = qm_format_count (self->words, MAX (1, serving->replicas));
  gboolean off = row.value.p50 > self->x.high;

  row.name = qm_choice_short_name (choice, self->words);
  row.value_text = g_strdup_printf ("%s (%s)%s", value, range, off ? " →" : "");
  row.note = qm_fill (self->words->translate (N_("{rate} a second from each of {replicas}")), "rate", rate, "replicas", replicas, NULL);
  row.ink = row.chosen ? QM_INK_BLUE : choice->within_limits ? QM_INK_TEAL : QM_INK_GREY;
  row.hollow = !row.chosen && !choice->within_limits;
  row.mark = qm_chart_add_mark (self, g_strdup_printf ("%s: %s, %s", choice->label, row.value_text, row.note), index);
  row.value.p10 = MIN (row.value.p10, self->x.high * 0.985);
  row.value.p50 = MIN (row.value.p50, self->x.high * 0.985);
  row.value.p90 = MIN (row.value.p90, self->x.high * 0.985);
  g_array_append_val (self->rows, row);
  qm_chart_add_record (self, choice->label, value, range, rate, replicas, NULL);
}

static void
set_axis (QmChart           *self,
          const QmChoiceSet *set)
{
  double high = set->latency_seconds > 0 ? set->latency_seconds * 1.25 : 0;

  high = MAX (high, set->rows[set->chosen]->estimate.serving.latency_p99_seconds.p90 * 1.6);
  self->x = (QmAxis) { .quantity = QM_QUANTITY_SECONDS, .high = high };
}

/**
 * qm_chart_describe_serving:
 * @set: the choices
 * @words: the reader's language
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): how long the slowest of a hundred answers
 *   take at the peak, against what the person asks for
 */
QmChart *
qm_chart_describe_serving (const QmChoiceSet *set,
                           const QmWords     *words,
                           GError           **error)
{
  QmChart *self = NULL;
  g_autofree char *value = NULL;

  if (!is_drawn (set->rows[set->chosen]))
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                           words->translate (N_("There is no chart of serving: this job has no people who wait for answers")));
      return NULL;
    }

  self = qm_chart_alloc (QM_CHART_SERVING, QM_FORM_ROWS, words);
  value = qm_format_seconds (words, set->rows[set->chosen]->estimate.serving.latency_p99_seconds.p50);
  self->title = qm_fill (words->translate (N_("99 of 100 answers are there within about {time}")), "time", value, NULL);
  self->subtitle = g_strdup (words->translate (N_("Time of a whole answer that 1 in 100 exceeds at your peak load, with 80% ranges")));
  set_axis (self, set);
  qm_chart_add_record (self, words->translate (N_("Choice")), words->translate (N_("99 of 100 within")),
                       words->translate (N_("Range")), words->translate (N_("Requests a second of one replica")),
                       words->translate (N_("Replicas")), NULL);
  if (set->latency_seconds > 0)
    {
      g_autofree char *limit = qm_format_seconds (words, set->latency_seconds);

      qm_chart_add_limit (self, set->latency_seconds, qm_fill (words->translate (N_("your limit, {time}")), "time", limit, NULL), TRUE);
      g_array_index (self->limits, QmChartLimit, 0).beyond = TRUE;
      g_array_index (self->limits, QmChartLimit, 0).beyond_to = self->x.high;
    }
  add_row (self, set, set->chosen);
  for (guint i = 0; i < set->n && self->rows->len < MAX_SERVING_ROWS; i++)
    if (i != set->chosen && is_drawn (set->rows[i]))
      add_row (self, set, i);
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
