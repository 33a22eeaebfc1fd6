/* SPDX-License-Identifier: GPL-3.0-or-later */

/* NVIDIA's driver library, as the stand-in plays it. */

#include <glib/gstdio.h>
#include <locale.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qm-test-tree.h"

#define MIB (1024.0 * 1024.0)

#define PCI "sys/bus/pci/devices/"
#define CARD(address, class, model, status) \
  { PCI address "/class", class "\n" }, { PCI address "/vendor", "0x10de\n" }, { PCI address "/device", model "\n" }, \
  { PCI address "/driver@", "../../../bus/pci/drivers/nvidia" }, { PCI address "/power/runtime_status", status "\n" }

static const QmTestFile desktop[] = {
  CARD ("0000:01:00.0", "0x030000", "0x2684", "active"),
  { "proc/meminfo", "MemTotal:       65536000 kB\nMemAvailable:   60000000 kB\n" },
};

#define RTX_4090 "[device 0]\nbus=1\nid=10de:2684\nname=NVIDIA GeForce RTX 4090\ntotal-mib=24564\nfree-mib=23000\n"

typedef struct {
  char *root;
  char *script;
  char *trace;
} Fixture;

/* Writes the script of the stand-in named by the environment variable @library,
 * and looks at the computer. */
static QmMachine *
probe (Fixture          *fixture,
       const QmTestFile *files,
       guint             n_files,
       const char       *library,
       const char       *script)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  fixture->root = qm_test_tree_new (files, n_files);
  fixture->script = g_build_filename (fixture->root, "nvml.ini", NULL);
  fixture->trace = g_build_filename (fixture->root, "started", NULL);
  text = g_strdup_printf ("[driver]\ntrace=%s\n%s", fixture->trace, script);
  g_file_set_contents (fixture->script, text, -1, &error);
  g_assert_no_error (error);
  g_setenv ("QM_TEST_NVML", fixture->script, TRUE);
  g_setenv ("QM_NVML_LIBRARY", library[0] == '/' ? library : g_getenv (library), TRUE);

  return qm_test_probe (fixture->root);
}

static void
fixture_clear (Fixture *fixture)
{
  qm_test_tree_free (fixture->root);
  g_free (fixture->script);
  g_free (fixture->trace);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static void
check_desktop (const char *library,
               const char *version)
{
  g_auto (Fixture) fixture = { 0 };
  g_autofree char *script = g_strdup_printf ("version=%s\n" RTX_4090, version);
  g_autofree char *driver = g_strdup_printf ("nvidia %s", version);
  g_autoptr (QmMachine) machine = probe (&fixture, desktop, G_N_ELEMENTS (desktop), library, script);
  const QmProbedDevice *device = qm_test_device (machine, "0000:01:00.0");
  QmHere here;

  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 1);
  g_assert_cmpstr (device->name, ==, "NVIDIA GeForce RTX 4090");
  g_assert_cmpstr (device->driver, ==, driver);
  g_assert_cmpint (device->memory_kind, ==, QM_MEMORY_KIND_DEDICATED);
  g_assert_cmpfloat (device->memory_bytes, ==, 24564 * MIB);
  g_assert_cmpfloat (device->memory_free_bytes, ==, 23000 * MIB);
  g_assert_null (qm_test_reason (device, "memory_bytes"));
  g_assert_null (device->remedy);

  qm_machine_get_here (machine, &here);
  g_assert_cmpstr (here.devices[0]->id, ==, "rtx-4090");
  g_assert_cmpfloat (here.usable_bytes[0], ==, 24564 * MIB);
}

static void
test_desktop (void)
{
  check_desktop ("QM_TEST_NVML_STUB", "580.95.05");
}

/* Drivers of the 390 series have none of the newer calls. */
static void
test_old_driver (void)
{
  check_desktop ("QM_TEST_NVML_STUB_OLD", "390.157");
}

