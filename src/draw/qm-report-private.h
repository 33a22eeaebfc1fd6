/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-page.h"

G_BEGIN_DECLS

typedef struct {
  QmDocument *document;
  QmEstimator *estimator;
  QmRecommendation *recommendation;
  const QmResolved *resolved;
  const QmWords *words;
  const QmChoice *best;             /* NULL where nothing fits */
  const char *currency;
  guint n_figures;
} QmReport;

/* phrases */
char *qm_report_headline  (const QmReport   *report);
char *qm_report_question  (const QmReport   *report);
char *qm_report_verdict   (const QmReport   *report);
char *qm_report_where     (const QmReport   *report,
                           const QmChoice   *choice);
char *qm_report_quality   (const QmReport   *report,
                           const QmAccuracy *accuracy);
char *qm_report_standing  (const QmReport   *report,
                           guint             row);
char *qm_report_prices    (const QmReport   *report);
char *qm_report_explanation (const QmReport *report,
                             QmChartKind     kind);
char *qm_report_run_in    (const QmReport   *report,
                           const char       *heading,
                           const char       *text);

/* parts of the document */
void  qm_report_facts     (QmReport *report);
void  qm_report_answers   (QmReport *report);
void  qm_report_ladder    (QmReport *report);
void  qm_report_tables    (QmReport *report);
void  qm_report_rejections (QmReport *report,
                            guint     most);

G_END_DECLS
