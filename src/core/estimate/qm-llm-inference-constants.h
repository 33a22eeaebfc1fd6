/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-constants-reading.h"
#include "estimate/qm-llm-inference.h"

G_BEGIN_DECLS

/* The constants of qm-llm-inference.h as its own sources see them. What each
 * one means, its unit and where it comes from stand beside its value in
 * data/catalog/constants-llm-inference.json and quantization.json. */

/* Engines whose laws have the same terms. */
typedef enum {
  QM_INFERENCE_FAMILY_LOCAL,
  QM_INFERENCE_FAMILY_SERVER,
  QM_INFERENCE_FAMILY_EAGER,
  QM_INFERENCE_FAMILY_ACCELERATOR,
  QM_INFERENCE_N_FAMILIES,
} QmInferenceFamily;

/* Devices that behave alike. */
typedef enum {
  QM_INFERENCE_CLASS_GEFORCE,
  QM_INFERENCE_CLASS_NVIDIA_GDDR,
  QM_INFERENCE_CLASS_NVIDIA_HBM,
  QM_INFERENCE_CLASS_AMD_HBM,
  QM_INFERENCE_CLASS_RADEON,
  QM_INFERENCE_CLASS_INTEL_GPU,
  QM_INFERENCE_CLASS_APPLE,
  QM_INFERENCE_CLASS_UNIFIED,
  QM_INFERENCE_CLASS_NPU,
  QM_INFERENCE_CLASS_CPU,
  QM_INFERENCE_CLASS_APPLE_CPU,
  QM_INFERENCE_N_CLASSES,
} QmInferenceClass;

/* Kernels of matrix products, by what they unpack. */
typedef enum {
  QM_INFERENCE_KERNEL_W32,
  QM_INFERENCE_KERNEL_W16,
  QM_INFERENCE_KERNEL_FP8,
  QM_INFERENCE_KERNEL_FP4,
  QM_INFERENCE_KERNEL_W8,
  QM_INFERENCE_KERNEL_IQ,
  QM_INFERENCE_KERNEL_MX4,
  QM_INFERENCE_KERNEL_NF4,
  QM_INFERENCE_KERNEL_KQ,
  QM_INFERENCE_KERNEL_W4,
  QM_INFERENCE_N_KERNELS,
} QmInferenceKernel;

/* Those on processors come behind those on devices. */
#define QM_INFERENCE_N_ALL_KERNELS (2 * QM_INFERENCE_N_KERNELS)

typedef enum {
  QM_INFERENCE_LINK_NPU,
  QM_INFERENCE_LINK_FAST,
  QM_INFERENCE_LINK_PCIE,
  QM_INFERENCE_N_LINKS,
} QmInferenceLink;

typedef enum {
  QM_INFERENCE_EFFICIENCY,
  QM_INFERENCE_TAU,
  QM_INFERENCE_KAPPA,
  QM_INFERENCE_MU,
  QM_INFERENCE_MU_PROMPT,
  QM_INFERENCE_ALPHA,
  QM_INFERENCE_T0,
  QM_INFERENCE_HOP,
  QM_INFERENCE_SEQUENCE,
  QM_INFERENCE_HOST,
  QM_INFERENCE_EXPERT,
  QM_INFERENCE_INSTRUCTIONS,
  QM_INFERENCE_WORKSPACE,
  QM_INFERENCE_CPU_COPY,
  QM_INFERENCE_CONTEXT,
  QM_INFERENCE_PROCESS,
  QM_INFERENCE_N_TABLES,
} QmInferenceTable;

typedef enum {
  QM_INFERENCE_MEMORY,
  QM_INFERENCE_DECODE,
  QM_INFERENCE_PREFILL,
  QM_INFERENCE_FIRST_TOKEN,
  QM_INFERENCE_SERVING,
  QM_INFERENCE_N_QUANTITIES,
} QmInferenceQuantity;

#define QM_INFERENCE_MAX_ENGINES 48
#define QM_INFERENCE_MAX_ARCHS 64
#define QM_INFERENCE_MAX_FORMATS 96
#define QM_INFERENCE_MAX_KV_CACHES 24
#define QM_INFERENCE_MAX_METHODS 16
#define QM_INFERENCE_MAX_PCIE 8

/* base times the factors that match; 1 where there is none */
typedef struct {
  double base;
  double family[QM_INFERENCE_N_FAMILIES];
  double engine[QM_INFERENCE_MAX_ENGINES + 1];
  double device_class[QM_INFERENCE_N_CLASSES];
  double arch[QM_INFERENCE_MAX_ARCHS + 1];
  double cell[QM_INFERENCE_MAX_ENGINES + 1][QM_INFERENCE_N_CLASSES];
  double kernel[QM_INFERENCE_N_ALL_KERNELS];
  double engine_kernel[QM_INFERENCE_MAX_ENGINES + 1][QM_INFERENCE_N_ALL_KERNELS];
  double family_kernel[QM_INFERENCE_N_FAMILIES][QM_INFERENCE_N_ALL_KERNELS];
  double mixture[2];
  double link[QM_INFERENCE_N_LINKS];
} QmInferenceFactors;

typedef struct {
  char word[24];
  int same_as;                      /* index of the engine with the same kernels; often its own */
  QmInferenceFamily family;
  double max_sequences;
  gboolean micro_batches;           /* logits of one micro-batch are held */
  gboolean pipelined_prompts;       /* pieces of a prompt follow each other through the stages */
  gboolean whole_prompts;           /* a prompt is one pass */
  gboolean fp8_cache;               /* with weights of 8 bits or fewer the cache is fp8, unless said */
  gboolean profiled;                /* a trial run at the start sets aside what a full step takes */
  gboolean fp32_on_processors;
} QmInferenceEngine;