/* WSL and some distributions have a library of the name that only pretends. */
static void
test_candidates (void)
{
  g_autofree char *both = g_strjoin (":", "/nowhere/libnvidia-ml.so.1", g_getenv ("QM_TEST_NVML_STUB_FOREIGN"),
                                     g_getenv ("QM_TEST_NVML_STUB_BARE"), g_getenv ("QM_TEST_NVML_STUB"), NULL);

  check_desktop (both, "580.95.05");
}

#define H100_ANSWER(n, bus) "[device " n "]\nbus=" bus "\nid=10de:2330\nname=NVIDIA H100 80GB HBM3\ntotal-mib=81559\nfree-mib=81000\n"

/* The library counts in an order of its own, and leaves one out. */
static void
test_eight (void)
{
  static const QmTestFile files[] = {
    CARD ("0000:19:00.0", "0x030200", "0x2330", "active"), CARD ("0000:3b:00.0", "0x030200", "0x2330", "active"),
    CARD ("0000:4c:00.0", "0x030200", "0x2330", "active"), CARD ("0000:5d:00.0", "0x030200", "0x2330", "active"),
    CARD ("0000:9b:00.0", "0x030200", "0x2330", "active"), CARD ("0000:bb:00.0", "0x030200", "0x2330", "active"),
    CARD ("0000:cb:00.0", "0x030200", "0x2330", "active"), CARD ("0000:db:00.0", "0x030200", "0x2330", "active"),
    /* one of its switches */
    CARD ("0000:07:00.0", "0x068000", "0x22a3", "active"),
  };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (QmMachine) machine =
    probe (&fixture, files, G_N_ELEMENTS (files), "QM_TEST_NVML_STUB",
           "version=550.90.07\n" H100_ANSWER ("0", "219") H100_ANSWER ("1", "203") H100_ANSWER ("2", "187") H100_ANSWER ("3", "155")
           H100_ANSWER ("4", "93") H100_ANSWER ("5", "76") H100_ANSWER ("6", "59"));
  const QmProbedDevice *missing = qm_test_device (machine, "0000:19:00.0");
  QmHere here;

  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 8);
  g_assert_cmpfloat (qm_test_device (machine, "0000:db:00.0")->memory_bytes, ==, 81559 * MIB);
  g_assert_cmpfloat (missing->memory_bytes, ==, 0);
  g_assert_cmpstr (qm_test_reason (missing, "memory_bytes"), ==, "the NVIDIA driver does not list it");

  qm_machine_get_here (machine, &here);
  g_assert_cmpint (here.n_devices, ==, 8);
  for (int i = 0; i < here.n_devices; i++)
    g_assert_cmpstr (here.devices[i]->id, ==, "h100-sxm5-80gb");
}

/* To ask about the card that is awake would wake the other. */
static void
test_asleep (void)
{
  static const QmTestFile files[] = {
    CARD ("0000:01:00.0", "0x030000", "0x2684", "active"),
    CARD ("0000:02:00.0", "0x030000", "0x2684", "suspended"),
  };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (QmMachine) machine = probe (&fixture, files, G_N_ELEMENTS (files), "QM_TEST_NVML_STUB", RTX_4090);

  g_assert_false (g_file_test (fixture.trace, G_FILE_TEST_EXISTS));
  g_assert_cmpfloat (qm_test_device (machine, "0000:01:00.0")->memory_bytes, ==, 0);
  g_assert_nonnull (qm_test_reason (qm_test_device (machine, "0000:01:00.0"), "memory_bytes"));
  g_assert_true (qm_test_device (machine, "0000:02:00.0")->suspended);
}

/* A driver that does not start: the card is there all the same. */
static void
check_fault (const char *library,
             const char *script,
             const char *reason,
             gboolean    has_remedy)
{
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (QmMachine) machine = probe (&fixture, desktop, G_N_ELEMENTS (desktop), library, script);
  const QmProbedDevice *device = qm_test_device (machine, "0000:01:00.0");

  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 1);
  g_assert_cmpstr (device->device->id, ==, "rtx-4090");
  g_assert_cmpfloat (device->memory_bytes, ==, 0);
  g_assert_cmpstr (qm_test_reason (device, "memory_bytes"), ==, reason);
  g_assert_true (has_remedy == (device->remedy != NULL));
}

