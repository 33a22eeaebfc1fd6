/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdio.h>

#include "probe/qm-sampler.h"

G_BEGIN_DECLS

/* the computer's own channels, in this order */
enum {
  HOST_CPU,
  HOST_CPU_BUSIEST,
  HOST_CPU_WAITING,
  HOST_CPU_STOLEN,
  HOST_CPU_PRESSURE,
  HOST_MEMORY,
  HOST_MEMORY_TOTAL,
  HOST_SWAP,
  HOST_DISK_READ,
  HOST_DISK_WRITE,
  HOST_DISK_BUSY,
  HOST_NETWORK_RECEIVE,
  HOST_NETWORK_SEND,
  N_HOST_CHANNELS,
};

/* and of each GPU, as quartermaster-nvml prints them */
enum {
  GPU_BUSY,
  GPU_MEMORY_BUSY,
  GPU_MEMORY,
  GPU_MEMORY_TOTAL,
  GPU_POWER,
  GPU_POWER_LIMIT,
  GPU_TEMPERATURE,
  GPU_CLOCK,
  GPU_CLOCK_MOST,
  GPU_THROTTLED,
  GPU_PCIE_RECEIVE,
  GPU_PCIE_SEND,
  N_GPU_CHANNELS,
};

extern const char * const qm_host_channels[N_HOST_CHANNELS];
extern const char * const qm_gpu_channels[N_GPU_CHANNELS];

/* processor, memory, storage, network */
typedef struct _QmHostSampler QmHostSampler;

QmHostSampler *qm_host_sampler_new    (const char    *root);
void           qm_host_sampler_free   (QmHostSampler *self);
void           qm_host_sampler_sample (QmHostSampler *self,
                                       gint64         now,
                                       float         *values);
const float   *qm_host_sampler_cores  (QmHostSampler *self,
                                       guint         *n);

typedef struct _QmGpuSampler QmGpuSampler;

QmGpuSampler  *qm_gpu_sampler_new     (const char    *root,
                                       double         interval_seconds);
void           qm_gpu_sampler_free    (QmGpuSampler  *self);
void           qm_gpu_sampler_set_gentle (QmGpuSampler *self,
                                       gboolean       gentle);
guint          qm_gpu_sampler_n_gpus  (QmGpuSampler  *self);
const char    *qm_gpu_sampler_id      (QmGpuSampler  *self,
                                       guint          gpu);
void           qm_gpu_sampler_sample  (QmGpuSampler  *self,
                                       gint64         now,
                                       float         *values);

G_END_DECLS
