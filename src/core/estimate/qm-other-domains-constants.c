/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-constants.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "estimate/qm-constants-reading.h"
#include "estimate/qm-other-domains-keys.h"
#include "hardware/qm-catalog.h"
#include "qm-error.h"

static const char *const power_words[QM_DOMAIN_N_POWERS] = {
  [QM_DOMAIN_POWER_VOLTA] = "volta",
  [QM_DOMAIN_POWER_TURING] = "turing",
  [QM_DOMAIN_POWER_AMPERE] = "ampere",
  [QM_DOMAIN_POWER_ADA] = "ada",
  [QM_DOMAIN_POWER_HOPPER] = "hopper",
  [QM_DOMAIN_POWER_BLACKWELL] = "blackwell",
};

static const char *const stack_words[QM_DOMAIN_N_KNOWN_STACKS] = {
  [QM_DOMAIN_STACK_PYTORCH] = "pytorch",
  [QM_DOMAIN_STACK_NVIDIA_TUNED] = "nvidia-tuned",
  [QM_DOMAIN_STACK_MLPERF] = "mlperf",
  [QM_DOMAIN_STACK_TENSORFLOW] = "tensorflow",
  [QM_DOMAIN_STACK_DETECTRON2] = "detectron2",
  [QM_DOMAIN_STACK_HUGGINGFACE] = "huggingface",
  [QM_DOMAIN_STACK_COMPOSER] = "composer",
  [QM_DOMAIN_STACK_NEMO] = "nemo",
  [QM_DOMAIN_STACK_NEURONX] = "neuronx",
  [QM_DOMAIN_STACK_HABANA] = "habana",
};

static const char *const engine_words[QM_DOMAIN_N_ENGINES] = {
  [QM_DOMAIN_ENGINE_EAGER] = "eager",
  [QM_DOMAIN_ENGINE_TENSORFLOW] = "tensorflow",
  [QM_DOMAIN_ENGINE_COMPILED] = "compiled",
  [QM_DOMAIN_ENGINE_ENGINE] = "engine",
};

static const char *const speech_words[QM_DOMAIN_N_SPEECH] = {
  [QM_DOMAIN_SPEECH_PYTORCH] = "pytorch",
  [QM_DOMAIN_SPEECH_TRANSFORMERS] = "transformers",
  [QM_DOMAIN_SPEECH_CTRANSLATE2] = "ctranslate2",
  [QM_DOMAIN_SPEECH_WHISPER_CPP] = "whisper.cpp",
  [QM_DOMAIN_SPEECH_OPENVINO] = "openvino",
  [QM_DOMAIN_SPEECH_TENSORRT] = "tensorrt",
};

static const char *const rate_words[QM_DOMAIN_N_RATES] = {
  [QM_DOMAIN_RATE_FP32] = "fp32",
  [QM_DOMAIN_RATE_TF32] = "tf32",
  [QM_DOMAIN_RATE_FP16] = "fp16",
  [QM_DOMAIN_RATE_BF16] = "bf16",
  [QM_DOMAIN_RATE_FP8] = "fp8",
  [QM_DOMAIN_RATE_INT8] = "int8",
  [QM_DOMAIN_RATE_FP4] = "fp4",
  [QM_DOMAIN_RATE_OTHER] = "other",
};

static const char *const booster_words[QM_DOMAIN_N_BOOSTERS] = {
  [QM_DOMAIN_BOOSTER_XGBOOST] = "xgboost",
  [QM_DOMAIN_BOOSTER_XGBOOST_EXACT] = "xgboost-exact",
  [QM_DOMAIN_BOOSTER_LIGHTGBM] = "lightgbm",
  [QM_DOMAIN_BOOSTER_CATBOOST] = "catboost",
  [QM_DOMAIN_BOOSTER_H2O] = "h2o",
};

static gboolean
missing (const char  *path,
         GError     **error)
{
  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING, path,
                N_("the constants of vision, speech and other tasks lack “{word}”, or it is of the wrong type"), "word", path, NULL);
  return FALSE;
}

static gboolean
get_flag (JsonObject *object,
          const char *key)
{
  JsonNode *node = qm_constants_node (object, key, JSON_NODE_VALUE);

  return node != NULL && json_node_get_value_type (node) == G_TYPE_BOOLEAN && json_node_get_boolean (node);
}

static gboolean
copy_string (JsonObject  *object,
             const char  *key,
             char        *place,
             gsize        size,
             GError     **error)
{
  const char *value = qm_constants_string (object, key);

  if (value == NULL || g_strlcpy (place, value, size) >= size)
    return missing (key, error);

  return TRUE;
}

