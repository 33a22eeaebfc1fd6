/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

typedef enum {
  QM_MEMORY_KIND_UNKNOWN,
  QM_MEMORY_KIND_DEDICATED,
  QM_MEMORY_KIND_CARVE_OUT,
  QM_MEMORY_KIND_UNIFIED,
} QmMemoryKind;

/* A field that could not be read, and why. */
typedef struct {
  const char *field;
  char *reason;
} QmUnknown;

/**
 * QmProbedDevice:
 *
 * A GPU or NPU of this computer. Numbers are 0 and strings NULL where unknown;
 * @unknown says why.
 */
typedef struct {
  char *id;                         /* PCI address, or "soc" */
  char *name;
  char *vendor;
  char *pci_id;                     /* "10de:2684" */
  double memory_bytes;
  double memory_free_bytes;
  double carve_out_bytes;           /* of the computer's, set apart for it alone; 0 none */
  QmMemoryKind memory_kind;
  double power_limit_watts;         /* what its driver lets it draw */
  char *driver;                     /* name and version */
  char *link;                       /* e.g. "PCIe 4.0 x16" */
  const QmDevice *device;           /* (nullable): of the catalog */
  gboolean suspended;
  GPtrArray *unknown;               /* of QmUnknown */
  char *remedy;                     /* (nullable): what the person should do */
} QmProbedDevice;

typedef struct {
  char *model;
  int sockets;
  int cores;
  int threads;
  int usable_threads;               /* within cgroup and affinity limits */
  char *features;                   /* "avx2 avx512_bf16 amx_tile ..." */
  const QmDevice *device;           /* (nullable): of the catalog */
} QmProbedCpu;

typedef struct {
  double total_bytes;
  double available_bytes;
  double limit_bytes;               /* of the cgroup; 0 none */
} QmProbedMemory;

typedef struct {
  char *path;
  char *kind;                       /* nvme, sata-ssd, hdd, network, unknown */
  double total_bytes;
  double free_bytes;
} QmProbedStorage;

#define QM_TYPE_MACHINE (qm_machine_get_type ())
G_DECLARE_FINAL_TYPE (QmMachine, qm_machine, QM, MACHINE, GObject)

/* @sysroot: NULL for this computer, else a folder that holds sys/ and proc/ as
 * captured. Takes well under a second; never wakes a sleeping GPU. */
QmMachine             *qm_machine_probe        (QmCatalog     *catalog,
                                                const char    *sysroot,
                                                GCancellable  *cancellable);
gboolean               qm_machine_is_flatpak   (const char    *sysroot);
QmMachine             *qm_machine_probe_waking (QmCatalog     *catalog,
                                                const char    *sysroot,
                                                GCancellable  *cancellable);
void                   qm_machine_probe_async  (QmCatalog     *catalog,
                                                const char    *sysroot,
                                                gboolean       wake,
                                                GCancellable  *cancellable,
                                                GAsyncReadyCallback callback,
                                                gpointer       user_data);
QmMachine             *qm_machine_probe_finish (GAsyncResult  *result,
                                                GError       **error);

guint                  qm_machine_n_devices    (QmMachine     *self);
const QmProbedDevice  *qm_machine_device       (QmMachine     *self,
                                                guint          index);
const QmProbedCpu     *qm_machine_cpu          (QmMachine     *self);
const QmProbedMemory  *qm_machine_memory       (QmMachine     *self);
const QmProbedStorage *qm_machine_storage      (QmMachine     *self);

/* what "this computer" means to the core */
void                   qm_machine_get_here     (QmMachine     *self,
                                                QmHere        *here);
gboolean               qm_machine_capture      (const char    *sysroot,
                                                const char    *folder,
                                                GError       **error);
JsonNode              *qm_machine_to_json      (QmMachine     *self);

G_END_DECLS
