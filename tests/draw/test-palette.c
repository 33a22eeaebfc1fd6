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

static const QmInk roles[] = { QM_INK_BLUE, QM_INK_ORANGE, QM_INK_TEAL, QM_INK_PURPLE, QM_INK_OCHRE, QM_INK_GREY };

/* What charts lay under marks and words: the row or column that is looked at, and
 * the stretch beyond a limit (qm-chart-rows.c, -plane.c, -plane-marks.c). */
static const struct { QmInk ink; double alpha; } grounds[] = {
  { QM_INK_CARD, 1 }, { QM_INK_BLUE, 0.10 }, { QM_INK_OCHRE, 0.10 },
};

static QmColor
ground_of (const QmPalette *palette,
           guint            i)
{
  QmColor color = qm_palette_ink (palette, grounds[i].ink);

  color.alpha *= grounds[i].alpha;
  return over (color, palette->card);
}

/* Words 4.5:1, and marks and lines 3:1, on every ground. Ochre is a ground itself. */
static void
test_contrast (gconstpointer data)
{
  const QmPalette *palette = data;

  for (guint i = 0; i < G_N_ELEMENTS (grounds); i++)
    {
      g_assert_cmpfloat (contrast (palette->text, ground_of (palette, i)), >=, 4.5);
      g_assert_cmpfloat (contrast (palette->second_text, ground_of (palette, i)), >=, 4.5);
      for (guint k = 0; k < G_N_ELEMENTS (roles); k++)
        if (roles[k] != QM_INK_OCHRE || i == 0)
          g_assert_cmpfloat (contrast (qm_palette_ink (palette, roles[k]), ground_of (palette, i)), >=, 3.0);
    }
}

/* Lines are labelled in their colour, on a halo of the card; the number of a stage
 * stands in the card's colour on blue. */
static void
test_words_in_colour (gconstpointer data)
{
  const QmPalette *palette = data;

  for (guint k = 0; k < G_N_ELEMENTS (roles); k++)
    if (roles[k] != QM_INK_OCHRE && roles[k] != QM_INK_GREY)
      g_assert_cmpfloat (contrast (qm_palette_ink (palette, roles[k]), palette->card), >=, 4.5);
}

/* Whoever asks for contrast has all of it: each role as clear as text, the grid as a line. */
static void
test_high_contrast (gconstpointer data)
{
  const QmPalette *palette = data;

  g_assert_cmpfloat (contrast (palette->second_text, palette->card), >=, 7);
  g_assert_cmpfloat (contrast (palette->grid, palette->card), >=, 3);
  g_assert_cmpfloat (contrast (palette->axis, palette->card), >=, 4.5);
  for (guint k = 0; k < G_N_ELEMENTS (roles); k++)
    g_assert_cmpfloat (contrast (qm_palette_ink (palette, roles[k]), palette->card), >=, 4.5);
}

/* ----------------------------------------------------------- colour blindness */

/* Machado, Oliveira, Fernandes: A Physiologically-based Model for Simulation of Color
 * Vision Deficiency, IEEE TVCG 15 (2009), severity 1.0, on linear sRGB: none, protan,
 * deutan, tritan. */
