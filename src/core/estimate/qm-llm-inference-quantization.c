/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-inference-private.h"

#include <math.h>
#include <string.h>

/* Weight formats, and what quantised weights cost in quality. */

static gboolean
read_format (QmWeightFormat  *format,
             JsonObject      *methods,
             JsonObject      *line,
             const char      *word,
             GError         **error)
{
  const char *kernel_word = qm_constants_string (line, "kernel");
  const char *method = qm_constants_string (line, "method");
  int kernel = qm_inference_find_kernel (kernel_word);

  if (!qm_inference_copy_word (line, word, format->word, sizeof format->word, error))
    return FALSE;

  if (kernel < 0 || kernel >= QM_INFERENCE_N_KERNELS)
    return qm_inference_unknown (format->word, kernel_word != NULL ? kernel_word : "", error);

  format->kernel = kernel;
  format->body = qm_constants_number (line, "body", NAN);
  format->embedding = qm_constants_number (line, "embedding", format->body);
  format->head = qm_constants_number (line, "head", format->body);
  format->loss_bits = qm_constants_number (line, "loss_bits", 0);
  format->loss_method = method != NULL ? qm_constants_number (methods, method, 0) : 0;
  format->experts_only = json_object_get_boolean_member_with_default (line, "experts_only", FALSE);
  format->body_from_name = json_object_get_boolean_member_with_default (line, "body_from_name", FALSE);

  return format->body > 0 || qm_inference_missing ("body", error);
}

static gboolean
read_kv_formats (QmLlmInferenceConstants  *self,
                 JsonObject               *root,
                 GError                  **error)
{
  JsonObject *kv = qm_inference_object (root, "kv_cache", error);
  g_autoptr (GList) words = kv != NULL ? json_object_get_members (kv) : NULL;

  for (GList *l = words; l != NULL; l = l->next)
    {
      QmKvFormat *format = &self->kv_formats[self->n_kv_formats];

      if (self->n_kv_formats == QM_INFERENCE_MAX_KV_CACHES ||
          g_strlcpy (format->word, l->data, sizeof format->word) >= sizeof format->word)
        return qm_inference_unknown ("kv_cache", l->data, error);

      format->bytes = qm_constants_number (kv, l->data, NAN);
      if (!(format->bytes > 0))
        return qm_inference_missing (l->data, error);
      self->n_kv_formats++;
    }

  self->kv_default = qm_constants_number (root, "kv_cache_default", NAN);
  return kv != NULL && (self->kv_default > 0 || qm_inference_missing ("kv_cache_default", error));
}

/**
 * qm_inference_read_formats:
 * @self: constants in the making
 * @constants: the content of `constants-llm-inference.json`
 * @formats: the content of `quantization.json`: formats by name, and the families
 *   that other names belong to
 * @error: return location for an error of %QM_CATALOG_ERROR
 *
 * Returns: whether all are there
 */
gboolean
qm_inference_read_formats (QmLlmInferenceConstants  *self,
                           JsonObject               *constants,
                           JsonObject               *formats,
                           GError                  **error)
{
  JsonArray *lines = qm_inference_array (formats, "formats", QM_INFERENCE_MAX_FORMATS, error);
  JsonArray *families = lines != NULL ? qm_inference_array (formats, "families", QM_INFERENCE_MAX_FORMATS, error) : NULL;
  JsonObject *law = families != NULL ? qm_inference_object (constants, "quantization", error) : NULL;
  JsonObject *methods = law != NULL ? qm_inference_object (law, "methods", error) : NULL;

  if (methods == NULL)
    return FALSE;

  for (guint i = 0; i < json_array_get_length (lines); i++)
    {
      if (!read_format (&self->formats[i], methods, json_array_get_object_element (lines, i), "word", error))
        return FALSE;
    }
  self->n_formats = (int) json_array_get_length (lines);

  for (guint i = 0; i < json_array_get_length (families); i++)
    {
      if (!read_format (&self->format_families[i], methods, json_array_get_object_element (families, i), "prefix", error))
        return FALSE;
    }
  self->n_format_families = (int) json_array_get_length (families);
  if (self->n_format_families == 0 || self->format_families[self->n_format_families - 1].word[0] != '\0')
    return qm_inference_missing ("families", error);

  return qm_inference_copy_word (formats, "default", self->default_format, sizeof self->default_format, error) &&
         read_kv_formats (self, formats, error);
}

static gboolean
find_listed (const QmLlmInferenceConstants *self,
             const char                    *word,
             QmWeightFormat                *format)
{
  for (int i = 0; i < self->n_formats; i++)
    {
      if (strcmp (self->formats[i].word, word) == 0)
        {
          *format = self->formats[i];
          return TRUE;
        }
    }

  return FALSE;
}

