/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Watching: what the kernel counts up becomes rates, drivers are heard and never
 * waited for, and nothing grows. */

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probe/qm-sampler.h"
#include "qm-test-tree.h"

#define SECOND G_TIME_SPAN_SECOND
#define MIB (1024.0 * 1024.0)

static const QmTestFile before[] = {
  { "proc/stat", "cpu  1000 0 0 9000 0 0 0 0 0 0\ncpu0 500 0 0 4500 0 0 0 0 0 0\ncpu1 500 0 0 4500 0 0 0 0 0 0\nintr 1 2\n" },
  { "proc/pressure/cpu", "some avg10=3.00 avg60=2.00 avg300=1.00 total=5000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=77\n" },
  { "proc/meminfo", "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:    4000 kB\n" },
  { "proc/vmstat", "nr_free_pages 5\npswpin 10\npswpout 20\n" },
  { "proc/diskstats", " 259 0 nvme0n1 10 0 1000 0 10 0 2000 0 0 100 0\n 259 1 nvme0n1p1 10 0 1000 0 10 0 2000 0 0 100 0\n 7 0 loop0 9 0 99 0 0 0 0 0 0 9 9\n" },
  { "proc/net/dev", "Inter-|   Receive\n face |bytes packets\n    lo: 99999 1 0 0 0 0 0 0 99999 1 0 0 0 0 0 0\n  eth0: 1000 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n" },
  { "sys/block/nvme0n1/size", "1\n" },
  { "sys/block/loop0/size", "1\n" },
};

static const QmTestFile after[] = {
  /* core 0 was busy for 100 of 200 ticks, core 1 for all, of which nothing waited; 20 of all 400 waited,
   * and the host took 40 */
  { "proc/stat", "cpu  1260 0 0 9080 20 0 0 40 0 0\ncpu0 600 0 0 4580 20 0 0 0 0 0\ncpu1 700 0 0 4500 0 0 0 0 0 0\nintr 1 2\n" },
  { "proc/pressure/cpu", "some avg10=9.00 avg60=2.00 avg300=1.00 total=5500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=99\n" },
  { "proc/meminfo", "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:    2000 kB\n" },
  { "proc/vmstat", "nr_free_pages 5\npswpin 10\npswpout 22\n" },
  { "proc/diskstats", " 259 0 nvme0n1 10 0 3000 0 10 0 2400 0 0 1600 0\n 259 1 nvme0n1p1 10 0 3000 0 10 0 2400 0 0 1600 0\n 7 0 loop0 9 0 9999 0 0 0 0 0 0 9 9\n" },
  { "proc/net/dev", "Inter-|   Receive\n face |bytes packets\n    lo: 999999 1 0 0 0 0 0 0 99999 1 0 0 0 0 0 0\n  eth0: 5000 1 0 0 0 0 0 0 700 1 0 0 0 0 0 0\n" },
};

/* As the kernel does: the file stays, what is in it changes. */
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

static float
value_of (QmSampler   *sampler,
          const float *values,
          const char  *channel)
{
  const char * const *names = qm_sampler_get_channels (sampler);

  for (guint i = 0; names[i] != NULL; i++)
    if (strcmp (names[i], channel) == 0)
      return values[i];
  g_assert_not_reached ();
}

#define assert_value(channel, expected) g_assert_cmpfloat_with_epsilon (value_of (sampler, values, channel), expected, 1e-6 * fabs ((double) (expected)) + 1e-9)

