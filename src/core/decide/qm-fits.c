/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-fits.h"

#include "plan/qm-flow.h"

/* How each way is written in a plan: texts and answers as long as people use them. */
static const struct {
  const char *activity;
  const char *fields[3][2];
  double least_bytes;               /* of a parameter */
} ways[QM_N_FITS] = {
  [QM_FIT_CHAT_4_BIT] = { "serve", { { "serving.weights", "gguf-q4_k_m" }, { "serving.engine", "llama.cpp" } }, 0.5 },
  [QM_FIT_CHAT_8_BIT] = { "serve", { { "serving.weights", "gguf-q8_0" }, { "serving.engine", "llama.cpp" } }, 1 },
  [QM_FIT_CHAT_16_BIT] = { "serve", { { "serving.weights", "fp16" }, { "serving.engine", "llama.cpp" } }, 2 },
  [QM_FIT_QLORA] = { "fine-tune", { { "training.method", "qlora" } }, 0.5 },
  [QM_FIT_LORA] = { "fine-tune", { { "training.method", "lora" } }, 2 },
  [QM_FIT_FULL] = { "fine-tune", { { "training.method", "full" } }, 8 },
};

static const char * const common[2][4][2] = {
  { { "serving.concurrency", "1" }, { "serving.input_tokens", "2000" }, { "serving.output_tokens", "500" } },
  { { "training.sequence_length", "2048" }, { "configuration.micro_batch", "1" }, { "training.activation_checkpointing", "full" } },
};

typedef struct {
  const QmModelEntry *entry;
  double parameters;
} Candidate;

static int
compare (gconstpointer a,
         gconstpointer b)
{
  double x = ((const Candidate *) a)->parameters, y = ((const Candidate *) b)->parameters;

  return (x < y) - (x > y);
}

/* The largest first. */
static GArray *
list_models (QmCatalog *catalog)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));

  for (guint i = 0; i < qm_catalog_n_models (catalog); i++)
    {
      const QmModelEntry *entry = qm_catalog_model (catalog, i);
      Candidate candidate = { entry, entry->parameters };

      if (entry->task == QM_TASK_LANGUAGE_MODEL && candidate.parameters > 0)
        g_array_append_val (candidates, candidate);
    }
  g_array_sort (candidates, compare);

  return candidates;
}

static gboolean
set_fields (QmPlan             *plan,
            const char * const  (*fields)[2],
            guint               n)
{
  for (guint i = 0; i < n && fields[i][0] != NULL; i++)
    if (!qm_plan_set_field (plan, fields[i][0], fields[i][1], NULL))
      return FALSE;

  return TRUE;
}

static QmResolved *
make_plan (QmEstimator    *estimator,
           QmFitWay        way,
           const char     *model,
           const QmDevice *device)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmPlan) plan = qm_plan_new ();
  const char * const start[][2] = { { "task", "language-model" }, { "activity", ways[way].activity }, { "model.id", model },
                                    { "configuration.device", device->id }, { "configuration.devices", "1" } };

  if (!set_fields (plan, start, G_N_ELEMENTS (start)) || !set_fields (plan, ways[way].fields, G_N_ELEMENTS (ways[way].fields)) ||
      !set_fields (plan, common[way >= QM_FIT_QLORA], G_N_ELEMENTS (common[0])))
    return NULL;

  return qm_resolve (plan, qm_estimator_get_catalog (estimator), NULL, warnings, NULL);
}

/* With the usual room to spare. What the weights alone take needs no estimate. */
static gboolean
does_fit (QmEstimator     *estimator,
          QmFitWay         way,
          const Candidate *candidate,
          const QmDevice  *device,
          double           usable_bytes)
{
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmEvaluator) evaluator = NULL;
  QmEstimate estimate = { 0 };
  double usable = usable_bytes > 0 ? usable_bytes : device->memory_bytes;
  gboolean fits;

  if (candidate->parameters * ways[way].least_bytes > usable)
    return FALSE;
  resolved = make_plan (estimator, way, candidate->entry->id, device);
  if (resolved == NULL)
    return FALSE;

  evaluator = qm_evaluator_new (estimator, resolved->plan, resolved->model);
  qm_evaluator_evaluate (evaluator, device, &resolved->plan->configuration, &estimate);
  usable = usable_bytes > 0 ? usable_bytes : estimate.memory.usable_bytes;
  fits = qm_range_is_known (estimate.memory.need) && estimate.memory.need.p50 <= (1 - qm_plan_get_headroom (resolved->plan)) * usable;
  qm_estimate_clear (&estimate);

  return fits;
}

/**
 * qm_fits_find:
 * @estimator: an estimator
 * @device: a device of this computer
 * @usable_bytes: of its memory, as measured; 0: what the catalog says
 * @cancellable: (nullable): ends it early
 * @fits: (out): for each way the largest model of the catalog that fits with the
 *   usual room to spare
 *
 * Chat is with one person, 2,000 tokens read and 500 written; fine-tuning is of
 * texts of 2,048 tokens, one at a time.
 *
 * Returns: %FALSE where it was ended early
 */
gboolean
qm_fits_find (QmEstimator    *estimator,
              const QmDevice *device,
              double          usable_bytes,
              GCancellable   *cancellable,
              QmFit           fits[QM_N_FITS])
{
  g_autoptr (GArray) models = list_models (qm_estimator_get_catalog (estimator));

  for (int way = 0; way < QM_N_FITS; way++)
    {
      fits[way] = (QmFit) { .way = way };
      for (guint i = 0; i < models->len && fits[way].model == NULL; i++)
        {
          const Candidate *candidate = &g_array_index (models, Candidate, i);

          if (g_cancellable_is_cancelled (cancellable))
            return FALSE;
          if (does_fit (estimator, way, candidate, device, usable_bytes))
            fits[way] = (QmFit) { way, candidate->parameters, candidate->entry->name };
        }
    }

  return TRUE;
}
