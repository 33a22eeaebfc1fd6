/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Stands in for NVIDIA's libnvidia-ml.so.1. The key file that the environment
 * names in QM_TEST_NVML says what it answers; the layouts are those of nvml.h:
 *
 *   [driver]             version, init (a return code), hang, trace (a file that
 *                        is written as soon as the driver is started), crash-at
 *                        (the number of a device)
 *   [device N]           domain, bus, device, id ("10de:2684"), name, memory (a
 *                        return code), total-mib, free-mib, instances; when it is
 *                        watched, each not supported where it is missing: busy,
 *                        memory-busy, milliwatts, limit-milliwatts, celsius, mhz,
 *                        most-mhz, reasons, received-kib, sent-kib; KEY-swing is
 *                        how far KEY goes up and down
 *   [device N instance M]  name, memory, total-mib, free-mib
 *
 * STUB_OLD leaves out what drivers of the 390 series lacked, STUB_BARE all but
 * the start; STUB_FOREIGN is a library of the name that is not the driver's. The
 * list of processes, whose layout changed under one name, ends the process. */

#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, LIBRARY_NOT_FOUND = 12, ARGUMENT_VERSION_MISMATCH = 25 };

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

int nvmlInit_v2 (void);
int nvmlShutdown (void);
const char *nvmlErrorString (int code);
int nvmlSystemGetDriverVersion (char *version, unsigned int length);
int nvmlDeviceGetCount_v2 (unsigned int *count);
int nvmlDeviceGetHandleByIndex_v2 (unsigned int index, void **device);
int nvmlDeviceGetPciInfo_v2 (void *device, PciInfo *pci);
int nvmlDeviceGetPciInfo_v3 (void *device, PciInfo *pci);
int nvmlDeviceGetName (void *device, char *name, unsigned int length);
int nvmlDeviceGetMemoryInfo (void *device, Memory *memory);
int nvmlDeviceGetMemoryInfo_v2 (void *device, Memory2 *memory);
int nvmlDeviceGetComputeRunningProcesses_v3 (void *device);
int nvmlDeviceGetGraphicsRunningProcesses_v3 (void *device);
int nvmlDeviceGetMigMode (void *device, unsigned int *current, unsigned int *pending);
int nvmlDeviceGetMaxMigDeviceCount (void *device, unsigned int *count);
int nvmlDeviceGetMigDeviceHandleByIndex (void *device, unsigned int index, void **instance);

static GKeyFile *script;

#define MIB (1024ull * 1024)

/* A handle is the name of its group. */
static int
number (const void *device,
        const char *key)
{
  return g_key_file_get_integer (script, device, key, NULL);
}

int
nvmlInit_v2 (void)
{
  g_autofree char *trace = NULL;

  script = g_key_file_new ();
  if (!g_key_file_load_from_file (script, g_getenv ("QM_TEST_NVML"), G_KEY_FILE_NONE, NULL))
    return NOT_FOUND;

  trace = g_key_file_get_string (script, "driver", "trace", NULL);
  if (trace != NULL)
    g_file_set_contents (trace, "", 0, NULL);
  while (g_key_file_get_boolean (script, "driver", "hang", NULL))
    pause ();

#ifdef STUB_FOREIGN
  return LIBRARY_NOT_FOUND;
#else
  return number ("driver", "init");
#endif
}

int
nvmlShutdown (void)
{
  return SUCCESS;
}

const char *
nvmlErrorString (int code)
{
  return code == 999 ? "Unknown Error" : "fault";
}

#ifndef STUB_BARE
int
nvmlDeviceGetComputeRunningProcesses_v3 (void *device)
{
  abort ();
}

int
nvmlDeviceGetGraphicsRunningProcesses_v3 (void *device)
{
  abort ();
}

static int
copy (const char   *group,
      const char   *key,
      char         *to,
      unsigned int  length)
{
  g_autofree char *text = g_key_file_get_string (script, group, key, NULL);

  if (text == NULL)
    return NOT_SUPPORTED;
  g_strlcpy (to, text, length);

  return SUCCESS;
}

int
nvmlSystemGetDriverVersion (char         *version,
                            unsigned int  length)
{
  return copy ("driver", "version", version, length);
}

int
nvmlDeviceGetCount_v2 (unsigned int *count)
{
  g_auto (GStrv) groups = g_key_file_get_groups (script, NULL);

  *count = 0;
  for (guint i = 0; groups[i] != NULL; i++)
    if (g_str_has_prefix (groups[i], "device ") && strstr (groups[i], "instance") == NULL)
      (*count)++;

  return SUCCESS;
}

int
nvmlDeviceGetHandleByIndex_v2 (unsigned int   index,
                               void         **device)
{
  g_autofree char *group = g_strdup_printf ("device %u", index);

  if (g_key_file_has_key (script, "driver", "crash-at", NULL) && number ("driver", "crash-at") == (int) index)
    raise (SIGKILL);
  *device = (void *) g_intern_string (group);
  return g_key_file_has_group (script, group) ? SUCCESS : INVALID_ARGUMENT;
}

static void
fill_pci (void    *device,
          PciInfo *pci)
{
  g_autofree char *id = g_key_file_get_string (script, device, "id", NULL);
  guint64 vendor = g_ascii_strtoull (id, NULL, 16), model = g_ascii_strtoull (id + 5, NULL, 16);

  pci->domain = number (device, "domain");
  pci->bus = number (device, "bus");
  pci->device = number (device, "device");
  pci->pci_device_id = (unsigned int) (model << 16 | vendor);
}

