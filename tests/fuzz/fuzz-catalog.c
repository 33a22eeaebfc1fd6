/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <glib/gstdio.h>

#include "hardware/qm-catalog.h"

static char *folder;

static void
clean (void)
{
  g_autofree char *path = g_build_filename (folder, "own.json", NULL);

  g_unlink (path);
  g_rmdir (folder);
}

/* Text that should be a file of one's own catalog. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autoptr (QmCatalog) catalog = NULL;
  g_autofree char *path = NULL;

  if (folder == NULL)
    {
      folder = g_dir_make_tmp ("fuzz-catalog-XXXXXX", NULL);
      g_assert_nonnull (folder);
      atexit (clean);
    }
  path = g_build_filename (folder, "own.json", NULL);
  if (!g_file_set_contents_full (path, (const char *) data, size, G_FILE_SET_CONTENTS_NONE, 0600, NULL))
    return 0;
  catalog = qm_catalog_load (folder, NULL, NULL);
  return 0;
}
