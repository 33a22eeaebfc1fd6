/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <math.h>

#include "decide/qm-load.h"
#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/**
 * QmElasticReplica:
 * @per_second: requests that one answers when it is busy all the time
 * @at_once: requests that it works on together
 * @latency_p99_seconds: of an answer that does not wait; NaN unknown
 * @money_per_hour: of one, in the plan's currency
 * @parts: copies of the model in one: a machine with several cards holds several
 *
 * What an autoscaler adds and removes: one machine.
 */
typedef struct {
  double per_second;
  double at_once;
  double latency_p99_seconds;
  double money_per_hour;
  int parts;
} QmElasticReplica;

/**
 * QmElasticRule:
 * @target: utilisation to come to, 0 to 1
 * @dead_band: relative deviation from it that is left alone
 * @fewest: replicas
 * @most: replicas
 * @warm_up_seconds: paid before a new replica answers
 * @cool_down_seconds: only what this whole time allows to remove is removed
 * @every_seconds: how often it looks
 */
typedef struct {
  double target;
  double dead_band;
  int fewest;
  int most;
  double warm_up_seconds;
  double cool_down_seconds;
  double every_seconds;
} QmElasticRule;

/**
 * QmElasticStep:
 * @seconds: since the start of the load
 * @per_second: requests that come
 * @replicas: paid, those that warm up among them
 * @ready: that answer
 * @utilisation: of those that are ready, 0 to 1
 * @queued: requests that wait because there is no capacity at all
 * @p99_seconds: time that 1 in 100 answers exceeds at this moment
 * @money: paid until then
 */
typedef struct {
  double seconds;
  double per_second;
  int replicas;
  int ready;
  double utilisation;
  double queued;
  double p99_seconds;
  double money;
} QmElasticStep;

/**
 * QmElasticRun:
 * @steps: (element-type QmElasticStep): a minute each
 * @money: of the whole span, in the plan's currency
 * @mean_replicas: over the span
 * @p99_seconds: time that 1 in 100 answers of the whole span exceeds; NaN unknown
 * @worst_p99_seconds: of the worst minute
 * @late_share: requests that come while there is too little capacity, 0 to 1
 */
typedef struct {
  GArray *steps;
  double money;
  double mean_replicas;
  int most_replicas;
  double p99_seconds;
  double worst_p99_seconds;
  double late_share;
} QmElasticRun;

/**
 * QmElastic:
 * @load: (element-type QmLoadPoint): what comes
 * @run: with the rule
 * @fixed: (element-type QmElasticRun): with numbers that stay; their number is
 *   their @most_replicas
 * @peak_fleet: replicas that keep the target at the peak
 */
typedef struct {
  GArray *load;
  QmElasticReplica replica;
  QmElasticRule rule;
  QmElasticRun run;
  GArray *fixed;
  int peak_fleet;
} QmElastic;

QmElastic           *qm_elastic_new          (GArray                 *load,
                                              const QmElasticReplica *replica,
                                              const QmElasticRule    *rule);
void                 qm_elastic_free         (QmElastic              *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmElastic, qm_elastic_free)

const QmElasticRun  *qm_elastic_peak_run     (const QmElastic        *self);
JsonNode            *qm_elastic_to_json      (const QmElastic        *self,
                                              const char             *currency);

void                 qm_elastic_simulate     (const GArray           *load,
                                              const QmElasticReplica *replica,
                                              const QmElasticRule    *rule,
                                              QmElasticRun           *run);
int                  qm_elastic_target       (const QmElasticRule    *rule,
                                              int                     replicas,
                                              double                  utilisation);

/* from a plan */
gboolean             qm_elastic_replica_of   (const QmChoice         *choice,
                                              QmElasticReplica       *replica);
QmElastic           *qm_elastic_of_choice    (QmEstimator            *estimator,
                                              const QmPlan           *plan,
                                              const QmChoice         *choice,
                                              GArray                 *load,
                                              const QmElasticRule    *wish,
                                              GError                **error);

/* what nobody wished for */
#define QM_ELASTIC_RULE_USUAL ((QmElasticRule) { .warm_up_seconds = NAN, .cool_down_seconds = NAN })

G_END_DECLS
