/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-formula.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define MAX_CALLS 100
#define MAX_LOOP 10000

static const QmAmount nothing = { 0, 0 };

static QmAmount
plain (double value)
{
  return (QmAmount) { .total = value };
}

static QmAmount
refuse_formula (QmScope    *scope,
                const char *msgid)
{
  qm_config_keys_refuse (&scope->shape->keys, NULL, msgid, NULL);
  return nothing;
}

/**
 * qm_scope_word:
 * @scope: where names are looked up
 * @node: (nullable): an argument
 *
 * Returns: (nullable): the text of a word, the name of a key, or the word that a name is defined as
 */
const char *
qm_scope_word (QmScope         *scope,
               const QmFormula *node)
{
  const char *defined;

  if (node == NULL || node->kind == QM_FORMULA_WORD)
    return node != NULL ? node->name : NULL;
  if (node->kind != QM_FORMULA_NAME)
    return NULL;
  defined = qm_architecture_family_word (scope->shape->family, node->name);
  return defined != NULL ? defined : node->name;
}

static const QmLocal *
find_local (QmScope    *scope,
            const char *name)
{
  for (const QmLocal *local = scope->locals; local != NULL; local = local->next)
    if (g_str_equal (local->name, name))
      return local;
  return NULL;
}

static QmAmount
evaluate_definition (QmScope            *scope,
                     const QmDefinition *definition,
                     const QmFormula    *call)
{
  guint n = definition->parameters != NULL ? g_strv_length (definition->parameters) : 0;
  QmLocal *locals = g_newa (QmLocal, n + 1);
  QmScope inner = { .shape = scope->shape, .locals = scope->locals, .calls = scope->calls + 1 };

  if (inner.calls > MAX_CALLS)
    return refuse_formula (scope, N_("the sizes nest too deeply"));
  for (guint i = 0; i < n; i++)
    {
      const QmFormula *argument = call != NULL ? qm_formula_argument (call, i) : NULL;

      locals[i].name = definition->parameters[i];
      locals[i].value = argument != NULL ? qm_scope_evaluate (scope, argument).total : 0;
      locals[i].next = i > 0 ? &locals[i - 1] : scope->locals;
    }
  if (n > 0)
    inner.locals = &locals[n - 1];
  return qm_scope_evaluate (&inner, definition->formula);
}

static QmAmount
evaluate_name (QmScope         *scope,
               const QmFormula *node)
{
  const QmLocal *local = find_local (scope, node->name);
  const QmDefinition *definition;

  if (local != NULL)
    return plain (local->value);
  definition = scope->shape->family != NULL
               ? qm_architecture_family_definition (scope->shape->family, node->name) : NULL;
  if (definition != NULL)
    return evaluate_definition (scope, definition, NULL);
  return plain (qm_config_keys_number (&scope->shape->keys, node->name));
}

static QmAmount
evaluate_call (QmScope         *scope,
               const QmFormula *node)
{
  QmFormulaFunction function = qm_formula_function_find (node->name);
  const QmDefinition *definition;

  if (function != NULL)
    return function (scope, node);
  definition = scope->shape->family != NULL
               ? qm_architecture_family_definition (scope->shape->family, node->name) : NULL;
  if (definition == NULL)
    g_error ("families.ini: %s() is not defined for %s", node->name,
             qm_architecture_family_type (scope->shape->family));
  return evaluate_definition (scope, definition, node);
}

static QmAmount
apply (char     sign,
       QmAmount a,
       QmAmount b)
{
  switch (sign)
    {
    case '+':
      return (QmAmount) { a.total + b.total, a.linear + b.linear };
    case '-':
      return (QmAmount) { a.total - b.total, a.linear - b.linear };
    case '*':
      return (QmAmount) { a.total * b.total, a.total * b.linear + a.linear * b.total };
    case '/':
      return b.total != 0 ? (QmAmount) { a.total / b.total, a.linear / b.total } : nothing;
    case '<':
      return plain (a.total < b.total);
    case '>':
      return plain (a.total > b.total);
    case 'l':
      return plain (a.total <= b.total);
    case 'g':
      return plain (a.total >= b.total);
    case '=':
      return plain (a.total == b.total);
    default:
      return plain (a.total != b.total);
    }
}

