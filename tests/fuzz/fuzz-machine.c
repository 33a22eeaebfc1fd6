/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <glib/gstdio.h>
#include <unistd.h>
#include <string.h>

#include "probe/qm-probe.h"
#include "probe/qm-sampler.h"

/* A tree is a text: a line "= /sys/…" begins a file, a line "> /sys/… TARGET" is a link. */
#define MOST_FILES 200

static char *root;

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) folder = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open (path, 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);

      remove_tree (inner);
    }
  g_remove (path);
}

static void
clean (void)
{
  remove_tree (root);
}

/* A name that stays in the tree, or NULL. */
static char *
place (const char *path)
{
  g_autofree char *folder = NULL;
  g_autofree char *full = NULL;

  if (path[0] != '/' || strlen (path) > 200 || strstr (path, "..") != NULL || strstr (path, "//") != NULL || g_str_has_suffix (path, "/"))
    return NULL;
  full = g_strconcat (root, path, NULL);
  folder = g_path_get_dirname (full);

  return g_mkdir_with_parents (folder, 0700) == 0 ? g_steal_pointer (&full) : NULL;
}

static void
add_link (const char *line)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 2);
  g_autofree char *at = words[0] != NULL && words[1] != NULL ? place (words[0]) : NULL;
  G_GNUC_UNUSED int status;

  /* none leads out of the tree */
  if (at != NULL && words[1][0] != '/' && strstr (words[1], "..") == NULL)
    status = symlink (words[1], at);
}

static void
plant (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autofree char *at = NULL;
  g_autoptr (GString) content = g_string_new (NULL);
  int files = 0;

  for (guint i = 0; files < MOST_FILES; i++)
    {
      gboolean begins = lines[i] != NULL && g_str_has_prefix (lines[i], "= ");

      if ((lines[i] == NULL || begins) && at != NULL && !g_file_test (at, G_FILE_TEST_IS_SYMLINK))
        g_file_set_contents_full (at, content->str, content->len, G_FILE_SET_CONTENTS_NONE, 0600, NULL);
      if (lines[i] == NULL)
        return;
      if (begins)
        {
          g_free (at);
          at = place (lines[i] + 2);
          g_string_truncate (content, 0);
          files++;
        }
      else if (g_str_has_prefix (lines[i], "> "))
        add_link (lines[i] + 2);
      else
        g_string_append_printf (content, "%s\n", lines[i]);
    }
}

/* A computer as a tree of files: what it has, and what it does. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  static QmCatalog *catalog;
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (QmMachine) machine = NULL;
  g_autoptr (JsonNode) written = NULL;
  QmHere here = { 0 };

  if (root == NULL)
    {
      root = g_dir_make_tmp ("fuzz-machine-XXXXXX", NULL);
      g_assert_nonnull (root);
      atexit (clean);
      catalog = qm_catalog_load (fuzz_catalog (), NULL, NULL);
      g_assert_nonnull (catalog);
    }
  remove_tree (root);
  g_mkdir (root, 0700);
  plant (text);
  machine = qm_machine_probe (catalog, root, NULL);
  qm_machine_get_here (machine, &here);
  written = qm_machine_to_json (machine);
  return 0;
}
