/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-chart.h"

G_BEGIN_DECLS

typedef enum {
  QM_COMPARED_MEMORY,
  QM_COMPARED_TIME,
  QM_COMPARED_MONEY,
  QM_COMPARED_MONTH,
  QM_N_COMPARED,
} QmCompared;

/**
 * QmComparedPlan:
 * @name: how the reader knows it
 * @value: the figure: a share, seconds or money
 * @currency: of money
 */
typedef struct {
  const char *name;
  QmRange value;
  const char *currency;
} QmComparedPlan;

QmChart *qm_chart_describe_compared (QmCompared            what,
                                     const QmComparedPlan *plans,
                                     double                limit,
                                     const QmWords        *words);

G_END_DECLS
