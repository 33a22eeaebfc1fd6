/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "hardware/qm-catalog.h"
#include "history/qm-run.h"

G_BEGIN_DECLS

GtkWidget  *qm_run_row_new         (QmCatalog   *catalog,
                                    const QmRun *run,
                                    const char  *key);
const char *qm_run_row_device_name (QmCatalog   *catalog,
                                    const QmRun *run);

G_END_DECLS
