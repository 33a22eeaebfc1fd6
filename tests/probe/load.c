/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Work that is held up by one thing: load KIND SECONDS [ARGUMENT]
 *   cpu N         N threads that compute
 *   one           one thread that computes
 *   storage PATH  writes to PATH and waits until it is on the disk
 *   memory BYTES  fills so much memory and reads it */

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double end;

static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void *
compute (void *nothing)
{
  volatile uint64_t x = 1;

  while (now () < end)
    for (int i = 0; i < 100000; i++)
      x = x * 6364136223846793005u + 1442695040888963407u;

  return NULL;
}

static void
compute_on (int threads)
{
  pthread_t others[64];

  for (int i = 1; i < threads && i < 64; i++)
    pthread_create (&others[i], NULL, compute, NULL);
  compute (NULL);
  for (int i = 1; i < threads && i < 64; i++)
    pthread_join (others[i], NULL);
}

static int
write_to (const char *path)
{
  static char block[1 << 20];
  int fd = open (path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

  for (int i = 0; fd >= 0 && now () < end; i++)
    {
      memset (block, i, sizeof block);
      if (pwrite (fd, block, sizeof block, (i % 64) * (off_t) sizeof block) < 0 || fdatasync (fd) != 0)
        return 1;
    }

  return fd < 0;
}

static int
fill (size_t bytes)
{
  char *all = malloc (bytes);

  if (all == NULL)
    return 1;
  memset (all, 1, bytes);
  while (now () < end)
    {
      for (size_t i = 0; i < bytes; i += 4096)
        all[i]++;
      usleep (20000);
    }
  free (all);

  return 0;
}

int
main (int    argc,
      char **argv)
{
  if (argc < 3)
    return 2;

  end = now () + atof (argv[2]);
  if (strcmp (argv[1], "cpu") == 0)
    compute_on (atoi (argv[3]));
  else if (strcmp (argv[1], "one") == 0)
    compute (NULL);
  else if (strcmp (argv[1], "storage") == 0)
    return write_to (argv[3]);
  else if (strcmp (argv[1], "memory") == 0)
    return fill (strtoull (argv[3], NULL, 10));
  else
    return 2;

  return 0;
}
