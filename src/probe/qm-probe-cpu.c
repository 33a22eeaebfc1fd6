/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "qm-probe-private.h"

#define CPU_FOLDER "/sys/devices/system/cpu"

/* What speeds up the arithmetic of neural networks, as /proc/cpuinfo calls it. */
static const char * const interesting[] = {
  "avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "amx_bf16", "amx_int8",
  "asimd", "asimddp", "sve", "sve2", "i8mm", "bf16", "svebf16",
};

/* MIDR part numbers of Arm Ltd. (implementer 0x41), from the Linux kernel's
 * arch/arm64/include/asm/cputype.h; and what Amazon calls its chips of them. */
static const struct {
  const char *part;
  const char *name;
  const char *at_amazon;
} arm_parts[] = {
  { "0xd0c", "Arm Neoverse N1", "AWS Graviton2" },
  { "0xd40", "Arm Neoverse V1", "AWS Graviton3" },
  { "0xd49", "Arm Neoverse N2", NULL },
  { "0xd4f", "Arm Neoverse V2", "AWS Graviton4" },
};

static char *
pick_features (const char *text)
{
  g_autofree char *x86 = qm_tree_value (text, "flags", ":");
  g_autofree char *arm = qm_tree_value (text, "Features", ":");
  g_auto (GStrv) words = g_strsplit (x86 != NULL ? x86 : arm != NULL ? arm : "", " ", -1);
  GString *picked = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (interesting); i++)
    if (g_strv_contains ((const char * const *) words, interesting[i]))
      g_string_append_printf (picked, "%s%s", picked->len > 0 ? " " : "", interesting[i]);

  return g_string_free (picked, FALSE);
}

static char *
name_arm (const char *root,
          const char *text)
{
  g_autofree char *implementer = qm_tree_value (text, "CPU implementer", ":");
  g_autofree char *part = qm_tree_value (text, "CPU part", ":");
  g_autofree char *seller = qm_tree_read (root, "/sys/class/dmi/id/sys_vendor");
  g_autofree char *board = qm_tree_read (root, "/proc/device-tree/model");

  for (guint i = 0; g_strcmp0 (implementer, "0x41") == 0 && i < G_N_ELEMENTS (arm_parts); i++)
    {
      if (g_strcmp0 (part, arm_parts[i].part) != 0)
        continue;
      if (arm_parts[i].at_amazon != NULL && g_strcmp0 (seller, "Amazon EC2") == 0)
        return g_strdup (arm_parts[i].at_amazon);
      return g_strdup (arm_parts[i].name);
    }

  return g_steal_pointer (&board);
}

static void
read_cpuinfo (const char  *root,
              QmProbedCpu *cpu)
{
  g_autofree char *text = qm_tree_read (root, "/proc/cpuinfo");

  for (const char *at = text; at != NULL; at = strchr (at, '\n') != NULL ? strchr (at, '\n') + 1 : NULL)
    if (g_str_has_prefix (at, "processor"))
      cpu->threads++;
  cpu->features = pick_features (text);
  cpu->model = qm_tree_value (text, "model name", ":");
  if (cpu->model == NULL)
    cpu->model = name_arm (root, text);
}

/* Threads of one core name the same package and core. A processor that is
 * switched off has no topology. */
static void
count_cores (const char  *root,
             QmProbedCpu *cpu)
{
  g_autoptr (GPtrArray) names = qm_tree_list (root, CPU_FOLDER);
  g_autoptr (GHashTable) cores = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) sockets = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *folder = g_build_filename (CPU_FOLDER, name, "topology", NULL);
      g_autofree char *core = NULL;
      g_autofree char *package = NULL;

      if (!g_str_has_prefix (name, "cpu") || !g_ascii_isdigit (name[3]))
        continue;
      core = qm_tree_read_in (root, folder, "core_id");
      package = qm_tree_read_in (root, folder, "physical_package_id");
      if (core == NULL || package == NULL)
        continue;
      g_hash_table_add (cores, g_strconcat (package, "/", core, NULL));
      g_hash_table_add (sockets, g_steal_pointer (&package));
    }
  cpu->cores = g_hash_table_size (cores) > 0 ? (int) g_hash_table_size (cores) : cpu->threads;
  cpu->sockets = (int) g_hash_table_size (sockets);
  if (cpu->sockets == 0 && cpu->threads > 0)
    cpu->sockets = 1;
}