static void
test_faults (void)
{
  check_fault ("QM_TEST_NVML_STUB", "init=18\n", "the driver in the kernel and its library differ", TRUE);
  check_fault ("QM_TEST_NVML_STUB", "init=9\n", "the NVIDIA driver is not loaded", TRUE);
  check_fault ("QM_TEST_NVML_STUB", "init=999\n", "Unknown Error", FALSE);
  check_fault ("QM_TEST_NVML_STUB_BARE", "", "the NVIDIA driver library lacks what it must have", FALSE);
  check_fault ("/nowhere/libnvidia-ml.so.1", "", "the NVIDIA driver library is not there", TRUE);
  check_fault ("QM_TEST_NVML_STUB", RTX_4090 "memory=15\n", "its driver has lost it", TRUE);
  check_fault ("QM_TEST_NVML_STUB", RTX_4090 "memory=4\n", "its driver does not allow it to be read", FALSE);
}

/* Success with nonsense is no success. */
static void
test_nonsense (void)
{
  check_fault ("QM_TEST_NVML_STUB", "[device 0]\nbus=1\nid=10de:2684\ntotal-mib=0\nfree-mib=0\n",
               "its driver does not tell; it may share the system memory", FALSE);
  check_fault ("QM_TEST_NVML_STUB", "[device 0]\nbus=1\nid=10de:2684\ntotal-mib=100\nfree-mib=200\n",
               "its driver does not tell; it may share the system memory", FALSE);
}

/* A driver that hangs holds nobody up for longer than it is given. */
static void
test_hang (void)
{
  gint64 before = g_get_monotonic_time ();

  check_fault ("QM_TEST_NVML_STUB", "hang=true\n", "the NVIDIA driver does not answer", FALSE);
  g_assert_cmpint (g_get_monotonic_time () - before, <, 10 * G_TIME_SPAN_SECOND);
}

static gboolean
is_there (const char *path)
{
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* A driver that hangs keeps no process behind: the one that asks it goes with the
 * one that reads, however that ended. */
static void
test_hang_alone (void)
{
  static const char * const looks[] = { NULL, "--watch" };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (QmMachine) machine = probe (&fixture, desktop, G_N_ELEMENTS (desktop), "QM_TEST_NVML_STUB", "hang=true\n");

  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      const char *command[] = { g_getenv ("QM_NVML_HELPER"), looks[i], "100", NULL };
      int output, patience = 200;
      GPid helper;

      g_remove (fixture.trace);
      g_assert_true (g_spawn_async_with_pipes (NULL, (char **) command, NULL, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CLOEXEC_PIPES, NULL, NULL,
                                               &helper, NULL, &output, NULL, NULL));
      while (!is_there (fixture.trace))
        g_usleep (10000);
      g_assert_cmpint (waitpid (helper, NULL, WNOHANG), ==, 0);
      close (output);
      while (waitpid (helper, NULL, WNOHANG) == 0 && patience-- > 0)
        g_usleep (50000);
      if (patience <= 0)
        kill (helper, SIGKILL);
      g_assert_cmpint (patience, >, 0);
    }
}

/* A driver that takes the process with it that asks: what it said before counts,
 * and of the others it is not said that it does not list them. */
static void
test_crash (void)
{
  static const QmTestFile files[] = {
    CARD ("0000:01:00.0", "0x030000", "0x2684", "active"), CARD ("0000:02:00.0", "0x030000", "0x2684", "active"),
  };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (QmMachine) machine = probe (&fixture, files, G_N_ELEMENTS (files), "QM_TEST_NVML_STUB", "crash-at=1\n" RTX_4090 "[device 1]\nbus=2\n");

  g_assert_cmpfloat (qm_test_device (machine, "0000:01:00.0")->memory_bytes, ==, 24564 * MIB);
  g_assert_cmpstr (qm_test_reason (qm_test_device (machine, "0000:02:00.0"), "memory_bytes"), ==, "the NVIDIA driver does not answer");
}

