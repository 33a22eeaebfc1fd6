/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "draw/qm-chart.h"

G_BEGIN_DECLS

typedef enum {
  QM_PAPER_A4,
  QM_PAPER_LETTER,
} QmPaper;

/* The PDF report. @date is ISO 8601 (it is the only thing that is not in the
 * plan and the catalog: same date, same bytes). @language is e.g. "en" or
 * "zh_CN", for the document's language tag and the fonts. */
gboolean qm_report_write      (QmEstimator      *estimator,
                               QmRecommendation *recommendation,
                               const QmWords    *words,
                               const char       *language,
                               const char       *date,
                               QmPaper           paper,
                               GOutputStream    *stream,
                               GCancellable     *cancellable,
                               GError          **error);

/* writes to a temporary file beside @path and renames it: whole or not at all */
gboolean qm_report_write_file (QmEstimator      *estimator,
                               QmRecommendation *recommendation,
                               const QmWords    *words,
                               const char       *language,
                               const char       *date,
                               QmPaper           paper,
                               const char       *path,
                               GCancellable     *cancellable,
                               GError          **error);

G_END_DECLS
