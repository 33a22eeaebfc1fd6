/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Processor, memory and disk, and what of them this session may use. */

#include "probe/qm-probe-private.h"
#include "qm-test-tree.h"

#define GIB (1024.0 * 1024.0 * 1024.0)

#define CPU(n, package, core) \
  { "sys/devices/system/cpu/cpu" n "/topology/physical_package_id", package "\n" }, \
  { "sys/devices/system/cpu/cpu" n "/topology/core_id", core "\n" }
#define THREAD(n, model) "processor\t: " n "\nvendor_id\t: GenuineIntel\nmodel name\t: " model "\nflags\t\t: fpu avx avx2 avx512f amx_tile\n\n"
#define XEON "Intel(R) Xeon(R) Platinum 8480+"

/* Two sockets of two cores of two threads each. */
static const QmTestFile sockets[] = {
  { "proc/cpuinfo", THREAD ("0", XEON) THREAD ("1", XEON) THREAD ("2", XEON) THREAD ("3", XEON)
                    THREAD ("4", XEON) THREAD ("5", XEON) THREAD ("6", XEON) THREAD ("7", XEON) },
  CPU ("0", "0", "0"), CPU ("1", "0", "1"), CPU ("2", "1", "0"), CPU ("3", "1", "1"),
  CPU ("4", "0", "0"), CPU ("5", "0", "1"), CPU ("6", "1", "0"), CPU ("7", "1", "1"),
  { "sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n" },
  { "proc/meminfo", "MemTotal:       263856372 kB\nMemFree:        101318388 kB\nMemAvailable:   208318388 kB\n" },
  { "proc/self/status", "Name:\tcat\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n" },
  { "proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n" },
  { "sys/fs/cgroup/user.slice/memory.max", "max\n" },
  { "sys/fs/cgroup/user.slice/cpu.max", "max 100000\n" },
};

static void
test_processor (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (sockets, G_N_ELEMENTS (sockets));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  const QmProbedCpu *cpu = qm_machine_cpu (machine);
  const QmProbedMemory *memory = qm_machine_memory (machine);
  QmHere here;

  g_assert_cmpstr (cpu->model, ==, XEON);
  g_assert_cmpint (cpu->sockets, ==, 2);
  g_assert_cmpint (cpu->cores, ==, 4);
  g_assert_cmpint (cpu->threads, ==, 8);
  g_assert_cmpint (cpu->usable_threads, ==, 8);
  g_assert_cmpstr (cpu->features, ==, "avx2 avx512f amx_tile");
  g_assert_cmpstr (cpu->device->id, ==, "xeon-8480plus");

  g_assert_cmpfloat (memory->total_bytes, ==, 263856372 * 1024.0);
  g_assert_cmpfloat (memory->available_bytes, ==, 208318388 * 1024.0);
  g_assert_cmpfloat (memory->limit_bytes, ==, 0);

  qm_machine_get_here (machine, &here);
  g_assert_cmpstr (here.cpu->id, ==, "xeon-8480plus");
  g_assert_cmpint (here.cpu_cores, ==, 4);
  g_assert_cmpfloat (here.ram_bytes, ==, 263856372 * 1024.0);
}

/* The limit of a group above counts as much as one's own. */
static const QmTestFile limits_2[] = {
  { "proc/self/status", "Cpus_allowed_list:\t0,2-4\n" },
  { "proc/self/cgroup", "0::/pod/container\n" },
  { "sys/fs/cgroup/pod/container/memory.max", "17179869184\n" },
  { "sys/fs/cgroup/pod/memory.max", "8589934592\n" },
  { "sys/fs/cgroup/pod/container/cpu.max", "max 100000\n" },
  { "sys/fs/cgroup/pod/cpu.max", "350000 100000\n" },
};

/* Version 1, seen from inside a container: the path is the host's, and only
 * its end is there. */
static const QmTestFile limits_1[] = {
  { "proc/self/cgroup", "5:cpu,cpuacct:/docker/1f3c\n4:memory:/docker/1f3c\n1:name=systemd:/docker/1f3c\n" },
  { "sys/fs/cgroup/memory/memory.limit_in_bytes", "4294967296\n" },
  { "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n" },
  { "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n" },
};

static const QmTestFile limits_none[] = {
  { "proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/\n" },
  { "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n" },
  { "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n" },
  { "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n" },
};

