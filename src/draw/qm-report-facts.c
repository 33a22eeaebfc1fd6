/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-phrases.h"
#include "qm-report-private.h"

/* The four facts of the first page, each with its range and limit on a bar. */

#define GUTTER  12
#define PADDING 9
#define BAR     8

typedef struct {
  const char *name;
  char *value;
  char *range_text;
  char *limit_text;
  QmRange range;
  double limit;                     /* NaN none */
  double low, high;                 /* ends of the bar */
  QmInk ink;
} Fact;

static void
fact_clear (Fact *fact)
{
  g_free (fact->value);
  g_free (fact->range_text);
  g_free (fact->limit_text);
}

static Fact
memory_fact (const QmReport *report)
{
  const QmMemory *memory = &report->best->estimate.memory;
  double share = 1 - qm_plan_get_headroom (report->resolved->plan);
  g_autofree char *range = qm_format_bytes_range (report->words, memory->need);
  g_autofree char *usable = qm_format_bytes (report->words, memory->usable_bytes);

  return (Fact) {
    .name = N_("Memory"),
    .value = qm_format_bytes (report->words, memory->need.p50),
    .range_text = qm_fill (report->words->translate (N_("{range} of {usable}")), "range", range, "usable", usable, NULL),
    .limit_text = qm_format_percent (report->words, share),
    .range = memory->need,
    .limit = memory->usable_bytes * share,
    .high = MAX (memory->usable_bytes, memory->need.p90 * 1.05),
    .ink = QM_INK_BLUE,
  };
}

static Fact
time_fact (const QmReport *report)
{
  const QmEstimate *estimate = &report->best->estimate;
  gboolean serves = report->resolved->plan->activity == QM_ACTIVITY_SERVE;
  QmRange seconds = serves ? estimate->serving.latency_p99_seconds : estimate->time.finish;
  double limit = serves ? report->resolved->plan->serving.latency_p99_seconds : report->resolved->plan->limits.hours * 3600;

  if (!(limit > 0))
    limit = NAN;

  return (Fact) {
    .name = serves ? N_("99 of 100 answers within") : N_("Time"),
    .value = qm_format_seconds_against (report->words, seconds.p50, limit),
    .range_text = qm_format_seconds_range (report->words, seconds),
    .limit_text = isnan (limit) ? NULL : qm_format_seconds (report->words, limit),
    .range = seconds,
    .limit = limit,
    .high = MAX (seconds.p90 * 1.15, isnan (limit) ? 0 : limit * 1.25),
    .ink = QM_INK_TEAL,
  };
}

static Fact
cost_fact (const QmReport *report)
{
  QmRange money = report->best->estimate.cost.money;
  double limit = report->resolved->plan->limits.money;

  return (Fact) {
    .name = report->resolved->plan->activity == QM_ACTIVITY_SERVE ? N_("Cost of a month") : N_("Cost"),
    .value = qm_format_money (report->words, money.p50, report->currency),
    .range_text = qm_format_money_range (report->words, money, report->currency),
    .limit_text = isnan (limit) ? NULL : qm_format_money (report->words, limit, report->currency),
    .range = money,
    .limit = limit,
    .high = MAX (money.p90 * 1.15, isnan (limit) ? 0 : limit * 1.2),
    .ink = QM_INK_ORANGE,
  };
}

static Fact
quality_fact (const QmReport *report)
{
  const QmAccuracy *accuracy = &report->best->estimate.accuracy;
  QmRange value = accuracy->value;
  Fact fact = { .name = N_("Quality"), .range = value, .limit = NAN, .ink = QM_INK_PURPLE };

  fact.range_text = qm_report_quality (report, accuracy);
  if (!qm_range_is_known (value))
    {
      fact.value = g_strdup ("–");
      return fact;
    }
  if (accuracy->is_relative)
    {
      fact.value = qm_format_points (report->words, value.p50);
      fact.low = MIN (-4, value.p10 * 1.2);
      fact.high = 0.5;
      return fact;
    }
  if (g_strcmp0 (accuracy->metric, "loss") == 0)
    {
      fact.value = qm_format_number (report->words, value.p50);
      fact.low = value.p10 * 0.9;
      fact.high = value.p90 * 1.1;
      return fact;
    }

  fact.value = qm_phrase_quality (report->words, accuracy);
  fact.high = 1;
  if (report->resolved->plan->limits.min_accuracy > 0)
    {
      fact.limit = report->resolved->plan->limits.min_accuracy;
      fact.limit_text = qm_format_percent (report->words, fact.limit);
    }

  return fact;
}

static double
place (const Fact *fact,
       QmBox       bar,
       double      value)
{
  return bar.x + bar.width * CLAMP ((value - fact->low) / (fact->high - fact->low), 0, 1);
}

