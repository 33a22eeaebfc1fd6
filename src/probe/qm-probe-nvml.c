/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "qm-probe-private.h"

/* A driver that has not answered by then hangs. */
#define PATIENCE_MILLISECONDS 2000

/* nvmlReturn_t */
#define ERROR_NOT_SUPPORTED            3
#define ERROR_NO_PERMISSION            4
#define ERROR_DRIVER_NOT_LOADED        9
#define ERROR_GPU_IS_LOST             15
#define ERROR_LIB_RM_VERSION_MISMATCH 18

/* what the helper adds to them */
#define ERROR_NO_LIBRARY    (-1)
#define ERROR_LACKS_SYMBOLS (-2)

typedef struct {
  GMainLoop *loop;
  char *output;
  gboolean late;
} Wait;

static void
answered (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  Wait *wait = data;

  g_subprocess_communicate_utf8_finish (G_SUBPROCESS (source), result, &wait->output, NULL, NULL);
  g_main_loop_quit (wait->loop);
}

static gboolean
too_late (gpointer data)
{
  Wait *wait = data;

  wait->late = TRUE;
  g_main_loop_quit (wait->loop);
  return G_SOURCE_REMOVE;
}

static void
cancelled (GCancellable *outer,
           gpointer      inner)
{
  g_cancellable_cancel (inner);
}

/* What the helper prints; NULL where it does not answer in time. */
static char *
ask_helper (GCancellable *cancellable)
{
  const char *given = g_getenv ("QM_NVML_HELPER");
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GCancellable) inner = g_cancellable_new ();
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GSource) timer = g_timeout_source_new (PATIENCE_MILLISECONDS);
  Wait wait = { 0 };
  gulong chained = 0;

  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL,
                              given != NULL ? given : QM_LIBEXEC_DIR "/quartermaster-nvml", NULL);
  if (process == NULL)
    return NULL;

  g_main_context_push_thread_default (context);
  wait.loop = g_main_loop_new (context, FALSE);
  g_source_set_callback (timer, too_late, &wait, NULL);
  g_source_attach (timer, context);
  if (cancellable != NULL)
    chained = g_cancellable_connect (cancellable, G_CALLBACK (cancelled), g_object_ref (inner), g_object_unref);
  g_subprocess_communicate_utf8_async (process, NULL, inner, answered, &wait);
  g_main_loop_run (wait.loop);
  if (wait.late)
    {
      g_cancellable_cancel (inner);
      g_main_loop_run (wait.loop);
      g_clear_pointer (&wait.output, g_free);
    }
  g_subprocess_force_exit (process);
  g_cancellable_disconnect (cancellable, chained);
  g_source_destroy (timer);
  g_main_loop_unref (wait.loop);
  g_main_context_pop_thread_default (context);

  return wait.output;
}

static gboolean
is_of_nvidia (const QmProbedDevice *device)
{
  return g_strcmp0 (device->vendor, "nvidia") == 0 && device->pci_id != NULL;
}

static QmProbedDevice *
find_device (GPtrArray  *devices,
             const char *address)
{
  for (guint i = 0; i < devices->len; i++)
    {
      QmProbedDevice *device = g_ptr_array_index (devices, i);

      if (qm_pci_address_equal (device->id, address))
        return device;
    }

  return NULL;
}

static void
take_memory (QmProbedDevice *device,
             int             code,
             double          total,
             double          free_bytes)
{
  if (code == 0)
    {
      device->memory_kind = QM_MEMORY_KIND_DEDICATED;
      device->memory_bytes = total;
      device->memory_free_bytes = free_bytes;
      return;
    }

  qm_probed_device_unknown (device, "memory_bytes",
                            code == ERROR_NO_PERMISSION ? _("its driver does not allow it to be read")
                            : code == ERROR_GPU_IS_LOST ? _("its driver has lost it")
                                                        : _("its driver does not tell; it may share the system memory"));
  if (code == ERROR_GPU_IS_LOST)
    g_set_str (&device->remedy, _("Restart the computer: the card no longer answers."));
}

