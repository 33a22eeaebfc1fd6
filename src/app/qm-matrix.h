/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

#define QM_TYPE_MATRIX (qm_matrix_get_type ())
G_DECLARE_FINAL_TYPE (QmMatrix, qm_matrix, QM, MATRIX, GtkBox)

/* The decision matrix. Emits "row-picked" with the row that is selected. */
GtkWidget *qm_matrix_new      (void);
void       qm_matrix_set      (QmMatrix         *self,
                               QmRecommendation *recommendation);
void       qm_matrix_pick     (QmMatrix         *self,
                               guint             row);

G_END_DECLS
