/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-history-private.h"

#include "decide/qm-experience.h"
#include "draw/qm-language.h"
#include "probe/qm-own-ledger.h"
#include "qm-error.h"

#define MOST_POINTS 400

struct _QmHistory {
  GObject parent_instance;

  QmSession *session;
  QmLedgerWorker *worker;
  QmExperience *experience;         /* NULL: nothing is known yet */
  gboolean wanted;                  /* estimates are corrected */
  gboolean taught;                  /* the session knows of runs */
  guint jobs;                       /* that are not done */
  guint learning;                   /* the latest lesson: others are out of date */
};

G_DEFINE_FINAL_TYPE (QmHistory, qm_history, G_TYPE_OBJECT)

enum { PROP_BUSY = 1, N_PROPS };
enum { CHANGED, REMOVED, LEARNT, TOLD, FAILED, N_SIGNALS };

static GParamSpec *props[N_PROPS];
static guint signals[N_SIGNALS];

/* ----------------------------------------------------------------------------- jobs */

typedef struct {
  QmHistory *history;
  GAsyncReadyCallback callback;     /* called with the history */
  gpointer user_data;
} Call;

/* While a job is not done the program does not end: what a person entered last is
 * written, though the window is gone. */
static void
count_jobs (QmHistory *self,
            int        change)
{
  GApplication *application = g_application_get_default ();
  gboolean was_busy = self->jobs > 0;

  self->jobs += change;
  if (application != NULL && change > 0)
    g_application_hold (application);
  else if (application != NULL)
    g_application_release (application);
  if (was_busy != (self->jobs > 0))
    g_object_notify_by_pspec (G_OBJECT (self), props[PROP_BUSY]);
}

static void
job_done (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  g_autofree Call *call = data;
  g_autoptr (QmHistory) self = call->history;

  count_jobs (self, -1);
  call->callback (G_OBJECT (self), result, call->user_data);
}

/**
 * qm_history_start:
 * @self: the runs
 * @job: called in the thread of the ledger
 * @data: (nullable) (transfer full): for @job
 * @data_free: (nullable): frees @data
 * @result_free: (nullable): frees what @job returns, where nobody takes it
 * @cancellable: (nullable): ends it early
 * @callback: called with @self when it is done
 * @user_data: for @callback
 */
void
qm_history_start (QmHistory           *self,
                  QmLedgerJob          job,
                  gpointer             data,
                  GDestroyNotify       data_free,
                  GDestroyNotify       result_free,
                  GCancellable        *cancellable,
                  GAsyncReadyCallback  callback,
                  gpointer             user_data)
{
  Call *call = g_new0 (Call, 1);

  *call = (Call) { g_object_ref (self), callback, user_data };
  count_jobs (self, 1);
  qm_ledger_worker_do (self->worker, job, data, data_free, result_free, cancellable, job_done, call);
}

/**
 * qm_history_tell:
 * @self: the runs
 * @text: what the person should know
 */
void
qm_history_tell (QmHistory  *self,
                 const char *text)
{
  g_signal_emit (self, signals[TOLD], 0, text);
}

/**
 * qm_history_fail:
 * @self: the runs
 * @error: what went wrong
 */
void
qm_history_fail (QmHistory    *self,
                 const GError *error)
{
  g_autofree char *text = qm_error_get_text (error, qm_language_get_words ());

  g_signal_emit (self, signals[FAILED], 0, text);
}

/**
 * qm_history_has_changed:
 * @self: the runs
 * @teaches: whether other runs are learnt from than before
 * @removed: the number of the run that went; 0 for none
 */
void
qm_history_has_changed (QmHistory *self,
                        gboolean   teaches,
                        gint64     removed)
{
  if (teaches)
    qm_history_learn (self);
  if (removed > 0)
    g_signal_emit (self, signals[REMOVED], 0, removed);
  g_signal_emit (self, signals[CHANGED], 0);
}

/* ------------------------------------------------------------------------------ look */

typedef struct {
  char *text;
  gint64 before;
  guint limit;
  gboolean all;
} Question;

static void
question_free (Question *self)
{
  g_free (self->text);
  g_free (self);
}

/**
 * qm_history_look_free:
 * @self: (nullable): what was seen
 */
void
qm_history_look_free (QmHistoryLook *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->points, g_array_unref);
  g_clear_pointer (&self->runs, g_ptr_array_unref);
  g_free (self);
}

