/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-diagnosis-private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "history/qm-channels.h"

/* Bounds of requirements F3: a GPU that is busy for more than 0.9 of the time is
 * bound by computing, less than 0.7 or swings tell of missing input, less than
 * 0.5 surely. */
#define BUSY        0.90
#define NOT_BUSY    0.70
#define IDLE        0.50
#define MEMORY_FULL 0.90

/* Standard deviation over mean at which use swings. */
#define SWINGS 0.25

/* The program does not use a GPU that is less busy than this. */
#define UNUSED 0.02

/* Of the time, from which on something is the cause and no accident. */
#define OFTEN     0.10
#define MOSTLY    0.50
#define WAITS     0.25
#define DISK_BUSY 0.80

/* A clock below this share of the most is slowed. */
#define SLOWED 0.85

/* Kernels that wait for others keep a GPU "busy" at little power. */
#define WAITING_POWER 0.60

#define SWAPPING_BYTES (1024.0 * 1024.0)
#define NETWORK_BYTES  (20.0 * 1000 * 1000)

/* Of the cores there are, at which the processor is bound by computing. */
#define CORES_BUSY 0.80

/* Of the processor, that others must use to be to blame. */
#define TAKEN 0.25

/* Fewer samples prove little. */
#define ENOUGH_SAMPLES 10

/* -------------------------------------------------------------------- what is seen */

static QmSeriesSummary
summarise (const QmSeries *series,
           const char     *channel,
           double          from)
{
  QmSeriesSummary summary;

  qm_series_summarise (series, qm_series_find (series, channel), from, G_MAXDOUBLE, &summary);
  return summary;
}

static QmSeriesSummary
summarise_gpu (const QmSeries *series,
               int             gpu,
               const char     *what,
               double          from)
{
  char name[QM_CHANNEL_SIZE];

  return summarise (series, qm_channel_of_gpu (name, gpu, what), from);
}

static double
share_with_bit (const QmSeries *series,
                int             gpu,
                int             bit,
                double          from)
{
  char name[QM_CHANNEL_SIZE];
  int channel = qm_series_find (series, qm_channel_of_gpu (name, gpu, QM_CHANNEL_GPU_THROTTLED));
  guint n = 0, with = 0;

  for (guint i = 0; i < qm_series_length (series); i++)
    {
      float value = qm_series_value (series, i, channel);

      if (!isfinite (value) || g_array_index (series->times, double, i) < from)
        continue;
      n++;
      with += ((int) value & bit) != 0;
    }

  return n > 0 ? (double) with / n : NAN;
}

static void
see_gpu (QmSymptoms     *s,
         const QmSeries *series,
         int             gpu,
         double          from)
{
  QmSeriesSummary busy = summarise_gpu (series, gpu, QM_CHANNEL_GPU_BUSY, from);
  double received = summarise_gpu (series, gpu, QM_CHANNEL_GPU_PCIE_RECEIVE, from).mean;
  double sent = summarise_gpu (series, gpu, QM_CHANNEL_GPU_PCIE_SEND, from).mean;

  if (busy.n == 0)
    return;

  s->samples = MAX (s->samples, busy.n);
  s->gpu_busy = (s->gpus == 0 ? 0 : s->gpu_busy * s->gpus) + busy.mean;
  s->gpu_busy /= ++s->gpus;
  s->gpu_swing = fmax (s->gpu_swing, busy.mean > 0 ? busy.deviation / busy.mean : NAN);
  s->gpu_memory = fmax (s->gpu_memory, summarise_gpu (series, gpu, QM_CHANNEL_GPU_MEMORY, 0).most /
                                         summarise_gpu (series, gpu, QM_CHANNEL_GPU_MEMORY_TOTAL, 0).most);
  s->gpu_power = fmin (s->gpu_power, summarise_gpu (series, gpu, QM_CHANNEL_GPU_POWER, from).mean /
                                       summarise_gpu (series, gpu, QM_CHANNEL_GPU_POWER_LIMIT, from).mean);
  s->gpu_clock = fmin (s->gpu_clock, summarise_gpu (series, gpu, QM_CHANNEL_GPU_CLOCK, from).mean /
                                       summarise_gpu (series, gpu, QM_CHANNEL_GPU_CLOCK_MOST, from).mean);
  s->gpu_celsius = fmax (s->gpu_celsius, summarise_gpu (series, gpu, QM_CHANNEL_GPU_TEMPERATURE, from).p90);
  s->throttled_thermal = fmax (s->throttled_thermal, share_with_bit (series, gpu, QM_THROTTLED_THERMAL, from));
  s->throttled_power = fmax (s->throttled_power, share_with_bit (series, gpu, QM_THROTTLED_POWER, from));
  s->link_bytes = fmax (s->link_bytes, received + sent);
}

