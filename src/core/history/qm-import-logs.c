/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "history/qm-channels.h"
#include "history/qm-import-private.h"
#include "qm-json-writer.h"

/* ------------------------------------------------- trainer_state.json of Hugging Face */

/* Its log names steps, not times: they follow from the rate of all steps, which
 * the last entry has. */
static QmSeries *
series_of_log (JsonArray *log,
               double     steps_per_second)
{
  const char *channels[] = { QM_CHANNEL_STEP, QM_CHANNEL_LOSS, NULL };
  QmSeries *series = qm_series_new (channels);

  for (guint i = 0; i < json_array_get_length (log); i++)
    {
      JsonNode *node = json_array_get_element (log, i);
      JsonObject *entry = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
      double step = entry != NULL ? qm_import_number (entry, "step") : NAN;
      double loss = entry != NULL ? qm_import_number (entry, "loss") : NAN;

      if (isfinite (step) && isfinite (loss) && steps_per_second > 0)
        qm_series_append (series, step / steps_per_second, (float[]) { (float) step, (float) loss });
    }

  return series;
}

/* The entry that closes a training that came to its end. */
static JsonObject *
closing_entry (JsonArray *log)
{
  for (guint i = json_array_get_length (log); i > 0; i--)
    {
      JsonNode *node = json_array_get_element (log, i - 1);

      if (JSON_NODE_HOLDS_OBJECT (node) && json_object_has_member (json_node_get_object (node), "train_runtime"))
        return json_node_get_object (node);
    }

  return NULL;
}

static double
last_loss (JsonArray *log)
{
  double loss = NAN;

  for (guint i = 0; i < json_array_get_length (log); i++)
    {
      JsonNode *node = json_array_get_element (log, i);
      double value = JSON_NODE_HOLDS_OBJECT (node) ? qm_import_number (json_node_get_object (node), "loss") : NAN;

      loss = isfinite (value) ? value : loss;
    }

  return loss;
}

gboolean
qm_import_trainer_state (const QmImportFile *file,
                         JsonNode           *root,
                         GPtrArray          *imported,
                         GError            **error)
{
  JsonArray *log = qm_import_array (json_node_get_object (root), "log_history");
  JsonObject *closing = log != NULL ? closing_entry (log) : NULL;
  QmRun *run;
  double steps, tokens, samples;

  if (log == NULL || json_array_get_length (log) == 0)
    {
      qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, 0, N_("log_history is empty: the training has logged nothing"), NULL);
      return FALSE;
    }

  run = qm_import_new_run (file, 0, QM_RUN_SOURCE_TRAINER_STATE);
  run->status = closing != NULL ? QM_RUN_STATUS_FINISHED : QM_RUN_STATUS_INTERRUPTED;
  qm_run_set_measured (run, "run.loss", last_loss (log));
  qm_run_set_measured (run, "run.steps", qm_import_number (json_node_get_object (root), "global_step"));
  steps = closing != NULL ? qm_import_number (closing, "train_steps_per_second") : NAN;
  if (closing != NULL)
    {
      tokens = qm_import_number (closing, "train_tokens_per_second");
      samples = qm_import_number (closing, "train_samples_per_second");
      run->seconds = qm_import_number (closing, "train_runtime");
      run->unit = g_strdup (tokens > 0 ? "tokens" : "samples");
      qm_run_set_measured (run, "throughput.per_second", tokens > 0 ? tokens : samples);
      qm_run_set_measured (run, "throughput.samples_per_second", samples);
      qm_run_set_measured (run, "throughput.step_seconds", 1 / steps);
      qm_run_set_measured (run, "time.seconds", run->seconds);
    }
  qm_import_take (imported, run, series_of_log (log, steps));

  return TRUE;
}

/* ------------------------------------------------------------------------- llama-bench */

/* "llama 8B Q4_K - Medium" is the GGUF type q4_k_m. */
static char *
weights_of (const char *type)
{
  static const char * const sizes[][2] = { { " - medium", "_m" }, { " - small", "_s" }, { " - large", "_l" } };
  g_autofree char *lower = g_ascii_strdown (type, -1);
  const char *from = NULL;
  const char *size = "";
  const char *dash = strstr (lower, " - ");

  for (guint i = 0; dash != NULL && i < G_N_ELEMENTS (sizes); i++)
    if (g_str_has_prefix (dash, sizes[i][0]))
      size = sizes[i][1];
  if (dash != NULL)
    lower[dash - lower] = '\0';
  from = strrchr (lower, ' ');
  if (from == NULL || strpbrk (from, "0123456789") == NULL)
    return NULL;

  return g_strdup_printf ("gguf-%s%s", from + 1, size);
}

