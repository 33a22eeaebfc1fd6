/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"

/* A part below this share of the whole is not told apart in the picture. */
#define SMALL_SHARE 0.012

/* A rule of thumb stretches the axis to at most this many times the rest. */
#define FARTHEST_RULE 1.5

typedef struct {
  const char *name;                 /* where several parts are one; NULL: the part's own */
  guint parts;                      /* bit 1 << QmMemoryPart */
  QmInk ink;
  QmHatch hatch;
} Group;

#define BIT(part) (1u << (part))

static const Group groups[] = {
  { NULL, BIT (QM_MEMORY_WEIGHTS), QM_INK_BLUE, QM_HATCH_NONE },
  { N_("Gradients and optimiser"), BIT (QM_MEMORY_GRADIENTS) | BIT (QM_MEMORY_OPTIMIZER), QM_INK_ORANGE, QM_HATCH_RISING },
  { NULL, BIT (QM_MEMORY_ACTIVATIONS), QM_INK_TEAL, QM_HATCH_DOTS },
  { NULL, BIT (QM_MEMORY_LOGITS), QM_INK_PURPLE, QM_HATCH_FALLING },
  { NULL, BIT (QM_MEMORY_KV_CACHE), QM_INK_PURPLE, QM_HATCH_FALLING },
  { N_("Runtime"), BIT (QM_MEMORY_COMMUNICATION) | BIT (QM_MEMORY_WORKSPACE) | BIT (QM_MEMORY_CONTEXT) |
    BIT (QM_MEMORY_FRAGMENTATION), QM_INK_GREY, QM_HATCH_FLAT },
};

static double
group_bytes (const Group    *group,
             const QmMemory *memory)
{
  double bytes = 0;

  for (guint part = 0; part < QM_MEMORY_N_PARTS; part++)
    if ((group->parts & BIT (part)) != 0 && memory->parts[part] > 0)
      bytes += memory->parts[part];

  return bytes;
}

/* One bar; what is too small to be seen is added to the runtime. */
static void
add_stack (QmChart        *self,
           const QmMemory *memory)
{
  QmChartRow row = { .name = g_strdup (self->words->translate (N_("What fills it"))), .parts = qm_parts_new (),
                     .mark = QM_NO_MARK };
  double small = 0;

  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      double bytes = group_bytes (&groups[i], memory);
      gboolean last = i + 1 == G_N_ELEMENTS (groups);
      const char *name = groups[i].name != NULL ? groups[i].name : qm_memory_part_name (g_bit_nth_lsf (groups[i].parts, -1));
      QmPart part = { .ink = groups[i].ink, .hatch = groups[i].hatch };

      if (!last && bytes < SMALL_SHARE * memory->need.p50)
        {
          small += bytes;
          continue;
        }
      part.value = bytes + (last ? small : 0);
      if (!(part.value > 0))
        continue;
      part.name = g_strdup (self->words->translate (name));
      part.value_text = qm_format_bytes (self->words, part.value);
      part.mark = qm_chart_add_mark (self, g_strconcat (part.name, ": ", part.value_text, NULL), -1);
      g_array_append_val (row.parts, part);
    }

  g_array_append_val (self->rows, row);
}

/* A rule may be far off: it is then drawn at the edge, with an arrow. */
static void
add_size (QmChart    *self,
          const char *name,
          const char *note,
          QmRange     bytes,
          gboolean    precise)
{
  QmChartRow row = { .value = bytes, .chosen = precise, .hollow = !precise };
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
      row.value = qm_range_exact (self->x.high * 0.985);
    }
  row.ink = precise ? QM_INK_BLUE : QM_INK_GREY;
  row.marker = precise ? QM_MARKER_DISC : QM_MARKER_DIAMOND;
  row.mark = qm_chart_add_mark (self, g_strconcat (row.name, ": ", row.value_text, NULL), -1);
  g_array_append_val (self->rows, row);
}

static void
add_limits (QmChart        *self,
            const QmMemory *memory,
            const char     *device_name,
            double          headroom)
{
  g_autofree char *capacity = qm_format_bytes (self->words, memory->usable_bytes);

  if (!(memory->usable_bytes > 0))
    return;

  if (headroom > 0)
    {
      QmChartLimit limit = { .value = memory->usable_bytes * (1 - headroom), .beyond = TRUE,
                             .beyond_to = memory->usable_bytes };
      g_autofree char *text = qm_format_bytes (self->words, limit.value);

      limit.text = qm_fill (self->words->translate (N_("keep below {size}")), "size", text, NULL);
      g_array_append_val (self->limits, limit);
    }
  qm_chart_add_limit (self, memory->usable_bytes,
                      qm_fill (self->words->translate (N_("{device} holds {size}")), "device", device_name, "size", capacity,
                               NULL), TRUE);
}