static void
draw_bar (QmScene    *scene,
          const Fact *fact,
          QmBox       bar)
{
  double low = place (fact, bar, fact->range.p10), middle = place (fact, bar, fact->range.p50);
  double high = place (fact, bar, fact->range.p90), zero = place (fact, bar, 0);

  qm_scene_rectangle (scene, bar, 4, QM_INK_TEXT, 0.10);
  if (fact->low == 0)
    qm_scene_rectangle (scene, (QmBox) { zero, bar.y, middle - zero, bar.height }, 4, fact->ink, 1);
  qm_scene_rectangle (scene, (QmBox) { low, bar.y, high - low, bar.height }, 0, fact->ink, 0.38);
  if (!isnan (fact->limit))
    {
      double x = place (fact, bar, fact->limit);

      qm_scene_hatch (scene, (QmBox) { x, bar.y, bar.x + bar.width - x, bar.height }, QM_HATCH_RISING, QM_INK_TEXT, 0.28, 4);
      scene->layer = QM_LAYER_LIMITS;
      qm_scene_line (scene, x, bar.y - 3, x, bar.y + bar.height + 3, QM_INK_TEXT, 1.6, 0);
      scene->layer = QM_LAYER_SHAPES;
    }
  qm_scene_line (scene, low, bar.y - 2, low, bar.y + bar.height + 2, fact->ink, 1.2, 0);
  qm_scene_line (scene, high, bar.y - 2, high, bar.y + bar.height + 2, fact->ink, 1.2, 0);
  qm_scene_marker (scene, middle, bar.y + bar.height / 2, 3.6, QM_MARKER_DISC, FALSE, fact->ink, 1);
}

static void
lay_ends (QmScene    *scene,
          const Fact *fact,
          QmBox       bar,
          double      y)
{
  QmTextStyle style = { .size = 7.6, .ink = QM_INK_SECOND };
  QmTextStyle limit = { .size = 7.6, .weight = 500, .ink = QM_INK_TEXT, .horizontal = 0.5 };
  double half, x;

  if (fact->limit_text == NULL)
    return;

  half = qm_scene_measure (scene, fact->limit_text, &limit).width / 2;
  x = CLAMP (place (fact, bar, fact->limit), bar.x + half, bar.x + bar.width - half);
  qm_scene_text (scene, x, y, fact->limit_text, &limit);
  if (fact->low == 0 && x - half > bar.x + 12)
    qm_scene_text (scene, bar.x, y, "0", &style);
}

static double
lay_fact (QmScene       *scene,
          const QmWords *words,
          const Fact    *fact,
          double         x,
          double         width)
{
  QmTextStyle name = { .size = 8, .weight = 600, .ink = QM_INK_SECOND, .wrap = width - 2 * PADDING };
  QmTextStyle value = { .size = 16, .weight = 700, .ink = QM_INK_TEXT, .wrap = width - 2 * PADDING };
  QmTextStyle range = { .size = 7.6, .ink = QM_INK_SECOND, .wrap = width - 2 * PADDING };
  QmBox box = qm_scene_text (scene, x + PADDING, 10, words->translate (fact->name), &name);
  QmBox bar;

  box = qm_scene_text (scene, x + PADDING, box.y + box.height + 2, fact->value, &value);
  box = qm_scene_text (scene, x + PADDING, box.y + box.height + 2, fact->range_text, &range);
  bar = (QmBox) { x + PADDING, 0, width - 2 * PADDING, BAR };
  bar.y = MAX (box.y + box.height + 9, 66);
  if (qm_range_is_known (fact->range) && fact->high > fact->low)
    {
      draw_bar (scene, fact, bar);
      lay_ends (scene, fact, bar, bar.y + BAR + 6);
    }

  return bar.y + BAR + 24;
}

/**
 * qm_report_facts:
 * @report: a report with a choice
 *
 * Adds the four facts.
 */
void
qm_report_facts (QmReport *report)
{
  Fact facts[] = { memory_fact (report), time_fact (report), cost_fact (report), quality_fact (report) };
  QmScene *scene = qm_scene_new (report->document->language);
  const guint n = G_N_ELEMENTS (facts);
  double width = (qm_document_width (report->document) - (n - 1) * GUTTER) / n;
  g_autoptr (GString) alternative = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (facts); i++)
    {
      g_autofree char *text = NULL;

      double height = lay_fact (scene, report->words, &facts[i], i * (width + GUTTER), width);

      scene->height = MAX (scene->height, height);
      text = qm_fill (report->words->translate (N_("{name}: {value} ({range}).")), "name",
                      report->words->translate (facts[i].name), "value", facts[i].value, "range", facts[i].range_text, NULL);
      g_string_append_printf (alternative, "%s\n", text);
    }
  scene->layer = QM_LAYER_GROUND;
  for (guint i = 0; i < G_N_ELEMENTS (facts); i++)
    {
      qm_scene_rectangle (scene, (QmBox) { i * (width + GUTTER), 0, width, scene->height }, 0, QM_INK_TEXT, 0.035);
      qm_scene_rectangle (scene, (QmBox) { i * (width + GUTTER), 0, width, 2 }, 0, facts[i].ink, 1);
      fact_clear (&facts[i]);
    }

  qm_document_scene (report->document, scene, alternative->str);
}
