/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

#define QM_MOST_COST_PARTS 9

/**
 * QmCostPart:
 * @code: its member of the JSON, in English
 * @name: what it is called, a msgid
 */
typedef struct {
  const char *code;
  const char *name;
  double money;
} QmCostPart;

guint       qm_cost_parts_list   (const QmCostParts *self,
                                  QmCostPart         parts[QM_MOST_COST_PARTS]);

const char *qm_pricing_name      (const QmCost      *cost,
                                  const QmOffer     *offer);
int         qm_months_old        (const char        *as_of,
                                  const char        *today);

/* what the money is made of, where that needs words; and what is doubtful */
void        qm_money_explain     (QmEstimator       *estimator,
                                  const QmResolved  *resolved,
                                  const QmChoice    *choice,
                                  GPtrArray         *messages);
void        qm_money_warn        (QmEstimator       *estimator,
                                  const QmResolved  *resolved,
                                  const QmChoice    *choice,
                                  GPtrArray         *messages);

G_END_DECLS