/* The index in @words of the member @key of @object; @otherwise where there is
 * no such member, and an error where it is another word or is needed. */
static gboolean
get_word (JsonObject        *object,
          const char        *key,
          const char *const *words,
          int                n,
          int                otherwise,
          int               *index,
          GError           **error)
{
  const char *word = qm_constants_string (object, key);

  *index = otherwise;
  if (word == NULL)
    return otherwise >= -1 || missing (key, error);

  *index = qm_constants_find_word (words, n, word);
  if (*index >= 0)
    return TRUE;

  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_REFERENCE, key,
                N_("the constants of vision, speech and other tasks name “{word}” in “{key}”, which there is not"),
                "word", word, "key", key, NULL);
  return FALSE;
}

/* No member, no default. */
#define NEEDED (-2)

static gboolean
read_architecture (QmOtherDomainsConstants  *self,
                   JsonObject               *line,
                   GError                  **error)
{
  QmDomainArchitecture *architecture = &self->architectures[self->n_architectures++];

  architecture->cpu_generation = qm_constants_number (line, "generation", 1);
  architecture->measured = get_flag (line, "measured");
  architecture->large_cache = get_flag (line, "large_cache");
  architecture->new_port = get_flag (line, "new_port");

  return copy_string (line, "text", architecture->text, sizeof architecture->text, error) &&
         get_word (line, "power", power_words, QM_DOMAIN_N_POWERS, -1, &architecture->power, error) &&
         get_word (line, "stack", stack_words, QM_DOMAIN_N_KNOWN_STACKS, -1, &architecture->stack, error);
}

static gboolean
read_link_domain (QmOtherDomainsConstants  *self,
                  JsonObject               *line,
                  GError                  **error)
{
  QmDomainLinkDomain *domain = &self->link_domains[self->n_link_domains++];

  domain->devices = qm_constants_number (line, "devices", 0);
  return copy_string (line, "prefix", domain->prefix, sizeof domain->prefix, error);
}

static gboolean
read_framework (QmOtherDomainsConstants  *self,
                JsonObject               *line,
                GError                  **error)
{
  QmDomainFramework *framework = &self->frameworks[self->n_frameworks++];
  int stack;

  if (!get_word (line, "stack", stack_words, QM_DOMAIN_N_KNOWN_STACKS, NEEDED, &stack, error))
    return FALSE;

  framework->stack = stack;
  return copy_string (line, "word", framework->word, sizeof framework->word, error);
}

static gboolean
read_engine (QmOtherDomainsConstants  *self,
             JsonObject               *line,
             GError                  **error)
{
  QmDomainEngineWord *engine = &self->engines[self->n_engines++];
  int kind, speech;

  if (!get_word (line, "class", engine_words, QM_DOMAIN_N_ENGINES, NEEDED, &kind, error) ||
      !get_word (line, "speech", speech_words, QM_DOMAIN_N_SPEECH, QM_DOMAIN_SPEECH_TRANSFORMERS, &speech, error))
    return FALSE;

  engine->kind = kind;
  engine->speech = speech;
  engine->server = get_flag (line, "server");
  engine->greedy = get_flag (line, "greedy");
  engine->python_front_end = get_flag (line, "python_front_end");
  engine->sixteen_bit = get_flag (line, "sixteen_bit");
  engine->sixteen_bit_files = get_flag (line, "sixteen_bit_files");
  engine->compiles_low_precision = get_flag (line, "compiles_low_precision");

  return copy_string (line, "word", engine->word, sizeof engine->word, error);
}

static gboolean
read_weights (QmOtherDomainsConstants  *self,
              JsonObject               *line,
              GError                  **error)
{
  QmDomainWeights *weights = &self->weights[self->n_weights++];
  int rate;

  if (!get_word (line, "rate", rate_words, QM_DOMAIN_N_RATES, NEEDED, &rate, error))
    return FALSE;

  weights->rate = rate;
  weights->bytes = qm_constants_number (line, "bytes", 0);
  if (!(weights->bytes > 0))
    return missing ("bytes", error);

  return copy_string (line, "word", weights->word, sizeof weights->word, error);
}

static gboolean
read_booster (QmOtherDomainsConstants  *self,
              JsonObject               *line,
              GError                  **error)
{
  QmDomainBoosterWord *booster = &self->boosters[self->n_boosters++];
  int engine;

  if (!get_word (line, "engine", booster_words, QM_DOMAIN_N_BOOSTERS, NEEDED, &engine, error))
    return FALSE;

  booster->booster = engine;
  return copy_string (line, "prefix", booster->prefix, sizeof booster->prefix, error);
}

