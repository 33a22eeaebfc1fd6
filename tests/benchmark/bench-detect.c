/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench-detect.h"

#include <stdlib.h>

#include "../probe/qm-test-tree.h"

#define RUNS 15

/* Each look at 8 GPUs is to take less. */
#define MOST_MILLISECONDS 150

static int
compare (gconstpointer a,
         gconstpointer b)
{
  double difference = *(const double *) a - *(const double *) b;

  return difference < 0 ? -1 : difference > 0;
}

/**
 * bench_detect:
 * @catalog: the catalog
 *
 * How long one look at a computer of 8 GPUs takes, of which tests/data/machines
 * has the files and the stand-in for NVIDIA's library the answers.
 */
void
bench_detect (QmCatalog *catalog)
{
  g_auto (QmTestTree) root = qm_test_tree_new (NULL, 0);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  double milliseconds[RUNS];

  g_file_get_contents (BENCH_MACHINE, &text, NULL, &error);
  g_assert_no_error (error);
  g_setenv ("QM_NVML_HELPER", BENCH_NVML_HELPER, TRUE);
  g_setenv ("QM_TEST_NVML_STUB", BENCH_NVML_STUB, TRUE);
  qm_test_tree_unpack (root, text);

  for (guint i = 0; i < RUNS; i++)
    {
      gint64 start = g_get_monotonic_time ();
      g_autoptr (QmMachine) machine = qm_machine_probe (catalog, root, NULL);

      milliseconds[i] = (g_get_monotonic_time () - start) / 1e3;
      g_assert_cmpuint (qm_machine_n_devices (machine), ==, 8);
      g_assert_cmpfloat (qm_machine_device (machine, 7)->memory_bytes, >, 0);
    }
  qsort (milliseconds, RUNS, sizeof *milliseconds, compare);
  g_print ("  %-28s %9.2f ms  (slowest %.2f ms; aim %d ms%s)\n", "detect 8 GPUs", milliseconds[RUNS / 2], milliseconds[RUNS - 1],
           MOST_MILLISECONDS, milliseconds[RUNS / 2] < MOST_MILLISECONDS ? "" : ", MISSED");
}
