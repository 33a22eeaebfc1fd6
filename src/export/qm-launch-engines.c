/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "qm-launch-private.h"

/* What serves a trained model, in which image, and how it is given its devices. */

static gboolean
is_processor (const QmDevice *device)
{
  return device->device_class == QM_DEVICE_CLASS_CPU;
}

/* NULL where it is no GPU that containers can be given. */
static const char *
kind_of_gpu (const QmDevice *device)
{
  if (is_processor (device) || device->device_class == QM_DEVICE_CLASS_TPU || device->device_class == QM_DEVICE_CLASS_NPU)
    return NULL;

  switch (device->vendor)
    {
    case QM_VENDOR_NVIDIA:
      return device->whole != NULL ? "slice" : "nvidia";
    case QM_VENDOR_AMD:
      return "amd";
    case QM_VENDOR_INTEL:
      return "intel";
    default:
      return NULL;
    }
}

/* "1g.10gb": the name of a slice after that of the card, or nothing. */
static const char *
slice_of (const QmDevice *device)
{
  gsize length = device->whole != NULL ? strlen (device->whole->id) : 0;

  return length > 0 && g_str_has_prefix (device->id, device->whole->id) && device->id[length] == '-' ? device->id + length + 1 : "";
}

static void
add_containers (JsonObject     *values,
                JsonObject     *software,
                const QmDevice *device)
{
  const char *kind = kind_of_gpu (device);
  gboolean xe2 = g_strcmp0 (kind, "intel") == 0 && g_str_has_prefix (device->arch, "Xe2");
  JsonObject *rows = json_object_get_object_member (software, "kubernetes");
  JsonObject *row = kind != NULL ? json_object_get_object_member (rows, xe2 ? "intel_xe2" : kind) : NULL;
  const char *vendor = kind == NULL ? "cpu" : strcmp (kind, "slice") == 0 ? "nvidia" : kind;
  g_autofree char *resource = g_strconcat (row != NULL ? json_object_get_string_member (row, "resource") : "", slice_of (device), NULL);

  qm_launch_set_text (values, "slice", slice_of (device));
  qm_launch_set_flag (values, "intel_gpu", g_strcmp0 (kind, "intel") == 0);
  qm_launch_set_text (values, "docker_devices", qm_launch_inner_text (software, "docker_devices", kind));
  qm_launch_set_text (values, "kubernetes_resource", resource);
  qm_launch_set_text (values, "vllm_image", qm_launch_inner_text (software, "vllm_images", strcmp (vendor, "amd") == 0 ? "amd" : "nvidia"));
  qm_launch_set_text (values, "llama_cpp_image", qm_launch_inner_text (software, "llama_cpp_images", vendor));
}

/* What "docker run" is told for the image of the job: ports or folders, and devices. */
static void
add_docker_options (JsonObject *values,
                    gboolean    used)
{
  const char *devices = json_object_get_string_member (values, "docker_devices");
  GString *options = g_string_new ("-e HF_TOKEN");

  if (json_object_get_boolean_member (values, "serves_own_weights"))
    g_string_append (options, " -e MODEL=REPOSITORY");
  if (devices[0] != '\0')
    g_string_append_printf (options, " %s --ipc host", devices);
  if (used)
    g_string_append_printf (options, " -p %d:%d", QM_LAUNCH_PORT, QM_LAUNCH_PORT);
  else
    g_string_append (options, " -v \"$PWD/data:/job/data\" -v \"$PWD/checkpoints:/job/checkpoints\"");
  qm_launch_set_text (values, "docker_options", options->str);
  g_string_free (options, TRUE);
}

static void
add_onnxruntime (JsonObject     *values,
                 JsonObject     *software,
                 const QmChoice *choice)
{
  const QmDevice *device = choice->estimate.device;
  const char *kind = kind_of_gpu (device);
  gboolean openvino = strcmp (choice->estimate.serving_plan.engine, "openvino") == 0;
  const char *vendor = openvino ? "intel" : kind == NULL ? "cpu" : strcmp (kind, "slice") == 0 ? "nvidia" : kind;
  JsonArray *rows = json_object_get_array_member (software, "onnxruntime");

  qm_launch_set_text (values, "onnx_package", "onnxruntime");
  qm_launch_set_text (values, "onnx_provider", "");
  for (guint i = 0; i < json_array_get_length (rows); i++)
    {
      JsonObject *row = json_array_get_object_element (rows, i);

      if (strcmp (json_object_get_string_member (row, "vendor"), vendor) != 0)
        continue;
      qm_launch_set_text (values, "onnx_package", json_object_get_string_member (row, "package"));
      qm_launch_set_text (values, "onnx_provider", json_object_get_string_member (row, "provider"));
    }
}

