/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-error.h"

/* What an error says beside its message, which is English. GLib puts it before
 * the GError itself. */
typedef struct {
  char *file;
  int line;
  char *path;
  QmMessage *message;
} Detail;

#define ALIGNMENT (2 * sizeof (gsize))
#define DETAIL_SIZE ((sizeof (Detail) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

/* Every domain of that name is made by QM_DEFINE_ERROR_DOMAIN(). */
static Detail *
detail_of (const GError *error)
{
  const char *name = g_quark_to_string (error->domain);

  if (!g_str_has_prefix (name, "qm-") || !g_str_has_suffix (name, "-error-quark"))
    return NULL;

  return (Detail *) ((guint8 *) error - DETAIL_SIZE);
}

static void
error_init (GError *error)
{
  *detail_of (error) = (Detail) { 0 };
}

static void
error_copy (const GError *from,
            GError       *to)
{
  const Detail *detail = detail_of (from);

  *detail_of (to) = (Detail) { g_strdup (detail->file), detail->line, g_strdup (detail->path),
                               detail->message != NULL ? qm_message_copy (detail->message) : NULL };
}

static void
error_clear (GError *error)
{
  Detail *detail = detail_of (error);

  g_free (detail->file);
  g_free (detail->path);
  qm_message_free (detail->message);
}

/**
 * qm_error_domain_register:
 * @name: `qm-…-error-quark`; static
 *
 * For QM_DEFINE_ERROR_DOMAIN() only.
 *
 * Returns: the domain
 */
GQuark
qm_error_domain_register (const char *name)
{
  return g_error_domain_register_static (name, sizeof (Detail), error_init, error_copy, error_clear);
}

/* "FILE:LINE: FIELD: what is wrong", as far as they are known. */
static char *
compose (const Detail  *self,
         const QmWords *words)
{
  g_autofree char *text = qm_message_get_text (self->message, words);
  GString *line = g_string_new (self->file);

  if (self->line > 0)
    g_string_append_printf (line, "%s%d", self->file != NULL ? ":" : "", self->line);
  if (line->len > 0)
    g_string_append (line, ": ");
  /* Many sentences begin with the field. */
  if (self->path != NULL && !g_str_has_prefix (text, self->path))
    g_string_append_printf (line, "%s: ", self->path);
  g_string_append (line, text);

  return g_string_free (line, FALSE);
}

static void
compose_english (GError *error)
{
  g_free (error->message);
  error->message = compose (detail_of (error), qm_words_english ());
}

/**
 * qm_error_take:
 * @error: return location
 * @domain: one of the program's domains
 * @code: its code
 * @path: (nullable): the field that is wrong, e.g. `training.epochs`
 * @message: (transfer full): what is wrong and what would be right
 *
 * Sets an error.
 */
void
qm_error_take (GError     **error,
               GQuark       domain,
               int          code,
               const char  *path,
               QmMessage   *message)
{
  if (error != NULL)
    {
      Detail *detail;

      g_return_if_fail (*error == NULL);
      *error = g_error_new_literal (domain, code, "");
      detail = detail_of (*error);
      detail->path = g_strdup (path);
      detail->message = g_steal_pointer (&message);
      compose_english (*error);
    }

  qm_message_free (message);
}

/**
 * qm_error_set:
 * @error: return location
 * @domain: one of the program's domains
 * @code: its code
 * @path: (nullable): the field that is wrong, e.g. `training.epochs`
 * @msgid: what is wrong and what would be right, with places such as `{word}`
 * @...: as of qm_message_new_filled()
 *
 * Sets an error.
 */
void
qm_error_set (GError     **error,
              GQuark       domain,
              int          code,
              const char  *path,
              const char  *msgid,
              ...)
{
  QmMessage *message;
  va_list arguments;

  va_start (arguments, msgid);
  message = qm_message_new_valist ("error", msgid, arguments);
  va_end (arguments);

  qm_error_take (error, domain, code, path, message);
}

/**
 * qm_error_locate:
 * @error: (inout): an error; those of other programs stay as they are
 * @file: (nullable): the file that is wrong; %NULL leaves what is there
 * @line: its line; 0 leaves what is there
 *
 * Says where the error is.
 */
void
qm_error_locate (GError     *error,
                 const char *file,
                 int         line)
{
  Detail *detail = detail_of (error);

  if (detail == NULL || detail->message == NULL)
    return;

  if (file != NULL)
    g_set_str (&detail->file, file);
  if (line > 0)
    detail->line = line;
  compose_english (error);
}

/**
 * qm_error_add_path:
 * @error: (inout): an error; those of other programs stay as they are
 * @path: the field in which the field that is wrong lies
 *
 * Puts @path before the field of the error.
 */
void
qm_error_add_path (GError     *error,
                   const char *path)
{
  Detail *detail = detail_of (error);
  g_autofree char *inner = NULL;

  if (detail == NULL || detail->message == NULL)
    return;

  inner = g_steal_pointer (&detail->path);
  detail->path = inner != NULL ? g_strconcat (path, ".", inner, NULL) : g_strdup (path);
  compose_english (error);
}

/**
 * qm_error_get_file:
 * @error: an error
 *
 * Returns: (nullable): the file that is wrong
 */
const char *
qm_error_get_file (const GError *error)
{
  const Detail *detail = detail_of (error);

  return detail != NULL ? detail->file : NULL;
}

/**
 * qm_error_get_path:
 * @error: an error
 *
 * Returns: (nullable): the field that is wrong, e.g. `training.epochs`
 */
const char *
qm_error_get_path (const GError *error)
{
  const Detail *detail = detail_of (error);

  return detail != NULL ? detail->path : NULL;
}

/**
 * qm_error_get_text:
 * @error: an error
 * @words: the reader's language
 *
 * Returns: (transfer full): what is wrong, and where
 */
char *
qm_error_get_text (const GError  *error,
                   const QmWords *words)
{
  const Detail *detail = detail_of (error);

  return detail != NULL && detail->message != NULL ? compose (detail, words) : g_strdup (error->message);
}
