/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-page.h"

#include <math.h>

#define CELL_PADDING   4.0
#define ROW_PADDING    3.2
#define TOP            60.0
#define BOTTOM         56.0
#define LINE_SPACING   1.3
#define CHART_SCALE    0.68

static void
block_clear (QmBlock *self)
{
  g_clear_pointer (&self->layouts, g_ptr_array_unref);
  g_free (self->text);
  g_free (self->destination);
  g_free (self->link);
  g_clear_object (&self->link_layout);
  g_clear_pointer (&self->chart, qm_chart_free);
  g_clear_pointer (&self->scene, qm_scene_free);
  g_free (self->alternative);
}

/**
 * qm_document_new:
 * @paper: its size
 * @words: the reader's language
 * @language: the same, e.g. "zh_CN"
 *
 * Returns: (transfer full): a report without content
 */
QmDocument *
qm_document_new (QmPaper        paper,
                 const QmWords *words,
                 const char    *language)
{
  QmDocument *self = g_new0 (QmDocument, 1);

  self->words = words;
  self->language = g_strdup (language);
  self->width = paper == QM_PAPER_LETTER ? 612 : 595.276;
  self->height = paper == QM_PAPER_LETTER ? 792 : 841.89;
  self->context = qm_text_context_new (language);
  self->blocks = g_array_new (FALSE, TRUE, sizeof (QmBlock));
  g_array_set_clear_func (self->blocks, (GDestroyNotify) block_clear);

  return self;
}

/**
 * qm_document_free:
 * @self: (transfer full): a report
 */
void
qm_document_free (QmDocument *self)
{
  g_array_unref (self->blocks);
  g_object_unref (self->context);
  g_free (self->language);
  g_free (self->title);
  g_free (self->date_text);
  g_free (self->footer);
  g_free (self);
}

/**
 * qm_document_width:
 * @self: a report
 *
 * Returns: the width between the margins, in points
 */
double
qm_document_width (const QmDocument *self)
{
  return self->width - 2 * QM_PAGE_MARGIN;
}

/**
 * qm_document_bottom:
 * @self: a report
 *
 * Returns: where the text of a page ends, in points
 */
double
qm_document_bottom (const QmDocument *self)
{
  return self->height - BOTTOM;
}

/**
 * qm_voice_style:
 * @voice: of a text
 *
 * Returns: how it looks
 */
QmTextStyle
qm_voice_style (QmVoice voice)
{
  static const QmTextStyle styles[] = {
    [QM_VOICE_TITLE] = { .size = 24, .weight = 800, .ink = QM_INK_TEXT },
    [QM_VOICE_HEAD] = { .size = 16, .weight = 800, .ink = QM_INK_TEXT },
    [QM_VOICE_SUBHEAD] = { .size = 11, .weight = 700, .ink = QM_INK_TEXT },
    [QM_VOICE_LEAD] = { .size = 10, .ink = QM_INK_TEXT },
    [QM_VOICE_QUESTION] = { .size = 10.5, .ink = QM_INK_SECOND },
    [QM_VOICE_TEXT] = { .size = 9.4, .ink = QM_INK_TEXT },
    [QM_VOICE_NOTE] = { .size = 7.8, .ink = QM_INK_SECOND },
    [QM_VOICE_CELL] = { .size = 8, .ink = QM_INK_TEXT },
    [QM_VOICE_CELL_HEAD] = { .size = 7.4, .weight = 600, .ink = QM_INK_SECOND },
  };

  return styles[voice];
}

static double
space_before (QmVoice voice)
{
  switch (voice)
    {
    case QM_VOICE_HEAD: return 22;
    case QM_VOICE_SUBHEAD: return 14;
    case QM_VOICE_TITLE: return 2;
    case QM_VOICE_QUESTION: return 2;
    case QM_VOICE_NOTE: return 4;
    default: return 6;
    }
}

static double
height_of (PangoLayout *layout)
{
  int height;

  pango_layout_get_size (layout, NULL, &height);
  return height / (double) PANGO_SCALE;
}

static PangoLayout *
layout_for (QmDocument *self,
            QmVoice     voice,
            double      width,
            const char *text)
{
  QmTextStyle style = qm_voice_style (voice);
  PangoLayout *layout;

  style.wrap = width;
  layout = qm_text_layout (self->context, text, &style);
  if (voice != QM_VOICE_TITLE && voice != QM_VOICE_CELL_HEAD)
    pango_layout_set_line_spacing (layout, voice == QM_VOICE_CELL ? 1.15 : LINE_SPACING);

  return layout;
}

