/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-other-domains.h"

G_BEGIN_DECLS

/* The constants of qm-other-domains.h as its own sources see them. What each
 * one means, its unit and where it comes from stand beside its value in
 * data/catalog/constants-other-domains.json. */

/* Device generations, by what a watt of board power computes. */
typedef enum {
  QM_DOMAIN_POWER_VOLTA,
  QM_DOMAIN_POWER_TURING,
  QM_DOMAIN_POWER_AMPERE,
  QM_DOMAIN_POWER_AMPERE_HBM,
  QM_DOMAIN_POWER_ADA,
  QM_DOMAIN_POWER_HOPPER,
  QM_DOMAIN_POWER_BLACKWELL,
  QM_DOMAIN_POWER_BLACKWELL_HBM,
  QM_DOMAIN_N_POWERS,
} QmDomainPower;

/* Software stacks that train. The first ones have factors of their own. */
typedef enum {
  QM_DOMAIN_STACK_PYTORCH,
  QM_DOMAIN_STACK_NVIDIA_TUNED,
  QM_DOMAIN_STACK_MLPERF,
  QM_DOMAIN_STACK_TENSORFLOW,
  QM_DOMAIN_STACK_DETECTRON2,
  QM_DOMAIN_STACK_HUGGINGFACE,
  QM_DOMAIN_STACK_COMPOSER,
  QM_DOMAIN_STACK_NEMO,
  QM_DOMAIN_STACK_NEURONX,
  QM_DOMAIN_STACK_HABANA,
  QM_DOMAIN_N_KNOWN_STACKS,
  QM_DOMAIN_STACK_UNSEEN = QM_DOMAIN_N_KNOWN_STACKS, /* a word that no measured case used */
  QM_DOMAIN_STACK_UNSTATED,
  QM_DOMAIN_N_STACKS,
} QmDomainStack;

/* What is trained, as far as software stacks differ in it. */
typedef enum {
  QM_DOMAIN_FIELD_VISION,
  QM_DOMAIN_FIELD_ENCODER,
  QM_DOMAIN_FIELD_DIFFUSION,
  QM_DOMAIN_FIELD_RECOMMENDER,
  QM_DOMAIN_N_FIELDS,
} QmDomainField;

/* How an inference engine launches and merges operators. */
typedef enum {
  QM_DOMAIN_ENGINE_EAGER,
  QM_DOMAIN_ENGINE_TENSORFLOW,
  QM_DOMAIN_ENGINE_COMPILED,
  QM_DOMAIN_ENGINE_ENGINE,
  QM_DOMAIN_ENGINE_CPU,
  QM_DOMAIN_ENGINE_APPLE,
  QM_DOMAIN_ENGINE_NPU,
  QM_DOMAIN_N_ENGINES,
} QmDomainEngine;

/* Engines of speech recognition, by the cost of a decoder layer. */
typedef enum {
  QM_DOMAIN_SPEECH_PYTORCH,
  QM_DOMAIN_SPEECH_TRANSFORMERS,
  QM_DOMAIN_SPEECH_CTRANSLATE2,
  QM_DOMAIN_SPEECH_WHISPER_CPP,
  QM_DOMAIN_SPEECH_OPENVINO,
  QM_DOMAIN_SPEECH_TENSORRT,
  QM_DOMAIN_N_SPEECH,
} QmDomainSpeech;

/* Number formats, by the units of a device that compute in them. */
typedef enum {
  QM_DOMAIN_RATE_FP32,
  QM_DOMAIN_RATE_TF32,
  QM_DOMAIN_RATE_FP16,
  QM_DOMAIN_RATE_BF16,
  QM_DOMAIN_RATE_FP8,
  QM_DOMAIN_RATE_INT8,
  QM_DOMAIN_RATE_FP4,
  QM_DOMAIN_RATE_OTHER,             /* stored in fewer bits, computed in 16 */
  QM_DOMAIN_N_RATES,
} QmDomainRate;

typedef enum {
  QM_DOMAIN_BOOSTER_XGBOOST,
  QM_DOMAIN_BOOSTER_XGBOOST_EXACT,
  QM_DOMAIN_BOOSTER_LIGHTGBM,
  QM_DOMAIN_BOOSTER_CATBOOST,
  QM_DOMAIN_BOOSTER_H2O,
  QM_DOMAIN_N_BOOSTERS,
} QmDomainBooster;

