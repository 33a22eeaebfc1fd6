/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-session-private.h"

#include <glib/gi18n.h>
#include <string.h>

#include "config.h"
#include "draw/qm-language.h"
#include "plan/qm-flow.h"
#include "preferences/qm-preferences.h"
#include "qm-background.h"
#include "qm-error.h"

#define DEEPEST_UNDO 100

G_DEFINE_FINAL_TYPE (QmSession, qm_session, G_TYPE_OBJECT)

enum {
  PROP_0,
  PROP_BUSY,
  PROP_TITLE,
  N_PROPS
};

enum { PLAN_CHANGED, ANSWERED, SIMULATED, MACHINE_CHANGED, N_SIGNALS };

static GParamSpec *props[N_PROPS];
static guint signals[N_SIGNALS];

/* What the slowest one percent wait is simulated beside the window: roughly at
 * once, then well. */
#define ROUGH_REQUESTS 200
#define FINE_REQUESTS  3000

static void
simulation_done (GObject      *source,
                 GAsyncResult *result,
                 gpointer      data)
{
  QmSession *self = QM_SESSION (source);
  guint requests;
  g_autoptr (QmRecommendation) recommendation = qm_background_simulate_finish (result, &requests);

  /* A later search has taken over. */
  if (recommendation == NULL)
    return;

  self->n_simulations--;
  /* The better one may have come first. */
  if (requests < self->simulated_requests)
    return;

  self->simulated_requests = requests;
  g_set_object (&self->recommendation, recommendation);
  g_signal_emit (self, signals[SIMULATED], 0);
  qm_session_rest (self);
}

static void
set_busy (QmSession *self,
          gboolean   busy)
{
  if (self->busy == busy)
    return;

  self->busy = busy;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_BUSY]);
}

static void
search_done (GObject      *source,
             GAsyncResult *result,
             gpointer      data)
{
  QmSession *self = QM_SESSION (source);
  g_autoptr (QmRecommendation) recommendation = qm_background_recommend_finish (result);

  /* A later search has taken over. */
  if (recommendation == NULL)
    return;

  g_set_object (&self->recommendation, recommendation);
  g_clear_object (&self->cancellable);
  set_busy (self, FALSE);
  g_signal_emit (self, signals[ANSWERED], 0);
  qm_session_rest (self);
  if (!qm_recommendation_can_simulate (recommendation))
    return;

  self->simulating = g_cancellable_new ();
  self->simulated_requests = 0;
  self->n_simulations = 2;
  qm_background_simulate (G_OBJECT (self), recommendation, ROUGH_REQUESTS, self->simulating, simulation_done);
  qm_background_simulate (G_OBJECT (self), recommendation, FINE_REQUESTS, self->simulating, simulation_done);
}

static void
start_search (QmSession *self)
{
  QmHere here = { 0 };

  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_cancellable_cancel (self->simulating);
  g_clear_object (&self->simulating);
  self->n_simulations = 0;
  if (self->resolved == NULL)
    {
      g_clear_object (&self->recommendation);
      set_busy (self, FALSE);
      g_signal_emit (self, signals[ANSWERED], 0);
      return;
    }

  if (self->machine != NULL)
    qm_machine_get_here (self->machine, &here);
  self->cancellable = g_cancellable_new ();
  set_busy (self, TRUE);
  qm_background_recommend (G_OBJECT (self), self->estimator, self->resolved, &here, self->cancellable, search_done);
}

static void
resolve (QmSession *self)
{
  g_autoptr (QmPlan) plan = qm_session_with_first_answers (self->plan);
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = qm_session_dup_folder (self->file);

  g_clear_pointer (&self->resolved, qm_resolved_free);
  qm_preferences_fill_plan (self->settings, qm_estimator_get_economics (self->plain), plan);
  self->resolved = qm_resolve (plan, self->catalog, directory, warnings, &error);
  if (self->resolved != NULL && self->past_runs != NULL)
    self->resolved->past_runs = g_ptr_array_ref (self->past_runs);
  g_clear_pointer (&self->problem, g_free);
  if (error != NULL)
    self->problem = qm_error_get_text (error, qm_language_get_words ());
}

