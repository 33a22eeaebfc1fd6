/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-host.h"

#include <glib/gi18n.h>

/**
 * qm_host_is_short:
 * @estimate: an estimate
 *
 * Returns: whether the machine is known to have less system memory than the job
 *   takes beside the operating system
 */
gboolean
qm_host_is_short (const QmEstimate *estimate)
{
  double ram = estimate->configuration.host_memory_bytes;

  return ram > 0 && estimate->memory.host_bytes > QM_HOST_SHARE * ram;
}

static gboolean
waits_in_host (const QmEstimate *estimate)
{
  const QmConfiguration *configuration = &estimate->configuration;

  return configuration->offload > QM_OFFLOAD_NONE || configuration->gpu_layers >= 0 || configuration->cpu_expert_layers > 0 ||
         estimate->memory.verdict == QM_VERDICT_PARTLY_IN_SYSTEM_MEMORY;
}

/**
 * qm_host_explain:
 * @estimate: an estimate
 *
 * How much system memory a machine must have where a part of the job waits there,
 * held against what the machine has where that is known.
 *
 * Returns: (transfer full) (nullable): it; %NULL where hardly any is needed
 */
QmMessage *
qm_host_explain (const QmEstimate *estimate)
{
  double host = estimate->memory.host_bytes, ram = estimate->configuration.host_memory_bytes;
  QmMessage *message;

  if (!(host > 0) || !(waits_in_host (estimate) || qm_host_is_short (estimate)))
    return NULL;

  if (!qm_host_is_short (estimate))
    {
      message = qm_message_new ("needs-system-memory", N_("Each machine needs {host} of system memory (RAM)"));
      qm_message_set_detail (message, ram > 0
        ? N_("It has {ram}.")
        : N_("That is beside what the system and other programs take: look whether the machine has it."));
    }
  else
    {
      message = qm_message_new ("system-memory-short", host > ram ? N_("It does not fit in system memory (RAM): {host} are needed")
                                                                  : N_("It may not fit in system memory (RAM): {host} are needed"));
      qm_message_set_detail (message, N_("Each machine has {ram}, and the system and other programs take some of it."));
    }
  qm_message_add (message, "host", QM_ARGUMENT_BYTES, host);

  return qm_message_add (message, "ram", QM_ARGUMENT_BYTES, ram);
}
