/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-sampler-private.h"

#include "history/qm-channels.h"

struct _QmSampler {
  QmHostSampler *host;
  QmGpuSampler *gpus;
  GStrv channels;
};

/**
 * qm_sampler_new:
 * @sysroot: (nullable): a captured tree; %NULL for this computer
 * @interval_seconds: how often it will be asked
 *
 * A card that sleeps is never woken.
 *
 * Returns: (transfer full): a sampler
 */
QmSampler *
qm_sampler_new (const char *sysroot,
                double      interval_seconds)
{
  QmSampler *self = g_new0 (QmSampler, 1);
  const char *root = sysroot != NULL ? sysroot : "";
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();

  self->host = qm_host_sampler_new (root);
  self->gpus = qm_gpu_sampler_new (root, interval_seconds);
  for (int i = 0; i < N_HOST_CHANNELS; i++)
    g_strv_builder_add (names, qm_host_channels[i]);
  for (guint gpu = 0; gpu < qm_gpu_sampler_n_gpus (self->gpus); gpu++)
    for (int i = 0; i < N_GPU_CHANNELS; i++)
      {
        char name[QM_CHANNEL_SIZE];

        g_strv_builder_add (names, qm_channel_of_gpu (name, gpu, qm_gpu_channels[i]));
      }
  self->channels = g_strv_builder_end (names);

  return self;
}

/**
 * qm_sampler_free:
 * @self: (nullable): a sampler
 */
void
qm_sampler_free (QmSampler *self)
{
  if (self == NULL)
    return;

  qm_host_sampler_free (self->host);
  qm_gpu_sampler_free (self->gpus);
  g_strfreev (self->channels);
  g_free (self);
}

/**
 * qm_sampler_set_gentle:
 * @self: a sampler
 * @gentle: whether a card that idles, and sleeps when nobody uses it, is left
 *   alone for a while: to ask it keeps it awake
 *
 * For watching beside other things; a recording sees everything.
 */
void
qm_sampler_set_gentle (QmSampler *self,
                       gboolean   gentle)
{
  qm_gpu_sampler_set_gentle (self->gpus, gentle);
}

/**
 * qm_sampler_get_channels:
 * @self: a sampler
 *
 * Returns: (transfer none): the names of the values, as in the ledger
 */
const char * const *
qm_sampler_get_channels (QmSampler *self)
{
  return (const char * const *) self->channels;
}

/**
 * qm_sampler_n_channels:
 * @self: a sampler
 *
 * Returns: how many values a sample has
 */
guint
qm_sampler_n_channels (QmSampler *self)
{
  return g_strv_length (self->channels);
}

/**
 * qm_sampler_n_gpus:
 * @self: a sampler
 *
 * Returns: how many GPUs are watched
 */
guint
qm_sampler_n_gpus (QmSampler *self)
{
  return qm_gpu_sampler_n_gpus (self->gpus);
}

/**
 * qm_sampler_gpu_id:
 * @self: a sampler
 * @gpu: its number in the channels
 *
 * Returns: (transfer none): its PCI address, the id of the probed device
 */
const char *
qm_sampler_gpu_id (QmSampler *self,
                   guint      gpu)
{
  return qm_gpu_sampler_id (self->gpus, gpu);
}

/**
 * qm_sampler_sample:
 * @self: a sampler
 * @now: monotonic microseconds
 * @values: (out caller-allocates): a value for each channel; NaN where it is
 *   not known: rates are not before the second sample
 */
void
qm_sampler_sample (QmSampler *self,
                   gint64     now,
                   float     *values)
{
  qm_host_sampler_sample (self->host, now, values);
  qm_gpu_sampler_sample (self->gpus, now, values + N_HOST_CHANNELS);
}

/**
 * qm_sampler_get_cores:
 * @self: a sampler
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): how busy each logical processor
 *   was up to the last sample; NaN unknown
 */
const float *
qm_sampler_get_cores (QmSampler *self,
                      guint     *n)
{
  return qm_host_sampler_cores (self->host, n);
}