/**
 * qm_inference_constants_find_format:
 * @self: constants
 * @word: (nullable): `serving.weights` of a plan; the usual format where none is
 *   named
 * @known: (out): whether its bits are
 *
 * Returns: the format; the last family takes every name, so there is always one
 */
QmWeightFormat
qm_inference_constants_find_format (const QmLlmInferenceConstants *self,
                                    const char                    *word,
                                    gboolean                      *known)
{
  QmWeightFormat format;
  int i = 0;

  if (word == NULL || word[0] == '\0')
    word = self->default_format;

  *known = TRUE;
  if (find_listed (self, word, &format))
    return format;

  while (!g_str_has_prefix (word, self->format_families[i].word))
    i++;

  format = self->format_families[i];
  *known = format.body_from_name;
  if (format.body_from_name)
    format.body = g_ascii_strtod (word + strlen (format.word), NULL);
  *known = *known && format.body > 0;

  return format;
}

/**
 * qm_inference_constants_kv_bytes:
 * @self: constants
 * @word: `serving.kv_cache` of a plan
 *
 * Returns: bytes of one element of the cache
 */
double
qm_inference_constants_kv_bytes (const QmLlmInferenceConstants *self,
                                 const char                    *word)
{
  for (int i = 0; i < self->n_kv_formats; i++)
    {
      if (strcmp (self->kv_formats[i].word, word) == 0)
        return self->kv_formats[i].bytes;
    }

  return self->kv_default;
}

static QmRange
lost_points (const QmQuantizationLaw *law,
             double                   bits,
             double                   parameters)
{
  double points = bits > law->points_8_bit_above ? law->points_8_bit : law->points_4_bit;

  points *= pow (parameters / law->parameters, -law->points_exponent);
  if (bits <= law->points_law_below)
    points *= exp (-law->per_bit * (bits - law->points_law_at));

  return (QmRange) { points - law->points_half_width, points, points + law->points_half_width };
}

/**
 * qm_quantization_loss:
 * @constants: constants
 * @weights: (nullable): a weight format, e.g. `gguf-q4_k_m`
 * @parameters: of the model
 * @training_tokens: that the model was trained on; 0 unknown, which is taken
 *   for many, the cautious side
 *
 * What quantising the weights costs: ln (PPL / PPL16) =
 * exp (c0 + c_D·ln (D / 15·10¹²) + c_N·ln (N / 8·10⁹) + method)·exp (−s·(b − 4.5)),
 * b bits of the matrices, D training tokens; and task points A·(N / 8·10⁹)^−g, A
 * by whether the weights have 8 bits or 4, below 4 bits times exp (−s·(b − 4.25)).
 * Fitted on 65 published perplexities and 31 task scores of quantised models.
 *
 * Returns: factor on the perplexity and percentage points lost; 1 and 0 for
 *   formats of 16 bits; not known where the format or the size is not
 */
QmQuantizationLoss
qm_quantization_loss (const QmLlmInferenceConstants *constants,
                      const char                    *weights,
                      double                         parameters,
                      double                         training_tokens)
{
  const QmQuantizationLaw *law = &constants->law;
  gboolean known;
  QmWeightFormat format = qm_inference_constants_find_format (constants, weights, &known);
  double bits = format.body + format.loss_bits;
  double tokens = training_tokens > 0 ? training_tokens : law->tokens;
  double loss, spread = exp (law->half_width);

  if (!known || !(parameters > 0))
    return (QmQuantizationLoss) { QM_RANGE_UNKNOWN, QM_RANGE_UNKNOWN, FALSE };

  if (bits >= law->lossless_bits)
    return (QmQuantizationLoss) { qm_range_exact (1), qm_range_exact (0), TRUE };

  loss = exp (law->c0 + law->c_tokens * log (tokens / law->tokens) + law->c_parameters * log (parameters / law->parameters) +
              format.loss_method - law->per_bit * (bits - law->bits_at));

  return (QmQuantizationLoss) {
    .perplexity_factor = { exp (loss / spread), exp (loss), exp (loss * spread) },
    .points = lost_points (law, bits, parameters),
    .known = TRUE,
  };
}

/**
 * qm_llm_inference_weight_bytes:
 * @constants: constants
 * @architecture: shapes of the model
 * @parameters: of the model
 * @weights: (nullable): a weight format; %NULL the usual one
 *
 * Bytes of all weights in memory: layers, embedding and head, each with the
 * bits that the format gives it; a tied head is counted once.
 *
 * Returns: bytes
 */
double
qm_llm_inference_weight_bytes (const QmLlmInferenceConstants *constants,
                               const QmArchitecture          *architecture,
                               double                         parameters,
                               const char                    *weights)
{
  gboolean known;
  QmWeightFormat format = qm_inference_constants_find_format (constants, weights, &known);
  QmInferenceShape shape;

  qm_inference_shape_init (&shape, architecture, parameters, architecture->active_parameters);
  return qm_inference_weight_bytes (&shape, &format);
}
