/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "qm-session.h"

G_BEGIN_DECLS

#define QM_TYPE_PRICES_GROUP (qm_prices_group_get_type ())
G_DECLARE_FINAL_TYPE (QmPricesGroup, qm_prices_group, QM, PRICES_GROUP, AdwPreferencesGroup)

/* The price lists in use: taken from the network or a file when the person asks
 * for it, and removed. */
GtkWidget *qm_prices_group_new  (QmSession          *session);
void       qm_prices_group_take (QmPricesGroup      *self,
                                 const char * const *names);

G_END_DECLS
