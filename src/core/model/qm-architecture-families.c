/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-families.h"

#include <string.h>

#define GATED    QM_TRAIT_GATED
#define TIED     QM_TRAIT_TIED
#define LN       QM_TRAIT_LAYER_NORM
#define BIAS     QM_TRAITS_BIAS
#define QKV      QM_TRAIT_QKV_BIAS
#define OUT      QM_TRAIT_OUT_BIAS
#define MLP      QM_TRAIT_MLP_BIAS
#define QK_NORM  QM_TRAIT_QK_NORM
#define PARALLEL QM_TRAIT_PARALLEL
#define LEARNED  QM_TRAIT_POSITIONS
#define HEAD     QM_TRAIT_HEAD_BIAS
#define FOUR     QM_TRAIT_FOUR_NORMS
#define WIDE     QM_TRAIT_WIDE_QK_NORM
#define SLIDING  QM_TRAIT_SLIDING

/* From the model code of transformers 5.24, one line a `model_type`. */
static const QmArchitectureFamily families[] = {
  { "llama", QM_BODY_DECODER, GATED, 32000 },
  { "mistral", QM_BODY_DECODER, GATED | SLIDING, 32000 },
  { "ministral", QM_BODY_DECODER, GATED | SLIDING, 32000 },
  { "mixtral", QM_BODY_DECODER, GATED | SLIDING, 32000 },
  { "internlm2", QM_BODY_DECODER, GATED, 92544 },
  { "baichuan", QM_BODY_DECODER, GATED, 125696 },
  { "granite", QM_BODY_DECODER, GATED, 49152 },
  { "smollm3", QM_BODY_DECODER, GATED | TIED, 128256 },
  { "qwen", QM_BODY_DECODER, GATED | QKV, 151936 },
  { "qwen2", QM_BODY_DECODER, GATED | QKV, 151936 },
  { "qwen2_moe", QM_BODY_DECODER, GATED | QKV | QM_TRAIT_SHARED_GATE, 151936 },
  { "qwen2_vl", QM_BODY_DECODER, GATED | QKV, 152064 },
  { "qwen2_5_vl", QM_BODY_DECODER, GATED | QKV, 152064 },
  { "qwen3", QM_BODY_DECODER, GATED | QK_NORM, 151936 },
  { "qwen3_moe", QM_BODY_DECODER, GATED | QK_NORM, 151936 },
  { "qwen3_vl", QM_BODY_DECODER, GATED | QK_NORM, 151936 },
  { "qwen3_vl_moe", QM_BODY_DECODER, GATED | QK_NORM, 151936 },
  { "qwen3_next", QM_BODY_DECODER, GATED | QK_NORM | QM_TRAIT_SHARED_GATE | QM_TRAIT_OUTPUT_GATE, 151936 },
  { "qwen3_5", QM_BODY_DECODER, GATED | QK_NORM | QM_TRAIT_OUTPUT_GATE, 248320 },
  { "qwen3_5_moe", QM_BODY_DECODER, GATED | QK_NORM | QM_TRAIT_SHARED_GATE | QM_TRAIT_OUTPUT_GATE, 248320 },
  { "gemma", QM_BODY_DECODER, GATED | TIED, 256000 },
  { "gemma2", QM_BODY_DECODER, GATED | TIED | FOUR, 256000, -2, 4096 },
  { "gemma3", QM_BODY_DECODER, GATED | TIED | FOUR | QK_NORM, 262208, 6, 1024 },
  { "phi", QM_BODY_DECODER, LN | BIAS | PARALLEL | HEAD, 51200 },
  { "phi3", QM_BODY_DECODER, GATED | SLIDING, 32064 },
  { "gpt2", QM_BODY_DECODER, LN | TIED | BIAS | LEARNED, 50257 },
  { "gpt_neo", QM_BODY_DECODER, LN | TIED | OUT | MLP | LEARNED, 50257 },
  { "gpt_neox", QM_BODY_DECODER, LN | BIAS, 50432 },
  { "gptj", QM_BODY_DECODER, LN | MLP | PARALLEL | HEAD, 50400 },
  { "codegen", QM_BODY_DECODER, LN | MLP | PARALLEL | HEAD, 50400 },
  { "gpt_bigcode", QM_BODY_DECODER, LN | TIED | BIAS | LEARNED | QM_TRAIT_MULTI_QUERY, 50257 },
  { "starcoder2", QM_BODY_DECODER, LN | TIED | BIAS | SLIDING, 49152 },
  { "opt", QM_BODY_DECODER, LN | TIED | BIAS | LEARNED, 50272 },
  { "bloom", QM_BODY_DECODER, LN | TIED | BIAS | QM_TRAIT_EMBED_NORM, 250880 },
  { "falcon", QM_BODY_DECODER, LN | TIED | QM_TRAIT_MULTI_QUERY, 65024 },
  { "mpt", QM_BODY_DECODER, LN | TIED | BIAS, 50368 },
  { "dbrx", QM_BODY_DECODER, GATED, 100352 },
  { "cohere", QM_BODY_DECODER, GATED | TIED | PARALLEL, 256000 },
  { "cohere2", QM_BODY_DECODER, GATED | TIED | PARALLEL, 256000, 4, 4096 },
  { "chatglm", QM_BODY_DECODER, GATED | QKV, 65024 },
  { "glm", QM_BODY_DECODER, GATED, 151552 },
  { "glm4", QM_BODY_DECODER, GATED | FOUR, 151552 },
  { "stablelm", QM_BODY_DECODER, GATED | LN, 50304 },
  { "nemotron", QM_BODY_DECODER, LN, 256000 },
  { "olmo", QM_BODY_DECODER, GATED | QM_TRAIT_NO_NORM, 50304 },
  { "olmo2", QM_BODY_DECODER, GATED | WIDE, 100352 },
  { "olmoe", QM_BODY_DECODER, GATED | WIDE, 50304 },
  { "deepseek", QM_BODY_DECODER, GATED, 102400 },
  { "deepseek_v2", QM_BODY_DECODER, GATED, 102400 },
  { "deepseek_v3", QM_BODY_DECODER, GATED, 129280 },
  { "kimi_k2", QM_BODY_DECODER, GATED, 163840 },
  { "llama4", QM_BODY_DECODER, GATED | QM_TRAIT_SHARED_FFN, 202048, 4, 8192 },
  { "gpt_oss", QM_BODY_DECODER, GATED | QKV | OUT | QM_TRAIT_SINKS, 201088, -2, 128 },
  { "jamba", QM_BODY_DECODER, GATED, 65536 },
  { "nemotron_h", QM_BODY_DECODER, 0, 131072 },
  { "mamba", QM_BODY_DECODER, TIED, 50280 },
  { "mamba2", QM_BODY_DECODER, 0, 32768 },
  { "transfo-xl", QM_BODY_DECODER, LN | TIED | MLP, 267735 },
  { "bert", QM_BODY_ENCODER, LN | TIED | BIAS, 30522 },
  { "roberta", QM_BODY_ENCODER, LN | TIED | BIAS, 50265 },
  { "xlm-roberta", QM_BODY_ENCODER, LN | TIED | BIAS, 250002 },
  { "distilbert", QM_BODY_ENCODER, LN | TIED | BIAS, 30522 },
  { "deberta-v2", QM_BODY_ENCODER, LN | TIED | BIAS, 128100 },
  { "mpnet", QM_BODY_ENCODER, LN | TIED | BIAS, 30527 },
  { "modernbert", QM_BODY_ENCODER, GATED | TIED, 50368 },
  { "t5", QM_BODY_ENCODER_DECODER, TIED, 32128 },
  { "mt5", QM_BODY_ENCODER_DECODER, GATED, 250112 },
  { "umt5", QM_BODY_ENCODER_DECODER, GATED, 256384 },
  { "bart", QM_BODY_ENCODER_DECODER, LN | TIED | BIAS, 50265 },
  { "mbart", QM_BODY_ENCODER_DECODER, LN | TIED | BIAS, 250027 },
  { "whisper", QM_BODY_ENCODER_DECODER, LN | TIED | BIAS, 51865 },
  { "vit", QM_BODY_VISION, LN | BIAS, 0 },
  { "deit", QM_BODY_VISION, LN | BIAS, 0 },
  { "clip", QM_BODY_TWO_TOWERS, LN | BIAS, 49408 },
  { "resnet", QM_BODY_RESIDUAL, 0, 0 },
  { "UNet2DConditionModel", QM_BODY_UNET, 0, 0 },
};

/**
 * qm_architecture_family_find:
 * @type: (nullable): `model_type` as in a config.json
 *
 * Returns: (transfer none) (nullable): what is known of the family
 */
const QmArchitectureFamily *
qm_architecture_family_find (const char *type)
{
  g_autofree char *name = NULL;

  if (type == NULL)
    return NULL;
  name = g_strdup (type);
  if (g_str_has_suffix (name, "_text"))
    name[strlen (name) - strlen ("_text")] = '\0';
  for (gsize i = 0; i < G_N_ELEMENTS (families); i++)
    if (g_str_equal (families[i].type, name))
      return &families[i];
  return NULL;
}