/* Kinds of cases that share a range. */
typedef enum {
  QM_DOMAIN_RANGE_TRAIN_VISION,
  QM_DOMAIN_RANGE_TRAIN_VISION_HARD,
  QM_DOMAIN_RANGE_TRAIN_ENCODER,
  QM_DOMAIN_RANGE_TRAIN_DIFFUSION,
  QM_DOMAIN_RANGE_TRAIN_RECOMMENDER,
  QM_DOMAIN_RANGE_TABULAR,
  QM_DOMAIN_RANGE_RUN_VISION,
  QM_DOMAIN_RANGE_RUN_VISION_HARD,
  QM_DOMAIN_RANGE_RUN_ENCODER,
  QM_DOMAIN_RANGE_RUN_GENERATION,
  QM_DOMAIN_RANGE_RUN_SPEECH,
  QM_DOMAIN_RANGE_RUN_SPEECH_HARD,
  QM_DOMAIN_RANGE_RUN_RECOMMENDER,
  QM_DOMAIN_N_RANGES,
} QmDomainRange;

/* A part of the name of an architecture, and what it tells. */
typedef struct {
  char text[24];
  int power;                        /* QmDomainPower without HBM; -1 none */
  int stack;                        /* the only stack that trains on it; -1 none */
  double cpu_generation;            /* 1 unless known */
  gboolean measured;
  gboolean large_cache;
  gboolean new_port;                /* 400 Gbit/s */
} QmDomainArchitecture;

typedef struct {
  char prefix[16];                  /* of a device id */
  double devices;
} QmDomainLinkDomain;

typedef struct {
  QmWord word;
  QmDomainStack stack;
} QmDomainFramework;

typedef struct {
  QmWord word;
  QmDomainEngine kind;
  QmDomainSpeech speech;
  gboolean server;                  /* answers over the network */
  gboolean greedy;                  /* one beam unless told otherwise */
  gboolean python_front_end;
  gboolean sixteen_bit;             /* computes in 16 bit what is stored in 8 */
  gboolean sixteen_bit_files;
  gboolean compiles_low_precision;
} QmDomainEngineWord;

typedef struct {
  QmWord word;
  double bytes;
  QmDomainRate rate;
} QmDomainWeights;

typedef struct {
  char prefix[24];
  QmDomainBooster booster;
} QmDomainBoosterWord;

typedef struct {
  double flop_per_joule[QM_DOMAIN_N_POWERS]; /* TFLOP/s per watt */
  double energy8, energy_tf32;
  double bw_hbm, bw_gddr, bw_gddr7, bw_ada, bw_ddr;
  double geforce, amd;
  double bandwidth, npu_bytes_per_flop, cpu_cores;
} QmDomainDeviceConstants;

typedef struct {
  double pcie_shared, nvlink, pcie, no_p2p, no_p2p_workstation, bridge_unstated, staged_devices, network, overlap, overlap_staged;
  double sync_fraction, sync_seconds;
  double all_to_all, all_to_all_latency;
  double pcie3, pcie_generation, shared_from;
  double port_new, port_old, machine_datacenter, machine_other;
} QmDomainLinkConstants;

typedef struct {
  double tau_eager, tau_tuned, tau_run, tau_graph, tau_compiled, tau_recommender, kernel;
  double images_per_core, process_rate, image_bytes, least_bytes, decode_rate, cores_new, cores_old;
} QmDomainHostConstants;

typedef struct {
  double e, channels_first, frozen_norm, detection_per_image, run_step_seconds;
} QmDomainVisionConstants;

typedef struct {
  double e, passes, score_passes, fused;
  double real_tokens, real_tokens_binned, real_tokens_run;
  double amp_bytes, fp8_gain, run_kappa, server;
  double overlap_tuned, pretrain_head, ops_train, ops_run, run_passes, squad_tokens;
  double base_parameters, base_heads, head_size, vocabulary, layers, hidden;
} QmDomainEncoderConstants;

typedef struct {
  double e, train_kappa, conditioning, sharded_from;
  double run_e, run_e8, weight_reads, decoder_passes;
  double engine_factor[QM_DOMAIN_N_ENGINES];
  double launches, launches_tuned;
} QmDomainDiffusionConstants;

typedef struct {
  double e, e32, passes, run_passes, embedding_passes, row_bytes, engine, spread_from;
  double overlap;
} QmDomainRecommenderConstants;

typedef struct {
  double train_aws, train_intel, train_cpu;
  double run_aws, run_google, run_other;
  double conv, sram, apple_e;
  double cpu_e8, cpu_e32, cpu_cache, cpu_tau, cpu_detection_post, cpu_free_tau, cpu_fused_ops, cpu_group;
  double engine_e8, engine_e16;
  double kappa_fused, kappa_engine;
} QmDomainRunConstants;

typedef struct {
  double tokens_window, step_seconds, mel, e, cpu_tau;
  double tau[QM_DOMAIN_N_SPEECH];
  double window_seconds, window_frames, mel_native, free_tokens;
} QmDomainSpeechConstants;

typedef struct {
  double ns[2][QM_DOMAIN_N_BOOSTERS];    /* CPU, GPU; one row, feature and level */
  double fixed[2][QM_DOMAIN_N_BOOSTERS]; /* s a tree of 1,024 leaves */
  double partition, bundles, sparse_cost, cpu_generation, cache_miss, network_tree;
  double bytes_row_lightgbm, bytes_value_lightgbm, bytes_row_xgboost, bytes_value_xgboost;
  double rows, features, trees, levels, catboost_levels, wide;
  double v100_bandwidth, cores, core_scaling, host_bytes, device_value;
} QmDomainTabularConstants;

