/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-device.h"
#include "model/qm-model.h"
#include "plan/qm-plan.h"
#include "qm-range.h"

G_BEGIN_DECLS

/* What is fuller than this may or may not fit. */
#define QM_TIGHT_SHARE 0.9

/* Of a machine's memory, what is left beside the operating system. */
#define QM_HOST_SHARE 0.9

/* How much measurement stands behind a figure. */
typedef enum {
  QM_STATE_UNKNOWN,
  QM_STATE_CELL,                    /* this stack on this kind of device, several sources */
  QM_STATE_THIN,                    /* few of them */
  QM_STATE_ENGINE,                  /* the stack is known, the device or kernel is not */
  QM_STATE_NEW,                     /* nothing alike was measured */
} QmState;

/* The parts of device memory, in the order of the contract. */
typedef enum {
  QM_MEMORY_WEIGHTS,
  QM_MEMORY_GRADIENTS,
  QM_MEMORY_OPTIMIZER,
  QM_MEMORY_ACTIVATIONS,
  QM_MEMORY_LOGITS,
  QM_MEMORY_KV_CACHE,
  QM_MEMORY_COMMUNICATION,
  QM_MEMORY_WORKSPACE,
  QM_MEMORY_CONTEXT,
  QM_MEMORY_FRAGMENTATION,
  QM_MEMORY_N_PARTS,
} QmMemoryPart;

typedef enum {
  QM_VERDICT_UNKNOWN,
  QM_VERDICT_FITS,
  QM_VERDICT_TIGHT,
  QM_VERDICT_MAY_FIT,
  QM_VERDICT_PARTLY_IN_SYSTEM_MEMORY,
  QM_VERDICT_DOES_NOT_FIT,
} QmVerdict;

typedef enum {
  QM_BOUND_UNSET,
  QM_BOUND_COMPUTE,
  QM_BOUND_MEMORY,
  QM_BOUND_COMMUNICATION,
  QM_BOUND_INPUT,
  QM_BOUND_OVERHEAD,
} QmBound;

/**
 * QmMemory:
 * @device: peak that the whole device shows, driver context and reserved-but-
 *   unused included
 * @need: the same, where an engine does not take more by design
 * @allocated: what frameworks call allocated, for comparisons
 * @reserved: what frameworks call reserved
 * @parts: sum to the p50 of @need
 * @host_bytes: system memory the job needs on one machine
 * @storage_bytes: what it keeps on the drives of one machine instead
 *
 * Bytes of the fullest device.
 */
typedef struct {
  QmRange device;
  QmRange need;
  QmRange allocated;
  QmRange reserved;
  double parts[QM_MEMORY_N_PARTS];
  double capacity_bytes;
  double usable_bytes;
  double free_bytes;                /* of a device of this computer, just now; 0 unknown */
  double host_bytes;
  double storage_bytes;
  QmRange host;                     /* tabular jobs: what is compared */
  gboolean fits;
  double fit_probability;
  QmVerdict verdict;
  double largest_micro_batch;       /* that fits with headroom; 0 unknown */
  double quick_bytes;               /* rules of thumb */
  double basic_bytes;
  double measured_bytes;            /* by the person's own runs; 0 unknown */
  double history_bytes;
  QmState state;
} QmMemory;

/* What is counted per second. */
typedef enum {
  QM_UNIT_UNSET,
  QM_UNIT_TOKENS,
  QM_UNIT_IMAGES,
  QM_UNIT_SAMPLES,
  QM_UNIT_AUDIO_SECONDS,
  QM_UNIT_ROWS,
} QmUnit;

/* What bounds the loading of training data. */
typedef enum {
  QM_INPUT_NONE,
  QM_INPUT_DECODING,
  QM_INPUT_STORAGE,
  QM_INPUT_NETWORK,
} QmInputLimit;

typedef struct {
  gboolean known;                   /* FALSE: the catalog lacks what it takes */
  QmUnit unit;
  QmRange per_second;               /* whole job, in @unit */
  QmRange per_device_per_second;
  double samples_per_second;        /* whole job */
  QmRange step_seconds;             /* one optimizer step; in inference one batch, where batches are */
  double tflops_per_device;
  double mfu;
  QmBound bound_by;
  double compute_seconds;           /* parts of a step */
  double memory_seconds;
  double communication_seconds;
  double input_seconds;
  double overhead_seconds;
  double input_per_second;          /* samples that can be loaded, whole job; NaN unknown */
  double input_gain;                /* how many times faster it were if data came by itself; 1 where they keep up */
  QmInputLimit input_limit;
  QmState state;
} QmThroughput;

/* What the latency of the slowest one percent comes from. */
typedef enum {
  QM_LATENCY_UNSET,
  QM_LATENCY_SPREAD,                /* of lengths, at a full batch */
  QM_LATENCY_QUEUE,                 /* closed form of a queue */
  QM_LATENCY_SIMULATED,
} QmLatencyBasis;

/**
 * QmColdStart:
 * @seconds: from the order of one more replica to its first answer
 * @machine_seconds: of the p50, as the next, which add up to it: until a rented
 *   machine runs; 0 of one that is there
 * @image_seconds: until the engine's software is on it; 0 likewise
 * @weights_seconds: until the weights are on the device
 * @engine_seconds: until the engine has compiled what it runs
 */
typedef struct {
  QmRange seconds;
  double machine_seconds;
  double image_seconds;
  double weights_seconds;
  double engine_seconds;
} QmColdStart;

