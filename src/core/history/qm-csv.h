/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Where a table is being read. */
typedef struct {
  const char *at;
  const char *end;
  int line;                         /* of the row that was read last; 1 is the first */
  int next_line;
} QmCsv;

void     qm_csv_init   (QmCsv      *self,
                        const char *data,
                        gsize       length);
gboolean qm_csv_next   (QmCsv      *self,
                        GPtrArray  *fields,
                        GError    **error);
void     qm_csv_append (GString    *text,
                        const char *field,
                        gboolean    last);

G_END_DECLS
