/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-llm-training.h"

G_BEGIN_DECLS

/* The constants of qm-llm-training.h as its own sources see them. What each
 * one means, its unit and where it comes from stand beside its value in
 * data/catalog/constants-llm-training.json. */

/* Software stacks whose jobs have the same terms. */
typedef enum {
  QM_LLM_STACK_EAGER,
  QM_LLM_STACK_FSDP,
  QM_LLM_STACK_MEGATRON,
  QM_LLM_STACK_MEGATRON_2022,
  QM_LLM_STACK_XLA,
  QM_LLM_STACK_NATIVE,
  QM_LLM_N_STACKS,
} QmLlmStack;

typedef enum {
  QM_LLM_ATTENTION_AMPERE,
  QM_LLM_ATTENTION_HOPPER,
  QM_LLM_ATTENTION_BLACKWELL,
  QM_LLM_ATTENTION_TPU,
  QM_LLM_N_ATTENTIONS,
} QmLlmAttention;

/* How much the kernels between matrix products are merged. */
typedef enum {
  QM_LLM_FUSION_EAGER,
  QM_LLM_FUSION_FSDP,
  QM_LLM_FUSION_FUSED,
  QM_LLM_N_FUSIONS,
} QmLlmFusion;

typedef enum {
  QM_LLM_FLOOR_EAGER,
  QM_LLM_FLOOR_FSDP,
  QM_LLM_FLOOR_NATIVE,
  QM_LLM_N_FLOORS,
} QmLlmFloor;

/* Plans that name no framework, by what they have in common. */
typedef enum {
  QM_LLM_USUAL_TPU,
  QM_LLM_USUAL_TRAINIUM,
  QM_LLM_USUAL_GAUDI,
  QM_LLM_USUAL_ADAPTER_VENDOR,
  QM_LLM_USUAL_ADAPTER_COMPILED,
  QM_LLM_USUAL_ADAPTER_ONE_16_BIT,
  QM_LLM_USUAL_ADAPTER_ONE,
  QM_LLM_USUAL_ADAPTER_SHARDED_16_BIT,
  QM_LLM_USUAL_ADAPTER_SHARDED,
  QM_LLM_USUAL_FULL_SHARDED_SMALL,
  QM_LLM_USUAL_FULL_SHARDED_SPLIT,
  QM_LLM_USUAL_FULL_SHARDED,
  QM_LLM_USUAL_FULL_LOW_PRECISION,
  QM_LLM_USUAL_FULL_SPLIT,
  QM_LLM_USUAL_FULL_SEVERAL,
  QM_LLM_USUAL_FULL_ONE,
  QM_LLM_USUAL_FULL_ONE_16_BIT,
  QM_LLM_N_USUAL,
} QmLlmUsual;

typedef enum {
  QM_LLM_MEMORY_RANGE_ONE,
  QM_LLM_MEMORY_RANGE_LORA,
  QM_LLM_MEMORY_RANGE_QLORA,
  QM_LLM_MEMORY_RANGE_SHARDED,
  QM_LLM_N_MEMORY_RANGES,
} QmLlmMemoryRange;

typedef enum {
  QM_LLM_RATE_RANGE_EAGER,
  QM_LLM_RATE_RANGE_FSDP,
  QM_LLM_RATE_RANGE_FSDP_OTHER,
  QM_LLM_RATE_RANGE_MEGATRON,
  QM_LLM_RATE_RANGE_MEGATRON_UNSTATED,
  QM_LLM_RATE_RANGE_XLA,
  QM_LLM_N_RATE_RANGES,
} QmLlmRateRange;

/* Everything that memory depends on. There are two sets: the fitted one, and
 * a rounded one that decides whether checkpointing must have been on. */
typedef struct {
  double activations;
  double selective;
  double logits;
  double logits_chunked;
  double logits_fused;
  double offload_layers;
  double lora_input;
  double lora_input_plain;
  double qlora_input;
  double quantised_extra;
  double deepspeed_gradients;
  double deepspeed_buffer;
  double reserved_single;
  double reserved_sharded;
  double context_gib;
  double context_communication_gib;
} QmLlmMemoryConstants;

typedef struct {
  double selective;
  double recomputed;
  double attention[QM_LLM_N_ATTENTIONS];
  double attention_tuned;
  double attention_early;
  double elementwise[QM_LLM_N_FUSIONS];
  double logits;
  double dequantise_int4;
  double dequantise_nf4;
  double floor[QM_LLM_N_FLOORS];
  double floor_zero3;
  double floor_moe;
  double floor_decomposed;
  double decomposed;
  double fp8_megatron;
  double fp8_fsdp;
  double fp8_other;
  double fp4;
  double moe;
  double moe_elementwise;
  double tensor_exposed_megatron;
  double tensor_exposed_other;
  double context_exposed;
  double expert_exposed;
  double overlap;
  double overlap_eager;
  double overlap_xla_gpu;
  double optimizer;
  double cpu_adam;
  double step_overhead;
  double straggle;
  double padding;
  double compiled;
} QmLlmRateConstants;

