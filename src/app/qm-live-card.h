/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-live-drawing.h"

G_BEGIN_DECLS

#define QM_TYPE_LIVE_CARD (qm_live_card_get_type ())
G_DECLARE_FINAL_TYPE (QmLiveCard, qm_live_card, QM, LIVE_CARD, GtkBox)

/* One quantity of a device: its name, what it is now, and how it was. It hides
 * while nothing is known of it. */
GtkWidget *qm_live_card_new       (QmWatcher        *watcher,
                                   const char       *title,
                                   const QmLiveLook *look);
void       qm_live_card_set_note  (QmLiveCard       *self,
                                   const char       *note);
void       qm_live_card_set_limit (QmLiveCard       *self,
                                   double            limit,
                                   const char       *text);

G_END_DECLS
