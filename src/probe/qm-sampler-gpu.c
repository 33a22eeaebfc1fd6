/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-sampler-private.h"

#include <errno.h>
#include <glib-unix.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "history/qm-channels.h"
#include "qm-probe-private.h"

const char * const qm_gpu_channels[N_GPU_CHANNELS] = {
  QM_CHANNEL_GPU_BUSY, QM_CHANNEL_GPU_MEMORY_BUSY, QM_CHANNEL_GPU_MEMORY, QM_CHANNEL_GPU_MEMORY_TOTAL, QM_CHANNEL_GPU_POWER,
  QM_CHANNEL_GPU_POWER_LIMIT, QM_CHANNEL_GPU_TEMPERATURE, QM_CHANNEL_GPU_CLOCK, QM_CHANNEL_GPU_CLOCK_MOST, QM_CHANNEL_GPU_THROTTLED,
  QM_CHANNEL_GPU_PCIE_RECEIVE, QM_CHANNEL_GPU_PCIE_SEND,
};

/* An answer as old as so many intervals is none any more. */
#define STALE 3

/* After a silence it is asked anew, by another process: a driver may have been
 * lost and come back. */
#define RESTART_SECONDS 30

/* A card that sleeps when nobody uses it is kept awake by being asked. Where it
 * has been idle for so long, it is left alone for so long, and looked at again if
 * it is still awake then. */
#define IDLE_SECONDS 10
#define REST_SECONDS 30
#define IDLE_SHARE   0.02f

/* A line of the helper. */
#define LONGEST_LINE 512

typedef struct {
  char *id;                         /* PCI address */
  gboolean nvidia;
  gboolean drives;                  /* NVIDIA: by the driver that can be asked */
  gboolean may_sleep;               /* when nobody uses it, and no screen hangs on it */
  char *folder;                     /* of the device in sysfs */
  char *sensors;                    /* AMD: of its hwmon; NULL none */
  gint64 updated;                   /* NVIDIA: when the helper last spoke of it */
  gint64 busy;                      /* when it last was */
  float values[N_GPU_CHANNELS];
} Gpu;

struct _QmGpuSampler {
  const char *root;
  double interval;
  GPtrArray *gpus;                  /* of Gpu */
  gboolean ask;                     /* NVIDIA's driver may be asked at all */
  gboolean gentle;                  /* a card that idles is left to fall asleep */
  gint64 rest_until;
  int pipe;                         /* from the helper, which ends when it is closed; -1: no helper */
  gint64 started;
  GString *line;
};

static void
gpu_free (Gpu *self)
{
  g_free (self->id);
  g_free (self->folder);
  g_free (self->sensors);
  g_free (self);
}

/* -------------------------------------------------------------------------- NVIDIA */

static void
start_helper (QmGpuSampler *self,
              gint64        now)
{
  const char *given = g_getenv ("QM_NVML_HELPER");
  g_autofree char *milliseconds = g_strdup_printf ("%.0f", fmax (self->interval * 1000, 50));
  char *command[] = { (char *) (given != NULL ? given : QM_LIBEXEC_DIR "/quartermaster-nvml"), "--watch", milliseconds, NULL };

  self->started = now;
  if (!g_spawn_async_with_pipes (NULL, command, NULL, G_SPAWN_STDERR_TO_DEV_NULL | G_SPAWN_CLOEXEC_PIPES, NULL, NULL, NULL, NULL, &self->pipe,
                                 NULL, NULL))
    {
      self->pipe = -1;
      return;
    }
  g_unix_set_fd_nonblocking (self->pipe, TRUE, NULL);
}

static void
stop_helper (QmGpuSampler *self)
{
  if (self->pipe < 0)
    return;

  close (self->pipe);
  self->pipe = -1;
  g_string_truncate (self->line, 0);
}

/* "sample ADDRESS NUMBER…", with points also where the reader writes commas. */
static gboolean
read_sample (const char *line,
             char       *address,
             double     *v)
{
  int n = 0;

  if (sscanf (line, "sample %31s%n", address, &n) != 1)
    return FALSE;

  for (int i = 0; i < N_GPU_CHANNELS; i++)
    {
      char *end;

      v[i] = g_ascii_strtod (line + n, &end);
      if (end == line + n)
        return FALSE;
      n = (int) (end - line);
    }

  return TRUE;
}

static void
take_line (QmGpuSampler *self,
           const char   *line,
           gint64        now)
{
  double v[N_GPU_CHANNELS];
  char address[32];

  if (!read_sample (line, address, v))
    return;

  if (isfinite (v[GPU_THROTTLED]))
    v[GPU_THROTTLED] = qm_throttled_from_reasons ((guint64) v[GPU_THROTTLED]);
  for (guint i = 0; i < self->gpus->len; i++)
    {
      Gpu *gpu = g_ptr_array_index (self->gpus, i);

      if (!qm_pci_address_equal (gpu->id, address))
        continue;
      gpu->updated = now;
      for (int k = 0; k < N_GPU_CHANNELS; k++)
        gpu->values[k] = (float) v[k];
    }
}

