/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "qm-probe-private.h"

#define DRM_FOLDER   "/sys/class/drm"
#define ACCEL_FOLDER "/sys/class/accel"

/* Drivers of graphics that sit in a chip without a PCI bus. */
static const struct {
  const char *driver;
  const char *vendor;
} soc_drivers[] = {
  { "asahi", "apple" },
  { "nvgpu", "nvidia" }, { "gk20a", "nvidia" }, { "tegra-host1x", "nvidia" },
  { "panfrost", "arm" }, { "panthor", "arm" }, { "lima", "arm" },
  { "v3d", "broadcom" }, { "msm", "qualcomm" }, { "etnaviv", "vivante" },
};

/* "Apple MacBook Pro (14-inch, M1 Pro, 2021)" has an Apple M1 Pro. */
static char *
apple_chip (const char *board)
{
  g_auto (GStrv) parts = g_strsplit_set (board, "(,)", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      const char *part = g_strstrip (parts[i]);

      if (part[0] == 'M' && g_ascii_isdigit (part[1]))
        return g_strconcat ("Apple ", part, NULL);
    }

  return NULL;
}

static char *
name_soc (const char *root,
          const char *vendor)
{
  g_autofree char *board = qm_tree_read (root, "/proc/device-tree/model");

  if (board == NULL || strcmp (vendor, "apple") != 0)
    return g_steal_pointer (&board);

  return apple_chip (board);
}

static void
add_soc (const char *root,
         const char *driver,
         GPtrArray  *devices)
{
  for (guint i = 0; i < G_N_ELEMENTS (soc_drivers); i++)
    {
      QmProbedDevice *device;

      if (g_strcmp0 (driver, soc_drivers[i].driver) != 0)
        continue;
      device = qm_probed_device_new ("soc");
      device->vendor = g_strdup (soc_drivers[i].vendor);
      device->driver = g_strdup (driver);
      device->name = name_soc (root, device->vendor);
      device->memory_kind = QM_MEMORY_KIND_UNIFIED;
      g_ptr_array_add (devices, device);
      return;
    }
}

static gboolean
is_card_name (const char *name)
{
  return g_str_has_prefix (name, "card") && name[4] != '\0' && strspn (name + 4, "0123456789") == strlen (name + 4);
}

/**
 * qm_probe_neural_unit_name:
 * @driver: (nullable): the driver of a device
 *
 * Returns: (nullable): what it drives, where that is a neural unit
 */
const char *
qm_probe_neural_unit_name (const char *driver)
{
  if (g_strcmp0 (driver, "intel_vpu") == 0)
    return "Intel NPU";

  return g_strcmp0 (driver, "amdxdna") == 0 ? "AMD NPU (XDNA)" : NULL;
}

/* A neural unit may be a PCI device of a class that says nothing: AMD's is one
 * of signal processing. */
static void
add_accelerator (const char *root,
                 const char *uevent,
                 GPtrArray  *devices)
{
  g_autofree char *driver = qm_tree_value (uevent, "DRIVER", "=");
  g_autofree char *address = qm_tree_value (uevent, "PCI_SLOT_NAME", "=");
  g_autofree char *pci_id = qm_tree_value (uevent, "PCI_ID", "=");
  QmProbedDevice *device;

  if (address == NULL || pci_id == NULL)
    return;
  for (guint i = 0; i < devices->len; i++)
    if (qm_pci_address_equal (((QmProbedDevice *) g_ptr_array_index (devices, i))->id, address))
      return;

  device = qm_probed_device_new (address);
  device->driver = g_steal_pointer (&driver);
  device->pci_id = g_ascii_strdown (pci_id, -1);
  device->vendor = g_strdup (g_str_has_prefix (device->pci_id, "8086:") ? "intel"
                             : g_str_has_prefix (device->pci_id, "1022:") || g_str_has_prefix (device->pci_id, "1002:") ? "amd" : "other");
  device->name = g_strdup (qm_probe_neural_unit_name (device->driver));
  g_ptr_array_add (devices, device);
}

/**
 * qm_probe_soc:
 * @root: the root of the tree
 * @devices: (element-type QmProbedDevice): found ones are added
 *
 * Finds what is not among the PCI devices of a graphics class: graphics of a
 * system on a chip, which share the system memory, and neural units.
 */
void
qm_probe_soc (const char *root,
              GPtrArray  *devices)
{
  g_autoptr (GPtrArray) cards = qm_tree_list (root, DRM_FOLDER);
  g_autoptr (GPtrArray) units = qm_tree_list (root, ACCEL_FOLDER);

  for (guint i = 0; i < cards->len; i++)
    {
      const char *name = g_ptr_array_index (cards, i);
      g_autofree char *folder = g_build_filename (DRM_FOLDER, name, "device", NULL);
      g_autofree char *uevent = qm_tree_read_in (root, folder, "uevent");
      g_autofree char *driver = qm_tree_value (uevent, "DRIVER", "=");
      g_autofree char *address = qm_tree_value (uevent, "PCI_SLOT_NAME", "=");

      if (is_card_name (name) && address == NULL)
        add_soc (root, driver, devices);
    }
  for (guint i = 0; i < units->len; i++)
    {
      g_autofree char *folder = g_build_filename (ACCEL_FOLDER, g_ptr_array_index (units, i), "device", NULL);
      g_autofree char *uevent = qm_tree_read_in (root, folder, "uevent");

      add_accelerator (root, uevent, devices);
    }
}
