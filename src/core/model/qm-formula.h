/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a node of a formula is. */
typedef enum {
  QM_FORMULA_NUMBER,
  QM_FORMULA_WORD,
  QM_FORMULA_NAME,
  QM_FORMULA_CALL,
  QM_FORMULA_OPERATOR,
} QmFormulaKind;

/**
 * QmFormula:
 * @kind: what it is
 * @sign: of an operator: one of + - * / < > = ! & | and l g for <= and >=
 * @number: the value of a number
 * @name: (nullable): of a name or call; the text of a word
 * @arguments: (nullable) (element-type QmFormula): of a call; the two sides of an operator
 *
 * A formula over the keys of a config.json, taken apart.
 */
typedef struct {
  QmFormulaKind kind;
  char sign;
  double number;
  char *name;
  GPtrArray *arguments;
} QmFormula;

QmFormula *qm_formula_parse    (const char       *text,
                                GError          **error);
void       qm_formula_free     (QmFormula        *self);
QmFormula *qm_formula_argument (const QmFormula  *self,
                                guint             index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmFormula, qm_formula_free)

G_END_DECLS