/* What the helper has written meanwhile; never waits. */
static void
hear_helper (QmGpuSampler *self,
             gint64        now)
{
  char piece[4096];
  gssize n;

  while ((n = read (self->pipe, piece, sizeof piece)) > 0)
    for (gssize i = 0; i < n; i++)
      {
        if (piece[i] != '\n')
          {
            if (self->line->len < LONGEST_LINE)
              g_string_append_c (self->line, piece[i]);
            continue;
          }
        take_line (self, self->line->str, now);
        g_string_truncate (self->line, 0);
      }
  if (n == 0)
    stop_helper (self);
}

static gboolean
is_silent (QmGpuSampler *self,
           gint64        now)
{
  gint64 last = self->started;

  for (guint i = 0; i < self->gpus->len; i++)
    last = MAX (last, ((Gpu *) g_ptr_array_index (self->gpus, i))->updated);

  return now - last > RESTART_SECONDS * G_TIME_SPAN_SECOND;
}

/* ----------------------------------------------------------------------------- AMD */

static gboolean
is_asleep (QmGpuSampler *self,
           const Gpu    *gpu)
{
  g_autofree char *status = qm_tree_read_in (self->root, gpu->folder, "power/runtime_status");

  return g_strcmp0 (status, "suspended") == 0;
}

static float
read_scaled (QmGpuSampler *self,
             const char   *folder,
             const char   *name,
             double        factor)
{
  double value;

  return folder != NULL && qm_tree_read_number (self->root, folder, name, &value) ? (float) (value * factor) : NAN;
}

/* hwmon: microwatts, thousandths of a degree, hertz. A card that sleeps is left alone. */
static void
sample_amd (QmGpuSampler *self,
            Gpu          *gpu)
{
  float *v = gpu->values;

  for (int i = 0; i < N_GPU_CHANNELS; i++)
    v[i] = NAN;
  if (is_asleep (self, gpu))
    return;

  v[GPU_BUSY] = read_scaled (self, gpu->folder, "gpu_busy_percent", 0.01);
  v[GPU_MEMORY_BUSY] = read_scaled (self, gpu->folder, "mem_busy_percent", 0.01);
  v[GPU_MEMORY] = read_scaled (self, gpu->folder, "mem_info_vram_used", 1);
  v[GPU_MEMORY_TOTAL] = read_scaled (self, gpu->folder, "mem_info_vram_total", 1);
  v[GPU_POWER] = read_scaled (self, gpu->sensors, "power1_average", 1e-6);
  if (isnan (v[GPU_POWER]))
    v[GPU_POWER] = read_scaled (self, gpu->sensors, "power1_input", 1e-6);
  v[GPU_POWER_LIMIT] = read_scaled (self, gpu->sensors, "power1_cap", 1e-6);
  v[GPU_TEMPERATURE] = read_scaled (self, gpu->sensors, "temp1_input", 1e-3);
  v[GPU_CLOCK] = read_scaled (self, gpu->sensors, "freq1_input", 1);
}

/* ---------------------------------------------------------------------------- both */

/* Whether a screen is plugged in is what the kernel remembers: it asks nobody. */
static gboolean
has_screen (const char *root,
            const char *folder)
{
  g_autofree char *parent = g_build_filename (folder, "drm", NULL);
  g_autoptr (GPtrArray) cards = qm_tree_list (root, parent);

  for (guint i = 0; i < cards->len; i++)
    {
      g_autofree char *card = g_build_filename (parent, g_ptr_array_index (cards, i), NULL);
      g_autoptr (GPtrArray) outputs = qm_tree_list (root, card);

      for (guint k = 0; k < outputs->len; k++)
        {
          g_autofree char *output = g_build_filename (card, g_ptr_array_index (outputs, k), NULL);
          g_autofree char *status = qm_tree_read_in (root, output, "status");

          if (g_strcmp0 (status, "connected") == 0)
            return TRUE;
        }
    }

  return FALSE;
}

static gboolean
may_sleep (const char *root,
           const char *folder)
{
  g_autofree char *control = qm_tree_read_in (root, folder, "power/control");

  return g_strcmp0 (control, "auto") == 0 && !has_screen (root, folder);
}

static void
add_gpu (QmGpuSampler         *self,
         const QmProbedDevice *device)
{
  g_autofree char *folder = g_build_filename ("/sys/bus/pci/devices", device->id, NULL);
  gboolean nvidia = g_strcmp0 (device->vendor, "nvidia") == 0;
  Gpu *gpu;

  if (!nvidia && !(device->suspended && g_strcmp0 (device->driver, "amdgpu") == 0) && !qm_tree_has (self->root, folder, "gpu_busy_percent"))
    return;
  if (self->gpus->len >= QM_MAX_GPUS)
    return;

  gpu = g_new0 (Gpu, 1);
  gpu->id = g_strdup (device->id);
  gpu->nvidia = nvidia;
  gpu->drives = nvidia && g_strcmp0 (device->driver, "nvidia") == 0;
  gpu->may_sleep = may_sleep (self->root, folder);
  gpu->sensors = nvidia ? NULL : qm_tree_sensors (self->root, folder);
  gpu->folder = g_steal_pointer (&folder);
  g_ptr_array_add (self->gpus, gpu);
}

