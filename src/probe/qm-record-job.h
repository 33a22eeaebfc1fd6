/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

#include "decide/qm-diagnosis.h"
#include "history/qm-progress.h"
#include "probe/qm-probe.h"
#include "probe/qm-watcher.h"

G_BEGIN_DECLS

/**
 * QmRecordOptions:
 * @command: as typed: program and arguments, or a line for the shell
 * @directory: (nullable): where it runs
 * @timeout_seconds: after which it is stopped; 0 never
 * @ledger: (nullable): file of the ledger; %NULL for that of the person
 * @estimator: (nullable): for what a cure gains
 * @resolved: (nullable): the plan that is run
 * @machine: (nullable): this computer
 */
typedef struct {
  const char *command;
  const char *directory;
  double timeout_seconds;
  const char *ledger;
  QmEstimator *estimator;
  const QmResolved *resolved;
  QmMachine *machine;
} QmRecordOptions;

#define QM_TYPE_RECORD_JOB (qm_record_job_get_type ())
G_DECLARE_FINAL_TYPE (QmRecordJob, qm_record_job, QM, RECORD_JOB, GObject)

/* A command that is recorded in a thread of its own, sample by sample into the
 * ledger. Emits "updated" after each sample and "ended" once, in the main context
 * that started it. */
QmRecordJob       *qm_record_job_start         (const QmRecordOptions *options,
                                                GError               **error);
void               qm_record_job_stop          (QmRecordJob *self);
void               qm_record_job_discard       (QmRecordJob *self);

double             qm_record_job_get_seconds   (QmRecordJob *self);
const QmProgress  *qm_record_job_get_progress  (QmRecordJob *self);
QmWatcher         *qm_record_job_get_watcher   (QmRecordJob *self);

/* when it has ended */
gboolean           qm_record_job_has_ended     (QmRecordJob *self);
const GError      *qm_record_job_get_error     (QmRecordJob *self);
const QmRun       *qm_record_job_get_run       (QmRecordJob *self);
const QmDiagnosis *qm_record_job_get_diagnosis (QmRecordJob *self);

G_END_DECLS
