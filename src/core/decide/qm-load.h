/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define QM_LOAD_ERROR (qm_load_error_quark ())

/**
 * QmLoadError:
 * @QM_LOAD_ERROR_SYNTAX: a line is not what it should be
 * @QM_LOAD_ERROR_VALUE: a number outside its range
 * @QM_LOAD_ERROR_MISSING: a column or the second line is missing
 */
typedef enum {
  QM_LOAD_ERROR_SYNTAX,
  QM_LOAD_ERROR_VALUE,
  QM_LOAD_ERROR_MISSING,
} QmLoadError;

GQuark  qm_load_error_quark (void);

/* How many requests come at a time; between two points on a straight line. */
typedef struct {
  double seconds;                   /* since the start of the series */
  double per_second;
} QmLoadPoint;

GArray *qm_load_parse       (const char    *text,
                             GError       **error);
GArray *qm_load_read        (const char    *path,
                             GError       **error);
GArray *qm_load_of_a_day    (double         mean_per_second,
                             double         peak_factor);
double  qm_load_at          (const GArray  *load,
                             double         seconds,
                             guint         *hint);
double  qm_load_span        (const GArray  *load);
double  qm_load_mean        (const GArray  *load);
double  qm_load_peak        (const GArray  *load);

G_END_DECLS
