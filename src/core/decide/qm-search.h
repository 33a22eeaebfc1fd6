/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recipe.h"

G_BEGIN_DECLS

/**
 * QmSolution:
 *
 * The best configuration of one recipe on so many devices of a kind.
 */
typedef struct {
  QmEstimate estimate;              /* without time and cost */
  int recipe;
  int machines;
} QmSolution;

/**
 * QmRow:
 *
 * A solution on the terms of one placement: what is ranked.
 */
typedef struct {
  int placement;
  int solution;
  double seconds;                   /* NaN in serving */
  double money;
  double idle_money;                /* of the hours that are paid for nothing */
  double log_money;                 /* of both, and what nobody minds; ranked again and again */
  double log_hours;                 /* the same; 0 in serving */
  double quality;                   /* p50, of the recipe; NaN unknown */
  double hurdles;                   /* how hard it is to set up, in ln units of money */
  guint drawbacks;                  /* bits 1 << QmHurdle */
  double money_half_width;
  double seconds_half_width;
  double fit_probability;
  double memory_fraction;
  QmLimit limit;                    /* first one broken */
  double margin;                    /* of that limit: needed over allowed */
} QmRow;

/* the rows in the order of an objective */
typedef struct _QmOrder QmOrder;

typedef struct {
  QmJob job;
  GPtrArray *recipes;               /* of QmRecipe */
  GArray *placements;               /* of QmPlacement */
  GArray *solutions;                /* of QmSolution */
  GArray *rows;                     /* of QmRow */
  QmOrder **orders;                 /* by QmObjective; NULL until asked for */
  guint8 *device_limits;            /* by index in the catalog */
  double *device_margins;
  guint64 considered;
} QmSearch;

QmSearch *qm_search_new  (QmEstimator      *estimator,
                          const QmResolved *resolved,
                          const QmHere     *here,
                          GCancellable     *cancellable);
void      qm_search_free (QmSearch         *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmSearch, qm_search_free)

/* The limits of a person, apart from the plan so that they can be varied. */
typedef struct {
  QmObjective objective;
  double money;                     /* NaN none */
  double seconds;
  double quality;
  gboolean local_only;
} QmWish;

void      qm_search_wish      (const QmSearch *self,
                               QmWish         *wish);
double    qm_search_score     (const QmSearch *self,
                               const QmRow    *row,
                               const QmWish   *wish,
                               QmLimit        *limit,
                               double         *margin);
gboolean  qm_search_breaks    (const QmSearch *self,
                               const QmRow    *row,
                               const QmWish   *wish,
                               QmLimit        *limit,
                               double         *margin);
double    qm_search_least_score (const QmSearch *self,
                               const QmRow    *row,
                               const QmWish   *wish);
int       qm_search_best      (const QmSearch *self,
                               const QmWish   *wish);

/* the best of the rows that @filter lets through */
typedef gboolean (*QmRowFilter) (const QmSearch *self,
                                 const QmRow    *row,
                                 gconstpointer   data);

int       qm_search_best_of   (const QmSearch *self,
                               const QmWish   *wish,
                               QmRowFilter     filter,
                               gconstpointer   data);

/* all figures of a row */
void      qm_search_complete  (const QmSearch *self,
                               const QmRow    *row,
                               QmEstimate     *estimate);

/* the best configuration of @devices of a kind, by one recipe; FALSE where
 * nothing fits: @estimate is then the one that comes nearest, and has no
 * devices where there is none */
QmLimit   qm_search_memory_limit (const QmJob       *job,
                                  const QmPlacement *placement,
                                  const QmEstimate  *estimate,
                                  double            *margin);
int       qm_search_pinned_machines (const QmJob       *job,
                                     const QmPlacement *placement);
gboolean  qm_search_solve     (const QmJob       *job,
                               QmRecipe          *recipe,
                               const QmPlacement *placement,
                               int               *machines,
                               QmEstimate        *estimate,
                               guint64           *considered);

G_END_DECLS
