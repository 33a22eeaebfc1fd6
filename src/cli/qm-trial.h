/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum {
  QM_OUTCOME_DONE,
  QM_OUTCOME_OUT_OF_MEMORY,
  QM_OUTCOME_FAILED,
  QM_OUTCOME_TOO_LONG,
  QM_OUTCOME_STOPPED,               /* by the person */
} QmOutcome;

/**
 * QmTrialRun:
 * @seconds: from start to end
 * @per_second: the rate that the command printed last; one run over @seconds where
 *   it printed none
 * @printed_rate: it printed one
 * @status: exit status; the signal's number and 128 where one ended it
 * @last_line: of what it printed; free it
 */
typedef struct {
  QmOutcome outcome;
  double seconds;
  double per_second;
  gboolean printed_rate;
  int status;
  char *last_line;
} QmTrialRun;

gboolean qm_trial_run        (const char * const *command,
                              double              limit_seconds,
                              QmTrialRun         *run,
                              GError            **error);
gboolean qm_trial_find_rate  (const char         *text,
                              double             *per_second);
gboolean qm_trial_is_memory  (const char         *text);

G_END_DECLS