static void
read_device (const char *line,
             const char *driver,
             GPtrArray  *devices)
{
  char address[32], pci_id[16];
  double total, free_bytes;
  int code, end = 0;
  QmProbedDevice *device;

  if (sscanf (line, "device %31s %15s %d %lf %lf %n", address, pci_id, &code, &total, &free_bytes, &end) < 5 || end == 0)
    return;

  device = find_device (devices, address);
  if (device == NULL)
    {
      device = qm_probed_device_new (address);
      device->vendor = g_strdup ("nvidia");
      device->pci_id = g_strdup (pci_id);
      g_ptr_array_add (devices, device);
    }
  if (line[end] != '\0')
    g_set_str (&device->name, line + end);
  g_free (device->driver);
  device->driver = driver != NULL ? g_strdup_printf ("nvidia %s", driver) : g_strdup ("nvidia");
  take_memory (device, code, total, free_bytes);
}

/* Instances stand beside the card they are cut from. */
static void
read_instance (const char *line,
               GPtrArray  *devices)
{
  char address[32];
  double total, free_bytes;
  int index, code, end = 0;
  QmProbedDevice *whole, *part;
  g_autofree char *id = NULL;

  if (sscanf (line, "instance %31s %d %d %lf %lf %n", address, &index, &code, &total, &free_bytes, &end) < 5 || end == 0)
    return;
  whole = find_device (devices, address);
  if (whole == NULL)
    return;

  id = g_strdup_printf ("%s/%d", whole->id, index);
  part = qm_probed_device_new (id);
  part->vendor = g_strdup (whole->vendor);
  part->pci_id = g_strdup (whole->pci_id);
  part->driver = g_strdup (whole->driver);
  part->link = g_strdup (whole->link);
  part->name = g_strdup (line[end] != '\0' ? line + end : whole->name);
  take_memory (part, code, total, free_bytes);
  g_ptr_array_add (devices, part);
}

static void
read_limit (const char *line,
            GPtrArray  *devices)
{
  char address[32];
  int end = 0;
  QmProbedDevice *device;

  if (sscanf (line, "limit %31s %n", address, &end) == 1 && (device = find_device (devices, address)) != NULL)
    qm_probed_device_set_power_limit (device, g_ascii_strtod (line + end, NULL));
}

/* A card that is split cannot be used as a whole. */
static void
read_split (const char *line,
            GPtrArray  *devices)
{
  QmProbedDevice *whole = find_device (devices, line + strlen ("split "));

  if (whole == NULL)
    return;
  whole->memory_bytes = whole->memory_free_bytes = 0;
  whole->memory_kind = QM_MEMORY_KIND_UNKNOWN;
  qm_probed_device_unknown (whole, "memory_bytes", _("it is split into instances, which are listed apart"));
}

static const char *
reason_of (int         code,
           const char *text)
{
  switch (code)
    {
    case ERROR_LIB_RM_VERSION_MISMATCH:
      return _("the driver in the kernel and its library differ");
    case ERROR_DRIVER_NOT_LOADED:
      return _("the NVIDIA driver is not loaded");
    case ERROR_NO_LIBRARY:
      return _("the NVIDIA driver library is not there");
    case ERROR_LACKS_SYMBOLS:
      return _("the NVIDIA driver library lacks what it must have");
    default:
      return text[0] != '\0' ? text : _("the NVIDIA driver does not answer");
    }
}

/* A sandbox brings the library of the driver's version, once that is installed. */
static const char *
remedy_of (int         code,
           const char *root)
{
  gboolean is_flatpak = qm_machine_is_flatpak (root);

  switch (code)
    {
    case ERROR_LIB_RM_VERSION_MISMATCH:
      return is_flatpak ? _("Run “flatpak update”; if that does not help, restart the computer, whose driver was updated.")
                        : _("Restart the computer: its driver was updated.");
    case ERROR_NO_LIBRARY:
      if (is_flatpak)
        return _("Run “flatpak update”, which installs what the sandbox needs of NVIDIA's driver.");
      G_GNUC_FALLTHROUGH;
    case ERROR_DRIVER_NOT_LOADED:
      return _("Install or load NVIDIA's driver to measure this card.");
    default:
      return NULL;
    }
}

static gboolean
has_answered (const QmProbedDevice *device)
{
  return device->memory_bytes > 0 || qm_probed_device_is_unknown (device, "memory_bytes");
}

