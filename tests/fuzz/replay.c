/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdio.h>
#include <time.h>

/* No input may keep the machine busy: seconds of the processor's time, which
 * other programs do not lengthen. */
#ifdef __SANITIZE_ADDRESS__
#define MAX_SECONDS 4.0
#else
#define MAX_SECONDS 0.2
#endif

static gboolean
replay (const char *path)
{
  g_autofree char *data = NULL;
  gsize length = 0;
  clock_t start;

  if (!g_file_get_contents (path, &data, &length, NULL))
    return FALSE;
  start = clock ();
  LLVMFuzzerTestOneInput ((const guint8 *) data, length);
  return clock () - start < MAX_SECONDS * CLOCKS_PER_SEC;
}

static void
replay_folder (const char *folder,
               int        *n,
               int        *failed)
{
  g_autoptr (GDir) directory = g_dir_open (folder, 0, NULL);
  const char *name;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      gboolean good = replay (path);

      *failed += !good;
      printf ("%s %d - %s\n", good ? "ok" : "not ok", ++*n, name);
    }
}

int
main (int   argc,
      char *argv[])
{
  int n = 0, failed = 0;

  for (int i = 1; i < argc; i++)
    replay_folder (argv[i], &n, &failed);
  printf ("1..%d\n", n);
  return n > 0 && failed == 0 ? 0 : 1;
}
