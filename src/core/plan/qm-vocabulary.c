/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-vocabulary.h"

#include <stdlib.h>
#include <string.h>

#define MAX_COMPARED 64

static const char * const weights[] = {
  "fp32", "fp16", "bf16", "fp8", "int8", "int4", "int3", "awq-int4", "gptq-int4", "gptq-int3", "nf4", "fp4", "mxfp4", NULL
};
static const char * const kv_caches[] = {
  "fp32", "fp16", "bf16", "fp8", "int8", "int4", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", NULL
};
static const char * const frameworks[] = {
  "megatron", "megatron-lm", "nemo", "megatron-bridge", "megatron-deepspeed", "fsdp", "composer", "llm-foundry", "torchtitan",
  "automodel", "metaseq", "torchtune", "transformers", "peft", "trl", "axolotl", "llama-factory", "deepspeed", "litgpt",
  "unsloth", "pytorch", "maxtext", "neuronx", "neuron", "optimum-neuron", "optimum-habana", "llm.c", "nvidia-tuned", "mlperf",
  "tensorflow", "keras", "detectron2", "mmdetection", "ultralytics", "huggingface", "diffusers", "accelerate", "habana",
  "timm", "torchvision", "lightning", "mxnet", "merlin-hugectr", "torchrec", "deeplearningexamples", "apex", NULL
};
static const char * const engines[] = {
  "vllm", "tensorrt-llm", "sglang", "llama.cpp", "ollama", "exllama", "transformers", "pytorch", "tensorrt", "onnxruntime",
  "openvino", "triton", "jetstream", "maxtext", "neuron", "tensorflow", "ctranslate2", "whisper.cpp", "diffusers", "mlc", "mlx",
  "autoawq", "tinychat", "tei", "tgi", "lmdeploy", "deepspeed", "infinity", "coreml", "maxdiffusion", "stable-fast", NULL
};
static const char * const techniques[] = {
  "chunked-cross-entropy", "activation-offload", "optimizer-in-backward", "async-tensor-parallel", "double-quantization", "dora",
  "cpu-offload", "flash-attention", "gradient-checkpointing", "expandable-segments", "fused-optimizer", "packing", NULL
};
static const char * const attention_kernels[] = { "flash-2", "flash-3", "cudnn", NULL };
static const char * const tunings[] = { "vendor", "ordinary", NULL };
static const char * const links[] = {
  "nvlink", "nvlink4", "nvlink5", "nvlink-nvl72", "pcie", "pcie3", "pcie4", "pcie5", "pcie6", "xgmi", "ici", "neuronlink",
  "infiniband", "roce", "ethernet", "efa", "omni-path", "rdma", "network", "dcn", "gpudirect-tcpx", NULL
};

/**
 * qm_vocabulary_is_weights:
 * @word: a word
 *
 * Returns: whether @word names a format of weights: one of the table, `exl2-N`
 *   with N bits, or `gguf-TYPE`
 */
gboolean
qm_vocabulary_is_weights (const char *word)
{
  char *end;

  if (g_str_has_prefix (word, "exl2-"))
    {
      double bits = g_ascii_strtod (word + strlen ("exl2-"), &end);

      return *end == '\0' && end > word + strlen ("exl2-") && bits >= 1 && bits <= 16;
    }
  if (g_str_has_prefix (word, "gguf-"))
    return strspn (word + strlen ("gguf-"), "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen (word) - strlen ("gguf-") &&
           strlen (word) > strlen ("gguf-");

  return g_strv_contains (weights, word);
}

/**
 * qm_vocabulary_is_kv_cache:
 * @word: a word
 *
 * Returns: whether @word names a number type of the KV cache
 */
gboolean
qm_vocabulary_is_kv_cache (const char *word)
{
  return g_strv_contains (kv_caches, word);
}

/**
 * qm_vocabulary_is_framework:
 * @word: a word
 *
 * Returns: whether @word names a training framework that is known
 */
gboolean
qm_vocabulary_is_framework (const char *word)
{
  return g_strv_contains (frameworks, word);
}

/**
 * qm_vocabulary_is_engine:
 * @word: a word
 *
 * Returns: whether @word names an inference engine that is known
 */
gboolean
qm_vocabulary_is_engine (const char *word)
{
  return g_strv_contains (engines, word);
}

/**
 * qm_vocabulary_is_technique:
 * @word: a word
 *
 * Returns: whether @word names a technique that is known
 */
gboolean
qm_vocabulary_is_technique (const char *word)
{
  return g_strv_contains (techniques, word);
}

/**
 * qm_vocabulary_is_attention_kernel:
 * @word: a word
 *
 * Returns: whether @word names an implementation of attention that is known
 */
gboolean
qm_vocabulary_is_attention_kernel (const char *word)
{
  return g_strv_contains (attention_kernels, word);
}

/**
 * qm_vocabulary_is_tuning:
 * @word: a word
 *
 * Returns: whether @word says who tuned the software
 */
gboolean
qm_vocabulary_is_tuning (const char *word)
{
  return g_strv_contains (tunings, word);
}

static gboolean
is_link (const char *word)
{
  const char *dash = strrchr (word, '-');
  g_autofree char *kind = NULL;

  if (g_strv_contains (links, word))
    return TRUE;
  if (dash == NULL || dash[1] == '\0' || strspn (dash + 1, "0123456789") != strlen (dash + 1))
    return FALSE;

  kind = g_strndup (word, dash - word);
  return g_strv_contains (links, kind);
}

/**
 * qm_vocabulary_is_interconnect:
 * @words: one link or two, inside and between nodes, with a comma between
 *
 * Returns: whether each is known
 */
gboolean
qm_vocabulary_is_interconnect (const char *words)
{
  g_auto (GStrv) parts = g_strsplit (words, ",", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (!is_link (parts[i]))
      return FALSE;

  return g_strv_length (parts) >= 1 && g_strv_length (parts) <= 2;
}

/**
 * qm_vocabulary_is_date:
 * @word: a word
 *
 * Returns: whether @word is a day of the calendar in ISO 8601, as 2026-11-30
 */
gboolean
qm_vocabulary_is_date (const char *word)
{
  if (strlen (word) != 10 || word[4] != '-' || word[7] != '-' || strspn (word, "0123456789-") != 10)
    return FALSE;

  return g_date_valid_dmy (g_ascii_strtoull (word + 8, NULL, 10), g_ascii_strtoull (word + 5, NULL, 10),
                           g_ascii_strtoull (word, NULL, 10));
}

/**
 * qm_edit_distance:
 * @a: a word
 * @b: another
 *
 * Levenshtein distance of the first 64 bytes.
 *
 * Returns: how many letters must be changed, added or left out
 */
guint
qm_edit_distance (const char *a,
                  const char *b)
{
  guint before[MAX_COMPARED + 1], now[MAX_COMPARED + 1];
  gsize n = MIN (strlen (a), MAX_COMPARED), m = MIN (strlen (b), MAX_COMPARED);

  for (gsize j = 0; j <= m; j++)
    before[j] = j;
  for (gsize i = 1; i <= n; i++)
    {
      now[0] = i;
      for (gsize j = 1; j <= m; j++)
        now[j] = MIN (MIN (before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
      memcpy (before, now, sizeof now);
    }

  return before[m];
}
