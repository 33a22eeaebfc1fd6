/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_RECORD_DIALOG (qm_record_dialog_get_type ())
G_DECLARE_FINAL_TYPE (QmRecordDialog, qm_record_dialog, QM, RECORD_DIALOG, AdwDialog)

/* Records a run: asks for the command, shows how it goes, and what held it up. */
GtkWidget *qm_record_dialog_new (QmSession *session);

G_END_DECLS
