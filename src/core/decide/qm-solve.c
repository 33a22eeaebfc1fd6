/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-solve-private.h"

/* No framework gains from a larger micro-batch. */
#define LARGEST_MICRO_BATCH 1024

/* Speeds that differ by less are the same. */
#define SAME_SPEED 0.02

#define MAX_LAYOUTS 12

typedef struct {
  int tensor, pipeline;
  QmSharding sharding;
  QmOffload offload;
} Layout;

static int
power_of_two_at_most (double value)
{
  return value < 1 ? 0 : 1 << MIN (20, (int) floor (log2 (value)));
}

/* ------------------------------------------------------------------ layouts */

static void
add_layout (Layout     *layouts,
            int        *n,
            int         tensor,
            int         pipeline,
            QmSharding  sharding,
            QmOffload   offload)
{
  if (*n < MAX_LAYOUTS)
    layouts[(*n)++] = (Layout) { tensor, pipeline, sharding, offload };
}

/* Simplest first. Model parallelism pays only beyond a node, and only where
 * heads and layers divide. */
static int
training_layouts (const QmJob       *job,
                  const QmRecipe    *recipe,
                  const QmPlacement *placement,
                  int                devices,
                  Layout            *layouts)
{
  const QmArchitecture *shape = &job->resolved->model->architecture;
  gboolean gpu = placement->device.vendor == QM_VENDOR_NVIDIA || placement->device.vendor == QM_VENDOR_AMD;
  int inside = MIN (8, placement->per_machine);
  int n = 0;

  add_layout (layouts, &n, 1, 1, QM_SHARDING_NONE, QM_OFFLOAD_NONE);
  if (job->plan->task != QM_TASK_LANGUAGE_MODEL)
    return n;

  if (devices > 1)
    {
      add_layout (layouts, &n, 1, 1, QM_SHARDING_ZERO2, QM_OFFLOAD_NONE);
      add_layout (layouts, &n, 1, 1, QM_SHARDING_ZERO3, QM_OFFLOAD_NONE);
    }
  if (gpu && recipe->plan->training.method == QM_METHOD_FULL && devices >= 16 && inside == 8 && fmod (shape->heads, 8) == 0)
    for (int pipeline = 1; pipeline <= 16 && 8 * pipeline <= devices; pipeline *= 2)
      if (fmod (shape->layers, pipeline) == 0)
        add_layout (layouts, &n, 8, pipeline, QM_SHARDING_ZERO1, QM_OFFLOAD_NONE);
  if (gpu && recipe->plan->training.method == QM_METHOD_FULL && devices <= 8)
    {
      add_layout (layouts, &n, 1, 1, devices > 1 ? QM_SHARDING_ZERO3 : QM_SHARDING_ZERO2, QM_OFFLOAD_OPTIMIZER_CPU);
      /* Weights leave the device only where they are split, on one device too. */
      add_layout (layouts, &n, 1, 1, QM_SHARDING_ZERO3, QM_OFFLOAD_CPU);
    }

  return n;
}

#define KEEP(field, unset) \
  if (pinned->field != (unset)) \
    configuration->field = pinned->field

/* What the person pinned stays as it is. */
void
qm_configuration_keep_pinned (const QmConfiguration *pinned,
                              QmConfiguration       *configuration)
{
  KEEP (tensor_parallel, 0);
  KEEP (pipeline_parallel, 0);
  KEEP (expert_parallel, 0);
  KEEP (context_parallel, 0);
  KEEP (virtual_pipeline, 0);
  KEEP (shard_group, 0);
  KEEP (slices, 0);
  KEEP (sequence_parallel, QM_TERNARY_UNSET);
  KEEP (sharding, QM_SHARDING_UNSET);
  KEEP (offload, QM_OFFLOAD_UNSET);
  KEEP (micro_batch, 0);
  KEEP (gradient_accumulation, 0);
  KEEP (gpu_layers, -1);
  KEEP (cpu_expert_layers, 0);
  KEEP (split, QM_SPLIT_UNSET);
  KEEP (cpu_cores, 0);
  if (pinned->interconnect[0] != '\0')
    qm_word_set (configuration->interconnect, pinned->interconnect);
  if (strcmp (pinned->device, configuration->device) == 0)
    configuration->memory_bytes = pinned->memory_bytes;
}

