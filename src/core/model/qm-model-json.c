/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-json.h"

#include <math.h>

#include "qm-model-formats.h"

/* Tokens; the steps that people ask about. */
static const double contexts[] = { 2048, 8192, 32768, 131072 };

static const struct {
  const char *format;
  double bytes;                     /* of one weight, nothing added */
} plain[] = {
  { "fp32", 4 }, { "fp16", 2 }, { "bf16", 2 }, { "int8", 1 }, { "int4_no_overhead", 0.5 },
};

/* Formats that leave some of the weights as they were, in the order they are shown. */
static const char * const mixed[] = {
  "fp8", "awq-int4", "gptq-int4", "nf4", "mxfp4", "gguf-q8_0", "gguf-q6_k", "gguf-q5_k_m", "gguf-q4_k_m", "gguf-q3_k_m",
  "gguf-q2_k",
};

static const char * const readers[] = {
  [QM_READER_NONE] = NULL,
  [QM_READER_CATALOG] = "catalog",
  [QM_READER_CONFIG] = "config",
  [QM_READER_SAFETENSORS] = "safetensors",
  [QM_READER_GGUF] = "gguf",
  [QM_READER_PARAMETER_COUNT] = "parameter-count",
};

/* Whole numbers are written as such; what is not known as null. */
static void
add_number (JsonBuilder *builder,
            const char  *key,
            double       value)
{
  json_builder_set_member_name (builder, key);
  if (!isfinite (value) || value <= 0)
    json_builder_add_null_value (builder);
  else if (value == floor (value) && value < 9e15)
    json_builder_add_int_value (builder, value);
  else
    json_builder_add_double_value (builder, value);
}

static void
add_bytes (JsonBuilder *builder,
           const char  *key,
           double       value)
{
  json_builder_set_member_name (builder, key);
  json_builder_add_int_value (builder, rint (value));
}

static void
add_word (JsonBuilder *builder,
          const char  *key,
          const char  *word)
{
  json_builder_set_member_name (builder, key);
  if (word != NULL && word[0] != '\0')
    json_builder_add_string_value (builder, word);
  else
    json_builder_add_null_value (builder);
}

/* A cache of layers that were guessed would be no answer. */
static gboolean
keeps_past (const QmArchitecture *a)
{
  return a->known && a->full_attention_layers + a->sliding_layers + a->recurrent_layers > 0;
}

static void
add_cache (JsonBuilder          *builder,
           const QmArchitecture *a)
{
  double per_token = qm_architecture_kv_bytes_per_token (a, 2);

  json_builder_set_member_name (builder, "kv_cache_bytes_per_token");
  if (keeps_past (a))
    json_builder_add_int_value (builder, rint (per_token));
  else
    json_builder_add_null_value (builder);
  json_builder_set_member_name (builder, "kv_cache_bytes");
  if (!keeps_past (a))
    {
      json_builder_add_null_value (builder);
      return;
    }
  json_builder_begin_object (builder);
  for (gsize i = 0; i < G_N_ELEMENTS (contexts); i++)
    {
      char key[32];

      json_builder_set_member_name (builder, g_ascii_formatd (key, sizeof key, "%.0f", contexts[i]));
      json_builder_begin_object (builder);
      add_bytes (builder, "ideal", qm_architecture_kv_bytes (a, contexts[i], 2));
      add_bytes (builder, "reserved", per_token * contexts[i]);
      json_builder_end_object (builder);
    }
  json_builder_end_object (builder);
}

static void
add_mixed (JsonBuilder   *builder,
           const QmModel *self,
           JsonNode      *table)
{
  for (gsize i = 0; i < G_N_ELEMENTS (mixed); i++)
    {
      QmFormatBits bits;

      if (qm_format_bits (table, mixed[i], &bits))
        add_bytes (builder, mixed[i], qm_model_format_bytes (self, &bits));
    }
}

static void
add_weights (JsonBuilder   *builder,
             const QmModel *self,
             JsonNode      *table)
{
  json_builder_set_member_name (builder, "weight_bytes");
  if (self->parameters <= 0)
    {
      json_builder_add_null_value (builder);
      return;
    }
  json_builder_begin_object (builder);
  for (gsize i = 0; i < G_N_ELEMENTS (plain); i++)
    add_bytes (builder, plain[i].format, self->parameters * plain[i].bytes);
  if (qm_model_is_packable (self))
    add_mixed (builder, self, table);
  if (qm_model_quantized_bytes (self) > 0)
    add_bytes (builder, "as_configured", qm_model_quantized_bytes (self));
  if (self->stored_bytes > 0)
    add_bytes (builder, "as_stored", self->stored_bytes);
  json_builder_end_object (builder);
}

/* Two for each weight that a token meets; looking up its embedding costs nothing,
 * unless the same matrix is the output head too. */
static double
flops_per_token (const QmModel *self)
{
  const QmArchitecture *a = &self->architecture;
  double looked_up = a->known && !a->tied ? a->embedding_parameters : 0;

  return a->layers > 0 && a->vocabulary > 0 ? 2 * (self->active_parameters - looked_up) : 0;
}

