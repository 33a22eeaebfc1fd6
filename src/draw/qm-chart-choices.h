/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-chart-private.h"

G_BEGIN_DECLS

/**
 * QmChoiceSet:
 * @rows: (array length=n): of the decision matrix
 * @chosen: index in @rows
 *
 * What a chart of choices is made from.
 */
typedef struct {
  const QmChoice * const *rows;
  guint n;
  guint chosen;
  const char *currency;
  double deadline_seconds;          /* NaN none */
  double budget;                    /* NaN none */
  double minimum_quality;           /* NaN none */
} QmChoiceSet;

char    *qm_choice_short_name         (const QmChoice    *choice,
                                       const QmWords     *words);
QmChart *qm_chart_describe_cost_time  (const QmChoiceSet *set,
                                       const QmWords     *words,
                                       GError           **error);
QmChart *qm_chart_describe_accuracy   (const QmChoiceSet *set,
                                       const QmWords     *words,
                                       GError           **error);

G_END_DECLS