#undef KEEP

void
qm_configuration_start (const QmPlacement *placement,
                        int                machines,
                        QmConfiguration   *configuration)
{
  *configuration = (QmConfiguration) { .gpu_layers = -1 };
  g_strlcpy (configuration->device, placement->device.id, sizeof (QmWord));
  configuration->devices = placement->per_machine * machines;
  configuration->nodes = machines;
  configuration->cpu_cores = placement->cpu_cores;
  configuration->host_cores = placement->host_cores;
  configuration->host_memory_bytes = placement->ram_bytes;
  configuration->host_network_bits_per_second = placement->host_network_bits_per_second;
  if (machines > 1)
    g_strlcpy (configuration->interconnect, placement->interconnect, sizeof (QmWord));
}

/* How many devices hold one copy of the model between them. */
double
qm_configuration_copy_devices (const QmConfiguration *configuration)
{
  return (double) MAX (1, configuration->tensor_parallel) * MAX (1, configuration->pipeline_parallel) *
         MAX (1, configuration->context_parallel);
}

/* ----------------------------------------------------------------- training */

/**
 * qm_search_memory_limit:
 * @job: a job
 * @placement: a kind of machine
 * @outline: one configuration on it
 * @margin: (out): needed over allowed, with the headroom kept free; infinite
 *   where either is not known
 *
 * Returns: the limit of memory that @outline breaks, %QM_LIMIT_NONE where it
 *   fits
 */
QmLimit
qm_search_memory_limit (const QmJob       *job,
                        const QmPlacement *placement,
                        const QmOutline   *outline,
                        double            *margin)
{
  double allowed = (1 - job->headroom) * outline->usable_bytes;

  *margin = INFINITY;
  if (placement->ram_bytes > 0 && outline->host_bytes > QM_HOST_SHARE * placement->ram_bytes)
    {
      *margin = outline->host_bytes / (QM_HOST_SHARE * placement->ram_bytes);
      return QM_LIMIT_HOST_MEMORY;
    }
  if (isnan (outline->need_bytes) || !(outline->usable_bytes > 0))
    return placement->device.device_class == QM_DEVICE_CLASS_CPU ? QM_LIMIT_NONE : QM_LIMIT_MEMORY;
  if (outline->need_bytes <= allowed)
    return QM_LIMIT_NONE;

  *margin = outline->need_bytes / allowed;
  return QM_LIMIT_MEMORY;
}

gboolean
qm_solution_fits (const QmJob       *job,
                  const QmPlacement *placement,
                  const QmOutline   *outline)
{
  double margin;

  return qm_search_memory_limit (job, placement, outline, &margin) == QM_LIMIT_NONE;
}

static double
time_of (const QmOutline *outline)
{
  return outline->known && outline->per_second > 0 ? 1 / outline->per_second : INFINITY;
}

static void
set_batch (const QmJob     *job,
           double           global_batch,
           double           micro_batch,
           QmConfiguration *configuration)
{
  configuration->micro_batch = micro_batch;
  configuration->gradient_accumulation = MAX (1, ceil (global_batch / (configuration->data_parallel * micro_batch)));
}

/* What of @configuration tells it from others on the same machines. */
void
qm_solution_take_layout (const QmConfiguration *configuration,
                         QmSolution            *solution)
{
  solution->micro_batch = configuration->micro_batch;
  solution->gradient_accumulation = configuration->gradient_accumulation;
  solution->devices = configuration->devices;
  solution->data_parallel = configuration->data_parallel;
  solution->tensor_parallel = configuration->tensor_parallel;
  solution->pipeline_parallel = configuration->pipeline_parallel;
  solution->sharding = configuration->sharding;
  solution->offload = configuration->offload;
  solution->tried = TRUE;
}

