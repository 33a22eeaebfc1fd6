/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-session-private.h"

static void
probed (GObject      *source,
        GAsyncResult *result,
        gpointer      data)
{
  g_autoptr (QmSession) self = data;
  g_autoptr (QmMachine) machine = qm_machine_probe_finish (result, NULL);

  if (machine != NULL)
    qm_session_set_machine (self, machine);
}

/**
 * qm_session_probe:
 * @self: a session
 * @wake: whether cards that sleep are woken; where the person asked for it
 *
 * Looks at this computer anew, in a thread; "machine-changed" tells when it is done.
 */
void
qm_session_probe (QmSession *self,
                  gboolean   wake)
{
  qm_machine_probe_async (qm_session_get_catalog (self), g_getenv ("QM_SYSROOT"), wake, NULL, probed, g_object_ref (self));
}
