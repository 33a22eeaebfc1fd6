/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-figures.h"

/* Loss of a language model by parameters and training tokens,
 * L = E + A / N^alpha + B / D^beta, in nats per token. */
typedef struct {
  double e, a, b, alpha, beta;
} ScalingLaw;

/* Besiroglu et al. 2024 (arXiv 2404.10102), table 1 */
static const ScalingLaw besiroglu = { 1.8172, 482.01, 2085.43, 0.3478, 0.3658 };
/* Hoffmann et al. 2022 (arXiv 2203.15556), approach 3 */
static const ScalingLaw hoffmann = { 1.69, 406.4, 410.7, 0.34, 0.28 };

/* Percentage points that fine-tuning an adapter lies below fine-tuning all
 * weights, on small instruction sets: near parity (Biderman et al. 2024, arXiv
 * 2405.09673, gives the direction; the width is an assumption). */
#define LORA_POINTS_LOW  -2.0
#define LORA_POINTS_HIGH 0.0
/* 4-bit base weights add a little (Dettmers et al. 2023, arXiv 2305.14314, find
 * parity on most tasks; the width is an assumption). */
#define QLORA_POINTS_LOW  -3.0
#define QLORA_POINTS_HIGH 0.0
/* Training only the last layer: the features stay those of the first data set. */
#define PROBE_POINTS_LOW  -8.0
#define PROBE_POINTS_HIGH -1.0

/* INT8 after training, on image models: torchvision's quantised weights lose
 * 0.1 to 1.1 points. */
#define INT8_VISION_LOW  -0.011
#define INT8_VISION_MID  -0.003
#define INT8_VISION_HIGH 0.0

static double
loss (const ScalingLaw *law,
      double            parameters,
      double            tokens)
{
  return law->e + law->a / pow (parameters, law->alpha) + law->b / pow (tokens, law->beta);
}

static QmAccuracy
pre_training_loss (const QmJob *self)
{
  double parameters = self->resolved->model->parameters;
  double tokens = self->total_tokens;
  double middle, other;

  if (!(parameters > 0) || !(tokens > 0))
    return (QmAccuracy) { .metric = "loss", .value = QM_RANGE_UNKNOWN };

  middle = loss (&besiroglu, parameters, tokens);
  other = loss (&hoffmann, parameters, tokens);

  return (QmAccuracy) {
    .metric = "loss",
    .value = { MIN (middle, other) - 0.07, middle, MAX (middle, other) + 0.07 },
    .basis = QM_ACCURACY_SCALING_LAW,
    .source = "Besiroglu et al. 2024 and Hoffmann et al. 2022; 0.07 nats is what over-trained 8B models deviate",
  };
}

static QmAccuracy
points_against_full (QmMethod method)
{
  QmAccuracy accuracy = { .metric = "points-against-full", .is_relative = TRUE, .basis = QM_ACCURACY_RULE };

  switch (method)
    {
    case QM_METHOD_LORA:
      accuracy.value = (QmRange) { LORA_POINTS_LOW, (LORA_POINTS_LOW + LORA_POINTS_HIGH) / 2, LORA_POINTS_HIGH };
      accuracy.source = "Biderman et al. 2024 (direction); width assumed";
      break;
    case QM_METHOD_QLORA:
      accuracy.value = (QmRange) { QLORA_POINTS_LOW, (QLORA_POINTS_LOW + QLORA_POINTS_HIGH) / 2, QLORA_POINTS_HIGH };
      accuracy.source = "Dettmers et al. 2023 (near parity); width assumed";
      break;
    case QM_METHOD_LINEAR_PROBE:
      accuracy.value = (QmRange) { PROBE_POINTS_LOW, (PROBE_POINTS_LOW + PROBE_POINTS_HIGH) / 2, PROBE_POINTS_HIGH };
      accuracy.source = "assumption";
      break;
    case QM_METHOD_FULL:
    case QM_METHOD_UNSET:
    default:
      accuracy.value = qm_range_exact (0);
      accuracy.source = "by definition: all weights are trained";
      break;
    }

  return accuracy;
}

