/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-formula.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

/* Of a list in a config.json: one number a layer, for each layer that is believed. */
#define MAX_LIST 20000

static const QmAmount nothing = { 0, 0 };

static QmAmount
plain (double value)
{
  return (QmAmount) { .total = value };
}

static double
number (QmScope         *scope,
        const QmFormula *call,
        guint            index)
{
  return qm_scope_evaluate (scope, qm_formula_argument (call, index)).total;
}

static const char *
word (QmScope         *scope,
      const QmFormula *call,
      guint            index)
{
  const char *text = qm_scope_word (scope, qm_formula_argument (call, index));

  return text != NULL ? text : "";
}

/* linear(INTO, OUT, BIAS): a matrix and, where BIAS is not 0, a vector. */
static QmAmount
call_linear (QmScope         *scope,
             const QmFormula *call)
{
  double from = number (scope, call, 0), to = number (scope, call, 1);
  double bias = number (scope, call, 2) != 0 ? to : 0;

  return (QmAmount) { .total = from * to + bias, .linear = from * to };
}

static QmAmount
call_if (QmScope         *scope,
         const QmFormula *call)
{
  return qm_scope_evaluate (scope, qm_formula_argument (call, number (scope, call, 0) != 0 ? 1 : 2));
}

/* opt(KEY, VALUE): the key, or VALUE where it is absent or null. */
static QmAmount
call_opt (QmScope         *scope,
          const QmFormula *call)
{
  const char *key = word (scope, call, 0);

  if (qm_config_keys_has (&scope->shape->keys, key))
    return plain (qm_config_keys_number (&scope->shape->keys, key));
  return qm_scope_evaluate (scope, qm_formula_argument (call, 1));
}

static QmAmount
call_has (QmScope         *scope,
          const QmFormula *call)
{
  return plain (qm_config_keys_has (&scope->shape->keys, word (scope, call, 0)));
}

/* given(KEY): whether the file itself has it, not null. */
static QmAmount
call_given (QmScope         *scope,
            const QmFormula *call)
{
  const char *key = word (scope, call, 0);

  return plain (qm_config_keys_has (&scope->shape->keys, key) && !qm_config_keys_assumed (&scope->shape->keys, key));
}

/* is(KEY, 'A', 'B' …): whether the key is one of these words. */
static QmAmount
call_is (QmScope         *scope,
         const QmFormula *call)
{
  const char *value = qm_config_keys_word (&scope->shape->keys, word (scope, call, 0));

  for (guint i = 1; value != NULL && i < call->arguments->len; i++)
    if (g_str_equal (value, word (scope, call, i)))
      return plain (1);
  return nothing;
}

static gboolean
holds (JsonNode   *node,
       const char *part)
{
  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING &&
         strstr (json_node_get_string (node), part) != NULL;
}

/* contains(KEY, 'A'): whether a word, or a word of a list, has A in it. */
static QmAmount
call_contains (QmScope         *scope,
               const QmFormula *call)
{
  const char *value = qm_config_keys_word (&scope->shape->keys, word (scope, call, 0));
  JsonArray *array = qm_config_keys_array (&scope->shape->keys, word (scope, call, 0));
  gboolean found = value != NULL && strstr (value, word (scope, call, 1)) != NULL;

  for (guint i = 0; array != NULL && !found && i < json_array_get_length (array); i++)
    found = holds (json_array_get_element (array, i), word (scope, call, 1));
  return plain (found);
}

/* arch('A', 'B' …): whether the class that the file names ends so. */
static QmAmount
call_arch (QmScope         *scope,
           const QmFormula *call)
{
  const char *name = scope->shape->class_name != NULL ? scope->shape->class_name : "";

  for (guint i = 0; i < call->arguments->len; i++)
    {
      const char *suffix = word (scope, call, i);

      if (suffix[0] == '\0' ? name[0] == '\0' : g_str_has_suffix (name, suffix))
        return plain (1);
    }
  return nothing;
}

static JsonArray *
list (QmScope         *scope,
      const QmFormula *call)
{
  return qm_config_keys_array (&scope->shape->keys, word (scope, call, 0));
}

static QmAmount
call_len (QmScope         *scope,
          const QmFormula *call)
{
  JsonArray *array = list (scope, call);

  return plain (array != NULL ? json_array_get_length (array) : 0);
}

/* A place in a list, or a layer; -1 for what is none. */
static int
place (double value)
{
  return value >= 0 && value < MAX_LIST ? value : -1;
}

static double
element (QmScope    *scope,
         const char *key,
         JsonArray  *array,
         double      index)
{
  gboolean there = index >= 0 && index < json_array_get_length (array);
  JsonNode *node = there ? json_array_get_element (array, index) : NULL;
  GType type = node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;
  double value;

  if (type == G_TYPE_BOOLEAN)
    return json_node_get_boolean (node);
  value = type == G_TYPE_INT64 || type == G_TYPE_DOUBLE ? json_node_get_double (node) : NAN;
  if (isfinite (value) && fabs (value) <= 1e9)
    return value;
  qm_config_keys_refuse (&scope->shape->keys, key, N_("{key} should be a list of numbers, one for each layer or stage"), NULL);
  return 0;
}

