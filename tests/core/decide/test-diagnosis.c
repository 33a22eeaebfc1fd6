/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Runs whose cause is known, because they are made up from it. */

#include "decide/qm-diagnosis.h"

#include <math.h>
#include <string.h>

#define GIB (1024.0 * 1024 * 1024)

/* A minute of one GPU and eight cores: what each second is like. */
typedef struct {
  float busy_low, busy_high;        /* turn by turn */
  float memory_gib;                 /* of 24 */
  float power;                      /* of 400 W */
  float clock;                      /* of 2000 MHz */
  float throttled;
  float cores;
  float waiting;
  float swap;
} Second;

static QmSeries *
make_series (const Second *second,
             int           gpus)
{
  const char *channels[] = {
    "process_cpu_cores", "process_waiting", "swap_bytes_per_second", "process_memory_bytes", "memory_total_bytes",
    "gpu0_utilization", "gpu0_memory_bytes", "gpu0_memory_total_bytes", "gpu0_power_watts", "gpu0_power_limit_watts",
    "gpu0_clock_hertz", "gpu0_clock_most_hertz", "gpu0_throttled", gpus > 1 ? "gpu1_utilization" : NULL, NULL,
  };
  g_autoptr (QmSeries) series = qm_series_new (channels);

  for (int i = 0; i < 60; i++)
    {
      float busy = i % 2 == 0 ? second->busy_low : second->busy_high;
      float values[] = { second->cores, second->waiting, second->swap, 4 * (float) GIB, 64 * (float) GIB, busy, second->memory_gib * (float) GIB,
                         24 * (float) GIB, second->power, 400, second->clock * 1e6f, 2000e6f, second->throttled, busy };

      qm_series_append (series, i + 1, values);
    }

  return g_steal_pointer (&series);
}

static const struct {
  const char *what;
  Second second;
  int gpus;
  const char *expected;
  const char *cure;                 /* among the cures */
} cases[] = {
  { "a busy GPU", { 0.97f, 0.99f, 18, 350, 1900, 0, 2, 0, 0 }, 1, "compute", "half-precision" },
  { "at its power limit, at full clock", { 0.98f, 0.98f, 18, 400, 1950, 1, 2, 0, 0 }, 1, "compute", "faster-device" },
  { "slowed by its power limit", { 0.98f, 0.98f, 18, 400, 1300, 1, 2, 0, 0 }, 1, "power", "raise-limit" },
  { "slowed by heat", { 0.98f, 0.98f, 18, 300, 1200, 2, 2, 0, 0 }, 1, "thermal", "cool" },
  { "workers that do not keep up", { 0.05f, 0.95f, 12, 200, 1900, 0, 7.5f, 0.02f, 0 }, 1, "input", "more-workers" },
  { "a disk that does not keep up", { 0.10f, 0.60f, 12, 150, 1900, 0, 0.6f, 0.8f, 0 }, 1, "storage", "faster-storage" },
  { "many small kernels", { 0.40f, 0.42f, 3, 120, 1900, 0, 1.0f, 0, 0 }, 1, "overhead", "compile" },
  { "a full memory", { 0.80f, 0.82f, 23.5f, 250, 1900, 0, 2, 0, 0 }, 1, "memory", "smaller-batch" },
  { "devices that wait for each other", { 0.97f, 0.99f, 18, 180, 1900, 0, 2, 0, 0 }, 2, "communication", "check-nccl" },
  { "a computer that swaps", { 0.3f, 0.4f, 12, 150, 1900, 0, 1, 0.5f, 50e6f }, 1, "memory", "oom-ladder" },
  { "work as it should be", { 0.84f, 0.88f, 15, 280, 1900, 0, 3, 0, 0 }, 1, "none", NULL },
};

static gboolean
has_cure (const QmDiagnosis *diagnosis,
          const char        *code)
{
  for (guint i = 0; i < diagnosis->cures->len; i++)
    if (strcmp (g_array_index (diagnosis->cures, QmCure, i).code, code) == 0)
      return TRUE;

  return FALSE;
}

static void
test_made_up (void)
{
  const QmDiagnosisContext context = { .cores = 8 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmRun) run = qm_run_new ("a");
      g_autoptr (QmSeries) series = make_series (&cases[i].second, cases[i].gpus);
      g_autoptr (QmDiagnosis) diagnosis = qm_diagnose (run, series, &context);

      g_test_message ("%s", cases[i].what);
      g_assert_cmpstr (qm_bottleneck_to_word (diagnosis->bottleneck), ==, cases[i].expected);
      g_assert_cmpfloat (diagnosis->confidence, >=, 0.5);
      g_assert_cmpuint (diagnosis->evidence->len, >, 0);
      if (cases[i].cure != NULL)
        g_assert_true (has_cure (diagnosis, cases[i].cure));
    }
}

