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
  double fullest = NAN, busy = 0, joules = 0, limit = NAN;
  int n_busy = 0;

  for (int gpu = 0; gpu < QM_MAX_GPUS; gpu++)
    {
      QmSeriesSummary memory, use, power;

      qm_series_summarise (series, find_gpu (series, gpu, QM_CHANNEL_GPU_MEMORY), 0, G_MAXDOUBLE, &memory);
      qm_series_summarise (series, find_gpu (series, gpu, QM_CHANNEL_GPU_BUSY), steady, G_MAXDOUBLE, &use);
      qm_series_summarise (series, find_gpu (series, gpu, QM_CHANNEL_GPU_POWER_LIMIT), steady, G_MAXDOUBLE, &power);
      fullest = fmax (fullest, memory.most);
      limit = power.n > 0 ? fmin (limit, power.mean) : limit;
      joules += integrate (series, find_gpu (series, gpu, QM_CHANNEL_GPU_POWER));
      if (use.n > 0)
        {
          busy += use.mean;
          n_busy++;
        }
    }
  qm_run_set_measured (run, "memory.per_device_bytes", fullest);
  qm_run_set_measured (run, "run.power_limit_watts", limit);
  if (n_busy > 0)
    qm_run_set_measured (run, "run.gpu_utilization", busy / n_busy);
  if (joules > 0)
    qm_run_set_measured (run, "energy.kwh", joules / 3.6e6);
}

/* What the run had of the processor, and what others had. */
static const struct {
  const char *channel;
  const char *key;
} means[] = {
  { QM_CHANNEL_PROCESS_CPU, "run.cpu_cores" },
  { QM_CHANNEL_CPU, "run.cpu_utilization" },
  { QM_CHANNEL_CPU_STOLEN, "run.cpu_stolen" },
  { QM_CHANNEL_CPU_PRESSURE, "run.cpu_pressure" },
};

static void
sum_up_processes (QmRun          *run,
                  const QmSeries *series,
                  double          steady)
{
  QmSeriesSummary summary;

  qm_series_summarise (series, qm_series_find (series, QM_CHANNEL_PROCESS_MEMORY), 0, G_MAXDOUBLE, &summary);
  qm_run_set_measured (run, "memory.host_bytes", summary.most);
  for (guint i = 0; i < G_N_ELEMENTS (means); i++)
    {
      qm_series_summarise (series, qm_series_find (series, means[i].channel), steady, G_MAXDOUBLE, &summary);
      if (summary.n > 0)
        qm_run_set_measured (run, means[i].key, summary.mean);
    }
}

static const struct {
  const char *channel;
  const char *unit;
} rates[] = {
  { QM_CHANNEL_TOKENS, "tokens" },
  { QM_CHANNEL_SAMPLES, "samples" },
};

static double
mean_between (const QmSeries *series,
              int             channel,
              double          from,
              double          to)
{
  QmSeriesSummary summary;

  qm_series_summarise (series, channel, from, to, &summary);
  return summary.mean;
}

/* Who counts steps and gives no rate of them has one all the same. Where there is
 * a rate of something else, a step takes what its mean work takes at the median
 * rate, so that both figures are of one moment: the mean time of a step alone
 * would have the pauses in it that the median leaves out. */
static void
sum_up_steps (QmRun          *run,
              const QmSeries *series,
              double          from,
              int             rate)
{
  int channel = qm_series_find (series, QM_CHANNEL_STEP);
  double first = NAN, first_at = NAN, last = NAN, last_at = NAN, seconds, work;

  for (guint i = 0; i < qm_series_length (series); i++)
    {
      double at = g_array_index (series->times, double, i), step = qm_series_value (series, i, channel);

      if (at < from || !isfinite (step))
        continue;
      if (isnan (first))
        {
          first = step;
          first_at = at;
        }
      last = step;
      last_at = at;
    }
  if (!(last > first))
    return;

  seconds = (last_at - first_at) / (last - first);
  work = rate >= 0 ? seconds * mean_between (series, rate, nextafter (first_at, INFINITY), last_at) : NAN;
  qm_run_set_measured (run, "throughput.step_seconds", work > 0 ? work / qm_run_measured (run, "throughput.per_second") : seconds);
}

/* Of what a program writes about itself: the rate once it is steady, and how
 * much slower the first was. */
static double
sum_up_rates (QmRun          *run,
              const QmSeries *series)
{
  int steps = qm_series_find (series, QM_CHANNEL_STEPS), rate = -1;
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
      rate = channel;
      qm_run_set_measured (run, "throughput.per_second", summary.median);
      if (run->unit == NULL)
        run->unit = g_strdup (rates[i].unit);
      break;
    }
  qm_series_summarise (series, steps, steady, G_MAXDOUBLE, &summary);
  if (summary.n > 0 && summary.median > 0)
    qm_run_set_measured (run, "throughput.step_seconds", 1 / summary.median);
  else
    sum_up_steps (run, series, rate >= 0 ? steady : middle, rate);
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

/* A GPU that is less busy does not do the work. */
#define UNUSED 0.02

/**
 * qm_run_contention:
 * @run: a run that was summed up
 *
 * What others had of the processor while a run of the processor went on: what the
 * host of a virtual machine took away, and what other programs used once more
 * than half of the logical processors were busy, since two of them share a core
 * as a rule.
 *
 * Returns: a share of the processor, 0 where nothing is known or a GPU did the work
 */
double
qm_run_contention (const QmRun *run)
{
  double stolen = qm_run_measured (run, "run.cpu_stolen"), all = qm_run_measured (run, "run.cpu_utilization");
  double used = qm_run_measured (run, "run.cpu_cores") / qm_run_measured (run, "run.cores");
  double others = 0;

  if (qm_run_measured (run, "run.gpu_utilization") > UNUSED)
    return 0;

  stolen = isfinite (stolen) ? stolen : 0;
  if (isfinite (all - used))
    others = fmax (0, all - stolen - used) * CLAMP (2 * all - 1, 0, 1);

  return fmin (1, stolen + others);
}
