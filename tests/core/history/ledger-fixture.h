/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "history/qm-ledger-private.h"

/* A ledger in a folder of its own, which goes away with it. */
typedef struct {
  char *folder;
  char *path;
  QmLedger *ledger;
} Fixture;

static inline QmLedger *
open_ledger (const char *path)
{
  g_autoptr (GError) error = NULL;
  QmLedger *ledger = qm_ledger_open (path, &error);

  g_assert_no_error (error);
  g_assert_nonnull (ledger);

  return ledger;
}

static inline void
reopen (Fixture *self)
{
  g_clear_object (&self->ledger);
  self->ledger = open_ledger (self->path);
}

static inline void
set_up (Fixture       *self,
        gconstpointer  data)
{
  self->folder = g_dir_make_tmp (NULL, NULL);
  self->path = g_build_filename (self->folder, "ledger.db", NULL);
  self->ledger = open_ledger (self->path);
}

static inline void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  g_autoptr (GDir) dir = g_dir_open (self->folder, 0, NULL);
  const char *name;

  g_clear_object (&self->ledger);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (self->folder, name, NULL);

      g_remove (path);
    }
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  g_free (self->folder);
  g_free (self->path);
}

/* A run that has everything. */
static inline QmRun *
make_run (const char *uid)
{
  QmRun *run = qm_run_new (uid);

  run->started = 1764500000123456;
  run->seconds = 61.25;
  run->status = QM_RUN_STATUS_FINISHED;
  run->source = QM_RUN_SOURCE_RECORDED;
  run->exit_status = 0;
  g_set_str (&run->label, "Fine-tune, “first” try");
  run->command = g_strdup ("python3 train.py --lr 3e-4\n--epochs 2");
  run->machine = g_strdup ("AMD Ryzen 9 7950X");
  run->device = g_strdup ("rtx-4090");
  run->devices = 2;
  run->model = g_strdup ("llama-3.1-8b");
  run->unit = g_strdup ("tokens");
  run->plan = g_strdup ("{\"format\":\"quartermaster-plan\",\"training\":{\"epochs\":2}}");
  run->note = g_strdup ("过夜训练, with; \"quotes\"");
  qm_run_add_tag (run, "night");
  qm_run_add_tag (run, "lr-sweep");
  qm_run_ensure_figure (run, "throughput.per_second")->predicted = (QmRange) { 2900, 3300.5, 3700 };
  qm_run_set_measured (run, "throughput.per_second", 3123.4567890123);
  qm_run_set_measured (run, "memory.per_device_bytes", 20123456789.0);

  return run;
}

static inline QmSeries *
make_series (void)
{
  const char *channels[] = { "gpu0_utilization", "gpu0_power_watts", NULL };
  QmSeries *series = qm_series_new (channels);

  qm_series_append (series, 0.5, (float[]) { 0.25f, 301.7f });
  qm_series_append (series, 1.5, (float[]) { NAN, 0.1f });
  qm_series_append (series, 2.4999999999, (float[]) { 1.0f / 3, 1e20f });

  return series;
}

static inline void
assert_same_number (double a,
                    double b)
{
  if (!isnan (a) || !isnan (b))
    g_assert_cmpfloat (a, ==, b);
}

static inline void
assert_same_run (const QmRun *a,
                 const QmRun *b)
{
  g_assert_cmpstr (a->uid, ==, b->uid);
  g_assert_cmpint (a->started, ==, b->started);
  assert_same_number (a->seconds, b->seconds);
  g_assert_cmpint (a->status, ==, b->status);
  g_assert_cmpint (a->source, ==, b->source);
  g_assert_cmpint (a->exit_status, ==, b->exit_status);
  g_assert_cmpstr (a->label, ==, b->label);
  g_assert_cmpstr (a->command, ==, b->command);
  g_assert_cmpstr (a->machine, ==, b->machine);
  g_assert_cmpstr (a->device, ==, b->device);
  g_assert_cmpint (a->devices, ==, b->devices);
  g_assert_cmpstr (a->model, ==, b->model);
  g_assert_cmpstr (a->unit, ==, b->unit);
  g_assert_cmpstr (a->plan, ==, b->plan);
  g_assert_cmpstr (a->diagnosis, ==, b->diagnosis);
  g_assert_cmpstr (a->note, ==, b->note);
  g_assert_cmpuint (a->tags->len, ==, b->tags->len);
  for (guint i = 0; i < a->tags->len; i++)
    g_assert_true (g_ptr_array_find_with_equal_func (b->tags, g_ptr_array_index (a->tags, i), g_str_equal, NULL));
  g_assert_cmpuint (a->figures->len, ==, b->figures->len);
  for (guint i = 0; i < a->figures->len; i++)
    {
      const QmFigure *figure = &g_array_index (a->figures, QmFigure, i);
      const QmFigure *other = qm_run_figure (b, figure->key);

      g_assert_nonnull (other);
      assert_same_number (figure->measured, other->measured);
      assert_same_number (figure->predicted.p10, other->predicted.p10);
      assert_same_number (figure->predicted.p50, other->predicted.p50);
      assert_same_number (figure->predicted.p90, other->predicted.p90);
    }
}

static inline void
assert_same_series (const QmSeries *a,
                    const QmSeries *b)
{
  g_assert_cmpuint (a->channels->len, ==, b->channels->len);
  for (guint i = 0; i < a->channels->len; i++)
    g_assert_cmpstr (g_ptr_array_index (a->channels, i), ==, g_ptr_array_index (b->channels, i));
  g_assert_cmpuint (qm_series_length (a), ==, qm_series_length (b));
  for (guint i = 0; i < qm_series_length (a); i++)
    {
      assert_same_number (g_array_index (a->times, double, i), g_array_index (b->times, double, i));
      for (guint c = 0; c < a->channels->len; c++)
        assert_same_number (qm_series_value (a, i, c), qm_series_value (b, i, c));
    }
}
