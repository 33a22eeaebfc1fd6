/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* (transfer full): codes of two letters, sorted by what the countries are called */
char      **qm_country_codes (void);
const char *qm_country_name  (const char *code);

G_END_DECLS
