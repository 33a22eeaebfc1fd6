/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-estimator.h"
#include "plan/qm-defaults.h"
#include "qm-message.h"

G_BEGIN_DECLS

typedef enum {
  QM_PLACE_UNSET,
  QM_PLACE_THIS_COMPUTER,
  QM_PLACE_OWNED,
  QM_PLACE_BUY,
  QM_PLACE_CLOUD,
  QM_PLACE_QUOTED,                  /* the plan gives its figures */
} QmPlace;

/* Why a choice is on the list: alternatives differ in kind. */
typedef enum {
  QM_CHOICE_UNSET,
  QM_CHOICE_BEST,
  QM_CHOICE_CHEAPER,
  QM_CHOICE_FASTER,
  QM_CHOICE_MORE_ACCURATE,
  QM_CHOICE_LOCAL,
  QM_CHOICE_CLOUD,
  QM_CHOICE_BUY,
  QM_CHOICE_CPU,
  QM_CHOICE_ACCELERATOR,            /* TPU, NPU */
  QM_CHOICE_OTHER_VENDOR,
  QM_CHOICE_OTHER_METHOD,
  QM_CHOICE_OTHER,
} QmChoiceKind;

/* Which limit of the person a configuration breaks first. */
typedef enum {
  QM_LIMIT_NONE,
  QM_LIMIT_MEMORY,
  QM_LIMIT_HOST_MEMORY,
  QM_LIMIT_SUPPORT,                 /* the stack does not run on it */
  QM_LIMIT_PLACE,                   /* not allowed where it is to be had */
  QM_LIMIT_MONEY,
  QM_LIMIT_DEADLINE,
  QM_LIMIT_LATENCY,
  QM_LIMIT_LOAD,
  QM_LIMIT_ACCURACY,
  QM_LIMIT_NO_PRICE,
  QM_LIMIT_NO_RATE,
  QM_LIMIT_BATCH,                   /* a batch has fewer samples than there are devices */
  QM_LIMIT_COUNT,                   /* not to be had in the number that is fixed */
  QM_LIMIT_BEATEN,                  /* allowed, but another is better */
} QmLimit;

/**
 * QmChoice:
 * @label: e.g. "1 × NVIDIA L40S, aws g6e.xlarge"; never translated
 * @offer: (nullable): what is rented
 * @machines: how many of it
 * @reasons: (element-type QmMessage): for the first choices; else empty
 * @waits: (nullable) (element-type QmWaitPoint): of a service that was simulated
 * @drawbacks: (nullable) (element-type QmMessage): what makes it harder to use
 *   than its price says, the gravest first
 * @drawback: (nullable): the gravest in a few words
 * @ruled_out_by_count: by the marginal rule, and so the next two
 * @dominated_by: index in the matrix, -1 if none
 */
typedef struct {
  QmEstimate estimate;
  char label[128];
  QmChoiceKind kind;
  QmPlace place;
  const QmOffer *offer;
  int machines;
  GPtrArray *reasons;
  GArray *waits;                    /* (nullable) of QmWaitPoint: what people wait, by load */
  GPtrArray *drawbacks;
  QmMessage *drawback;
  double hurdles;                   /* what they weigh, in natural logarithms of money */
  guint hurdle_set;                 /* 1 << QmHurdle */
  const char *needs;                /* (nullable): the software in the place of CUDA */
  double gpu_hours;
  double score;                     /* lower is better */
  gboolean pareto;
  gboolean within_limits;
  QmLimit broken_limit;             /* where not @within_limits */
  gboolean ruled_out_by_count;
  gboolean ruled_out_by_gpu_hours;
  gboolean ruled_out_by_cost;
  int ruled_out_against;            /* index in the matrix, -1 if none */
  int dominated_by;
} QmChoice;

typedef struct {
  const QmDevice *device;
  int devices;
  QmLimit limit;
  double margin;                    /* needed / allowed, over 1 */
  QmMessage *message;
} QmRejection;

/* "below 18 h: 2 × H100" */
typedef struct {
  const char *field;                /* of the plan */
  gboolean above;                   /* else below */
  double threshold;
  char choice[128];
  QmMessage *message;
} QmSensitivity;

typedef struct {
  QmStage stage;
  char label[128];
  double hours;
  double money;
  const QmDevice *device;
  QmMessage *message;
} QmStagePlan;

