/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training-constants.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "estimate/qm-constants-reading.h"
#include "hardware/qm-catalog.h"
#include "qm-error.h"

typedef struct {
  const char *key;
  gsize offset;
} Entry;

#define MEMORY(field) G_STRUCT_OFFSET (QmLlmMemoryConstants, field)
#define AT(field) G_STRUCT_OFFSET (QmLlmTrainingConstants, field)

static const Entry memory_entries[] = {
  { "mem.act", MEMORY (activations) },
  { "mem.sac", MEMORY (selective) },
  { "mem.logits", MEMORY (logits) },
  { "mem.logits_chunked", MEMORY (logits_chunked) },
  { "mem.logits_fused", MEMORY (logits_fused) },
  { "mem.offload_layers", MEMORY (offload_layers) },
  { "mem.lora_input", MEMORY (lora_input) },
  { "mem.lora_input_plain", MEMORY (lora_input_plain) },
  { "mem.qlora_input", MEMORY (qlora_input) },
  { "mem.quant_extra", MEMORY (quantised_extra) },
  { "mem.ds_grad", MEMORY (deepspeed_gradients) },
  { "mem.ds_buffer", MEMORY (deepspeed_buffer) },
  { "mem.phi.single", MEMORY (reserved_single) },
  { "mem.phi.sharded", MEMORY (reserved_sharded) },
  { "mem.context", MEMORY (context_gib) },
  { "mem.context_comm", MEMORY (context_communication_gib) },
};