/* The same of a computer without a GPU, or whose GPU is not used. */
static const struct {
  const char *what;
  float cores, waiting, cpu, network, memory_gib, gpu, stolen, pressure;
  const char *expected;
} of_processors[] = {
  { "all cores compute", 7.6f, 0, 0.97f, 0, 4, NAN, 0, 0.9f, "compute" },
  { "all cores compute, and the GPU for nobody", 7.6f, 0, 0.97f, 0, 4, 0.01f, 0, 0.1f, "compute" },
  { "one core of eight", 1.0f, 0, 0.13f, 0, 4, NAN, 0, 0, "overhead" },
  { "a disk that is waited for", 0.3f, 0.7f, 0.1f, 0, 4, NAN, 0, 0, "storage" },
  { "a network that is waited for", 0.3f, 0, 0.05f, 80e6f, 4, NAN, 0, 0, "network" },
  { "a memory that is almost full", 4, 0, 0.5f, 0, 62, NAN, 0, 0, "memory" },
  { "others that compute", 2.5f, 0, 0.99f, 0, 4, NAN, 0.05f, NAN, "contention" },
  { "others that compute on half of it, and work that waits", 2.5f, 0, 0.7f, 0, 4, NAN, 0, 0.4f, "contention" },
  { "work that waits for itself", 2.5f, 0, 0.33f, 0, 4, NAN, 0, 0.4f, "unknown" },
  { "a host that takes a third away", 5, 0, 0.98f, 0, 4, NAN, 0.34f, 0.5f, "stolen" },
  { "a host that takes it while the GPU waits", 2, 0, 0.6f, 0, 4, 0.5f, 0.3f, NAN, "stolen" },
  { "a program that sleeps", 0.01f, 0, 0.02f, 0, 4, NAN, 0, 0, "unknown" },
};

static void
test_processors (void)
{
  const char *channels[] = { "process_cpu_cores", "process_waiting", "cpu_utilization", "network_receive_bytes_per_second", "process_memory_bytes",
                             "memory_total_bytes", "gpu0_utilization", "cpu_stolen", "cpu_pressure", NULL };
  const QmDiagnosisContext context = { .cores = 8 };

  for (guint i = 0; i < G_N_ELEMENTS (of_processors); i++)
    {
      g_autoptr (QmRun) run = qm_run_new ("a");
      g_autoptr (QmSeries) series = qm_series_new (channels);
      g_autoptr (QmDiagnosis) diagnosis = NULL;
      float values[] = { of_processors[i].cores, of_processors[i].waiting, of_processors[i].cpu, of_processors[i].network,
                         of_processors[i].memory_gib * (float) GIB, 64 * (float) GIB, of_processors[i].gpu, of_processors[i].stolen, of_processors[i].pressure };

      for (int k = 0; k < 30; k++)
        qm_series_append (series, k + 1, values);
      diagnosis = qm_diagnose (run, series, &context);
      g_test_message ("%s", of_processors[i].what);
      g_assert_cmpstr (qm_bottleneck_to_word (diagnosis->bottleneck), ==, of_processors[i].expected);
      if (diagnosis->bottleneck == QM_BOTTLENECK_STOLEN)
        g_assert_cmpfloat_with_epsilon (g_array_index (diagnosis->cures, QmCure, 0).gain, 1 / (1 - of_processors[i].stolen), 1e-6);
    }
}

/* At half use, the device could do twice as much less a twentieth. */
static void
test_gain (void)
{
  const Second second = { 0.25f, 0.75f, 12, 200, 1900, 0, 7.5f, 0, 0 };
  const QmDiagnosisContext context = { .cores = 8 };
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmSeries) series = make_series (&second, 1);
  g_autoptr (QmDiagnosis) diagnosis = qm_diagnose (run, series, &context);

  g_assert_cmpint (diagnosis->bottleneck, ==, QM_BOTTLENECK_INPUT);
  g_assert_cmpfloat_with_epsilon (g_array_index (diagnosis->cures, QmCure, 0).gain, 1.9, 1e-3);
}