static void
see_computer (QmSymptoms               *s,
              const QmSeries           *series,
              const QmDiagnosisContext *context,
              double                    from)
{
  QmSeriesSummary cores = summarise (series, QM_CHANNEL_PROCESS_CPU, from);
  double total = context->memory_bytes > 0 ? context->memory_bytes : summarise (series, QM_CHANNEL_MEMORY_TOTAL, 0).most;
  double own = summarise (series, QM_CHANNEL_PROCESS_READ, from).mean + summarise (series, QM_CHANNEL_PROCESS_WRITE, from).mean;
  double all = summarise (series, QM_CHANNEL_DISK_READ, from).mean + summarise (series, QM_CHANNEL_DISK_WRITE, from).mean;

  s->samples = MAX (s->samples, cores.n);
  s->cores = context->cores;
  s->cpu = summarise (series, QM_CHANNEL_CPU, from).mean;
  s->cpu_busiest = summarise (series, QM_CHANNEL_CPU_BUSIEST, from).median;
  s->cores_used = cores.mean;
  s->stolen = summarise (series, QM_CHANNEL_CPU_STOLEN, from).mean;
  s->pressure = summarise (series, QM_CHANNEL_CPU_PRESSURE, from).mean;
  s->waiting = summarise (series, QM_CHANNEL_PROCESS_WAITING, from).mean;
  s->disk_busy = summarise (series, QM_CHANNEL_DISK_BUSY, from).mean;
  s->disk_bytes = isnan (own) ? all : own;
  s->network_bytes = summarise (series, QM_CHANNEL_NETWORK_RECEIVE, from).mean;
  s->memory = summarise (series, QM_CHANNEL_PROCESS_MEMORY, 0).most / total;
  s->swap_bytes = summarise (series, QM_CHANNEL_SWAP, from).mean;
  s->major_faults = summarise (series, QM_CHANNEL_PROCESS_FAULTS, from).mean;
}

static void
see (QmSymptoms               *s,
     const QmRun              *run,
     const QmSeries           *series,
     const QmDiagnosisContext *context)
{
  double from = qm_run_measured (run, "run.warm_up_seconds");

  *s = (QmSymptoms) { .gpu_busy = NAN, .gpu_swing = NAN, .gpu_memory = NAN, .gpu_power = NAN, .gpu_clock = NAN, .gpu_celsius = NAN,
                      .throttled_thermal = NAN, .throttled_power = NAN, .link_bytes = NAN };
  if (isnan (from))
    from = 0;
  for (int gpu = 0; gpu < QM_MAX_GPUS; gpu++)
    see_gpu (s, series, gpu, from);
  see_computer (s, series, context, from);
  s->communication = qm_run_measured (run, "run.communication_share");
  s->input = qm_run_measured (run, "run.input_share");
  if (s->cores == 0 && qm_run_measured (run, "run.cores") > 0)
    s->cores = (int) qm_run_measured (run, "run.cores");
}

/* --------------------------------------------------------------------- what it means */

static QmMessage *
note (QmDiagnosis *self,
      const char  *code,
      const char  *msgid)
{
  QmMessage *message = qm_message_new (code, msgid);

  g_ptr_array_add (self->evidence, message);
  return message;
}

static void
note_share (QmDiagnosis *self,
            const char  *code,
            const char  *msgid,
            double       share)
{
  if (isfinite (share))
    qm_message_add (note (self, code, msgid), "share", QM_ARGUMENT_PERCENT, share);
}

static void
note_bytes (QmDiagnosis *self,
            const char  *code,
            const char  *msgid,
            double       bytes)
{
  if (bytes > 0)
    qm_message_add (note (self, code, msgid), "bytes", QM_ARGUMENT_FILE_BYTES, bytes);
}

static QmBottleneck
settle (QmDiagnosis  *self,
        QmBottleneck  bottleneck,
        double        confidence,
        const char   *msgid)
{
  self->bottleneck = bottleneck;
  self->confidence = confidence;
  self->message = qm_message_new (qm_bottleneck_to_word (bottleneck), msgid);

  return bottleneck;
}

/* From 0.6 at the bound to 0.95 far beyond it. */
static double
certainty (double beyond)
{
  return 0.6 + 0.35 * (1 - exp (-3 * fmax (beyond, 0)));
}

