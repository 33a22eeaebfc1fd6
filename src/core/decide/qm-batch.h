/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/* How large a batch may be before it costs samples. */

double     qm_batch_critical (QmEstimator      *estimator,
                              const QmResolved *resolved);
QmMessage *qm_batch_explain  (QmEstimator      *estimator,
                              const QmResolved *resolved);

G_END_DECLS
