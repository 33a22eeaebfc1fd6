/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "decide/qm-batch.h"
#include "decide/qm-choices.h"
#include "decide/qm-money.h"
#include "decide/qm-service.h"

struct _QmRecommendation {
  GObject parent_instance;

  QmEstimator *estimator;
  QmResolved *resolved;
  QmHere *here;                     /* (nullable) */
  GArray *choices;                  /* of QmChoice */
  GArray *rows;                     /* of QmChoice */
  GArray *nearest;                  /* of QmChoice, at most one: of what fits nowhere */
  GPtrArray *rejections;
  GPtrArray *sensitivities;
  GPtrArray *stages;
  GPtrArray *warnings;
  guint64 considered;
  double seconds;
};

G_DEFINE_FINAL_TYPE (QmRecommendation, qm_recommendation, G_TYPE_OBJECT)

static void
qm_recommendation_finalize (GObject *object)
{
  QmRecommendation *self = QM_RECOMMENDATION (object);

  g_clear_object (&self->estimator);
  g_clear_pointer (&self->resolved, qm_resolved_free);
  g_clear_pointer (&self->here, g_free);
  g_clear_pointer (&self->choices, g_array_unref);
  g_clear_pointer (&self->rows, g_array_unref);
  g_clear_pointer (&self->nearest, g_array_unref);
  g_clear_pointer (&self->rejections, g_ptr_array_unref);
  g_clear_pointer (&self->sensitivities, g_ptr_array_unref);
  g_clear_pointer (&self->stages, g_ptr_array_unref);
  g_clear_pointer (&self->warnings, g_ptr_array_unref);

  G_OBJECT_CLASS (qm_recommendation_parent_class)->finalize (object);
}

static void
qm_recommendation_class_init (QmRecommendationClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_recommendation_finalize;
}

static void
qm_recommendation_init (QmRecommendation *self)
{
  self->choices = qm_choices_new ();
  self->rows = qm_choices_new ();
  self->nearest = qm_choices_new ();
  self->warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
}

static void
swap (QmSearch **a,
      QmSearch **b)
{
  QmSearch *other = *a;

  *a = *b;
  *b = other;
}

/* Fine-tuning that fits nowhere is tried again with adapters, then with
 * quantised weights under them. */
static QmSearch *
search_with_cheaper_methods (QmRecommendation *self,
                             const QmHere     *here,
                             QmWish           *wish,
                             GCancellable     *cancellable)
{
  static const QmMethod methods[] = { QM_METHOD_LORA, QM_METHOD_QLORA };
  g_autoptr (QmSearch) search = qm_search_new (self->estimator, self->resolved, here, cancellable);
  QmPlan *plan = self->resolved->plan;

  qm_search_wish (search, wish);
  self->considered = search->considered;

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      QmMethod before = plan->training.method;
      g_autoptr (QmSearch) other = NULL;

      if (plan->activity != QM_ACTIVITY_FINE_TUNE || plan->task != QM_TASK_LANGUAGE_MODEL || before >= methods[i] ||
          self->resolved->given->configuration.device[0] != '\0' || qm_search_best (search, wish) >= 0)
        continue;

      plan->training.method = methods[i];
      other = qm_search_new (self->estimator, self->resolved, here, cancellable);
      self->considered += other->considered;
      /* Where it fits nowhere either, the answer is about what was asked for. */
      if (other->rows->len > 0)
        swap (&search, &other);
      if (qm_search_best (search, wish) < 0)
        {
          plan->training.method = before;
          continue;
        }
      g_ptr_array_add (self->warnings,
                       qm_message_set_detail (qm_message_new ("other-method", N_("Training all weights keeps none of your limits")),
                                              methods[i] == QM_METHOD_LORA
                                                ? N_("The choices below train adapters (LoRA) instead.")
                                                : N_("The choices below train adapters on 4-bit weights (QLoRA) instead.")));
    }

  return g_steal_pointer (&search);
}

/* Who set no limit breaks none. */
static QmMessage *
say_nothing_fits (QmRecommendation *self)
{
  return qm_message_new ("nothing-fits", qm_plan_has_limits (self->resolved->given)
                                           ? N_("Nothing that may be used keeps all your limits")
                                           : N_("Nothing that may be used can do this job"));
}

/* Where nothing fits at all: what comes nearest. */
static void
look_at_nearest (QmRecommendation *self,
                 const QmSearch   *search,
                 const QmWish     *wish)
{
  QmChoice choice;

  if (self->rows->len == 0 && qm_choice_nearest (search, wish, &choice))
    g_array_append_val (self->nearest, choice);
}

