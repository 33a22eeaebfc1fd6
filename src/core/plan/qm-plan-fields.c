/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-plan-fields.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "plan/qm-vocabulary.h"
#include "qm-enum.h"
#include "qm-enum-types.h"

/* No model, data set or cluster comes near these. */
#define MANY 1e15
#define LONG 1e9

#define AT(member) G_STRUCT_OFFSET (QmPlan, member)
#define TEXT(member) { #member, QM_FIELD_TEXT, AT (member), NULL, 0, 0, 0, NULL, NULL }
#define WORD(member) { #member, QM_FIELD_WORD, AT (member), NULL, 0, 0, 0, NULL, NULL }
#define CHECKED(member, check, words) { #member, QM_FIELD_WORD, AT (member), NULL, 0, 0, 0, check, words }
#define WORDS(member, check, words) { #member, QM_FIELD_WORDS, AT (member), NULL, 0, 0, 0, check, words }
#define ENUM(member, name) { #member, QM_FIELD_ENUM, AT (member), name##_get_type, 0, 0, 0, NULL, NULL }
#define YES_NO(member) { #member, QM_FIELD_TERNARY, AT (member), NULL, 0, 0, 0, NULL, NULL }
#define NUMBER(member, unset, minimum, maximum) { #member, QM_FIELD_NUMBER, AT (member), NULL, unset, minimum, maximum, NULL, NULL }
#define COUNT(member, minimum, maximum) { #member, QM_FIELD_COUNT, AT (member), NULL, 0, minimum, maximum, NULL, NULL }
#define INTEGER(member, unset, minimum, maximum) { #member, QM_FIELD_INTEGER, AT (member), NULL, unset, minimum, maximum, NULL, NULL }

