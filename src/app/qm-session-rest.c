/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-session-private.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* A slider that is dragged searches again and again; this long after the last time
 * nobody is. */
#define REST_MILLISECONDS 800

static gboolean
give_back (gpointer data)
{
  QmSession *self = data;

  self->resting = 0;
#ifdef __GLIBC__
  malloc_trim (0);
#endif

  return G_SOURCE_REMOVE;
}

/**
 * qm_session_rest:
 * @self: a session that has just answered
 *
 * Gives the memory that reading and searching took back to the system, once there
 * is nothing more to be done: allocators keep it for the next time.
 */
void
qm_session_rest (QmSession *self)
{
  g_clear_handle_id (&self->resting, g_source_remove);
  self->resting = g_timeout_add (REST_MILLISECONDS, give_back, self);
}