static void
test_host (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (before, G_N_ELEMENTS (before));
  g_autoptr (QmSampler) sampler = qm_sampler_new (root, 1);
  float values[64];
  const float *cores;
  guint n;

  g_assert_cmpuint (qm_sampler_n_gpus (sampler), ==, 0);
  qm_sampler_sample (sampler, 10 * SECOND, values);
  g_assert_true (isnan (value_of (sampler, values, "cpu_utilization")));
  g_assert_true (isnan (value_of (sampler, values, "disk_read_bytes_per_second")));
  assert_value ("memory_bytes", 12000 * 1024.0);

  for (guint i = 0; i < G_N_ELEMENTS (after); i++)
    write_over (root, after[i].path, after[i].text);
  qm_sampler_sample (sampler, 12 * SECOND, values);
  assert_value ("cpu_utilization", 300 / 400.0);
  assert_value ("cpu_busiest_utilization", 1);
  assert_value ("cpu_waiting", 20 / 400.0);
  assert_value ("cpu_stolen", 40 / 400.0);
  assert_value ("cpu_pressure", 0.5 / 2);
  assert_value ("memory_bytes", 14000 * 1024.0);
  assert_value ("memory_total_bytes", 16000 * 1024.0);
  assert_value ("swap_bytes_per_second", 2 * 4096 / 2.0);
  assert_value ("disk_read_bytes_per_second", 2000 * 512 / 2.0);
  assert_value ("disk_write_bytes_per_second", 400 * 512 / 2.0);
  assert_value ("disk_utilization", 1500 / 2000.0);
  assert_value ("network_receive_bytes_per_second", 4000 / 2.0);
  assert_value ("network_send_bytes_per_second", 200 / 2.0);
  cores = qm_sampler_get_cores (sampler, &n);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpfloat_with_epsilon (cores[0], 0.5, 1e-6);
}

/* A tree without anything: nothing is known, and 0 is nowhere. */
static void
test_nothing (void)
{
  static const QmTestFile none[] = { { "proc/version", "x\n" } };
  g_auto (QmTestTree) root = qm_test_tree_new (none, 1);
  g_autoptr (QmSampler) sampler = qm_sampler_new (root, 1);
  float values[64];

  for (int i = 1; i < 3; i++)
    qm_sampler_sample (sampler, i * SECOND, values);
  g_assert_true (isnan (value_of (sampler, values, "cpu_utilization")));
  g_assert_true (isnan (value_of (sampler, values, "memory_bytes")));
  g_assert_true (isnan (value_of (sampler, values, "cpu_stolen")));
  g_assert_true (isnan (value_of (sampler, values, "cpu_pressure")));
}

#define PCI "sys/bus/pci/devices/"
#define CARD(address, vendor, driver, status) \
  { PCI address "/class", "0x030000\n" }, { PCI address "/vendor", vendor "\n" }, { PCI address "/device", "0x2684\n" }, \
  { PCI address "/driver@", "../../../bus/pci/drivers/" driver }, { PCI address "/power/runtime_status", status "\n" }

static const QmTestFile radeon[] = {
  CARD ("0000:03:00.0", "0x1002", "amdgpu", "active"),
  { PCI "0000:03:00.0/gpu_busy_percent", "87\n" },
  { PCI "0000:03:00.0/mem_info_vram_used", "1000000\n" },
  { PCI "0000:03:00.0/mem_info_vram_total", "4000000\n" },
  { PCI "0000:03:00.0/hwmon/hwmon12/power1_average", "250000000\n" },
  { PCI "0000:03:00.0/hwmon/hwmon12/temp1_input", "61000\n" },
  { PCI "0000:03:00.0/hwmon/hwmon12/freq1_input", "2400000000\n" },
};

static void
test_radeon (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (radeon, G_N_ELEMENTS (radeon));
  g_autoptr (QmSampler) sampler = qm_sampler_new (root, 1);
  float values[64];

  g_assert_cmpuint (qm_sampler_n_gpus (sampler), ==, 1);
  g_assert_cmpstr (qm_sampler_gpu_id (sampler, 0), ==, "0000:03:00.0");
  qm_sampler_sample (sampler, SECOND, values);
  assert_value ("gpu0_utilization", 0.87);
  assert_value ("gpu0_memory_bytes", 1000000);
  assert_value ("gpu0_power_watts", 250);
  assert_value ("gpu0_temperature_celsius", 61);
  assert_value ("gpu0_clock_hertz", 2.4e9);
  g_assert_true (isnan (value_of (sampler, values, "gpu0_pcie_send_bytes_per_second")));

  /* it falls asleep, and is left to */
  write_over (root, PCI "0000:03:00.0/power/runtime_status", "suspended\n");
  qm_sampler_sample (sampler, 2 * SECOND, values);
  g_assert_true (isnan (value_of (sampler, values, "gpu0_utilization")));
}

