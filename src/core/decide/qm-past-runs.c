/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-past-runs.h"

#include <math.h>

/* What a run took, and what it was: as evaluated, with every default resolved. */
typedef struct {
  QmResolved *resolved;
  QmConfiguration configuration;
  QmTraining training;
  QmServing serving;
  double bytes;
} QmPastRun;

static void
past_run_free (QmPastRun *self)
{
  qm_resolved_free (self->resolved);
  g_free (self);
}

/**
 * qm_past_runs_new:
 *
 * Returns: (transfer full): what runs of a person took, for requirements B4 and
 *   B5: none yet. Once filled it may be used from several threads
 */
GPtrArray *
qm_past_runs_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) past_run_free);
}

/**
 * qm_past_runs_add:
 * @runs: of qm_past_runs_new()
 * @resolved: (transfer full): the plan of a run later than those before
 * @estimate: an estimate of it, in the configuration that it ran in
 * @bytes: what it took of a device
 */
void
qm_past_runs_add (GPtrArray        *runs,
                  QmResolved       *resolved,
                  const QmEstimate *estimate,
                  double            bytes)
{
  QmPastRun *run = g_new0 (QmPastRun, 1);

  run->resolved = resolved;
  run->configuration = estimate->configuration;
  run->training = estimate->training;
  run->serving = estimate->serving_plan;
  run->bytes = bytes;
  g_ptr_array_add (runs, run);
}

/* Everything of the model but its depth. */
static gboolean
is_same_structure (const QmModel *a,
                   const QmModel *b)
{
  const QmArchitecture *x = &a->architecture, *y = &b->architecture;

  /* of a picture's network the catalog names the series, and not its shapes */
  if (x->hidden <= 0 && y->hidden <= 0 && !g_str_equal (a->id, b->id))
    return a->series[0] != '\0' && g_str_equal (a->series, b->series);

  return x->hidden == y->hidden && x->heads == y->heads && x->kv_heads == y->kv_heads && x->ffn == y->ffn &&
         x->vocabulary == y->vocabulary && x->experts == y->experts;
}

static gboolean
is_same_layout (const QmConfiguration *a,
                const QmConfiguration *b)
{
  return g_str_equal (a->device, b->device) && a->devices == b->devices && a->sharding == b->sharding && a->offload == b->offload &&
         a->tensor_parallel == b->tensor_parallel && a->pipeline_parallel == b->pipeline_parallel &&
         a->expert_parallel == b->expert_parallel && a->context_parallel == b->context_parallel && a->gpu_layers == b->gpu_layers &&
         a->cpu_expert_layers == b->cpu_expert_layers;
}

/* NaN is what nobody said. */
static gboolean
is_same_share (double a,
               double b)
{
  return a == b || (isnan (a) && isnan (b));
}

static gboolean
is_same_training (const QmTraining *a,
                  const QmTraining *b)
{
  return a->method == b->method && a->precision == b->precision && a->optimizer == b->optimizer && a->lora_rank == b->lora_rank &&
         a->sequence_length == b->sequence_length && a->image_size == b->image_size && g_str_equal (a->base_weights, b->base_weights) &&
         a->activation_checkpointing == b->activation_checkpointing && a->attention == b->attention &&
         is_same_share (a->lora_dropout, b->lora_dropout);
}

static gboolean
is_same_serving (const QmServing *a,
                 const QmServing *b)
{
  return g_str_equal (a->engine, b->engine) && g_str_equal (a->weights, b->weights) && g_str_equal (a->kv_cache, b->kv_cache) &&
         a->concurrency == b->concurrency && a->max_sequences == b->max_sequences && a->speculation == b->speculation && a->input_tokens == b->input_tokens &&
         a->output_tokens == b->output_tokens && a->image_size == b->image_size;
}

static gboolean
is_same_table (const QmPlan *a,
               const QmPlan *b)
{
  const QmTabular *x = &a->tabular, *y = &b->tabular;

  return x->features == y->features && x->nonzero_features == y->nonzero_features && x->trees == y->trees && x->depth == y->depth &&
         x->leaves == y->leaves && x->bins == y->bins && a->training.samples == b->training.samples;
}

static gboolean
is_same_job (const QmPastRun  *run,
             const QmResolved *resolved,
             const QmEstimate *estimate)
{
  const QmPlan *a = run->resolved->plan, *b = resolved->plan;

  if (a->task != b->task || a->activity != b->activity || !is_same_structure (run->resolved->model, resolved->model) ||
      !is_same_layout (&run->configuration, &estimate->configuration))
    return FALSE;

  if (b->task == QM_TASK_TABULAR)
    return is_same_table (a, b);
  if (!qm_plan_is_training (b))
    return is_same_serving (&run->serving, &estimate->serving_plan);

  return run->configuration.micro_batch == estimate->configuration.micro_batch && is_same_training (&run->training, &estimate->training);
}

static double
depth_of (const QmModel *model)
{
  return model->architecture.layers > 0 ? model->architecture.layers : model->depth;
}

/**
 * qm_past_runs_measured:
 * @runs: (nullable): of qm_past_runs_new()
 * @resolved: a plan
 * @estimate: an estimate of it
 *
 * Requirement B4.
 *
 * Returns: bytes of a device that the latest run of this very plan, in this very
 *   configuration, took; 0 where there is none
 */
double
qm_past_runs_measured (GPtrArray        *runs,
                       const QmResolved *resolved,
                       const QmEstimate *estimate)
{
  for (guint i = runs != NULL ? runs->len : 0; i > 0; i--)
    {
      const QmPastRun *run = g_ptr_array_index (runs, i - 1);

      if (is_same_job (run, resolved, estimate) && run->resolved->model->parameters == resolved->model->parameters &&
          depth_of (run->resolved->model) == depth_of (resolved->model))
        return run->bytes;
    }

  return 0;
}

/* Least squares of y over x. */
typedef struct {
  double n, x, y, xx, xy;
} Line;

static void
add_point (Line   *line,
           double  x,
           double  y)
{
  line->n++;
  line->x += x;
  line->y += y;
  line->xx += x * x;
  line->xy += x * y;
}

/**
 * qm_past_runs_growth:
 * @runs: (nullable): of qm_past_runs_new()
 * @resolved: a plan
 * @estimate: an estimate of it
 * @growth: (out caller-allocates): what runs of the same structure say
 *
 * Requirement B5: memory grows evenly with the number of layers. Runs of the
 * same structure, at least two of them of different depths, say by how much.
 *
 * Returns: whether there are such runs
 */
gboolean
qm_past_runs_growth (GPtrArray        *runs,
                     const QmResolved *resolved,
                     const QmEstimate *estimate,
                     QmGrowth         *growth)
{
  double layers = depth_of (resolved->model), spread, slope;
  Line line = { 0 };

  for (guint i = 0; layers > 0 && runs != NULL && i < runs->len; i++)
    {
      const QmPastRun *run = g_ptr_array_index (runs, i);

      if (is_same_job (run, resolved, estimate))
        add_point (&line, depth_of (run->resolved->model), run->bytes);
    }

  spread = line.n * line.xx - line.x * line.x;
  if (line.n < 2 || !(spread > 1e-9))
    return FALSE;

  slope = (line.n * line.xy - line.x * line.y) / spread;
  *growth = (QmGrowth) { 10 * slope, fmax (0, (line.y - slope * line.x) / line.n + slope * layers), (guint) line.n };
  return TRUE;
}
