/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-capacity.h"
#include "decide/qm-choices.h"
#include "decide/qm-cold-start.h"
#include "decide/qm-money.h"
#include "decide/qm-past-runs.h"
#include "estimate/qm-llm-inference-constants.h"
#include "qm-enum.h"
#include "qm-enum-types.h"
#include "qm-json-writer.h"

static void
set_number (JsonObject *object,
            const char *name,
            double      value)
{
  if (isfinite (value))
    json_object_set_double_member (object, name, qm_json_figure (value));
  else
    json_object_set_null_member (object, name);
}

/* Whole numbers up to 2^53 are written as such. */
static void
set_count (JsonObject *object,
           const char *name,
           double      value)
{
  if (isfinite (value) && fabs (value) < 9007199254740992.0)
    json_object_set_int_member (object, name, (gint64) llround (value));
  else
    set_number (object, name, value);
}

static void
set_range (JsonObject *object,
           const char *name,
           QmRange     range)
{
  JsonObject *child;

  if (!qm_range_is_known (range))
    {
      json_object_set_null_member (object, name);
      return;
    }

  child = json_object_new ();
  set_number (child, "p10", range.p10);
  set_number (child, "p50", range.p50);
  set_number (child, "p90", range.p90);
  json_object_set_object_member (object, name, child);
}

static void
set_p50 (JsonObject *object,
         const char *name,
         double      value)
{
  set_range (object, name, isfinite (value) ? qm_range_exact (value) : QM_RANGE_UNKNOWN);
}

/* What is in proportion to a rate is as uncertain as the rate. */
static void
set_in_proportion (JsonObject *object,
                   const char *name,
                   double      value,
                   QmRange     rate)
{
  if (isfinite (value) && rate.p50 > 0)
    set_range (object, name, qm_range_scale (rate, value / rate.p50));
  else
    set_p50 (object, name, value);
}

static void
set_text (JsonObject *object,
          const char *name,
          const char *text)
{
  if (text != NULL)
    json_object_set_string_member (object, name, text);
  else
    json_object_set_null_member (object, name);
}

static JsonObject *
message_to_object (const QmMessage *message)
{
  JsonObject *object = json_object_new ();
  g_autofree char *text = qm_message_get_text (message, qm_words_english ());
  g_autofree char *detail = qm_message_get_detail (message, qm_words_english ());
  g_autofree char *both = detail != NULL ? g_strconcat (text, ": ", detail, NULL) : NULL;

  json_object_set_string_member (object, "code", qm_message_get_code (message));
  json_object_set_string_member (object, "text", both != NULL ? both : text);
  set_text (object, "source", qm_message_get_source (message));

  return object;
}

static void
set_messages (JsonObject *object,
              const char *name,
              GPtrArray  *messages)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; messages != NULL && i < messages->len; i++)
    json_array_add_object_element (array, message_to_object (g_ptr_array_index (messages, i)));
  json_object_set_array_member (object, name, array);
}

/* Of one element of the cache, in the precision of the plan. */
static double
kv_element_bytes (QmEstimator  *estimator,
                  const QmPlan *plan)
{
  return qm_inference_constants_kv_bytes (qm_estimator_get_inference_constants (estimator), plan->serving.kv_cache);
}

static void
add_model (JsonObject       *root,
           QmEstimator      *estimator,
           const QmResolved *resolved,
           const QmEstimate *estimate)
{
  const QmModel *model = resolved->model;
  JsonObject *object = json_object_new ();
  gboolean language = resolved->plan->task == QM_TASK_LANGUAGE_MODEL;

  json_object_set_string_member (object, "name", model->name);
  set_count (object, "parameters", model->parameters);
  set_count (object, "active_parameters", model->active_parameters);
  set_count (object, "trainable_parameters",
             qm_plan_is_training (resolved->plan) ? estimate->trainable_parameters : NAN);
  set_count (object, "kv_cache_bytes_per_token",
             language ? qm_architecture_kv_bytes_per_token (&model->architecture, kv_element_bytes (estimator, resolved->plan)) : NAN);
  set_text (object, "read_by", qm_enum_to_word (QM_TYPE_READER, model->read_by));
  json_object_set_object_member (root, "model", object);
}