typedef struct {
  char word[32];
  double integer_rate;              /* against the FP32 rate */
  int except;                       /* QmInferenceClass where the rate is 1; -1 none */
} QmInferenceArch;

typedef struct {
  char word[24];                    /* of a family: how the names begin */
  double body;                      /* bits a parameter */
  double embedding;
  double head;
  double loss_bits;                 /* what the law of the loss adds to @body */
  double loss_method;               /* its term in that law */
  QmInferenceKernel kernel;
  gboolean experts_only;            /* the rest has the bits of the embedding */
  gboolean body_from_name;
} QmWeightFormat;

typedef struct {
  char word[16];
  double bytes;
} QmKvFormat;

typedef struct {
  double memory_utilisation;
  double engine_reserve;
  double prompt_chunk;
  double profile_chunk;
  double profile_above;
  double profile_outside;
  double sampler_bytes;
  double micro_batch;
  double pipeline_overlap;
  double host_bandwidth;
  double host_share;
  double collective;
  double link_share;
  double copied_bytes;
  double weight_only_from;
  double fast_link;
  double nominal_cpu_flops;
  double nominal_bandwidth;
  double page_growth;
  double repeated_cache;
  double fragmentation;
  double guessed_shape;
  double guessed_mixture;
  double length_spread;
  double warm_up;
  double cold_start_low;
  double cold_start_high;
  double tight_share;
  double input_tokens;
  double output_tokens;
  double decode_output_tokens;
  double decode_context;
} QmInferenceLimits;

typedef struct {
  double c0;
  double c_tokens;
  double c_parameters;
  double per_bit;
  double bits_at;
  double tokens;
  double parameters;
  double lossless_bits;
  double half_width;
  double points_8_bit;
  double points_4_bit;
  double points_8_bit_above;
  double points_exponent;
  double points_half_width;
  double points_law_below;
  double points_law_at;
} QmQuantizationLaw;

/* Guessed tokens that are checked in one step. */
typedef struct {
  double drafted;                   /* of a step; 0 none */
  QmRange acceptance;               /* of a guess */
  double draft_cost;                /* of a guess, over a step without any */
  double weights;                   /* beside the model's, over them */
} QmInferenceSpeculation;

struct _QmLlmInferenceConstants {
  int n_engines;
  QmInferenceEngine engines[QM_INFERENCE_MAX_ENGINES + 1]; /* behind the last one that nothing is known of */
  int default_engine;
  int n_archs;
  QmInferenceArch archs[QM_INFERENCE_MAX_ARCHS + 1];       /* likewise */
  QmInferenceFactors tables[QM_INFERENCE_N_TABLES];
  QmInferenceLimits limits;
  double pcie[QM_INFERENCE_MAX_PCIE];                      /* bytes per second by generation; 0 unknown */
  double pcie_unknown;
  double widths[QM_INFERENCE_N_QUANTITIES][QM_STATE_NEW + 1];
  double class_widths[QM_INFERENCE_N_QUANTITIES][QM_INFERENCE_N_CLASSES];
  int cell_sweeps[QM_INFERENCE_N_QUANTITIES][QM_INFERENCE_MAX_ENGINES + 1][QM_INFERENCE_N_CLASSES];
  int kernel_sweeps[QM_INFERENCE_N_QUANTITIES][QM_INFERENCE_MAX_ENGINES + 1][QM_INFERENCE_N_ALL_KERNELS];
  gboolean measured[QM_INFERENCE_N_QUANTITIES][QM_INFERENCE_MAX_ENGINES + 1];

  QmQuantizationLaw law;
  QmInferenceSpeculation speculations[QM_SPECULATION_EAGLE_3 + 1];
  int n_formats;
  QmWeightFormat formats[QM_INFERENCE_MAX_FORMATS];
  int n_format_families;
  QmWeightFormat format_families[QM_INFERENCE_MAX_FORMATS];
  char default_format[24];
  int n_kv_formats;
  QmKvFormat kv_formats[QM_INFERENCE_MAX_KV_CACHES];
  double kv_default;
};

int            qm_inference_constants_find_engine (const QmLlmInferenceConstants *self,
                                                   const char                    *word);
int            qm_inference_constants_find_arch   (const QmLlmInferenceConstants *self,
                                                   const char                    *word);
QmWeightFormat qm_inference_constants_find_format (const QmLlmInferenceConstants *self,
                                                   const char                    *word,
                                                   gboolean                      *known);
double         qm_inference_constants_kv_bytes    (const QmLlmInferenceConstants *self,
                                                   const char                    *word);

/* reading, shared by the files that read */
gboolean       qm_inference_missing               (const char                    *path,
                                                   GError                       **error);
gboolean       qm_inference_unknown               (const char                    *path,
                                                   const char                    *word,
                                                   GError                       **error);
JsonObject    *qm_inference_object                (JsonObject                    *object,
                                                   const char                    *key,
                                                   GError                       **error);
JsonArray     *qm_inference_array                 (JsonObject                    *object,
                                                   const char                    *key,
                                                   guint                          at_most,
                                                   GError                       **error);
gboolean       qm_inference_copy_word             (JsonObject                    *line,
                                                   const char                    *key,
                                                   char                          *into,
                                                   gsize                          size,
                                                   GError                       **error);
int            qm_inference_find_kernel           (const char                    *word);
gboolean       qm_inference_read_formats          (QmLlmInferenceConstants       *self,
                                                   JsonObject                    *constants,
                                                   JsonObject                    *formats,
                                                   GError                       **error);
gboolean       qm_inference_read_tables           (QmLlmInferenceConstants       *self,
                                                   JsonObject                    *root,
                                                   GError                       **error);

G_END_DECLS