/* What the published weights themselves are in, where it is not 16 bit. */
static const char *
published_in (const QmModel *model)
{
  JsonObject *config = model->facts != NULL && json_object_has_member (model->facts, "config")
                         ? json_object_get_object_member (model->facts, "config") : NULL;
  JsonObject *quantization = config != NULL && json_object_has_member (config, "quantization_config")
                               ? json_object_get_object_member (config, "quantization_config") : NULL;

  return quantization != NULL ? json_object_get_string_member_with_default (quantization, "quant_method", "") : "";
}

static JsonObject *
find_weights (JsonObject *software,
              const char *weights)
{
  JsonArray *rows = json_object_get_array_member (software, "vllm_weights");

  for (guint i = 0; i < json_array_get_length (rows); i++)
    if (g_str_has_prefix (weights, json_object_get_string_member (json_array_get_object_element (rows, i), "prefix")))
      return json_array_get_object_element (rows, i);

  return NULL;
}

/* How vLLM comes to the weights that the plan counts on: as they are published,
 * made of them while it loads, or from a repository that has them so. */
static void
add_weights (JsonObject      *values,
             JsonObject      *software,
             const QmModel   *model,
             const QmServing *serving)
{
  const char *weights = serving->weights;
  const char *published = published_in (model);
  gboolean as_published = published[0] != '\0' && g_str_has_prefix (weights, published);
  JsonObject *row = as_published ? NULL : find_weights (software, weights);
  g_autofree char *upper = g_ascii_strup (weights, -1);
  gboolean gguf = g_str_has_prefix (weights, "gguf");
  gboolean unknown = row == NULL && weights[0] != '\0' && !as_published && !gguf;
  const char *named = row != NULL ? json_object_get_string_member_with_default (row, "repository", "") : unknown ? upper : "";

  qm_launch_set_text (values, "quantization", row != NULL ? json_object_get_string_member_with_default (row, "quantization", "") : "");
  qm_launch_set_text (values, "vllm_package", row != NULL ? json_object_get_string_member_with_default (row, "package", "") : "");
  qm_launch_set_text (values, "weights_name", named);
  qm_launch_set_flag (values, "own_weights", named[0] != '\0');
  qm_launch_set_flag (values, "gguf", gguf);
  qm_launch_set_flag (values, "tensorrt_llm_own_weights", named[0] != '\0' || g_str_has_prefix (weights, "fp8"));
  qm_launch_set_flag (values, "tensorrt_llm_weights", !gguf && strcmp (json_object_get_string_member (values, "quantization"), "bitsandbytes") != 0);
}

/**
 * qm_launch_add_engines:
 * @values: what templates can use
 * @software: the table of that name
 * @resolved: a plan
 * @choice: one of its choices
 *
 * Adds what serves a trained model, for each kind of network, device and engine
 * of the choice one: vLLM, llama.cpp or ONNX Runtime; and how containers are
 * given the device.
 */
void
qm_launch_add_engines (JsonObject       *values,
                       JsonObject       *software,
                       const QmResolved *resolved,
                       const QmChoice   *choice)
{
  const QmPlan *plan = resolved->plan;
  const QmServing *serving = &choice->estimate.serving_plan;
  gboolean used = !qm_plan_is_training (plan), language = plan->task == QM_TASK_LANGUAGE_MODEL;
  gboolean llama = is_processor (choice->estimate.device) || strcmp (serving->engine, "llama.cpp") == 0 || g_str_has_prefix (serving->weights, "gguf");

  qm_launch_set_flag (values, "serves_vllm", used && language && !llama);
  qm_launch_set_flag (values, "serves_llama_cpp", used && language && llama);
  qm_launch_set_flag (values, "serves_onnx", used && !language);
  add_containers (values, software, choice->estimate.device);
  add_onnxruntime (values, software, choice);
  add_weights (values, software, resolved->model, serving);
  qm_launch_set_flag (values, "serves_own_weights", json_object_get_boolean_member (values, "serves_vllm") &&
                                                    json_object_get_boolean_member (values, "own_weights"));
  add_docker_options (values, used);
}
