/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <math.h>

#include "estimate/qm-other-domains-constants.h"

G_BEGIN_DECLS

/* How everything but language models is predicted: a job, made once for a plan
 * and a model; a site, which adds device and layout; a run, its rate; a store,
 * its memory. Bytes, seconds, FLOP/s and elements throughout. */

typedef enum {
  QM_DOMAIN_JOB_TRAIN_VISION,
  QM_DOMAIN_JOB_TRAIN_ENCODER,
  QM_DOMAIN_JOB_TRAIN_DIFFUSION,
  QM_DOMAIN_JOB_TRAIN_RECOMMENDER,
  QM_DOMAIN_JOB_RUN_VISION,
  QM_DOMAIN_JOB_RUN_ENCODER,
  QM_DOMAIN_JOB_RUN_GENERATION,
  QM_DOMAIN_JOB_RUN_SPEECH,         /* one pass */
  QM_DOMAIN_JOB_RUN_WHISPER,        /* encoder, then text token by token */
  QM_DOMAIN_JOB_RUN_RECOMMENDER,
  QM_DOMAIN_JOB_TABULAR,
} QmDomainJob;

/* A text encoder: V vocabulary, h width, L layers. */
typedef struct {
  double parameters;
  double body;                      /* parameters of the layers */
  double layers;
  double hidden;
  double heads;
  double vocabulary;
  gboolean decoder;
} QmDomainShape;

typedef struct {
  QmFamily family;
  double parameters;                /* 0 unknown */
  double flops;                     /* forward, of a sample; 0 unknown */
  double pass_flops;
  double passes_per_step;           /* of a denoiser; 0 unknown */
  double activations;               /* elements; 0 unknown */
  double pass_activations;
  double ops;
  double image_size;
  double vae_flops;
  double vae_activations;
  double encoder_parameters;        /* beside @parameters */
  double denoiser_parameters;       /* of @parameters; 0 all */
  double linear_parameters;         /* of @parameters, in linear layers; 0 unknown */
  double patches;
  double tokens;                    /* of an image */
  double layers;
  double hidden;
  double decoder_layers;
  double decoder_parameters;
  double dense_parameters;
  double embedding_lookups;
  double embedding_dim;
  double embedding_features;
  double items_per_query;
  gboolean guessed;                 /* the FLOPs, or the whole model */
  gboolean flops_given;             /* by the plan */
} QmDomainFacts;

struct _QmOtherDomains {
  const QmOtherDomainsConstants *constants;
  QmDomainJob job;
  QmTask task;
  gboolean trains;
  gboolean pretrains;               /* trains from nothing */
  QmTraining training;
  QmServing serving;
  QmTabular tabular;
  QmDomainShape shape;
  QmDomainFacts facts;
  double headroom;
  double loader_rate;               /* samples/s that one machine prepares; INFINITY not limited */
  double samples;                   /* of the whole job; 0 unknown */

  /* training */
  QmDomainStack stack;              /* as stated, or UNSTATED */
  QmDomainStack implied;            /* by the rest of the plan where not stated */
  QmDomainRate train_rate;
  double train_bytes;               /* an element of activations */
  double sequence;
  double adapter_parameters;        /* of LoRA; 0 unknown */
  gboolean adapters;
  gboolean probe;                   /* nothing flows back through the network */
  double pass_share;                /* passes over those of full training */
  gboolean checkpointed;
  gboolean recomputes;              /* blocks of a transformer of vision or speech */
  gboolean pure_16_bit;

  /* inference */
  QmDomainEngineWord engine;
  gboolean engine_stated;
  QmDomainEngine gpu_engine;
  QmDomainRate run_rate;
  double weight_bytes;              /* of a stored weight */
  double sample_seconds;            /* of audio in a sample */

  QmDomainBooster booster;
};

typedef enum {
  QM_DOMAIN_KIND_GPU,
  QM_DOMAIN_KIND_CPU,
  QM_DOMAIN_KIND_APPLE,
  QM_DOMAIN_KIND_NPU,
} QmDomainKind;

/* A device and how many of it, as these equations see them. */
typedef struct {
  const QmOtherDomainsConstants *constants;
  const QmDevice *device;
  const QmConfiguration *given;
  QmDomainKind kind;
  int power;                        /* QmDomainPower, -1 unknown */
  int stack;                        /* the device's own, -1 none */
  double cpu_generation;
  gboolean measured;
  gboolean large_cache;
  gboolean new_port;
  gboolean bridge;                  /* links join two devices only */
  double joined;                    /* devices of several machines as if in one; 0 none */
  double bandwidth;                 /* reached by kernels */
  double cores;                     /* in use, CPUs */
  double core_share;
  double devices;
  double nodes;
} QmDomainSite;

