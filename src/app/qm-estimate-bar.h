/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_ESTIMATE_BAR (qm_estimate_bar_get_type ())
G_DECLARE_FINAL_TYPE (QmEstimateBar, qm_estimate_bar, QM, ESTIMATE_BAR, GtkBox)

/* How much room there is: brief says the size of the memory alone, narrow has
 * the estimate above the buttons as well. */
typedef enum {
  QM_BAR_WIDE,
  QM_BAR_BRIEF,
  QM_BAR_NARROW,
} QmBarForm;

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
void       qm_estimate_bar_set_form   (QmEstimateBar *self,
                                       QmBarForm      form);
GtkWidget *qm_estimate_bar_get_next   (QmEstimateBar *self);

G_END_DECLS
