/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-words.h"

G_BEGIN_DECLS

/* Once at start, before any thread: binds the message catalog and takes the
 * environment's language. @language overrides it, NULL keeps it. */
void           qm_language_init      (const char *language);

/* Words of that language. */
const QmWords *qm_language_get_words (void);
const char    *qm_language_get_tag   (void);

G_END_DECLS