/* The configuration that @solution was taken from. */
static void
set_layout (const QmSolution  *solution,
            const QmJob       *job,
            const QmPlacement *placement,
            QmConfiguration   *configuration)
{
  qm_configuration_start (placement, job->serving ? 1 : solution->machines, configuration);
  qm_configuration_keep_pinned (&job->resolved->given->configuration, configuration);
  configuration->micro_batch = solution->micro_batch;
  configuration->gradient_accumulation = solution->gradient_accumulation;
  configuration->devices = solution->devices;
  configuration->data_parallel = solution->data_parallel;
  configuration->tensor_parallel = solution->tensor_parallel;
  configuration->pipeline_parallel = solution->pipeline_parallel;
  configuration->sharding = solution->sharding;
  configuration->offload = solution->offload;
}

static void
take (const QmConfiguration *configuration,
      const QmOutline       *outline,
      QmSolution            *solution)
{
  qm_solution_take_layout (configuration, solution);
  solution->outline = *outline;
}

void
qm_trials_evaluate (QmTrials              *self,
                    const QmEvaluator     *evaluator,
                    const QmPlacement     *placement,
                    const QmConfiguration *configuration,
                    double                 input_rate,
                    QmOutline             *outline)
{
  double wanted = qm_evaluator_outline_fed (evaluator, &placement->device, configuration, input_rate, outline);

  self->considered++;
  self->wanted = MAX (self->wanted, wanted);
  self->host_bytes = MAX (self->host_bytes, outline->host_bytes);
}

/* Whether system memory so large bounds none of them. */
gboolean
qm_trials_fit_host (const QmTrials *self,
                    double          ram_bytes)
{
  return !(ram_bytes > 0) || self->host_bytes <= QM_HOST_SHARE * ram_bytes;
}

/* One layout: the largest micro-batch that fits. Memory is affine in it, so one
 * sample tells how many there is room for; where the predictor does not say,
 * halve until it fits. */
static gboolean
solve_layout (const QmJob       *job,
              QmRecipe          *recipe,
              const QmPlacement *placement,
              QmConfiguration   *configuration,
              double             input_rate,
              QmSolution        *best,
              QmTrials          *trials)
{
  const QmEvaluator *evaluator = qm_recipe_evaluator (recipe, job, 0);
  double global_batch = MAX (job->plan->training.global_batch, configuration->data_parallel);
  double per_replica = MAX (1, floor (global_batch / configuration->data_parallel));
  gboolean pinned = job->resolved->given->configuration.micro_batch > 0;
  double micro_batch = MIN (per_replica, LARGEST_MICRO_BATCH);
  gboolean found = FALSE;
  QmConfiguration larger;
  QmOutline first, outline;

  if (!pinned)
    set_batch (job, global_batch, 1, configuration);
  qm_trials_evaluate (trials, evaluator, placement, configuration, input_rate, &first);
  if (pinned || !qm_solution_fits (job, placement, &first))
    {
      take (configuration, &first, best);
      return qm_solution_fits (job, placement, &first);
    }

  larger = *configuration;
  if (first.largest_micro_batch >= 1)
    micro_batch = MIN (first.largest_micro_batch, micro_batch);
  micro_batch = power_of_two_at_most (micro_batch);

  for (double fastest = INFINITY; micro_batch > 1; micro_batch /= 2)
    {
      set_batch (job, global_batch, micro_batch, &larger);
      qm_trials_evaluate (trials, evaluator, placement, &larger, input_rate, &outline);
      if (!qm_solution_fits (job, placement, &outline))
        continue;
      /* Memory that buys no speed is better left free. */
      if (time_of (&outline) > (1 + SAME_SPEED) * fastest)
        break;
      fastest = MIN (fastest, time_of (&outline));
      take (&larger, &outline, best);
      found = TRUE;
    }
  if (!found || time_of (&first) <= time_of (&best->outline))
    take (configuration, &first, best);

  return TRUE;
}

