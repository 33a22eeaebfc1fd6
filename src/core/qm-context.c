/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-context.h"

/**
 * qm_context_send:
 * @context: a main context
 * @function: called once, by whoever iterates @context
 * @data: (nullable): for @function
 * @notify: (nullable): frees @data
 *
 * Hands something over from a thread. Unlike g_main_context_invoke(), which
 * calls @function in the thread itself while nobody iterates the default
 * context, it never runs where it was sent from.
 */
void
qm_context_send (GMainContext   *context,
                 GSourceFunc     function,
                 gpointer        data,
                 GDestroyNotify  notify)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, function, data, notify);
  g_source_attach (source, context);
}
