/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-recording.h"

#include <glib/gi18n.h>
#include <math.h>

#include "qm-error.h"
#include "qm-json-writer.h"

/* A GPU that is as busy as this works for somebody. */
#define BUSY_SHARE 0.02

typedef struct {
  const char *key;
  QmRange value;
} Prediction;

/* What the plan says would come out on this device. */
static void
predict (QmRun          *run,
         const QmChoice *choice)
{
  const QmEstimate *e = &choice->estimate;
  const Prediction predictions[] = {
    { "memory.per_device_bytes", e->memory.device },
    { "throughput.per_second", e->throughput.known ? e->throughput.per_second : QM_RANGE_UNKNOWN },
    { "throughput.step_seconds", e->throughput.known ? e->throughput.step_seconds : QM_RANGE_UNKNOWN },
    { "time.seconds", e->time.seconds },
    { "serving.first_token_seconds", e->serving.known ? e->serving.first_token_seconds : QM_RANGE_UNKNOWN },
    { "serving.decode_tokens_per_second", e->serving.known ? e->serving.decode_tokens_per_second : QM_RANGE_UNKNOWN },
    { "serving.prefill_tokens_per_second", e->serving.known ? e->serving.prefill_tokens_per_second : QM_RANGE_UNKNOWN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (predictions); i++)
    if (qm_range_is_known (predictions[i].value))
      qm_run_ensure_figure (run, predictions[i].key)->predicted = predictions[i].value;
}

/* The plan with what it runs on, so that it can be estimated again in the same way. */
static char *
plan_to_text (const QmResolved *resolved,
              const QmEstimate *estimate)
{
  g_autoptr (QmPlan) plan = qm_plan_copy (resolved->given);
  g_autofree char *text = NULL;
  g_autoptr (JsonNode) node = NULL;

  qm_word_set (plan->configuration.device, estimate->device->id);
  plan->configuration.devices = estimate->configuration.devices;
  plan->configuration.nodes = estimate->configuration.nodes;
  text = qm_plan_to_data (plan, NULL);
  node = json_from_string (text, NULL);

  return json_to_string (node, FALSE);
}

/* What the plan is run on: what it names, else what this computer has. */
static gboolean
settle_device (QmResolved    *resolved,
               const QmHere  *here,
               GError       **error)
{
  const QmDevice *device = NULL;

  if (resolved->plan->configuration.device[0] != '\0')
    return TRUE;

  for (int i = 0; i < here->n_devices && device == NULL; i++)
    device = here->devices[i];
  if (device == NULL)
    device = here->cpu;
  if (device == NULL)
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_MISSING, "configuration.device",
                    N_("the catalog knows no device of this computer; name the nearest one in the plan"), NULL);
      return FALSE;
    }
  qm_word_set (resolved->plan->configuration.device, device->id);
  qm_word_set (resolved->given->configuration.device, device->id);
  if (here->n_devices == 0)
    resolved->plan->configuration.cpu_cores = resolved->given->configuration.cpu_cores = here->cpu_cores;

  return TRUE;
}

/**
 * qm_run_set_plan:
 * @run: a run that is about to be recorded
 * @estimator: an estimator, corrected or not
 * @resolved: (inout): what is run; where it names no device, that of @here is set
 * @here: what this computer has
 * @error: return location for an error
 *
 * Keeps the plan with the run, and what it says would come out.
 *
 * Returns: whether it could be estimated
 */
gboolean
qm_run_set_plan (QmRun         *run,
                 QmEstimator   *estimator,
                 QmResolved    *resolved,
                 const QmHere  *here,
                 GError       **error)
{
  QmChoice choice;
  gboolean ok;

  if (!settle_device (resolved, here, error))
    return FALSE;

  ok = qm_estimate_pinned (estimator, resolved, here, &choice, error);
  if (ok)
    {
      predict (run, &choice);
      g_free (run->plan);
      run->plan = plan_to_text (resolved, &choice.estimate);
      g_set_str (&run->device, choice.estimate.device->id);
      run->devices = choice.estimate.configuration.devices;
      g_set_str (&run->model, resolved->plan->model.id[0] != '\0' ? resolved->plan->model.id : resolved->model->name);
      if (run->label[0] == '\0' && resolved->given->title[0] != '\0')
        g_set_str (&run->label, resolved->given->title);
    }
  qm_choice_clear (&choice);

  return ok;
}