typedef struct {
  gboolean known;
  QmRange first_token_seconds;      /* unknown where there are no tokens */
  QmRange token_seconds;
  QmRange decode_tokens_per_second; /* of one stream */
  QmRange prefill_tokens_per_second;
  QmRange latency_p50_seconds;
  QmRange latency_p99_seconds;      /* of one request at the plan's load */
  QmRange first_token_p99_seconds;  /* likewise; unknown unless simulated, and the next */
  QmRange token_p99_seconds;
  QmLatencyBasis latency_basis;
  double overloaded_at;             /* requests per second that it answers where more come at the peak, else 0 */
  double latency_error;             /* of the simulated p99 from run to run, a standard deviation; NaN none */
  double kv_cache_bytes;            /* in use, whole job */
  double kv_pool_bytes;             /* what the engine set aside */
  double max_concurrency;
  double requests_per_second;       /* one replica can answer within the limits */
  int replicas;                     /* for the plan's peak load */
  double cold_start_factor_low;
  double cold_start_factor_high;
  QmColdStart cold_start;
  QmState state;
} QmServingFigures;

/**
 * QmTime:
 * @seconds: that the job works, undisturbed
 * @finish: from the order to the result: started, interrupted and gone on with.
 *   What a person waits, and what a deadline is held against
 *
 * Of a job with an end; unknown else.
 */
typedef struct {
  QmRange seconds;
  QmRange finish;
  double start_up_seconds;          /* of @finish, until a rented machine works; 0 none */
  double with_interruptions_seconds; /* NaN where never interrupted */
  double checkpoint_every_seconds;  /* 0 none */
} QmTime;

typedef enum {
  QM_PRICING_UNSET,
  QM_PRICING_ON_DEMAND,
  QM_PRICING_SPOT,
  QM_PRICING_PURCHASE,
  QM_PRICING_OWNED,
  QM_PRICING_COMMITTED,             /* on demand, less what was agreed for a long time */
} QmPricing;

/**
 * QmCostParts:
 *
 * What the p50 of the money is for, in the plan's currency; they add up to it.
 */
typedef struct {
  double machine;                   /* rent while the job runs, interruptions included */
  double start_up;
  double failed_starts;
  double upload;                    /* rent while the data are brought */
  double idle;
  double storage;
  double egress;
  double power;                     /* of what stands at the person's place, with cooling */
  double purchase;                  /* serving: of a month of its life */
} QmCostParts;

typedef struct {
  gboolean known;
  QmRange money;                    /* of the job; serving: of a month, in the plan's currency */
  double per_hour;                  /* of the whole job while it runs */
  QmRange per_million_units;
  QmPricing pricing;
  const char *as_of;                /* of the price; NULL where none */
  double purchase_money;            /* one-off, NaN none */
  double break_even_hours;          /* NaN none */
  double break_even_months;         /* by the hours it is in use a month; NaN not said */
  QmCostParts parts;
  double carbon_kg_per_kwh;         /* where the machine stands */
  int carbon_basis;                 /* QmCarbonBasis */
  QmRange kwh;
  QmRange kg_co2e;
} QmCost;

typedef enum {
  QM_ACCURACY_UNKNOWN,
  QM_ACCURACY_MEASURED,
  QM_ACCURACY_PUBLISHED,
  QM_ACCURACY_SCALING_LAW,
  QM_ACCURACY_RULE,
} QmAccuracyBasis;

/**
 * QmAccuracy:
 * @metric: e.g. top-1, loss, points-against-full, points-against-16-bit
 * @value: in the unit of @metric: a fraction, nats, or percentage points
 * @is_relative: @value is a difference (0 or negative), not a score
 */
typedef struct {
  const char *metric;
  QmRange value;
  gboolean is_relative;
  QmAccuracyBasis basis;
  const char *source;
} QmAccuracy;

/**
 * QmEstimate:
 *
 * All figures of one plan on one configuration. Plain values: copied freely,
 * made without allocation.
 */
typedef struct {
  const QmDevice *device;
  QmConfiguration configuration;    /* resolved */
  QmTraining training;              /* as evaluated: defaults resolved */
  QmServing serving_plan;           /* as evaluated: defaults resolved */
  gboolean sized_by_load;           /* a service: @serving_plan is of one copy, @configuration of all */
  gboolean layout_assumed;          /* how it is split was open: each framework's own way */
  double trainable_parameters;
  double kv_cache_bytes_per_token;
  QmMemory memory;
  QmThroughput throughput;
  QmServingFigures serving;
  QmTime time;
  QmCost cost;
  QmAccuracy accuracy;
  const char *failure;              /* (nullable) code of why no rate or memory could be said */
} QmEstimate;

void qm_estimate_clear (QmEstimate *self);

/**
 * QmOutline:
 * @need_bytes: p50; NaN unknown
 * @need_width: ln (p90 / p50)
 * @per_second: p50 of the whole job
 * @known: whether the rate is; FALSE too where the need leaves no headroom, and
 *   the rate was not worked out
 * @seconds: p50 of the whole job where the rate alone does not tell; NaN else
 *
 * What a search must know of an estimate to compare it with others: the same
 * figures, without what is only shown.
 */
typedef struct {
  double need_bytes;
  double need_width;
  double usable_bytes;
  double host_bytes;
  double largest_micro_batch;
  double per_second;
  double rate_width;
  double samples_per_second;
  double seconds;
  double seconds_width;
  QmUnit unit;
  gboolean known;
} QmOutline;

/* what was looked up of a device beforehand */
typedef struct _QmKnownDevice QmKnownDevice;

void qm_outline_init          (QmOutline        *self);
void qm_outline_from_estimate (QmOutline        *self,
                               const QmEstimate *estimate);

G_END_DECLS
