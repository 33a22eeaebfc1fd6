/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-message.h"

G_BEGIN_DECLS

GQuark      qm_error_domain_register (const char  *name);

/* An error domain of this program: its errors know the file, the line and the
 * field that they are about, and can be read in every language. */
#define QM_DEFINE_ERROR_DOMAIN(name, function)               \
GQuark                                                       \
function (void)                                              \
{                                                            \
  static gsize quark = 0;                                    \
                                                             \
  if (g_once_init_enter (&quark))                            \
    g_once_init_leave (&quark, qm_error_domain_register (name)); \
                                                             \
  return (GQuark) quark;                                     \
}

void        qm_error_set             (GError     **error,
                                      GQuark       domain,
                                      int          code,
                                      const char  *path,
                                      const char  *msgid,
                                      ...) G_GNUC_NULL_TERMINATED;
void        qm_error_take            (GError     **error,
                                      GQuark       domain,
                                      int          code,
                                      const char  *path,
                                      QmMessage   *message);
void        qm_error_locate          (GError      *error,
                                      const char  *file,
                                      int          line);
void        qm_error_add_path        (GError      *error,
                                      const char  *path);

const char *qm_error_get_file        (const GError *error);
const char *qm_error_get_path        (const GError *error);
char       *qm_error_get_text        (const GError  *error,
                                      const QmWords *words);

G_END_DECLS
