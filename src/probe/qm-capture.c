/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "qm-file.h"
#include "qm-probe-private.h"

/* What detection reads, and nothing else: no serial number, no address of a
 * network, no name of a person or a host, no mount. "*" is any name, "@" at the
 * end a link, of which only the last name is kept. */
static const char * const wanted[] = {
  "/proc/cpuinfo", "/proc/meminfo", "/proc/device-tree/model", "/proc/driver/nvidia/version",
  "/sys/devices/system/cpu/*/topology/core_id", "/sys/devices/system/cpu/*/topology/physical_package_id",
  "/sys/class/dmi/id/sys_vendor", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/cpu.max",
  "/sys/class/kfd/kfd/topology/nodes/*/properties", "/sys/class/kfd/kfd/topology/nodes/*/mem_banks/*/properties",
  "/sys/class/drm/*/device/uevent", "/sys/class/accel/*/device/uevent", "/usr/share/libdrm/amdgpu.ids",
};

/* Of these it counts that they are there: what they give is not read. */
static const char * const present[] = { "/dev/dxg", "/.flatpak-info" };

/* of devices that show, compute or are a bridge to one of them */
static const char * const of_device[] = {
  "class", "vendor", "device", "revision", "subsystem_vendor", "subsystem_device", "driver@", "power/runtime_status",
  "current_link_speed", "current_link_width", "max_link_speed", "max_link_width",
};

/* Reading one of these wakes what sleeps. */
static const char * const of_awake_device[] = {
  "mem_info_vram_total", "mem_info_vram_used", "mem_info_vis_vram_total", "mem_info_gtt_total", "mem_info_vram_vendor",
  "mem_busy_percent", "gpu_busy_percent", "hwmon/*/power1_cap",
};

#define PCI_FOLDER "/sys/bus/pci/devices"

/* Lines that tell one computer or person from another. */
static const char * const told_apart[] = { "serial", "unique_id", "uuid", "hwaddr", "mac address", "hostname", NULL };

static gboolean
is_told_apart (const char *line)
{
  for (guint i = 0; told_apart[i] != NULL; i++)
    {
      g_autofree char *lower = g_ascii_strdown (line, -1);

      if (strstr (lower, told_apart[i]) != NULL)
        return TRUE;
    }

  return FALSE;
}

static char *
scrub (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) kept = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    if (!is_told_apart (lines[i]))
      g_string_append_printf (kept, "%s\n", lines[i]);

  return g_string_free (g_steal_pointer (&kept), FALSE);
}

static gboolean
make_folder_of (const char  *path,
                GError     **error)
{
  g_autofree char *folder = g_path_get_dirname (path);

  if (g_mkdir_with_parents (folder, 0777) == 0)
    return TRUE;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), "%s: %s", folder, g_strerror (errno));
  return FALSE;
}

static gboolean
copy_link (const char  *root,
           const char  *path,
           const char  *folder,
           GError     **error)
{
  g_autofree char *name = qm_tree_read_link (root, path);
  g_autofree char *to = g_strconcat (folder, path, NULL);

  if (name == NULL)
    return TRUE;
  if (!make_folder_of (to, error))
    return FALSE;

  g_unlink (to);
  if (symlink (name, to) == 0)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), "%s: %s", to, g_strerror (errno));
  return FALSE;
}

static gboolean
copy_file (const char  *root,
           const char  *path,
           const char  *folder,
           GError     **error)
{
  g_autofree char *text = qm_tree_read (root, path);
  g_autofree char *kept = text != NULL ? scrub (text) : NULL;
  g_autofree char *to = g_strconcat (folder, path, NULL);

  if (kept == NULL)
    return TRUE;

  return make_folder_of (to, error) && qm_file_write (to, kept, strlen (kept), error);
}

static gboolean
copy_presence (const char  *root,
               const char  *path,
               const char  *folder,
               GError     **error)
{
  g_autofree char *to = g_strconcat (folder, path, NULL);

  return !qm_tree_has (root, "", path + 1) || (make_folder_of (to, error) && qm_file_write (to, "", 0, error));
}

/* Every path that a pattern stands for. */
static gboolean
copy_pattern (const char  *root,
              const char  *pattern,
              const char  *folder,
              GError     **error)
{
  const char *star = strstr (pattern, "/*");
  g_autofree char *parent = NULL;
  g_autoptr (GPtrArray) names = NULL;

  if (star == NULL)
    return copy_file (root, pattern, folder, error);

  parent = g_strndup (pattern, star - pattern);
  names = qm_tree_list (root, parent);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *inner = g_strconcat (parent, "/", g_ptr_array_index (names, i), star + strlen ("/*"), NULL);

      if (!copy_pattern (root, inner, folder, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
copy_names (const char          *root,
            const char          *device,
            const char * const  *names,
            guint                n,
            const char          *folder,
            GError             **error)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_build_filename (PCI_FOLDER, device, names[i], NULL);
      gboolean is_link = g_str_has_suffix (path, "@");

      if (is_link)
        path[strlen (path) - 1] = '\0';
      if (!(is_link ? copy_link (root, path, folder, error) : copy_pattern (root, path, folder, error)))
        return FALSE;
    }

  return TRUE;
}

static gboolean
copy_device (const char  *root,
             const char  *device,
             const char  *folder,
             GError     **error)
{
  g_autofree char *path = g_build_filename (PCI_FOLDER, device, NULL);
  g_autofree char *class = qm_tree_read_in (root, path, "class");
  g_autofree char *status = qm_tree_read_in (root, path, "power/runtime_status");

  /* displays, accelerators */
  if (class == NULL || !(g_str_has_prefix (class, "0x03") || g_str_has_prefix (class, "0x12")))
    return TRUE;
  if (!copy_names (root, device, of_device, G_N_ELEMENTS (of_device), folder, error))
    return FALSE;

  return g_strcmp0 (status, "suspended") == 0 || copy_names (root, device, of_awake_device, G_N_ELEMENTS (of_awake_device), folder, error);
}

/**
 * qm_machine_capture:
 * @sysroot: (nullable): a captured tree; %NULL for this computer
 * @folder: where to; made where it is not there
 * @error: return location for an error
 *
 * Copies what detection reads, so that it can be read elsewhere with `QM_SYSROOT`.
 * Nothing goes along that tells a computer or a person from others.
 *
 * Returns: whether everything could be written
 */
gboolean
qm_machine_capture (const char  *sysroot,
                    const char  *folder,
                    GError     **error)
{
  const char *root = sysroot != NULL ? sysroot : "";
  g_autoptr (GPtrArray) devices = qm_tree_list (root, PCI_FOLDER);

  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    if (!copy_pattern (root, wanted[i], folder, error))
      return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (present); i++)
    if (!copy_presence (root, present[i], folder, error))
      return FALSE;
  for (guint i = 0; i < devices->len; i++)
    if (!copy_device (root, g_ptr_array_index (devices, i), folder, error))
      return FALSE;

  return TRUE;
}
