/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-catalog.h"
#include "model/qm-model.h"
#include "plan/qm-plan.h"

G_BEGIN_DECLS

/* How a field of the plan file is held; private to the folder. */
typedef enum {
  QM_FIELD_TEXT,                    /* char *, free */
  QM_FIELD_WORD,                    /* QmWord of an open vocabulary */
  QM_FIELD_WORDS,                   /* QmWordList */
  QM_FIELD_ENUM,
  QM_FIELD_TERNARY,
  QM_FIELD_NUMBER,                  /* double */
  QM_FIELD_COUNT,                   /* double that is whole */
  QM_FIELD_INTEGER,                 /* int */
  QM_FIELD_OBJECT,                  /* QmJsonBox * of an object */
} QmFieldKind;

typedef struct _QmJsonLines QmJsonLines;

typedef gboolean (*QmWordCheck) (const char *word);

/**
 * QmField:
 * @unset: what an unanswered number is: 0, -1 or NaN
 * @check: (nullable): whether a word is one that the program knows
 * @words: (nullable): what is right, for a message; %NULL where an unknown word
 *   is a warning only
 *
 * One field of the plan file: reader, writer, comparison and the flow all work
 * from the one table of these.
 */
typedef struct {
  const char *path;
  QmFieldKind kind;
  gsize offset;
  GType (*enum_type) (void);
  double unset;
  double minimum;
  double maximum;
  QmWordCheck check;
  const char *words;
} QmField;

const QmField *qm_plan_fields        (guint           *n);
const QmField *qm_plan_field_find    (const char      *path);
gboolean       qm_plan_field_is_set  (const QmField   *self,
                                      const QmPlan    *plan);
gboolean       qm_plan_field_equal   (const QmField   *self,
                                      const QmPlan    *a,
                                      const QmPlan    *b);
void           qm_plan_field_unset   (const QmField   *self,
                                      QmPlan          *plan);
gboolean       qm_plan_field_read    (const QmField   *self,
                                      QmPlan          *plan,
                                      JsonNode        *node,
                                      GError         **error);
JsonNode      *qm_plan_field_write   (const QmField   *self,
                                      const QmPlan    *plan);
gpointer       qm_plan_field_pointer (const QmField   *self,
                                      const QmPlan    *plan);

const char    *qm_plan_field_nearest (const char      *path);

/* text from outside, fit to be quoted on one line of a message */
char          *qm_plan_quote         (const char      *text);

/* @lines: (nullable): of the text that @object was read from */
QmPlan        *qm_plan_read          (JsonObject      *object,
                                      QmJsonLines     *lines,
                                      GPtrArray       *warnings,
                                      GError         **error);

/* the batch fields must agree; sharding must divide; and the like */
gboolean       qm_plan_check         (const QmPlan    *plan,
                                      GError         **error);
gboolean       qm_plan_check_model   (const QmPlan    *plan,
                                      const QmModel   *model,
                                      GError         **error);
gboolean       qm_plan_check_catalog (const QmPlan    *plan,
                                      QmCatalog       *catalog,
                                      GError         **error);

/* which line a member of a JSON text is on */
QmJsonLines   *qm_json_lines_new     (const char      *data,
                                      gsize            length,
                                      GError         **error);
void           qm_json_lines_free    (QmJsonLines     *self);
const char    *qm_json_lines_stopped_at (QmJsonLines   *self);
int            qm_json_lines_find    (QmJsonLines     *self,
                                      const char      *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmJsonLines, qm_json_lines_free)

G_END_DECLS