static gboolean
find_runs (QmLedger        *ledger,
           const Question  *question,
           QmHistoryLook   *look,
           GCancellable    *cancellable,
           GError         **error)
{
  QmLedgerQuery query = { .text = question->text, .before = question->before, .limit = question->limit };

  g_auto (QmLedgerPage) page = { 0 };

  if (g_cancellable_set_error_if_cancelled (cancellable, error) || !qm_ledger_find (ledger, &query, &page, error))
    return FALSE;

  look->runs = g_steal_pointer (&page.runs);
  look->next = page.next;

  return TRUE;
}

static gpointer
look_at_runs (QmLedger      *ledger,
              gpointer       data,
              GCancellable  *cancellable,
              GError       **error)
{
  const Question *question = data;
  g_autoptr (QmHistoryLook) look = g_new0 (QmHistoryLook, 1);

  look->count = qm_ledger_count (ledger, error);
  if (look->count < 0 || !find_runs (ledger, question, look, cancellable, error))
    return NULL;
  if (question->all && (look->points = qm_ledger_list_points (ledger, QM_HISTORY_KEY, MOST_POINTS, error)) == NULL)
    return NULL;

  return g_steal_pointer (&look);
}

/**
 * qm_history_look:
 * @self: the runs
 * @text: words of which each begins a word of the run; empty for all runs
 * @before: 0, or the next of the look before
 * @limit: how many runs at the most
 * @all: whether the points of the chart are wanted as well
 * @cancellable: ends it early
 * @callback: called with @self when it is done
 * @user_data: for @callback
 */
void
qm_history_look (QmHistory           *self,
                 const char          *text,
                 gint64               before,
                 guint                limit,
                 gboolean             all,
                 GCancellable        *cancellable,
                 GAsyncReadyCallback  callback,
                 gpointer             user_data)
{
  Question *question = g_new0 (Question, 1);

  *question = (Question) { text[0] != '\0' ? g_strdup (text) : NULL, before, limit, all };
  qm_history_start (self, look_at_runs, question, (GDestroyNotify) question_free, (GDestroyNotify) qm_history_look_free, cancellable, callback, user_data);
}

static gpointer
finish (GAsyncResult  *result,
        GError       **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * qm_history_look_finish:
 * @result: of qm_history_look()
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): what was seen
 */
QmHistoryLook *
qm_history_look_finish (GAsyncResult  *result,
                        GError       **error)
{
  return finish (result, error);
}

static gpointer
get_runs (QmLedger      *ledger,
          gpointer       data,
          GCancellable  *cancellable,
          GError       **error)
{
  const gint64 *ids = data;
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_run_free);

  for (guint i = 0; i < 2 && ids[i] > 0; i++)
    {
      QmRun *run = qm_ledger_get (ledger, ids[i], error);

      if (run == NULL)
        return NULL;
      g_ptr_array_add (runs, run);
    }

  return g_steal_pointer (&runs);
}

/**
 * qm_history_get:
 * @self: the runs
 * @first: number of a run
 * @second: of another; 0 for none
 * @callback: called with @self when it is done
 * @user_data: for @callback
 */
void
qm_history_get (QmHistory           *self,
                gint64               first,
                gint64               second,
                GAsyncReadyCallback  callback,
                gpointer             user_data)
{
  const gint64 ids[] = { first, second };

  qm_history_start (self, get_runs, g_memdup2 (ids, sizeof ids), g_free, (GDestroyNotify) g_ptr_array_unref, NULL, callback, user_data);
}

/**
 * qm_history_get_finish:
 * @result: of qm_history_get()
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable) (element-type QmRun): the runs with all
 *   their figures
 */
GPtrArray *
qm_history_get_finish (GAsyncResult  *result,
                       GError       **error)
{
  return finish (result, error);
}

/* ----------------------------------------------------------------------------- learn */

static gpointer
learn_from_runs (QmLedger      *ledger,
                 gpointer       data,
                 GCancellable  *cancellable,
                 GError       **error)
{
  return qm_experience_new (ledger, data, g_get_real_time (), error);
}

/* Estimates are made anew only where runs are known or were. */
static void
teach (QmHistory *self)
{
  guint runs = qm_history_n_learnt (self);

  if (runs == 0 && !self->taught)
    return;

  self->taught = runs > 0;
  qm_session_learn (self->session, runs > 0 ? self->experience->past_runs : NULL,
                    self->wanted && runs > 0 ? self->experience->calibration : NULL);
}

static void
take (QmHistory    *self,
      QmExperience *experience)
{
  qm_session_set_learning (self->session, FALSE);
  g_clear_pointer (&self->experience, qm_experience_free);
  self->experience = experience;
  teach (self);
  g_signal_emit (self, signals[LEARNT], 0);
}

