/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-session.h"

G_BEGIN_DECLS

/* (transfer floating): what holds for all plans */
AdwDialog *qm_preferences_dialog_new (QmSession *session);

G_END_DECLS
