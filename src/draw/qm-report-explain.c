/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-report-private.h"

static const char *
tr (const QmReport *report,
    const char     *msgid)
{
  return report->words->translate (msgid);
}

static char *
rule_sentence (const QmReport *report,
               double          bytes,
               const char     *below,
               const char     *above)
{
  double need = report->best->estimate.memory.need.p50;
  g_autofree char *size = qm_format_bytes (report->words, bytes);
  g_autofree char *difference = qm_format_bytes (report->words, fabs (bytes - need));

  if (!(bytes > 0) || fabs (bytes - need) < 0.03 * need)
    return g_strdup ("");

  return qm_fill (tr (report, bytes < need ? below : above), "size", size, "difference", difference, NULL);
}

static char *
memory (const QmReport *report)
{
  const QmMemory *memory = &report->best->estimate.memory;
  QmMemoryPart largest = 0;
  g_autofree char *size = NULL, *first = NULL, *quick = NULL, *basic = NULL;

  for (QmMemoryPart part = 0; part < QM_MEMORY_N_PARTS; part++)
    if (memory->parts[part] > memory->parts[largest])
      largest = part;

  size = qm_format_bytes (report->words, memory->parts[largest]);
  first = qm_fill (tr (report, N_("The largest part is “{part}” with {size}.")), "part", tr (report, qm_memory_part_name (largest)),
                   "size", size, NULL);
  quick = rule_sentence (report, memory->quick_bytes,
                         N_("The quick rule (parameters × 2 × 1.2) says {size}, which is {difference} too low."),
                         N_("The quick rule (parameters × 2 × 1.2) says {size}, which is {difference} too high."));
  basic = rule_sentence (report, memory->basic_bytes,
                         N_("The basic rule (parameters × 4 × 1.3) says {size}, which is {difference} too low."),
                         N_("The basic rule (parameters × 4 × 1.3) says {size}, which is {difference} too high."));

  return g_strstrip (g_strjoin (" ", first, quick, basic, NULL));
}

static char *
accuracy (const QmReport *report)
{
  const char *source = report->best->estimate.accuracy.source;
  const char *rule = tr (report, N_("The marginal rule asks for half a point of quality before it doubles the resources."));
  g_autofree char *from = NULL;

  if (source == NULL)
    return g_strdup (rule);

  from = qm_fill (tr (report, N_("The figures come from: {source}.")), "source", source, NULL);
  return g_strjoin (" ", rule, from, NULL);
}

/* What one must know to read a chart, in a sentence or two. */
char *
qm_report_explanation (const QmReport *report,
                       QmChartKind     kind)
{
  if (report->best == NULL)
    return g_strdup ("");

  switch (kind)
    {
    case QM_CHART_MEMORY:
      return memory (report);
    case QM_CHART_SIZING:
      return g_strdup (tr (report, N_("Rules of thumb count parameters only; what a job needs also depends on its method, its batch and "
                                      "the length of its texts.")));
    case QM_CHART_SCALING:
      return g_strdup (tr (report, N_("The dashed line is what more devices would bring if nothing were lost. What is lost goes into "
                                      "traffic between devices and into what cannot be split.")));
    case QM_CHART_LATENCY:
      return g_strdup (tr (report, N_("The more people come, the longer each waits; near the end of what is answered the waiting grows "
                                      "without bound. A fifth is therefore kept in reserve.")));
    case QM_CHART_COST_TIME:
      return g_strdup (tr (report, N_("Better is lower and further left. Slanted lines are ranges: time and money move together. Grey "
                                      "choices are beaten by another in both, and what lies in the hatching breaks one of your limits.")));
    case QM_CHART_DECISION_HOURS:
    case QM_CHART_DECISION_MONEY:
      return g_strdup (tr (report, N_("Each stretch of the line is one answer: between its ends the limit may move without changing it. "
                                      "All other limits stay as they are.")));
    case QM_CHART_ACCURACY:
      return accuracy (report);
    case QM_CHART_SPOT:
      return g_strdup (tr (report, N_("Saving often costs time, saving rarely costs lost work; the lowest point of the curve is the "
                                      "interval to choose.")));
    case QM_CHART_ELASTIC:
      return g_strdup (tr (report, N_("An autoscaler that keeps seven tenths of the capacity in use: a new replica is paid for while it warms up, and "
                                      "one is removed only when five minutes agree. The day is made up from the mean and the peak of the "
                                      "plan.")));
    case QM_CHART_BUY_OR_RENT:
      return g_strdup (tr (report, N_("Renting costs by the hour; owning costs at once and then the power.")));
    default:
      return g_strdup ("");
    }
}
