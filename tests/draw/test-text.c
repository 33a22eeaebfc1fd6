/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-scene.h"
#include "qm-text-show.h"

/* What a page reader showed of every character of the Chinese translation in a
 * PDF file of cairo 1.18.4 with Noto Sans CJK: all but this one. */
#define LOST "如"

static gboolean
is_lost (const char *family,
         const char *character)
{
  PangoContext *context = qm_text_context_new ("zh_CN");
  g_autoptr (PangoLayout) layout = pango_layout_new (context);
  PangoFontDescription *description = pango_font_description_from_string (family);
  const PangoGlyphItem *run;

  g_object_unref (context);
  pango_layout_set_font_description (layout, description);
  pango_font_description_free (description);
  pango_layout_set_text (layout, character, -1);
  run = pango_layout_get_line_readonly (layout, 0)->runs->data;

  return qm_glyph_is_lost_in_pdf (run->item->analysis.font, run->glyphs->glyphs[0].glyph);
}

static gboolean
is_installed (const char *family)
{
  return pango_font_map_get_family (pango_cairo_font_map_get_default (), family) != NULL;
}

static void
test_lost (void)
{
  static const char * const kept[] = { "女", "口", "不", "行", "显", "存", "一" };

  if (!is_installed ("Noto Sans CJK SC"))
    {
      g_test_skip ("Noto Sans CJK is not installed");
      return;
    }

  g_assert_true (is_lost ("Noto Sans CJK SC", LOST));
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    g_assert_false (is_lost ("Noto Sans CJK SC", kept[i]));
}

/* A font without CFF outlines has no such glyphs. */
static void
test_latin (void)
{
  for (char letter = 'A'; letter <= 'Z'; letter++)
    {
      const char text[2] = { letter, '\0' };

      g_assert_false (is_lost ("DejaVu Sans", text));
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/lost", test_lost);
  g_test_add_func ("/text/latin", test_latin);
  return g_test_run ();
}
