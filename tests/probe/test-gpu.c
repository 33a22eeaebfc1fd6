/* SPDX-License-Identifier: GPL-3.0-or-later */

/* GPUs and neural units as sysfs shows them, without any driver library. */

#include "qm-test-tree.h"

#define MIB (1024.0 * 1024.0)
#define KIB_TEXT(kib) "MemTotal:       " kib " kB\nMemAvailable:   " kib " kB\n"

#define PCI "sys/bus/pci/devices/"

/* A desktop computer: the card's own link is slower now than it can be. */
static const QmTestFile desktop[] = {
  { PCI "0000:01:00.0/class", "0x030000\n" },
  { PCI "0000:01:00.0/vendor", "0x10de\n" },
  { PCI "0000:01:00.0/device", "0x2684\n" },
  { PCI "0000:01:00.0/driver@", "../../../bus/pci/drivers/nvidia" },
  { PCI "0000:01:00.0/power/runtime_status", "active\n" },
  { PCI "0000:01:00.0/current_link_speed", "2.5 GT/s PCIe\n" },
  { PCI "0000:01:00.0/max_link_speed", "16.0 GT/s PCIe\n" },
  { PCI "0000:01:00.0/current_link_width", "16\n" },
  { PCI "0000:01:00.1/class", "0x040300\n" },
  { PCI "0000:01:00.1/vendor", "0x10de\n" },
  { PCI "0000:01:00.1/device", "0x22ba\n" },
};

static void
test_desktop (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (desktop, G_N_ELEMENTS (desktop));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  const QmProbedDevice *device;
  QmHere here;

  /* its sound is no GPU */
  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 1);
  device = qm_machine_device (machine, 0);
  g_assert_cmpstr (device->id, ==, "0000:01:00.0");
  g_assert_cmpstr (device->pci_id, ==, "10de:2684");
  g_assert_cmpstr (device->name, ==, "NVIDIA GeForce RTX 4090");
  g_assert_cmpstr (device->driver, ==, "nvidia");
  g_assert_cmpstr (device->link, ==, "PCIe 4.0 x16");
  g_assert_cmpstr (device->device->id, ==, "rtx-4090");

  /* nobody was asked for its memory: unknown, and never a figure of the catalog */
  g_assert_cmpfloat (device->memory_bytes, ==, 0);
  g_assert_nonnull (qm_test_reason (device, "memory_bytes"));

  qm_machine_get_here (machine, &here);
  g_assert_cmpint (here.n_devices, ==, 1);
  g_assert_cmpstr (here.devices[0]->id, ==, "rtx-4090");
  g_assert_cmpfloat (here.usable_bytes[0], ==, 0);
}

#define SECRET "GPU-1f2e"

/* A captured tree says the same, and nothing that is nobody's business. */
static void
test_capture (void)
{
  static const QmTestFile more[] = {
    { PCI "0000:01:00.0/unique_id", SECRET "\n" },
    { "proc/cpuinfo", "processor\t: 0\nmodel name\t: A Processor\nSerial\t\t: " SECRET "\nphysical id\t: 0\ncpu cores\t: 1\n" },
    { "proc/meminfo", KIB_TEXT ("32564148") },
    { "etc/hostname", SECRET "\n" },
    { "proc/self/cgroup", "0::/user.slice/" SECRET "\n" },
  };
  g_auto (QmTestTree) root = qm_test_tree_new (desktop, G_N_ELEMENTS (desktop));
  g_auto (QmTestTree) copy = NULL;
  g_autoptr (QmMachine) machine = NULL;
  g_autoptr (QmMachine) again = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *found = NULL, *cpuinfo = NULL, *text = NULL;

  static const QmTestFile none[] = { { "proc/version", "x\n" } };

  qm_test_tree_add (root, more, G_N_ELEMENTS (more));
  copy = qm_test_tree_new (none, 1);
  qm_machine_capture (root, copy, &error);
  g_assert_no_error (error);
  machine = qm_test_probe (root);
  again = qm_test_probe (copy);
  g_assert_cmpuint (qm_machine_n_devices (again), ==, qm_machine_n_devices (machine));
  g_assert_cmpstr (qm_machine_device (again, 0)->name, ==, qm_machine_device (machine, 0)->name);
  g_assert_cmpstr (qm_machine_device (again, 0)->driver, ==, "nvidia");
  g_assert_cmpstr (qm_machine_device (again, 0)->link, ==, qm_machine_device (machine, 0)->link);
  g_assert_cmpstr (qm_machine_cpu (again)->model, ==, "A Processor");
  g_assert_cmpfloat (qm_machine_memory (again)->total_bytes, ==, qm_machine_memory (machine)->total_bytes);

  cpuinfo = g_build_filename (copy, "proc/cpuinfo", NULL);
  g_assert_true (g_file_get_contents (cpuinfo, &text, NULL, NULL));
  g_assert_null (strstr (text, SECRET));
  found = g_build_filename (copy, PCI "0000:01:00.0/unique_id", NULL);
  g_assert_false (g_file_test (found, G_FILE_TEST_EXISTS));
}

