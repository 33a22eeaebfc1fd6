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
 * qm_tree_read_in:
 * @root: the root of the tree
 * @folder: an absolute path in it
 * @name: a file of @folder
 *
 * Returns: (transfer full) (nullable): as qm_tree_read()
 */
char *
qm_tree_read_in (const char *root,
                 const char *folder,
                 const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return qm_tree_read (root, path);
}

/**
 * qm_tree_read_number:
 * @root: the root of the tree
 * @folder: an absolute path in it
 * @name: a file of @folder
 * @value: (out): the number at its beginning
 *
 * Returns: whether there is a number
 */
gboolean
qm_tree_read_number (const char *root,
                     const char *folder,
                     const char *name,
                     double     *value)
{
  g_autofree char *text = qm_tree_read_in (root, folder, name);
  char *end;

  if (text == NULL)
    return FALSE;

  *value = g_ascii_strtod (text, &end);
  return end != text;
}

/**
 * qm_tree_has:
 * @root: the root of the tree
 * @folder: an absolute path in it
 * @name: a file of @folder
 *
 * Returns: whether it is there
 */
gboolean
qm_tree_has (const char *root,
             const char *folder,
             const char *name)
{
  g_autofree char *path = g_strconcat (root, folder, "/", name, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/**
 * qm_tree_value:
 * @text: (nullable): lines of a key and its value
 * @key: the key at the beginning of a line
 * @separator: what stands between the two, blanks aside: ":", "=" or ""
 *
 * Returns: (transfer full) (nullable): the value of the first such line
 */
char *
qm_tree_value (const char *text,
               const char *key,
               const char *separator)
{
  gsize length = strlen (key);

  for (const char *line = text; line != NULL; line = strchr (line, '\n') != NULL ? strchr (line, '\n') + 1 : NULL)
    {
      const char *after = line + length;

      if (strncmp (line, key, length) != 0)
        continue;
      if (separator[0] == '\0' && !g_ascii_isspace (*after))
        continue;
      after += strspn (after, " \t");
      if (g_str_has_prefix (after, separator))
        return g_strstrip (g_strndup (after + strlen (separator), strcspn (after, "\n") - strlen (separator)));
    }

  return NULL;
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

/**
 * qm_tree_sensors:
 * @root: the root of the tree
 * @folder: the folder of a device in sysfs
 *
 * Returns: (transfer full) (nullable): the folder of its sensors, hwmon0 or
 *   hwmon12; %NULL where it has none
 */
char *
qm_tree_sensors (const char *root,
                 const char *folder)
{
  g_autofree char *parent = g_build_filename (folder, "hwmon", NULL);
  g_autoptr (GPtrArray) names = qm_tree_list (root, parent);

  return names->len > 0 ? g_build_filename (parent, g_ptr_array_index (names, 0), NULL) : NULL;
}