static void
add_memory (JsonObject       *root,
            const QmEstimate *estimate,
            const QmResolved *resolved,
            const QmCapacity *capacity)
{
  static const char * const names[QM_MEMORY_N_PARTS] = {
    "weights_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes", "logits_bytes",
    "kv_cache_bytes", "communication_bytes", "workspace_bytes", "context_bytes", "fragmentation_bytes",
  };
  JsonObject *object = json_object_new ();
  JsonObject *breakdown = json_object_new ();
  JsonObject *methods = json_object_new ();
  const QmMemory *memory = &estimate->memory;
  double measured = qm_past_runs_measured (resolved->past_runs, resolved, estimate);
  QmGrowth growth;
  gboolean judged = memory->usable_bytes > 0 && qm_range_is_known (memory->need);

  for (int i = 0; i < QM_MEMORY_N_PARTS; i++)
    set_count (breakdown, names[i], memory->parts[i]);

  set_count (methods, "quick_bytes", memory->quick_bytes);
  set_count (methods, "basic_bytes", memory->basic_bytes);
  set_count (methods, "precise_bytes", memory->need.p50);
  set_count (methods, "measured_bytes", measured > 0 ? measured : NAN);
  set_count (methods, "history_bytes", qm_past_runs_growth (resolved->past_runs, resolved, estimate, &growth) ? growth.bytes : NAN);

  set_range (object, "per_device_bytes", memory->device);
  json_object_set_object_member (object, "breakdown", breakdown);
  set_range (object, "need_bytes", memory->need);
  set_count (object, "capacity_bytes", memory->capacity_bytes);
  set_count (object, "usable_bytes", memory->usable_bytes);
  set_count (object, "free_bytes", memory->free_bytes > 0 ? memory->free_bytes : NAN);
  if (judged)
    json_object_set_boolean_member (object, "fits", memory->fits);
  else
    json_object_set_null_member (object, "fits");
  set_number (object, "fit_probability", judged ? memory->fit_probability : NAN);
  set_text (object, "verdict", qm_enum_to_word (QM_TYPE_VERDICT, memory->verdict));
  set_count (object, "largest_micro_batch", memory->largest_micro_batch);
  json_object_set_object_member (object, "capacity", qm_capacity_to_json (capacity));
  set_count (object, "host_bytes", memory->host_bytes);
  set_count (object, "storage_bytes", memory->storage_bytes);
  set_text (object, "state", qm_enum_to_word (QM_TYPE_STATE, memory->state));
  json_object_set_object_member (object, "methods", methods);
  json_object_set_object_member (root, "memory", object);
}

static void
add_throughput (JsonObject         *root,
                const QmThroughput *throughput)
{
  JsonObject *object, *parts;

  if (!throughput->known)
    {
      json_object_set_null_member (root, "throughput");
      return;
    }

  object = json_object_new ();
  set_text (object, "unit", qm_enum_to_word (QM_TYPE_UNIT, throughput->unit));
  set_range (object, "per_second", throughput->per_second);
  set_range (object, "per_device_per_second", throughput->per_device_per_second);
  set_in_proportion (object, "samples_per_second", throughput->samples_per_second, throughput->per_second);
  set_range (object, "step_seconds", throughput->step_seconds);
  set_in_proportion (object, "tflops_per_device", throughput->tflops_per_device, throughput->per_second);
  /* Data sheets of processors are of their base clock, which they exceed. */
  set_number (object, "mfu", throughput->mfu > 1 ? 1 : throughput->mfu);
  set_text (object, "bound_by", qm_enum_to_word (QM_TYPE_BOUND, throughput->bound_by));
  set_text (object, "input_bound_by", throughput->input_limit != QM_INPUT_NONE
                                        ? qm_enum_to_word (QM_TYPE_INPUT_LIMIT, throughput->input_limit) : NULL);
  set_number (object, "input_samples_per_second", throughput->input_per_second);
  set_number (object, "gain_without_input", throughput->input_gain);
  set_text (object, "state", qm_enum_to_word (QM_TYPE_STATE, throughput->state));

  parts = json_object_new ();
  set_number (parts, "compute_seconds", throughput->compute_seconds);
  set_number (parts, "memory_seconds", throughput->memory_seconds);
  set_number (parts, "communication_seconds", throughput->communication_seconds);
  set_number (parts, "input_seconds", throughput->input_seconds);
  set_number (parts, "overhead_seconds", throughput->overhead_seconds);
  json_object_set_object_member (object, "step_breakdown", parts);
  json_object_set_object_member (root, "throughput", object);
}