/* at(LIST, I): an element; of lists in a list at(LIST, I, J). One number stands for all. */
static QmAmount
call_at (QmScope         *scope,
         const QmFormula *call)
{
  const char *key = word (scope, call, 0);
  JsonArray *array = list (scope, call);
  double index = number (scope, call, 1);
  JsonNode *node;

  if (array == NULL)
    return plain (qm_config_keys_number (&scope->shape->keys, key));
  if (index < 0)
    index += json_array_get_length (array);
  node = index >= 0 && index < json_array_get_length (array) ? json_array_get_element (array, index) : NULL;
  if (node != NULL && JSON_NODE_HOLDS_ARRAY (node))
    return plain (element (scope, key, json_node_get_array (node), number (scope, call, 2)));
  return plain (element (scope, key, array, index));
}

/* text(LIST, I, 'A'): whether that element is a word with A in it. */
static QmAmount
call_text (QmScope         *scope,
           const QmFormula *call)
{
  JsonArray *array = list (scope, call);
  double index = number (scope, call, 1);
  JsonNode *node = NULL;

  if (array != NULL && index >= 0 && index < json_array_get_length (array))
    node = json_array_get_element (array, index);
  return plain (holds (node, word (scope, call, 2)));
}

/* each(LIST, NAME, FORMULA): the sum over the list's numbers, each called NAME. */
static QmAmount
call_each (QmScope         *scope,
           const QmFormula *call)
{
  JsonArray *array = list (scope, call);
  guint n = array != NULL ? MIN (MAX_LIST, json_array_get_length (array)) : 0;
  g_autofree double *values = g_new (double, n + 1);

  for (guint i = 0; i < n; i++)
    values[i] = element (scope, word (scope, call, 0), array, i);
  return qm_scope_loop (scope, word (scope, call, 1), values, n, qm_formula_argument (call, 2));
}

/* sum(NAME, N, FORMULA): the sum with NAME from 0 to N - 1. */
static QmAmount
call_sum (QmScope         *scope,
          const QmFormula *call)
{
  return qm_scope_loop (scope, word (scope, call, 0), NULL, number (scope, call, 1), qm_formula_argument (call, 2));
}

static QmAmount
call_layers (QmScope         *scope,
             const QmFormula *call)
{
  QmShape *shape = scope->shape;
  const char *kind = word (scope, call, 0);

  qm_shape_count_layers (shape);
  if (g_str_equal (kind, "attention"))
    return plain (shape->mixers[QM_MIXER_FULL] + shape->mixers[QM_MIXER_SLIDING]);
  if (g_str_equal (kind, "full"))
    return plain (shape->mixers[QM_MIXER_FULL]);
  if (g_str_equal (kind, "sliding"))
    return plain (shape->mixers[QM_MIXER_SLIDING]);
  if (g_str_equal (kind, "linear"))
    return plain (shape->mixers[QM_MIXER_LINEAR]);
  if (g_str_equal (kind, "mamba"))
    return plain (shape->mixers[QM_MIXER_MAMBA]);
  if (g_str_equal (kind, "dense"))
    return plain (shape->ffns[QM_FFN_DENSE]);
  return plain (shape->ffns[QM_FFN_EXPERTS]);
}

/* attends(I): whether layer I attends, to all or to a window; full(I): to all. */
static QmAmount
call_attends (QmScope         *scope,
              const QmFormula *call)
{
  QmMixer mixer = qm_shape_mixer (scope->shape, place (number (scope, call, 0)));

  return plain (mixer == QM_MIXER_FULL || mixer == QM_MIXER_SLIDING);
}

static QmAmount
call_full (QmScope         *scope,
           const QmFormula *call)
{
  return plain (qm_shape_mixer (scope->shape, place (number (scope, call, 0))) == QM_MIXER_FULL);
}

static QmAmount
call_expert_layer (QmScope         *scope,
                   const QmFormula *call)
{
  return plain (qm_shape_ffn (scope->shape, place (number (scope, call, 0))) == QM_FFN_EXPERTS);
}

/* A class called …Model has no output head, whatever its parts have; one that
 * chats has. */
static gboolean
is_headless (QmShape *shape)
{
  return shape->outer == NULL && shape->class_name != NULL && g_str_has_suffix (shape->class_name, "Model") &&
         !g_str_has_suffix (shape->class_name, "ChatModel") && !g_str_has_suffix (shape->class_name, "EncoderDecoderModel");
}

static QmAmount
evaluate_inside (QmScope         *scope,
                 const QmFormula *call,
                 const QmFormula *node,
                 const char      *class_name)
{
  QmShape shape = { 0 };
  QmAmount value;

  qm_shape_open (&shape, scope->shape, word (scope, call, 0), word (scope, call, 1));
  if (class_name != NULL && class_name[0] != '\0' && !is_headless (scope->shape))
    shape.class_name = class_name;
  if (node != NULL)
    {
      QmScope inner = { .shape = &shape, .locals = scope->locals, .calls = scope->calls + 1 };

      value = qm_scope_evaluate (&inner, node);
    }
  else
    value = qm_shape_evaluate (&shape, "model");
  if (shape.keys.error != NULL && scope->shape->keys.error == NULL)
    scope->shape->keys.error = g_steal_pointer (&shape.keys.error);
  qm_shape_close (&shape);
  return value;
}

