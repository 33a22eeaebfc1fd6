/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "qm-launch-private.h"
#include "qm-template.h"

/* What a job is called, and what it asks of the machine it runs on. */

#define GIB 1073741824.0

/* Digits of a job's name by which it is told from every other. */
#define DIGEST_LENGTH 6

/* The rule of the article on elastic services: seven tenths of what a copy can
 * do, so that a new one is there before all are full. */
#define BUSY_SHARE 0.7

/* Where the estimate does not say how long a copy takes to start; and how often
 * Kubernetes looks. */
#define LEAST_START_SECONDS 600.0
#define PROBE_SECONDS 10.0

/* A copy that takes long to start is not given up at the first quiet minute; the
 * longest that a HorizontalPodAutoscaler waits. */
#define MOST_SETTLE_SECONDS 3600.0

/* ---------------------------------------------------------------------- name */

/* What is learnt or served, of what: limits, places and hardware may change, and
 * the job is still the same. */
static char *
digest_of (const QmPlan *plan)
{
  static const char * const parts[] = { "title", "task", "activity", "model", "training", "data", "serving" };
  gsize length;
  g_autofree char *data = qm_plan_to_data (plan, &length);
  g_autoptr (JsonNode) whole = json_from_string (data, NULL);
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *kept = json_object_new ();
  g_autofree char *text = NULL;
  g_autofree char *digest = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (json_object_has_member (json_node_get_object (whole), parts[i]))
      json_object_set_member (kept, parts[i], json_node_copy (json_object_get_member (json_node_get_object (whole), parts[i])));
  json_node_take_object (node, kept);
  text = json_to_string (node, FALSE);
  digest = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);

  return g_strndup (digest, DIGEST_LENGTH);
}

/* Names are of Latin letters; a title of others stands behind the model. */
static void
add_name (JsonObject       *values,
          const QmResolved *resolved)
{
  const char *title = resolved->plan->title;
  const char *model = resolved->model->id;
  g_autofree char *plain = g_str_to_ascii (title, "C");
  g_autofree char *both = g_strdup_printf ("%s %s", model, title);
  g_autofree char *digest = digest_of (resolved->given);
  g_autofree char *name = NULL;
  g_autofree char *written = NULL;
  gboolean latin = FALSE;

  for (const char *c = plain; *c != '\0'; c++)
    latin = latin || g_ascii_isalpha (*c);
  name = g_strdup_printf ("%s %s", title[0] == '\0' ? model : latin ? title : both, digest);

  qm_launch_set_text (values, "job", name);
  written = qm_template_fill_text (NULL, "job", "{{job|name}}", values, NULL);
  qm_launch_set_text (values, "job_name", written);
}

/* --------------------------------------------------------------------- needs */

static double
figure (JsonObject *needs,
        const char *name)
{
  return json_object_get_double_member (needs, name);
}

/* Nine machines of ten need no more. */
static double
host_bytes (const QmEstimate *estimate)
{
  const QmMemory *memory = &estimate->memory;

  if (qm_range_is_known (memory->host))
    return memory->host.p90;
  if (estimate->device->device_class == QM_DEVICE_CLASS_CPU && qm_range_is_known (memory->need))
    return memory->need.p90;

  return memory->host_bytes > 0 ? memory->host_bytes : 0;
}

/* What one process of the starter holds before it is on a device: the weights
 * when it begins, or the checkpoint that it goes on from. Weights that are
 * quantised while they are read pass through file by file. */
static double
loading_bytes (const QmEstimate *estimate,
               JsonObject       *values,
               JsonObject       *needs,
               double            parameters)
{
  const QmTraining *training = &estimate->training;
  gboolean sgd = training->optimizer == QM_OPTIMIZER_SGD || training->optimizer == QM_OPTIMIZER_SGD_MOMENTUM;
  double bytes = strcmp (json_object_get_string_member (values, "weights_type"), "float32") == 0 ? 4 : 2;
  double trained = estimate->trainable_parameters > 0 ? estimate->trainable_parameters : parameters;
  double weights = training->method == QM_METHOD_QLORA ? figure (needs, "weight_file_bytes") : bytes * parameters;

  return fmax (weights, (sgd ? 2 : 3) * bytes * trained);
}

