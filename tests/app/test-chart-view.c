/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "draw/qm-language.h"
#include "plan/qm-plan.h"
#include "qm-chart-drawing.h"
#include "qm-chart-view.h"
#include "window-driver.h"

#define PLAN "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"fine-tune\"," \
             "\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"lora\",\"samples\":20000,\"sequence_length\":1024}}"


static const QmChartKind kinds[] = { QM_CHART_MEMORY, QM_CHART_SCALING, QM_CHART_COST_TIME, QM_CHART_ACCURACY };

typedef struct {
  QmCatalog *catalog;
  QmEstimator *estimator;
  QmRecommendation *recommendation;
} Fixture;

static void
set_up (Fixture       *self,
        gconstpointer  data)
{
  g_autofree char *folder = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (GError) error = NULL;

  self->catalog = qm_catalog_load (folder, NULL, &error);
  g_assert_no_error (error);
  self->estimator = qm_estimator_new (self->catalog, &error);
  g_assert_no_error (error);
  plan = qm_plan_from_data (PLAN, -1, NULL, &error);
  g_assert_no_error (error);
  resolved = qm_resolve (plan, self->catalog, NULL, NULL, &error);
  g_assert_no_error (error);
  self->recommendation = qm_recommend (self->estimator, resolved, NULL, NULL);
}

static void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  g_clear_object (&self->recommendation);
  g_clear_object (&self->estimator);
  g_clear_object (&self->catalog);
}

static GtkWidget *
find (GtkWidget *widget,
      GType      type)
{
  GtkWidget *found = g_type_is_a (G_OBJECT_TYPE (widget), type) ? widget : NULL;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && found == NULL; child = gtk_widget_get_next_sibling (child))
    found = find (child, type);

  return found;
}

/* What a screen reader says of each chart: its finding, and all of it in words. */
static void
test_accessible (Fixture       *self,
                 gconstpointer  data)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (QmChart) chart = qm_chart_new (kinds[i], self->estimator, self->recommendation, 0, qm_language_get_words (), NULL);
      GtkWidget *view = g_object_ref_sink (qm_chart_view_new (kinds[i]));
      GtkAccessible *drawing;

      g_assert_nonnull (chart);
      qm_chart_view_set (QM_CHART_VIEW (view), self->estimator, self->recommendation, 0);
      drawing = GTK_ACCESSIBLE (find (view, QM_TYPE_CHART_DRAWING));
      g_assert_cmpuint (strlen (qm_chart_get_summary (chart)), >, 20);
      gtk_test_accessible_assert_role (drawing, GTK_ACCESSIBLE_ROLE_IMG);
      gtk_test_accessible_assert_property (drawing, GTK_ACCESSIBLE_PROPERTY_LABEL, qm_chart_get_title (chart));
      gtk_test_accessible_assert_property (drawing, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, qm_chart_get_summary (chart));
      g_object_unref (view);
    }
}

static void
add_tests (void)
{
  g_test_add ("/chart-view/accessible", Fixture, NULL, set_up, test_accessible, tear_down);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