/* Who gave no limit is told where answers take longer than is usual. */
static QmMessage *
say_slow (const QmResolved *resolved,
          const QmChoice   *best)
{
  double given = resolved->given->serving.latency_p99_seconds, usual = resolved->plan->serving.latency_p99_seconds;
  double slowest = best->estimate.serving.latency_p99_seconds.p50;
  QmMessage *message;

  if (!best->estimate.serving.known || given > 0 || !(usual > 0) || !(slowest > usual))
    return NULL;

  message = qm_message_new ("slow-answers", N_("The slowest of a hundred answers takes about {time}"));
  qm_message_set_detail (message, N_("People usually wait {usual}. You gave no limit, so none is kept; shorter answers, weights of fewer bits, "
                                     "a smaller model or a limit of your own would change it."));
  qm_message_add (message, "time", QM_ARGUMENT_SECONDS, slowest);

  return qm_message_add (message, "usual", QM_ARGUMENT_SECONDS, usual);
}

static void
warn (QmRecommendation *self)
{
  const QmPlan *plan = self->resolved->plan;
  const QmChoice *best = self->choices->len > 0 ? &g_array_index (self->choices, QmChoice, 0) : NULL;
  QmMessage *large, *slow;

  if (best == NULL && plan->task == QM_TASK_TABULAR && !qm_plan_is_training (plan))
    {
      g_ptr_array_add (self->warnings,
                       qm_message_set_detail (qm_message_new ("not-estimated", N_("How fast a tabular model answers is not estimated")),
                                              N_("Its training is. Trees that are trained answer on any processor.")));
      return;
    }
  if (best == NULL)
    {
      g_ptr_array_add (self->warnings, say_nothing_fits (self));
      return;
    }
  large = qm_batch_explain (self->estimator, self->resolved);
  if (large != NULL)
    g_ptr_array_add (self->warnings, large);
  slow = say_slow (self->resolved, best);
  if (slow != NULL)
    g_ptr_array_add (self->warnings, slow);
  if (plan->stage == QM_STAGE_PROTOTYPE && best->estimate.cost.per_hour > 5)
    g_ptr_array_add (self->warnings, qm_message_new ("expensive-prototype",
                                                     N_("While the model still changes, a cheap device loses little: most of these runs are thrown away")));
  qm_money_warn (self->estimator, self->resolved, best, self->warnings);
}

/* The first rows of the matrix are the choices. */
static void
compare_rows (QmRecommendation *self)
{
  qm_matrix_compare (self->rows, &self->resolved->plan->limits);

  for (guint i = 0; i < self->choices->len; i++)
    {
      QmChoice *choice = &g_array_index (self->choices, QmChoice, i);
      const QmChoice *row = &g_array_index (self->rows, QmChoice, i);

      choice->pareto = row->pareto;
      choice->dominated_by = row->dominated_by;
      choice->ruled_out_against = row->ruled_out_against;
      choice->ruled_out_by_count = row->ruled_out_by_count;
      choice->ruled_out_by_gpu_hours = row->ruled_out_by_gpu_hours;
      choice->ruled_out_by_cost = row->ruled_out_by_cost;
    }
}

/* Nothing is looked for: the plan says what there is to choose from. */
static void
weigh_quotes (QmRecommendation *self)
{
  qm_quotes_fill (self->estimator, self->resolved, self->choices, self->rows);
  compare_rows (self);
  self->considered = self->rows->len;
  self->rejections = g_ptr_array_new ();
  self->sensitivities = qm_quotes_sensitivities (self->resolved, self->rows);
  self->stages = g_ptr_array_new ();
  if (self->choices->len == 0)
    g_ptr_array_add (self->warnings, say_nothing_fits (self));
  g_ptr_array_add (self->warnings, qm_message_new ("quoted", N_("The rows are what the plan gives: their time, money and quality are not "
                                                                "estimated")));
}

/**
 * qm_recommend:
 * @estimator: an estimator
 * @resolved: a plan, resolved; copied
 * @here: (nullable): what this computer has
 * @cancellable: (nullable): ends the search early
 *
 * Searches the whole catalog for the hardware to run the plan on. Pure: one
 * plan, one catalog and one @here give one answer.
 *
 * Returns: (transfer full): choices, matrix, rejections, what would change it
 */