static void
add_serving (JsonObject             *root,
             const QmServingFigures *serving)
{
  JsonObject *object;

  if (!serving->known)
    {
      json_object_set_null_member (root, "serving");
      return;
    }

  object = json_object_new ();
  set_range (object, "first_token_seconds", serving->first_token_seconds);
  set_range (object, "token_seconds", serving->token_seconds);
  set_range (object, "decode_tokens_per_second", serving->decode_tokens_per_second);
  set_range (object, "prefill_tokens_per_second", serving->prefill_tokens_per_second);
  set_range (object, "latency_p50_seconds", serving->latency_p50_seconds);
  set_range (object, "latency_p99_seconds", serving->latency_p99_seconds);
  set_range (object, "first_token_p99_seconds", serving->first_token_p99_seconds);
  set_range (object, "token_p99_seconds", serving->token_p99_seconds);
  set_text (object, "latency_basis", serving->latency_basis == QM_LATENCY_UNSET
                                       ? NULL : qm_enum_to_word (QM_TYPE_LATENCY_BASIS, serving->latency_basis));
  set_number (object, "latency_p99_error", serving->latency_error);
  set_count (object, "kv_cache_bytes", serving->kv_cache_bytes);
  set_count (object, "kv_pool_bytes", serving->kv_pool_bytes);
  set_count (object, "max_concurrency", serving->max_concurrency);
  set_number (object, "requests_per_second", serving->requests_per_second);
  set_count (object, "replicas", serving->replicas);
  set_number (object, "cold_start_factor", serving->cold_start_factor_high > 0
                ? (serving->cold_start_factor_low + serving->cold_start_factor_high) / 2 : NAN);
  set_range (object, "cold_start_seconds", serving->cold_start.seconds);
  if (qm_range_is_known (serving->cold_start.seconds))
    json_object_set_object_member (object, "cold_start_breakdown", qm_cold_start_to_json (&serving->cold_start));
  else
    json_object_set_null_member (object, "cold_start_breakdown");
  set_text (object, "state", qm_enum_to_word (QM_TYPE_STATE, serving->state));
  json_object_set_object_member (root, "serving", object);
}

static void
add_time (JsonObject   *root,
          const QmTime *time)
{
  JsonObject *object;

  if (!qm_range_is_known (time->seconds))
    {
      json_object_set_null_member (root, "time");
      return;
    }

  object = json_object_new ();
  set_range (object, "seconds", time->seconds);
  set_range (object, "finish_seconds", time->finish);
  set_number (object, "start_up_seconds", time->start_up_seconds);
  set_p50 (object, "with_interruptions_seconds", time->with_interruptions_seconds);
  set_number (object, "checkpoint_every_seconds", time->checkpoint_every_seconds > 0 ? time->checkpoint_every_seconds : NAN);
  json_object_set_object_member (root, "time", object);
}

static void
add_cost_parts (JsonObject        *cost,
                const QmCostParts *parts)
{
  JsonObject *object = json_object_new ();
  QmCostPart list[QM_MOST_COST_PARTS];
  guint n = qm_cost_parts_list (parts, list);

  for (guint i = 0; i < n; i++)
    set_number (object, list[i].code, list[i].money);
  json_object_set_object_member (cost, "parts", object);
}

