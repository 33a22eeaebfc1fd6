/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * QmRange:
 * @p10: one real outcome in ten lies below
 * @p50: the best single guess
 * @p90: one real outcome in ten lies above
 *
 * An estimated quantity. About 80 % of real outcomes are to lie between @p10
 * and @p90. The unit is that of the field that holds it.
 */
typedef struct {
  double p10;
  double p50;
  double p90;
} QmRange;

/**
 * QM_RANGE_UNKNOWN:
 *
 * A quantity nothing is known about: all three values are NaN.
 */
#define QM_RANGE_UNKNOWN ((QmRange) { NAN, NAN, NAN })

/**
 * QM_NORMAL_P90:
 *
 * The 90 % quantile of the standard normal distribution: a log-normal range of
 * half-width w has the standard deviation w / QM_NORMAL_P90.
 */
#define QM_NORMAL_P90 1.2815515655446004

QmRange  qm_range_exact      (double  value);
QmRange  qm_range_log_normal (double  p50,
                              double  half_width);
QmRange  qm_range_scale      (QmRange range,
                              double  factor);
QmRange  qm_range_add        (QmRange range,
                              double  value);
QmRange  qm_range_divide     (double  numerator,
                              QmRange range);
gboolean qm_range_is_known   (QmRange range);
double   qm_range_half_width (QmRange range);
double   qm_range_share_below (QmRange range,
                               double  limit);

G_END_DECLS
