/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-catalog.h"

G_BEGIN_DECLS

void bench_detect (QmCatalog *catalog);

G_END_DECLS
