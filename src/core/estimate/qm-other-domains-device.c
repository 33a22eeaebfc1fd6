/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

#include <string.h>

#define TERA 1e12

/* What the fourth power of a smaller share adds is lost in rounding. */
#define NOTHING_BESIDE 1e-4

/* Fewer values a number has, more of them a joule computes. */
typedef enum {
  WIDTH_8,
  WIDTH_16,
  WIDTH_19,                         /* TF32 */
  WIDTH_32,
} Width;

/**
 * qm_domain_soft_max:
 * @a: a time, not negative
 * @b: another one
 *
 * Two limits that seldom hide each other fully: the norm of order 4.
 *
 * Returns: the time that both take together
 */
double
qm_domain_soft_max (double a,
                    double b)
{
  double largest = fmax (a, b);
  double ratio, square;

  if (largest <= 0)
    return 0;

  ratio = fmin (a, b) / largest;
  if (ratio < NOTHING_BESIDE)
    return largest;

  square = ratio * ratio;
  return largest * sqrt (sqrt (1 + square * square));
}

static double
soft_min (double a,
          double b)
{
  double ratio = fmin (a, b) / fmax (a, b);
  double square = ratio * ratio;

  return b > 0 ? fmin (a, b) / sqrt (sqrt (1 + square * square)) : a;
}

static QmDomainKind
kind_of (const QmDevice *device)
{
  if (device->device_class == QM_DEVICE_CLASS_CPU)
    return QM_DOMAIN_KIND_CPU;

  if (device->vendor == QM_VENDOR_APPLE)
    return QM_DOMAIN_KIND_APPLE;

  if (device->device_class == QM_DEVICE_CLASS_TPU || device->device_class == QM_DEVICE_CLASS_NPU)
    return QM_DOMAIN_KIND_NPU;

  return QM_DOMAIN_KIND_GPU;
}

static int
with_hbm (int      power,
          gboolean is_hbm)
{
  if (is_hbm && power == QM_DOMAIN_POWER_AMPERE)
    return QM_DOMAIN_POWER_AMPERE_HBM;

  return is_hbm && power == QM_DOMAIN_POWER_BLACKWELL ? QM_DOMAIN_POWER_BLACKWELL_HBM : power;
}

static void
read_architecture (QmDomainSite *self)
{
  const QmOtherDomainsConstants *constants = self->constants;
  const char *arch = self->device->arch;

  self->power = -1;
  self->stack = -1;
  self->cpu_generation = 1;
  for (int i = 0; arch != NULL && i < constants->n_architectures; i++)
    {
      const QmDomainArchitecture *a = &constants->architectures[i];

      if (strstr (arch, a->text) == NULL)
        continue;

      self->measured |= a->measured;
      self->large_cache |= a->large_cache;
      self->new_port |= a->new_port;
      self->cpu_generation = fmax (self->cpu_generation, a->cpu_generation);
      if (a->power >= 0)
        self->power = with_hbm (a->power, self->device->is_hbm);
      if (a->stack >= 0)
        self->stack = a->stack;
    }

  if (self->device->vendor == QM_VENDOR_AWS && self->kind != QM_DOMAIN_KIND_CPU)
    self->stack = QM_DOMAIN_STACK_NEURONX;
}

static double
reached_bandwidth (const QmDomainSite *self)
{
  const QmDomainDeviceConstants *constants = &self->constants->device;
  const QmDevice *device = self->device;
  double sheet = device->bandwidth_bytes_per_second > 0 ? device->bandwidth_bytes_per_second : constants->bandwidth;

  if (device->device_class == QM_DEVICE_CLASS_NPU)
    sheet = fmax (sheet, constants->npu_bytes_per_flop * device->tflops_bf16 * TERA);

  if (device->is_hbm)
    return sheet * constants->bw_hbm;

  if (self->kind == QM_DOMAIN_KIND_CPU)
    return sheet * constants->bw_ddr;

  if (device->memory_type != NULL && strcmp (device->memory_type, "GDDR7") == 0)
    return sheet * constants->bw_gddr7;

  return sheet * (self->large_cache ? constants->bw_ada : constants->bw_gddr);
}

