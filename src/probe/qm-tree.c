/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "qm-probe-private.h"

/* Files of sysfs and procfs are small; anything larger is no such file. */
#define LARGEST_FILE (4 * 1024 * 1024)

/**
 * qm_tree_read:
 * @root: the root of the tree
 * @path: an absolute path in it
 *
 * Returns: (transfer full) (nullable): its text without white space at the
 *   ends; %NULL where it cannot be read
 */
char *
qm_tree_read (const char *root,
              const char *path)
{
  g_autofree char *name = g_strconcat (root, path, NULL);
  g_autofree char *text = NULL;
  gsize length;

  if (!g_file_get_contents (name, &text, &length, NULL) || length > LARGEST_FILE)
    return NULL;
  if (!g_utf8_validate (text, length, NULL))
    return NULL;

  return g_strdup (g_strstrip (text));
}

/**
 * qm_tree_read_number:
 * @root: the root of the tree
 * @path: an absolute path in it
 * @value: (out): the number at its beginning
 *
 * Returns: whether there is a number
 */
gboolean
qm_tree_read_number (const char *root,
                     const char *path,
                     double     *value)
{
  g_autofree char *text = qm_tree_read (root, path);
  char *end;

  if (text == NULL)
    return FALSE;

  *value = g_ascii_strtod (text, &end);
  return end != text;
}

/**
 * qm_tree_read_link:
 * @root: the root of the tree
 * @path: a link
 *
 * Returns: (transfer full) (nullable): the last part of what it points to
 */
char *
qm_tree_read_link (const char *root,
                   const char *path)
{
  g_autofree char *name = g_strconcat (root, path, NULL);
  g_autofree char *target = g_file_read_link (name, NULL);

  return target != NULL ? g_path_get_basename (target) : NULL;
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char **) a, *(const char **) b);
}

/**
 * qm_tree_list:
 * @root: the root of the tree
 * @path: a folder
 *
 * Returns: (transfer full) (element-type utf8): the names in it, sorted; empty
 *   where it cannot be read
 */
GPtrArray *
qm_tree_list (const char *root,
              const char *path)
{
  g_autofree char *name = g_strconcat (root, path, NULL);
  g_autoptr (GDir) dir = g_dir_open (name, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *entry;

  while (dir != NULL && (entry = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (entry));
  g_ptr_array_sort (names, compare_names);

  return names;
}
