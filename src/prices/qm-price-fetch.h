/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * QmFetchLimits:
 * @most_bytes: of a list
 * @idle_seconds: without a byte
 * @most_seconds: for the whole
 */
typedef struct {
  guint64 most_bytes;
  guint idle_seconds;
  guint most_seconds;
} QmFetchLimits;

extern const QmFetchLimits qm_fetch_limits_usual;

/* called from the thread that fetches; @total is 0 where it is not known */
typedef void (*QmFetchProgress) (guint64  received,
                                 guint64  total,
                                 gpointer data);

/**
 * QmFetched:
 * @date: when the server last changed it, ISO 8601; NULL unknown
 * @resumed: of these bytes, so many were there from a try before
 */
typedef struct {
  char *text;
  gsize length;
  char *date;
  guint64 resumed;
} QmFetched;

gboolean qm_fetch         (const char           *address,
                           const char           *part_path,
                           const QmFetchLimits  *limits,
                           QmFetchProgress       progress,
                           gpointer              data,
                           QmFetched            *fetched,
                           GCancellable         *cancellable,
                           GError              **error);
void     qm_fetched_clear (QmFetched            *self);

G_END_DECLS
