/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "decide/qm-ladder-private.h"

/* FP8 multiplications need Ada, Hopper or later. */
#define FP8_COMPUTE_CAPABILITY 8.9

/* PEFT and bitsandbytes know these tasks. */
#define LANGUAGE (1u << QM_TASK_LANGUAGE_MODEL)
#define ADAPTABLE (LANGUAGE | 1u << QM_TASK_IMAGE_GENERATION | 1u << QM_TASK_TEXT_ENCODER | 1u << QM_TASK_SPEECH)

/* ---------------------------------------------------------------- training */

/* The same examples go into each optimizer step, a few after the other. */
static QmRungState
smaller_batch (QmDescent *descent)
{
  double micro_batch = descent->now.configuration.micro_batch;

  if (!(micro_batch > 1))
    return QM_RUNG_ALREADY;

  if (descent->micro_batch > 0)
    qm_descent_set_micro_batch (descent, descent->micro_batch);
  else
    qm_descent_fit_micro_batch (descent, micro_batch);

  return QM_RUNG_TAKEN;
}

/* It returns what the framework keeps for later: the peak was before. */
static QmRungState
empty_cache (QmDescent *descent)
{
  return QM_RUNG_NO_USE;
}

static QmRungState
mixed_precision (QmDescent *descent)
{
  QmPrecision now = descent->now.training.precision;

  if (now != QM_PRECISION_FP32 && now != QM_PRECISION_TF32)
    return QM_RUNG_ALREADY;

  descent->plan->training.precision = descent->device->tflops_bf16 > 0 ? QM_PRECISION_AMP_BF16 : QM_PRECISION_AMP_FP16;
  return QM_RUNG_TAKEN;
}

/* What encoders and the image encoder give is the same in each epoch. */
static QmRungState
store_latents (QmDescent *descent)
{
  if (descent->now.training.latents_stored == QM_TERNARY_YES)
    return QM_RUNG_ALREADY;

  descent->plan->training.latents_stored = QM_TERNARY_YES;
  return QM_RUNG_TAKEN;
}

static QmRungState
flash_attention (QmDescent *descent)
{
  if (descent->now.training.attention != QM_ATTENTION_EAGER)
    return QM_RUNG_ALREADY;

  descent->plan->training.attention = QM_ATTENTION_FLASH;
  return QM_RUNG_TAKEN;
}

static QmRungState
recompute_activations (QmDescent *descent)
{
  if (descent->now.training.activation_checkpointing == QM_CHECKPOINTING_FULL)
    return QM_RUNG_ALREADY;

  descent->plan->training.activation_checkpointing = QM_CHECKPOINTING_FULL;
  return QM_RUNG_TAKEN;
}

/* Modules that read the same keep it once, and there is no mask. */
static QmRungState
no_adapter_dropout (QmDescent *descent)
{
  if (descent->now.training.method == QM_METHOD_FULL || descent->now.training.lora_dropout == 0)
    return QM_RUNG_ALREADY;

  descent->plan->training.lora_dropout = 0;
  return QM_RUNG_TAKEN;
}

static QmRungState
chunked_loss (QmDescent *descent)
{
  QmWordList *techniques = &descent->plan->training.techniques;

  if (qm_word_list_contains (techniques, "chunked-cross-entropy"))
    return QM_RUNG_ALREADY;
  if (techniques->n >= QM_MAX_WORDS)
    return QM_RUNG_IMPOSSIBLE;

  techniques->n = MAX (0, techniques->n);
  qm_word_set (techniques->words[techniques->n++], "chunked-cross-entropy");
  return QM_RUNG_TAKEN;
}

static QmRungState
small_optimizer (QmDescent *descent)
{
  QmOptimizer now = descent->now.training.optimizer;

  if (now != QM_OPTIMIZER_ADAMW && now != QM_OPTIMIZER_ADAM)
    return QM_RUNG_ALREADY;
  if (descent->device->vendor != QM_VENDOR_NVIDIA)
    return QM_RUNG_IMPOSSIBLE;

  descent->plan->training.optimizer = QM_OPTIMIZER_ADAMW_8BIT;
  return QM_RUNG_TAKEN;
}

static QmRungState
share_states (QmDescent *descent)
{
  const QmConfiguration *now = &descent->now.configuration;

  if (now->sharding == QM_SHARDING_ZERO3)
    return QM_RUNG_ALREADY;
  if (now->devices < 2 || now->data_parallel < 2)
    return QM_RUNG_IMPOSSIBLE;

  descent->plan->configuration.sharding = QM_SHARDING_ZERO3;
  return QM_RUNG_TAKEN;
}

/* The count of what is trained, and the format of what is not, are those of a
 * method. */
static void
take_method (QmDescent *descent,
             QmMethod   method)
{
  QmTraining *training = &descent->plan->training;

  training->method = method;
  training->trainable_parameters = 0;
  qm_word_set (training->base_weights, "");
}

