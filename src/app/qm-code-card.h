/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "export/qm-launch.h"

G_BEGIN_DECLS

#define QM_TYPE_CODE_CARD (qm_code_card_get_type ())
G_DECLARE_FINAL_TYPE (QmCodeCard, qm_code_card, QM, CODE_CARD, GtkBox)

/* A file to read, copy and save. */
GtkWidget *qm_code_card_new  (const QmLaunchFile *file);
void       qm_code_card_save_async  (QmCodeCard           *self,
                                     GFile                *file,
                                     GAsyncReadyCallback   callback,
                                     gpointer              data);
gboolean   qm_code_card_save_finish (QmCodeCard           *self,
                                     GAsyncResult         *result,
                                     GError              **error);

G_END_DECLS
