/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "decide/qm-quantization.h"
#include "shipped.h"

/* Requirements E7. The losses are those of the law, which has tests of its own;
 * here it is what follows from them. */

static const QmQuantizationWish usual = QM_QUANTIZATION_WISH_USUAL;
static GArray *
choices_of (const char               *id,
            const QmQuantizationWish *wish)
{
  g_autofree char *json = g_strdup_printf ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"serve\","
                                           "\"model\":{\"id\":\"%s\"}}", id);
  g_autoptr (QmPlan) plan = qm_plan_from_data (json, -1, NULL, NULL);
  g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, NULL);

  g_assert_nonnull (resolved);
  return qm_quantization_choices (estimator, resolved->model, wish);
}

/* Llama 3.1 8B in Q4_K_M is 4.576 of 14.958 GiB (estimation test vector 38): it
 * saves 0.694 of what is read. */
static void
test_saved (void)
{
  g_autoptr (GArray) choices = choices_of ("llama-3.1-8b", &usual);
  gboolean found = FALSE;

  g_assert_cmpuint (choices->len, >, 5);
  for (guint i = 0; i < choices->len; i++)
    {
      const QmQuantizationChoice *choice = &g_array_index (choices, QmQuantizationChoice, i);

      if (i > 0)
        g_assert_cmpfloat (choice->score, <=, g_array_index (choices, QmQuantizationChoice, i - 1).score);
      g_assert_cmpfloat (choice->points.p10, <=, choice->points.p50);
      g_assert_cmpfloat (choice->points.p50, <=, choice->points.p90);
      g_assert_cmpfloat (choice->points.p10, >=, 0);
      g_assert_cmpfloat (choice->points.p90, <=, 100);
      /* half the share that is saved less half the loss, of one point */
      g_assert_cmpfloat_with_epsilon (choice->score, 0.5 * choice->saved - 0.5 * MAX (0, choice->points.p50), 1e-9);
      if (strcmp (choice->format, "gguf-q4_k_m") != 0)
        continue;
      found = TRUE;
      g_assert_cmpfloat_with_epsilon (choice->saved, 1 - 4.576 / 14.958, 0.01);
    }
  g_assert_true (found);
}

/* More tolerance never saves less; none of it tolerates no more than nothing. */
static void
test_tolerance (void)
{
  static const double tolerances[] = { 0, 0.1, 0.5, 1, 3, 10, 100 };
  double before = -1;

  for (guint i = 0; i < G_N_ELEMENTS (tolerances); i++)
    {
      const QmQuantizationWish wish = { tolerances[i], 0.5 };
      g_autoptr (GArray) choices = choices_of ("llama-3.1-8b", &wish);
      int best = qm_quantization_best (choices);
      double saved = best >= 0 ? g_array_index (choices, QmQuantizationChoice, best).saved : 0;

      g_assert_cmpfloat (saved, >=, before);
      if (best >= 0)
        g_assert_cmpfloat (g_array_index (choices, QmQuantizationChoice, best).points.p50, <=, tolerances[i]);
      before = saved;
    }
  g_assert_cmpfloat (before, >, 0.8);
}

/* Who only saves takes the smallest, who only keeps what loses least. */
static void
test_weight (void)
{
  const QmQuantizationWish saver = { 1, 1 }, keeper = { 1, 0 };
  g_autoptr (GArray) small = choices_of ("llama-3.1-8b", &saver);
  g_autoptr (GArray) good = choices_of ("llama-3.1-8b", &keeper);

  for (guint i = 1; i < small->len; i++)
    g_assert_cmpfloat (g_array_index (small, QmQuantizationChoice, 0).saved, >=, g_array_index (small, QmQuantizationChoice, i).saved);
  for (guint i = 1; i < good->len; i++)
    g_assert_cmpfloat (MAX (0, g_array_index (good, QmQuantizationChoice, 0).points.p50), <=,
                       MAX (0, g_array_index (good, QmQuantizationChoice, i).points.p50));
}

/* Three points in all, one tolerated. By points for a million parameters: head
 * 1.0, first 0.5, middle 0.25, last 0.05. Without the head 1.5 are lost, without
 * the first, too, 0.5. */
static void
test_layers (void)
{
  static const char table[] = "points,layer,parameters\n0.3,middle,1.2e6\n1,first,2000000\n1.5,head,1.5e6\n0.2,last,4e6\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) layers = qm_layer_losses_parse (table, strlen (table), &error);
  double lost;

  g_assert_no_error (error);
  g_assert_cmpuint (layers->len, ==, 4);
  qm_layer_losses_keep (layers, 1);
  /* 3.5 of 8.7 million parameters stay */
  g_assert_cmpfloat_with_epsilon (qm_layer_losses_kept_share (layers, &lost), 3.5 / 8.7, 1e-9);
  g_assert_cmpfloat_with_epsilon (lost, 0.5, 1e-9);
  for (guint i = 0; i < layers->len; i++)
    {
      const QmLayerLoss *layer = layers->pdata[i];

      g_assert_cmpint (layer->kept, ==, strcmp (layer->name, "head") == 0 || strcmp (layer->name, "first") == 0);
    }
  qm_layer_losses_keep (layers, 3);
  g_assert_cmpfloat (qm_layer_losses_kept_share (layers, &lost), ==, 0);
  g_assert_cmpfloat_with_epsilon (lost, 3, 1e-9);
  qm_layer_losses_keep (layers, 0);
  g_assert_cmpfloat (qm_layer_losses_kept_share (layers, &lost), ==, 1);
  g_assert_cmpfloat (lost, ==, 0);
}

static void
test_bad_tables (void)
{
  static const char * const bad[] = {
    "", "layer,points\na,1\n", "layer,points,parameters\n", "layer,points,parameters\na,nan,1\n", "layer,points,parameters\na,1,0\n",
    "layer,points,parameters\na,-1,5\n", "layer,points,parameters\na,1e300,5\n", "layer,points,parameters\na\n",
    "layer,points,parameters\na,1,inf\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (qm_layer_losses_parse (bad[i], strlen (bad[i]), &error));
      g_assert_nonnull (error);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/quantization/saved", test_saved);
  g_test_add_func ("/quantization/tolerance", test_tolerance);
  g_test_add_func ("/quantization/weight", test_weight);
  g_test_add_func ("/quantization/layers", test_layers);
  g_test_add_func ("/quantization/bad-tables", test_bad_tables);

  return shipped_run ();
}