static const QmTestFile asleep[] = {
  { PCI "0000:01:00.0/class", "0x030200\n" },
  { PCI "0000:01:00.0/vendor", "0x10de\n" },
  { PCI "0000:01:00.0/device", "0x2717\n" },
  { PCI "0000:01:00.0/driver@", "../../../bus/pci/drivers/nvidia" },
  { PCI "0000:01:00.0/power/runtime_status", "suspended\n" },
  { PCI "0000:01:00.0/max_link_speed", "16.0 GT/s PCIe\n" },
  { PCI "0000:01:00.0/current_link_width", "8\n" },
  { PCI "0000:00:02.0/class", "0x030000\n" },
  { PCI "0000:00:02.0/vendor", "0x8086\n" },
  { PCI "0000:00:02.0/device", "0xa788\n" },
  { PCI "0000:00:02.0/driver@", "../../../bus/pci/drivers/i915" },
  { PCI "0000:00:02.0/power/runtime_status", "active\n" },
  { "proc/meminfo", KIB_TEXT ("32564148") },
};

/* Known by its id alone. The processor's graphics share the system memory. */
static void
test_asleep (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (asleep, G_N_ELEMENTS (asleep));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  const QmProbedDevice *card = qm_test_device (machine, "0000:01:00.0");
  const QmProbedDevice *graphics = qm_test_device (machine, "0000:00:02.0");

  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 2);
  g_assert_true (card->suspended);
  g_assert_cmpstr (card->device->id, ==, "rtx-4090-laptop");
  g_assert_null (card->link);
  g_assert_cmpfloat (card->memory_bytes, ==, 0);
  g_assert_cmpstr (qm_test_reason (card, "memory_bytes"), ==, "it is asleep and was not woken");

  g_assert_false (graphics->suspended);
  g_assert_cmpint (graphics->memory_kind, ==, QM_MEMORY_KIND_UNIFIED);
  g_assert_cmpfloat (graphics->memory_bytes, ==, 32564148 * 1024.0);
  g_assert_null (graphics->device);
  g_assert_cmpstr (graphics->name, ==, "Intel device 8086:a788");
}

#define NAMES "usr/share/libdrm/amdgpu.ids"
#define NAMES_TEXT "# List of AMDGPU IDs\n#\n1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n744C,\tCC,\tAMD Radeon RX 7900 XT\n" \
                   "74A1,\t00,\tAMD Instinct MI300X\n1638,\tC1,\tAMD Radeon Graphics\n73BF,\tC1,\tAMD Radeon RX 6800 XT\n"
#define AMD(address, model, rev) \
  { PCI address "/class", "0x030000\n" }, { PCI address "/vendor", "0x1002\n" }, { PCI address "/device", model "\n" }, \
  { PCI address "/revision", rev "\n" }, { PCI address "/driver@", "../../../bus/pci/drivers/amdgpu" }, \
  { PCI address "/power/runtime_status", "active\n" }

