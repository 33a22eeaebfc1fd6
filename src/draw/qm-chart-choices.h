/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-bands.h"
#include "decide/qm-elastic.h"
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
  double latency_seconds;           /* asked of 99 in 100 answers; 0 none */
} QmChoiceSet;

/**
 * QmSpotFigures:
 * @money: of the job without any interruption
 * @on_demand_money: of the same on machines that stay; NaN unknown
 * @seconds: of the job without any interruption
 */
typedef struct {
  double money;
  double on_demand_money;
  double seconds;
  double interruptions_per_hour;
  double checkpoint_seconds;
  double restart_seconds;
} QmSpotFigures;

/**
 * QmOwningFigures:
 * @purchase: less what it is sold for in the end
 * @lifetime_hours: of use over which it is paid off
 * @use_hours_per_month: NaN where that is day and night
 * @rent_per_hour: what renting costs for the work of one hour of the own device
 */
typedef struct {
  double purchase;
  double own_per_hour;
  QmRange rent_per_hour;
  double break_even_hours;
  double lifetime_hours;
  double resale_share;
  double use_hours_per_month;
} QmOwningFigures;

char    *qm_choice_short_name         (const QmChoice    *choice,
                                       const QmWords     *words);
QmChart *qm_chart_describe_cost_time  (const QmChoiceSet *set,
                                       const QmWords     *words,
                                       GError           **error);
QmChart *qm_chart_describe_accuracy   (const QmChoiceSet *set,
                                       const QmWords     *words,
                                       GError           **error);
QmChart *qm_chart_describe_serving    (const QmChoiceSet *set,
                                       const QmWords     *words,
                                       GError           **error);
QmChart *qm_chart_describe_spot       (const QmSpotFigures *figures,
                                       const char        *name,
                                       const char        *currency,
                                       const QmWords     *words);
QmChart *qm_chart_describe_elastic    (const QmElastic   *elastic,
                                       const char        *name,
                                       const char        *currency,
                                       const QmWords     *words);
QmChart *qm_chart_describe_buy_or_rent (const QmOwningFigures *figures,
                                       const char        *name,
                                       const char        *currency,
                                       const QmWords     *words);
QmChart *qm_chart_describe_decision   (const GArray      *bands,
                                       QmDial             dial,
                                       double             limit,
                                       gboolean           serves,
                                       const char        *currency,
                                       const QmWords     *words);

G_END_DECLS
