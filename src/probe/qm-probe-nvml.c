/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "qm-probe-private.h"

/* A driver that has not answered by then hangs. */
#define PATIENCE_MILLISECONDS 2000

/* nvmlReturn_t */
#define ERROR_DRIVER_NOT_LOADED    9
#define ERROR_LIB_RM_VERSION_MISMATCH 18

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

/* What the helper prints; NULL where it does not answer in time. */
static char *
ask_helper (void)
{
  const char *given = g_getenv ("QM_NVML_HELPER");
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GSource) timer = g_timeout_source_new (PATIENCE_MILLISECONDS);
  Wait wait = { 0 };

  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL,
                              given != NULL ? given : QM_LIBEXEC_DIR "/quartermaster-nvml", NULL);
  if (process == NULL)
    return NULL;

  g_main_context_push_thread_default (context);
  wait.loop = g_main_loop_new (context, FALSE);
  g_source_set_callback (timer, too_late, &wait, NULL);
  g_source_attach (timer, context);
  g_subprocess_communicate_utf8_async (process, NULL, cancellable, answered, &wait);
  g_main_loop_run (wait.loop);
  if (wait.late)
    {
      g_subprocess_force_exit (process);
      g_cancellable_cancel (cancellable);
      g_main_loop_run (wait.loop);
      g_clear_pointer (&wait.output, g_free);
    }
  g_source_destroy (timer);
  g_main_loop_unref (wait.loop);
  g_main_context_pop_thread_default (context);

  return wait.output;
}

static QmProbedDevice *
find_device (GPtrArray  *devices,
             const char *address)
{
  for (guint i = 0; i < devices->len; i++)
    {
      QmProbedDevice *device = g_ptr_array_index (devices, i);

      if (g_ascii_strcasecmp (device->id, address) == 0)
        return device;
    }

  return NULL;
}

static void
read_device_line (const char *line,
                  const char *driver,
                  GPtrArray  *devices)
{
  char address[32];
  unsigned long long total, free_bytes;
  int read = 0;
  QmProbedDevice *device;

  if (sscanf (line, "device %31s %llu %llu %n", address, &total, &free_bytes, &read) < 3)
    return;
  device = find_device (devices, address);
  if (device == NULL)
    {
      device = qm_probed_device_new (address);
      device->vendor = g_strdup ("nvidia");
      g_ptr_array_add (devices, device);
    }

  if (read > 0 && line[read] != '\0')
    g_set_str (&device->name, line + read);
  if (driver != NULL)
    {
      g_free (device->driver);
      device->driver = g_strdup_printf ("nvidia %s", driver);
    }
  if (total == 0)
    {
      device->memory_kind = QM_MEMORY_KIND_UNIFIED;
      qm_probed_device_unknown (device, "memory_bytes", _("its driver does not tell; it may share the system memory"));
      return;
    }
  device->memory_kind = QM_MEMORY_KIND_DEDICATED;
  device->memory_bytes = total;
  device->memory_free_bytes = free_bytes;
}

static void
explain_failure (GPtrArray  *devices,
                 int         code,
                 const char *text)
{
  const char *reason = code == ERROR_LIB_RM_VERSION_MISMATCH ? _("the driver in the kernel and its library differ")
                       : code == ERROR_DRIVER_NOT_LOADED ? _("the NVIDIA driver is not loaded")
                       : code == -1 ? _("the NVIDIA driver library is not there") : text;
  const char *remedy = code == ERROR_LIB_RM_VERSION_MISMATCH ? _("Restart the computer: its driver was updated. In a Flatpak, run “flatpak update”.")
                       : code == -1 || code == ERROR_DRIVER_NOT_LOADED ? _("Install or load NVIDIA's driver to measure this card.") : NULL;

  for (guint i = 0; i < devices->len; i++)
    {
      QmProbedDevice *device = g_ptr_array_index (devices, i);

      if (g_strcmp0 (device->vendor, "nvidia") != 0 || device->suspended)
        continue;
      qm_probed_device_unknown (device, "memory_bytes", reason);
      g_set_str (&device->remedy, remedy);
    }
}

static gboolean
worth_asking (const char *root,
              GPtrArray  *devices)
{
  gboolean any = FALSE, awake = FALSE;

  /* A captured tree has no driver, unless a test brings one. */
  if (root[0] != '\0' && g_getenv ("QM_NVML_LIBRARY") == NULL)
    return FALSE;

  for (guint i = 0; i < devices->len; i++)
    {
      const QmProbedDevice *device = g_ptr_array_index (devices, i);

      if (g_strcmp0 (device->vendor, "nvidia") != 0)
        continue;
      any = TRUE;
      awake = awake || !device->suspended;
    }

  /* Asking wakes every card: not while one of them sleeps. WSL shows none at all. */
  return any ? awake : g_file_test ("/dev/dxg", G_FILE_TEST_EXISTS) || g_file_test ("/dev/nvidiactl", G_FILE_TEST_EXISTS);
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
  g_autofree char *driver = NULL;
  g_auto (GStrv) lines = NULL;

  if (!worth_asking (root, devices))
    return;

  output = ask_helper ();
  if (output == NULL)
    {
      explain_failure (devices, 0, _("the NVIDIA driver does not answer"));
      return;
    }

  lines = g_strsplit (output, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *rest;

      if (g_str_has_prefix (lines[i], "driver "))
        g_set_str (&driver, lines[i] + strlen ("driver "));
      else if (g_str_has_prefix (lines[i], "device "))
        read_device_line (lines[i], driver, devices);
      else if (g_str_has_prefix (lines[i], "error "))
        {
          int code = (int) g_ascii_strtoll (lines[i] + strlen ("error "), &rest, 10);

          explain_failure (devices, code, g_strchug (rest));
        }
    }
}
