/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "qm-formula.h"

G_BEGIN_DECLS

/**
 * QmArchitectureFamily:
 *
 * What is known of all models of one `model_type`: formulas that count their
 * weights, and what a config.json may leave out.
 */
typedef struct _QmArchitectureFamily QmArchitectureFamily;

/**
 * QmDefinition:
 * @parameters: (nullable): names of what a call of it hands over
 * @formula: its value
 */
typedef struct {
  GStrv parameters;
  QmFormula *formula;
} QmDefinition;

QmArchitectureFamily *qm_architecture_family_find       (const char           *type,
                                                         const char           *fallback);
void                  qm_architecture_family_free       (QmArchitectureFamily *self);
const char           *qm_architecture_family_type       (QmArchitectureFamily *self);
JsonObject           *qm_architecture_family_defaults   (QmArchitectureFamily *self);
const QmDefinition   *qm_architecture_family_definition (QmArchitectureFamily *self,
                                                         const char           *name);
const char           *qm_architecture_family_word       (QmArchitectureFamily *self,
                                                         const char           *name);
GStrv                 qm_architecture_family_list       (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmArchitectureFamily, qm_architecture_family_free)

G_END_DECLS