/* Those that nothing was learnt of, and why. */
static void
explain (GPtrArray  *devices,
         const char *reason,
         const char *remedy)
{
  for (guint i = 0; i < devices->len; i++)
    {
      QmProbedDevice *device = g_ptr_array_index (devices, i);

      if (!is_of_nvidia (device) || has_answered (device))
        continue;
      qm_probed_device_unknown (device, "memory_bytes", reason);
      g_set_str (&device->remedy, remedy);
    }
}

/* Drivers that know nothing of NVML. */
static void
explain_other_drivers (const char *root,
                       GPtrArray  *devices)
{
  for (guint i = 0; i < devices->len; i++)
    {
      QmProbedDevice *device = g_ptr_array_index (devices, i);

      if (!is_of_nvidia (device) || has_answered (device) || g_strcmp0 (device->driver, "nvidia") == 0)
        continue;
      if (g_strcmp0 (device->driver, "vfio-pci") == 0)
        continue;
      qm_probed_device_unknown (device, "memory_bytes",
                                device->driver != NULL ? _("its driver does not tell") : _("no driver is loaded for it"));
      g_set_str (&device->remedy, remedy_of (ERROR_DRIVER_NOT_LOADED, root));
    }
}

typedef enum {
  ASK_NOT,
  ASK_SLEEPING,
  ASK,
} Worth;

static Worth
worth_asking (const char *root,
              GPtrArray  *devices)
{
  gboolean any = FALSE, awake = FALSE, asleep = FALSE;

  /* A captured tree has no driver, unless a test brings one. */
  if (root[0] != '\0' && g_getenv ("QM_NVML_LIBRARY") == NULL)
    return ASK_NOT;

  for (guint i = 0; i < devices->len; i++)
    {
      const QmProbedDevice *device = g_ptr_array_index (devices, i);

      if (!is_of_nvidia (device))
        continue;
      any = TRUE;
      awake = awake || (!device->suspended && g_strcmp0 (device->driver, "nvidia") == 0);
      asleep = asleep || device->suspended;
    }

  /* Asking wakes every card: not while one of them sleeps. */
  if (any)
    return !awake ? ASK_NOT : asleep ? ASK_SLEEPING : ASK;

  /* WSL shows no PCI device. */
  return qm_tree_has (root, "/dev", "dxg") ? ASK : ASK_NOT;
}

static void
read_answer (const char *root,
             const char *output,
             GPtrArray  *devices)
{
  g_auto (GStrv) lines = g_strsplit (output, "\n", -1);
  const char *driver = NULL;
  gboolean done = FALSE;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *text;

      if (g_str_has_prefix (lines[i], "driver "))
        driver = lines[i] + strlen ("driver ");
      else if (g_str_has_prefix (lines[i], "device "))
        read_device (lines[i], driver, devices);
      else if (g_str_has_prefix (lines[i], "limit "))
        read_limit (lines[i], devices);
      else if (g_str_has_prefix (lines[i], "split "))
        read_split (lines[i], devices);
      else if (g_str_has_prefix (lines[i], "instance "))
        read_instance (lines[i], devices);
      else if (g_str_equal (lines[i], "done"))
        done = TRUE;
      else if (g_str_has_prefix (lines[i], "error "))
        {
          int code = (int) g_ascii_strtoll (lines[i] + strlen ("error "), &text, 10);

          explain (devices, reason_of (code, g_strchug (text)), remedy_of (code, root));
        }
    }
  explain (devices, done ? _("the NVIDIA driver does not list it") : _("the NVIDIA driver does not answer"), NULL);
}

/**
 * qm_probe_nvml:
 * @root: the root of the tree
 * @devices: (element-type QmProbedDevice): NVIDIA's get names and memory
 * @cancellable: (nullable): a #GCancellable
 *
 * Asks NVIDIA's driver by a helper process, for two seconds at most, and joins
 * what it says by PCI address.
 */
void
qm_probe_nvml (const char   *root,
               GPtrArray    *devices,
               GCancellable *cancellable)
{
  g_autofree char *output = NULL;

  explain_other_drivers (root, devices);
  switch (worth_asking (root, devices))
    {
    case ASK_NOT:
      return;
    case ASK_SLEEPING:
      explain (devices, _("asking its driver would wake another card, which is asleep"), NULL);
      return;
    case ASK:
    default:
      break;
    }

  output = ask_helper (cancellable);
  if (output != NULL)
    read_answer (root, output, devices);
  else
    explain (devices, _("the NVIDIA driver does not answer"), NULL);
}