/* A chip without memory of its own has the computer's. */
static void
test_unified (void)
{
  static const QmTestFile files[] = {
    CARD ("000f:01:00.0", "0x030000", "0x2e12", "active"),
    { "proc/meminfo", "MemTotal:       125513548 kB\nMemAvailable:   100000000 kB\n" },
  };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (QmMachine) machine = probe (&fixture, files, G_N_ELEMENTS (files), "QM_TEST_NVML_STUB",
                                         "version=580.95.05\n[device 0]\ndomain=15\nbus=1\nid=10de:2e12\nname=NVIDIA GB10\nmemory=3\n");
  const QmProbedDevice *device = qm_test_device (machine, "000f:01:00.0");

  g_assert_cmpstr (device->device->id, ==, "dgx-spark-gb10");
  g_assert_cmpint (device->memory_kind, ==, QM_MEMORY_KIND_UNIFIED);
  g_assert_cmpfloat (device->memory_bytes, ==, 125513548 * 1024.0);
  g_assert_cmpfloat (device->memory_free_bytes, ==, 100000000 * 1024.0);
  g_assert_null (qm_test_reason (device, "memory_bytes"));
}

#define LAPTOP_ANSWER "[device 0]\nbus=1\nid=10de:28e0\nname=NVIDIA GeForce RTX 4060 Laptop GPU\ntotal-mib=8188\nfree-mib=7900\n"

/* What the driver lets it draw goes to the core; nonsense, or no answer, is unknown. */
static void
test_power_limit (void)
{
  static const QmTestFile files[] = { CARD ("0000:01:00.0", "0x030000", "0x28e0", "active") };
  static const struct { const char *script; double watts; } cases[] = {
    { LAPTOP_ANSWER "limit-milliwatts=55500\n", 55.5 }, { LAPTOP_ANSWER "limit-milliwatts=140000\n", 140 },
    { LAPTOP_ANSWER, 0 }, { LAPTOP_ANSWER "limit-milliwatts=0\n", 0 }, { LAPTOP_ANSWER "limit-milliwatts=2147483647\n", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Fixture) fixture = { 0 };
      g_autoptr (QmMachine) machine = probe (&fixture, files, G_N_ELEMENTS (files), "QM_TEST_NVML_STUB", cases[i].script);
      QmHere here;

      g_assert_cmpfloat (qm_test_device (machine, "0000:01:00.0")->power_limit_watts, ==, cases[i].watts);
      qm_machine_get_here (machine, &here);
      g_assert_cmpstr (here.devices[0]->id, ==, "rtx-4060-laptop");
      g_assert_cmpfloat (here.power_watts[0], ==, cases[i].watts);
    }
}

/* For a reader who writes 0,5: others write 0.5 all the same. */
static void
test_power_limit_commas (void)
{
  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") == NULL)
    {
      g_test_skip ("there is no locale de_DE.UTF-8");
      return;
    }
  test_power_limit ();
  setlocale (LC_NUMERIC, "C");
}

static void
set_status (const char *root,
            const char *status)
{
  g_autofree char *path = g_build_filename (root, PCI "0000:01:00.0/power/runtime_status", NULL);

  g_assert_true (g_file_set_contents (path, status, -1, NULL));
}

/* The same card asleep, awake and asleep again: measured while it is awake alone,
 * and its driver is not so much as started before. */
