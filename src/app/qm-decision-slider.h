/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "plan/qm-flow.h"
#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_DECISION_SLIDER (qm_decision_slider_get_type ())
G_DECLARE_FINAL_TYPE (QmDecisionSlider, qm_decision_slider, QM, DECISION_SLIDER, GtkWidget)

/* whether a question asks for a limit that a slider can turn */
gboolean      qm_decision_slider_is_for    (const QmQuestion *question);

GtkWidget    *qm_decision_slider_new       (QmSession        *session,
                                            const QmQuestion *question);

/* of QmBand; empty until they are worked out, and where there are none */
const GArray *qm_decision_slider_get_bands (QmDecisionSlider *self);

G_END_DECLS
