/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-session.h"

G_BEGIN_DECLS

QmPlan *qm_session_with_first_answers (const QmPlan *plan);
char   *qm_session_dup_folder         (GFile        *file);

G_END_DECLS
