/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "qm-probe-private.h"

#define PCI_FOLDER "/sys/bus/pci/devices"

/* PCI classes: display controllers 0x03xxxx, processing accelerators 0x1200xx */
#define CLASS_DISPLAY     0x03
#define CLASS_ACCELERATOR 0x12

#define VENDOR_NVIDIA 0x10de
#define VENDOR_AMD    0x1002
#define VENDOR_INTEL  0x8086

static void
unknown_free (QmUnknown *self)
{
  g_free (self->reason);
  g_free (self);
}

/**
 * qm_probed_device_new:
 * @id: its address
 *
 * Returns: (transfer full): a device of which nothing else is known
 */
QmProbedDevice *
qm_probed_device_new (const char *id)
{
  QmProbedDevice *self = g_new0 (QmProbedDevice, 1);

  self->id = g_strdup (id);
  self->unknown = g_ptr_array_new_with_free_func ((GDestroyNotify) unknown_free);

  return self;
}

/**
 * qm_probed_device_free:
 * @self: (transfer full): a device
 */
void
qm_probed_device_free (QmProbedDevice *self)
{
  g_free (self->id);
  g_free (self->name);
  g_free (self->vendor);
  g_free (self->pci_id);
  g_free (self->driver);
  g_free (self->link);
  g_free (self->remedy);
  g_ptr_array_unref (self->unknown);
  g_free (self);
}

/**
 * qm_probed_device_unknown:
 * @self: a device
 * @field: what could not be read; static
 * @reason: why
 */
void
qm_probed_device_unknown (QmProbedDevice *self,
                          const char     *field,
                          const char     *reason)
{
  QmUnknown *unknown = g_new0 (QmUnknown, 1);

  unknown->field = field;
  unknown->reason = g_strdup (reason);
  g_ptr_array_add (self->unknown, unknown);
}

static guint
read_hex (const char *root,
          const char *folder,
          const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *text = qm_tree_read (root, path);

  return text != NULL ? (guint) g_ascii_strtoull (text, NULL, 16) : 0;
}

static const char *
vendor_name (guint vendor)
{
  switch (vendor)
    {
    case VENDOR_NVIDIA:
      return "nvidia";
    case VENDOR_AMD:
      return "amd";
    case VENDOR_INTEL:
      return "intel";
    default:
      return "other";
    }
}

static const char *
pcie_generation (const char *speed)
{
  static const struct { const char *speed; const char *generation; } table[] = {
    { "2.5", "1.0" }, { "5", "2.0" }, { "8", "3.0" }, { "16", "4.0" }, { "32", "5.0" }, { "64", "6.0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      gsize length = strlen (table[i].speed);

      if (strncmp (speed, table[i].speed, length) == 0 && (speed[length] == ' ' || strncmp (speed + length, ".0 ", 3) == 0))
        return table[i].generation;
    }

  return NULL;
}

static void
read_link (const char     *root,
           const char     *folder,
           QmProbedDevice *device)
{
  g_autofree char *speed_path = g_build_filename (folder, "current_link_speed", NULL);
  g_autofree char *width_path = g_build_filename (folder, "current_link_width", NULL);
  g_autofree char *speed = qm_tree_read (root, speed_path);
  g_autofree char *width = qm_tree_read (root, width_path);
  const char *generation = speed != NULL ? pcie_generation (speed) : NULL;

  if (generation != NULL && width != NULL && strcmp (width, "0") != 0)
    device->link = g_strdup_printf ("PCIe %s x%s", generation, width);
}

/* Reading anything else of a card that sleeps would wake it. */
static gboolean
is_suspended (const char *root,
              const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "power/runtime_status", NULL);
  g_autofree char *status = qm_tree_read (root, path);

  return g_strcmp0 (status, "suspended") == 0;
}

static void
read_device (const char *root,
             const char *address,
             guint       class,
             GPtrArray  *devices)
{
  g_autofree char *folder = g_build_filename (PCI_FOLDER, address, NULL);
  g_autofree char *driver_path = g_build_filename (folder, "driver", NULL);
  guint vendor = read_hex (root, folder, "vendor"), model = read_hex (root, folder, "device");
  QmProbedDevice *device = qm_probed_device_new (address);

  device->vendor = g_strdup (vendor_name (vendor));
  device->pci_id = g_strdup_printf ("%04x:%04x", vendor, model);
  device->driver = qm_tree_read_link (root, driver_path);
  if (device->driver == NULL)
    qm_probed_device_unknown (device, "driver", _("no driver is loaded for it"));
  device->suspended = is_suspended (root, folder);
  if (device->suspended)
    qm_probed_device_unknown (device, "memory_bytes", _("it is asleep and was not woken"));
  else
    {
      read_link (root, folder, device);
      if (vendor == VENDOR_AMD)
        qm_probe_amd (root, device, folder);
    }
  g_ptr_array_add (devices, device);
}

/**
 * qm_probe_pci:
 * @root: the root of the tree
 * @devices: (element-type QmProbedDevice): found ones are added
 *
 * Finds GPUs and accelerators by their PCI class. Nothing that sleeps is woken.
 */
void
qm_probe_pci (const char *root,
              GPtrArray  *devices)
{
  g_autoptr (GPtrArray) addresses = qm_tree_list (root, PCI_FOLDER);

  for (guint i = 0; i < addresses->len; i++)
    {
      const char *address = g_ptr_array_index (addresses, i);
      g_autofree char *folder = g_build_filename (PCI_FOLDER, address, NULL);
      guint class = read_hex (root, folder, "class");
      guint vendor = read_hex (root, folder, "vendor");

      if (class >> 16 != CLASS_DISPLAY && class >> 16 != CLASS_ACCELERATOR)
        continue;
      /* Display adapters of servers and virtual machines compute nothing. */
      if (vendor != VENDOR_NVIDIA && vendor != VENDOR_AMD && vendor != VENDOR_INTEL && class >> 16 == CLASS_DISPLAY)
        continue;
      read_device (root, address, class, devices);
    }
}

/**
 * qm_probe_amd:
 * @root: the root of the tree
 * @device: (inout): an AMD device
 * @folder: its folder in sysfs
 *
 * Memory as amdgpu tells it. A processor's own graphics has a carve-out of the
 * system's memory, which says little of what it can use.
 */
void
qm_probe_amd (const char     *root,
              QmProbedDevice *device,
              const char     *folder)
{
  g_autofree char *total_path = g_build_filename (folder, "mem_info_vram_total", NULL);
  g_autofree char *used_path = g_build_filename (folder, "mem_info_vram_used", NULL);
  g_autofree char *gtt_path = g_build_filename (folder, "mem_info_gtt_total", NULL);
  g_autofree char *vendor_path = g_build_filename (folder, "mem_info_vram_vendor", NULL);
  g_autofree char *memory_vendor = qm_tree_read (root, vendor_path);
  double total, used, gtt;

  if (!qm_tree_read_number (root, total_path, &total))
    {
      qm_probed_device_unknown (device, "memory_bytes", _("its driver does not tell"));
      return;
    }

  /* A dedicated card names the maker of its memory chips. */
  if (memory_vendor == NULL && qm_tree_read_number (root, gtt_path, &gtt) && gtt > total)
    {
      device->memory_kind = QM_MEMORY_KIND_CARVE_OUT;
      device->memory_bytes = gtt;
      return;
    }

  device->memory_kind = QM_MEMORY_KIND_DEDICATED;
  device->memory_bytes = total;
  if (qm_tree_read_number (root, used_path, &used))
    device->memory_free_bytes = MAX (0, total - used);
}
