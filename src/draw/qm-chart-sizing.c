/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"

/* A rule of thumb stretches the axis to at most this many times the rest. */
#define FARTHEST_RULE 1.5

static void
add_size (QmChart    *self,
          const char *name,
          const char *note,
          QmRange     bytes,
          gboolean    precise)
{
  QmChartRow row = { .value = bytes, .bar = TRUE, .note_below = TRUE, .chosen = precise };
  gboolean off = !precise && bytes.p50 > self->x.high;
  g_autofree char *value = qm_format_bytes (self->words, bytes.p50);
  g_autofree char *range = qm_format_bytes_range (self->words, bytes);

  if (!qm_range_is_known (bytes) || !(bytes.p50 > 0))
    return;

  row.name = g_strdup (self->words->translate (name));
  row.note = g_strdup (self->words->translate (note));
  row.value_text = bytes.p90 > bytes.p10 ? g_strdup_printf ("%s (%s)", value, range) : g_strdup (value);
  if (off)
    {
      g_autofree char *near = g_steal_pointer (&row.value_text);

      row.value_text = g_strconcat (near, " \342\206\222", NULL);
      row.value = qm_range_exact (self->x.high * 0.84);
    }
  row.ink = precise ? QM_INK_BLUE : QM_INK_GREY;
  row.hatch = precise ? QM_HATCH_NONE : QM_HATCH_FLAT;
  row.mark = qm_chart_add_mark (self, g_strconcat (row.name, ": ", row.value_text, NULL), -1);
  g_array_append_val (self->rows, row);
  qm_chart_add_record (self, row.name, value, bytes.p90 > bytes.p10 ? range : "", row.note, NULL);
}

static char *
title_of (const QmWords  *words,
          const QmMemory *memory)
{
  double factor = memory->need.p50 / memory->quick_bytes;
  g_autofree char *text = qm_format_factor (words, MAX (factor, 1 / factor));

  if (!(memory->quick_bytes > 0))
    return g_strdup (words->translate (N_("No rule of thumb covers this job")));
  if (factor > 1.05)
    return qm_fill (words->translate (N_("The job needs {factor} what the quick rule says")), "factor", text, NULL);
  if (factor < 0.95)
    return qm_fill (words->translate (N_("The quick rule says {factor} what the job needs")), "factor", text, NULL);

  return g_strdup (words->translate (N_("The quick rule is right here")));
}

/**
 * qm_chart_describe_sizing:
 * @memory: sizes in bytes
 * @device_name: of one device, short
 * @training: whether the job is training all weights or part of them
 * @words: the reader's language
 *
 * Returns: (transfer full): the three ways to say how much memory a job needs,
 *   with what each leaves out
 */
QmChart *
qm_chart_describe_sizing (const QmMemory *memory,
                          const char     *device_name,
                          gboolean        training,
                          const QmWords  *words)
{
  QmChart *self = qm_chart_alloc (QM_CHART_SIZING, QM_FORM_ROWS, words);
  g_autofree char *capacity = qm_format_bytes (words, memory->usable_bytes);
  double own = MAX (memory->measured_bytes, memory->history_bytes);
  double most = MAX (MAX (memory->need.p90, memory->usable_bytes), own);

  self->title = title_of (words, memory);
  self->subtitle = g_strdup (words->translate (own > 0 ? N_("Memory by each way of sizing, your own runs as well, and what each leaves out")
                                                       : N_("Memory by three ways of sizing, and what each leaves out")));
  self->x = (QmAxis) { .quantity = QM_QUANTITY_BYTES,
                       .high = 1.03 * MAX (most, MIN (MAX (memory->quick_bytes, memory->basic_bytes), FARTHEST_RULE * most)) };
  if (memory->usable_bytes > 0)
    qm_chart_add_limit (self, memory->usable_bytes,
                        qm_fill (words->translate (N_("{device} holds {size}")), "device", device_name, "size", capacity, NULL), TRUE);

  qm_chart_add_record (self, words->translate (N_("Way")), words->translate (N_("Size")), words->translate (N_("Range")),
                       words->translate (N_("What it leaves out")), NULL);
  add_size (self, N_("Quick rule"),
            training ? N_("Parameters × 2 × 1.2. It holds 16-bit weights and a fifth more, so it is a rule for running a model or for "
                          "small adapters: the states of an optimiser for all weights would take 16 bytes a parameter.") :
                       N_("Parameters × 2 × 1.2. It holds 16-bit weights and a fifth more, however many people ask at once and however "
                          "long their texts are."),
            qm_range_exact (memory->quick_bytes), FALSE);
  add_size (self, N_("Basic rule"),
            /* xgettext:no-c-format */
            training ? N_("Parameters × 4 × 1.3. It holds 32-bit weights and 30% more: no gradients, no optimiser, no activations, which "
                          "training needs beside them.") :
                       /* xgettext:no-c-format */
                       N_("Parameters × 4 × 1.3. It holds 32-bit weights and 30% more, and most models run with 16 bits or fewer."),
            qm_range_exact (memory->basic_bytes), FALSE);
  add_size (self, N_("Precise"),
            N_("Every part by itself: weights, states, activations, caches and the runtime, fitted to measured runs."), memory->need,
            TRUE);
  add_size (self, N_("Measured"), N_("Your latest run of this very plan. It holds for that software and that data."),
            qm_range_exact (memory->measured_bytes), FALSE);
  add_size (self, N_("Your history"),
            N_("Your runs of the same structure with another number of layers, drawn on to this one along a straight line."),
            qm_range_exact (memory->history_bytes), FALSE);
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
