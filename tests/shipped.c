/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shipped.h"

#include <string.h>

QmCatalog *catalog;
QmEstimator *estimator;

/* Before the tests. */
void
shipped_load (void)
{
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (GError) error = NULL;

  catalog = qm_catalog_load (directory, NULL, &error);
  g_assert_no_error (error);
  estimator = qm_estimator_new (catalog, &error);
  g_assert_no_error (error);
}

/* Runs the tests, and lets go of the catalog. */
int
shipped_run (void)
{
  int status = g_test_run ();

  g_clear_object (&estimator);
  g_clear_object (&catalog);

  return status;
}

QmResolved *
resolve (const char *json)
{
  g_autofree char *text = g_strdup (json);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = NULL;
  QmResolved *resolved;

  if (strchr (text, '"') == NULL)
    g_strdelimit (text, "'", '"');
  plan = qm_plan_from_data (text, -1, NULL, &error);
  g_assert_no_error (error);
  resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);

  return resolved;
}

QmRecommendation *
recommend (const char *json)
{
  g_autoptr (QmResolved) resolved = resolve (json);

  return qm_recommend (estimator, resolved, NULL, NULL);
}