/* The stand-in for NVIDIA's library, played by a script. */
static char *
play (const char *root,
      const char *script)
{
  g_autofree char *path = g_build_filename (root, "nvml.ini", NULL);
  g_autofree char *trace = g_build_filename (root, "started", NULL);
  g_autofree char *text = g_strdup_printf ("[driver]\ntrace=%s\n%s", trace, script);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_setenv ("QM_TEST_NVML", path, TRUE);
  g_setenv ("QM_NVML_LIBRARY", g_getenv ("QM_TEST_NVML_STUB"), TRUE);

  return g_steal_pointer (&trace);
}

static gboolean
hears (QmSampler *sampler,
       float     *values,
       double     seconds)
{
  gint64 end = g_get_monotonic_time () + (gint64) (seconds * SECOND);

  do
    {
      qm_sampler_sample (sampler, g_get_monotonic_time (), values);
      g_usleep (20000);
    }
  while (isnan (value_of (sampler, values, "gpu0_memory_bytes")) && g_get_monotonic_time () < end);

  return !isnan (value_of (sampler, values, "gpu0_memory_bytes"));
}

static const QmTestFile geforce[] = { CARD ("0000:01:00.0", "0x10de", "nvidia", "active") };

static void
test_nvidia (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (geforce, G_N_ELEMENTS (geforce));
  g_autofree char *trace = play (root, "version=580\n[device 0]\nbus=1\nid=10de:2684\ntotal-mib=24564\nfree-mib=4564\nbusy=95\nmemory-busy=40\n"
                                       "milliwatts=449500\nlimit-milliwatts=450000\ncelsius=71\nmhz=2505\nmost-mhz=3105\nreasons=4\nreceived-kib=1000\n");
  g_autoptr (QmSampler) sampler = qm_sampler_new (root, 0.1);
  float values[64];

  g_assert_true (hears (sampler, values, 10));
  assert_value ("gpu0_utilization", 0.95);
  assert_value ("gpu0_memory_utilization", 0.4);
  assert_value ("gpu0_memory_bytes", 20000 * MIB);
  assert_value ("gpu0_power_watts", 449.5);
  assert_value ("gpu0_power_limit_watts", 450);
  assert_value ("gpu0_temperature_celsius", 71);
  assert_value ("gpu0_clock_hertz", 2505e6);
  assert_value ("gpu0_clock_most_hertz", 3105e6);
  assert_value ("gpu0_throttled", 1);
  assert_value ("gpu0_pcie_receive_bytes_per_second", 1000 * 1024);
  g_assert_true (isnan (value_of (sampler, values, "gpu0_pcie_send_bytes_per_second")));
}

/* For a reader who writes 0,5: others write 0.5 all the same. */
static void
test_nvidia_commas (void)
{
  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") == NULL)
    {
      g_test_skip ("there is no locale de_DE.UTF-8");
      return;
    }
  test_nvidia ();
  setlocale (LC_NUMERIC, "C");
}

/* A driver that hangs makes nobody wait. */
static void
test_hang (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (geforce, G_N_ELEMENTS (geforce));
  g_autofree char *trace = play (root, "hang=true\n[device 0]\nbus=1\nid=10de:2684\n");
  g_autoptr (QmSampler) sampler = qm_sampler_new (root, 0.1);
  float values[64];
  gint64 longest = 0;

  for (int i = 0; i < 10; i++)
    {
      gint64 began = g_get_monotonic_time ();

      qm_sampler_sample (sampler, began, values);
      longest = MAX (longest, g_get_monotonic_time () - began);
      g_usleep (20000);
    }
  g_assert_true (isnan (value_of (sampler, values, "gpu0_utilization")));
  g_assert_cmpint (longest, <, SECOND);
}

