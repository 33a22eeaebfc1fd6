/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-ladder-private.h"

#include <math.h>

#include "qm-enum.h"
#include "qm-enum-types.h"
#include "qm-json-writer.h"

/* Less is within the rounding of allocators. */
#define WORTH_BYTES (16.0 * 1024 * 1024)

#define SLOWER 1.02

static void
rung_clear (QmRung *self)
{
  qm_message_free (self->message);
}

/* The plan as it stands now, on the device. */
void
qm_descent_evaluate (QmDescent  *self,
                     QmEstimate *estimate)
{
  g_autoptr (QmEvaluator) evaluator = qm_evaluator_new (self->estimator, self->plan, self->model);

  qm_evaluator_evaluate (evaluator, self->device, &self->plan->configuration, estimate);
}

/* Where it is known how much system memory a machine has. */
static gboolean
lacks_host (const QmDescent *self,
            const QmMemory  *memory)
{
  double ram = self->plan->configuration.host_memory_bytes;

  return ram > 0 && memory->host_bytes > QM_HOST_SHARE * ram;
}

gboolean
qm_descent_fits (const QmDescent *self,
                 const QmMemory  *memory)
{
  double headroom = qm_plan_get_headroom (self->plan);

  return memory->usable_bytes > 0 && memory->need.p50 <= (1 - headroom) * memory->usable_bytes && !lacks_host (self, memory);
}

/**
 * qm_descent_set_micro_batch:
 * @self: a descent of a training
 * @micro_batch: samples of a device and micro-step
 *
 * The samples that a device computes for one update stay at least as many.
 */
void
qm_descent_set_micro_batch (QmDescent *self,
                            double     micro_batch)
{
  const QmConfiguration *now = &self->now.configuration;
  QmConfiguration *configuration = &self->plan->configuration;

  configuration->gradient_accumulation = ceil (MAX (1, now->gradient_accumulation) * now->micro_batch / micro_batch);
  configuration->micro_batch = micro_batch;
}

/* So many parts are tried, and micro-batches of so many samples: every divisor of
 * batches up to the product of both, 16 million, and most of larger ones. */
#define MOST_PARTS 4096

static gboolean
try_micro_batch (QmDescent *self,
                 double     micro_batch)
{
  QmEstimate estimate;

  qm_descent_set_micro_batch (self, micro_batch);
  qm_descent_evaluate (self, &estimate);

  return qm_descent_fits (self, &estimate.memory);
}

/**
 * qm_descent_fit_micro_batch:
 * @self: a descent of a training
 * @above: more than may be tried
 *
 * Takes the largest micro-batch that fits and divides what a device computes for
 * one update; 1 where none fits. Memory grows with it.
 *
 * Returns: it
 */
double
qm_descent_fit_micro_batch (QmDescent *self,
                            double     above)
{
  double samples = MAX (1, self->now.configuration.gradient_accumulation) * self->now.configuration.micro_batch;

  for (double parts = 2; parts <= MOST_PARTS && samples / parts > 1; parts++)
    {
      if (fmod (samples, parts) == 0 && samples / parts < above && try_micro_batch (self, samples / parts))
        return samples / parts;
    }
  for (double micro_batch = MIN (MOST_PARTS, floor (samples / MOST_PARTS)); micro_batch > 1; micro_batch--)
    {
      if (fmod (samples, micro_batch) == 0 && micro_batch < above && try_micro_batch (self, micro_batch))
        return micro_batch;
    }

  qm_descent_set_micro_batch (self, 1);
  return 1;
}

/* Of the same work: steps may hold more samples after than before. */
static double
time_factor (const QmEstimate *before,
             const QmEstimate *after)
{
  if (!before->throughput.known || !after->throughput.known || !(after->throughput.per_second.p50 > 0))
    return NAN;

  return before->throughput.per_second.p50 / after->throughput.per_second.p50;
}

