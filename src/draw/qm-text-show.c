/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-text-show.h"

#include <hb.h>
#include <string.h>

/* When cairo (1.18.4 and before) embeds an OpenType font with CFF outlines, it
 * looks for the subroutines that the glyphs call. On the way it forgets that
 * drawing operators take their operands off the stack; at a first hint mask
 * that comes after them it therefore skips too many bytes, misses the call that
 * follows, leaves the subroutine out, and the glyph is blank. In the CJK fonts
 * about one character in a thousand is built like that, "如" among them. Such
 * glyphs are drawn as shapes over the text, which stays real. */

#define CFF_TAG HB_TAG ('C', 'F', 'F', ' ')

/* In points, farther than any page. */
#define EVERYWHERE 10000.0

/* Operators of Type 2 charstrings (Adobe Technical Note 5177). */
enum {
  OP_VMOVETO = 4,
  OP_ESCAPE = 12,
  OP_ENDCHAR = 14,
  OP_HINTMASK = 19,
  OP_CNTRMASK = 20,
  OP_RMOVETO = 21,
  OP_HMOVETO = 22,
  OP_CALLGSUBR = 29,
};

typedef struct {
  const guint8 *data;
  gsize length;
} Bytes;

/* A big-endian number of @size bytes; 0 outside. */
static gsize
number_at (Bytes bytes,
           gsize offset,
           guint size)
{
  gsize value = 0;

  if (offset > bytes.length || size > bytes.length - offset)
    return 0;
  for (guint i = 0; i < size; i++)
    value = value << 8 | bytes.data[offset + i];

  return value;
}

/* Offset of what follows an INDEX. */
static gsize
skip_index (Bytes cff,
            gsize offset)
{
  gsize count = number_at (cff, offset, 2), size = number_at (cff, offset + 2, 1);

  if (count == 0)
    return offset + 2;

  return offset + 2 + (count + 1) * size + number_at (cff, offset + 3 + count * size, size);
}

static Bytes
index_entry (Bytes cff,
             gsize offset,
             gsize index)
{
  gsize count = number_at (cff, offset, 2), size = number_at (cff, offset + 2, 1);
  gsize base = offset + 2 + (count + 1) * size;
  gsize start, end;

  if (index >= count || size < 1 || size > 4)
    return (Bytes) { NULL, 0 };
  start = base + number_at (cff, offset + 3 + index * size, size);
  end = base + number_at (cff, offset + 3 + (index + 1) * size, size);
  if (start > end || end > cff.length)
    return (Bytes) { NULL, 0 };

  return (Bytes) { cff.data + start, end - start };
}

/* The operand of the operator CharStrings (17) of a Top DICT. */
static gsize
charstrings_offset (Bytes dict)
{
  gsize value = 0;

  for (gsize i = 0; i < dict.length;)
    {
      guint8 byte = dict.data[i];

      if (byte == 17)
        return value;
      if (byte == 28 || byte == 29)
        {
          value = number_at (dict, i + 1, byte == 28 ? 2 : 4);
          i += byte == 28 ? 3 : 5;
        }
      else if (byte == 30)
        {
          while (++i < dict.length && (dict.data[i] & 0x0f) != 0x0f)
            ;
          i++;
        }
      else if (byte >= 247 && byte <= 254)
        {
          value = byte <= 250 ? (byte - 247) * 256 + number_at (dict, i + 1, 1) + 108 : 0;
          i += 2;
        }
      else
        {
          value = byte >= 139 && byte <= 246 ? byte - 139 : 0;
          i += byte == OP_ESCAPE ? 2 : 1;
        }
    }

  return 0;
}

static gsize
operand_length (guint8 byte)
{
  if (byte == 255)
    return 5;
  if (byte == 28)
    return 3;

  return byte >= 247 ? 2 : 1;
}

/* Whether the first hint mask comes after a line or curve. */
static gboolean
masks_late (Bytes charstring)
{
  gboolean drawn = FALSE;

  for (gsize i = 0; i < charstring.length;)
    {
      guint8 byte = charstring.data[i];

      if (byte == 28 || byte >= 32)
        {
          i += operand_length (byte);
          continue;
        }
      if (byte == OP_HINTMASK || byte == OP_CNTRMASK)
        return drawn;
      if (byte == OP_ENDCHAR)
        return FALSE;
      if (byte == OP_RMOVETO || byte == OP_HMOVETO || byte == OP_VMOVETO)
        drawn = FALSE;
      else if (byte == 5 || byte == 6 || byte == 7 || byte == 8 || (byte >= 24 && byte != OP_CALLGSUBR))
        drawn = TRUE;
      i += byte == OP_ESCAPE ? 2 : 1;
    }

  return FALSE;
}

/**
 * qm_glyph_is_lost_in_pdf:
 * @font: a font
 * @glyph: of it
 *
 * Returns: whether cairo may embed @glyph without its outline
 */