/**
 * qm_run_set_machine:
 * @run: a run that was recorded
 * @here: what this computer has
 * @processor: (nullable): its name
 * @gpu: (nullable): name of the first GPU
 * @threads: logical processors that the run could use
 *
 * Says what the run was on, where no plan says it: the GPU that was busy, else
 * the processor.
 */
void
qm_run_set_machine (QmRun        *run,
                    const QmHere *here,
                    const char   *processor,
                    const char   *gpu,
                    int           threads)
{
  g_set_str (&run->machine, processor);
  qm_run_set_measured (run, "run.cores", threads);
  if (run->device != NULL)
    return;

  if (here->n_devices > 0 && qm_run_measured (run, "run.gpu_utilization") > BUSY_SHARE)
    {
      run->device = g_strdup (here->devices[0] != NULL ? here->devices[0]->id : gpu);
      run->devices = here->n_devices;
    }
  else
    {
      run->device = g_strdup (here->cpu != NULL ? here->cpu->id : processor);
      run->devices = 1;
    }
}

/**
 * qm_run_match_unit:
 * @run: a run that was recorded
 *
 * Counts the rate that a program printed in the unit that the plan counts in.
 */
void
qm_run_match_unit (QmRun *run)
{
  g_autoptr (JsonNode) node = run->plan != NULL ? json_from_string (run->plan, NULL) : NULL;
  JsonObject *training = node != NULL && json_object_has_member (json_node_get_object (node), "training")
                           ? json_object_get_object_member (json_node_get_object (node), "training") : NULL;
  double length = training != NULL ? json_object_get_double_member_with_default (training, "sequence_length", 0) : 0;
  double batch = training != NULL ? json_object_get_double_member_with_default (training, "global_batch", 0) : 0;
  double step = qm_run_measured (run, "throughput.step_seconds");
  double samples = g_strcmp0 (run->unit, "samples") == 0 ? qm_run_measured (run, "throughput.per_second") : NAN;

  if (isnan (samples) && isnan (qm_run_measured (run, "throughput.per_second")) && batch > 0)
    samples = batch / step;
  if (!isfinite (samples))
    return;

  qm_run_set_measured (run, "throughput.samples_per_second", samples);
  qm_run_set_measured (run, "throughput.per_second", length > 0 ? samples * length : samples);
  g_set_str (&run->unit, length > 0 ? "tokens" : "samples");
}

/* The plan of a run, of which its own file may be gone. */
static QmResolved *
resolve_plan (const QmRun *run,
              QmEstimator *estimator)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmPlan) plan = run->plan != NULL && estimator != NULL ? qm_plan_from_data (run->plan, -1, warnings, NULL) : NULL;

  return plan != NULL ? qm_resolve (plan, qm_estimator_get_catalog (estimator), ".", warnings, NULL) : NULL;
}

/**
 * qm_run_diagnose:
 * @run: (inout): a run; is given its diagnosis
 * @series: what was measured over its time
 * @estimator: (nullable): says what a cure would gain, where the run has a plan
 *
 * Returns: (transfer full): what holds it up
 */
QmDiagnosis *
qm_run_diagnose (QmRun          *run,
                 const QmSeries *series,
                 QmEstimator    *estimator)
{
  g_autoptr (QmResolved) resolved = resolve_plan (run, estimator);
  QmDiagnosisContext context = { .estimator = resolved != NULL ? estimator : NULL, .resolved = resolved };
  QmDiagnosis *diagnosis = qm_diagnose (run, series, &context);
  g_autoptr (JsonNode) node = qm_diagnosis_to_json (diagnosis);

  g_free (run->diagnosis);
  run->diagnosis = qm_json_to_text (node, FALSE);

  return diagnosis;
}
