/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-message.h"

#include <math.h>
#include <string.h>

typedef struct {
  const char *name;
  QmArgumentKind kind;
  QmRange value;
  char *text;
} QmArgument;

struct _QmMessage {
  const char *code;
  const char *msgid;
  const char *detail;
  char *source;
  GArray *arguments;
};

static void
argument_clear (QmArgument *self)
{
  g_free (self->text);
}

/**
 * qm_message_new:
 * @code: (not nullable): stable name of the message; static
 * @msgid: (not nullable): the sentence, with places such as `{used}`; static
 *
 * Returns: (transfer full): a message without arguments
 */
QmMessage *
qm_message_new (const char *code,
                const char *msgid)
{
  QmMessage *self = g_new0 (QmMessage, 1);

  self->code = code;
  self->msgid = msgid;
  self->arguments = g_array_new (FALSE, TRUE, sizeof (QmArgument));
  g_array_set_clear_func (self->arguments, (GDestroyNotify) argument_clear);

  return self;
}

/**
 * qm_message_new_valist:
 * @code: stable name of the message; static
 * @msgid: the sentence; static
 * @arguments: as of qm_message_new_filled()
 *
 * Returns: (transfer full): a message
 */
QmMessage *
qm_message_new_valist (const char *code,
                       const char *msgid,
                       va_list     arguments)
{
  QmMessage *self = qm_message_new (code, msgid);
  const char *name;

  while ((name = va_arg (arguments, const char *)) != NULL)
    {
      char number[G_ASCII_DTOSTR_BUF_SIZE];

      if (name[0] == '#')
        qm_message_add_text (self, name + 1, QM_ARGUMENT_NAME,
                             g_ascii_formatd (number, sizeof number, "%.15g", va_arg (arguments, double)));
      else if (name[0] == '=')
        qm_message_add_text (self, name + 1, QM_ARGUMENT_WORDS, va_arg (arguments, const char *));
      else
        qm_message_add_text (self, name, QM_ARGUMENT_NAME, va_arg (arguments, const char *));
    }

  return self;
}

/**
 * qm_message_new_filled:
 * @code: stable name of the message; static
 * @msgid: the sentence, with places such as `{word}`; static
 * @...: the name of each place, static, and what fills it: a text, written as
 *   it is; after `#name` a double, written as in a file; after `=name` a
 *   msgid, translated; then %NULL
 *
 * For what is wrong with a file: its own words and numbers are quoted.
 *
 * Returns: (transfer full): a message
 */
QmMessage *
qm_message_new_filled (const char *code,
                       const char *msgid,
                       ...)
{
  QmMessage *self;
  va_list arguments;

  va_start (arguments, msgid);
  self = qm_message_new_valist (code, msgid, arguments);
  va_end (arguments);

  return self;
}

/**
 * qm_message_copy:
 * @self: a message
 *
 * Returns: (transfer full): a copy
 */
QmMessage *
qm_message_copy (const QmMessage *self)
{
  QmMessage *copy = qm_message_new (self->code, self->msgid);

  copy->detail = self->detail;
  copy->source = g_strdup (self->source);

  for (guint i = 0; i < self->arguments->len; i++)
    {
      QmArgument argument = g_array_index (self->arguments, QmArgument, i);

      argument.text = g_strdup (argument.text);
      g_array_append_val (copy->arguments, argument);
    }

  return copy;
}

/**
 * qm_message_free:
 * @self: (transfer full) (nullable): a message
 */
void
qm_message_free (QmMessage *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->arguments);
  g_free (self->source);
  g_free (self);
}

static QmMessage *
add (QmMessage  *self,
     QmArgument  argument)
{
  g_array_append_val (self->arguments, argument);
  return self;
}

/**
 * qm_message_add:
 * @self: a message
 * @name: the place that it fills; static
 * @kind: what it is
 * @value: in the unit that @kind implies: bytes, seconds, a fraction for percent
 *
 * Returns: (transfer none): @self
 */
QmMessage *
qm_message_add (QmMessage      *self,
                const char     *name,
                QmArgumentKind  kind,
                double          value)
{
  return add (self, (QmArgument) { name, kind, qm_range_exact (value), NULL });
}

/**
 * qm_message_add_range:
 * @self: a message
 * @name: the place that it fills; static
 * @kind: one of the range kinds
 * @value: the range
 *
 * Returns: (transfer none): @self
 */
QmMessage *
qm_message_add_range (QmMessage      *self,
                      const char     *name,
                      QmArgumentKind  kind,
                      QmRange         value)
{
  return add (self, (QmArgument) { name, kind, value, NULL });
}

/**
 * qm_message_add_seconds:
 * @self: a message
 * @name: the place that it fills; static
 * @seconds: a duration
 * @limit: what it is held against, see qm_format_seconds_against(); NaN nothing
 *
 * Returns: (transfer none): @self
 */
QmMessage *
qm_message_add_seconds (QmMessage  *self,
                        const char *name,
                        double      seconds,
                        double      limit)
{
  return add (self, (QmArgument) { name, QM_ARGUMENT_SECONDS_AGAINST, { seconds, seconds, limit }, NULL });
}

/**
 * qm_message_add_money:
 * @self: a message
 * @name: the place that it fills; static
 * @value: an amount
 * @currency: its ISO 4217 code
 *
 * Returns: (transfer none): @self
 */