typedef struct {
  double fast;
  double slow;
  double pcie;
  double nic_other;
  double nic_dcn;
  double nic_efa_trainium;
  double nic_tcpx;
  double pcie4;
  double pcie5;
  double unknown_fabric;
  double domain;
  double staged;
  double fp8_gather;
  double bridge_unstated;
  double bridge_cards;
} QmLlmLinkConstants;

typedef struct {
  double weights_share;
  double xla_rate;
  double memory_gb;
  double tokens;
  double interleaved;
  double recompute_above;
} QmLlmLayoutConstants;

typedef struct {
  double adam_zero2;
  double adam_zero3;
  double all_zero3;
  double buffer;
  double nvme;
  double nvme_states;
  double nvme_gradients;
  double nvme_optimizer_buffers;
  double nvme_group;
  double nvme_weight_buffers;
  double nvme_weight_buffer;
  double nvme_weights_kept;
} QmLlmHostConstants;

#define QM_LLM_MAX_FAMILIES 24
#define QM_LLM_MAX_DEVICES 64
#define QM_LLM_MAX_FRAMEWORKS 48
#define QM_LLM_MAX_FROZEN 32
#define QM_LLM_MAX_CANDIDATES 3

/* Devices that behave alike. */
typedef struct {
  char word[16];
  QmLlmAttention attention;
  double rate;                      /* of matrix products, over that of the reference */
  double nic;                       /* bytes per second and device */
  double domain;                    /* devices */
  gboolean fp8_other;
  gboolean early_attention;
} QmLlmFamily;

typedef struct {
  char prefix[24];
  gsize length;
  int family;
  double mamf;
} QmLlmDeviceKind;

typedef struct {
  char word[24];
  QmLlmStack stack;
  double slowness;                  /* of its class and its own: step time over the reference's */
  gboolean is_reference;            /* that the others are measured against */
  gboolean deepspeed;               /* ZeRO means DeepSpeed */
  gboolean deepspeed_alone;         /* even where nothing is split */
  gboolean chunked_loss;
  gboolean fused_loss;
  gboolean counts_whole_attention;  /* its FLOP/s: also what the causal mask leaves out */
  gboolean early_attention;
  gboolean whole_load;              /* each device reads the whole checkpoint */
  gboolean recomputes_qlora;        /* unless told otherwise */
  gboolean quantised_extra;         /* of bitsandbytes and GPTQ, over the nominal bits */
  gboolean keeps_frozen_inputs;     /* although a 4-bit matrix needs none */
  gboolean kept_frozen_inputs;      /* in releases that were measured, no longer */
  gboolean single_quantisation;     /* nf4 scales stay in 32 bit unless asked */
  gboolean memory_measured;         /* on any device */
  gboolean rate_measured;
  guint8 memory_sources[QM_LLM_MAX_FAMILIES];
  guint8 rate_sources[QM_LLM_MAX_FAMILIES];
} QmLlmFramework;

typedef struct {
  char word[24];
  double bits;
} QmLlmFrozenWeights;

typedef struct {
  int framework;
  double weight;
} QmLlmCandidate;

typedef struct {
  int n;
  QmLlmCandidate items[QM_LLM_MAX_CANDIDATES];
} QmLlmCandidates;

struct _QmLlmTrainingConstants {
  QmLlmMemoryConstants memory;
  QmLlmMemoryConstants choice;      /* decides on checkpointing alone */
  QmLlmRateConstants rate;
  QmLlmLinkConstants link;
  QmLlmLayoutConstants layout;
  QmLlmHostConstants host;
  double mamf;                      /* of devices without a published one */
  double vocabulary;
  double vocabulary_guessed;
  double memory_ranges[QM_LLM_N_MEMORY_RANGES];
  double rate_ranges[QM_LLM_N_RATE_RANGES];
  double unknown_framework;
  double unseen_framework;
  double unknown_shape;
  QmLlmCandidates usual[QM_LLM_N_USUAL];
  int n_families;
  QmLlmFamily families[QM_LLM_MAX_FAMILIES];    /* the last one is that of all other devices */
  int n_devices;
  QmLlmDeviceKind devices[QM_LLM_MAX_DEVICES];
  int n_frameworks;
  QmLlmFramework frameworks[QM_LLM_MAX_FRAMEWORKS + 1]; /* after them one that nothing is known of */
  int n_frozen;
  QmLlmFrozenWeights frozen[QM_LLM_MAX_FROZEN];
};

int    qm_llm_training_constants_find_framework (const QmLlmTrainingConstants *self,
                                                 const char                   *word);
double qm_llm_training_constants_frozen_bits    (const QmLlmTrainingConstants *self,
                                                 const char                   *word);
void   qm_llm_training_constants_find_family    (const QmLlmTrainingConstants *self,
                                                 const char                   *device_id,
                                                 const QmLlmFamily           **family,
                                                 double                       *mamf);

G_END_DECLS
