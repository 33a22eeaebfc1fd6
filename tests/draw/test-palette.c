/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "qm-scene.h"

/* WCAG 2.2: relative luminance and contrast ratio. */

static double
linear (double channel)
{
  return channel <= 0.04045 ? channel / 12.92 : pow ((channel + 0.055) / 1.055, 2.4);
}

static double
luminance (QmColor color)
{
  return 0.2126 * linear (color.red) + 0.7152 * linear (color.green) + 0.0722 * linear (color.blue);
}

static QmColor
over (QmColor color,
      QmColor ground)
{
  return (QmColor) { color.red * color.alpha + ground.red * (1 - color.alpha),
                     color.green * color.alpha + ground.green * (1 - color.alpha),
                     color.blue * color.alpha + ground.blue * (1 - color.alpha), 1 };
}

static double
contrast (QmColor color,
          QmColor ground)
{
  double a = luminance (over (color, ground)), b = luminance (ground);

  return (MAX (a, b) + 0.05) / (MIN (a, b) + 0.05);
}

static void
test_contrast (gconstpointer data)
{
  const QmPalette *palette = data;
  const QmInk texts[] = { QM_INK_TEXT, QM_INK_SECOND };
  const QmInk roles[] = { QM_INK_BLUE, QM_INK_ORANGE, QM_INK_TEAL, QM_INK_PURPLE, QM_INK_OCHRE, QM_INK_GREY };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_assert_cmpfloat (contrast (qm_palette_ink (palette, texts[i]), palette->card), >=, 4.5);
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    g_assert_cmpfloat (contrast (qm_palette_ink (palette, roles[i]), palette->card), >=, 3.0);
}

/* The check itself: black on white is 21, #767676 on white 4.54 by the standard. */
static void
test_contrast_formula (void)
{
  QmColor white = { 1, 1, 1, 1 }, black = { 0, 0, 0, 1 }, grey = { 0x76 / 255.0, 0x76 / 255.0, 0x76 / 255.0, 1 };

  g_assert_cmpfloat_with_epsilon (contrast (black, white), 21, 1e-9);
  g_assert_cmpfloat_with_epsilon (contrast (grey, white), 4.54, 0.005);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/palette/formula", test_contrast_formula);
  g_test_add_data_func ("/palette/light", qm_palette_light (), test_contrast);
  g_test_add_data_func ("/palette/dark", qm_palette_dark (), test_contrast);
  g_test_add_data_func ("/palette/print", qm_palette_print (), test_contrast);
  return g_test_run ();
}
