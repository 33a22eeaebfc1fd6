/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-diagnosis-private.h"

/* How a plan is changed for a cure; %FALSE where it has that already. */
typedef gboolean (*Change) (QmPlan *plan);

static gboolean
take_half_precision (QmPlan *plan)
{
  QmPrecision was = plan->training.precision;

  plan->training.precision = QM_PRECISION_AMP_BF16;
  return qm_plan_is_training (plan) && (was == QM_PRECISION_FP32 || was == QM_PRECISION_TF32);
}

static gboolean
compile (QmPlan *plan)
{
  QmTernary *compiled = qm_plan_is_training (plan) ? &plan->training.compiled : &plan->serving.compiled;
  gboolean was = *compiled == QM_TERNARY_YES;

  *compiled = QM_TERNARY_YES;
  return !was;
}

static gboolean
take_flash_attention (QmPlan *plan)
{
  gboolean was = plan->training.attention == QM_ATTENTION_FLASH;

  plan->training.attention = QM_ATTENTION_FLASH;
  return qm_plan_is_training (plan) && !was;
}

static gboolean
keep_activations (QmPlan *plan)
{
  gboolean was = plan->training.activation_checkpointing == QM_CHECKPOINTING_NONE;

  plan->training.activation_checkpointing = QM_CHECKPOINTING_NONE;
  return qm_plan_is_training (plan) && !was;
}

static gboolean
double_batch (QmPlan *plan)
{
  plan->configuration.micro_batch *= 2;
  plan->training.global_batch *= 2;

  return qm_plan_is_training (plan) && plan->configuration.micro_batch > 0;
}

/* How a gain is reckoned. */
typedef enum {
  GAIN_UNKNOWN,
  GAIN_OF_WAITING,                  /* what the device waits now */
  GAIN_OF_CORES,                    /* all cores in place of those in use */
  GAIN_OF_CLOCK,
  GAIN_OF_EXCHANGE,
  GAIN_OF_STOLEN,                   /* what the host took */
} Gain;

