/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

/* The catalog that is shipped, and plans that are asked of it. In plans single
 * quotes may stand for double ones, where there are none of these. */

#define PLAN(rest) "{\"format\":\"quartermaster-plan\",\"version\":1," rest "}"

extern QmCatalog *catalog;
extern QmEstimator *estimator;

void              shipped_load (void);
int               shipped_run  (void);
QmResolved       *resolve      (const char *json);
QmRecommendation *recommend    (const char *json);