static void
test_sleeps_and_wakes (void)
{
  static const QmTestFile files[] = { CARD ("0000:01:00.0", "0x030000", "0x28e0", "suspended") };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (QmMachine) asleep = probe (&fixture, files, G_N_ELEMENTS (files), "QM_TEST_NVML_STUB", LAPTOP_ANSWER "limit-milliwatts=55000\n");
  g_autoptr (QmMachine) awake = NULL;
  g_autoptr (QmMachine) again = NULL;
  const QmProbedDevice *device = qm_test_device (asleep, "0000:01:00.0");

  g_assert_true (device->suspended);
  g_assert_cmpstr (device->device->id, ==, "rtx-4060-laptop");
  g_assert_cmpfloat (device->memory_bytes, ==, 0);
  g_assert_cmpfloat (device->power_limit_watts, ==, 0);
  g_assert_false (g_file_test (fixture.trace, G_FILE_TEST_EXISTS));

  set_status (fixture.root, "active\n");
  awake = qm_test_probe (fixture.root);
  device = qm_test_device (awake, "0000:01:00.0");
  g_assert_false (device->suspended);
  g_assert_cmpfloat (device->memory_bytes, ==, 8188 * MIB);
  g_assert_cmpfloat (device->power_limit_watts, ==, 55);
  g_assert_null (qm_test_reason (device, "memory_bytes"));
  g_assert_true (g_file_test (fixture.trace, G_FILE_TEST_EXISTS));

  g_remove (fixture.trace);
  set_status (fixture.root, "suspended\n");
  again = qm_test_probe (fixture.root);
  device = qm_test_device (again, "0000:01:00.0");
  g_assert_true (device->suspended);
  g_assert_cmpfloat (device->memory_bytes, ==, 0);
  g_assert_cmpstr (qm_test_reason (device, "memory_bytes"), ==, "it is asleep and was not woken");
  g_assert_false (g_file_test (fixture.trace, G_FILE_TEST_EXISTS));
}

/* A card that is split is shown as its parts. */
static void
test_instances (void)
{
  static const QmTestFile files[] = { CARD ("0000:07:00.0", "0x030200", "0x20b0", "active") };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (QmMachine) machine =
    probe (&fixture, files, G_N_ELEMENTS (files), "QM_TEST_NVML_STUB",
           "version=535.183.01\n[device 0]\nbus=7\nid=10de:20b0\nname=NVIDIA A100-SXM4-40GB\ntotal-mib=40960\nfree-mib=40000\ninstances=2\n"
           "[device 0 instance 0]\nname=NVIDIA A100-SXM4-40GB MIG 3g.20gb\ntotal-mib=19968\nfree-mib=19900\n"
           "[device 0 instance 2]\nname=NVIDIA A100-SXM4-40GB MIG 1g.5gb\ntotal-mib=4864\nfree-mib=4800\n");
  const QmProbedDevice *whole = qm_test_device (machine, "0000:07:00.0");
  const QmProbedDevice *part = qm_test_device (machine, "0000:07:00.0/2");
  QmHere here;

  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 3);
  g_assert_cmpfloat (whole->memory_bytes, ==, 0);
  g_assert_nonnull (qm_test_reason (whole, "memory_bytes"));
  g_assert_cmpfloat (part->memory_bytes, ==, 4864 * MIB);
  g_assert_cmpstr (whole->device->id, ==, "a100-sxm4-40gb");
  g_assert_cmpstr (part->device->id, ==, "a100-sxm4-40gb-1g.5gb");

  qm_machine_get_here (machine, &here);
  g_assert_cmpint (here.n_devices, ==, 2);
  g_assert_cmpfloat (here.usable_bytes[0], ==, 19968 * MIB);
  g_assert_cmpfloat (here.usable_bytes[1], ==, 4864 * MIB);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/probe/nvml/desktop", test_desktop);
  g_test_add_func ("/probe/nvml/old-driver", test_old_driver);
  g_test_add_func ("/probe/nvml/candidates", test_candidates);
  g_test_add_func ("/probe/nvml/eight", test_eight);
  g_test_add_func ("/probe/nvml/asleep", test_asleep);
  g_test_add_func ("/probe/nvml/faults", test_faults);
  g_test_add_func ("/probe/nvml/nonsense", test_nonsense);
  g_test_add_func ("/probe/nvml/hang", test_hang);
  g_test_add_func ("/probe/nvml/hang-alone", test_hang_alone);
  g_test_add_func ("/probe/nvml/crash", test_crash);
  g_test_add_func ("/probe/nvml/unified", test_unified);
  g_test_add_func ("/probe/nvml/instances", test_instances);
  g_test_add_func ("/probe/nvml/power-limit", test_power_limit);
  g_test_add_func ("/probe/nvml/power-limit-commas", test_power_limit_commas);
  g_test_add_func ("/probe/nvml/sleeps-and-wakes", test_sleeps_and_wakes);

  return g_test_run ();
}