/* Where weights lie in parts, one process reads them for all. */
static double
training_bytes (const QmResolved *resolved,
                const QmEstimate *estimate,
                JsonObject       *values,
                JsonObject       *needs,
                double            processes)
{
  gboolean apart = json_object_get_boolean_member (values, "sharded") && estimate->training.method != QM_METHOD_QLORA;
  double loading = loading_bytes (estimate, values, needs, fmax (0, resolved->model->parameters));
  double workers = json_object_get_int_member (values, "workers");

  return (apart ? 1 : processes) * loading + processes * (figure (needs, "process_bytes") + workers * figure (needs, "loader_bytes"));
}

static double
serving_bytes (const QmResolved *resolved,
               JsonObject       *values,
               JsonObject       *needs,
               double            processes)
{
  double weights = json_object_get_boolean_member (values, "serves_onnx") ? 4 * fmax (0, resolved->model->parameters) : 0;

  return processes * figure (needs, "engine_bytes") + weights;
}

/* Batches of pictures wait in shared memory, two of each loader (PyTorch's
 * DataLoader, prefetch_factor). */
static double
waiting_bytes (JsonObject *values)
{
  double side = json_object_get_int_member (values, "image_size");
  double batch = json_object_get_int_member (values, "micro_batch") * sizeof (float) * 3 * side * side;

  if (!json_object_get_boolean_member (values, "training") || !json_object_get_boolean_member (values, "images"))
    return 0;

  return 2 * batch * json_object_get_int_member (values, "workers");
}

/* A machine keeps a part of its memory and one of its processors for itself. */
static void
add_bounded (JsonObject     *values,
             const char     *prefix,
             JsonObject     *needs,
             const QmOffer  *offer,
             double          share,
             double          memory,
             double          cpus)
{
  g_autofree char *memory_name = g_strconcat (prefix, "memory_gib", NULL);
  g_autofree char *cpus_name = g_strconcat (prefix, "cpus", NULL);

  memory = ceil (memory / GIB);
  if (offer != NULL && offer->ram_bytes > 0)
    memory = fmin (memory, floor (share * figure (needs, "allocatable") * offer->ram_bytes / GIB));
  if (offer != NULL && offer->vcpus > 1)
    cpus = fmin (cpus, floor (share * (offer->vcpus - 1)));
  qm_launch_set_count (values, memory_name, fmax (1, memory));
  qm_launch_set_count (values, cpus_name, fmax (1, cpus));
}

/* One processor for each process and each of its loaders; vLLM wants a core for
 * each device and two more, of two threads each; on processors everything. */
static double
cpus_wanted (const QmEstimate *estimate,
             JsonObject       *values,
             double            processes)
{
  if (estimate->device->device_class == QM_DEVICE_CLASS_CPU)
    return processes * MAX (1, estimate->device->cpu_cores);
  if (json_object_get_boolean_member (values, "training"))
    return processes * (1 + json_object_get_int_member (values, "workers"));

  return 2 * (processes + 2);
}

/* What a cluster has set aside for all machines of the job. */
static void
add_quota (JsonObject *values)
{
  static const char * const names[] = { "cpus", "memory_gib", "ephemeral_gib" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *all = g_strconcat ("all_", names[i], NULL);

      qm_launch_set_count (values, all, (double) json_object_get_int_member (values, "nodes") * json_object_get_int_member (values, names[i]));
    }
}

/* By what autoscalers tell how busy a copy is, and how long it may take to be
 * there. */
