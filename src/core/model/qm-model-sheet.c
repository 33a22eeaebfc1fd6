/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-sheet.h"

#include <glib/gi18n.h>
#include <math.h>

#include "qm-model-formats.h"
#include "qm-model-resolve.h"

/* Tokens of a conversation that figures are given for. */
#define USUAL_CONTEXT 8192

/* Bytes a parameter of AdamW in mixed precision: two of each of weights and
 * gradients, twelve of master weights and averages (ZeRO, 2020). */
#define ADAMW_BYTES 16

static const char * const origins[] = {
  [QM_READER_NONE] = NULL,
  [QM_READER_CATALOG] = N_("From the catalog"),
  [QM_READER_CONFIG] = N_("From the config.json"),
  [QM_READER_SAFETENSORS] = N_("From the list of tensors in the safetensors files"),
  [QM_READER_GGUF] = N_("From the header of the GGUF file"),
  [QM_READER_PARAMETER_COUNT] = N_("Guessed from the parameter count"),
};

static void
free_fact (QmModelFact *fact)
{
  qm_message_free (fact->value);
  g_free (fact);
}

static void
add (GPtrArray  *facts,
     const char *title,
     QmMessage  *value,
     const char *origin)
{
  QmModelFact *fact = g_new (QmModelFact, 1);

  *fact = (QmModelFact) { .title = title, .value = value, .origin = origin };
  g_ptr_array_add (facts, fact);
}

/* Memory, in GiB as drivers report it. */
static QmMessage *
bytes_message (double bytes)
{
  return qm_message_add (qm_message_new ("model-bytes", "{bytes}"), "bytes", QM_ARGUMENT_BYTES, bytes);
}

/* What lies on a disk, in GB as file managers show it. */
static QmMessage *
file_message (double bytes)
{
  return qm_message_add (qm_message_new ("model-file-bytes", "{bytes}"), "bytes", QM_ARGUMENT_FILE_BYTES, bytes);
}

static QmMessage *
count_message (double count)
{
  return qm_message_add (qm_message_new ("model-count", "{count}"), "count", QM_ARGUMENT_COUNT, rint (count));
}

/* Which way it works follows from what it keeps of the past. */
static QmMessage *
kind_message (const QmModel *self)
{
  const QmArchitecture *a = &self->architecture;
  gboolean keeps_past = a->full_cache_elements + a->sliding_cache_elements + a->state_size > 0;

  if (self->config != NULL && json_object_has_member (self->config, "_class_name"))
    return qm_message_new ("model-kind-pipeline", N_("{family}: a network of an image pipeline"));
  if (a->encoder_layers > 0 && a->decoder_layers > 0)
    return qm_message_new ("model-kind-both", N_("{family}: an encoder that reads and a decoder that writes"));
  if (keeps_past)
    return qm_message_new ("model-kind-decoder", N_("{family}: a decoder, which writes token after token"));
  if (a->heads > 0)
    return qm_message_new ("model-kind-encoder", N_("{family}: an encoder, which reads its input as a whole"));
  return qm_message_new ("model-kind", "{family}");
}

static void
add_kind (GPtrArray     *facts,
          const QmModel *self,
          const char    *origin)
{
  if (self->architecture.known && self->architecture.type[0] != '\0')
    add (facts, N_("What it is"), qm_message_add_text (kind_message (self), "family", QM_ARGUMENT_NAME, self->architecture.type),
         origin);
}

static void
add_counts (GPtrArray     *facts,
            const QmModel *self,
            const char    *origin)
{
  const QmArchitecture *a = &self->architecture;

  if (self->parameters > 0)
    add (facts, N_("Parameters"), count_message (self->parameters), origin);
  if (self->active_parameters > 0 && self->active_parameters < self->parameters)
    add (facts, N_("Used for each token"), count_message (self->active_parameters),
         a->known && !a->experts_guessed ? N_("All but the experts that a token does not meet") : origin);
  if (a->experts > 1 && !a->experts_guessed)
    add (facts, N_("Experts"), qm_message_new_filled ("model-experts", N_("{used} of {all}"),
                                                      "#used", a->experts_per_token, "#all", a->experts, NULL), origin);
}

static QmMessage *
attention_message (const QmArchitecture *a)
{
  if (a->kv_lora_rank > 0)
    return qm_message_new ("model-attention-latent", N_("latent: keys and values are kept compressed"));
  if (a->kv_heads == a->heads)
    return qm_message_new_filled ("model-attention-full", N_("{heads} heads, each with its own keys and values"),
                                  "#heads", a->heads, NULL);
  if (a->kv_heads == 1)
    return qm_message_new_filled ("model-attention-one", N_("{heads} heads share one set of keys and values"),
                                  "#heads", a->heads, NULL);
  return qm_message_new_filled ("model-attention-grouped", N_("{heads} heads share {groups} sets of keys and values"),
                                "#heads", a->heads, "#groups", a->kv_heads, NULL);
}

