/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-choices.h"

/* Steps of these many seconds between the columns of figures. */
static const double strides[] = { 60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 345600 };

#define MOST_COLUMNS 9
#define DRAWN_POINTS 300

static double
stride_of (double span)
{
  for (guint i = 0; i < G_N_ELEMENTS (strides); i++)
    if (span / strides[i] <= MOST_COLUMNS)
      return strides[i];

  return strides[G_N_ELEMENTS (strides) - 1];
}

static const QmElasticStep *
step_at (const QmElastic *elastic,
         double           seconds)
{
  const GArray *steps = elastic->run.steps;
  guint i = 0;

  while (i + 1 < steps->len && g_array_index (steps, QmElasticStep, i + 1).seconds <= seconds)
    i++;

  return &g_array_index (steps, QmElasticStep, i);
}

static void
add_load (QmChart         *self,
          const QmElastic *elastic)
{
  QmChartLine line = { .ink = QM_INK_BLUE, .line_width = 2.5, .area = TRUE, .vertices = g_array_new (FALSE, FALSE, sizeof (QmVertex)) };
  double span = qm_load_span (elastic->load);
  guint hint = 0;

  for (guint i = 0; i <= DRAWN_POINTS; i++)
    {
      double seconds = span * i / DRAWN_POINTS, y = qm_load_at (elastic->load, seconds, &hint);
      QmVertex vertex = { seconds, y, y, y };

      g_array_append_val (line.vertices, vertex);
    }
  line.end_text = g_strdup (self->words->translate (N_("requests")));
  g_array_append_val (self->lines, line);
}

static void
add_capacity (QmChart         *self,
              const QmElastic *elastic)
{
  QmChartLine line = { .ink = QM_INK_TEAL, .line_width = 2, .step = TRUE, .vertices = g_array_new (FALSE, FALSE, sizeof (QmVertex)) };
  double before = NAN, y = 0;

  for (guint i = 0; i < elastic->run.steps->len; i++)
    {
      const QmElasticStep *step = &g_array_index (elastic->run.steps, QmElasticStep, i);
      QmVertex vertex;

      y = step->ready * elastic->replica.per_second;
      vertex = (QmVertex) { step->seconds, y, y, y };
      if (y != before)
        g_array_append_val (line.vertices, vertex);
      before = y;
    }
  g_array_append_val (line.vertices, ((QmVertex) { qm_load_span (elastic->load), y, y, y }));
  line.end_text = g_strdup (self->words->translate (N_("capacity")));
  g_array_append_val (self->lines, line);
}

static void
add_peak_fleet (QmChart            *self,
                const QmElastic    *elastic,
                const QmElasticRun *peak,
                const char         *currency)
{
  g_autofree char *count = qm_format_count (self->words, peak->most_replicas);
  g_autofree char *money = qm_format_money (self->words, peak->money, currency);

  qm_chart_add_limit (self, peak->most_replicas * elastic->replica.per_second,
                      qm_fill (self->words->translate (N_("{count} fixed, {money}")), "count", count, "money", money, NULL), FALSE);
  g_array_index (self->limits, QmChartLimit, self->limits->len - 1).on_y = TRUE;
}

typedef char *(*CellFunc) (const QmWords       *words,
                           const QmElasticStep *step,
                           const char          *currency);

static char *
time_cell (const QmWords       *words,
           const QmElasticStep *step,
           const char          *currency)
{
  return qm_format_seconds (words, step->seconds);
}

static char *
load_cell (const QmWords       *words,
           const QmElasticStep *step,
           const char          *currency)
{
  return qm_format_number (words, step->per_second);
}

static char *
replicas_cell (const QmWords       *words,
               const QmElasticStep *step,
               const char          *currency)
{
  return qm_format_count (words, step->replicas);
}

static char *
p99_cell (const QmWords       *words,
          const QmElasticStep *step,
          const char          *currency)
{
  return isfinite (step->p99_seconds) ? qm_format_seconds (words, step->p99_seconds) : g_strdup ("–");
}

