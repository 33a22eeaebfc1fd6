/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "decide/qm-batch.h"
#include "decide/qm-choices.h"
#include "decide/qm-money.h"
#include "decide/qm-recommendation-private.h"
#include "decide/qm-service.h"

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
  g_clear_pointer (&self->pinned, g_array_unref);
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
  self->pinned = qm_choices_new ();
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
                       qm_message_set_detail (qm_message_new ("other-method", before == QM_METHOD_LORA
                                                ? N_("No choice trains adapters on 16-bit weights (LoRA) within what you allow")
                                                : N_("No choice trains all weights within what you allow")),
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

static void
copy_choices (const GArray *choices,
              GArray       *copies)
{
  for (guint i = 0; i < choices->len; i++)
    {
      QmChoice copy;

      qm_choice_copy (&g_array_index (choices, QmChoice, i), &copy);
      g_array_append_val (copies, copy);
    }
}

static gboolean
lacks_memory (const QmSearch *search,
              const QmMemory *memory)
{
  return qm_range_is_known (memory->need) && memory->need.p50 > (1 - search->job.headroom) * memory->usable_bytes;
}

/* Where nothing fits at all: what comes nearest; what is pinned, even where it
 * cannot be had. */
static void
look_at_nearest (QmRecommendation *self,
                 const QmSearch   *search,
                 const QmWish     *wish)
{
  const QmChoice *pinned = self->pinned->len > 0 ? &g_array_index (self->pinned, QmChoice, 0) : NULL;
  QmChoice choice;

  if (self->rows->len > 0)
    return;
  if (pinned != NULL && lacks_memory (search, &pinned->estimate.memory))
    {
      copy_choices (self->pinned, self->nearest);
      g_array_index (self->nearest, QmChoice, 0).within_limits = FALSE;
      g_array_index (self->nearest, QmChoice, 0).broken_limit = QM_LIMIT_MEMORY;
    }
  else if (pinned == NULL && qm_choice_nearest (search, wish, &choice))
    g_array_append_val (self->nearest, choice);
}

/* What the person has decided, before anything is done about it. */
static void
look_at_pinned (QmRecommendation *self,
                const QmResolved *resolved)
{
  QmChoice choice;

  if (resolved->given->configuration.device[0] == '\0')
    return;
  if (qm_estimate_pinned (self->estimator, resolved, self->here, &choice, NULL))
    g_array_append_val (self->pinned, choice);
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

/* Where nothing leaves as much memory free as is wanted. */
static QmMessage *
say_tight (const QmSearch *search)
{
  QmMessage *message;

  if (!(search->job.headroom < qm_plan_get_headroom (search->job.plan)) || search->rows->len == 0)
    return NULL;

  message = qm_message_new ("little-headroom", N_("Nothing leaves {headroom} of the memory free"));
  qm_message_set_detail (message, N_("The choices fit by the best guess, with less to spare: try one before you count on it. "
                                     "How much is to stay free is up to you."));

  return qm_message_add (message, "headroom", QM_ARGUMENT_PERCENT, qm_plan_get_headroom (search->job.plan));
}

/* Where a pinned device holds the job only for what the person left open. */
static QmMessage *
say_left_open (QmRecommendation *self,
               const QmChoice   *best)
{
  const QmMemory *memory;
  QmMessage *message;

  if (self->pinned->len == 0)
    return NULL;
  memory = &g_array_index (self->pinned, QmChoice, 0).estimate.memory;
  if (!qm_range_is_known (memory->need) || memory->verdict == QM_VERDICT_FITS || best->estimate.memory.verdict != QM_VERDICT_FITS)
    return NULL;

  message = qm_message_new ("left-open", N_("It fits because of settings that you left open"));
  qm_message_set_detail (message, N_("With the usual ones it needs {need} of {usable} on each device: that is what an estimate of the plan is of. "
                                     "The choice says what it sets instead."));
  qm_message_add (message, "need", QM_ARGUMENT_BYTES, memory->need.p50);

  return qm_message_add (message, "usable", QM_ARGUMENT_BYTES, memory->usable_bytes);
}

static void
warn (QmRecommendation *self)
{
  const QmPlan *plan = self->resolved->plan;
  const QmChoice *best = self->choices->len > 0 ? &g_array_index (self->choices, QmChoice, 0) : NULL;
  QmMessage *large, *slow, *left_open;

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
  qm_rejections_explain_owned (self->resolved->plan, self->rejections, self->rows, self->warnings);
  large = qm_batch_explain (self->estimator, self->resolved);
  if (large != NULL)
    g_ptr_array_add (self->warnings, large);
  left_open = say_left_open (self, best);
  if (left_open != NULL)
    g_ptr_array_add (self->warnings, left_open);
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
  QmMessage *tight;
  QmWish wish;

  self->estimator = g_object_ref (estimator);
  self->resolved = qm_resolved_copy (resolved);
  self->here = here != NULL ? g_memdup2 (here, sizeof *here) : NULL;
  look_at_pinned (self, resolved);
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
  tight = say_tight (search);
  if (tight != NULL)
    g_ptr_array_add (self->warnings, tight);
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
  copy_choices (self->nearest, copy->nearest);
  copy_choices (self->pinned, copy->pinned);
  copy->rejections = g_ptr_array_ref (self->rejections);
  copy->sensitivities = g_ptr_array_ref (self->sensitivities);
  copy->stages = g_ptr_array_ref (self->stages);
  g_ptr_array_unref (copy->warnings);
  copy->warnings = g_ptr_array_ref (self->warnings);
  copy->considered = self->considered;
  copy->seconds = self->seconds;

  return copy;
}
