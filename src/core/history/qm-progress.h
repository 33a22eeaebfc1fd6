/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a program says of how far it is; NaN where it does not. */
typedef struct {
  double step;
  double steps;                     /* of so many */
  double loss;
  double steps_per_second;
  double samples_per_second;
  double tokens_per_second;
  gboolean out_of_memory;           /* it says that memory ran out */
} QmProgress;

/* Reads output as it comes, in pieces of any size. */
typedef struct _QmProgressReader QmProgressReader;

QmProgressReader *qm_progress_reader_new  (void);
void              qm_progress_reader_free (QmProgressReader *self);
gboolean          qm_progress_reader_feed (QmProgressReader *self,
                                           const char       *data,
                                           gsize             length,
                                           QmProgress       *latest);
gboolean          qm_progress_reader_line (QmProgressReader *self,
                                           const char       *line,
                                           QmProgress       *progress);
void              qm_progress_clear       (QmProgress       *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmProgressReader, qm_progress_reader_free)

G_END_DECLS