typedef gboolean (*ReadLine) (QmOtherDomainsConstants  *self,
                              JsonObject               *line,
                              GError                  **error);

static const struct {
  const char *key;
  guint at_most;
  ReadLine read;
} tables[] = {
  { "architectures", QM_DOMAIN_MAX_ARCHITECTURES, read_architecture },
  { "link-domains", QM_DOMAIN_MAX_LINK_DOMAINS, read_link_domain },
  { "frameworks", QM_DOMAIN_MAX_FRAMEWORKS, read_framework },
  { "engines", QM_DOMAIN_MAX_ENGINES, read_engine },
  { "weights", QM_DOMAIN_MAX_WEIGHTS, read_weights },
  { "boosters", QM_DOMAIN_MAX_BOOSTERS, read_booster },
};

static gboolean
read_table (QmOtherDomainsConstants  *self,
            JsonObject               *root,
            gsize                     table,
            GError                  **error)
{
  const char *key = tables[table].key;
  JsonNode *node = qm_constants_node (root, key, JSON_NODE_ARRAY);
  JsonArray *lines = node != NULL ? json_node_get_array (node) : NULL;

  if (lines == NULL)
    return missing (key, error);

  if (json_array_get_length (lines) > tables[table].at_most)
    {
      qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_VALUE, key, N_("“{word}” has more than {most} lines"),
                    "word", key, "#most", (double) tables[table].at_most, NULL);
      return FALSE;
    }

  for (guint i = 0; i < json_array_get_length (lines); i++)
    {
      JsonNode *line = json_array_get_element (lines, i);

      if (!JSON_NODE_HOLDS_OBJECT (line))
        return missing (key, error);
      if (!tables[table].read (self, json_node_get_object (line), error))
        return FALSE;
    }

  return TRUE;
}

static void
fill (double *values,
      gsize   n,
      double  value)
{
  for (gsize i = 0; i < n; i++)
    values[i] = value;
}

/* Not every family, stack and engine has a figure of its own. */
static void
mark_unset (QmOtherDomainsConstants *self)
{
  fill (self->train_kappa, G_N_ELEMENTS (self->train_kappa), NAN);
  fill (self->run_kappa, G_N_ELEMENTS (self->run_kappa), NAN);
  fill (self->diffusion.engine_factor, G_N_ELEMENTS (self->diffusion.engine_factor), 1);
  for (int i = 0; i < QM_DOMAIN_N_FIELDS; i++)
    fill (self->stack[i], G_N_ELEMENTS (self->stack[i]), NAN);
  for (int i = 0; i < 2; i++)
    {
      fill (self->tabular.ns[i], G_N_ELEMENTS (self->tabular.ns[i]), NAN);
      fill (self->tabular.fixed[i], G_N_ELEMENTS (self->tabular.fixed[i]), NAN);
    }
}

static void
fill_unset (double *values,
            gsize   n,
            double  value)
{
  for (gsize i = 0; i < n; i++)
    {
      if (isnan (values[i]))
        values[i] = value;
    }
}

/* A stack without a factor is the log-mean of those that have one, and as wide
 * as they lie apart. */
static void
complete_stacks (QmOtherDomainsConstants *self,
                 QmDomainField            field)
{
  double *factors = self->stack[field];
  double mean = 0, variance = 0;
  int n = 0;

  for (int i = 0; i < QM_DOMAIN_N_KNOWN_STACKS; i++)
    {
      if (isnan (factors[i]))
        continue;
      mean += log (factors[i]);
      n++;
    }
  mean /= MAX (1, n);

  for (int i = 0; i < QM_DOMAIN_N_KNOWN_STACKS; i++)
    {
      if (!isnan (factors[i]))
        variance += (log (factors[i]) - mean) * (log (factors[i]) - mean) / n;
    }

  for (int i = 0; i < QM_DOMAIN_N_STACKS; i++)
    {
      if (!isnan (factors[i]))
        continue;
      factors[i] = exp (mean);
      self->stack_sigma[field][i] = hypot (sqrt (variance), self->sigma.stack_floor);
    }
}

static void
complete (QmOtherDomainsConstants *self)
{
  fill_unset (self->train_kappa, G_N_ELEMENTS (self->train_kappa), self->train_kappa[QM_FAMILY_CONV]);
  fill_unset (self->run_kappa, G_N_ELEMENTS (self->run_kappa), self->run_kappa[QM_FAMILY_CONV]);
  for (int i = 0; i < QM_DOMAIN_N_FIELDS; i++)
    complete_stacks (self, i);
  for (int i = 0; i < 2; i++)
    {
      fill_unset (self->tabular.ns[i], QM_DOMAIN_N_BOOSTERS, self->tabular.ns[i][QM_DOMAIN_BOOSTER_XGBOOST]);
      fill_unset (self->tabular.fixed[i], QM_DOMAIN_N_BOOSTERS, self->tabular.fixed[i][QM_DOMAIN_BOOSTER_XGBOOST]);
    }
}

