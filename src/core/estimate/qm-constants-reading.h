/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* What the readers of the three files of constants share. */

JsonNode   *qm_constants_node      (JsonObject        *object,
                                    const char        *key,
                                    JsonNodeType       type);
double      qm_constants_number    (JsonObject        *object,
                                    const char        *key,
                                    double             otherwise);
const char *qm_constants_string    (JsonObject        *object,
                                    const char        *key);
int         qm_constants_find_word (const char *const *words,
                                    int                n,
                                    const char        *word);

G_END_DECLS
