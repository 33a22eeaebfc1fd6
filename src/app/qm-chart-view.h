/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "draw/qm-chart.h"
#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_CHART_VIEW (qm_chart_view_get_type ())
G_DECLARE_FINAL_TYPE (QmChartView, qm_chart_view, QM, CHART_VIEW, GtkBox)

/* A card with a chart: its finding as title, the drawing or its table, a menu
 * to save it. Emits "row-picked" with a row of the matrix. */
GtkWidget *qm_chart_view_new       (QmChartKind       kind);
void       qm_chart_view_set       (QmChartView      *self,
                                    QmEstimator      *estimator,
                                    QmRecommendation *recommendation,
                                    guint             row);
void       qm_chart_view_show      (QmChartView      *self,
                                    QmChart          *chart);
const QmChart *qm_chart_view_get_chart (QmChartView *self);

G_END_DECLS