static QmRungState
adapters (QmDescent *descent)
{
  if (descent->now.training.method != QM_METHOD_FULL || descent->plan->activity != QM_ACTIVITY_FINE_TUNE)
    return QM_RUNG_ALREADY;

  take_method (descent, QM_METHOD_LORA);
  return QM_RUNG_TAKEN;
}

static QmRungState
four_bit_base (QmDescent *descent)
{
  if (descent->now.training.method == QM_METHOD_QLORA || descent->plan->activity != QM_ACTIVITY_FINE_TUNE)
    return QM_RUNG_ALREADY;
  if (descent->device->vendor != QM_VENDOR_NVIDIA)
    return QM_RUNG_IMPOSSIBLE;

  take_method (descent, QM_METHOD_QLORA);
  qm_word_set (descent->plan->training.base_weights, "nf4");
  return QM_RUNG_TAKEN;
}

static QmRungState
offload_optimizer (QmDescent *descent)
{
  if (descent->now.configuration.offload > QM_OFFLOAD_NONE)
    return QM_RUNG_ALREADY;

  descent->plan->configuration.offload = QM_OFFLOAD_OPTIMIZER_CPU;
  return QM_RUNG_TAKEN;
}

static QmRungState
offload_all (QmDescent *descent)
{
  if (descent->now.configuration.offload > QM_OFFLOAD_OPTIMIZER_CPU)
    return QM_RUNG_ALREADY;

  descent->plan->configuration.offload = QM_OFFLOAD_CPU;
  return QM_RUNG_TAKEN;
}

/* --------------------------------------------------------------- inference */

/* What is served in batches has a usual one where the plan names none. */
static double
at_once (const QmDescent *descent)
{
  const QmEstimate *now = &descent->now;

  if (now->serving_plan.concurrency > 0 || descent->plan->task == QM_TASK_LANGUAGE_MODEL)
    return now->serving_plan.concurrency;

  return now->serving.max_concurrency / MAX (1, now->configuration.devices);
}

static QmRungState
fewer_at_once (QmDescent *descent)
{
  double now = at_once (descent);

  if (!(now > 1))
    return QM_RUNG_ALREADY;

  descent->plan->serving.concurrency = MAX (1, floor (now / 4));
  return QM_RUNG_TAKEN;
}

static gboolean
is_llama_cpp (const QmDescent *descent)
{
  return g_str_equal (descent->now.serving_plan.engine, "llama.cpp");
}

static QmRungState
small_cache (QmDescent *descent)
{
  const char *now = descent->now.serving_plan.kv_cache;
  const char *small = is_llama_cpp (descent) ? "q8_0" : "fp8";

  if (now[0] != '\0' && strstr (now, "16") == NULL && strstr (now, "32") == NULL)
    return QM_RUNG_ALREADY;

  qm_word_set (descent->plan->serving.kv_cache, small);
  return QM_RUNG_TAKEN;
}

static gboolean
has_short_weights (const QmDescent *descent)
{
  const char *now = descent->now.serving_plan.weights;

  return strstr (now, "16") == NULL && strstr (now, "32") == NULL && now[0] != '\0';
}

static QmRungState
eight_bit_weights (QmDescent *descent)
{
  const QmDevice *device = descent->device;
  gboolean fp8 = device->vendor == QM_VENDOR_NVIDIA ? device->compute_capability >= FP8_COMPUTE_CAPABILITY
                                                    : device->tflops_fp8 > 0;

  if (has_short_weights (descent))
    return QM_RUNG_ALREADY;

  qm_word_set (descent->plan->serving.weights, is_llama_cpp (descent) ? "gguf-q8_0" : fp8 ? "fp8" : "int8");
  return QM_RUNG_TAKEN;
}

static QmRungState
four_bit_weights (QmDescent *descent)
{
  const char *now = descent->now.serving_plan.weights;

  if (strstr (now, "4") != NULL || strstr (now, "q3") != NULL || strstr (now, "q2") != NULL)
    return QM_RUNG_ALREADY;

  qm_word_set (descent->plan->serving.weights, is_llama_cpp (descent) ? "gguf-q4_k_m" : "awq-int4");
  return QM_RUNG_TAKEN;
}

static QmRungState
half_weights (QmDescent *descent)
{
  const char *now = descent->now.serving_plan.weights;

  if (now[0] != '\0' && !g_str_equal (now, "fp32"))
    return QM_RUNG_ALREADY;

  qm_word_set (descent->plan->serving.weights, "fp16");
  return QM_RUNG_TAKEN;
}

