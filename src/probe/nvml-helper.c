/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Asks the NVIDIA driver what it knows, in a process of its own: a driver that
 * hangs or crashes takes nobody with it. Prints lines of words, the name to the
 * end of the line:
 *   driver VERSION
 *   device ADDRESS PCI-ID CODE TOTAL FREE NAME
 *   instance ADDRESS INDEX CODE TOTAL FREE NAME
 *   limit ADDRESS WATTS
 *   split ADDRESS
 *   error CODE TEXT
 *   done
 * With the argument --watch MILLISECONDS it goes on, and prints for each device
 * and then "end":
 *   sample ADDRESS BUSY MEMORY-BUSY USED TOTAL POWER LIMIT TEMPERATURE CLOCK MOST REASONS RECEIVED SENT
 * in shares, bytes, watts, degrees, hertz, NVML's bits and bytes a second; "nan"
 * where the driver does not say.
 * CODE is what reading the memory returned, 0 where TOTAL and FREE count. A
 * device that is split has instances, and what its own line says is not to be
 * had as a whole. */

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* nvmlReturn_t */
#define ERROR_NOT_SUPPORTED 3

/* faults that NVML has no number for */
#define ERROR_NO_LIBRARY    (-1)
#define ERROR_LACKS_SYMBOLS (-2)

static void *library;

static void *
find (const char *newest,
      const char *older)
{
  void *symbol = dlsym (library, newest);

  return symbol != NULL || older == NULL ? symbol : dlsym (library, older);
}

/* Some systems on a chip answer with success and nonsense. */
static int
is_sane (unsigned long long total,
         unsigned long long free_bytes)
{
  return total > 0 && total < (1ull << 50) && free_bytes <= total;
}

static int
read_memory (Device  device,
             Memory *memory)
{
  int (*get2) (Device, Memory2 *) = dlsym (library, "nvmlDeviceGetMemoryInfo_v2");
  int (*get) (Device, Memory *) = dlsym (library, "nvmlDeviceGetMemoryInfo");
  Memory2 memory2 = { 0 };
  int code = ERROR_NOT_SUPPORTED;

  memory2.version = MEMORY2_VERSION;
  if (get2 != NULL && (code = get2 (device, &memory2)) == 0)
    {
      memory->total = memory2.total;
      memory->free = memory2.free;
    }
  else if (get != NULL)
    code = get (device, memory);

  return code != 0 || is_sane (memory->total, memory->free) ? code : ERROR_NOT_SUPPORTED;
}

static void
print_memory_and_name (Device device)
{
  int (*get_name) (Device, char *, unsigned int) = dlsym (library, "nvmlDeviceGetName");
  Memory memory = { 0 };
  char name[97] = "";
  int code = read_memory (device, &memory);

  if (get_name == NULL || get_name (device, name, sizeof name - 1) != 0)
    name[0] = '\0';
  for (char *c = name; *c != '\0'; c++)
    if ((unsigned char) *c < ' ')
      *c = ' ';
  if (code != 0)
    memory.total = memory.free = 0;
  printf ("%d %llu %llu %s\n", code, memory.total, memory.free, name);
}

static double
read_number (const char *name,
             Device      device)
{
  int (*get) (Device, unsigned int *) = dlsym (library, name);
  unsigned int value = 0;

  return get != NULL && get (device, &value) == 0 ? value : NAN;
}

static void
print_instances (Device         device,
                 const PciInfo *pci)
{
  int (*get_mode) (Device, unsigned int *, unsigned int *) = dlsym (library, "nvmlDeviceGetMigMode");
  int (*get_most) (Device, unsigned int *) = dlsym (library, "nvmlDeviceGetMaxMigDeviceCount");
  int (*get_instance) (Device, unsigned int, Device *) = dlsym (library, "nvmlDeviceGetMigDeviceHandleByIndex");
  unsigned int mode = 0, pending = 0, most = 0;

  if (get_mode == NULL || get_most == NULL || get_instance == NULL)
    return;
  if (get_mode (device, &mode, &pending) != 0 || mode != 1 || get_most (device, &most) != 0)
    return;

  printf ("split %x:%x:%x.0\n", pci->domain, pci->bus, pci->device);
  for (unsigned int i = 0; i < most && i < 64; i++)
    {
      Device instance;

      if (get_instance (device, i, &instance) != 0)
        continue;
      printf ("instance %x:%x:%x.0 %u ", pci->domain, pci->bus, pci->device, i);
      print_memory_and_name (instance);
    }
}

