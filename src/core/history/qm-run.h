/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "qm-range.h"

G_BEGIN_DECLS

/* How a run ended. */
typedef enum {
  QM_RUN_STATUS_UNSET,
  QM_RUN_STATUS_RUNNING,
  QM_RUN_STATUS_FINISHED,
  QM_RUN_STATUS_FAILED,             /* it said so itself */
  QM_RUN_STATUS_STOPPED,            /* by the person */
  QM_RUN_STATUS_TIMED_OUT,
  QM_RUN_STATUS_OUT_OF_MEMORY,
  QM_RUN_STATUS_INTERRUPTED,        /* the recorder or the machine went away */
} QmRunStatus;

/* Where its figures are from. */
typedef enum {
  QM_RUN_SOURCE_UNSET,
  QM_RUN_SOURCE_RECORDED,
  QM_RUN_SOURCE_NVIDIA_SMI,
  QM_RUN_SOURCE_TRAINER_STATE,
  QM_RUN_SOURCE_LLAMA_BENCH,
  QM_RUN_SOURCE_PYTORCH_PROFILER,
  QM_RUN_SOURCE_TENSORFLOW_PROFILER,
  QM_RUN_SOURCE_TABLE,              /* CSV or JSON of a person */
} QmRunSource;

/**
 * QmFigure:
 * @key: path of the estimate, e.g. `throughput.per_second`
 * @predicted: what the estimate said; unknown where nothing was estimated
 * @measured: what came out; NaN where it was not measured
 */
typedef struct {
  char *key;
  QmRange predicted;
  double measured;
} QmFigure;

/**
 * QmRun:
 * @id: the number people see; 0 until it is in a ledger
 * @uid: the same on every computer, so that a run is imported once
 * @started: microseconds since 1970, UTC
 * @seconds: how long it took; NaN unknown
 * @exit_status: of the command; -1 unknown
 * @device: (nullable): id of the catalog, or a name
 * @unit: (nullable): what `throughput.per_second` counts, e.g. `tokens`
 * @plan: (nullable): the plan as JSON
 * @diagnosis: (nullable): what was found to bind it, as JSON
 * @tags: (element-type utf8)
 * @figures: (element-type QmFigure)
 *
 * One run of a job: what it was, what was predicted, what came out.
 */
typedef struct {
  gint64 id;
  char *uid;
  gint64 started;
  double seconds;
  QmRunStatus status;
  QmRunSource source;
  int exit_status;
  char *label;
  char *command;
  char *machine;
  char *device;
  int devices;
  char *model;
  char *unit;
  char *plan;
  char *diagnosis;
  char *note;
  GPtrArray *tags;
  GArray *figures;
} QmRun;

QmRun      *qm_run_new            (const char   *uid);
void        qm_run_free           (QmRun        *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmRun, qm_run_free)

gboolean    qm_run_add_tag        (QmRun        *self,
                                   const char   *tag);
char       *qm_run_join_tags      (const QmRun  *self);
QmFigure   *qm_run_figure         (const QmRun  *self,
                                   const char   *key);
QmFigure   *qm_run_ensure_figure  (QmRun        *self,
                                   const char   *key);
double      qm_run_measured       (const QmRun  *self,
                                   const char   *key);
void        qm_run_set_measured   (QmRun        *self,
                                   const char   *key,
                                   double        value);
double      qm_run_predicted      (const QmRun  *self,
                                   const char   *key);

const char *qm_run_status_to_word   (QmRunStatus  status);
QmRunStatus qm_run_status_from_word (const char  *word);
const char *qm_run_source_to_word   (QmRunSource  source);
QmRunSource qm_run_source_from_word (const char  *word);

/* One figure of two runs, side by side; NaN where one lacks it. */
typedef struct {
  const char *key;                  /* of one of the runs */
  double first;
  double second;
  double ratio;                     /* second / first */
} QmFigurePair;

/* One answer of the plan that differs; NULL where one does not give it. */
typedef struct {
  char *field;
  char *first;
  char *second;
} QmPlanDifference;

GArray     *qm_runs_compare         (const QmRun *first,
                                     const QmRun *second);
GPtrArray  *qm_runs_compare_plans   (const QmRun *first,
                                     const QmRun *second);

G_END_DECLS
