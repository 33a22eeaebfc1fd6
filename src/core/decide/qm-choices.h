/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-search.h"

G_BEGIN_DECLS

/* The steps from a search to an answer; private to the folder. */

void    qm_choice_from_row       (const QmSearch *search,
                                  const QmRow    *row,
                                  const QmWish   *wish,
                                  QmChoice       *choice);
gboolean qm_choice_nearest       (const QmSearch *search,
                                  const QmWish   *wish,
                                  QmChoice       *choice);
JsonNode *qm_nearest_to_json     (QmRecommendation *recommendation);
JsonNode *qm_start_to_json       (QmRecommendation *recommendation);
void    qm_choice_copy           (const QmChoice *source,
                                  QmChoice       *copy);
void    qm_choice_set_label      (QmChoice       *choice);
gboolean   qm_memory_is_taken      (const QmMemory *memory);
QmMessage *qm_memory_explain_taken (const QmMemory *memory);
void       qm_layout_note          (const QmResolved *resolved,
                                    const QmEstimate *estimate,
                                    GPtrArray        *messages);

/* (element-type QmChoice), with a clear function */
GArray *qm_choices_new           (void);
void    qm_choices_pick          (const QmSearch *search,
                                  const QmWish   *wish,
                                  GArray         *choices);
void    qm_choices_fill_matrix   (const QmSearch *search,
                                  const QmWish   *wish,
                                  const GArray   *choices,
                                  GArray         *rows);
void    qm_quotes_fill           (QmEstimator      *estimator,
                                  const QmResolved *resolved,
                                  GArray           *choices,
                                  GArray           *rows);
void    qm_matrix_compare        (GArray         *rows,
                                  const QmLimits *limits);

void    qm_choices_explain       (const QmSearch *search,
                                  const QmWish   *wish,
                                  GArray         *choices,
                                  const GArray   *rows);
QmMessage *qm_reason_load        (const QmJob    *job,
                                  const QmChoice *choice);
void    qm_choice_break_even     (const QmSearch *search,
                                  const QmWish   *wish,
                                  QmChoice       *choice);

GPtrArray *qm_search_rejections    (QmSearch       *search,
                                    const QmWish   *wish,
                                    const GArray   *choices,
                                    const GArray   *rows);
void       qm_rejections_explain_owned (const QmPlan    *plan,
                                        const GPtrArray *rejections,
                                        const GArray    *rows,
                                        GPtrArray       *messages);
GPtrArray *qm_sensitivities_new    (void);
GPtrArray *qm_quotes_sensitivities (const QmResolved *resolved,
                                    const GArray   *rows);
GPtrArray *qm_search_sensitivities (const QmSearch *search,
                                    const QmWish   *wish,
                                    const GArray   *choices);
GPtrArray *qm_search_stages        (const QmSearch *search,
                                    const QmWish   *wish,
                                    const GArray   *choices);

G_END_DECLS