QmMessage *
qm_message_add_money (QmMessage  *self,
                      const char *name,
                      double      value,
                      const char *currency)
{
  return add (self, (QmArgument) { name, QM_ARGUMENT_MONEY, qm_range_exact (value), g_strdup (currency) });
}

/**
 * qm_message_add_text:
 * @self: a message
 * @name: the place that it fills; static
 * @kind: %QM_ARGUMENT_NAME, %QM_ARGUMENT_WORDS or %QM_ARGUMENT_DATE
 * @text: the text
 *
 * Returns: (transfer none): @self
 */
QmMessage *
qm_message_add_text (QmMessage      *self,
                     const char     *name,
                     QmArgumentKind  kind,
                     const char     *text)
{
  return add (self, (QmArgument) { name, kind, QM_RANGE_UNKNOWN, g_strdup (text) });
}

/**
 * qm_message_set_detail:
 * @self: a message
 * @msgid: a second sentence with the same places; static
 *
 * Returns: (transfer none): @self
 */
QmMessage *
qm_message_set_detail (QmMessage  *self,
                       const char *msgid)
{
  self->detail = msgid;
  return self;
}

/**
 * qm_message_set_source:
 * @self: a message
 * @source: where the figure comes from
 *
 * Returns: (transfer none): @self
 */
QmMessage *
qm_message_set_source (QmMessage  *self,
                       const char *source)
{
  g_set_str (&self->source, source);
  return self;
}

/**
 * qm_message_get_code:
 * @self: a message
 *
 * Returns: its stable name
 */
const char *
qm_message_get_code (const QmMessage *self)
{
  return self->code;
}

/**
 * qm_message_get_source:
 * @self: a message
 *
 * Returns: (nullable): where the figure comes from
 */
const char *
qm_message_get_source (const QmMessage *self)
{
  return self->source;
}

static char *
format_argument (const QmArgument *self,
                 const QmWords    *words)
{
  switch (self->kind)
    {
    case QM_ARGUMENT_NUMBER:
      return qm_format_number (words, self->value.p50);
    case QM_ARGUMENT_COUNT_SHORT:
      return qm_format_count_short (words, self->value.p50);
    case QM_ARGUMENT_COUNT:
      return qm_format_count (words, self->value.p50);
    case QM_ARGUMENT_BYTES:
      return qm_format_bytes (words, self->value.p50);
    case QM_ARGUMENT_BYTES_RANGE:
      return qm_format_bytes_range (words, self->value);
    case QM_ARGUMENT_FILE_BYTES:
      return qm_format_file_bytes (words, self->value.p50);
    case QM_ARGUMENT_SECONDS:
      return qm_format_seconds (words, self->value.p50);
    case QM_ARGUMENT_SECONDS_RANGE:
      return qm_format_seconds_range (words, self->value);
    case QM_ARGUMENT_SECONDS_AGAINST:
      return qm_format_seconds_against (words, self->value.p50, self->value.p90);
    case QM_ARGUMENT_MONEY:
      return qm_format_money (words, self->value.p50, self->text);
    case QM_ARGUMENT_MONEY_RANGE:
      return qm_format_money_range (words, self->value, self->text);
    case QM_ARGUMENT_PERCENT:
      return qm_format_percent (words, self->value.p50);
    case QM_ARGUMENT_FACTOR:
      return qm_format_factor (words, self->value.p50);
    case QM_ARGUMENT_POINTS:
      return qm_format_points (words, self->value.p50);
    case QM_ARGUMENT_DATE:
      return qm_format_date (words, self->text);
    case QM_ARGUMENT_WORDS:
      return g_strdup (words->translate (self->text));
    case QM_ARGUMENT_NAME:
    default:
      return g_strdup (self->text);
    }
}

static const QmArgument *
find_argument (const QmMessage *self,
               const char      *name,
               gsize            length)
{
  for (guint i = 0; i < self->arguments->len; i++)
    {
      const QmArgument *argument = &g_array_index (self->arguments, QmArgument, i);

      if (strncmp (argument->name, name, length) == 0 && argument->name[length] == '\0')
        return argument;
    }

  return NULL;
}

static char *
fill (const QmMessage *self,
      const char      *sentence,
      const QmWords   *words)
{
  GString *text = g_string_new (NULL);
  const char *place, *end;

  while ((place = strchr (sentence, '{')) != NULL && (end = strchr (place, '}')) != NULL)
    {
      const QmArgument *argument = find_argument (self, place + 1, end - place - 1);
      g_autofree char *value = argument != NULL ? format_argument (argument, words) : NULL;

      g_string_append_len (text, sentence, place - sentence);
      if (value != NULL)
        g_string_append (text, value);
      sentence = end + 1;
    }
  g_string_append (text, sentence);
  qm_text_close_up (text);

  return g_string_free (text, FALSE);
}

/**
 * qm_message_get_text:
 * @self: a message
 * @words: the reader's language
 *
 * Returns: (transfer full): the sentence, filled
 */
char *
qm_message_get_text (const QmMessage *self,
                     const QmWords   *words)
{
  return fill (self, words->translate (self->msgid), words);
}

/**
 * qm_message_get_detail:
 * @self: a message
 * @words: the reader's language
 *
 * Returns: (transfer full) (nullable): the second sentence, filled
 */
char *
qm_message_get_detail (const QmMessage *self,
                       const QmWords   *words)
{
  return self->detail != NULL ? fill (self, words->translate (self->detail), words) : NULL;
}
