/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <drm/amdgpu_drm.h>
#include <drm/i915_drm.h>
#include <drm/xe_drm.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "qm-probe-private.h"

/* More than any driver answers. */
#define LARGEST_ANSWER 65536

static int
call_node (gpointer      data,
           unsigned long request,
           gpointer      argument)
{
  return ioctl (GPOINTER_TO_INT (data), request, argument);
}

/* The regions that i915 knows: only a card has one of the class "device". */
static QmDrmMemory
read_i915 (const QmDrm *drm,
           double      *bytes)
{
  struct drm_i915_query_item item = { .query_id = DRM_I915_QUERY_MEMORY_REGIONS };
  struct drm_i915_query query = { .num_items = 1, .items_ptr = (guintptr) &item };
  g_autofree struct drm_i915_query_memory_regions *answer = NULL;
  gsize most;

  if (drm->call (drm->data, DRM_IOCTL_I915_QUERY, &query) != 0 || item.length < (int) sizeof *answer || item.length > LARGEST_ANSWER)
    return QM_DRM_MEMORY_UNKNOWN;

  answer = g_malloc0 (item.length);
  item.data_ptr = (guintptr) answer;
  most = (item.length - sizeof *answer) / sizeof answer->regions[0];
  if (drm->call (drm->data, DRM_IOCTL_I915_QUERY, &query) != 0 || item.length < 0 ||
      answer->num_regions == 0 || answer->num_regions > most)
    return QM_DRM_MEMORY_UNKNOWN;

  for (gsize i = 0; i < answer->num_regions; i++)
    if (answer->regions[i].region.memory_class == I915_MEMORY_CLASS_DEVICE)
      *bytes += (double) answer->regions[i].probed_size;

  return *bytes > 0 ? QM_DRM_MEMORY_OWN : QM_DRM_MEMORY_SHARED;
}

static QmDrmMemory
read_xe (const QmDrm *drm,
         double      *bytes)
{
  struct drm_xe_device_query query = { .query = DRM_XE_DEVICE_QUERY_MEM_REGIONS };
  g_autofree struct drm_xe_query_mem_regions *answer = NULL;
  gsize most;

  if (drm->call (drm->data, DRM_IOCTL_XE_DEVICE_QUERY, &query) != 0 || query.size < sizeof *answer || query.size > LARGEST_ANSWER)
    return QM_DRM_MEMORY_UNKNOWN;

  answer = g_malloc0 (query.size);
  query.data = (guintptr) answer;
  most = (query.size - sizeof *answer) / sizeof answer->mem_regions[0];
  if (drm->call (drm->data, DRM_IOCTL_XE_DEVICE_QUERY, &query) != 0 ||
      answer->num_mem_regions == 0 || answer->num_mem_regions > most)
    return QM_DRM_MEMORY_UNKNOWN;

  for (gsize i = 0; i < answer->num_mem_regions; i++)
    if (answer->mem_regions[i].mem_class == DRM_XE_MEM_REGION_CLASS_VRAM)
      *bytes += (double) answer->mem_regions[i].total_size;

  return *bytes > 0 ? QM_DRM_MEMORY_OWN : QM_DRM_MEMORY_SHARED;
}

static QmDrmMemory
read_amdgpu (const QmDrm *drm)
{
  struct drm_amdgpu_info_device answer = { 0 };
  struct drm_amdgpu_info query = {
    .return_pointer = (guintptr) &answer, .return_size = sizeof answer, .query = AMDGPU_INFO_DEV_INFO,
  };

  if (drm->call (drm->data, DRM_IOCTL_AMDGPU_INFO, &query) != 0 || answer.device_id == 0)
    return QM_DRM_MEMORY_UNKNOWN;

  return (answer.ids_flags & AMDGPU_IDS_FLAGS_FUSION) != 0 ? QM_DRM_MEMORY_SHARED : QM_DRM_MEMORY_OWN;
}

/**
 * qm_drm_read_memory:
 * @drm: how to ask the driver
 * @driver: (nullable): its name
 * @bytes: (out): the memory of a card of Intel's; 0 for others
 *
 * Whether a device has memory of its own, as its driver in the kernel says.
 *
 * Returns: that, or %QM_DRM_MEMORY_UNKNOWN
 */
QmDrmMemory
qm_drm_read_memory (const QmDrm *drm,
                    const char  *driver,
                    double      *bytes)
{
  *bytes = 0;
  if (g_strcmp0 (driver, "i915") == 0)
    return read_i915 (drm, bytes);
  if (g_strcmp0 (driver, "xe") == 0)
    return read_xe (drm, bytes);
  if (g_strcmp0 (driver, "amdgpu") == 0)
    return read_amdgpu (drm);

  return QM_DRM_MEMORY_UNKNOWN;
}

/**
 * qm_probe_drm:
 * @root: the root of the tree; one that was captured has no driver to ask
 * @folder: the folder of a PCI device that is awake
 * @driver: (nullable): its driver
 * @bytes: (out): as qm_drm_read_memory()
 *
 * Asks by the device's render node, which every person at the computer may open.
 *
 * Returns: as qm_drm_read_memory()
 */
QmDrmMemory
qm_probe_drm (const char *root,
              const char *folder,
              const char *driver,
              double     *bytes)
{
  g_autofree char *nodes_folder = g_build_filename (folder, "drm", NULL);
  g_autoptr (GPtrArray) nodes = qm_tree_list (root, nodes_folder);
  QmDrmMemory memory = QM_DRM_MEMORY_UNKNOWN;

  *bytes = 0;
  for (guint i = 0; root[0] == '\0' && i < nodes->len; i++)
    {
      g_autofree char *path = g_build_filename ("/dev/dri", g_ptr_array_index (nodes, i), NULL);
      int fd = g_str_has_prefix (g_ptr_array_index (nodes, i), "renderD") ? open (path, O_RDWR | O_CLOEXEC) : -1;
      QmDrm drm = { call_node, GINT_TO_POINTER (fd) };

      if (fd < 0)
        continue;
      memory = qm_drm_read_memory (&drm, driver, bytes);
      close (fd);
      break;
    }

  return memory;
}
