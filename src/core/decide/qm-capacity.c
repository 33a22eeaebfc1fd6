/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-capacity.h"

#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-ladder.h"
#include "model/qm-model-resolve.h"

/* Beyond these nobody asks. */
#define MOST_SAMPLES    1048576.0
#define MOST_TOKENS     16777216.0
#define MOST_DEVICES    4096
#define MOST_PARAMETERS 1e13
#define LEAST_PARAMETERS 1e6

/* Steps of a search over parameters; 2^-40 of the range is far below rounding. */
#define BISECTIONS 40

typedef struct {
  QmEstimator *estimator;
  const QmDevice *device;
  QmPlan *plan;
  QmModel *model;
} Trial;

typedef void (*SetFunc) (Trial  *trial,
                         double  value);

static gboolean
evaluate (const Trial *trial,
          QmEstimate  *estimate)
{
  g_autoptr (QmEvaluator) evaluator = qm_evaluator_new (trial->estimator, trial->plan, trial->model);
  double headroom = qm_plan_get_headroom (trial->plan);

  qm_evaluator_evaluate (evaluator, trial->device, &trial->plan->configuration, estimate);

  return estimate->memory.usable_bytes > 0 && estimate->memory.need.p50 <= (1 - headroom) * estimate->memory.usable_bytes;
}

static gboolean
fits (const Trial *trial)
{
  QmEstimate estimate;

  return evaluate (trial, &estimate);
}

/* The need grows with every one of these values: double until it no longer fits,
 * then halve the gap. */
static double
largest (Trial   *trial,
         SetFunc  set,
         double   least,
         double   most,
         gboolean whole)
{
  double low = least, high = least;

  set (trial, least);
  if (!fits (trial))
    return 0;

  do
    {
      low = high;
      high = MIN (2 * high, most);
      set (trial, high);
      if (!fits (trial))
        break;
      if (high >= most)
        return INFINITY;
    }
  while (TRUE);

  for (int i = 0; i < BISECTIONS && (!whole || high - low > 1); i++)
    {
      double middle = whole ? floor ((low + high) / 2) : (low + high) / 2;

      set (trial, middle);
      if (fits (trial))
        low = middle;
      else
        high = middle;
    }

  return low;
}

/* The batch of the optimizer step follows. */
static void
set_micro_batch (Trial  *trial,
                 double  value)
{
  trial->plan->configuration.micro_batch = value;
  trial->plan->configuration.gradient_accumulation = 0;
  trial->plan->training.global_batch = 0;
}

static void
set_length (Trial  *trial,
            double  value)
{
  trial->plan->training.sequence_length = value;
}

static void
set_prompt (Trial  *trial,
            double  value)
{
  trial->plan->serving.input_tokens = value;
}

static void
set_concurrency (Trial  *trial,
                 double  value)
{
  trial->plan->serving.concurrency = value;
}

static void
set_parameters (Trial  *trial,
                double  value)
{
  trial->model->config = trial->model->facts = NULL;
  trial->model->stored_bytes = 0;
  trial->model->parameters = trial->model->active_parameters = value;
  qm_architecture_guess (value, &trial->model->architecture);
}

/* As one would split a job that is too large: states shared among all devices and
 * one sample at a time, or as the engine does it. */
static void
set_devices (Trial  *trial,
             double  value)
{
  QmConfiguration *configuration = &trial->plan->configuration;
  gboolean training = qm_plan_is_training (trial->plan);

  configuration->devices = value;
  configuration->nodes = MAX (1, (int) ceil (value / 8));
  configuration->data_parallel = configuration->tensor_parallel = configuration->pipeline_parallel = 0;
  configuration->context_parallel = configuration->expert_parallel = configuration->shard_group = 0;
  configuration->sharding = QM_SHARDING_UNSET;
  if (!training)
    return;

  set_micro_batch (trial, 1);
  if (value > 1)
    {
      configuration->sharding = QM_SHARDING_ZERO3;
      configuration->data_parallel = value;
      configuration->tensor_parallel = configuration->pipeline_parallel = 1;
    }
}

/* Every count in one machine, then doubled: nobody has eleven. Engines that share
 * each layer refuse counts that do not divide its heads. */
static double
fewest_devices (Trial *trial)
{
  for (int n = 1; n <= MOST_DEVICES; n = n < 8 ? n + 1 : 2 * n)
    {
      QmEstimate estimate;

      set_devices (trial, n);
      if (evaluate (trial, &estimate) &&
          qm_architecture_can_share_heads (&trial->model->architecture, estimate.configuration.tensor_parallel))
        return n;
    }

  return INFINITY;
}

static Trial
trial_new (QmEstimator      *estimator,
           const QmResolved *resolved,
           const QmEstimate *estimate)
{
  Trial trial = { estimator, estimate->device, qm_plan_copy (resolved->plan), g_memdup2 (resolved->model, sizeof (QmModel)) };

  qm_ladder_settle (trial.plan, estimate);

  return trial;
}

/* The model is a shallow copy: what it points to belongs to the resolved one. */
static void
trial_clear (Trial *trial)
{
  qm_plan_free (trial->plan);
  g_free (trial->model);
}

static double
solve (QmEstimator      *estimator,
       const QmResolved *resolved,
       const QmEstimate *estimate,
       SetFunc           set,
       double            least,
       double            most,
       gboolean          whole)
{
  Trial trial = trial_new (estimator, resolved, estimate);
  double value = largest (&trial, set, least, most, whole);

  trial_clear (&trial);
  return value;
}

