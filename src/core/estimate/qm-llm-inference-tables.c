/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-inference-private.h"

#include <math.h>
#include <string.h>

/* Reads the tables of factors, widths and evidence, whose keys are words, into
 * arrays with an index for each word. */

#define CPU_PREFIX "cpu-"

static const char *const family_words[QM_INFERENCE_N_FAMILIES] = {
  [QM_INFERENCE_FAMILY_LOCAL] = "local",
  [QM_INFERENCE_FAMILY_SERVER] = "server",
  [QM_INFERENCE_FAMILY_EAGER] = "eager",
  [QM_INFERENCE_FAMILY_ACCELERATOR] = "accelerator",
};

static const char *const class_words[QM_INFERENCE_N_CLASSES] = {
  [QM_INFERENCE_CLASS_GEFORCE] = "geforce",
  [QM_INFERENCE_CLASS_NVIDIA_GDDR] = "nvidia-gddr",
  [QM_INFERENCE_CLASS_NVIDIA_HBM] = "nvidia-hbm",
  [QM_INFERENCE_CLASS_AMD_HBM] = "amd-hbm",
  [QM_INFERENCE_CLASS_RADEON] = "radeon",
  [QM_INFERENCE_CLASS_INTEL_GPU] = "intel-gpu",
  [QM_INFERENCE_CLASS_APPLE] = "apple",
  [QM_INFERENCE_CLASS_UNIFIED] = "unified",
  [QM_INFERENCE_CLASS_NPU] = "npu",
  [QM_INFERENCE_CLASS_CPU] = "cpu",
  [QM_INFERENCE_CLASS_APPLE_CPU] = "apple-cpu",
};

static const char *const kernel_words[QM_INFERENCE_N_KERNELS] = {
  [QM_INFERENCE_KERNEL_W32] = "w32",
  [QM_INFERENCE_KERNEL_W16] = "w16",
  [QM_INFERENCE_KERNEL_FP8] = "fp8",
  [QM_INFERENCE_KERNEL_FP4] = "fp4",
  [QM_INFERENCE_KERNEL_W8] = "w8",
  [QM_INFERENCE_KERNEL_IQ] = "iq",
  [QM_INFERENCE_KERNEL_MX4] = "mx4",
  [QM_INFERENCE_KERNEL_NF4] = "nf4",
  [QM_INFERENCE_KERNEL_KQ] = "kq",
  [QM_INFERENCE_KERNEL_W4] = "w4",
};

static const char *const link_words[QM_INFERENCE_N_LINKS] = {
  [QM_INFERENCE_LINK_NPU] = "npu",
  [QM_INFERENCE_LINK_FAST] = "fast",
  [QM_INFERENCE_LINK_PCIE] = "pcie",
};

static const char *const mixture_words[] = { "dense", "moe" };

static const char *const table_words[QM_INFERENCE_N_TABLES] = {
  [QM_INFERENCE_EFFICIENCY] = "e",
  [QM_INFERENCE_TAU] = "tau",
  [QM_INFERENCE_KAPPA] = "kappa",
  [QM_INFERENCE_MU] = "mu",
  [QM_INFERENCE_MU_PROMPT] = "mup",
  [QM_INFERENCE_ALPHA] = "alpha",
  [QM_INFERENCE_T0] = "t0",
  [QM_INFERENCE_HOP] = "hop",
  [QM_INFERENCE_SEQUENCE] = "seq",
  [QM_INFERENCE_HOST] = "host",
  [QM_INFERENCE_EXPERT] = "expert",
  [QM_INFERENCE_INSTRUCTIONS] = "ins",
  [QM_INFERENCE_WORKSPACE] = "ws",
  [QM_INFERENCE_CPU_COPY] = "cpu_copy",
  [QM_INFERENCE_CONTEXT] = "context",
  [QM_INFERENCE_PROCESS] = "process",
};

static const char *const quantity_words[QM_INFERENCE_N_QUANTITIES] = {
  [QM_INFERENCE_MEMORY] = "memory",
  [QM_INFERENCE_DECODE] = "decode",
  [QM_INFERENCE_PREFILL] = "prefill",
  [QM_INFERENCE_FIRST_TOKEN] = "first_token",
  [QM_INFERENCE_SERVING] = "serving",
};

