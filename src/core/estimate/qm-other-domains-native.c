/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

/* What a job is on devices that have no units for its number format. */

#define HALF 2.0
#define FULL 4.0

static double
half_rate (const QmDevice *device)
{
  return fmax (device->tflops_bf16, device->tflops_fp16);
}

/* Whether a graphics device multiplies in @rate. Other chips widen what they read
 * on its way, and integer units that are slower than those of 16 bits stay idle. */
static gboolean
has_units (const QmDomainSite *site,
           QmDomainRate        rate)
{
  const QmDevice *device = site->device;

  if (site->kind != QM_DOMAIN_KIND_GPU)
    return TRUE;

  switch (rate)
    {
    case QM_DOMAIN_RATE_FP8:
      return device->tflops_fp8 > 0;
    case QM_DOMAIN_RATE_FP4:
      return device->tflops_fp4 > 0;
    case QM_DOMAIN_RATE_INT8:
      return fmax (device->tflops_int8, device->tflops_fp8) >= half_rate (device);
    case QM_DOMAIN_RATE_TF32:
      return device->tflops_tf32 > 0;
    default:
      return TRUE;
    }
}

/* Training falls back to autocast, or to 32 bits where there is no TF32. */
static void
train_natively (QmOtherDomains *self)
{
  gboolean full = self->train_rate == QM_DOMAIN_RATE_TF32;

  self->training.precision = full ? QM_PRECISION_FP32 : QM_PRECISION_AMP_FP16;
  self->train_rate = full ? QM_DOMAIN_RATE_FP32 : QM_DOMAIN_RATE_FP16;
  self->train_bytes = full ? FULL : HALF;
  if (!full && self->implied == QM_DOMAIN_STACK_MLPERF)
    self->implied = QM_DOMAIN_STACK_UNSTATED;
}

/* Weights of fewer bits are widened to 16; inside the product where kernels for
 * that are there, else before it, so that nothing is gained. */
static void
run_natively (QmOtherDomains     *self,
              const QmDomainSite *site)
{
  gboolean integers = self->run_rate == QM_DOMAIN_RATE_INT8;

  if (!integers && site->device->compute_capability < self->constants->weight_only_from)
    self->weight_bytes = HALF;
  self->run_rate = QM_DOMAIN_RATE_FP16;
}

/**
 * qm_domain_rate:
 * @self: a job
 * @site: a site
 * @host_share: of embedding rows that lie in the memory of the machine
 * @run: (out caller-allocates): the rate; not known where the model's FLOPs are
 *   not
 *
 * The rate in the number format of the job, or in the one that the device has
 * units for.
 */
void
qm_domain_rate (const QmOtherDomains *self,
                const QmDomainSite   *site,
                double                host_share,
                QmDomainRun          *run)
{
  QmDomainRate rate = self->trains ? self->train_rate : self->run_rate;
  QmOtherDomains native;

  if (!(self->constants->weight_only_from > 0) || has_units (site, rate))
    {
      (self->trains ? qm_domain_train : qm_domain_run) (self, site, host_share, run);
      return;
    }

  native = *self;
  if (self->trains)
    {
      train_natively (&native);
      qm_domain_train (&native, site, host_share, run);
      return;
    }

  run_natively (&native, site);
  qm_domain_run (&native, site, host_share, run);
}
