/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-solve-private.h"

/* Requests wait while others are answered; a service that is planned to be
 * busier than this has no room for the unexpected. */
#define SERVICE_UTILISATION 0.8

/* The longest answers of a hundred are this much longer than the mean, where
 * lengths are log-normal with sigma 0.5 (as in the serving simulation). */
#define LENGTH_P99 2.83

/* Where nobody can be answered in time, nobody waits longer for company than for
 * the answer. */
#define SHARED_PATIENCE 2

/* Cards of different kinds are there to hold one copy together. */
static int
fewest_together (const QmPlacement *placement,
                 gboolean           splittable)
{
  return splittable && placement->device.n_parts > 0 ? placement->per_machine : 1;
}

static double
latency_of (const QmOutline *outline,
            double           batch)
{
  return outline->samples_per_second > 0 ? batch / outline->samples_per_second : INFINITY;
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
           QmSolution            *solution,
           QmTrials              *trials)
{
  qm_solution_take_layout (configuration, solution);
  solution->batch = index;
  qm_trials_evaluate (trials, qm_recipe_evaluator (recipe, job, index), placement, configuration, INFINITY,
                      &solution->outline);

  return qm_solution_fits (job, placement, &solution->outline) && solution->outline.known;
}

/* The power of two at or above the people at once: more in a batch wait for
 * nobody. */
static int
largest_batch (const QmJob *job)
{
  double concurrency = job->resolved->given->serving.concurrency;

  return concurrency > 0 ? MIN (QM_N_BATCHES - 1, (int) ceil (log2 (concurrency))) : QM_N_BATCHES - 1;
}

/* The largest number of sequences at once that fits and answers in time:
 * both memory and latency grow with it, so bisect. Where an answer alone is late
 * already, more copies would not mend it: the load then counts, and an answer in
 * company may take so much longer as SHARED_PATIENCE says. */
