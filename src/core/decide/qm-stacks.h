/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-estimator.h"

G_BEGIN_DECLS

#define QM_MAX_STACK_FORMATS 4
#define QM_MAX_STACK_READS 12

/**
 * QmStack:
 *
 * A row of `stacks.json`: software and the hardware that it runs on.
 */
typedef struct {
  const char *engine;               /* NULL: training */
  guint tasks;                      /* bits 1 << QmTask */
  guint vendors;
  guint classes;
  guint methods;                    /* training; bits 1 << QmMethod */
  double min_compute_capability;    /* NVIDIA */
  const char *ids[12];               /* devices, all NULL: any */
  const char *formats[QM_MAX_STACK_FORMATS];
  const char *reads[QM_MAX_STACK_READS];    /* where they are asked for, besides */
  int n_reads;
  int n_formats;
  const char *needs;                /* (nullable) what the person must know */
} QmStack;

/* rows of @plan's task and activity; strings belong to the catalog */
GArray  *qm_stacks_for_plan      (QmCatalog      *catalog,
                                  const QmPlan   *plan);
gboolean qm_stack_runs_on        (const QmStack  *self,
                                  const QmDevice *device);

G_END_DECLS
