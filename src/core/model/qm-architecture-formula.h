/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-architecture-shape.h"

G_BEGIN_DECLS

/* A value bound to a name: a parameter of a definition, or the count of a sum. */
typedef struct _QmLocal QmLocal;

struct _QmLocal {
  const char *name;
  double value;
  const QmLocal *next;
};

/* Where a formula looks up its names. */
typedef struct {
  QmShape *shape;
  const QmLocal *locals;
  int calls;
} QmScope;

typedef QmAmount (*QmFormulaFunction) (QmScope         *scope,
                                       const QmFormula *call);

QmFormulaFunction qm_formula_function_find (const char      *name);

QmAmount          qm_scope_evaluate        (QmScope         *scope,
                                            const QmFormula *node);
QmAmount          qm_scope_loop            (QmScope         *scope,
                                            const char      *name,
                                            const double    *values,
                                            double           n,
                                            const QmFormula *node);
const char       *qm_scope_word            (QmScope         *scope,
                                            const QmFormula *node);

G_END_DECLS
