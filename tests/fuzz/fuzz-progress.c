/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include "history/qm-progress.h"

/* What a training prints, in two pieces. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  static QmProgressReader *reader;
  QmProgress latest;

  if (reader == NULL)
    reader = qm_progress_reader_new ();
  qm_progress_clear (&latest);
  qm_progress_reader_feed (reader, (const char *) data, size / 2, &latest);
  qm_progress_reader_feed (reader, (const char *) data + size / 2, size - size / 2, &latest);
  qm_progress_reader_feed (reader, "\n", 1, &latest);
  return 0;
}
