/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

void qm_context_send (GMainContext   *context,
                      GSourceFunc     function,
                      gpointer        data,
                      GDestroyNotify  notify);

G_END_DECLS
