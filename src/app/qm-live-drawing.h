/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "draw/qm-axis.h"
#include "draw/qm-scene.h"
#include "probe/qm-watcher.h"

G_BEGIN_DECLS

/* What a live chart shows over this many seconds. */
#define QM_LIVE_SECONDS 120

/**
 * QmLiveLook:
 * @channels: one or two, the second dashed; NULL none
 * @quantity: what is measured
 * @suffix: (nullable): a unit behind the number, as " W" or "/s"
 * @top: highest value of the axis; 0: as high as it takes
 *
 * What is drawn, and how.
 */
typedef struct {
  const char *channels[2];
  QmInk ink;
  QmQuantity quantity;
  const char *suffix;
  double top;
} QmLiveLook;

char      *qm_live_format          (const QmLiveLook *look,
                                    double            value);

#define QM_TYPE_LIVE_DRAWING (qm_live_drawing_get_type ())
G_DECLARE_FINAL_TYPE (QmLiveDrawing, qm_live_drawing, QM, LIVE_DRAWING, GtkWidget)

GtkWidget *qm_live_drawing_new       (QmWatcher        *watcher,
                                      const QmLiveLook *look,
                                      gboolean          small);
void       qm_live_drawing_set_limit (QmLiveDrawing    *self,
                                      double            value,
                                      const char       *text);
gboolean   qm_live_drawing_is_known  (QmLiveDrawing    *self);

G_END_DECLS
