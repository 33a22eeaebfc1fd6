/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-session.h"

G_BEGIN_DECLS

typedef struct _QmLoading QmLoading;

struct _QmSession {
  GObject parent_instance;

  QmLoading *loading;               /* (nullable): reading the catalog */
  QmCatalog *catalog;               /* NULL until it is read, as are all that come of it */
  QmEstimator *plain;               /* as the catalog says */
  QmEstimator *estimator;           /* corrected by runs of the person */
  GPtrArray *past_runs;             /* (nullable): what those took in memory */
  QmMachine *machine;
  GSettings *settings;              /* (nullable): none where the schema is not installed */
  GPtrArray *retired;               /* of QmCatalog: what is on the screen may still name their offers */

  QmPlan *plan;
  QmResolved *resolved;             /* NULL while the answers do not make sense */
  QmRecommendation *recommendation;
  GCancellable *simulating;
  guint n_simulations;              /* that run */
  guint simulated_requests;         /* of the one that is shown */
  char *problem;                    /* why @resolved is NULL */
  GFile *file;
  GQueue undo;                      /* of QmPlan, newest first */

  GCancellable *cancellable;        /* of the search that runs */
  gboolean busy;
  guint resting;                    /* the source that gives memory back; 0 for none */
  gboolean learning;                /* the answer may yet be corrected */
};

QmPlan *qm_session_with_first_answers (const QmPlan *plan);
char   *qm_session_dup_folder         (GFile        *file);
void    qm_session_plan_changed       (QmSession    *self);
void    qm_session_open_settings      (QmSession    *self);
void    qm_session_set_today          (QmEstimator  *estimator);

void    qm_session_rest               (QmSession    *self);

/* the catalog, read in a thread */
void    qm_session_start_loading      (QmSession    *self);
void    qm_session_stop_loading       (QmSession    *self);

/* what was found of this computer */
void    qm_session_set_machine        (QmSession  *self,
                                       QmMachine  *machine);

G_END_DECLS
