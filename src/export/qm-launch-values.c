/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "estimate/qm-estimator.h"
#include "estimate/qm-input.h"
#include "qm-enum-types.h"
#include "qm-enum.h"
#include "qm-launch-private.h"

/* A run that takes twice as long as nine of ten has gone wrong. */
#define RUN_TIME_FACTOR 2.0
#define MOST_RUN_SECONDS (120 * 86400.0)

/* Texts are longer than their mean, and a request that does not fit is refused. */
#define LEAST_CONTEXT 4096

/* What an image, its driver and libraries take on a disk, and the least that is
 * ordered. */
#define SYSTEM_GB 100.0
#define LEAST_DISK_GB 200.0

/* Usual where nothing is said: Hu et al. 2021 for adapters, Touvron et al. 2023
 * for all weights, Goyal et al. 2017 for SGD (0.1 for a batch of 256). */
#define RATE_ADAPTER 2e-4
#define RATE_FINE_TUNE 2e-5
#define RATE_TRAIN 3e-4
#define RATE_SGD_OF_256 0.1

static JsonObject *
table (QmEstimator *estimator,
       const char  *name)
{
  JsonNode *node = qm_catalog_table (qm_estimator_get_catalog (estimator), name);

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

/* ------------------------------------------------------------------ hardware */

static void
add_place (JsonObject     *values,
           const QmPlan   *plan,
           const QmChoice *choice,
           double          per_usd)
{
  const QmOffer *offer = choice->offer;
  const QmCost *cost = &choice->estimate.cost;
  char hour[G_ASCII_DTOSTR_BUF_SIZE];
  double budget = isnan (plan->limits.money) ? ceil (RUN_TIME_FACTOR * cost->money.p90) : plan->limits.money;
  double seconds = choice->estimate.time.finish.p90;
  /* A machine with cards that are attached is named by both. */
  g_auto (GStrv) parts = g_strsplit (offer != NULL ? offer->instance : "", "+", 2);

  qm_launch_set_text (values, "provider", offer != NULL ? offer->provider : "");
  qm_launch_set_text (values, "instance", parts[0]);
  qm_launch_set_text (values, "region", offer != NULL && offer->region != NULL ? offer->region : "");
  qm_launch_set_flag (values, "attached", parts[0] != NULL && parts[1] != NULL);
  qm_launch_set_flag (values, "spot", cost->pricing == QM_PRICING_SPOT);
  qm_launch_set_flag (values, "rented", offer != NULL);
  qm_launch_set_text (values, "currency", plan->limits.currency[0] != '\0' ? plan->limits.currency : "USD");
  qm_launch_set_text (values, "cost_per_hour", g_ascii_formatd (hour, sizeof hour, "%.2f", isfinite (cost->per_hour) ? cost->per_hour : 0));
  qm_launch_set_count (values, "budget", isfinite (budget) ? MAX (1, budget) : 1);
  qm_launch_set_count (values, "budget_usd", isfinite (budget) ? MAX (1, budget / per_usd) : 1);
  qm_launch_set_count (values, "run_seconds", isfinite (seconds) ? CLAMP (ceil (RUN_TIME_FACTOR * seconds), 3600, MOST_RUN_SECONDS)
                                                                 : MOST_RUN_SECONDS);
  qm_launch_set_count (values, "run_hours", isfinite (seconds) ? CLAMP (ceil (RUN_TIME_FACTOR * seconds / 3600), 1, MOST_RUN_SECONDS / 3600)
                                                               : MOST_RUN_SECONDS / 3600);
}

static void
add_devices (JsonObject     *values,
             const QmChoice *choice,
             gboolean        used)
{
  const QmDevice *device = choice->estimate.device;
  int devices = MAX (1, choice->estimate.configuration.devices);
  int nodes = MAX (1, choice->machines);
  gboolean cpu = device->device_class == QM_DEVICE_CLASS_CPU;

  qm_launch_set_text (values, "device", device->name);
  qm_launch_set_text (values, "device_id", device->id);
  qm_launch_set_count (values, "devices", devices);
  qm_launch_set_count (values, "nodes", nodes);
  qm_launch_set_count (values, "per_node", MAX (1, devices / nodes));
  qm_launch_set_flag (values, "several_nodes", nodes > 1);
  qm_launch_set_flag (values, "several_devices", devices > 1);
  qm_launch_set_flag (values, "cpu", cpu);
  qm_launch_set_flag (values, "gpu", !cpu && device->device_class != QM_DEVICE_CLASS_TPU && device->device_class != QM_DEVICE_CLASS_NPU);
  qm_launch_set_flag (values, "nvidia", device->vendor == QM_VENDOR_NVIDIA);
  qm_launch_set_flag (values, "amd_gpu", device->vendor == QM_VENDOR_AMD && !cpu);
  qm_launch_set_flag (values, "tpu", device->device_class == QM_DEVICE_CLASS_TPU);
  qm_launch_set_flag (values, "tpu_used", device->device_class == QM_DEVICE_CLASS_TPU && used);
  qm_launch_set_flag (values, "npu", device->device_class == QM_DEVICE_CLASS_NPU);
}

static void
add_tpu (JsonObject     *values,
         JsonObject     *software,
         const QmChoice *choice)
{
  JsonArray *rows = software != NULL && json_object_has_member (software, "tpu_runtimes")
                      ? json_object_get_array_member (software, "tpu_runtimes") : NULL;

  qm_launch_set_text (values, "tpu_version", "");
  qm_launch_set_text (values, "tpu_type", "");
  for (guint i = 0; rows != NULL && i < json_array_get_length (rows); i++)
    {
      JsonObject *row = json_array_get_object_element (rows, i);
      JsonArray *devices = json_object_get_array_member (row, "devices");

      for (guint j = 0; j < json_array_get_length (devices); j++)
        if (g_str_has_prefix (choice->estimate.device->id, json_array_get_string_element (devices, j)))
          {
            g_autofree char *type = g_strdup_printf ("%s-%d", json_object_get_string_member (row, "type"),
                                                     MAX (1, choice->estimate.configuration.devices) *
                                                     (int) json_object_get_int_member_with_default (row, "cores_per_chip", 1));

            qm_launch_set_text (values, "tpu_version", json_object_get_string_member (row, "version"));
            qm_launch_set_text (values, "tpu_type", type);
          }
    }
}

/* The row of PyTorch's builds that has kernels for the device. */
static JsonObject *
find_build (JsonObject     *software,
            const QmDevice *device)
{
  JsonArray *rows = json_object_get_array_member (software, "pytorch");
  gboolean cpu = device->device_class == QM_DEVICE_CLASS_CPU;

  if (cpu || device->vendor != QM_VENDOR_NVIDIA)
    return json_object_get_object_member (software, device->vendor == QM_VENDOR_AMD && !cpu ? "pytorch_rocm" : "pytorch_cpu");

  for (guint i = 0; i < json_array_get_length (rows); i++)
    {
      JsonObject *row = json_array_get_object_element (rows, i);

      if (device->compute_capability >= json_object_get_double_member_with_default (row, "min_compute_capability", 0) &&
          device->compute_capability <= json_object_get_double_member_with_default (row, "max_compute_capability", 99))
        return row;
    }

  return json_object_get_object_member (software, "pytorch_cpu");
}

static void
add_machine_images (JsonObject     *values,
                    JsonObject     *software,
                    const QmDevice *device)
{
  gboolean cpu = device->device_class == QM_DEVICE_CLASS_CPU;
  JsonObject *aws = json_object_get_object_member (software, "aws_image");
  gboolean old = device->vendor == QM_VENDOR_NVIDIA &&
                 device->compute_capability < json_object_get_double_member_with_default (aws, "min_compute_capability", 0);

  qm_launch_set_text (values, "gcp_accelerator", qm_launch_inner_text (software, "gcp_accelerators", device->id));
  qm_launch_set_text (values, "gcp_image_family", qm_launch_inner_text (software, cpu ? "gcp_cpu_image" : "gcp_image", "family"));
  qm_launch_set_text (values, "gcp_image_project", qm_launch_inner_text (software, cpu ? "gcp_cpu_image" : "gcp_image", "project"));
  qm_launch_set_text (values, "aws_image_parameter", qm_launch_inner_text (software, cpu ? (device->vendor == QM_VENDOR_AWS ? "aws_arm_image" : "aws_cpu_image") : old ? "aws_old_image" : "aws_image", "parameter"));
  qm_launch_set_text (values, "azure_image", qm_launch_inner_text (software, cpu ? "azure_cpu_image" : device->vendor == QM_VENDOR_AMD ? "azure_rocm_image"
                                                                                                                                      : "azure_image", "urn"));
}

static void
add_software (JsonObject     *values,
              JsonObject     *software,
              const QmChoice *choice)
{
  const QmDevice *device = choice->estimate.device;
  JsonObject *build = find_build (software, device);
  JsonObject *tensorrt = json_object_get_object_member (software, "tensorrt_llm_image");

  qm_launch_set_text (values, "image", json_object_get_string_member (build, "image"));
  qm_launch_set_text (values, "torch", json_object_get_string_member (build, "version"));
  qm_launch_set_text (values, "torch_index", json_object_get_string_member (build, "index"));
  qm_launch_set_text (values, "cuda", json_object_get_string_member_with_default (build, "cuda", ""));
  qm_launch_set_text (values, "min_driver", json_object_get_string_member_with_default (build, "min_driver", ""));
  qm_launch_set_text (values, "tensorrt_llm_image", json_object_get_string_member (tensorrt, "image"));
  qm_launch_set_flag (values, "tensorrt_llm", device->vendor == QM_VENDOR_NVIDIA &&
                                              device->compute_capability >= json_object_get_double_member (tensorrt, "min_compute_capability"));
  add_machine_images (values, software, device);
}

/* ------------------------------------------------------------------- the job */

static double
learning_rate (const QmPlan     *plan,
               const QmTraining *training)
{
  gboolean sgd = training->optimizer == QM_OPTIMIZER_SGD || training->optimizer == QM_OPTIMIZER_SGD_MOMENTUM;

  if (training->method == QM_METHOD_LORA || training->method == QM_METHOD_QLORA)
    return RATE_ADAPTER;
  if (sgd)
    return RATE_SGD_OF_256 * (training->global_batch > 0 ? training->global_batch / 256 : 1);

  return plan->activity == QM_ACTIVITY_FINE_TUNE ? RATE_FINE_TUNE : RATE_TRAIN;
}

/* The starter script knows these; another is named beside AdamW. */
static void
add_optimizer (JsonObject  *values,
               QmOptimizer  optimizer)
{
  gboolean eight_bit = optimizer == QM_OPTIMIZER_ADAMW_8BIT || optimizer == QM_OPTIMIZER_PAGED_ADAMW_8BIT;
  gboolean sgd = optimizer == QM_OPTIMIZER_SGD || optimizer == QM_OPTIMIZER_SGD_MOMENTUM;
  gboolean adafactor = optimizer == QM_OPTIMIZER_ADAFACTOR;

  qm_launch_set_text (values, "optimizer", qm_enum_to_word (QM_TYPE_OPTIMIZER, optimizer));
  qm_launch_set_flag (values, "eight_bit", eight_bit);
  qm_launch_set_flag (values, "sgd", sgd);
  qm_launch_set_flag (values, "adafactor", adafactor);
  qm_launch_set_flag (values, "adamw", !eight_bit && !sgd && !adafactor);
}

/* In what the starter keeps the weights on the device: mixed precision learns in
 * 32 bit; what is frozen beside adapters, or has its copy in 32 bit @aside, with
 * the optimizer in system memory, needs no more than it is used in. Gradients in
 * float16 cannot be scaled, so that what learns is never kept in it. */
static const char *
weights_type (const QmTraining *training,
              gboolean          aside)
{
  gboolean adapter = training->method == QM_METHOD_LORA || training->method == QM_METHOD_QLORA;

  switch (training->precision)
    {
    case QM_PRECISION_BF16:
      return "bfloat16";
    case QM_PRECISION_AMP_BF16:
    case QM_PRECISION_FP8:
      return adapter || aside ? "bfloat16" : "float32";
    case QM_PRECISION_AMP_FP16:
    case QM_PRECISION_FP16:
      return adapter ? "float16" : "float32";
    default:
      return "float32";
    }
}

static void
add_training (JsonObject     *values,
              QmEstimator    *estimator,
              const QmPlan   *plan,
              const QmChoice *choice)
{
  const QmTraining *training = &choice->estimate.training;
  const QmConfiguration *c = &choice->estimate.configuration;
  QmPrecision precision = training->precision;
  gboolean bf16 = precision == QM_PRECISION_AMP_BF16 || precision == QM_PRECISION_BF16 || precision == QM_PRECISION_FP8;
  gboolean fp16 = precision == QM_PRECISION_AMP_FP16 || precision == QM_PRECISION_FP16;
  int zero = c->sharding == QM_SHARDING_ZERO1 ? 1 : c->sharding == QM_SHARDING_ZERO2 ? 2
             : c->sharding == QM_SHARDING_ZERO3 || c->sharding == QM_SHARDING_HYBRID ? 3 : 0;
  double micro = MAX (1, c->micro_batch), accumulation = MAX (1, c->gradient_accumulation);

  /* DeepSpeed takes weights off the device at its third stage alone. */
  if (c->offload > QM_OFFLOAD_OPTIMIZER_CPU)
    zero = 3;
  else if (zero == 0 && c->offload == QM_OFFLOAD_OPTIMIZER_CPU)
    zero = 2;
  qm_launch_set_text (values, "weights_type", weights_type (training, c->offload == QM_OFFLOAD_OPTIMIZER_CPU));
  qm_launch_set_flag (values, "scratch", plan->activity == QM_ACTIVITY_TRAIN && training->method == QM_METHOD_FULL);
  qm_launch_set_text (values, "method", qm_enum_to_word (QM_TYPE_METHOD, training->method));
  qm_launch_set_flag (values, "lora", training->method == QM_METHOD_LORA || training->method == QM_METHOD_QLORA);
  qm_launch_set_flag (values, "qlora", training->method == QM_METHOD_QLORA);
  qm_launch_set_flag (values, "adapters", plan->task != QM_TASK_LANGUAGE_MODEL &&
                                          (training->method == QM_METHOD_LORA || training->method == QM_METHOD_QLORA));
  qm_launch_set_count (values, "lora_rank", training->lora_rank > 0 ? training->lora_rank : 16);
  qm_launch_set_flag (values, "bf16", bf16);
  qm_launch_set_flag (values, "fp16", fp16);
  qm_launch_set_flag (values, "mixed", bf16 || fp16);
  qm_launch_set_flag (values, "tf32", precision == QM_PRECISION_TF32);
  qm_launch_set_text (values, "precision", bf16 ? "bf16" : fp16 ? "fp16" : "no");
  add_optimizer (values, training->optimizer);
  qm_launch_set_count (values, "micro_batch", micro);
  qm_launch_set_count (values, "accumulation", accumulation);
  qm_launch_set_count (values, "global_batch", micro * accumulation * MAX (1, c->data_parallel));
  json_object_set_double_member (values, "epochs", training->epochs > 0 ? training->epochs : 1);
  qm_launch_set_count (values, "sequence_length", training->sequence_length > 0 ? training->sequence_length : 512);
  qm_launch_set_count (values, "image_size", training->image_size > 0 ? training->image_size : 224);
  qm_launch_set_flag (values, "checkpointing", training->activation_checkpointing == QM_CHECKPOINTING_FULL ||
                                               training->activation_checkpointing == QM_CHECKPOINTING_SELECTIVE);
  qm_launch_set_count (values, "zero", zero);
  qm_launch_set_flag (values, "zero_3", zero == 3);
  qm_launch_set_flag (values, "sharded", zero > 0);
  qm_launch_set_flag (values, "offload_optimizer", c->offload > QM_OFFLOAD_NONE);
  qm_launch_set_flag (values, "offload_parameters", c->offload > QM_OFFLOAD_OPTIMIZER_CPU);
  qm_launch_set_flag (values, "offload_states", c->offload == QM_OFFLOAD_OPTIMIZER_CPU);
  qm_launch_set_count (values, "workers", qm_input_loaders (qm_estimator_get_input_constants (estimator), plan, c));
  json_object_set_double_member (values, "learning_rate", learning_rate (plan, training));
  qm_launch_set_count (values, "checkpoint_minutes", choice->estimate.time.checkpoint_every_seconds > 0
                         ? MAX (1, choice->estimate.time.checkpoint_every_seconds / 60) : 30);
}

/* A machine with more devices than one copy takes runs several: vLLM by itself,
 * llama.cpp as programs of their own. */
static void
add_copies (JsonObject            *values,
            const QmConfiguration *c,
            int                    nodes)
{
  int one = MAX (1, c->tensor_parallel) * MAX (1, c->pipeline_parallel);
  int copies = MAX (1, MAX (1, c->devices) / nodes / one);

  qm_launch_set_count (values, "copies", copies);
  qm_launch_set_flag (values, "several_copies", copies > 1);
  qm_launch_set_flag (values, "copies_apart", copies > 1 && nodes == 1 && json_object_get_boolean_member (values, "gpu"));
}

/* Twice the mean, as far as the model and the memory that was counted for all
 * conversations go. */
static double
most_context (const QmServing *serving,
              double           most_positions)
{
  double mean = serving->input_tokens + serving->output_tokens;
  double most = fmin (fmax (LEAST_CONTEXT, 2 * mean), fmax (1, serving->concurrency) * mean);

  return fmax (mean, most_positions > 0 ? fmin (most, most_positions) : most);
}

static void
add_serving (JsonObject     *values,
             const QmChoice *choice,
             double          most_positions)
{
  int nodes = MAX (1, choice->machines);

  const QmServing *serving = &choice->estimate.serving_plan;
  const QmConfiguration *c = &choice->estimate.configuration;
  const char *weights = serving->weights;
  /* A pinned plan says what all copies answer together. */
  double copies = choice->estimate.sized_by_load ? 1 : MAX (1, c->data_parallel);
  double one = fmax (1, ceil (serving->concurrency / copies));

  qm_launch_set_text (values, "engine", serving->engine);
  qm_launch_set_text (values, "weights", weights);
  qm_launch_set_text (values, "gguf_type", g_str_has_prefix (weights, "gguf-") ? weights + strlen ("gguf-") : strstr (weights, "16") != NULL ? "bf16"
                        : strstr (weights, "8") != NULL ? "q8_0" : "q4_k_m");
  qm_launch_set_flag (values, "kv_fp8", g_str_equal (serving->kv_cache, "fp8"));
  qm_launch_set_flag (values, "kv_q8", g_str_equal (serving->kv_cache, "q8_0"));
  qm_launch_set_flag (values, "prompt_lookup", serving->speculation == QM_SPECULATION_PROMPT_LOOKUP);
  qm_launch_set_count (values, "context", serving->input_tokens + serving->output_tokens);
  qm_launch_set_count (values, "concurrency", one);
  qm_launch_set_count (values, "total_context", one * (serving->input_tokens + serving->output_tokens));
  qm_launch_set_count (values, "tensor_parallel", MAX (1, c->tensor_parallel));
  qm_launch_set_count (values, "gpu_layers", c->gpu_layers >= 0 ? c->gpu_layers : 999);
  qm_launch_set_flag (values, "experts_outside", c->cpu_expert_layers > 0);
  qm_launch_set_count (values, "cpu_expert_layers", c->cpu_expert_layers);
  qm_launch_set_flag (values, "several_stages", c->pipeline_parallel > 1);
  qm_launch_set_count (values, "pipeline_parallel", MAX (1, c->pipeline_parallel));
  qm_launch_set_count (values, "replicas", MAX (1, choice->estimate.serving.replicas));
  qm_launch_set_count (values, "per_replica", MAX (1, MAX (1, c->devices) / MAX (1, choice->estimate.serving.replicas)));
  qm_launch_set_count (values, "most_replicas", 4 * MAX (1, choice->estimate.serving.replicas));
  qm_launch_set_count (values, "port", QM_LAUNCH_PORT);
  add_copies (values, c, nodes);
  qm_launch_set_count (values, "most_context", most_context (serving, most_positions));
}

static void
add_model (JsonObject       *values,
           QmEstimator      *estimator,
           const QmResolved *resolved)
{
  const QmModel *model = resolved->model;
  JsonObject *list = table (estimator, "repositories");
  JsonObject *names = list != NULL ? json_object_get_object_member (list, "repositories") : NULL;
  const char *repository = names != NULL ? json_object_get_string_member_with_default (names, model->id, "") : "";
  gboolean fetched = qm_plan_is_training (resolved->plan) || json_object_get_boolean_member (values, "serves_vllm");
  gboolean gated = fetched && model->facts != NULL && json_object_get_boolean_member_with_default (model->facts, "gated", FALSE);

  qm_launch_set_text (values, "model_id", model->id);
  qm_launch_set_text (values, "model_name", model->name[0] != '\0' ? model->name : model->id);
  qm_launch_set_text (values, "model", repository[0] != '\0' ? repository : model->id[0] != '\0' ? model->id : "PATH/TO/YOUR/MODEL");
  qm_launch_set_flag (values, "model_published", repository[0] != '\0');
  qm_launch_set_flag (values, "gated", gated);
  qm_launch_set_text (values, "license", model->license);
}

/* Weights come in 16 bit however they are run; training writes two checkpoints
 * of 16 bytes a parameter and a result of 4, of which adapters are a small part;
 * the data are copied to the machine. */
static void
add_disk (JsonObject       *values,
          const QmResolved *resolved)
{
  const QmTraining *training = &resolved->plan->training;
  double parameters = resolved->model->parameters > 0 ? resolved->model->parameters : 0;
  gboolean adapter = training->method == QM_METHOD_LORA || training->method == QM_METHOD_QLORA;
  double bytes = 1.3 * 2 * parameters;

  if (qm_plan_is_training (resolved->plan) && !adapter)
    bytes += (2 * 16 + 4) * parameters;
  if (qm_plan_is_training (resolved->plan) && training->samples > 0 && resolved->plan->data.bytes_per_sample > 0)
    bytes += training->samples * resolved->plan->data.bytes_per_sample;
  qm_launch_set_count (values, "disk_gb", MAX (LEAST_DISK_GB, ceil (SYSTEM_GB + bytes / 1e9)));
}

/**
 * qm_launch_values:
 * @estimator: an estimator
 * @resolved: a plan
 * @choice: one of its choices
 * @date: of the day, ISO 8601
 *
 * Returns: (transfer full): what templates can use: strings, whole numbers and
 *   truths by name
 */
JsonObject *
qm_launch_values (QmEstimator      *estimator,
                  const QmResolved *resolved,
                  const QmChoice   *choice,
                  const char       *date)
{
  const QmPlan *plan = resolved->plan;
  JsonObject *values = json_object_new ();
  JsonObject *software = table (estimator, "software");
  gboolean title = plan->title[0] != '\0';

  qm_launch_set_text (values, "title", title ? plan->title : "Untitled plan");
  qm_launch_set_text (values, "date", date);
  qm_launch_set_text (values, "label", choice->label);
  qm_launch_set_text (values, "task", qm_enum_to_word (QM_TYPE_TASK, plan->task));
  qm_launch_set_text (values, "activity", qm_enum_to_word (QM_TYPE_ACTIVITY, plan->activity));
  qm_launch_set_flag (values, "training", qm_plan_is_training (plan));
  qm_launch_set_flag (values, "serving", plan->activity == QM_ACTIVITY_SERVE);
  qm_launch_set_flag (values, "batch", plan->activity == QM_ACTIVITY_BATCH_INFERENCE);
  qm_launch_set_flag (values, "language", plan->task == QM_TASK_LANGUAGE_MODEL);
  qm_launch_set_flag (values, "images", plan->task == QM_TASK_IMAGE_CLASSIFICATION);
  qm_launch_set_flag (values, "text", plan->task == QM_TASK_TEXT_ENCODER);
  qm_launch_set_flag (values, "fine_tune", plan->activity == QM_ACTIVITY_FINE_TUNE);
  add_place (values, plan, choice, qm_economics_per_usd (qm_estimator_get_economics (estimator), qm_plan_get_currency (plan)));
  add_devices (values, choice, !qm_plan_is_training (plan));
  add_tpu (values, software, choice);
  add_software (values, software, choice);
  qm_launch_add_engines (values, software, resolved, choice);
  qm_launch_add_trees (values, software, resolved, choice);
  add_training (values, estimator, plan, choice);
  add_serving (values, choice, resolved->model->architecture.max_positions);
  add_model (values, estimator, resolved);
  add_disk (values, resolved);
  qm_launch_add_job (values, software, resolved, choice);
  qm_launch_add_clouds (values, qm_estimator_get_catalog (estimator), plan, choice);

  return values;
}