/* To ask NVIDIA's driver wakes every card of its own: not while one sleeps. */
static gboolean
may_ask (QmGpuSampler *self,
         gint64        now)
{
  gboolean awake = FALSE;

  if (!self->ask || (self->gentle && now < self->rest_until))
    return FALSE;
  for (guint i = 0; i < self->gpus->len; i++)
    {
      const Gpu *gpu = g_ptr_array_index (self->gpus, i);

      if (gpu->nvidia && is_asleep (self, gpu))
        return FALSE;
      awake = awake || gpu->drives;
    }

  return awake;
}

/* One that may sleep and is idle, while no other that shares its driver is busy. */
static gboolean
should_rest (QmGpuSampler *self,
             gint64        now)
{
  gboolean may = FALSE, idle = TRUE;

  for (guint i = 0; i < self->gpus->len; i++)
    {
      Gpu *gpu = g_ptr_array_index (self->gpus, i);
      float busy = gpu->values[GPU_BUSY];

      if (gpu->busy == 0 || busy > IDLE_SHARE)
        gpu->busy = now;
      may = may || gpu->may_sleep;
      idle = idle && now - gpu->busy > IDLE_SECONDS * G_TIME_SPAN_SECOND;
    }

  return may && idle;
}

static void
rest (QmGpuSampler *self,
      gint64        now)
{
  self->rest_until = now + REST_SECONDS * G_TIME_SPAN_SECOND;
  stop_helper (self);
  self->started = 0;
  for (guint i = 0; i < self->gpus->len; i++)
    {
      Gpu *gpu = g_ptr_array_index (self->gpus, i);

      gpu->busy = self->rest_until;
      gpu->updated = 0;
    }
}

QmGpuSampler *
qm_gpu_sampler_new (const char *root,
                    double      interval_seconds)
{
  QmGpuSampler *self = g_new0 (QmGpuSampler, 1);
  g_autoptr (GPtrArray) devices = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_probed_device_free);

  self->root = g_intern_string (root);
  self->interval = interval_seconds;
  self->pipe = -1;
  self->line = g_string_new (NULL);
  self->gpus = g_ptr_array_new_with_free_func ((GDestroyNotify) gpu_free);
  qm_probe_pci (root, FALSE, devices);
  for (guint i = 0; i < devices->len; i++)
    add_gpu (self, g_ptr_array_index (devices, i));
  self->ask = root[0] == '\0' || g_getenv ("QM_NVML_LIBRARY") != NULL;

  return self;
}

void
qm_gpu_sampler_set_gentle (QmGpuSampler *self,
                           gboolean      gentle)
{
  self->gentle = gentle;
}

void
qm_gpu_sampler_free (QmGpuSampler *self)
{
  stop_helper (self);
  g_ptr_array_unref (self->gpus);
  g_string_free (self->line, TRUE);
  g_free (self);
}

guint
qm_gpu_sampler_n_gpus (QmGpuSampler *self)
{
  return self->gpus->len;
}

const char *
qm_gpu_sampler_id (QmGpuSampler *self,
                   guint         gpu)
{
  return ((Gpu *) g_ptr_array_index (self->gpus, gpu))->id;
}

void
qm_gpu_sampler_sample (QmGpuSampler *self,
                       gint64        now,
                       float        *values)
{
  gboolean ask = may_ask (self, now);

  if (!ask)
    stop_helper (self);
  else if (self->pipe < 0 && (self->started == 0 || is_silent (self, now)))
    start_helper (self, now);
  if (self->pipe >= 0)
    hear_helper (self, now);
  if (self->pipe >= 0 && is_silent (self, now))
    stop_helper (self);

  for (guint i = 0; i < self->gpus->len; i++)
    {
      Gpu *gpu = g_ptr_array_index (self->gpus, i);
      gboolean stale = gpu->nvidia && (gpu->updated == 0 || now - gpu->updated > STALE * self->interval * G_TIME_SPAN_SECOND);
      gboolean resting = self->gentle && gpu->may_sleep && now < self->rest_until;

      if (!gpu->nvidia && !resting)
        sample_amd (self, gpu);
      for (int k = 0; k < N_GPU_CHANNELS; k++)
        values[i * N_GPU_CHANNELS + k] = stale || resting ? NAN : gpu->values[k];
    }
  if (self->gentle && now >= self->rest_until && should_rest (self, now))
    rest (self, now);
}
