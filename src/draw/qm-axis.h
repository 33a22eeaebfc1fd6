/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-words.h"

G_BEGIN_DECLS

typedef enum {
  QM_SCALE_LINEAR,
  QM_SCALE_LOG,
} QmScale;

typedef enum {
  QM_QUANTITY_NUMBER,
  QM_QUANTITY_COUNT,
  QM_QUANTITY_BYTES,
  QM_QUANTITY_SECONDS,
  QM_QUANTITY_MONEY,                /* the currency is in the title */
  QM_QUANTITY_PERCENT,              /* of a fraction */
  QM_QUANTITY_FACTOR,
} QmQuantity;

/**
 * QmAxis:
 * @low: value at its start; above 0 on a logarithmic scale
 * @high: value at its end
 * @title: stands above the y axis, below the x axis; nullable
 * @values: (element-type double) (nullable): the only ticks there may be
 */
typedef struct {
  QmScale scale;
  QmQuantity quantity;
  double low, high;
  char *title;
  GArray *values;
} QmAxis;

void    qm_axis_clear      (QmAxis        *self);
double  qm_axis_place      (const QmAxis  *self,
                            double         value);
void    qm_axis_cover      (QmAxis        *self,
                            double         low,
                            double         high);
GArray *qm_axis_ticks      (const QmAxis  *self,
                            guint          level);
char   *qm_axis_tick_label (const QmAxis  *self,
                            double         value,
                            gboolean       with_unit,
                            const QmWords *words);

G_END_DECLS