static const Entry entries[] = {
  { "rate.sac", AT (rate.selective) },
  { "rate.recomputed", AT (rate.recomputed) },
  { "rate.attn.ampere", AT (rate.attention[QM_LLM_ATTENTION_AMPERE]) },
  { "rate.attn.hopper", AT (rate.attention[QM_LLM_ATTENTION_HOPPER]) },
  { "rate.attn.blackwell", AT (rate.attention[QM_LLM_ATTENTION_BLACKWELL]) },
  { "rate.attn.tpu", AT (rate.attention[QM_LLM_ATTENTION_TPU]) },
  { "rate.attn_tuned", AT (rate.attention_tuned) },
  { "rate.attn_early", AT (rate.attention_early) },
  { "rate.el.eager", AT (rate.elementwise[QM_LLM_FUSION_EAGER]) },
  { "rate.el.fsdp", AT (rate.elementwise[QM_LLM_FUSION_FSDP]) },
  { "rate.el.fused", AT (rate.elementwise[QM_LLM_FUSION_FUSED]) },
  { "rate.logits", AT (rate.logits) },
  { "rate.dq.gptq", AT (rate.dequantise_int4) },
  { "rate.dq.nf4", AT (rate.dequantise_nf4) },
  { "rate.tau.eager", AT (rate.floor[QM_LLM_FLOOR_EAGER]) },
  { "rate.tau.fsdp", AT (rate.floor[QM_LLM_FLOOR_FSDP]) },
  { "rate.tau.native", AT (rate.floor[QM_LLM_FLOOR_NATIVE]) },
  { "rate.tau_zero3", AT (rate.floor_zero3) },
  { "rate.tau_moe", AT (rate.floor_moe) },
  { "rate.tau_dora", AT (rate.floor_decomposed) },
  { "rate.dora", AT (rate.decomposed) },
  { "rate.fp8.megatron", AT (rate.fp8_megatron) },
  { "rate.fp8.fsdp", AT (rate.fp8_fsdp) },
  { "rate.fp8.other", AT (rate.fp8_other) },
  { "rate.fp4", AT (rate.fp4) },
  { "rate.moe", AT (rate.moe) },
  { "rate.moe_el", AT (rate.moe_elementwise) },
  { "rate.tp_exposed.megatron", AT (rate.tensor_exposed_megatron) },
  { "rate.tp_exposed.other", AT (rate.tensor_exposed_other) },
  { "rate.cp_exposed", AT (rate.context_exposed) },
  { "rate.ep_exposed", AT (rate.expert_exposed) },
  { "rate.overlap", AT (rate.overlap) },
  { "rate.overlap.eager", AT (rate.overlap_eager) },
  { "rate.overlap.xla-gpu", AT (rate.overlap_xla_gpu) },
  { "rate.opt", AT (rate.optimizer) },
  { "rate.cpu_adam", AT (rate.cpu_adam) },
  { "rate.step_overhead", AT (rate.step_overhead) },
  { "rate.straggle", AT (rate.straggle) },
  { "rate.padding", AT (rate.padding) },
  { "rate.compiled", AT (rate.compiled) },
  { "link.fast", AT (link.fast) },
  { "link.slow", AT (link.slow) },
  { "link.pcie", AT (link.pcie) },
  { "link.staged", AT (link.staged) },
  { "link.fp8_gather", AT (link.fp8_gather) },
  { "link.bridge_unstated", AT (link.bridge_unstated) },
  { "link.bridge_cards", AT (link.bridge_cards) },
  { "nic.other", AT (link.nic_other) },
  { "nic.dcn", AT (link.nic_dcn) },
  { "nic.efa-trainium", AT (link.nic_efa_trainium) },
  { "nic.tcpx", AT (link.nic_tcpx) },
  { "nic.pcie4", AT (link.pcie4) },
  { "nic.pcie5", AT (link.pcie5) },
  { "nic.unknown_fabric", AT (link.unknown_fabric) },
  { "nic.domain", AT (link.domain) },
  { "layout.weights_share", AT (layout.weights_share) },
  { "layout.xla_rate", AT (layout.xla_rate) },
  { "layout.memory_gb", AT (layout.memory_gb) },
  { "layout.tokens", AT (layout.tokens) },
  { "layout.interleaved", AT (layout.interleaved) },
  { "layout.recompute_above", AT (layout.recompute_above) },
  { "host.adam_zero2", AT (host.adam_zero2) },
  { "host.adam_zero3", AT (host.adam_zero3) },
  { "host.all_zero3", AT (host.all_zero3) },
  { "host.buffer", AT (host.buffer) },
  { "host.nvme", AT (host.nvme) },
  { "host.nvme_states", AT (host.nvme_states) },
  { "host.nvme_gradients", AT (host.nvme_gradients) },
  { "host.nvme_optimizer_buffers", AT (host.nvme_optimizer_buffers) },
  { "host.nvme_group", AT (host.nvme_group) },
  { "host.nvme_weight_buffers", AT (host.nvme_weight_buffers) },
  { "host.nvme_weight_buffer", AT (host.nvme_weight_buffer) },
  { "host.nvme_weights_kept", AT (host.nvme_weights_kept) },
  { "default.mamf", AT (mamf) },
  { "default.vocabulary", AT (vocabulary) },
  { "default.vocabulary_guessed", AT (vocabulary_guessed) },
  { "range.memory.full-1", AT (memory_ranges[QM_LLM_MEMORY_RANGE_ONE]) },
  { "range.memory.lora", AT (memory_ranges[QM_LLM_MEMORY_RANGE_LORA]) },
  { "range.memory.qlora", AT (memory_ranges[QM_LLM_MEMORY_RANGE_QLORA]) },
  { "range.memory.sharded", AT (memory_ranges[QM_LLM_MEMORY_RANGE_SHARDED]) },
  { "range.rate.eager", AT (rate_ranges[QM_LLM_RATE_RANGE_EAGER]) },
  { "range.rate.fsdp", AT (rate_ranges[QM_LLM_RATE_RANGE_FSDP]) },
  { "range.rate.fsdp-other", AT (rate_ranges[QM_LLM_RATE_RANGE_FSDP_OTHER]) },
  { "range.rate.megatron", AT (rate_ranges[QM_LLM_RATE_RANGE_MEGATRON]) },
  { "range.rate.megatron-unstated", AT (rate_ranges[QM_LLM_RATE_RANGE_MEGATRON_UNSTATED]) },
  { "range.rate.xla", AT (rate_ranges[QM_LLM_RATE_RANGE_XLA]) },
  { "range.unknown_framework", AT (unknown_framework) },
  { "range.unseen_framework", AT (unseen_framework) },
  { "range.unknown_shape", AT (unknown_shape) },
};

