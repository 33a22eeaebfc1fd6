/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-history-private.h"

#include <glib/gi18n.h>
#include <string.h>

#include "history/qm-import.h"

/* --------------------------------------------------------------------------- changes */

typedef struct {
  gint64 id;
  char *note;
  GStrv tags;
  gboolean teaches;                 /* other runs are learnt from than before */
  gboolean removes;
} Change;

static void
change_free (Change *self)
{
  g_free (self->note);
  g_strfreev (self->tags);
  g_free (self);
}

static gpointer
write_note (QmLedger      *ledger,
            gpointer       data,
            GCancellable  *cancellable,
            GError       **error)
{
  const Change *change = data;

  return GINT_TO_POINTER (qm_ledger_set_note (ledger, change->id, change->note, error));
}

static gpointer
write_tags (QmLedger      *ledger,
            gpointer       data,
            GCancellable  *cancellable,
            GError       **error)
{
  const Change *change = data;

  return GINT_TO_POINTER (qm_ledger_set_tags (ledger, change->id, (const char * const *) change->tags, error));
}

static gpointer
remove_run (QmLedger      *ledger,
            gpointer       data,
            GCancellable  *cancellable,
            GError       **error)
{
  return GINT_TO_POINTER (qm_ledger_remove (ledger, ((Change *) data)->id, g_get_real_time (), error));
}

static gpointer
restore_run (QmLedger      *ledger,
             gpointer       data,
             GCancellable  *cancellable,
             GError       **error)
{
  return GINT_TO_POINTER (qm_ledger_restore (ledger, ((Change *) data)->id, error));
}

static void
changed (GObject      *source,
         GAsyncResult *result,
         gpointer      data)
{
  QmHistory *self = QM_HISTORY (source);
  const Change *change = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;

  if (g_task_propagate_pointer (G_TASK (result), &error) == NULL)
    {
      qm_history_fail (self, error);
      return;
    }
  qm_history_has_changed (self, change->teaches, change->removes ? change->id : 0);
}

static void
start_change (QmHistory   *self,
              QmLedgerJob  job,
              Change       change)
{
  qm_history_start (self, job, g_memdup2 (&change, sizeof change), (GDestroyNotify) change_free, NULL, NULL, changed, NULL);
}

/**
 * qm_history_set_note:
 * @self: the runs
 * @id: number of a run
 * @note: what the person has to say of it
 */
void
qm_history_set_note (QmHistory  *self,
                     gint64      id,
                     const char *note)
{
  start_change (self, write_note, (Change) { .id = id, .note = g_strdup (note) });
}

/**
 * qm_history_set_tags:
 * @self: the runs
 * @id: number of a run
 * @tags: (array zero-terminated=1): all its tags
 */
void
qm_history_set_tags (QmHistory          *self,
                     gint64              id,
                     const char * const *tags)
{
  start_change (self, write_tags, (Change) { .id = id, .tags = g_strdupv ((char **) tags) });
}

/**
 * qm_history_remove:
 * @self: the runs
 * @id: number of a run; it can be had back for a while
 */
void
qm_history_remove (QmHistory *self,
                   gint64     id)
{
  start_change (self, remove_run, (Change) { .id = id, .teaches = TRUE, .removes = TRUE });
}

/**
 * qm_history_restore:
 * @self: the runs
 * @id: number of a run that was removed
 */
void
qm_history_restore (QmHistory *self,
                    gint64     id)
{
  start_change (self, restore_run, (Change) { .id = id, .teaches = TRUE });
}

/* ------------------------------------------------------------------------- in and out */

typedef struct {
  GFile *file;
  QmCatalog *catalog;
} Transfer;

static void
transfer_free (Transfer *self)
{
  g_object_unref (self->file);
  g_object_unref (self->catalog);
  g_free (self);
}

static gpointer
import_file (QmLedger      *ledger,
             gpointer       data,
             GCancellable  *cancellable,
             GError       **error)
{
  const Transfer *transfer = data;
  g_autoptr (GPtrArray) imported = qm_import_read (g_file_peek_path (transfer->file), error);
  int added;

  if (imported == NULL)
    return NULL;

  qm_import_name_devices (imported, transfer->catalog);
  added = qm_import_add (ledger, imported, error);

  return added < 0 ? NULL : g_memdup2 (&added, sizeof added);
}

static void
imported (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  QmHistory *self = QM_HISTORY (source);
  g_autoptr (GError) error = NULL;
  g_autofree int *added = g_task_propagate_pointer (G_TASK (result), &error);
  g_autofree char *text = NULL;

  if (added == NULL)
    {
      qm_history_fail (self, error);
      return;
    }

  text = *added == 0 ? g_strdup (_("These runs are here already"))
                     : g_strdup_printf (ngettext ("%d run imported", "%d runs imported", *added), *added);
  qm_history_tell (self, text);
  qm_history_has_changed (self, TRUE, 0);
}

static Transfer *
transfer_new (QmHistory *self,
              GFile     *file)
{
  Transfer *transfer = g_new0 (Transfer, 1);

  transfer->file = g_object_ref (file);
  transfer->catalog = g_object_ref (qm_session_get_catalog (qm_history_get_session (self)));

  return transfer;
}

/**
 * qm_history_import:
 * @self: the runs
 * @file: a log, or runs of another ledger
 *
 * Adds the runs that are not here yet.
 */
void
qm_history_import (QmHistory *self,
                   GFile     *file)
{
  if (g_file_peek_path (file) != NULL)
    qm_history_start (self, import_file, transfer_new (self, file), (GDestroyNotify) transfer_free, g_free, NULL, imported, NULL);
}

static gpointer
export_file (QmLedger      *ledger,
             gpointer       data,
             GCancellable  *cancellable,
             GError       **error)
{
  const Transfer *transfer = data;
  g_autofree char *name = g_file_get_basename (transfer->file);
  g_autofree char *text = g_str_has_suffix (name, ".csv") ? qm_export_csv (ledger, error) : qm_export_json (ledger, error);

  return GINT_TO_POINTER (text != NULL &&
                          g_file_replace_contents (transfer->file, text, strlen (text), NULL, FALSE, G_FILE_CREATE_NONE, NULL, NULL, error));
}

static void
exported (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  QmHistory *self = QM_HISTORY (source);
  g_autoptr (GError) error = NULL;

  if (g_task_propagate_pointer (G_TASK (result), &error) != NULL)
    qm_history_tell (self, _("Runs exported"));
  else
    qm_history_fail (self, error);
}

/**
 * qm_history_export:
 * @self: the runs
 * @file: where all of them are written; a table where its name ends in `.csv`
 */
void
qm_history_export (QmHistory *self,
                   GFile     *file)
{
  qm_history_start (self, export_file, transfer_new (self, file), (GDestroyNotify) transfer_free, NULL, NULL, exported, NULL);
}