static gboolean
is_out_of_memory (QmDiagnosis      *self,
                  const QmRun      *run,
                  const QmSymptoms *s)
{
  if (run->status == QM_RUN_STATUS_OUT_OF_MEMORY)
    {
      note (self, "ran-out", N_("The run ended because memory ran out"));
      settle (self, QM_BOTTLENECK_MEMORY, 0.95, N_("There is too little memory"));
      return TRUE;
    }
  if (s->swap_bytes > SWAPPING_BYTES)
    {
      note_bytes (self, "swaps", N_("{bytes} a second are moved between memory and disk because memory is full"), s->swap_bytes);
      settle (self, QM_BOTTLENECK_MEMORY, certainty (s->swap_bytes / SWAPPING_BYTES - 1), N_("The memory of the computer is too small, and is swapped to disk"));
      return TRUE;
    }

  return FALSE;
}

/* A virtual machine is told when its host gives its processor to others. */
static gboolean
is_stolen (QmDiagnosis      *self,
           const QmSymptoms *s)
{
  if (!(s->stolen > OFTEN))
    return FALSE;

  note_share (self, "stolen", N_("For {share} of the time the host of this virtual machine lets others compute"), s->stolen);
  settle (self, QM_BOTTLENECK_STOLEN, certainty (s->stolen - OFTEN), N_("The host of this virtual machine takes the processor away"));
  return TRUE;
}

/* Programs of this computer beside the run: either they fill the processor, or
 * work waits for it though the run alone does not fill it. */
static gboolean
is_contended (const QmSymptoms *s,
              double            used)
{
  double others = s->cpu - used;

  if (used >= CORES_BUSY || s->waiting > WAITS)
    return FALSE;

  return (s->cpu >= BUSY && others > TAKEN) || (s->pressure > WAITS && others > OFTEN);
}

/* Why the work is not there in time. */
static void
blame_input (QmDiagnosis      *self,
             const QmSymptoms *s,
             double            missing)
{
  double sure = certainty (missing);

  note_share (self, "loader-waits", N_("For {share} of the time the training waits for its data loader"), s->input);
  note_share (self, "storage-waits", N_("For {share} of the time a process waits for storage"), s->waiting);
  if (s->waiting > WAITS || s->disk_busy > DISK_BUSY)
    {
      note_bytes (self, "storage-rate", N_("{bytes} a second are read from and written to storage"), s->disk_bytes);
      settle (self, QM_BOTTLENECK_STORAGE, sure, N_("Storage is too slow: the work waits for it"));
    }
  else if (s->network_bytes > NETWORK_BYTES && s->cores_used < 1)
    {
      note_bytes (self, "network-rate", N_("{bytes} a second are received from the network"), s->network_bytes);
      settle (self, QM_BOTTLENECK_NETWORK, sure, N_("The network is too slow: the work waits for it"));
    }
  else if (s->cores_used > 0 && s->cores_used < 1.3 && s->cores_used > 0.8)
    {
      qm_message_add (note (self, "one-core", N_("The run keeps {cores} cores busy")), "cores", QM_ARGUMENT_NUMBER, s->cores_used);
      settle (self, QM_BOTTLENECK_OVERHEAD, sure * 0.9, N_("One thread of the processor hands out the work, and is too slow for it"));
    }
  else
    settle (self, QM_BOTTLENECK_INPUT, sure, N_("The data do not come in time: the device waits"));
}

static gboolean
is_slowed (QmDiagnosis      *self,
           const QmSymptoms *s)
{
  if (s->throttled_thermal > OFTEN)
    {
      note_share (self, "hot", N_("For {share} of the time heat slows it down"), s->throttled_thermal);
      if (isfinite (s->gpu_celsius))
        qm_message_add (note (self, "temperature", N_("It is {degrees} °C warm")), "degrees", QM_ARGUMENT_NUMBER, s->gpu_celsius);
      settle (self, QM_BOTTLENECK_THERMAL, certainty (s->throttled_thermal), N_("It is too hot, and slows down"));
      return TRUE;
    }
  if (s->throttled_power > MOSTLY && (isnan (s->gpu_clock) || s->gpu_clock < SLOWED))
    {
      note_share (self, "power-limit", N_("For {share} of the time its power limit slows it down"), s->throttled_power);
      note_share (self, "clock", N_("Its clock is at {share} of the most"), s->gpu_clock);
      settle (self, QM_BOTTLENECK_POWER, certainty (s->throttled_power - MOSTLY), N_("Its power limit slows it down"));
      return TRUE;
    }

  return FALSE;
}

