/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/* The limits that a person turns to see the answer change. */
typedef enum {
  QM_DIAL_MONEY,
  QM_DIAL_HOURS,
  QM_N_DIALS,
} QmDial;

/**
 * QmBand:
 * @from: of the limit, in its own unit: money in the plan's currency, or hours
 * @possible: whether anything keeps the limits there
 * @choice: what is chosen there; where @possible
 *
 * Values of a limit that have one answer.
 */
typedef struct {
  double from;
  double to;
  gboolean possible;
  QmChoice choice;
} QmBand;

/* which hardware wins at each value of a limit, the others as they are; in
 * order and without gaps, empty where the limit makes no difference */
GArray *qm_recommendation_bands (QmRecommendation *self,
                                 const QmHere     *here,
                                 QmDial            dial,
                                 GCancellable     *cancellable);

G_END_DECLS
