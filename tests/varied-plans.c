/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "varied-plans.h"

#include <math.h>

#include "qm-enum.h"
#include "qm-enum-types.h"

/* Made of a random number, the same plan for the same number on every machine. */
typedef struct {
  GRand *random;
  QmCatalog *catalog;
  QmTask task;
  QmActivity activity;
  GString *json;
} Writer;

/* Half of the plans are of language models: so are most questions. */
static const QmTask TASKS[] = {
  QM_TASK_LANGUAGE_MODEL, QM_TASK_LANGUAGE_MODEL, QM_TASK_LANGUAGE_MODEL, QM_TASK_LANGUAGE_MODEL, QM_TASK_LANGUAGE_MODEL,
  QM_TASK_LANGUAGE_MODEL, QM_TASK_LANGUAGE_MODEL, QM_TASK_LANGUAGE_MODEL, QM_TASK_TEXT_ENCODER, QM_TASK_IMAGE_CLASSIFICATION,
  QM_TASK_OBJECT_DETECTION, QM_TASK_IMAGE_GENERATION, QM_TASK_SPEECH, QM_TASK_RECOMMENDER, QM_TASK_TABULAR, QM_TASK_OTHER,
};

static const char *const METHODS[] = { "full", "lora", "qlora" };
static const char *const PRECISIONS[] = { "fp32", "amp-fp16", "amp-bf16", "bf16", "fp8" };
static const char *const OPTIMIZERS[] = { "adamw", "adamw-8bit", "lion", "sgd", "adafactor" };
static const char *const FRAMEWORKS[] = { "transformers", "megatron-lm", "torchtune", "deepspeed", "fsdp", "axolotl" };
static const char *const CHECKPOINTING[] = { "none", "full", "selective" };
static const char *const OBJECTIVES[] = { "balanced", "cheapest", "fastest", "most-accurate" };
static const char *const ENGINES[] = { "vllm", "llama.cpp" };
static const char *const SPOT[] = { "never", "allowed", "preferred" };
static const char *const CLOUDS[] = { "\"aws\"", "\"gcp\"", "\"aws\",\"azure\",\"gcp\"", "\"runpod\",\"lambda\"", "" };
static const char *const DEVICES[] = { "h100-sxm5-80gb", "a100-sxm4-80gb", "rtx-4090", "l4", "t4" };

static double
between (Writer *self,
         double  low,
         double  high)
{
  return exp (g_rand_double_range (self->random, log (low), log (high)));
}

static gboolean
chance (Writer *self,
        double  share)
{
  return g_rand_double (self->random) < share;
}

static void
add_number (Writer     *self,
            const char *name,
            double      value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (self->json, ",\"%s\":%s", name, g_ascii_formatd (text, sizeof text, "%.6g", value));
}

static void
add_count (Writer     *self,
           const char *name,
           double      value)
{
  g_string_append_printf (self->json, ",\"%s\":%.0f", name, floor (value));
}

static void
add_word (Writer            *self,
          const char        *name,
          const char *const *words,
          int                n)
{
  g_string_append_printf (self->json, ",\"%s\":\"%s\"", name, words[g_rand_int_range (self->random, 0, n)]);
}

#define ADD_WORD(self, name, words) add_word (self, name, words, G_N_ELEMENTS (words))

static void
begin (Writer     *self,
       const char *section)
{
  g_string_append_printf (self->json, ",\"%s\":{\"_\":0", section);
}

/* No comma comes after a brace: the first member stands for it. */
static void
end (Writer *self)
{
  g_string_append_c (self->json, '}');
}

static void
add_model (Writer *self)
{
  g_autoptr (GPtrArray) ids = g_ptr_array_new ();

  for (guint i = 0; i < qm_catalog_n_models (self->catalog); i++)
    {
      const QmModelEntry *entry = qm_catalog_model (self->catalog, i);

      if (entry->task == self->task)
        g_ptr_array_add (ids, (gpointer) entry->id);
    }

  begin (self, "model");
  if (ids->len > 0 && (self->task == QM_TASK_TABULAR || chance (self, 0.85)))
    g_string_append_printf (self->json, ",\"id\":\"%s\"",
                            (char *) g_ptr_array_index (ids, g_rand_int_range (self->random, 0, ids->len)));
  else
    {
      add_count (self, "parameters", between (self, 1e7, self->task == QM_TASK_LANGUAGE_MODEL ? 3e11 : 3e9));
      add_number (self, "flops_per_sample", between (self, 1e9, 1e12));
    }
  if (self->task == QM_TASK_RECOMMENDER)
    {
      add_count (self, "dense_parameters", between (self, 1e5, 1e8));
      add_count (self, "embedding_rows", between (self, 1e5, 1e9));
      add_count (self, "embedding_dim", 64);
      add_count (self, "embedding_features", 26);
    }
  end (self);
}

static void
add_training (Writer *self)
{
  gboolean language = self->task == QM_TASK_LANGUAGE_MODEL;

  begin (self, "training");
  if (language && self->activity == QM_ACTIVITY_FINE_TUNE)
    ADD_WORD (self, "method", METHODS);
  add_count (self, "samples", between (self, 1e3, 1e7));
  if (chance (self, 0.5))
    add_count (self, "epochs", between (self, 1, 90));
  if (language || self->task == QM_TASK_TEXT_ENCODER)
    add_count (self, "sequence_length", 128 << g_rand_int_range (self->random, 0, language ? 8 : 3));
  if (chance (self, 0.4))
    add_count (self, "global_batch", 1 << g_rand_int_range (self->random, 3, 12));
  if (chance (self, 0.3))
    ADD_WORD (self, "precision", PRECISIONS);
  if (chance (self, 0.2))
    ADD_WORD (self, "optimizer", OPTIMIZERS);
  if (language && chance (self, 0.2))
    ADD_WORD (self, "framework", FRAMEWORKS);
  if (chance (self, 0.2))
    ADD_WORD (self, "activation_checkpointing", CHECKPOINTING);
  end (self);
}

