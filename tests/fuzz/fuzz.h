/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>
#include <stdlib.h>

/* What libFuzzer calls, and replay.c for each file of the corpus. */
int LLVMFuzzerTestOneInput (const guint8 *data,
                            gsize         size);

/* The shipped catalog, for readers that look things up in it. */
static inline const char *
fuzz_catalog (void)
{
  const char *data = g_getenv ("QM_DATA_DIR");
  static char *folder;

  if (folder == NULL)
    folder = g_build_filename (data != NULL ? data : "data", "catalog", NULL);
  return folder;
}
