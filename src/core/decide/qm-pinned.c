/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-batch.h"
#include "decide/qm-capacity.h"
#include "decide/qm-choices.h"
#include "decide/qm-cold-start.h"
#include "decide/qm-experience.h"
#include "decide/qm-host.h"
#include "decide/qm-money.h"
#include "decide/qm-scaling.h"
#include "qm-error.h"

/* The largest batch that fits: a power of two, at least one sample. */
static void
evaluate_fitting (const QmEvaluator *evaluator,
                  const QmDevice    *device,
                  QmConfiguration   *configuration,
                  double             usual,
                  QmEstimate        *estimate)
{
  double largest;

  configuration->micro_batch = 1;
  qm_evaluator_evaluate (evaluator, device, configuration, estimate);
  largest = MIN (usual, estimate->memory.largest_micro_batch);
  if (!(largest >= 2))
    return;

  configuration->micro_batch = exp2 (floor (log2 (largest)));
  qm_evaluator_evaluate (evaluator, device, configuration, estimate);
}

/* As the recommendation does, where it is not answered. */
static void
recompute_to_fit (QmEstimator      *estimator,
                  const QmResolved *resolved,
                  const QmDevice   *device,
                  QmConfiguration  *configuration,
                  double            usual,
                  QmEstimate       *estimate)
{
  g_autoptr (QmPlan) plan = qm_plan_copy (resolved->plan);
  g_autoptr (QmEvaluator) evaluator = NULL;
  QmConfiguration other = *configuration;
  QmEstimate recomputed;

  if (plan->training.activation_checkpointing != QM_CHECKPOINTING_UNSET)
    return;

  plan->training.activation_checkpointing = QM_CHECKPOINTING_FULL;
  evaluator = qm_evaluator_new (estimator, plan, resolved->model);
  evaluate_fitting (evaluator, device, &other, usual, &recomputed);
  if (!recomputed.memory.fits)
    return;

  *configuration = other;
  *estimate = recomputed;
}

static void
say_batch (QmChoice   *choice,
           const char *text,
           double      batch,
           double      usual)
{
  QmMessage *message = qm_message_new ("batch-that-fits", text);

  qm_message_set_detail (message, N_("You gave no batch, and the usual {usual} at a time are too many for this device."));
  qm_message_add (message, "micro", QM_ARGUMENT_COUNT, batch);
  g_ptr_array_add (choice->reasons, qm_message_add (message, "usual", QM_ARGUMENT_COUNT, usual));
}

/* Who gives no batch asks for one that fits; micro-steps make up for the usual one.
 * Language models are predicted so at once. */
static void
fit_batch (QmEstimator       *estimator,
           const QmResolved  *resolved,
           const QmEvaluator *evaluator,
           const QmDevice    *device,
           QmChoice          *choice)
{
  const QmPlan *given = resolved->given;
  QmConfiguration smaller = resolved->plan->configuration;
  double usual = choice->estimate.configuration.micro_batch;
  QmEstimate estimate;

  if (!qm_plan_is_training (given) || given->task == QM_TASK_LANGUAGE_MODEL || given->task == QM_TASK_TABULAR ||
      given->training.global_batch > 0 || given->configuration.micro_batch > 0 || given->configuration.gradient_accumulation > 0)
    return;
  if (choice->estimate.memory.verdict == QM_VERDICT_FITS || !(choice->estimate.memory.usable_bytes > 0) || !(usual > 1))
    return;

  evaluate_fitting (evaluator, device, &smaller, usual, &estimate);
  if (!estimate.memory.fits)
    recompute_to_fit (estimator, resolved, device, &smaller, usual, &estimate);
  if (!estimate.memory.fits)
    return;

  choice->estimate = estimate;
  say_batch (choice, estimate.training.activation_checkpointing == QM_CHECKPOINTING_FULL
    ? N_("{micro} at a time, with recomputed activations: so it fits") : N_("{micro} at a time: so it fits"), smaller.micro_batch, usual);
}

/* The same for what is served in batches; the rate of a job that nobody waits for
 * is of the usual one. */
