/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define QM_TEMPLATE_ERROR (qm_template_error_quark ())

/**
 * QmTemplateError:
 * @QM_TEMPLATE_ERROR_SYNTAX: a place or section that is not closed
 * @QM_TEMPLATE_ERROR_NAME: a value that there is none of, or an unknown filter
 * @QM_TEMPLATE_ERROR_VALUE: a value that cannot be written in that language
 */
typedef enum {
  QM_TEMPLATE_ERROR_SYNTAX,
  QM_TEMPLATE_ERROR_NAME,
  QM_TEMPLATE_ERROR_VALUE,
} QmTemplateError;

GQuark qm_template_error_quark (void);

char *qm_template_fill (const char  *folder,
                        const char  *name,
                        JsonObject  *values,
                        GError     **error);

char *qm_template_fill_text (const char  *folder,
                             const char  *name,
                             const char  *text,
                             JsonObject  *values,
                             GError     **error);

G_END_DECLS