/* How many layers, or experts of layers, wait in system memory. */
static void
note_layers (const QmDescent  *descent,
             const QmEstimate *after,
             QmRung           *rung)
{
  const QmConfiguration *configuration = &after->configuration, *before = &descent->now.configuration;

  rung->all_layers = descent->model->architecture.layers;
  if (configuration->cpu_expert_layers > before->cpu_expert_layers)
    rung->layers = configuration->cpu_expert_layers;
  else if (configuration->gpu_layers >= 0 && configuration->gpu_layers != before->gpu_layers)
    rung->layers = configuration->gpu_layers;
}

/* Turns one rung, and takes it back where it is of no use or no more needed. */
static void
climb (QmDescent        *descent,
       const QmRungKind *kind,
       gboolean          needed,
       QmRung           *rung)
{
  QmPlan *before = qm_plan_copy (descent->plan);
  QmEstimate after = descent->now;

  rung->state = kind->turn (descent);
  rung->memory = descent->now.memory;
  rung->time_factor = NAN;
  if (rung->state == QM_RUNG_TAKEN)
    {
      qm_descent_evaluate (descent, &after);
      if (after.configuration.micro_batch != descent->now.configuration.micro_batch)
        {
          rung->micro_batch = after.configuration.micro_batch;
          rung->micro_steps = after.configuration.gradient_accumulation;
        }
      note_layers (descent, &after, rung);
      if (after.memory.host_bytes > descent->now.memory.host_bytes)
        rung->host_bytes = after.memory.host_bytes;
      rung->frees_bytes = descent->now.memory.need.p50 - after.memory.need.p50;
      rung->time_factor = time_factor (&descent->now, &after);
      rung->memory = after.memory;
      if (!(rung->frees_bytes > WORTH_BYTES))
        {
          rung->state = QM_RUNG_NO_USE;
          rung->frees_bytes = 0;
        }
      else if (rung->host_bytes > 0 && lacks_host (descent, &after.memory))
        {
          rung->state = QM_RUNG_IMPOSSIBLE;
          rung->frees_bytes = 0;
        }
      else if (!needed)
        rung->state = QM_RUNG_SPARE;
    }
  rung->fits_after = qm_descent_fits (descent, &rung->memory);

  if (rung->state == QM_RUNG_TAKEN)
    descent->now = after;
  else
    {
      qm_plan_free (descent->plan);
      descent->plan = g_steal_pointer (&before);
    }
  qm_plan_free (before);
}

/* Transformers have layer normalisation, denoisers that of groups. */
static gboolean
may_have_batch_norm (const QmDescent *descent)
{
  const QmPlan *plan = descent->plan;

  if (plan->training.frozen_norm == QM_TERNARY_YES)
    return FALSE;

  switch (plan->task)
    {
    case QM_TASK_IMAGE_CLASSIFICATION:
    case QM_TASK_OBJECT_DETECTION:
    case QM_TASK_SPEECH:
    case QM_TASK_OTHER:
      return descent->model->family != QM_FAMILY_TRANSFORMER && descent->model->family != QM_FAMILY_CONVNEXT;
    default:
      return FALSE;
    }
}

static QmMessage *
explain (const QmDescent  *descent,
         const QmRungKind *kind,
         const QmRung     *rung)
{
  gboolean layers = kind->counted_title != NULL && rung->layers >= 0;
  gboolean counted = kind->counted_title != NULL && (rung->micro_batch > 0 || layers);
  gboolean norm = kind->norm_detail != NULL && may_have_batch_norm (descent);
  QmMessage *message = qm_message_new (kind->code, counted ? kind->counted_title : kind->title);

  qm_message_set_detail (message, norm ? kind->norm_detail : kind->detail);
  if (!counted)
    return message;
  if (layers)
    {
      qm_message_add (message, "layers", QM_ARGUMENT_COUNT, rung->layers);
      return qm_message_add (message, "all", QM_ARGUMENT_COUNT, rung->all_layers);
    }

  qm_message_add (message, "micro", QM_ARGUMENT_COUNT, rung->micro_batch);
  return qm_message_add (message, "steps", QM_ARGUMENT_COUNT, rung->micro_steps);
}

