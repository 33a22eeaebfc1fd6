/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training-private.h"

#include <math.h>

/* Of torchtune's CEWithChunkedOutputLoss, unless told otherwise. */
#define LOSS_CHUNKS 8

/* Bytes of one parameter in weights, gradients and optimizer. */
typedef struct {
  double weights;
  double gradients;
  double optimizer;
} Recipe;

/* Adam, by who keeps the 32-bit copy: ZeRO (1910.02054), Megatron-LM's
 * theoretical_memory_usage.py, PyTorch's autocast. */
static const Recipe recipe_pure_16_bit = { 2, 2, 4 };
static const Recipe recipe_32_bit = { 4, 4, 8 };
static const Recipe recipe_megatron = { 2, 4, 12 };
static const Recipe recipe_deepspeed = { 2, 2, 12 };

/* States of one device, in bytes. */
typedef struct {
  double weights;
  double gradients;
  double optimizer;
  double gathered;                  /* by sharding, and buckets */
  double load;                      /* peak while the checkpoint is read */
} States;

static gboolean
splits_weights (const QmLlmJob *job)
{
  return job->sharding == QM_SHARDING_ZERO3 || job->sharding == QM_SHARDING_HYBRID;
}

static gboolean
is_megatron (const QmLlmJob *job)
{
  return job->stack == QM_LLM_STACK_MEGATRON || job->stack == QM_LLM_STACK_MEGATRON_2022;
}

static gboolean
is_32_bit (const QmLlmJob *job)
{
  return job->plan->training.precision == QM_PRECISION_FP32 || job->plan->training.precision == QM_PRECISION_TF32;
}

static gboolean
has_sequence_parallel (const QmLlmJob *job)
{
  return job->tensor > 1 && job->stack != QM_LLM_STACK_MEGATRON_2022 &&
         job->given->sequence_parallel != QM_TERNARY_NO;
}

static gboolean
is_offloaded (const QmLlmJob *job)
{
  return job->offload != QM_OFFLOAD_NONE;
}

/**
 * qm_llm_local_parameters:
 * @job: a job
 *
 * Returns: parameters of the fullest model-parallel rank: experts over expert
 *   or tensor parallelism, the rest over both; the first stage of a pipeline
 *   has the input embedding
 */
double
qm_llm_local_parameters (const QmLlmJob *job)
{
  const QmLlmShape *s = &job->plan->shape;
  double first = job->pipeline > 1 ? s->vocabulary * s->hidden : s->embedding;
  double blocks = fmax (0, s->parameters - s->expert_parameters - s->embedding) / job->pipeline;
  double expert_ranks = job->pipeline * (job->expert > 1 ? job->expert : job->tensor);

  return (blocks + first) / job->tensor + s->expert_parameters / expert_ranks;
}

/* Weights live elsewhere, and come to the device layer by layer. */
static gboolean
streams_weights (const QmLlmJob *job)
{
  return job->offload == QM_OFFLOAD_CPU || job->offload == QM_OFFLOAD_NVME;
}

/**
 * qm_llm_frozen_bytes:
 * @job: a job that trains adapters
 * @constants: fitted constants
 *
 * Returns: bytes of the weights that are not trained, over all devices
 */
double
qm_llm_frozen_bytes (const QmLlmJob             *job,
                     const QmLlmMemoryConstants *constants)
{
  const QmLlmTraining *plan = job->plan;
  const QmLlmShape *s = &plan->shape;
  double quantised = s->parameters - s->embedding;
  double bits = job->framework->single_quantisation ? plan->frozen_bits_single : plan->frozen_bits;
  double extra = job->framework->quantised_extra ? constants->quantised_extra : 0;

  if (!plan->frozen_in_blocks)
    return bits / 8 * s->parameters;

  return (bits / 8 + extra) * quantised + 2 * s->embedding;
}