static void
print_device (Device device)
{
  int (*get_pci) (Device, PciInfo *) = find ("nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2");
  PciInfo pci = { 0 };
  double limit;

  if (get_pci == NULL || get_pci (device, &pci) != 0)
    return;
  printf ("device %04x:%02x:%02x.0 %04x:%04x ", pci.domain, pci.bus, pci.device, pci.pci_device_id & 0xffff,
          pci.pci_device_id >> 16);
  print_memory_and_name (device);
  limit = read_number ("nvmlDeviceGetEnforcedPowerLimit", device) / 1e3;
  if (limit > 0)
    printf ("limit %x:%x:%x.0 %g\n", pci.domain, pci.bus, pci.device, limit);
  print_instances (device, &pci);
}

/* ------------------------------------------------------------------------- watching */

typedef struct {
  unsigned int gpu, memory;         /* percent */
} Utilization;

/* nvml.h */
#define TEMPERATURE_GPU 0
#define CLOCK_SM        1
#define PCIE_SENT       0
#define PCIE_RECEIVED   1

/* Milliseconds between two looks; 0: one look at what there is. */
static long watching;

static double
read_numbered (const char *name,
               Device      device,
               int         which)
{
  int (*get) (Device, int, unsigned int *) = dlsym (library, name);
  unsigned int value = 0;

  return get != NULL && get (device, which, &value) == 0 ? value : NAN;
}

static double
read_reasons (Device device)
{
  int (*get) (Device, unsigned long long *) =
    find ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons");
  unsigned long long reasons = 0;

  return get != NULL && get (device, &reasons) == 0 ? (double) reasons : NAN;
}

static void
print_sample (Device device)
{
  int (*get_pci) (Device, PciInfo *) = find ("nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2");
  int (*get_use) (Device, Utilization *) = dlsym (library, "nvmlDeviceGetUtilizationRates");
  PciInfo pci = { 0 };
  Utilization use = { 0 };
  Memory memory = { 0 };
  int has_use = get_use != NULL && get_use (device, &use) == 0;
  int has_memory = read_memory (device, &memory) == 0;

  if (get_pci == NULL || get_pci (device, &pci) != 0)
    return;
  printf ("sample %04x:%02x:%02x.0 %g %g %.17g %.17g %g %g %g %g %g %.17g %g %g\n", pci.domain, pci.bus, pci.device,
          has_use ? use.gpu / 100.0 : NAN, has_use ? use.memory / 100.0 : NAN, has_memory ? (double) (memory.total - memory.free) : NAN,
          has_memory ? (double) memory.total : NAN, read_number ("nvmlDeviceGetPowerUsage", device) / 1e3,
          read_number ("nvmlDeviceGetEnforcedPowerLimit", device) / 1e3, read_numbered ("nvmlDeviceGetTemperature", device, TEMPERATURE_GPU),
          read_numbered ("nvmlDeviceGetClockInfo", device, CLOCK_SM) * 1e6, read_numbered ("nvmlDeviceGetMaxClockInfo", device, CLOCK_SM) * 1e6,
          read_reasons (device), read_numbered ("nvmlDeviceGetPcieThroughput", device, PCIE_RECEIVED) * 1024,
          read_numbered ("nvmlDeviceGetPcieThroughput", device, PCIE_SENT) * 1024);
}