/* From the plan as it is down the rungs of @allowed, all of them or until it
 * fits; returns those that were taken. */
static guint
descend (QmDescent         *descent,
         const QmPlan      *plan,
         const QmRungKind **kinds,
         guint              n,
         guint              allowed,
         gboolean           all,
         GArray            *rungs)
{
  guint taken = 0;

  g_clear_pointer (&descent->plan, qm_plan_free);
  descent->plan = qm_plan_copy (plan);
  qm_descent_evaluate (descent, &descent->now);

  g_array_set_size (rungs, 0);
  for (guint i = 0; i < n; i++)
    {
      QmRung rung = { .tier = kinds[i]->tier, .code = kinds[i]->code, .layers = -1 };
      gboolean needed = (allowed & (1u << i)) != 0 && (all || !qm_descent_fits (descent, &descent->now.memory));

      climb (descent, kinds[i], needed, &rung);
      if (rung.state == QM_RUNG_TAKEN)
        taken |= 1u << i;
      rung.message = explain (descent, kinds[i], &rung);
      g_array_append_val (rungs, rung);
    }

  return taken;
}

/* What costs nothing may stay. */
static gboolean
costs (const QmRung     *rung,
       const QmRungKind *kind)
{
  return kind->lossy || rung->time_factor > SLOWER;
}

/* Leaves out what a later rung has made needless, where the job is no slower
 * without it. */
static guint
prune (QmDescent         *descent,
       const QmPlan      *plan,
       const QmRungKind **kinds,
       guint              n,
       guint              taken,
       GArray            *rungs)
{
  for (guint i = 0; i < n; i++)
    {
      QmEstimate before = descent->now;
      guint fewer;

      if ((taken & (1u << i)) == 0 || !costs (&g_array_index (rungs, QmRung, i), kinds[i]))
        continue;

      fewer = descend (descent, plan, kinds, n, taken & ~(1u << i), FALSE, rungs);
      if (qm_descent_fits (descent, &descent->now.memory) && !(time_factor (&before, &descent->now) > SLOWER))
        taken = fewer;
      else
        descend (descent, plan, kinds, n, taken, FALSE, rungs);
    }

  return taken;
}

/* Where later rungs were needed beside micro-batch 1, they may leave room for more,
 * but not for what was planned. */
static void
widen (QmDescent         *descent,
       double             planned,
       const QmPlan      *plan,
       const QmRungKind **kinds,
       guint              n,
       guint              taken,
       GArray            *rungs)
{
  gboolean smaller = FALSE;

  for (guint i = 0; i < n; i++)
    if ((taken & (1u << i)) != 0 && g_str_equal (kinds[i]->code, "smaller-batch"))
      smaller = TRUE;
  if (!smaller || descent->now.configuration.micro_batch > 1)
    return;

  descent->micro_batch = qm_descent_fit_micro_batch (descent, planned);
  descend (descent, plan, kinds, n, taken, FALSE, rungs);
}

/* What is computed again because it would not fit otherwise stays so: else a rung
 * that saves a little would bring back all that is kept. */
static QmPlan *
hold_recomputation (const QmPlan     *plan,
                    const QmEstimate *planned)
{
  QmPlan *held = qm_plan_copy (plan);

  if (planned->training.activation_checkpointing == QM_CHECKPOINTING_FULL)
    held->training.activation_checkpointing = QM_CHECKPOINTING_FULL;

  return held;
}