static States
adapter_states (const QmLlmJob             *job,
                const QmLlmMemoryConstants *k)
{
  const QmLlmTraining *plan = job->plan;
  const QmLlmShape *s = &plan->shape;
  double base = qm_llm_frozen_bytes (job, k);
  double dequantised = plan->training.method == QM_METHOD_QLORA ? 2 * s->hidden * s->ffn : 0;
  States states = {
    .weights = base / (job->tensor * job->pipeline),
    .gradients = (plan->pure_16_bit ? 2 : 4) * plan->trainable,
    .optimizer = (plan->pure_16_bit ? 6 : 12) * plan->trainable,
  };

  if (is_offloaded (job))
    states.optimizer = 0;
  if (streams_weights (job))
    states.weights = states.gradients = 0;
  if (!splits_weights (job) && !streams_weights (job))
    return states;

  if (splits_weights (job))
    {
      if (job->framework->whole_load)
        states.load = states.weights * (1 + 1 / job->shards);
      states.weights /= job->shards;
      states.gradients /= job->shards;
      states.optimizer /= job->shards;
    }
  states.gathered = (2 * s->layer_parameters * base / s->parameters + dequantised + 2 * s->embedding) / job->tensor;

  return states;
}

/* ZeRO means DeepSpeed's there; the trainer of transformers copies its ways. */
static gboolean
is_deepspeed (const QmLlmJob *job)
{
  const QmLlmFramework *framework = job->framework;

  if (framework->deepspeed && job->sharding != QM_SHARDING_NONE)
    return TRUE;

  return framework->deepspeed_alone && !job->plan->frozen && job->plan->autocast;
}

static Recipe
base_recipe (const QmLlmJob *job,
             gboolean        deepspeed)
{
  if (job->plan->pure_16_bit)
    return recipe_pure_16_bit;

  if (is_32_bit (job))
    return recipe_32_bit;

  if (is_megatron (job))
    return recipe_megatron;

  return deepspeed ? recipe_deepspeed : recipe_32_bit;
}

/* Of @adam, what two averages and, where it is kept with them, a 32-bit copy of
 * the weights take under Adam; other optimizers have other averages, but the same
 * copy. */
static double
optimizer_bytes (const QmLlmJob *job,
                 double          adam)
{
  double copy = adam > 8 ? 4 : 0;
  double averages = adam - copy;

  if (is_offloaded (job))
    return 0;

  switch (job->plan->training.optimizer)
    {
    case QM_OPTIMIZER_ADAMW_8BIT:
      return copy + 2;
    case QM_OPTIMIZER_LION:
    case QM_OPTIMIZER_MUON:
    case QM_OPTIMIZER_SGD_MOMENTUM:
      return copy + averages / 2;
    case QM_OPTIMIZER_SGD:
    case QM_OPTIMIZER_ADAFACTOR:
    case QM_OPTIMIZER_PAGED_ADAMW_8BIT:
      return copy;
    default:
      return adam;
    }
}

static Recipe
full_recipe (const QmLlmJob             *job,
             const QmLlmMemoryConstants *k,
             gboolean                    deepspeed,
             double                      local)
{
  const QmLlmShape *s = &job->plan->shape;
  Recipe recipe = base_recipe (job, deepspeed);
  gboolean is_paged = job->plan->training.optimizer == QM_OPTIMIZER_PAGED_ADAMW_8BIT;

  recipe.optimizer = optimizer_bytes (job, recipe.optimizer);

  /* nothing is split: the partition copy is as large as the gradients */
  if (deepspeed && job->data * job->context == 1 && !is_paged && !is_offloaded (job))
    recipe.gradients += k->deepspeed_gradients;

  if (streams_weights (job))
    recipe.weights = recipe.gradients = 0;

  /* BF16_Optimizer keeps 16-bit gradients beside the 32-bit ones */
  if (job->stack == QM_LLM_STACK_MEGATRON_2022)
    recipe.gradients += 2;

  /* one tensor at a time, of which the embedding is the largest */
  if (job->plan->optimizer_in_backward)
    recipe.gradients = 2 * s->vocabulary * s->hidden / local;

  return recipe;
}

