/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

#include "history/qm-series.h"
#include "probe/qm-sampler.h"

G_BEGIN_DECLS

#define QM_TYPE_WATCHER (qm_watcher_get_type ())
G_DECLARE_FINAL_TYPE (QmWatcher, qm_watcher, QM, WATCHER, GObject)

/* Samples are kept for so many seconds at the usual interval. */
#define QM_WATCHER_KEPT 600

/* What this computer does, sample after sample, taken in a thread of its own
 * while somebody looks. Emits "sampled" after each, and "devices-changed" when a
 * device comes, goes, falls asleep, wakes, or changes its driver. */
QmWatcher    *qm_watcher_new          (const char *sysroot);

/* one that is given its samples, as of a run that is recorded */
QmWatcher    *qm_watcher_new_fed      (const char * const *channels);
void          qm_watcher_push         (QmWatcher  *self,
                                       double      at,
                                       const float *values);

void          qm_watcher_hold         (QmWatcher  *self);
void          qm_watcher_release      (QmWatcher  *self);

double        qm_watcher_get_interval (QmWatcher  *self);
void          qm_watcher_set_interval (QmWatcher  *self,
                                       double      seconds);

/* the samples up to now; times are seconds of the monotonic clock */
guint         qm_watcher_length       (QmWatcher  *self);
double        qm_watcher_time         (QmWatcher  *self,
                                       guint       index);
guint         qm_watcher_n_channels   (QmWatcher  *self);
int           qm_watcher_find         (QmWatcher  *self,
                                       const char *channel);
float         qm_watcher_value        (QmWatcher  *self,
                                       guint       index,
                                       int         channel);
float         qm_watcher_latest       (QmWatcher  *self,
                                       const char *channel);
const float  *qm_watcher_get_cores    (QmWatcher  *self,
                                       guint      *n);
int           qm_watcher_find_gpu     (QmWatcher  *self,
                                       const char *id);
QmSeries     *qm_watcher_dup_series   (QmWatcher  *self,
                                       double      seconds);

G_END_DECLS
