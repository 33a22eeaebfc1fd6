/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "estimate/qm-estimate.h"

G_BEGIN_DECLS

/* Memory and rate of training and fine-tuning language models. */

typedef struct _QmLlmTrainingConstants QmLlmTrainingConstants;
typedef struct _QmLlmTraining QmLlmTraining;

QmLlmTrainingConstants *qm_llm_training_constants_new  (JsonNode                     *node,
                                                        GError                      **error);
void                    qm_llm_training_constants_free (QmLlmTrainingConstants       *self);

/* what depends on the answers and the model alone, computed once */
QmLlmTraining          *qm_llm_training_new            (const QmLlmTrainingConstants *constants,
                                                        const QmPlan                 *plan,
                                                        const QmModel                *model);
void                    qm_llm_training_free           (QmLlmTraining                *self);

/* memory, throughput and the resolved configuration; nothing is allocated */
void                    qm_llm_training_predict        (const QmLlmTraining          *self,
                                                        const QmDevice               *device,
                                                        const QmConfiguration        *configuration,
                                                        QmEstimate                   *estimate);

/* of the same what a search needs */
void                    qm_llm_training_outline        (const QmLlmTraining          *self,
                                                        const QmDevice               *device,
                                                        const QmKnownDevice          *known,
                                                        const QmConfiguration        *configuration,
                                                        QmOutline                    *outline);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmLlmTrainingConstants, qm_llm_training_constants_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmLlmTraining, qm_llm_training_free)

G_END_DECLS