static gboolean
solve_training (const QmJob       *job,
                QmRecipe          *recipe,
                const QmPlacement *placement,
                QmSolution        *best,
                QmTrials          *trials)
{
  Layout layouts[MAX_LAYOUTS];
  int devices = placement->per_machine * best->machines;
  int n = training_layouts (job, recipe, placement, devices, layouts);
  gboolean found = FALSE;
  double nearest = INFINITY;
  QmConfiguration start;
  double input_rate;

  qm_configuration_start (placement, best->machines, &start);
  input_rate = qm_evaluator_input_rate (qm_recipe_evaluator (recipe, job, 0), &start);
  for (int i = 0; i < n; i++)
    {
      QmConfiguration configuration = start;
      QmSolution solution = *best;
      gboolean ok;

      /* Offloading is slow: only where nothing else fits. */
      if (layouts[i].offload != QM_OFFLOAD_NONE && found)
        continue;

      configuration.tensor_parallel = layouts[i].tensor;
      configuration.pipeline_parallel = layouts[i].pipeline;
      configuration.sharding = layouts[i].sharding;
      configuration.offload = layouts[i].offload;
      qm_configuration_keep_pinned (&job->resolved->given->configuration, &configuration);
      if (qm_configuration_copy_devices (&configuration) > devices)
        continue;
      configuration.data_parallel = devices / (int) qm_configuration_copy_devices (&configuration);
      /* More replicas than samples in a batch would idle. */
      if (job->plan->training.global_batch > 0 && configuration.data_parallel > job->plan->training.global_batch)
        continue;

      ok = solve_layout (job, recipe, placement, &configuration, input_rate, &solution, trials);
      if (ok && (!found || time_of (&solution.outline) < time_of (&best->outline)))
        *best = solution;
      else if (!ok && !found && solution.outline.need_bytes < nearest)
        {
          *best = solution;
          nearest = solution.outline.need_bytes;
        }
      found = found || ok;
    }

  return found;
}

/**
 * qm_search_solve:
 * @job: a job
 * @recipe: one way to do it
 * @placement: a kind of machine
 * @solution: (inout): on how many machines, which serving decides by the load;
 *   the best configuration on them
 * @trials: (inout): what was evaluated
 *
 * Returns: whether one fits with headroom; else @solution is the one that comes
 *   nearest, not tried where there is none to try
 */
gboolean
qm_search_solve (const QmJob       *job,
                 QmRecipe          *recipe,
                 const QmPlacement *placement,
                 QmSolution        *solution,
                 QmTrials          *trials)
{
  if (job->training)
    return solve_training (job, recipe, placement, solution, trials);
  if (job->serving)
    return qm_solve_serving (job, recipe, placement, solution, trials);

  return qm_solve_batch_inference (job, recipe, placement, solution, trials);
}

/**
 * qm_solution_devices:
 * @self: a solution
 * @placement: the kind of machine that it is on
 *
 * Returns: devices of all machines together
 */
int
qm_solution_devices (const QmSolution  *self,
                     const QmPlacement *placement)
{
  return placement->per_machine * self->machines;
}

/* The headroom that was asked for is what the memory is judged by, though the
 * search may have done with less. */
static void
evaluate_as_asked (const QmSolution      *self,
                   const QmJob           *job,
                   QmRecipe              *recipe,
                   const QmDevice        *device,
                   const QmConfiguration *configuration,
                   QmEstimate            *estimate)
{
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmEvaluator) evaluator = NULL;

  if (job->headroom >= qm_plan_get_headroom (job->plan))
    {
      qm_evaluator_evaluate (qm_recipe_evaluator (recipe, job, self->batch), device, configuration, estimate);
      return;
    }

  plan = qm_plan_copy (recipe->plan);
  plan->limits.headroom = qm_plan_get_headroom (job->plan);
  if (job->serving)
    plan->serving.concurrency = 1 << self->batch;
  evaluator = qm_evaluator_new (job->estimator, plan, job->resolved->model);
  qm_evaluator_evaluate (evaluator, device, configuration, estimate);
}

/**
 * qm_solution_complete:
 * @self: a solution
 * @job: the job
 * @recipe: the recipe that it is of
 * @placement: the kind of machine that it is on
 * @estimate: (out caller-allocates): all its figures but time and cost
 */
void
qm_solution_complete (const QmSolution  *self,
                      const QmJob       *job,
                      QmRecipe          *recipe,
                      const QmPlacement *placement,
                      QmEstimate        *estimate)
{
  QmConfiguration configuration;

  set_layout (self, job, placement, &configuration);
  evaluate_as_asked (self, job, recipe, &placement->device, &configuration, estimate);
  estimate->accuracy = recipe->accuracy;
  if (job->serving)
    qm_solution_fill_service (self, job, placement, estimate);
}