static QmBlock *
add (QmDocument *self,
     QmBlock     block)
{
  g_array_append_val (self->blocks, block);
  return &g_array_index (self->blocks, QmBlock, self->blocks->len - 1);
}

static QmBlock
text_block (QmVoice      voice,
            PangoLayout *layout,
            double       indent)
{
  QmBlock block = { .kind = QM_BLOCK_TEXT, .voice = voice, .before = space_before (voice), .indent = indent, .head = -1 };

  block.layouts = g_ptr_array_new_with_free_func (g_object_unref);
  g_ptr_array_add (block.layouts, layout);
  block.height = height_of (layout);

  return block;
}

/**
 * qm_document_text:
 * @self: a report
 * @voice: how it is written
 * @text: a paragraph
 *
 * Returns: (transfer none): the block; valid until the next is added
 */
QmBlock *
qm_document_text (QmDocument *self,
                  QmVoice     voice,
                  const char *text)
{
  return add (self, text_block (voice, layout_for (self, voice, qm_document_width (self), text), 0));
}

/**
 * qm_document_markup:
 * @self: a report
 * @voice: how it is written
 * @indent: space at its left
 * @right: space at its right
 * @markup: a paragraph with Pango's markup
 *
 * Returns: (transfer none): the block; valid until the next is added
 */
QmBlock *
qm_document_markup (QmDocument *self,
                    QmVoice     voice,
                    double      indent,
                    double      right,
                    const char *markup)
{
  PangoLayout *layout = layout_for (self, voice, qm_document_width (self) - indent - right, "");

  pango_layout_set_markup (layout, markup, -1);
  return add (self, text_block (voice, layout, indent));
}

/**
 * qm_document_heading:
 * @self: a report
 * @voice: %QM_VOICE_TITLE, %QM_VOICE_HEAD or %QM_VOICE_SUBHEAD
 * @text: the heading
 * @destination: (nullable): a name to link to
 *
 * A heading stays with what follows; all but subheads are in the outline.
 *
 * Returns: (transfer none): the block; valid until the next is added
 */
QmBlock *
qm_document_heading (QmDocument *self,
                     QmVoice     voice,
                     const char *text,
                     const char *destination)
{
  QmBlock *block = qm_document_text (self, voice, text);

  block->keep_next = TRUE;
  block->text = voice == QM_VOICE_SUBHEAD ? NULL : g_strdup (text);
  block->destination = g_strdup (destination);

  return block;
}

static QmBlock *
add_row (QmDocument         *self,
         QmVoice             voice,
         const double       *shares,
         guint               n_columns,
         const char * const *cells)
{
  QmBlock block = { .kind = QM_BLOCK_ROW, .voice = voice, .head = -1, .table_width = qm_document_width (self) };
  double x = 0;

  block.layouts = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < n_columns; i++)
    {
      double width = shares[i] * block.table_width;
      PangoLayout *layout = layout_for (self, voice, width - 2 * CELL_PADDING, cells[i]);

      block.columns[i] = x + CELL_PADDING;
      block.height = MAX (block.height, height_of (layout) + 2 * ROW_PADDING);
      g_ptr_array_add (block.layouts, layout);
      x += width;
    }

  return add (self, block);
}

/**
 * qm_document_table:
 * @self: a report
 * @shares: (array length=n_columns): widths of the columns, of the page's
 * @n_columns: how many; at most 8
 * @heads: (array length=n_columns): their heads
 *
 * Begins a table.
 *
 * Returns: what qm_document_row() takes
 */
int
qm_document_table (QmDocument         *self,
                   const double       *shares,
                   guint               n_columns,
                   const char * const *heads)
{
  QmBlock *block = add_row (self, QM_VOICE_CELL_HEAD, shares, n_columns, heads);

  block->before = 8;
  block->is_head = TRUE;
  block->keep_next = TRUE;

  return self->blocks->len - 1;
}

/**
 * qm_document_row:
 * @self: a report
 * @table: from qm_document_table()
 * @shares: (array length=n_columns): as there
 * @n_columns: as there
 * @cells: (array length=n_columns): the texts
 *
 * Returns: (transfer none): the block; valid until the next is added
 */
