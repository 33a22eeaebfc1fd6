/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-scene.h"

G_BEGIN_DECLS

typedef struct {
  QmPoint a, b;
  double cost;
} QmObstacle;

/**
 * QmLabeller:
 * @area: labels stay inside
 * @segments: (element-type QmObstacle): lines, better not crossed
 *
 * Puts labels beside their marks, one after the other, the first the freest.
 */
typedef struct {
  QmScene *scene;
  QmBox area;
  GArray *segments;
} QmLabeller;

void     qm_labeller_init      (QmLabeller        *self,
                                QmScene           *scene,
                                QmBox              area);
void     qm_labeller_clear     (QmLabeller        *self);
void     qm_labeller_add_line  (QmLabeller        *self,
                                QmPoint            a,
                                QmPoint            b,
                                double             cost);
void     qm_labeller_take      (QmLabeller        *self,
                                QmBox              box);
gboolean qm_labeller_is_free   (const QmLabeller  *self,
                                QmBox              box);
gboolean qm_labeller_put       (QmLabeller        *self,
                                QmPoint            mark,
                                double             radius,
                                const char        *text,
                                const QmTextStyle *style,
                                double             highest_cost);

G_END_DECLS