static double
gathered_bytes (const QmLlmJob             *job,
                const QmLlmMemoryConstants *k,
                gboolean                    deepspeed,
                double                      local)
{
  const QmLlmShape *s = &job->plan->shape;
  double bytes = 0;

  if (splits_weights (job) || streams_weights (job))
    {
      bytes = (4 * s->layer_parameters + 2 * s->embedding) / job->tensor;
      if (deepspeed)
        bytes += k->deepspeed_buffer + 2 * s->vocabulary * s->hidden;
      /* a stage stays gathered in 16 bit with its 32-bit gradient sum */
      if (job->pipeline > 1)
        bytes += 6 * local;
      return bytes;
    }

  if (deepspeed)
    return k->deepspeed_buffer;

  if (job->sharding == QM_SHARDING_NONE && job->data > 1 && !is_megatron (job))
    bytes = 4 * local;

  return bytes;
}

static States
full_states (const QmLlmJob             *job,
             const QmLlmMemoryConstants *k)
{
  double local = qm_llm_local_parameters (job);
  gboolean deepspeed = is_deepspeed (job);
  Recipe recipe = full_recipe (job, k, deepspeed, local);
  gboolean whole = splits_weights (job);
  double ranks = whole ? job->shards : job->data * job->context;

  if (job->sharding != QM_SHARDING_NONE)
    recipe.optimizer /= ranks;
  if (job->sharding == QM_SHARDING_ZERO2 || whole)
    recipe.gradients /= ranks;
  if (whole)
    recipe.weights /= ranks;

  return (States) {
    .weights = recipe.weights * local,
    .gradients = recipe.gradients * local,
    .optimizer = recipe.optimizer * local,
    .gathered = gathered_bytes (job, k, deepspeed, local),
  };
}

/* What a layer keeps of a token with all weights trained, in bytes: two for
 * each 16-bit tensor that a matrix product or an element-wise function reads
 * again, and the 32-bit inputs of norms where these are not fused. */
static double
kept_by_layer (const QmLlmJob *job)
{
  const QmLlmShape *s = &job->plan->shape;
  double ffn_tensors = !s->gated ? 2 : job->fused ? 3 : 4;
  double bytes = 2 * (2 * s->norms * s->hidden + 2 * s->activation_query + 2 * s->activation_key + ffn_tensors * s->ffn_used);

  if (s->gated && !job->fused)
    bytes += 4 * s->norms * s->hidden;

  if (s->qk_norm)
    bytes += 6 * (s->activation_query + s->activation_key);

  if (s->wide_norm)
    bytes += 4 * s->hidden;

  return bytes;
}

/* bitsandbytes did before 0.43.2 (its pull request 1270), on which LitGPT's figures
 * were measured: counted where that is named, not where it is a guess. */
static gboolean
keeps_quantised_inputs (const QmLlmJob *job)
{
  gboolean named = job->plan->training.framework[0] != '\0';

  return job->framework->keeps_frozen_inputs || (job->framework->kept_frozen_inputs && named);
}

/* What training adapters alone changes of that. Frozen matrices need no input, the
 * adapted ones do: with dropout each a copy of its own, without it what training
 * all weights keeps as well. A decomposed adapter scales two outputs by what it
 * learns, that of the frozen matrix and its own, which is in its own precision. */
static double
adapter_bytes (const QmLlmJob             *job,
               const QmLlmMemoryConstants *k)
{
  const QmLlmTraining *plan = job->plan;
  const QmLlmShape *s = &plan->shape;
  double inputs = 2 * (s->norms * s->hidden + (job->fused ? 0 : s->ffn_used));
  double bytes = -inputs;

  if (plan->training.lora_dropout == 0)
    bytes += fmin (inputs, k->lora_input_plain * plan->adapted_distinct);
  else
    bytes += k->lora_input * plan->adapted_inputs;
  if (plan->decomposed)
    bytes += (plan->autocast ? 2 + 4 : 2 + 2) * plan->adapted_outputs;
  if (plan->training.method == QM_METHOD_QLORA && keeps_quantised_inputs (job))
    bytes += k->qlora_input * (3 * s->hidden + s->activation_query + s->ffn_used);

  return bytes;
}

