/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-test-tree.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

QmTestTree
qm_test_tree_new (const QmTestFile *files,
                  guint             n_files)
{
  g_autoptr (GError) error = NULL;
  char *root = g_dir_make_tmp ("quartermaster-tree-XXXXXX", &error);

  g_assert_no_error (error);
  qm_test_tree_add (root, files, n_files);

  return root;
}

void
qm_test_tree_add (const char       *root,
                  const QmTestFile *files,
                  guint             n_files)
{
  for (guint i = 0; i < n_files; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *path = g_build_filename (root, files[i].path, NULL);
      g_autofree char *folder = g_path_get_dirname (path);

      g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
      if (g_str_has_suffix (path, "@"))
        {
          path[strlen (path) - 1] = '\0';
          g_assert_cmpint (symlink (files[i].text, path), ==, 0);
          continue;
        }
      g_file_set_contents (path, files[i].text, -1, &error);
      g_assert_no_error (error);
    }
}

/* Puts the script where the stand-in reads it. */
static void
set_up_driver (const char *root,
               const char *head,
               const char *script)
{
  g_autofree char *variant = g_strndup (head + strlen ("[nvml"), strcspn (head + strlen ("[nvml"), "]"));
  g_autofree char *path = g_build_filename (root, "nvml.ini", NULL);
  g_autofree char *suffix = g_ascii_strup (g_strstrip (variant), -1);
  g_autofree char *name = g_strconcat ("QM_TEST_NVML_STUB", suffix[0] != '\0' ? "_" : "", suffix, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, script, -1, &error);
  g_assert_no_error (error);
  g_setenv ("QM_TEST_NVML", path, TRUE);
  g_setenv ("QM_NVML_LIBRARY", g_str_equal (suffix, "MISSING") ? "/nowhere/libnvidia-ml.so.1" : g_getenv (name), TRUE);
}

/* @text has a file a line, its path and its text apart by a tab, with the escapes
 * of C in the text. What follows a line "[nvml VARIANT]" is the script of the
 * stand-in for NVIDIA's library, of which VARIANT leaves something out. */
void
qm_test_tree_unpack (const char *root,
                     const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  g_unsetenv ("QM_NVML_LIBRARY");
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (lines[i], "\t", 2);
      g_autofree char *content = NULL;

      if (g_str_has_prefix (lines[i], "[nvml"))
        {
          g_autofree char *script = g_strjoinv ("\n", lines + i + 1);

          set_up_driver (root, lines[i], script);
          return;
        }
      if (lines[i][0] == '#' || lines[i][0] == '\0')
        continue;
      g_assert_cmpuint (g_strv_length (parts), ==, 2);
      content = g_strcompress (parts[1]);
      qm_test_tree_add (root, &(QmTestFile) { parts[0], content }, 1);
    }
}

static void
remove_all (const char *path)
{
  g_autoptr (GDir) dir = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_all (child);
    }
  g_remove (path);
}

void
qm_test_tree_free (QmTestTree root)
{
  remove_all (root);
  g_free (root);
}

QmCatalog *
qm_test_catalog (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  QmCatalog *catalog = qm_catalog_load (directory, NULL, &error);

  g_assert_no_error (error);
  return catalog;
}

/* The records of devices belong to the catalog: one for all tests. */
QmMachine *
qm_test_probe (const char *root)
{
  static QmCatalog *catalog;

  if (catalog == NULL)
    catalog = qm_test_catalog ();

  return qm_machine_probe (catalog, root, NULL);
}

const QmProbedDevice *
qm_test_device (QmMachine  *machine,
                const char *id)
{
  for (guint i = 0; i < qm_machine_n_devices (machine); i++)
    if (g_strcmp0 (qm_machine_device (machine, i)->id, id) == 0)
      return qm_machine_device (machine, i);

  g_error ("no device %s", id);
}

const char *
qm_test_reason (const QmProbedDevice *device,
                const char           *field)
{
  for (guint i = 0; i < device->unknown->len; i++)
    {
      const QmUnknown *unknown = g_ptr_array_index (device->unknown, i);

      if (g_strcmp0 (unknown->field, field) == 0)
        return unknown->reason;
    }

  return NULL;
}
