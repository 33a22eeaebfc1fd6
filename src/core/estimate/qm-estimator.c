/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-estimator.h"

#include <math.h>

#include "estimate/qm-device-view.h"
#include "estimate/qm-input.h"
#include "estimate/qm-known-device.h"
#include "estimate/qm-llm-training.h"
#include "estimate/qm-other-domains.h"

struct _QmEstimator {
  GObject parent_instance;

  QmEstimator *base;                /* (nullable): whose constants these are */
  QmCalibration *calibration;       /* (nullable) */
  QmCalibrationConstants calibration_constants;
  QmInputConstants input;
  QmCatalog *catalog;
  QmEconomics *economics;
  char today[12];                   /* ISO 8601; "" where nobody said */
  QmLlmTrainingConstants *training;
  QmLlmInferenceConstants *inference;
  QmOtherDomainsConstants *domains;
  QmKnownDevice *known;             /* by index in the catalog */
  guint n_known;
};

G_DEFINE_FINAL_TYPE (QmEstimator, qm_estimator, G_TYPE_OBJECT)

struct _QmEvaluator {
  const QmKnownDevice *known;
  guint n_known;
  const QmCalibration *calibration;
  QmInputConstants input;
  QmPlan *plan;
  QmLlmTraining *training;
  QmLlmInference *inference;
  QmOtherDomains *domains;
};

static void
qm_estimator_finalize (GObject *object)
{
  QmEstimator *self = QM_ESTIMATOR (object);

  g_clear_pointer (&self->calibration, qm_calibration_free);
  g_clear_object (&self->catalog);
  if (self->base == NULL)
    {
      g_clear_pointer (&self->economics, qm_economics_free);
      g_clear_pointer (&self->training, qm_llm_training_constants_free);
      g_clear_pointer (&self->inference, qm_llm_inference_constants_free);
      g_clear_pointer (&self->domains, qm_other_domains_constants_free);
      g_clear_pointer (&self->known, g_free);
    }
  g_clear_object (&self->base);

  G_OBJECT_CLASS (qm_estimator_parent_class)->finalize (object);
}

static void
qm_estimator_class_init (QmEstimatorClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_estimator_finalize;
}

static void
qm_estimator_init (QmEstimator *self)
{
}

/* A search meets each device hundreds of times: its names are read once. */
static void
look_up_devices (QmEstimator *self)
{
  const QmConfiguration nothing = { .gpu_layers = -1 };

  self->n_known = qm_catalog_n_devices (self->catalog);
  self->known = g_new0 (QmKnownDevice, self->n_known);
  for (guint i = 0; i < self->n_known; i++)
    {
      const QmDevice *device = qm_catalog_device (self->catalog, i);
      QmKnownDevice *known = &self->known[i];

      known->id = device->id;
      known->arch = qm_inference_find_arch (self->inference, device);
      qm_llm_training_constants_find_family (self->training, device->id, &known->family, &known->mamf);
      qm_domain_site_init (&known->site, self->domains, device, NULL, &nothing);
    }
}

/* Copies of a device are known like the catalog's own. */
static const QmKnownDevice *
find_known (const QmEvaluator *self,
            const QmDevice    *device)
{
  const QmKnownDevice *known = device->index < self->n_known ? &self->known[device->index] : NULL;

  return known != NULL && known->id == device->id ? known : NULL;
}

/**
 * qm_estimator_new:
 * @catalog: a catalog whose tables hold the constants
 * @error: return location for an error
 *
 * Returns: (transfer full): an estimator, or %NULL with @error set that names
 *   the constant that is missing or wrong
 */