typedef struct {
  double inside;                    /* B/s of one device within a machine */
  double outside;                   /* B/s of one device between machines */
  double group;                     /* devices that share the inside */
  double overlap;                   /* share of an exchange that computation can hide */
} QmDomainLinks;

typedef struct {
  double batch;                     /* samples per device and micro-step */
  double accumulation;
  double data_parallel;
  double samples_per_second;        /* whole job */
  double units_per_sample;
  QmUnit unit;
  double step;
  double compute;
  double memory;
  double communication;
  double input;
  double input_gain;                /* how many times the loader slows it down; 0 not at all */
  double overhead;
  double sigma;                     /* beyond that of the range */
  double flops;                     /* of one sample, all passes */
  double sheet_peak;
  gboolean known;
} QmDomainRun;

typedef struct {
  double parts[QM_MEMORY_N_PARTS];
  double host_bytes;
  gboolean spread;                  /* embedding tables, which did not fit whole */
  gboolean tables_on_host;          /* of embedding tables, a part */
  double host_share;                /* of their rows, read from there */
} QmDomainStore;

/* job */
void          qm_domain_job_init        (QmOtherDomains                *self,
                                         const QmPlan                  *plan,
                                         const QmModel                 *model);

/* device */
void          qm_domain_site_init       (QmDomainSite                  *self,
                                         const QmOtherDomainsConstants *constants,
                                         const QmDevice                *device,
                                         const QmDomainSite            *known,
                                         const QmConfiguration         *given);
double        qm_domain_joined          (const QmDomainSite            *self);
double        qm_domain_peak            (const QmDomainSite            *self,
                                         QmDomainRate                   rate,
                                         gboolean                       tf32_allowed,
                                         gboolean                       fp16_accumulate);
double        qm_domain_sheet_peak      (const QmDomainSite            *self,
                                         QmDomainRate                   rate,
                                         gboolean                       fp16_accumulate);
double        qm_domain_train_share     (const QmDomainSite            *self);
double        qm_domain_soft_max        (double                         a,
                                         double                         b);

/* links */
QmDomainLinks qm_domain_links           (const QmDomainSite            *self);
double        qm_domain_pcie            (const QmDomainSite            *self);
double        qm_domain_all_reduce      (const QmDomainLinks           *links,
                                         double                         bytes,
                                         double                         devices,
                                         double                         passes);
double        qm_domain_all_to_all      (const QmDomainSite            *self,
                                         const QmDomainLinks           *links,
                                         double                         bytes);
double        qm_domain_exposed         (const QmDomainLinks           *links,
                                         double                         communication,
                                         double                         computation);

/* rates */
double        qm_domain_real_tokens     (const QmOtherDomains          *self,
                                         QmDomainStack                  stack);
QmDomainStack qm_domain_stack           (const QmOtherDomains          *self,
                                         const QmDomainSite            *site);
QmDomainEngine qm_domain_engine         (const QmOtherDomains          *self,
                                         const QmDomainSite            *site);
void          qm_domain_train           (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         double                         host_share,
                                         QmDomainRun                   *run);
void          qm_domain_run             (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         double                         host_share,
                                         QmDomainRun                   *run);
void          qm_domain_rate            (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         double                         host_share,
                                         QmDomainRun                   *run);
void          qm_domain_run_whisper     (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         QmDomainRun                   *run);
void          qm_domain_tabular         (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         QmEstimate                    *estimate);

/* memory */
double        qm_domain_parameters      (const QmOtherDomains          *self);
double        qm_domain_trainable       (const QmOtherDomains          *self);
double        qm_domain_states_bytes    (const QmOtherDomains          *self);
void          qm_domain_store_training  (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         double                         batch,
                                         double                        *parts);
double        qm_domain_batch           (const QmOtherDomains          *self,
                                         const QmDomainSite            *site);
void          qm_domain_store           (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         double                         batch,
                                         double                         budget,
                                         QmDomainStore                 *store);
void          qm_domain_fill_memory     (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         double                         batch,
                                         const QmDomainStore           *store,
                                         QmMemory                      *memory);
void          qm_domain_outline_memory  (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         double                         batch,
                                         const QmDomainStore           *store,
                                         QmOutline                     *outline);
void          qm_domain_judge           (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         gboolean                       tables_on_host,
                                         QmMemory                      *memory);

/* ranges */
double        qm_domain_rate_sigma      (const QmOtherDomains          *self,
                                         const QmDomainSite            *site,
                                         const QmDomainRun             *run);
QmState       qm_domain_rate_state      (const QmOtherDomains          *self,
                                         const QmDomainSite            *site);
QmState       qm_domain_memory_state    (const QmOtherDomains          *self,
                                         const QmDomainSite            *site);

G_END_DECLS
