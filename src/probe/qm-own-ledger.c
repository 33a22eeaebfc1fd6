/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-own-ledger.h"

/* What was removed can be had back for so long. */
#define KEPT_REMOVED (30 * G_TIME_SPAN_DAY)

/* A run that has written nothing for so long is not going on any more. */
#define SILENCE (2 * G_TIME_SPAN_MINUTE)

/**
 * qm_own_ledger_dup_path:
 *
 * Returns: (transfer full): the file in which the person's runs are, in the
 *   folder that `QM_USER_DIR` names or that of the user's data
 */
char *
qm_own_ledger_dup_path (void)
{
  const char *from_environment = g_getenv ("QM_USER_DIR");

  if (from_environment != NULL)
    return g_build_filename (from_environment, "ledger.db", NULL);

  return g_build_filename (g_get_user_data_dir (), "quartermaster", "ledger.db", NULL);
}

/**
 * qm_own_ledger_exists:
 *
 * Returns: whether the person has one
 */
gboolean
qm_own_ledger_exists (void)
{
  g_autofree char *path = qm_own_ledger_dup_path ();

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/**
 * qm_own_ledger_open:
 * @path: (nullable): a file; %NULL for the ledger of the person
 * @error: return location for an error
 *
 * Opens a ledger, which is made where it is not there. Runs whose recorder went
 * away are settled, and what was removed long ago is forgotten; where another
 * program holds the ledger just now, that waits for the next time.
 *
 * Returns: (transfer full) (nullable): the ledger
 */
QmLedger *
qm_own_ledger_open (const char  *path,
                    GError     **error)
{
  g_autofree char *usual = path == NULL ? qm_own_ledger_dup_path () : NULL;
  g_autofree char *folder = g_path_get_dirname (path != NULL ? path : usual);
  g_autoptr (GError) local_error = NULL;
  g_autoptr (QmLedger) ledger = NULL;
  gint64 now = g_get_real_time ();

  if (path == NULL)
    g_mkdir_with_parents (folder, 0700);
  ledger = qm_ledger_open (path != NULL ? path : usual, error);
  if (ledger == NULL)
    return NULL;
  qm_ledger_set_patient (ledger, FALSE);
  if (qm_ledger_settle (ledger, now - SILENCE, &local_error))
    qm_ledger_purge (ledger, now - KEPT_REMOVED, &local_error);
  qm_ledger_set_patient (ledger, TRUE);
  if (local_error == NULL || g_error_matches (local_error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_BUSY))
    return g_steal_pointer (&ledger);

  g_propagate_error (error, g_steal_pointer (&local_error));
  return NULL;
}
