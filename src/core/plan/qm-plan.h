/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "qm-json-box.h"

#include "qm-message.h"
#include "qm-plan-enums.h"

G_BEGIN_DECLS

#define QM_PLAN_ERROR (qm_plan_error_quark ())

/**
 * QmPlanError:
 * @QM_PLAN_ERROR_SYNTAX: not JSON, or not an object
 * @QM_PLAN_ERROR_FORMAT: not a plan file, or one of a later version
 * @QM_PLAN_ERROR_TYPE: a field holds another type than it should
 * @QM_PLAN_ERROR_VALUE: a field holds a value outside its range or vocabulary
 * @QM_PLAN_ERROR_MISSING: a field that must be there is not
 * @QM_PLAN_ERROR_CONFLICT: fields contradict each other
 */
typedef enum {
  QM_PLAN_ERROR_SYNTAX,
  QM_PLAN_ERROR_FORMAT,
  QM_PLAN_ERROR_TYPE,
  QM_PLAN_ERROR_VALUE,
  QM_PLAN_ERROR_MISSING,
  QM_PLAN_ERROR_CONFLICT,
} QmPlanError;

GQuark qm_plan_error_quark (void);

/* A word of an open vocabulary: a device, an engine, a weight format. Longer
 * ones are refused when the plan is read. */
typedef char QmWord[64];

#define QM_MAX_WORDS 16

/**
 * QmWordList:
 * @n: how many words; -1 where the list was not given (null)
 */
typedef struct {
  int n;
  QmWord words[QM_MAX_WORDS];
} QmWordList;

/* Unset values, everywhere below: counts and sizes 0 unless said otherwise,
 * fractions and money NaN, enums 0, words "". */

typedef struct {
  QmWord id;                        /* of the model catalog */
  char *file;                       /* as written in the plan, relative to it */
  QmJsonBox *architecture;          /* the content of a config.json, an object */
  double parameters;
  double active_parameters;
  double flops_per_sample;          /* forward, 2 x MACs */
  double activations_per_sample;    /* elements */
  double embedding_lookups;         /* recommenders, per sample */
  double dense_parameters;
  double items_per_query;
  double embedding_dim;
  double embedding_features;
  double embedding_rows;
  double mf_dim;
} QmPlanModel;

typedef struct {
  QmMethod method;
  double lora_rank;
  double lora_dropout;              /* NaN unset */
  QmWordList lora_targets;
  double trainable_parameters;
  QmWord base_weights;
  QmPrecision precision;
  QmOptimizer optimizer;
  QmCheckpointing activation_checkpointing;
  QmAttention attention;
  QmWord attention_kernel;
  QmTernary compiled;
  QmMemoryFormat memory_format;
  QmWordList techniques;
  QmWord framework;
  QmWord tuning;
  QmTernary packed;
  QmTernary frozen_norm;
  QmTernary latents_stored;
  double real_token_fraction;       /* NaN unset */
  double global_batch;              /* samples per optimizer step, whole job */
  double sequence_length;           /* tokens */
  double image_size;                /* pixels */
  double samples;                   /* per epoch */
  double tokens;                    /* per epoch */
  double epochs;
} QmTraining;

typedef struct {
  QmWord engine;
  QmWord engine_version;
  QmWord engine_variant;
  QmWord weights;
  QmWord kv_cache;
  double input_tokens;
  double output_tokens;
  double concurrency;               /* sequences or samples at once, whole job */
  double requests_per_second;
  double peak_factor;
  double latency_p99_seconds;
  double first_token_seconds;
  double samples;                   /* batch inference: how many in all */
  double image_size;
  double denoising_steps;
  QmTernary guidance;
  double beam;
  QmTernary compiled;
  QmMemoryFormat memory_format;
  double max_sequences;
  QmSpeculation speculation;
  double real_token_fraction;       /* NaN unset */
  double patches_per_sample;
  double audio_seconds_per_sample;
} QmServing;

typedef struct {
  double nonzero_features;
  double bins;
  double features;
  double trees;
  double depth;
  double leaves;
} QmTabular;

typedef struct {
  double bytes_per_sample;
  QmStorage storage;
  int loader_workers;               /* -1 unset: 0 is a setting people use */
} QmData;

typedef struct {
  QmObjective objective;
  double money;                     /* in @currency; NaN: no limit */
  char currency[4];                 /* ISO 4217 */
  double hours;                     /* NaN: no limit */
  double min_accuracy;              /* 0-1; NaN: no limit */
  double headroom;                  /* 0-1; NaN unset */
  double marginal_points;           /* a gain of less is not worth ... NaN unset */
  double marginal_ratio;            /* ... so many times the resources; NaN unset */
} QmLimits;

typedef struct {
  QmWord device;
  int devices;                      /* per machine times machines: all of them */
  int nodes;
  double host_memory_bytes;         /* system memory of one machine; 0 unset */
} QmOwned;

#define QM_MAX_OWNED 16

/**
 * QmQuote:
 *
 * Hardware whose figures the person has from elsewhere: from an offer, an
 * article, own runs. Weighed by these, not by an estimate.
 */
typedef struct {
  QmWord device;
  int devices;                      /* per machine times machines: all of them */
  int nodes;
  double hours;                     /* from the order to the result */
  double money;                     /* in the currency of the limits */
  double accuracy;                  /* 0-1; NaN unset */
} QmQuote;

/* What runs of the person's own reached with so many samples. */
typedef struct {
  double samples;
  double score;                     /* 0-1, higher is better */
} QmResult;

/* Of quotes, and of results. */
#define QM_MAX_ROWS 16

/**
 * QmCosts:
 *
 * What the person knows of money and power better than the catalog. All unset
 * by default, and NaN then; money is in the currency of the limits.
 */
