/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <stdio.h>
#include <string.h>

#include "qm-probe-private.h"

#define PCI_FOLDER "/sys/bus/pci/devices"

/* PCI classes: display controllers 0x03xxxx, processing accelerators 0x1200xx */
#define CLASS_DISPLAY     0x03
#define CLASS_ACCELERATOR 0x12

#define VENDOR_NVIDIA 0x10de
#define VENDOR_AMD    0x1002
#define VENDOR_INTEL  0x8086
#define VENDOR_HABANA 0x1da3
#define VENDOR_AMAZON 0x1d0f
#define VENDOR_GOOGLE 0x1ae0

/* The graphics of Intel's processors have always been function 0 of this slot. */
#define INTEL_IN_PROCESSOR "0000:00:02.0"

/**
 * qm_pci_address_equal:
 * @a: a PCI address
 * @b: another
 *
 * Returns: whether they are the same, however many digits are written. What has
 *   more behind its address, such as an instance of a card, is another
 */
gboolean
qm_pci_address_equal (const char *a,
                      const char *b)
{
  guint x[4], y[4];
  char more;

  return sscanf (a, "%x:%x:%x.%x%c", &x[0], &x[1], &x[2], &x[3], &more) == 4 &&
         sscanf (b, "%x:%x:%x.%x%c", &y[0], &y[1], &y[2], &y[3], &more) == 4 && memcmp (x, y, sizeof x) == 0;
}

static guint
read_hex (const char *root,
          const char *folder,
          const char *name)
{
  g_autofree char *text = qm_tree_read_in (root, folder, name);

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
    case VENDOR_HABANA:
      return "intel";
    case VENDOR_AMAZON:
      return "aws";
    case VENDOR_GOOGLE:
      return "google";
    default:
      return "other";
    }
}

/* Transfers a second, in units of 1e9, of the generations of PCI Express. */
static const struct {
  double speed;
  const char *generation;
} generations[] = {
  { 2.5, "1.0" }, { 5, "2.0" }, { 8, "3.0" }, { 16, "4.0" }, { 32, "5.0" }, { 64, "6.0" },
};

static const char *
generation_of (double speed)
{
  for (guint i = 0; i < G_N_ELEMENTS (generations); i++)
    if (speed == generations[i].speed)
      return generations[i].generation;

  return NULL;
}

/* Intel's cards sit behind a switch of their own, and show what the kernel takes
 * for a single slow lane: their link is that of the switch, two steps up. */
static char *
link_folder (const char           *folder,
             const QmProbedDevice *device)
{
  gboolean is_behind_switch = g_str_has_prefix (device->pci_id, "8086:") && !qm_pci_address_equal (device->id, INTEL_IN_PROCESSOR) &&
                              qm_probe_neural_unit_name (device->driver) == NULL;

  return is_behind_switch ? g_build_filename (folder, "..", "..", NULL) : g_strdup (folder);
}

/* The link that device and slot can have: an idle card slows its own down. */
static void
read_link (const char     *root,
           const char     *folder,
           QmProbedDevice *device)
{
  g_autofree char *from = link_folder (folder, device);
  g_autofree char *slot = g_build_filename (from, "..", NULL);
  double speed, slot_speed, width;

  if (!qm_tree_read_number (root, from, "max_link_speed", &speed) ||
      !qm_tree_read_number (root, from, "current_link_width", &width))
    return;
  if (qm_tree_read_number (root, slot, "max_link_speed", &slot_speed))
    speed = MIN (speed, slot_speed);
  if (generation_of (speed) != NULL && width > 0)
    device->link = g_strdup_printf ("PCIe %s x%d", generation_of (speed), (int) width);
}

static gboolean
is_suspended (const char *root,
              const char *folder)
{
  g_autofree char *status = qm_tree_read_in (root, folder, "power/runtime_status");

  return g_strcmp0 (status, "suspended") == 0;
}