static void
learnt (GObject      *source,
        GAsyncResult *result,
        gpointer      data)
{
  QmHistory *self = QM_HISTORY (source);
  g_autoptr (QmExperience) experience = finish (result, NULL);

  if (GPOINTER_TO_UINT (data) != self->learning)
    return;

  take (self, g_steal_pointer (&experience));
}

/**
 * qm_history_learn:
 * @self: the runs
 *
 * Compares the latest runs with what would be estimated of them now. Who has no
 * ledger gets none by this.
 */
void
qm_history_learn (QmHistory *self)
{
  if (!qm_own_ledger_exists ())
    {
      self->learning++;
      take (self, NULL);
      return;
    }

  qm_session_set_learning (self->session, TRUE);
  qm_history_start (self, learn_from_runs, g_object_ref (qm_session_get_estimator (self->session)), g_object_unref, (GDestroyNotify) qm_experience_free,
         NULL, learnt, GUINT_TO_POINTER (++self->learning));
}

/**
 * qm_history_set_wanted:
 * @self: the runs
 * @wanted: whether estimates are corrected by them
 */
void
qm_history_set_wanted (QmHistory *self,
                       gboolean   wanted)
{
  if (self->wanted == wanted)
    return;

  self->wanted = wanted;
  teach (self);
}

/**
 * qm_history_n_learnt:
 * @self: the runs
 *
 * Returns: how many say how far this computer is from theory
 */
guint
qm_history_n_learnt (QmHistory *self)
{
  return self->experience != NULL ? self->experience->runs : 0;
}

/* It is changed in the preferences as well, where nobody has looked at the runs yet. */
static void
follow_setting (QmHistory *self)
{
  qm_history_set_wanted (self, g_settings_get_boolean (qm_session_get_settings (self->session), "learn-from-runs"));
}

/* --------------------------------------------------------------------------- building */

/**
 * qm_history_get_session:
 * @self: the runs
 *
 * Returns: (transfer none): the session whose estimates follow them
 */
QmSession *
qm_history_get_session (QmHistory *self)
{
  return self->session;
}

/**
 * qm_history_get_busy:
 * @self: the runs
 *
 * Returns: whether something is being read or written
 */
gboolean
qm_history_get_busy (QmHistory *self)
{
  return self->jobs > 0;
}

static void
qm_history_get_property (GObject    *object,
                         guint       id,
                         GValue     *value,
                         GParamSpec *pspec)
{
  if (id == PROP_BUSY)
    g_value_set_boolean (value, qm_history_get_busy (QM_HISTORY (object)));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
qm_history_finalize (GObject *object)
{
  QmHistory *self = QM_HISTORY (object);

  g_clear_object (&self->session);
  g_clear_object (&self->worker);
  g_clear_pointer (&self->experience, qm_experience_free);

  G_OBJECT_CLASS (qm_history_parent_class)->finalize (object);
}

static guint
add_signal (GObjectClass *klass,
            const char   *name,
            GType         type)
{
  return g_signal_new (name, G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, type != G_TYPE_NONE ? 1 : 0, type);
}

static void
qm_history_class_init (QmHistoryClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = qm_history_get_property;
  object_class->finalize = qm_history_finalize;
  props[PROP_BUSY] = g_param_spec_boolean ("busy", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
  signals[CHANGED] = add_signal (object_class, "changed", G_TYPE_NONE);
  signals[REMOVED] = add_signal (object_class, "removed", G_TYPE_INT64);
  signals[LEARNT] = add_signal (object_class, "learnt", G_TYPE_NONE);
  signals[TOLD] = add_signal (object_class, "told", G_TYPE_STRING);
  signals[FAILED] = add_signal (object_class, "failed", G_TYPE_STRING);
}

static void
qm_history_init (QmHistory *self)
{
  self->wanted = TRUE;
  self->worker = qm_ledger_worker_new (NULL);
}

/**
 * qm_history_new:
 * @session: the session, whose estimates follow the runs
 *
 * Returns: (transfer full): the runs of the person, learnt from as soon as @session
 *   is loaded
 */
QmHistory *
qm_history_new (QmSession *session)
{
  QmHistory *self = g_object_new (QM_TYPE_HISTORY, NULL);

  self->session = g_object_ref (session);
  if (qm_session_get_settings (session) != NULL)
    {
      /* Only of a key that is read after this changes are told. */
      g_signal_connect_object (qm_session_get_settings (session), "changed::learn-from-runs", G_CALLBACK (follow_setting), self, G_CONNECT_SWAPPED);
      follow_setting (self);
    }
  if (qm_session_get_loading (session))
    g_signal_connect_object (session, "loaded", G_CALLBACK (qm_history_learn), self, G_CONNECT_SWAPPED);
  else
    qm_history_learn (self);

  return self;
}