static const QmTestFile radeons[] = {
  { NAMES, NAMES_TEXT },
  AMD ("0000:03:00.0", "0x744c", "0xcc"),
  { PCI "0000:03:00.0/mem_info_vram_total", "21458059264\n" },
  { PCI "0000:03:00.0/mem_info_vis_vram_total", "268435456\n" },
  { PCI "0000:03:00.0/mem_info_vram_used", "58695680\n" },
  { PCI "0000:03:00.0/mem_info_gtt_total", "33600000000\n" },
  { PCI "0000:03:00.0/mem_info_vram_vendor", "samsung\n" },
  /* a server's card may map more of the system's memory than it has itself */
  AMD ("0000:c1:00.0", "0x74a1", "0x00"),
  { PCI "0000:c1:00.0/mem_info_vram_total", "206141652992\n" },
  { PCI "0000:c1:00.0/mem_info_vram_used", "297058304\n" },
  { PCI "0000:c1:00.0/mem_info_gtt_total", "811352473600\n" },
  { PCI "0000:c1:00.0/mem_busy_percent", "0\n" },
  { "proc/meminfo", KIB_TEXT ("1584673636") },
};

static void
test_radeons (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (radeons, G_N_ELEMENTS (radeons));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  const QmProbedDevice *consumer = qm_test_device (machine, "0000:03:00.0");
  const QmProbedDevice *server = qm_test_device (machine, "0000:c1:00.0");

  g_assert_cmpstr (consumer->name, ==, "AMD Radeon RX 7900 XT");
  g_assert_cmpstr (consumer->device->id, ==, "rx-7900-xt");
  g_assert_cmpint (consumer->memory_kind, ==, QM_MEMORY_KIND_DEDICATED);
  g_assert_cmpfloat (consumer->memory_bytes, ==, 21458059264.0);
  g_assert_cmpfloat (consumer->memory_free_bytes, ==, 21458059264.0 - 58695680.0);

  g_assert_cmpstr (server->device->id, ==, "mi300x");
  g_assert_cmpint (server->memory_kind, ==, QM_MEMORY_KIND_DEDICATED);
  g_assert_cmpfloat (server->memory_bytes, ==, 206141652992.0);
}

static const QmTestFile apu[] = {
  { NAMES, NAMES_TEXT },
  AMD ("0000:05:00.0", "0x1638", "0xc1"),
  { PCI "0000:05:00.0/mem_info_vram_total", "536870912\n" },
  { PCI "0000:05:00.0/mem_info_vram_used", "400000000\n" },
  { PCI "0000:05:00.0/mem_info_gtt_total", "8176300032\n" },
  { PCI "0000:05:00.0/mem_info_vram_vendor", "unknown\n" },
  { "proc/meminfo", KIB_TEXT ("15970664") },
};

/* 512 MiB are set apart; the other figure says what can be used. */
static void
test_apu (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (apu, G_N_ELEMENTS (apu));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  const QmProbedDevice *device = qm_test_device (machine, "0000:05:00.0");

  g_assert_cmpint (device->memory_kind, ==, QM_MEMORY_KIND_CARVE_OUT);
  g_assert_cmpfloat (device->memory_bytes, ==, 8176300032.0);
}

#define NODE "sys/class/kfd/kfd/topology/nodes/"

static const QmTestFile kfd[] = {
  { NODE "0/properties", "cpu_cores_count 16\nsimd_count 0\nvendor_id 0\ndevice_id 0\nlocation_id 0\ndomain 0\n" },
  { NODE "0/mem_banks/0/properties", "heap_type 0\nsize_in_bytes 16353959936\n" },
  { NODE "1/properties", "cpu_cores_count 0\nsimd_count 32\nvendor_id 4098\ndevice_id 5688\nlocation_id 1280\ndomain 0\n" },
  { NODE "1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 140000000000\nflags 0\n" },
};

/* The compute driver's figure counts, and never more than the computer has: what
 * the kernel counts, and the 512 MiB that it leaves out. */
