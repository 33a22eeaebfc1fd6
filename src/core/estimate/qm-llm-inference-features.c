/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-inference-private.h"

#include <math.h>
#include <string.h>

#define TERA 1e12

static QmInferenceClass
classify_nvidia (const QmDevice *device)
{
  if (device->is_hbm)
    return QM_INFERENCE_CLASS_NVIDIA_HBM;

  return device->device_class == QM_DEVICE_CLASS_CONSUMER || device->device_class == QM_DEVICE_CLASS_LAPTOP
           ? QM_INFERENCE_CLASS_GEFORCE : QM_INFERENCE_CLASS_NVIDIA_GDDR;
}

static QmInferenceClass
classify (const QmDevice *device,
          gboolean        on_cpu)
{
  if (on_cpu)
    return device->vendor == QM_VENDOR_APPLE ? QM_INFERENCE_CLASS_APPLE_CPU : QM_INFERENCE_CLASS_CPU;

  if (device->vendor == QM_VENDOR_APPLE)
    return QM_INFERENCE_CLASS_APPLE;

  if (device->device_class == QM_DEVICE_CLASS_TPU || device->device_class == QM_DEVICE_CLASS_NPU)
    return QM_INFERENCE_CLASS_NPU;

  if (device->unified_memory)
    return QM_INFERENCE_CLASS_UNIFIED;

  switch (device->vendor)
    {
    case QM_VENDOR_NVIDIA:
      return classify_nvidia (device);
    case QM_VENDOR_AMD:
      return device->is_hbm ? QM_INFERENCE_CLASS_AMD_HBM : QM_INFERENCE_CLASS_RADEON;
    case QM_VENDOR_INTEL:
      return QM_INFERENCE_CLASS_INTEL_GPU;
    default:
      return QM_INFERENCE_CLASS_NPU;
    }
}

/* The first of the rates that is known. */
static double
first_of (double a,
          double b,
          double c)
{
  return a > 0 ? a : b > 0 ? b : c;
}

/* Dense rate of 16-bit products; where 16-bit units are slower than those of
 * 32 bits (Pascal), that of the latter. */
static double
rate_16_bit (const QmDevice *device)
{
  double rate = first_of (device->tflops_bf16, device->tflops_fp16, first_of (device->tflops_fp32, 1, 1));

  return fmax (rate, device->tflops_fp32);
}

static double
processor_flops (const QmInferenceJob *self)
{
  const QmDevice *device = self->device;
  double rate = rate_16_bit (device);

  if (self->device_class == QM_INFERENCE_CLASS_APPLE_CPU || self->in_system_memory)
    return self->plan->constants->limits.nominal_cpu_flops;

  return TERA * (self->plan->engine->fp32_on_processors ? first_of (device->tflops_fp32, rate, rate) : rate);
}

/* Whether the device multiplies in the type of the weights. */
static gboolean
has_units (const QmInferenceJob *self)
{
  switch (self->plan->format.kernel)
    {
    case QM_INFERENCE_KERNEL_FP8:
      return self->device->tflops_fp8 > 0;
    case QM_INFERENCE_KERNEL_FP4:
      return self->device->tflops_fp4 > 0;
    case QM_INFERENCE_KERNEL_W4:
    case QM_INFERENCE_KERNEL_NF4:
      return FALSE;
    default:
      return TRUE;
    }
}

/* Whether what the kernels of servers and libraries do depends on the device:
 * local engines bring kernels for each format, others compile them. */
static gboolean
is_told_kernels (const QmInferenceJob *self)
{
  QmInferenceFamily family = self->plan->family;

  return self->plan->constants->limits.copied_bytes > 0 && !self->on_cpu &&
         (self->device->vendor == QM_VENDOR_NVIDIA || self->device->vendor == QM_VENDOR_AMD) &&
         (family == QM_INFERENCE_FAMILY_SERVER || family == QM_INFERENCE_FAMILY_EAGER);
}

/* Weights that are multiplied in 16 bits gain nothing where products bind. Those
 * that no kernel unpacks on its way are unpacked into memory: 4-bit ones of
 * bitsandbytes for more than one token, floating-point ones on old devices. */
