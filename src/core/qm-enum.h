/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

const char *qm_enum_to_word   (GType       type,
                               int         value);
gboolean    qm_enum_from_word (GType       type,
                               const char *word,
                               int        *value);
char       *qm_enum_words     (GType       type);

G_END_DECLS
