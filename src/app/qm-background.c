/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-background.h"

/* What the thread that searches works on; it owns all of it. */
typedef struct {
  QmEstimator *estimator;
  QmResolved *resolved;
  QmHere here;
} Search;

static void
search_free (Search *self)
{
  g_object_unref (self->estimator);
  qm_resolved_free (self->resolved);
  g_free (self);
}

static void
search_in_thread (GTask        *task,
                  gpointer      source,
                  gpointer      data,
                  GCancellable *cancellable)
{
  Search *search = data;
  gint64 start = g_get_monotonic_time ();
  QmRecommendation *recommendation = qm_recommend (search->estimator, search->resolved, &search->here, cancellable);

  qm_recommendation_set_seconds (recommendation, (g_get_monotonic_time () - start) / 1e6);
  g_task_return_pointer (task, recommendation, g_object_unref);
}

/**
 * qm_background_recommend:
 * @source: who asks
 * @estimator: an estimator
 * @resolved: a plan, resolved
 * @here: what this computer has
 * @cancellable: ends it early
 * @callback: called with @source when it is done
 */
void
qm_background_recommend (GObject             *source,
                         QmEstimator         *estimator,
                         const QmResolved    *resolved,
                         const QmHere        *here,
                         GCancellable        *cancellable,
                         GAsyncReadyCallback  callback)
{
  g_autoptr (GTask) task = g_task_new (source, cancellable, callback, NULL);
  Search *search = g_new0 (Search, 1);

  search->estimator = g_object_ref (estimator);
  search->resolved = qm_resolved_copy (resolved);
  search->here = *here;
  g_task_set_source_tag (task, qm_background_recommend);
  g_task_set_task_data (task, search, (GDestroyNotify) search_free);
  g_task_set_return_on_cancel (task, FALSE);
  g_task_run_in_thread (task, search_in_thread);
}

static QmRecommendation *
finish (GAsyncResult *result)
{
  g_autoptr (QmRecommendation) recommendation = g_task_propagate_pointer (G_TASK (result), NULL);

  return g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))) ? NULL : g_steal_pointer (&recommendation);
}

/**
 * qm_background_recommend_finish:
 * @result: of qm_background_recommend()
 *
 * Returns: (transfer full) (nullable): the answer; %NULL where it was ended early
 */
QmRecommendation *
qm_background_recommend_finish (GAsyncResult *result)
{
  return finish (result);
}

typedef struct {
  QmRecommendation *recommendation;
  guint requests;
} Simulation;

static void
simulation_free (Simulation *self)
{
  g_object_unref (self->recommendation);
  g_free (self);
}

static void
simulate_in_thread (GTask        *task,
                    gpointer      source,
                    gpointer      data,
                    GCancellable *cancellable)
{
  Simulation *simulation = data;

  g_task_return_pointer (task, qm_recommendation_simulate (simulation->recommendation, simulation->requests, cancellable), g_object_unref);
}

/**
 * qm_background_simulate:
 * @source: who asks
 * @recommendation: as the search gave it
 * @requests: how many to simulate in each of three runs
 * @cancellable: ends it early
 * @callback: called with @source when it is done
 */
void
qm_background_simulate (GObject             *source,
                     QmRecommendation    *recommendation,
                     guint                requests,
                     GCancellable        *cancellable,
                     GAsyncReadyCallback  callback)
{
  g_autoptr (GTask) task = g_task_new (source, cancellable, callback, NULL);
  Simulation *simulation = g_new0 (Simulation, 1);

  simulation->recommendation = g_object_ref (recommendation);
  simulation->requests = requests;
  g_task_set_source_tag (task, qm_background_simulate);
  g_task_set_task_data (task, simulation, (GDestroyNotify) simulation_free);
  g_task_set_return_on_cancel (task, FALSE);
  g_task_run_in_thread (task, simulate_in_thread);
}

/**
 * qm_background_simulate_finish:
 * @result: of qm_background_simulate()
 * @requests: (out): how many were simulated
 *
 * Returns: (transfer full) (nullable): the answer with its latencies; %NULL where
 *   it was ended early
 */
QmRecommendation *
qm_background_simulate_finish (GAsyncResult *result,
                      guint        *requests)
{
  const Simulation *simulation = g_task_get_task_data (G_TASK (result));

  *requests = simulation->requests;
  return finish (result);
}

typedef struct {
  QmRecommendation *recommendation;
  QmHere here;
  QmDial dial;
} Turning;

static void
turning_free (Turning *self)
{
  g_object_unref (self->recommendation);
  g_free (self);
}

static void
turn_in_thread (GTask        *task,
                gpointer      source,
                gpointer      data,
                GCancellable *cancellable)
{
  Turning *turning = data;

  g_task_return_pointer (task, qm_recommendation_bands (turning->recommendation, &turning->here, turning->dial, cancellable),
                         (GDestroyNotify) g_array_unref);
}

/**
 * qm_background_bands:
 * @source: who asks
 * @recommendation: the answer now
 * @here: what this computer has
 * @dial: a limit
 * @cancellable: ends it early
 * @callback: called with @source when it is done
 */
void
qm_background_bands (GObject             *source,
                     QmRecommendation    *recommendation,
                     const QmHere        *here,
                     QmDial               dial,
                     GCancellable        *cancellable,
                     GAsyncReadyCallback  callback)
{
  g_autoptr (GTask) task = g_task_new (source, cancellable, callback, NULL);
  Turning *turning = g_new0 (Turning, 1);

  turning->recommendation = g_object_ref (recommendation);
  turning->here = *here;
  turning->dial = dial;
  g_task_set_source_tag (task, qm_background_bands);
  g_task_set_task_data (task, turning, (GDestroyNotify) turning_free);
  g_task_set_return_on_cancel (task, FALSE);
  g_task_run_in_thread (task, turn_in_thread);
}

/**
 * qm_background_bands_finish:
 * @result: of qm_background_bands()
 *
 * Returns: (transfer full) (nullable) (element-type QmBand): which hardware wins at
 *   each value; %NULL where it was ended early
 */
GArray *
qm_background_bands_finish (GAsyncResult *result)
{
  g_autoptr (GArray) bands = g_task_propagate_pointer (G_TASK (result), NULL);

  return g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))) ? NULL : g_steal_pointer (&bands);
}
