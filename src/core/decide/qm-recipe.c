/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-recipe.h"

/* NVIDIA has bfloat16 from Ampere on. */
#define BFLOAT16_COMPUTE_CAPABILITY 8.0

static void
recipe_free (QmRecipe *self)
{
  for (int i = 0; i < QM_N_BATCHES; i++)
    g_clear_pointer (&self->evaluators[i], qm_evaluator_free);
  qm_plan_free (self->plan);
  g_free (self);
}

static QmRecipe *
recipe_new (const QmJob   *job,
            const QmStack *stack)
{
  QmRecipe *self = g_new0 (QmRecipe, 1);

  self->plan = qm_plan_copy (job->plan);
  self->plan->limits.headroom = job->headroom;
  self->stack = *stack;

  return self;
}

static void
take (GPtrArray   *recipes,
      const QmJob *job,
      QmRecipe    *recipe)
{
  recipe->accuracy = qm_job_accuracy (job, recipe->plan);
  g_ptr_array_add (recipes, recipe);
}

static gboolean
has_16_bit_precision (const QmPlan *plan)
{
  return plan->training.precision == QM_PRECISION_AMP_BF16 || plan->training.precision == QM_PRECISION_UNSET;
}

/* Checkpointing trades time for memory: both are tried unless it was answered.
 * So is float16 beside bfloat16, for cards that have only the former. */
static void
add_training_recipes (GPtrArray     *recipes,
                      const QmJob   *job,
                      const QmStack *stack,
                      QmMethod       method)
{
  const QmPlan *given = job->resolved->given;
  gboolean free_checkpointing = given->training.activation_checkpointing == QM_CHECKPOINTING_UNSET &&
                                job->plan->task != QM_TASK_TABULAR && job->plan->task != QM_TASK_RECOMMENDER;
  gboolean free_precision = given->training.precision == QM_PRECISION_UNSET && has_16_bit_precision (job->plan) &&
                            (stack->vendors & (1u << QM_VENDOR_NVIDIA)) != 0;

  for (int half = 0; half <= (free_precision ? 1 : 0); half++)
    for (int full = 0; full <= (free_checkpointing ? 1 : 0); full++)
      {
        QmRecipe *recipe = recipe_new (job, stack);
        QmTraining *training = &recipe->plan->training;

        recipe->other_method = method != job->plan->training.method;
        training->method = method;
        if (recipe->other_method)
          qm_word_set (training->base_weights, "");
        if (free_checkpointing)
          training->activation_checkpointing = full ? QM_CHECKPOINTING_FULL : QM_CHECKPOINTING_NONE;
        if (half)
          training->precision = QM_PRECISION_AMP_FP16;
        recipe->half_precision_only = half;
        recipe->bfloat16_only = free_precision && !half;
        take (recipes, job, recipe);
      }
}

static gboolean
format_allowed (const QmJob *job,
                const char  *format)
{
  const char *asked = job->plan->serving.weights;

  return asked[0] == '\0' || g_str_equal (asked, format);
}

/* Formats that an engine takes but nobody would choose for it; and the engine that
 * reads some types of GGUF reads them all. */
static gboolean
reads (const QmStack *stack,
       const char    *format)
{
  for (int i = 0; i < stack->n_reads; i++)
    if (g_str_equal (stack->reads[i], format))
      return TRUE;
  if (!g_str_has_prefix (format, "gguf-"))
    return FALSE;

  for (int i = 0; i < stack->n_formats; i++)
    if (g_str_has_prefix (stack->formats[i], "gguf-"))
      return TRUE;
  return FALSE;
}

static void
add_inference_recipe (GPtrArray     *recipes,
                      const QmJob   *job,
                      const QmStack *stack,
                      const char    *format)
{
  QmRecipe *recipe = recipe_new (job, stack);

  qm_word_set (recipe->plan->serving.engine, stack->engine);
  qm_word_set (recipe->plan->serving.weights, format);
  take (recipes, job, recipe);
}