#ifdef STUB_OLD
int
nvmlDeviceGetPciInfo_v2 (void    *device,
                         PciInfo *pci)
{
  fill_pci (device, pci);
  return SUCCESS;
}
#else
int
nvmlDeviceGetPciInfo_v3 (void    *device,
                         PciInfo *pci)
{
  fill_pci (device, pci);
  g_snprintf (pci->bus_id, sizeof pci->bus_id, "%08X:%02X:%02X.0", pci->domain, pci->bus, pci->device);
  return SUCCESS;
}

int
nvmlDeviceGetMemoryInfo_v2 (void    *device,
                            Memory2 *memory)
{
  /* nvmlMemory_v2: the size of the structure and its version */
  if (memory->version != 0x02000028)
    return ARGUMENT_VERSION_MISMATCH;

  memory->total = number (device, "total-mib") * MIB;
  memory->free = number (device, "free-mib") * MIB;
  return number (device, "memory");
}

int
nvmlDeviceGetMigMode (void         *device,
                      unsigned int *current,
                      unsigned int *pending)
{
  if (!g_key_file_has_key (script, device, "instances", NULL))
    return NOT_SUPPORTED;

  *current = *pending = 1;
  return SUCCESS;
}

int
nvmlDeviceGetMaxMigDeviceCount (void         *device,
                                unsigned int *count)
{
  *count = 7;
  return SUCCESS;
}

int
nvmlDeviceGetMigDeviceHandleByIndex (void          *device,
                                     unsigned int   index,
                                     void         **instance)
{
  g_autofree char *group = g_strdup_printf ("%s instance %u", (char *) device, index);

  *instance = (void *) g_intern_string (group);
  return g_key_file_has_group (script, group) ? SUCCESS : NOT_FOUND;
}
#endif

typedef struct {
  unsigned int gpu, memory;
} Utilization;

int nvmlDeviceGetUtilizationRates (void *device, Utilization *use);
int nvmlDeviceGetPowerUsage (void *device, unsigned int *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit (void *device, unsigned int *milliwatts);
int nvmlDeviceGetTemperature (void *device, int sensor, unsigned int *celsius);
int nvmlDeviceGetClockInfo (void *device, int clock, unsigned int *mhz);
int nvmlDeviceGetMaxClockInfo (void *device, int clock, unsigned int *mhz);
int nvmlDeviceGetCurrentClocksThrottleReasons (void *device, unsigned long long *reasons);
int nvmlDeviceGetPcieThroughput (void *device, int way, unsigned int *kib);

/* For pictures of a card at work: up and down every 15 seconds. */
static int
swing (const void *device,
       const char *key)
{
  g_autofree char *name = g_strconcat (key, "-swing", NULL);
  gint64 second = g_get_monotonic_time () / G_TIME_SPAN_SECOND % 15;

  return second < 8 ? number (device, name) : -number (device, name);
}

static int
read_key (const void   *device,
          const char   *key,
          unsigned int *value)
{
  if (!g_key_file_has_key (script, device, key, NULL))
    return NOT_SUPPORTED;

  *value = (unsigned int) MAX (0, number (device, key) + swing (device, key));
  return SUCCESS;
}

int
nvmlDeviceGetUtilizationRates (void        *device,
                               Utilization *use)
{
  return read_key (device, "busy", &use->gpu) == SUCCESS ? read_key (device, "memory-busy", &use->memory) : NOT_SUPPORTED;
}

int
nvmlDeviceGetPowerUsage (void         *device,
                         unsigned int *milliwatts)
{
  return read_key (device, "milliwatts", milliwatts);
}

int
nvmlDeviceGetEnforcedPowerLimit (void         *device,
                                 unsigned int *milliwatts)
{
  return read_key (device, "limit-milliwatts", milliwatts);
}

int
nvmlDeviceGetTemperature (void         *device,
                          int           sensor,
                          unsigned int *celsius)
{
  return sensor == 0 ? read_key (device, "celsius", celsius) : INVALID_ARGUMENT;
}

int
nvmlDeviceGetClockInfo (void         *device,
                        int           clock,
                        unsigned int *mhz)
{
  return clock == 1 ? read_key (device, "mhz", mhz) : INVALID_ARGUMENT;
}

int
nvmlDeviceGetMaxClockInfo (void         *device,
                           int           clock,
                           unsigned int *mhz)
{
  return clock == 1 ? read_key (device, "most-mhz", mhz) : INVALID_ARGUMENT;
}

int
nvmlDeviceGetCurrentClocksThrottleReasons (void               *device,
                                           unsigned long long *reasons)
{
  unsigned int bits = 0;
  int code = read_key (device, "reasons", &bits);

  *reasons = bits;
  return code;
}

int
nvmlDeviceGetPcieThroughput (void         *device,
                             int           way,
                             unsigned int *kib)
{
  return read_key (device, way == 0 ? "sent-kib" : "received-kib", kib);
}

int
nvmlDeviceGetName (void         *device,
                   char         *name,
                   unsigned int  length)
{
  return copy (device, "name", name, length);
}

int
nvmlDeviceGetMemoryInfo (void   *device,
                         Memory *memory)
{
  memory->total = number (device, "total-mib") * MIB;
  memory->free = number (device, "free-mib") * MIB;
  memory->used = memory->total - memory->free;
  return number (device, "memory");
}
#endif
