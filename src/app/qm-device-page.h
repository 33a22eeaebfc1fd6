/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "probe/qm-probe.h"
#include "probe/qm-watcher.h"

G_BEGIN_DECLS

/* What is shown of one device. */
const QmProbedDevice *qm_device_page_find    (QmMachine  *machine,
                                              const char *id);
GtkWidget            *qm_device_head_new     (QmMachine  *machine,
                                              const char *id);
GtkWidget            *qm_device_cards_new    (QmMachine  *machine,
                                              QmWatcher  *watcher,
                                              const char *id);
GtkWidget            *qm_device_details_new  (QmMachine  *machine,
                                              const char *id);

G_END_DECLS