QmRecommendation *
qm_recommend (QmEstimator      *estimator,
              const QmResolved *resolved,
              const QmHere     *here,
              GCancellable     *cancellable)
{
  g_autoptr (QmRecommendation) self = g_object_new (QM_TYPE_RECOMMENDATION, NULL);
  g_autoptr (QmSearch) search = NULL;
  QmWish wish;

  self->estimator = g_object_ref (estimator);
  self->resolved = qm_resolved_copy (resolved);
  self->here = here != NULL ? g_memdup2 (here, sizeof *here) : NULL;
  if (resolved->plan->n_quotes > 0)
    {
      weigh_quotes (self);
      return g_steal_pointer (&self);
    }
  search = search_with_cheaper_methods (self, here, &wish, cancellable);

  qm_choices_pick (search, &wish, self->choices);
  for (guint i = 0; i < self->choices->len; i++)
    qm_choice_break_even (search, &wish, &g_array_index (self->choices, QmChoice, i));
  qm_choices_fill_matrix (search, &wish, self->choices, self->rows);
  compare_rows (self);
  qm_choices_explain (search, &wish, self->choices, self->rows);
  look_at_nearest (self, search, &wish);

  self->rejections = qm_search_rejections (search, &wish, self->choices, self->rows);
  self->sensitivities = qm_search_sensitivities (search, &wish, self->choices);
  self->stages = qm_search_stages (search, &wish, self->choices);
  warn (self);

  return g_steal_pointer (&self);
}

/* Reasons are the copy's own from here on. */
static void
replace_reason (QmChoice  *choice,
                QmMessage *message)
{
  GPtrArray *reasons = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);

  for (guint i = 0; i < choice->reasons->len; i++)
    {
      const QmMessage *reason = g_ptr_array_index (choice->reasons, i);
      gboolean same = g_str_equal (qm_message_get_code (reason), qm_message_get_code (message));

      g_ptr_array_add (reasons, qm_message_copy (same ? message : reason));
    }

  g_ptr_array_unref (choice->reasons);
  choice->reasons = reasons;
}

/* @done: (nullable): the first of them, already simulated */
static GArray *
simulate_choices (QmRecommendation *self,
                  const GArray     *choices,
                  const GArray     *done,
                  guint             requests,
                  GCancellable     *cancellable)
{
  GArray *simulated = qm_choices_new ();
  QmJob job;

  qm_job_init (&job, self->estimator, self->resolved);
  for (guint i = 0; i < choices->len; i++)
    {
      QmChoice choice;
      g_autoptr (QmMessage) reason = NULL;

      if (done != NULL && i < done->len)
        {
          qm_choice_copy (&g_array_index (done, QmChoice, i), &choice);
          g_array_append_val (simulated, choice);
          continue;
        }
      qm_choice_copy (&g_array_index (choices, QmChoice, i), &choice);
      if (!g_cancellable_is_cancelled (cancellable))
        qm_choice_simulate (self->estimator, self->resolved, requests, &choice);
      reason = qm_reason_load (&job, &choice);
      if (reason != NULL && choice.reasons != NULL)
        replace_reason (&choice, reason);
      g_array_append_val (simulated, choice);
    }

  return simulated;
}

/**
 * qm_recommendation_can_simulate:
 * @self: a recommendation
 *
 * Returns: whether people wait for answers, so that qm_recommendation_simulate()
 *   makes a difference
 */
gboolean
qm_recommendation_can_simulate (QmRecommendation *self)
{
  return self->resolved->plan->activity == QM_ACTIVITY_SERVE && self->rows->len > 0;
}

/**
 * qm_recommendation_simulate:
 * @self: a recommendation
 * @requests: how many to simulate in each of three runs: the more, the narrower
 *   the error of what the slowest one percent wait
 * @cancellable: (nullable): ends it early
 *
 * The search sizes a service by a rule for the spread of its answers. This looks
 * at each choice under the load itself, which takes milliseconds each; where the
 * limit on latency takes more replicas than the load, they are added.
 *
 * Returns: (transfer full): a recommendation with those figures; @self stays as
 *   it is
 */
QmRecommendation *
qm_recommendation_simulate (QmRecommendation *self,
                            guint             requests,
                            GCancellable     *cancellable)
{
  QmRecommendation *copy = g_object_new (QM_TYPE_RECOMMENDATION, NULL);

  copy->estimator = g_object_ref (self->estimator);
  copy->resolved = qm_resolved_copy (self->resolved);
  copy->here = self->here != NULL ? g_memdup2 (self->here, sizeof *self->here) : NULL;
  g_array_unref (copy->choices);
  copy->choices = simulate_choices (self, self->choices, NULL, requests, cancellable);
  g_array_unref (copy->rows);
  copy->rows = simulate_choices (self, self->rows, copy->choices, requests, cancellable);
  compare_rows (copy);
  copy->rejections = g_ptr_array_ref (self->rejections);
  copy->sensitivities = g_ptr_array_ref (self->sensitivities);
  copy->stages = g_ptr_array_ref (self->stages);
  g_ptr_array_unref (copy->warnings);
  copy->warnings = g_ptr_array_ref (self->warnings);
  copy->considered = self->considered;
  copy->seconds = self->seconds;

  return copy;
}