/* Asking for one would wake the other. */
static void
test_asleep (void)
{
  static const QmTestFile files[] = {
    CARD ("0000:01:00.0", "0x10de", "nvidia", "active"),
    CARD ("0000:02:00.0", "0x10de", "nvidia", "suspended"),
  };
  g_auto (QmTestTree) root = qm_test_tree_new (files, G_N_ELEMENTS (files));
  g_autofree char *trace = play (root, "version=580\n[device 0]\nbus=1\nid=10de:2684\ntotal-mib=24564\nfree-mib=4564\n");
  g_autoptr (QmSampler) sampler = qm_sampler_new (root, 0.1);
  float values[64];

  g_assert_false (hears (sampler, values, 0.5));
  g_assert_false (g_file_test (trace, G_FILE_TEST_EXISTS));
}

static double
resident_bytes (void)
{
  g_autofree char *text = NULL;
  gsize size, pages;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  g_assert_cmpint (sscanf (text, "%zu %zu", &size, &pages), ==, 2);

  return pages * 4096.0;
}

/* A day of seconds on this computer itself: memory stays, and each sample takes
 * less than a hundredth of its second. */
static void
test_a_day (void)
{
  const int warm = 500, day = 86400 / 8;
  g_autoptr (QmSampler) sampler = qm_sampler_new (NULL, 1);
  guint n = qm_sampler_n_channels (sampler);
  g_autoptr (QmSampleRing) ring = qm_sample_ring_new (n, 3600);
  g_autofree float *values = g_new (float, n);
  double memory = 0;
  clock_t began = 0;

  for (int i = 0; i < warm + day; i++)
    {
      if (i == warm)
        {
          memory = resident_bytes ();
          began = clock ();
        }
      qm_sampler_sample (sampler, (i + 1) * SECOND, values);
      for (int k = 0; k < 8; k++)
        qm_sample_ring_push (ring, i + k / 8.0, values);
    }
  if (!QM_TEST_SANITIZED)
    g_assert_cmpfloat (resident_bytes () - memory, <, 512 * 1024);
  g_assert_cmpfloat ((double) (clock () - began) / CLOCKS_PER_SEC / day, <, 0.01);
  g_assert_cmpuint (qm_sample_ring_length (ring), ==, 3600);
}

static void
test_ring (void)
{
  g_autoptr (QmSampleRing) ring = qm_sample_ring_new (2, 3);

  g_assert_cmpuint (qm_sample_ring_length (ring), ==, 0);
  for (int i = 0; i < 5; i++)
    qm_sample_ring_push (ring, i, (float[]) { (float) i, NAN });
  g_assert_cmpuint (qm_sample_ring_length (ring), ==, 3);
  g_assert_cmpfloat (qm_sample_ring_time (ring, 0), ==, 2);
  g_assert_cmpfloat (qm_sample_ring_value (ring, 2, 0), ==, 4);
  g_assert_true (isnan (qm_sample_ring_value (ring, 2, 1)));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/probe/sampler/host", test_host);
  g_test_add_func ("/probe/sampler/nothing", test_nothing);
  g_test_add_func ("/probe/sampler/radeon", test_radeon);
  g_test_add_func ("/probe/sampler/nvidia", test_nvidia);
  g_test_add_func ("/probe/sampler/nvidia-commas", test_nvidia_commas);
  g_test_add_func ("/probe/sampler/hang", test_hang);
  g_test_add_func ("/probe/sampler/asleep", test_asleep);
  g_test_add_func ("/probe/sampler/a-day", test_a_day);
  g_test_add_func ("/probe/sampler/ring", test_ring);

  return g_test_run ();
}
