/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "estimate/qm-estimate.h"
#include "qm-message.h"

G_BEGIN_DECLS

/**
 * QmMeasuredQuantity:
 * @QM_MEASURED_RATE: units per second of the whole job, as `throughput.per_second`
 * @QM_MEASURED_DECODE: tokens per second of one stream
 * @QM_MEASURED_PREFILL: prompt tokens per second
 * @QM_MEASURED_MEMORY: bytes that the fullest device shows
 *
 * What was measured.
 */
typedef enum {
  QM_MEASURED_UNSET,
  QM_MEASURED_RATE,
  QM_MEASURED_DECODE,
  QM_MEASURED_PREFILL,
  QM_MEASURED_MEMORY,
} QmMeasuredQuantity;

/* Who measured. */
typedef enum {
  QM_ORIGIN_STRESS_TEST,            /* a run that this program watched */
  QM_ORIGIN_LEDGER,                 /* a run of the person's own, recorded */
  QM_ORIGIN_COMMUNITY,
  QM_ORIGIN_VENDOR,
  QM_ORIGIN_N,
} QmOrigin;

/**
 * QmCriticalBatch:
 * @task: of the models that it is of
 * @prefix: of their ids; "" all others of the task
 * @samples: at which twice the samples of small batches are needed
 */
typedef struct {
  QmTask task;
  char prefix[24];
  double samples;
} QmCriticalBatch;

#define QM_MAX_CRITICAL_BATCHES 16

/**
 * QmCalibrationConstants:
 * @noise: standard deviation of ln (measured / real), by #QmOrigin
 * @noise_per_year: what is added for each year of age, in quadrature
 * @own_share: of the variance of an estimate, what no other run tells about
 * @common_share: of the rest, what all parts of a step are off by together
 * @other_device: how alike errors are on devices of different architectures,
 *   0 to 1; @same_arch the same on devices of one architecture
 * @other_stack: on different frameworks or engines; so are the others
 * @contention: standard deviation of ln (measured / real), for each unit of the
 *   logarithm by which others may have slowed a run at the most
 * @freedom: degrees of freedom of the distribution of measurements, low ones
 *   trust no single bad run
 * @surprise: standard deviations of an estimate within which its runs are believed
 *   to lie; where they lie farther out, it is the estimate that was too sure
 */
typedef struct {
  double noise[QM_ORIGIN_N];
  double noise_per_year;
  double own_share;
  double common_share;
  double other_device;
  double same_arch;
  double other_stack;
  double other_task;
  double other_activity;
  double other_method;
  double other_quantity;
  double contention;
  double freedom;
  double surprise;
  double over_ceiling;              /* data sheets give clocks that are exceeded by this factor */
  QmCriticalBatch critical_batches[QM_MAX_CRITICAL_BATCHES];
  guint n_critical_batches;
} QmCalibrationConstants;

gboolean       qm_calibration_constants_read (QmCalibrationConstants *self,
                                              JsonNode               *node,
                                              GError                **error);

#define QM_STEP_N_PARTS 5

/**
 * QmCalibrationPoint:
 * @device: id in the catalog
 * @arch: its architecture
 * @stack: framework or engine
 * @shares: of the step that is arithmetic, memory, communication, input and
 *   overhead; all 0 where no step is known, or for memory
 * @estimate: the figure itself, by which the very same job is known again; 0 unknown
 * @deviation: standard deviation of ln (real / estimated), before calibration
 *
 * What an estimate is of: near points learn from each other.
 */
typedef struct {
  QmWord device;
  QmWord arch;
  QmWord stack;
  QmTask task;
  QmActivity activity;
  QmMethod method;
  QmMeasuredQuantity quantity;
  double shares[QM_STEP_N_PARTS];
  double estimate;
  double deviation;
} QmCalibrationPoint;

/**
 * QmCalibrationSample:
 * @predicted: by an estimator without calibration, in the unit of the quantity
 * @ceiling: more is physically impossible; NaN unknown
 * @fits: whether the job can be in the memory of the devices at all
 * @age_years: of the measurement
 * @contention: share of the processor that others had while it was made, 0 to 1;
 *   see qm_run_contention()
 */
typedef struct {
  QmCalibrationPoint point;
  double predicted;
  double measured;
  double ceiling;
  gboolean fits;
  QmOrigin origin;
  double age_years;
  double contention;
} QmCalibrationSample;

/* Keeps at most so many: the ones given last. */
#define QM_CALIBRATION_MOST_SAMPLES 64

/**
 * QmCalibration:
 *
 * What measured runs say about how far estimates are off. Immutable once made,
 * used from any thread.
 */
typedef struct _QmCalibration QmCalibration;

/**
 * QmCorrection:
 * @factor: to multiply the estimate with
 * @deviation: standard deviation of ln (real / corrected) that is left
 * @n_alike: samples of the same device, stack and kind of work
 * @n: samples that say anything at all
 */
typedef struct {
  double factor;
  double deviation;
  int n_alike;
  int n;
} QmCorrection;

void           qm_calibration_point_init  (QmCalibrationPoint        *self,
                                           const QmPlan              *plan,
                                           const QmEstimate          *estimate,
                                           QmMeasuredQuantity                 quantity);
void           qm_calibration_sample_init (QmCalibrationSample       *self,
                                           const QmPlan              *plan,
                                           const QmModel             *model,
                                           const QmEstimate          *estimate,
                                           QmMeasuredQuantity                 quantity,
                                           double                     measured,
                                           QmOrigin                   origin);
gboolean       qm_calibration_sample_is_possible (const QmCalibrationSample    *self,
                                                  const QmCalibrationConstants *constants,
                                                  QmMessage                   **reason);

QmCalibration *qm_calibration_new         (const QmCalibrationConstants *constants,
                                           const QmCalibrationSample *samples,
                                           gsize                      n);
QmCalibration *qm_calibration_copy        (const QmCalibration       *self);
void           qm_calibration_free        (QmCalibration             *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmCalibration, qm_calibration_free)

int            qm_calibration_n_samples   (const QmCalibration       *self);
QmCorrection   qm_calibration_correct     (const QmCalibration       *self,
                                           const QmCalibrationPoint  *point);
void           qm_calibration_apply       (const QmCalibration       *self,
                                           const QmPlan              *plan,
                                           QmEstimate                *estimate);
QmMessage     *qm_calibration_explain     (const QmCalibration       *self,
                                           const QmPlan              *plan,
                                           const QmEstimate          *estimate);

G_END_DECLS