/* The format of llama.cpp with about as many bits. */
static const char *
llama_cpp_format (const char *weights)
{
  if (g_str_has_prefix (weights, "gguf-"))
    return weights;
  if (weights[0] == '\0' || strstr (weights, "16") != NULL || strstr (weights, "32") != NULL)
    return "gguf-f16";

  return strchr (weights, '4') != NULL ? "gguf-q4_k_m" : "gguf-q8_0";
}

/* Only llama.cpp computes with what lies in system memory. */
static void
move_to_llama_cpp (QmDescent *descent)
{
  qm_word_set (descent->plan->serving.engine, "llama.cpp");
  qm_word_set (descent->plan->serving.weights, llama_cpp_format (descent->now.serving_plan.weights));
  if (strcmp (descent->plan->serving.kv_cache, "fp8") == 0)
    qm_word_set (descent->plan->serving.kv_cache, "q8_0");
}

/* The most layers that fit stay on the device. */
static QmRungState
layers_in_system_memory (QmDescent *descent)
{
  int low = 0, high = descent->model->architecture.layers;

  if (descent->device->unified_memory || descent->device->device_class == QM_DEVICE_CLASS_CPU || high < 1)
    return QM_RUNG_IMPOSSIBLE;
  if (descent->now.configuration.gpu_layers >= 0 && descent->now.configuration.gpu_layers < high)
    return QM_RUNG_ALREADY;

  move_to_llama_cpp (descent);
  descent->plan->configuration.cpu_expert_layers = 0;
  while (low < high)
    {
      QmEstimate estimate;
      int middle = (low + high + 1) / 2;

      descent->plan->configuration.gpu_layers = middle;
      qm_descent_evaluate (descent, &estimate);
      if (qm_descent_fits (descent, &estimate.memory))
        low = middle;
      else
        high = middle - 1;
    }
  descent->plan->configuration.gpu_layers = low;

  return QM_RUNG_TAKEN;
}

/* The fewest layers whose experts go, from the first on. */
static QmRungState
experts_in_system_memory (QmDescent *descent)
{
  const QmArchitecture *architecture = &descent->model->architecture;
  int low = 1, high = architecture->layers;

  if (descent->device->unified_memory || descent->device->device_class == QM_DEVICE_CLASS_CPU || !(architecture->experts > 1))
    return QM_RUNG_IMPOSSIBLE;
  if (descent->now.configuration.cpu_expert_layers > 0 || descent->now.configuration.gpu_layers >= 0)
    return QM_RUNG_ALREADY;

  move_to_llama_cpp (descent);
  while (low < high)
    {
      QmEstimate estimate;
      int middle = (low + high) / 2;

      descent->plan->configuration.cpu_expert_layers = middle;
      qm_descent_evaluate (descent, &estimate);
      if (qm_descent_fits (descent, &estimate.memory))
        high = middle;
      else
        low = middle + 1;
    }
  descent->plan->configuration.cpu_expert_layers = low;

  return QM_RUNG_TAKEN;
}

/* In place of stages or copies: there are no more devices than before. */
static QmRungState
split_among_devices (QmDescent *descent)
{
  const QmConfiguration *now = &descent->now.configuration;
  int ways = now->devices;

  /* no attention head lies on two of them */
  while (ways > 1 && !qm_architecture_can_share_heads (&descent->model->architecture, ways))
    ways--;
  if (ways < 2)
    return QM_RUNG_IMPOSSIBLE;
  if (now->tensor_parallel >= ways)
    return QM_RUNG_ALREADY;

  descent->plan->configuration.tensor_parallel = ways;
  descent->plan->configuration.pipeline_parallel = descent->plan->configuration.data_parallel = 1;
  descent->plan->configuration.split = QM_SPLIT_TENSOR;
  return QM_RUNG_TAKEN;
}

/* ------------------------------------------------------------------ tables */

