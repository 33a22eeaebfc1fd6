/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "probe/qm-probe.h"
#include "probe/qm-watcher.h"

G_BEGIN_DECLS

/* What is watched, beside GPUs and NPUs, which go by their id. */
#define QM_PLACE_CPU     "cpu"
#define QM_PLACE_MEMORY  "memory"
#define QM_PLACE_DISK    "disk"
#define QM_PLACE_NETWORK "network"

#define QM_TYPE_DEVICE_LIST (qm_device_list_get_type ())
G_DECLARE_FINAL_TYPE (QmDeviceList, qm_device_list, QM, DEVICE_LIST, AdwBin)

/* The devices of this computer, each with what it does now. Emits "picked" with
 * the id of the one that is chosen. */
GtkWidget  *qm_device_list_new  (QmWatcher    *watcher);
void        qm_device_list_fill (QmDeviceList *self,
                                 QmMachine    *machine);
const char *qm_device_list_get  (QmDeviceList *self);

G_END_DECLS