/* Until the reader goes away, which ends the process. */
static void
watch (Device       *devices,
       unsigned int  n)
{
  const struct timespec pause = { watching / 1000, watching % 1000 * 1000000 };

  for (;;)
    {
      for (unsigned int i = 0; i < n; i++)
        print_sample (devices[i]);
      printf ("end\n");
      if (fflush (stdout) != 0)
        return;
      nanosleep (&pause, NULL);
    }
}

/* A driver that hangs never writes, and so would never learn that nobody reads.
 * The death of the parent tells nothing: it is not the reader, or a thread of it. */
static void *
end_with_reader (void *nothing)
{
  struct pollfd output = { STDOUT_FILENO, 0, 0 };

  while (poll (&output, 1, -1) < 0 && errno == EINTR)
    ;
  if ((output.revents & (POLLERR | POLLHUP)) != 0)
    _exit (EXIT_FAILURE);

  return nothing;
}

static int
fail (int code)
{
  const char *(*describe) (int) = code >= 0 && library != NULL ? dlsym (library, "nvmlErrorString") : NULL;

  printf ("error %d %s\n", code, describe != NULL ? describe (code) : "");
  return 0;
}

static int
print_all (void)
{
  int (*count) (unsigned int *) = find ("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
  int (*get) (unsigned int, Device *) = find ("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
  int (*get_version) (char *, unsigned int) = dlsym (library, "nvmlSystemGetDriverVersion");
  char version[97] = "";
  Device devices[64];
  unsigned int n = 0, found = 0;
  int code;

  if (count == NULL || get == NULL)
    return ERROR_LACKS_SYMBOLS;
  if (get_version != NULL && get_version (version, sizeof version - 1) == 0)
    printf ("driver %s\n", version);

  code = count (&n);
  for (unsigned int i = 0; code == 0 && i < n && i < 1024; i++)
    {
      Device device;

      if (get (i, &device) != 0)
        continue;
      if (watching == 0)
        print_device (device);
      else if (found < sizeof devices / sizeof devices[0])
        devices[found++] = device;
    }
  if (found > 0)
    watch (devices, found);

  return code;
}

/* 0 where the library at @name answered. */
static int
try_library (const char *name)
{
  int (*start) (void);
  int (*stop) (void);
  int code;

  library = dlopen (name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return ERROR_NO_LIBRARY;

  start = find ("nvmlInit_v2", "nvmlInit");
  stop = dlsym (library, "nvmlShutdown");
  if (start == NULL)
    return ERROR_LACKS_SYMBOLS;
  code = start ();
  if (code == 0)
    {
      code = print_all ();
      if (stop != NULL)
        stop ();
    }

  return code;
}

/* Some systems have a library of the name that is not the driver's: the first
 * that starts is taken. Where none does, the fault of the first that is there
 * tells most. The environment may name others, apart by colons. */
int
main (int    argc,
      char **argv)
{
  const char *given = getenv ("QM_NVML_LIBRARY");
  char *names = strdup (given != NULL ? given : "/usr/lib/wsl/lib/libnvidia-ml.so.1:libnvidia-ml.so.1:libnvidia-ml.so");
  void *faulty = NULL;
  int fault = ERROR_NO_LIBRARY;
  pthread_t thread;

  if (pthread_create (&thread, NULL, end_with_reader, NULL) == 0)
    pthread_detach (thread);
  /* what was learnt before a driver takes this process with it, counts */
  setvbuf (stdout, NULL, _IOLBF, 0);
  if (argc == 3 && strcmp (argv[1], "--watch") == 0)
    watching = strtol (argv[2], NULL, 10);
  for (char *rest = names, *name = strtok_r (names, ":", &rest); name != NULL; name = strtok_r (NULL, ":", &rest))
    {
      int code = try_library (name);

      if (code == 0)
        {
          printf ("done\n");
          free (names);
          return 0;
        }
      if (library != NULL && faulty == NULL)
        {
          faulty = library;
          fault = code;
        }
    }
  free (names);
  library = faulty;

  return fail (fault);
}
