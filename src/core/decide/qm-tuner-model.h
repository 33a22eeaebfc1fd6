/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What can be set on a training job. */
typedef enum {
  QM_KNOB_BATCH,                    /* samples at once on each device */
  QM_KNOB_WORKERS,                  /* that load data; 0 is the program itself */
  QM_KNOB_ACCUMULATION,             /* micro-batches a step */
  QM_KNOB_PRECISION,                /* 0 32-bit, 1 16-bit, 2 8-bit */
  QM_KNOB_RECOMPUTE,                /* 0 keeps activations, 1 computes them again */
  QM_KNOB_REPLICAS,                 /* devices that share the work */
  QM_N_KNOBS,
} QmKnob;

#define QM_MOST_VALUES 16

/**
 * QmTunerSpace:
 * @n: of values, 1 or more of each knob
 * @values: rising
 * @cores: processors for the loaders
 */
typedef struct {
  int n[QM_N_KNOBS];
  double values[QM_N_KNOBS][QM_MOST_VALUES];
  double cores;
} QmTunerSpace;

/* Index of the value of each knob. */
typedef struct {
  gint8 at[QM_N_KNOBS];
} QmTunerSettings;

/**
 * QmTrialMetrics:
 * @per_second: samples, in any unit that stays the same
 * @utilisation: share of the time that the device computes
 * @memory: share of the device memory at the peak
 * @stall: share of the time that waits for data
 * @communication: share of the time that goes into traffic and optimizer step
 *
 * What a trial measures, or the model predicts; NaN unknown.
 */
typedef struct {
  double per_second;
  double utilisation;
  double memory;
  double stall;
  double communication;
} QmTrialMetrics;

/* The model's coefficients, as natural logarithms. */
typedef enum {
  QM_TUNER_COMPUTE,                 /* seconds of a sample in 32 bit */
  QM_TUNER_LAUNCH,                  /* of a micro-batch, whatever its size, over that; so are the next */
  QM_TUNER_LOAD,                    /* of a sample for one loader */
  QM_TUNER_STEP,                    /* of an optimizer step */
  QM_TUNER_TRAFFIC,                 /* of one exchange of gradients */
  QM_TUNER_CROWDING,                /* slow-down by twice as many loaders as cores */
  QM_TUNER_STATES,                  /* share of memory without samples */
  QM_TUNER_ACTIVATIONS,             /* share of memory of one sample */
  QM_TUNER_N_COEFFICIENTS,
} QmTunerCoefficient;

/**
 * QmTunerTheory:
 * @mean: of each coefficient's logarithm
 * @deviation: how far off it may be
 */
typedef struct {
  double mean[QM_TUNER_N_COEFFICIENTS];
  double deviation[QM_TUNER_N_COEFFICIENTS];
} QmTunerTheory;

/* What was measured at one place. */
typedef struct {
  QmTunerSettings settings;
  QmTrialMetrics metrics;
  gboolean failed;                  /* ran out of memory, or crashed: there are no metrics */
  gboolean out_of_memory;
} QmTunerTrial;

guint           qm_tuner_space_size     (const QmTunerSpace    *self);
guint           qm_tuner_space_index    (const QmTunerSpace    *self,
                                         const QmTunerSettings *settings);
QmTunerSettings qm_tuner_space_settings (const QmTunerSpace    *self,
                                         guint                  index);

void            qm_tuner_theory_usual   (QmTunerTheory         *self,
                                         const QmTunerSpace    *space);
void            qm_tuner_predict        (const QmTunerSpace    *space,
                                         const double          *coefficients,
                                         const QmTunerSettings *settings,
                                         QmTrialMetrics        *metrics);
void            qm_tuner_fit            (const QmTunerSpace    *space,
                                         const QmTunerTheory   *theory,
                                         const GArray          *trials,
                                         double                *coefficients);

G_END_DECLS
