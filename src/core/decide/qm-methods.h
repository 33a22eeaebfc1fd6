/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-estimator.h"
#include "plan/qm-defaults.h"

G_BEGIN_DECLS

/**
 * QmMethodMemory:
 * @method: how much of the model is trained
 * @bytes: memory that it takes
 */
typedef struct {
  QmMethod method;
  QmRange bytes;
} QmMethodMemory;

GArray *qm_methods_compare (QmEstimator      *estimator,
                            const QmResolved *resolved,
                            const QmEstimate *estimate);

G_END_DECLS
