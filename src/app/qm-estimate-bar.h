/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_ESTIMATE_BAR (qm_estimate_bar_get_type ())
G_DECLARE_FINAL_TYPE (QmEstimateBar, qm_estimate_bar, QM, ESTIMATE_BAR, GtkBox)

/* Where the way on leads. */
typedef enum {
  QM_GOAL_NEXT,
  QM_GOAL_REVIEW,
  QM_GOAL_ANSWER,
} QmGoal;

/* Back, what the answers so far come to, Next. The buttons are the actions
 * win.back and win.next. */
GtkWidget *qm_estimate_bar_new        (QmSession     *session);
void       qm_estimate_bar_set_goal   (QmEstimateBar *self,
                                       QmGoal         goal);
void       qm_estimate_bar_set_narrow (QmEstimateBar *self,
                                       gboolean       narrow);
GtkWidget *qm_estimate_bar_get_next   (QmEstimateBar *self);

G_END_DECLS