/* Without the currency, which the head of the row has. */
static char *
money_cell (const QmWords       *words,
            const QmElasticStep *step,
            const char          *currency)
{
  return g_strchomp (qm_format_money (words, step->money, ""));
}

static void
add_columns (QmChart         *self,
             const QmElastic *elastic,
             const char      *head,
             const char      *currency,
             CellFunc         cell)
{
  guint n = self->column_values->len;
  QmChartColumns columns = { .head = g_strdup (head), .cells = g_new0 (char *, n + 1) };

  for (guint i = 0; i < n; i++)
    columns.cells[i] = cell (self->words, step_at (elastic, g_array_index (self->column_values, double, i)), currency);
  g_array_append_val (self->columns, columns);
}

/* The pointer and the keyboard find the fleet at the hours of the columns. */
static void
add_marks (QmChart         *self,
           const QmElastic *elastic,
           const char      *currency)
{
  for (guint i = 0; i < self->column_values->len; i++)
    {
      const QmElasticStep *step = step_at (elastic, g_array_index (self->column_values, double, i));
      QmChartPoint point = { .x = step->seconds, .y = step->ready * elastic->replica.per_second, .ink = QM_INK_TEAL, .faint = TRUE,
                             .marker = QM_MARKER_DISC, .range_x = QM_RANGE_UNKNOWN, .range_y = QM_RANGE_UNKNOWN };
      g_autofree char *time = time_cell (self->words, step, currency);
      g_autofree char *load = load_cell (self->words, step, currency);
      g_autofree char *count = replicas_cell (self->words, step, currency);
      g_autofree char *wait = p99_cell (self->words, step, currency);
      g_autofree char *money = qm_format_money (self->words, step->money, currency);

      point.mark = qm_chart_add_mark (self, qm_fill (self->words->translate (N_("After {time}: {load} requests a second, {count} replicas, "
                                                                                "99 of 100 answers within {wait}, {money} so far")),
                                                     "time", time, "load", load, "count", count, "wait", wait, "money", money, NULL), -1);
      g_array_append_val (self->points, point);
      qm_chart_add_record (self, time, load, count, wait, money, NULL);
    }
}

/* The smallest fleet that keeps up all the time: what the answer to the plan
 * rents, where the rule of the autoscaler holds more in reserve. */
static const QmElasticRun *
least_run (const QmElastic *elastic)
{
  for (guint i = 0; i < elastic->fixed->len; i++)
    {
      const QmElasticRun *run = &g_array_index (elastic->fixed, QmElasticRun, i);

      if (run->late_share == 0)
        return run;
    }

  return qm_elastic_peak_run (elastic);
}

/* Following the load costs more than to stand still. */
static void
set_words_against (QmChart            *self,
                   const QmElastic    *elastic,
                   const QmElasticRun *least,
                   const char         *name,
                   const char         *currency)
{
  const QmWords *words = self->words;
  g_autofree char *count = qm_format_count (words, least->most_replicas);
  g_autofree char *fewest = qm_format_count (words, elastic->rule.fewest);
  g_autofree char *target = qm_format_percent (words, elastic->rule.target);
  g_autofree char *money = qm_format_money (words, elastic->run.money, currency);
  g_autofree char *fixed = qm_format_money (words, least->money, currency);

  self->title = qm_fill (words->translate_plural ("{count} fixed replica carries the peak for less: {fixed} instead of {money}",
                                                  "{count} fixed replicas carry the peak for less: {fixed} instead of {money}",
                                                  least->most_replicas),
                         "count", count, "fixed", fixed, "money", money, NULL);
  self->subtitle = qm_fill (words->translate (N_("The autoscaler keeps {fewest} at least, so that one may fail, and adds more from {target} in "
                                                 "use; each is {name}")), "fewest", fewest, "target", target, "name", name, NULL);
}

