/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_ANSWER_PAGE (qm_answer_page_get_type ())
G_DECLARE_FINAL_TYPE (QmAnswerPage, qm_answer_page, QM, ANSWER_PAGE, AdwNavigationPage)

/* The choice, its four facts, why, what would change it, the matrix, charts
 * and stages. */
GtkWidget *qm_answer_page_new         (QmSession    *session);
void       qm_answer_page_show_launch (QmAnswerPage *self);

#define QM_TYPE_FACT_CARD (qm_fact_card_get_type ())
G_DECLARE_FINAL_TYPE (QmFactCard, qm_fact_card, QM, FACT_CARD, GtkBox)

typedef enum {
  QM_FACT_MEMORY,
  QM_FACT_TIME,
  QM_FACT_MONEY,
  QM_FACT_QUALITY,
  QM_N_FACTS
} QmFact;

/* one of the four facts of a choice: value, range, bar */
GtkWidget *qm_fact_card_new   (QmFact          fact);
void       qm_fact_card_set   (QmFactCard     *self,
                               const QmPlan   *plan,
                               const QmChoice *choice);

G_END_DECLS
