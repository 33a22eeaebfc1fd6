/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-calibration.h"
#include "estimate/qm-economics.h"
#include "estimate/qm-estimate.h"
#include "estimate/qm-input.h"
#include "estimate/qm-llm-inference.h"
#include "hardware/qm-catalog.h"

G_BEGIN_DECLS

#define QM_TYPE_ESTIMATOR (qm_estimator_get_type ())
G_DECLARE_FINAL_TYPE (QmEstimator, qm_estimator, QM, ESTIMATOR, GObject)

/* The catalog and the fitted constants: immutable, used from any thread. */
QmEstimator                  *qm_estimator_new                     (QmCatalog     *catalog,
                                                                    GError       **error);
QmCatalog                    *qm_estimator_get_catalog             (QmEstimator   *self);
const QmEconomics            *qm_estimator_get_economics           (QmEstimator   *self);
const QmInputConstants       *qm_estimator_get_input_constants     (QmEstimator   *self);
void                          qm_estimator_set_today               (QmEstimator   *self,
                                                                    const char    *today);
const char                   *qm_estimator_get_today               (QmEstimator   *self);
const QmLlmInferenceConstants *qm_estimator_get_inference_constants (QmEstimator  *self);
const QmCalibrationConstants *qm_estimator_get_calibration_constants (QmEstimator *self);

/* the same with its figures corrected by measured runs */
QmEstimator                  *qm_estimator_calibrate               (QmEstimator         *self,
                                                                    const QmCalibration *calibration);
const QmCalibration          *qm_estimator_get_calibration         (QmEstimator         *self);

/* One plan and model, prepared; immutable, used from any thread. */
typedef struct _QmEvaluator QmEvaluator;

QmEvaluator *qm_evaluator_new          (QmEstimator           *estimator,
                                        const QmPlan          *plan,
                                        const QmModel         *model);
void         qm_evaluator_free         (QmEvaluator           *self);

/* memory and rate on one configuration; time, cost and accuracy come after */
void         qm_evaluator_evaluate     (const QmEvaluator     *self,
                                        const QmDevice        *device,
                                        const QmConfiguration *configuration,
                                        QmEstimate            *estimate);

/* the same, as far as a search needs it */
void         qm_evaluator_outline      (const QmEvaluator     *self,
                                        const QmDevice        *device,
                                        const QmConfiguration *configuration,
                                        QmOutline             *outline);

/* where several splits of one machine are looked at */
double       qm_evaluator_input_rate   (const QmEvaluator     *self,
                                        const QmConfiguration *configuration);
double       qm_evaluator_outline_fed  (const QmEvaluator     *self,
                                        const QmDevice        *device,
                                        const QmConfiguration *configuration,
                                        double                 input_rate,
                                        QmOutline             *outline);

/* language-model serving alone; NULL elsewhere */
const QmLlmInference *qm_evaluator_get_inference (const QmEvaluator *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmEvaluator, qm_evaluator_free)

G_END_DECLS
