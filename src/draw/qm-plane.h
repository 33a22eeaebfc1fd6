/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-chart-private.h"

G_BEGIN_DECLS

/**
 * QmPlane:
 * @box: between the axes
 * @line: height of a line of text
 */
typedef struct {
  const QmChart *chart;
  QmScene *scene;
  double width;
  double line;
  QmBox box;
} QmPlane;

extern const QmTextStyle qm_plane_plain;
extern const QmTextStyle qm_plane_strong;
extern const QmTextStyle qm_plane_second;

double qm_plane_x          (const QmPlane *self,
                            double         value);
double qm_plane_y          (const QmPlane *self,
                            double         value);
void   qm_plane_draw_marks (QmPlane       *self);

G_END_DECLS
