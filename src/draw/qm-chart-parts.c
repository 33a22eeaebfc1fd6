/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-chart-private.h"

/**
 * qm_fill:
 * @sentence: with places such as `{time}`
 * @...: names of places and their texts, ended by %NULL
 *
 * A place that the translation dropped is not missed.
 *
 * Returns: (transfer full): @sentence with the places filled
 */
char *
qm_fill (const char *sentence,
         ...)
{
  GString *text = g_string_new (sentence);
  const char *name;
  va_list arguments;

  va_start (arguments, sentence);
  while ((name = va_arg (arguments, const char *)) != NULL)
    {
      g_autofree char *place = g_strconcat ("{", name, "}", NULL);

      g_string_replace (text, place, va_arg (arguments, const char *), 0);
    }
  va_end (arguments);
  qm_text_close_up (text);

  return g_string_free (text, FALSE);
}

static void
part_clear (QmPart *self)
{
  g_free (self->name);
  g_free (self->value_text);
}

static void
row_clear (QmChartRow *self)
{
  g_free (self->name);
  g_free (self->value_text);
  g_free (self->note);
  g_clear_pointer (&self->parts, g_array_unref);
}

static void
limit_clear (QmChartLimit *self)
{
  g_free (self->text);
}

static void
point_clear (QmChartPoint *self)
{
  g_free (self->name);
}

static void
line_clear (QmChartLine *self)
{
  g_array_unref (self->vertices);
  g_free (self->end_text);
  g_free (self->end_note);
}

static void
zone_clear (QmChartZone *self)
{
  g_free (self->text);
}

static void
bracket_clear (QmChartBracket *self)
{
  g_free (self->text);
  g_free (self->note);
}

static void
columns_clear (QmChartColumns *self)
{
  g_free (self->head);
  g_strfreev (self->cells);
}

static void
card_clear (QmChartCard *self)
{
  g_free (self->head);
  g_free (self->title);
  g_free (self->subtitle);
  g_free (self->note);
  for (guint i = 0; i < G_N_ELEMENTS (self->facts); i++)
    {
      g_free (self->facts[i].text);
      g_free (self->facts[i].note);
    }
}

static void
key_clear (QmChartKey *self)
{
  g_free (self->text);
}

static void
mark_clear (QmMark *self)
{
  g_free (self->text);
}

static GArray *
list (gsize          size,
      gpointer       clear)
{
  GArray *self = g_array_new (FALSE, TRUE, size);

  if (clear != NULL)
    g_array_set_clear_func (self, (GDestroyNotify) clear);

  return self;
}

/* An array of parts for a stacked bar. */
GArray *
qm_parts_new (void)
{
  return list (sizeof (QmPart), part_clear);
}

/* A chart without content. */
QmChart *
qm_chart_alloc (QmChartKind    kind,
                QmForm         form,
                const QmWords *words)
{
  QmChart *self = g_new0 (QmChart, 1);

  self->kind = kind;
  self->form = form;
  self->words = words;
  self->table = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  self->marks = list (sizeof (QmMark), mark_clear);
  self->rows = list (sizeof (QmChartRow), row_clear);
  self->limits = list (sizeof (QmChartLimit), limit_clear);
  self->points = list (sizeof (QmChartPoint), point_clear);
  self->lines = list (sizeof (QmChartLine), line_clear);
  self->zones = list (sizeof (QmChartZone), zone_clear);
  self->brackets = list (sizeof (QmChartBracket), bracket_clear);
  self->columns = list (sizeof (QmChartColumns), columns_clear);
  self->column_values = list (sizeof (double), NULL);
  self->cards = list (sizeof (QmChartCard), card_clear);
  self->keys = list (sizeof (QmChartKey), key_clear);
  self->chosen_column = NAN;
  self->laid_out = g_new0 (QmLaidOut, 1);

  return self;
}

/**
 * qm_chart_free:
 * @self: (transfer full) (nullable): a chart
 */
void
qm_chart_free (QmChart *self)
{
  if (self == NULL)
    return;

  g_free (self->language);
  g_free (self->title);
  g_free (self->subtitle);
  g_free (self->summary);
  g_ptr_array_unref (self->table);
  g_array_unref (self->marks);
  g_array_unref (self->rows);
  g_array_unref (self->limits);
  g_array_unref (self->points);
  g_array_unref (self->lines);
  g_array_unref (self->zones);
  g_array_unref (self->brackets);
  g_array_unref (self->columns);
  g_array_unref (self->column_values);
  g_array_unref (self->cards);
  g_array_unref (self->keys);
  g_clear_pointer (&self->laid_out->scene, qm_scene_free);
  g_free (self->laid_out);
  qm_axis_clear (&self->x);
  qm_axis_clear (&self->y);
  g_free (self);
}

/* Takes @text. @row is that of the decision matrix, -1 for none. */
guint
qm_chart_add_mark (QmChart *self,
                   char    *text,
                   int      row)
{
  QmMark mark = { text, row };

  g_array_append_val (self->marks, mark);
  return self->marks->len - 1;
}

/* Texts of one line of the data table, ended by NULL; the first line holds the
 * heads. */
void
qm_chart_add_record (QmChart *self,
                     ...)
{
  GStrvBuilder *builder = g_strv_builder_new ();
  const char *text;
  va_list arguments;

  va_start (arguments, self);
  while ((text = va_arg (arguments, const char *)) != NULL)
    g_strv_builder_add (builder, text);
  va_end (arguments);
  g_ptr_array_add (self->table, g_strv_builder_end (builder));
  g_strv_builder_unref (builder);
}

/* Takes @text. */
void
qm_chart_add_limit (QmChart *self,
                    double   value,
                    char    *text,
                    gboolean hard)
{
  QmChartLimit limit = { .value = value, .text = text, .hard = hard };

  g_array_append_val (self->limits, limit);
}

/**
 * qm_memory_part_name:
 * @part: a part of device memory
 *
 * Returns: its name in plain words, a msgid
 */
const char *
qm_memory_part_name (QmMemoryPart part)
{
  static const char * const names[QM_MEMORY_N_PARTS] = {
    [QM_MEMORY_WEIGHTS] = N_("Weights"),
    [QM_MEMORY_GRADIENTS] = N_("Gradients"),
    [QM_MEMORY_OPTIMIZER] = N_("Optimiser"),
    [QM_MEMORY_ACTIVATIONS] = N_("Activations"),
    [QM_MEMORY_LOGITS] = N_("Word scores"),
    [QM_MEMORY_KV_CACHE] = N_("KV cache"),
    [QM_MEMORY_COMMUNICATION] = N_("Communication"),
    [QM_MEMORY_WORKSPACE] = N_("Workspace"),
    [QM_MEMORY_CONTEXT] = N_("Driver and runtime"),
    [QM_MEMORY_FRAGMENTATION] = N_("Fragmentation"),
  };

  return names[part];
}