QmEstimator *
qm_estimator_new (QmCatalog  *catalog,
                  GError    **error)
{
  g_autoptr (QmEstimator) self = g_object_new (QM_TYPE_ESTIMATOR, NULL);

  self->catalog = g_object_ref (catalog);

  self->economics = qm_economics_new (qm_catalog_table (catalog, "economics"), error);
  if (self->economics == NULL || !qm_economics_set_carbon (self->economics, qm_catalog_table (catalog, "carbon"), error))
    return NULL;

  self->training = qm_llm_training_constants_new (qm_catalog_table (catalog, "constants-llm-training"), error);
  if (self->training == NULL)
    return NULL;

  self->inference = qm_llm_inference_constants_new (qm_catalog_table (catalog, "constants-llm-inference"),
                                                     qm_catalog_table (catalog, "quantization"), error);
  if (self->inference == NULL)
    return NULL;

  self->domains = qm_other_domains_constants_new (qm_catalog_table (catalog, "constants-other-domains"), error);
  if (self->domains == NULL)
    return NULL;

  if (!qm_input_constants_read (&self->input, qm_catalog_table (catalog, "input"), error))
    return NULL;

  if (!qm_calibration_constants_read (&self->calibration_constants, qm_catalog_table (catalog, "measurements"), error))
    return NULL;

  look_up_devices (self);

  return g_steal_pointer (&self);
}

/**
 * qm_estimator_calibrate:
 * @self: an estimator
 * @calibration: what measured runs say; copied
 *
 * Returns: (transfer full): an estimator whose figures are corrected by them;
 *   an earlier calibration of @self is left out
 */
QmEstimator *
qm_estimator_calibrate (QmEstimator         *self,
                        const QmCalibration *calibration)
{
  QmEstimator *base = self->base != NULL ? self->base : self;
  QmEstimator *calibrated = g_object_new (QM_TYPE_ESTIMATOR, NULL);

  calibrated->base = g_object_ref (base);
  calibrated->calibration = qm_calibration_copy (calibration);
  calibrated->calibration_constants = base->calibration_constants;
  calibrated->input = base->input;
  calibrated->catalog = g_object_ref (base->catalog);
  calibrated->economics = base->economics;
  g_strlcpy (calibrated->today, base->today, sizeof calibrated->today);
  calibrated->training = base->training;
  calibrated->inference = base->inference;
  calibrated->domains = base->domains;
  calibrated->known = base->known;
  calibrated->n_known = base->n_known;

  return calibrated;
}

/**
 * qm_estimator_get_calibration:
 * @self: an estimator
 *
 * Returns: (transfer none) (nullable): what its figures are corrected by
 */
const QmCalibration *
qm_estimator_get_calibration (QmEstimator *self)
{
  return self->calibration;
}

/**
 * qm_estimator_get_calibration_constants:
 * @self: an estimator
 *
 * Returns: (transfer none): how measurements scatter, for qm_calibration_new()
 */
const QmCalibrationConstants *
qm_estimator_get_calibration_constants (QmEstimator *self)
{
  return &self->calibration_constants;
}

/**
 * qm_estimator_get_catalog:
 * @self: an estimator
 *
 * Returns: (transfer none): its catalog
 */
QmCatalog *
qm_estimator_get_catalog (QmEstimator *self)
{
  return self->catalog;
}

/**
 * qm_estimator_set_today:
 * @self: an estimator
 * @today: (nullable): the day it is, ISO 8601; %NULL: nothing is old
 *
 * The core has no clock: who asks says what day it is, and hears which prices
 * are old. To be called before others use @self.
 */
void
qm_estimator_set_today (QmEstimator *self,
                        const char  *today)
{
  g_strlcpy (self->today, today != NULL ? today : "", sizeof self->today);
}

/**
 * qm_estimator_get_today:
 * @self: an estimator
 *
 * Returns: (transfer none) (nullable): the day it is; %NULL where nobody said
 */
const char *
qm_estimator_get_today (QmEstimator *self)
{
  return self->today[0] != '\0' ? self->today : NULL;
}

/**
 * qm_estimator_get_economics:
 * @self: an estimator
 *
 * Returns: (transfer none): what money, power and time cost beside the rent
 */
const QmEconomics *
qm_estimator_get_economics (QmEstimator *self)
{
  return self->economics;
}

/**
 * qm_estimator_get_input_constants:
 * @self: an estimator
 *
 * Returns: (transfer none): how fast places give what they keep
 */
const QmInputConstants *
qm_estimator_get_input_constants (QmEstimator *self)
{
  return &self->input;
}

/**
 * qm_estimator_get_inference_constants:
 * @self: an estimator
 *
 * Returns: (transfer none): the constants of language-model inference
 */
const QmLlmInferenceConstants *
qm_estimator_get_inference_constants (QmEstimator *self)
{
  return self->inference;
}

