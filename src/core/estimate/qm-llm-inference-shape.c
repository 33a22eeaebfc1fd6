/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-inference-private.h"

#include <math.h>

/* What a shape that was only guessed has: most models of today share keys and
 * values between four query heads, and few tie the head. */
#define GUESSED_GROUP 4

/* Parameters of all experts, from the two totals. */
static double
expert_parameters (const QmInferenceShape *self)
{
  double idle = 1 - self->experts_per_token / self->experts;

  if (!(self->experts > 1) || !(idle > 0))
    return 0;

  return fmin (self->parameters, (self->parameters - self->active) / idle);
}

void
qm_inference_shape_init (QmInferenceShape     *self,
                         const QmArchitecture *a,
                         double                parameters,
                         double                active_parameters)
{
  gboolean latent = a->kv_lora_rank > 0;
  gboolean dense = a->known && !(a->experts > 1);

  *self = (QmInferenceShape) {
    .parameters = parameters,
    .active = active_parameters > 0 && !dense ? active_parameters : parameters,
    .layers = a->layers,
    .hidden = a->hidden,
    .heads = a->heads,
    .kv_heads = a->known ? a->kv_heads : fmax (1, floor (a->heads / GUESSED_GROUP)),
    .head_size = a->head_size,
    .vocabulary = a->vocabulary,
    .experts = fmax (1, a->experts),
    .experts_per_token = fmax (1, a->experts_per_token),
    .ffn_used = a->experts > 1 ? fmax (1, a->experts_per_token) * a->expert_ffn + a->shared_expert_ffn : a->ffn,
    .moe_layers = a->experts > 1 ? a->moe_layers : 0,
    .embedding = a->vocabulary * a->hidden,
    .full = a->full_attention_layers,
    .sliding = a->sliding_layers,
    .window = a->window,
    .latent = latent ? a->kv_lora_rank + a->qk_rope_head_size : 0,
    .state_bytes = a->state_size,
    .tied = a->known && a->tied,
    .guessed = !a->known || a->approximate,
  };

  /* The constants were fitted with the plain size for latent attention. */
  if (latent && a->heads > 0)
    self->head_size = floor (a->hidden / a->heads);

  self->expert_parameters = expert_parameters (self);
  self->body = fmax (0, parameters - self->embedding * (self->tied ? 1 : 2));
  self->active_body = fmax (0, self->active - self->embedding * (self->tied ? 1 : 2));
}

/* Bytes that lie in memory. */
double
qm_inference_weight_bytes (const QmInferenceShape *self,
                           const QmWeightFormat   *format)
{
  double head = self->tied ? 0 : self->embedding;

  if (format->experts_only && self->experts > 1)
    return (self->expert_parameters * format->body + (self->parameters - self->expert_parameters) * format->embedding) / 8;

  return (self->body * format->body + self->embedding * format->embedding + head * format->head) / 8;
}

/* Of the experts, those that some of @sequences tokens uses: 1 − (1 − k/E)^B. */
static double
used_experts (const QmInferenceShape *self,
              double                  sequences)
{
  if (!(self->experts > 1))
    return 1;

  return 1 - pow (1 - self->experts_per_token / self->experts, sequences);
}

/* Bytes of the experts that one step reads; of all there are where @sequences is
 * infinite. */
double
qm_inference_expert_bytes (const QmInferenceShape *self,
                           const QmWeightFormat   *format,
                           double                  sequences)
{
  return self->expert_parameters * used_experts (self, sequences) * format->body / 8;
}

/* Bytes that one step reads, and no input embedding, which is looked up. */
double
qm_inference_read_bytes (const QmInferenceShape *self,
                         const QmWeightFormat   *format,
                         double                  sequences)
{
  double others = fmax (0, self->body - self->expert_parameters);
  double bits = format->body;

  if (format->experts_only && self->experts > 1)
    bits = format->embedding;

  return (others * bits + self->embedding * format->head) / 8 + qm_inference_expert_bytes (self, format, sequences);
}

static double
kept_tokens (const QmInferenceShape *self,
             double                  context)
{
  double window = self->window > 0 ? fmin (context, self->window) : context;

  return self->full * context + self->sliding * window;
}

/* KV cache of one sequence. */
double
qm_inference_kv_bytes (const QmInferenceShape *self,
                       double                  context,
                       double                  bytes_per_element)
{
  if (self->latent > 0)
    return self->layers * self->latent * bytes_per_element * context;

  return 2 * self->kv_heads * self->head_size * bytes_per_element * kept_tokens (self, context);
}

/* The same in 16 bits, repeated to every query head, as kernels without grouped
 * queries copy and read it. */
double
qm_inference_kv_expanded_bytes (const QmInferenceShape *self,
                                double                  context)
{
  return 4 * self->heads * self->head_size * kept_tokens (self, context);
}