static QmAccuracy
published_top1 (const QmModel *model)
{
  double low = isnan (model->top1_low) ? model->top1 : model->top1_low;
  double high = isnan (model->top1_high) ? model->top1 : model->top1_high;

  /* One published run says little of the spread between recipes: 31 runs of
   * ResNet-50 span 76.0 to 81.2 %. A single figure is taken as the best. */
  if (low == high)
    low = MAX (0, high - 0.02);

  return (QmAccuracy) {
    .metric = "top-1",
    .value = { low, isnan (model->top1_low) ? high - 0.01 : (low + high) / 2, high },
    .basis = QM_ACCURACY_PUBLISHED,
    .source = "timm, top-1 on ImageNet of published weights; not your data",
  };
}

/* Runs of at most so many epochs end near the lowest published result: 12 runs
 * of five models (pycls, NVIDIA Deep Learning Examples, Gaudi) lie 0.1 points
 * below it on average, with a deviation of 1.1. Published weights were mostly
 * trained for 300 epochs and more. */
#define SHORT_EPOCHS     120
#define OWN_RUN_BELOW    0.015

/* What a run of one's own reaches, against the weights that others publish. */
static QmAccuracy
own_run (const QmJob *self)
{
  QmAccuracy accuracy = published_top1 (self->resolved->model);
  QmRange published = accuracy.value;
  gboolean is_short = !(self->plan->training.epochs > SHORT_EPOCHS);

  accuracy.value.p10 = published.p10 - OWN_RUN_BELOW;
  accuracy.value.p50 = is_short ? published.p10 : published.p50;
  accuracy.value.p90 = is_short ? published.p50 : published.p90;

  return accuracy;
}

/* No score falls further than to nothing. */
#define MOST_POINTS 100

static QmAccuracy
quantised (const QmJob  *self,
           const QmPlan *variant)
{
  const QmModel *model = self->resolved->model;
  QmQuantizationLoss points;

  points = qm_quantization_loss (qm_estimator_get_inference_constants (self->estimator), variant->serving.weights,
                                 model->parameters, model->training_tokens);
  if (!points.known)
    return (QmAccuracy) { .metric = "points-against-16-bit", .is_relative = TRUE, .value = QM_RANGE_UNKNOWN };

  return (QmAccuracy) {
    .metric = "points-against-16-bit",
    .is_relative = TRUE,
    .value = { -MIN (MOST_POINTS, points.points.p90), -MIN (MOST_POINTS, points.points.p50),
               CLAMP (-points.points.p10, -MOST_POINTS, 0) },
    .basis = QM_ACCURACY_MEASURED,
    .source = "fitted to published task scores of quantised language models",
  };
}

/**
 * qm_job_accuracy:
 * @self: a job
 * @variant: the plan with the recipe's method, precision and weight format
 *
 * Returns: what is known of the quality: a published score, a scaling law, a
 *   loss against the full recipe; or that it is unknown
 */
QmAccuracy
qm_job_accuracy (const QmJob  *self,
                 const QmPlan *variant)
{
  const QmModel *model = self->resolved->model;
  gboolean classification = variant->task == QM_TASK_IMAGE_CLASSIFICATION && !isnan (model->top1);

  if (variant->task == QM_TASK_LANGUAGE_MODEL && !self->training)
    return quantised (self, variant);
  if (variant->task == QM_TASK_LANGUAGE_MODEL && variant->activity == QM_ACTIVITY_TRAIN)
    return pre_training_loss (self);
  if (classification && variant->activity == QM_ACTIVITY_TRAIN)
    return own_run (self);
  if (classification)
    {
      QmAccuracy accuracy = published_top1 (model);

      if (!self->training && g_str_has_prefix (variant->serving.weights, "int8"))
        accuracy.value = (QmRange) { accuracy.value.p10 + INT8_VISION_LOW, accuracy.value.p50 + INT8_VISION_MID,
                                     accuracy.value.p90 + INT8_VISION_HIGH };
      return accuracy;
    }
  if (variant->activity == QM_ACTIVITY_FINE_TUNE)
    return points_against_full (variant->training.method);

  return (QmAccuracy) { .metric = "unknown", .value = QM_RANGE_UNKNOWN, .basis = QM_ACCURACY_UNKNOWN };
}