/**
 * qm_evaluator_new:
 * @estimator: an estimator, which must outlive the evaluator
 * @plan: a plan; copied
 * @model: its model; copied as far as needed
 *
 * Prepares what depends on the answers and the model alone.
 *
 * Returns: (transfer full): an evaluator
 */
QmEvaluator *
qm_evaluator_new (QmEstimator   *estimator,
                  const QmPlan  *plan,
                  const QmModel *model)
{
  QmEvaluator *self = g_new0 (QmEvaluator, 1);

  self->plan = qm_plan_copy (plan);
  self->calibration = estimator->calibration;
  self->known = estimator->known;
  self->n_known = estimator->n_known;
  self->input = estimator->input;

  if (plan->task != QM_TASK_LANGUAGE_MODEL)
    self->domains = qm_other_domains_new (estimator->domains, self->plan, model);
  else if (qm_plan_is_training (plan))
    self->training = qm_llm_training_new (estimator->training, self->plan, model);
  else
    self->inference = qm_llm_inference_new (estimator->inference, self->plan, model);

  return self;
}

/**
 * qm_evaluator_free:
 * @self: (transfer full) (nullable): an evaluator
 */
void
qm_evaluator_free (QmEvaluator *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->training, qm_llm_training_free);
  g_clear_pointer (&self->inference, qm_llm_inference_free);
  g_clear_pointer (&self->domains, qm_other_domains_free);
  qm_plan_free (self->plan);
  g_free (self);
}

/**
 * qm_evaluator_get_inference:
 * @self: an evaluator
 *
 * Returns: (transfer none) (nullable): the predictor of language-model serving
 */
const QmLlmInference *
qm_evaluator_get_inference (const QmEvaluator *self)
{
  return self->inference;
}

/* @seen is what @device looks like to the job. */
static void
evaluate_as (const QmEvaluator     *self,
             const QmDevice        *device,
             const QmDevice        *seen,
             const QmConfiguration *configuration,
             QmEstimate            *estimate)
{
  qm_estimate_clear (estimate);
  estimate->configuration = *configuration;
  estimate->training = self->plan->training;
  estimate->serving_plan = self->plan->serving;

  if (self->training != NULL)
    qm_llm_training_predict (self->training, seen, configuration, estimate);
  else if (self->inference != NULL)
    qm_llm_inference_predict (self->inference, seen, configuration, estimate);
  else
    qm_other_domains_predict (self->domains, seen, configuration, estimate);

  estimate->device = device;
}

/* Equal shares are bound by the smallest card; layers go where there is room. */
static void
evaluate_mix (const QmEvaluator     *self,
              const QmDevice        *mix,
              const QmConfiguration *configuration,
              QmEstimate            *estimate)
{
  QmConfiguration all = *configuration;
  const QmConfiguration *found = &estimate->configuration;
  QmDevice view;

  all.devices = mix->n_parts * MAX (1, (all.devices + mix->n_parts - 1) / mix->n_parts);
  evaluate_as (self, mix, mix, &all, estimate);
  if (self->inference == NULL || found->pipeline_parallel != mix->n_parts || found->tensor_parallel > 1)
    return;

  qm_device_view_shared (mix, &view);
  evaluate_as (self, mix, &view, &all, estimate);
}

/* What must fit is what each memory holds; the speed is that of the whole. */
static void
evaluate_memories (const QmEvaluator     *self,
                   const QmDevice        *device,
                   const QmConfiguration *configuration,
                   QmEstimate            *estimate)
{
  QmConfiguration split = *configuration;
  QmEstimate part;
  QmDevice view;

  evaluate_as (self, device, device, configuration, estimate);
  qm_device_view_split (device, self->inference == NULL, &split, &view);
  evaluate_as (self, device, &view, &split, &part);
  estimate->memory = part.memory;
  estimate->memory.largest_micro_batch *= device->memories;
}

/**
 * qm_evaluator_evaluate:
 * @self: an evaluator
 * @device: what to run on
 * @configuration: how many and how split; unset fields are resolved
 * @estimate: (out caller-allocates): memory, throughput and serving figures
 *
 * Evaluates one configuration. Allocates nothing.
 */