/* The same on one rank of tensor parallelism, recipe and experts included. */
static double
activation_bytes (const QmLlmJob             *job,
                  const QmLlmMemoryConstants *k)
{
  const QmLlmTraining *plan = job->plan;
  const QmLlmShape *s = &plan->shape;
  double bytes = kept_by_layer (job);

  if (plan->frozen)
    bytes += adapter_bytes (job, k);

  if (s->moe)
    bytes += 4 * s->experts + 2 * s->experts_per_token * s->hidden;

  bytes *= k->activations;
  /* What is computed again where only that is wanted: the scores of attention
   * that are written out, and what softmax and dropout make of them (2205.05198). */
  if (!plan->flash && job->checkpointing != QM_CHECKPOINTING_SELECTIVE)
    bytes += 5 * s->heads * plan->sequence;
  if (is_32_bit (job))
    bytes *= 2;

  if (has_sequence_parallel (job))
    return bytes / job->tensor;

  /* norms, dropouts and residuals are kept whole by each rank */
  if (job->tensor > 1)
    return 10 * s->hidden + fmax (0, bytes - 10 * s->hidden) / job->tensor;

  return bytes;
}

/* Loss over the vocabulary, per token. The first stage of a pipeline is the
 * fullest, and has no head. One kernel for the loss is counted on only where the
 * framework is named. */
static double
logits_bytes (const QmLlmJob             *job,
              const QmLlmMemoryConstants *k)
{
  gboolean named = job->plan->training.framework[0] != '\0';
  double per_entry = job->framework->fused_loss && named ? k->logits_fused : k->logits;

  if (job->pipeline > 1 || job->plan->probe)
    return 0;

  if (job->framework->chunked_loss && (job->plan->chunked_loss || job->fused))
    per_entry = k->logits / LOSS_CHUNKS;
  else if (job->plan->chunked_loss)
    per_entry = k->logits_chunked;

  return per_entry * job->plan->shape.vocabulary / job->tensor;
}

/* Layers whose inputs wait for the backward pass on the first stage, under
 * one-forward-one-backward scheduling (2104.04473). */
static double
waiting_layers (const QmLlmJob *job)
{
  double live = 1;

  if (job->pipeline > 1)
    live = fmin (job->pipeline, job->accumulation);
  if (job->pipeline > 1 && job->virtual_pipeline > 1)
    live *= 1 + (job->pipeline - 1) / (job->pipeline * job->virtual_pipeline);

  return job->plan->shape.layers / job->pipeline * live;
}

static double
kept_activations (const QmLlmJob             *job,
                  const QmLlmMemoryConstants *k,
                  double                      logits)
{
  double layer = activation_bytes (job, k);
  double layers = waiting_layers (job);
  double input = 2 * job->plan->shape.hidden / (has_sequence_parallel (job) ? job->tensor : 1);

  if (job->plan->probe)
    return layer;

  if (job->checkpointing == QM_CHECKPOINTING_FULL)
    {
      /* the logits are gone when the first layer is computed again */
      double kept = job->plan->activation_offload ? 0 : input * layers;

      return kept + fmax (0, layer - logits);
    }

  if (job->checkpointing == QM_CHECKPOINTING_SELECTIVE && job->plan->flash)
    layer *= k->selective;

  if (job->plan->activation_offload)
    layers = fmin (layers, k->offload_layers);

  return (layer + (input - layer) * job->recomputed) * layers;
}

/* Gradients stand beside the activations where they are summed over
 * micro-batches, or where the framework never frees them. */
static gboolean
keeps_gradients (const QmLlmJob *job)
{
  return is_megatron (job) || job->accumulation > 1 || job->plan->frozen ||
         (job->framework->deepspeed && job->sharding != QM_SHARDING_NONE);
}