static void
set_words (QmChart            *self,
           const QmElastic    *elastic,
           const QmElasticRun *peak,
           const char         *name,
           const char         *currency)
{
  const QmWords *words = self->words;
  double saved = 1 - elastic->run.money / peak->money;
  g_autofree char *share = qm_format_percent (words, saved);
  g_autofree char *money = qm_format_money (words, elastic->run.money, currency);
  g_autofree char *mean = qm_format_number (words, elastic->run.mean_replicas);
  g_autofree char *p99 = qm_format_seconds (words, elastic->run.p99_seconds);
  g_autofree char *fixed = qm_format_seconds (words, peak->p99_seconds);

  if (least_run (elastic)->money < 0.99 * elastic->run.money)
    {
      set_words_against (self, elastic, least_run (elastic), name, currency);
      return;
    }

  self->title = saved > 0.01 ? qm_fill (words->translate (N_("Replicas that follow the load save {share} of the cost")), "share", share, NULL)
                             : g_strdup (words->translate (N_("Replicas that follow the load save nothing here")));
  self->subtitle = isfinite (elastic->run.p99_seconds)
    ? qm_fill (words->translate (N_("{money} with {mean} replicas in the mean, each {name}; 99 of 100 answers within {p99}, "
                                    "with the fixed fleet {fixed}")),
               "money", money, "mean", mean, "name", name, "p99", p99, "fixed", fixed, NULL)
    : qm_fill (words->translate (N_("{money} with {mean} replicas in the mean, each {name}")), "money", money, "mean", mean,
               "name", name, NULL);
}

/**
 * qm_chart_describe_elastic:
 * @elastic: a fleet that follows a load
 * @name: of one replica
 * @currency: of the money
 * @words: the reader's language
 *
 * Returns: (transfer full): load and capacity over time, with replicas, waits and
 *   money below, against the fixed fleet for the peak
 */
QmChart *
qm_chart_describe_elastic (const QmElastic *elastic,
                           const char      *name,
                           const char      *currency,
                           const QmWords   *words)
{
  QmChart *self = qm_chart_alloc (QM_CHART_ELASTIC, QM_FORM_PLANE, words);
  const QmElasticRun *peak = qm_elastic_peak_run (elastic);
  double span = qm_load_span (elastic->load), stride = stride_of (span);
  double highest = MAX (elastic->run.most_replicas, peak->most_replicas) * elastic->replica.per_second;
  g_autofree char *cost = qm_fill (words->translate (N_("Cost, {currency}")), "currency", currency, NULL);

  set_words (self, elastic, peak, name, currency);
  self->x = (QmAxis) { .quantity = QM_QUANTITY_SECONDS, .low = 0, .high = span };
  self->y = (QmAxis) { .quantity = QM_QUANTITY_NUMBER, .title = g_strdup (words->translate (N_("Requests a second"))) };
  qm_axis_cover (&self->y, 0, highest * 1.12);
  add_load (self, elastic);
  add_capacity (self, elastic);
  add_peak_fleet (self, elastic, least_run (elastic)->money < 0.99 * elastic->run.money ? least_run (elastic) : peak, currency);
  for (double seconds = 0; seconds < span * 0.999; seconds += stride)
    g_array_append_val (self->column_values, seconds);
  qm_chart_add_record (self, words->translate (N_("Time")), words->translate (N_("Requests a second")), words->translate (N_("Replicas")),
                       words->translate (N_("99 of 100 within")), cost, NULL);
  add_marks (self, elastic, currency);
  add_columns (self, elastic, words->translate (N_("Time")), currency, time_cell);
  add_columns (self, elastic, words->translate (N_("Replicas")), currency, replicas_cell);
  add_columns (self, elastic, words->translate (N_("99 of 100 within")), currency, p99_cell);
  add_columns (self, elastic, cost, currency, money_cell);
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