/**
 * qm_domain_site_init:
 * @self: (out caller-allocates): a site
 * @constants: constants
 * @device: the device
 * @known: (nullable): a site of the same device, whose names were read
 * @given: how many, and how much of a processor
 *
 * Looks up what a job's rate depends on beside the job.
 */
void
qm_domain_site_init (QmDomainSite                  *self,
                     const QmOtherDomainsConstants *constants,
                     const QmDevice                *device,
                     const QmDomainSite            *known,
                     const QmConfiguration         *given)
{
  double cores = device->cpu_cores > 0 ? device->cpu_cores : constants->device.cpu_cores;

  *self = known != NULL ? *known : (QmDomainSite) { .constants = constants, .device = device };
  self->device = device;
  self->given = given;
  if (known == NULL)
    {
      self->kind = kind_of (device);
      read_architecture (self);
      self->joined = qm_domain_joined (self);
      self->bridge = device->link_type != NULL && strstr (device->link_type, "bridge") != NULL;
    }
  /* a part of a processor is as fast as that part */
  if (known == NULL || self->kind == QM_DOMAIN_KIND_CPU)
    self->bandwidth = reached_bandwidth (self);
  self->cores = given->cpu_cores > 0 ? given->cpu_cores : cores;
  self->core_share = self->kind == QM_DOMAIN_KIND_CPU ? fmin (1, self->cores / cores) : 1;
  self->devices = MAX (1, given->devices);
  self->nodes = MAX (1, given->nodes);
}

static double
first_of (double a,
          double b,
          double c)
{
  return a > 0 ? a : b > 0 ? b : c;
}

static double
half_rate (const QmDevice *d)
{
  return first_of (d->tflops_bf16, d->tflops_fp16, first_of (d->tflops_fp32, 1, 1));
}

static double
full_rate (const QmDevice *d)
{
  return first_of (d->tflops_fp32, d->tflops_bf16, 1);
}

/* Processors compute in 16 bits by bfloat16 units or not at all. */
static double
processor_half_rate (const QmDevice *d)
{
  return first_of (d->tflops_bf16, full_rate (d), 1);
}

/* Chips that gave up their integer units run integers on the floating-point ones. */
static double
low_rate (const QmDevice *d,
          QmDomainRate    rate)
{
  double low = first_of (d->tflops_fp8, d->tflops_int8, half_rate (d));

  if (rate == QM_DOMAIN_RATE_FP4)
    return first_of (d->tflops_fp4, low, low);

  return rate == QM_DOMAIN_RATE_INT8 ? fmax (first_of (d->tflops_int8, low, low), d->tflops_fp8) : low;
}

/* Where 16-bit units are slower than those of 32 bits (Pascal), libraries compute in
 * the latter. */
static double
widened (const QmDomainSite *self,
         double              rate)
{
  gboolean widens = self->kind == QM_DOMAIN_KIND_GPU && self->constants->weight_only_from > 0;

  return widens ? fmax (rate, self->device->tflops_fp32) : rate;
}

