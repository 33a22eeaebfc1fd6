/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-scene.h"

#define RGB(hex, a) { ((hex) >> 16 & 0xff) / 255.0, ((hex) >> 8 & 0xff) / 255.0, ((hex) & 0xff) / 255.0, a }

/* Found by a search for the largest smallest distance between any two colours
 * under normal, protan, deutan and tritan vision, each 3:1 against the card. */
#define LIGHT_ROLES            \
  .blue = RGB (0x1c71d8, 1),   \
  .orange = RGB (0xb33c00, 1), \
  .teal = RGB (0x00664f, 1),   \
  .purple = RGB (0x61208a, 1), \
  .ochre = RGB (0xb78a00, 1),  \
  .grey = RGB (0x8a8990, 1)

/**
 * qm_palette_light:
 *
 * Returns: (transfer none): the colours of a chart on a white card
 */
const QmPalette *
qm_palette_light (void)
{
  static const QmPalette light = {
    .text = RGB (0x000006, 0.82),
    .second_text = RGB (0x000006, 0.58),
    .grid = RGB (0x000006, 0.08),
    .axis = RGB (0x000006, 0.30),
    .card = RGB (0xffffff, 1),
    LIGHT_ROLES,
  };

  return &light;
}

/**
 * qm_palette_dark:
 *
 * Returns: (transfer none): the colours of a chart on a dark card
 */
const QmPalette *
qm_palette_dark (void)
{
  static const QmPalette dark = {
    .text = RGB (0xffffff, 1),
    .second_text = RGB (0xffffff, 0.72),
    .grid = RGB (0xffffff, 0.12),
    .axis = RGB (0xffffff, 0.35),
    .card = RGB (0x333337, 1),
    .blue = RGB (0x5fa2f5, 1),
    .orange = RGB (0xff9e5e, 1),
    .teal = RGB (0x4fd1b5, 1),
    .purple = RGB (0xe0a8e8, 1),
    .ochre = RGB (0xfbe69a, 1),
    .grey = RGB (0x929195, 1),
    .dark = TRUE,
  };

  return &dark;
}

/**
 * qm_palette_light_contrast:
 *
 * Returns: (transfer none): the colours of a chart on a white card for whoever
 *   wants high contrast: each role is as clear as text, the grid as a line
 */
const QmPalette *
qm_palette_light_contrast (void)
{
  static const QmPalette light = {
    .text = RGB (0x000000, 1),
    .second_text = RGB (0x000000, 0.80),
    .grid = RGB (0x000000, 0.44),
    .axis = RGB (0x000000, 0.70),
    .card = RGB (0xffffff, 1),
    .blue = RGB (0x2370ac, 1),
    .orange = RGB (0x8d2016, 1),
    .teal = RGB (0x093730, 1),
    .purple = RGB (0x38166e, 1),
    .ochre = RGB (0x9d5f00, 1),
    .grey = RGB (0x55556f, 1),
  };

  return &light;
}

/**
 * qm_palette_dark_contrast:
 *
 * Returns: (transfer none): the same on a dark card
 */
const QmPalette *
qm_palette_dark_contrast (void)
{
  static const QmPalette dark = {
    .text = RGB (0xffffff, 1),
    .second_text = RGB (0xffffff, 0.88),
    .grid = RGB (0xffffff, 0.45),
    .axis = RGB (0xffffff, 0.75),
    .card = RGB (0x333337, 1),
    .blue = RGB (0x78bbff, 1),
    .orange = RGB (0xff9f66, 1),
    .teal = RGB (0x5fe3c6, 1),
    .purple = RGB (0xf0b8f0, 1),
    .ochre = RGB (0xfff0b0, 1),
    .grey = RGB (0xa9a8ad, 1),
    .dark = TRUE,
  };

  return &dark;
}

/**
 * qm_palette_print:
 *
 * Returns: (transfer none): the colours of a chart on paper
 */
const QmPalette *
qm_palette_print (void)
{
  static const QmPalette print = {
    .text = RGB (0x000006, 0.82),
    .second_text = RGB (0x000006, 0.66),
    .grid = RGB (0x000006, 0.08),
    .axis = RGB (0x000006, 0.30),
    .card = RGB (0xffffff, 1),
    LIGHT_ROLES,
  };

  return &print;
}

/**
 * qm_palette_ink:
 * @self: a palette
 * @ink: a role
 *
 * Returns: its colour
 */
QmColor
qm_palette_ink (const QmPalette *self,
                QmInk            ink)
{
  switch (ink)
    {
    case QM_INK_SECOND: return self->second_text;
    case QM_INK_GRID: return self->grid;
    case QM_INK_AXIS: return self->axis;
    case QM_INK_CARD: return self->card;
    case QM_INK_BLUE: return self->blue;
    case QM_INK_ORANGE: return self->orange;
    case QM_INK_TEAL: return self->teal;
    case QM_INK_PURPLE: return self->purple;
    case QM_INK_OCHRE: return self->ochre;
    case QM_INK_GREY: return self->grey;
    case QM_INK_TEXT:
    default: return self->text;
    }
}