typedef struct {
  double context, fragmentation, workspace, norm, frozen_norm, generation, checkpointed;
  double vae_maps, cpu_workspace, speech_workspace;
  double encoder_states, encoder_scores, encoder_logits, recommender;
  double generation_layer, generation_layers, moving_average;
  double generation_workspace, generation_adapter_workspace, adapter_bytes;
  double block_input, block_layers, run_activations, run_block, run_encoders, padding_kept, fused_scores, sharded_from, run_workspace, vae_channels;
  double generation_states, generation_tokens, generation_hidden;
  double speech_states, speech_scores, speech_text, speech_head;
  double optimizer[QM_OPTIMIZER_MUON + 1]; /* B per parameter */
} QmDomainMemoryConstants;

typedef struct {
  double parameters, activations;
  double activations_per_flop, activations_per_flop_transformer, activations_per_flop_speech;
  double batch_vision, batch_depthwise, batch_elements, batch_encoder, batch_diffusion, batch_diffusion_small;
  double batch_recommender, batch_run, batch_generation, batch_whisper;
  double sequence, diffusion_tokens;
  double dense_parameters, recommender_activations, embedding_dim, embedding_features;
  double adapter_share, adapter_share_memory;
  double whisper_hidden, whisper_layers, whisper_flops, whisper_decoder, whisper_beam;
} QmDomainDefaults;

typedef struct {
  double cases[QM_DOMAIN_N_RANGES];
  double memory, memory_host, new_device, guessed, extra;
  double stack_floor, batch_unstated, batch_unstated_recommender, fusion_unstated;
  double patches, whisper, recommender_serving;
  double tabular_features, tabular_depth, tabular_share, finish;
} QmDomainSigmas;

#define QM_DOMAIN_MAX_ARCHITECTURES 32
#define QM_DOMAIN_MAX_LINK_DOMAINS 8
#define QM_DOMAIN_MAX_FRAMEWORKS 64
#define QM_DOMAIN_MAX_ENGINES 32
#define QM_DOMAIN_MAX_WEIGHTS 32
#define QM_DOMAIN_MAX_BOOSTERS 16
#define QM_DOMAIN_N_FAMILIES (QM_FAMILY_OTHER + 1)

struct _QmOtherDomainsConstants {
  QmDomainDeviceConstants device;
  QmDomainLinkConstants link;
  QmDomainHostConstants host;
  QmDomainVisionConstants vision;
  QmDomainEncoderConstants encoder;
  QmDomainDiffusionConstants diffusion;
  QmDomainRecommenderConstants recommender;
  QmDomainRunConstants run;
  QmDomainSpeechConstants speech;
  QmDomainTabularConstants tabular;
  QmDomainMemoryConstants memory;
  QmDomainDefaults usual;
  QmDomainSigmas sigma;
  double backward, update_sgd, update_adam, wide_gradients, weight_only_from;
  double time_evaluation, time_start;
  double train_kappa[QM_DOMAIN_N_FAMILIES];
  double run_kappa[QM_DOMAIN_N_FAMILIES];
  double stack[QM_DOMAIN_N_FIELDS][QM_DOMAIN_N_STACKS];       /* factor on time */
  double stack_sigma[QM_DOMAIN_N_FIELDS][QM_DOMAIN_N_STACKS]; /* where it is a mean over stacks */

  QmDomainArchitecture architectures[QM_DOMAIN_MAX_ARCHITECTURES];
  int n_architectures;
  QmDomainLinkDomain link_domains[QM_DOMAIN_MAX_LINK_DOMAINS];
  int n_link_domains;
  QmDomainFramework frameworks[QM_DOMAIN_MAX_FRAMEWORKS];
  int n_frameworks;
  QmDomainEngineWord engines[QM_DOMAIN_MAX_ENGINES];
  int n_engines;
  QmDomainWeights weights[QM_DOMAIN_MAX_WEIGHTS];
  int n_weights;
  QmDomainBoosterWord boosters[QM_DOMAIN_MAX_BOOSTERS];
  int n_boosters;
};

QmDomainStack             qm_domains_constants_find_stack   (const QmOtherDomainsConstants *self,
                                                             const char                    *word);
const QmDomainEngineWord *qm_domains_constants_find_engine  (const QmOtherDomainsConstants *self,
                                                             const char                    *word);
const QmDomainWeights    *qm_domains_constants_find_weights (const QmOtherDomainsConstants *self,
                                                             const char                    *word);
QmDomainBooster           qm_domains_constants_find_booster (const QmOtherDomainsConstants *self,
                                                             const char                    *model_id);

G_END_DECLS
