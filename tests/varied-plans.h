/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-catalog.h"
#include "plan/qm-plan.h"

/* Plans of every task and activity, as different as people's are. */

char   *varied_plan_json (QmCatalog *catalog,
                          guint32    seed);
QmPlan *varied_plan_new  (QmCatalog *catalog,
                          guint32    seed);