QmBlock *
qm_document_row (QmDocument         *self,
                 int                 table,
                 const double       *shares,
                 guint               n_columns,
                 const char * const *cells)
{
  QmBlock *block = add_row (self, QM_VOICE_CELL, shares, n_columns, cells);

  block->head = table;
  return block;
}

/**
 * qm_document_chart:
 * @self: a report
 * @chart: (transfer full): a chart
 * @height: to fill, in points; 0: what looks well
 *
 * Returns: (transfer none): the block; valid until the next is added
 */
QmBlock *
qm_document_chart (QmDocument *self,
                   QmChart    *chart,
                   double      height)
{
  double width = qm_document_width (self);
  QmBlock block = { .kind = QM_BLOCK_CHART, .before = 8, .chart = chart, .chart_scale = CHART_SCALE, .head = -1 };

  block.height = height > 0 ? height : qm_chart_natural_height (chart, width / CHART_SCALE) * CHART_SCALE;
  block.alternative = g_strdup (qm_chart_get_summary (chart));

  return add (self, block);
}

/**
 * qm_document_scene:
 * @self: a report
 * @scene: (transfer full): a picture, with its height
 * @alternative: the same in words
 *
 * Returns: (transfer none): the block; valid until the next is added
 */
QmBlock *
qm_document_scene (QmDocument *self,
                   QmScene    *scene,
                   const char *alternative)
{
  return add (self, (QmBlock) { .kind = QM_BLOCK_SCENE, .before = 12, .height = scene->height, .scene = scene, .head = -1,
                                .alternative = g_strdup (alternative) });
}

/**
 * qm_document_link:
 * @self: a report
 * @block: a text with space at its right
 * @text: the link
 * @destination: of a heading
 *
 * Adds a link at the right of a text.
 */
void
qm_document_link (QmDocument *self,
                  QmBlock    *block,
                  const char *text,
                  const char *destination)
{
  QmTextStyle style = qm_voice_style (QM_VOICE_NOTE);

  block->link = g_strdup (destination);
  block->link_layout = qm_text_layout (self->context, text, &style);
}

/* The first rows of a table stay together, and so do its last two. */
static gboolean
binds_next (const QmDocument *self,
            guint             index)
{
  const QmBlock *block = &g_array_index (self->blocks, QmBlock, index);
  const QmBlock *next = index + 1 < self->blocks->len ? &g_array_index (self->blocks, QmBlock, index + 1) : NULL;
  const QmBlock *after = index + 2 < self->blocks->len ? &g_array_index (self->blocks, QmBlock, index + 2) : NULL;

  if (block->keep_next)
    return TRUE;
  if (block->head < 0 || next == NULL || next->head != block->head)
    return FALSE;

  return (int) index == block->head + 1 || after == NULL || after->head != block->head;
}

/* What must stand on the same page as block @index: those that follow a block
 * that may not end a page. */
static double
height_with_followers (const QmDocument *self,
                       guint             index)
{
  double height = 0;

  for (guint i = index; i < self->blocks->len; i++)
    {
      const QmBlock *block = &g_array_index (self->blocks, QmBlock, i);

      height += block->height + (i > index ? block->before : 0);
      if (!binds_next (self, i))
        break;
    }

  return height;
}

/**
 * qm_document_paginate:
 * @self: a report
 *
 * Gives each block its page and place.
 */
void
qm_document_paginate (QmDocument *self)
{
  double y = TOP;
  guint page = 0;

  for (guint i = 0; i < self->blocks->len; i++)
    {
      QmBlock *block = &g_array_index (self->blocks, QmBlock, i);
      gboolean first = y == TOP;
      double before = first ? 0 : block->before;

      if (!first && (block->new_page || y + before + height_with_followers (self, i) > qm_document_bottom (self)))
        {
          page++;
          y = TOP;
          before = 0;
          if (block->head >= 0 && !block->is_head)
            y += g_array_index (self->blocks, QmBlock, block->head).height;
        }
      block->page = page;
      block->y = y + before;
      y = block->y + block->height;
    }

  self->n_pages = page + 1;
}

/**
 * qm_document_left_over:
 * @self: a report
 *
 * Returns: the height that is left on the page of the last block, in points
 */
double
qm_document_left_over (QmDocument *self)
{
  const QmBlock *last;

  qm_document_paginate (self);
  if (self->blocks->len == 0)
    return qm_document_bottom (self) - TOP;
  last = &g_array_index (self->blocks, QmBlock, self->blocks->len - 1);

  return qm_document_bottom (self) - last->y - last->height;
}