static char *
title_of (const QmWords  *words,
          const QmMemory *memory,
          const char     *device_name,
          double          headroom)
{
  double left = memory->usable_bytes - memory->need.p50;
  g_autofree char *need = qm_format_bytes (words, memory->need.p50);
  g_autofree char *difference = qm_format_bytes (words, fabs (left));

  if (!(memory->usable_bytes > 0))
    return qm_fill (words->translate (N_("{need} needed")), "need", need, NULL);
  if (left < 0)
    return qm_fill (words->translate (N_("{need} needed: {missing} more than one {device} has")), "need", need, "missing",
                    difference, "device", device_name, NULL);
  if (memory->need.p50 > (1 - headroom) * memory->usable_bytes)
    return qm_fill (words->translate (N_("{need} needed: it fits one {device}, but only {free} stay free")), "need", need,
                    "free", difference, "device", device_name, NULL);

  return qm_fill (words->translate (N_("{need} needed, so one {device} keeps {free} free")), "need", need, "free", difference,
                  "device", device_name, NULL);
}

static char *
subtitle_of (const QmWords  *words,
             const QmMemory *memory)
{
  double error = memory->quick_bytes - memory->need.p50;
  g_autofree char *quick = NULL;
  g_autofree char *difference = NULL;

  if (!(memory->quick_bytes > 0) || fabs (error) < 0.03 * memory->need.p50)
    return g_strdup (words->translate (N_("Memory of the fullest device by use, and what the rules of thumb say; ranges hold 8 of 10 "
                                          "runs")));

  quick = qm_format_bytes (words, memory->quick_bytes);
  difference = qm_format_bytes (words, fabs (error));
  return qm_fill (words->translate (error < 0 ? N_("The quick rule says {size}, which is {difference} too low; ranges hold 8 of 10 "
                                                   "runs") :
                                                N_("The quick rule says {size}, which is {difference} too high; ranges hold 8 of "
                                                   "10 runs")),
                  "size", quick, "difference", difference, NULL);
}

static void
add_table (QmChart        *self,
           const QmMemory *memory)
{
  const QmWords *words = self->words;
  const struct { const char *name; double bytes; } rules[] = {
    { N_("Quick rule"), memory->quick_bytes }, { N_("Basic rule"), memory->basic_bytes },
  };
  g_autofree char *need = qm_format_bytes (words, memory->need.p50);
  g_autofree char *range = qm_format_bytes_range (words, memory->need);

  qm_chart_add_record (self, words->translate (N_("Part")), words->translate (N_("Size")), words->translate (N_("Range")), NULL);
  for (guint part = 0; part < QM_MEMORY_N_PARTS; part++)
    if (memory->parts[part] > 0)
      {
        g_autofree char *text = qm_format_bytes (words, memory->parts[part]);

        qm_chart_add_record (self, words->translate (qm_memory_part_name (part)), text, "", NULL);
      }
  qm_chart_add_record (self, words->translate (N_("Sum")), need, range, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (rules[i].bytes > 0)
      {
        g_autofree char *text = qm_format_bytes (words, rules[i].bytes);

        qm_chart_add_record (self, words->translate (rules[i].name), text, "", NULL);
      }
}

/**
 * qm_chart_describe_memory:
 * @memory: sizes in bytes
 * @device_name: of one device, short
 * @devices: how many share the job
 * @headroom: share of the device to be kept free, 0 to 1
 * @words: the reader's language
 *
 * Returns: (transfer full): what fills a device, and the ways to say how much
 *   that is, on one axis
 */
QmChart *
qm_chart_describe_memory (const QmMemory *memory,
                          const char     *device_name,
                          int             devices,
                          double          headroom,
                          const QmWords  *words)
{
  QmChart *self = qm_chart_alloc (QM_CHART_MEMORY, QM_FORM_ROWS, words);
  double most = MAX (memory->need.p90, memory->usable_bytes);
  const char *quick = devices > 1 ? N_("parameters × 2 × 1.2, on all devices together") : N_("parameters × 2 × 1.2");
  const char *basic = devices > 1 ? N_("parameters × 4 × 1.3, on all devices together") : N_("parameters × 4 × 1.3");
  g_autofree char *need = qm_format_bytes_range (words, memory->need);

  self->title = title_of (words, memory, device_name, headroom);
  self->subtitle = subtitle_of (words, memory);
  self->x.quantity = QM_QUANTITY_BYTES;
  self->x.high = MAX (1.03 * MAX (most, MIN (MAX (memory->quick_bytes, memory->basic_bytes), FARTHEST_RULE * most)), 1);

  add_limits (self, memory, device_name, headroom);
  add_stack (self, memory);
  add_size (self, N_("Quick rule"), quick, qm_range_exact (memory->quick_bytes), FALSE);
  add_size (self, N_("Basic rule"), basic, qm_range_exact (memory->basic_bytes), FALSE);
  add_size (self, N_("Precise"), N_("trusted here"), memory->need, TRUE);
  add_table (self, memory);
  self->summary = qm_fill (words->translate (N_("{title}. The range is {range}.")), "title", self->title, "range", need, NULL);

  return self;
}
