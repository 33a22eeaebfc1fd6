/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "hardware/qm-catalog.h"
#include "history/qm-run.h"

G_BEGIN_DECLS

AdwDialog *qm_run_comparison_new (QmCatalog   *catalog,
                                  const QmRun *first,
                                  const QmRun *second);

G_END_DECLS
