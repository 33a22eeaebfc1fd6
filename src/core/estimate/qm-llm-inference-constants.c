/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-inference-constants.h"

#include <math.h>
#include <string.h>

#include "qm-enum-types.h"
#include "qm-enum.h"

typedef struct {
  const char *key;
  gsize offset;
} Entry;

#define LIMIT(field) G_STRUCT_OFFSET (QmInferenceLimits, field)
#define LAW(field) G_STRUCT_OFFSET (QmQuantizationLaw, field)

static const Entry limit_entries[] = {
  { "memory_utilisation", LIMIT (memory_utilisation) },
  { "engine_reserve_bytes", LIMIT (engine_reserve) },
  { "prefill_chunk_tokens", LIMIT (prompt_chunk) },
  { "profile_chunk_tokens", LIMIT (profile_chunk) },
  { "profile_above_bytes", LIMIT (profile_above) },
  { "profile_outside_bytes", LIMIT (profile_outside) },
  { "sampler_bytes", LIMIT (sampler_bytes) },
  { "micro_batch_tokens", LIMIT (micro_batch) },
  { "pipeline_overlap", LIMIT (pipeline_overlap) },
  { "host_memory_bytes_per_second", LIMIT (host_bandwidth) },
  { "host_share", LIMIT (host_share) },
  { "collective_bytes", LIMIT (collective) },
  { "link_share", LIMIT (link_share) },
  { "copied_bytes", LIMIT (copied_bytes) },
  { "weight_only_from", LIMIT (weight_only_from) },
  { "fast_link_bytes_per_second", LIMIT (fast_link) },
  { "nominal_cpu_flops", LIMIT (nominal_cpu_flops) },
  { "nominal_bandwidth_bytes_per_second", LIMIT (nominal_bandwidth) },
  { "page_growth", LIMIT (page_growth) },
  { "repeated_cache", LIMIT (repeated_cache) },
  { "fragmentation", LIMIT (fragmentation) },
  { "guessed_shape", LIMIT (guessed_shape) },
  { "guessed_mixture", LIMIT (guessed_mixture) },
  { "length_spread", LIMIT (length_spread) },
  { "warm_up", LIMIT (warm_up) },
  { "cold_start_low", LIMIT (cold_start_low) },
  { "cold_start_high", LIMIT (cold_start_high) },
  { "tight_share", LIMIT (tight_share) },
  { "input_tokens", LIMIT (input_tokens) },
  { "output_tokens", LIMIT (output_tokens) },
  { "decode_output_tokens", LIMIT (decode_output_tokens) },
  { "decode_context", LIMIT (decode_context) },
};

static const Entry law_entries[] = {
  { "c0", LAW (c0) },
  { "c_tokens", LAW (c_tokens) },
  { "c_parameters", LAW (c_parameters) },
  { "per_bit", LAW (per_bit) },
  { "bits_at", LAW (bits_at) },
  { "tokens", LAW (tokens) },
  { "parameters", LAW (parameters) },
  { "lossless_bits", LAW (lossless_bits) },
  { "half_width_ln", LAW (half_width) },
};

static const Entry point_entries[] = {
  { "8_bit", LAW (points_8_bit) },
  { "4_bit", LAW (points_4_bit) },
  { "8_bit_above", LAW (points_8_bit_above) },
  { "exponent", LAW (points_exponent) },
  { "half_width", LAW (points_half_width) },
  { "law_below_bits", LAW (points_law_below) },
  { "law_bits_at", LAW (points_law_at) },
};

/* Plain numbers, or objects that explain a "value". */
static gboolean
read_entries (JsonObject   *object,
              const Entry  *table,
              gsize         n,
              gpointer      into,
              GError      **error)
{
  for (gsize i = 0; i < n; i++)
    {
      JsonNode *node = json_object_get_member (object, table[i].key);
      double value = qm_constants_number (object, table[i].key, NAN);

      if (node != NULL && JSON_NODE_HOLDS_OBJECT (node))
        value = qm_constants_number (json_node_get_object (node), "value", NAN);
      if (isnan (value))
        return qm_inference_missing (table[i].key, error);

      G_STRUCT_MEMBER (double, into, table[i].offset) = value;
    }

  return TRUE;
}

static gboolean
read_law (QmLlmInferenceConstants  *self,
          JsonObject               *root,
          GError                  **error)
{
  JsonObject *law = qm_inference_object (root, "quantization", error);
  JsonObject *points = law != NULL ? qm_inference_object (law, "points", error) : NULL;

  return points != NULL &&
         read_entries (law, law_entries, G_N_ELEMENTS (law_entries), &self->law, error) &&
         read_entries (points, point_entries, G_N_ELEMENTS (point_entries), &self->law, error);
}

