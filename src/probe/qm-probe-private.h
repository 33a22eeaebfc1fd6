/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "probe/qm-probe.h"

G_BEGIN_DECLS

/* All paths go through one root, "" for this computer; so that a captured tree
 * can stand for it. Private to the folder. */
char            *qm_tree_read             (const char      *root,
                                           const char      *path);
char            *qm_tree_read_in          (const char      *root,
                                           const char      *folder,
                                           const char      *name);
gboolean         qm_tree_read_number      (const char      *root,
                                           const char      *folder,
                                           const char      *name,
                                           double          *value);
char            *qm_tree_read_link        (const char      *root,
                                           const char      *path);
gboolean         qm_tree_has              (const char      *root,
                                           const char      *folder,
                                           const char      *name);
GPtrArray       *qm_tree_list             (const char      *root,
                                           const char      *path);
char            *qm_tree_value            (const char      *text,
                                           const char      *key,
                                           const char      *separator);

char            *qm_tree_sensors          (const char      *root,
                                           const char      *folder);

GPtrArray       *qm_cgroup_folders        (const char      *root,
                                           const char      *controller);

/* PCI addresses as numbers: drivers write the domain with four digits or eight. */
gboolean         qm_pci_address_equal     (const char      *a,
                                           const char      *b);

/* What a graphics driver of the kernel says of a device's memory. */
typedef enum {
  QM_DRM_MEMORY_UNKNOWN,
  QM_DRM_MEMORY_SHARED,
  QM_DRM_MEMORY_OWN,
} QmDrmMemory;

/* How a driver is called: as ioctl(), on what @data means. */
typedef struct {
  int (*call) (gpointer      data,
               unsigned long request,
               gpointer      argument);
  gpointer data;
} QmDrm;

QmDrmMemory      qm_drm_read_memory       (const QmDrm     *drm,
                                           const char      *driver,
                                           double          *bytes);
QmDrmMemory      qm_probe_drm             (const char      *root,
                                           const char      *folder,
                                           const char      *driver,
                                           double          *bytes);

QmProbedDevice  *qm_probed_device_new     (const char      *id);
void             qm_probed_device_free    (QmProbedDevice  *self);
void             qm_probed_device_unknown (QmProbedDevice  *self,
                                           const char      *field,
                                           const char      *reason);
gboolean         qm_probed_device_is_unknown (const QmProbedDevice *self,
                                           const char      *field);
void             qm_probed_device_set_power_limit (QmProbedDevice *self,
                                           double           watts);
void             qm_probed_device_settle  (QmProbedDevice  *self,
                                           QmCatalog       *catalog,
                                           const QmProbedMemory *memory);

void             qm_probe_pci             (const char      *root,
                                           gboolean         wake,
                                           GPtrArray       *devices);
char            *qm_probe_pci_signature   (const char      *root);
void             qm_probe_amd             (const char      *root,
                                           QmProbedDevice  *device,
                                           const char      *folder);
char            *qm_probe_amd_name        (const char      *root,
                                           const char      *folder);
const char      *qm_probe_neural_unit_name (const char     *driver);
void             qm_probe_soc             (const char      *root,
                                           GPtrArray       *devices);
void             qm_probe_nvml            (const char      *root,
                                           GPtrArray       *devices,
                                           GCancellable    *cancellable);
void             qm_probe_cpu             (const char      *root,
                                           QmProbedCpu     *cpu);
void             qm_probe_memory          (const char      *root,
                                           QmProbedMemory  *memory);
void             qm_probe_storage         (const char      *root,
                                           const char      *folder,
                                           QmProbedStorage *storage);
const QmDevice  *qm_probe_match_cpu       (QmCatalog       *catalog,
                                           const char      *model);

G_END_DECLS
