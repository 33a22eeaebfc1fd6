/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "qm-json-box.h"

#include "plan/qm-plan-enums.h"

G_BEGIN_DECLS

/**
 * QmArchitecture:
 *
 * A transformer-like model as shapes, one record for every naming family.
 * Counts are 0 where the architecture has no such part. Symbols in the
 * equations: L layers, h hidden, a heads, kv heads, d head size, f FFN width,
 * V vocabulary, E experts of which k are used.
 */
typedef struct {
  char type[32];                    /* model_type, "" unknown */
  gboolean known;                   /* FALSE: the shape was guessed from the parameter count */
  gboolean approximate;             /* counted as a plain transformer, since the family is not known */
  gboolean experts_guessed;         /* from the counts alone: how many there are is not known */
  double layers;
  double hidden;
  double heads;
  double kv_heads;
  double head_size;
  double ffn;
  double vocabulary;
  double max_positions;
  gboolean gated;                   /* three FFN matrices, not two */
  gboolean tied;                    /* output head is the embedding */
  gboolean parallel_block;          /* attention and FFN share one norm */
  gboolean qk_norm;

  /* mixture of experts */
  double experts;                   /* 1 dense */
  double experts_per_token;
  double expert_ffn;
  double shared_experts;
  double shared_expert_ffn;
  double dense_layers_first;
  double moe_layers;

  /* multi-head latent attention */
  double q_lora_rank;
  double kv_lora_rank;
  double qk_nope_head_size;
  double qk_rope_head_size;
  double v_head_size;

  /* layers by what they keep of the past */
  double full_attention_layers;
  double sliding_layers;
  double window;
  double recurrent_layers;          /* linear attention, Mamba */
  double state_size;                /* bytes a sequence of all recurrent layers, 16 bit */
  double full_cache_elements;       /* that one token leaves in all layers that see the whole context */
  double sliding_cache_elements;    /* the same, in the layers with a window */
  double cross_cache_elements;      /* that one token of the encoder leaves in the decoder */
  double encoder_tokens;            /* where their number is fixed, as for speech; 0 as many as there are */

  /* encoder-decoder */
  double encoder_layers;
  double decoder_layers;

  /* exact counts, where the form is known */
  double parameters;
  double active_parameters;
  double embedding_parameters;      /* input embedding alone */
  double head_parameters;           /* output head, 0 where it is the embedding */
  double expert_parameters;         /* in all routed experts together */
  double expert_linear_parameters;  /* of them, in matrices */
  double linear_parameters;         /* in the matrices that quantisation packs: no embedding, head, norm or router */
} QmArchitecture;

/* What the memory traffic of a vision model depends on. */
typedef enum {
  QM_FAMILY_UNKNOWN,
  QM_FAMILY_CONV,
  QM_FAMILY_GROUPED,
  QM_FAMILY_DEPTHWISE,
  QM_FAMILY_DENSE,
  QM_FAMILY_CONVNEXT,
  QM_FAMILY_TRANSFORMER,
  QM_FAMILY_HYBRID,
  QM_FAMILY_UNET,
  QM_FAMILY_CONV3D,
  QM_FAMILY_OTHER,
} QmFamily;

/* Who said what the model is. */
typedef enum {
  QM_READER_NONE,
  QM_READER_CATALOG,
  QM_READER_CONFIG,
  QM_READER_SAFETENSORS,
  QM_READER_GGUF,
  QM_READER_PARAMETER_COUNT,
} QmReader;

/**
 * QmModel:
 * @flops_per_sample: forward FLOPs (2 x MACs) of one sample; for image
 *   generation of the whole sample; 0 unknown
 * @pass_flops: of one pass of the network (one denoising step); 0 unknown
 * @activations_per_sample: elements written by convolutions and matrix
 *   products, of the same sample as @flops_per_sample
 *
 * A model, resolved: everything the predictors want to know of it.
 */
typedef struct {
  char id[64];
  char name[96];
  QmTask task;
  QmReader read_by;
  QmArchitecture architecture;
  JsonObject *config;               /* (nullable): the raw config.json, for what only one reader needs */
  QmJsonBox *config_tree;           /* (nullable): that @config is a part of */
  double parameters;
  double active_parameters;

  /* vision, detection, image generation, speech, recommenders */
  gboolean catalogued;              /* found in the vision catalog */
  QmFamily family;
  char kind[24];                    /* classification, detection, diffusion ... */
  char series[32];                  /* networks that differ in nothing but @depth; "" unknown */
  double depth;                     /* layers, where the network's name counts them; 0 unknown */
  double image_size;
  double flops_per_sample;
  double pass_flops;
  double activations_per_sample;
  double pass_activations;
  double ops;                       /* kernel launches of one forward pass; 0 unknown */
  double vae_flops;
  double vae_activations;
  double text_encoder_parameters;   /* of an image pipeline, where @parameters does not hold them */
  double denoiser_parameters;       /* of an image pipeline, where @parameters holds more; 0 all */
  double linear_parameters;         /* in linear layers, where others are convolutions; 0 unknown */
  double patches_per_volume;
  double passes_per_step;           /* of a denoiser that needs no guidance: 1; 0 unknown */
  double image_tokens;              /* that a denoiser makes of one image */
  double encoder_layers;
  double decoder_layers;
  double encoder_parameters;
  double decoder_parameters;
  double dense_parameters;
  double embedding_lookups;
  double embedding_dim;
  double embedding_features;
  double embedding_rows;
  double items_per_query;
  gboolean flops_guessed;

  /* published quality; NaN unknown */
  double top1;
  double top1_low;
  double top1_high;

  const char *license;              /* (nullable) */
  const char *source;               /* (nullable) */
  double training_tokens;           /* that it was pre-trained on; 0 unknown */

  double stored_bytes;              /* of the tensors in the file read; 0 unknown */
  const char *stored_format;        /* (nullable): the word of `serving.weights` for what the file holds */
  JsonObject *facts;                /* (nullable): the catalog entry, which @license and @source are of */
  QmJsonBox *facts_tree;            /* (nullable): that @facts is a part of */
  GPtrArray *notes;                 /* (nullable) (element-type QmMessage): what was assumed in reading it */
} QmModel;

G_END_DECLS