/* The cures of requirements F3 and D, in the order in which people try them. */
static const struct {
  QmBottleneck bottleneck;
  const char *code;
  const char *msgid;
  Gain gain;
  Change change;                    /* by the model, where there is a plan */
} cures[] = {
  { QM_BOTTLENECK_INPUT, "more-workers", N_("Give the data loader more workers: as many as there are cores"), GAIN_OF_WAITING, NULL },
  { QM_BOTTLENECK_INPUT, "prefetch", N_("Let each worker load 4 batches ahead (prefetch_factor=4), and keep the workers (persistent_workers=True)"), GAIN_OF_WAITING, NULL },
  { QM_BOTTLENECK_INPUT, "pin-memory", N_("Use pinned memory and copy without waiting (pin_memory=True, non_blocking=True)"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_INPUT, "preload", N_("Prepare the data once beforehand, and hold them in memory if they fit"), GAIN_OF_WAITING, NULL },
  { QM_BOTTLENECK_STORAGE, "preload", N_("Prepare the data once beforehand, and hold them in memory if they fit"), GAIN_OF_WAITING, NULL },
  { QM_BOTTLENECK_STORAGE, "faster-storage", N_("Put the data on a faster disk (NVMe) of this computer"), GAIN_OF_WAITING, NULL },
  { QM_BOTTLENECK_STORAGE, "large-files", N_("Pack many small files into few large ones, which are read in one go"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_STORAGE, "prefetch", N_("Let each worker load 4 batches ahead (prefetch_factor=4), and keep the workers (persistent_workers=True)"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_NETWORK, "copy-near", N_("Copy the data to a disk of this computer first"), GAIN_OF_WAITING, NULL },
  { QM_BOTTLENECK_OVERHEAD, "compile", N_("Compile the model (torch.compile): fewer, larger pieces of work"), GAIN_UNKNOWN, compile },
  { QM_BOTTLENECK_OVERHEAD, "larger-batch", N_("Take a larger batch: more work for each piece that is handed out"), GAIN_UNKNOWN, double_batch },
  { QM_BOTTLENECK_OVERHEAD, "more-threads", N_("Let it use all cores (OMP_NUM_THREADS, torch.set_num_threads)"), GAIN_OF_CORES, NULL },
  { QM_BOTTLENECK_COMPUTE, "half-precision", N_("Compute in bfloat16 (autocast)"), GAIN_UNKNOWN, take_half_precision },
  { QM_BOTTLENECK_COMPUTE, "flash-attention", N_("Use flash attention"), GAIN_UNKNOWN, take_flash_attention },
  { QM_BOTTLENECK_COMPUTE, "compile", N_("Compile the model (torch.compile): fewer, larger pieces of work"), GAIN_UNKNOWN, compile },
  { QM_BOTTLENECK_COMPUTE, "keep-activations", N_("Do without activation checkpointing, as long as memory allows"), GAIN_UNKNOWN, keep_activations },
  { QM_BOTTLENECK_COMPUTE, "faster-device", N_("Take a faster device, or more of them: recommend says which"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_MEMORY, "oom-ladder", N_("Free memory step by step: diagnose --oom says how for a plan"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_MEMORY, "smaller-batch", N_("Take a smaller batch and accumulate gradients over several"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_MEMORY, "fewer-workers", N_("Give the data loader fewer workers: each holds a copy of its data"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_COMMUNICATION, "accumulate", N_("Accumulate gradients over more batches: fewer exchanges for the same work"), GAIN_OF_EXCHANGE, NULL },
  { QM_BOTTLENECK_COMMUNICATION, "check-nccl", N_("Look with NCCL_DEBUG=INFO whether NVLink or InfiniBand is really used"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_COMMUNICATION, "trace", N_("Record a trace with the profiler, and import it here, to see what is exchanged when"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_COMMUNICATION, "fewer-devices", N_("Use fewer devices, or devices with a faster link"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_THERMAL, "cool", N_("Cool it better: free its fans of dust, let air through the case"), GAIN_OF_CLOCK, NULL },
  { QM_BOTTLENECK_THERMAL, "limit-power", N_("Lower its power limit: it then runs evenly, a little slower, and much cooler"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_POWER, "raise-limit", N_("Raise its power limit, if the power supply and the maker allow it (nvidia-smi -pl)"), GAIN_OF_CLOCK, NULL },
  { QM_BOTTLENECK_CONTENTION, "end-others", N_("End the other programs, or wait until they are done"), GAIN_OF_CORES, NULL },
  { QM_BOTTLENECK_STOLEN, "own-processor", N_("Take a machine whose processor is yours alone (dedicated, not shared or burstable)"), GAIN_OF_STOLEN, NULL },
  { QM_BOTTLENECK_STOLEN, "another-hour", N_("Run it again at another hour: how much the host takes changes"), GAIN_UNKNOWN, NULL },
  { QM_BOTTLENECK_UNKNOWN, "trace", N_("Record a trace with the profiler, and import it here, to see what is exchanged when"), GAIN_UNKNOWN, NULL },
};

static double
rate_of (const QmDiagnosisContext *context,
         const QmPlan             *plan)
{
  g_autoptr (QmEvaluator) evaluator = qm_evaluator_new (context->estimator, plan, context->resolved->model);
  const QmDevice *device = qm_catalog_find_device (qm_estimator_get_catalog (context->estimator), plan->configuration.device);
  QmEstimate estimate = { 0 };
  double rate;

  if (device == NULL)
    return NAN;

  qm_evaluator_evaluate (evaluator, device, &plan->configuration, &estimate);
  rate = estimate.throughput.known && estimate.memory.fits ? estimate.throughput.per_second.p50 : NAN;
  qm_estimate_clear (&estimate);

  return rate;
}

/* FALSE where the plan has it already; no gain where it would not fit. */
static gboolean
gain_of_change (const QmDiagnosisContext *context,
                Change                    change,
                double                   *gain)
{
  g_autoptr (QmPlan) plan = NULL;

  *gain = NAN;
  if (context->estimator == NULL || context->resolved == NULL)
    return TRUE;

  plan = qm_plan_copy (context->resolved->plan);
  if (!change (plan))
    return FALSE;
  *gain = rate_of (context, plan) / rate_of (context, context->resolved->plan);

  return !(*gain < 1.01);
}

static double
gain_of_symptoms (Gain              kind,
                  const QmSymptoms *s)
{
  double busy = isfinite (s->gpu_busy) && s->gpus > 0 ? s->gpu_busy : s->cores > 0 ? s->cores_used / s->cores : NAN;

  switch (kind)
    {
    case GAIN_OF_WAITING:
      return busy > 0 && busy < 0.95 ? fmin (0.95 / busy, 20) : NAN;
    case GAIN_OF_CORES:
      return s->cores > 1 && s->cores_used > 0 && s->gpus == 0 ? fmax (1, s->cores / s->cores_used) : NAN;
    case GAIN_OF_CLOCK:
      return s->gpu_clock > 0 ? 1 / fmin (s->gpu_clock, 1) : NAN;
    case GAIN_OF_EXCHANGE:
      return s->communication > 0 ? 1 / (1 - s->communication / 2) : NAN;
    case GAIN_OF_STOLEN:
      return s->stolen < 1 ? 1 / (1 - s->stolen) : NAN;
    case GAIN_UNKNOWN:
    default:
      return NAN;
    }
}

static int
compare_gains (gconstpointer a,
               gconstpointer b)
{
  double x = ((const QmCure *) a)->gain, y = ((const QmCure *) b)->gain;

  x = isfinite (x) ? x : 0;
  y = isfinite (y) ? y : 0;

  return (x < y) - (x > y);
}

static void
cure_clear (QmCure *self)
{
  qm_message_free (self->message);
}

void
qm_diagnosis_add_cures (QmDiagnosis              *self,
                        const QmSymptoms         *symptoms,
                        const QmDiagnosisContext *context)
{
  self->cures = g_array_new (FALSE, FALSE, sizeof (QmCure));
  g_array_set_clear_func (self->cures, (GDestroyNotify) cure_clear);
  for (guint i = 0; i < G_N_ELEMENTS (cures); i++)
    {
      QmCure cure = { .code = cures[i].code, .gain = gain_of_symptoms (cures[i].gain, symptoms) };

      if (cures[i].bottleneck != self->bottleneck)
        continue;
      if (cures[i].change != NULL && !gain_of_change (context, cures[i].change, &cure.gain))
        continue;
      cure.message = qm_message_new (cures[i].code, cures[i].msgid);
      g_array_append_val (self->cures, cure);
    }
  g_array_sort (self->cures, compare_gains);
}
