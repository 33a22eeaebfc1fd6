/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gtk/gtk.h>

#include "hardware/qm-catalog.h"

G_BEGIN_DECLS

void qm_model_sheet_fill (GtkWidget     *sheet,
                          const QmModel *model,
                          QmCatalog     *catalog);

G_END_DECLS