static void
test_apu_beyond_memory (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (apu, G_N_ELEMENTS (apu));
  g_autoptr (QmMachine) machine = NULL;
  const QmProbedDevice *device;

  qm_test_tree_add (root, kfd, G_N_ELEMENTS (kfd));
  machine = qm_test_probe (root);
  device = qm_test_device (machine, "0000:05:00.0");
  g_assert_cmpfloat (device->memory_bytes, ==, 15970664 * 1024.0 + 536870912);
}

static const QmTestFile server[] = {
  { PCI "0000:02:00.0/class", "0x030000\n" },
  { PCI "0000:02:00.0/vendor", "0x1a03\n" },
  { PCI "0000:02:00.0/device", "0x2000\n" },
  { PCI "0000:03:00.0/class", "0x020000\n" },
  { PCI "0000:03:00.0/vendor", "0x8086\n" },
  { PCI "0000:03:00.0/device", "0x1533\n" },
};

/* The remote console of a server is no GPU. */
static void
test_none (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (server, G_N_ELEMENTS (server));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  QmHere here;

  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 0);
  qm_machine_get_here (machine, &here);
  g_assert_cmpint (here.n_devices, ==, 0);
}

static const QmTestFile drivers[] = {
  { PCI "0000:01:00.0/class", "0x030000\n" },
  { PCI "0000:01:00.0/vendor", "0x10de\n" },
  { PCI "0000:01:00.0/device", "0x2204\n" },
  { PCI "0000:01:00.0/driver@", "../../../bus/pci/drivers/nouveau" },
  { PCI "0000:02:00.0/class", "0x030000\n" },
  { PCI "0000:02:00.0/vendor", "0x10de\n" },
  { PCI "0000:02:00.0/device", "0x2204\n" },
  { PCI "0000:03:00.0/class", "0x030000\n" },
  { PCI "0000:03:00.0/vendor", "0x10de\n" },
  { PCI "0000:03:00.0/device", "0x2204\n" },
  { PCI "0000:03:00.0/driver@", "../../../bus/pci/drivers/vfio-pci" },
};

static void
test_other_drivers (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (drivers, G_N_ELEMENTS (drivers));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  const QmProbedDevice *nouveau = qm_test_device (machine, "0000:01:00.0");
  const QmProbedDevice *none = qm_test_device (machine, "0000:02:00.0");
  const QmProbedDevice *passed = qm_test_device (machine, "0000:03:00.0");

  g_assert_cmpstr (nouveau->device->id, ==, "rtx-3090");
  g_assert_cmpstr (nouveau->driver, ==, "nouveau");
  g_assert_cmpstr (qm_test_reason (nouveau, "memory_bytes"), ==, "its driver does not tell");
  g_assert_nonnull (nouveau->remedy);

  g_assert_null (none->driver);
  g_assert_nonnull (qm_test_reason (none, "driver"));
  g_assert_cmpstr (qm_test_reason (none, "memory_bytes"), ==, "no driver is loaded for it");
  g_assert_nonnull (none->remedy);

  g_assert_cmpstr (qm_test_reason (passed, "memory_bytes"), ==, "it is passed on to a virtual machine");
  g_assert_null (passed->remedy);
}

static const QmTestFile apple[] = {
  { "sys/class/drm/card0/device/uevent", "DRIVER=apple-drm\nOF_NAME=display-subsystem\n" },
  { "sys/class/drm/card2/device/uevent", "DRIVER=asahi\nOF_NAME=gpu\nOF_COMPATIBLE_0=apple,agx-g13s\n" },
  { "sys/class/drm/renderD128/device/uevent", "DRIVER=asahi\nOF_NAME=gpu\n" },
  { "proc/device-tree/model", "Apple MacBook Pro (14-inch, M1 Pro, 2021)" },
  { "proc/meminfo", KIB_TEXT ("15895024") },
};

