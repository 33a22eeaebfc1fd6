/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_COMPARE_DIALOG (qm_compare_dialog_get_type ())
G_DECLARE_FINAL_TYPE (QmCompareDialog, qm_compare_dialog, QM, COMPARE_DIALOG, AdwDialog)

/* The plan that is open beside another one: choice, memory, time, money, and the
 * answers in which they differ. */
AdwDialog *qm_compare_dialog_new (QmSession  *session,
                                  GFile      *file,
                                  GError    **error);

G_END_DECLS
