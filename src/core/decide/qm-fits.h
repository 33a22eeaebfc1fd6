/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/* What can be done with a language model on one device. */
typedef enum {
  QM_FIT_CHAT_4_BIT,
  QM_FIT_CHAT_8_BIT,
  QM_FIT_CHAT_16_BIT,
  QM_FIT_QLORA,
  QM_FIT_LORA,
  QM_FIT_FULL,
  QM_N_FITS,
} QmFitWay;

/**
 * QmFit:
 * @parameters: of the largest model of the catalog that fits; 0 none does
 * @model: (nullable): its name
 */
typedef struct {
  QmFitWay way;
  double parameters;
  const char *model;
} QmFit;

gboolean qm_fits_find (QmEstimator    *estimator,
                       const QmDevice *device,
                       double          usable_bytes,
                       GCancellable   *cancellable,
                       QmFit           fits[QM_N_FITS]);

G_END_DECLS
