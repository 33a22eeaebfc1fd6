/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Watching while devices come, go, sleep and die: whoever looks never waits, and
 * a day of it takes no more memory than an hour. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decide/qm-diagnosis.h"
#include "probe/qm-watcher.h"
#include "qm-test-tree.h"

#define PCI "sys/bus/pci/devices/"
#define CARD(address, vendor, driver, status) \
  { PCI address "/class", "0x030000\n" }, { PCI address "/vendor", vendor "\n" }, { PCI address "/device", "0x2684\n" }, \
  { PCI address "/driver@", "../../../bus/pci/drivers/" driver }, { PCI address "/power/runtime_status", status "\n" }

static const QmTestFile radeon[] = {
  CARD ("0000:03:00.0", "0x1002", "amdgpu", "active"),
  { PCI "0000:03:00.0/gpu_busy_percent", "87\n" },
  { "proc/stat", "cpu  1000 0 0 9000 0 0 0 0 0 0\ncpu0 1000 0 0 9000 0 0 0 0 0 0\n" },
};

static const QmTestFile another[] = {
  CARD ("0000:04:00.0", "0x1002", "amdgpu", "active"),
  { PCI "0000:04:00.0/gpu_busy_percent", "12\n" },
};

static const QmTestFile geforce[] = {
  CARD ("0000:01:00.0", "0x10de", "nvidia", "active"),
  { "proc/stat", "cpu  1000 0 0 9000 0 0 0 0 0 0\ncpu0 1000 0 0 9000 0 0 0 0 0 0\n" },
};

/* Generous: other programs may have the processor. */
#define PATIENCE (60 * G_TIME_SPAN_SECOND)

/* Longer than this, a window would be seen to stand still. */
#define STALL (G_TIME_SPAN_SECOND / 2)

typedef struct {
  QmWatcher *watcher;
  guint samples;
  guint changes;
  gint64 longest;                   /* that the main loop was held up by a sample */
} Looker;

static void
sampled (QmWatcher *watcher,
         Looker    *self)
{
  self->samples++;
}

static void
changed (QmWatcher *watcher,
         Looker    *self)
{
  self->changes++;
}

static void
look (Looker     *self,
      const char *root)
{
  *self = (Looker) { .watcher = qm_watcher_new (root) };
  qm_watcher_set_interval (self->watcher, 0.1);
  g_signal_connect (self->watcher, "sampled", G_CALLBACK (sampled), self);
  g_signal_connect (self->watcher, "devices-changed", G_CALLBACK (changed), self);
  qm_watcher_hold (self->watcher);
}

/* Waits for what comes, and sees how long each turn of the main loop takes. */
static void
wait_for (Looker *self,
          guint   samples,
          guint   changes)
{
  gint64 end = g_get_monotonic_time () + PATIENCE;

  while (self->samples < samples || self->changes < changes)
    {
      gint64 began = g_get_monotonic_time ();

      g_assert_cmpint (began, <, end);
      if (!g_main_context_iteration (NULL, FALSE))
        g_usleep (2000);
      else
        self->longest = MAX (self->longest, g_get_monotonic_time () - began);
    }
}

static void
leave (Looker *self)
{
  gint64 began = g_get_monotonic_time ();

  qm_watcher_release (self->watcher);
  g_signal_handlers_disconnect_by_data (self->watcher, self);
  g_clear_object (&self->watcher);
  g_assert_cmpint (g_get_monotonic_time () - began, <, STALL);
  g_assert_cmpint (self->longest, <, STALL);
}

static void
write_over (const char *root,
            const char *path,
            const char *text)
{
  g_autofree char *name = g_build_filename (root, path, NULL);
  FILE *file = fopen (name, "w");

  g_assert_nonnull (file);
  fputs (text, file);
  fclose (file);
}

static void
take_away (const char *root,
           const char *path)
{
  g_autofree char *name = g_build_filename (root, path, NULL);

  g_assert_cmpint (unlink (name), ==, 0);
}

/* ------------------------------------------------------------------------ hot-plug */

