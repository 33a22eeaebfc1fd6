/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-catalog.h"
#include "plan/qm-plan.h"

G_BEGIN_DECLS

/* The pages of the wizard, in order. */
typedef enum {
  QM_PAGE_TASK,
  QM_PAGE_ACTIVITY,
  QM_PAGE_MODEL,
  QM_PAGE_SCALE,
  QM_PAGE_STAGE,
  QM_PAGE_BUDGET,
  QM_PAGE_REVIEW,
  QM_N_PAGES,
} QmPage;

typedef enum {
  QM_ANSWER_CHOICE,                 /* one of the words of an enumeration or @options */
  QM_ANSWER_NUMBER,
  QM_ANSWER_MONEY,
  QM_ANSWER_HOURS,
  QM_ANSWER_FRACTION,
  QM_ANSWER_YES_NO,
  QM_ANSWER_WORD,                   /* free: a model id, a device id */
  QM_ANSWER_WORDS,                  /* several of @options, e.g. cloud providers */
} QmAnswerKind;

typedef struct {
  const char *value;                /* of the plan file */
  const char *name;                 /* plain words, msgid */
  const char *gloss;                /* the field's term or an example, msgid; nullable */
  const char *icon;                 /* icon name; nullable */
  const char *term;                 /* what the field calls it, msgid; nullable */
} QmOption;

/**
 * QmQuestion:
 * @field: of the plan file, e.g. `training.epochs`
 * @applies: whether it is asked, given the answers so far
 *
 * One question of the decision flow. A field may have several, in the words of
 * different tasks; of these at most one applies to a plan. The window, `ask` and the report all work
 * from this one table.
 */
typedef struct {
  const char *field;
  QmPage page;
  QmAnswerKind kind;
  const char *title;                /* plain words, msgid */
  const char *gloss;                /* second line, msgid; nullable */
  const char *unit;                 /* msgid; nullable */
  double minimum;
  double maximum;
  const QmOption *options;          /* ends with a NULL value; nullable */
  const double *typical;            /* chips, ends with 0; nullable */
  gboolean (*applies) (const QmPlan *plan);     /* nullable: always */
} QmQuestion;

guint             qm_flow_n_questions   (void);
const QmQuestion *qm_flow_question      (guint         index);
const QmQuestion *qm_flow_find          (const char   *field);
const QmQuestion *qm_flow_find_for      (const char   *field,
                                         const QmPlan *plan);
gboolean          qm_flow_applies       (const QmQuestion *question,
                                         const QmPlan *plan);
const char       *qm_flow_page_title    (QmPage        page);      /* msgid, a question */
const char       *qm_flow_page_title_for (QmPage       page,       /* the same, in the words of the plan */
                                         const QmPlan *plan);
const char       *qm_flow_page_intro    (QmPage        page,       /* msgid, the line below the title */
                                         const QmPlan *plan);
const char       *qm_flow_page_name     (QmPage        page);      /* msgid, for the sidebar */

/* any field of a plan by its path, as text of the plan file; NULL: not answered */
char             *qm_plan_get_field     (const QmPlan *plan,
                                         const char   *field);
gboolean          qm_plan_set_field     (QmPlan       *plan,
                                         const char   *field,
                                         const char   *value,
                                         GError      **error);

G_END_DECLS
