/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-device.h"
#include "plan/qm-plan.h"

G_BEGIN_DECLS

void qm_device_view_shared   (const QmDevice        *mix,
                              QmDevice              *view);
void qm_device_view_resized  (const QmDevice        *device,
                              double                 memory_bytes,
                              QmDevice              *view);
void qm_device_view_limited  (const QmDevice        *device,
                              double                 power_watts,
                              QmDevice              *view);
void qm_device_view_split    (const QmDevice        *device,
                              gboolean               replicate,
                              QmConfiguration       *configuration,
                              QmDevice              *view);

G_END_DECLS