static const char *const stack_words[QM_LLM_N_STACKS] = {
  [QM_LLM_STACK_EAGER] = "eager",
  [QM_LLM_STACK_FSDP] = "fsdp",
  [QM_LLM_STACK_MEGATRON] = "megatron",
  [QM_LLM_STACK_MEGATRON_2022] = "megatron-2022",
  [QM_LLM_STACK_XLA] = "xla",
  [QM_LLM_STACK_NATIVE] = "native",
};

static const char *const attention_words[QM_LLM_N_ATTENTIONS] = {
  [QM_LLM_ATTENTION_AMPERE] = "ampere",
  [QM_LLM_ATTENTION_HOPPER] = "hopper",
  [QM_LLM_ATTENTION_BLACKWELL] = "blackwell",
  [QM_LLM_ATTENTION_TPU] = "tpu",
};

static const char *const usual_words[QM_LLM_N_USUAL] = {
  [QM_LLM_USUAL_TPU] = "tpu",
  [QM_LLM_USUAL_TRAINIUM] = "trainium",
  [QM_LLM_USUAL_GAUDI] = "gaudi",
  [QM_LLM_USUAL_ADAPTER_VENDOR] = "adapter-vendor",
  [QM_LLM_USUAL_ADAPTER_COMPILED] = "adapter-compiled",
  [QM_LLM_USUAL_ADAPTER_ONE_16_BIT] = "adapter-one-16-bit",
  [QM_LLM_USUAL_ADAPTER_ONE] = "adapter-one",
  [QM_LLM_USUAL_ADAPTER_SHARDED_16_BIT] = "adapter-sharded-16-bit",
  [QM_LLM_USUAL_ADAPTER_SHARDED] = "adapter-sharded",
  [QM_LLM_USUAL_FULL_SHARDED_SMALL] = "full-sharded-small",
  [QM_LLM_USUAL_FULL_SHARDED_SPLIT] = "full-sharded-split",
  [QM_LLM_USUAL_FULL_SHARDED] = "full-sharded",
  [QM_LLM_USUAL_FULL_LOW_PRECISION] = "full-low-precision",
  [QM_LLM_USUAL_FULL_SPLIT] = "full-split",
  [QM_LLM_USUAL_FULL_SEVERAL] = "full-several",
  [QM_LLM_USUAL_FULL_ONE] = "full-one",
  [QM_LLM_USUAL_FULL_ONE_16_BIT] = "full-one-16-bit",
};

static gboolean
missing (const char  *path,
         GError     **error)
{
  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING, path,
                N_("the constants of language-model training lack “{word}”, or it is of the wrong type"), "word", path, NULL);
  return FALSE;
}

static gboolean
unknown (const char  *path,
         const char  *word,
         GError     **error)
{
  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_REFERENCE, path,
                N_("the constants of language-model training name “{word}” in “{key}”, which there is not"),
                "word", word, "key", path, NULL);
  return FALSE;
}

static JsonObject *
get_object (JsonObject  *object,
            const char  *key,
            GError     **error)
{
  JsonNode *node = qm_constants_node (object, key, JSON_NODE_OBJECT);

  if (node == NULL)
    {
      missing (key, error);
      return NULL;
    }

  return json_node_get_object (node);
}

