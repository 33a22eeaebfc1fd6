/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-formula.h"

#include <string.h>

#include "qm-model-resolve.h"

#define MAX_DEPTH 64

typedef struct {
  const char *at;
  int depth;
  gboolean failed;
} Reader;

static QmFormula *read_choice (Reader *reader);

static QmFormula *
new_formula (QmFormulaKind kind)
{
  QmFormula *self = g_new0 (QmFormula, 1);

  self->kind = kind;
  return self;
}

static QmFormula *
new_operator (char       sign,
              QmFormula *left,
              QmFormula *right)
{
  QmFormula *self = new_formula (QM_FORMULA_OPERATOR);

  self->sign = sign;
  self->arguments = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_formula_free);
  g_ptr_array_add (self->arguments, left);
  g_ptr_array_add (self->arguments, right);
  return self;
}

/* The next sign that is no blank. */
static char
look (Reader *reader)
{
  while (g_ascii_isspace (*reader->at))
    reader->at++;
  return *reader->at;
}

static gboolean
skip (Reader     *reader,
      const char *sign)
{
  look (reader);
  if (!g_str_has_prefix (reader->at, sign))
    return FALSE;
  reader->at += strlen (sign);
  return TRUE;
}

static void
expect (Reader     *reader,
        const char *sign)
{
  reader->failed |= !skip (reader, sign);
}

static void
read_arguments (Reader    *reader,
                QmFormula *self)
{
  self->kind = QM_FORMULA_CALL;
  self->arguments = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_formula_free);
  if (skip (reader, ")"))
    return;
  do
    g_ptr_array_add (self->arguments, read_choice (reader));
  while (!reader->failed && skip (reader, ","));
  expect (reader, ")");
}

static QmFormula *
read_name (Reader *reader)
{
  QmFormula *self = new_formula (QM_FORMULA_NAME);
  const char *start = reader->at;

  while (g_ascii_isalnum (*reader->at) || *reader->at == '_' || *reader->at == '.')
    reader->at++;
  self->name = g_strndup (start, reader->at - start);
  reader->failed |= reader->at == start;
  if (skip (reader, "("))
    read_arguments (reader, self);
  return self;
}

static QmFormula *
read_word (Reader *reader)
{
  QmFormula *self = new_formula (QM_FORMULA_WORD);
  const char *end = strchr (reader->at, '\'');

  if (end == NULL)
    {
      reader->failed = TRUE;
      return self;
    }
  self->name = g_strndup (reader->at, end - reader->at);
  reader->at = end + 1;
  return self;
}

static QmFormula *
read_primary (Reader *reader)
{
  QmFormula *self;
  char *end;

  if (++reader->depth > MAX_DEPTH)
    reader->failed = TRUE;
  if (reader->failed)
    self = new_formula (QM_FORMULA_NUMBER);
  else if (skip (reader, "("))
    {
      self = read_choice (reader);
      expect (reader, ")");
    }
  else if (skip (reader, "'"))
    self = read_word (reader);
  else if (skip (reader, "-"))
    self = new_operator ('-', new_formula (QM_FORMULA_NUMBER), read_primary (reader));
  else if (skip (reader, "!"))
    self = new_operator ('=', new_formula (QM_FORMULA_NUMBER), read_primary (reader));
  else if (g_ascii_isdigit (look (reader)))
    {
      self = new_formula (QM_FORMULA_NUMBER);
      self->number = g_ascii_strtod (reader->at, &end);
      reader->at = end;
    }
  else
    self = read_name (reader);
  reader->depth--;
  return self;
}

static QmFormula *
read_product (Reader *reader)
{
  QmFormula *self = read_primary (reader);
  char sign;

  while (!reader->failed && ((sign = look (reader)) == '*' || sign == '/'))
    {
      reader->at++;
      self = new_operator (sign, self, read_primary (reader));
    }
  return self;
}

static QmFormula *
read_sum (Reader *reader)
{
  QmFormula *self = read_product (reader);
  char sign;

  while (!reader->failed && ((sign = look (reader)) == '+' || sign == '-'))
    {
      reader->at++;
      self = new_operator (sign, self, read_product (reader));
    }
  return self;
}

static QmFormula *
read_comparison (Reader *reader)
{
  static const struct { const char *text; char sign; } signs[] = {
    { "<=", 'l' }, { ">=", 'g' }, { "==", '=' }, { "!=", '!' }, { "<", '<' }, { ">", '>' },
  };
  QmFormula *self = read_sum (reader);

  for (gsize i = 0; i < G_N_ELEMENTS (signs) && !reader->failed; i++)
    if (skip (reader, signs[i].text))
      return new_operator (signs[i].sign, self, read_sum (reader));
  return self;
}

static QmFormula *
read_choice (Reader *reader)
{
  QmFormula *self = read_comparison (reader);

  while (!reader->failed)
    {
      if (skip (reader, "&&"))
        self = new_operator ('&', self, read_comparison (reader));
      else if (skip (reader, "||"))
        self = new_operator ('|', self, read_comparison (reader));
      else
        break;
    }
  return self;
}

/**
 * qm_formula_parse:
 * @text: a formula: numbers, names of keys and definitions, 'words', calls,
 *   + - * /, comparisons, `!`, and `&&` and `||` of equal rank from left to right
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): the formula, or %NULL with
 *   %QM_MODEL_ERROR_VALUE and the place where it makes no sense
 */
QmFormula *
qm_formula_parse (const char  *text,
                  GError     **error)
{
  Reader reader = { .at = text };
  g_autoptr (QmFormula) self = read_choice (&reader);

  if (!reader.failed && look (&reader) == '\0')
    return g_steal_pointer (&self);
  g_set_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE, "the formula “%s” makes no sense at “%.20s”", text, reader.at);
  return NULL;
}

/**
 * qm_formula_free:
 * @self: (nullable): a formula
 */
void
qm_formula_free (QmFormula *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_clear_pointer (&self->arguments, g_ptr_array_unref);
  g_free (self);
}

/**
 * qm_formula_argument:
 * @self: a call or an operator
 * @index: from 0
 *
 * Returns: (transfer none) (nullable): that argument
 */
QmFormula *
qm_formula_argument (const QmFormula *self,
                     guint            index)
{
  return self->arguments != NULL && index < self->arguments->len ? g_ptr_array_index (self->arguments, index) : NULL;
}
