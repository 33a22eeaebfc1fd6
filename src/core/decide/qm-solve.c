/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-search.h"

/* No framework gains from a larger micro-batch. */
#define LARGEST_MICRO_BATCH 1024

/* Requests wait while others are answered; a service that is planned to be
 * busier than this has no room for the unexpected. */
#define SERVICE_UTILISATION 0.8

/* The longest answers of a hundred are this much longer than the mean, where
 * lengths are log-normal with sigma 0.5 (as in the serving simulation). */
#define LENGTH_P99 2.83

/* Of a machine's memory, what is left beside the operating system. */
#define HOST_SHARE 0.9

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
    add_layout (layouts, &n, 1, 1, devices > 1 ? QM_SHARDING_ZERO3 : QM_SHARDING_ZERO2, QM_OFFLOAD_CPU);

  return n;
}

#define KEEP(field, unset) \
  if (pinned->field != (unset)) \
    configuration->field = pinned->field

/* What the person pinned stays as it is. */
static void
keep_pinned (const QmConfiguration *pinned,
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
  KEEP (split, QM_SPLIT_UNSET);
  KEEP (cpu_cores, 0);
  if (pinned->interconnect[0] != '\0')
    qm_word_set (configuration->interconnect, pinned->interconnect);
  if (strcmp (pinned->device, configuration->device) == 0)
    configuration->memory_bytes = pinned->memory_bytes;
}

#undef KEEP

static void
start_configuration (const QmPlacement *placement,
                     int                machines,
                     QmConfiguration   *configuration)
{
  *configuration = (QmConfiguration) { .gpu_layers = -1 };
  g_strlcpy (configuration->device, placement->device.id, sizeof (QmWord));
  configuration->devices = placement->per_machine * machines;
  configuration->nodes = machines;
  configuration->cpu_cores = placement->cpu_cores;
  if (machines > 1)
    g_strlcpy (configuration->interconnect, placement->interconnect, sizeof (QmWord));
}

/* How many devices hold one copy of the model between them. */
static double
devices_of_a_copy (const QmConfiguration *configuration)
{
  return (double) MAX (1, configuration->tensor_parallel) * MAX (1, configuration->pipeline_parallel) *
         MAX (1, configuration->context_parallel);
}

/* ----------------------------------------------------------------- training */

/**
 * qm_search_memory_limit:
 * @job: a job
 * @placement: a kind of machine
 * @estimate: memory of one configuration on it
 * @margin: (out): needed over allowed, with the headroom kept free; infinite
 *   where either is not known
 *
 * Returns: the limit of memory that @estimate breaks, %QM_LIMIT_NONE where it
 *   fits
 */
QmLimit
qm_search_memory_limit (const QmJob       *job,
                        const QmPlacement *placement,
                        const QmEstimate  *estimate,
                        double            *margin)
{
  double headroom = qm_plan_get_headroom (job->plan);
  double allowed = (1 - headroom) * estimate->memory.usable_bytes;

  *margin = INFINITY;
  if (placement->ram_bytes > 0 && estimate->memory.host_bytes > HOST_SHARE * placement->ram_bytes)
    {
      *margin = estimate->memory.host_bytes / (HOST_SHARE * placement->ram_bytes);
      return QM_LIMIT_HOST_MEMORY;
    }
  if (isnan (estimate->memory.need.p50) || !(estimate->memory.usable_bytes > 0))
    return placement->device.device_class == QM_DEVICE_CLASS_CPU ? QM_LIMIT_NONE : QM_LIMIT_MEMORY;
  if (estimate->memory.need.p50 <= allowed)
    return QM_LIMIT_NONE;

  *margin = estimate->memory.need.p50 / allowed;
  return QM_LIMIT_MEMORY;
}

static gboolean
fits (const QmJob       *job,
      const QmPlacement *placement,
      const QmEstimate  *estimate)
{
  double margin;

  return qm_search_memory_limit (job, placement, estimate, &margin) == QM_LIMIT_NONE;
}

