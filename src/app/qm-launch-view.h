/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_LAUNCH_VIEW (qm_launch_view_get_type ())
G_DECLARE_FINAL_TYPE (QmLaunchView, qm_launch_view, QM, LAUNCH_VIEW, GtkBox)

/* How to start the job on the hardware of a choice: the ways that there are,
 * what each needs, and its files to copy or save. */
GtkWidget *qm_launch_view_new        (void);
void       qm_launch_view_set        (QmLaunchView     *self,
                                      QmSession        *session,
                                      QmRecommendation *recommendation,
                                      const QmChoice   *choice);
void       qm_launch_view_grab_focus (QmLaunchView     *self);

G_END_DECLS
