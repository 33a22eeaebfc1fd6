/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-placement.h"

G_BEGIN_DECLS

/* Relative uncertainty (ln p90/p50) of a price that was remembered, not listed. */
#define QM_REMEMBERED_PRICE_WIDTH 0.26

/**
 * QmJob:
 *
 * What of the plan time, cost and accuracy depend on, worked out once.
 */
typedef struct {
  QmEstimator *estimator;
  const QmEconomics *economics;     /* of the catalog and the plan: @applied */
  QmEconomics applied;
  const QmResolved *resolved;
  const QmPlan *plan;
  gboolean training;
  gboolean serving;
  double total_samples;             /* 0 unknown */
  double total_tokens;              /* 0 unknown */
  double per_usd;                   /* of the plan's currency */
  double peak_requests_per_second;  /* serving; 0 unknown */
  double headroom;                  /* of the memory, kept free */
} QmJob;

void       qm_job_init           (QmJob             *self,
                                  QmEstimator       *estimator,
                                  const QmResolved  *resolved);

/* time of the job, once memory and rate are there */
void       qm_job_time           (const QmJob       *self,
                                  QmPlace            place,
                                  QmPricing          pricing,
                                  int                machines,
                                  QmEstimate        *estimate);
double     qm_job_start_up_seconds (const QmJob     *self,
                                  QmPlace            place);

/* money and energy, once the time is there */
void       qm_job_cost           (const QmJob       *self,
                                  const QmPlacement *placement,
                                  int                machines,
                                  QmEstimate        *estimate);

/* the same of many, as far as they are compared by it: seconds, NaN unknown,
 * and with interruptions, NaN where there are none */
double     qm_job_seconds        (const QmJob       *self,
                                  QmPricing          pricing,
                                  int                machines,
                                  int                devices,
                                  const QmOutline   *outline,
                                  double            *with_interruptions);

/* p50, NaN unknown */
double     qm_job_money          (const QmJob       *self,
                                  const QmPlacement *placement,
                                  int                machines,
                                  double             seconds,
                                  double             with_interruptions);

/* of one recipe: does not depend on the hardware */
QmAccuracy qm_job_accuracy       (const QmJob       *self,
                                  const QmPlan      *variant);

double     qm_spot_time_factor   (double             interruptions_per_hour,
                                  double             checkpoint_seconds,
                                  double             restart_seconds,
                                  double            *interval_seconds);

G_END_DECLS