static const struct {
  const char *word;
  QmState state;
} states[] = {
  { "cell", QM_STATE_CELL }, { "thin", QM_STATE_THIN }, { "engine", QM_STATE_ENGINE }, { "new", QM_STATE_NEW },
};

/* What the keys of a level are. */
typedef enum {
  LEVEL_FAMILY,
  LEVEL_ENGINE,
  LEVEL_CLASS,
  LEVEL_ARCH,
  LEVEL_CELL,
  LEVEL_KERNEL,
  LEVEL_ENGINE_KERNEL,
  LEVEL_FAMILY_KERNEL,
  LEVEL_MIXTURE,
  LEVEL_LINK,
  N_LEVELS,
} Level;

static const char *const level_words[N_LEVELS] = {
  [LEVEL_FAMILY] = "family",
  [LEVEL_ENGINE] = "engine",
  [LEVEL_CLASS] = "cls",
  [LEVEL_ARCH] = "arch",
  [LEVEL_CELL] = "cell",
  [LEVEL_KERNEL] = "kernel",
  [LEVEL_ENGINE_KERNEL] = "ek",
  [LEVEL_FAMILY_KERNEL] = "fk",
  [LEVEL_MIXTURE] = "moe",
  [LEVEL_LINK] = "link",
};

/**
 * qm_inference_find_kernel:
 * @word: (nullable): a kernel of the tables
 *
 * Returns: its index; those of processors come behind those of devices; -1 where
 *   there is none
 */
int
qm_inference_find_kernel (const char *word)
{
  int kernel;

  if (word == NULL || !g_str_has_prefix (word, CPU_PREFIX))
    return qm_constants_find_word (kernel_words, QM_INFERENCE_N_KERNELS, word);

  kernel = qm_constants_find_word (kernel_words, QM_INFERENCE_N_KERNELS, word + strlen (CPU_PREFIX));
  return kernel >= 0 ? kernel + QM_INFERENCE_N_KERNELS : -1;
}

static int
find_listed_engine (const QmLlmInferenceConstants *self,
                    const char                    *word)
{
  for (int i = 0; i < self->n_engines; i++)
    {
      if (strcmp (self->engines[i].word, word) == 0)
        return i;
    }

  return -1;
}

/* Index of a generation; one not met before is added. */
static int
find_or_add_arch (QmLlmInferenceConstants *self,
                  const char              *word)
{
  int i = qm_inference_constants_find_arch (self, word);

  if (i < self->n_archs)
    return i;

  if (i == QM_INFERENCE_MAX_ARCHS || strlen (word) >= sizeof self->archs[i].word)
    return -1;

  g_strlcpy (self->archs[i].word, word, sizeof self->archs[i].word);
  self->archs[i].integer_rate = 1;
  self->archs[i].except = -1;
  self->n_archs++;

  return i;
}

static double *
find_pair (const QmLlmInferenceConstants *self,
           QmInferenceFactors            *table,
           Level                          level,
           const char                    *key)
{
  g_auto (GStrv) words = g_strsplit (key, "|", 2);
  int first, second;

  if (g_strv_length (words) != 2)
    return NULL;

  first = level == LEVEL_FAMILY_KERNEL ? qm_constants_find_word (family_words, QM_INFERENCE_N_FAMILIES, words[0])
                                       : find_listed_engine (self, words[0]);
  second = level == LEVEL_CELL ? qm_constants_find_word (class_words, QM_INFERENCE_N_CLASSES, words[1])
                               : qm_inference_find_kernel (words[1]);
  if (first < 0 || second < 0)
    return NULL;

  if (level == LEVEL_CELL)
    return &table->cell[first][second];

  return level == LEVEL_ENGINE_KERNEL ? &table->engine_kernel[first][second] : &table->family_kernel[first][second];
}