static void
resolve_kernel (QmInferenceJob *self)
{
  const QmInferenceLimits *limits = &self->plan->constants->limits;
  double *mu = &self->values[QM_INFERENCE_MU];
  QmInferenceKernel kernel = self->plan->format.kernel;

  self->copies_from = INFINITY;
  if (!is_told_kernels (self) || has_units (self))
    return;

  *mu *= fmin (1, self->cell->plain_mu / self->cell->values[QM_INFERENCE_MU]);
  if (kernel == QM_INFERENCE_KERNEL_NF4)
    self->copies_from = 2;
  else if (kernel != QM_INFERENCE_KERNEL_W4 && self->device->compute_capability < limits->weight_only_from)
    self->copies_from = 1;
}

/* Dense rate of the type in which the kernels multiply. Local engines add up in
 * 16 bits, which GeForce cards do twice as fast. */
static double
peak_flops (const QmInferenceJob *self)
{
  const QmDevice *device = self->device;
  QmInferenceFamily family = self->plan->family;
  gboolean native = family != QM_INFERENCE_FAMILY_EAGER;
  double rate = rate_16_bit (device);

  if (self->on_cpu)
    return processor_flops (self);

  if (self->device_class == QM_INFERENCE_CLASS_APPLE)
    return TERA * first_of (device->tflops_fp16, device->tflops_fp32, 1);

  switch (self->plan->format.kernel)
    {
    case QM_INFERENCE_KERNEL_FP8:
      if (native)
        return TERA * first_of (device->tflops_fp8, rate, rate);
      break;
    case QM_INFERENCE_KERNEL_FP4:
      if (native)
        return TERA * first_of (device->tflops_fp4, is_told_kernels (self) ? 0 : device->tflops_fp8, rate);
      break;
    case QM_INFERENCE_KERNEL_W32:
      return TERA * first_of (device->tflops_fp32, rate, rate);
    default:
      break;
    }

  if (device->tflops_fp16_accumulate_fp16 > 0 && family == QM_INFERENCE_FAMILY_LOCAL)
    return TERA * device->tflops_fp16_accumulate_fp16;

  return TERA * rate;
}

/* Slots per second that can unpack bits. */
static double
integer_rate (const QmInferenceJob *self,
              int                   arch)
{
  const QmInferenceArch *generation = &self->plan->constants->archs[arch];
  double rate = first_of (self->device->tflops_fp32, 10, 10) * TERA;

  if (self->device->vendor != QM_VENDOR_NVIDIA || generation->except == (int) self->device_class)
    return rate;

  return rate * generation->integer_rate;
}

/* The fabric's half of its two-way rate, else PCIe. */
static void
resolve_link (QmInferenceJob *self)
{
  const QmLlmInferenceConstants *constants = self->plan->constants;
  const QmDevice *device = self->device;
  int generation = CLAMP (device->pcie_generation, 0, QM_INFERENCE_MAX_PCIE - 1);
  double pcie = constants->pcie[generation] > 0 ? constants->pcie[generation] : constants->pcie_unknown;

  self->link = QM_INFERENCE_LINK_PCIE;
  self->link_bandwidth = fmax (device->link_bytes_per_second / 2, pcie);
  if (device->link_bytes_per_second >= constants->limits.fast_link)
    {
      self->link = self->device_class == QM_INFERENCE_CLASS_NPU ? QM_INFERENCE_LINK_NPU : QM_INFERENCE_LINK_FAST;
      self->link_bandwidth = device->link_bytes_per_second / 2;
    }
}

/* Devices that no stated degree covers become stages on local engines, and
 * share matrices on others. */
static void
resolve_layout (QmInferenceJob *self)
{
  const QmConfiguration *given = self->given;
  QmInferenceFamily family = self->plan->family;
  gboolean stages = (family == QM_INFERENCE_FAMILY_LOCAL || family == QM_INFERENCE_FAMILY_EAGER) &&
                    given->split != QM_SPLIT_TENSOR;
  double covered, rest;

  self->devices = MAX (1, given->devices);
  self->tensor = MAX (1, given->tensor_parallel);
  self->pipeline = MAX (1, given->pipeline_parallel);
  self->data = MAX (1, given->data_parallel);

  covered = self->tensor * self->pipeline * self->data;
  rest = fmax (1, floor (self->devices / covered));
  if (stages)
    self->pipeline *= rest;
  else
    self->tensor *= rest;
  self->devices = fmax (self->devices, covered);

  if (self->plan->serving.concurrency > 0)
    self->batch = fmax (1, self->plan->serving.concurrency / self->data);
}

/* Writes the generation of the device into @word. Those of Apple computers
 * follow from the id: the catalog calls all their graphics parts the same. */