void
qm_evaluator_evaluate (const QmEvaluator     *self,
                       const QmDevice        *device,
                       const QmConfiguration *configuration,
                       QmEstimate            *estimate)
{
  QmDevice view;

  if (device->n_parts > 0)
    evaluate_mix (self, device, configuration, estimate);
  else if (device->memories > 1)
    evaluate_memories (self, device, configuration, estimate);
  else if (configuration->memory_bytes > 0)
    {
      qm_device_view_resized (device, configuration->memory_bytes, &view);
      evaluate_as (self, device, &view, configuration, estimate);
    }
  else
    evaluate_as (self, device, device, configuration, estimate);

  qm_input_apply (&self->input, self->plan, estimate);
  if (self->calibration != NULL)
    qm_calibration_apply (self->calibration, self->plan, estimate);
}

/* Few devices are seen otherwise than they are; they need not be quick. */
static gboolean
is_plain (const QmEvaluator     *self,
          const QmDevice        *device,
          const QmConfiguration *configuration)
{
  return self->calibration == NULL && device->n_parts == 0 && device->memories <= 1 && !(configuration->memory_bytes > 0);
}

static void
outline_plain (const QmEvaluator     *self,
               const QmDevice        *device,
               const QmConfiguration *configuration,
               QmOutline             *outline)
{
  if (self->training != NULL)
    qm_llm_training_outline (self->training, device, find_known (self, device), configuration, outline);
  else if (self->inference != NULL)
    qm_llm_inference_outline (self->inference, device, find_known (self, device), configuration, outline);
  else
    qm_other_domains_outline (self->domains, device, find_known (self, device), configuration, outline);
}

/**
 * qm_evaluator_input_rate:
 * @self: an evaluator
 * @configuration: what it runs on
 *
 * Returns: samples per second that one of its machines can load for training;
 *   infinite where nothing is known to bound it
 */
double
qm_evaluator_input_rate (const QmEvaluator     *self,
                         const QmConfiguration *configuration)
{
  QmInputLimit limit;

  if (!qm_plan_is_training (self->plan))
    return INFINITY;

  return qm_input_rate (&self->input, self->plan, configuration, &limit) / MAX (1, configuration->nodes);
}

/**
 * qm_evaluator_outline_fed:
 * @self: an evaluator
 * @device: what to run on
 * @configuration: how many and how split
 * @input_rate: what qm_evaluator_input_rate() says, which is the same for every
 *   split of a machine
 * @outline: (out caller-allocates): what qm_evaluator_evaluate() would say, as
 *   far as choices differ by it
 *
 * Evaluates one configuration of many. Allocates nothing.
 *
 * Returns: from which input rate on the outline would be the same; infinite
 *   where that is not told
 */
double
qm_evaluator_outline_fed (const QmEvaluator     *self,
                          const QmDevice        *device,
                          const QmConfiguration *configuration,
                          double                 input_rate,
                          QmOutline             *outline)
{
  int nodes = MAX (1, configuration->nodes);
  QmEstimate estimate;
  double wanted;

  if (!is_plain (self, device, configuration))
    {
      qm_evaluator_evaluate (self, device, configuration, &estimate);
      qm_outline_from_estimate (outline, &estimate);
      return INFINITY;
    }

  outline_plain (self, device, configuration, outline);
  wanted = outline->known ? outline->samples_per_second / nodes : 0;
  if (input_rate < INFINITY)
    qm_input_apply_to_outline (self->plan, input_rate * nodes, outline);

  /* without workers every sample is waited for */
  return self->plan->data.loader_workers == 0 ? INFINITY : wanted;
}

/**
 * qm_evaluator_outline:
 * @self: an evaluator
 * @device: what to run on
 * @configuration: how many and how split
 * @outline: (out caller-allocates): what qm_evaluator_evaluate() would say, as
 *   far as choices differ by it
 *
 * Evaluates one configuration. Allocates nothing.
 */
void
qm_evaluator_outline (const QmEvaluator     *self,
                      const QmDevice        *device,
                      const QmConfiguration *configuration,
                      QmOutline             *outline)
{
  qm_evaluator_outline_fed (self, device, configuration, qm_evaluator_input_rate (self, configuration), outline);
}
