/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-recommendation-private.h"

/**
 * qm_recommendation_n_choices:
 * @self: a recommendation
 *
 * Returns: how many choices there are; 0 where nothing keeps the limits
 */
guint
qm_recommendation_n_choices (QmRecommendation *self)
{
  return self->choices->len;
}

/**
 * qm_recommendation_choice:
 * @self: a recommendation
 * @index: 0 is the best
 *
 * Returns: (transfer none): a choice
 */
const QmChoice *
qm_recommendation_choice (QmRecommendation *self,
                          guint             index)
{
  return &g_array_index (self->choices, QmChoice, index);
}

/**
 * qm_recommendation_n_rows:
 * @self: a recommendation
 *
 * Returns: how many rows the decision matrix has
 */
guint
qm_recommendation_n_rows (QmRecommendation *self)
{
  return self->rows->len;
}

/**
 * qm_recommendation_row:
 * @self: a recommendation
 * @index: the first rows are the choices
 *
 * Returns: (transfer none): a row of the decision matrix
 */
const QmChoice *
qm_recommendation_row (QmRecommendation *self,
                       guint             index)
{
  return &g_array_index (self->rows, QmChoice, index);
}

/**
 * qm_recommendation_get_nearest:
 * @self: a recommendation
 *
 * Returns: (transfer none) (nullable): where there is no choice, what comes
 *   nearest: the first row of the matrix or, where the job fits nowhere, the
 *   configuration that lacks the least memory; %NULL where there is a choice, and
 *   where nothing could be tried
 */
const QmChoice *
qm_recommendation_get_nearest (QmRecommendation *self)
{
  if (self->choices->len > 0)
    return NULL;
  if (self->rows->len > 0)
    return &g_array_index (self->rows, QmChoice, 0);

  return self->nearest->len > 0 ? &g_array_index (self->nearest, QmChoice, 0) : NULL;
}

/**
 * qm_recommendation_get_start:
 * @self: a recommendation
 *
 * The one configuration that an estimate of the plan is of, and that ways to need
 * less memory start from: what the person pinned, as it stands; else the first
 * choice, or what comes nearest where there is none.
 *
 * Returns: (transfer none) (nullable): it; %NULL where nothing could be tried
 */
const QmChoice *
qm_recommendation_get_start (QmRecommendation *self)
{
  if (self->pinned->len > 0)
    return &g_array_index (self->pinned, QmChoice, 0);
  if (self->choices->len > 0)
    return &g_array_index (self->choices, QmChoice, 0);

  return qm_recommendation_get_nearest (self);
}

/**
 * qm_recommendation_get_rejections:
 * @self: a recommendation
 *
 * Returns: (transfer none) (element-type QmRejection): the devices that were
 *   not chosen, and why
 */
GPtrArray *
qm_recommendation_get_rejections (QmRecommendation *self)
{
  return self->rejections;
}

/**
 * qm_recommendation_get_sensitivities:
 * @self: a recommendation
 *
 * Returns: (transfer none) (element-type QmSensitivity): what would change the answer
 */
GPtrArray *
qm_recommendation_get_sensitivities (QmRecommendation *self)
{
  return self->sensitivities;
}

/**
 * qm_recommendation_get_stages:
 * @self: a recommendation
 *
 * Returns: (transfer none) (element-type QmStagePlan): the plan in three stages
 */
GPtrArray *
qm_recommendation_get_stages (QmRecommendation *self)
{
  return self->stages;
}

/**
 * qm_recommendation_get_warnings:
 * @self: a recommendation
 *
 * Returns: (transfer none) (element-type QmMessage): what the reader should mind
 */
GPtrArray *
qm_recommendation_get_warnings (QmRecommendation *self)
{
  return self->warnings;
}

/**
 * qm_recommendation_get_resolved:
 * @self: a recommendation
 *
 * Returns: (transfer none): the plan that it answers
 */
const QmResolved *
qm_recommendation_get_resolved (QmRecommendation *self)
{
  return self->resolved;
}

/**
 * qm_recommendation_get_here:
 * @self: a recommendation
 *
 * Returns: (transfer none) (nullable): what this computer had when it was asked
 */
const QmHere *
qm_recommendation_get_here (QmRecommendation *self)
{
  return self->here;
}

/**
 * qm_recommendation_get_estimator:
 * @self: a recommendation
 *
 * Returns: (transfer none): what its figures come from
 */
QmEstimator *
qm_recommendation_get_estimator (QmRecommendation *self)
{
  return self->estimator;
}

/**
 * qm_recommendation_get_considered:
 * @self: a recommendation
 *
 * Returns: how many configurations were considered
 */
guint64
qm_recommendation_get_considered (QmRecommendation *self)
{
  return self->considered;
}

/**
 * qm_recommendation_get_seconds:
 * @self: a recommendation
 *
 * Returns: how long the search took, as its caller measured it
 */
double
qm_recommendation_get_seconds (QmRecommendation *self)
{
  return self->seconds;
}

/**
 * qm_recommendation_set_seconds:
 * @self: a recommendation
 * @seconds: how long the search took
 *
 * The core has no clock: who asked for the answer measures it.
 */
void
qm_recommendation_set_seconds (QmRecommendation *self,
                               double            seconds)
{
  self->seconds = seconds;
}
