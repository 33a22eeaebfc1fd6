/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

char *qm_json_to_text (JsonNode *node,
                       gboolean  pretty);
double qm_json_figure (double value);

G_END_DECLS
