/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

gboolean   qm_host_is_short (const QmEstimate *estimate);
QmMessage *qm_host_explain  (const QmEstimate *estimate);

G_END_DECLS
