/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-probe-private.h"

/* Where there is no limit, cgroup v1 reports the largest multiple of a page
 * that fits 63 bits: 0x7ffffffffffff000. */
#define NO_LIMIT 9.2e18

static double
meminfo (const char *text,
         const char *key)
{
  g_autofree char *value = qm_tree_value (text, key, ":");

  return value != NULL ? g_ascii_strtod (value, NULL) * 1024 : 0;
}

/* The least limit of this control group and all above it; 0 for none. Version 2
 * writes "max" where there is none, which is no number. */
static double
cgroup_limit (const char *root)
{
  static const char * const names[] = { "memory.max", "memory.limit_in_bytes" };
  g_autoptr (GPtrArray) folders = qm_cgroup_folders (root, "memory");
  double least = 0, value;

  for (guint i = 0; i < folders->len; i++)
    for (guint j = 0; j < G_N_ELEMENTS (names); j++)
      if (qm_tree_read_number (root, g_ptr_array_index (folders, i), names[j], &value) && value > 0 && value < NO_LIMIT)
        least = least > 0 ? MIN (least, value) : value;

  return least;
}

/**
 * qm_probe_memory:
 * @root: the root of the tree
 * @memory: (out caller-allocates): the system memory
 *
 * What the kernel tells of the system memory, and the limit that the control
 * groups of this session set, where it is less.
 */
void
qm_probe_memory (const char     *root,
                 QmProbedMemory *memory)
{
  g_autofree char *text = qm_tree_read (root, "/proc/meminfo");

  memory->total_bytes = meminfo (text, "MemTotal");
  memory->available_bytes = meminfo (text, "MemAvailable");
  memory->limit_bytes = cgroup_limit (root);
  if (memory->total_bytes > 0 && memory->limit_bytes >= memory->total_bytes)
    memory->limit_bytes = 0;
  if (memory->limit_bytes > 0)
    memory->available_bytes = MIN (memory->available_bytes, memory->limit_bytes);
}