gboolean
qm_glyph_is_lost_in_pdf (PangoFont  *font,
                         PangoGlyph  glyph)
{
  hb_face_t *face = hb_font_get_face (pango_font_get_hb_font (font));
  hb_blob_t *blob = hb_face_reference_table (face, CFF_TAG);
  unsigned int length;
  Bytes cff = { (const guint8 *) hb_blob_get_data (blob, &length), 0 };
  gboolean lost = FALSE;

  cff.length = length;
  if (cff.length > 4)
    {
      gsize dicts = skip_index (cff, cff.data[2]);
      gsize charstrings = charstrings_offset (index_entry (cff, dicts, 0));

      lost = charstrings > 0 && masks_late (index_entry (cff, charstrings, glyph));
    }
  hb_blob_destroy (blob);

  return lost;
}

typedef void (*GlyphFunc) (cairo_t              *cr,
                           PangoFont            *font,
                           const PangoGlyphInfo *info,
                           double                x,
                           double                baseline,
                           const PangoRectangle *line);

static void
add_box (cairo_t              *cr,
         PangoFont            *font,
         const PangoGlyphInfo *info,
         double                x,
         double                baseline,
         const PangoRectangle *line)
{
  cairo_rectangle (cr, x, baseline + line->y / (double) PANGO_SCALE, info->geometry.width / (double) PANGO_SCALE,
                   line->height / (double) PANGO_SCALE);
}

static void
fill_glyph (cairo_t              *cr,
            PangoFont            *font,
            const PangoGlyphInfo *info,
            double                x,
            double                baseline,
            const PangoRectangle *line)
{
  PangoGlyphString *one = pango_glyph_string_new ();

  pango_glyph_string_set_size (one, 1);
  one->glyphs[0] = *info;
  cairo_move_to (cr, x, baseline);
  pango_cairo_glyph_string_path (cr, font, one);
  cairo_fill (cr);
  pango_glyph_string_free (one);
}

/* Calls @func for each glyph of @layout, with its top left corner at @left and
 * @top, that may be lost; returns whether there is one. */
static gboolean
each_lost_glyph (cairo_t     *cr,
                 PangoLayout *layout,
                 double       left,
                 double       top,
                 GlyphFunc    func)
{
  PangoLayoutIter *iter = pango_layout_get_iter (layout);
  gboolean found = FALSE;

  do
    {
      PangoLayoutRun *run = pango_layout_iter_get_run_readonly (iter);
      double baseline = pango_layout_iter_get_baseline (iter);
      PangoRectangle extents;
      double x;

      if (run == NULL)
        continue;
      pango_layout_iter_get_run_extents (iter, NULL, &extents);
      x = left + extents.x / (double) PANGO_SCALE;
      extents.y -= baseline;
      for (int i = 0; i < run->glyphs->num_glyphs; i++)
        {
          const PangoGlyphInfo *info = &run->glyphs->glyphs[i];

          if (info->glyph < PANGO_GLYPH_EMPTY && qm_glyph_is_lost_in_pdf (run->item->analysis.font, info->glyph))
            {
              func (cr, run->item->analysis.font, info, x, top + baseline / PANGO_SCALE, &extents);
              found = TRUE;
            }
          x += info->geometry.width / (double) PANGO_SCALE;
        }
    }
  while (pango_layout_iter_next_run (iter));

  pango_layout_iter_free (iter);
  return found;
}

/* Shows all but the places of the glyphs that may be lost: those that are not
 * would come out bold with their shapes on top. The text itself stays whole. */
static void
show_around (cairo_t     *cr,
             PangoLayout *layout,
             double       left,
             double       top)
{
  cairo_save (cr);
  cairo_new_path (cr);
  cairo_rectangle (cr, left - EVERYWHERE, top - EVERYWHERE, 2 * EVERYWHERE, 2 * EVERYWHERE);
  if (each_lost_glyph (cr, layout, left, top, add_box))
    {
      cairo_set_fill_rule (cr, CAIRO_FILL_RULE_EVEN_ODD);
      cairo_clip (cr);
    }
  cairo_new_path (cr);
  cairo_move_to (cr, left, top);
  pango_cairo_show_layout (cr, layout);
  cairo_restore (cr);
}

/**
 * qm_text_show:
 * @cr: where to draw, with the colour set and the current point at the left top
 * @layout: a text
 *
 * Like pango_cairo_show_layout(), with every glyph to be seen in a PDF file too.
 */
void
qm_text_show (cairo_t     *cr,
              PangoLayout *layout)
{
  double x, y;

  if (cairo_surface_get_type (cairo_get_target (cr)) != CAIRO_SURFACE_TYPE_PDF)
    {
      pango_cairo_show_layout (cr, layout);
      return;
    }

  cairo_get_current_point (cr, &x, &y);
  show_around (cr, layout, x, y);
  each_lost_glyph (cr, layout, x, y, fill_glyph);
}
