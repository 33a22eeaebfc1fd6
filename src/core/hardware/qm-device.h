/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

typedef enum {
  QM_VENDOR_UNSET,
  QM_VENDOR_NVIDIA,
  QM_VENDOR_AMD,
  QM_VENDOR_INTEL,
  QM_VENDOR_APPLE,
  QM_VENDOR_GOOGLE,
  QM_VENDOR_AWS,
  QM_VENDOR_HUAWEI,
  QM_VENDOR_OTHER,
} QmVendor;

typedef enum {
  QM_DEVICE_CLASS_UNSET,
  QM_DEVICE_CLASS_DATACENTER,
  QM_DEVICE_CLASS_WORKSTATION,
  QM_DEVICE_CLASS_CONSUMER,
  QM_DEVICE_CLASS_LAPTOP,
  QM_DEVICE_CLASS_EDGE,
  QM_DEVICE_CLASS_INTEGRATED,
  QM_DEVICE_CLASS_TPU,
  QM_DEVICE_CLASS_NPU,
  QM_DEVICE_CLASS_CPU,
} QmDeviceClass;

typedef struct _QmDevice QmDevice;

/**
 * QmDevice:
 * @memory_bytes: the figure on the box, in GiB for GPUs, as bytes; 0 unknown
 * @usable_bytes: what drivers report as total, where a reading is known; else
 *   0.985 of @memory_bytes
 * @bandwidth_bytes_per_second: of the device memory; 0 unknown
 * @tflops_fp16: dense matrix rate with FP32 accumulation, 1e12 FLOP/s; 0 where
 *   unsupported or unknown. So are the others
 * @tflops_fp16_accumulate_fp16: GeForce cards, twice @tflops_fp16; else 0
 * @link_bytes_per_second: the fabric between devices, both directions together
 * @pcie_generation: 3 to 6; 0 unknown
 * @price_usd: of one, new; NaN unknown
 *
 * One kind of GPU, TPU, NPU or CPU, as its data sheet has it. Strings belong
 * to the catalog.
 */
struct _QmDevice {
  const char *id;
  const char *name;
  const char *arch;
  const char *memory_type;          /* e.g. HBM3, GDDR6X, LPDDR5X */
  const char *link_type;            /* nvlink, nvlink-bridge, xgmi, ici, pcie, none ... */
  const char *notes;
  const char *source;
  const char *as_of;
  const char *status;               /* shipping, announced, discontinued */
  const char *confidence;           /* high, medium, low */
  const char *host_arch;            /* of the processor it is built together with: arm64; NULL any */
  const char * const *aliases;      /* NULL-terminated: names that drivers and other catalogs use */
  const char * const *pci_ids;      /* NULL-terminated: "10de:20b0" */
  const char * const *stacks;       /* NULL-terminated: cuda, rocm, xla, ... */
  QmVendor vendor;
  QmDeviceClass device_class;
  double compute_capability;        /* NVIDIA; 0 else */
  int launch_year;
  int sold_in;                      /* modules come on a board of so many; 1 for cards */
  double memory_bytes;
  double usable_bytes;
  gboolean unified_memory;
  double bandwidth_bytes_per_second;
  double tflops_fp64;
  double tflops_fp32;
  double tflops_tf32;
  double tflops_fp16;
  double tflops_bf16;
  double tflops_fp8;
  double tflops_int8;
  double tflops_fp4;
  double tflops_fp16_accumulate_fp16;
  double power_watts;               /* board power; 0 unknown */
  double power_exponent;            /* rates go by the power that is allowed, to this */
  double most_rate;                 /* of its rates, with the most power its maker allows; 1 most */
  double link_bytes_per_second;
  int pcie_generation;
  int cpu_cores;                    /* CPUs; 0 else */
  double price_usd;
  gboolean is_hbm;
  gboolean is_unknown;              /* the device "unknown" of measured cases */
  int memories;                     /* of one device, each for its own cores; 1 most */
  int n_parts;                      /* 0: one device, not several kinds */
  const QmDevice * const *parts;    /* the cards of a mix, the largest first */
  const QmDevice *whole;            /* (nullable): the card that this is a slice of */
  guint index;                      /* in its catalog */
};

/**
 * QmOffer:
 * @id: provider/instance/region
 * @on_demand_usd_per_hour: of the whole machine; NaN unknown
 * @spot_usd_per_hour: of the whole machine; NaN unknown
 * @network_bits_per_second: of the whole machine; 0 unknown
 *
 * One kind of machine that can be rented. Strings belong to the catalog.
 */
typedef struct {
  const char *id;
  const char *provider;             /* its id */
  const char *provider_name;        /* what it calls itself; the id where that is not known */
  const char *instance;
  const char *region;
  const char *kind;                 /* vm, pod, serverless, tpu ... */
  const char *source;
  const char *as_of;
  const char *spot_as_of;
  const char *price_status;         /* listed, derived, recalled, missing */
  const char *note;
  const char *intra_node;           /* nvlink, pcie ...; NULL unknown */
  const QmDevice *device;           /* CPU machines: the host processor */
  double device_count;              /* of one machine; fractions are vGPU slices */
  int vcpus;
  double ram_bytes;
  double local_disk_bytes;
  double network_bits_per_second;
  double on_demand_usd_per_hour;
  double spot_usd_per_hour;
} QmOffer;

G_END_DECLS