static void
add_cost (JsonObject     *root,
          const QmCost   *cost,
          const QmPlan   *plan)
{
  static const char * const bases[] = { "world", "country", "region", "own" };
  JsonObject *object, *energy;

  if (!cost->known)
    {
      json_object_set_null_member (root, "cost");
      json_object_set_null_member (root, "energy");
      return;
    }

  object = json_object_new ();
  json_object_set_string_member (object, "currency", qm_plan_get_currency (plan));
  set_range (object, "money", cost->money);
  json_object_set_string_member (object, "money_is_of", plan->activity == QM_ACTIVITY_SERVE ? "month" : "job");
  set_number (object, "per_hour", cost->per_hour);
  set_range (object, "per_million_units", cost->per_million_units);
  set_text (object, "pricing", qm_enum_to_word (QM_TYPE_PRICING, cost->pricing));
  set_text (object, "as_of", cost->as_of);
  set_number (object, "purchase", cost->purchase_money);
  set_number (object, "break_even_hours", cost->break_even_hours);
  set_number (object, "break_even_months", cost->break_even_months);
  add_cost_parts (object, &cost->parts);
  json_object_set_object_member (root, "cost", object);

  energy = json_object_new ();
  set_number (energy, "carbon_kg_per_kwh", cost->carbon_kg_per_kwh);
  set_text (energy, "carbon_basis", bases[cost->carbon_basis]);
  set_range (energy, "kwh", cost->kwh);
  set_range (energy, "kg_co2e", cost->kg_co2e);
  json_object_set_object_member (root, "energy", energy);
}

static void
add_accuracy (JsonObject       *root,
              const QmAccuracy *accuracy)
{
  JsonObject *object = json_object_new ();

  set_text (object, "metric", accuracy->metric);
  set_range (object, "value", accuracy->value);
  json_object_set_boolean_member (object, "is_relative", accuracy->is_relative);
  json_object_set_string_member (object, "basis", accuracy->basis == QM_ACCURACY_UNKNOWN
                                   ? "unknown" : qm_enum_to_word (QM_TYPE_ACCURACY_BASIS, accuracy->basis));
  set_text (object, "source", accuracy->source);
  json_object_set_object_member (root, "accuracy", object);
}

static void
add_assumed (JsonObject       *root,
             const QmResolved *resolved)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < resolved->assumed->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (resolved->assumed, i);
      JsonObject *object = json_object_new ();
      g_autofree char *why = qm_message_get_text (assumption->why, qm_words_english ());

      json_object_set_string_member (object, "field", assumption->field);
      json_object_set_string_member (object, "value", assumption->value);
      json_object_set_string_member (object, "why", why);
      json_array_add_object_element (array, object);
    }
  json_object_set_array_member (root, "assumed", array);
}

static const char *
kind_word (const QmChoice *choice)
{
  return qm_enum_to_word (QM_TYPE_CHOICE_KIND, choice->kind);
}

static const char *
ruled_out_word (const QmChoice *choice)
{
  return choice->ruled_out_by_cost ? "cost" : choice->ruled_out_by_gpu_hours ? "gpu-hours"
         : choice->ruled_out_by_count ? "count" : NULL;
}

/**
 * qm_choice_to_json:
 * @estimator: an estimator
 * @resolved: the plan
 * @choice: one of its choices
 *
 * Returns: (transfer full): the object of `estimate --json`
 */