static void
fit_served_batch (QmEstimator      *estimator,
                  const QmResolved *resolved,
                  const QmDevice   *device,
                  QmChoice         *choice)
{
  const QmPlan *given = resolved->given;
  g_autoptr (QmPlan) plan = qm_plan_copy (resolved->plan);
  double usual = choice->estimate.serving.max_concurrency / MAX (1, choice->estimate.configuration.devices);
  double batch = exp2 (ceil (log2 (usual)) - 1);

  if (given->activity != QM_ACTIVITY_SERVE || given->task == QM_TASK_LANGUAGE_MODEL || given->task == QM_TASK_TABULAR ||
      given->serving.concurrency > 0 || given->configuration.micro_batch > 0)
    return;
  if (choice->estimate.memory.verdict == QM_VERDICT_FITS || !(choice->estimate.memory.usable_bytes > 0))
    return;

  for (; batch >= 1; batch /= 2)
    {
      g_autoptr (QmEvaluator) evaluator = NULL;
      QmEstimate estimate;

      plan->serving.concurrency = batch;
      evaluator = qm_evaluator_new (estimator, plan, resolved->model);
      qm_evaluator_evaluate (evaluator, device, &plan->configuration, &estimate);
      if (estimate.memory.verdict != QM_VERDICT_FITS && !(batch == 1 && estimate.memory.fits))
        continue;

      choice->estimate = estimate;
      say_batch (choice, N_("{micro} at a time: so it fits"), batch, usual);
      return;
    }
}

/**
 * qm_estimate_pinned:
 * @estimator: an estimator
 * @resolved: a plan whose configuration names a device
 * @here: (nullable): what this computer has; the power limit of its devices counts
 * @choice: (out caller-allocates): all figures; clear with qm_choice_clear()
 * @error: return location for an error
 *
 * Estimates exactly the configuration of the plan, whether it fits or not; where no
 * batch is given, with one that fits if there is any.
 *
 * Returns: whether it could be estimated
 */
gboolean
qm_estimate_pinned (QmEstimator       *estimator,
                    const QmResolved  *resolved,
                    const QmHere      *here,
                    QmChoice          *choice,
                    GError           **error)
{
  const QmConfiguration *pinned = &resolved->plan->configuration;
  g_autoptr (QmEvaluator) evaluator = NULL;
  const QmDevice *device;
  QmPlacement placement;
  QmEstimate *estimate = &choice->estimate;
  QmJob job;

  *choice = (QmChoice) { .dominated_by = -1, .ruled_out_against = -1, .within_limits = TRUE };
  if (!qm_placement_of_pinned (estimator, resolved->plan, here, &placement, error))
    return FALSE;

  qm_job_init (&job, estimator, resolved);
  if (placement.pricing == QM_PRICING_ON_DEMAND && job.economics->committed_discount > 0)
    {
      placement.pricing = QM_PRICING_COMMITTED;
      placement.usd_per_hour *= 1 - job.economics->committed_discount;
    }
  evaluator = qm_evaluator_new (estimator, resolved->plan, resolved->model);
  device = placement.place == QM_PLACE_THIS_COMPUTER ? &placement.device : placement.catalogued;
  qm_evaluator_evaluate (evaluator, device, pinned, estimate);

  choice->place = placement.place;
  choice->offer = placement.offer;
  choice->machines = MAX (1, pinned->nodes);
  choice->reasons = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
  fit_batch (estimator, resolved, evaluator, device, choice);
  fit_served_batch (estimator, resolved, device, choice);
  estimate->device = placement.catalogued;
  estimate->memory.free_bytes = placement.free_bytes;
  estimate->configuration.host_memory_bytes = placement.ram_bytes;
  estimate->configuration.devices = MAX (1, estimate->configuration.devices);
  estimate->accuracy = qm_job_accuracy (&job, resolved->plan);
  qm_job_time (&job, placement.place, placement.pricing, choice->machines, estimate);
  qm_job_cost (&job, &placement, choice->machines, estimate);
  choice->gpu_hours = estimate->configuration.devices * (estimate->time.finish.p50 - estimate->time.start_up_seconds) / 3600;
  qm_choice_set_label (choice);

  return TRUE;
}

