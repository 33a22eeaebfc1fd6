/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit.h"

#include <math.h>
#include <string.h>

/* The tables of constants, kept as JSON that can be changed, and estimates with
 * the constants that are in them. */

static const char *const table_files[FIT_N_TABLES] = {
  [FIT_TABLE_TRAINING] = "constants-llm-training",
  [FIT_TABLE_INFERENCE] = "constants-llm-inference",
  [FIT_TABLE_DOMAINS] = "constants-other-domains",
};

/* Makes the constants of a table anew from what stands in it. */
void
fit_reload (Fit      *self,
            FitTable  table)
{
  g_autoptr (GError) error = NULL;

  switch (table)
    {
    case FIT_TABLE_TRAINING:
      g_clear_pointer (&self->training, qm_llm_training_constants_free);
      self->training = qm_llm_training_constants_new (self->tables[table], &error);
      break;
    case FIT_TABLE_INFERENCE:
      g_clear_pointer (&self->inference, qm_llm_inference_constants_free);
      self->inference = qm_llm_inference_constants_new (self->tables[table], qm_catalog_table (self->catalog, "quantization"), &error);
      break;
    default:
      g_clear_pointer (&self->domains, qm_other_domains_constants_free);
      self->domains = qm_other_domains_constants_new (self->tables[table], &error);
      break;
    }

  if (error != NULL)
    g_error ("%s", error->message);
}

/* Reads the catalog in @folder and its tables of constants. */
gboolean
fit_read_tables (Fit         *self,
                 const char  *folder,
                 GError     **error)
{
  self->catalog = qm_catalog_load (folder, NULL, error);
  if (self->catalog == NULL)
    return FALSE;

  for (int i = 0; i < FIT_N_TABLES; i++)
    {
      g_autofree char *name = g_strconcat (table_files[i], ".json", NULL);
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr (JsonParser) parser = json_parser_new ();

      if (!json_parser_load_from_file (parser, path, error))
        return FALSE;
      self->tables[i] = json_parser_steal_root (parser);
      fit_reload (self, i);
    }

  return TRUE;
}

/* Estimates a case with the constants as they are now, as the evaluator of the
 * core does. */
void
fit_estimate (Fit        *self,
              FitCase    *of,
              QmEstimate *estimate)
{
  const QmPlan *plan = of->resolved->plan;
  const QmModel *model = of->resolved->model;

  qm_estimate_clear (estimate);
  estimate->device = of->device;
  estimate->configuration = plan->configuration;
  estimate->training = plan->training;
  estimate->serving_plan = plan->serving;

  if (of->table == FIT_TABLE_TRAINING)
    {
      g_autoptr (QmLlmTraining) training = qm_llm_training_new (self->training, plan, model);

      qm_llm_training_predict (training, of->device, &plan->configuration, estimate);
    }
  else if (of->table == FIT_TABLE_INFERENCE)
    {
      g_autoptr (QmLlmInference) inference = qm_llm_inference_new (self->inference, plan, model);

      qm_llm_inference_predict (inference, of->device, &plan->configuration, estimate);
    }
  else
    {
      g_autoptr (QmOtherDomains) domains = qm_other_domains_new (self->domains, plan, model);

      qm_other_domains_predict (domains, of->device, &plan->configuration, estimate);
    }
}

static QmRange
memory_range (const FitCase  *of,
              const QmMemory *memory)
{
  if (strcmp (of->basis, "allocated") == 0)
    return memory->allocated;
  if (strcmp (of->basis, "reserved") == 0)
    return memory->reserved;

  return strcmp (of->basis, "whole-device") == 0 ? memory->device : memory->need;
}

/* Some count the tokens read as well as those written. */
static QmRange
per_second (const FitCase    *of,
            const QmEstimate *estimate)
{
  const QmServing *serving = &of->resolved->plan->serving;

  if (serving->output_tokens > 0 && strcmp (of->scope, "input+output") == 0)
    return qm_range_scale (estimate->throughput.per_second, (serving->input_tokens + serving->output_tokens) / serving->output_tokens);

  return estimate->throughput.per_second;
}

/* What is estimated of @figure, in its own unit, and the half-width of its range
 * on the logarithm. */
double
fit_figure_estimate (FitFigure        *figure,
                     const QmEstimate *estimate,
                     double           *half_width)
{
  const QmThroughput *throughput = &estimate->throughput;
  const QmServingFigures *serving = &estimate->serving;
  QmRange range = per_second (figure->of, estimate);
  double value;

  switch (figure->key)
    {
    case FIT_KEY_MEMORY: range = memory_range (figure->of, &estimate->memory); break;
    case FIT_KEY_HOST:
      range = qm_range_is_known (estimate->memory.host) ? estimate->memory.host : qm_range_exact (estimate->memory.host_bytes);
      break;
    case FIT_KEY_PER_DEVICE: range = throughput->per_device_per_second; break;
    case FIT_KEY_STEP: range = throughput->step_seconds; break;
    case FIT_KEY_DECODE: range = serving->decode_tokens_per_second; break;
    case FIT_KEY_PREFILL: range = serving->prefill_tokens_per_second; break;
    case FIT_KEY_FIRST_TOKEN: range = serving->first_token_seconds; break;
    case FIT_KEY_SECONDS: range = estimate->time.seconds; break;
    default: break;
    }

  value = range.p50;
  if (figure->key == FIT_KEY_SAMPLES)
    value = throughput->samples_per_second;
  else if (figure->key == FIT_KEY_TFLOPS)
    value = throughput->tflops_per_device;
  else if (figure->key == FIT_KEY_MFU)
    value = throughput->mfu;
  if (half_width != NULL)
    *half_width = qm_range_is_known (range) && range.p90 > range.p50 ? qm_range_half_width (range) : 0;

  return value;
}

/* ln (estimate / measured) of the figures with the indices @figures; and half
 * widths where @half_widths is given. Steps count as rates: what is slower than
 * measured is below it. */
void
fit_residuals (Fit    *self,
               GArray *figures,
               double *residuals,
               double *half_widths)
{
  FitCase *last = NULL;
  QmEstimate estimate;

  for (guint i = 0; i < figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (self->figures, g_array_index (figures, guint, i));
      double half_width, value;

      if (figure->of != last)
        fit_estimate (self, figure->of, &estimate);
      last = figure->of;

      value = fit_figure_estimate (figure, &estimate, &half_width);
      residuals[i] = log (value / figure->measured) * (figure->key == FIT_KEY_STEP ? -1 : 1);
      if (half_widths != NULL)
        half_widths[i] = half_width;
    }
}

/* The key of a level of the inference tables that acts on a case. */
char *
fit_inference_key (Fit        *self,
                   FitCase    *of,
                   const char *level)
{
  g_autoptr (QmLlmInference) inference = qm_llm_inference_new (self->inference, of->resolved->plan, of->resolved->model);
  QmInferenceJob job;

  qm_inference_job_init (&job, inference, of->device, -1, &of->resolved->plan->configuration);
  return qm_inference_job_key (&job, level);
}