static void
add_inference_recipes (GPtrArray     *recipes,
                       const QmJob   *job,
                       const QmStack *stack)
{
  const QmPlan *given = job->resolved->given;
  const char *asked = job->plan->serving.weights;
  guint before = recipes->len;

  if (given->serving.engine[0] != '\0' && !g_str_equal (given->serving.engine, stack->engine))
    return;

  for (int i = 0; i < stack->n_formats; i++)
    if (format_allowed (job, stack->formats[i]))
      add_inference_recipe (recipes, job, stack, stack->formats[i]);

  /* A format that was asked for but is not among the usual ones of the engine. */
  if (recipes->len == before && asked[0] != '\0' &&
      (given->serving.engine[0] != '\0' || reads (stack, asked)))
    add_inference_recipe (recipes, job, stack, asked);
}

/* An engine that the table does not know: what it runs on is what PyTorch runs on. */
static void
add_unknown_engine (GPtrArray   *recipes,
                    const QmJob *job)
{
  const QmPlan *plan = job->plan;
  QmStack stack = { 0 };

  stack.engine = plan->serving.engine;
  stack.vendors = (1u << QM_VENDOR_NVIDIA) | (1u << QM_VENDOR_AMD);
  stack.classes = (1u << QM_DEVICE_CLASS_DATACENTER) | (1u << QM_DEVICE_CLASS_WORKSTATION) |
                  (1u << QM_DEVICE_CLASS_CONSUMER) | (1u << QM_DEVICE_CLASS_LAPTOP);
  stack.min_compute_capability = 7.0;
  add_inference_recipe (recipes, job, &stack, plan->serving.weights[0] != '\0' ? plan->serving.weights : "fp16");
}

/**
 * qm_recipes_for_job:
 * @job: a job
 *
 * Returns: (transfer full) (element-type QmRecipe): every way to do it that is
 *   worth trying. Fine-tuning also has the cheaper methods, marked: they are
 *   for when the one that was asked for does not fit
 */
GPtrArray *
qm_recipes_for_job (const QmJob *job)
{
  GPtrArray *recipes = g_ptr_array_new_with_free_func ((GDestroyNotify) recipe_free);
  g_autoptr (GArray) stacks = qm_stacks_for_plan (qm_estimator_get_catalog (job->estimator), job->plan);

  for (guint i = 0; i < stacks->len; i++)
    {
      const QmStack *stack = &g_array_index (stacks, QmStack, i);

      if (job->training)
        add_training_recipes (recipes, job, stack, job->plan->training.method);
      else
        add_inference_recipes (recipes, job, stack);
    }
  if (recipes->len == 0 && !job->training && job->resolved->given->serving.engine[0] != '\0')
    add_unknown_engine (recipes, job);

  return recipes;
}

/**
 * qm_recipe_runs_on:
 * @self: a recipe
 * @device: a device
 *
 * Returns: whether software and number type exist on @device
 */
gboolean
qm_recipe_runs_on (const QmRecipe *self,
                   const QmDevice *device)
{
  gboolean bfloat16 = device->vendor != QM_VENDOR_NVIDIA || device->compute_capability >= BFLOAT16_COMPUTE_CAPABILITY;

  if (!qm_stack_runs_on (&self->stack, device))
    return FALSE;
  if (self->bfloat16_only && !bfloat16)
    return FALSE;
  if (self->half_precision_only && bfloat16)
    return FALSE;
  if (g_str_equal (self->plan->serving.weights, "fp8") && device->tflops_fp8 <= 0)
    return FALSE;
  if (g_str_equal (self->plan->serving.weights, "bf16") && !bfloat16 && device->tflops_fp16 <= 0)
    return FALSE;

  return TRUE;
}

/**
 * qm_recipe_evaluator:
 * @self: a recipe
 * @job: the job it is of
 * @batch_index: for serving, the logarithm (base 2) of the sequences at once; 0
 *   otherwise
 *
 * Returns: (transfer none): the evaluator, prepared at its first use
 */
const QmEvaluator *
qm_recipe_evaluator (QmRecipe    *self,
                     const QmJob *job,
                     int          batch_index)
{
  if (self->evaluators[batch_index] == NULL)
    {
      double before = self->plan->serving.concurrency;

      if (job->serving)
        self->plan->serving.concurrency = 1 << batch_index;
      self->evaluators[batch_index] = qm_evaluator_new (job->estimator, self->plan, job->resolved->model);
      self->plan->serving.concurrency = before;
    }

  return self->evaluators[batch_index];
}
