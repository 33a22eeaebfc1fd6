/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gtk/gtk.h>

#include "draw/qm-chart.h"

G_BEGIN_DECLS

#define QM_TYPE_CHART_DRAWING (qm_chart_drawing_get_type ())
G_DECLARE_FINAL_TYPE (QmChartDrawing, qm_chart_drawing, QM, CHART_DRAWING, GtkWidget)

/* The picture of a chart: tooltip on the nearest mark, arrow keys move between
 * marks, Enter or a click picks. Emits "mark-activated" with the mark's row of
 * the matrix. */
GtkWidget *qm_chart_drawing_new (void);
void       qm_chart_drawing_set (QmChartDrawing *self,
                                 const QmChart  *chart);

G_END_DECLS
