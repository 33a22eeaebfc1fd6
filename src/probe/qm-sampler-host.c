/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "qm-sampler-private.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/qm-channels.h"
#include "qm-probe-private.h"

const char * const qm_host_channels[N_HOST_CHANNELS] = {
  QM_CHANNEL_CPU, QM_CHANNEL_CPU_BUSIEST, QM_CHANNEL_CPU_WAITING, QM_CHANNEL_CPU_STOLEN, QM_CHANNEL_CPU_PRESSURE, QM_CHANNEL_MEMORY,
  QM_CHANNEL_MEMORY_TOTAL, QM_CHANNEL_SWAP, QM_CHANNEL_DISK_READ, QM_CHANNEL_DISK_WRITE, QM_CHANNEL_DISK_BUSY, QM_CHANNEL_NETWORK_RECEIVE, QM_CHANNEL_NETWORK_SEND,
};

/* /proc/diskstats counts in these, whatever the disk has. */
#define SECTOR 512.0

#define KIB 1024.0

/* What the kernel counts up, as it stood when last read. */
typedef struct {
  double busy, waiting, stolen, all; /* ticks */
} Ticks;

typedef struct {
  double swapped, disk_read, disk_written, received, sent;   /* bytes */
} Traffic;

typedef struct {
  char name[32];
  double busy;                      /* milliseconds */
} Disk;

#define MAX_DISKS 64

struct _QmHostSampler {
  const char *root;
  int files[6];                     /* kept open: -1 where there is none */
  GString *text;
  gint64 last;                      /* 0: not yet */
  Ticks all;
  double pressed;                   /* microseconds; NaN where the kernel does not count them */
  GArray *core_ticks;               /* of Ticks */
  GArray *cores;                    /* of float */
  Traffic traffic;
  Disk disks[MAX_DISKS];
  int n_disks;
  double page;
};

enum { FILE_STAT, FILE_MEMORY, FILE_VM, FILE_DISKS, FILE_NETWORK, FILE_PRESSURE };

static const char * const file_names[] = { "/proc/stat", "/proc/meminfo", "/proc/vmstat", "/proc/diskstats", "/proc/net/dev", "/proc/pressure/cpu" };

QmHostSampler *
qm_host_sampler_new (const char *root)
{
  QmHostSampler *self = g_new0 (QmHostSampler, 1);

  self->root = g_intern_string (root);
  self->text = g_string_sized_new (16 * 1024);
  self->core_ticks = g_array_new (FALSE, TRUE, sizeof (Ticks));
  self->cores = g_array_new (FALSE, TRUE, sizeof (float));
  self->page = sysconf (_SC_PAGESIZE);
  for (guint i = 0; i < G_N_ELEMENTS (file_names); i++)
    {
      g_autofree char *path = g_strconcat (root, file_names[i], NULL);

      self->files[i] = open (path, O_RDONLY | O_CLOEXEC);
    }

  return self;
}

void
qm_host_sampler_free (QmHostSampler *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->files); i++)
    if (self->files[i] >= 0)
      close (self->files[i]);
  g_string_free (self->text, TRUE);
  g_array_unref (self->core_ticks);
  g_array_unref (self->cores);
  g_free (self);
}

/* The text of a file, from its beginning again; "" where there is none. */
static const char *
read_file (QmHostSampler *self,
           int            file)
{
  gssize n = 1;

  g_string_truncate (self->text, 0);
  while (self->files[file] >= 0 && n > 0 && self->text->len < 1024 * 1024)
    {
      gsize at = self->text->len;

      g_string_set_size (self->text, at + 8192);
      n = pread (self->files[file], self->text->str + at, 8192, at);
      g_string_set_size (self->text, at + MAX (n, 0));
    }

  return self->text->str;
}

static const char *
next_line (const char *line)
{
  const char *end = strchr (line, '\n');

  return end != NULL ? end + 1 : line + strlen (line);
}

/* proc(5): user nice system idle iowait irq softirq steal; guests are in user. */
static Ticks
parse_ticks (const char *numbers)
{
  double t[8] = { 0 };
  char *end = (char *) numbers;

  for (int i = 0; i < 8; i++)
    t[i] = g_ascii_strtod (end, &end);

  return (Ticks) { t[0] + t[1] + t[2] + t[5] + t[6] + t[7], t[4], t[7], t[0] + t[1] + t[2] + t[3] + t[4] + t[5] + t[6] + t[7] };
}