static const double visions[][3][3] = {
  { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
  { { 0.152286, 1.052583, -0.204868 }, { 0.114503, 0.786281, 0.099216 }, { -0.003882, -0.048116, 1.051998 } },
  { { 0.367322, 0.860646, -0.227968 }, { 0.280085, 0.672501, 0.047413 }, { -0.011820, 0.042940, 0.968881 } },
  { { 1.255528, -0.076749, -0.178779 }, { -0.078411, 0.930809, 0.147602 }, { 0.004733, 0.691367, 0.303900 } },
};

static double
lightness (double t)
{
  return t > 216.0 / 24389 ? cbrt (t) : (24389.0 / 27 * t + 16) / 116;
}

/* CIE 1976 L*a*b*, D65, of linear sRGB (IEC 61966-2-1). */
static void
to_lab (const double rgb[3],
        double       lab[3])
{
  double x = lightness ((0.4124564 * rgb[0] + 0.3575761 * rgb[1] + 0.1804375 * rgb[2]) / 0.95047);
  double y = lightness (0.2126729 * rgb[0] + 0.7151522 * rgb[1] + 0.0721750 * rgb[2]);
  double z = lightness ((0.0193339 * rgb[0] + 0.1191920 * rgb[1] + 0.9503041 * rgb[2]) / 1.08883);

  lab[0] = 116 * y - 16;
  lab[1] = 500 * (x - y);
  lab[2] = 200 * (y - z);
}

static void
seen (QmColor color,
      guint   vision,
      double  lab[3])
{
  double rgb[3] = { linear (color.red), linear (color.green), linear (color.blue) };
  double shown[3];

  for (int i = 0; i < 3; i++)
    shown[i] = CLAMP (visions[vision][i][0] * rgb[0] + visions[vision][i][1] * rgb[1] + visions[vision][i][2] * rgb[2], 0, 1);
  to_lab (shown, lab);
}

static double
difference (QmColor a,
            QmColor b,
            guint   vision)
{
  double one[3], other[3];

  seen (a, vision, one);
  seen (b, vision, other);
  return sqrt (pow (one[0] - other[0], 2) + pow (one[1] - other[1], 2) + pow (one[2] - other[2], 2));
}

/* Any two roles may stand side by side. A difference of 2.3 is just noticed (Mahy
 * 1994); five times that is told apart at a glance, in small areas as well. */
#define APART 11.5

static void
test_colour_blindness (gconstpointer data)
{
  const QmPalette *palette = data;

  for (guint vision = 0; vision < G_N_ELEMENTS (visions); vision++)
    for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
      for (guint k = i + 1; k < G_N_ELEMENTS (roles); k++)
        {
          double apart = difference (qm_palette_ink (palette, roles[i]), qm_palette_ink (palette, roles[k]), vision);

          if (apart < APART)
            g_test_message ("vision %u: %u and %u", vision, roles[i], roles[k]);
          g_assert_cmpfloat (apart, >=, APART);
        }
}

/* sRGB red in L*a*b* (Lindbloom): 53.24, 80.09, 67.20; red and green are near each
 * other for deuteranopes, far for others. */
static void
test_difference_formula (void)
{
  QmColor red = { 1, 0, 0, 1 }, olive = { 0.56, 0.45, 0, 1 }, brown = { 0.75, 0.3, 0.1, 1 };
  double lab[3];

  seen (red, 0, lab);
  g_assert_cmpfloat_with_epsilon (lab[0], 53.24, 0.01);
  g_assert_cmpfloat_with_epsilon (lab[1], 80.09, 0.02);
  g_assert_cmpfloat_with_epsilon (lab[2], 67.20, 0.02);
  g_assert_cmpfloat (difference (olive, brown, 2), <, difference (olive, brown, 0) / 2);
}

/* The check itself: black on white is 21, #767676 on white 4.54 by the standard. */
static void
test_contrast_formula (void)
{
  QmColor white = { 1, 1, 1, 1 }, black = { 0, 0, 0, 1 }, grey = { 0x76 / 255.0, 0x76 / 255.0, 0x76 / 255.0, 1 };

  g_assert_cmpfloat_with_epsilon (contrast (black, white), 21, 1e-9);
  g_assert_cmpfloat_with_epsilon (contrast (grey, white), 4.54, 0.005);
}

static const struct {
  const char *name;
  const QmPalette *(*get) (void);
  gboolean strong;
} palettes[] = {
  { "light", qm_palette_light, FALSE }, { "dark", qm_palette_dark, FALSE }, { "print", qm_palette_print, FALSE },
  { "light-contrast", qm_palette_light_contrast, TRUE }, { "dark-contrast", qm_palette_dark_contrast, TRUE },
};

static void
add_palette (const char      *name,
             const QmPalette *palette,
             gboolean         strong)
{
  static const struct { const char *name; GTestDataFunc run; } checks[] = {
    { "contrast", test_contrast }, { "words-in-colour", test_words_in_colour }, { "colour-blindness", test_colour_blindness },
    { "high-contrast", test_high_contrast },
  };

  for (guint i = 0; i < G_N_ELEMENTS (checks) - (strong ? 0 : 1); i++)
    {
      g_autofree char *path = g_strdup_printf ("/palette/%s/%s", name, checks[i].name);

      g_test_add_data_func (path, palette, checks[i].run);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/palette/formula", test_contrast_formula);
  g_test_add_func ("/palette/difference-formula", test_difference_formula);
  for (guint i = 0; i < G_N_ELEMENTS (palettes); i++)
    add_palette (palettes[i].name, palettes[i].get (), palettes[i].strong);
  return g_test_run ();
}