static const QmField fields[] = {
  TEXT (title),
  ENUM (task, qm_task),
  ENUM (activity, qm_activity),
  ENUM (stage, qm_stage),
  WORD (model.id),
  TEXT (model.file),
  COUNT (model.parameters, 1, MANY),
  COUNT (model.active_parameters, 1, MANY),
  NUMBER (model.flops_per_sample, 0, 1, 1e21),
  NUMBER (model.activations_per_sample, 0, 1, 1e18),
  NUMBER (model.embedding_lookups, 0, 1, 1e9),
  NUMBER (model.dense_parameters, 0, 1, MANY),
  NUMBER (model.items_per_query, 0, 1, 1e9),
  COUNT (model.embedding_dim, 1, 1e6),
  COUNT (model.embedding_features, 1, 1e6),
  COUNT (model.embedding_rows, 1, MANY),
  COUNT (model.mf_dim, 1, 1e6),
  { "model.architecture", QM_FIELD_OBJECT, AT (model.architecture), NULL, 0, 0, 0, NULL, NULL },
  ENUM (training.method, qm_method),
  COUNT (training.lora_rank, 1, 65536),
  NUMBER (training.lora_dropout, NAN, 0, 1),
  WORDS (training.lora_targets, NULL, NULL),
  COUNT (training.trainable_parameters, 1, MANY),
  CHECKED (training.base_weights, qm_vocabulary_is_weights, "fp32, fp16, bf16, fp8, int8, int4, awq-int4, gptq-int4, nf4, fp4, mxfp4, exl2-N, gguf-TYPE"),
  ENUM (training.precision, qm_precision),
  ENUM (training.optimizer, qm_optimizer),
  ENUM (training.activation_checkpointing, qm_checkpointing),
  ENUM (training.attention, qm_attention),
  CHECKED (training.attention_kernel, qm_vocabulary_is_attention_kernel, NULL),
  YES_NO (training.compiled),
  ENUM (training.memory_format, qm_memory_format),
  WORDS (training.techniques, qm_vocabulary_is_technique, NULL),
  CHECKED (training.framework, qm_vocabulary_is_framework, "transformers, peft, deepspeed, fsdp, torchtitan, nemo, megatron, pytorch, …"),
  CHECKED (training.tuning, qm_vocabulary_is_tuning, "vendor, ordinary"),
  YES_NO (training.packed),
  YES_NO (training.frozen_norm),
  YES_NO (training.latents_stored),
  NUMBER (training.real_token_fraction, NAN, 0.001, 1),
  COUNT (training.global_batch, 1, 1e12),
  COUNT (training.sequence_length, 1, 1e9),
  COUNT (training.image_size, 1, 1e6),
  COUNT (training.samples, 1, MANY),
  COUNT (training.tokens, 1, 1e18),
  NUMBER (training.epochs, 0, 1e-6, 1e6),
  CHECKED (serving.engine, qm_vocabulary_is_engine, NULL),
  WORD (serving.engine_version),
  WORD (serving.engine_variant),
  CHECKED (serving.weights, qm_vocabulary_is_weights, "fp32, fp16, bf16, fp8, int8, int4, awq-int4, gptq-int4, nf4, fp4, mxfp4, exl2-N, gguf-TYPE"),
  CHECKED (serving.kv_cache, qm_vocabulary_is_kv_cache, "fp32, fp16, bf16, fp8, int8, q8_0, q4_0"),
  COUNT (serving.input_tokens, 0, 1e9),
  COUNT (serving.output_tokens, 1, 1e9),
  COUNT (serving.concurrency, 1, 1e9),
  NUMBER (serving.requests_per_second, 0, 1e-9, 1e9),
  NUMBER (serving.peak_factor, 0, 1, 1e6),
  NUMBER (serving.latency_p99_seconds, 0, 1e-6, 1e6),
  NUMBER (serving.first_token_seconds, 0, 1e-6, 1e6),
  COUNT (serving.samples, 1, MANY),
  COUNT (serving.image_size, 1, 1e6),
  COUNT (serving.denoising_steps, 1, 1e5),
  YES_NO (serving.guidance),
  COUNT (serving.beam, 1, 1e4),
  YES_NO (serving.compiled),
  ENUM (serving.memory_format, qm_memory_format),
  COUNT (serving.max_sequences, 1, 1e9),
  ENUM (serving.speculation, qm_speculation),
  NUMBER (serving.real_token_fraction, NAN, 0.001, 1),
  NUMBER (serving.patches_per_sample, 0, 1, 1e9),
  NUMBER (serving.audio_seconds_per_sample, 0, 0.001, 1e9),
  COUNT (tabular.features, 1, 1e9),
  NUMBER (tabular.nonzero_features, 0, 1e-6, 1e9),
  COUNT (tabular.bins, 2, 1e9),
  COUNT (tabular.trees, 1, 1e9),
  COUNT (tabular.depth, 1, 1e4),
  COUNT (tabular.leaves, 2, 1e9),
  NUMBER (data.bytes_per_sample, 0, 1e-3, 1e15),
  ENUM (data.storage, qm_storage),
  INTEGER (data.loader_workers, -1, 0, 4096),
  ENUM (limits.objective, qm_objective),
  NUMBER (limits.money, NAN, 0, 1e12),
  { "limits.currency", QM_FIELD_TEXT, AT (limits.currency), NULL, 0, 0, 0, NULL, N_("a code of three letters, e.g. USD") },
  NUMBER (limits.hours, NAN, 0, LONG),
  NUMBER (limits.min_accuracy, NAN, 0, 1),
  NUMBER (limits.headroom, NAN, 0, 0.9),
  NUMBER (limits.marginal_points, NAN, 0, 100),
  NUMBER (limits.marginal_ratio, NAN, 1, 1000),
  YES_NO (places.this_computer),
  YES_NO (places.buy),
  WORDS (places.cloud, NULL, NULL),
  WORDS (places.regions, NULL, NULL),
  WORDS (places.excluded, NULL, NULL),
  YES_NO (places.on_premises),
  ENUM (places.spot, qm_spot),
  NUMBER (costs.currency_per_usd, NAN, 1e-6, 1e9),
  CHECKED (costs.currency_as_of, qm_vocabulary_is_date, N_("a date, e.g. 2026-11-30")),
  NUMBER (costs.electricity_per_kwh, NAN, 0, 1e6),
  NUMBER (costs.carbon_kg_per_kwh, NAN, 0, 5),
  NUMBER (costs.cooling_factor, NAN, 1, 5),
  NUMBER (costs.committed_discount, NAN, 0, 0.95),
  NUMBER (costs.stored_bytes, NAN, 0, 1e18),
  NUMBER (costs.storage_per_gb_month, NAN, 0, 1e6),
  NUMBER (costs.sent_bytes, NAN, 0, 1e18),
  NUMBER (costs.egress_per_gb, NAN, 0, 1e6),
  NUMBER (costs.upload_bytes, NAN, 0, 1e18),
  NUMBER (costs.upload_bits_per_second, NAN, 1000, 1e13),
  NUMBER (costs.idle_hours, NAN, 0, 1e5),
  NUMBER (costs.failed_starts, NAN, 0, 1000),
  NUMBER (costs.interruptions_per_hour, NAN, 1e-6, 60),
  NUMBER (costs.checkpoint_seconds, NAN, 0.1, 1e5),
  NUMBER (costs.restart_seconds, NAN, 0, 1e5),
  NUMBER (costs.device_price, NAN, 0, 1e9),
  NUMBER (costs.resale_share, NAN, 0, 0.95),
  NUMBER (costs.use_hours_per_month, NAN, 1, 744),
  NUMBER (costs.lifetime_months, NAN, 1, 600),
  WORD (configuration.device),
  INTEGER (configuration.devices, 0, 1, 1000000),
  INTEGER (configuration.nodes, 0, 1, 100000),
  CHECKED (configuration.interconnect, qm_vocabulary_is_interconnect, NULL),
  INTEGER (configuration.data_parallel, 0, 1, 1000000),
  INTEGER (configuration.tensor_parallel, 0, 1, 10000),
  INTEGER (configuration.pipeline_parallel, 0, 1, 10000),
  INTEGER (configuration.expert_parallel, 0, 1, 100000),
  INTEGER (configuration.context_parallel, 0, 1, 10000),
  INTEGER (configuration.virtual_pipeline, 0, 1, 1000),
  INTEGER (configuration.shard_group, 0, 1, 1000000),
  INTEGER (configuration.slices, 0, 1, 100000),
  YES_NO (configuration.sequence_parallel),
  ENUM (configuration.sharding, qm_sharding),
  ENUM (configuration.offload, qm_offload),
  COUNT (configuration.micro_batch, 1, 1e9),
  COUNT (configuration.gradient_accumulation, 1, 1e9),
  INTEGER (configuration.gpu_layers, -1, 0, 100000),
  INTEGER (configuration.cpu_expert_layers, 0, 1, 100000),
  ENUM (configuration.split, qm_split),
  INTEGER (configuration.cpu_cores, 0, 1, 100000),
  NUMBER (configuration.host_memory_bytes_per_second, 0, 1e6, 1e15),
  NUMBER (configuration.memory_bytes, 0, 1e6, 1e15),
  NUMBER (configuration.host_memory_bytes, 0, 1e6, 1e15),
  WORD (configuration.offer),
};

