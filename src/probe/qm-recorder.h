/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <signal.h>

#include "history/qm-ledger.h"
#include "history/qm-progress.h"

G_BEGIN_DECLS

/* How far a recording is. */
typedef struct {
  gint64 id;                        /* in the ledger; 0 without one */
  double seconds;
  const QmSeries *series;           /* up to now */
  const QmProgress *progress;       /* what the program said last */
} QmRecorderState;

/**
 * QmRecorder:
 * @command: the program and its arguments
 * @directory: (nullable): where it runs
 * @interval_seconds: between two samples
 * @timeout_seconds: after which it is stopped; 0 never
 * @echo: what it prints is printed, too
 * @sysroot: (nullable): as of qm_sampler_new()
 * @ledger: (nullable): where samples go as they come
 * @signal: (nullable): a signal that is to be passed on; is set to 0 then
 * @update: (nullable): called after each sample, in the thread that records
 *
 * What to record and how.
 */
typedef struct {
  const char * const *command;
  const char *directory;
  double interval_seconds;
  double timeout_seconds;
  gboolean echo;
  const char *sysroot;
  QmLedger *ledger;
  volatile sig_atomic_t *signal;
  void (*update) (const QmRecorderState *state,
                  gpointer               data);
  gpointer data;
} QmRecorder;

gboolean qm_recorder_run (const QmRecorder *self,
                          QmRun            *run,
                          QmSeries        **series,
                          GCancellable     *cancellable,
                          GError          **error);

G_END_DECLS
