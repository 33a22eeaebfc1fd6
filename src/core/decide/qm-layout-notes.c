/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-choices.h"

static QmMessage *
add (GPtrArray  *messages,
     const char *code,
     const char *text,
     double      ways,
     double      parts)
{
  QmMessage *message = qm_message_new (code, text);

  qm_message_add (message, "ways", QM_ARGUMENT_COUNT, ways);
  qm_message_add (message, "parts", QM_ARGUMENT_COUNT, parts);
  g_ptr_array_add (messages, message);

  return message;
}

/* The most devices up to @ways that can share the heads. */
static double
fitting_ways (const QmArchitecture *architecture,
              int                   ways)
{
  while (ways > 1 && !qm_architecture_can_share_heads (architecture, ways))
    ways--;

  return ways;
}

static void
note_heads (const QmArchitecture *architecture,
            int                   ways,
            gboolean              serves,
            GPtrArray            *messages)
{
  QmMessage *message;

  if (!qm_architecture_can_share_heads (architecture, ways))
    {
      message = add (messages, "heads-uneven", N_("{ways} devices cannot share {parts} attention heads evenly: most programs refuse to start"),
                     ways, architecture->heads);
      qm_message_set_detail (message, N_("Share each layer between {fitting} devices at most (tensor_parallel), and give the others layers of their own (pipeline_parallel) or copies of the model."));
      qm_message_add (message, "fitting", QM_ARGUMENT_COUNT, fitting_ways (architecture, ways));
    }
  else if (serves && architecture->kv_lora_rank > 0)
    add (messages, "cache-repeated", N_("Each of the {ways} devices keeps the whole cache: this model has nothing in it that they could share"), ways, 1);
  else if (serves && ways > architecture->kv_heads)
    add (messages, "cache-repeated", N_("{ways} devices share {parts} heads of keys and values: several keep the same part of the cache"),
         ways, architecture->kv_heads);
}

static void
note_batch (const QmConfiguration *configuration,
            double                 batch,
            GPtrArray             *messages)
{
  double step = MAX (1, configuration->data_parallel) * configuration->micro_batch;
  double taken = step * MAX (1, configuration->gradient_accumulation);
  QmMessage *message;

  if (!(step > 0) || !(batch > 0) || fmod (batch, step) == 0)
    return;

  message = qm_message_new ("batch-uneven", N_("A batch of {batch} does not divide into {replicas} × {micro}: a step takes {taken} samples, or one device gets fewer"));
  qm_message_add (message, "batch", QM_ARGUMENT_COUNT, batch);
  qm_message_add (message, "replicas", QM_ARGUMENT_COUNT, MAX (1, configuration->data_parallel));
  qm_message_add (message, "micro", QM_ARGUMENT_COUNT, configuration->micro_batch);
  g_ptr_array_add (messages, qm_message_add (message, "taken", QM_ARGUMENT_COUNT, taken));
}

/**
 * qm_layout_note:
 * @resolved: a plan
 * @estimate: its estimate
 * @messages: (element-type QmMessage): is added to
 *
 * What does not come out even where a job is split: heads, layers, experts and
 * the batch. Vocabularies are padded by every framework that splits them, and
 * are not looked at.
 */
void
qm_layout_note (const QmResolved *resolved,
                const QmEstimate *estimate,
                GPtrArray        *messages)
{
  const QmConfiguration *configuration = &estimate->configuration;
  const QmArchitecture *architecture = &resolved->model->architecture;
  int stages = MAX (1, configuration->pipeline_parallel) * MAX (1, configuration->virtual_pipeline);
  gboolean trains = qm_plan_is_training (resolved->plan);

  if (trains)
    note_batch (configuration, resolved->given->training.global_batch, messages);
  if (resolved->plan->task != QM_TASK_LANGUAGE_MODEL || !architecture->known)
    return;

  if (configuration->tensor_parallel > 1)
    note_heads (architecture, configuration->tensor_parallel, !trains, messages);
  if (trains && architecture->layers > 0 && fmod (architecture->layers, stages) != 0)
    add (messages, "layers-uneven", N_("{parts} layers do not divide into {ways} stages: the fullest device holds more than is counted here"),
         stages, architecture->layers);
  if (configuration->expert_parallel > 1 && architecture->experts > 1 && fmod (architecture->experts, configuration->expert_parallel) != 0)
    add (messages, "experts-uneven", N_("{ways} devices cannot share {parts} experts evenly: most programs refuse to start"),
         configuration->expert_parallel, architecture->experts);
}