static gboolean
read_limits (QmLlmInferenceConstants  *self,
             JsonObject               *root,
             GError                  **error)
{
  JsonObject *limits = qm_inference_object (root, "limits", error);
  JsonObject *pcie = limits != NULL ? qm_inference_object (root, "pcie_bytes_per_second", error) : NULL;

  if (pcie == NULL || !read_entries (limits, limit_entries, G_N_ELEMENTS (limit_entries), &self->limits, error))
    return FALSE;

  for (int i = 0; i < QM_INFERENCE_MAX_PCIE; i++)
    {
      char key[] = { (char) ('0' + i), '\0' };

      self->pcie[i] = qm_constants_number (pcie, key, 0);
    }

  self->pcie_unknown = qm_constants_number (pcie, "unknown", NAN);
  return self->pcie_unknown > 0 || qm_inference_missing ("pcie_bytes_per_second", error);
}

static gboolean
read_speculation (QmInferenceSpeculation  *self,
                  JsonObject              *line,
                  GError                 **error)
{
  self->drafted = qm_constants_number (line, "drafted", NAN);
  self->draft_cost = qm_constants_number (line, "draft_cost", NAN);
  self->weights = qm_constants_number (line, "weights", NAN);
  self->acceptance.p10 = qm_constants_number (line, "acceptance_low", NAN);
  self->acceptance.p50 = qm_constants_number (line, "acceptance", NAN);
  self->acceptance.p90 = qm_constants_number (line, "acceptance_high", NAN);

  return (self->drafted >= 1 && self->draft_cost >= 0 && self->weights >= 0 && self->acceptance.p10 > 0 &&
          self->acceptance.p50 >= self->acceptance.p10 && self->acceptance.p90 >= self->acceptance.p50 &&
          self->acceptance.p90 < 1) || qm_inference_missing ("speculation", error);
}

/* One line for each way to guess. */
static gboolean
read_speculations (QmLlmInferenceConstants  *self,
                   JsonObject               *root,
                   GError                  **error)
{
  JsonObject *lines = qm_inference_object (root, "speculation", error);

  if (lines == NULL)
    return FALSE;

  for (int i = QM_SPECULATION_NONE + 1; i <= QM_SPECULATION_EAGLE_3; i++)
    {
      JsonObject *line = qm_inference_object (lines, qm_enum_to_word (QM_TYPE_SPECULATION, i), error);

      if (line == NULL || !read_speculation (&self->speculations[i], line, error))
        return FALSE;
    }

  return TRUE;
}

/**
 * qm_llm_inference_constants_new:
 * @node: (nullable): the content of `constants-llm-inference.json`
 * @formats: (nullable): the content of `quantization.json`
 * @error: return location for an error
 *
 * Reads the constants and the weight formats, and resolves every word in them
 * to an index. Errors are of #QM_CATALOG_ERROR and name what is missing.
 *
 * Returns: (transfer full) (nullable): the constants, or %NULL with @error set
 */
QmLlmInferenceConstants *
qm_llm_inference_constants_new (JsonNode  *node,
                                JsonNode  *formats,
                                GError   **error)
{
  g_autoptr (QmLlmInferenceConstants) self = g_new0 (QmLlmInferenceConstants, 1);
  JsonObject *root, *words;

  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    {
      qm_inference_missing ("constants-llm-inference", error);
      return NULL;
    }
  if (formats == NULL || !JSON_NODE_HOLDS_OBJECT (formats))
    {
      qm_inference_missing ("quantization", error);
      return NULL;
    }

  root = json_node_get_object (node);
  words = json_node_get_object (formats);
  if (!qm_inference_read_tables (self, root, error) || !read_limits (self, root, error) || !read_law (self, root, error) ||
      !read_speculations (self, root, error) ||
      !qm_inference_read_formats (self, root, words, error))
    return NULL;

  return g_steal_pointer (&self);
}

/**
 * qm_llm_inference_constants_free:
 * @self: (transfer full) (nullable): constants
 *
 * Frees @self.
 */
void
qm_llm_inference_constants_free (QmLlmInferenceConstants *self)
{
  g_free (self);
}

/**
 * qm_inference_constants_find_engine:
 * @self: constants
 * @word: (nullable): `serving.engine` of a plan
 *
 * Returns: its index; that of the usual engine where none is named, and of one
 *   that nothing is known of where the name is new
 */
int
qm_inference_constants_find_engine (const QmLlmInferenceConstants *self,
                                    const char                    *word)
{
  if (word == NULL || word[0] == '\0')
    return self->default_engine;

  for (int i = 0; i < self->n_engines; i++)
    {
      if (strcmp (self->engines[i].word, word) == 0)
        return i;
    }

  return self->n_engines;
}

/**
 * qm_inference_constants_find_arch:
 * @self: constants
 * @word: (nullable): a generation of devices
 *
 * Returns: its index; the number of known ones where it is new
 */
int
qm_inference_constants_find_arch (const QmLlmInferenceConstants *self,
                                  const char                    *word)
{
  for (int i = 0; word != NULL && i < self->n_archs; i++)
    {
      if (strcmp (self->archs[i].word, word) == 0)
        return i;
    }

  return self->n_archs;
}
