/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit.h"

#include <math.h>
#include <string.h>

/* Reads the measured cases, and what of each is fitted: every row counts once
 * for the rate, once for memory. */

static const char *const files[] = {
  "training-llm", "training-encoder", "training-vision", "training-diffusion", "training-recommender", "training-tabular",
  "inference-llm", "inference-vision", "inference-other", "fits",
};

/* In the order in which the first that a row has is its rate. */
static const struct {
  const char *path;
  FitKey key;
} rates[] = {
  { "throughput.per_device_per_second", FIT_KEY_PER_DEVICE },
  { "throughput.per_second", FIT_KEY_PER_SECOND },
  { "throughput.samples_per_second", FIT_KEY_SAMPLES },
  { "throughput.step_seconds", FIT_KEY_STEP },
  { "throughput.tflops_per_device", FIT_KEY_TFLOPS },
  { "throughput.mfu", FIT_KEY_MFU },
  { "time.seconds", FIT_KEY_FINISH },
};

void
fit_case_free (FitCase *self)
{
  g_free (self->id);
  g_free (self->group);
  g_free (self->sweep);
  g_free (self->basis);
  g_free (self->scope);
  g_strfreev (self->tags);
  g_clear_pointer (&self->resolved, qm_resolved_free);
  g_free (self);
}

void
fit_figure_free (FitFigure *self)
{
  g_free (self->stratum);
  g_free (self);
}

static const char *
text (JsonObject *object,
      const char *name,
      const char *otherwise)
{
  return json_object_get_string_member_with_default (object, name, otherwise);
}

static void
add_figure (Fit        *self,
            FitCase    *of,
            JsonObject *measured,
            const char *path,
            FitPart     part,
            FitFamily   family,
            FitKey      key)
{
  double value = json_object_get_double_member_with_default (measured, path, NAN);
  FitFigure *figure;

  if (isnan (value))
    return;

  figure = g_new0 (FitFigure, 1);
  figure->of = of;
  figure->part = part;
  figure->family = family;
  figure->key = key;
  figure->measured = value;
  figure->widening = 1;
  g_ptr_array_add (self->figures, figure);
}

static FitFamily
rate_family (const char   *file,
             const QmPlan *plan)
{
  if (strcmp (file, "training-llm") == 0)
    return FIT_TRAINING_RATE;
  if (strcmp (file, "training-encoder") == 0 || strcmp (file, "training-vision") == 0)
    return FIT_ENCODER_VISION;
  if (strcmp (file, "training-diffusion") == 0)
    return FIT_DIFFUSION;
  if (strcmp (file, "inference-vision") == 0)
    return FIT_VISION_INFERENCE;
  if (strcmp (file, "inference-other") == 0)
    return plan->task == QM_TASK_RECOMMENDER ? FIT_RECOMMENDER_TABULAR : FIT_OTHER_INFERENCE;

  return FIT_RECOMMENDER_TABULAR;
}

/* A whole run says its rate where it says how much it went through. */
static void
add_finish (Fit        *self,
            FitCase    *of,
            JsonObject *measured,
            FitPart     part,
            FitFamily   family)
{
  const QmTraining *training = &of->resolved->plan->training;
  double units = training->tokens;

  if (!(units > 0) && of->table == FIT_TABLE_DOMAINS)
    {
      units = training->samples * (training->epochs > 0 ? training->epochs : 1);
      units *= of->resolved->plan->task == QM_TASK_TEXT_ENCODER && training->sequence_length > 0 ? training->sequence_length : 1;
    }
  if (!(units > 0))
    return;

  add_figure (self, of, measured, "time.seconds", part, family, FIT_KEY_FINISH);
  ((FitFigure *) g_ptr_array_index (self->figures, self->figures->len - 1))->measured =
    units / json_object_get_double_member (measured, "time.seconds");
}

static void
add_rate (Fit        *self,
          FitCase    *of,
          const char *file,
          JsonObject *measured)
{
  FitPart part = of->table == FIT_TABLE_TRAINING ? FIT_PART_TRAINING_RATE : FIT_PART_DOMAINS;
  FitFamily family = rate_family (file, of->resolved->plan);

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      if (!json_object_has_member (measured, rates[i].path))
        continue;

      if (rates[i].key == FIT_KEY_FINISH)
        add_finish (self, of, measured, part, family);
      else
        add_figure (self, of, measured, rates[i].path, part, family, rates[i].key);
      return;
    }
}