static const QmRungKind training[] = {
  { 1, "smaller-batch", N_("Fewer examples at a time"),
    N_("A smaller micro-batch, with as many accumulation steps as give the same batch: the result is the same."), smaller_batch,
    .counted_title = N_("Fewer examples at a time (micro-batch {micro}, accumulation {steps})"),
    .norm_detail = N_("A smaller micro-batch, with as many accumulation steps as give the same batch. Batch normalisation, if the model has it, "
                      "sees fewer examples at once: the result may differ.") },
  { 1, "empty-cache", N_("Empty the framework’s cache"),
    N_("It returns memory that was free already: the peak stays as it is."), empty_cache },
  { 1, "mixed-precision", N_("Half precision (autocast)"),
    N_("Activations take 16 bits instead of 32, and matrix units are used: it is faster too."), mixed_precision },
  { 1, "store-latents", N_("Encode images and texts beforehand"),
    N_("Latents and text embeddings are stored once, and the encoders are not loaded: it is faster too. "
       "Random crops and other changes of the images are fixed then."),
    store_latents, FALSE, 1u << QM_TASK_IMAGE_GENERATION },
  { 2, "flash-attention", N_("Fused attention"),
    N_("The scores of each pair of tokens are never stored: it is faster too."), flash_attention, FALSE, LANGUAGE },
  { 2, "chunked-loss", N_("Score words in pieces"),
    N_("Chunked cross-entropy does not hold the scores of the whole vocabulary at once."), chunked_loss, FALSE, LANGUAGE },
  { 2, "no-adapter-dropout", N_("No dropout before the adapters"),
    N_("Dropout keeps a copy of what each adapter reads, and which values it dropped: without it modules share one copy."),
    no_adapter_dropout, TRUE, LANGUAGE },
  { 2, "checkpointing", N_("Recompute activations"),
    N_("Activation checkpointing computes them again in the backward pass: the result is the same."), recompute_activations },
  { 2, "8-bit-optimizer", N_("An 8-bit optimizer"),
    N_("Its averages take one byte each instead of four; results are seldom different."), small_optimizer, TRUE },
  { 3, "sharding", N_("Share the states among the devices"),
    N_("FSDP or ZeRO-3: each device keeps its part of weights, gradients and averages."), share_states },
  { 3, "adapters", N_("Train adapters only (LoRA)"),
    N_("The weights of the model stay as they are; small matrices beside them are trained."), adapters, TRUE, ADAPTABLE },
  { 3, "4-bit-weights", N_("Store the frozen weights in 4 bits (QLoRA)"),
    N_("They are unpacked for each use, which takes time; quality falls a little."), four_bit_base, TRUE, ADAPTABLE },
  { 3, "offload-optimizer", N_("The optimizer in system memory"),
    N_("The processor updates the weights: each step waits for it and for the bus."), offload_optimizer, FALSE, LANGUAGE },
  { 3, "offload", N_("Weights in system memory as well"),
    N_("Each layer is fetched over the bus when its turn comes: slow, but hardly any model is too large."), offload_all, FALSE, LANGUAGE },
};

static const QmRungKind language_inference[] = {
  { 1, "fewer-at-once", N_("A quarter of the people at once"),
    N_("Fewer answers are written at the same time; the others wait."), fewer_at_once },
  { 1, "8-bit-cache", N_("Remember the conversation in 8 bits"),
    N_("The KV cache takes half; quality hardly changes."), small_cache, TRUE },
  { 2, "8-bit-weights", N_("Weights in 8 bits"),
    N_("Half the size; quality hardly changes."), eight_bit_weights, TRUE },
  { 2, "4-bit-weights", N_("Weights in 4 bits"),
    N_("A quarter of the size; quality falls by a point or so."), four_bit_weights, TRUE },
  { 3, "split", N_("Split each layer among the devices"),
    N_("Tensor parallelism: every device holds its part of every layer."), split_among_devices },
  { 3, "experts-offload", N_("Some experts in system memory"),
    N_("llama.cpp leaves them to the processor (--n-cpu-moe). A token needs few of them: it runs faster than with whole layers there."),
    experts_in_system_memory,
    .counted_title = N_("Experts of {layers} of {all} layers in system memory (--n-cpu-moe {layers})") },
  { 3, "offload", N_("Some layers in system memory"),
    N_("llama.cpp lets the processor compute what does not fit: it runs, but slowly."), layers_in_system_memory,
    .counted_title = N_("{layers} of {all} layers on the GPU, the others in system memory (-ngl {layers})") },
};

static const QmRungKind other_inference[] = {
  { 1, "fewer-at-once", N_("A quarter of the batch"),
    N_("Fewer are worked on at the same time; the others wait."), fewer_at_once },
  { 2, "half-weights", N_("Half precision"),
    N_("Weights and activations take 16 bits instead of 32."), half_weights },
  { 2, "8-bit-weights", N_("Weights in 8 bits"),
    N_("Half the size; quality hardly changes."), eight_bit_weights, TRUE },
};

/* The rungs there are for the kind of job that @plan is; returns how many. */
guint
qm_rung_kinds (const QmPlan      *plan,
               const QmRungKind **kinds)
{
  gboolean language = plan->task == QM_TASK_LANGUAGE_MODEL;
  gboolean learns = qm_plan_is_training (plan);
  const QmRungKind *table = learns ? training : language ? language_inference : other_inference;
  guint size = learns ? G_N_ELEMENTS (training) : language ? G_N_ELEMENTS (language_inference) : G_N_ELEMENTS (other_inference);
  guint n = 0;

  G_STATIC_ASSERT (G_N_ELEMENTS (training) <= QM_MAX_RUNGS && G_N_ELEMENTS (language_inference) <= QM_MAX_RUNGS);

  for (guint i = 0; i < size; i++)
    if (table[i].tasks == 0 || (table[i].tasks & 1u << plan->task) != 0)
      kinds[n++] = &table[i];

  return n;
}