/* The reasons of a first choice say some of it already. */
static gboolean
has_reason (const QmChoice *choice,
            const char     *code)
{
  for (guint i = 0; choice->reasons != NULL && i < choice->reasons->len; i++)
    if (g_str_equal (qm_message_get_code (g_ptr_array_index (choice->reasons, i)), code))
      return TRUE;

  return FALSE;
}

/**
 * qm_estimate_explain:
 * @estimator: an estimator
 * @resolved: a plan
 * @choice: its estimate
 * @capacity: (out) (optional): how far the memory goes, which is worked out here
 *
 * Returns: (transfer full) (element-type QmMessage): how the figures come about
 */
GPtrArray *
qm_estimate_explain (QmEstimator      *estimator,
                     const QmResolved *resolved,
                     const QmChoice   *choice,
                     QmCapacity       *capacity)
{
  const QmMemory *memory = &choice->estimate.memory;
  GPtrArray *messages = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
  QmMessage *message;
  QmCapacity bounds;

  for (guint i = 0; choice->reasons != NULL && i < choice->reasons->len; i++)
    g_ptr_array_add (messages, qm_message_copy (g_ptr_array_index (choice->reasons, i)));

  if (memory->quick_bytes > 0 && qm_range_is_known (memory->need))
    {
      message = qm_message_new ("three-sizes", N_("Quick rule {quick}, basic rule {basic}, precise {precise}"));
      qm_message_set_detail (message, qm_plan_is_training (resolved->plan)
        ? N_("The quick rule counts 16-bit weights and a fifth more, the basic rule 32-bit weights and a third more: neither has room for gradients, optimiser states and activations.")
        : N_("The quick rule counts 16-bit weights and a fifth more, the basic rule 32-bit weights and a third more: neither knows your format, context or number of people."));
      qm_message_add (message, "quick", QM_ARGUMENT_BYTES, memory->quick_bytes);
      qm_message_add (message, "basic", QM_ARGUMENT_BYTES, memory->basic_bytes);
      qm_message_add (message, "precise", QM_ARGUMENT_BYTES, memory->need.p50);
      g_ptr_array_add (messages, message);
    }

  message = choice->kind == QM_CHOICE_UNSET && !qm_host_is_short (&choice->estimate) ? qm_host_explain (&choice->estimate) : NULL;
  if (message != NULL)
    g_ptr_array_add (messages, message);
  message = qm_scaling_explain_workers (estimator, resolved, choice);
  if (message != NULL)
    g_ptr_array_add (messages, message);
  message = qm_experience_explain (estimator, resolved, &choice->estimate);
  if (message != NULL)
    g_ptr_array_add (messages, message);

  qm_capacity_solve (estimator, resolved, &choice->estimate, &bounds);
  if (capacity != NULL)
    *capacity = bounds;
  message = qm_capacity_explain (&bounds);
  if (message != NULL)
    g_ptr_array_add (messages, message);
  message = qm_cold_start_explain (&choice->estimate.serving);
  if (message != NULL && !has_reason (choice, qm_message_get_code (message)))
    g_ptr_array_add (messages, g_steal_pointer (&message));
  qm_message_free (message);
  qm_money_explain (estimator, resolved, choice, messages);

  return messages;
}

