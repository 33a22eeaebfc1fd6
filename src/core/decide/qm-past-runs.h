/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/* the latest last; what it holds is private */
GPtrArray  *qm_past_runs_new      (void);
void        qm_past_runs_add      (GPtrArray         *runs,
                                   QmResolved        *resolved,
                                   const QmEstimate  *estimate,
                                   double             bytes);
double      qm_past_runs_measured (GPtrArray         *runs,
                                   const QmResolved  *resolved,
                                   const QmEstimate  *estimate);

/**
 * QmGrowth:
 * @per_ten_layers: bytes of memory that ten layers more take
 * @bytes: what the plan would take by that
 * @runs: of how many runs it is known
 *
 * What runs of the same structure and another depth say of a plan.
 */
typedef struct {
  double per_ten_layers;
  double bytes;
  guint runs;
} QmGrowth;

gboolean    qm_past_runs_growth   (GPtrArray         *runs,
                                   const QmResolved  *resolved,
                                   const QmEstimate  *estimate,
                                   QmGrowth          *growth);

G_END_DECLS
