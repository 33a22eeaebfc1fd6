/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

#include "estimate/qm-economics.h"

G_BEGIN_DECLS

/* (transfer full) (nullable): none where the schema is not installed */
GSettings *qm_preferences_open      (void);

gboolean   qm_preferences_get_rate  (GSettings         *settings,
                                     const char        *currency,
                                     double            *per_usd,
                                     char             **as_of);
gboolean   qm_preferences_set_rate  (GSettings         *settings,
                                     const char        *currency,
                                     double             per_usd,
                                     const char        *as_of);
double     qm_preferences_carbon    (GSettings         *settings,
                                     const QmEconomics *economics);

/* what a plan leaves open and the person said once for all */
void       qm_preferences_fill_plan (GSettings         *settings,
                                     const QmEconomics *economics,
                                     QmPlan            *plan);

void       qm_preferences_fill_currency (GSettings      *settings,
                                     QmPlan            *plan);

/* what the person has in words of the command line */
gboolean   qm_preferences_set_text  (GSettings         *settings,
                                     const char        *key,
                                     const char        *text,
                                     GError           **error);
char      *qm_preferences_get_text  (GSettings         *settings,
                                     const char        *key);
const char * const *qm_preferences_keys (void);

GQuark     qm_preferences_error_quark (void);
gboolean   qm_preferences_keep_commands (void);
char      *qm_today                 (void);

G_END_DECLS
