/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-cold-start.h"

#include <glib/gi18n.h>
#include <math.h>

#include "qm-json-writer.h"

/* Where the answers say nothing: weights on a drive of the computer that is
 * there, and in a store of the cloud. */
static QmStorage
place_of_weights (const QmPlan *plan,
                  QmPlace       place)
{
  if (plan->data.storage != QM_STORAGE_UNSET)
    return plan->data.storage;

  return place == QM_PLACE_CLOUD ? QM_STORAGE_NETWORK : QM_STORAGE_NVME;
}

/* A device takes them faster than a drive or a network gives them. */
static double
weights_seconds (const QmJob      *job,
                 QmPlace           place,
                 const QmEstimate *estimate)
{
  const QmConfiguration *configuration = &estimate->configuration;
  const QmInputConstants *input = qm_estimator_get_input_constants (job->estimator);
  QmStorage storage = place_of_weights (job->plan, place);
  double devices = MAX (1, configuration->devices) / MAX (1, configuration->data_parallel);
  double bytes = estimate->memory.parts[QM_MEMORY_WEIGHTS] * MAX (1, devices);
  double rate = input->storage_bytes_per_second[storage];
  double network = configuration->host_network_bits_per_second / 8;

  if (storage == QM_STORAGE_OBJECT_STORE)
    rate = input->storage_bytes_per_second[QM_STORAGE_NETWORK];
  if (storage == QM_STORAGE_NETWORK || storage == QM_STORAGE_OBJECT_STORE)
    rate = (network > 0 ? network : rate) * input->network_share;

  return rate > 0 ? bytes / rate : 0;
}

/**
 * qm_cold_start_estimate:
 * @job: a job
 * @place: where its machines are
 * @estimate: (inout): whose memory is there; its cold start is set
 *
 * From the order of one more replica to its first answer: the machine runs, the
 * image of the engine is fetched and unpacked, weights are read, and the engine
 * compiles. A machine that is there has the image. The first of these takes no
 * account of devices that are not to be had. Nothing changes unless the plan serves.
 */
void
qm_cold_start_estimate (const QmJob *job,
                        QmPlace      place,
                        QmEstimate  *estimate)
{
  const QmEconomics *economics = job->economics;
  const QmEngineStart *start = qm_economics_start (economics, estimate->serving_plan.engine);
  QmColdStart *cold = &estimate->serving.cold_start;
  double seconds;

  if (!job->serving || !estimate->serving.known || start == NULL)
    return;

  *cold = (QmColdStart) { .weights_seconds = weights_seconds (job, place, estimate),
                          .engine_seconds = start->seconds + start->seconds_per_layer * job->resolved->model->architecture.layers };
  if (place == QM_PLACE_CLOUD)
    {
      cold->machine_seconds = economics->boot_seconds;
      cold->image_seconds = start->image_bytes / economics->image_bytes_per_second;
    }
  seconds = cold->machine_seconds + cold->image_seconds + cold->weights_seconds + cold->engine_seconds;
  cold->seconds = (QmRange) { seconds / economics->start_spread, seconds, seconds * economics->start_spread };
}

/**
 * qm_cold_start_to_json:
 * @self: a cold start that is known
 *
 * Returns: (transfer full): what its p50 is made of
 */
JsonObject *
qm_cold_start_to_json (const QmColdStart *self)
{
  JsonObject *parts = json_object_new ();

  json_object_set_double_member (parts, "machine_seconds", qm_json_figure (self->machine_seconds));
  json_object_set_double_member (parts, "image_seconds", qm_json_figure (self->image_seconds));
  json_object_set_double_member (parts, "weights_seconds", qm_json_figure (self->weights_seconds));
  json_object_set_double_member (parts, "engine_seconds", qm_json_figure (self->engine_seconds));

  return parts;
}

/**
 * qm_cold_start_explain:
 * @serving: figures of a service
 *
 * Returns: (transfer full) (nullable): how long one more replica takes, and what
 *   it waits for; %NULL where that is not known
 */
QmMessage *
qm_cold_start_explain (const QmServingFigures *serving)
{
  const QmColdStart *cold = &serving->cold_start;
  QmMessage *message;

  if (!serving->known || !qm_range_is_known (cold->seconds))
    return NULL;

  message = qm_message_new ("cold-start", N_("One more copy answers {range} after it is ordered"));
  if (cold->machine_seconds > 0)
    qm_message_set_detail (message, N_("The machine takes {machine}, the engine’s software {image}, the model’s weights {weights}, and the engine’s own "
                                       "start {engine}. Software and weights that are kept on the machine’s drive save most of it."));
  else
    qm_message_set_detail (message, N_("The model’s weights take {weights} from the drive, and the engine’s own start {engine}."));
  qm_message_add_range (message, "range", QM_ARGUMENT_SECONDS_RANGE, cold->seconds);
  qm_message_add (message, "machine", QM_ARGUMENT_SECONDS, cold->machine_seconds);
  qm_message_add (message, "image", QM_ARGUMENT_SECONDS, cold->image_seconds);
  qm_message_add (message, "weights", QM_ARGUMENT_SECONDS, cold->weights_seconds);

  return qm_message_add (message, "engine", QM_ARGUMENT_SECONDS, cold->engine_seconds);
}
