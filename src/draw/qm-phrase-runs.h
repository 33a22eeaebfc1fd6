/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "history/qm-ledger.h"
#include "qm-chart.h"

G_BEGIN_DECLS

/* Runs of the ledger, in the reader's language. */
const char *qm_phrase_run_status  (const QmWords *words,
                                   QmRunStatus    status);
const char *qm_phrase_figure_name (const QmWords *words,
                                   const char    *key);
gboolean    qm_phrase_figure_is_named (const char *key);
char       *qm_phrase_figure      (const QmWords *words,
                                   const char    *key,
                                   double         value,
                                   const char    *unit);
char       *qm_phrase_error       (const QmWords *words,
                                   double         predicted,
                                   double         measured);

/* predicted against measured, with the line where both are the same */
QmChart    *qm_chart_new_history  (const GArray  *points,
                                   const char    *key,
                                   const QmWords *words);

G_END_DECLS
