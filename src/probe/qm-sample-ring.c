/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-sampler.h"

#include <string.h>

struct _QmSampleRing {
  guint channels;
  guint capacity;
  guint first;                      /* the oldest */
  guint length;
  double *times;
  float *values;
};

/**
 * qm_sample_ring_new:
 * @channels: how many values a sample has
 * @capacity: how many samples are kept; from 1 on
 *
 * Returns: (transfer full): a ring without samples; all its memory is taken now
 */
QmSampleRing *
qm_sample_ring_new (guint channels,
                    guint capacity)
{
  QmSampleRing *self = g_new0 (QmSampleRing, 1);

  self->channels = channels;
  self->capacity = MAX (capacity, 1);
  self->times = g_new0 (double, self->capacity);
  self->values = g_new0 (float, (gsize) self->capacity * MAX (channels, 1));

  return self;
}

/**
 * qm_sample_ring_free:
 * @self: (nullable): a ring
 */
void
qm_sample_ring_free (QmSampleRing *self)
{
  if (self == NULL)
    return;

  g_free (self->times);
  g_free (self->values);
  g_free (self);
}

/**
 * qm_sample_ring_push:
 * @self: a ring
 * @at: seconds, later than the last
 * @values: as many as there are channels
 *
 * Where the ring is full, the oldest sample goes.
 */
void
qm_sample_ring_push (QmSampleRing *self,
                     double        at,
                     const float  *values)
{
  guint place = (self->first + self->length) % self->capacity;

  self->times[place] = at;
  memcpy (self->values + (gsize) place * self->channels, values, self->channels * sizeof *values);
  if (self->length < self->capacity)
    self->length++;
  else
    self->first = (self->first + 1) % self->capacity;
}

/**
 * qm_sample_ring_length:
 * @self: a ring
 *
 * Returns: how many samples are in it
 */
guint
qm_sample_ring_length (QmSampleRing *self)
{
  return self->length;
}

/**
 * qm_sample_ring_time:
 * @self: a ring
 * @index: 0 is the oldest
 *
 * Returns: when it was taken, in the seconds of qm_sample_ring_push()
 */
double
qm_sample_ring_time (QmSampleRing *self,
                     guint         index)
{
  return self->times[(self->first + index) % self->capacity];
}

/**
 * qm_sample_ring_value:
 * @self: a ring
 * @index: 0 is the oldest
 * @channel: which value
 *
 * Returns: the value; NaN where it was unknown
 */
float
qm_sample_ring_value (QmSampleRing *self,
                      guint         index,
                      guint         channel)
{
  return self->values[(gsize) ((self->first + index) % self->capacity) * self->channels + channel];
}
