/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-message.h"
#include "qm-model.h"

G_BEGIN_DECLS

/**
 * QmModelFact:
 * @title: what it is, a msgid
 * @value: the figure, in a sentence
 * @origin: (nullable): where the figure comes from, a msgid
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
