/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "estimate/qm-estimate.h"

G_BEGIN_DECLS

/* Memory, rate and latency of language-model inference. */

typedef struct _QmLlmInferenceConstants QmLlmInferenceConstants;
typedef struct _QmLlmInference QmLlmInference;

QmLlmInferenceConstants *qm_llm_inference_constants_new  (JsonNode                     *node,
                                                        JsonNode                     *formats,
                                                        GError                      **error);
void                    qm_llm_inference_constants_free (QmLlmInferenceConstants       *self);

/* what depends on the answers and the model alone, computed once */
QmLlmInference          *qm_llm_inference_new            (const QmLlmInferenceConstants *constants,
                                                        const QmPlan                 *plan,
                                                        const QmModel                *model);
void                    qm_llm_inference_free           (QmLlmInference                *self);

/* memory, throughput and the resolved configuration; nothing is allocated */
void                    qm_llm_inference_predict        (const QmLlmInference          *self,
                                                        const QmDevice               *device,
                                                        const QmConfiguration        *configuration,
                                                        QmEstimate                   *estimate);

/* of the same what a search needs */
void                    qm_llm_inference_outline        (const QmLlmInference          *self,
                                                        const QmDevice               *device,
                                                        const QmKnownDevice          *known,
                                                        const QmConfiguration        *configuration,
                                                        QmOutline                    *outline);

/**
 * QmQuantizationLoss:
 * @perplexity_factor: perplexity against the 16-bit model, at least 1
 * @points: percentage points lost on tasks
 */
typedef struct {
  QmRange perplexity_factor;
  QmRange points;
  gboolean known;
} QmQuantizationLoss;

QmQuantizationLoss      qm_quantization_loss           (const QmLlmInferenceConstants *constants,
                                                        const char                    *weights,
                                                        double                         parameters,
                                                        double                         training_tokens);

double                  qm_llm_inference_weight_bytes  (const QmLlmInferenceConstants *constants,
                                                        const QmArchitecture          *architecture,
                                                        double                         parameters,
                                                        const char                    *weights);

/**
 * QmLatency:
 * @relative_error: standard deviation of the request's p99 between runs, over
 *   its mean
 * @saturated: more requests come than can be answered: the queue grows without
 *   end, and the other figures with the number of requests
 *
 * What simulated requests waited. NaN where nothing could be simulated: not one
 * request fits in the memory left for caches, or none comes.
 */
typedef struct {
  double first_token_p50_seconds;
  double first_token_p99_seconds;
  double token_p50_seconds;
  double token_p99_seconds;
  double request_p50_seconds;
  double request_p99_seconds;
  double relative_error;
  gboolean saturated;
} QmLatency;

QmLatency               qm_llm_inference_simulate      (const QmLlmInference          *self,
                                                        const QmDevice                *device,
                                                        const QmConfiguration         *configuration,
                                                        double                         requests_per_second,
                                                        guint                          requests,
                                                        guint32                        seed);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmLlmInferenceConstants, qm_llm_inference_constants_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmLlmInference, qm_llm_inference_free)

G_END_DECLS
