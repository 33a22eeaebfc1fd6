/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-input.h"

#include <glib/gi18n.h>
#include <math.h>

#include "estimate/qm-constants-reading.h"
#include "hardware/qm-catalog.h"
#include "qm-enum-types.h"
#include "qm-enum.h"
#include "qm-error.h"

typedef struct {
  const char *key;
  gsize offset;
} Figure;

#define FIGURE(name) { #name, G_STRUCT_OFFSET (QmInputConstants, name) }

static const Figure figures[] = {
  FIGURE (core_bytes_per_second),
  FIGURE (least_bytes),
  FIGURE (most_workers),
  FIGURE (object_stream_bytes_per_second),
  FIGURE (network_share),
};

static gboolean
refuse (GError    **error,
        const char *table,
        const char *key)
{
  g_autofree char *path = g_strdup_printf ("%s.%s", table, key);

  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING, path, N_("a number is expected"), NULL);
  if (error != NULL)
    qm_error_locate (*error, "input.json", 0);

  return FALSE;
}

static double
read_number (JsonNode   *root,
             const char *table,
             const char *key,
             const char *member)
{
  JsonNode *node = root != NULL && JSON_NODE_HOLDS_OBJECT (root)
                     ? qm_constants_node (json_node_get_object (root), table, JSON_NODE_OBJECT) : NULL;

  node = node != NULL ? qm_constants_node (json_node_get_object (node), key, JSON_NODE_OBJECT) : NULL;

  return node != NULL ? qm_constants_number (json_node_get_object (node), member, NAN) : NAN;
}

/**
 * qm_input_constants_read:
 * @self: (out caller-allocates): the constants
 * @node: (nullable): the content of `input.json`
 * @error: return location for an error of %QM_CATALOG_ERROR
 *
 * Returns: whether all are there and 0 or more
 */
gboolean
qm_input_constants_read (QmInputConstants *self,
                         JsonNode         *node,
                         GError          **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      double value = read_number (node, "figures", figures[i].key, "value");

      if (!(value >= 0 && isfinite (value)))
        return refuse (error, "figures", figures[i].key);
      G_STRUCT_MEMBER (double, self, figures[i].offset) = value;
    }

  for (int i = QM_STORAGE_UNSET + 1; i <= QM_STORAGE_MEMORY; i++)
    {
      const char *word = qm_enum_to_word (QM_TYPE_STORAGE, i);

      self->storage_bytes_per_second[i] = read_number (node, "storage", word, "bytes_per_second");
      if (!(self->storage_bytes_per_second[i] >= 0 && isfinite (self->storage_bytes_per_second[i])))
        return refuse (error, "storage", word);
    }

  return TRUE;
}

static void
bound (double        rate,
       QmInputLimit  which,
       double       *least,
       QmInputLimit *limit)
{
  if (!(rate < *least))
    return;

  *least = rate;
  *limit = which;
}

/* For one device, where what loads needs no more: texts are tokens when a job
 * begins. */
#define USUAL_LOADERS 4

/* Texts are read as tokens, tables as numbers. */
static gboolean
is_decoded (QmTask task)
{
  return task == QM_TASK_IMAGE_CLASSIFICATION || task == QM_TASK_OBJECT_DETECTION || task == QM_TASK_IMAGE_GENERATION ||
         task == QM_TASK_SPEECH;
}

/* Loader processes of one machine; 0 where neither they nor its cores are known. */
static double
workers_of (const QmInputConstants *self,
            const QmPlan           *plan,
            const QmConfiguration  *configuration)
{
  int per_machine = MAX (1, MAX (1, configuration->devices) / MAX (1, configuration->nodes));

  if (plan->data.loader_workers >= 0)
    return MAX (1, plan->data.loader_workers);

  return MIN (configuration->host_cores, self->most_workers * per_machine);
}

/**
 * qm_input_loaders:
 * @self: constants
 * @plan: a plan that trains
 * @configuration: what it runs on
 *
 * A plan states the loaders of a machine, and the rate counts with those; a
 * framework is told how many each of its processes has.
 *
 * Returns: the loader processes of one device that qm_input_rate() counts on; a
 *   usual number where it counts on none
 */
int
qm_input_loaders (const QmInputConstants *self,
                  const QmPlan           *plan,
                  const QmConfiguration  *configuration)
{
  int per_machine = MAX (1, MAX (1, configuration->devices) / MAX (1, configuration->nodes));
  double workers = workers_of (self, plan, configuration);
  gboolean bound_by_them = is_decoded (plan->task) || plan->data.storage == QM_STORAGE_OBJECT_STORE;

  if (plan->data.loader_workers == 0)
    return 0;
  if (plan->data.loader_workers < 0 && (!bound_by_them || !(workers > 0)))
    return USUAL_LOADERS;

  return (int) ceil (workers / per_machine);
}