static gboolean
is_talking (QmDiagnosis      *self,
            const QmSymptoms *s)
{
  if (s->communication > 0.15)
    {
      note_share (self, "exchange", N_("For {share} of the time devices exchange data and compute nothing"), s->communication);
      settle (self, QM_BOTTLENECK_COMMUNICATION, certainty (s->communication), N_("The devices wait for each other"));
      return TRUE;
    }
  if (s->gpus > 1 && s->gpu_busy > NOT_BUSY && s->gpu_power < WAITING_POWER)
    {
      note_share (self, "busy", N_("The GPU is busy for {share} of the time"), s->gpu_busy);
      note_share (self, "little-power", N_("It takes {share} of the power it may: it waits, though it is called busy"), s->gpu_power);
      note_bytes (self, "link-rate", N_("{bytes} a second go over its link to the computer"), s->link_bytes);
      settle (self, QM_BOTTLENECK_COMMUNICATION, certainty (WAITING_POWER - s->gpu_power), N_("The devices wait for each other"));
      return TRUE;
    }

  return FALSE;
}

/* Nothing is wrong where a busy device gives what the estimate expects. */
static gboolean
is_as_expected (const QmRun *run)
{
  const QmFigure *rate = qm_run_figure (run, "throughput.per_second");

  return rate != NULL && rate->measured >= rate->predicted.p10;
}

static void
judge_gpu (QmDiagnosis      *self,
           const QmRun      *run,
           const QmSymptoms *s)
{
  if (is_slowed (self, s) || is_talking (self, s))
    return;

  note_share (self, "busy", N_("The GPU is busy for {share} of the time"), s->gpu_busy);
  note_share (self, "memory-use", N_("Its memory is filled to {share}"), s->gpu_memory);
  if (s->gpu_busy >= BUSY && is_as_expected (run))
    settle (self, QM_BOTTLENECK_NONE, certainty (s->gpu_busy - BUSY), N_("Nothing is wrong: the device is busy, and as fast as the estimate expects"));
  else if (s->gpu_busy >= BUSY)
    settle (self, QM_BOTTLENECK_COMPUTE, certainty (s->gpu_busy - BUSY + 0.2), N_("The device computes all the time: it is the limit"));
  else if (s->gpu_busy < NOT_BUSY || s->gpu_swing > SWINGS)
    {
      note_share (self, "swings", N_("Its use swings by {share}"), s->gpu_swing);
      blame_input (self, s, fmax (NOT_BUSY - s->gpu_busy, s->gpu_swing - SWINGS) + (s->gpu_busy < IDLE ? 0.3 : 0));
    }
  else if (s->gpu_memory > MEMORY_FULL)
    settle (self, QM_BOTTLENECK_MEMORY, certainty (s->gpu_memory - MEMORY_FULL), N_("Its memory is full: larger batches, which would keep it busier, do not fit"));
  else
    settle (self, QM_BOTTLENECK_NONE, 0.6, N_("Nothing is wrong that shows here"));
}

static void
judge_processor (QmDiagnosis      *self,
                 const QmSymptoms *s)
{
  double used = s->cores > 0 && isfinite (s->cores_used) ? s->cores_used / s->cores : s->cpu;

  note_share (self, "cores-busy", N_("The processor is busy with it at {share}"), used);
  if (s->memory > MEMORY_FULL)
    {
      note_share (self, "memory-use", N_("Its memory is filled to {share}"), s->memory);
      settle (self, QM_BOTTLENECK_MEMORY, certainty (s->memory - MEMORY_FULL), N_("The memory of the computer is almost full"));
    }
  else if (is_contended (s, used))
    {
      note_share (self, "computer-busy", N_("The processor as a whole is busy at {share}"), s->cpu);
      note_share (self, "pressure", N_("For {share} of the time something waits for the processor"), s->pressure);
      settle (self, QM_BOTTLENECK_CONTENTION, certainty (s->cpu - used - TAKEN), N_("Other programs take the processor"));
    }
  else if (used >= CORES_BUSY)
    settle (self, QM_BOTTLENECK_COMPUTE, certainty (used - CORES_BUSY), N_("The processor computes all the time: it is the limit"));
  else if (s->waiting > WAITS || (s->disk_busy > DISK_BUSY && used < MOSTLY))
    blame_input (self, s, fmax (s->waiting, s->disk_busy) - WAITS);
  else if (s->network_bytes > NETWORK_BYTES && used < MOSTLY)
    blame_input (self, s, 0.1);
  else if (s->cores > 1 && s->cores_used > 0.8 && s->cores_used < 1.3)
    {
      qm_message_add (note (self, "one-core", N_("The run keeps {cores} cores busy")), "cores", QM_ARGUMENT_NUMBER, s->cores_used);
      settle (self, QM_BOTTLENECK_OVERHEAD, certainty (1 - used), N_("It works on one core, and the others have nothing to do"));
    }
  else
    settle (self, QM_BOTTLENECK_UNKNOWN, 0.3, N_("Nothing that was measured explains what it waits for"));
}

