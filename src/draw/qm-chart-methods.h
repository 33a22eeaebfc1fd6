/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-methods.h"
#include "qm-chart.h"

G_BEGIN_DECLS

QmChart *qm_chart_describe_methods (const GArray  *methods,
                                    QmMethod       chosen,
                                    const char    *device_name,
                                    double         usable_bytes,
                                    const QmWords *words);

G_END_DECLS
