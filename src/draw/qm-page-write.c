/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <cairo-pdf.h>
#include <glib/gi18n.h>
#include <string.h>

#include "qm-page.h"
#include "qm-text-show.h"

#define ROW_PADDING 3.2
#define DISC_RADIUS 7.5

typedef struct {
  QmDocument *document;
  cairo_surface_t *surface;
  cairo_t *cr;
  const QmPalette *palette;
  guint page;
  int open_table;                   /* index of its head, -1 none */
} Writer;

/* --------------------------------------------------------------------- cairo */

typedef struct {
  GOutputStream *stream;
  GCancellable *cancellable;
  GError *error;
} Sink;

static cairo_status_t
write_to_stream (void                *closure,
                 const unsigned char *data,
                 unsigned int         length)
{
  Sink *sink = closure;

  if (sink->error != NULL || g_cancellable_set_error_if_cancelled (sink->cancellable, &sink->error) ||
      !g_output_stream_write_all (sink->stream, data, length, NULL, sink->cancellable, &sink->error))
    return CAIRO_STATUS_WRITE_ERROR;

  return CAIRO_STATUS_SUCCESS;
}

static void
set_ink (Writer *writer,
         QmInk   ink,
         double  alpha)
{
  QmColor color = qm_palette_ink (writer->palette, ink);

  cairo_set_source_rgba (writer->cr, color.red, color.green, color.blue, color.alpha * alpha);
}

static void
show (Writer      *writer,
      PangoLayout *layout,
      double       x,
      double       y,
      QmInk        ink,
      double       alpha)
{
  set_ink (writer, ink, alpha);
  cairo_move_to (writer->cr, x, y);
  qm_text_show (writer->cr, layout);
}

static double
layout_width (PangoLayout *layout)
{
  int width;

  pango_layout_get_size (layout, &width, NULL);
  return width / (double) PANGO_SCALE;
}

static void
rule (Writer *writer,
      double  y,
      QmInk   ink,
      double  line_width)
{
  set_ink (writer, ink, 1);
  cairo_set_line_width (writer->cr, line_width);
  cairo_move_to (writer->cr, QM_PAGE_MARGIN, y);
  cairo_line_to (writer->cr, writer->document->width - QM_PAGE_MARGIN, y);
  cairo_stroke (writer->cr);
}

/* ---------------------------------------------------------- head and foot lines */

static void
show_short (Writer            *writer,
            const char        *text,
            double             x,
            double             y,
            const QmTextStyle *style)
{
  g_autoptr (PangoLayout) layout = qm_text_layout (writer->document->context, text, style);

  show (writer, layout, style->horizontal == 1 ? x - layout_width (layout) : x, y, style->ink, 1);
}

static void
draw_margins (Writer *writer)
{
  QmDocument *document = writer->document;
  QmTextStyle name = { .size = 8, .weight = 700, .ink = QM_INK_BLUE };
  QmTextStyle plain = { .size = 8, .ink = QM_INK_SECOND };
  QmTextStyle right = { .size = 8, .ink = QM_INK_SECOND, .horizontal = 1 };
  QmTextStyle small = { .size = 7.2, .ink = QM_INK_SECOND };
  double edge = document->width - QM_PAGE_MARGIN, foot = document->height - 42;
  g_autofree char *number = g_strdup_printf ("%u / %u", writer->page + 1, document->n_pages);
  g_autoptr (PangoLayout) title = qm_text_layout (document->context, document->title, &plain);

  cairo_tag_begin (writer->cr, "Artifact", NULL);
  show_short (writer, "Quartermaster", QM_PAGE_MARGIN, 29, &name);
  pango_layout_set_width (title, (qm_document_width (document) - 190) * PANGO_SCALE);
  pango_layout_set_ellipsize (title, PANGO_ELLIPSIZE_END);
  show (writer, title, QM_PAGE_MARGIN + 68, 29, QM_INK_SECOND, 1);
  show_short (writer, document->date_text, edge, 29, &right);
  rule (writer, 44, QM_INK_AXIS, 0.5);

  rule (writer, foot, QM_INK_AXIS, 0.5);
  small.wrap = qm_document_width (document) - 60;
  show_short (writer, document->footer, QM_PAGE_MARGIN, foot + 5, &small);
  show_short (writer, number, edge, foot + 5, &right);
  cairo_tag_end (writer->cr, "Artifact");
}

/* --------------------------------------------------------------------- blocks */

static const char *
tag_of (QmVoice voice)
{
  switch (voice)
    {
    case QM_VOICE_TITLE: return "H1";
    case QM_VOICE_HEAD: return "H2";
    case QM_VOICE_SUBHEAD: return "H3";
    default: return "P";
    }
}

