/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Where the style of the program puts the accent colour, in all that libadwaita
 * knows, light and dark: words 4.5:1, icons, ticks and rings 3:1 (WCAG 2.2). */

#include <adwaita.h>
#include <math.h>

/* libadwaita 1.7, docs: CSS variables. A card is white at 8% over a dark window. */
static const struct {
  GdkRGBA window, card, text;
} themes[] = {
  { { 0.980f, 0.980f, 0.984f, 1 }, { 1, 1, 1, 1 }, { 0, 0, 0.024f, 0.8f } },
  { { 0.133f, 0.133f, 0.149f, 1 }, { 1, 1, 1, 0.08f }, { 1, 1, 1, 1 } },
};

static double
linear (double channel)
{
  return channel <= 0.04045 ? channel / 12.92 : pow ((channel + 0.055) / 1.055, 2.4);
}

static double
luminance (GdkRGBA color)
{
  return 0.2126 * linear (color.red) + 0.7152 * linear (color.green) + 0.0722 * linear (color.blue);
}

static GdkRGBA
over (GdkRGBA color,
      GdkRGBA ground)
{
  float a = color.alpha;

  return (GdkRGBA) { color.red * a + ground.red * (1 - a), color.green * a + ground.green * (1 - a), color.blue * a + ground.blue * (1 - a), 1 };
}

static double
contrast (GdkRGBA color,
          GdkRGBA ground)
{
  double a = luminance (over (color, ground)), b = luminance (ground);

  return (MAX (a, b) + 0.05) / (MIN (a, b) + 0.05);
}

/* color-mix (in srgb, color share, other): of what is transparent, less. */
static GdkRGBA
mix (GdkRGBA color,
     float   share,
     GdkRGBA other)
{
  float alpha = color.alpha * share + other.alpha * (1 - share);
  float a = color.alpha * share / alpha, b = other.alpha * (1 - share) / alpha;

  return (GdkRGBA) { color.red * a + other.red * b, color.green * a + other.green * b, color.blue * a + other.blue * b, alpha };
}

static void
expect (const char *what,
        const char *accent,
        gboolean    dark,
        double      got,
        double      least)
{
  if (got >= least)
    return;
  g_test_message ("%s, %s%s: %.2f, wanted %.1f", what, accent, dark ? " dark" : "", got, least);
  g_test_fail ();
}

static void
check (AdwAccentColor color,
       const char    *name,
       gboolean       dark)
{
  GdkRGBA filled, standalone, window = themes[dark].window, card = over (themes[dark].card, window);
  GdkRGBA text = themes[dark].text, second = text, clear = { 0, 0, 0, 0 };
  GdkRGBA checked, tile;

  adw_accent_color_to_rgba (color, &filled);
  adw_accent_color_to_standalone_rgba (color, dark, &standalone);
  second.alpha *= 0.72f;
  checked = over (mix (filled, 0.20f, themes[dark].card), window);
  tile = mix (filled, 0.14f, clear);

  expect ("words on a picked card", name, dark, contrast (text, checked), 4.5);
  expect ("second words on a picked card", name, dark, contrast (second, checked), 4.5);
  expect ("ring of a picked card", name, dark, contrast (standalone, card), 3);
  expect ("tick of a picked card", name, dark, contrast (standalone, checked), 3);
  expect ("icon on its tile", name, dark, contrast (standalone, over (tile, card)), 3);
  expect ("icon on its tile, picked", name, dark, contrast (standalone, over (tile, checked)), 3);
  expect ("words above a title", name, dark, contrast (standalone, window), 4.5);
  expect ("number of the step", name, dark, contrast (window, standalone), 4.5);
}

static void
test_accents (void)
{
  g_autoptr (GEnumClass) accents = g_type_class_ref (ADW_TYPE_ACCENT_COLOR);

  g_assert_cmpuint (accents->n_values, ==, 9);
  for (guint i = 0; i < accents->n_values; i++)
    for (int dark = 0; dark < 2; dark++)
      check (accents->values[i].value, accents->values[i].value_nick, dark);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/window/accent", test_accents);
  return g_test_run ();
}
