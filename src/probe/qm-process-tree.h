/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A process and all it has started. */
typedef struct _QmProcessTree QmProcessTree;

/* What the tree has used up to now, and holds now. */
typedef struct {
  double cpu_seconds;
  double memory_bytes;
  double read_bytes;                /* from storage */
  double written_bytes;
  double major_faults;
  int processes;
  int waiting;                      /* of them, for storage */
} QmProcessUse;

QmProcessTree *qm_process_tree_new    (int            pid);
void           qm_process_tree_free   (QmProcessTree *self);
void           qm_process_tree_look   (QmProcessTree *self,
                                       gint64         now,
                                       QmProcessUse  *use);
void           qm_process_tree_states (QmProcessTree *self,
                                       int           *processes,
                                       int           *waiting);
void           qm_process_tree_signal (QmProcessTree *self,
                                       int            signal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmProcessTree, qm_process_tree_free)

G_END_DECLS
