/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-batch.h"
#include "decide/qm-figures.h"
#include "estimate/qm-rules.h"

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

/* What over-trained models of 8 billion parameters deviate from the laws. */
#define LAWS_MISS 0.07

/* How far the critical batch may lie either way (McCandlish and others, arXiv
 * 1812.06162, and Zhang and others, arXiv 2410.21676, differ by as much). */
#define CRITICAL_WIDTH 3

/* Tokens of small steps that teach as much as @tokens in steps of @batch: beyond
 * the critical batch, at which the laws' own runs were made, half of each further
 * one is lost. */
static double
taught_tokens (double tokens,
               double batch,
               double critical)
{
  double factor = qm_rule_batch_samples (batch, critical);

  return factor > 2 ? tokens * 2 / factor : tokens;
}

static QmAccuracy
pre_training_loss (const QmJob *self)
{
  double parameters = self->resolved->model->parameters, tokens = self->total_tokens;
  double batch = self->plan->training.global_batch, critical = qm_batch_critical (self->estimator, self->resolved);
  double vocabulary = self->resolved->model->architecture.vocabulary;
  double middle, other, worst;

  if (!(parameters > 0) || !(tokens > 0))
    return (QmAccuracy) { .metric = "loss", .value = QM_RANGE_UNKNOWN };

  middle = qm_rule_loss (QM_LOSS_LAW_BESIROGLU, parameters, taught_tokens (tokens, batch, critical));
  other = qm_rule_loss (QM_LOSS_LAW_HOFFMANN, parameters, taught_tokens (tokens, batch, critical));
  worst = qm_rule_loss (QM_LOSS_LAW_BESIROGLU, parameters, taught_tokens (tokens, batch, critical / CRITICAL_WIDTH));

  /* Who knows nothing and takes each token for as likely is at the logarithm of
   * their number: the laws were not fitted to models this small. */
  if (vocabulary > 0 && middle >= log (vocabulary))
    return (QmAccuracy) { .metric = "loss", .value = QM_RANGE_UNKNOWN };

  return (QmAccuracy) {
    .metric = "loss",
    .value = { MIN (middle, other) - LAWS_MISS, middle, MAX (MAX (middle, other), worst) + LAWS_MISS },
    .basis = QM_ACCURACY_SCALING_LAW,
    .source = "Besiroglu et al. 2024 and Hoffmann et al. 2022; 0.07 nats is what over-trained 8B models deviate",
  };
}

/* ------------------------------------------------------- results of one's own */

/* The error falls with the amount of data by a power: exponents of most tasks lie
 * between 0.05 and 0.3 (an assumption, in the spirit of arXiv 2402.17193). */
#define EXPONENT       0.175
#define EXPONENT_WIDTH 0.098        /* a standard deviation: 80 % lie between them */
/* What two runs of one kind differ by, in natural logarithms of the error. */
#define RESULT_NOISE   0.05

/* A line through the logarithms of samples and errors, its slope drawn to the
 * usual one. */
typedef struct {
  double mean_x, mean_y;
  double slope;
  double slope_variance;
  double mean_variance;
} Trend;

static Trend
fit_trend (const QmPlan *plan)
{
  Trend trend = { .mean_variance = RESULT_NOISE * RESULT_NOISE / plan->n_results };
  double noise = RESULT_NOISE * RESULT_NOISE, prior = EXPONENT_WIDTH * EXPONENT_WIDTH, squares = 0, products = 0;

  for (int i = 0; i < plan->n_results; i++)
    {
      trend.mean_x += log (plan->results[i].samples) / plan->n_results;
      trend.mean_y += log (1 - plan->results[i].score) / plan->n_results;
    }
  for (int i = 0; i < plan->n_results; i++)
    {
      double x = log (plan->results[i].samples) - trend.mean_x, y = log (1 - plan->results[i].score) - trend.mean_y;

      squares += x * x;
      products += x * y;
    }
  trend.slope_variance = 1 / (1 / prior + squares / noise);
  trend.slope = trend.slope_variance * (-EXPONENT / prior + products / noise);

  return trend;
}

