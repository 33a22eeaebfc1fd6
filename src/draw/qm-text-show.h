/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <pango/pangocairo.h>

G_BEGIN_DECLS

void     qm_text_show             (cairo_t     *cr,
                                   PangoLayout *layout);
gboolean qm_glyph_is_lost_in_pdf  (PangoFont   *font,
                                   PangoGlyph   glyph);

G_END_DECLS