/* Where the driver cannot be asked, the place tells the processor's own. */
static void
read_intel (const char     *root,
            const char     *folder,
            QmProbedDevice *device)
{
  double bytes;

  switch (qm_probe_drm (root, folder, device->driver, &bytes))
    {
    case QM_DRM_MEMORY_OWN:
      device->memory_kind = QM_MEMORY_KIND_DEDICATED;
      device->memory_bytes = bytes;
      qm_probed_device_unknown (device, "memory_free_bytes", _("its driver does not tell"));
      break;
    case QM_DRM_MEMORY_SHARED:
      device->memory_kind = QM_MEMORY_KIND_UNIFIED;
      break;
    case QM_DRM_MEMORY_UNKNOWN:
    default:
      if (qm_pci_address_equal (device->id, INTEL_IN_PROCESSOR))
        device->memory_kind = QM_MEMORY_KIND_UNIFIED;
      break;
    }
}

/* Of a device that sleeps only what the kernel remembers is read: anything else
 * would wake it. */
static void
read_device (const char *root,
             const char *address,
             gboolean    wake,
             GPtrArray  *devices)
{
  g_autofree char *folder = g_build_filename (PCI_FOLDER, address, NULL);
  g_autofree char *driver_path = g_build_filename (folder, "driver", NULL);
  guint vendor = read_hex (root, folder, "vendor"), model = read_hex (root, folder, "device");
  QmProbedDevice *device = qm_probed_device_new (address);

  g_ptr_array_add (devices, device);
  device->vendor = g_strdup (vendor_name (vendor));
  device->pci_id = g_strdup_printf ("%04x:%04x", vendor, model);
  device->driver = qm_tree_read_link (root, driver_path);
  if (device->driver == NULL)
    qm_probed_device_unknown (device, "driver", _("no driver is loaded for it"));
  device->name = vendor == VENDOR_AMD ? qm_probe_amd_name (root, folder) : g_strdup (qm_probe_neural_unit_name (device->driver));

  device->suspended = !wake && is_suspended (root, folder);
  if (device->suspended)
    {
      qm_probed_device_unknown (device, "memory_bytes", _("it is asleep and was not woken"));
      return;
    }

  read_link (root, folder, device);
  if (vendor == VENDOR_AMD && g_strcmp0 (device->driver, "amdgpu") == 0)
    qm_probe_amd (root, device, folder);
  else if (vendor == VENDOR_INTEL)
    read_intel (root, folder, device);
}

/* Display adapters of servers and virtual machines compute nothing. */
static gboolean
is_of_interest (const char *root,
                const char *folder)
{
  guint class = read_hex (root, folder, "class") >> 16, vendor;

  if (class != CLASS_DISPLAY)
    return class == CLASS_ACCELERATOR;

  vendor = read_hex (root, folder, "vendor");
  return vendor == VENDOR_NVIDIA || vendor == VENDOR_AMD || vendor == VENDOR_INTEL;
}

/**
 * qm_probe_pci_signature:
 * @root: the root of the tree
 *
 * Returns: (transfer full): a text that is another when a device comes or goes,
 *   gets or loses its driver, falls asleep or wakes
 */
char *
qm_probe_pci_signature (const char *root)
{
  g_autoptr (GPtrArray) addresses = qm_tree_list (root, PCI_FOLDER);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < addresses->len; i++)
    {
      const char *address = g_ptr_array_index (addresses, i);
      g_autofree char *folder = g_build_filename (PCI_FOLDER, address, NULL);
      g_autofree char *driver_path = g_build_filename (folder, "driver", NULL);
      g_autofree char *driver = NULL;

      if (!is_of_interest (root, folder))
        continue;
      driver = qm_tree_read_link (root, driver_path);
      g_string_append_printf (text, "%s %s %d\n", address, driver != NULL ? driver : "-", is_suspended (root, folder));
    }

  return g_string_free (text, FALSE);
}

/**
 * qm_probe_pci:
 * @root: the root of the tree
 * @wake: whether devices that sleep are read all the same, which wakes them
 * @devices: (element-type QmProbedDevice): found ones are added
 *
 * Finds GPUs and accelerators by their PCI class.
 */
void
qm_probe_pci (const char *root,
              gboolean    wake,
              GPtrArray  *devices)
{
  g_autoptr (GPtrArray) addresses = qm_tree_list (root, PCI_FOLDER);

  for (guint i = 0; i < addresses->len; i++)
    {
      const char *address = g_ptr_array_index (addresses, i);
      g_autofree char *folder = g_build_filename (PCI_FOLDER, address, NULL);

      if (is_of_interest (root, folder))
        read_device (root, address, wake, devices);
    }
}