/* Where the factor with @key belongs; %NULL where there is no such word. */
static double *
find_factor (QmLlmInferenceConstants *self,
             QmInferenceFactors      *table,
             Level                    level,
             const char              *key)
{
  int i;

  switch (level)
    {
    case LEVEL_FAMILY:
      i = qm_constants_find_word (family_words, QM_INFERENCE_N_FAMILIES, key);
      return i >= 0 ? &table->family[i] : NULL;
    case LEVEL_ENGINE:
      i = find_listed_engine (self, key);
      return i >= 0 ? &table->engine[i] : NULL;
    case LEVEL_CLASS:
      i = qm_constants_find_word (class_words, QM_INFERENCE_N_CLASSES, key);
      return i >= 0 ? &table->device_class[i] : NULL;
    case LEVEL_ARCH:
      i = find_or_add_arch (self, key);
      return i >= 0 ? &table->arch[i] : NULL;
    case LEVEL_KERNEL:
      i = qm_inference_find_kernel (key);
      return i >= 0 ? &table->kernel[i] : NULL;
    case LEVEL_MIXTURE:
      i = qm_constants_find_word (mixture_words, G_N_ELEMENTS (mixture_words), key);
      return i >= 0 ? &table->mixture[i] : NULL;
    case LEVEL_LINK:
      i = qm_constants_find_word (link_words, QM_INFERENCE_N_LINKS, key);
      return i >= 0 ? &table->link[i] : NULL;
    default:
      return find_pair (self, table, level, key);
    }
}

/* The key under which the factors of a level in the tables, as "cls" or "ek",
 * act on a job; %NULL where there is no such level. (transfer full) */
char *
qm_inference_job_key (const QmInferenceJob *self,
                      const char           *level)
{
  const QmLlmInference *plan = self->plan;
  const char *engine = plan->constants->engines[plan->engine->same_as].word;
  const char *family = family_words[plan->family];
  g_autofree char *kernel = g_strconcat (self->on_cpu ? CPU_PREFIX : "", kernel_words[plan->format.kernel], NULL);
  char arch[48];

  switch (qm_constants_find_word (level_words, N_LEVELS, level))
    {
    case LEVEL_FAMILY:
      return g_strdup (family);
    case LEVEL_ENGINE:
      return g_strdup (engine);
    case LEVEL_CLASS:
      return g_strdup (class_words[self->device_class]);
    case LEVEL_ARCH:
      qm_inference_job_arch_word (self, arch, sizeof arch);
      return g_strdup (arch);
    case LEVEL_CELL:
      return g_strconcat (engine, "|", class_words[self->device_class], NULL);
    case LEVEL_KERNEL:
      return g_steal_pointer (&kernel);
    case LEVEL_ENGINE_KERNEL:
      return g_strconcat (engine, "|", kernel, NULL);
    case LEVEL_FAMILY_KERNEL:
      return g_strconcat (family, "|", kernel, NULL);
    case LEVEL_MIXTURE:
      return g_strdup (mixture_words[plan->shape.experts > 1]);
    case LEVEL_LINK:
      return g_strdup (link_words[self->link]);
    default:
      return NULL;
    }
}

static gboolean
read_level (QmLlmInferenceConstants  *self,
            QmInferenceFactors       *table,
            Level                     level,
            JsonObject               *factors,
            GError                  **error)
{
  g_autoptr (GList) keys = json_object_get_members (factors);

  for (GList *l = keys; l != NULL; l = l->next)
    {
      double *factor = find_factor (self, table, level, l->data);

      if (factor == NULL)
        return qm_inference_unknown (level_words[level], l->data, error);

      *factor = qm_constants_number (factors, l->data, NAN);
      if (!(*factor > 0))
        return qm_inference_missing (l->data, error);
    }

  return TRUE;
}

/* Every factor is 1 until evidence says otherwise. The struct is nothing but
 * doubles. */
static void
reset_table (QmInferenceFactors *table)
{
  double *values = (double *) table;

  for (gsize i = 0; i < sizeof *table / sizeof *values; i++)
    values[i] = 1;
}