static JsonArray *
get_array (JsonObject  *object,
           const char  *key,
           guint        at_most,
           GError     **error)
{
  JsonNode *node = qm_constants_node (object, key, JSON_NODE_ARRAY);
  JsonArray *array = node != NULL ? json_node_get_array (node) : NULL;

  if (array == NULL || json_array_get_length (array) == 0)
    {
      missing (key, error);
      return NULL;
    }

  if (json_array_get_length (array) > at_most)
    {
      qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_VALUE, key, N_("“{word}” has more than {most} lines"),
                    "word", key, "#most", (double) at_most, NULL);
      return NULL;
    }

  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      if (!JSON_NODE_HOLDS_OBJECT (json_array_get_element (array, i)))
        {
          missing (key, error);
          return NULL;
        }
    }

  return array;
}

static gboolean
copy_word (JsonObject  *object,
           const char  *key,
           char        *word,
           gsize        size,
           GError     **error)
{
  const char *value = qm_constants_string (object, key);

  if (value == NULL || g_strlcpy (word, value, size) >= size)
    return missing (key, error);

  return TRUE;
}

static gboolean
has_trait (JsonObject *object,
           const char *trait)
{
  JsonNode *node = qm_constants_node (object, "traits", JSON_NODE_ARRAY);
  JsonArray *traits = node != NULL ? json_node_get_array (node) : NULL;

  for (guint i = 0; traits != NULL && i < json_array_get_length (traits); i++)
    {
      if (g_strcmp0 (json_array_get_string_element (traits, i), trait) == 0)
        return TRUE;
    }

  return FALSE;
}

/* The value of a constant, or @otherwise where it is absent. */
static double
get_constant (JsonObject *constants,
              const char *key,
              double      otherwise)
{
  JsonNode *node = qm_constants_node (constants, key, JSON_NODE_OBJECT);

  return node != NULL ? qm_constants_number (json_node_get_object (node), "value", otherwise) : otherwise;
}

static gboolean
read_entries (JsonObject   *constants,
              const Entry  *table,
              gsize         n,
              gpointer      into,
              GError      **error)
{
  for (gsize i = 0; i < n; i++)
    {
      double value = get_constant (constants, table[i].key, NAN);

      if (isnan (value))
        return missing (table[i].key, error);

      G_STRUCT_MEMBER (double, into, table[i].offset) = value;
    }

  return TRUE;
}

static int
find_family_word (const QmLlmTrainingConstants *self,
                  const char                   *word)
{
  for (int i = 0; word != NULL && i < self->n_families; i++)
    {
      if (strcmp (self->families[i].word, word) == 0)
        return i;
    }

  return -1;
}

static gboolean
read_family (QmLlmTrainingConstants  *self,
             JsonObject              *constants,
             JsonObject              *line,
             GError                 **error)
{
  QmLlmFamily *family = &self->families[self->n_families];
  const char *word = qm_constants_string (line, "attention");
  int attention = qm_constants_find_word (attention_words, QM_LLM_N_ATTENTIONS, word);
  g_autofree char *key = NULL;

  if (!copy_word (line, "word", family->word, sizeof family->word, error))
    return FALSE;

  if (attention < 0)
    return unknown ("attention", word != NULL ? word : "", error);

  key = g_strconcat ("rate.eta.", family->word, NULL);
  family->attention = attention;
  family->rate = exp (get_constant (constants, key, 0));
  family->nic = 1e9 * qm_constants_number (line, "nic_gb_per_second", self->link.nic_other);
  family->domain = qm_constants_number (line, "domain", self->link.domain);
  family->fp8_other = has_trait (line, "fp8-other");
  family->early_attention = has_trait (line, "early-attention");
  self->n_families++;

  return TRUE;
}

static gboolean
read_device (QmLlmTrainingConstants  *self,
             JsonObject              *constants,
             JsonObject              *line,
             GError                 **error)
{
  QmLlmDeviceKind *device = &self->devices[self->n_devices];
  const char *family = qm_constants_string (line, "family");

  if (!copy_word (line, "prefix", device->prefix, sizeof device->prefix, error))
    return FALSE;

  device->length = strlen (device->prefix);
  device->family = find_family_word (self, family);
  device->mamf = qm_constants_number (line, "mamf", self->mamf);
  if (device->family < 0)
    return unknown ("family", family != NULL ? family : "", error);

  self->n_devices++;
  return TRUE;
}

