/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-fits.h"
#include "qm-chart.h"

G_BEGIN_DECLS

/* what can be done on a device of this computer */
QmChart *qm_chart_new_fits (const QmFit    fits[QM_N_FITS],
                            const QmWords *words);

G_END_DECLS