/**
 * qm_diagnose:
 * @run: a run
 * @series: what was measured over its time
 * @context: what is known beside it
 *
 * Names the one thing that holds a run up, with what was seen and what to do.
 * The bounds are those of requirements F3; warming up does not count.
 *
 * Returns: (transfer full): the diagnosis
 */
QmDiagnosis *
qm_diagnose (const QmRun              *run,
             const QmSeries           *series,
             const QmDiagnosisContext *context)
{
  QmDiagnosis *self = g_new0 (QmDiagnosis, 1);
  QmSymptoms symptoms;

  self->evidence = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
  see (&symptoms, run, series, context);
  if (isnan (symptoms.gpu_busy))
    {
      symptoms.gpu_busy = qm_run_measured (run, "run.gpu_utilization");
      symptoms.gpus = isfinite (symptoms.gpu_busy) ? MAX (1, run->devices) : 0;
    }

  if (!is_out_of_memory (self, run, &symptoms) && !is_stolen (self, &symptoms))
    {
      if (symptoms.gpus > 0 && symptoms.gpu_busy > UNUSED)
        judge_gpu (self, run, &symptoms);
      else if (symptoms.samples > 0 && (isfinite (symptoms.cores_used) || isfinite (symptoms.cpu)))
        judge_processor (self, &symptoms);
      else
        settle (self, QM_BOTTLENECK_UNKNOWN, 0, N_("Too little was measured to say anything"));
    }
  if (symptoms.samples < ENOUGH_SAMPLES)
    self->confidence *= 0.5 + 0.5 * symptoms.samples / ENOUGH_SAMPLES;
  qm_diagnosis_add_cures (self, &symptoms, context);

  return self;
}

static const char * const words[] = {
  "unknown", "none", "compute", "memory", "input", "storage", "network", "communication", "overhead", "thermal", "power", "contention",
  "stolen",
};

/**
 * qm_bottleneck_to_word:
 * @bottleneck: what a run is held up by
 *
 * Returns: the word of JSON
 */
const char *
qm_bottleneck_to_word (QmBottleneck bottleneck)
{
  return words[bottleneck];
}

/**
 * qm_diagnosis_free:
 * @self: (nullable): a diagnosis
 */
void
qm_diagnosis_free (QmDiagnosis *self)
{
  if (self == NULL)
    return;

  qm_message_free (self->message);
  g_ptr_array_unref (self->evidence);
  g_clear_pointer (&self->cures, g_array_unref);
  g_free (self);
}

static JsonObject *
message_to_object (const QmMessage *message)
{
  JsonObject *object = json_object_new ();
  g_autofree char *text = qm_message_get_text (message, qm_words_english ());

  json_object_set_string_member (object, "code", qm_message_get_code (message));
  json_object_set_string_member (object, "text", text);

  return object;
}

/**
 * qm_diagnosis_to_json:
 * @self: a diagnosis
 *
 * Returns: (transfer full): the object of `diagnose --json`
 */
JsonNode *
qm_diagnosis_to_json (const QmDiagnosis *self)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new ();
  JsonArray *evidence = json_array_new (), *cures = json_array_new ();
  g_autofree char *text = qm_message_get_text (self->message, qm_words_english ());

  json_object_set_string_member (root, "bottleneck", qm_bottleneck_to_word (self->bottleneck));
  json_object_set_string_member (root, "text", text);
  json_object_set_double_member (root, "confidence", self->confidence);
  for (guint i = 0; i < self->evidence->len; i++)
    json_array_add_object_element (evidence, message_to_object (g_ptr_array_index (self->evidence, i)));
  json_object_set_array_member (root, "evidence", evidence);
  for (guint i = 0; i < self->cures->len; i++)
    {
      const QmCure *cure = &g_array_index (self->cures, QmCure, i);
      JsonObject *object = message_to_object (cure->message);

      if (isfinite (cure->gain))
        json_object_set_double_member (object, "gain", cure->gain);
      else
        json_object_set_null_member (object, "gain");
      json_array_add_object_element (cures, object);
    }
  json_object_set_array_member (root, "cures", cures);
  json_node_take_object (node, root);

  return node;
}
