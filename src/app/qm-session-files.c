/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>

#include "config.h"

#include "qm-session-private.h"

/**
 * qm_session_with_first_answers:
 * @plan: a plan
 *
 * The first two answers decide all other questions: without them, the usual.
 *
 * Returns: (transfer full): a copy of @plan that has them
 */
QmPlan *
qm_session_with_first_answers (const QmPlan *plan)
{
  QmPlan *copy = qm_plan_copy (plan);

  if (copy->task == QM_TASK_UNSET)
    copy->task = QM_TASK_LANGUAGE_MODEL;
  if (copy->activity == QM_ACTIVITY_UNSET)
    copy->activity = copy->task == QM_TASK_LANGUAGE_MODEL || copy->task == QM_TASK_IMAGE_GENERATION
                       ? QM_ACTIVITY_FINE_TUNE : QM_ACTIVITY_TRAIN;

  return copy;
}

/**
 * qm_session_open:
 * @self: a session
 * @file: a plan file
 * @error: return location for an error
 *
 * Returns: whether it could be read; the plan stays as it was where not
 */
gboolean
qm_session_open (QmSession *self,
                 GFile     *file,
                 GError   **error)
{
  g_autofree char *data = NULL;
  gsize length;
  QmPlan *plan;

  if (!g_file_load_contents (file, NULL, &data, &length, NULL, error))
    return FALSE;
  plan = qm_plan_from_data (data, length, NULL, error);
  if (plan == NULL)
    return FALSE;

  qm_session_set_plan (self, plan, file);
  return TRUE;
}

static char *
draft_path (void)
{
  return g_build_filename (g_get_user_state_dir (), "quartermaster", "draft.qmplan", NULL);
}

/**
 * qm_session_store_draft:
 * @self: a session
 *
 * Keeps the plan in progress for the next start.
 */
void
qm_session_store_draft (QmSession *self)
{
  g_autofree char *path = draft_path ();
  g_autofree char *directory = g_path_get_dirname (path);
  g_autoptr (QmPlan) empty = qm_plan_new ();
  g_autoptr (QmPlan) plan = qm_session_with_first_answers (qm_session_get_plan (self));
  g_autoptr (GError) error = NULL;

  if (qm_plan_equal (qm_session_get_plan (self), empty))
    {
      g_unlink (path);
      return;
    }
  if (g_mkdir_with_parents (directory, 0700) != 0 || !qm_plan_save (plan, path, &error))
    g_debug ("the draft could not be kept: %s", error != NULL ? error->message : directory);
}

/**
 * qm_session_restore_draft:
 * @self: a session
 *
 * Returns: whether there was a plan in progress
 */
gboolean
qm_session_restore_draft (QmSession *self)
{
  g_autofree char *path = draft_path ();
  QmPlan *plan = qm_plan_load (path, NULL, NULL);

  if (plan == NULL)
    return FALSE;

  qm_session_set_plan (self, plan, NULL);
  return TRUE;
}

/**
 * qm_session_dup_data_path:
 * @name: a folder of the program's data
 *
 * Returns: (transfer full): its path
 */
char *
qm_session_dup_data_path (const char *name)
{
  const char *data = g_getenv ("QM_DATA_DIR");

  return g_build_filename (data != NULL ? data : QM_DATA_DIR, name, NULL);
}

/**
 * qm_session_dup_folder:
 * @file: (nullable): the file a plan is from
 *
 * Returns: (transfer full) (nullable): the folder that the files it names are
 *   looked for in; %NULL where there is none on this computer
 */
char *
qm_session_dup_folder (GFile *file)
{
  g_autoptr (GFile) parent = file != NULL ? g_file_get_parent (file) : NULL;

  return parent != NULL ? g_file_get_path (parent) : NULL;
}