static QmLadder *
ladder_new (QmEstimator      *estimator,
            const QmResolved *resolved,
            const QmDevice   *device,
            guint             wanted,
            gboolean          until_it_fits)
{
  QmLadder *self = g_new0 (QmLadder, 1);
  QmDescent descent = { estimator, resolved->model, device, qm_plan_copy (resolved->plan), { 0 }, 0 };
  const QmRungKind *kinds[QM_MAX_RUNGS] = { NULL };
  guint n = qm_rung_kinds (resolved->plan, kinds);
  g_autoptr (QmPlan) plan = NULL;
  guint taken;

  self->rungs = g_array_sized_new (FALSE, TRUE, sizeof (QmRung), n);
  g_array_set_clear_func (self->rungs, (GDestroyNotify) rung_clear);
  qm_descent_evaluate (&descent, &self->planned);

  plan = hold_recomputation (resolved->plan, &self->planned);
  taken = descend (&descent, plan, kinds, n, wanted, !until_it_fits, self->rungs);
  if (until_it_fits && qm_descent_fits (&descent, &descent.now.memory))
    {
      taken = prune (&descent, plan, kinds, n, taken, self->rungs);
      widen (&descent, self->planned.configuration.micro_batch, plan, kinds, n, taken, self->rungs);
    }

  self->plan = descent.plan;
  self->reached = descent.now;
  self->fits = qm_descent_fits (&descent, &descent.now.memory);

  return self;
}

/**
 * qm_ladder_new:
 * @estimator: an estimator
 * @resolved: a plan; its configuration says how many devices and how split
 * @device: the device whose memory is too small
 *
 * Climbs down the ladder: each rung needs less memory than those before, at a
 * cost that grows. Rungs are taken until the plan fits with its headroom, and
 * those that turn out needless are left out; what the others would free is
 * worked out all the same.
 *
 * Returns: (transfer full): the ladder
 */
QmLadder *
qm_ladder_new (QmEstimator      *estimator,
               const QmResolved *resolved,
               const QmDevice   *device)
{
  return ladder_new (estimator, resolved, device, ~0u, TRUE);
}

/**
 * qm_ladder_with:
 * @estimator: an estimator
 * @resolved: a plan; its configuration says how many devices and how split
 * @device: what it runs on
 * @wanted: bits 1 << index of a rung
 *
 * What the plan needs with the rungs of @wanted taken, whether it fits or not,
 * and what each of the others would free.
 *
 * Returns: (transfer full): the ladder
 */
QmLadder *
qm_ladder_with (QmEstimator      *estimator,
                const QmResolved *resolved,
                const QmDevice   *device,
                guint             wanted)
{
  return ladder_new (estimator, resolved, device, wanted, FALSE);
}

/**
 * qm_ladder_settle:
 * @plan: a plan
 * @estimate: of it on some hardware
 *
 * Enters into @plan what @estimate has settled. The framework stays open where it
 * is, and with it how the job is split: the estimate of several is not that of the
 * likeliest. So does what follows from the method.
 */
void
qm_ladder_settle (QmPlan           *plan,
                  const QmEstimate *estimate)
{
  const QmTraining given = plan->training;

  plan->training = estimate->training;
  plan->serving = estimate->serving_plan;
  if (estimate->layout_assumed)
    plan->training.activation_checkpointing = given.activation_checkpointing;
  else
    plan->configuration = estimate->configuration;
  plan->configuration.host_memory_bytes = estimate->configuration.host_memory_bytes;

  /* people at once count over all copies */
  if (estimate->sized_by_load && plan->task == QM_TASK_LANGUAGE_MODEL)
    plan->serving.concurrency *= MAX (1, estimate->configuration.data_parallel);

  qm_word_set (plan->training.framework, given.framework);
  qm_word_set (plan->training.base_weights, given.base_weights);
  plan->training.compiled = given.compiled;
  plan->training.trainable_parameters = given.trainable_parameters;
}

/**
 * qm_ladder_resolve:
 * @resolved: a plan
 * @estimate: of it on some hardware
 *
 * Returns: (transfer full): the plan with all that @estimate has settled: what
 *   runs where, how split, in which precision
 */
