/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "probe/qm-probe.h"

G_BEGIN_DECLS

/* All paths go through one root, "" for this computer; so that a captured tree
 * can stand for it. Private to the folder. */
char     *qm_tree_read          (const char     *root,
                                 const char     *path);
gboolean  qm_tree_read_number   (const char     *root,
                                 const char     *path,
                                 double         *value);
char     *qm_tree_read_link     (const char     *root,
                                 const char     *path);
GPtrArray *qm_tree_list         (const char     *root,
                                 const char     *path);

QmProbedDevice *qm_probed_device_new  (const char *id);
void      qm_probed_device_free       (QmProbedDevice *self);
void      qm_probed_device_unknown    (QmProbedDevice *self,
                                       const char     *field,
                                       const char     *reason);

void      qm_probe_pci          (const char     *root,
                                 GPtrArray      *devices);
void      qm_probe_amd          (const char     *root,
                                 QmProbedDevice *device,
                                 const char     *folder);
void      qm_probe_nvml         (const char     *root,
                                 GPtrArray      *devices,
                                 GCancellable   *cancellable);
void      qm_probe_cpu          (const char     *root,
                                 QmProbedCpu    *cpu);
void      qm_probe_memory       (const char     *root,
                                 QmProbedMemory *memory);
void      qm_probe_storage      (const char     *root,
                                 QmProbedStorage *storage);
const QmDevice *qm_probe_match_cpu (QmCatalog   *catalog,
                                 const char     *model);

G_END_DECLS
