/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_MONEY_GROUP (qm_money_group_get_type ())
G_DECLARE_FINAL_TYPE (QmMoneyGroup, qm_money_group, QM, MONEY_GROUP, AdwPreferencesGroup)

GtkWidget *qm_money_group_new (QmSession *session);

G_END_DECLS