QmResolved *
qm_ladder_resolve (const QmResolved *resolved,
                   const QmEstimate *estimate)
{
  QmResolved *copy = qm_resolved_copy (resolved);

  qm_ladder_settle (copy->plan, estimate);

  return copy;
}

/**
 * qm_ladder_of_start:
 * @recommendation: an answer
 *
 * Returns: (transfer full) (nullable): how to need less memory, from what
 *   qm_recommendation_get_start() gives on; %NULL where it gives nothing
 */
QmLadder *
qm_ladder_of_start (QmRecommendation *recommendation)
{
  const QmChoice *start = qm_recommendation_get_start (recommendation);
  g_autoptr (QmResolved) settled = NULL;

  if (start == NULL)
    return NULL;

  settled = qm_ladder_resolve (qm_recommendation_get_resolved (recommendation), &start->estimate);
  return qm_ladder_new (qm_recommendation_get_estimator (recommendation), settled, start->estimate.device);
}

/**
 * qm_ladder_of_nearest:
 * @recommendation: an answer
 *
 * Returns: (transfer full) (nullable): where the job fits nowhere, how to make it
 *   fit on what comes nearest
 */
QmLadder *
qm_ladder_of_nearest (QmRecommendation *recommendation)
{
  const QmPlan *plan = qm_recommendation_get_resolved (recommendation)->plan;

  if (qm_recommendation_get_nearest (recommendation) == NULL || qm_recommendation_n_rows (recommendation) > 0 ||
      plan->task == QM_TASK_TABULAR)
    return NULL;

  return qm_ladder_of_start (recommendation);
}

/**
 * qm_ladder_free:
 * @self: (transfer full) (nullable): a ladder
 */
void
qm_ladder_free (QmLadder *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->rungs);
  qm_plan_free (self->plan);
  g_free (self);
}

static const char *
state_word (QmRungState state)
{
  static const char * const words[] = { "taken", "already", "no-use", "impossible", "spare" };

  return words[state];
}

static JsonObject *
rung_to_object (const QmRung *rung)
{
  JsonObject *object = json_object_new ();
  g_autofree char *text = qm_message_get_text (rung->message, qm_words_english ());
  g_autofree char *detail = qm_message_get_detail (rung->message, qm_words_english ());

  json_object_set_int_member (object, "tier", rung->tier);
  json_object_set_string_member (object, "code", rung->code);
  json_object_set_string_member (object, "text", text);
  json_object_set_string_member (object, "detail", detail);
  json_object_set_string_member (object, "state", state_word (rung->state));
  json_object_set_double_member (object, "frees_bytes", round (rung->frees_bytes));
  if (isnan (rung->time_factor))
    json_object_set_null_member (object, "time_factor");
  else
    json_object_set_double_member (object, "time_factor", qm_json_figure (rung->time_factor));
  json_object_set_double_member (object, "need_bytes", round (rung->memory.need.p50));
  json_object_set_double_member (object, "host_bytes", round (rung->host_bytes));
  json_object_set_boolean_member (object, "fits_after", rung->fits_after);

  return object;
}

/**
 * qm_ladder_to_json:
 * @self: a ladder
 *
 * Returns: (transfer full): `{"ladder": [...], "fits", "need_bytes", "usable_bytes"}`
 */
JsonNode *
qm_ladder_to_json (const QmLadder *self)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new ();
  JsonArray *rungs = json_array_new ();

  for (guint i = 0; i < self->rungs->len; i++)
    json_array_add_object_element (rungs, rung_to_object (&g_array_index (self->rungs, QmRung, i)));
  json_object_set_array_member (root, "ladder", rungs);
  json_object_set_double_member (root, "planned_bytes", round (self->planned.memory.need.p50));
  json_object_set_double_member (root, "need_bytes", round (self->reached.memory.need.p50));
  json_object_set_double_member (root, "usable_bytes", round (self->reached.memory.usable_bytes));
  json_object_set_boolean_member (root, "fits", self->fits);
  json_node_take_object (node, root);

  return node;
}