static double
time_of (const QmEstimate *estimate)
{
  return estimate->throughput.known && estimate->throughput.per_second.p50 > 0
           ? 1 / estimate->throughput.per_second.p50 : INFINITY;
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

/* One layout: the largest micro-batch that fits. Memory is affine in it, so one
 * sample tells how many there is room for; where the predictor does not say,
 * halve until it fits. */
static gboolean
solve_layout (const QmJob       *job,
              QmRecipe          *recipe,
              const QmPlacement *placement,
              QmConfiguration   *configuration,
              QmEstimate        *estimate,
              guint64           *considered)
{
  const QmEvaluator *evaluator = qm_recipe_evaluator (recipe, job, 0);
  double global_batch = MAX (job->plan->training.global_batch, configuration->data_parallel);
  double per_replica = MAX (1, floor (global_batch / configuration->data_parallel));
  gboolean pinned = job->resolved->given->configuration.micro_batch > 0;
  double micro_batch = 1;
  gboolean found = FALSE;
  QmEstimate first;

  if (!pinned)
    set_batch (job, global_batch, 1, configuration);
  qm_evaluator_evaluate (evaluator, &placement->device, configuration, estimate);
  (*considered)++;
  if (pinned || !fits (job, placement, estimate))
    return fits (job, placement, estimate);

  first = *estimate;
  if (estimate->memory.largest_micro_batch >= 1)
    micro_batch = power_of_two_at_most (MIN (estimate->memory.largest_micro_batch, MIN (per_replica, LARGEST_MICRO_BATCH)));
  else
    micro_batch = power_of_two_at_most (MIN (per_replica, LARGEST_MICRO_BATCH));

  for (double fastest = INFINITY; micro_batch > 1; micro_batch /= 2)
    {
      QmEstimate larger;

      set_batch (job, global_batch, micro_batch, configuration);
      qm_evaluator_evaluate (evaluator, &placement->device, configuration, &larger);
      (*considered)++;
      if (!fits (job, placement, &larger))
        continue;
      /* Memory that buys no speed is better left free. */
      if (time_of (&larger) > (1 + SAME_SPEED) * fastest)
        break;
      fastest = MIN (fastest, time_of (&larger));
      *estimate = larger;
      found = TRUE;
    }
  if (!found || time_of (&first) <= time_of (estimate))
    *estimate = first;

  return TRUE;
}

static gboolean
solve_training (const QmJob       *job,
                QmRecipe          *recipe,
                const QmPlacement *placement,
                int                machines,
                QmEstimate        *best,
                guint64           *considered)
{
  Layout layouts[MAX_LAYOUTS];
  int devices = placement->per_machine * machines;
  int n = training_layouts (job, recipe, placement, devices, layouts);
  gboolean found = FALSE;
  double nearest = INFINITY;

  for (int i = 0; i < n; i++)
    {
      QmConfiguration configuration;
      QmEstimate estimate;
      gboolean ok;

      /* Offloading is slow: only where nothing else fits. */
      if (layouts[i].offload != QM_OFFLOAD_NONE && found)
        continue;

      start_configuration (placement, machines, &configuration);
      configuration.tensor_parallel = layouts[i].tensor;
      configuration.pipeline_parallel = layouts[i].pipeline;
      configuration.sharding = layouts[i].sharding;
      configuration.offload = layouts[i].offload;
      keep_pinned (&job->resolved->given->configuration, &configuration);
      if (devices_of_a_copy (&configuration) > devices)
        continue;
      configuration.data_parallel = devices / (int) devices_of_a_copy (&configuration);
      /* More replicas than samples in a batch would idle. */
      if (job->plan->training.global_batch > 0 && configuration.data_parallel > job->plan->training.global_batch)
        continue;

      ok = solve_layout (job, recipe, placement, &configuration, &estimate, considered);
      if (ok && (!found || time_of (&estimate) < time_of (best)))
        *best = estimate;
      else if (!ok && !found && estimate.memory.need.p50 < nearest)
        {
          *best = estimate;
          nearest = estimate.memory.need.p50;
        }
      found = found || ok;
    }

  return found;
}

/* ---------------------------------------------------------------- inference */

/* Cards of different kinds are there to hold one copy together. */
static int
fewest_together (const QmPlacement *placement,
                 gboolean           splittable)
{
  return splittable && placement->device.n_parts > 0 ? placement->per_machine : 1;
}

static double
latency_of (const QmEstimate *estimate,
            double            batch)
{
  return estimate->throughput.samples_per_second > 0 ? batch / estimate->throughput.samples_per_second : INFINITY;
}

static double
wanted_latency (const QmJob *job)
{
  double latency = job->resolved->given->serving.latency_p99_seconds;

  return latency > 0 ? latency : job->plan->serving.latency_p99_seconds > 0 ? job->plan->serving.latency_p99_seconds : 30;
}

static double
latency_spread (const QmJob *job)
{
  return job->plan->task == QM_TASK_LANGUAGE_MODEL ? LENGTH_P99 : 2;
}

/* Evaluates one replica with 1 << @index sequences at once. */
static gboolean
try_batch (const QmJob           *job,
           QmRecipe              *recipe,
           const QmPlacement     *placement,
           const QmConfiguration *configuration,
           int                    index,
           QmEstimate            *estimate,
           guint64               *considered)
{
  qm_evaluator_evaluate (qm_recipe_evaluator (recipe, job, index), &placement->device, configuration, estimate);
  (*considered)++;

  return fits (job, placement, estimate) && estimate->throughput.known;
}

/* The largest number of sequences at once that fits and answers in time:
 * both memory and latency grow with it, so bisect. */
static gboolean
solve_batch (const QmJob           *job,
             QmRecipe              *recipe,
             const QmPlacement     *placement,
             const QmConfiguration *configuration,
             QmEstimate            *best,
             int                   *batch,
             guint64               *considered)
{
  double allowed = wanted_latency (job) / latency_spread (job);
  int low = 0, high = QM_N_BATCHES - 1;

  *batch = 1;
  if (!try_batch (job, recipe, placement, configuration, 0, best, considered))
    return FALSE;

  while (low < high)
    {
      int middle = (low + high + 1) / 2;
      QmEstimate estimate;

      if (try_batch (job, recipe, placement, configuration, middle, &estimate, considered) &&
          latency_of (&estimate, 1 << middle) <= allowed)
        {
          low = middle;
          *batch = 1 << middle;
          *best = estimate;
        }
      else
        high = middle - 1;
    }

  return TRUE;
}

/**
 * qm_search_pinned_machines:
 * @job: a job
 * @placement: a kind of machine
 *
 * Returns: how many machines the person fixed; 0 where that is open, -1 where
 *   this kind of machine cannot make the number
 */
int
qm_search_pinned_machines (const QmJob       *job,
                           const QmPlacement *placement)
{
  const QmConfiguration *pinned = &job->resolved->given->configuration;
  int machines = pinned->nodes;

  if (pinned->devices == 0)
    return machines;
  if (pinned->devices % placement->per_machine != 0 ||
      (machines > 0 && machines != pinned->devices / placement->per_machine))
    return -1;

  return pinned->devices / placement->per_machine;
}

/* No service is spread over more. */
#define MOST_REPLICAS 1e7

/* How many replicas carry the load, and what a request then waits. */
static void
size_service (const QmJob       *job,
              const QmPlacement *placement,
              int                split,
              int                batch,
              QmEstimate        *estimate,
              int               *machines)
{
  QmServingFigures *serving = &estimate->serving;
  double rate = estimate->throughput.samples_per_second * SERVICE_UTILISATION;
  double replicas = 1, scale;
  int per_machine = MAX (1, placement->per_machine / split);
  int pinned = qm_search_pinned_machines (job, placement);
  double latency = latency_of (estimate, batch);

  if (job->peak_requests_per_second > 0)
    replicas = ceil (job->peak_requests_per_second / rate);
  if (job->resolved->given->serving.concurrency > 0)
    replicas = MAX (replicas, ceil (job->resolved->given->serving.concurrency / batch));

  replicas = replicas < MOST_REPLICAS ? replicas : MOST_REPLICAS;
  *machines = MAX (1, (int) ceil (replicas / per_machine));
  if (pinned > *machines)
    {
      *machines = pinned;
      replicas = (double) pinned * per_machine;
    }
  serving->known = TRUE;
  serving->replicas = (int) MIN (replicas, MOST_REPLICAS);
  serving->requests_per_second = rate;
  serving->latency_p50_seconds = qm_range_log_normal (latency, qm_range_half_width (estimate->throughput.per_second));
  serving->latency_p99_seconds = qm_range_scale (serving->latency_p50_seconds, latency_spread (job));

  /* The estimate is of the whole service from here on. */
  scale = serving->replicas;
  estimate->configuration.devices = placement->per_machine * *machines;
  estimate->configuration.nodes = *machines;
  estimate->configuration.data_parallel = serving->replicas;
  estimate->throughput.per_second = qm_range_scale (estimate->throughput.per_second, scale);
  estimate->throughput.samples_per_second *= scale;
}

static gboolean
solve_serving (const QmJob       *job,
               QmRecipe          *recipe,
               const QmPlacement *placement,
               QmEstimate        *best,
               int               *machines,
               guint64           *considered)
{
  gboolean splittable = job->plan->task == QM_TASK_LANGUAGE_MODEL;
  gboolean found = FALSE;

  for (int tensor = fewest_together (placement, splittable); tensor <= (splittable ? placement->per_machine : 1) && !found; tensor *= 2)
    {
      QmConfiguration configuration;
      int batch;

      start_configuration (placement, 1, &configuration);
      configuration.devices = tensor;
      configuration.data_parallel = 1;
      configuration.tensor_parallel = tensor;
      configuration.pipeline_parallel = 1;
      if (g_strcmp0 (recipe->stack.engine, "llama.cpp") == 0)
        {
          configuration.tensor_parallel = 1;
          configuration.pipeline_parallel = tensor;
        }
      keep_pinned (&job->resolved->given->configuration, &configuration);
      if (devices_of_a_copy (&configuration) > placement->per_machine)
        continue;
      configuration.devices = devices_of_a_copy (&configuration);
      found = solve_batch (job, recipe, placement, &configuration, best, &batch, considered);
      if (found)
        size_service (job, placement, configuration.devices, batch, best, machines);
    }

  return found;
}

static gboolean
solve_batch_inference (const QmJob       *job,
                       QmRecipe          *recipe,
                       const QmPlacement *placement,
                       int                machines,
                       QmEstimate        *best,
                       guint64           *considered)
{
  gboolean splittable = job->plan->task == QM_TASK_LANGUAGE_MODEL;
  int devices = placement->per_machine * machines;

  for (int tensor = fewest_together (placement, splittable); tensor <= (splittable ? placement->per_machine : 1); tensor *= 2)
    {
      QmConfiguration configuration;

      start_configuration (placement, machines, &configuration);
      configuration.tensor_parallel = tensor;
      configuration.pipeline_parallel = 1;
      keep_pinned (&job->resolved->given->configuration, &configuration);
      if (devices_of_a_copy (&configuration) > devices)
        continue;
      configuration.data_parallel = devices / (int) devices_of_a_copy (&configuration);
      if (try_batch (job, recipe, placement, &configuration, 0, best, considered))
        return TRUE;
    }

  return FALSE;
}

/**
 * qm_search_solve:
 * @job: a job
 * @recipe: one way to do it
 * @placement: a kind of machine
 * @machines: (inout): how many; serving decides it by the load
 * @estimate: (out caller-allocates): memory and rate of the best configuration
 * @considered: (inout): counts the configurations evaluated
 *
 * Returns: whether one fits with headroom; else @estimate is of the one that
 *   comes nearest, and is left as it was where there is none to try
 */
gboolean
qm_search_solve (const QmJob       *job,
                 QmRecipe          *recipe,
                 const QmPlacement *placement,
                 int               *machines,
                 QmEstimate        *estimate,
                 guint64           *considered)
{
  if (job->training)
    return solve_training (job, recipe, placement, *machines, estimate, considered);
  if (job->serving)
    return solve_serving (job, recipe, placement, estimate, machines, considered);

  return solve_batch_inference (job, recipe, placement, *machines, estimate, considered);
}
