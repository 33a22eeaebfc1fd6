/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/* One measured figure beside its estimate. */
typedef struct {
  char *id;
  char *key;                        /* path into the estimate */
  char *group;
  char *task;
  GStrv tags;
  double measured;
  QmRange estimated;
} QmScored;

/* A figure that could not be estimated, and why. */
typedef struct {
  char *id;
  char *key;
  char *code;
  char *message;
} QmUnscored;

typedef struct {
  GPtrArray *cases;                 /* of QmScored */
  GPtrArray *failed;                /* of QmUnscored */
} QmScore;

QmScore  *qm_score_new       (void);
void      qm_score_free      (QmScore      *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmScore, qm_score_free)

gboolean  qm_score_add_file  (QmScore      *self,
                              QmEstimator  *estimator,
                              const char   *path,
                              GError      **error);

/* over the cases of a key that @filter lets through */
typedef struct {
  guint cases;
  double median_error;
  double p90_error;
  double bias;
  double coverage;
  double median_width;              /* median p90/p10 */
} QmScoreSummary;

typedef gboolean (*QmScoreFilter) (const QmScored *scored, gpointer data);

QmScoreSummary qm_score_summarise (const QmScore *self,
                                   const char    *key,
                                   QmScoreFilter  filter,
                                   gpointer       data);
GPtrArray     *qm_score_keys      (const QmScore *self);

G_END_DECLS
