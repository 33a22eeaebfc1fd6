/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-message.h"
#include "qm-model.h"

G_BEGIN_DECLS

/**
 * QmModelFact:
 * @title: (translatable): what it is
 * @value: the figure, in a sentence
 * @origin: (nullable) (translatable): where the figure comes from
 *
 * A line of a model's fact sheet.
 */
typedef struct {
  const char *title;
  QmMessage *value;
  const char *origin;
} QmModelFact;

GPtrArray *qm_model_sheet (const QmModel *self,
                           JsonNode      *formats);

G_END_DECLS