JsonNode *
qm_choice_to_json (QmEstimator      *estimator,
                   const QmResolved *resolved,
                   const QmChoice   *choice)
{
  const QmEstimate *estimate = &choice->estimate;
  JsonObject *root = json_object_new ();
  QmCapacity capacity;
  g_autoptr (GPtrArray) explanation = qm_estimate_explain (estimator, resolved, choice, &capacity);
  g_autoptr (GPtrArray) warnings = qm_estimate_warnings (estimator, resolved, choice);
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);

  json_object_set_string_member (root, "format", "quartermaster-estimate");
  json_object_set_int_member (root, "version", 1);
  add_model (root, estimator, resolved, estimate);
  json_object_set_member (root, "configuration", qm_configuration_to_json (&estimate->configuration));
  add_memory (root, estimate, resolved, &capacity);
  add_throughput (root, &estimate->throughput);
  add_serving (root, &estimate->serving);
  add_time (root, &estimate->time);
  add_cost (root, &estimate->cost, resolved->plan);
  add_accuracy (root, &estimate->accuracy);
  add_assumed (root, resolved);
  set_messages (root, "explanation", explanation);
  set_messages (root, "warnings", warnings);
  json_node_take_object (node, root);

  return node;
}

static void
add_choices (JsonObject       *root,
             QmRecommendation *self,
             QmEstimator      *estimator)
{
  const QmResolved *resolved = qm_recommendation_get_resolved (self);
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < qm_recommendation_n_choices (self); i++)
    {
      const QmChoice *choice = qm_recommendation_choice (self, i);
      JsonNode *node = qm_choice_to_json (estimator, resolved, choice);
      JsonObject *object = json_node_get_object (node);

      json_object_set_int_member (object, "rank", i + 1);
      json_object_set_string_member (object, "label", choice->label);
      set_text (object, "kind", kind_word (choice));
      set_text (object, "place", qm_enum_to_word (QM_TYPE_PLACE, choice->place));
      set_messages (object, "reasons", choice->reasons);
      set_messages (object, "drawbacks", choice->drawbacks);
      json_object_set_boolean_member (object, "pareto", choice->pareto);
      set_text (object, "ruled_out_by", ruled_out_word (choice));
      json_array_add_element (array, node);
    }
  json_object_set_array_member (root, "choices", array);
}

static JsonObject *
row_to_object (QmRecommendation *self,
               const QmChoice   *row)
{
  const QmEstimate *estimate = &row->estimate;
  JsonObject *object = json_object_new ();
  JsonObject *ruled_out = json_object_new ();

  json_object_set_string_member (object, "label", row->label);
  json_object_set_string_member (object, "device", estimate->device->id);
  json_object_set_int_member (object, "devices", estimate->configuration.devices);
  json_object_set_int_member (object, "nodes", MAX (1, row->machines));
  set_text (object, "offer", row->offer != NULL ? row->offer->id : NULL);
  set_text (object, "place", qm_enum_to_word (QM_TYPE_PLACE, row->place));
  set_range (object, "time_seconds", estimate->time.seconds);
  set_range (object, "finish_seconds", estimate->time.finish);
  set_range (object, "money", estimate->cost.money);
  set_range (object, "accuracy", estimate->accuracy.value);
  set_number (object, "memory_fraction", estimate->memory.usable_bytes > 0
                ? estimate->memory.need.p50 / estimate->memory.usable_bytes : NAN);
  set_text (object, "bound_by", qm_enum_to_word (QM_TYPE_BOUND, estimate->throughput.bound_by));
  set_number (object, "gpu_hours", row->gpu_hours);
  json_object_set_boolean_member (object, "within_limits", row->within_limits);
  set_text (object, "broken_limit", qm_enum_to_word (QM_TYPE_LIMIT, row->broken_limit));
  json_object_set_boolean_member (object, "pareto", row->pareto);
  json_object_set_boolean_member (ruled_out, "by_count", row->ruled_out_by_count);
  json_object_set_boolean_member (ruled_out, "by_gpu_hours", row->ruled_out_by_gpu_hours);
  json_object_set_boolean_member (ruled_out, "by_cost", row->ruled_out_by_cost);
  json_object_set_object_member (object, "ruled_out", ruled_out);
  set_text (object, "dominated_by", row->dominated_by >= 0 ? qm_recommendation_row (self, row->dominated_by)->label : NULL);

  return object;
}

