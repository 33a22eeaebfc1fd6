/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-recommendation.h"
#include "estimate/qm-estimator.h"
#include "varied-plans.h"
#include "shipped.h"

/* What a search ranks by is what is shown in the end. */

#define PLANS 120
#define CONFIGURATIONS 40

static void
assert_same (double a,
             double b)
{
  if (isnan (a) || isnan (b))
    g_assert_true (isnan (a) && isnan (b));
  else
    g_assert_cmpfloat_with_epsilon (a, b, 1e-12 * (1 + fabs (a)));
}

static QmConfiguration
random_configuration (GRand        *random,
                      const QmPlan *plan)
{
  gboolean training = qm_plan_is_training (plan);
  QmConfiguration configuration = { .gpu_layers = -1 };

  configuration.nodes = 1 << g_rand_int_range (random, 0, 4);
  configuration.devices = configuration.nodes << g_rand_int_range (random, 0, 4);
  configuration.tensor_parallel = 1 << g_rand_int_range (random, 0, 3);
  configuration.pipeline_parallel = 1;
  configuration.devices *= configuration.tensor_parallel;
  configuration.data_parallel = configuration.devices / configuration.tensor_parallel;
  if (training)
    {
      configuration.sharding = g_rand_int_range (random, QM_SHARDING_UNSET, QM_SHARDING_HYBRID + 1);
      configuration.offload = g_rand_int_range (random, QM_OFFLOAD_UNSET, QM_OFFLOAD_NVME + 1);
      configuration.micro_batch = 1 << g_rand_int_range (random, 0, 6);
      configuration.gradient_accumulation = 1 << g_rand_int_range (random, 0, 4);
    }

  return configuration;
}

static void
check_rate (const QmOutline  *outline,
            const QmEstimate *estimate)
{
  const QmThroughput *throughput = &estimate->throughput;

  g_assert_cmpint (outline->known, ==, throughput->known);
  assert_same (outline->largest_micro_batch, estimate->memory.largest_micro_batch);
  if (!outline->known)
    return;

  g_assert_cmpint (outline->unit, ==, throughput->unit);
  assert_same (outline->per_second, throughput->per_second.p50);
  assert_same (outline->samples_per_second, throughput->samples_per_second);
  assert_same (outline->seconds, estimate->time.seconds.p50);
  g_assert_cmpfloat_with_epsilon (outline->rate_width, qm_range_half_width (throughput->per_second), 1e-9);
  if (!isnan (outline->seconds))
    g_assert_cmpfloat_with_epsilon (outline->seconds_width, qm_range_half_width (estimate->time.seconds), 1e-9);
}

/* Returns whether the rate was looked at too. */
static gboolean
check (const QmEvaluator     *evaluator,
       const QmDevice        *device,
       const QmConfiguration *configuration,
       double                 headroom)
{
  const QmMemory *memory;
  QmEstimate estimate;
  QmOutline outline;
  gboolean fits;

  qm_evaluator_evaluate (evaluator, device, configuration, &estimate);
  qm_evaluator_outline (evaluator, device, configuration, &outline);
  memory = &estimate.memory;
  fits = !(memory->usable_bytes > 0) || memory->need.p50 <= (1 - headroom) * memory->usable_bytes;

  assert_same (outline.need_bytes, memory->need.p50);
  assert_same (outline.usable_bytes, memory->usable_bytes);
  assert_same (outline.host_bytes, memory->host_bytes);
  if (!isnan (outline.need_bytes))
    g_assert_cmpfloat_with_epsilon (outline.need_width, qm_range_half_width (memory->need), 1e-9);
  if (fits)
    check_rate (&outline, &estimate);

  return fits && outline.known;
}

static void
test_same_figures (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  guint known = 0;

  for (guint32 seed = 1; seed <= PLANS; seed++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmPlan) plan = varied_plan_new (catalog, seed);
      g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
      g_autoptr (QmEvaluator) evaluator = NULL;

      g_assert_no_error (error);
      evaluator = qm_evaluator_new (estimator, resolved->plan, resolved->model);
      for (int i = 0; i < CONFIGURATIONS; i++)
        {
          const QmDevice *device = qm_catalog_device (catalog, g_rand_int_range (random, 0, qm_catalog_n_devices (catalog)));
          QmConfiguration configuration = random_configuration (random, resolved->plan);

          known += check (evaluator, device, &configuration, qm_plan_get_headroom (resolved->plan));
        }
    }

  /* Else nothing was compared. */
  g_assert_cmpint (known, >, PLANS * CONFIGURATIONS / 10);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/estimate/outline/same-figures", test_same_figures);

  return shipped_run ();
}
