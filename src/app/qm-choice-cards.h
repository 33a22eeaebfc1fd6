/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gtk/gtk.h>

#include "plan/qm-flow.h"
#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_CHOICE_CARDS (qm_choice_cards_get_type ())
G_DECLARE_FINAL_TYPE (QmChoiceCards, qm_choice_cards, QM, CHOICE_CARDS, GtkWidget)

/* one question whose options are cards, of which one is picked */
GtkWidget *qm_choice_cards_new (QmSession        *session,
                                const QmQuestion *question,
                                int               columns);

G_END_DECLS