/* A second card comes, falls asleep, wakes, loses its driver, and goes. */
static void
test_comes_and_goes (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (radeon, G_N_ELEMENTS (radeon));
  Looker looker;

  look (&looker, root);
  wait_for (&looker, 2, 0);
  g_assert_cmpint (qm_watcher_find_gpu (looker.watcher, "0000:03:00.0"), ==, 0);
  g_assert_cmpint (qm_watcher_find_gpu (looker.watcher, "0000:04:00.0"), ==, -1);
  /* an instance of a card does not do what the card does */
  g_assert_cmpint (qm_watcher_find_gpu (looker.watcher, "00000000:03:00.0"), ==, 0);
  g_assert_cmpint (qm_watcher_find_gpu (looker.watcher, "0000:03:00.0/1"), ==, -1);
  g_assert_cmpfloat (qm_watcher_latest (looker.watcher, "gpu0_utilization"), ==, 0.87f);

  qm_test_tree_add (root, another, G_N_ELEMENTS (another));
  wait_for (&looker, 0, 1);
  wait_for (&looker, looker.samples + 1, 0);
  g_assert_cmpint (qm_watcher_find_gpu (looker.watcher, "0000:04:00.0"), ==, 1);
  g_assert_cmpfloat (qm_watcher_latest (looker.watcher, "gpu1_utilization"), ==, 0.12f);

  write_over (root, PCI "0000:04:00.0/power/runtime_status", "suspended\n");
  wait_for (&looker, 0, 2);
  wait_for (&looker, looker.samples + 1, 0);
  g_assert_true (isnan (qm_watcher_latest (looker.watcher, "gpu1_utilization")));
  g_assert_cmpfloat (qm_watcher_latest (looker.watcher, "gpu0_utilization"), ==, 0.87f);

  write_over (root, PCI "0000:04:00.0/power/runtime_status", "active\n");
  wait_for (&looker, 0, 3);
  take_away (root, PCI "0000:04:00.0/driver");
  wait_for (&looker, 0, 4);

  take_away (root, PCI "0000:04:00.0/class");
  wait_for (&looker, 0, 5);
  wait_for (&looker, looker.samples + 1, 0);
  g_assert_cmpint (qm_watcher_find_gpu (looker.watcher, "0000:04:00.0"), ==, -1);
  g_assert_cmpfloat (qm_watcher_latest (looker.watcher, "gpu0_utilization"), ==, 0.87f);
  leave (&looker);
}

/* Nobody looks: nothing is measured; and again, as if nothing had been. */
static void
test_rests (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (radeon, G_N_ELEMENTS (radeon));
  Looker looker;
  guint before;

  look (&looker, root);
  wait_for (&looker, 3, 0);
  qm_watcher_release (looker.watcher);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  before = looker.samples;
  g_usleep (400000);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (looker.samples, ==, before);
  qm_watcher_hold (looker.watcher);
  wait_for (&looker, before + 3, 0);
  leave (&looker);
}

/* --------------------------------------------------------------------- what hangs */

static void
play (const char *root,
      const char *script)
{
  g_autofree char *path = g_build_filename (root, "nvml.ini", NULL);

  g_assert_true (g_file_set_contents (path, script, -1, NULL));
  g_setenv ("QM_TEST_NVML", path, TRUE);
  g_setenv ("QM_NVML_LIBRARY", g_getenv ("QM_TEST_NVML_STUB"), TRUE);
}

/* NVIDIA's library hangs: the processor is watched all the same. */
static void
test_library_hangs (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (geforce, G_N_ELEMENTS (geforce));
  Looker looker;

  play (root, "[driver]\nhang=true\n[device 0]\nbus=1\nid=10de:2684\n");
  look (&looker, root);
  wait_for (&looker, 10, 0);
  g_assert_true (isnan (qm_watcher_latest (looker.watcher, "gpu0_memory_bytes")));
  leave (&looker);
}

/* A file of the kernel hangs: nothing comes, and nobody waits for it. */
static void
test_kernel_hangs (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (geforce, 5);
  g_autofree char *name = g_build_filename (root, "proc", "meminfo", NULL);
  g_autofree char *folder = g_path_get_dirname (name);
  gint64 end;
  Looker looker;
  int pipe;

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_cmpint (mkfifo (name, 0600), ==, 0);
  look (&looker, root);
  end = g_get_monotonic_time () + G_TIME_SPAN_SECOND;
  while (g_get_monotonic_time () < end)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (2000);
  g_assert_cmpuint (looker.samples, ==, 0);
  leave (&looker);

  /* it answers at last, and the thread ends */
  do
    {
      pipe = open (name, O_WRONLY | O_NONBLOCK);
      g_usleep (10000);
    }
  while (pipe < 0);
  g_usleep (200000);
  close (pipe);
}

/* The processes that ask NVIDIA's library as it is played in @root: they are no
 * children of this one, but have its environment. */
static guint
kill_helpers (const char *root)
{
  g_autoptr (GDir) processes = g_dir_open ("/proc", 0, NULL);
  const char *name;
  guint n = 0;

  while ((name = g_dir_read_name (processes)) != NULL)
    {
      g_autofree char *path = g_build_filename ("/proc", name, "environ", NULL);
      g_autofree char *text = NULL;
      gint64 pid = g_ascii_strtoll (name, NULL, 10);
      gsize length = 0;

      if (pid > 1 && pid != getpid () && g_file_get_contents (path, &text, &length, NULL) &&
          memmem (text, length, root, strlen (root)) != NULL)
        n += kill ((pid_t) pid, SIGKILL) == 0;
    }

  return n;
}

