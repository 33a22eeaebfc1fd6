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

int
main (int   argc,
      char *argv[])
{
  g_autoptr (GDir) directory = g_dir_open (argc > 1 ? argv[1] : "", 0, NULL);
  const char *name;
  int n = 0, failed = 0;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *path = g_build_filename (argv[1], name, NULL);
      gboolean good = replay (path);

      failed += !good;
      printf ("%s %d - %s\n", good ? "ok" : "not ok", ++n, name);
    }
  printf ("1..%d\n", n);
  return n > 0 && failed == 0 ? 0 : 1;
}