static gboolean
read_table (QmLlmInferenceConstants  *self,
            QmInferenceTable          which,
            JsonObject               *tables,
            GError                  **error)
{
  QmInferenceFactors *table = &self->tables[which];
  JsonObject *line = qm_inference_object (tables, table_words[which], error);
  JsonObject *factors = line != NULL ? qm_inference_object (line, "factors", error) : NULL;
  g_autoptr (GList) levels = factors != NULL ? json_object_get_members (factors) : NULL;

  if (factors == NULL)
    return FALSE;

  reset_table (table);
  table->base = qm_constants_number (line, "base", NAN);
  if (!(table->base > 0))
    return qm_inference_missing (table_words[which], error);

  for (GList *l = levels; l != NULL; l = l->next)
    {
      int level = qm_constants_find_word (level_words, N_LEVELS, l->data);
      JsonObject *of_level = qm_inference_object (factors, l->data, error);

      if (of_level == NULL)
        return FALSE;
      if (level < 0)
        return qm_inference_unknown (table_words[which], l->data, error);
      if (!read_level (self, table, level, of_level, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
read_widths (QmLlmInferenceConstants  *self,
             QmInferenceQuantity       quantity,
             JsonObject               *ranges,
             GError                  **error)
{
  JsonObject *line = qm_inference_object (ranges, quantity_words[quantity], error);
  JsonObject *by_class;

  if (line == NULL)
    return FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    {
      double width = qm_constants_number (line, states[i].word, NAN);

      if (!(width > 0))
        return qm_inference_missing (states[i].word, error);

      self->widths[quantity][states[i].state] = width;
    }

  by_class = qm_inference_object (line, "by_class", error);
  for (int i = 0; by_class != NULL && i < QM_INFERENCE_N_CLASSES; i++)
    self->class_widths[quantity][i] = qm_constants_number (by_class, class_words[i], 1);

  return by_class != NULL;
}

/* Keys are "engine|class" and "engine|kernel". */
static gboolean
read_evidence (QmLlmInferenceConstants  *self,
               QmInferenceQuantity       quantity,
               JsonObject               *evidence,
               GError                  **error)
{
  JsonObject *line = qm_inference_object (evidence, quantity_words[quantity], error);
  g_autoptr (GList) keys = line != NULL ? json_object_get_members (line) : NULL;

  for (GList *l = keys; l != NULL; l = l->next)
    {
      g_auto (GStrv) words = g_strsplit (l->data, "|", 2);
      int engine = find_listed_engine (self, words[0]);
      int device_class = qm_constants_find_word (class_words, QM_INFERENCE_N_CLASSES, words[1]);
      int kernel = qm_inference_find_kernel (words[1]);
      int sweeps = (int) CLAMP (qm_constants_number (line, l->data, 0), 0, 1000);

      if (engine < 0 || (device_class < 0 && kernel < 0))
        return qm_inference_unknown (quantity_words[quantity], l->data, error);

      self->measured[quantity][engine] = TRUE;
      if (device_class >= 0)
        self->cell_sweeps[quantity][engine][device_class] = sweeps;
      else
        self->kernel_sweeps[quantity][engine][kernel] = sweeps;
    }

  return line != NULL;
}

static gboolean
has_trait (JsonObject *line,
           const char *trait)
{
  JsonNode *node = json_object_get_member (line, "traits");
  JsonArray *traits = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  for (guint i = 0; traits != NULL && i < json_array_get_length (traits); i++)
    {
      if (g_strcmp0 (json_array_get_string_element (traits, i), trait) == 0)
        return TRUE;
    }

  return FALSE;
}

static gboolean
read_engine (QmLlmInferenceConstants  *self,
             JsonObject               *line,
             GError                  **error)
{
  QmInferenceEngine *engine = &self->engines[self->n_engines];
  const char *like = qm_constants_string (line, "like");
  int same_as = like != NULL ? find_listed_engine (self, like) : self->n_engines;
  int family;

  if (same_as < 0)
    return qm_inference_unknown ("like", like, error);

  if (like != NULL)
    *engine = self->engines[same_as];
  else
    {
      family = qm_constants_find_word (family_words, QM_INFERENCE_N_FAMILIES, qm_constants_string (line, "family"));
      if (family < 0)
        return qm_inference_missing ("family", error);

      engine->family = family;
      engine->max_sequences = qm_constants_number (line, "max_sequences", 1);
      engine->micro_batches = has_trait (line, "micro-batches");
      engine->pipelined_prompts = has_trait (line, "pipelined-prompts");
      engine->whole_prompts = has_trait (line, "whole-prompts");
      engine->fp8_cache = has_trait (line, "fp8-cache");
      engine->profiled = has_trait (line, "profiled");
      engine->fp32_on_processors = has_trait (line, "fp32-on-processors");
    }

  engine->same_as = same_as;
  if (!qm_inference_copy_word (line, "word", engine->word, sizeof engine->word, error))
    return FALSE;

  self->n_engines++;
  return TRUE;
}

static gboolean
read_engines (QmLlmInferenceConstants  *self,
              JsonObject               *root,
              GError                  **error)
{
  JsonArray *lines = qm_inference_array (root, "engines", QM_INFERENCE_MAX_ENGINES, error);
  const char *usual = qm_constants_string (root, "default_engine");
  QmInferenceEngine *other;

  if (lines == NULL)
    return FALSE;

  for (guint i = 0; i < json_array_get_length (lines); i++)
    {
      if (!read_engine (self, json_array_get_object_element (lines, i), error))
        return FALSE;
    }

  other = &self->engines[self->n_engines];
  other->same_as = self->n_engines;
  other->family = QM_INFERENCE_FAMILY_SERVER;
  other->max_sequences = qm_constants_number (root, "default_max_sequences", 1);
  self->default_engine = usual != NULL ? find_listed_engine (self, usual) : -1;

  return self->default_engine >= 0 || qm_inference_missing ("default_engine", error);
}

static gboolean
read_integer_rates (QmLlmInferenceConstants  *self,
                    JsonObject               *root,
                    GError                  **error)
{
  JsonObject *rates = qm_inference_object (root, "integer_rates", error);
  JsonArray *lines = rates != NULL ? qm_inference_array (rates, "values", QM_INFERENCE_MAX_ARCHS, error) : NULL;

  for (guint i = 0; lines != NULL && i < json_array_get_length (lines); i++)
    {
      JsonObject *line = json_array_get_object_element (lines, i);
      const char *word = qm_constants_string (line, "arch");
      int arch = word != NULL ? find_or_add_arch (self, word) : -1;

      if (arch < 0)
        return qm_inference_missing ("arch", error);

      self->archs[arch].integer_rate = qm_constants_number (line, "rate", 1);
      self->archs[arch].except = qm_constants_find_word (class_words, QM_INFERENCE_N_CLASSES,
                                                         qm_constants_string (line, "except"));
    }

  self->archs[self->n_archs].integer_rate = 1;
  self->archs[self->n_archs].except = -1;
  return lines != NULL;
}

/**
 * qm_inference_read_tables:
 * @self: constants in the making
 * @root: the content of `constants-llm-inference.json`
 * @error: return location for an error of %QM_CATALOG_ERROR
 *
 * Reads engines first: the other keys name them.
 *
 * Returns: whether all are there
 */
gboolean
qm_inference_read_tables (QmLlmInferenceConstants  *self,
                          JsonObject               *root,
                          GError                  **error)
{
  JsonObject *tables, *ranges, *evidence;

  if (!read_engines (self, root, error))
    return FALSE;

  tables = qm_inference_object (root, "tables", error);
  for (int i = 0; i < QM_INFERENCE_N_TABLES; i++)
    {
      if (tables == NULL || !read_table (self, i, tables, error))
        return FALSE;
    }

  ranges = qm_inference_object (root, "ranges", error);
  evidence = ranges != NULL ? qm_inference_object (root, "evidence", error) : NULL;
  for (int i = 0; i < QM_INFERENCE_N_QUANTITIES; i++)
    {
      if (evidence == NULL || !read_widths (self, i, ranges, error) || !read_evidence (self, i, evidence, error))
        return FALSE;
    }

  return read_integer_rates (self, root, error);
}