static void
add_matrix (JsonObject       *root,
            QmRecommendation *self)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < qm_recommendation_n_rows (self); i++)
    json_array_add_object_element (array, row_to_object (self, qm_recommendation_row (self, i)));
  json_object_set_array_member (root, "matrix", array);
}

static void
add_rejected (JsonObject       *root,
              QmRecommendation *self)
{
  GPtrArray *rejections = qm_recommendation_get_rejections (self);
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < rejections->len; i++)
    {
      const QmRejection *rejection = g_ptr_array_index (rejections, i);
      JsonObject *object = json_object_new ();
      g_autofree char *reason = qm_message_get_text (rejection->message, qm_words_english ());
      g_autofree char *drawback = qm_message_get_detail (rejection->message, qm_words_english ());

      json_object_set_string_member (object, "device", rejection->device->id);
      json_object_set_int_member (object, "devices", rejection->devices);
      json_object_set_string_member (object, "reason", reason);
      json_object_set_string_member (object, "code", qm_message_get_code (rejection->message));
      set_text (object, "drawback", drawback);
      set_number (object, "margin", rejection->margin);
      json_array_add_object_element (array, object);
    }
  json_object_set_array_member (root, "rejected", array);
}

static void
add_sensitivity (JsonObject       *root,
                 QmRecommendation *self)
{
  GPtrArray *sensitivities = qm_recommendation_get_sensitivities (self);
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < sensitivities->len; i++)
    {
      const QmSensitivity *sensitivity = g_ptr_array_index (sensitivities, i);
      JsonObject *object = json_object_new ();

      json_object_set_string_member (object, "field", sensitivity->field);
      set_number (object, sensitivity->above ? "above" : "below", sensitivity->threshold);
      set_text (object, "choice", sensitivity->choice[0] != '\0' ? sensitivity->choice : NULL);
      json_array_add_object_element (array, object);
    }
  json_object_set_array_member (root, "sensitivity", array);
}

static void
add_stages (JsonObject       *root,
            QmRecommendation *self)
{
  GPtrArray *stages = qm_recommendation_get_stages (self);
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < stages->len; i++)
    {
      const QmStagePlan *stage = g_ptr_array_index (stages, i);
      JsonObject *object = json_object_new ();
      g_autofree char *text = qm_message_get_text (stage->message, qm_words_english ());

      json_object_set_string_member (object, "stage", qm_enum_to_word (QM_TYPE_STAGE, stage->stage));
      json_object_set_string_member (object, "label", stage->label);
      set_number (object, "hours", stage->hours);
      set_number (object, "money", stage->money);
      json_object_set_string_member (object, "text", text);
      json_array_add_object_element (array, object);
    }
  json_object_set_array_member (root, "stages", array);
}

/**
 * qm_recommendation_to_json:
 * @self: a recommendation
 * @estimator: the estimator that made it
 *
 * Returns: (transfer full): the object of `recommend --json`
 */
JsonNode *
qm_recommendation_to_json (QmRecommendation *self,
                           QmEstimator      *estimator)
{
  JsonObject *root = json_object_new ();
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);

  json_object_set_string_member (root, "format", "quartermaster-recommendation");
  json_object_set_int_member (root, "version", 1);
  add_choices (root, self, estimator);
  add_matrix (root, self);
  json_object_set_member (root, "start", qm_start_to_json (self));
  json_object_set_member (root, "nearest", qm_nearest_to_json (self));
  add_rejected (root, self);
  add_sensitivity (root, self);
  add_stages (root, self);
  set_messages (root, "warnings", qm_recommendation_get_warnings (self));
  add_assumed (root, qm_recommendation_get_resolved (self));
  json_object_set_int_member (root, "considered", qm_recommendation_get_considered (self));
  set_number (root, "seconds", qm_recommendation_get_seconds (self));
  json_node_take_object (node, root);

  return node;
}