void
qm_inference_job_arch_word (const QmInferenceJob *self,
                            char                 *word,
                            gsize                 size)
{
  const char *id = self->device->id;
  const char *dash = self->device_class == QM_INFERENCE_CLASS_APPLE && id != NULL ? strchr (id, '-') : NULL;
  gsize first;

  if (dash == NULL)
    {
      g_strlcpy (word, self->device->arch != NULL ? self->device->arch : "", size);
      return;
    }

  first = (gsize) (dash - id);
  g_strlcpy (word, id, MIN (size, first + 2 + strcspn (dash + 1, "-")));
  if (first < strlen (word))
    word[first] = ' ';
}

static int
find_arch (const QmInferenceJob          *self,
           const QmLlmInferenceConstants *constants)
{
  char word[48];

  qm_inference_job_arch_word (self, word, sizeof word);
  return qm_inference_constants_find_arch (constants, word);
}

static gboolean
is_processor (const QmDevice *device)
{
  return device->device_class == QM_DEVICE_CLASS_CPU;
}

/* How much of the experts stays on the device where those of the first layers do
 * not: layers without experts come first, and count. */
static double
share_of_experts (const QmInferenceJob *self)
{
  const QmInferenceShape *shape = &self->plan->shape;
  double layers = self->given->cpu_expert_layers - (shape->layers - shape->moe_layers);

  if (self->on_cpu || self->device_share < 1 || !(shape->moe_layers > 0) || self->plan->family != QM_INFERENCE_FAMILY_LOCAL)
    return 1;

  return 1 - CLAMP (layers, 0, shape->moe_layers) / shape->moe_layers;
}

/* The generation of @device among the constants, where its own units compute. */
int
qm_inference_find_arch (const QmLlmInferenceConstants *constants,
                        const QmDevice                *device)
{
  const QmInferenceJob job = { .device = device, .device_class = classify (device, is_processor (device)) };

  return find_arch (&job, constants);
}

static void
resolve_values (QmInferenceJob *self,
                int             arch)
{
  const QmLlmInferenceConstants *constants = self->plan->constants;

  for (int i = 0; i < QM_INFERENCE_N_TABLES; i++)
    self->values[i] = self->cell->values[i] * constants->tables[i].arch[arch] * constants->tables[i].link[self->link];

  self->values[QM_INFERENCE_EFFICIENCY] = fmin (1, self->values[QM_INFERENCE_EFFICIENCY]);
}

static void
resolve_memory (QmInferenceJob *self)
{
  const QmInferenceLimits *limits = &self->plan->constants->limits;
  const QmDevice *device = self->device;
  double layers = self->plan->shape.layers;
  int on_device = self->given->gpu_layers;

  self->host_bandwidth = first_of (self->given->host_memory_bytes_per_second, limits->host_bandwidth, 0);
  self->bandwidth = first_of (device->bandwidth_bytes_per_second, limits->nominal_bandwidth, 0);
  self->memory = device->memory_bytes;
  if (self->in_system_memory)
    {
      self->bandwidth = self->host_bandwidth;
      self->memory = 0;
    }

  self->device_share = 1;
  if (!self->on_cpu && on_device > 0 && on_device < layers)
    self->device_share = on_device / layers;
  self->expert_share = share_of_experts (self);
}

/* Resolves what the laws need to know of @device and @configuration. @arch is
 * that of qm_inference_find_arch(), -1 not looked up. */
void
qm_inference_job_init (QmInferenceJob        *self,
                       const QmLlmInference  *plan,
                       const QmDevice        *device,
                       int                    arch,
                       const QmConfiguration *configuration)
{
  gboolean is_cpu = is_processor (device);

  *self = (QmInferenceJob) { .plan = plan, .device = device, .given = configuration };

  self->on_cpu = is_cpu || configuration->gpu_layers == 0;
  self->in_system_memory = self->on_cpu && !is_cpu && !device->unified_memory;
  self->device_class = classify (device, self->on_cpu);
  self->cell = &plan->cells[self->on_cpu][self->device_class];
  if (arch < 0 || self->on_cpu != is_cpu)
    arch = find_arch (self, plan->constants);
  resolve_layout (self);
  resolve_link (self);
  resolve_memory (self);
  resolve_values (self, arch);
  resolve_kernel (self);
  self->flops = peak_flops (self);
  self->integer_rate = integer_rate (self, arch);
}