static double
share (double before,
       double now,
       double all)
{
  return all > 0 ? CLAMP ((now - before) / all, 0, 1) : NAN;
}

static void
sample_cores (QmHostSampler *self,
              const char    *line,
              float         *values)
{
  float busiest = NAN;
  guint n = 0;

  for (; strncmp (line, "cpu", 3) == 0 && g_ascii_isdigit (line[3]); line = next_line (line), n++)
    {
      Ticks ticks = parse_ticks (strchrnul (line, ' '));
      Ticks *before;
      float busy;

      g_array_set_size (self->core_ticks, MAX (self->core_ticks->len, n + 1));
      g_array_set_size (self->cores, MAX (self->cores->len, n + 1));
      before = &g_array_index (self->core_ticks, Ticks, n);
      busy = (float) share (before->busy, ticks.busy, ticks.all - before->all);
      g_array_index (self->cores, float, n) = self->last > 0 ? busy : NAN;
      busiest = fmaxf (busiest, g_array_index (self->cores, float, n));
      *before = ticks;
    }
  g_array_set_size (self->cores, n);
  values[HOST_CPU_BUSIEST] = busiest;
}

static void
sample_processor (QmHostSampler *self,
                  float         *values)
{
  const char *text = read_file (self, FILE_STAT);
  Ticks ticks;

  if (strncmp (text, "cpu ", 4) != 0)
    return;

  ticks = parse_ticks (text + 4);
  if (self->last > 0)
    {
      values[HOST_CPU] = (float) share (self->all.busy, ticks.busy, ticks.all - self->all.all);
      values[HOST_CPU_WAITING] = (float) share (self->all.waiting, ticks.waiting, ticks.all - self->all.all);
      values[HOST_CPU_STOLEN] = (float) share (self->all.stolen, ticks.stolen, ticks.all - self->all.all);
    }
  self->all = ticks;
  sample_cores (self, next_line (text), values);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=25764403753": microseconds in
 * which something could run and had no processor. */
static void
sample_pressure (QmHostSampler *self,
                 double         seconds,
                 float         *values)
{
  const char *text = read_file (self, FILE_PRESSURE);
  const char *total = g_str_has_prefix (text, "some ") ? strstr (text, "total=") : NULL;
  double pressed = total != NULL ? g_ascii_strtod (total + strlen ("total="), NULL) : NAN;

  if (seconds > 0)
    values[HOST_CPU_PRESSURE] = (float) share (self->pressed, pressed, isfinite (pressed) ? seconds * 1e6 : 0);
  self->pressed = pressed;
}

static gboolean
find_number (const char *text,
             const char *key,
             double     *value)
{
  gsize length = strlen (key);

  for (const char *line = text; *line != '\0'; line = next_line (line))
    if (strncmp (line, key, length) == 0 && (line[length] == ':' || line[length] == ' '))
      {
        *value = g_ascii_strtod (line + length + 1, NULL);
        return TRUE;
      }

  return FALSE;
}

static void
sample_memory (QmHostSampler *self,
               float         *values)
{
  const char *text = read_file (self, FILE_MEMORY);
  double total, available;

  if (!find_number (text, "MemTotal", &total) || !find_number (text, "MemAvailable", &available))
    return;

  values[HOST_MEMORY] = (float) ((total - available) * KIB);
  values[HOST_MEMORY_TOTAL] = (float) (total * KIB);
}

/* Parts of disks and what only stands for others would be counted twice. */
static gboolean
is_disk (QmHostSampler *self,
         const char    *name)
{
  static const char * const others[] = { "loop", "ram", "zram", "dm-", "md", "sr", "fd" };
  char path[96];

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_has_prefix (name, others[i]))
      return FALSE;

  g_snprintf (path, sizeof path, "%s/sys/block/%s", self->root, name);
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static Disk *
disk_named (QmHostSampler *self,
            const char    *name)
{
  for (int i = 0; i < self->n_disks; i++)
    if (strcmp (self->disks[i].name, name) == 0)
      return &self->disks[i];
  if (self->n_disks == MAX_DISKS)
    return NULL;

  g_strlcpy (self->disks[self->n_disks].name, name, sizeof self->disks[0].name);
  self->disks[self->n_disks].busy = NAN;

  return &self->disks[self->n_disks++];
}

static double
sample_disk (Disk   *disk,
             double  busy,
             double  seconds)
{
  double was = disk != NULL ? disk->busy : NAN;

  if (disk != NULL)
    disk->busy = busy;

  return seconds > 0 ? CLAMP ((busy - was) / (seconds * 1000), 0, 1) : NAN;
}

/* diskstats: major minor name, reads, merged, sectors, ms, writes, merged,
 * sectors, ms, in flight, ms busy */
static void
sample_disks (QmHostSampler *self,
              double         seconds,
              float         *values,
              Traffic       *traffic)
{
  double busiest = NAN;

  for (const char *line = read_file (self, FILE_DISKS); *line != '\0'; line = next_line (line))
    {
      char name[32];
      double read, written, busy;

      if (sscanf (line, " %*u %*u %31s %*u %*u %lf %*u %*u %*u %lf %*u %*u %lf", name, &read, &written, &busy) != 4 || !is_disk (self, name))
        continue;
      traffic->disk_read += read * SECTOR;
      traffic->disk_written += written * SECTOR;
      busiest = fmax (busiest, sample_disk (disk_named (self, name), busy, seconds));
    }
  values[HOST_DISK_BUSY] = (float) busiest;
}

/* What stays within the computer is no traffic. */
static gboolean
is_network (const char *name)
{
  static const char * const others[] = { "lo", "veth", "docker", "br-", "virbr", "tap", "tun", "dummy", "ifb", "sit", "tunl" };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_has_prefix (name, others[i]))
      return FALSE;

  return TRUE;
}

