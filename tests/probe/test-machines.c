/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Whole computers of tests/data/machines: what `detect --json` says of each.
 * NAME.tree is read by qm_test_tree_unpack(); NAME.json is what is right. */

#include <string.h>

#include "qm-test-tree.h"

#define LEAST_MACHINES 25

typedef struct {
  char *name;
  char *folder;
} Case;

static void
case_free (gpointer data)
{
  Case *self = data;

  g_free (self->name);
  g_free (self->folder);
  g_free (self);
}

static char *
read_part (const Case *machine,
           const char *suffix)
{
  g_autofree char *name = g_strconcat (machine->name, suffix, NULL);
  g_autofree char *path = g_build_filename (machine->folder, name, NULL);
  g_autoptr (GError) error = NULL;
  char *text = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);

  return text;
}

static char *
print (JsonNode *node)
{
  g_autoptr (JsonGenerator) generator = json_generator_new ();

  json_generator_set_root (generator, node);
  json_generator_set_pretty (generator, TRUE);

  return json_generator_to_data (generator, NULL);
}

static void
assert_equal (JsonNode *found,
              JsonNode *right)
{
  g_autofree char *found_text = print (found);
  g_autofree char *right_text = print (right);

  g_assert_cmpstr (found_text, ==, right_text);
}

/* A copy for a bug report shows the same devices. */
static void
check_capture (const char *root,
               JsonNode   *right)
{
  g_auto (QmTestTree) copy = qm_test_tree_new (NULL, 0);
  g_autoptr (QmMachine) machine = NULL;
  g_autoptr (JsonNode) found = NULL;
  g_autoptr (GError) error = NULL;

  qm_machine_capture (root, copy, &error);
  g_assert_no_error (error);
  machine = qm_test_probe (copy);
  found = qm_machine_to_json (machine);
  assert_equal (json_object_get_member (json_node_get_object (found), "devices"),
                json_object_get_member (json_node_get_object (right), "devices"));
}

static void
test_machine (gconstpointer data)
{
  const Case *machine = data;
  g_autofree char *tree = read_part (machine, ".tree");
  g_autofree char *golden = read_part (machine, ".json");
  g_auto (QmTestTree) root = qm_test_tree_new (NULL, 0);
  g_autoptr (QmMachine) probed = NULL;
  g_autoptr (JsonNode) found = NULL;
  g_autoptr (JsonNode) right = NULL;
  g_autoptr (GError) error = NULL;

  qm_test_tree_unpack (root, tree);
  probed = qm_test_probe (root);
  found = qm_machine_to_json (probed);
  right = json_from_string (golden, &error);
  g_assert_no_error (error);
  assert_equal (found, right);
  check_capture (root, right);
}

static void
test_number (gconstpointer data)
{
  g_assert_cmpuint (GPOINTER_TO_UINT (data), >=, LEAST_MACHINES);
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *folder = NULL;
  g_autoptr (GDir) dir = NULL;
  const char *file;
  guint n = 0;

  /* The disk of the home folder is none of the trees'. */
  g_setenv ("HOME", "/nonexistent", TRUE);
  g_test_init (&argc, &argv, NULL);
  folder = g_test_build_filename (G_TEST_DIST, "data", "machines", NULL);
  dir = g_dir_open (folder, 0, NULL);
  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = NULL;
      Case *machine;

      if (!g_str_has_suffix (file, ".tree"))
        continue;
      machine = g_new0 (Case, 1);
      machine->name = g_strndup (file, strlen (file) - strlen (".tree"));
      machine->folder = g_strdup (folder);
      path = g_strconcat ("/probe/machines/", machine->name, NULL);
      g_test_add_data_func_full (path, machine, test_machine, case_free);
      n++;
    }
  g_test_add_data_func ("/probe/machines/number", GUINT_TO_POINTER (n), test_number);

  return g_test_run ();
}
