/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/* (transfer floating): what the figures of the first choice are made of */
AdwDialog *qm_breakdown_new (QmEstimator      *estimator,
                              QmRecommendation *recommendation);

G_END_DECLS
