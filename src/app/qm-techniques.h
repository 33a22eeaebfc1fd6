/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

#define QM_TYPE_TECHNIQUES (qm_techniques_get_type ())
G_DECLARE_FINAL_TYPE (QmTechniques, qm_techniques, QM, TECHNIQUES, GtkBox)

/* Switches for the ways to need less memory, each with what it frees and costs. */
GtkWidget *qm_techniques_new (void);
void       qm_techniques_set (QmTechniques     *self,
                              QmEstimator      *estimator,
                              const QmResolved *resolved,
                              const QmChoice   *choice);

G_END_DECLS