/* sub(KEY, 'TYPE', 'CLASS'): the weights of a network whose config.json lies
 * inside; TYPE where it does not say. */
static QmAmount
call_sub (QmScope         *scope,
          const QmFormula *call)
{
  return evaluate_inside (scope, call, NULL, word (scope, call, 2));
}

/* in(KEY, 'TYPE', FORMULA): FORMULA over what lies inside. */
static QmAmount
call_in (QmScope         *scope,
         const QmFormula *call)
{
  return evaluate_inside (scope, call, qm_formula_argument (call, 2), NULL);
}

/* outer(FORMULA): over what this lies in. */
static QmAmount
call_outer (QmScope         *scope,
            const QmFormula *call)
{
  QmScope around = { .shape = scope->shape->outer, .locals = scope->locals, .calls = scope->calls + 1 };

  return around.shape != NULL ? qm_scope_evaluate (&around, qm_formula_argument (call, 0)) : nothing;
}

/* tied(DEFAULT): whether the output head is the embedding. What the whole says
 * counts before what its part says, and the file before the family. */
static QmAmount
call_tied (QmScope         *scope,
           const QmFormula *call)
{
  gboolean tied = qm_config_keys_flag (&scope->shape->keys, "tie_word_embeddings", number (scope, call, 0) != 0);

  for (QmShape *shape = scope->shape; shape != NULL; shape = shape->outer)
    if (json_object_has_member (shape->keys.object, "tie_word_embeddings"))
      tied = qm_config_keys_flag (&shape->keys, "tie_word_embeddings", tied);
  return plain (tied);
}

/* labels(N): classes of a classifier. */
static QmAmount
call_labels (QmScope         *scope,
             const QmFormula *call)
{
  JsonObject *names = qm_config_keys_object (&scope->shape->keys, "id2label");
  double fallback = names != NULL ? json_object_get_size (names) : number (scope, call, 0);

  return plain (qm_config_keys_count (&scope->shape->keys, "num_labels", fallback));
}

static QmAmount
call_floor (QmScope         *scope,
            const QmFormula *call)
{
  return plain (floor (number (scope, call, 0)));
}

static QmAmount
call_ceil (QmScope         *scope,
           const QmFormula *call)
{
  return plain (ceil (number (scope, call, 0)));
}

static QmAmount
call_round (QmScope         *scope,
            const QmFormula *call)
{
  return plain (rint (number (scope, call, 0)));
}

static QmAmount
call_min (QmScope         *scope,
          const QmFormula *call)
{
  return plain (fmin (number (scope, call, 0), number (scope, call, 1)));
}

static QmAmount
call_max (QmScope         *scope,
          const QmFormula *call)
{
  return plain (fmax (number (scope, call, 0), number (scope, call, 1)));
}

static QmAmount
call_mod (QmScope         *scope,
          const QmFormula *call)
{
  double divisor = number (scope, call, 1);

  return plain (divisor > 0 ? fmod (number (scope, call, 0), divisor) : 0);
}

/* up(X, M): X rounded up to a multiple of M. */
static QmAmount
call_up (QmScope         *scope,
         const QmFormula *call)
{
  double multiple = fmax (1, number (scope, call, 1));

  return plain (multiple * ceil (number (scope, call, 0) / multiple));
}

static QmAmount
call_power (QmScope         *scope,
            const QmFormula *call)
{
  return plain (pow (number (scope, call, 0), number (scope, call, 1)));
}

static const struct {
  const char *name;
  QmFormulaFunction function;
} functions[] = {
  { "linear", call_linear }, { "if", call_if }, { "opt", call_opt }, { "has", call_has }, { "given", call_given },
  { "is", call_is },
  { "contains", call_contains }, { "arch", call_arch }, { "len", call_len }, { "at", call_at }, { "text", call_text },
  { "each", call_each }, { "sum", call_sum }, { "layers", call_layers }, { "attends", call_attends },
  { "full", call_full }, { "expert_layer", call_expert_layer }, { "sub", call_sub }, { "in", call_in },
  { "outer", call_outer }, { "tied", call_tied }, { "labels", call_labels }, { "floor", call_floor },
  { "ceil", call_ceil }, { "round", call_round }, { "min", call_min }, { "max", call_max }, { "mod", call_mod },
  { "up", call_up }, { "power", call_power },
};

/**
 * qm_formula_function_find:
 * @name: of a call in a formula
 *
 * Returns: (nullable): the function that every family has under that name
 */
QmFormulaFunction
qm_formula_function_find (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (functions); i++)
    if (g_str_equal (functions[i].name, name))
      return functions[i].function;
  return NULL;
}
