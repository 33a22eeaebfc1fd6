/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-model.h"

G_BEGIN_DECLS

/**
 * QmFormatBits:
 * @body: bits of a weight of the layers
 * @embedding: of the input embedding
 * @head: of the output head
 * @experts_only: the other layers stay as the embedding is
 *
 * How many bits a weight takes in a format, overhead of scales included.
 */
typedef struct {
  double body;
  double embedding;
  double head;
  gboolean experts_only;
} QmFormatBits;

gboolean qm_format_bits           (JsonNode           *table,
                                   const char         *format,
                                   QmFormatBits       *bits);
gboolean qm_model_is_packable     (const QmModel      *self);
double   qm_model_format_bytes    (const QmModel      *self,
                                   const QmFormatBits *bits);
double   qm_model_quantized_bytes (const QmModel      *self);
void     qm_model_take_quantization (QmModel          *self);

G_END_DECLS
