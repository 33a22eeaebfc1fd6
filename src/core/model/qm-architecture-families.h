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
 * QmFamilyTable:
 *
 * All families. Making one takes a millisecond: one serves for a whole file.
 */
typedef struct _QmFamilyTable QmFamilyTable;

/**
 * QmDefinition:
 * @parameters: (nullable): names of what a call of it hands over
 * @formula: its value
 */
typedef struct {
  GStrv parameters;
  QmFormula *formula;
} QmDefinition;

QmFamilyTable        *qm_family_table_new               (void);
void                  qm_family_table_free              (QmFamilyTable        *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmFamilyTable, qm_family_table_free)

QmArchitectureFamily *qm_family_table_find              (QmFamilyTable        *self,
                                                         const char           *type,
                                                         const char           *fallback);
GStrv                 qm_family_table_list              (QmFamilyTable        *self);

const char           *qm_architecture_family_type       (QmArchitectureFamily *self);
JsonObject           *qm_architecture_family_defaults   (QmArchitectureFamily *self);
const QmDefinition   *qm_architecture_family_definition (QmArchitectureFamily *self,
                                                         const char           *name);
const char           *qm_architecture_family_word       (QmArchitectureFamily *self,
                                                         const char           *name);

G_END_DECLS
