/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "plan/qm-flow.h"
#include "qm-session.h"

G_BEGIN_DECLS

/* A row of a boxed list that asks one question: a combo, a switch, or a number
 * with typical values. */
GtkWidget *qm_question_row_new (QmSession        *session,
                                const QmQuestion *question);

#define QM_TYPE_NUMBER_ROW (qm_number_row_get_type ())
G_DECLARE_FINAL_TYPE (QmNumberRow, qm_number_row, QM, NUMBER_ROW, AdwPreferencesRow)

GtkWidget *qm_number_row_new   (QmSession        *session,
                                const QmQuestion *question);
GtkWidget *qm_number_row_get_unit (QmNumberRow   *self);

#define QM_TYPE_PROVIDERS_ROW (qm_providers_row_get_type ())
G_DECLARE_FINAL_TYPE (QmProvidersRow, qm_providers_row, QM, PROVIDERS_ROW, AdwExpanderRow)

GtkWidget *qm_providers_row_new (QmSession       *session,
                                 const QmQuestion *question);

#define QM_TYPE_OWNED_ROW (qm_owned_row_get_type ())
G_DECLARE_FINAL_TYPE (QmOwnedRow, qm_owned_row, QM, OWNED_ROW, AdwExpanderRow)

GtkWidget *qm_owned_row_new    (QmSession        *session);

char      *qm_describe_providers (QmCatalog       *catalog,
                                  const char      *value);

/* "20k", "1.5 M", "7B", "20,000" → a number; NaN where it is none */
double     qm_parse_quantity   (const char       *text,
                                const QmWords    *words);

/* the value of a field as people read it; (transfer full) */
char      *qm_describe_answer  (const QmQuestion *question,
                                const char       *value,
                                const char       *currency);

G_END_DECLS
