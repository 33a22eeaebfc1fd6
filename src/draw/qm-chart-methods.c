/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-chart-methods.h"

#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"

static const char *
name_of (QmMethod method)
{
  switch (method)
    {
    case QM_METHOD_FULL: return N_("Change all of it");
    case QM_METHOD_QLORA: return N_("Add-on on a compressed model");
    case QM_METHOD_LORA:
    default: return N_("Train a small add-on");
    }
}

static char *
title_of (const GArray  *methods,
          const QmWords *words)
{
  double all = 0, least = INFINITY;
  g_autofree char *factor = NULL;

  for (guint i = 0; i < methods->len; i++)
    {
      const QmMethodMemory *method = &g_array_index (methods, QmMethodMemory, i);

      least = fmin (least, method->bytes.p50);
      if (method->method == QM_METHOD_FULL)
        all = method->bytes.p50;
    }
  if (!(all > least))
    return g_strdup (words->translate (N_("What each way to change it takes")));

  factor = qm_format_factor (words, all / least);
  return qm_fill (words->translate (N_("To change all of it takes {factor} the memory of the smallest way")), "factor", factor, NULL);
}

static void
add_method (QmChart              *self,
            const QmMethodMemory *method,
            gboolean              chosen)
{
  QmChartRow row = { .value = method->bytes, .bar = TRUE, .chosen = chosen, .ink = chosen ? QM_INK_BLUE : QM_INK_GREY,
                     .hatch = chosen ? QM_HATCH_NONE : QM_HATCH_FLAT };
  g_autofree char *value = qm_format_bytes (self->words, method->bytes.p50);
  g_autofree char *range = qm_format_bytes_range (self->words, method->bytes);

  row.name = g_strdup (self->words->translate (name_of (method->method)));
  row.value_text = g_strdup_printf ("%s (%s)", value, range);
  row.mark = qm_chart_add_mark (self, g_strconcat (row.name, ": ", row.value_text, NULL), -1);
  qm_chart_add_record (self, row.name, value, range, NULL);
  g_array_append_val (self->rows, row);
}

/**
 * qm_chart_describe_methods:
 * @methods: (element-type QmMethodMemory): the ways to tune
 * @chosen: the method of the plan
 * @device_name: of the device that they are compared on, short
 * @usable_bytes: what it holds; 0 unknown
 * @words: the reader's language
 *
 * Returns: (transfer full) (nullable): the memory of each method beside the
 *   others, and what one device holds; %NULL where there is nothing to compare
 */
QmChart *
qm_chart_describe_methods (const GArray  *methods,
                           QmMethod       chosen,
                           const char    *device_name,
                           double         usable_bytes,
                           const QmWords *words)
{
  QmChart *self;
  double high = usable_bytes;

  if (methods->len < 2)
    return NULL;

  self = qm_chart_alloc (QM_CHART_METHODS, QM_FORM_ROWS, words);
  self->title = title_of (methods, words);
  self->subtitle = g_strdup (words->translate (N_("Memory while training with your answers so far, nothing split; ranges hold 8 of 10 runs")));
  if (usable_bytes > 0)
    {
      g_autofree char *size = qm_format_bytes (words, usable_bytes);

      qm_chart_add_limit (self, usable_bytes, qm_fill (words->translate (N_("{device} holds {size}")), "device", device_name, "size", size, NULL),
                          TRUE);
    }
  qm_chart_add_record (self, words->translate (N_("Way")), words->translate (N_("Size")), words->translate (N_("Range")), NULL);
  for (guint i = 0; i < methods->len; i++)
    {
      const QmMethodMemory *method = &g_array_index (methods, QmMethodMemory, i);

      high = MAX (high, method->bytes.p90);
      add_method (self, method, method->method == chosen);
    }
  self->x = (QmAxis) { .quantity = QM_QUANTITY_BYTES, .high = 1.45 * high };
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
