/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Asks the NVIDIA driver what it knows, in a process of its own: a driver that
 * hangs or crashes takes nobody with it. Prints a line for each device,
 *   device ADDRESS TOTAL FREE NAME
 * preceded by "driver VERSION", or "error CODE TEXT". */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *Device;

typedef struct {
  char bus_id_legacy[16];
  unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
} PciInfo;

typedef struct {
  unsigned long long total, free, used;
} Memory;

typedef struct {
  unsigned int version;
  unsigned long long total, reserved, free, used;
} Memory2;

/* nvml.h: sizeof | 2 << 24 */
#define MEMORY2_VERSION (sizeof (Memory2) | (2u << 24))

static void *library;

static void *
find (const char *newest,
      const char *older)
{
  void *symbol = dlsym (library, newest);

  return symbol != NULL || older == NULL ? symbol : dlsym (library, older);
}

/* Used memory of the older call includes what the driver keeps for itself. */
static int
read_memory (Device  device,
             Memory *memory)
{
  int (*get2) (Device, Memory2 *) = dlsym (library, "nvmlDeviceGetMemoryInfo_v2");
  int (*get) (Device, Memory *) = dlsym (library, "nvmlDeviceGetMemoryInfo");
  Memory2 memory2 = { 0 };

  memory2.version = MEMORY2_VERSION;
  if (get2 != NULL && get2 (device, &memory2) == 0 && memory2.total > 0)
    {
      memory->total = memory2.total;
      memory->free = memory2.free;
      return 1;
    }

  return get != NULL && get (device, memory) == 0 && memory->total > 0;
}

static void
print_device (Device device)
{
  int (*get_pci) (Device, PciInfo *) = find ("nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2");
  int (*get_name) (Device, char *, unsigned int) = dlsym (library, "nvmlDeviceGetName");
  PciInfo pci = { 0 };
  Memory memory = { 0 };
  char name[96] = "";

  if (get_pci == NULL || get_pci (device, &pci) != 0)
    return;
  if (get_name != NULL)
    get_name (device, name, sizeof name);
  if (!read_memory (device, &memory))
    memory.total = memory.free = 0;
  printf ("device %04x:%02x:%02x.0 %llu %llu %s\n", pci.domain, pci.bus, pci.device, memory.total, memory.free, name);
}

static void *
open_library (void)
{
  static const char * const names[] = { "/usr/lib/wsl/lib/libnvidia-ml.so.1", "libnvidia-ml.so.1", "libnvidia-ml.so" };
  const char *given = getenv ("QM_NVML_LIBRARY");
  void *opened = NULL;

  if (given != NULL)
    return dlopen (given, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < sizeof names / sizeof names[0] && opened == NULL; i++)
    opened = dlopen (names[i], RTLD_NOW | RTLD_LOCAL);

  return opened;
}

static int
fail (int code)
{
  const char *(*describe) (int) = dlsym (library, "nvmlErrorString");

  printf ("error %d %s\n", code, describe != NULL ? describe (code) : "");
  return 0;
}

int
main (void)
{
  int (*start) (void);
  int (*stop) (void);
  int (*count) (unsigned int *);
  int (*get) (unsigned int, Device *);
  int (*get_version) (char *, unsigned int);
  char version[96] = "";
  unsigned int n = 0;
  int code;

  library = open_library ();
  if (library == NULL)
    {
      printf ("error -1 no driver library\n");
      return 0;
    }

  start = find ("nvmlInit_v2", "nvmlInit");
  stop = dlsym (library, "nvmlShutdown");
  count = find ("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
  get = find ("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
  get_version = dlsym (library, "nvmlSystemGetDriverVersion");
  if (start == NULL || count == NULL || get == NULL)
    {
      printf ("error -2 the driver library lacks what it must have\n");
      return 0;
    }
  if ((code = start ()) != 0)
    return fail (code);

  if (get_version != NULL && get_version (version, sizeof version) == 0)
    printf ("driver %s\n", version);
  code = count (&n);
  for (unsigned int i = 0; code == 0 && i < n && i < 1024; i++)
    {
      Device device;

      if (get (i, &device) == 0)
        print_device (device);
    }
  if (stop != NULL)
    stop ();

  return code != 0 ? fail (code) : 0;
}
