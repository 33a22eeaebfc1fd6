/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

#include "decide/qm-bands.h"

G_BEGIN_DECLS

/* Answers, and what people wait for them, worked out in threads of their own. */
void              qm_background_recommend        (GObject             *source,
                                                  QmEstimator         *estimator,
                                                  const QmResolved    *resolved,
                                                  const QmHere        *here,
                                                  GCancellable        *cancellable,
                                                  GAsyncReadyCallback  callback);
QmRecommendation *qm_background_recommend_finish (GAsyncResult        *result);

void              qm_background_simulate         (GObject             *source,
                                                  QmRecommendation    *recommendation,
                                                  guint                requests,
                                                  GCancellable        *cancellable,
                                                  GAsyncReadyCallback  callback);
QmRecommendation *qm_background_simulate_finish  (GAsyncResult        *result,
                                                  guint               *requests);

/* which hardware wins at each value of a limit */
void              qm_background_bands            (GObject             *source,
                                                  QmRecommendation    *recommendation,
                                                  const QmHere        *here,
                                                  QmDial               dial,
                                                  GCancellable        *cancellable,
                                                  GAsyncReadyCallback  callback);
GArray           *qm_background_bands_finish     (GAsyncResult        *result);

G_END_DECLS
