/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gtk/gtk.h>

#include "qm-range.h"

G_BEGIN_DECLS

#define QM_TYPE_RANGE_BAR (qm_range_bar_get_type ())
G_DECLARE_FINAL_TYPE (QmRangeBar, qm_range_bar, QM, RANGE_BAR, GtkWidget)

typedef enum {
  QM_RANGE_BAR_BLUE,
  QM_RANGE_BAR_TEAL,
  QM_RANGE_BAR_ORANGE,
  QM_RANGE_BAR_PURPLE,
} QmRangeBarRole;

GtkWidget *qm_range_bar_new  (QmRangeBarRole role);

/* a range between @minimum and @maximum, filled up to its middle, with a limit
 * that may be NaN */
void       qm_range_bar_set  (QmRangeBar    *self,
                              QmRange        range,
                              double         minimum,
                              double         maximum,
                              double         limit);

G_END_DECLS