/* Data-sheet rate of the units that compute in @rate, and how wide they are. */
static double
sheet_rate (const QmDomainSite *self,
            QmDomainRate        rate,
            gboolean            tf32_allowed,
            Width              *width)
{
  const QmDevice *d = self->device;
  gboolean cpu = self->kind == QM_DOMAIN_KIND_CPU;

  *width = WIDTH_16;
  switch (rate)
    {
    case QM_DOMAIN_RATE_FP16:
      return cpu ? processor_half_rate (d) : widened (self, first_of (d->tflops_fp16, half_rate (d), 1));
    case QM_DOMAIN_RATE_BF16:
      return cpu ? processor_half_rate (d) : widened (self, half_rate (d));
    case QM_DOMAIN_RATE_FP8:
    case QM_DOMAIN_RATE_FP4:
    case QM_DOMAIN_RATE_INT8:
      *width = d->tflops_int8 > 0 || d->tflops_fp8 > 0 ? WIDTH_8 : WIDTH_16;
      return low_rate (d, rate);
    case QM_DOMAIN_RATE_TF32:
    case QM_DOMAIN_RATE_FP32:
      *width = WIDTH_19;
      if (rate == QM_DOMAIN_RATE_TF32 || (tf32_allowed && d->tflops_tf32 > 0))
        return first_of (d->tflops_tf32, full_rate (d), 1);

      /* compilers of NPUs cast to 16 bits */
      *width = self->kind == QM_DOMAIN_KIND_NPU ? WIDTH_16 : WIDTH_32;
      return self->kind == QM_DOMAIN_KIND_NPU ? half_rate (d) : full_rate (d);
    default:
      return widened (self, half_rate (d));
    }
}

static double
energy_factor (const QmDomainDeviceConstants *constants,
               Width                          width)
{
  return width == WIDTH_8 ? constants->energy8 : width == WIDTH_19 ? constants->energy_tf32 : 1;
}

/**
 * qm_domain_peak:
 * @self: a site
 * @rate: the number format
 * @tf32_allowed: 32-bit matrices may go through TF32 units
 * @fp16_accumulate: sums may be kept in 16 bits, as tuned engines do
 *
 * The matrix rate that one device sustains: what its data sheet says, as far as
 * its power budget feeds it.
 *
 * Returns: FLOP/s
 */
double
qm_domain_peak (const QmDomainSite *self,
                QmDomainRate        rate,
                gboolean            tf32_allowed,
                gboolean            fp16_accumulate)
{
  const QmDomainDeviceConstants *constants = &self->constants->device;
  const QmDevice *device = self->device;
  Width width;
  double peak = TERA * sheet_rate (self, rate, tf32_allowed, &width);

  if (device->tflops_fp16_accumulate_fp16 > 0 && (width == WIDTH_16 || rate == QM_DOMAIN_RATE_FP8))
    {
      if (fp16_accumulate && width != WIDTH_8)
        peak = device->tflops_fp16_accumulate_fp16 * TERA;
      else
        peak *= constants->geforce;
    }

  if (device->vendor == QM_VENDOR_AMD && width != WIDTH_32)
    peak *= constants->amd;

  if (self->power >= 0 && width != WIDTH_32)
    peak = soft_min (peak, constants->flop_per_joule[self->power] * TERA * device->power_watts *
                             energy_factor (constants, width));

  return peak;
}

/**
 * qm_domain_sheet_peak:
 * @self: a site
 * @rate: the number format
 * @fp16_accumulate: sums may be kept in 16 bits, as tuned engines do
 *
 * Returns: FLOP/s of one device by its data sheet
 */
double
qm_domain_sheet_peak (const QmDomainSite *self,
                      QmDomainRate        rate,
                      gboolean            fp16_accumulate)
{
  Width width;
  double tflops = sheet_rate (self, rate, TRUE, &width);

  if (fp16_accumulate && width == WIDTH_16)
    tflops = fmax (tflops, self->device->tflops_fp16_accumulate_fp16);

  return TERA * tflops;
}

/**
 * qm_domain_train_share:
 * @self: a site
 *
 * Returns: the share of its peak that a CPU or NPU sustains in training, over
 *   that of a GPU
 */
double
qm_domain_train_share (const QmDomainSite *self)
{
  const QmDomainRunConstants *constants = &self->constants->run;

  if (self->kind == QM_DOMAIN_KIND_CPU)
    return constants->train_cpu;

  if (self->kind != QM_DOMAIN_KIND_NPU)
    return 1;

  if (self->device->vendor == QM_VENDOR_AWS)
    return constants->train_aws;

  return self->device->vendor == QM_VENDOR_INTEL ? constants->train_intel : 1;
}
