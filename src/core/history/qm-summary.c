/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-summary.h"

#include <math.h>

#include "history/qm-channels.h"

/**
 * qm_channel_of_gpu:
 * @name: (out caller-allocates): room for QM_CHANNEL_SIZE bytes
 * @gpu: its number, from 0
 * @what: e.g. QM_CHANNEL_GPU_POWER
 *
 * Returns: (transfer none): @name, filled
 */
const char *
qm_channel_of_gpu (char       *name,
                   int         gpu,
                   const char *what)
{
  g_snprintf (name, QM_CHANNEL_SIZE, "gpu%d_%s", gpu, what);
  return name;
}

static int
find_gpu (const QmSeries *series,
          int             gpu,
          const char     *what)
{
  char name[QM_CHANNEL_SIZE];

  return qm_series_find (series, qm_channel_of_gpu (name, gpu, what));
}

/* Over time; a gap counts as what stands at its end. */
static double
integrate (const QmSeries *series,
           int             channel)
{
  double sum = 0;

  for (guint i = 1; i < qm_series_length (series); i++)
    {
      float value = qm_series_value (series, i, channel);

      if (isfinite (value))
        sum += value * (g_array_index (series->times, double, i) - g_array_index (series->times, double, i - 1));
    }

  return sum;
}

/* The fullest of the devices, and what all of them took. */
static void
sum_up_gpus (QmRun          *run,
             const QmSeries *series,
             double          steady)
{
  double fullest = NAN, busy = 0, joules = 0;
  int n_busy = 0;

  for (int gpu = 0; gpu < QM_MAX_GPUS; gpu++)
    {
      QmSeriesSummary memory, use;

      qm_series_summarise (series, find_gpu (series, gpu, QM_CHANNEL_GPU_MEMORY), 0, G_MAXDOUBLE, &memory);
      qm_series_summarise (series, find_gpu (series, gpu, QM_CHANNEL_GPU_BUSY), steady, G_MAXDOUBLE, &use);
      fullest = fmax (fullest, memory.most);
      joules += integrate (series, find_gpu (series, gpu, QM_CHANNEL_GPU_POWER));
      if (use.n > 0)
        {
          busy += use.mean;
          n_busy++;
        }
    }
  qm_run_set_measured (run, "memory.per_device_bytes", fullest);
  if (n_busy > 0)
    qm_run_set_measured (run, "run.gpu_utilization", busy / n_busy);
  if (joules > 0)
    qm_run_set_measured (run, "energy.kwh", joules / 3.6e6);
}

static void
sum_up_processes (QmRun          *run,
                  const QmSeries *series,
                  double          steady)
{
  QmSeriesSummary summary;

  qm_series_summarise (series, qm_series_find (series, QM_CHANNEL_PROCESS_MEMORY), 0, G_MAXDOUBLE, &summary);
  qm_run_set_measured (run, "memory.host_bytes", summary.most);
  qm_series_summarise (series, qm_series_find (series, QM_CHANNEL_PROCESS_CPU), steady, G_MAXDOUBLE, &summary);
  qm_run_set_measured (run, "run.cpu_cores", summary.mean);
}

static const struct {
  const char *channel;
  const char *unit;
} rates[] = {
  { QM_CHANNEL_TOKENS, "tokens" },
  { QM_CHANNEL_SAMPLES, "samples" },
};

/* Who names steps and no rate has one all the same: that of the second half. */
static void
sum_up_steps (QmRun          *run,
              const QmSeries *series,
              double          middle)
{
  int channel = qm_series_find (series, QM_CHANNEL_STEP);
  double first = NAN, first_at = NAN, last = NAN, last_at = NAN;

  for (guint i = 0; i < qm_series_length (series); i++)
    {
      double at = g_array_index (series->times, double, i), step = qm_series_value (series, i, channel);

      if (at < middle || !isfinite (step))
        continue;
      if (isnan (first))
        {
          first = step;
          first_at = at;
        }
      last = step;
      last_at = at;
    }
  if (last > first)
    qm_run_set_measured (run, "throughput.step_seconds", (last_at - first_at) / (last - first));
}

/* Of what a program writes about itself: the rate once it is steady, and how
 * much slower the first was. */
static double
sum_up_rates (QmRun          *run,
              const QmSeries *series)
{
  int steps = qm_series_find (series, QM_CHANNEL_STEPS);
  double steady = qm_series_warm_up (series, steps);
  double middle = qm_series_length (series) > 0 ? g_array_index (series->times, double, qm_series_length (series) - 1) / 2 : 0;
  QmSeriesSummary summary;

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      int channel = qm_series_find (series, rates[i].channel);
      double from = qm_series_warm_up (series, channel);

      /* what was counted at the beginning alone was something else */
      qm_series_summarise (series, channel, middle, G_MAXDOUBLE, &summary);
      if (summary.n == 0)
        continue;
      qm_series_summarise (series, channel, from, G_MAXDOUBLE, &summary);
      steady = fmax (steady, from);
      qm_run_set_measured (run, "throughput.per_second", summary.median);
      if (run->unit == NULL)
        run->unit = g_strdup (rates[i].unit);
      break;
    }
  qm_series_summarise (series, steps, steady, G_MAXDOUBLE, &summary);
  if (summary.n > 0 && summary.median > 0)
    qm_run_set_measured (run, "throughput.step_seconds", 1 / summary.median);
  else
    sum_up_steps (run, series, middle);
  qm_series_summarise (series, qm_series_find (series, QM_CHANNEL_LOSS), steady, G_MAXDOUBLE, &summary);
  qm_run_set_measured (run, "run.loss", summary.least);
  if (steady > 0)
    qm_run_set_measured (run, "run.warm_up_seconds", steady);

  return steady;
}

/**
 * qm_run_summarise:
 * @run: a run; its measured figures are filled in
 * @series: what was measured over its time
 *
 * Peaks are of the whole run, rates and utilisation of what comes after the
 * warm-up.
 */
void
qm_run_summarise (QmRun          *run,
                  const QmSeries *series)
{
  guint n = qm_series_length (series);
  double steady = sum_up_rates (run, series);

  if (isnan (run->seconds) && n > 0)
    run->seconds = g_array_index (series->times, double, n - 1);
  sum_up_gpus (run, series, steady);
  sum_up_processes (run, series, steady);
  /* Where no GPU works, the device is the processor, and its memory that of the computer. */
  if (isnan (qm_run_measured (run, "memory.per_device_bytes")))
    qm_run_set_measured (run, "memory.per_device_bytes", qm_run_measured (run, "memory.host_bytes"));
  qm_run_set_measured (run, "time.seconds", run->seconds);
}
