/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-range.h"

#include <math.h>

/**
 * qm_range_exact:
 * @value: a value that is known
 *
 * Returns: the range that is nothing but @value
 */
QmRange
qm_range_exact (double value)
{
  return (QmRange) { value, value, value };
}

/**
 * qm_range_log_normal:
 * @p50: the median, positive
 * @half_width: ln (p90 / p50)
 *
 * Returns: the range of a log-normal quantity
 */
QmRange
qm_range_log_normal (double p50,
                     double half_width)
{
  double factor = exp (half_width);

  return (QmRange) { p50 / factor, p50, p50 * factor };
}

/**
 * qm_range_scale:
 * @range: a range
 * @factor: a positive factor that is known
 *
 * Returns: @range times @factor
 */
QmRange
qm_range_scale (QmRange range,
                double  factor)
{
  return (QmRange) { range.p10 * factor, range.p50 * factor, range.p90 * factor };
}

/**
 * qm_range_add:
 * @range: a range
 * @value: what is known for certain
 *
 * Returns: @range with @value on top
 */
QmRange
qm_range_add (QmRange range,
              double  value)
{
  return (QmRange) { range.p10 + value, range.p50 + value, range.p90 + value };
}

/**
 * qm_range_divide:
 * @numerator: a positive value that is known
 * @range: the range to divide it by, e.g. a rate
 *
 * Returns: @numerator divided by @range; the ends change places
 */
QmRange
qm_range_divide (double  numerator,
                 QmRange range)
{
  return (QmRange) { numerator / range.p90, numerator / range.p50, numerator / range.p10 };
}

/**
 * qm_range_is_known:
 * @range: a range
 *
 * Returns: whether @range holds a value at all
 */
gboolean
qm_range_is_known (QmRange range)
{
  return !isnan (range.p50);
}

/**
 * qm_range_half_width:
 * @range: a range
 *
 * Returns: half of ln (p90 / p10), 0 where the range is a single value
 */
double
qm_range_half_width (QmRange range)
{
  if (!(range.p10 > 0) || !(range.p90 > range.p10))
    return 0;

  return log (range.p90 / range.p10) / 2;
}

/**
 * qm_range_share_below:
 * @range: a log-normal range
 * @limit: a limit in the same unit
 *
 * Returns: the probability that the quantity is at most @limit, from 0 to 1
 */
double
qm_range_share_below (QmRange range,
                      double  limit)
{
  double half_width = qm_range_half_width (range);

  if (limit <= 0)
    return 0;

  if (half_width <= 0)
    return range.p50 <= limit ? 1 : 0;

  return 0.5 * erfc (-log (limit / range.p50) / (half_width / QM_NORMAL_P90) / sqrt (2));
}