/* A limit that is not kept, or by the best guess and not at the end of the range. */
static void
warn_of_limits (const QmPlan   *plan,
                const QmChoice *choice,
                GPtrArray      *messages)
{
  const QmRange *time = &choice->estimate.time.finish, *money = &choice->estimate.cost.money;
  double deadline = plan->limits.hours * 3600;
  QmMessage *message;

  if (time->p50 > deadline)
    {
      message = qm_message_new ("late", N_("It takes about {time}: longer than the {deadline} you allow"));
      qm_message_add_seconds (message, "time", time->p50, deadline);
      g_ptr_array_add (messages, qm_message_add (message, "deadline", QM_ARGUMENT_SECONDS, deadline));
    }
  if (time->p50 <= deadline && time->p90 > deadline)
    {
      message = qm_message_new ("may-be-late", N_("It may take longer than you allow: in one of ten cases {time} or more"));
      g_ptr_array_add (messages, qm_message_add_seconds (message, "time", time->p90, deadline));
    }
  if (choice->place != QM_PLACE_THIS_COMPUTER && choice->place != QM_PLACE_OWNED &&
      money->p50 <= plan->limits.money && money->p90 > plan->limits.money)
    {
      message = qm_message_new ("may-cost-more", N_("It may cost more than you allow: in one of ten cases {money} or more"));
      g_ptr_array_add (messages, qm_message_add_money (message, "money", money->p90, qm_plan_get_currency (plan)));
    }
}

/* The recommendation takes as many devices as the load needs; a pinned count may be
 * too small. */
static void
warn_of_load (QmEstimator      *estimator,
              const QmResolved *resolved,
              const QmChoice   *choice,
              GPtrArray        *messages)
{
  double answered = choice->estimate.serving.overloaded_at;
  QmMessage *message;
  QmJob job;

  if (!(answered > 0))
    return;

  qm_job_init (&job, estimator, resolved);
  message = qm_message_new ("overloaded", N_("The load is too much for it: {peak} requests a second come at the peak, and it answers about {rate}"));
  qm_message_set_detail (message, N_("Whoever comes waits longer than the one before. Take more devices, or leave their number open: then as many are counted as the load needs."));
  qm_message_add (message, "peak", QM_ARGUMENT_NUMBER, job.peak_requests_per_second);
  g_ptr_array_add (messages, qm_message_add (message, "rate", QM_ARGUMENT_NUMBER, answered));
}

/**
 * qm_estimate_warnings:
 * @estimator: an estimator
 * @resolved: a plan
 * @choice: its estimate
 *
 * Returns: (transfer full) (element-type QmMessage): what makes the figures
 *   less sure than they look
 */
GPtrArray *
qm_estimate_warnings (QmEstimator      *estimator,
                      const QmResolved *resolved,
                      const QmChoice   *choice)
{
  GPtrArray *messages = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
  const QmMemory *memory = &choice->estimate.memory;
  QmMessage *message;

  if (memory->verdict == QM_VERDICT_DOES_NOT_FIT)
    g_ptr_array_add (messages, qm_message_new ("does-not-fit", N_("It does not fit in the memory of this device")));
  else if (memory->verdict == QM_VERDICT_MAY_FIT)
    g_ptr_array_add (messages, qm_message_new ("may-fit", N_("It may or may not fit: try it before you count on it")));
  if (qm_range_is_known (memory->need) && memory->usable_bytes > 0 && qm_plan_is_training (resolved->plan) &&
      memory->need.p50 > 0.85 * memory->usable_bytes && memory->need.p50 <= memory->usable_bytes)
    g_ptr_array_add (messages, qm_message_new ("memory-pressure", N_("So full a device runs slower than estimated: the allocator must tidy up often")));
  if (qm_host_is_short (&choice->estimate))
    g_ptr_array_add (messages, qm_host_explain (&choice->estimate));
  if (qm_memory_is_taken (memory))
    g_ptr_array_add (messages, qm_memory_explain_taken (memory));
  if (!choice->estimate.throughput.known)
    g_ptr_array_add (messages, qm_message_new ("no-rate", N_("The data sheet lacks what its speed follows from")));
  if (choice->estimate.throughput.state == QM_STATE_NEW)
    g_ptr_array_add (messages, qm_message_new ("never-measured", N_("Nothing alike was ever measured: the range is wide for that reason")));

  warn_of_load (estimator, resolved, choice, messages);
  qm_layout_note (resolved, &choice->estimate, messages);
  warn_of_limits (resolved->plan, choice, messages);
  qm_money_warn (estimator, resolved, choice, messages);
  message = qm_batch_explain (estimator, resolved);
  if (message != NULL)
    g_ptr_array_add (messages, message);

  return messages;
}