void
qm_session_plan_changed (QmSession *self)
{
  if (self->loading == NULL)
    {
      resolve (self);
      start_search (self);
    }
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_TITLE]);
  g_signal_emit (self, signals[PLAN_CHANGED], 0);
}

static void
remember (QmSession *self)
{
  g_queue_push_head (&self->undo, qm_plan_copy (self->plan));
  if (self->undo.length > DEEPEST_UNDO)
    qm_plan_free (g_queue_pop_tail (&self->undo));
}

static void
qm_session_get_property (GObject    *object,
                         guint       id,
                         GValue     *value,
                         GParamSpec *pspec)
{
  QmSession *self = QM_SESSION (object);

  switch (id)
    {
    case PROP_BUSY:
      g_value_set_boolean (value, self->busy);
      break;
    case PROP_TITLE:
      g_value_take_string (value, qm_session_dup_title (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
qm_session_dispose (GObject *object)
{
  QmSession *self = QM_SESSION (object);

  qm_session_stop_loading (self);
  g_clear_handle_id (&self->resting, g_source_remove);
  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_cancellable_cancel (self->simulating);
  g_clear_object (&self->simulating);
  g_clear_object (&self->recommendation);
  g_clear_object (&self->machine);
  g_clear_object (&self->estimator);
  g_clear_object (&self->plain);
  g_clear_object (&self->catalog);
  g_clear_object (&self->file);
  g_clear_object (&self->settings);
  g_clear_pointer (&self->retired, g_ptr_array_unref);
  g_clear_pointer (&self->resolved, qm_resolved_free);
  g_clear_pointer (&self->plan, qm_plan_free);
  g_clear_pointer (&self->problem, g_free);
  g_clear_pointer (&self->past_runs, g_ptr_array_unref);
  g_queue_clear_full (&self->undo, (GDestroyNotify) qm_plan_free);

  G_OBJECT_CLASS (qm_session_parent_class)->dispose (object);
}

static void
qm_session_class_init (QmSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = qm_session_get_property;
  object_class->dispose = qm_session_dispose;

  props[PROP_BUSY] = g_param_spec_boolean ("busy", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  props[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);

  g_signal_new ("loaded", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[PLAN_CHANGED] = g_signal_new ("plan-changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SIMULATED] = g_signal_new ("simulated", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[ANSWERED] = g_signal_new ("answered", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[MACHINE_CHANGED] = g_signal_new ("machine-changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_session_init (QmSession *self)
{
  self->plan = qm_plan_new ();
  self->retired = g_ptr_array_new_with_free_func (g_object_unref);
  g_queue_init (&self->undo);
}

/**
 * qm_session_new:
 *
 * Begins to load the catalog, and then to look at this computer.
 *
 * Returns: (transfer full): a session with an empty plan
 */
QmSession *
qm_session_new (void)
{
  QmSession *self = g_object_new (QM_TYPE_SESSION, NULL);

  qm_session_open_settings (self);
  qm_session_start_loading (self);

  return self;
}

QmEstimator *
qm_session_get_estimator (QmSession *self)
{
  qm_session_wait (self);
  return self->estimator;
}

/**
 * qm_session_learn:
 * @self: a session
 * @past_runs: (nullable): what runs of the person took in memory
 * @calibration: (nullable): what they teach; %NULL for none
 *
 * Estimates anew, corrected by @calibration, and compares with @past_runs.
 */
void
qm_session_learn (QmSession           *self,
                  GPtrArray           *past_runs,
                  const QmCalibration *calibration)
{
  g_autoptr (QmEstimator) estimator = calibration != NULL ? qm_estimator_calibrate (self->plain, calibration) : g_object_ref (self->plain);

  g_set_object (&self->estimator, estimator);
  g_clear_pointer (&self->past_runs, g_ptr_array_unref);
  self->past_runs = past_runs != NULL ? g_ptr_array_ref (past_runs) : NULL;
  qm_session_plan_changed (self);
}

QmCatalog *
qm_session_get_catalog (QmSession *self)
{
  qm_session_wait (self);
  return self->catalog;
}

/**
 * qm_session_get_machine:
 * @self: a session
 *
 * Returns: (transfer none) (nullable): this computer; %NULL until it is detected
 */
QmMachine *
qm_session_get_machine (QmSession *self)
{
  return self->machine;
}

void
qm_session_set_machine (QmSession *self,
                        QmMachine *machine)
{
  g_set_object (&self->machine, machine);
  start_search (self);
  g_signal_emit (self, signals[MACHINE_CHANGED], 0);
}

const QmPlan *
qm_session_get_plan (QmSession *self)
{
  return self->plan;
}

/**
 * qm_session_get_resolved:
 * @self: a session
 *
 * Returns: (transfer none) (nullable): the plan with its defaults; %NULL while
 *   the answers make no sense, see qm_session_get_problem()
 */
const QmResolved *
qm_session_get_resolved (QmSession *self)
{
  qm_session_wait (self);
  return self->resolved;
}

/**
 * qm_session_get_recommendation:
 * @self: a session
 *
 * Returns: (transfer none) (nullable): the last answer; it may be of the plan
 *   before the last change while "busy" is set
 */
QmRecommendation *
qm_session_get_recommendation (QmSession *self)
{
  qm_session_wait (self);
  return self->recommendation;
}

/**
 * qm_session_get_problem:
 * @self: a session
 *
 * Returns: (nullable): why there is no resolved plan
 */
const char *
qm_session_get_problem (QmSession *self)
{
  qm_session_wait (self);
  return self->problem;
}

/**
 * qm_session_set_answer:
 * @self: a session
 * @field: a field of the plan
 * @value: (nullable): the answer; %NULL takes it back
 * @error: return location for a #QmPlanError
 *
 * Returns: whether @value is an answer that can be
 */
gboolean
qm_session_set_answer (QmSession   *self,
                       const char  *field,
                       const char  *value,
                       GError     **error)
{
  g_autofree char *before = qm_plan_get_field (self->plan, field);
  g_autoptr (QmPlan) changed = NULL;

  if (g_strcmp0 (before, value) == 0)
    return TRUE;

  changed = qm_plan_copy (self->plan);
  /* Money is typed in the currency that stands beside it. */
  if (g_str_equal (field, "limits.money"))
    qm_preferences_fill_currency (self->settings, changed);
  if (!qm_plan_set_field (changed, field, value, error))
    return FALSE;
  qm_answers_complete (changed, field);
  /* A model of another task would make no sense. */
  if (g_str_equal (field, "task"))
    {
      qm_word_set (changed->model.id, "");
      g_clear_pointer (&changed->model.file, g_free);
    }
  if (g_str_equal (field, "model.id") && value != NULL)
    g_clear_pointer (&changed->model.file, g_free);

  remember (self);
  qm_plan_free (self->plan);
  self->plan = g_steal_pointer (&changed);
  qm_session_plan_changed (self);

  return TRUE;
}

/**
 * qm_session_change_plan:
 * @self: a session
 * @changed: the plan with some answers changed
 *
 * Takes it over, as one change that can be undone.
 */
void
qm_session_change_plan (QmSession    *self,
                        const QmPlan *changed)
{
  remember (self);
  qm_plan_free (self->plan);
  self->plan = qm_plan_copy (changed);
  qm_session_plan_changed (self);
}

/**
 * qm_session_get_answer:
 * @self: a session
 * @field: a field of the plan
 *
 * Returns: (transfer full) (nullable): what the person answered
 */
char *
qm_session_get_answer (QmSession  *self,
                       const char *field)
{
  return qm_plan_get_field (self->plan, field);
}

/**
 * qm_session_get_effective:
 * @self: a session
 * @field: a field of the plan
 *
 * Returns: (transfer full) (nullable): the answer, or the default that stands
 *   for it
 */
char *
qm_session_get_effective (QmSession  *self,
                          const char *field)
{
  const QmResolved *resolved = qm_session_get_resolved (self);

  return qm_plan_get_field (resolved != NULL ? resolved->plan : self->plan, field);
}

/**
 * qm_session_set_model_file:
 * @self: a session
 * @path: a file that describes a model
 *
 * Takes the model from a file instead of the catalog.
 */
void
qm_session_set_model_file (QmSession  *self,
                           const char *path)
{
  remember (self);
  qm_word_set (self->plan->model.id, "");
  g_set_str (&self->plan->model.file, path);
  qm_session_plan_changed (self);
}

/**
 * qm_session_set_plan:
 * @self: a session
 * @plan: (transfer full): another plan
 * @file: (nullable): the file it is from
 *
 * Replaces all answers.
 */
void
qm_session_set_plan (QmSession *self,
                     QmPlan    *plan,
                     GFile     *file)
{
  remember (self);
  qm_plan_free (self->plan);
  self->plan = plan;
  g_set_object (&self->file, file);
  qm_session_plan_changed (self);
}

/**
 * qm_session_reset:
 * @self: a session
 *
 * Begins a new plan.
 */
void
qm_session_reset (QmSession *self)
{
  qm_session_set_plan (self, qm_plan_new (), NULL);
}

gboolean
qm_session_can_undo (QmSession *self)
{
  return self->undo.length > 0;
}

/**
 * qm_session_undo:
 * @self: a session
 *
 * Takes the last change of an answer back.
 */
void
qm_session_undo (QmSession *self)
{
  QmPlan *before = g_queue_pop_head (&self->undo);

  if (before == NULL)
    return;

  qm_plan_free (self->plan);
  self->plan = before;
  qm_session_plan_changed (self);
}

/**
 * qm_session_save:
 * @self: a session
 * @file: where to
 * @error: return location for an error
 *
 * Returns: whether the file is whole
 */
gboolean
qm_session_save (QmSession *self,
                 GFile     *file,
                 GError   **error)
{
  g_autoptr (QmPlan) plan = qm_session_with_first_answers (self->plan);
  g_autofree char *data = NULL;
  gsize length;

  if (plan->title[0] == '\0')
    {
      g_autofree char *name = g_file_get_basename (file);
      char *end = g_strrstr (name, ".qmplan");

      if (end != NULL)
        *end = '\0';
      g_set_str (&plan->title, name);
    }

  data = qm_plan_to_data (plan, &length);
  if (!g_file_replace_contents (file, data, length, NULL, FALSE, G_FILE_CREATE_REPLACE_DESTINATION, NULL, NULL, error))
    return FALSE;

  g_set_str (&self->plan->title, plan->title);
  g_set_object (&self->file, file);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_TITLE]);
  return TRUE;
}

GFile *
qm_session_get_file (QmSession *self)
{
  return self->file;
}

/**
 * qm_session_dup_title:
 * @self: a session
 *
 * Returns: (transfer full): what the plan is called
 */
char *
qm_session_dup_title (QmSession *self)
{
  return g_strdup (self->plan->title != NULL && self->plan->title[0] != '\0' ? self->plan->title : _("New plan"));
}

gboolean
qm_session_get_busy (QmSession *self)
{
  return self->busy;
}

/**
 * qm_session_get_simulating:
 * @self: a session
 *
 * Returns: whether the latencies of the answer will still change
 */
gboolean
qm_session_get_simulating (QmSession *self)
{
  return self->n_simulations > 0;
}
