/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-chart-private.h"

G_BEGIN_DECLS

#define GIB 1073741824.0

/* Charts from figures written by hand: one for each kind. */
QmChart *figures_memory   (const QmWords *words);

G_END_DECLS
