/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-ledger-worker.h"

#include "probe/qm-own-ledger.h"
#include "qm-context.h"

struct _QmLedgerWorker {
  GObject parent_instance;

  char *path;                       /* NULL: the ledger of the person */
  GThreadPool *pool;                /* of one thread */
  QmLedger *ledger;                 /* the thread's, while it works */
};

G_DEFINE_FINAL_TYPE (QmLedgerWorker, qm_ledger_worker, G_TYPE_OBJECT)

/* The task belongs to the thread that gave it: it is answered and let go there. */
typedef struct {
  QmLedgerWorker *worker;           /* NULL: close the ledger */
  QmLedger *closing;
  GTask *task;
  GMainContext *context;
  QmLedgerJob function;
  GDestroyNotify result_free;
  gpointer result;
  GError *error;
} Job;

static void
job_free (Job *self)
{
  if (self->result != NULL && self->result_free != NULL)
    self->result_free (self->result);
  g_clear_error (&self->error);
  g_clear_object (&self->task);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_free (self);
}

static gboolean
answer (gpointer data)
{
  Job *job = data;

  if (job->error != NULL)
    g_task_return_error (job->task, g_steal_pointer (&job->error));
  else
    g_task_return_pointer (job->task, g_steal_pointer (&job->result), job->result_free);

  return G_SOURCE_REMOVE;
}

static void
work (gpointer data,
      gpointer user_data)
{
  Job *job = data;
  QmLedgerWorker *self = job->worker;
  GCancellable *cancellable;

  if (self == NULL)
    {
      g_object_unref (job->closing);
      job_free (job);
      return;
    }

  cancellable = g_task_get_cancellable (job->task);
  if (!g_cancellable_set_error_if_cancelled (cancellable, &job->error) &&
      (self->ledger != NULL || (self->ledger = qm_own_ledger_open (self->path, &job->error)) != NULL))
    job->result = job->function (self->ledger, g_task_get_task_data (job->task), cancellable, &job->error);
  qm_context_send (job->context, answer, job, (GDestroyNotify) job_free);
}

/* To close a ledger may write to the disk: that is the thread's as well. */
static void
qm_ledger_worker_finalize (GObject *object)
{
  QmLedgerWorker *self = QM_LEDGER_WORKER (object);

  if (self->ledger != NULL)
    {
      Job *job = g_new0 (Job, 1);

      job->closing = g_steal_pointer (&self->ledger);
      g_thread_pool_push (self->pool, job, NULL);
    }
  g_thread_pool_free (self->pool, FALSE, FALSE);
  g_free (self->path);

  G_OBJECT_CLASS (qm_ledger_worker_parent_class)->finalize (object);
}

static void
qm_ledger_worker_class_init (QmLedgerWorkerClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_ledger_worker_finalize;
}

static void
qm_ledger_worker_init (QmLedgerWorker *self)
{
  self->pool = g_thread_pool_new (work, NULL, 1, FALSE, NULL);
}

/**
 * qm_ledger_worker_new:
 * @path: (nullable): a file; %NULL for the ledger of the person
 *
 * Returns: (transfer full): a worker; it opens the ledger with its first job, and
 *   tries again with the next where that fails
 */
QmLedgerWorker *
qm_ledger_worker_new (const char *path)
{
  QmLedgerWorker *self = g_object_new (QM_TYPE_LEDGER_WORKER, NULL);

  self->path = g_strdup (path);
  return self;
}

/**
 * qm_ledger_worker_do:
 * @self: a worker
 * @job: called in its thread
 * @data: (nullable) (transfer full): for @job
 * @data_free: (nullable): frees @data, in the thread of the caller
 * @result_free: (nullable): frees what @job returns, where nobody takes it
 * @cancellable: (nullable): one that is cancelled before its turn is not begun
 * @callback: called in the main context of the caller; the worker lives until
 *   then
 * @user_data: for @callback
 */
void
qm_ledger_worker_do (QmLedgerWorker      *self,
                     QmLedgerJob          job,
                     gpointer             data,
                     GDestroyNotify       data_free,
                     GDestroyNotify       result_free,
                     GCancellable        *cancellable,
                     GAsyncReadyCallback  callback,
                     gpointer             user_data)
{
  Job *given = g_new0 (Job, 1);

  given->worker = self;
  given->task = g_task_new (self, cancellable, callback, user_data);
  given->context = g_main_context_ref_thread_default ();
  given->function = job;
  given->result_free = result_free;
  g_task_set_source_tag (given->task, qm_ledger_worker_do);
  g_task_set_task_data (given->task, data, data_free);
  g_thread_pool_push (self->pool, given, NULL);
}

/**
 * qm_ledger_worker_finish:
 * @self: a worker
 * @result: of qm_ledger_worker_do()
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): what the job returned; %NULL with @error
 *   set where it failed or was cancelled
 */
gpointer
qm_ledger_worker_finish (QmLedgerWorker  *self,
                         GAsyncResult    *result,
                         GError         **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