static void
wait_for_memory (Looker  *self,
                 gboolean known)
{
  while (isnan (qm_watcher_latest (self->watcher, "gpu0_memory_bytes")) == known)
    wait_for (self, self->samples + 1, 0);
}

#define DRIVER "[driver]\nversion=580\n[device 0]\nbus=1\nid=10de:2684\ntotal-mib=24564\nfree-mib=4564\nbusy=95\n"

/* What asks the driver dies while we look: its figures are unknown again. */
static void
test_driver_dies (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (geforce, G_N_ELEMENTS (geforce));
  Looker looker;

  play (root, DRIVER);
  look (&looker, root);
  wait_for_memory (&looker, TRUE);
  g_assert_cmpuint (kill_helpers (root), ==, 1);
  wait_for_memory (&looker, FALSE);
  leave (&looker);
}

/* Whether the memory of the GPU comes to be known, or unknown, @later than now. */
static gboolean
comes_to (QmSampler *sampler,
          gboolean   known,
          gint64     later)
{
  g_autofree float *values = g_new (float, qm_sampler_n_channels (sampler));
  gint64 end = g_get_monotonic_time () + PATIENCE;
  guint memory = 0;

  while (g_strcmp0 (qm_sampler_get_channels (sampler)[memory], "gpu0_memory_bytes") != 0)
    memory++;
  do
    {
      qm_sampler_sample (sampler, g_get_monotonic_time () + later, values);
      g_usleep (20000);
    }
  while (isnan (values[memory]) == known && g_get_monotonic_time () < end);

  return isnan (values[memory]) != known;
}

/* A driver that was loaded anew is asked again, half a minute later. */
static void
test_driver_comes_back (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (geforce, G_N_ELEMENTS (geforce));
  g_autoptr (QmSampler) sampler = NULL;

  play (root, DRIVER);
  sampler = qm_sampler_new (root, 0.1);
  g_assert_true (comes_to (sampler, TRUE, 0));
  g_assert_cmpuint (kill_helpers (root), ==, 1);
  g_assert_true (comes_to (sampler, FALSE, 0));
  g_assert_true (comes_to (sampler, TRUE, 40 * G_TIME_SPAN_SECOND));
}

/* --------------------------------------------------------------------------- a day */

static double
resident_bytes (void)
{
  g_autofree char *text = NULL;
  gsize size, pages;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  g_assert_cmpint (sscanf (text, "%zu %zu", &size, &pages), ==, 2);

  return (double) pages * sysconf (_SC_PAGESIZE);
}

/* 86,400 samples, and every minute the judgement of the page of this computer. */
static void
test_a_day (void)
{
  const char *channels[] = { "cpu_utilization", "process_cpu_cores", "memory_bytes", "memory_total_bytes", "gpu0_utilization", "gpu0_memory_bytes",
                             "gpu0_memory_total_bytes", NULL };
  const QmDiagnosisContext context = { .cores = 8 };
  g_autoptr (QmWatcher) watcher = qm_watcher_new_fed (channels);
  double memory = 0;

  for (int second = 0; second < 86400; second++)
    {
      float wave = 0.5f + 0.4f * sinf ((float) second / 30);

      qm_watcher_push (watcher, second, (float[]) { wave, 8 * wave, 4e9f, 64e9f, 1 - wave, 20e9f, 24e9f });
      if (second % 60 == 59)
        {
          g_autoptr (QmSeries) series = qm_watcher_dup_series (watcher, 60);
          g_autoptr (QmRun) run = qm_run_new ("now");
          g_autoptr (QmDiagnosis) diagnosis = qm_diagnose (run, series, &context);

          g_assert_cmpuint (qm_series_length (series), >=, 59);
          g_assert_cmpint (diagnosis->bottleneck, !=, QM_BOTTLENECK_UNKNOWN);
        }
      if (second == 3600)
        memory = resident_bytes ();
    }
  g_assert_cmpuint (qm_watcher_length (watcher), ==, QM_WATCHER_KEPT);
  g_test_message ("%.0f bytes after an hour, %.0f more after a day", memory, resident_bytes () - memory);
  if (!QM_TEST_SANITIZED)
    g_assert_cmpfloat (resident_bytes () - memory, <, 256 * 1024);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/probe/watcher/comes-and-goes", test_comes_and_goes);
  g_test_add_func ("/probe/watcher/rests", test_rests);
  g_test_add_func ("/probe/watcher/library-hangs", test_library_hangs);
  g_test_add_func ("/probe/watcher/kernel-hangs", test_kernel_hangs);
  g_test_add_func ("/probe/watcher/driver-dies", test_driver_dies);
  g_test_add_func ("/probe/watcher/driver-comes-back", test_driver_comes_back);
  g_test_add_func ("/probe/watcher/a-day", test_a_day);

  return g_test_run ();
}
