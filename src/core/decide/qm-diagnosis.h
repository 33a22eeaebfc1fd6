/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"
#include "history/qm-run.h"
#include "history/qm-series.h"

G_BEGIN_DECLS

/* What a run is held up by. */
typedef enum {
  QM_BOTTLENECK_UNKNOWN,
  QM_BOTTLENECK_NONE,               /* nothing is wrong */
  QM_BOTTLENECK_COMPUTE,
  QM_BOTTLENECK_MEMORY,
  QM_BOTTLENECK_INPUT,              /* data are not there in time */
  QM_BOTTLENECK_STORAGE,            /* for the reason that it is slow */
  QM_BOTTLENECK_NETWORK,            /* likewise */
  QM_BOTTLENECK_COMMUNICATION,      /* between devices */
  QM_BOTTLENECK_OVERHEAD,           /* one thread of the processor hands out the work */
  QM_BOTTLENECK_THERMAL,
  QM_BOTTLENECK_POWER,
  QM_BOTTLENECK_CONTENTION,         /* other programs take the processor */
  QM_BOTTLENECK_STOLEN,             /* the host of the virtual machine does */
} QmBottleneck;

/**
 * QmDiagnosisContext:
 * @cores: logical processors the run could use; 0: what the run says, if it does
 * @memory_bytes: of the computer, or its limit; 0 unknown: what the series says
 * @estimator: (nullable): with @resolved, to say what a cure would gain
 * @resolved: (nullable): the plan of the run, its device named
 */
typedef struct {
  int cores;
  double memory_bytes;
  QmEstimator *estimator;
  const QmResolved *resolved;
} QmDiagnosisContext;

/**
 * QmCure:
 * @gain: by which factor the rate may grow; NaN where nothing says
 */
typedef struct {
  const char *code;
  QmMessage *message;
  double gain;
} QmCure;

/**
 * QmDiagnosis:
 * @confidence: 0 to 1
 * @message: what holds the run up, in a sentence
 * @evidence: (element-type QmMessage): what was seen
 * @cures: (element-type QmCure): what to do, the greatest gain first
 */
typedef struct {
  QmBottleneck bottleneck;
  double confidence;
  QmMessage *message;
  GPtrArray *evidence;
  GArray *cures;
} QmDiagnosis;

QmDiagnosis *qm_diagnose             (const QmRun              *run,
                                      const QmSeries           *series,
                                      const QmDiagnosisContext *context);
void         qm_diagnosis_free       (QmDiagnosis              *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmDiagnosis, qm_diagnosis_free)

const char  *qm_bottleneck_to_word   (QmBottleneck              bottleneck);
JsonNode    *qm_diagnosis_to_json    (const QmDiagnosis        *self);

G_END_DECLS
