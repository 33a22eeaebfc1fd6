/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-session-private.h"

/* The catalog is read in a thread, while the window is made and painted. Nobody
 * sees more than the first page before it is there; whoever asks sooner waits. */

struct _QmLoading {
  gatomicrefcount references;       /* of the session and of the thread */
  GThread *thread;
  GWeakRef session;
  QmCatalog *catalog;
  QmEstimator *estimator;           /* NULL where nothing could be read */
  GError *error;                    /* why what the person added is not in it */
};

static void
loading_unref (QmLoading *self)
{
  if (!g_atomic_ref_count_dec (&self->references))
    return;

  g_weak_ref_clear (&self->session);
  g_clear_object (&self->catalog);
  g_clear_object (&self->estimator);
  g_clear_error (&self->error);
  g_free (self);
}

static gboolean
loaded (gpointer data)
{
  QmLoading *self = data;
  g_autoptr (QmSession) session = g_weak_ref_get (&self->session);

  if (session != NULL)
    qm_session_wait (session);

  return G_SOURCE_REMOVE;
}

static gboolean
read_catalog (QmLoading   *self,
              const char  *own,
              GError     **error)
{
  g_autofree char *shipped = qm_session_dup_data_path ("catalog");

  g_clear_object (&self->catalog);
  self->catalog = qm_catalog_load (shipped, own, error);
  if (self->catalog != NULL)
    self->estimator = qm_estimator_new (self->catalog, error);

  return self->estimator != NULL;
}

static gpointer
load (gpointer data)
{
  QmLoading *self = data;
  g_autofree char *own = qm_session_dup_own_catalog ();

  /* A mistake in a file of the person's own shall not keep the program from them. */
  if (!read_catalog (self, own, &self->error))
    read_catalog (self, NULL, NULL);
  /* What is to be painted is painted first. */
  g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, loaded, self, (GDestroyNotify) loading_unref);

  return NULL;
}

/**
 * qm_session_start_loading:
 * @self: a session without a catalog
 *
 * Begins to read the catalog.
 */
void
qm_session_start_loading (QmSession *self)
{
  QmLoading *loading = g_new0 (QmLoading, 1);

  g_atomic_ref_count_init (&loading->references);
  g_atomic_ref_count_inc (&loading->references);
  g_weak_ref_init (&loading->session, self);
  self->loading = loading;
  loading->thread = g_thread_new ("catalog", load, loading);
}

/**
 * qm_session_stop_loading:
 * @self: a session
 *
 * Waits for the thread that reads the catalog, and forgets what it read.
 */
void
qm_session_stop_loading (QmSession *self)
{
  if (self->loading == NULL)
    return;

  g_thread_join (self->loading->thread);
  g_clear_pointer (&self->loading, loading_unref);
}

/**
 * qm_session_get_loading:
 * @self: a session
 *
 * Returns: whether the catalog is still being read: asking for what comes of it waits
 */
gboolean
qm_session_get_loading (QmSession *self)
{
  return self->loading != NULL;
}

static void
take_over (QmSession *self,
           QmLoading *loading)
{
  self->catalog = g_steal_pointer (&loading->catalog);
  self->plain = g_steal_pointer (&loading->estimator);
  self->estimator = g_object_ref (self->plain);
  qm_session_set_today (self->plain);
  qm_session_probe (self, FALSE);
  qm_session_plan_changed (self);
}

/**
 * qm_session_wait:
 * @self: a session
 *
 * Waits until the catalog is read, where it is not. "loaded" is emitted then.
 */
void
qm_session_wait (QmSession *self)
{
  QmLoading *loading = self->loading;

  if (loading == NULL)
    return;

  g_thread_join (loading->thread);
  self->loading = NULL;
  if (loading->estimator != NULL)
    take_over (self, loading);
  g_signal_emit_by_name (self, "loaded", loading->error);
  loading_unref (loading);
}
