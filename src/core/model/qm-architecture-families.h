/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a family's layers are made of, where its config.json does not say. */
typedef enum {
  QM_TRAIT_GATED = 1 << 0,          /* three FFN matrices */
  QM_TRAIT_TIED = 1 << 1,           /* output head is the embedding */
  QM_TRAIT_LAYER_NORM = 1 << 2,     /* scale and shift, not scale alone */
  QM_TRAIT_QKV_BIAS = 1 << 3,
  QM_TRAIT_OUT_BIAS = 1 << 4,
  QM_TRAIT_MLP_BIAS = 1 << 5,
  QM_TRAIT_QK_NORM = 1 << 6,        /* a norm over each query and key head */
  QM_TRAIT_PARALLEL = 1 << 7,       /* attention and FFN share one norm */
  QM_TRAIT_POSITIONS = 1 << 8,      /* a learned vector a position */
  QM_TRAIT_HEAD_BIAS = 1 << 9,
  QM_TRAIT_EMBED_NORM = 1 << 10,
  QM_TRAIT_MULTI_QUERY = 1 << 11,   /* one key-value head unless told otherwise */
  QM_TRAIT_FOUR_NORMS = 1 << 12,    /* a norm before and after each half */
  QM_TRAIT_NO_NORM = 1 << 13,
  QM_TRAIT_SHARED_GATE = 1 << 14,   /* a gate before the shared expert */
  QM_TRAIT_WIDE_QK_NORM = 1 << 15,  /* a norm over all query and all key heads */
  QM_TRAIT_SINKS = 1 << 16,         /* a learned sink a head; biases in router and experts */
  QM_TRAIT_OUTPUT_GATE = 1 << 17,   /* the query projection also makes a gate */
  QM_TRAIT_SHARED_FFN = 1 << 18,    /* one shared expert as wide as a routed one */
  QM_TRAIT_SLIDING = 1 << 19,       /* `sliding_window` holds for every layer */
} QmTraits;

#define QM_TRAITS_BIAS (QM_TRAIT_QKV_BIAS | QM_TRAIT_OUT_BIAS | QM_TRAIT_MLP_BIAS)

/* What the body of the network is. */
typedef enum {
  QM_BODY_DECODER,
  QM_BODY_ENCODER,
  QM_BODY_ENCODER_DECODER,
  QM_BODY_VISION,
  QM_BODY_TWO_TOWERS,
  QM_BODY_RESIDUAL,
  QM_BODY_UNET,
} QmBody;

/**
 * QmArchitectureFamily:
 * @type: `model_type`, without the suffix `_text`
 * @traits: what its layers are made of
 * @vocabulary: of its default configuration, 0 unknown
 * @sliding_period: every so many layers the last one, or with a negative
 *   period every second one, sees the whole context; 0 none
 * @window: tokens, where the file does not say
 */
typedef struct {
  const char *type;
  QmBody body;
  QmTraits traits;
  double vocabulary;
  int sliding_period;
  double window;
} QmArchitectureFamily;

const QmArchitectureFamily *qm_architecture_family_find (const char *type);

G_END_DECLS
