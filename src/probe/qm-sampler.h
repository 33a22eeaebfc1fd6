/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What this computer does now: a row of numbers each time it is asked. Used
 * from one thread; takes well under a millisecond on a computer with one GPU,
 * and never waits for a driver. */
typedef struct _QmSampler QmSampler;

QmSampler          *qm_sampler_new          (const char *sysroot,
                                             double      interval_seconds);
void                qm_sampler_free         (QmSampler  *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmSampler, qm_sampler_free)

void                qm_sampler_set_gentle   (QmSampler  *self,
                                             gboolean    gentle);

/* in the order of the values; NULL-terminated; fixed for the sampler's life */
const char * const *qm_sampler_get_channels (QmSampler  *self);
guint               qm_sampler_n_channels   (QmSampler  *self);
guint               qm_sampler_n_gpus       (QmSampler  *self);
const char         *qm_sampler_gpu_id       (QmSampler  *self,
                                             guint       gpu);

void                qm_sampler_sample       (QmSampler  *self,
                                             gint64      now,
                                             float      *values);
/* of the last sample: how busy each logical processor was */
const float        *qm_sampler_get_cores    (QmSampler  *self,
                                             guint      *n);

/* The latest samples, in a memory that does not grow. */
typedef struct _QmSampleRing QmSampleRing;

QmSampleRing       *qm_sample_ring_new      (guint       channels,
                                             guint       capacity);
void                qm_sample_ring_free     (QmSampleRing *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmSampleRing, qm_sample_ring_free)

void                qm_sample_ring_push     (QmSampleRing *self,
                                             double      at,
                                             const float *values);
guint               qm_sample_ring_length   (QmSampleRing *self);
double              qm_sample_ring_time     (QmSampleRing *self,
                                             guint       index);
float               qm_sample_ring_value    (QmSampleRing *self,
                                             guint       index,
                                             guint       channel);

G_END_DECLS