typedef struct {
  double currency_per_usd;          /* a rate of one's own */
  QmWord currency_as_of;            /* its date, ISO 8601 */
  double electricity_per_kwh;
  double carbon_kg_per_kwh;         /* where the person's machines stand */
  double cooling_factor;            /* power with cooling over power without; from 1 */
  double committed_discount;        /* of on-demand prices, 0-1 */
  double stored_bytes;
  double storage_per_gb_month;
  double sent_bytes;                /* out of the provider's network: egress */
  double egress_per_gb;
  double upload_bytes;              /* unset: the data of the plan */
  double upload_bits_per_second;
  double idle_hours;                /* paid after the job */
  double failed_starts;
  double interruptions_per_hour;    /* of one spot machine */
  double checkpoint_seconds;
  double restart_seconds;
  double device_price;              /* of one configuration.device, new */
  double resale_share;              /* of the purchase price, when it is given away */
  double use_hours_per_month;       /* of what is bought, all jobs together */
  double lifetime_months;           /* over which it is paid off */
} QmCosts;

typedef struct {
  QmTernary this_computer;
  int n_owned;
  QmOwned owned[QM_MAX_OWNED];
  QmTernary buy;
  QmWordList cloud;                 /* n = -1: all providers; 0: none */
  QmWordList regions;               /* n = -1: all */
  QmWordList excluded;              /* offers, machines and devices that cannot be had */
  QmTernary on_premises;
  QmSpot spot;
} QmPlaces;

/**
 * QmConfiguration:
 *
 * What the job runs on and how it is split. In a plan every field may be
 * unset; in an estimate all are resolved.
 */
typedef struct {
  QmWord device;
  int devices;                      /* of the whole job */
  int nodes;
  QmWord interconnect;
  int data_parallel;
  int tensor_parallel;
  int pipeline_parallel;
  int expert_parallel;
  int context_parallel;
  int virtual_pipeline;
  int shard_group;
  int slices;
  QmTernary sequence_parallel;
  QmSharding sharding;
  QmOffload offload;
  double micro_batch;               /* samples per device and micro-step */
  double gradient_accumulation;
  int gpu_layers;                   /* -1 unset: 0 is "all on the CPU" */
  int cpu_expert_layers;            /* from the first layer on, whose experts lie in system memory */
  QmSplit split;
  int cpu_cores;
  double host_memory_bytes_per_second;
  double memory_bytes;              /* of one device, where it is sold with several sizes */
  double host_memory_bytes;         /* system memory of one machine */
  int host_cores;                   /* of one machine, where known; no answer of a plan, nor is the next */
  double host_network_bits_per_second;
  QmWord offer;                     /* provider/instance/region */
} QmConfiguration;

/**
 * QmPlan:
 *
 * The person's answers, as in a `*.qmplan` file.
 */
typedef struct {
  char *title;                      /* never NULL */
  QmTask task;
  QmActivity activity;
  QmStage stage;
  QmPlanModel model;
  QmTraining training;
  QmServing serving;
  QmTabular tabular;
  QmData data;
  QmLimits limits;
  QmPlaces places;
  QmCosts costs;
  QmConfiguration configuration;
  int n_quotes;
  QmQuote quotes[QM_MAX_ROWS];
  int n_results;
  QmResult results[QM_MAX_ROWS];
} QmPlan;

#define QM_TYPE_PLAN (qm_plan_get_type ())

GType    qm_plan_get_type      (void);
QmPlan  *qm_plan_new           (void);
QmPlan  *qm_plan_copy          (const QmPlan  *self);
void     qm_plan_free          (QmPlan        *self);
gboolean qm_plan_equal         (const QmPlan  *a,
                                const QmPlan  *b);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmPlan, qm_plan_free)

const char *qm_plan_get_currency (const QmPlan *self);
double   qm_plan_get_headroom  (const QmPlan  *self);
gboolean qm_plan_has_limits    (const QmPlan  *self);
gboolean qm_plan_is_training   (const QmPlan  *self);
gboolean qm_plan_is_inference  (const QmPlan  *self);

gboolean qm_plan_exclude       (QmPlan        *self,
                                const char    *id);

/* over all epochs; 0 where the plan does not say */
double      qm_plan_total_samples (const QmPlan *plan);
double      qm_plan_total_tokens  (const QmPlan *plan);

void     qm_word_set           (QmWord         word,
                                const char    *value);
gboolean qm_word_list_contains (const QmWordList *self,
                                const char       *word);

/**
 * QmPlanWarning:
 * @line: in the file, 1 is the first; 0 where unknown
 * @path: of the field, e.g. `training.epochs`
 * @message: what was found and what would be right
 */
typedef struct {
  int line;
  char *path;
  QmMessage *message;
} QmPlanWarning;

void     qm_plan_warning_free  (QmPlanWarning *self);

QmPlan  *qm_plan_from_data     (const char    *data,
                                gssize         length,
                                GPtrArray     *warnings,
                                GError       **error);
QmPlan  *qm_plan_from_object   (JsonObject    *object,
                                GPtrArray     *warnings,
                                GError       **error);
QmPlan  *qm_plan_load          (const char    *path,
                                GPtrArray     *warnings,
                                GError       **error);
void     qm_plan_locate_error  (const char    *path,
                                GError       *error);
char    *qm_plan_to_data       (const QmPlan  *self,
                                gsize         *length);
gboolean qm_plan_save          (const QmPlan  *self,
                                const char    *path,
                                GError       **error);

/* configuration ↔ JSON, shared with the estimate's output */
JsonNode *qm_configuration_to_json (const QmConfiguration *self);

G_END_DECLS