static gboolean
read_sources (const QmLlmTrainingConstants  *self,
              JsonObject                    *line,
              const char                    *key,
              guint8                        *sources,
              gboolean                      *measured,
              GError                       **error)
{
  JsonNode *node = qm_constants_node (line, key, JSON_NODE_OBJECT);
  g_autoptr (GList) members = node != NULL ? json_object_get_members (json_node_get_object (node)) : NULL;

  for (GList *l = members; l != NULL; l = l->next)
    {
      int family = find_family_word (self, l->data);

      if (family < 0)
        return unknown (key, l->data, error);

      sources[family] = (guint8) CLAMP (qm_constants_number (json_node_get_object (node), l->data, 0), 0, 255);
    }

  *measured = members != NULL;
  return TRUE;
}

static gboolean
read_framework (QmLlmTrainingConstants  *self,
                JsonObject              *constants,
                JsonObject              *line,
                GError                 **error)
{
  QmLlmFramework *framework = &self->frameworks[self->n_frameworks];
  const char *stack_word = qm_constants_string (line, "stack");
  int stack = qm_constants_find_word (stack_words, QM_LLM_N_STACKS, stack_word);
  g_autofree char *stack_key = NULL;
  g_autofree char *own_key = NULL;

  if (!copy_word (line, "word", framework->word, sizeof framework->word, error))
    return FALSE;

  if (stack < 0)
    return unknown ("stack", stack_word != NULL ? stack_word : "", error);

  stack_key = g_strconcat ("rate.stack.", stack_word, NULL);
  own_key = g_strconcat ("rate.framework.", framework->word, NULL);
  framework->stack = stack;
  framework->slowness = exp (-get_constant (constants, stack_key, 0) - get_constant (constants, own_key, 0));
  framework->is_reference = has_trait (line, "reference");
  framework->deepspeed = has_trait (line, "deepspeed");
  framework->deepspeed_alone = has_trait (line, "deepspeed-alone");
  framework->chunked_loss = has_trait (line, "chunked-loss");
  framework->fused_loss = has_trait (line, "fused-loss");
  framework->counts_whole_attention = has_trait (line, "counts-whole-attention");
  framework->early_attention = has_trait (line, "early-attention");
  framework->whole_load = has_trait (line, "whole-load");
  framework->recomputes_qlora = has_trait (line, "recomputes-qlora");
  framework->kept_frozen_inputs = has_trait (line, "kept-frozen-inputs");
  framework->quantised_extra = has_trait (line, "quantised-extra");
  framework->keeps_frozen_inputs = has_trait (line, "keeps-frozen-inputs");
  framework->single_quantisation = has_trait (line, "single-quantisation");
  self->n_frameworks++;

  return read_sources (self, line, "memory_sources", framework->memory_sources, &framework->memory_measured, error) &&
         read_sources (self, line, "rate_sources", framework->rate_sources, &framework->rate_measured, error);
}

static gboolean
read_frozen (QmLlmTrainingConstants  *self,
             JsonObject              *constants,
             JsonObject              *line,
             GError                 **error)
{
  QmLlmFrozenWeights *frozen = &self->frozen[self->n_frozen];

  if (!copy_word (line, "word", frozen->word, sizeof frozen->word, error))
    return FALSE;

  frozen->bits = qm_constants_number (line, "bits", NAN);
  if (!(frozen->bits > 0))
    return missing ("bits", error);

  self->n_frozen++;
  return TRUE;
}

typedef gboolean (*ReadLine) (QmLlmTrainingConstants  *self,
                              JsonObject              *constants,
                              JsonObject              *line,
                              GError                 **error);

