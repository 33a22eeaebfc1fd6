/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-watcher.h"

#include <math.h>
#include <string.h>

#include "qm-context.h"
#include "qm-probe-private.h"

/* Between two looks for devices that have come or gone. */
#define LOOK_SECONDS 2

/* The thread's own: it outlives the watcher where a file of the kernel does not
 * answer, so nobody ever waits for it. */
typedef struct {
  gatomicrefcount references;
  GMutex mutex;
  GCond changed;
  gboolean ended;
  double interval;
  char *root;
  GMainContext *context;
  GWeakRef watcher;
} Work;

/* One sample on its way to the watcher. */
typedef struct {
  Work *work;
  GStrv channels;                   /* NULL: as before */
  GStrv gpus;
  gboolean devices_changed;
  double at;
  guint n;
  float *values;
  guint n_cores;
  float *cores;
} Sample;

struct _QmWatcher {
  GObject parent_instance;

  char *root;
  double interval;
  guint holders;
  Work *work;                       /* NULL: nobody looks */
  GStrv channels;
  GStrv gpus;                       /* PCI addresses */
  QmSampleRing *ring;
  GArray *cores;                    /* of float */
};

G_DEFINE_FINAL_TYPE (QmWatcher, qm_watcher, G_TYPE_OBJECT)

enum { SAMPLED, DEVICES_CHANGED, N_SIGNALS };

static guint signals[N_SIGNALS];

static void
work_unref (Work *self)
{
  if (!g_atomic_ref_count_dec (&self->references))
    return;

  g_mutex_clear (&self->mutex);
  g_cond_clear (&self->changed);
  g_weak_ref_clear (&self->watcher);
  g_main_context_unref (self->context);
  g_free (self->root);
  g_free (self);
}

static void
sample_free (Sample *self)
{
  work_unref (self->work);
  g_strfreev (self->channels);
  g_strfreev (self->gpus);
  g_free (self->values);
  g_free (self->cores);
  g_free (self);
}

/* --------------------------------------------------------------------- the watcher */

static void
take_channels (QmWatcher *self,
               Sample    *sample)
{
  if (self->channels != NULL && g_strv_equal ((const char * const *) self->channels, (const char * const *) sample->channels) &&
      g_strv_equal ((const char * const *) self->gpus, (const char * const *) sample->gpus))
    return;

  g_strfreev (self->channels);
  g_strfreev (self->gpus);
  self->channels = g_steal_pointer (&sample->channels);
  self->gpus = g_steal_pointer (&sample->gpus);
  g_clear_pointer (&self->ring, qm_sample_ring_free);
  self->ring = qm_sample_ring_new (g_strv_length (self->channels), QM_WATCHER_KEPT);
}

static gboolean
take_sample (gpointer data)
{
  Sample *sample = data;
  g_autoptr (QmWatcher) self = g_weak_ref_get (&sample->work->watcher);

  /* of a thread that was let go */
  if (self == NULL || self->work != sample->work)
    return G_SOURCE_REMOVE;

  if (sample->channels != NULL)
    take_channels (self, sample);
  if (sample->devices_changed)
    g_signal_emit (self, signals[DEVICES_CHANGED], 0);
  qm_sample_ring_push (self->ring, sample->at, sample->values);
  g_array_set_size (self->cores, 0);
  g_array_append_vals (self->cores, sample->cores, sample->n_cores);
  g_signal_emit (self, signals[SAMPLED], 0);

  return G_SOURCE_REMOVE;
}

/* ---------------------------------------------------------------------- the thread */

/* Returns whether to go on. */
static gboolean
wait_until (Work   *work,
            gint64  when,
            double *interval)
{
  gboolean on;

  g_mutex_lock (&work->mutex);
  while (!work->ended && g_get_monotonic_time () < when && work->interval == *interval)
    g_cond_wait_until (&work->changed, &work->mutex, when);
  *interval = work->interval;
  on = !work->ended;
  g_mutex_unlock (&work->mutex);

  return on;
}

static GStrv
list_gpus (QmSampler *sampler)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < qm_sampler_n_gpus (sampler); i++)
    g_strv_builder_add (builder, qm_sampler_gpu_id (sampler, i));

  return g_strv_builder_end (builder);
}

static void
send (Work      *work,
      QmSampler *sampler,
      gint64     now,
      gboolean   fresh,
      gboolean   devices_changed)
{
  Sample *sample = g_new0 (Sample, 1);
  const float *cores = NULL;

  g_atomic_ref_count_inc (&work->references);
  sample->work = work;
  sample->at = now / 1e6;
  sample->devices_changed = devices_changed;
  sample->n = qm_sampler_n_channels (sampler);
  sample->values = g_new (float, sample->n);
  qm_sampler_sample (sampler, now, sample->values);
  cores = qm_sampler_get_cores (sampler, &sample->n_cores);
  sample->cores = g_memdup2 (cores, sample->n_cores * sizeof *cores);
  if (fresh)
    {
      sample->channels = g_strdupv ((char **) qm_sampler_get_channels (sampler));
      sample->gpus = list_gpus (sampler);
    }
  qm_context_send (work->context, take_sample, sample, (GDestroyNotify) sample_free);
}

