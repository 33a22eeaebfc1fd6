/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "preferences/qm-preferences.h"
#include "qm-session-private.h"

/* Whether estimates depend on it. */
static gboolean
counts (const char *key)
{
  static const char * const others[] = { "window-width", "window-height", "window-maximized", "paper", "keep-commands",
                                         "learn-from-runs", NULL };

  return !g_strv_contains (others, key);
}

static void
setting_changed (QmSession  *self,
                 const char *key)
{
  if (counts (key))
    qm_session_plan_changed (self);
}

/**
 * qm_session_set_today:
 * @estimator: an estimator
 *
 * Tells @estimator the day.
 */
void
qm_session_set_today (QmEstimator *estimator)
{
  g_autofree char *today = qm_today ();

  qm_estimator_set_today (estimator, today);
}

/**
 * qm_session_open_settings:
 * @self: a session
 *
 * Follows what the person set once for all.
 */
void
qm_session_open_settings (QmSession *self)
{
  self->settings = qm_preferences_open ();
  if (self->settings != NULL)
    g_signal_connect_object (self->settings, "changed", G_CALLBACK (setting_changed), self, G_CONNECT_SWAPPED);
}

/**
 * qm_session_get_settings:
 * @self: a session
 *
 * Returns: (transfer none) (nullable): what the person set once for all; %NULL
 *   where the schema is not installed
 */
GSettings *
qm_session_get_settings (QmSession *self)
{
  return self->settings;
}

/**
 * qm_session_dup_own_catalog:
 *
 * Returns: (transfer full): the folder of the person's own catalog
 */
char *
qm_session_dup_own_catalog (void)
{
  const char *user = g_getenv ("QM_USER_DIR");

  return user != NULL ? g_build_filename (user, "catalog", NULL)
                      : g_build_filename (g_get_user_data_dir (), "quartermaster", "catalog", NULL);
}

/**
 * qm_session_reload:
 * @self: a session
 * @error: return location for an error
 *
 * Reads the catalog anew, after prices were added or removed, and answers again.
 *
 * Returns: whether it could be read; the catalog before is kept where not
 */
gboolean
qm_session_reload (QmSession  *self,
                   GError    **error)
{
  g_autofree char *shipped = qm_session_dup_data_path ("catalog");
  g_autofree char *own = qm_session_dup_own_catalog ();
  g_autoptr (QmCatalog) catalog = qm_catalog_load (shipped, own, error);
  g_autoptr (QmEstimator) plain = catalog != NULL ? qm_estimator_new (catalog, error) : NULL;
  const QmCalibration *calibration = qm_estimator_get_calibration (qm_session_get_estimator (self));
  g_autoptr (QmEstimator) estimator = NULL;

  if (plain == NULL)
    return FALSE;

  qm_session_set_today (plain);
  estimator = calibration != NULL ? qm_estimator_calibrate (plain, calibration) : g_object_ref (plain);
  g_ptr_array_add (self->retired, g_object_ref (self->catalog));
  g_set_object (&self->catalog, catalog);
  g_set_object (&self->plain, plain);
  g_set_object (&self->estimator, estimator);
  /* Its devices are those of the catalog before. */
  g_clear_object (&self->machine);
  qm_session_plan_changed (self);
  qm_session_probe (self, FALSE);

  return TRUE;
}

/**
 * qm_session_set_learning:
 * @self: a session
 * @learning: whether the person's runs are being read, after which
 *   qm_session_learn() may change the answer
 */
void
qm_session_set_learning (QmSession *self,
                         gboolean   learning)
{
  self->learning = learning;
}

/**
 * qm_session_get_learning:
 * @self: a session
 *
 * Returns: whether the answer may yet be corrected by the person's runs
 */
gboolean
qm_session_get_learning (QmSession *self)
{
  return self->learning;
}
