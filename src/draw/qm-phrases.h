/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-ladder.h"

G_BEGIN_DECLS

/* Whole sentences about a choice, in the reader's language; (transfer full). */
char       *qm_phrase_headline      (const QmWords *words, const QmChoice *choice);
const char *qm_phrase_nothing       (const QmWords *words, const QmPlan   *plan);
char       *qm_phrase_hardware      (const QmChoice *choice);
char       *qm_phrase_finish        (const QmWords *words, const QmPlan   *plan,
                                     const QmEstimate *estimate);
char       *qm_phrase_terms         (const QmWords *words, const QmPlan   *plan,
                                     const QmChoice *choice);
char       *qm_phrase_format        (const QmWords *words, const QmPlan   *plan,
                                     const QmEstimate *estimate);
char       *qm_phrase_setup         (const QmWords *words, const QmPlan   *plan,
                                     const QmEstimate *estimate);
char       *qm_phrase_quality       (const QmWords *words, const QmAccuracy *accuracy);
char       *qm_phrase_quality_range (const QmWords *words, const QmAccuracy *accuracy);
const char *qm_phrase_verdict       (const QmWords *words, QmVerdict       verdict);
gboolean    qm_phrase_is_beaten     (const QmChoice *better, const QmChoice *choice);
const char *qm_phrase_standing      (const QmWords *words, QmRecommendation *recommendation,
                                     guint row, char **detail);
char       *qm_phrase_rejection     (const QmWords *words, const QmRejection *rejection);
char       *qm_phrase_way_out       (const QmWords *words, const QmLadder *ladder, char **detail);
char       *qm_phrase_rung          (const QmWords *words, const QmRung *rung);
const char *qm_phrase_bound         (const QmWords *words, QmBound         bound);
const char *qm_phrase_place         (const QmWords *words, QmPlace         place);
const char *qm_phrase_stage         (const QmWords *words, QmStage         stage);
const char *qm_phrase_field_name    (const QmWords *words, const QmPlan   *plan,
                                     const char *field);
char       *qm_phrase_field_value   (const QmWords *words, const QmPlan   *plan,
                                     const char *field, const char *value);

G_END_DECLS
