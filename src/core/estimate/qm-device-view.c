/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-device-view.h"

#include <math.h>

typedef double (*GetRate) (const QmDevice *device);

static double get_bandwidth (const QmDevice *device) { return device->bandwidth_bytes_per_second; }
static double get_fp32 (const QmDevice *device) { return device->tflops_fp32; }
static double get_fp16 (const QmDevice *device) { return device->tflops_fp16; }
static double get_bf16 (const QmDevice *device) { return device->tflops_bf16; }
static double get_fp8 (const QmDevice *device) { return device->tflops_fp8; }
static double get_int8 (const QmDevice *device) { return device->tflops_int8; }
static double get_fp4 (const QmDevice *device) { return device->tflops_fp4; }
static double get_fp16_accumulate (const QmDevice *device) { return device->tflops_fp16_accumulate_fp16; }

/* One after the other, each does the share of the work that its memory is of
 * all: times add up. 0 where one of them lacks it. */
static double
mean_rate (const QmDevice *mix,
           GetRate         get)
{
  double total = 0, seconds = 0;

  for (int i = 0; i < mix->n_parts; i++)
    total += mix->parts[i]->usable_bytes;
  for (int i = 0; i < mix->n_parts; i++)
    {
      double rate = get (mix->parts[i]);

      if (!(rate > 0))
        return 0;
      seconds += mix->parts[i]->usable_bytes / total / rate;
    }

  return 1 / seconds;
}

/**
 * qm_device_view_shared:
 * @mix: cards of different kinds
 * @view: (out caller-allocates): the mean of them
 *
 * Layers are given to each card by its memory: together they hold the sum, and
 * a stream passes through one after the other, so that each card's time counts
 * with its share of the layers.
 */
void
qm_device_view_shared (const QmDevice *mix,
                       QmDevice       *view)
{
  *view = *mix;
  view->memory_bytes = view->usable_bytes = 0;
  for (int i = 0; i < mix->n_parts; i++)
    {
      view->memory_bytes += mix->parts[i]->memory_bytes / mix->n_parts;
      view->usable_bytes += mix->parts[i]->usable_bytes / mix->n_parts;
    }

  view->bandwidth_bytes_per_second = mean_rate (mix, get_bandwidth);
  view->tflops_fp32 = mean_rate (mix, get_fp32);
  view->tflops_fp16 = mean_rate (mix, get_fp16);
  view->tflops_bf16 = mean_rate (mix, get_bf16);
  view->tflops_fp8 = mean_rate (mix, get_fp8);
  view->tflops_int8 = mean_rate (mix, get_int8);
  view->tflops_fp4 = mean_rate (mix, get_fp4);
  view->tflops_fp16_accumulate_fp16 = mean_rate (mix, get_fp16_accumulate);
}

/**
 * qm_device_view_resized:
 * @device: a device
 * @memory_bytes: what the box of this one says
 * @view: (out caller-allocates): the same with that memory
 *
 * Chips that share the memory of the machine are sold with several sizes of it;
 * the part that may be used is the same share of each.
 */
void
qm_device_view_resized (const QmDevice *device,
                        double          memory_bytes,
                        QmDevice       *view)
{
  *view = *device;
  view->memory_bytes = memory_bytes;
  if (device->memory_bytes > 0)
    view->usable_bytes = memory_bytes * device->usable_bytes / device->memory_bytes;
}

/**
 * qm_device_view_limited:
 * @device: a device
 * @power_watts: what it may draw
 * @view: (out caller-allocates): the same with that limit
 *
 * A chip that may draw less power runs at a lower clock, and so does a laptop's,
 * whose maker chose the limit: rates go by its @power_exponent of the power. Its
 * memory is as fast as before. With more power than its figures are of, it is
 * faster only where the catalog knows by how much. See docs/estimation/deciding.md.
 */
void
qm_device_view_limited (const QmDevice *device,
                        double          power_watts,
                        QmDevice       *view)
{
  double rate;

  *view = *device;
  if (!(power_watts > 0) || !(device->power_watts > 0))
    return;

  rate = fmin (pow (power_watts / device->power_watts, device->power_exponent), device->most_rate);
  /* At a lower clock a joule does more: what its power feeds falls as its rates do. */
  view->power_watts *= rate;
  view->tflops_fp64 *= rate;
  view->tflops_fp32 *= rate;
  view->tflops_tf32 *= rate;
  view->tflops_fp16 *= rate;
  view->tflops_bf16 *= rate;
  view->tflops_fp8 *= rate;
  view->tflops_int8 *= rate;
  view->tflops_fp4 *= rate;
  view->tflops_fp16_accumulate_fp16 *= rate;
}

static int
times (int value,
       int factor)
{
  return value > 0 ? value * factor : value;
}

/**
 * qm_device_view_split:
 * @device: a device with several memories, each with its own cores
 * @replicate: whether the job is repeated on each rather than split
 * @configuration: (inout): how the job is split among the devices, then among
 *   their memories
 * @view: (out caller-allocates): one of its parts
 *
 * A v3-8 board of TPUs is sold with 128 GB: they are eight memories of 16 GB,
 * and each of its eight cores sees only its own.
 */
void
qm_device_view_split (const QmDevice  *device,
                      gboolean         replicate,
                      QmConfiguration *configuration,
                      QmDevice        *view)
{
  int n = device->memories;

  *view = *device;
  view->memories = 1;
  view->memory_bytes /= n;
  view->usable_bytes /= n;
  configuration->devices = MAX (1, configuration->devices) * n;
  if (configuration->micro_batch > 0)
    configuration->micro_batch = fmax (1, configuration->micro_batch / n);

  if (configuration->tensor_parallel > 1)
    configuration->tensor_parallel = times (configuration->tensor_parallel, n);
  else if (replicate || configuration->data_parallel > 1)
    configuration->data_parallel = times (configuration->data_parallel, n);
  else
    configuration->tensor_parallel = times (configuration->tensor_parallel, n);
}
