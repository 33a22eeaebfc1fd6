/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-search.h"

G_BEGIN_DECLS

/* What makes hardware harder to use than its price says. A set of them is bits
 * 1 << value. */
typedef enum {
  QM_HURDLE_DEVICES,                /* several devices in a machine */
  QM_HURDLE_MACHINES,               /* several machines for one job */
  QM_HURDLE_REPLICAS,
  QM_HURDLE_STACK,                  /* ROCm and the like */
  QM_HURDLE_FRAMEWORK,              /* TPU, NPU */
  QM_HURDLE_OLD,
  QM_HURDLE_ARM_HOST,
  QM_HURDLE_SPOT,
  QM_HURDLE_MARKETPLACE,
  QM_HURDLE_PER_GPU,
  QM_HURDLE_SMALL_PROVIDER,
  QM_HURDLE_PURCHASE,
  QM_HURDLE_HOME_SERVICE,
  QM_HURDLE_UNRELIABLE_SERVICE,
  QM_HURDLE_GPU_SERVICE,
  QM_HURDLE_GPU_TABLE,
  QM_HURDLE_OFFLOAD,
  QM_HURDLE_LATE,
  QM_HURDLE_TIGHT,                  /* less memory stays free than was asked for */
  QM_HURDLE_THERE,                  /* the opposite of one */
  QM_N_HURDLES
} QmHurdle;

double     qm_hurdles_weigh   (const QmJob       *job,
                               const QmPlacement *placement,
                               const QmRecipe    *recipe,
                               const QmSolution  *solution,
                               guint             *set);
GPtrArray *qm_hurdles_explain (guint              set,
                               const char        *needs,
                               const QmEconomics *economics,
                               guint              most);
const char *qm_hurdles_brief  (guint              set,
                               const QmEconomics *economics);

G_END_DECLS
