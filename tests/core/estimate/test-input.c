/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "estimate/qm-estimator.h"
#include "estimate/qm-input.h"

/* How fast training data can be loaded, by published rates of disks, networks and
 * stores, and what it does to the rate. Pictures are of 110 kB, as ImageNet's. */

#define PICTURE 110e3

static QmInputConstants constants;

static double
rate (QmStorage     storage,
      int           workers,
      int           cores,
      double        network_gigabits,
      QmInputLimit *limit)
{
  g_autoptr (QmPlan) plan = qm_plan_new ();
  QmConfiguration configuration = { .devices = 1, .nodes = 1, .host_cores = cores,
                                    .host_network_bits_per_second = network_gigabits * 1e9 };

  plan->task = QM_TASK_IMAGE_CLASSIFICATION;
  plan->activity = QM_ACTIVITY_TRAIN;
  plan->data.bytes_per_sample = PICTURE;
  plan->data.storage = storage;
  plan->data.loader_workers = workers;

  return qm_input_rate (&constants, plan, &configuration, limit);
}

static void
test_rates (void)
{
  QmInputLimit limit;

  /* 150 pictures a second and core; 32 workers at most for one device */
  g_assert_cmpfloat_with_epsilon (rate (QM_STORAGE_MEMORY, 4, 0, 0, &limit), 600, 1e-6);
  g_assert_cmpint (limit, ==, QM_INPUT_DECODING);
  g_assert_cmpfloat_with_epsilon (rate (QM_STORAGE_MEMORY, -1, 64, 0, &limit), 4800, 1e-6);
  /* more workers than cores share these */
  g_assert_cmpfloat_with_epsilon (rate (QM_STORAGE_MEMORY, 16, 4, 0, &limit), 600, 1e-6);
  /* a disk of 150 MB/s, SATA at 550 MB/s, ten-gigabit Ethernet at four fifths */
  g_assert_cmpfloat_with_epsilon (rate (QM_STORAGE_HDD, 32, 64, 0, &limit), 150e6 / PICTURE, 1e-6);
  g_assert_cmpint (limit, ==, QM_INPUT_STORAGE);
  g_assert_cmpfloat_with_epsilon (rate (QM_STORAGE_SATA_SSD, 64, 64, 0, &limit), 550e6 / PICTURE, 1e-6);
  g_assert_cmpfloat_with_epsilon (rate (QM_STORAGE_NETWORK, 64, 64, 5, &limit), 5e9 / 8 * 0.8 / PICTURE, 1e-6);
  g_assert_cmpint (limit, ==, QM_INPUT_NETWORK);
  /* a connection to an object store carries 90 MB/s */
  g_assert_cmpfloat_with_epsilon (rate (QM_STORAGE_OBJECT_STORE, 1, 64, 100, &limit), 150, 1e-6);
  g_assert_true (isinf (rate (QM_STORAGE_MEMORY, -1, 0, 0, &limit)));
  g_assert_cmpint (limit, ==, QM_INPUT_NONE);
}

static void
estimate_at (double      samples_per_second,
             int         workers,
             QmEstimate *estimate)
{
  g_autoptr (QmPlan) plan = qm_plan_new ();

  plan->task = QM_TASK_IMAGE_CLASSIFICATION;
  plan->activity = QM_ACTIVITY_TRAIN;
  plan->data.bytes_per_sample = PICTURE;
  plan->data.storage = QM_STORAGE_NVME;
  plan->data.loader_workers = workers;
  qm_estimate_clear (estimate);
  estimate->configuration.devices = estimate->configuration.nodes = 1;
  estimate->throughput.known = TRUE;
  estimate->throughput.samples_per_second = samples_per_second;
  estimate->throughput.per_second = qm_range_log_normal (samples_per_second, 0.2);
  estimate->throughput.step_seconds = qm_range_log_normal (1, 0.2);
  qm_input_apply (&constants, plan, estimate);
}

/* C4: the rule is min (32, cores) workers: with 16 cores the 16, with 64 no more than 32
 * for each device; two devices of one machine have twice as many. Text comes as tokens,
 * and is bound by the disk alone. */
