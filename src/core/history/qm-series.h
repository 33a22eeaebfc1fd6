/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/**
 * QmSeries:
 * @channels: (element-type utf8): names with their unit, e.g. `gpu0_power_watts`
 * @times: seconds since the run began, ascending
 * @values: a row of as many numbers as there are channels for each time; NaN
 *   where nothing was measured
 *
 * What was measured over the time of a run.
 */
typedef struct {
  GPtrArray *channels;
  GArray *times;                    /* of double */
  GArray *values;                   /* of float */
} QmSeries;

QmSeries *qm_series_new          (const char * const *channels);
void      qm_series_free         (QmSeries           *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmSeries, qm_series_free)

guint     qm_series_length       (const QmSeries     *self);
int       qm_series_find         (const QmSeries     *self,
                                  const char         *channel);
void      qm_series_append       (QmSeries           *self,
                                  double              at,
                                  const float        *values);
float     qm_series_value        (const QmSeries     *self,
                                  guint               row,
                                  int                 channel);

/* What a channel did in the time from @from to @to. */
typedef struct {
  guint n;                          /* values that are known */
  double mean;
  double deviation;                 /* standard */
  double least;
  double most;
  double median;
  double p90;
} QmSeriesSummary;

void      qm_series_summarise    (const QmSeries     *self,
                                  int                 channel,
                                  double              from,
                                  double              to,
                                  QmSeriesSummary    *summary);
double    qm_series_warm_up      (const QmSeries     *self,
                                  int                 channel);

JsonNode *qm_series_to_json      (const QmSeries     *self);
QmSeries *qm_series_from_json    (JsonNode           *node);

G_END_DECLS
