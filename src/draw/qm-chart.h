/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cairo.h>
#include <gio/gio.h>

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/* The charts, by the names of the command line. */
typedef enum {
  QM_CHART_MEMORY,
  QM_CHART_SIZING,
  QM_CHART_SCALING,
  QM_CHART_SERVING,
  QM_CHART_LATENCY,
  QM_CHART_COST_TIME,
  QM_CHART_ACCURACY,
  QM_CHART_BUY_OR_RENT,
  QM_CHART_SPOT,
  QM_CHART_ELASTIC,
  QM_CHART_STAGES,
  QM_CHART_DECISION_HOURS,          /* which hardware wins at each deadline */
  QM_CHART_DECISION_MONEY,          /* and at each budget */
  QM_CHART_HISTORY,                 /* of the ledger, not of a plan */
  QM_CHART_COMPARED,                /* of two plans */
  QM_CHART_FITS,                    /* of this computer */
  QM_CHART_METHODS,                 /* of the ways to tune a model */
} QmChartKind;

/**
 * QmPalette:
 *
 * The colours of a chart. The window fills it from its theme; paper and files
 * use qm_palette_print(), qm_palette_light() and qm_palette_dark().
 */
typedef struct {
  double red, green, blue, alpha;
} QmColor;

typedef struct {
  QmColor text, second_text, grid, axis, card;
  QmColor blue, orange, teal, purple, ochre, grey;
  gboolean dark;
} QmPalette;

const QmPalette *qm_palette_light (void);
const QmPalette *qm_palette_dark  (void);
const QmPalette *qm_palette_print (void);
const QmPalette *qm_palette_light_contrast (void);
const QmPalette *qm_palette_dark_contrast  (void);

/* A chart, described: what is drawn, the sentence that it finds, the table of
 * its data. Drawing it is pure: the same picture on screen, PNG, SVG and PDF. */
typedef struct _QmChart QmChart;

QmChart    *qm_chart_new           (QmChartKind       kind,
                                    QmEstimator      *estimator,
                                    QmRecommendation *recommendation,
                                    guint             row,
                                    const QmWords    *words,
                                    GError          **error);
QmChart    *qm_chart_new_elastic   (QmEstimator      *estimator,
                                    QmRecommendation *recommendation,
                                    guint             row,
                                    GArray           *load,
                                    const QmWords    *words,
                                    GError          **error);
void        qm_chart_free          (QmChart          *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmChart, qm_chart_free)

const char *qm_chart_get_title     (const QmChart    *self);   /* the finding */
const char *qm_chart_get_subtitle  (const QmChart    *self);   /* what is drawn */
const char *qm_chart_get_summary   (const QmChart    *self);   /* for a screen reader */

/* the data as a table: row 0 holds the heads */
guint       qm_chart_n_table_rows    (const QmChart *self);
guint       qm_chart_n_table_columns (const QmChart *self);
const char *qm_chart_table_cell      (const QmChart *self,
                                      guint          row,
                                      guint          column);

/* without title and subtitle: they are text of the page around it */
double      qm_chart_natural_height (const QmChart    *self,
                                     double            width);
void        qm_chart_draw           (const QmChart    *self,
                                     cairo_t          *cr,
                                     double            width,
                                     double            height,
                                     const QmPalette  *palette);

/* marks, for tooltips and the keyboard: nearest to a point, its text, its row */
guint       qm_chart_n_marks       (const QmChart    *self);
int         qm_chart_mark_at       (const QmChart    *self,
                                    double            width,
                                    double            height,
                                    double            x,
                                    double            y);
const char *qm_chart_mark_text     (const QmChart    *self,
                                    guint             mark);
int         qm_chart_mark_row      (const QmChart    *self,
                                    guint             mark);
void        qm_chart_draw_cursor   (const QmChart    *self,
                                    cairo_t          *cr,
                                    double            width,
                                    double            height,
                                    const QmPalette  *palette,
                                    guint             mark);

/* a file with title and subtitle, by its ending: .png .svg .pdf */
double      qm_chart_page_height   (const QmChart    *self,
                                    double            width);
gboolean    qm_chart_save          (const QmChart    *self,
                                    const char       *path,
                                    double            width,
                                    double            height,
                                    gboolean          dark,
                                    GError          **error);

G_END_DECLS
