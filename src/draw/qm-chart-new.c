/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-chart-private.h"
#include "qm-language.h"

/**
 * qm_device_short_name:
 * @device: (nullable): a device
 *
 * Returns: its name without the maker's
 */
const char *
qm_device_short_name (const QmDevice *device)
{
  static const char * const makers[] = { "NVIDIA GeForce ", "NVIDIA ", "AMD ", "Intel ", "Apple ", "Google ", "AWS ", "Huawei " };

  if (device == NULL)
    return "";
  for (guint i = 0; i < G_N_ELEMENTS (makers); i++)
    if (g_str_has_prefix (device->name, makers[i]))
      return device->name + strlen (makers[i]);

  return device->name;
}

static QmChart *
refuse (GError     **error,
        const char  *sentence)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, sentence);
  return NULL;
}

static QmChart *
new_memory (QmRecommendation *recommendation,
            const QmChoice   *choice,
            const QmWords    *words,
            GError          **error)
{
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;
  double headroom = isnan (plan->limits.headroom) ? 0 : plan->limits.headroom;

  if (!qm_range_is_known (choice->estimate.memory.need))
    return refuse (error, words->translate (N_("There is no memory chart: how much memory this job needs is not known")));

  return qm_chart_describe_memory (&choice->estimate.memory, qm_device_short_name (choice->estimate.device), headroom, words);
}

/**
 * qm_chart_new:
 * @kind: which chart
 * @estimator: the estimator
 * @recommendation: what to show
 * @row: the row of the decision matrix that is looked at
 * @words: the reader's language
 * @error: return location for an error
 *
 * Returns: (transfer full): a chart; %NULL with %G_IO_ERROR_NOT_FOUND and a
 *   sentence that says why where the plan has nothing for it to show
 */
QmChart *
qm_chart_new (QmChartKind       kind,
              QmEstimator      *estimator,
              QmRecommendation *recommendation,
              guint             row,
              const QmWords    *words,
              GError          **error)
{
  const QmChoice *choice = row < qm_recommendation_n_rows (recommendation) ? qm_recommendation_row (recommendation, row) : NULL;
  QmChart *self = NULL;

  if (choice == NULL)
    return refuse (error, words->translate (N_("There is no chart: nothing that is allowed can run this job")));

  switch (kind)
    {
    case QM_CHART_MEMORY:
      self = new_memory (recommendation, choice, words, error);
      break;
    default:
      return refuse (error, words->translate (N_("There is nothing to draw for this plan")));
    }
  if (self != NULL)
    self->language = g_strdup (qm_language_get_tag ());

  return self;
}
