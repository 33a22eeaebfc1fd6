/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-figures.h"

G_BEGIN_DECLS

/* How long one more replica of a service takes until it answers. */

void       qm_cold_start_estimate (const QmJob            *job,
                                   QmPlace                 place,
                                   QmEstimate             *estimate);
JsonObject *qm_cold_start_to_json (const QmColdStart      *self);
QmMessage *qm_cold_start_explain  (const QmServingFigures *serving);

G_END_DECLS