static void
sample_network (QmHostSampler *self,
                Traffic       *traffic)
{
  for (const char *line = read_file (self, FILE_NETWORK); *line != '\0'; line = next_line (line))
    {
      char name[32];
      double received, sent;

      if (sscanf (line, " %31[^: ]: %lf %*u %*u %*u %*u %*u %*u %*u %lf", name, &received, &sent) != 3 || !is_network (name))
        continue;
      traffic->received += received;
      traffic->sent += sent;
    }
}

static void
sample_swap (QmHostSampler *self,
             Traffic       *traffic)
{
  const char *text = read_file (self, FILE_VM);
  double in, out;

  if (find_number (text, "pswpin", &in) && find_number (text, "pswpout", &out))
    traffic->swapped = (in + out) * self->page;
}

static float
rate (double before,
      double now,
      double seconds)
{
  return seconds > 0 && now >= before ? (float) ((now - before) / seconds) : NAN;
}

void
qm_host_sampler_sample (QmHostSampler *self,
                        gint64         now,
                        float         *values)
{
  double seconds = self->last > 0 ? (now - self->last) / 1e6 : 0;
  Traffic traffic = { 0 };

  for (int i = 0; i < N_HOST_CHANNELS; i++)
    values[i] = NAN;
  sample_processor (self, values);
  sample_pressure (self, seconds, values);
  sample_memory (self, values);
  sample_swap (self, &traffic);
  sample_disks (self, seconds, values, &traffic);
  sample_network (self, &traffic);

  values[HOST_SWAP] = rate (self->traffic.swapped, traffic.swapped, seconds);
  values[HOST_DISK_READ] = rate (self->traffic.disk_read, traffic.disk_read, seconds);
  values[HOST_DISK_WRITE] = rate (self->traffic.disk_written, traffic.disk_written, seconds);
  values[HOST_NETWORK_RECEIVE] = rate (self->traffic.received, traffic.received, seconds);
  values[HOST_NETWORK_SEND] = rate (self->traffic.sent, traffic.sent, seconds);
  self->traffic = traffic;
  self->last = now;
}

const float *
qm_host_sampler_cores (QmHostSampler *self,
                       guint         *n)
{
  *n = self->cores->len;
  return (const float *) self->cores->data;
}