/* Processors' worth of time that a control group allows; 0 for no limit. */
static double
read_quota (const char *root,
            const char *folder)
{
  g_autofree char *text = qm_tree_read_in (root, folder, "cpu.max");
  double quota = 0, period = 0;
  char *end;

  if (text != NULL)
    {
      quota = g_ascii_strtod (text, &end);
      period = g_ascii_strtod (end, NULL);
    }
  else if (!qm_tree_read_number (root, folder, "cpu.cfs_quota_us", &quota) ||
           !qm_tree_read_number (root, folder, "cpu.cfs_period_us", &period))
    return 0;

  return quota > 0 && period > 0 ? quota / period : 0;
}

/* How many are in a list such as "0-3,8". */
static int
count_list (const char *text)
{
  int count = 0;

  while (g_ascii_isdigit (*text))
    {
      char *end;
      guint64 first = g_ascii_strtoull (text, &end, 10), last = first;

      if (*end == '-')
        last = g_ascii_strtoull (end + 1, &end, 10);
      if (last < first || last - first > G_MAXUINT16)
        return 0;
      count += (int) (last - first + 1);
      text = *end == ',' ? end + 1 : end;
    }

  return count;
}

static int
usable_threads (const char *root,
                int         threads)
{
  g_autoptr (GPtrArray) folders = qm_cgroup_folders (root, "cpu");
  g_autofree char *status = qm_tree_read (root, "/proc/self/status");
  g_autofree char *allowed = qm_tree_value (status, "Cpus_allowed_list", ":");
  int count = allowed != NULL ? count_list (allowed) : 0;
  int usable = count > 0 ? MIN (count, threads) : threads;

  for (guint i = 0; i < folders->len; i++)
    {
      double quota = read_quota (root, g_ptr_array_index (folders, i));

      /* Half a processor is still one that can be used. */
      if (quota > 0 && quota < usable)
        usable = MAX (1, (int) floor (quota));
    }

  return usable;
}

/**
 * qm_probe_cpu:
 * @root: the root of the tree
 * @cpu: (out caller-allocates): the processor
 *
 * What the kernel tells of the processor, and how much of it this session may
 * use by its affinity and its control groups.
 */
void
qm_probe_cpu (const char  *root,
              QmProbedCpu *cpu)
{
  read_cpuinfo (root, cpu);
  count_cores (root, cpu);
  cpu->usable_threads = usable_threads (root, cpu->threads);
}

static gboolean
has_word (GStrv       words,
          const char *word)
{
  /* An EPYC with a P is the same chip for boards with one socket. */
  g_autofree char *one_socket = g_strconcat (word, "P", NULL);

  return g_strv_contains ((const char * const *) words, word) || g_strv_contains ((const char * const *) words, one_socket);
}

static gboolean
is_named (GStrv       words,
          const char *name)
{
  g_auto (GStrv) wanted = g_strsplit (name, " ", -1);

  for (guint i = 0; wanted[i] != NULL; i++)
    if (!has_word (words, wanted[i]))
      return FALSE;

  return TRUE;
}

/**
 * qm_probe_match_cpu:
 * @catalog: the catalog
 * @model: (nullable): the processor's name as the kernel has it
 *
 * Returns: (transfer none) (nullable): the catalog's record of the same
 *   processor: every word of its name is one of @model
 */
const QmDevice *
qm_probe_match_cpu (QmCatalog  *catalog,
                    const char *model)
{
  g_autoptr (GString) plain = g_string_new (model);
  g_auto (GStrv) words = NULL;

  g_string_replace (plain, "(R)", "", 0);
  g_string_replace (plain, "(TM)", "", 0);
  words = g_strsplit (plain->str, " ", -1);
  for (guint i = 0; i < qm_catalog_n_devices (catalog); i++)
    {
      const QmDevice *device = qm_catalog_device (catalog, i);

      if (device->device_class == QM_DEVICE_CLASS_CPU && !device->is_unknown && is_named (words, device->name))
        return device;
    }

  return NULL;
}