/* As fast as the estimate expects: a busy device is no fault. */
static void
test_as_expected (void)
{
  const Second second = { 0.97f, 0.99f, 18, 350, 1900, 0, 2, 0, 0 };
  const QmDiagnosisContext context = { .cores = 8 };

  for (int slow = 0; slow < 2; slow++)
    {
      g_autoptr (QmRun) run = qm_run_new ("a");
      g_autoptr (QmSeries) series = make_series (&second, 1);
      g_autoptr (QmDiagnosis) diagnosis = NULL;

      qm_run_ensure_figure (run, "throughput.per_second")->predicted = (QmRange) { 80, 100, 120 };
      qm_run_set_measured (run, "throughput.per_second", slow ? 50 : 95);
      diagnosis = qm_diagnose (run, series, &context);
      g_assert_cmpint (diagnosis->bottleneck, ==, slow ? QM_BOTTLENECK_COMPUTE : QM_BOTTLENECK_NONE);
    }
}

/* Loading and compiling are not what a run is like. */
static void
test_warm_up (void)
{
  const Second second = { 0.97f, 0.99f, 18, 350, 1900, 0, 2, 0, 0 };
  const QmDiagnosisContext context = { .cores = 8 };
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmSeries) series = make_series (&second, 1);
  g_autoptr (QmDiagnosis) diagnosis = NULL;

  for (int i = 0; i < 30; i++)
    g_array_index (series->values, float, i * series->channels->len + qm_series_find (series, "gpu0_utilization")) = 0;
  qm_run_set_measured (run, "run.warm_up_seconds", 31);
  diagnosis = qm_diagnose (run, series, &context);
  g_assert_cmpint (diagnosis->bottleneck, ==, QM_BOTTLENECK_COMPUTE);
}

static void
test_out_of_memory (void)
{
  const Second second = { 0.97f, 0.99f, 18, 350, 1900, 0, 2, 0, 0 };
  const QmDiagnosisContext context = { .cores = 8 };
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmSeries) series = make_series (&second, 1);
  g_autoptr (QmDiagnosis) diagnosis = NULL;

  run->status = QM_RUN_STATUS_OUT_OF_MEMORY;
  diagnosis = qm_diagnose (run, series, &context);
  g_assert_cmpint (diagnosis->bottleneck, ==, QM_BOTTLENECK_MEMORY);
}

/* A trace has shares and no watts. */
static void
test_trace (void)
{
  const char *channels[] = { "gpu0_utilization", NULL };
  const QmDiagnosisContext context = { .cores = 8 };
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmSeries) series = qm_series_new (channels);
  g_autoptr (QmDiagnosis) diagnosis = NULL;

  for (int i = 0; i < 200; i++)
    qm_series_append (series, i / 1e3, (float[]) { 0.95f });
  qm_run_set_measured (run, "run.communication_share", 0.3);
  diagnosis = qm_diagnose (run, series, &context);
  g_assert_cmpint (diagnosis->bottleneck, ==, QM_BOTTLENECK_COMMUNICATION);
}

/* Of nothing, nothing is said. */
static void
test_nothing (void)
{
  const char *none[] = { NULL };
  const QmDiagnosisContext context = { 0 };
  g_autoptr (QmRun) run = qm_run_new ("a");
  g_autoptr (QmSeries) series = qm_series_new (none);
  g_autoptr (QmDiagnosis) diagnosis = qm_diagnose (run, series, &context);
  g_autoptr (JsonNode) node = qm_diagnosis_to_json (diagnosis);

  g_assert_cmpint (diagnosis->bottleneck, ==, QM_BOTTLENECK_UNKNOWN);
  g_assert_cmpfloat (diagnosis->confidence, ==, 0);
  g_assert_cmpstr (json_object_get_string_member (json_node_get_object (node), "bottleneck"), ==, "unknown");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/decide/diagnosis/made-up", test_made_up);
  g_test_add_func ("/core/decide/diagnosis/processors", test_processors);
  g_test_add_func ("/core/decide/diagnosis/gain", test_gain);
  g_test_add_func ("/core/decide/diagnosis/as-expected", test_as_expected);
  g_test_add_func ("/core/decide/diagnosis/warm-up", test_warm_up);
  g_test_add_func ("/core/decide/diagnosis/out-of-memory", test_out_of_memory);
  g_test_add_func ("/core/decide/diagnosis/trace", test_trace);
  g_test_add_func ("/core/decide/diagnosis/nothing", test_nothing);

  return g_test_run ();
}
