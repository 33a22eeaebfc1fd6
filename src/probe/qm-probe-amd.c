/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <stdio.h>
#include <string.h>

#include "qm-probe-private.h"

#define KFD_FOLDER "/sys/class/kfd/kfd/topology/nodes"

/* Names by device and revision, as libdrm ships them. */
#define NAMES_FILE "/usr/share/libdrm/amdgpu.ids"

/* HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC and _PRIVATE of hsakmttypes.h */
#define HEAP_PUBLIC  1
#define HEAP_PRIVATE 2

/**
 * qm_probe_amd_name:
 * @root: the root of the tree
 * @folder: the folder of an AMD device in sysfs
 *
 * One PCI id stands for a whole family; the revision tells its members apart.
 * Nothing that is read here wakes the device.
 *
 * Returns: (transfer full) (nullable): its name; %NULL where it is in no list
 */
char *
qm_probe_amd_name (const char *root,
                   const char *folder)
{
  g_autofree char *device = qm_tree_read_in (root, folder, "device");
  g_autofree char *revision = qm_tree_read_in (root, folder, "revision");
  g_autofree char *text = qm_tree_read (root, NAMES_FILE);
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", "\n", -1);

  for (guint i = 0; device != NULL && revision != NULL && lines[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (lines[i], ",", 3);

      if (g_strv_length (parts) != 3 || lines[i][0] == '#')
        continue;
      if (g_ascii_strtoull (parts[0], NULL, 16) == g_ascii_strtoull (device, NULL, 16) &&
          g_ascii_strtoull (parts[1], NULL, 16) == g_ascii_strtoull (revision, NULL, 16))
        return g_strdup (g_strstrip (parts[2]));
    }

  return NULL;
}

static double
sum_banks (const char *root,
           const char *node)
{
  g_autofree char *folder = g_build_filename (node, "mem_banks", NULL);
  g_autoptr (GPtrArray) banks = qm_tree_list (root, folder);
  double sum = 0;

  for (guint i = 0; i < banks->len; i++)
    {
      g_autofree char *bank = g_build_filename (folder, g_ptr_array_index (banks, i), NULL);
      g_autofree char *text = qm_tree_read_in (root, bank, "properties");
      g_autofree char *heap = qm_tree_value (text, "heap_type", "");
      g_autofree char *size = qm_tree_value (text, "size_in_bytes", "");
      guint64 type = heap != NULL ? g_ascii_strtoull (heap, NULL, 10) : 0;

      if (size != NULL && (type == HEAP_PUBLIC || type == HEAP_PRIVATE))
        sum += g_ascii_strtod (size, NULL);
    }

  return sum;
}

/* What HIP programs are told: the compute driver's figure for the device at
 * this address; 0 where there is none. */
static double
read_kfd (const char *root,
          const char *address)
{
  g_autoptr (GPtrArray) nodes = qm_tree_list (root, KFD_FOLDER);
  guint domain, bus, slot, function;

  if (sscanf (address, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
    return 0;

  for (guint i = 0; i < nodes->len; i++)
    {
      g_autofree char *node = g_build_filename (KFD_FOLDER, g_ptr_array_index (nodes, i), NULL);
      g_autofree char *text = qm_tree_read_in (root, node, "properties");
      g_autofree char *location = qm_tree_value (text, "location_id", "");
      g_autofree char *node_domain = qm_tree_value (text, "domain", "");
      g_autofree char *vendor = qm_tree_value (text, "vendor_id", "");

      /* The node of the processor has vendor 0 and location 0. */
      if (location == NULL || vendor == NULL || strcmp (vendor, "0") == 0)
        continue;
      if (g_ascii_strtoull (location, NULL, 10) == (bus << 8 | slot << 3 | function) &&
          (node_domain == NULL || g_ascii_strtoull (node_domain, NULL, 10) == domain))
        return sum_banks (root, node);
    }

  return 0;
}

/* The driver says. Where it cannot be asked: amdgpu counts the traffic of a card's
 * own link and memory, and names the maker of its memory chips; for the graphics
 * of a processor it hides these files, or older ones say "unknown". */
static gboolean
is_card (const char *root,
         const char *folder)
{
  g_autofree char *maker = qm_tree_read_in (root, folder, "mem_info_vram_vendor");
  double bytes;
  QmDrmMemory memory = qm_probe_drm (root, folder, "amdgpu", &bytes);

  if (memory != QM_DRM_MEMORY_UNKNOWN)
    return memory == QM_DRM_MEMORY_OWN;

  return (maker != NULL && strcmp (maker, "unknown") != 0) || qm_tree_has (root, folder, "mem_busy_percent") ||
         qm_tree_has (root, folder, "pcie_bw");
}

/* hwmon counts in millionths of a watt. */
static void
read_power_limit (const char     *root,
                  const char     *folder,
                  QmProbedDevice *device)
{
  g_autofree char *sensors = qm_tree_sensors (root, folder);
  double limit;

  if (sensors != NULL && qm_tree_read_number (root, sensors, "power1_cap", &limit))
    qm_probed_device_set_power_limit (device, limit / 1e6);
}

/**
 * qm_probe_amd:
 * @root: the root of the tree
 * @device: (inout): an AMD device that is awake
 * @folder: its folder in sysfs
 *
 * Memory as amdgpu tells it. The graphics of a processor have a carve-out, which
 * says little of what they can use: there the figure of the compute driver
 * counts, else the larger of the carve-out and what they may map of the system's.
 * The two are never added up: they can be more than the computer has.
 */
void
qm_probe_amd (const char     *root,
              QmProbedDevice *device,
              const char     *folder)
{
  double total, used, mapped;

  if (!qm_tree_read_number (root, folder, "mem_info_vram_total", &total) || total <= 0)
    {
      qm_probed_device_unknown (device, "memory_bytes", _("its driver does not tell"));
      return;
    }

  if (qm_tree_read_number (root, folder, "mem_info_vram_used", &used))
    device->memory_free_bytes = MAX (0, total - used);
  if (is_card (root, folder))
    {
      device->memory_kind = QM_MEMORY_KIND_DEDICATED;
      device->memory_bytes = total;
      read_power_limit (root, folder, device);
      return;
    }

  if (!qm_tree_read_number (root, folder, "mem_info_gtt_total", &mapped))
    mapped = 0;
  device->memory_kind = QM_MEMORY_KIND_CARVE_OUT;
  device->carve_out_bytes = total;
  device->memory_bytes = read_kfd (root, device->id);
  if (device->memory_bytes <= 0)
    device->memory_bytes = MAX (total, mapped);
}