static gboolean
read_numbers (QmOtherDomainsConstants  *self,
              JsonObject               *root,
              GError                  **error)
{
  JsonNode *node = qm_constants_node (root, "constants", JSON_NODE_OBJECT);

  if (node == NULL)
    return missing ("constants", error);

  for (gsize i = 0; i < qm_domain_n_keys; i++)
    {
      const QmDomainKey *key = &qm_domain_keys[i];
      JsonNode *line = qm_constants_node (json_node_get_object (node), key->key, JSON_NODE_OBJECT);
      double value = line != NULL ? qm_constants_number (json_node_get_object (line), "value", NAN) : NAN;

      if (isnan (value))
        return missing (key->key, error);
      G_STRUCT_MEMBER (double, self, key->offset) = value;
    }

  return TRUE;
}

/**
 * qm_other_domains_constants_new:
 * @node: (nullable): the content of constants-other-domains.json
 * @error: return location for an error
 *
 * Reads the fitted constants of everything but language models, and the tables
 * of architectures, frameworks, engines and number formats.
 *
 * Returns: (transfer full) (nullable): the constants, or %NULL with @error set,
 *   which names what is missing
 */
QmOtherDomainsConstants *
qm_other_domains_constants_new (JsonNode  *node,
                                GError   **error)
{
  g_autoptr (QmOtherDomainsConstants) self = g_new0 (QmOtherDomainsConstants, 1);
  JsonObject *root = node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;

  if (root == NULL)
    {
      missing ("constants", error);
      return NULL;
    }

  mark_unset (self);
  if (!read_numbers (self, root, error))
    return NULL;

  complete (self);
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      if (!read_table (self, root, i, error))
        return NULL;
    }

  return g_steal_pointer (&self);
}

/**
 * qm_other_domains_constants_free:
 * @self: (transfer full) (nullable): constants
 *
 * Frees @self.
 */
void
qm_other_domains_constants_free (QmOtherDomainsConstants *self)
{
  g_free (self);
}

/**
 * qm_domains_constants_find_stack:
 * @self: constants
 * @word: `training.framework` of a plan, "" where it has none
 *
 * Returns: the software stack that the framework belongs to
 */
QmDomainStack
qm_domains_constants_find_stack (const QmOtherDomainsConstants *self,
                                 const char                    *word)
{
  if (word[0] == '\0')
    return QM_DOMAIN_STACK_UNSTATED;

  for (int i = 0; i < self->n_frameworks; i++)
    {
      if (strcmp (self->frameworks[i].word, word) == 0)
        return self->frameworks[i].stack;
    }

  return QM_DOMAIN_STACK_UNSEEN;
}

/**
 * qm_domains_constants_find_engine:
 * @self: constants
 * @word: `serving.engine` of a plan
 *
 * Returns: (nullable): what is known of the engine
 */
const QmDomainEngineWord *
qm_domains_constants_find_engine (const QmOtherDomainsConstants *self,
                                  const char                    *word)
{
  for (int i = 0; i < self->n_engines; i++)
    {
      if (strcmp (self->engines[i].word, word) == 0)
        return &self->engines[i];
    }

  return NULL;
}

/**
 * qm_domains_constants_find_weights:
 * @self: constants
 * @word: `serving.weights` of a plan
 *
 * Returns: (nullable): size and arithmetic of the format
 */
const QmDomainWeights *
qm_domains_constants_find_weights (const QmOtherDomainsConstants *self,
                                   const char                    *word)
{
  for (int i = 0; i < self->n_weights; i++)
    {
      if (strcmp (self->weights[i].word, word) == 0)
        return &self->weights[i];
    }

  return NULL;
}

/**
 * qm_domains_constants_find_booster:
 * @self: constants
 * @model_id: `model.id` of a plan, whose beginning names the engine
 *
 * Returns: the engine; XGBoost where the id names none
 */
QmDomainBooster
qm_domains_constants_find_booster (const QmOtherDomainsConstants *self,
                                   const char                    *model_id)
{
  for (int i = 0; i < self->n_boosters; i++)
    {
      if (g_ascii_strncasecmp (model_id, self->boosters[i].prefix, strlen (self->boosters[i].prefix)) == 0)
        return self->boosters[i].booster;
    }

  return QM_DOMAIN_BOOSTER_XGBOOST;
}