/**
 * qm_plan_fields:
 * @n: (out): how many there are
 *
 * Returns: (transfer none) (array length=n): the fields of the plan file, in
 *   the order in which they are written
 */
const QmField *
qm_plan_fields (guint *n)
{
  *n = G_N_ELEMENTS (fields);
  return fields;
}

/**
 * qm_plan_field_find:
 * @path: e.g. `training.epochs`
 *
 * Returns: (transfer none) (nullable): the field of that name
 */
const QmField *
qm_plan_field_find (const char *path)
{
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (strcmp (fields[i].path, path) == 0)
      return &fields[i];

  return NULL;
}

/* How far a key is from a field: the section weighs little, since a field in
 * the wrong section is the likelier slip. */
static guint
distance_of (const char *path,
             const char *field)
{
  const char *point = strrchr (path, '.'), *field_point = strrchr (field, '.');
  guint name = qm_edit_distance (point != NULL ? point + 1 : path, field_point != NULL ? field_point + 1 : field);

  return 4 * name + qm_edit_distance (path, field);
}

/**
 * qm_plan_field_nearest:
 * @path: a key that is no field
 *
 * Returns: (transfer none): the field or section whose name is most like it
 */
const char *
qm_plan_field_nearest (const char *path)
{
  static const char * const others[] = { "format", "version", "model", "training", "serving", "tabular", "data", "limits", "places", "costs",
                                         "configuration", "places.owned", "quotes", "results" };
  const char *nearest = NULL;
  guint least = G_MAXUINT;

  for (guint i = 0; i < G_N_ELEMENTS (fields) + G_N_ELEMENTS (others); i++)
    {
      const char *candidate = i < G_N_ELEMENTS (fields) ? fields[i].path : others[i - G_N_ELEMENTS (fields)];
      guint distance = distance_of (path, candidate);

      if (distance < least)
        {
          least = distance;
          nearest = candidate;
        }
    }

  return nearest;
}

/**
 * qm_plan_field_pointer:
 * @self: a field
 * @plan: a plan
 *
 * Returns: where @plan holds it
 */
gpointer
qm_plan_field_pointer (const QmField *self,
                       const QmPlan  *plan)
{
  return G_STRUCT_MEMBER_P (plan, self->offset);
}