static QmSampler *
make_sampler (Work   *work,
              double  interval)
{
  QmSampler *sampler = qm_sampler_new (work->root[0] != '\0' ? work->root : NULL, interval);

  qm_sampler_set_gentle (sampler, TRUE);
  return sampler;
}

static gpointer
watch (gpointer data)
{
  Work *work = data;
  double interval = work->interval, set = interval;
  g_autoptr (QmSampler) sampler = make_sampler (work, interval);
  g_autofree char *signature = qm_probe_pci_signature (work->root);
  gint64 next = g_get_monotonic_time (), looked = next;
  gboolean fresh = TRUE;

  while (wait_until (work, next, &interval))
    {
      gint64 now = g_get_monotonic_time ();
      g_autofree char *devices = now - looked >= LOOK_SECONDS * G_TIME_SPAN_SECOND ? qm_probe_pci_signature (work->root) : NULL;
      gboolean changed = devices != NULL && strcmp (devices, signature) != 0;

      if (devices != NULL)
        looked = now;
      if (changed || interval != set)
        {
          qm_sampler_free (sampler);
          sampler = make_sampler (work, interval);
          set = interval;
          fresh = TRUE;
        }
      send (work, sampler, now, fresh, changed);
      fresh = FALSE;
      if (changed)
        {
          g_free (signature);
          signature = g_steal_pointer (&devices);
        }
      next = MAX (next + (gint64) (interval * G_TIME_SPAN_SECOND), now + (gint64) (interval * G_TIME_SPAN_SECOND / 2));
    }
  work_unref (work);

  return NULL;
}

static void
start (QmWatcher *self)
{
  Work *work = g_new0 (Work, 1);
  GThread *thread;

  g_atomic_ref_count_init (&work->references);
  g_atomic_ref_count_inc (&work->references);
  g_mutex_init (&work->mutex);
  g_cond_init (&work->changed);
  g_weak_ref_init (&work->watcher, self);
  work->interval = self->interval;
  work->root = g_strdup (self->root);
  work->context = g_main_context_ref_thread_default ();
  self->work = work;
  thread = g_thread_new ("watcher", watch, work);
  g_thread_unref (thread);
}

static void
stop (QmWatcher *self)
{
  Work *work = g_steal_pointer (&self->work);

  if (work == NULL)
    return;

  g_mutex_lock (&work->mutex);
  work->ended = TRUE;
  g_cond_signal (&work->changed);
  g_mutex_unlock (&work->mutex);
  work_unref (work);
}

static void
qm_watcher_dispose (GObject *object)
{
  stop (QM_WATCHER (object));

  G_OBJECT_CLASS (qm_watcher_parent_class)->dispose (object);
}

static void
qm_watcher_finalize (GObject *object)
{
  QmWatcher *self = QM_WATCHER (object);

  g_free (self->root);
  g_strfreev (self->channels);
  g_strfreev (self->gpus);
  qm_sample_ring_free (self->ring);
  g_array_unref (self->cores);

  G_OBJECT_CLASS (qm_watcher_parent_class)->finalize (object);
}