static gboolean
read_lines (QmLlmTrainingConstants  *self,
            JsonObject              *root,
            const char              *key,
            guint                    at_most,
            ReadLine                 read_line,
            GError                 **error)
{
  JsonObject *constants = get_object (root, "constants", error);
  JsonArray *lines = get_array (root, key, at_most, error);

  if (constants == NULL || lines == NULL)
    return FALSE;

  for (guint i = 0; i < json_array_get_length (lines); i++)
    {
      if (!read_line (self, constants, json_array_get_object_element (lines, i), error))
        {
          g_autofree char *line = g_strdup_printf ("%s[%u]", key, i);

          if (error != NULL)
            qm_error_add_path (*error, line);
          return FALSE;
        }
    }

  return TRUE;
}

static gboolean
read_usual (QmLlmTrainingConstants  *self,
            JsonObject              *root,
            GError                 **error)
{
  JsonObject *usual = get_object (root, "usual-frameworks", error);

  for (int i = 0; usual != NULL && i < QM_LLM_N_USUAL; i++)
    {
      QmLlmCandidates *candidates = &self->usual[i];
      JsonArray *lines = get_array (usual, usual_words[i], QM_LLM_MAX_CANDIDATES, error);

      if (lines == NULL)
        return FALSE;

      for (guint j = 0; j < json_array_get_length (lines); j++)
        {
          JsonObject *line = json_array_get_object_element (lines, j);
          const char *word = qm_constants_string (line, "word");
          int framework = word != NULL ? qm_llm_training_constants_find_framework (self, word) : self->n_frameworks;

          if (framework == self->n_frameworks)
            return unknown (usual_words[i], word != NULL ? word : "", error);

          candidates->items[candidates->n++] = (QmLlmCandidate) { framework, qm_constants_number (line, "weight", 0) };
        }
    }

  return usual != NULL;
}

static gboolean
read_numbers (QmLlmTrainingConstants  *self,
              JsonObject              *root,
              GError                 **error)
{
  JsonObject *constants = get_object (root, "constants", error);
  JsonObject *choice = constants != NULL ? get_object (root, "checkpointing-choice", error) : NULL;
  JsonObject *rounded = choice != NULL ? get_object (choice, "constants", error) : NULL;

  return rounded != NULL &&
         read_entries (constants, memory_entries, G_N_ELEMENTS (memory_entries), &self->memory, error) &&
         read_entries (rounded, memory_entries, G_N_ELEMENTS (memory_entries), &self->choice, error) &&
         read_entries (constants, entries, G_N_ELEMENTS (entries), self, error);
}

/**
 * qm_llm_training_constants_new:
 * @node: (nullable): the content of constants-llm-training.json
 * @error: return location for an error
 *
 * Reads the fitted constants of language-model training and the tables of
 * frameworks and device families.
 *
 * Returns: (transfer full) (nullable): the constants, or %NULL with @error set,
 *   which names what is missing
 */
QmLlmTrainingConstants *
qm_llm_training_constants_new (JsonNode  *node,
                               GError   **error)
{
  g_autoptr (QmLlmTrainingConstants) self = g_new0 (QmLlmTrainingConstants, 1);
  JsonObject *root = node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;

  if (root == NULL)
    {
      missing ("constants", error);
      return NULL;
    }

  if (!read_numbers (self, root, error) ||
      !read_lines (self, root, "families", QM_LLM_MAX_FAMILIES, read_family, error) ||
      !read_lines (self, root, "devices", QM_LLM_MAX_DEVICES, read_device, error) ||
      !read_lines (self, root, "frameworks", QM_LLM_MAX_FRAMEWORKS, read_framework, error) ||
      !read_lines (self, root, "frozen-weights", QM_LLM_MAX_FROZEN, read_frozen, error) ||
      !read_usual (self, root, error))
    return NULL;

  /* nothing is known of the framework that the table lacks */
  self->frameworks[self->n_frameworks].slowness = 1;

  return g_steal_pointer (&self);
}

/**
 * qm_llm_training_constants_free:
 * @self: (transfer full) (nullable): constants
 *
 * Frees @self.
 */
void
qm_llm_training_constants_free (QmLlmTrainingConstants *self)
{
  g_free (self);
}