static void
add_serving (Writer *self)
{
  begin (self, "serving");
  if (self->activity == QM_ACTIVITY_SERVE)
    {
      add_number (self, "requests_per_second", between (self, 0.02, 300));
      if (chance (self, 0.5))
        add_number (self, "latency_p99_seconds", between (self, 0.05, 60));
      if (chance (self, 0.2))
        add_number (self, "peak_factor", between (self, 1, 8));
    }
  else
    add_count (self, "samples", between (self, 1e3, 1e8));
  if (self->task == QM_TASK_LANGUAGE_MODEL)
    {
      add_count (self, "input_tokens", between (self, 50, 30000));
      add_count (self, "output_tokens", between (self, 20, 3000));
      if (chance (self, 0.2))
        ADD_WORD (self, "engine", ENGINES);
    }
  if (chance (self, 0.15))
    add_count (self, "concurrency", between (self, 1, 500));
  end (self);
}

static void
add_tabular (Writer *self)
{
  begin (self, "tabular");
  add_count (self, "features", between (self, 5, 3000));
  add_count (self, "trees", between (self, 50, 3000));
  add_count (self, "depth", between (self, 3, 12));
  end (self);
}

static void
add_limits (Writer *self)
{
  begin (self, "limits");
  if (chance (self, 0.7))
    ADD_WORD (self, "objective", OBJECTIVES);
  if (chance (self, 0.5))
    add_number (self, "money", between (self, 5, 1e7));
  if (chance (self, 0.5) && self->activity != QM_ACTIVITY_SERVE)
    add_number (self, "hours", between (self, 1, 8760));
  if (chance (self, 0.1))
    add_number (self, "headroom", between (self, 0.01, 0.5));
  end (self);
}

static void
add_places (Writer *self)
{
  begin (self, "places");
  if (chance (self, 0.3))
    g_string_append (self->json, ",\"buy\":false");
  if (chance (self, 0.3))
    ADD_WORD (self, "spot", SPOT);
  if (chance (self, 0.1))
    g_string_append_printf (self->json, ",\"cloud\":[%s]", CLOUDS[g_rand_int_range (self->random, 0, G_N_ELEMENTS (CLOUDS))]);
  if (chance (self, 0.05))
    g_string_append (self->json, ",\"on_premises\":true");
  if (chance (self, 0.2))
    g_string_append_printf (self->json, ",\"owned\":[{\"device\":\"%s\",\"devices\":%d}]",
                            DEVICES[g_rand_int_range (self->random, 0, G_N_ELEMENTS (DEVICES))],
                            1 << g_rand_int_range (self->random, 0, 5));
  end (self);
}

static void
add_configuration (Writer *self)
{
  begin (self, "configuration");
  if (chance (self, 0.04))
    ADD_WORD (self, "device", DEVICES);
  if (chance (self, 0.08))
    add_count (self, "devices", 1 << g_rand_int_range (self->random, 0, 6));
  else if (chance (self, 0.05) && self->task == QM_TASK_LANGUAGE_MODEL)
    add_count (self, "tensor_parallel", 1 << g_rand_int_range (self->random, 1, 4));
  end (self);
}

/**
 * varied_plan_json:
 * @catalog: a catalog whose models the plans name
 * @seed: which plan
 *
 * Returns: (transfer full): the plan as a person would have saved it
 */
char *
varied_plan_json (QmCatalog *catalog,
                  guint32    seed)
{
  static const char *const stages[] = { "prototype", "development", "production" };
  Writer self = { .random = g_rand_new_with_seed (seed), .catalog = catalog, .json = g_string_new (NULL) };

  self.task = TASKS[g_rand_int_range (self.random, 0, G_N_ELEMENTS (TASKS))];
  self.activity = self.task == QM_TASK_TABULAR ? QM_ACTIVITY_TRAIN
                                               : g_rand_int_range (self.random, QM_ACTIVITY_TRAIN, QM_ACTIVITY_BATCH_INFERENCE + 1);
  g_string_append_printf (self.json, "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"%s\",\"activity\":\"%s\"",
                          qm_enum_to_word (QM_TYPE_TASK, self.task), qm_enum_to_word (QM_TYPE_ACTIVITY, self.activity));
  if (chance (&self, 0.5))
    ADD_WORD (&self, "stage", stages);
  add_model (&self);
  if (self.activity == QM_ACTIVITY_TRAIN || self.activity == QM_ACTIVITY_FINE_TUNE)
    add_training (&self);
  else
    add_serving (&self);
  if (self.task == QM_TASK_TABULAR)
    add_tabular (&self);
  add_limits (&self);
  add_places (&self);
  add_configuration (&self);
  g_string_append_c (self.json, '}');
  g_string_replace (self.json, "{\"_\":0,", "{", 0);
  g_string_replace (self.json, "{\"_\":0}", "{}", 0);
  g_rand_free (self.random);

  return g_string_free_and_steal (self.json);
}

/**
 * varied_plan_new:
 * @catalog: a catalog whose models the plans name
 * @seed: which plan
 *
 * Returns: (transfer full): the plan
 */
QmPlan *
varied_plan_new (QmCatalog *catalog,
                 guint32    seed)
{
  g_autofree char *json = varied_plan_json (catalog, seed);
  g_autoptr (GError) error = NULL;
  QmPlan *plan = qm_plan_from_data (json, -1, NULL, &error);

  if (plan == NULL)
    g_error ("%s: %s", error->message, json);

  return plan;
}