/**
 * qm_recommendation_n_choices:
 * @self: a recommendation
 *
 * Returns: how many choices there are; 0 where nothing keeps the limits
 */
guint
qm_recommendation_n_choices (QmRecommendation *self)
{
  return self->choices->len;
}

/**
 * qm_recommendation_choice:
 * @self: a recommendation
 * @index: 0 is the best
 *
 * Returns: (transfer none): a choice
 */
const QmChoice *
qm_recommendation_choice (QmRecommendation *self,
                          guint             index)
{
  return &g_array_index (self->choices, QmChoice, index);
}

/**
 * qm_recommendation_n_rows:
 * @self: a recommendation
 *
 * Returns: how many rows the decision matrix has
 */
guint
qm_recommendation_n_rows (QmRecommendation *self)
{
  return self->rows->len;
}

/**
 * qm_recommendation_row:
 * @self: a recommendation
 * @index: the first rows are the choices
 *
 * Returns: (transfer none): a row of the decision matrix
 */
const QmChoice *
qm_recommendation_row (QmRecommendation *self,
                       guint             index)
{
  return &g_array_index (self->rows, QmChoice, index);
}

/**
 * qm_recommendation_get_nearest:
 * @self: a recommendation
 *
 * Returns: (transfer none) (nullable): where there is no choice, what comes
 *   nearest: the first row of the matrix or, where the job fits nowhere, the
 *   configuration that lacks the least memory; %NULL where there is a choice, and
 *   where nothing could be tried
 */
const QmChoice *
qm_recommendation_get_nearest (QmRecommendation *self)
{
  if (self->choices->len > 0)
    return NULL;
  if (self->rows->len > 0)
    return &g_array_index (self->rows, QmChoice, 0);

  return self->nearest->len > 0 ? &g_array_index (self->nearest, QmChoice, 0) : NULL;
}

/**
 * qm_recommendation_get_rejections:
 * @self: a recommendation
 *
 * Returns: (transfer none) (element-type QmRejection): the devices that were
 *   not chosen, and why
 */
GPtrArray *
qm_recommendation_get_rejections (QmRecommendation *self)
{
  return self->rejections;
}

/**
 * qm_recommendation_get_sensitivities:
 * @self: a recommendation
 *
 * Returns: (transfer none) (element-type QmSensitivity): what would change the answer
 */
GPtrArray *
qm_recommendation_get_sensitivities (QmRecommendation *self)
{
  return self->sensitivities;
}

/**
 * qm_recommendation_get_stages:
 * @self: a recommendation
 *
 * Returns: (transfer none) (element-type QmStagePlan): the plan in three stages
 */
GPtrArray *
qm_recommendation_get_stages (QmRecommendation *self)
{
  return self->stages;
}

/**
 * qm_recommendation_get_warnings:
 * @self: a recommendation
 *
 * Returns: (transfer none) (element-type QmMessage): what the reader should mind
 */
GPtrArray *
qm_recommendation_get_warnings (QmRecommendation *self)
{
  return self->warnings;
}

/**
 * qm_recommendation_get_resolved:
 * @self: a recommendation
 *
 * Returns: (transfer none): the plan that it answers
 */
const QmResolved *
qm_recommendation_get_resolved (QmRecommendation *self)
{
  return self->resolved;
}

/**
 * qm_recommendation_get_here:
 * @self: a recommendation
 *
 * Returns: (transfer none) (nullable): what this computer had when it was asked
 */
const QmHere *
qm_recommendation_get_here (QmRecommendation *self)
{
  return self->here;
}

/**
 * qm_recommendation_get_estimator:
 * @self: a recommendation
 *
 * Returns: (transfer none): what its figures come from
 */
QmEstimator *
qm_recommendation_get_estimator (QmRecommendation *self)
{
  return self->estimator;
}

/**
 * qm_recommendation_get_considered:
 * @self: a recommendation
 *
 * Returns: how many configurations were considered
 */
guint64
qm_recommendation_get_considered (QmRecommendation *self)
{
  return self->considered;
}

/**
 * qm_recommendation_get_seconds:
 * @self: a recommendation
 *
 * Returns: how long the search took, as its caller measured it
 */
double
qm_recommendation_get_seconds (QmRecommendation *self)
{
  return self->seconds;
}

/**
 * qm_recommendation_set_seconds:
 * @self: a recommendation
 * @seconds: how long the search took
 *
 * The core has no clock: who asked for the answer measures it.
 */
void
qm_recommendation_set_seconds (QmRecommendation *self,
                               double            seconds)
{
  self->seconds = seconds;
}
