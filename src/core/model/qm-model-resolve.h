/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-catalog.h"
#include "plan/qm-plan.h"

G_BEGIN_DECLS

#define QM_MODEL_ERROR (qm_model_error_quark ())

typedef enum {
  QM_MODEL_ERROR_UNKNOWN,           /* no such id, and nothing else given */
  QM_MODEL_ERROR_FILE,              /* the file cannot be read */
  QM_MODEL_ERROR_NOT_A_MODEL,       /* it is something else: the message says what */
  QM_MODEL_ERROR_VALUE,             /* a key holds what no model can have */
} QmModelError;

GQuark   qm_model_error_quark              (void);

QmModel *qm_model_new                      (void);
QmModel *qm_model_copy                     (const QmModel *self);
void     qm_model_free                     (QmModel       *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmModel, qm_model_free)

/* config.json content → shapes and exact counts */
gboolean qm_architecture_from_config       (JsonObject     *config,
                                            QmArchitecture *architecture,
                                            GError        **error);
void     qm_architecture_guess             (double          parameters,
                                            QmArchitecture *architecture);
void     qm_architecture_mix               (QmArchitecture *self,
                                            double          parameters,
                                            double          active_parameters);
double   qm_architecture_kv_bytes          (const QmArchitecture *self,
                                            double          context,
                                            double          bytes_per_element);
double   qm_architecture_kv_bytes_per_token (const QmArchitecture *self,
                                            double          bytes_per_element);
gboolean qm_architecture_can_share_heads   (const QmArchitecture *self,
                                            int             ways);

/* a catalog entry, a file, a bare size, an embedded architecture, with the
 * plan's overrides applied */
QmModel *qm_model_resolve                  (const QmPlan   *plan,
                                            QmCatalog      *catalog,
                                            const char     *base_directory,
                                            GPtrArray      *warnings,
                                            GError        **error);
QmModel *qm_model_from_entry               (const QmModelEntry *entry,
                                            GError        **error);
QmModel *qm_model_from_file                (const char     *path,
                                            GError        **error);

G_END_DECLS
