/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "estimate/qm-estimator.h"
#include "plan/qm-defaults.h"

G_BEGIN_DECLS

/**
 * QmQuantizationWish:
 * @tolerance: percentage points that may be lost
 * @weight: what saving counts against losing, 0 to 1
 */
typedef struct {
  double tolerance;
  double weight;
} QmQuantizationWish;

/* A point may be lost, and what is saved counts as much as what is lost. */
#define QM_QUANTIZATION_WISH_USUAL { 1, 0.5 }

/**
 * QmQuantizationChoice:
 * @format: of the weights
 * @bits: of a parameter, the mean of all
 * @saved: share of the 16-bit weights that need not be read
 * @points: percentage points lost
 * @score: @weight of the saving less the rest of it of the loss, in units of the
 *   tolerance; higher is better
 * @tolerated: whether the middle of @points is within the tolerance
 */
typedef struct {
  const char *format;
  double bits;
  double saved;
  QmRange points;
  double score;
  gboolean tolerated;
} QmQuantizationChoice;

GArray    *qm_quantization_choices    (QmEstimator              *estimator,
                                       const QmModel            *model,
                                       const QmQuantizationWish *wish);
int        qm_quantization_best       (GArray                   *choices);

/**
 * QmLayerLoss:
 * @points: percentage points lost where this layer alone is quantised
 * @parameters: of it
 * @kept: it stays in 16 bits
 */
typedef struct {
  char *name;
  double points;
  double parameters;
  gboolean kept;
} QmLayerLoss;

GPtrArray *qm_layer_losses_parse      (const char               *text,
                                       gsize                     length,
                                       GError                  **error);
void       qm_layer_losses_keep       (GPtrArray                *layers,
                                       double                    tolerance);
double     qm_layer_losses_kept_share (GPtrArray                *layers,
                                       double                   *points);

JsonNode  *qm_quantization_to_json    (GArray                   *choices,
                                       GPtrArray                *layers,
                                       const QmQuantizationWish *wish);

G_END_DECLS