/* A quoted value of a tag's attributes. */
static char *
quoted (const char *text)
{
  GString *result = g_string_new ("'");

  for (const char *c = text; *c != '\0'; c++)
    {
      if (*c == '\'' || *c == '\\')
        g_string_append_c (result, '\\');
      g_string_append_c (result, *c);
    }
  g_string_append_c (result, '\'');

  return g_string_free (result, FALSE);
}

static void
draw_number (Writer        *writer,
             const QmBlock *block)
{
  double x = QM_PAGE_MARGIN + DISC_RADIUS, y = block->y + DISC_RADIUS;
  QmTextStyle style = { .size = 8.6, .weight = 700, .ink = QM_INK_CARD };
  g_autofree char *text = g_strdup_printf ("%d", block->number);
  g_autoptr (PangoLayout) layout = qm_text_layout (writer->document->context, text, &style);
  int width, height;

  pango_layout_get_size (layout, &width, &height);
  cairo_new_path (writer->cr);
  cairo_arc (writer->cr, x, y, DISC_RADIUS, 0, 2 * G_PI);
  set_ink (writer, QM_INK_BLUE, 1);
  cairo_fill (writer->cr);
  show (writer, layout, x - width / (2.0 * PANGO_SCALE), y - height / (2.0 * PANGO_SCALE), QM_INK_CARD, 1);
}

static void
draw_link (Writer        *writer,
           const QmBlock *block)
{
  g_autofree char *name = quoted (block->link);
  g_autofree char *attributes = g_strconcat ("dest=", name, NULL);
  double x = writer->document->width - QM_PAGE_MARGIN - layout_width (block->link_layout);

  cairo_tag_begin (writer->cr, CAIRO_TAG_LINK, attributes);
  show (writer, block->link_layout, x, block->y + 1, QM_INK_BLUE, 1);
  cairo_tag_end (writer->cr, CAIRO_TAG_LINK);
}

static void
draw_text (Writer        *writer,
           const QmBlock *block)
{
  const char *tag = tag_of (block->voice);

  if (block->destination != NULL)
    {
      g_autofree char *name = quoted (block->destination);
      g_autofree char *attributes = g_strdup_printf ("name=%s x=%.2f y=%.2f", name, QM_PAGE_MARGIN, block->y - 8);

      cairo_tag_begin (writer->cr, CAIRO_TAG_DEST, attributes);
      cairo_tag_end (writer->cr, CAIRO_TAG_DEST);
    }
  cairo_tag_begin (writer->cr, tag, NULL);
  if (block->number > 0)
    draw_number (writer, block);
  show (writer, g_ptr_array_index (block->layouts, 0), QM_PAGE_MARGIN + block->indent, block->y,
        qm_voice_style (block->voice).ink, 1);
  if (block->link != NULL)
    draw_link (writer, block);
  cairo_tag_end (writer->cr, tag);
}

static void
close_table (Writer *writer)
{
  if (writer->open_table < 0)
    return;

  cairo_tag_end (writer->cr, "Table");
  writer->open_table = -1;
}

static void
draw_row (Writer        *writer,
          const QmBlock *block,
          double         y)
{
  const char *cell_tag = block->is_head ? "TH" : "TD";
  QmTextStyle style = qm_voice_style (block->voice);

  if (block->chosen)
    {
      set_ink (writer, QM_INK_BLUE, 0.10);
      cairo_rectangle (writer->cr, QM_PAGE_MARGIN, y, block->table_width, block->height);
      cairo_fill (writer->cr);
    }
  cairo_tag_begin (writer->cr, "TR", NULL);
  for (guint i = 0; i < block->layouts->len; i++)
    {
      cairo_tag_begin (writer->cr, cell_tag, NULL);
      show (writer, g_ptr_array_index (block->layouts, i), QM_PAGE_MARGIN + block->columns[i], y + ROW_PADDING,
            block->faint ? QM_INK_SECOND : style.ink, 1);
      cairo_tag_end (writer->cr, cell_tag);
    }
  cairo_tag_end (writer->cr, "TR");
  rule (writer, y + block->height, block->is_head ? QM_INK_TEXT : QM_INK_GRID, block->is_head ? 0.75 : 0.5);
}

static void
open_table (Writer        *writer,
            const QmBlock *block,
            guint          index)
{
  int head = block->is_head ? (int) index : block->head;

  if (writer->open_table == head)
    return;

  close_table (writer);
  cairo_tag_begin (writer->cr, "Table", NULL);
  writer->open_table = head;
  if (!block->is_head)
    {
      const QmBlock *heads = &g_array_index (writer->document->blocks, QmBlock, head);

      draw_row (writer, heads, block->y - heads->height);
    }
}

