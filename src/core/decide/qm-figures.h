/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-placement.h"

G_BEGIN_DECLS

/**
 * QmJob:
 *
 * What of the plan time, cost and accuracy depend on, worked out once.
 */
typedef struct {
  QmEstimator *estimator;
  const QmEconomics *economics;
  const QmResolved *resolved;
  const QmPlan *plan;
  gboolean training;
  gboolean serving;
  double total_samples;             /* 0 unknown */
  double total_tokens;              /* 0 unknown */
  double per_usd;                   /* of the plan's currency */
  double peak_requests_per_second;  /* serving; 0 unknown */
} QmJob;

void       qm_job_init           (QmJob             *self,
                                  QmEstimator       *estimator,
                                  const QmResolved  *resolved);

/* time of the job, once memory and rate are there */
void       qm_job_time           (const QmJob       *self,
                                  QmPricing          pricing,
                                  int                machines,
                                  QmEstimate        *estimate);

/* money and energy, once the time is there */
void       qm_job_cost           (const QmJob       *self,
                                  const QmPlacement *placement,
                                  int                machines,
                                  QmEstimate        *estimate);

/* of one recipe: does not depend on the hardware */
QmAccuracy qm_job_accuracy       (const QmJob       *self,
                                  const QmPlan      *variant);

double     qm_spot_time_factor   (double             interruptions_per_hour,
                                  double             checkpoint_seconds,
                                  double             restart_seconds,
                                  double            *interval_seconds);

G_END_DECLS