/* The currency is an array in the plan, every other text a string of its own. */
static gboolean
is_currency (const QmField *self)
{
  return self->offset == AT (limits.currency);
}

static gboolean
same_number (double a,
             double b)
{
  return a == b || (isnan (a) && isnan (b));
}

/**
 * qm_plan_field_is_set:
 * @self: a field
 * @plan: a plan
 *
 * Returns: whether the plan answers it
 */
gboolean
qm_plan_field_is_set (const QmField *self,
                      const QmPlan  *plan)
{
  gpointer at = qm_plan_field_pointer (self, plan);

  switch (self->kind)
    {
    case QM_FIELD_TEXT:
      return is_currency (self) ? *(char *) at != '\0' : *(char **) at != NULL && **(char **) at != '\0';
    case QM_FIELD_WORD:
      return *(char *) at != '\0';
    case QM_FIELD_WORDS:
      return ((QmWordList *) at)->n >= 0;
    case QM_FIELD_ENUM:
    case QM_FIELD_TERNARY:
      return *(int *) at != 0;
    case QM_FIELD_INTEGER:
      return *(int *) at != (int) self->unset;
    case QM_FIELD_OBJECT:
      return *(gpointer *) at != NULL;
    case QM_FIELD_NUMBER:
    case QM_FIELD_COUNT:
    default:
      return !same_number (*(double *) at, self->unset);
    }
}

/**
 * qm_plan_field_unset:
 * @self: a field
 * @plan: a plan
 *
 * Takes the answer back.
 */
void
qm_plan_field_unset (const QmField *self,
                     QmPlan        *plan)
{
  gpointer at = qm_plan_field_pointer (self, plan);

  switch (self->kind)
    {
    case QM_FIELD_TEXT:
      if (is_currency (self))
        *(char *) at = '\0';
      else
        g_set_str ((char **) at, self->offset == AT (title) ? "" : NULL);
      break;
    case QM_FIELD_WORD:
      *(char *) at = '\0';
      break;
    case QM_FIELD_WORDS:
      *(QmWordList *) at = (QmWordList) { .n = -1 };
      break;
    case QM_FIELD_ENUM:
    case QM_FIELD_TERNARY:
      *(int *) at = 0;
      break;
    case QM_FIELD_INTEGER:
      *(int *) at = (int) self->unset;
      break;
    case QM_FIELD_OBJECT:
      g_clear_pointer ((QmJsonBox **) at, qm_json_box_unref);
      break;
    case QM_FIELD_NUMBER:
    case QM_FIELD_COUNT:
    default:
      *(double *) at = self->unset;
      break;
    }
}

static gboolean
same_object (const QmJsonBox *a,
             const QmJsonBox *b)
{
  return a == b || (a != NULL && b != NULL && json_object_equal (qm_json_box_object (a), qm_json_box_object (b)));
}

static gboolean
same_words (const QmWordList *a,
            const QmWordList *b)
{
  if (a->n != b->n)
    return FALSE;
  for (int i = 0; i < a->n; i++)
    if (strcmp (a->words[i], b->words[i]) != 0)
      return FALSE;

  return TRUE;
}

/**
 * qm_plan_field_equal:
 * @self: a field
 * @a: a plan
 * @b: another
 *
 * Returns: whether both give the same answer
 */
gboolean
qm_plan_field_equal (const QmField *self,
                     const QmPlan  *a,
                     const QmPlan  *b)
{
  gpointer at_a = qm_plan_field_pointer (self, a), at_b = qm_plan_field_pointer (self, b);

  switch (self->kind)
    {
    case QM_FIELD_TEXT:
      return is_currency (self) ? strcmp (at_a, at_b) == 0 : g_strcmp0 (*(char **) at_a, *(char **) at_b) == 0;
    case QM_FIELD_WORD:
      return strcmp (at_a, at_b) == 0;
    case QM_FIELD_WORDS:
      return same_words (at_a, at_b);
    case QM_FIELD_ENUM:
    case QM_FIELD_TERNARY:
    case QM_FIELD_INTEGER:
      return *(int *) at_a == *(int *) at_b;
    case QM_FIELD_OBJECT:
      return same_object (*(QmJsonBox **) at_a, *(QmJsonBox **) at_b);
    case QM_FIELD_NUMBER:
    case QM_FIELD_COUNT:
    default:
      return same_number (*(double *) at_a, *(double *) at_b);
    }
}