static void
check_limits (const QmTestFile *files,
              guint             n_files,
              double            limit,
              int               threads)
{
  g_auto (QmTestTree) root = qm_test_tree_new (sockets, G_N_ELEMENTS (sockets));
  g_autoptr (QmMachine) machine = NULL;
  QmHere here;

  qm_test_tree_add (root, files, n_files);
  machine = qm_test_probe (root);
  g_assert_cmpfloat (qm_machine_memory (machine)->limit_bytes, ==, limit);
  g_assert_cmpfloat (qm_machine_memory (machine)->total_bytes, ==, 263856372 * 1024.0);
  g_assert_cmpint (qm_machine_cpu (machine)->usable_threads, ==, threads);

  qm_machine_get_here (machine, &here);
  g_assert_cmpfloat (here.ram_bytes, ==, limit > 0 ? limit : 263856372 * 1024.0);
  g_assert_cmpint (here.cpu_cores, ==, MIN (4, threads));
}

static void
test_limits (void)
{
  check_limits (limits_2, G_N_ELEMENTS (limits_2), 8 * GIB, 3);
  check_limits (limits_1, G_N_ELEMENTS (limits_1), 4 * GIB, 1);
  check_limits (limits_none, G_N_ELEMENTS (limits_none), 0, 8);
}

static void
test_affinity (void)
{
  static const QmTestFile pinned[] = { { "proc/self/status", "Cpus_allowed_list:\t0,2-3\n" } };

  check_limits (pinned, G_N_ELEMENTS (pinned), 0, 3);
}

static void
test_match (void)
{
  static const struct { const char *model; const char *id; } models[] = {
    { "AMD EPYC 9654 96-Core Processor", "epyc-9654" },
    { "AMD EPYC 9654P 96-Core Processor", "epyc-9654" },
    { "AMD Ryzen 9 7950X 16-Core Processor", "ryzen-9-7950x" },
    { "AMD Ryzen 7 7840U w/ Radeon  780M Graphics", "ryzen-7-7840u" },
    { "13th Gen Intel(R) Core(TM) i9-13900K", "core-i9-13900k" },
    { "12th Gen Intel(R) Core(TM) i7-12700", "core-i7-12700" },
    { "Intel(R) Core(TM) Ultra 9 285K", "core-ultra-9-285k" },
    { "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", "xeon-8380" },
    { "AWS Graviton3", "graviton3" },
    /* another chip of a name that begins alike */
    { "12th Gen Intel(R) Core(TM) i7-12700H", NULL },
    { "AMD Ryzen 9 7950X3D 16-Core Processor", NULL },
    { "Intel(R) Xeon(R) Processor", NULL },
    { "Unknown processor", NULL },
    { "", NULL },
    { NULL, NULL },
  };
  g_autoptr (QmCatalog) catalog = qm_test_catalog ();

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      const QmDevice *device = qm_probe_match_cpu (catalog, models[i].model);

      g_test_message ("%s", models[i].model);
      g_assert_cmpstr (device != NULL ? device->id : NULL, ==, models[i].id);
    }
}

/* Arm's kernels print numbers instead of names. */
static void
test_arm (void)
{
  static const QmTestFile files[] = {
    { "proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd asimddp sve i8mm bf16\nCPU implementer\t: 0x41\n"
                      "CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n\n" },
    { "sys/class/dmi/id/sys_vendor", "Amazon EC2\n" },
  };
  g_auto (QmTestTree) root = qm_test_tree_new (files, G_N_ELEMENTS (files));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  const QmProbedCpu *cpu = qm_machine_cpu (machine);

  g_assert_cmpstr (cpu->model, ==, "AWS Graviton3");
  g_assert_cmpstr (cpu->device->id, ==, "graviton3");
  g_assert_cmpstr (cpu->features, ==, "asimd asimddp sve i8mm bf16");
  g_assert_cmpint (cpu->cores, ==, 1);
}