static void
add_layers (GPtrArray            *facts,
            const QmArchitecture *a,
            const char           *origin)
{
  if (a->layers > 0 && a->hidden > 0)
    add (facts, N_("Layers × width"), qm_message_new_filled ("model-layers", "{layers} × {width}",
                                                             "#layers", a->layers, "#width", a->hidden, NULL), origin);
  if (a->heads > 0)
    add (facts, N_("Attention"), attention_message (a), origin);
  if (a->sliding_layers > 0)
    add (facts, N_("Layers with a window"),
         qm_message_new_filled ("model-window", N_("{sliding} of {layers}, which see {window} tokens"),
                                "#sliding", a->sliding_layers, "#layers", a->layers, "#window", a->window, NULL), origin);
  if (a->recurrent_layers > 0)
    add (facts, N_("Layers with a state"),
         qm_message_new_filled ("model-state-layers", N_("{recurrent} of {layers}, which keep no cache"),
                                "#recurrent", a->recurrent_layers, "#layers", a->layers, NULL), origin);
  if (a->max_positions > 0)
    add (facts, N_("Context"), qm_message_add (qm_message_new ("model-context", N_("{tokens} tokens")),
                                               "tokens", QM_ARGUMENT_COUNT, a->max_positions), origin);
}

/* As many tokens as the lines on a conversation are about: 0 for models that
 * hold none, and no more than the model takes. */
static double
conversation_tokens (const QmArchitecture *a)
{
  if (!a->known || a->encoder_layers > 0 || qm_architecture_kv_bytes (a, USUAL_CONTEXT, 2) <= 0)
    return 0;
  return a->max_positions > 0 ? MIN (USUAL_CONTEXT, a->max_positions) : USUAL_CONTEXT;
}

static QmMessage *
cache_message (const QmArchitecture *a)
{
  double tokens = conversation_tokens (a);
  double ideal = qm_architecture_kv_bytes (a, tokens, 2);
  double reserved = qm_architecture_kv_bytes_per_token (a, 2) * tokens;
  QmMessage *message;

  if (ideal >= reserved)
    return bytes_message (ideal);
  message = qm_message_new ("model-cache", N_("{ideal}; {reserved} where an engine keeps every layer at full length"));
  qm_message_add (message, "ideal", QM_ARGUMENT_BYTES, ideal);
  return qm_message_add (message, "reserved", QM_ARGUMENT_BYTES, reserved);
}

static void
add_cache (GPtrArray            *facts,
           const QmArchitecture *a)
{
  double per_token = qm_architecture_kv_bytes_per_token (a, 2);
  double tokens = conversation_tokens (a);

  if (a->known && per_token > 0)
    add (facts, tokens > 0 ? N_("Memory for each token of a conversation") : N_("Memory for each token of an answer"),
         bytes_message (per_token), N_("Keys and values in 16 bit"));
  if (tokens > 0 && per_token > 0)
    add (facts, tokens < USUAL_CONTEXT ? N_("Memory for a conversation of full length")
                                       : N_("Memory for a conversation of 8192 tokens"),
         cache_message (a), N_("Keys and values in 16 bit"));
  if (a->state_size > 0)
    add (facts, N_("State of a conversation, whatever its length"), bytes_message (2 * a->state_size),
         N_("Of the layers with a state, in 32 bit"));
}

static double
format_bytes (const QmModel *self,
              JsonNode      *formats,
              const char    *format,
              double         bits)
{
  QmFormatBits found;

  return qm_format_bits (formats, format, &found) ? qm_model_format_bytes (self, &found) : self->parameters * bits / 8;
}

static void
add_weights (GPtrArray     *facts,
             const QmModel *self,
             JsonNode      *formats)
{
  double configured = qm_model_quantized_bytes (self);

  add (facts, N_("Weights in 16 bit"), bytes_message (2 * self->parameters), N_("2 bytes a parameter"));
  if (qm_model_is_packable (self))
    {
      add (facts, N_("Weights in 8 bit"), bytes_message (format_bytes (self, formats, "fp8", 8)),
           N_("FP8; embedding and output head stay in 16 bit"));
      add (facts, N_("Weights in 4 bit"), bytes_message (format_bytes (self, formats, "awq-int4", 4.25)),
           N_("AWQ; embedding and output head stay in 16 bit"));
    }
  if (configured > 0)
    add (facts, N_("Weights as they are packed"), file_message (configured), N_("By the packing that the config.json names"));
  if (self->stored_bytes > 0)
    add (facts, N_("Weights in the file"), file_message (self->stored_bytes), N_("Added up over its tensors"));
}

static const char *
serving_origin (double tokens)
{
  if (tokens <= 0)
    return N_("Weights; an engine adds some");
  if (tokens < USUAL_CONTEXT)
    return N_("Weights and one conversation of full length; an engine adds some");
  return N_("Weights and one conversation of 8192 tokens; an engine adds some");
}

