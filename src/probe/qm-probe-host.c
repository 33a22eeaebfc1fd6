/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <sys/statvfs.h>

#include "qm-probe-private.h"

/* What speeds up the arithmetic of neural networks. */
static const char * const interesting[] = {
  "avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "amx_bf16", "amx_int8",
  "asimd", "asimddp", "sve", "sve2", "i8mm", "bf16", "svebf16",
};

/* Without a limit, cgroup v1 reports the largest multiple of a page. */
#define NO_LIMIT 9.2e18

/* ------------------------------------------------------------------------ CPU */

static char *
value_of (const char *line)
{
  const char *colon = strchr (line, ':');

  return colon != NULL ? g_strstrip (g_strdup (colon + 1)) : NULL;
}

static char *
pick_features (const char *flags)
{
  g_auto (GStrv) words = g_strsplit (flags, " ", -1);
  GString *picked = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (interesting); i++)
    if (g_strv_contains ((const char * const *) words, interesting[i]))
      g_string_append_printf (picked, "%s%s", picked->len > 0 ? " " : "", interesting[i]);

  return g_string_free (picked, FALSE);
}

static void
read_cpuinfo (const char  *root,
              QmProbedCpu *cpu)
{
  g_autofree char *text = qm_tree_read (root, "/proc/cpuinfo");
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      if (g_str_has_prefix (lines[i], "processor"))
        cpu->threads++;
      else if (cpu->model == NULL && (g_str_has_prefix (lines[i], "model name") || g_str_has_prefix (lines[i], "Model")))
        cpu->model = value_of (lines[i]);
      else if (cpu->features == NULL && (g_str_has_prefix (lines[i], "flags") || g_str_has_prefix (lines[i], "Features")))
        {
          g_autofree char *flags = value_of (lines[i]);

          cpu->features = pick_features (flags != NULL ? flags : "");
        }
    }
}

/* Threads of one core name the same package and core. */
static void
count_cores (const char  *root,
             QmProbedCpu *cpu)
{
  g_autoptr (GHashTable) cores = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) sockets = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (int i = 0; i < cpu->threads; i++)
    {
      g_autofree char *core_path = g_strdup_printf ("/sys/devices/system/cpu/cpu%d/topology/core_id", i);
      g_autofree char *package_path = g_strdup_printf ("/sys/devices/system/cpu/cpu%d/topology/physical_package_id", i);
      g_autofree char *core = qm_tree_read (root, core_path);
      g_autofree char *package = qm_tree_read (root, package_path);

      if (core == NULL || package == NULL)
        continue;
      g_hash_table_add (cores, g_strconcat (package, "/", core, NULL));
      g_hash_table_add (sockets, g_steal_pointer (&package));
    }
  cpu->cores = g_hash_table_size (cores) > 0 ? (int) g_hash_table_size (cores) : cpu->threads;
  cpu->sockets = MAX (1, (int) g_hash_table_size (sockets));
}

static int
quota_threads (const char *root,
               int         threads)
{
  g_autofree char *text = qm_tree_read (root, "/sys/fs/cgroup/cpu.max");
  double quota, period;
  char *end;

  if (text == NULL || g_str_has_prefix (text, "max"))
    return threads;

  quota = g_ascii_strtod (text, &end);
  period = g_ascii_strtod (end, NULL);
  if (!(quota > 0) || !(period > 0))
    return threads;

  return CLAMP ((int) (quota / period + 0.5), 1, threads);
}

/**
 * qm_probe_cpu:
 * @root: the root of the tree
 * @cpu: (out caller-allocates): the processor
 *
 * What the kernel tells of the processor, and how much of it this session may
 * use.
 */
void
qm_probe_cpu (const char  *root,
              QmProbedCpu *cpu)
{
  cpu_set_t set;

  read_cpuinfo (root, cpu);
  count_cores (root, cpu);
  cpu->usable_threads = quota_threads (root, MAX (1, cpu->threads));
  if (root[0] == '\0' && sched_getaffinity (0, sizeof set, &set) == 0)
    cpu->usable_threads = MIN (cpu->usable_threads, CPU_COUNT (&set));
}

static gboolean
mentions (const char *model,
          const char *name)
{
  g_auto (GStrv) words = g_strsplit_set (name, " -", -1);
  g_autofree char *lower = g_ascii_strdown (model, -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      g_autofree char *word = g_ascii_strdown (words[i], -1);

      if (word[0] != '\0' && strpbrk (word, "0123456789") != NULL && strstr (lower, word) == NULL)
        return FALSE;
    }

  return TRUE;
}

