/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define QM_FILE_ERROR (qm_file_error_quark ())

/* Its codes are those of #GFileError. */
GQuark   qm_file_error_quark (void);

char    *qm_file_read        (const char  *path,
                              gsize        most,
                              gsize       *length,
                              GError     **error);
char    *qm_file_read_regular (const char  *path,
                               gsize        most,
                               gsize       *length,
                               GError     **error);
void     qm_file_set_error   (GError      **error,
                              const char   *path,
                              const GError *reason);
gboolean qm_file_write       (const char  *path,
                              const char  *data,
                              gsize        length,
                              GError     **error);

/**
 * QmFileText:
 * @path: where to
 * @text: what to write
 * @executable: a script
 */
typedef struct {
  const char *path;
  const char *text;
  gboolean executable;
} QmFileText;

gboolean qm_file_write_together (const QmFileText *files,
                                 guint             n_files,
                                 GError          **error);

G_END_DECLS