/* Bytes of the weights as they were handed over, where that is less than they
 * would take in 16 bit; half way to 8 bit, a few in 32 bit do not matter. */
static double
packed_bytes (const QmModel *self)
{
  double bytes = self->stored_bytes > 0 ? self->stored_bytes : qm_model_quantized_bytes (self);

  return bytes < 1.5 * self->parameters ? bytes : 0;
}

static void
add_serving (GPtrArray     *facts,
             const QmModel *self,
             JsonNode      *formats)
{
  double tokens = conversation_tokens (&self->architecture);
  double cache = tokens > 0 ? qm_architecture_kv_bytes (&self->architecture, tokens, 2) : 0;
  double least = packed_bytes (self);
  QmMessage *serve;

  if (least > 0)
    serve = qm_message_new ("model-serve-packed", N_("{least} as it is packed, {most} in 16 bit"));
  else if (qm_model_is_packable (self))
    serve = qm_message_new ("model-serve", N_("{least} in 4 bit, {most} in 16 bit"));
  else
    serve = qm_message_new ("model-serve-plain", N_("{most} in 16 bit"));
  if (least <= 0)
    least = format_bytes (self, formats, "awq-int4", 4.25);
  qm_message_add (serve, "least", QM_ARGUMENT_BYTES, least + cache);
  qm_message_add (serve, "most", QM_ARGUMENT_BYTES, 2 * self->parameters + cache);
  add (facts, N_("To serve it"), serve, serving_origin (tokens));
}

static void
add_training (GPtrArray     *facts,
              const QmModel *self,
              JsonNode      *formats)
{
  QmMessage *train;

  if (qm_model_is_packable (self))
    train = qm_message_new ("model-train", N_("{all} to train all weights; those that stay frozen take {lora} with LoRA, "
                                              "{qlora} with QLoRA"));
  else
    train = qm_message_new ("model-train-plain", N_("{all} to train all weights; those that stay frozen take {lora} with LoRA"));
  qm_message_add (train, "all", QM_ARGUMENT_BYTES, ADAMW_BYTES * self->parameters);
  qm_message_add (train, "lora", QM_ARGUMENT_BYTES, 2 * self->parameters);
  qm_message_add (train, "qlora", QM_ARGUMENT_BYTES, format_bytes (self, formats, "nf4", 4.13));
  add (facts, N_("To train it"), train, N_("16 bytes a parameter with AdamW in mixed precision; what a batch takes comes on top"));
}

static QmMessage *
score_message (double   low,
               double   high,
               gboolean recalled)
{
  if (recalled)
    return qm_message_new ("model-score-recalled", N_("{low} to {high} of the questions (recalled from {source}, not looked up again)"));

  return low < high ? qm_message_new ("model-score", N_("{low} to {high} of the questions ({source})"))
                    : qm_message_new ("model-score-one", N_("about {high} of the questions ({source})"));
}

/* How it is asked, with examples or with room to reason, is what a range is over;
 * of what was recalled also how far memory may err. */
static void
add_score (GPtrArray     *facts,
           const QmModel *self)
{
  JsonNode *node = self->facts != NULL ? json_object_get_member (self->facts, "mmlu") : NULL;
  JsonArray *range = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  QmMessage *message;
  double low, high;

  if (range == NULL || json_array_get_length (range) != 2)
    return;

  low = json_array_get_double_element (range, 0);
  high = json_array_get_double_element (range, 1);
  message = score_message (low, high, json_object_get_boolean_member_with_default (self->facts, "mmlu_recalled", FALSE));
  qm_message_add (message, "low", QM_ARGUMENT_PERCENT, low);
  qm_message_add (message, "high", QM_ARGUMENT_PERCENT, high);
  qm_message_add_text (message, "source", QM_ARGUMENT_NAME, json_object_get_string_member_with_default (self->facts, "mmlu_source", "—"));
  add (facts, N_("Published score (MMLU)"), message, N_("Of the weights in 16 bit; how it is asked moves it by some points"));
}

/**
 * qm_model_sheet:
 * @self: a model
 * @formats: (nullable): the table `quantization` of the catalog
 *
 * What there is to know of a model, line by line, each with its origin.
 *
 * Returns: (transfer full) (element-type QmModelFact): the lines
 */
GPtrArray *
qm_model_sheet (const QmModel *self,
                JsonNode      *formats)
{
  GPtrArray *facts = g_ptr_array_new_with_free_func ((GDestroyNotify) free_fact);
  const QmArchitecture *a = &self->architecture;
  const char *origin = origins[self->read_by];

  add_kind (facts, self, origin);
  add_counts (facts, self, origin);
  if (a->known)
    add_layers (facts, a, origin);
  add_score (facts, self);
  add_cache (facts, a);
  if (self->parameters <= 0)
    return facts;
  add_weights (facts, self, formats);
  add_serving (facts, self, formats);
  add_training (facts, self, formats);
  return facts;
}
