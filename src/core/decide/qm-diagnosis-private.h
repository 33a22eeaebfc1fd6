/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-diagnosis.h"

G_BEGIN_DECLS

/* What the steady part of a run shows; NaN where it was not measured. */
typedef struct {
  guint samples;
  int gpus;
  double gpu_busy;                  /* mean of all */
  double gpu_swing;                 /* standard deviation over mean, of the one that swings most */
  double gpu_memory;                /* peak over total, of the fullest */
  double gpu_power;                 /* mean over limit */
  double gpu_clock;                 /* mean over most */
  double gpu_celsius;               /* p90 */
  double throttled_thermal;         /* share of the samples */
  double throttled_power;
  double link_bytes;                /* per second, both ways, of the busiest */
  double communication;             /* share of the time, of a trace */
  double input;                     /* likewise */
  double cpu;                       /* of the computer */
  double cpu_busiest;               /* p50 of the busiest core */
  double cores_used;                /* by the run */
  double stolen;                    /* share of the processor that the host took away */
  double pressure;                  /* share of the time in which something waited for the processor */
  double waiting;                   /* share of the time in which it waits for storage */
  double disk_busy;
  double disk_bytes;                /* per second */
  double network_bytes;
  double memory;                    /* peak over total, of the run */
  double swap_bytes;                /* per second */
  double major_faults;
  int cores;
} QmSymptoms;

void       qm_diagnosis_add_cures    (QmDiagnosis              *self,
                                      const QmSymptoms         *symptoms,
                                      const QmDiagnosisContext *context);

G_END_DECLS
