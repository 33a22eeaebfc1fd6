/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/* What more devices bring, and when they are worth it; qm_scaling_curve() is in
 * qm-recommendation.h. */

int        qm_scaling_justified       (const GArray     *curve);
QmMessage *qm_scaling_explain_workers (QmEstimator      *estimator,
                                       const QmResolved *resolved,
                                       const QmChoice   *choice);

G_END_DECLS