static void
draw_picture (Writer        *writer,
              const QmBlock *block)
{
  g_autofree char *alternative = quoted (block->alternative);
  g_autofree char *attributes = g_strconcat ("Alt=", alternative, NULL);

  cairo_tag_begin (writer->cr, "Figure", NULL);
  cairo_save (writer->cr);
  cairo_translate (writer->cr, QM_PAGE_MARGIN, block->y);
  if (block->kind == QM_BLOCK_CHART)
    {
      cairo_scale (writer->cr, block->chart_scale, block->chart_scale);
      qm_chart_draw (block->chart, writer->cr, qm_document_width (writer->document) / block->chart_scale,
                     block->height / block->chart_scale, writer->palette);
    }
  else
    {
      qm_scene_paint (block->scene, writer->cr, writer->palette);
    }
  cairo_restore (writer->cr);
  cairo_tag_end (writer->cr, "Figure");
}

static void
add_outline (Writer        *writer,
             const QmBlock *block,
             int           *parent)
{
  g_autofree char *attributes = g_strdup_printf ("page=%u pos=[%.2f %.2f]", block->page + 1, QM_PAGE_MARGIN,
                                                 MAX (block->y - 8, 0));
  int id;

  if (block->text == NULL)
    return;

  id = cairo_pdf_surface_add_outline (writer->surface, block->voice == QM_VOICE_TITLE ? CAIRO_PDF_OUTLINE_ROOT : *parent,
                                      block->text, attributes, CAIRO_PDF_OUTLINE_FLAG_OPEN);
  if (block->voice == QM_VOICE_TITLE)
    *parent = id;
}

static void
turn_page (Writer *writer)
{
  close_table (writer);
  draw_margins (writer);
  cairo_show_page (writer->cr);
  writer->page++;
}

static void
draw_all (Writer *writer)
{
  QmDocument *document = writer->document;
  int parent = CAIRO_PDF_OUTLINE_ROOT;

  cairo_tag_begin (writer->cr, "Document", NULL);
  for (guint i = 0; i < document->blocks->len; i++)
    {
      const QmBlock *block = &g_array_index (document->blocks, QmBlock, i);

      while (writer->page < block->page)
        turn_page (writer);
      add_outline (writer, block, &parent);
      if (block->kind == QM_BLOCK_ROW)
        {
          open_table (writer, block, i);
          draw_row (writer, block, block->y);
          continue;
        }
      close_table (writer);
      if (block->kind == QM_BLOCK_TEXT)
        draw_text (writer, block);
      else
        draw_picture (writer, block);
    }
  close_table (writer);
  draw_margins (writer);
  cairo_tag_end (writer->cr, "Document");
}

static void
set_metadata (cairo_surface_t  *surface,
              const QmDocument *document,
              const char       *date,
              const char       *keywords)
{
  g_autofree char *moment = g_strconcat (date, strlen (date) == 10 ? "T00:00:00Z" : "", NULL);

  cairo_pdf_surface_restrict_to_version (surface, CAIRO_PDF_VERSION_1_7);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_TITLE, document->title);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_AUTHOR, "Quartermaster");
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_SUBJECT,
                                  document->words->translate (N_("Hardware for an AI job")));
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_KEYWORDS, keywords);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATOR, "Quartermaster " QM_VERSION);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATE_DATE, moment);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_MOD_DATE, moment);
  cairo_pdf_surface_set_custom_metadata (surface, "Language", document->language);
}

/**
 * qm_document_write:
 * @self: a report
 * @date: of its making, ISO 8601: nothing else depends on the day
 * @keywords: for the document's properties
 * @stream: where to
 * @cancellable: (nullable): to stop
 * @error: return location for an error
 *
 * Writes the report as PDF.
 *
 * Returns: whether it worked
 */
gboolean
qm_document_write (QmDocument    *self,
                   const char    *date,
                   const char    *keywords,
                   GOutputStream *stream,
                   GCancellable  *cancellable,
                   GError       **error)
{
  Sink sink = { stream, cancellable, NULL };
  Writer writer = { .document = self, .palette = qm_palette_print (), .open_table = -1 };
  cairo_status_t status;

  qm_document_paginate (self);
  writer.surface = cairo_pdf_surface_create_for_stream (write_to_stream, &sink, self->width, self->height);
  set_metadata (writer.surface, self, date, keywords);
  writer.cr = cairo_create (writer.surface);
  draw_all (&writer);
  status = cairo_status (writer.cr);
  cairo_destroy (writer.cr);
  cairo_surface_finish (writer.surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (writer.surface);
  cairo_surface_destroy (writer.surface);

  if (sink.error != NULL)
    {
      g_propagate_error (error, sink.error);
      return FALSE;
    }
  if (status != CAIRO_STATUS_SUCCESS)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, _("The report could not be written: %s"),
                   cairo_status_to_string (status));
      return FALSE;
    }

  return TRUE;
}
