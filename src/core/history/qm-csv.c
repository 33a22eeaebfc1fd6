/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-csv.h"

#include <glib/gi18n.h>
#include <string.h>

#include "history/qm-import.h"
#include "qm-error.h"

/**
 * qm_csv_init:
 * @self: (out caller-allocates): where a table is being read
 * @data: (array length=length): the table, RFC 4180
 * @length: its bytes
 */
void
qm_csv_init (QmCsv      *self,
             const char *data,
             gsize       length)
{
  *self = (QmCsv) { data, data + length, 0, 1 };
}

static void
take_quoted (QmCsv   *self,
             GString *field)
{
  self->at++;
  while (self->at < self->end)
    {
      if (*self->at == '"' && (self->at + 1 >= self->end || self->at[1] != '"'))
        {
          self->at++;
          return;
        }
      self->at += *self->at == '"';
      self->next_line += *self->at == '\n';
      g_string_append_c (field, *self->at++);
    }
  /* the end of the file came first */
  self->at = NULL;
}

static void
take_plain (QmCsv   *self,
            GString *field)
{
  while (self->at < self->end && *self->at != ',' && *self->at != '\n' && *self->at != '\r')
    g_string_append_c (field, *self->at++);
}

/* TRUE where another field follows. */
static gboolean
pass_separator (QmCsv *self)
{
  if (self->at < self->end && *self->at == ',')
    {
      self->at++;
      return TRUE;
    }
  if (self->at < self->end && *self->at == '\r')
    self->at++;
  if (self->at < self->end && *self->at == '\n')
    {
      self->at++;
      self->next_line++;
    }

  return FALSE;
}

static gboolean
refuse (QmCsv       *self,
        const char  *msgid,
        GError     **error)
{
  qm_error_set (error, QM_IMPORT_ERROR, QM_IMPORT_ERROR_SYNTAX, NULL, msgid, NULL);
  if (error != NULL)
    qm_error_locate (*error, NULL, self->line);

  return FALSE;
}

/**
 * qm_csv_next:
 * @self: where a table is being read
 * @fields: (element-type utf8): the fields of the next row; those of the row
 *   before go away
 * @error: return location for a #QM_IMPORT_ERROR
 *
 * Rows without anything are left out.
 *
 * Returns: whether there was a row; %FALSE without @error at the end
 */
gboolean
qm_csv_next (QmCsv      *self,
             GPtrArray  *fields,
             GError    **error)
{
  gboolean more = TRUE;

  g_ptr_array_set_size (fields, 0);
  while (self->at < self->end && (*self->at == '\n' || *self->at == '\r'))
    pass_separator (self);
  if (self->at >= self->end)
    return FALSE;

  self->line = self->next_line;
  while (more)
    {
      g_autoptr (GString) field = g_string_new (NULL);

      if (self->at < self->end && *self->at == '"')
        take_quoted (self, field);
      else
        take_plain (self, field);
      if (self->at == NULL)
        {
          self->at = self->end;
          return refuse (self, N_("a quotation mark is opened here and never closed"), error);
        }
      if (self->at < self->end && *self->at != ',' && *self->at != '\n' && *self->at != '\r')
        return refuse (self, N_("behind a closing quotation mark stands more than a comma"), error);
      g_ptr_array_add (fields, g_string_free (g_steal_pointer (&field), FALSE));
      more = pass_separator (self);
    }

  return TRUE;
}

/**
 * qm_csv_append:
 * @text: a table
 * @field: (nullable): the next field; %NULL leaves it empty
 * @last: whether the row ends with it
 */
void
qm_csv_append (GString    *text,
               const char *field,
               gboolean    last)
{
  if (field != NULL && strpbrk (field, ",\"\r\n") != NULL)
    {
      g_auto (GStrv) parts = g_strsplit (field, "\"", -1);
      g_autofree char *doubled = g_strjoinv ("\"\"", parts);

      g_string_append_printf (text, "\"%s\"", doubled);
    }
  else if (field != NULL)
    g_string_append (text, field);
  g_string_append_c (text, last ? '\n' : ',');
}