static void
test_apple (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (apple, G_N_ELEMENTS (apple));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  const QmProbedDevice *device = qm_test_device (machine, "soc");
  QmHere here;

  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 1);
  g_assert_cmpstr (device->name, ==, "Apple M1 Pro");
  g_assert_cmpstr (device->device->id, ==, "apple-m1-pro");
  g_assert_cmpint (device->memory_kind, ==, QM_MEMORY_KIND_UNIFIED);

  /* the catalog's chip has 32 GiB, this computer half of that */
  qm_machine_get_here (machine, &here);
  g_assert_cmpfloat (here.usable_bytes[0], ==, 15895024 * 1024.0);
}

#define SWITCH "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
#define ARC SWITCH "/0000:02:01.0/0000:03:00.0"

/* What the kernel shows of a card that sits behind a switch of its own. */
static const QmTestFile arc[] = {
  { PCI "0000:03:00.0@", "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:03:00.0" },
  { ARC "/class", "0x030000\n" },
  { ARC "/vendor", "0x8086\n" },
  { ARC "/device", "0x56a0\n" },
  { ARC "/max_link_speed", "2.5 GT/s PCIe\n" },
  { ARC "/current_link_width", "1\n" },
  { SWITCH "/0000:02:01.0/max_link_speed", "2.5 GT/s PCIe\n" },
  { SWITCH "/0000:02:01.0/current_link_width", "1\n" },
  { SWITCH "/max_link_speed", "16.0 GT/s PCIe\n" },
  { SWITCH "/current_link_width", "16\n" },
  { "sys/devices/pci0000:00/0000:00:01.0/max_link_speed", "32.0 GT/s PCIe\n" },
};

static void
test_behind_switch (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (arc, G_N_ELEMENTS (arc));
  g_autoptr (QmMachine) machine = qm_test_probe (root);

  g_assert_cmpstr (qm_test_device (machine, "0000:03:00.0")->link, ==, "PCIe 4.0 x16");
}

static const QmTestFile units[] = {
  { "sys/class/accel/accel0/device/uevent", "DRIVER=amdxdna\nPCI_CLASS=118000\nPCI_ID=1022:17F0\nPCI_SLOT_NAME=0000:c5:00.1\n" },
  { PCI "0000:00:0b.0/class", "0x120000\n" },
  { PCI "0000:00:0b.0/vendor", "0x8086\n" },
  { PCI "0000:00:0b.0/device", "0x7d1d\n" },
  { PCI "0000:00:0b.0/driver@", "../../../bus/pci/drivers/intel_vpu" },
  { "sys/class/accel/accel1/device/uevent", "DRIVER=intel_vpu\nPCI_ID=8086:7D1D\nPCI_SLOT_NAME=0000:00:0b.0\n" },
};

/* One is of a PCI class that says nothing, the other is found twice. */
static void
test_neural_units (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (units, G_N_ELEMENTS (units));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  const QmProbedDevice *unit = qm_test_device (machine, "0000:c5:00.1");

  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 2);
  g_assert_cmpstr (unit->vendor, ==, "amd");
  g_assert_cmpstr (unit->pci_id, ==, "1022:17f0");
  g_assert_cmpstr (unit->driver, ==, "amdxdna");
  g_assert_cmpstr (qm_test_device (machine, "0000:00:0b.0")->driver, ==, "intel_vpu");
}

static const QmTestFile nonsense[] = {
  { PCI "0000:01:00.0/class", "0x030000\n" },
  { PCI "0000:01:00.0/vendor", "" },
  { PCI "0000:02:00.0/class", "\xff\xfe" },
  { PCI "0000:03:00.0/class", "0x030000\n" },
  { PCI "0000:03:00.0/vendor", "0x1002\n" },
  { PCI "0000:03:00.0/driver@", "../../../bus/pci/drivers/amdgpu" },
  { PCI "0000:03:00.0/mem_info_vram_total", "-5\n" },
  { PCI "0000:03:00.0/max_link_speed", "Unknown\n" },
  { PCI "0000:03:00.0/current_link_width", "0\n" },
  { NAMES, ",,\n,\n744C\n" },
  { "sys/class/accel/accel0/device/uevent", "PCI_ID\nPCI_SLOT_NAME=\n=\n" },
  { "proc/meminfo", "MemTotal\nMemTotal: lots\n" },
  { "proc/cpuinfo", "::::\nmodel name\nprocessor" },
  { "proc/self/cgroup", "0\n:\n0::\n4:memory:/\xc3\n" },
  { "proc/self/mountinfo", "1 2\n- - - - - - - - -\n" },
  { "proc/self/status", "Cpus_allowed_list:\t9-3,x\n" },
};