/* What the peak is made of, at the end of the forward pass or at the update. */
static void
fill_parts (QmLlmMemory    *memory,
            const QmLlmJob *job,
            const States   *states,
            double          kept_activations,
            double          kept_logits)
{
  gboolean at_update = states->weights + states->optimizer + states->gathered + states->gradients >
                       memory->fixed + (kept_activations + kept_logits) * job->tokens;
  double gradients = at_update || keeps_gradients (job) ? states->gradients : 0;
  double activations = at_update ? 0 : kept_activations * job->tokens;
  double logits = at_update ? 0 : kept_logits * job->tokens;
  double *parts = memory->parts;
  double sum = 0;

  parts[QM_MEMORY_WEIGHTS] = states->weights;
  parts[QM_MEMORY_GRADIENTS] = gradients;
  parts[QM_MEMORY_OPTIMIZER] = states->optimizer;
  parts[QM_MEMORY_ACTIVATIONS] = activations;
  parts[QM_MEMORY_LOGITS] = logits;
  parts[QM_MEMORY_KV_CACHE] = 0;
  parts[QM_MEMORY_COMMUNICATION] = states->gathered;
  for (int i = 0; i < QM_MEMORY_WORKSPACE; i++)
    sum += parts[i];

  parts[QM_MEMORY_WORKSPACE] = fmax (0, memory->allocated - sum);
  parts[QM_MEMORY_CONTEXT] = memory->context;
  parts[QM_MEMORY_FRAGMENTATION] = memory->reserved - memory->allocated;
}

static void
predict_peak (const QmLlmJob             *job,
              const QmLlmMemoryConstants *constants,
              const States               *states,
              double                      activations,
              double                      logits,
              QmLlmMemory                *memory)
{
  gboolean several = job->devices > 1;
  double held = states->weights + states->optimizer + states->gathered;
  double forward;

  memory->fixed = held + (keeps_gradients (job) ? states->gradients : 0);
  memory->per_micro_batch = (activations + logits) * job->tokens / job->micro_batch;
  forward = memory->fixed + (activations + logits) * job->tokens;

  memory->update = fmax (held + states->gradients, states->load);
  memory->growth = several ? constants->reserved_sharded : constants->reserved_single;
  memory->context = (constants->context_gib + (several ? constants->context_communication_gib : 0)) * QM_GIB;
  memory->allocated = fmax (forward, memory->update);
  memory->reserved = memory->growth * memory->allocated;
  memory->whole = memory->reserved + memory->context;
}

/**
 * qm_llm_memory_predict_peak:
 * @job: a job
 * @constants: fitted constants
 * @memory: (out caller-allocates): its peak on the fullest device, without parts
 *
 * allocated = max (end of the forward pass, optimizer step, load); reserved is
 * that times the growth of the caching allocator; the whole device shows the
 * context besides. At the end of the forward pass there are weights, optimizer,
 * what is gathered, activations and logits, and gradients where they stay.
 */
void
qm_llm_memory_predict_peak (const QmLlmJob             *job,
                            const QmLlmMemoryConstants *constants,
                            QmLlmMemory                *memory)
{
  States states = job->plan->frozen ? adapter_states (job, constants) : full_states (job, constants);
  double logits = logits_bytes (job, constants);

  predict_peak (job, constants, &states, kept_activations (job, constants, logits), logits, memory);
}

/**
 * qm_llm_memory_predict:
 * @job: a job
 * @constants: fitted constants
 * @memory: (out caller-allocates): its peak on the fullest device
 *
 * What qm_llm_memory_predict_peak() says, and what it is made of.
 */
void
qm_llm_memory_predict (const QmLlmJob             *job,
                       const QmLlmMemoryConstants *constants,
                       QmLlmMemory                *memory)
{
  States states = job->plan->frozen ? adapter_states (job, constants) : full_states (job, constants);
  double logits = logits_bytes (job, constants);
  double activations = kept_activations (job, constants, logits);

  predict_peak (job, constants, &states, activations, logits, memory);
  fill_parts (memory, job, &states, activations, logits);
}
