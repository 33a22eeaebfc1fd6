/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-launch.h"

G_BEGIN_DECLS

/* Where a server answers. */
#define QM_LAUNCH_PORT 8000

JsonArray  *qm_launch_load_formats (JsonParser  *parser,
                                    const char  *path,
                                    GError     **error);
JsonArray  *qm_launcher_get_list (QmLauncher *self);
JsonArray  *qm_launcher_get_conditions (QmLauncher *self,
                                        const char *format);
const char *qm_launch_senseless  (JsonObject *format,
                                  JsonObject *values);
gboolean    qm_launch_applies    (JsonObject *part,
                                  JsonObject *values);
void        qm_launch_set_text   (JsonObject *values,
                                  const char *name,
                                  const char *text);
void        qm_launch_set_count  (JsonObject *values,
                                  const char *name,
                                  double      value);
void        qm_launch_set_flag   (JsonObject *values,
                                  const char *name,
                                  gboolean    value);
const char *qm_launch_inner_text (JsonObject *object,
                                  const char *group,
                                  const char *name);
void        qm_launch_add_trees  (JsonObject       *values,
                                  JsonObject       *software,
                                  const QmResolved *resolved,
                                  const QmChoice   *choice);
void        qm_launch_add_engines (JsonObject       *values,
                                   JsonObject       *software,
                                   const QmResolved *resolved,
                                   const QmChoice   *choice);
void        qm_launch_add_job    (JsonObject       *values,
                                  JsonObject       *software,
                                  const QmResolved *resolved,
                                  const QmChoice   *choice);
void        qm_launch_add_clouds (JsonObject     *values,
                                  QmCatalog      *catalog,
                                  const QmPlan   *plan,
                                  const QmChoice *choice);

G_END_DECLS