/**
 * qm_probe_match_cpu:
 * @catalog: the catalog
 * @model: (nullable): the processor's name as the kernel has it
 *
 * Returns: (transfer none) (nullable): the catalog's record of the same
 *   processor: every word of its name that holds a digit is in @model
 */
const QmDevice *
qm_probe_match_cpu (QmCatalog  *catalog,
                    const char *model)
{
  for (guint i = 0; model != NULL && i < qm_catalog_n_devices (catalog); i++)
    {
      const QmDevice *device = qm_catalog_device (catalog, i);
      g_auto (GStrv) words = g_strsplit (device->name, " ", 2);
      g_autofree char *maker = g_ascii_strdown (words[0] != NULL ? words[0] : "", -1);
      g_autofree char *lower = g_ascii_strdown (model, -1);

      if (device->device_class == QM_DEVICE_CLASS_CPU && strpbrk (device->name, "0123456789") != NULL &&
          strstr (lower, maker) != NULL && mentions (model, device->name))
        return device;
    }

  return NULL;
}

/* --------------------------------------------------------------------- memory */

static double
meminfo (const char *text,
         const char *key)
{
  const char *at = strstr (text, key);

  return at != NULL ? g_ascii_strtod (at + strlen (key), NULL) * 1024 : 0;
}

/* The least limit of this cgroup and all above it. */
static double
cgroup_limit (const char *root)
{
  g_autofree char *self = qm_tree_read (root, "/proc/self/cgroup");
  const char *unified = self != NULL ? strstr (self, "0::") : NULL;
  g_autofree char *group = unified != NULL ? g_strndup (unified + 3, strcspn (unified + 3, "\n")) : g_strdup ("/");
  double least = 0, value;

  for (;;)
    {
      g_autofree char *path = g_build_filename ("/sys/fs/cgroup", group, "memory.max", NULL);
      char *slash;

      if (qm_tree_read_number (root, path, &value) && value > 0 && value < NO_LIMIT)
        least = least > 0 ? MIN (least, value) : value;
      slash = strrchr (group, '/');
      if (slash == NULL || group[1] == '\0')
        break;
      slash[slash == group ? 1 : 0] = '\0';
    }
  if (least == 0 && qm_tree_read_number (root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", &value) && value < NO_LIMIT)
    least = value;

  return least;
}

/**
 * qm_probe_memory:
 * @root: the root of the tree
 * @memory: (out caller-allocates): the system memory
 */
void
qm_probe_memory (const char     *root,
                 QmProbedMemory *memory)
{
  g_autofree char *text = qm_tree_read (root, "/proc/meminfo");

  memory->total_bytes = text != NULL ? meminfo (text, "MemTotal:") : 0;
  memory->available_bytes = text != NULL ? meminfo (text, "MemAvailable:") : 0;
  memory->limit_bytes = cgroup_limit (root);
  if (memory->limit_bytes >= memory->total_bytes)
    memory->limit_bytes = 0;
}

/* -------------------------------------------------------------------- storage */

static char *
kind_of_disk (const char *root)
{
  g_autoptr (GPtrArray) disks = qm_tree_list (root, "/sys/block");
  const char *kind = "unknown";

  for (guint i = 0; i < disks->len; i++)
    {
      const char *disk = g_ptr_array_index (disks, i);
      g_autofree char *path = g_strdup_printf ("/sys/block/%s/queue/rotational", disk);
      double rotational;

      if (g_str_has_prefix (disk, "nvme"))
        return g_strdup ("nvme");
      if ((g_str_has_prefix (disk, "sd") || g_str_has_prefix (disk, "vd")) && qm_tree_read_number (root, path, &rotational))
        kind = rotational > 0 ? "hdd" : "sata-ssd";
    }

  return g_strdup (kind);
}

/**
 * qm_probe_storage:
 * @root: the root of the tree
 * @storage: (out caller-allocates): the disk of the home folder
 */
void
qm_probe_storage (const char      *root,
                  QmProbedStorage *storage)
{
  struct statvfs status;

  storage->path = g_strdup (g_get_home_dir ());
  storage->kind = kind_of_disk (root);
  if (root[0] == '\0' && statvfs (storage->path, &status) == 0)
    {
      storage->total_bytes = (double) status.f_blocks * status.f_frsize;
      storage->free_bytes = (double) status.f_bavail * status.f_frsize;
    }
}