static void
add_figures (Fit        *self,
             FitCase    *of,
             const char *file,
             JsonObject *measured)
{
  static const struct {
    FitPart part;
    FitFamily family;
  } memory[FIT_N_TABLES] = {
    { FIT_PART_TRAINING_MEMORY, FIT_TRAINING_MEMORY }, { FIT_PART_INFERENCE_MEMORY, FIT_INFERENCE_MEMORY },
    { FIT_PART_DOMAINS, FIT_OTHER_MEMORY },
  };

  add_figure (self, of, measured, "memory.per_device_bytes", memory[of->table].part, memory[of->table].family, FIT_KEY_MEMORY);
  add_figure (self, of, measured, "memory.host_bytes", FIT_PART_DOMAINS, FIT_HOST_MEMORY, FIT_KEY_HOST);

  if (of->table == FIT_TABLE_INFERENCE)
    {
      add_figure (self, of, measured, "serving.decode_tokens_per_second", FIT_PART_INFERENCE_RATE, FIT_DECODE, FIT_KEY_DECODE);
      add_figure (self, of, measured, "serving.prefill_tokens_per_second", FIT_PART_INFERENCE_RATE, FIT_PROMPT, FIT_KEY_PREFILL);
      add_figure (self, of, measured, "serving.first_token_seconds", FIT_PART_INFERENCE_RATE, FIT_PROMPT, FIT_KEY_FIRST_TOKEN);
      add_figure (self, of, measured, "throughput.per_second", FIT_PART_INFERENCE_RATE, FIT_SERVING, FIT_KEY_PER_SECOND);
    }
  else if (strcmp (file, "training-tabular") == 0)
    add_figure (self, of, measured, "time.seconds", FIT_PART_DOMAINS, FIT_RECOMMENDER_TABULAR, FIT_KEY_SECONDS);
  else
    add_rate (self, of, file, measured);
}

static GStrv
tags_of (JsonObject *object)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  JsonArray *tags = json_object_has_member (object, "tags") ? json_object_get_array_member (object, "tags") : NULL;

  for (guint i = 0; tags != NULL && i < json_array_get_length (tags); i++)
    g_strv_builder_add (builder, json_array_get_string_element (tags, i));

  return g_strv_builder_end (builder);
}

static FitTable
table_of (const QmPlan *plan)
{
  if (plan->task != QM_TASK_LANGUAGE_MODEL)
    return FIT_TABLE_DOMAINS;

  return qm_plan_is_training (plan) ? FIT_TABLE_TRAINING : FIT_TABLE_INFERENCE;
}

static gboolean
read_case (Fit         *self,
           JsonObject  *object,
           const char  *file,
           GError     **error)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmPlan) plan = qm_plan_from_object (json_object_get_object_member (object, "plan"), warnings, error);
  JsonObject *measured = json_object_get_object_member (object, "measured");
  FitCase *of;

  if (plan == NULL)
    return FALSE;
  if (plan->configuration.device[0] == '\0')
    return TRUE;

  of = g_new0 (FitCase, 1);
  g_ptr_array_add (self->cases, of);
  of->id = g_strdup (text (object, "id", "?"));
  of->group = g_strdup (text (object, "group", "none"));
  of->sweep = g_strconcat (of->group, "/", text (object, "sweep", of->id), NULL);
  of->basis = g_strdup (text (object, "memory_basis", "not-stated"));
  of->scope = g_strdup (text (object, "measured_scope", ""));
  of->tags = tags_of (object);
  of->high_trust = strcmp (text (object, "trust", "medium"), "high") == 0;
  of->table = table_of (plan);
  of->can_fit = json_object_has_member (measured, "memory.fits");
  of->resolved = qm_resolve (plan, self->catalog, NULL, warnings, error);
  of->device = qm_catalog_find_device (self->catalog, plan->configuration.device);
  if (of->resolved == NULL || of->device == NULL)
    return FALSE;

  add_figures (self, of, file, measured);
  return TRUE;
}

static gboolean
read_file (Fit         *self,
           const char  *folder,
           const char  *file,
           GError     **error)
{
  g_autofree char *name = g_strconcat (file, ".jsonl", NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *content = NULL;
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &content, NULL, error))
    return FALSE;

  lines = g_strsplit (content, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      if (g_strstrip (lines[i])[0] == '\0')
        continue;
      if (!json_parser_load_from_data (parser, lines[i], -1, error) ||
          !read_case (self, json_node_get_object (json_parser_get_root (parser)), file, error))
        {
          g_prefix_error (error, "%s:%u: ", path, i + 1);
          return FALSE;
        }
    }

  return TRUE;
}

/* Reads all files of measured cases in @folder. */
gboolean
fit_read_cases (Fit         *self,
                const char  *folder,
                GError     **error)
{
  self->cases = g_ptr_array_new_with_free_func ((GDestroyNotify) fit_case_free);
  self->figures = g_ptr_array_new_with_free_func ((GDestroyNotify) fit_figure_free);

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      if (!read_file (self, folder, files[i], error))
        return FALSE;
    }

  return TRUE;
}
