/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/**
 * QmWaitPoint:
 * @requests_per_second: that come, whole service
 * @error: of the 99th percentile from run to run, a standard deviation
 * @saturated: more come than can be answered
 *
 * What people wait at one load.
 */
typedef struct {
  double requests_per_second;
  QmRange p50;
  QmRange p99;
  QmRange first_token_p50;          /* unknown where not simulated, and the next */
  QmRange first_token_p99;
  QmRange token_p99;
  double error;
  gboolean saturated;
  QmLatencyBasis basis;
} QmWaitPoint;

typedef struct _QmService QmService;

QmService *qm_service_new    (QmEstimator      *estimator,
                              const QmResolved *resolved,
                              const QmChoice   *choice);
void       qm_service_free   (QmService        *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmService, qm_service_free)

void       qm_service_at     (const QmService  *self,
                              int               replicas,
                              double            requests_per_second,
                              guint             requests,
                              QmWaitPoint      *point);
int        qm_service_replicas_for (const QmService *self,
                                    double           requests_per_second,
                                    double           p99_seconds,
                                    guint            requests);
double     qm_service_capacity (const QmService *self);
GArray    *qm_service_curve  (const QmService  *self,
                              guint             requests);

/* the figures of @choice at the plan's busiest time, and as many replicas as it
 * takes */
void       qm_choice_simulate (QmEstimator      *estimator,
                               const QmResolved *resolved,
                               guint             requests,
                               QmChoice         *choice);

G_END_DECLS
