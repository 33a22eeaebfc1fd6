/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/qm-language.h"
#include "history/qm-channels.h"
#include "probe/qm-sampler.h"
#include "qm-cli.h"

typedef struct {
  QmSampler *sampler;
  const char * const *channels;
  guint n;
  float *values;
} Watch;

static void
add_number (GString    *line,
            const char *name,
            double      value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (line, ",\"%s\":%s", name, isfinite (value) ? g_ascii_formatd (digits, sizeof digits, "%.6g", value) : "null");
}

/* A line of JSON, written without a tree: it is written for days. */
static void
print_line (Watch  *self,
            double  at,
            gint64  time)
{
  g_autoptr (GDateTime) when = g_date_time_new_from_unix_utc_usec (time);
  g_autofree char *text = g_date_time_format (when, "%Y-%m-%dT%H:%M:%S.%fZ");
  g_autoptr (GString) line = g_string_new (NULL);
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  const float *cores;
  guint n;

  g_string_append_printf (line, "{\"time\":\"%s\",\"seconds\":%s", text, g_ascii_formatd (digits, sizeof digits, "%.3f", at));
  for (guint i = 0; i < self->n; i++)
    add_number (line, self->channels[i], self->values[i]);
  g_string_append (line, ",\"cores\":[");
  cores = qm_sampler_get_cores (self->sampler, &n);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (line, "%s%s", i > 0 ? "," : "",
                            isfinite (cores[i]) ? g_ascii_formatd (digits, sizeof digits, "%.3g", cores[i]) : "null");
  g_string_append (line, "]}\n");
  fputs (line->str, stdout);
  fflush (stdout);
}

static double
value_of (Watch      *self,
          const char *channel)
{
  for (guint i = 0; i < self->n; i++)
    if (strcmp (self->channels[i], channel) == 0)
      return self->values[i];

  return NAN;
}

static double
gpu_value (Watch      *self,
           guint       gpu,
           const char *what)
{
  char name[QM_CHANNEL_SIZE];

  return value_of (self, qm_channel_of_gpu (name, gpu, what));
}

static void
print_gpu (Watch         *self,
           const QmWords *words,
           guint          gpu)
{
  double reasons = gpu_value (self, gpu, QM_CHANNEL_GPU_THROTTLED);
  double degrees = gpu_value (self, gpu, QM_CHANNEL_GPU_TEMPERATURE), watts = gpu_value (self, gpu, QM_CHANNEL_GPU_POWER);
  g_autofree char *busy = qm_format_percent (words, gpu_value (self, gpu, QM_CHANNEL_GPU_BUSY));
  g_autofree char *used = qm_format_bytes (words, gpu_value (self, gpu, QM_CHANNEL_GPU_MEMORY));
  g_autofree char *total = qm_format_bytes (words, gpu_value (self, gpu, QM_CHANNEL_GPU_MEMORY_TOTAL));

  g_print ("  GPU %u %s, %s / %s", gpu, busy, used, total);
  if (isfinite (watts))
    g_print (", %.0f W", watts);
  if (isfinite (degrees))
    g_print (", %.0f °C", degrees);
  if (reasons > 0)
    g_print (", %s", (int) reasons & QM_THROTTLED_THERMAL ? _("slowed by heat") : (int) reasons & QM_THROTTLED_POWER ? _("slowed by its power limit") : _("slowed"));
}

static void
print_text (Watch *self)
{
  const QmWords *words = qm_language_get_words ();
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *time = g_date_time_format (now, "%H:%M:%S");
  g_autofree char *cpu = qm_format_percent (words, value_of (self, QM_CHANNEL_CPU));
  g_autofree char *memory = qm_format_bytes (words, value_of (self, QM_CHANNEL_MEMORY));
  g_autofree char *read = qm_format_file_bytes (words, value_of (self, QM_CHANNEL_DISK_READ));
  g_autofree char *written = qm_format_file_bytes (words, value_of (self, QM_CHANNEL_DISK_WRITE));
  g_autofree char *received = qm_format_file_bytes (words, value_of (self, QM_CHANNEL_NETWORK_RECEIVE));
  g_autofree char *sent = qm_format_file_bytes (words, value_of (self, QM_CHANNEL_NETWORK_SEND));

  /* Translators: time; load of the processor; memory in use; read from and written to disks, received from and sent to networks, each a second */
  g_print (_("%s  processor %s, memory %s, disk %s/s + %s/s, network %s/s + %s/s"), time, cpu, memory, read, written, received, sent);
  for (guint gpu = 0; gpu < qm_sampler_n_gpus (self->sampler); gpu++)
    print_gpu (self, words, gpu);
  g_print ("\n");
  fflush (stdout);
}

/* At equal distances, whatever a sample takes. */
static void
wait_until (gint64 when)
{
  gint64 left = when - g_get_monotonic_time ();

  if (left > 0)
    g_usleep (left);
}

static void
watch (QmCli  *cli,
       Watch  *self,
       double  interval,
       double  seconds)
{
  gint64 began = g_get_monotonic_time ();
  gint64 step = (gint64) (interval * G_TIME_SPAN_SECOND);

  qm_sampler_sample (self->sampler, began, self->values);
  for (gint64 next = began + step; (seconds == 0 || next - began <= seconds * G_TIME_SPAN_SECOND) && !ferror (stdout); next += step)
    {
      gint64 now;

      wait_until (next);
      now = g_get_monotonic_time ();
      qm_sampler_sample (self->sampler, now, self->values);
      if (cli->json)
        print_line (self, (now - began) / 1e6, g_get_real_time ());
      else
        print_text (self);
      next = MAX (next, now - step);
    }
}

/**
 * qm_command_watch:
 * @cli: the program
 * @arguments: `watch`
 * @error: return location for an error
 *
 * Prints what this computer does, at equal distances of time, until it is ended
 * or the time is over.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_watch (QmCli   *cli,
                  GStrv    arguments,
                  GError **error)
{
  double interval = 1, seconds = 0;
  const GOptionEntry entries[] = {
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds, N_("For how long; without it, until it is ended"), "N" },
    { "interval", 0, 0, G_OPTION_ARG_DOUBLE, &interval, N_("Seconds between two samples; usually 1"), "S" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (QmSampler) sampler = NULL;
  g_autofree float *values = NULL;
  Watch self;

  if (!qm_cli_parse (cli, &left, entries, 0, 0, error))
    return FALSE;
  if (!(interval >= 0.05 && interval <= 3600) || !(seconds >= 0))
    {
      g_set_error_literal (error, QM_USAGE_ERROR, 0, _("--interval: a number of seconds from 0.05 to 3600 is expected"));
      return FALSE;
    }

  sampler = qm_sampler_new (g_getenv ("QM_SYSROOT"), interval);
  qm_sampler_set_gentle (sampler, TRUE);
  values = g_new (float, qm_sampler_n_channels (sampler));
  self = (Watch) { sampler, qm_sampler_get_channels (sampler), qm_sampler_n_channels (sampler), values };
  watch (cli, &self, interval, seconds);

  return TRUE;
}