static gboolean
solve_batch (const QmJob           *job,
             QmRecipe              *recipe,
             const QmPlacement     *placement,
             const QmConfiguration *configuration,
             QmSolution            *best,
             QmTrials              *trials)
{
  double allowed = wanted_latency (job) / latency_spread (job), alone;
  int low = 0, high = QM_N_BATCHES - 1;

  if (!try_batch (job, recipe, placement, configuration, 0, best, trials))
    return FALSE;

  alone = latency_of (&best->outline, 1);
  best->alone_p99_seconds = alone * latency_spread (job);
  if (alone > allowed)
    {
      allowed = SHARED_PATIENCE * alone;
      high = largest_batch (job);
    }
  while (low < high)
    {
      int middle = (low + high + 1) / 2;
      QmSolution solution = *best;

      if (try_batch (job, recipe, placement, configuration, middle, &solution, trials) &&
          latency_of (&solution.outline, 1 << middle) <= allowed)
        {
          low = middle;
          *best = solution;
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

/* How many replicas carry the load, and what a request then waits. The outline is
 * of the whole service from here on. */
static void
size_service (const QmJob       *job,
              const QmPlacement *placement,
              QmSolution        *solution)
{
  double rate = solution->outline.samples_per_second * SERVICE_UTILISATION;
  double replicas = 1;
  int batch = 1 << solution->batch;
  int per_machine = MAX (1, placement->per_machine / solution->devices);
  int pinned = qm_search_pinned_machines (job, placement);

  if (job->peak_requests_per_second > 0)
    replicas = ceil (job->peak_requests_per_second / rate);
  if (job->resolved->given->serving.concurrency > 0)
    replicas = MAX (replicas, ceil (job->resolved->given->serving.concurrency / batch));

  replicas = replicas < MOST_REPLICAS ? replicas : MOST_REPLICAS;
  solution->machines = MAX (1, (int) ceil (replicas / per_machine));
  if (pinned > solution->machines)
    {
      solution->machines = pinned;
      replicas = (double) pinned * per_machine;
    }
  solution->replicas = (int) MIN (replicas, MOST_REPLICAS);
  solution->latency_p99_seconds = latency_of (&solution->outline, batch) * latency_spread (job);
  solution->outline.per_second *= solution->replicas;
  solution->outline.samples_per_second *= solution->replicas;
}

/* @estimate is of one replica; of the whole service from here on. */
void
qm_solution_fill_service (const QmSolution  *solution,
                          const QmJob       *job,
                          const QmPlacement *placement,
                          QmEstimate        *estimate)
{
  QmServingFigures *serving = &estimate->serving;
  QmThroughput *throughput = &estimate->throughput;
  double latency = (1 << solution->batch) / throughput->samples_per_second;
  double scale = solution->replicas;

  estimate->sized_by_load = TRUE;
  serving->known = TRUE;
  serving->replicas = solution->replicas;
  serving->requests_per_second = throughput->samples_per_second * SERVICE_UTILISATION;
  serving->latency_p50_seconds = qm_range_log_normal (latency, qm_range_half_width (throughput->per_second));
  serving->latency_p99_seconds = qm_range_scale (serving->latency_p50_seconds, latency_spread (job));
  serving->latency_basis = QM_LATENCY_SPREAD;
  estimate->configuration.devices = qm_solution_devices (solution, placement);
  estimate->configuration.nodes = solution->machines;
  estimate->configuration.data_parallel = solution->replicas;
  throughput->per_second = qm_range_scale (throughput->per_second, scale);
  throughput->samples_per_second *= scale;
}

/* How many of @n devices share each layer: no attention head lies on two. The
 * others hold layers of their own. */
static int
sharing_devices (const QmJob *job,
                 int          n)
{
  const QmArchitecture *architecture = &job->resolved->model->architecture;

  while (n > 1 && architecture->known && !qm_architecture_can_share_heads (architecture, n))
    n /= 2;

  return n;
}

/* The devices that one copy of the model takes, @n of them sharing it as the
 * engine does. */
static void
split_service (const QmJob     *job,
               const QmRecipe  *recipe,
               int              n,
               QmConfiguration *configuration)
{
  gboolean stages = g_strcmp0 (recipe->stack.engine, "llama.cpp") == 0;

  configuration->data_parallel = 1;
  configuration->tensor_parallel = stages ? 1 : sharing_devices (job, n);
  configuration->pipeline_parallel = n / configuration->tensor_parallel;
  qm_configuration_keep_pinned (&job->resolved->given->configuration, configuration);
  configuration->devices = qm_configuration_copy_devices (configuration);
}

/* Whether an answer comes within the time that the person gave. */
static gboolean
is_in_time (const QmJob      *job,
            const QmSolution *solution)
{
  double limit = job->resolved->given->serving.latency_p99_seconds;

  return !(limit > 0) || latency_of (&solution->outline, 1 << solution->batch) * latency_spread (job) <= limit;
}

/* The fewest devices for each copy that hold it and answer in time, else that
 * hold it, else the most that were tried. */
gboolean
qm_solve_serving (const QmJob       *job,
                  QmRecipe          *recipe,
                  const QmPlacement *placement,
                  QmSolution        *best,
                  QmTrials          *trials)
{
  gboolean splittable = job->plan->task == QM_TASK_LANGUAGE_MODEL;
  gboolean found = FALSE;
  QmConfiguration configuration;
  QmSolution solution = *best;

  qm_configuration_start (placement, 1, &configuration);
  for (int n = fewest_together (placement, splittable); n <= (splittable ? placement->per_machine : 1); n *= 2)
    {
      split_service (job, recipe, n, &configuration);
      if (configuration.devices > placement->per_machine ||
          !solve_batch (job, recipe, placement, &configuration, &solution, trials))
        continue;
      if (!found || is_in_time (job, &solution))
        *best = solution;
      found = TRUE;
      if (is_in_time (job, &solution))
        break;
    }
  if (found)
    size_service (job, placement, best);
  else if (solution.tried)
    *best = solution;

  return found;
}

gboolean
qm_solve_batch_inference (const QmJob       *job,
                          QmRecipe          *recipe,
                          const QmPlacement *placement,
                          QmSolution        *best,
                          QmTrials          *trials)
{
  gboolean splittable = job->plan->task == QM_TASK_LANGUAGE_MODEL;
  int devices = placement->per_machine * best->machines;
  QmConfiguration configuration;

  qm_configuration_start (placement, best->machines, &configuration);
  for (int tensor = fewest_together (placement, splittable); tensor <= (splittable ? placement->per_machine : 1); tensor *= 2)
    {
      configuration.tensor_parallel = sharing_devices (job, tensor);
      configuration.pipeline_parallel = tensor / configuration.tensor_parallel;
      qm_configuration_keep_pinned (&job->resolved->given->configuration, &configuration);
      if (qm_configuration_copy_devices (&configuration) > devices)
        continue;
      configuration.data_parallel = devices / (int) qm_configuration_copy_devices (&configuration);
      if (try_batch (job, recipe, placement, &configuration, 0, best, trials))
        return TRUE;
    }

  return FALSE;
}