static void
qm_watcher_class_init (QmWatcherClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_watcher_dispose;
  G_OBJECT_CLASS (klass)->finalize = qm_watcher_finalize;

  signals[SAMPLED] = g_signal_new ("sampled", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[DEVICES_CHANGED] = g_signal_new ("devices-changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                           G_TYPE_NONE, 0);
}

static void
qm_watcher_init (QmWatcher *self)
{
  self->interval = 1;
  self->cores = g_array_new (FALSE, FALSE, sizeof (float));
}

/**
 * qm_watcher_new:
 * @sysroot: (nullable): a captured tree; %NULL for this computer
 *
 * Returns: (transfer full): a watcher that rests until it is held. Its signals
 *   come in the main context that holds it
 */
QmWatcher *
qm_watcher_new (const char *sysroot)
{
  QmWatcher *self = g_object_new (QM_TYPE_WATCHER, NULL);

  self->root = g_strdup (sysroot != NULL ? sysroot : "");
  return self;
}

/**
 * qm_watcher_new_fed:
 * @channels: (array zero-terminated=1): what will be measured
 *
 * Returns: (transfer full): a watcher that looks at nothing itself; see
 *   qm_watcher_push()
 */
QmWatcher *
qm_watcher_new_fed (const char * const *channels)
{
  QmWatcher *self = qm_watcher_new (NULL);

  self->channels = g_strdupv ((char **) channels);
  self->gpus = g_new0 (char *, 1);
  self->ring = qm_sample_ring_new (g_strv_length (self->channels), QM_WATCHER_KEPT);

  return self;
}

/**
 * qm_watcher_push:
 * @self: a watcher of qm_watcher_new_fed()
 * @at: seconds of the monotonic clock
 * @values: one for each channel
 */
void
qm_watcher_push (QmWatcher   *self,
                 double       at,
                 const float *values)
{
  qm_sample_ring_push (self->ring, at, values);
  g_signal_emit (self, signals[SAMPLED], 0);
}

/**
 * qm_watcher_hold:
 * @self: a watcher
 *
 * Somebody looks: samples are taken until as many qm_watcher_release() come.
 */
void
qm_watcher_hold (QmWatcher *self)
{
  if (self->holders++ == 0)
    start (self);
}

/**
 * qm_watcher_release:
 * @self: a watcher
 */
void
qm_watcher_release (QmWatcher *self)
{
  g_return_if_fail (self->holders > 0);

  if (--self->holders == 0)
    stop (self);
}

/**
 * qm_watcher_get_interval:
 * @self: a watcher
 *
 * Returns: seconds between two samples
 */
double
qm_watcher_get_interval (QmWatcher *self)
{
  return self->interval;
}

/**
 * qm_watcher_set_interval:
 * @self: a watcher
 * @seconds: between two samples; from 0.1 on
 */
void
qm_watcher_set_interval (QmWatcher *self,
                         double     seconds)
{
  self->interval = CLAMP (seconds, 0.1, 3600);
  if (self->work == NULL)
    return;

  g_mutex_lock (&self->work->mutex);
  self->work->interval = self->interval;
  g_cond_signal (&self->work->changed);
  g_mutex_unlock (&self->work->mutex);
}

/**
 * qm_watcher_length:
 * @self: a watcher
 *
 * Returns: how many samples are kept now
 */
guint
qm_watcher_length (QmWatcher *self)
{
  return self->ring != NULL ? qm_sample_ring_length (self->ring) : 0;
}

/**
 * qm_watcher_time:
 * @self: a watcher
 * @index: of a sample; 0 is the oldest
 *
 * Returns: when it was taken, in seconds of the monotonic clock
 */
double
qm_watcher_time (QmWatcher *self,
                 guint      index)
{
  return qm_sample_ring_time (self->ring, index);
}

/**
 * qm_watcher_n_channels:
 * @self: a watcher
 *
 * Returns: how many values a sample has; 0 before the first
 */
guint
qm_watcher_n_channels (QmWatcher *self)
{
  return self->channels != NULL ? g_strv_length (self->channels) : 0;
}

/**
 * qm_watcher_find:
 * @self: a watcher
 * @channel: its name
 *
 * Returns: its number; -1 where it is not measured
 */
int
qm_watcher_find (QmWatcher  *self,
                 const char *channel)
{
  for (guint i = 0; self->channels != NULL && self->channels[i] != NULL; i++)
    if (strcmp (self->channels[i], channel) == 0)
      return (int) i;

  return -1;
}

/**
 * qm_watcher_value:
 * @self: a watcher
 * @index: of a sample; 0 is the oldest
 * @channel: of qm_watcher_find(); -1 for none
 *
 * Returns: the value; NaN where it was not known
 */
float
qm_watcher_value (QmWatcher *self,
                  guint      index,
                  int        channel)
{
  return channel < 0 ? NAN : qm_sample_ring_value (self->ring, index, channel);
}

/**
 * qm_watcher_latest:
 * @self: a watcher
 * @channel: its name
 *
 * Returns: the last value; NaN unknown
 */
float
qm_watcher_latest (QmWatcher  *self,
                   const char *channel)
{
  guint n = qm_watcher_length (self);

  return n > 0 ? qm_watcher_value (self, n - 1, qm_watcher_find (self, channel)) : NAN;
}

/**
 * qm_watcher_get_cores:
 * @self: a watcher
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): how busy each logical processor was
 *   up to the last sample
 */
const float *
qm_watcher_get_cores (QmWatcher *self,
                      guint     *n)
{
  *n = self->cores->len;
  return (const float *) self->cores->data;
}

/**
 * qm_watcher_find_gpu:
 * @self: a watcher
 * @id: of a probed device
 *
 * Returns: its number in the channels; -1 where it is not watched
 */
int
qm_watcher_find_gpu (QmWatcher  *self,
                     const char *id)
{
  for (guint i = 0; self->gpus != NULL && self->gpus[i] != NULL; i++)
    if (qm_pci_address_equal (self->gpus[i], id))
      return (int) i;

  return -1;
}

/**
 * qm_watcher_dup_series:
 * @self: a watcher
 * @seconds: how far back
 *
 * Returns: (transfer full): the latest samples, as those of a run; times are
 *   counted from its begin
 */
QmSeries *
qm_watcher_dup_series (QmWatcher *self,
                       double     seconds)
{
  static const char * const none[] = { NULL };
  QmSeries *series = qm_series_new (self->channels != NULL ? (const char * const *) self->channels : none);
  guint n = qm_watcher_length (self);
  g_autofree float *row = g_new (float, series->channels->len + 1);
  double from = n > 0 ? qm_watcher_time (self, n - 1) - seconds : 0;

  for (guint i = 0; i < n; i++)
    {
      if (qm_watcher_time (self, i) < from)
        continue;
      for (guint k = 0; k < series->channels->len; k++)
        row[k] = qm_watcher_value (self, i, (int) k);
      qm_series_append (series, qm_watcher_time (self, i) - from, row);
    }

  return series;
}