/**
 * qm_input_rate:
 * @self: constants
 * @plan: a plan that trains
 * @configuration: what it runs on
 * @limit: (out): what bounds it; %QM_INPUT_NONE where nothing that is known does
 *
 * Cores decode, a disk or a network gives bytes; all machines load at once, each
 * its own share. Storage that the machines share is not a bound here.
 *
 * Returns: samples per second that reach the devices of the whole job; infinite
 *   where nothing is known to bound it
 */
double
qm_input_rate (const QmInputConstants *self,
               const QmPlan           *plan,
               const QmConfiguration  *configuration,
               QmInputLimit           *limit)
{
  double bytes = plan->data.bytes_per_sample;
  double workers = workers_of (self, plan, configuration);
  double cores = configuration->host_cores > 0 ? MIN (workers, configuration->host_cores) : workers;
  double network = configuration->host_network_bits_per_second / 8 * self->network_share;
  double least = INFINITY;

  *limit = QM_INPUT_NONE;
  if (!(bytes > 0))
    return INFINITY;

  if (workers > 0 && is_decoded (plan->task))
    bound (cores * self->core_bytes_per_second / MAX (bytes, self->least_bytes), QM_INPUT_DECODING, &least, limit);
  if (self->storage_bytes_per_second[plan->data.storage] > 0)
    bound (self->storage_bytes_per_second[plan->data.storage] / bytes, QM_INPUT_STORAGE, &least, limit);
  if (plan->data.storage == QM_STORAGE_OBJECT_STORE && workers > 0)
    bound (workers * self->object_stream_bytes_per_second / bytes, QM_INPUT_STORAGE, &least, limit);
  if (network > 0 && (plan->data.storage == QM_STORAGE_OBJECT_STORE || plan->data.storage == QM_STORAGE_NETWORK))
    bound (network / bytes, QM_INPUT_NETWORK, &least, limit);

  return least * MAX (1, configuration->nodes);
}

/* How many times longer a job takes for want of data. With workers that prefetch
 * a step waits for the slower of both; without any it loads, then computes. */
static double
longer (const QmPlan *plan,
        double        need,
        double        have)
{
  return plan->data.loader_workers == 0 ? 1 + need / have : MAX (1, need / have);
}

static void
slow_down (QmThroughput *throughput,
           double        factor)
{
  double step = throughput->step_seconds.p50;

  throughput->per_second = qm_range_scale (throughput->per_second, 1 / factor);
  throughput->per_device_per_second = qm_range_scale (throughput->per_device_per_second, 1 / factor);
  throughput->step_seconds = qm_range_scale (throughput->step_seconds, factor);
  throughput->samples_per_second /= factor;
  throughput->tflops_per_device /= factor;
  throughput->mfu /= factor;
  throughput->input_seconds += step * (factor - 1);
  throughput->bound_by = QM_BOUND_INPUT;
}

/**
 * qm_input_apply:
 * @self: constants
 * @plan: a plan
 * @estimate: (inout): of it, as if data came by itself
 *
 * Slows the rate down to what the data keep up with, and says how much faster it
 * were without. The time of a whole run that was set follows.
 */
void
qm_input_apply (const QmInputConstants *self,
                const QmPlan           *plan,
                QmEstimate             *estimate)
{
  QmThroughput *throughput = &estimate->throughput;
  double need = throughput->samples_per_second, have, factor;
  QmInputLimit limit;

  if (!qm_plan_is_training (plan) || !throughput->known || !(need > 0))
    return;

  have = qm_input_rate (self, plan, &estimate->configuration, &limit);
  if (limit == QM_INPUT_NONE)
    return;

  throughput->input_per_second = have;
  throughput->input_limit = limit;
  factor = longer (plan, need, have);
  if (factor <= 1)
    return;

  throughput->input_gain *= factor;
  slow_down (throughput, factor);
  if (qm_range_is_known (estimate->time.seconds))
    estimate->time.seconds = qm_range_scale (estimate->time.seconds, factor);
}

/**
 * qm_input_apply_to_outline:
 * @plan: a plan that trains
 * @have: samples per second that reach the devices, from qm_input_rate()
 * @outline: (inout): of it, as if data came by itself
 *
 * Does what qm_input_apply() does.
 */
void
qm_input_apply_to_outline (const QmPlan *plan,
                           double        have,
                           QmOutline    *outline)
{
  double factor;

  if (!outline->known || !(outline->samples_per_second > 0) || isinf (have))
    return;

  factor = longer (plan, outline->samples_per_second, have);
  if (factor <= 1)
    return;

  outline->per_second /= factor;
  outline->samples_per_second /= factor;
  outline->seconds *= factor;
}
