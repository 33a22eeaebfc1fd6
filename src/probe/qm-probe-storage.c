/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <sys/statvfs.h>

#include "qm-probe-private.h"

#define BLOCK_FOLDER "/sys/class/block"

/* Volumes on volumes on disks: more layers than these are a loop. */
#define MOST_LAYERS 8

/* /proc/self/mountinfo, see proc(5) */
enum {
  MOUNT_NUMBER = 2,
  MOUNT_POINT = 4,
  MOUNT_FIRST_TAG = 6,
};

static gboolean
is_network (const char *kind)
{
  static const char * const network[] = {
    "nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "glusterfs", "afs", "fuse.sshfs", "fuse.glusterfs", "beegfs", "gpfs", NULL,
  };

  return g_strv_contains (network, kind);
}

static gboolean
is_below (const char *path,
          const char *folder)
{
  gsize length = strlen (folder);

  return strcmp (folder, "/") == 0 || (strncmp (path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0'));
}

/* The words of the line of the mount that @path is in: of the longest mount
 * point the last, which lies on top. */
static GStrv
find_mount (const char *root,
            const char *path)
{
  g_autofree char *text = qm_tree_read (root, "/proc/self/mountinfo");
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", "\n", -1);
  GStrv found = NULL;
  gsize longest = 0;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i], " ", -1);
      g_autofree char *point = NULL;

      if (g_strv_length (words) <= MOUNT_FIRST_TAG)
        continue;
      point = g_strcompress (words[MOUNT_POINT]);
      if (!is_below (path, point) || strlen (point) < longest)
        continue;
      longest = strlen (point);
      g_strfreev (found);
      found = g_steal_pointer (&words);
    }

  return found;
}

static char *
kind_of_block (const char *root,
               const char *name,
               guint       layers)
{
  g_autofree char *path = g_build_filename (BLOCK_FOLDER, name, NULL);
  g_autofree char *full = g_strconcat (root, path, NULL);
  g_autofree char *target = g_file_read_link (full, NULL);
  g_autofree char *below = g_build_filename (path, "slaves", NULL);
  g_autofree char *queue = g_build_filename (path, "queue", NULL);
  g_autoptr (GPtrArray) parts = qm_tree_list (root, below);
  double rotational;

  if (g_str_has_prefix (name, "nvme"))
    return g_strdup ("nvme");
  if (layers == 0)
    return g_strdup ("unknown");
  if (parts->len > 0)
    return kind_of_block (root, g_ptr_array_index (parts, 0), layers - 1);
  if (qm_tree_has (root, path, "partition") && target != NULL)
    {
      g_autofree char *folder = g_path_get_dirname (target);
      g_autofree char *disk = g_path_get_basename (folder);

      return kind_of_block (root, disk, layers - 1);
    }
  /* A disk of a virtual machine turns or not as its host likes to say. */
  if (g_str_has_prefix (name, "sd") && qm_tree_read_number (root, queue, "rotational", &rotational))
    return g_strdup (rotational > 0 ? "hdd" : "sata-ssd");

  return g_strdup ("unknown");
}

static char *
kind_of_mount (const char *root,
               GStrv       words)
{
  g_autofree char *link = NULL;
  g_autofree char *name = NULL;
  guint dash = MOUNT_FIRST_TAG;

  while (words[dash] != NULL && strcmp (words[dash], "-") != 0)
    dash++;
  if (words[dash] == NULL || words[dash + 1] == NULL || words[dash + 2] == NULL)
    return g_strdup ("unknown");
  if (is_network (words[dash + 1]))
    return g_strdup ("network");

  link = g_build_filename ("/sys/dev/block", words[MOUNT_NUMBER], NULL);
  name = qm_tree_read_link (root, link);
  /* btrfs has numbers of its own, and names its disk. */
  if (name == NULL && g_str_has_prefix (words[dash + 2], "/dev/"))
    name = g_path_get_basename (words[dash + 2]);

  return name != NULL ? kind_of_block (root, name, MOST_LAYERS) : g_strdup ("unknown");
}

/**
 * qm_probe_storage:
 * @root: the root of the tree
 * @folder: a folder of this computer
 * @storage: (out caller-allocates): the disk that @folder is on
 *
 * A captured tree has no room to measure: its sizes stay unknown.
 */
void
qm_probe_storage (const char      *root,
                  const char      *folder,
                  QmProbedStorage *storage)
{
  g_auto (GStrv) mount = find_mount (root, folder);
  struct statvfs status;

  storage->path = g_strdup (folder);
  storage->kind = mount != NULL ? kind_of_mount (root, mount) : g_strdup ("unknown");
  if (root[0] == '\0' && statvfs (folder, &status) == 0)
    {
      storage->total_bytes = (double) status.f_blocks * status.f_frsize;
      storage->free_bytes = (double) status.f_bavail * status.f_frsize;
    }
}
