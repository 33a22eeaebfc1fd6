/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

#include "decide/qm-recommendation.h"
#include "probe/qm-probe.h"

G_BEGIN_DECLS

#define QM_TYPE_SESSION (qm_session_get_type ())
G_DECLARE_FINAL_TYPE (QmSession, qm_session, QM, SESSION, GObject)

/* The plan that is open, what it resolves to, and its answer. Emits "loaded" when
 * the catalog is read, with an error where what the person added to it cannot be and
 * is left out, or where nothing can be and there is no catalog; "plan-changed" when an
 * answer changes, "answered" when the recommendation is there, "simulated" when its
 * latencies are better known, "machine-changed" when detection is done, and notifies
 * "busy" and "title". */
char             *qm_session_dup_data_path      (const char     *name);

QmSession        *qm_session_new                (void);
gboolean          qm_session_get_loading        (QmSession      *self);
void              qm_session_wait               (QmSession      *self);

QmEstimator      *qm_session_get_estimator      (QmSession      *self);
void              qm_session_learn              (QmSession           *self,
                                                 GPtrArray           *past_runs,
                                                 const QmCalibration *calibration);
void              qm_session_set_learning       (QmSession      *self,
                                                 gboolean        learning);
gboolean          qm_session_get_learning       (QmSession      *self);
GSettings        *qm_session_get_settings       (QmSession      *self);
char             *qm_session_dup_own_catalog    (void);
gboolean          qm_session_reload             (QmSession      *self,
                                                 GError        **error);
QmCatalog        *qm_session_get_catalog        (QmSession      *self);
QmMachine        *qm_session_get_machine        (QmSession      *self);
void              qm_session_probe              (QmSession      *self,
                                                 gboolean        wake);

const QmPlan     *qm_session_get_plan           (QmSession      *self);
const QmResolved *qm_session_get_resolved       (QmSession      *self);
QmRecommendation *qm_session_get_recommendation (QmSession      *self);
const char       *qm_session_get_problem        (QmSession      *self);

/* one answer; NULL takes it back. Others stay as they are. */
gboolean          qm_session_set_answer         (QmSession      *self,
                                                 const char     *field,
                                                 const char     *value,
                                                 GError        **error);
void              qm_session_change_plan        (QmSession      *self,
                                                 const QmPlan   *changed);
char             *qm_session_get_answer         (QmSession      *self,
                                                 const char     *field);
char             *qm_session_get_effective      (QmSession      *self,
                                                 const char     *field);
void              qm_session_set_model_file     (QmSession      *self,
                                                 const char     *path);
void              qm_session_set_owned          (QmSession      *self,
                                                 const QmOwned  *owned);
void              qm_session_set_plan           (QmSession      *self,
                                                 QmPlan         *plan,
                                                 GFile          *file);
void              qm_session_reset              (QmSession      *self);
gboolean          qm_session_can_undo           (QmSession      *self);
void              qm_session_undo               (QmSession      *self);

gboolean          qm_session_open               (QmSession      *self,
                                                 GFile          *file,
                                                 GError        **error);
gboolean          qm_session_save               (QmSession      *self,
                                                 GFile          *file,
                                                 GError        **error);
GFile            *qm_session_get_file           (QmSession      *self);
char             *qm_session_dup_title          (QmSession      *self);
gboolean          qm_session_get_busy           (QmSession      *self);
gboolean          qm_session_get_simulating     (QmSession      *self);

/* the plan in progress survives the program's end */
void              qm_session_store_draft        (QmSession      *self);
gboolean          qm_session_restore_draft      (QmSession      *self);

G_END_DECLS
