/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recipe.h"

G_BEGIN_DECLS

/**
 * QmSolution:
 * @tried: how often a configuration could be evaluated at all; 0 where there is
 *   none of the kind
 * @batch: for serving, the logarithm (base 2) of the sequences at once
 *
 * The best configuration of one recipe on so many devices of a kind: what tells
 * it from the others. All its figures come by qm_solution_complete().
 */
typedef struct {
  QmOutline outline;                /* of the whole job; in serving of all replicas */
  double micro_batch;
  double gradient_accumulation;
  double latency_p99_seconds;       /* serving */
  double alone_p99_seconds;         /* the same of one answer at a time: no batch is faster */
  double seconds;                   /* without start-up; NaN in serving */
  double with_interruptions_seconds; /* NaN where never interrupted */
  int recipe;
  int machines;
  int devices;                      /* of one copy in serving, else of all machines */
  int replicas;                     /* serving */
  int data_parallel;
  int tensor_parallel;
  int pipeline_parallel;
  int batch;
  QmSharding sharding;
  QmOffload offload;
  gboolean tried;
} QmSolution;

/**
 * QmTrials:
 * @considered: how many configurations were evaluated
 * @wanted: samples per second from which on a machine that loads faster would
 *   have been given the same figures; infinite where that is not told
 * @host_bytes: the most system memory that any of them takes on a machine
 */
typedef struct {
  guint64 considered;
  double wanted;
  double host_bytes;
} QmTrials;

/**
 * QmRow:
 *
 * A solution on the terms of one placement: what is ranked.
 */
typedef struct {
  int placement;
  int solution;
  double seconds;                   /* with interruptions, without start-up; NaN in serving, as the next */
  double finish_seconds;            /* what QmTime calls finish */
  double money;
  double idle_money;                /* of the hours that are paid for nothing */
  double log_money;                 /* of both, and what nobody minds; ranked again and again */
  double log_hours;                 /* the same; 0 in serving */
  double quality;                   /* p50, of the recipe; NaN unknown */
  double hurdles;                   /* how hard it is to set up, in ln units of money */
  double latency_p99_seconds;       /* of the solution, as the next */
  double alone_p99_seconds;
  guint drawbacks;                  /* bits 1 << QmHurdle */
  /* of placement and recipe, which lie too far apart to be asked for every row */
  guint8 is_owned;                  /* paid for already */
  guint8 is_rented;
  guint8 is_bought;
  guint8 is_relative;               /* @quality is */
} QmRow;

/**
 * QmNearMiss:
 * @margin: memory needed over allowed; 0 where nothing lacked memory alone
 *
 * What does not fit, but lacks the least.
 */
typedef struct {
  QmSolution solution;
  int placement;
  double margin;
} QmNearMiss;

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
  QmNearMiss nearest;
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

/* devices of all machines together */
int       qm_solution_devices      (const QmSolution  *self,
                                    const QmPlacement *placement);

/* all figures but time and cost */
void      qm_solution_complete     (const QmSolution  *self,
                                    const QmJob       *job,
                                    QmRecipe          *recipe,
                                    const QmPlacement *placement,
                                    QmEstimate        *estimate);

/* the best configuration of so many machines of a kind, by one recipe; FALSE
 * where nothing fits: @solution is then the one that comes nearest */
QmLimit   qm_search_memory_limit   (const QmJob       *job,
                                    const QmPlacement *placement,
                                    const QmOutline   *outline,
                                    double            *margin);
int       qm_search_pinned_machines (const QmJob      *job,
                                    const QmPlacement *placement);
gboolean  qm_search_solve          (const QmJob       *job,
                                    QmRecipe          *recipe,
                                    const QmPlacement *placement,
                                    QmSolution        *solution,
                                    QmTrials          *trials);

G_END_DECLS