static void
test_nonsense (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (nonsense, G_N_ELEMENTS (nonsense));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  const QmProbedDevice *device = qm_test_device (machine, "0000:03:00.0");

  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 1);
  g_assert_null (device->device);
  g_assert_null (device->link);
  g_assert_cmpfloat (device->memory_bytes, ==, 0);
  g_assert_nonnull (qm_test_reason (device, "memory_bytes"));
  g_assert_cmpfloat (qm_machine_memory (machine)->total_bytes, ==, 0);
}

/* What is unknown is null, never 0, and says why. */
static void
test_json (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (asleep, G_N_ELEMENTS (asleep));
  g_autoptr (QmMachine) machine = qm_test_probe (root);
  g_autoptr (JsonNode) node = qm_machine_to_json (machine);
  JsonArray *devices = json_object_get_array_member (json_node_get_object (node), "devices");

  for (guint i = 0; i < json_array_get_length (devices); i++)
    {
      JsonObject *device = json_array_get_object_element (devices, i);
      JsonObject *unknown = json_object_get_object_member (device, "unknown");

      if (g_strcmp0 (json_object_get_string_member (device, "id"), "0000:01:00.0") != 0)
        continue;
      g_assert_true (json_object_get_null_member (device, "memory_bytes"));
      g_assert_true (json_object_get_null_member (device, "link"));
      g_assert_cmpstr (json_object_get_string_member (unknown, "memory_bytes"), ==, "it is asleep and was not woken");
      g_assert_cmpstr (json_object_get_string_member (device, "catalog_id"), ==, "rtx-4090-laptop");
      return;
    }
  g_assert_not_reached ();
}

static void
probed (GObject      *source,
        GAsyncResult *result,
        gpointer      data)
{
  g_autoptr (GError) error = NULL;
  QmMachine **machine = data;

  *machine = qm_machine_probe_finish (result, &error);
  g_assert_no_error (error);
}

static void
test_async (void)
{
  g_auto (QmTestTree) root = qm_test_tree_new (desktop, G_N_ELEMENTS (desktop));
  g_autoptr (QmCatalog) catalog = qm_test_catalog ();
  g_autoptr (QmMachine) machine = NULL;

  qm_machine_probe_async (catalog, root, FALSE, NULL, probed, &machine);
  while (machine == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (qm_machine_n_devices (machine), ==, 1);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_unsetenv ("QM_NVML_LIBRARY");

  g_test_add_func ("/probe/gpu/desktop", test_desktop);
  g_test_add_func ("/probe/gpu/capture", test_capture);
  g_test_add_func ("/probe/gpu/asleep", test_asleep);
  g_test_add_func ("/probe/gpu/radeons", test_radeons);
  g_test_add_func ("/probe/gpu/apu", test_apu);
  g_test_add_func ("/probe/gpu/apu-beyond-memory", test_apu_beyond_memory);
  g_test_add_func ("/probe/gpu/none", test_none);
  g_test_add_func ("/probe/gpu/other-drivers", test_other_drivers);
  g_test_add_func ("/probe/gpu/apple", test_apple);
  g_test_add_func ("/probe/gpu/behind-switch", test_behind_switch);
  g_test_add_func ("/probe/gpu/neural-units", test_neural_units);
  g_test_add_func ("/probe/gpu/nonsense", test_nonsense);
  g_test_add_func ("/probe/gpu/json", test_json);
  g_test_add_func ("/probe/gpu/async", test_async);

  return g_test_run ();
}
