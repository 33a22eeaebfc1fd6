/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-chart-compare.h"

#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"

/* One figure of two plans on one axis: what they have in common is the scale. */

typedef char *(*Write) (const QmWords *words,
                        double         value,
                        const char    *currency);

static char *
write_share (const QmWords *words,
             double         value,
             const char    *currency)
{
  return qm_format_percent (words, value);
}

static char *
write_seconds (const QmWords *words,
               double         value,
               const char    *currency)
{
  return qm_format_seconds (words, value);
}

static char *
write_money (const QmWords *words,
             double         value,
             const char    *currency)
{
  return qm_format_money (words, value, currency);
}

static const struct {
  const char *name;
  const char *same;
  const char *less;
  QmQuantity quantity;
  Write write;
} figures[QM_N_COMPARED] = {
  [QM_COMPARED_MEMORY] = { N_("Memory of each device, share of what it holds"), N_("Both fill their devices alike"),
                           N_("{less} fills less of its devices"), QM_QUANTITY_PERCENT, write_share },
  [QM_COMPARED_TIME] = { N_("Time to the result, with what eight of ten runs take"), N_("Both take the same time"),
                         N_("{less} is {factor} faster"), QM_QUANTITY_SECONDS, write_seconds },
  [QM_COMPARED_MONEY] = { N_("Money, with what eight of ten runs cost"), N_("Both cost the same"),
                          N_("{less} costs {difference} less"), QM_QUANTITY_MONEY, write_money },
  [QM_COMPARED_MONTH] = { N_("Money for a month, with its range"), N_("Both cost the same"),
                          N_("{less} costs {difference} less a month"), QM_QUANTITY_MONEY, write_money },
};

static char *
title_of (QmCompared             what,
          const QmComparedPlan  *plans,
          const QmWords         *words)
{
  double a = plans[0].value.p50, b = plans[1].value.p50;
  const QmComparedPlan *less = &plans[a <= b ? 0 : 1];
  g_autofree char *factor = qm_format_factor (words, MAX (a, b) / MIN (a, b));
  g_autofree char *difference = figures[what].write (words, fabs (a - b), plans[0].currency);

  if (fabs (a - b) <= 0.02 * MAX (a, b))
    return g_strdup (words->translate (figures[what].same));

  return qm_fill (words->translate (figures[what].less), "less", less->name, "factor", factor, "difference", difference, NULL);
}

static void
add_plan (QmChart              *self,
          QmCompared            what,
          const QmComparedPlan *plan,
          guint                 index)
{
  QmChartRow row = { .name = g_strdup (plan->name), .value = plan->value, .bar = TRUE, .ink = index == 0 ? QM_INK_BLUE : QM_INK_ORANGE,
                     .hatch = index == 0 ? QM_HATCH_NONE : QM_HATCH_RISING };
  g_autofree char *low = figures[what].write (self->words, plan->value.p10, plan->currency);
  g_autofree char *high = figures[what].write (self->words, plan->value.p90, plan->currency);
  g_autofree char *range = g_strdup_printf ("%s – %s", low, high);

  row.value_text = figures[what].write (self->words, plan->value.p50, plan->currency);
  row.mark = qm_chart_add_mark (self, g_strdup_printf ("%s: %s (%s)", plan->name, row.value_text, range), -1);
  qm_chart_add_record (self, plan->name, row.value_text, range, NULL);
  g_array_append_val (self->rows, row);
}

/**
 * qm_chart_describe_compared:
 * @what: which figure
 * @plans: (array fixed-size=2): the two plans
 * @limit: what the first plan allows, in the unit of the figure; NaN none
 * @words: the reader's language
 *
 * Returns: (transfer full) (nullable): both on one axis; %NULL where one of them
 *   has no such figure
 */
QmChart *
qm_chart_describe_compared (QmCompared            what,
                            const QmComparedPlan *plans,
                            double                limit,
                            const QmWords        *words)
{
  QmChart *self;
  double high;

  if (!qm_range_is_known (plans[0].value) || !qm_range_is_known (plans[1].value) || !(plans[0].value.p50 > 0) || !(plans[1].value.p50 > 0))
    return NULL;

  self = qm_chart_alloc (QM_CHART_COMPARED, QM_FORM_ROWS, words);
  high = MAX (plans[0].value.p90, plans[1].value.p90);
  /* A limit far beyond both says nothing. */
  if (limit > 0 && limit < 4 * high)
    {
      g_autofree char *text = figures[what].write (words, limit, plans[0].currency);

      qm_chart_add_limit (self, limit, qm_fill (words->translate (N_("allowed: {limit}")), "limit", text, NULL), FALSE);
      high = MAX (high, limit);
    }
  self->x = (QmAxis) { .quantity = figures[what].quantity, .high = 1.12 * high };
  self->title = title_of (what, plans, words);
  self->subtitle = g_strdup (words->translate (figures[what].name));
  qm_chart_add_record (self, words->translate (N_("Plan")), words->translate (N_("Expected")), words->translate (N_("Range")), NULL);
  for (guint i = 0; i < 2; i++)
    add_plan (self, what, &plans[i], i);
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
