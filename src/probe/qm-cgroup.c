/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "qm-probe-private.h"

static gboolean
has_controller (const char *controllers,
                const char *controller)
{
  g_auto (GStrv) names = g_strsplit (controllers, ",", -1);

  return g_strv_contains ((const char * const *) names, controller);
}

/* A container often sees the path that its host knows, and only the end of it
 * is there: folders that do not exist are read in vain, and the walk goes on. */
static void
add_ancestors (GPtrArray  *folders,
               const char *mount,
               const char *group)
{
  g_autofree char *path = g_strdup (group);

  for (;;)
    {
      char *slash = strrchr (path, '/');

      g_ptr_array_add (folders, g_build_filename (mount, path, NULL));
      if (slash == NULL || path[1] == '\0')
        return;
      slash[slash == path ? 1 : 0] = '\0';
    }
}

/**
 * qm_cgroup_folders:
 * @root: the root of the tree
 * @controller: "memory" or "cpu"
 *
 * Where limits on this session may be set: the folders of its control group and
 * of all groups above it, in the hierarchy of version 2 and in that of version 1
 * (see `cgroups(7)`). Some may not exist.
 *
 * Returns: (transfer full) (element-type utf8): the folders
 */
GPtrArray *
qm_cgroup_folders (const char *root,
                   const char *controller)
{
  g_autofree char *text = qm_tree_read (root, "/proc/self/cgroup");
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", "\n", -1);
  GPtrArray *folders = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (lines[i], ":", 3);

      if (g_strv_length (parts) != 3)
        continue;
      if (parts[1][0] == '\0')
        {
          add_ancestors (folders, "/sys/fs/cgroup", parts[2]);
          add_ancestors (folders, "/sys/fs/cgroup/unified", parts[2]);
        }
      else if (has_controller (parts[1], controller))
        {
          g_autofree char *mount = g_build_filename ("/sys/fs/cgroup", parts[1], NULL);
          g_autofree char *linked = g_build_filename ("/sys/fs/cgroup", controller, NULL);

          add_ancestors (folders, mount, parts[2]);
          add_ancestors (folders, linked, parts[2]);
        }
    }
  if (folders->len == 0)
    g_ptr_array_add (folders, g_strdup ("/sys/fs/cgroup"));

  return folders;
}
