/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

const char *qm_json_error_split (const char *message,
                                 guint      *line);

G_END_DECLS
