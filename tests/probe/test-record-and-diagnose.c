/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Real programs, each held up by one thing, are recorded and diagnosed. */

#include <glib/gstdio.h>
#include <unistd.h>

#include "decide/qm-diagnosis.h"
#include "probe/qm-recorder.h"

#define MIB (1024.0 * 1024)

static QmDiagnosis *
record_and_diagnose (const char *kind,
                     const char *argument,
                     int         cores,
                     double      memory_bytes)
{
  const char *command[] = { g_getenv ("QM_TEST_LOAD"), kind, "2", argument, NULL };
  QmRecorder recorder = { .command = command, .interval_seconds = 0.1 };
  QmDiagnosisContext context = { .cores = cores, .memory_bytes = memory_bytes };
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmSeries) series = NULL;
  g_autoptr (GError) error = NULL;
  QmDiagnosis *diagnosis;

  g_assert_true (qm_recorder_run (&recorder, run, &series, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (run->status, ==, QM_RUN_STATUS_FINISHED);
  diagnosis = qm_diagnose (run, series, &context);
  for (guint i = 0; i < diagnosis->evidence->len; i++)
    {
      g_autofree char *text = qm_message_get_text (g_ptr_array_index (diagnosis->evidence, i), qm_words_english ());

      g_test_message ("%s: %s", kind, text);
    }

  return diagnosis;
}

/* Other programs may take the cores meanwhile, before or during the run: then
 * that is what is found, and the test says nothing of its own load. */
static gboolean
has_free_cores (void)
{
  double load[1];

  return getloadavg (load, 1) == 1 && load[0] < 0.5 * g_get_num_processors ();
}

static void
expect (const QmDiagnosis *diagnosis,
        QmBottleneck       bottleneck)
{
  if (diagnosis->bottleneck == QM_BOTTLENECK_CONTENTION)
    g_test_skip ("this computer is busy with something else");
  else
    g_assert_cmpint (diagnosis->bottleneck, ==, bottleneck);
}

static void
test_compute (void)
{
  g_autofree char *cores = g_strdup_printf ("%u", g_get_num_processors ());
  g_autoptr (QmDiagnosis) diagnosis = NULL;

  if (!has_free_cores ())
    {
      g_test_skip ("this computer is busy with something else");
      return;
    }
  diagnosis = record_and_diagnose ("cpu", cores, g_get_num_processors (), 0);
  expect (diagnosis, QM_BOTTLENECK_COMPUTE);
}

static void
test_one_core (void)
{
  g_autoptr (QmDiagnosis) diagnosis = NULL;

  if (!has_free_cores ())
    {
      g_test_skip ("this computer is busy with something else");
      return;
    }
  diagnosis = record_and_diagnose ("one", NULL, 8, 0);
  expect (diagnosis, QM_BOTTLENECK_OVERHEAD);
}

static void
test_storage (void)
{
  g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "quartermaster-test-storage", NULL);
  g_autoptr (QmDiagnosis) diagnosis = NULL;

  g_mkdir_with_parents (g_get_user_cache_dir (), 0700);
  diagnosis = record_and_diagnose ("storage", path, 8, 0);
  g_remove (path);
  expect (diagnosis, QM_BOTTLENECK_STORAGE);
}

static void
test_memory (void)
{
  g_autofree char *bytes = g_strdup_printf ("%.0f", 190 * MIB);
  g_autoptr (QmDiagnosis) diagnosis = record_and_diagnose ("memory", bytes, 8, 200 * MIB);

  expect (diagnosis, QM_BOTTLENECK_MEMORY);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/probe/record-and-diagnose/compute", test_compute);
  g_test_add_func ("/probe/record-and-diagnose/one-core", test_one_core);
  g_test_add_func ("/probe/record-and-diagnose/storage", test_storage);
  g_test_add_func ("/probe/record-and-diagnose/memory", test_memory);

  return g_test_run ();
}