static void
add_shapes (JsonBuilder          *builder,
            const QmArchitecture *a)
{
  gboolean counted = a->experts > 1 && !a->experts_guessed;

  add_number (builder, "layers", a->layers);
  add_number (builder, "hidden_size", a->hidden);
  add_number (builder, "attention_heads", a->heads);
  add_number (builder, "key_value_heads", a->kv_heads);
  add_number (builder, "head_size", a->head_size);
  add_number (builder, "vocabulary", a->vocabulary);
  add_number (builder, "experts", counted ? a->experts : 0);
  add_number (builder, "experts_per_token", counted ? a->experts_per_token : 0);
  add_number (builder, "full_attention_layers", a->full_attention_layers);
  add_number (builder, "sliding_layers", a->sliding_layers);
  add_number (builder, "window", a->window);
  add_number (builder, "recurrent_layers", a->recurrent_layers);
  add_number (builder, "embedding_parameters", a->embedding_parameters);
}

/* Scores and weighted values of every head over what a layer sees: the products
 * that grow with the context. */
static double
attention_flops (const QmArchitecture *a,
                 double                context)
{
  double within = a->window > 0 ? MIN (context, a->window) : context;
  double width = a->kv_lora_rank > 0 ? a->qk_nope_head_size + a->qk_rope_head_size + a->v_head_size : 2 * a->head_size;

  return 2 * a->heads * width * (a->full_attention_layers * context + a->sliding_layers * within);
}

static void
add_flops (JsonBuilder   *builder,
           const QmModel *self)
{
  double alone = flops_per_token (self);

  add_number (builder, "flops_per_token", alone);
  json_builder_set_member_name (builder, "flops_per_token_at_context");
  if (alone <= 0 || !self->architecture.known)
    {
      json_builder_add_null_value (builder);
      return;
    }
  json_builder_begin_object (builder);
  for (gsize i = 0; i < G_N_ELEMENTS (contexts); i++)
    {
      char key[32];

      add_bytes (builder, g_ascii_formatd (key, sizeof key, "%.0f", contexts[i]),
                 alone + attention_flops (&self->architecture, contexts[i]));
    }
  json_builder_end_object (builder);
}

/* What a layer keeps of a token for the way back, in 16 bit and without
 * checkpoints: 34 h with two matrices in the feed-forward part (Korthikanti
 * 2022), 2 (4 h + 2 A + 2 K + 4 f) + 8 h with three. */
static double
activation_bytes (const QmArchitecture *a)
{
  double query = a->heads * a->head_size, key = a->kv_heads * a->head_size;
  double ffn = a->ffn;

  if (!a->known || a->heads <= 0 || a->layers <= 0)
    return 0;
  if (a->experts > 1)
    ffn = a->experts_per_token * a->expert_ffn + a->shared_expert_ffn;
  if (!a->gated)
    return a->layers * (18 * a->hidden + 4 * ffn);
  return a->layers * (2 * (4 * a->hidden + 2 * query + 2 * key + 4 * ffn) + 8 * a->hidden);
}

static void
add_parts (JsonBuilder          *builder,
           const QmArchitecture *a)
{
  json_builder_set_member_name (builder, "parameters_by_part");
  if (!a->known || a->parameters <= 0)
    {
      json_builder_add_null_value (builder);
      return;
    }
  json_builder_begin_object (builder);
  add_bytes (builder, "embedding", a->embedding_parameters);
  add_bytes (builder, "head", a->head_parameters);
  add_bytes (builder, "experts", a->expert_parameters);
  add_bytes (builder, "matrices", a->linear_parameters);
  add_bytes (builder, "other", MAX (0, a->parameters - a->embedding_parameters - a->head_parameters - a->linear_parameters));
  json_builder_end_object (builder);
}

static void
add_notes (JsonBuilder   *builder,
           const QmModel *self)
{
  json_builder_set_member_name (builder, "notes");
  json_builder_begin_array (builder);
  for (guint i = 0; self->notes != NULL && i < self->notes->len; i++)
    {
      g_autofree char *text = qm_message_get_text (g_ptr_array_index (self->notes, i), qm_words_english ());

      json_builder_add_string_value (builder, text);
    }
  json_builder_end_array (builder);
}

/**
 * qm_model_to_json:
 * @self: a model
 * @catalog: (nullable): the catalog, for the formats of weights
 *
 * What `quartermaster-cli model --json` prints. The cache is that of one
 * sequence at 16 bits: `ideal` keeps no more than the windows need, `reserved`
 * is what engines set aside that keep every layer at full length. The state of
 * recurrent layers is counted at 32 bits, as engines keep it.
 *
 * Returns: (transfer full): an object with the one member `model`
 */
JsonNode *
qm_model_to_json (const QmModel *self,
                  QmCatalog     *catalog)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  const QmArchitecture *a = &self->architecture;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "model");
  json_builder_begin_object (builder);
  add_word (builder, "id", self->id);
  add_word (builder, "name", self->name);
  add_number (builder, "parameters", rint (self->parameters));
  add_number (builder, "active_parameters", rint (self->active_parameters));
  add_word (builder, "read_by", readers[self->read_by]);
  add_word (builder, "architecture", a->type);
  add_shapes (builder, a);
  add_parts (builder, a);
  add_weights (builder, self, catalog != NULL ? qm_catalog_table (catalog, "quantization") : NULL);
  add_flops (builder, self);
  add_number (builder, "flops_per_sample", self->flops_per_sample);
  add_number (builder, "activations_per_sample", self->activations_per_sample);
  add_cache (builder, a);
  add_bytes (builder, "recurrent_state_bytes", 2 * a->state_size);
  add_number (builder, "cross_attention_bytes_per_encoder_token", 2 * a->cross_cache_elements);
  add_number (builder, "encoder_tokens", a->encoder_tokens);
  add_number (builder, "activation_bytes_per_token", activation_bytes (a));
  add_notes (builder, self);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}