static const QmTestFile disks[] = {
  { "proc/self/mountinfo",
    "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
    "30 22 8:1 / /srv/old\\040disk rw,relatime shared:2 - xfs /dev/sda1 rw\n"
    "31 22 254:0 / /srv/fast rw,relatime - ext4 /dev/mapper/vg-fast rw\n"
    "32 22 0:45 / /srv/shared rw,relatime shared:3 master:4 - nfs4 server:/export rw\n"
    "33 22 0:46 /@home /srv/many rw,relatime - btrfs /dev/sdb2 rw\n"
    "34 22 0:47 / /srv/memory rw - tmpfs tmpfs rw\n"
    "35 22 252:1 / /srv/virtual rw - ext4 /dev/vda1 rw\n"
    "36 30 8:17 / /srv/old\\040disk rw,relatime - ext4 /dev/sdb1 rw\n" },
  { "sys/dev/block/259:2@", "../../devices/pci0000:00/0000:00:06.0/0000:02:00.0/nvme/nvme0/nvme0n1/nvme0n1p2" },
  { "sys/dev/block/8:1@", "../../devices/pci0000:00/ata1/host0/target0/block/sda/sda1" },
  { "sys/dev/block/8:17@", "../../devices/pci0000:00/ata2/host1/target1/block/sdb/sdb1" },
  { "sys/dev/block/254:0@", "../../devices/virtual/block/dm-0" },
  { "sys/dev/block/252:1@", "../../devices/pci0000:00/0000:00:02.0/virtio1/block/vda/vda1" },
  { "sys/devices/pci0000:00/ata1/host0/target0/block/sda/queue/rotational", "0\n" },
  { "sys/devices/pci0000:00/ata1/host0/target0/block/sda/sda1/partition", "1\n" },
  { "sys/devices/pci0000:00/ata2/host1/target1/block/sdb/queue/rotational", "1\n" },
  { "sys/devices/pci0000:00/ata2/host1/target1/block/sdb/sdb1/partition", "1\n" },
  { "sys/devices/pci0000:00/ata2/host1/target1/block/sdb/sdb2/partition", "2\n" },
  { "sys/devices/virtual/block/dm-0/slaves/sda1/partition", "1\n" },
  { "sys/class/block/sda@", "../../devices/pci0000:00/ata1/host0/target0/block/sda" },
  { "sys/class/block/sda1@", "../../devices/pci0000:00/ata1/host0/target0/block/sda/sda1" },
  { "sys/class/block/sdb@", "../../devices/pci0000:00/ata2/host1/target1/block/sdb" },
  { "sys/class/block/sdb1@", "../../devices/pci0000:00/ata2/host1/target1/block/sdb/sdb1" },
  { "sys/class/block/sdb2@", "../../devices/pci0000:00/ata2/host1/target1/block/sdb/sdb2" },
  { "sys/class/block/dm-0@", "../../devices/virtual/block/dm-0" },
};

static void
test_disks (void)
{
  static const struct { const char *folder; const char *kind; } folders[] = {
    { "/srv", "nvme" },
    { "/srv/older", "nvme" },
    /* the mount on top hides the one below */
    { "/srv/old disk/data", "hdd" },
    { "/srv/old disk", "hdd" },
    { "/srv/fast", "sata-ssd" },
    { "/srv/shared/me", "network" },
    { "/srv/many", "hdd" },
    { "/srv/memory", "unknown" },
    { "/srv/virtual", "unknown" },
  };
  g_auto (QmTestTree) root = qm_test_tree_new (disks, G_N_ELEMENTS (disks));

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      QmProbedStorage storage = { 0 };

      qm_probe_storage (root, folders[i].folder, &storage);
      g_test_message ("%s", folders[i].folder);
      g_assert_cmpstr (storage.kind, ==, folders[i].kind);
      g_assert_cmpfloat (storage.total_bytes, ==, 0);
      g_free (storage.path);
      g_free (storage.kind);
    }
}

/* Whatever this computer is: it has a processor, memory and a disk. */
static void
test_this_computer (void)
{
  g_autoptr (QmMachine) machine = qm_test_probe (NULL);
  const QmProbedCpu *cpu = qm_machine_cpu (machine);
  const QmProbedMemory *memory = qm_machine_memory (machine);
  const QmProbedStorage *storage = qm_machine_storage (machine);

  g_assert_cmpint (cpu->cores, >=, 1);
  g_assert_cmpint (cpu->threads, >=, cpu->cores);
  g_assert_cmpint (cpu->usable_threads, >=, 1);
  g_assert_cmpint (cpu->usable_threads, <=, cpu->threads);
  g_assert_cmpfloat (memory->total_bytes, >, 0);
  g_assert_cmpfloat (memory->available_bytes, <=, memory->total_bytes);
  g_assert_cmpfloat (storage->total_bytes, >, 0);
  g_assert_cmpfloat (storage->free_bytes, <=, storage->total_bytes);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_unsetenv ("QM_NVML_LIBRARY");

  g_test_add_func ("/probe/host/processor", test_processor);
  g_test_add_func ("/probe/host/limits", test_limits);
  g_test_add_func ("/probe/host/affinity", test_affinity);
  g_test_add_func ("/probe/host/match", test_match);
  g_test_add_func ("/probe/host/arm", test_arm);
  g_test_add_func ("/probe/host/disks", test_disks);
  g_test_add_func ("/probe/host/this-computer", test_this_computer);

  return g_test_run ();
}
