/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "estimate/qm-estimate.h"

G_BEGIN_DECLS

#define QM_INPUT_N_STORAGES 8

/**
 * QmInputConstants:
 *
 * What bounds the loading of training data: `input.json`.
 */
typedef struct {
  double core_bytes_per_second;
  double least_bytes;
  double most_workers;
  double object_stream_bytes_per_second;
  double network_share;
  double storage_bytes_per_second[QM_INPUT_N_STORAGES]; /* by QmStorage; 0 no bound */
} QmInputConstants;

gboolean qm_input_constants_read (QmInputConstants        *self,
                                  JsonNode                *node,
                                  GError                 **error);

/* how many load */
int      qm_input_loaders        (const QmInputConstants  *self,
                                  const QmPlan            *plan,
                                  const QmConfiguration   *configuration);

/* what can be loaded, and what it does to the rate */
double   qm_input_rate           (const QmInputConstants  *self,
                                  const QmPlan            *plan,
                                  const QmConfiguration   *configuration,
                                  QmInputLimit            *limit);
void     qm_input_apply          (const QmInputConstants  *self,
                                  const QmPlan            *plan,
                                  QmEstimate              *estimate);
void     qm_input_apply_to_outline (const QmPlan          *plan,
                                  double                   have,
                                  QmOutline               *outline);

G_END_DECLS
