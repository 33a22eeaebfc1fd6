/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-words.h"

/* Chinese characters and their punctuation, each as wide as it is high. */
static gboolean
is_wide_at (const char *at)
{
  return g_unichar_iswide (g_utf8_get_char (at));
}

/**
 * qm_text_close_up:
 * @text: (inout): a sentence whose places were filled
 *
 * A space in front of or behind a place sets words and numbers in Latin letters
 * off; where what was filled in begins or ends with a wide character it goes.
 */
void
qm_text_close_up (GString *text)
{
  for (gsize i = 0; i < text->len; i++)
    {
      const char *space = text->str + i;
      const char *before = *space == ' ' ? g_utf8_find_prev_char (text->str, space) : NULL;

      if (before != NULL && is_wide_at (before) && is_wide_at (space + 1))
        g_string_erase (text, i, 1);
    }
}