/* see qm-capacity.h */
typedef struct _QmCapacity QmCapacity;

#define QM_TYPE_RECOMMENDATION (qm_recommendation_get_type ())
G_DECLARE_FINAL_TYPE (QmRecommendation, qm_recommendation, QM, RECOMMENDATION, GObject)

/**
 * QmHere:
 *
 * What this computer has, as detection found it; the core never looks itself.
 */
typedef struct {
  const QmDevice *devices[16];
  double usable_bytes[16];          /* 0: the catalog's */
  double free_bytes[16];            /* of them, just now; 0 unknown */
  double power_watts[16];           /* what each may draw; 0 unknown */
  int n_devices;
  const QmDevice *cpu;              /* (nullable) */
  int cpu_cores;
  double ram_bytes;                 /* 0 unknown */
} QmHere;

QmRecommendation     *qm_recommend                          (QmEstimator       *estimator,
                                                             const QmResolved  *resolved,
                                                             const QmHere      *here,
                                                             GCancellable      *cancellable);

/* the same with latency under load simulated instead of estimated */
gboolean              qm_recommendation_can_simulate        (QmRecommendation  *self);
QmRecommendation     *qm_recommendation_simulate            (QmRecommendation  *self,
                                                             guint              requests,
                                                             GCancellable      *cancellable);

/* ranked, best first; empty where nothing fits */
guint                 qm_recommendation_n_choices           (QmRecommendation  *self);
const QmChoice       *qm_recommendation_choice              (QmRecommendation  *self,
                                                             guint              index);
/* the decision matrix: the choices and what they are to be compared with */
guint                 qm_recommendation_n_rows              (QmRecommendation  *self);
const QmChoice       *qm_recommendation_row                 (QmRecommendation  *self,
                                                             guint              index);
const QmChoice       *qm_recommendation_get_nearest         (QmRecommendation  *self);
const QmChoice       *qm_recommendation_get_start           (QmRecommendation  *self);
GPtrArray            *qm_recommendation_get_rejections      (QmRecommendation  *self);
GPtrArray            *qm_recommendation_get_sensitivities   (QmRecommendation  *self);
GPtrArray            *qm_recommendation_get_stages          (QmRecommendation  *self);
GPtrArray            *qm_recommendation_get_warnings        (QmRecommendation  *self);
const QmResolved     *qm_recommendation_get_resolved        (QmRecommendation  *self);
const QmHere         *qm_recommendation_get_here            (QmRecommendation  *self);
QmEstimator          *qm_recommendation_get_estimator       (QmRecommendation  *self);
guint64               qm_recommendation_get_considered      (QmRecommendation  *self);
double                qm_recommendation_get_seconds         (QmRecommendation  *self);
void                  qm_recommendation_set_seconds         (QmRecommendation  *self,
                                                             double             seconds);

/* one pinned configuration, with time, cost, accuracy and words */
gboolean              qm_estimate_pinned                    (QmEstimator       *estimator,
                                                             const QmResolved  *resolved,
                                                             const QmHere      *here,
                                                             QmChoice          *choice,
                                                             GError           **error);
void                  qm_choice_clear                       (QmChoice          *self);
GPtrArray            *qm_estimate_explain                   (QmEstimator       *estimator,
                                                             const QmResolved  *resolved,
                                                             const QmChoice    *choice,
                                                             QmCapacity        *capacity);
GPtrArray            *qm_estimate_warnings                  (QmEstimator       *estimator,
                                                             const QmResolved  *resolved,
                                                             const QmChoice    *choice);

/* speed-up against count for a choice, for the scaling chart */
typedef struct {
  int devices;
  double speed_up;
  QmRange seconds;
  QmRange money;
  double efficiency;
  QmBound bound_by;
} QmScalingPoint;

GArray               *qm_scaling_curve                      (QmEstimator       *estimator,
                                                             const QmResolved  *resolved,
                                                             const QmChoice    *choice);

JsonNode             *qm_choice_to_json                     (QmEstimator       *estimator,
                                                             const QmResolved  *resolved,
                                                             const QmChoice    *choice);
JsonNode             *qm_recommendation_to_json             (QmRecommendation  *self,
                                                             QmEstimator       *estimator);

G_END_DECLS