/* The score at the plan's amount of data, from scores at other amounts. */
static QmAccuracy
by_data (const QmPlan *plan)
{
  Trend trend = fit_trend (plan);
  double x = log (plan->training.samples) - trend.mean_x;
  double middle = trend.mean_y + trend.slope * x;
  double width = QM_NORMAL_P90 * sqrt (trend.mean_variance + x * x * trend.slope_variance + RESULT_NOISE * RESULT_NOISE);

  return (QmAccuracy) {
    .metric = "own-score",
    .value = { MAX (0, 1 - exp (middle + width)), MAX (0, 1 - exp (middle)), MAX (0, 1 - exp (middle - width)) },
    .basis = QM_ACCURACY_SCALING_LAW,
    .source = "a power of the amount of data through your own results (Zhang et al. 2024, arXiv 2402.17193)",
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

/* Metrics of models that have no top-1; a plan's own names for them live on. */
static const char * const published_metrics[] = { "box-ap", "auc", "hit-rate-10", "ndcg-100" };

/* A run of one's own differs by some of what is missing to a whole. */
#define SCORE_SPREAD 0.03

/* Of detectors and recommenders, where the makers publish one. */
static QmAccuracy
published_score (const QmModel *model)
{
  JsonObject *facts = model->facts;
  const char *metric = facts != NULL ? json_object_get_string_member_with_default (facts, "score_metric", NULL) : NULL;
  QmAccuracy accuracy = { .metric = "unknown", .value = QM_RANGE_UNKNOWN, .basis = QM_ACCURACY_UNKNOWN };
  JsonArray *range = metric != NULL && json_object_has_member (facts, "score") ? json_object_get_array_member (facts, "score") : NULL;
  double low, high, spread;

  for (guint i = 0; range != NULL && json_array_get_length (range) == 2 && i < G_N_ELEMENTS (published_metrics); i++)
    {
      if (g_strcmp0 (metric, published_metrics[i]) != 0)
        continue;
      low = json_array_get_double_element (range, 0);
      high = json_array_get_double_element (range, 1);
      spread = SCORE_SPREAD * (1 - (low + high) / 2);
      accuracy = (QmAccuracy) { .metric = published_metrics[i], .value = { low - spread, (low + high) / 2, high + spread },
                                .basis = QM_ACCURACY_PUBLISHED, .source = json_object_get_string_member_with_default (facts, "score_source", NULL) };
    }

  return accuracy;
}

/* Runs of at most so many epochs end near the lowest published result: 12 runs
 * of five models (pycls, NVIDIA Deep Learning Examples, Gaudi) lie 0.1 points
 * below it on average, with a deviation of 1.1. Published weights were mostly
 * trained for 300 epochs and more. */
#define SHORT_EPOCHS     120
#define OWN_RUN_BELOW    0.015

/* The fewest with which a published result was reached: 50 times through the
 * 1,281,167 pictures of ImageNet (ResNet-50, NVIDIA Deep Learning Examples). */
#define FEWEST_EPOCHS    50
#define FEWEST_PICTURES  (FEWEST_EPOCHS * 1281167.0)

static gboolean
sees_too_little (const QmTraining *training)
{
  return training->epochs < FEWEST_EPOCHS && training->samples > 0 && training->samples * training->epochs < FEWEST_PICTURES;
}

/* What a run of one's own reaches, against the weights that others publish. */
static QmAccuracy
own_run (const QmJob *self)
{
  QmAccuracy accuracy = published_top1 (self->resolved->model);
  QmRange published = accuracy.value;
  gboolean is_short = !(self->plan->training.epochs > SHORT_EPOCHS);

  if (sees_too_little (&self->plan->training))
    return (QmAccuracy) { .metric = "unknown", .value = QM_RANGE_UNKNOWN, .basis = QM_ACCURACY_UNKNOWN };

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
 * Returns: what is known of the quality: a trend of results of one's own, a
 *   published score, a scaling law, a loss against the full recipe; or that it is
 *   unknown
 */
QmAccuracy
qm_job_accuracy (const QmJob  *self,
                 const QmPlan *variant)
{
  const QmModel *model = self->resolved->model;
  gboolean classification = variant->task == QM_TASK_IMAGE_CLASSIFICATION && !isnan (model->top1);

  if (self->training && variant->n_results > 1 && variant->training.samples > 0)
    return by_data (variant);
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

  return published_score (model);
}