static char *
plan_of (JsonObject *entry,
         double      prompt,
         double      answer)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *plan = json_object_new (), *model = json_object_new (), *serving = json_object_new ();
  const char *type = qm_import_text (entry, "model_type");
  g_autofree char *weights = type != NULL ? weights_of (type) : NULL;
  double parameters = qm_import_number (entry, "model_n_params");

  json_object_set_string_member (plan, "format", "quartermaster-plan");
  json_object_set_int_member (plan, "version", 1);
  json_object_set_string_member (plan, "task", "language-model");
  json_object_set_string_member (plan, "activity", "batch-inference");
  if (parameters > 0)
    json_object_set_int_member (model, "parameters", (gint64) parameters);
  json_object_set_object_member (plan, "model", model);
  json_object_set_string_member (serving, "engine", "llama.cpp");
  if (weights != NULL)
    json_object_set_string_member (serving, "weights", weights);
  json_object_set_int_member (serving, "concurrency", 1);
  if (prompt > 0)
    json_object_set_int_member (serving, "input_tokens", (gint64) prompt);
  if (answer > 0)
    json_object_set_int_member (serving, "output_tokens", (gint64) answer);
  json_object_set_object_member (plan, "serving", serving);
  json_node_take_object (node, plan);

  return qm_json_to_text (node, FALSE);
}

static QmRun *
run_of_test (const QmImportFile *file,
             guint               index,
             JsonObject         *entry)
{
  QmRun *run = qm_import_new_run (file, index, QM_RUN_SOURCE_LLAMA_BENCH);
  double prompt = qm_import_number (entry, "n_prompt"), answer = qm_import_number (entry, "n_gen");
  const char *key = prompt > 0 && answer > 0 ? "throughput.per_second"
                    : answer > 0             ? "serving.decode_tokens_per_second"
                                             : "serving.prefill_tokens_per_second";
  const char *gpu = qm_import_text (entry, "gpu_info"), *cpu = qm_import_text (entry, "cpu_info");
  const char *type = qm_import_text (entry, "model_type"), *time = qm_import_text (entry, "test_time");
  double layers = qm_import_number (entry, "n_gpu_layers");

  qm_time_from_text (time, &run->started);
  g_free (run->label);
  run->label = g_strdup_printf ("llama-bench, %.0f + %.0f", fmax (prompt, 0), fmax (answer, 0));
  run->model = g_strdup (type);
  run->machine = g_strdup (cpu);
  run->device = g_strdup (gpu != NULL && gpu[0] != '\0' && layers != 0 ? gpu : cpu);
  run->devices = 1;
  run->unit = g_strdup ("tokens");
  run->plan = plan_of (entry, prompt, answer);
  run->seconds = qm_import_number (entry, "avg_ns") / 1e9;
  qm_run_set_measured (run, key, qm_import_number (entry, "avg_ts"));

  return run;
}

gboolean
qm_import_llama_bench (const QmImportFile *file,
                       JsonNode           *root,
                       GPtrArray          *imported,
                       GError            **error)
{
  JsonArray *tests = json_node_get_array (root);

  for (guint i = 0; i < json_array_get_length (tests); i++)
    {
      JsonNode *node = json_array_get_element (tests, i);
      JsonObject *entry = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;

      if (entry == NULL || !(qm_import_number (entry, "avg_ts") > 0))
        {
          qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, 0, N_("test {number} of llama-bench has no rate (avg_ts)"), "#number", i + 1.0, NULL);
          return FALSE;
        }
      qm_import_take (imported, run_of_test (file, i, entry), NULL);
    }

  return TRUE;
}

/* ----------------------------------------------- tables of TensorFlow's profiler (XLA) */

/* Its summaries are tables of Google's charts; what they say as a whole is in
 * the properties `p` of each. */
static const struct {
  const char *property;
  const char *key;
  double factor;
} properties[] = {
  { "steptime_ms_average", "throughput.step_seconds", 1e-3 },
  { "infeed_percent_average", "run.input_share", 1e-2 },
  { "mxu_utilization_percent", "throughput.mfu", 1e-2 },
  { "device_duty_cycle_percent", "run.gpu_utilization", 1e-2 },
  { "device_collectives_percent", "run.communication_share", 1e-2 },
};

/* Numbers are written as text, often with a percent sign. */
static double
property (JsonObject *object,
          const char *name)
{
  const char *text = qm_import_text (object, name);
  char *end;
  double value = text != NULL ? g_ascii_strtod (text, &end) : qm_import_number (object, name);

  return text != NULL && end == text ? NAN : value;
}

static void
take_table (QmRun    *run,
            JsonNode *node)
{
  JsonObject *table = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  JsonObject *p = table != NULL ? qm_import_object (table, "p") : NULL;

  if (p == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    qm_run_set_measured (run, properties[i].key, property (p, properties[i].property) * properties[i].factor);
  if (run->device == NULL)
    run->device = g_strdup (qm_import_text (p, "device_type") != NULL ? qm_import_text (p, "device_type") : qm_import_text (p, "hardware_type"));
}

gboolean
qm_import_tables (const QmImportFile *file,
                  JsonNode           *root,
                  GPtrArray          *imported,
                  GError            **error)
{
  QmRun *run = qm_import_new_run (file, 0, QM_RUN_SOURCE_TENSORFLOW_PROFILER);

  if (JSON_NODE_HOLDS_ARRAY (root))
    for (guint i = 0; i < json_array_get_length (json_node_get_array (root)); i++)
      take_table (run, json_array_get_element (json_node_get_array (root), i));
  else
    take_table (run, root);
  if (run->figures->len == 0)
    {
      qm_run_free (run);
      qm_import_refuse (error, QM_IMPORT_ERROR_VALUE, 0, N_("these tables hold no step time and no utilisation: import overview_page or input_pipeline_analyzer"), NULL);
      return FALSE;
    }
  qm_import_take (imported, run, NULL);

  return TRUE;
}
