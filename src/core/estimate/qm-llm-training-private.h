/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-llm-training-constants.h"

G_BEGIN_DECLS

/* How language-model training is predicted, step by step: a shape and a
 * recipe, made once for a plan and a model; a job, which adds device, stack
 * and layout; its memory and its time. Sizes are in elements, memory in bytes,
 * time in seconds. */

#define QM_GIB 1073741824.0

typedef struct {
  double parameters;
  double active;
  double layers;
  double hidden;
  double heads;
  double query;                     /* heads x head size */
  double key;                       /* key heads x head size */
  double ffn;
  double vocabulary;
  double experts;
  double experts_per_token;
  double expert_ffn;
  double embedding;                 /* look-up and head */
  double layer_parameters;
  double expert_parameters;         /* of all layers */
  double ffn_used;                  /* by one token */
  double activation_query;          /* as the backward pass keeps them */
  double activation_key;
  double norms;
  gboolean known;
  gboolean approximate;             /* the sizes are there, and what they make is not sure */
  gboolean gated;
  gboolean moe;
  gboolean qk_norm;
  gboolean wide_norm;               /* an extra 32-bit norm input, as Gemma has */
} QmLlmShape;

struct _QmLlmTraining {
  const QmLlmTrainingConstants *constants;
  QmTraining training;              /* as given, method, precision and optimizer resolved */
  QmLlmShape shape;
  double headroom;
  int framework;                    /* -1 where the plan does not say */
  gboolean frozen;                  /* most weights are not trained */
  gboolean probe;                   /* nothing flows back through the network */
  gboolean flash;
  gboolean pure_16_bit;
  gboolean autocast;
  gboolean chunked_loss;
  gboolean activation_offload;
  gboolean optimizer_in_backward;
  gboolean unpacked;
  gboolean integer_4_bit;           /* frozen weights of GPTQ kind */
  gboolean fp8_frozen;
  gboolean frozen_in_blocks;        /* quantised, embeddings in 16 bit */
  double frozen_bits;
  double frozen_bits_single;        /* where nf4 scales are not quantised again */
  double sequence;
  double trainable;
  double adapted_inputs;            /* sum of input widths of adapted modules */
  gboolean decomposed;              /* DoRA: adapters with a magnitude for each output */
  double adapted_modules;           /* in a layer */
  double adapted_weights;           /* of their matrices */
  double adapted_outputs;           /* sum of their output widths */
  double adapted_distinct;          /* the same, where modules share an input once */
  double dense_flops;               /* a token, forward and backward */
  double attention_flops;
};

typedef struct {
  const QmLlmTraining *plan;
  const QmDevice *device;
  const QmConfiguration *given;
  const QmLlmFamily *family;
  const QmLlmFramework *framework;
  double mamf;
  QmLlmStack stack;
  gboolean fused;
  gboolean layout_known;
  gboolean batch_known;
  double devices;
  double nodes;                     /* 0 where not said */
  double tensor;
  double pipeline;
  double context;
  double expert;
  double data;
  double virtual_pipeline;
  double shards;                    /* that weights are split over */
  double micro_batch;
  double accumulation;
  double global_batch;
  double tokens;                    /* of a micro-batch on one device */
  QmSharding sharding;
  QmOffload offload;
  QmCheckpointing checkpointing;
  double recomputed;                /* share of the layers, where that was not stated */
} QmLlmJob;

typedef struct {
  double parts[QM_MEMORY_N_PARTS];
  double allocated;
  double reserved;
  double whole;
  double fixed;                     /* of the forward peak, whatever the micro-batch */
  double per_micro_batch;           /* that each sample adds to it */
  double update;                    /* peak of the optimizer step and of loading */
  double growth;                    /* reserved over allocated */
  double context;
} QmLlmMemory;

typedef struct {
  gboolean known;
  double step;
  double rate;                      /* tokens per second and device */
  double compute;
  double memory;
  double communication;
  double overhead;
  double peak;                      /* FLOP/s at the precision of the job */
} QmLlmTime;

/* What a device reaches with others. */
typedef struct {
  double inside;                    /* bytes per second in the fast domain */
  double domain;                    /* devices */
  double between;                   /* bytes per second and device */
} QmLlmLinks;

/* shape */
void     qm_llm_shape_init             (QmLlmShape                   *self,
                                        const QmModel                *model,
                                        const QmLlmTrainingConstants *constants);
void     qm_llm_training_set_flops     (QmLlmTraining                *self,
                                        const QmModel                *model);
void     qm_llm_training_set_adapters  (QmLlmTraining                *self);

/* job */
const QmLlmCandidates *qm_llm_job_candidates (const QmLlmTraining    *plan,
                                        const QmDevice               *device,
                                        const QmConfiguration        *given,
                                        const QmLlmFamily            *family);
void     qm_llm_job_init               (QmLlmJob                     *self,
                                        const QmLlmTraining          *plan,
                                        const QmDevice               *device,
                                        const QmConfiguration        *given,
                                        const QmLlmFamily            *family,
                                        double                        mamf,
                                        int                           framework);
double   qm_llm_box_gb                 (const QmDevice               *device,
                                        const QmLlmTrainingConstants *constants);
QmPrecision qm_llm_native_precision    (const QmDevice               *device,
                                         QmPrecision                   precision);
double   qm_llm_peak_flops             (const QmDevice               *device,
                                        QmPrecision                   precision);

/* layout */
void     qm_llm_job_resolve_layout     (QmLlmJob                     *self,
                                        double                        global_batch);

/* memory */
void     qm_llm_memory_predict_peak    (const QmLlmJob               *job,
                                        const QmLlmMemoryConstants   *constants,
                                        QmLlmMemory                  *memory);
void     qm_llm_memory_predict         (const QmLlmJob               *job,
                                        const QmLlmMemoryConstants   *constants,
                                        QmLlmMemory                  *memory);
double   qm_llm_frozen_bytes           (const QmLlmJob               *job,
                                        const QmLlmMemoryConstants   *constants);
double   qm_llm_local_parameters       (const QmLlmJob               *job);

/* host */
double   qm_llm_host_bytes             (const QmLlmJob               *job);
double   qm_llm_storage_bytes          (const QmLlmJob               *job);

/* time */
void     qm_llm_time_predict           (const QmLlmJob               *job,
                                        const QmLlmLinks             *links,
                                        QmLlmTime                    *time);

/* ranges */
double   qm_llm_memory_width           (const QmLlmJob               *job);
double   qm_llm_rate_width             (const QmLlmJob               *job);
QmState  qm_llm_memory_state           (const QmLlmJob               *job);
QmState  qm_llm_rate_state             (const QmLlmJob               *job);

/* traffic */
double     qm_llm_reduced_parameters   (const QmLlmJob               *job);
QmLlmLinks qm_llm_links                (const QmLlmJob               *job);
double   qm_llm_model_parallel_seconds (const QmLlmJob               *job,
                                        const QmLlmLinks             *links);
double   qm_llm_data_parallel_seconds  (const QmLlmJob               *job,
                                        const QmLlmLinks             *links);

G_END_DECLS
