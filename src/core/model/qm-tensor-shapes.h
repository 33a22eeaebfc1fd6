/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/**
 * QmTensorShapes:
 *
 * The sizes that the names and shapes of a decoder's tensors give away; 0
 * where no such tensor was seen.
 */
typedef struct {
  double layers;
  double hidden;
  double vocabulary;
  double query;                     /* width of all query heads */
  double key;                       /* width of all key heads */
  double ffn;
  gboolean has_head;
  gboolean has_experts;
} QmTensorShapes;

void        qm_tensor_shapes_add       (QmTensorShapes       *self,
                                        const char           *name,
                                        JsonArray            *shape);
JsonObject *qm_tensor_shapes_to_config (const QmTensorShapes *self);

G_END_DECLS