/* A trial splits the job in its own way; what fits as it stands fits. */
static void
keep_what_fits (const QmEstimate *estimate,
                QmCapacity       *capacity)
{
  if (estimate->memory.verdict != QM_VERDICT_FITS)
    return;

  capacity->micro_batch = isnan (capacity->micro_batch) ? NAN : MAX (capacity->micro_batch, estimate->configuration.micro_batch);
  capacity->concurrency = isnan (capacity->concurrency) ? NAN : MAX (capacity->concurrency, estimate->serving_plan.concurrency);
  capacity->devices = MIN (capacity->devices, MAX (1, estimate->configuration.devices));
}

/**
 * qm_capacity_solve:
 * @estimator: an estimator
 * @resolved: a plan
 * @estimate: of it on a configuration with a device
 * @capacity: (out caller-allocates): what would fit there
 *
 * Finds the bounds that the memory of the device sets, where that is known: a newcomer's "how long,
 * how many, how large, how few".
 */
void
qm_capacity_solve (QmEstimator      *estimator,
                   const QmResolved *resolved,
                   const QmEstimate *estimate,
                   QmCapacity       *capacity)
{
  gboolean training = qm_plan_is_training (resolved->plan);
  gboolean language = resolved->plan->task == QM_TASK_LANGUAGE_MODEL;
  Trial trial;

  *capacity = (QmCapacity) { NAN, NAN, NAN, NAN, NAN };
  if (estimate->device == NULL || resolved->plan->task == QM_TASK_TABULAR || !qm_range_is_known (estimate->memory.need) ||
      estimate->memory.verdict == QM_VERDICT_UNKNOWN)
    return;

  if (training)
    capacity->micro_batch = solve (estimator, resolved, estimate, set_micro_batch, 1, MOST_SAMPLES, TRUE);
  else
    capacity->concurrency = solve (estimator, resolved, estimate, set_concurrency, 1, MOST_SAMPLES, TRUE);
  if (language)
    {
      double most = solve (estimator, resolved, estimate, training ? set_length : set_prompt, 1, MOST_TOKENS, TRUE);

      capacity->context_tokens = training || most == 0 ? most : most + estimate->serving_plan.output_tokens;
      capacity->parameters = solve (estimator, resolved, estimate, set_parameters, LEAST_PARAMETERS, MOST_PARAMETERS, FALSE);
    }

  trial = trial_new (estimator, resolved, estimate);
  capacity->devices = fewest_devices (&trial);
  trial_clear (&trial);
  keep_what_fits (estimate, capacity);
}

static void
set_member (JsonObject *object,
            const char *name,
            double      value)
{
  if (isfinite (value))
    json_object_set_double_member (object, name, floor (value));
  else
    json_object_set_null_member (object, name);
}

/* Fewer may hold it, and be too full. */
static QmMessage *
keeping_room (QmMessage *message)
{
  return qm_message_set_detail (message, N_("The share of memory that is to stay free is kept free in this count."));
}

/**
 * qm_capacity_explain:
 * @self: a capacity
 *
 * Returns: (transfer full) (nullable): the bounds in a sentence or two
 */
QmMessage *
qm_capacity_explain (const QmCapacity *self)
{
  double samples = isnan (self->micro_batch) ? self->concurrency : self->micro_batch;
  gboolean one = self->devices <= 1 || !isfinite (self->devices);
  QmMessage *message;

  if (isnan (samples))
    return NULL;
  if (samples == 0 && !isfinite (self->devices))
    return keeping_room (qm_message_new ("no-capacity", N_("No number of such devices holds the job as it is")));
  if (samples == 0)
    return qm_message_add (keeping_room (qm_message_new ("fewest-devices", N_("The job needs at least {devices} such devices as it is"))),
                           "devices", QM_ARGUMENT_COUNT, self->devices);

  message = qm_message_new ("capacity", N_("How far the memory goes"));
  qm_message_add (message, "samples", QM_ARGUMENT_COUNT, samples);
  qm_message_add (message, "context", QM_ARGUMENT_COUNT, self->context_tokens);
  qm_message_add (message, "parameters", QM_ARGUMENT_COUNT_SHORT, self->parameters);
  qm_message_add (message, "devices", QM_ARGUMENT_COUNT, self->devices);
  if (!isfinite (samples))
    return qm_message_set_detail (message, N_("There is room for any batch."));
  if (isnan (self->context_tokens))
    return qm_message_set_detail (message, one ? N_("With all else as it is: {samples} samples at once.")
                                           : N_("With all else as it is: {samples} samples at once. The job needs at least {devices} such devices."));
  if (isnan (self->micro_batch))
    return qm_message_set_detail (message, one
      ? N_("With all else as it is: {samples} conversations at once, conversations of {context} tokens, or a model of {parameters} parameters.")
      : N_("With all else as it is: {samples} conversations at once, conversations of {context} tokens, or a model of {parameters} parameters. "
           "The job needs at least {devices} such devices."));

  return qm_message_set_detail (message, one
    ? N_("With all else as it is: {samples} examples at once on each device, examples of {context} tokens, or a model of {parameters} parameters.")
    : N_("With all else as it is: {samples} examples at once on each device, examples of {context} tokens, or a model of {parameters} parameters. "
         "The job needs at least {devices} such devices."));
}

/**
 * qm_capacity_to_json:
 * @self: a capacity
 *
 * Returns: (transfer full): the figures, null where there is none or no end
 */
JsonObject *
qm_capacity_to_json (const QmCapacity *self)
{
  JsonObject *object = json_object_new ();

  set_member (object, "largest_micro_batch", self->micro_batch);
  set_member (object, "longest_context_tokens", self->context_tokens);
  set_member (object, "most_concurrent", self->concurrency);
  set_member (object, "fewest_devices", self->devices);
  set_member (object, "largest_parameters", self->parameters);

  return object;
}
