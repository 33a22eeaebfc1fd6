/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-defaults.h"
#include "plan/qm-plan-fields.h"

/* Plans of published runs, kept outside the project's own tree. */
static char *
measured_folder (void)
{
  return g_build_filename (g_getenv ("G_TEST_SRCDIR"), "..", "..", "shared", "data", "measured", NULL);
}

/* What runs of known hardware leave out is known to the predictors as left out:
 * nothing may be added but how much there is to do, and on what terms. */
static void
assert_passed_through (const QmPlan *plan,
                       QmCatalog    *catalog,
                       const char   *id)
{
  static const char * const added[] = { "stage", "training.samples", "training.tokens", "training.epochs", "serving.samples" };
  g_autoptr (GError) error = NULL;
  g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  if (resolved == NULL)
    g_error ("%s: %s", id, error->message);
  if (plan->configuration.device[0] == '\0')
    return;

  for (guint i = 0; i < n; i++)
    {
      gboolean may_change = g_str_has_prefix (fields[i].path, "limits.") || g_str_has_prefix (fields[i].path, "places.");

      for (guint j = 0; j < G_N_ELEMENTS (added); j++)
        may_change |= g_str_equal (fields[i].path, added[j]);
      if (!may_change && !qm_plan_field_equal (&fields[i], plan, resolved->plan))
        g_error ("%s: %s was filled in", id, fields[i].path);
      if (qm_plan_field_is_set (&fields[i], plan))
        g_assert_true (qm_plan_field_equal (&fields[i], plan, resolved->plan));
    }
}

static guint
read_line (const char *line,
           QmCatalog  *catalog,
           const char *file)
{
  g_autoptr (JsonNode) root = json_from_string (line, NULL);
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = NULL;
  g_autofree char *text = NULL;
  g_autoptr (QmPlan) back = NULL;
  JsonObject *object;

  g_assert_nonnull (root);
  object = json_node_get_object (root);
  if (!json_object_has_member (object, "plan"))
    return 0;

  plan = qm_plan_from_object (json_object_get_object_member (object, "plan"), warnings, &error);
  if (error != NULL)
    g_error ("%s: %s: %s", file, json_object_get_string_member (object, "id"), error->message);
  for (guint i = 0; i < warnings->len; i++)
    g_error ("%s: %s: %s", file, json_object_get_string_member (object, "id"), ((QmPlanWarning *) g_ptr_array_index (warnings, i))->path);

  assert_passed_through (plan, catalog, json_object_get_string_member (object, "id"));
  text = qm_plan_to_data (plan, NULL);
  back = qm_plan_from_data (text, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (qm_plan_equal (plan, back));

  return 1;
}

static void
test_measured (void)
{
  g_autofree char *folder = measured_folder ();
  g_autofree char *catalog_folder = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (GDir) directory = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  if (directory == NULL)
    {
      g_test_skip ("no measured cases beside the source");
      return;
    }

  catalog = qm_catalog_load (catalog_folder, NULL, NULL);
  while ((name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *text = NULL;
      g_auto (GStrv) lines = NULL;

      if (!g_str_has_suffix (name, ".jsonl"))
        continue;
      g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
      lines = g_strsplit (text, "\n", -1);
      for (guint i = 0; lines[i] != NULL; i++)
        if (lines[i][0] != '\0')
          n += read_line (lines[i], catalog, name);
    }
  g_test_message ("%u plans", n);
  g_assert_cmpuint (n, >, 1000);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/plan/measured", test_measured);

  return g_test_run ();
}