static void
test_rule (void)
{
  g_autoptr (QmPlan) plan = qm_plan_new ();
  QmConfiguration configuration = { .devices = 2, .nodes = 1, .host_cores = 128 };
  QmInputLimit limit;

  g_assert_cmpfloat_with_epsilon (rate (QM_STORAGE_MEMORY, -1, 16, 0, &limit), 16 * 150, 1e-6);
  g_assert_cmpfloat_with_epsilon (rate (QM_STORAGE_MEMORY, -1, 64, 0, &limit), 32 * 150, 1e-6);
  g_assert_cmpfloat_with_epsilon (rate (QM_STORAGE_MEMORY, -1, 128, 0, &limit), 32 * 150, 1e-6);

  plan->task = QM_TASK_IMAGE_CLASSIFICATION;
  plan->activity = QM_ACTIVITY_TRAIN;
  plan->data.bytes_per_sample = PICTURE;
  plan->data.storage = QM_STORAGE_MEMORY;
  g_assert_cmpfloat_with_epsilon (qm_input_rate (&constants, plan, &configuration, &limit), 64 * 150, 1e-6);

  plan->task = QM_TASK_LANGUAGE_MODEL;
  g_assert_true (isinf (qm_input_rate (&constants, plan, &configuration, &limit)));
  plan->data.storage = QM_STORAGE_HDD;
  g_assert_cmpfloat_with_epsilon (qm_input_rate (&constants, plan, &configuration, &limit), 150e6 / PICTURE, 1e-6);
  g_assert_cmpint (limit, ==, QM_INPUT_STORAGE);
}

/* It binds, and the estimate says by how much. Without workers loading and
 * computing take turns. */
static void
test_binds (void)
{
  QmEstimate estimate;

  estimate_at (1200, 4, &estimate);
  g_assert_cmpfloat_with_epsilon (estimate.throughput.per_second.p50, 600, 1e-6);
  g_assert_cmpfloat_with_epsilon (estimate.throughput.input_gain, 2, 1e-9);
  g_assert_cmpfloat_with_epsilon (estimate.throughput.step_seconds.p50, 2, 1e-9);
  g_assert_cmpint (estimate.throughput.bound_by, ==, QM_BOUND_INPUT);

  estimate_at (300, 4, &estimate);
  g_assert_cmpfloat (estimate.throughput.input_gain, ==, 1);
  g_assert_cmpfloat_with_epsilon (estimate.throughput.per_second.p50, 300, 1e-6);

  estimate_at (150, 0, &estimate);
  g_assert_cmpfloat_with_epsilon (estimate.throughput.per_second.p50, 75, 1e-6);
}

static int
loaders (QmTask task,
         int    stated,
         int    devices,
         int    nodes,
         int    cores)
{
  g_autoptr (QmPlan) plan = qm_plan_new ();
  QmConfiguration configuration = { .devices = devices, .nodes = nodes, .host_cores = cores };

  plan->task = task;
  plan->activity = QM_ACTIVITY_TRAIN;
  plan->data.loader_workers = stated;

  return qm_input_loaders (&constants, plan, &configuration);
}

/* Those of a machine, shared among its devices: what the rate counts on is what
 * is started. */
static void
test_loaders (void)
{
  g_assert_cmpint (loaders (QM_TASK_IMAGE_CLASSIFICATION, -1, 1, 1, 20), ==, 20);
  g_assert_cmpint (loaders (QM_TASK_IMAGE_CLASSIFICATION, -1, 4, 1, 24), ==, 6);
  g_assert_cmpint (loaders (QM_TASK_IMAGE_CLASSIFICATION, -1, 1, 1, 96), ==, 32);
  g_assert_cmpint (loaders (QM_TASK_IMAGE_CLASSIFICATION, 8, 8, 2, 96), ==, 2);
  g_assert_cmpint (loaders (QM_TASK_IMAGE_CLASSIFICATION, 3, 8, 1, 96), ==, 1);
  g_assert_cmpint (loaders (QM_TASK_IMAGE_CLASSIFICATION, 0, 8, 1, 96), ==, 0);
  /* texts are tokens when a job begins; and where nothing is known of the machine */
  g_assert_cmpint (loaders (QM_TASK_LANGUAGE_MODEL, -1, 1, 1, 20), ==, 4);
  g_assert_cmpint (loaders (QM_TASK_IMAGE_CLASSIFICATION, -1, 1, 1, 0), ==, 4);
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmCatalog) catalog = NULL;
  g_autofree char *directory = NULL;

  g_test_init (&argc, &argv, NULL);
  directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  catalog = qm_catalog_load (directory, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (qm_input_constants_read (&constants, qm_catalog_table (catalog, "input"), &error));

  g_test_add_func ("/input/rates", test_rates);
  g_test_add_func ("/input/rule", test_rule);
  g_test_add_func ("/input/binds", test_binds);
  g_test_add_func ("/input/loaders", test_loaders);

  return g_test_run ();
}
