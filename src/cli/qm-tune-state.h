/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "decide/qm-tuner.h"
#include "qm-trial.h"

G_BEGIN_DECLS

#define QM_TUNE_ERROR (qm_tune_error_quark ())

typedef enum {
  QM_TUNE_ERROR_SYNTAX,
  QM_TUNE_ERROR_OTHER,              /* of another command or other values */
} QmTuneError;

GQuark qm_tune_error_quark (void);

/* One trial of a command, as it is kept and printed. */
typedef struct {
  QmTunerSettings settings;
  QmOutcome outcome;
  double per_second;
  double seconds;
  int status;
} QmTuneTrial;

/**
 * QmTuneState:
 * @trials: (element-type QmTuneTrial): in their order
 *
 * What a search has tried: a file that is whole after every trial.
 */
typedef struct {
  char *path;
  const QmTunerSpace *space;
  const char * const *command;
  GArray *trials;
} QmTuneState;

char       *qm_tune_default_path  (const char * const  *command,
                                   const QmTunerSpace  *space);
gboolean    qm_tune_state_open    (QmTuneState         *self,
                                   const char          *path,
                                   const QmTunerSpace  *space,
                                   const char * const  *command,
                                   GError             **error);
void        qm_tune_state_clear   (QmTuneState         *self);
gboolean    qm_tune_state_add     (QmTuneState         *self,
                                   const QmTuneTrial   *trial,
                                   GError             **error);

JsonObject *qm_tune_settings_json (const QmTunerSpace    *space,
                                   const QmTunerSettings *settings);
JsonObject *qm_tune_metrics_json  (const QmTuneTrial     *trial);
void        qm_tune_trial_observe (const QmTuneTrial     *trial,
                                   QmTuner               *tuner);
gboolean    qm_tune_knob_values   (QmTunerSpace          *space,
                                   QmKnob                 knob,
                                   const char            *list);

extern const char * const qm_tune_knob_names[3];

G_END_DECLS
