/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-llm-inference-constants.h"

G_BEGIN_DECLS

/* A model as the laws see it. Symbols as in QmArchitecture. */
typedef struct {
  double parameters;                /* N */
  double active;                    /* A */
  double layers;
  double hidden;
  double ffn_used;                  /* width of the feed-forward layer that a token passes */
  double heads;
  double kv_heads;
  double head_size;
  double vocabulary;
  double experts;                   /* 1 dense */
  double experts_per_token;
  double moe_layers;
  double expert_parameters;         /* of all experts together */
  double embedding;                 /* parameters; of the head as well */
  double body;                      /* neither embedding nor head */
  double active_body;
  double full;                      /* layers that keep the whole context */
  double sliding;                   /* layers that keep a window */
  double window;
  double latent;                    /* elements a token and layer; 0: keys and values are kept */
  double state_bytes;               /* of recurrent layers, a sequence */
  gboolean tied;
  gboolean guessed;
} QmInferenceShape;

/* All constants for an engine and a format on one class of devices; what hangs
 * on the generation and the link is still to be multiplied in. */
typedef struct {
  double values[QM_INFERENCE_N_TABLES];
  double plain_mu;                            /* of products whose weights have 16 bits */
  double widths[QM_INFERENCE_N_QUANTITIES];   /* ln (p90 / p50) */
  QmState states[QM_INFERENCE_N_QUANTITIES];
} QmInferenceCell;

struct _QmLlmInference {
  const QmLlmInferenceConstants *constants;
  QmServing serving;
  QmInferenceShape shape;
  QmInferenceFamily family;
  const QmInferenceEngine *engine;
  QmWeightFormat format;
  double weight_bytes;
  double kv_bytes;                  /* of one element */
  const QmInferenceSpeculation *speculation; /* nullable */
  double accepted;                  /* tokens of a step and sequence; 1 without guesses */
  double headroom;
  double max_sequences;
  double prompt;                    /* tokens, usual values filled in */
  double answer;
  double mean_context;              /* at which the decode rate is stated */
  QmInferenceCell cells[2][QM_INFERENCE_N_CLASSES]; /* the second with kernels of processors */
};

/* A plan on one configuration. */
typedef struct {
  const QmLlmInference *plan;
  const QmDevice *device;
  const QmConfiguration *given;
  const QmInferenceCell *cell;
  QmInferenceClass device_class;
  QmInferenceLink link;
  gboolean on_cpu;
  gboolean in_system_memory;        /* on the processor of a computer whose memory is not the device's */
  double devices;
  double tensor;
  double pipeline;
  double data;
  double batch;                     /* sequences at once on one replica; 0 left to the scheduler */
  double device_share;              /* of the layers */
  double expert_share;              /* of all experts, that lies on the device */
  double bandwidth;                 /* bytes per second */
  double host_bandwidth;
  double link_bandwidth;            /* one way */
  double flops;                     /* per second */
  double integer_rate;              /* per second */
  double copies_from;               /* tokens at once from which on weights are unpacked into memory */
  double memory;                    /* bytes on the box; 0 unknown */
  double values[QM_INFERENCE_N_TABLES];
} QmInferenceJob;

/* One engine step that gives every sequence a token. */
typedef struct {
  double memory;
  double compute;
  double communication;
  double overhead;
  double seconds;
} QmInferenceStep;

typedef struct {
  double parts[QM_MEMORY_N_PARTS];
  double need;
  double allocated;
  double reserved;
  double device;
  double host;
} QmInferenceMemoryParts;

/* shape */
void     qm_inference_shape_init        (QmInferenceShape            *self,
                                         const QmArchitecture        *architecture,
                                         double                       parameters,
                                         double                       active_parameters);
double   qm_inference_weight_bytes      (const QmInferenceShape      *self,
                                         const QmWeightFormat        *format);
double   qm_inference_read_bytes        (const QmInferenceShape      *self,
                                         const QmWeightFormat        *format,
                                         double                       sequences);
double   qm_inference_expert_bytes      (const QmInferenceShape      *self,
                                         const QmWeightFormat        *format,
                                         double                       sequences);
double   qm_inference_kv_bytes          (const QmInferenceShape      *self,
                                         double                       context,
                                         double                       bytes_per_element);
double   qm_inference_kv_expanded_bytes (const QmInferenceShape      *self,
                                         double                       context);

/* features */
void     qm_inference_job_init          (QmInferenceJob              *self,
                                         const QmLlmInference        *plan,
                                         const QmDevice              *device,
                                         int                          arch,
                                         const QmConfiguration       *configuration);
int      qm_inference_find_arch         (const QmLlmInferenceConstants *constants,
                                         const QmDevice              *device);
void     qm_inference_job_arch_word     (const QmInferenceJob        *self,
                                         char                        *word,
                                         gsize                        size);
char    *qm_inference_job_key           (const QmInferenceJob        *self,
                                         const char                  *level);

/* time */
void     qm_inference_step              (const QmInferenceJob        *job,
                                         double                       sequences,
                                         double                       context,
                                         QmInferenceStep             *step);
double   qm_inference_prompt_seconds    (const QmInferenceJob        *job,
                                         double                       tokens,
                                         double                       sequences,
                                         gboolean                     whole);

/* memory */
void     qm_inference_memory            (const QmInferenceJob        *job,
                                         QmInferenceMemoryParts      *memory);
double   qm_inference_cached_bytes      (const QmInferenceJob        *job,
                                         double                       tokens);
double   qm_inference_pool_bytes        (const QmInferenceJob        *job);
double   qm_inference_slots             (const QmInferenceJob        *job);
double   qm_inference_room              (const QmInferenceJob        *job);

G_END_DECLS