static void
add_scaling (JsonObject     *values,
             JsonObject     *software,
             const QmChoice *choice)
{
  JsonObject *metrics = json_object_get_object_member (software, "engine_metrics");
  const char *engine = json_object_get_boolean_member (values, "serves_vllm") ? "vllm"
                       : json_object_get_boolean_member (values, "serves_llama_cpp") ? "llama_cpp" : "onnx";
  QmRange start = choice->estimate.serving.cold_start.seconds;
  double seconds = qm_range_is_known (start) ? fmax (LEAST_START_SECONDS, start.p90) : LEAST_START_SECONDS;
  double most = (double) json_object_get_int_member (values, "most_replicas") / json_object_get_int_member (values, "replicas");
  char hour[G_ASCII_DTOSTR_BUF_SIZE];

  qm_launch_set_text (values, "metric_running", qm_launch_inner_text (metrics, engine, "running"));
  qm_launch_set_text (values, "metric_waiting", qm_launch_inner_text (metrics, engine, "waiting"));
  qm_launch_set_count (values, "busy_requests", fmax (1, floor (BUSY_SHARE * json_object_get_int_member (values, "concurrency"))));
  qm_launch_set_text (values, "most_cost_per_hour",
                      g_ascii_formatd (hour, sizeof hour, "%.2f", isfinite (choice->estimate.cost.per_hour) ? most * choice->estimate.cost.per_hour : 0));
  qm_launch_set_count (values, "start_seconds", ceil (seconds));
  qm_launch_set_count (values, "settle_seconds", fmin (MOST_SETTLE_SECONDS, ceil (seconds)));
  qm_launch_set_count (values, "start_tries", ceil (seconds / PROBE_SECONDS));
}

/**
 * qm_launch_add_job:
 * @values: what templates can use, but for what is added here
 * @software: the table of that name
 * @resolved: a plan
 * @choice: one of its choices
 *
 * Adds "job", the same name for the same plan and another for every other, as
 * clouds write it in "job_name", and what one machine, and what one copy of a service, asks of a cluster:
 * "memory_gib", "cpus", "shared_memory_gib", "ephemeral_gib", and "replica_"
 * before the first three; and by what services grow. Memory is the p90 of what the estimate counts outside
 * of devices, and what processes, loaders and loading take.
 */
void
qm_launch_add_job (JsonObject       *values,
                   JsonObject       *software,
                   const QmResolved *resolved,
                   const QmChoice   *choice)
{
  const QmEstimate *estimate = &choice->estimate;
  JsonObject *needs = json_object_get_object_member (software, "host_needs");
  gboolean training = qm_plan_is_training (resolved->plan);
  double machine = json_object_get_int_member (values, "per_node"), replica = json_object_get_int_member (values, "per_replica");
  double share = fmin (1, replica / machine);
  double shared = figure (needs, "shared_memory_bytes") + waiting_bytes (values);

  add_name (values, resolved);
  add_scaling (values, software, choice);
  for (int i = 0; i < 2; i++)
    {
      double processes = i == 0 ? machine : replica, part = i == 0 ? 1 : share;
      double bytes = training ? training_bytes (resolved, estimate, values, needs, processes)
                              : serving_bytes (resolved, values, needs, processes);

      add_bounded (values, i == 0 ? "" : "replica_", needs, choice->offer, part,
                   part * host_bytes (estimate) + bytes + shared * processes, cpus_wanted (estimate, values, processes));
    }
  qm_launch_set_count (values, "shared_memory_gib", ceil (shared * machine / GIB));
  qm_launch_set_count (values, "replica_shared_memory_gib", ceil (shared * replica / GIB));
  qm_launch_set_count (values, "ephemeral_gib", ceil (figure (needs, "ephemeral_bytes") / GIB));
  qm_launch_set_count (values, "cache_gib", ceil ((figure (needs, "cache_share") * 2 * fmax (0, resolved->model->parameters) +
                                                                 figure (needs, "ephemeral_bytes")) / GIB));
  add_quota (values);
}