static QmAmount
evaluate_operator (QmScope         *scope,
                   const QmFormula *node)
{
  QmAmount left = qm_scope_evaluate (scope, qm_formula_argument (node, 0));

  if (node->sign == '&' && left.total == 0)
    return nothing;
  if (node->sign == '|' && left.total != 0)
    return plain (1);
  if (node->sign == '&' || node->sign == '|')
    return plain (qm_scope_evaluate (scope, qm_formula_argument (node, 1)).total != 0);
  return apply (node->sign, left, qm_scope_evaluate (scope, qm_formula_argument (node, 1)));
}

/**
 * qm_scope_evaluate:
 * @scope: where names are looked up: values bound to a name first, then the
 *   family's definitions, then the keys of the config.json
 * @node: (nullable): a formula
 *
 * What no model can have is noted in the shape's keys, and the result is then
 * of no use.
 *
 * Returns: the value
 */
QmAmount
qm_scope_evaluate (QmScope         *scope,
                   const QmFormula *node)
{
  if (node == NULL || scope->shape->keys.error != NULL)
    return nothing;
  if (--*scope->shape->steps < 0)
    return refuse_formula (scope, N_("the sizes make more parts than any model has"));
  switch (node->kind)
    {
    case QM_FORMULA_NUMBER:
      return plain (node->number);
    case QM_FORMULA_NAME:
      return evaluate_name (scope, node);
    case QM_FORMULA_CALL:
      return evaluate_call (scope, node);
    case QM_FORMULA_OPERATOR:
      return evaluate_operator (scope, node);
    default:
      return nothing;
    }
}

/**
 * qm_scope_loop:
 * @scope: where names are looked up
 * @name: what the count is called in @node
 * @values: (nullable): the values it takes instead of counting
 * @n: how often
 * @node: (nullable): a formula
 *
 * Returns: the sum of @node over all values of @name
 */
QmAmount
qm_scope_loop (QmScope         *scope,
               const char      *name,
               const double    *values,
               double           n,
               const QmFormula *node)
{
  QmAmount sum = nothing;

  if (!(n >= 0 && n <= MAX_LOOP))
    return refuse_formula (scope, N_("the sizes make more layers than any model has"));
  for (int i = 0; i < (int) n && scope->shape->keys.error == NULL; i++)
    {
      QmLocal local = { .name = name, .value = values != NULL ? values[i] : i, .next = scope->locals };
      QmScope inner = { .shape = scope->shape, .locals = &local, .calls = scope->calls };

      sum = apply ('+', sum, qm_scope_evaluate (&inner, node));
    }
  return sum;
}

/**
 * qm_shape_defines:
 * @self: a shape
 * @name: of a definition
 *
 * Returns: whether its family has it
 */
gboolean
qm_shape_defines (QmShape    *self,
                  const char *name)
{
  return self->family != NULL && qm_architecture_family_definition (self->family, name) != NULL;
}

/**
 * qm_shape_evaluate:
 * @self: a shape
 * @name: of a definition
 *
 * Returns: its value, zeros where the family has none
 */
QmAmount
qm_shape_evaluate (QmShape    *self,
                   const char *name)
{
  const QmDefinition *definition = self->family != NULL ? qm_architecture_family_definition (self->family, name) : NULL;
  QmScope scope = { .shape = self };

  return definition != NULL ? evaluate_definition (&scope, definition, NULL) : nothing;
}

/**
 * qm_shape_value:
 * @self: a shape
 * @name: of a definition
 * @fallback: for families that have none
 *
 * Returns: its value
 */
double
qm_shape_value (QmShape    *self,
                const char *name,
                double      fallback)
{
  return qm_shape_defines (self, name) ? qm_shape_evaluate (self, name).total : fallback;
}
