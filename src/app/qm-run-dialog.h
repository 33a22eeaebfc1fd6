/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-history.h"

G_BEGIN_DECLS

#define QM_TYPE_RUN_DIALOG (qm_run_dialog_get_type ())
G_DECLARE_FINAL_TYPE (QmRunDialog, qm_run_dialog, QM, RUN_DIALOG, AdwDialog)

/* One run: what it was, what was predicted and measured, its tags and a note.
 * Emits "remove" and "compare" with its number. */
GtkWidget *qm_run_dialog_new  (QmHistory *history,
                               QmRun     *run);

G_END_DECLS
