/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-process-tree.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shared pages are told apart by a file that takes long to read: for it, one
 * part in so many of the time. */
#define SHARE_OF_TIME 100

/* What proc(5) says in stat. */
typedef struct {
  int pid, parent;
  char state;
  double faults;                    /* also of children that have ended */
  double ticks;                     /* likewise */
  double start;                     /* ticks since the computer started: tells processes with the same number apart */
  double pages;
} Stat;

struct _QmProcessTree {
  int root;
  GArray *known;                    /* of Stat: those found last */
  gint64 next_exact;                /* when shared pages are looked at again */
  double shared;                    /* exact memory over the sum of sizes, then */
  double tick, page;
};

/**
 * qm_process_tree_new:
 * @pid: a process of this user
 *
 * Returns: (transfer full): the tree that begins with it
 */
QmProcessTree *
qm_process_tree_new (int pid)
{
  QmProcessTree *self = g_new0 (QmProcessTree, 1);

  self->root = pid;
  self->known = g_array_new (FALSE, FALSE, sizeof (Stat));
  self->shared = 1;
  self->tick = 1.0 / sysconf (_SC_CLK_TCK);
  self->page = sysconf (_SC_PAGESIZE);

  return self;
}

/**
 * qm_process_tree_free:
 * @self: (nullable): a tree
 */
void
qm_process_tree_free (QmProcessTree *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->known);
  g_free (self);
}

static gssize
read_small (int         pid,
            const char *name,
            char       *text,
            gsize       size)
{
  char path[64];
  FILE *file;
  gsize n;

  g_snprintf (path, sizeof path, "/proc/%d/%s", pid, name);
  file = fopen (path, "re");
  if (file == NULL)
    return -1;
  n = fread (text, 1, size - 1, file);
  fclose (file);
  text[n] = '\0';

  return n;
}

/* The name stands in brackets and may hold anything: what counts is behind the
 * last one. */
static gboolean
read_stat (int   pid,
           Stat *stat)
{
  char text[1024];
  const char *rest;
  double minor, child_minor, major, child_major, user, system, child_user, child_system;

  if (read_small (pid, "stat", text, sizeof text) <= 0)
    return FALSE;
  rest = strrchr (text, ')');
  if (rest == NULL ||
      sscanf (rest + 1, " %c %d %*d %*d %*d %*d %*u %lf %lf %lf %lf %lf %lf %lf %lf %*d %*d %*d %*d %lf %*u %lf", &stat->state, &stat->parent,
              &minor, &child_minor, &major, &child_major, &user, &system, &child_user, &child_system, &stat->start, &stat->pages) != 12)
    return FALSE;

  stat->pid = pid;
  stat->faults = major + child_major;
  stat->ticks = user + system + child_user + child_system;

  return stat->state != 'Z' && stat->state != 'X';
}

static gboolean
contains (const GArray *stats,
          int           pid)
{
  for (guint i = 0; i < stats->len; i++)
    if (g_array_index (stats, Stat, i).pid == pid)
      return TRUE;

  return FALSE;
}

static gboolean
was_known (const GArray *known,
           const Stat   *stat)
{
  for (guint i = 0; i < known->len; i++)
    if (g_array_index (known, Stat, i).pid == stat->pid && g_array_index (known, Stat, i).start == stat->start)
      return TRUE;

  return FALSE;
}

static GArray *
read_all (void)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (Stat));
  g_autoptr (GDir) dir = g_dir_open ("/proc", 0, NULL);
  const char *name;
  Stat stat;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_ascii_isdigit (name[0]) && read_stat (atoi (name), &stat))
      g_array_append_val (all, stat);

  return all;
}

/* Children of what is found, until there are no more. One whose parent has gone
 * belongs to the tree as before. */
static void
find_members (QmProcessTree *self)
{
  g_autoptr (GArray) all = read_all ();
  GArray *found = g_array_new (FALSE, FALSE, sizeof (Stat));
  guint before;

  do
    {
      before = found->len;
      for (guint i = 0; i < all->len; i++)
        {
          const Stat *stat = &g_array_index (all, Stat, i);

          if (contains (found, stat->pid))
            continue;
          if (stat->pid == self->root || contains (found, stat->parent) || was_known (self->known, stat))
            g_array_append_val (found, *stat);
        }
    }
  while (found->len > before);

  g_array_unref (self->known);
  self->known = found;
}

static double
read_field (const char *text,
            const char *name)
{
  const char *at = strstr (text, name);

  return at != NULL ? g_ascii_strtod (at + strlen (name), NULL) : 0;
}

/* /proc/PID/io counts children that have ended, too. */
static void
add_io (const Stat   *stat,
        QmProcessUse *use)
{
  char text[512];

  if (read_small (stat->pid, "io", text, sizeof text) <= 0)
    return;
  use->read_bytes += read_field (text, "\nread_bytes: ");
  use->written_bytes += read_field (text, "\nwrite_bytes: ");
}

/* Processes that were forked share most of their memory. */
static void
look_exactly (QmProcessTree *self,
              gint64         now,
              double         sum)
{
  gint64 began = g_get_monotonic_time ();
  double exact = 0;

  for (guint i = 0; i < self->known->len; i++)
    {
      char text[2048];

      if (read_small (g_array_index (self->known, Stat, i).pid, "smaps_rollup", text, sizeof text) > 0)
        exact += read_field (text, "\nPss: ") * 1024;
    }
  self->shared = exact > 0 && sum > 0 ? MIN (exact / sum, 1) : 1;
  self->next_exact = now + (g_get_monotonic_time () - began) * SHARE_OF_TIME;
}

/**
 * qm_process_tree_look:
 * @self: a tree
 * @now: monotonic microseconds
 * @use: (out caller-allocates): what it uses
 *
 * Finds the members anew. Time and traffic of those that have ended count on
 * with their parents.
 */
void
qm_process_tree_look (QmProcessTree *self,
                      gint64         now,
                      QmProcessUse  *use)
{
  double sum = 0;

  *use = (QmProcessUse) { 0 };
  find_members (self);
  for (guint i = 0; i < self->known->len; i++)
    {
      const Stat *stat = &g_array_index (self->known, Stat, i);

      use->cpu_seconds += stat->ticks * self->tick;
      use->major_faults += stat->faults;
      use->processes++;
      use->waiting += stat->state == 'D';
      sum += stat->pages * self->page;
      add_io (stat, use);
    }

  if (self->known->len > 1 && now >= self->next_exact)
    look_exactly (self, now, sum);
  use->memory_bytes = self->known->len > 1 ? sum * self->shared : sum;
}

/**
 * qm_process_tree_states:
 * @self: a tree
 * @processes: (inout): the number of members that are there is added
 * @waiting: (inout): the number of those that wait for storage is added
 *
 * Looks only at those that qm_process_tree_look() found last.
 */
void
qm_process_tree_states (QmProcessTree *self,
                        int           *processes,
                        int           *waiting)
{
  for (guint i = 0; i < self->known->len; i++)
    {
      Stat stat;

      if (!read_stat (g_array_index (self->known, Stat, i).pid, &stat))
        continue;
      (*processes)++;
      *waiting += stat.state == 'D';
    }
}

/**
 * qm_process_tree_signal:
 * @self: a tree
 * @signal: e.g. `SIGTERM`
 *
 * Sends it to every member.
 */
void
qm_process_tree_signal (QmProcessTree *self,
                        int            signal)
{
  find_members (self);
  for (guint i = 0; i < self->known->len; i++)
    kill (g_array_index (self->known, Stat, i).pid, signal);
}
